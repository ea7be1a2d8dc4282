/* The expanded sources of tests/golden/shipped.c: the kept texts byte for byte, and of every
   case the hash in the table. With CUGEN_EXPANSIONS=FOLDER nothing is compared: FOLDER/NAME.cu
   is written for every case. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "shipped.h"

#define HOW                                                                                        \
  "To see the difference: tests/golden/shipped.py difference %s\n"                                 \
  "If it is meant: tests/golden/shipped.py write"

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

static void read_table(struct text *out) {
  cugen_error err;
  check(file_read(SHIPPED_TABLE, out, &err), &err);
}

static void compare_hash(const struct shipped_case *shipped, const struct kernel_spec *spec) {
  struct text table = {0}, hash = {0}, code = {0};
  read_table(&table);
  if (!shipped_row(text_get(&table), shipped->name, &hash, &code))
    fail_msg("%s has no line in " SHIPPED_TABLE ": tests/golden/shipped.py write", shipped->name);
  if (strcmp(text_get(&hash), spec->source_hash.hex) != 0)
    fail_msg("%s (%s): the source is not what it was: %s, in " SHIPPED_TABLE " %s\n" HOW,
             shipped->name, spec->variant, spec->source_hash.hex, text_get(&hash), shipped->name);
  text_free(&table);
  text_free(&hash);
  text_free(&code);
}

static void compare_text(const struct shipped_case *shipped, const struct kernel_spec *spec) {
  cugen_error err;
  struct text path = {0}, expected = {0};
  text_addf(&path, "tests/golden/expected/%s.cu", shipped->name);
  check(file_read(text_get(&path), &expected, &err), &err);
  if (strcmp(spec->source, text_get(&expected)) != 0)
    fail_msg("%s is not what comes out\n" HOW, text_get(&path), shipped->name);
  text_free(&path);
  text_free(&expected);
}

static void test_expansion(void **state) {
  const struct shipped_case *shipped = *state;
  struct kernel_spec spec;
  shipped_expand(shipped, &spec);
  compare_hash(shipped, &spec);
  if (shipped->text) compare_text(shipped, &spec);
  kernel_spec_free(&spec);
}

/* Neither a line nor a text is left of a case that does not exist any more. */
static void test_nothing_is_left(void **state) {
  (void)state;
  struct text table = {0};
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
  text_free(&table);
}

static void test_write(void **state) {
  const struct shipped_case *shipped = *state;
  cugen_error err;
  struct kernel_spec spec;
  struct text path = {0};
  text_addf(&path, "%s/%s.cu", getenv("CUGEN_EXPANSIONS"), shipped->name);
  shipped_expand(shipped, &spec);
  check(file_write(text_get(&path), spec.source, strlen(spec.source), &err), &err);
  kernel_spec_free(&spec);
  text_free(&path);
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
