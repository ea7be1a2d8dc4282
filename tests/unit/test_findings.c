/* Joining the findings of one cause: emulator/check/findings.h. */

#include "emulator/check/findings.h"
#include "tests/testing.h"

enum { MOST = 12, WORDS = 1 };

static cugen_check_finding race(int line) {
  cugen_check_finding f = {.kind = CUGEN_FINDING_RACE,
                           .message = strdup("two threads write x"),
                           .variant = strdup("v"),
                           .problem = strdup("n=1"),
                           .file = "k.cu",
                           .line = line,
                           .other_file = "",
                           .array = "x",
                           .count = 1,
                           .detail = calloc(1, sizeof *f.detail)};
  assert_non_null(f.detail);
  f.detail->variants.bits = calloc(WORDS, sizeof *f.detail->variants.bits);
  assert_non_null(f.detail->variants.bits);
  return f;
}

static void expect_also(size_t count, const char *expected) {
  cugen_check_finding findings[MOST];
  for (size_t i = 0; i < count; i++) findings[i] = race((int)i + 1);
  assert_int_equal(findings_join(findings, count, WORDS), 1);
  assert_int_equal(findings->places, count);
  assert_string_equal(findings->also, expected);
  finding_free(findings);
}

TEST(eight_other_places_are_named) {
  expect_also(3, "k.cu:2, k.cu:3");
  expect_also(9, "k.cu:2, k.cu:3, k.cu:4, k.cu:5, k.cu:6, k.cu:7, k.cu:8, k.cu:9");
}

TEST(dots_stand_for_further_places) {
  expect_also(10, "k.cu:2, k.cu:3, k.cu:4, k.cu:5, k.cu:6, k.cu:7, k.cu:8, k.cu:9, ...");
  expect_also(11, "k.cu:2, k.cu:3, k.cu:4, k.cu:5, k.cu:6, k.cu:7, k.cu:8, k.cu:9, ...");
}
