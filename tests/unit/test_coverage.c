/* Choosing sources that take every branch: emulator/check/coverage.h. */

#include "emulator/check/coverage.h"
#include "tests/testing.h"

enum { MOST = 8 };

/* Adds the sources, of which those in `first` are chosen already, and expects which ones are
   chosen; `expected` ends with -1. */
static void expect_chosen(const char *const *sources, size_t count, size_t first,
                          const int *expected) {
  struct coverage *branches;
  bool chosen[MOST] = {false}, wanted[MOST] = {false}, more;
  for (size_t i = 0; i < first; i++) chosen[i] = true;
  for (; *expected >= 0; expected++) wanted[*expected] = true;
  assert_int_equal(coverage_open(&branches, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++) {
    assert_int_equal(coverage_add(branches, sources[i], &more, NULL), CUGEN_OK);
    assert_true(more);
  }
  assert_int_equal(coverage_choose(branches, chosen, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++)
    if (chosen[i] != wanted[i]) fail_msg("source %zu is %schosen", i, chosen[i] ? "" : "not ");
  coverage_close(branches);
}

#define A(line, text) "#line " #line " \"a.cu\"\n" text "\n"
#define B(line, text) "#line " #line " \"b.cu\"\n" text "\n"

TEST(what_takes_the_same_branches_is_not_kept) {
  struct coverage *branches;
  bool more;
  assert_int_equal(coverage_open(&branches, NULL), CUGEN_OK);
  assert_int_equal(coverage_add(branches, A(1, "x = 3;\ny"), &more, NULL), CUGEN_OK);
  assert_true(more);
  assert_int_equal(coverage_add(branches, A(1, "x = 4;\ny"), &more, NULL), CUGEN_OK);
  assert_false(more);
  assert_int_equal(coverage_add(branches, A(1, "x = 4;"), &more, NULL), CUGEN_OK);
  assert_true(more);
  coverage_close(branches);
}

TEST(each_branch_is_taken_twice_by_few) {
  /* Lines 2 and 3 exclude each other, and so do 5 and 6. The first two sources have all of them,
     the next two as well; the last two add nothing. */
  const char *const sources[] = {A(1, "one\ntwo") A(5, "five"),
                                 A(1, "one") A(3, "three") A(6, "six"),
                                 A(1, "one\ntwo") A(6, "six"),
                                 A(1, "one") A(3, "three") A(5, "five"),
                                 A(1, "one\ntwo"),
                                 A(1, "one") A(3, "three")};
  expect_chosen(sources, 4, 0, (const int[]){0, 1, 2, 3, -1});
  expect_chosen(sources + 4, 2, 0, (const int[]){0, 1, -1});
}

TEST(a_template_that_is_not_included_leaves_nothing_out) {
  const char *const sources[] = {A(1, "one"), A(1, "one") B(1, "b\nc"), A(1, "one") B(1, "b"),
                                 A(1, "one") B(2, "c")};
  /* b.cu: the last three sources have both lines left out, and each one left out. a.cu's line is
     in all of them. */
  expect_chosen(sources, 4, 0, (const int[]){1, 2, 3, -1});
}

TEST(the_chosen_stay) {
  const char *const sources[] = {A(1, "one"), A(1, "one\ntwo"), A(1, "one") A(3, "three"),
                                 A(1, "one\ntwo\nthree")};
  expect_chosen(sources, 4, 1, (const int[]){0, 1, 2, 3, -1});
}
