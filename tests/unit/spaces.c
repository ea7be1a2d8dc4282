/* Spaces of configs for tests; see spaces.h. */
#include "spaces.h"
#include "tests/testing.h"

int spaced_open(struct spaced *s, const char *config, const struct device_facts *facts,
                const cugen_filter *filter) {
  *s = (struct spaced){0};
  WORKS(config_parse("k.lua", config, strlen(config), &s->config, &err));
  WORKS(problem_set(s->config, NULL, 0, false, &s->problem, &err));
  if (!facts) return CUGEN_OK;
  return space_open_within(s->config, &s->problem, facts, filter, (struct space_stop){0}, &s->space,
                           &s->err);
}

void spaced_make(struct spaced *s, const char *config, const struct device_facts *facts) {
  if (spaced_open(s, config, facts, NULL)) fail_msg("%s", s->err.message);
}

void spaced_free(struct spaced *s) {
  space_close(s->space);
  problem_free(&s->problem);
  config_close(s->config);
}

void expect_variant(const struct space *space, uint64_t index, const char *want) {
  struct value values[16];
  struct variant variant;
  FREED(text) text = {0};
  assert_true(space_max_tunables(space) <= 16);
  space_variant(space, index, &variant, values);
  variant_print(&variant, &text);
  assert_string_equal(text_get(&text), want);
}
