/* The expanded sources of tests/golden/shipped.c: the kept texts byte for byte, and of every
   case the hash in the table. With CUGEN_EXPANSIONS=FOLDER nothing is compared: FOLDER/NAME.cu
   is written for every case. */
#include "base/system.h"
#include "shipped.h"
#include "tests/testing.h"

#define HOW                                                                                        \
  "To see the difference: tests/golden/shipped.py difference %s\n"                                 \
  "If it is meant: tests/golden/shipped.py write"

static void read_table(struct text *out) {
  WORKS(file_read(SHIPPED_TABLE, out, &err));
}

static void compare_hash(const struct shipped_case *shipped, const struct kernel_spec *spec) {
  FREED(text) table = {0}, hash = {0}, code = {0};
  read_table(&table);
  if (!shipped_row(text_get(&table), shipped->name, &hash, &code))
    fail_msg("%s has no line in " SHIPPED_TABLE ": tests/golden/shipped.py write", shipped->name);
  if (strcmp(text_get(&hash), spec->source_hash.hex) != 0)
    fail_msg("%s (%s): the source is not what it was: %s, in " SHIPPED_TABLE " %s\n" HOW,
             shipped->name, spec->variant, spec->source_hash.hex, text_get(&hash), shipped->name);
}

static void compare_text(const struct shipped_case *shipped, const struct kernel_spec *spec) {
  FREED(text) expected = {0};
  const char *path = formed("tests/golden/expected/%s.cu", shipped->name);
  WORKS(file_read(path, &expected, &err));
  if (strcmp(spec->source, text_get(&expected)) != 0)
    fail_msg("%s is not what comes out\n" HOW, path, shipped->name);
}

static void test_expansion(void **state) {
  const struct shipped_case *shipped = *state;
  FREED(kernel_spec) spec;
  shipped_expand(shipped, &spec);
  compare_hash(shipped, &spec);
  if (shipped->text) compare_text(shipped, &spec);
}

/* Neither a line nor a text is left of a case that does not exist any more. */
static void test_nothing_is_left(void **state) {
  FREED(text) table = {0};
  read_table(&table);
  for (const char *line = text_get(&table); *line; line += strcspn(line, "\n") + 1) {
    const size_t length = strcspn(line, " ");
    size_t i = 0;
    while (i < shipped_count && (strlen(shipped_cases[i].name) != length ||
                                 strncmp(line, shipped_cases[i].name, length) != 0))
      i++;
    if (*line != '#' && i == shipped_count)
      fail_msg(SHIPPED_TABLE ": no case '%.*s': tests/golden/shipped.py write", (int)length, line);
  }
}

static void test_write(void **state) {
  const struct shipped_case *shipped = *state;
  FREED(kernel_spec) spec;
  const char *path = formed("%s/%s.cu", getenv("CUGEN_EXPANSIONS"), shipped->name);
  shipped_expand(shipped, &spec);
  WORKS(file_write(path, spec.source, strlen(spec.source), &err));
}

int main(void) {
  const bool writing = getenv("CUGEN_EXPANSIONS") != NULL;
  struct CMUnitTest *tests = calloc(shipped_count + 1, sizeof *tests);
  assert_non_null(tests);
  for (size_t i = 0; i < shipped_count; i++)
    tests[i] = (struct CMUnitTest){shipped_cases[i].name, writing ? test_write : test_expansion,
                                   NULL, NULL, (void *)(uintptr_t)&shipped_cases[i]};
  tests[shipped_count] = (struct CMUnitTest)cmocka_unit_test(test_nothing_is_left);
  int failed = _cmocka_run_group_tests("expansions", tests, shipped_count + !writing, NULL, NULL);
  free(tests);
  return failed;
}
