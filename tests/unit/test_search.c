/* Strategies over the axes of a space, and the axes of a config's space. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tune/search/axes.h"

/* ---- The axes of a config ---- */

static const char two[] = "kernel \"two\" {\n"
                          "  output \"out\" { dtype = \"f32\", shape = { 1 } },\n"
                          "  reference \"none\",\n"
                          "  implementation \"plain\" {\n"
                          "    template \"none.cu\",\n"
                          "    tunable \"block\" { 64, 32, 128 },\n"
                          "    tunable \"mode\" { \"b\", \"a\" },\n"
                          "    where \"block < 128 or mode == 'a'\",\n"
                          "    grid { \"1\" }, block { \"1\" },\n"
                          "  },\n"
                          "  implementation \"tiled\" {\n"
                          "    template \"none.cu\",\n"
                          "    tunable \"tile\" { 1, 2, 4 },\n"
                          "    tunable \"block\" { 256, 32 },\n"
                          "    grid { \"1\" }, block { \"1\" },\n"
                          "  },\n"
                          "}\n";

struct opened {
  struct config *config;
  struct problem problem;
  struct space *space;
  struct axes *axes;
  struct strategy_space described;
};

static void open_config(const char *text, struct opened *out) {
  const struct device_facts facts = {.is_gpu = 1};
  *out = (struct opened){0};
  assert_int_equal(config_parse("t.lua", text, strlen(text), &out->config, NULL), CUGEN_OK);
  assert_int_equal(problem_set(out->config, NULL, 0, false, &out->problem, NULL), CUGEN_OK);
  assert_int_equal(space_open(out->config, &out->problem, &facts, &out->space, NULL), CUGEN_OK);
  assert_non_null(out->axes = axes_open(out->space));
  axes_describe(out->axes, &out->described);
}

static void close_config(struct opened *opened) {
  axes_close(opened->axes);
  space_close(opened->space);
  problem_free(&opened->problem);
  config_close(opened->config);
}

static void axes_are_names_over_all_implementations(void **state) {
  (void)state;
  struct opened t;
  open_config(two, &t);
  const struct strategy_axis *axes = t.described.axes;
  const double blocks[] = {32, 64, 128, 256};
  assert_int_equal(t.described.axis_count, 4); /* implementation, block, mode, tile */
  assert_int_equal(axes[0].count, 2);
  assert_null(axes[0].values);
  assert_int_equal(axes[1].count, 4);
  assert_memory_equal(axes[1].values, blocks, sizeof blocks);
  assert_int_equal(axes[2].count, 2);
  assert_null(axes[2].values);
  assert_int_equal(axes[3].count, 3);
  close_config(&t);
}

static void positions_and_variants_belong_to_each_other(void **state) {
  (void)state;
  struct opened t;
  open_config(two, &t);
  const struct strategy_space *space = &t.described;
  uint16_t at[4];
  uint64_t found;
  assert_int_equal(space_valid(t.space), 11);
  for (uint64_t i = 0; i < 11; i++) {
    space->locate(space->context, i, at);
    assert_int_equal(at[0], i >= 5);
    assert_int_equal(at[i < 5 ? 3 : 2], STRATEGY_ABSENT);
    assert_true(space->find(space->context, at, &found));
    assert_int_equal(found, i);
  }
  assert_false(space->find(space->context, (const uint16_t[]){0, 2, 0, STRATEGY_ABSENT}, &found)); /* ruled out */
  assert_false(space->find(space->context, (const uint16_t[]){0, 3, 0, STRATEGY_ABSENT}, &found)); /* tiled's */
  assert_false(space->find(space->context, (const uint16_t[]){1, 0, STRATEGY_ABSENT, STRATEGY_ABSENT}, &found));
  close_config(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(axes_are_names_over_all_implementations),
      cmocka_unit_test(positions_and_variants_belong_to_each_other),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
