/* Learning portfolios from matrices made by hand: the choice of variants compared with brute
   force, the rule, the losses of held-out problems, and equal answers for equal input. */

#include <math.h>

#include "api/portfolio.h"
#include "base/expr.h"
#include "base/hash.h"
#include "tests/testing.h"
#include "tune/portfolio/choose.h"
#include "tune/portfolio/formulas.h"
#include "tune/portfolio/learn.h"
#include "tune/portfolio/tree.h"

#define NONE ((double)INFINITY)
#define GAP  ((double)NAN)

static const char *const names[] = {"M", "N", "K"};

static double uniform(uint64_t *state) {
  return ((double)(random_next(state) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

static struct portfolio_matrix matrix_of(size_t problems, size_t variants, const double *ratios,
                                         size_t sizes, const int64_t *values) {
  return (struct portfolio_matrix){.problems = problems,
                                   .variants = variants,
                                   .ratios = ratios,
                                   .sizes = sizes,
                                   .names = names,
                                   .values = values};
}

/* ---- Choosing ------------------------------------------------------------------------------- */

/* Returns the sum that portfolio_choose makes least. */
static double sum_of(const struct portfolio_matrix *m, const size_t *chosen, size_t count) {
  double sum = 0;
  for (size_t p = 0; p < m->problems; p++) {
    double least = PORTFOLIO_UNSERVED;
    for (size_t i = 0; i < count; i++)
      least = fmin(least, portfolio_choice_cost(portfolio_ratio(m, p, chosen[i])));
    sum += least;
  }
  return sum;
}

/* Returns the least sum of losses over all sets of at most `most` variants. */
static double brute(const struct portfolio_matrix *m, size_t most) {
  double least = INFINITY;
  for (unsigned set = 0; set < 1U << m->variants; set++) {
    size_t chosen[16], count = 0;
    for (size_t v = 0; v < m->variants; v++)
      if (set >> v & 1) chosen[count++] = v;
    if (count <= most) least = fmin(least, sum_of(m, chosen, count));
  }
  return least;
}

static void fill(double *ratios, size_t problems, size_t variants, uint64_t *state) {
  for (size_t p = 0; p < problems; p++) {
    for (size_t v = 0; v < variants; v++) {
      const double drawn = uniform(state);
      ratios[p * variants + v] = drawn < 0.1 ? NONE : drawn < 0.2 ? GAP : 1 + uniform(state);
    }
    ratios[p * variants + random_next(state) % variants] = 1;
  }
}

/* The choice may differ from brute force by what is negligible, because variants that gain next
   to nothing are left out. */
TEST(the_choice_is_the_best_there_is) {
  enum { PROBLEMS = 9, VARIANTS = 10 };
  double ratios[PROBLEMS * VARIANTS];
  uint64_t random = 3;
  for (int round = 0; round < 200; round++) {
    struct portfolio_matrix m = matrix_of(PROBLEMS, VARIANTS, ratios, 0, NULL);
    size_t chosen[VARIANTS], count, most = 1 + (size_t)round % 4;
    fill(ratios, PROBLEMS, VARIANTS, &random);
    assert_int_equal(portfolio_choose(&m, NULL, most, chosen, &count, NULL), CUGEN_OK);
    assert_in_range(count, 1, most);
    for (size_t i = 1; i < count; i++) assert_true(chosen[i] > chosen[i - 1]);
    const double least = brute(&m, most), sum = sum_of(&m, chosen, count);
    assert_true(sum >= least - 1e-9);
    assert_true(sum <= least + PORTFOLIO_NEGLIGIBLE * PROBLEMS);
  }
}

/* 8 of 60 variants, which are too many to try all sets. A planted set serves every problem best,
   and no exchange improves it. */
TEST(a_planted_set_is_found) {
  enum { PROBLEMS = 120, VARIANTS = 60, PLANTED = 8 };
  static double ratios[PROBLEMS * VARIANTS];
  struct portfolio_matrix m = matrix_of(PROBLEMS, VARIANTS, ratios, 0, NULL);
  size_t chosen[PLANTED], count;
  uint64_t random = 11;
  for (size_t p = 0; p < PROBLEMS; p++)
    for (size_t v = 0; v < VARIANTS; v++)
      ratios[p * VARIANTS + v] = v % 7 == 3 && v / 7 == p % PLANTED ? 1 : 1.05 + uniform(&random);
  assert_int_equal(portfolio_choose(&m, NULL, PLANTED, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, PLANTED);
  for (size_t i = 0; i < PLANTED; i++) assert_int_equal(chosen[i], 7 * i + 3);
}

/* Each problem has a variant that is 2 % faster than the planted one and slow on other problems.
   The exchange must count what the replaced variant served, so the planted set stays. */
TEST(an_exchange_loses_what_it_replaces) {
  enum { PROBLEMS = 120, VARIANTS = 60, PLANTED = 8 };
  static double ratios[PROBLEMS * VARIANTS];
  struct portfolio_matrix m = matrix_of(PROBLEMS, VARIANTS, ratios, 0, NULL);
  size_t chosen[PLANTED], count;
  uint64_t random = 12;
  for (size_t p = 0; p < PROBLEMS; p++) {
    const size_t own = p % VARIANTS + (p % VARIANTS % 7 == 3);
    for (size_t v = 0; v < VARIANTS; v++)
      ratios[p * VARIANTS + v] = v % 7 == 3 && v / 7 == p % PLANTED ? 1.02
                                 : v == own                         ? 1
                                                                    : 1.5 + uniform(&random);
  }
  assert_int_equal(portfolio_choose(&m, NULL, PLANTED, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, PLANTED);
  for (size_t i = 0; i < PLANTED; i++) assert_int_equal(chosen[i], 7 * i + 3);
}

TEST(what_serves_nothing_is_not_chosen) {
  static const double ratios[] = {1, GAP, NONE, 1, GAP, NONE, 1, NONE, NONE};
  const struct portfolio_matrix m = {.problems = 3, .variants = 3, .ratios = ratios};
  static const double nothing[] = {GAP, NONE};
  const struct portfolio_matrix none = {.problems = 1, .variants = 2, .ratios = nothing};
  size_t chosen[8], count;
  assert_int_equal(portfolio_choose(&m, NULL, 8, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_int_equal(chosen[0], 0);
  assert_int_equal(portfolio_choose(&none, NULL, 8, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 0);
}

/* A variant that is a little slower everywhere is left out. It stays if one problem has no
   other. */
TEST(serving_all_comes_first) {
  static const double ratios[] = {1, 1.5, 1, 1.5, NONE, 1.0};
  const struct portfolio_matrix m = {.problems = 3, .variants = 2, .ratios = ratios};
  size_t chosen[2], count;
  assert_int_equal(portfolio_choose(&m, NULL, 1, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_int_equal(chosen[0], 1); /* slower, but it serves the third problem */
  assert_int_equal(portfolio_choose(&m, NULL, 2, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 2);
}

/* Two variants that are each 1 % slower than the other on one problem are both chosen. */
TEST(a_little_is_no_reason_to_be_left_out) {
  static const double ratios[] = {1.01, 1, 1, 1.01};
  const struct portfolio_matrix m = {.problems = 2, .variants = 2, .ratios = ratios};
  size_t chosen[2], count;
  assert_int_equal(portfolio_choose(&m, NULL, 2, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 2);
  assert_int_equal(portfolio_choose(&m, NULL, 1, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
}

/* Variants 0 to 3 are one kernel, each the best of a quarter of the problems. Variant 4 is
   another kernel, 1.5 times slower everywhere. Variant 5 serves only the last problem. */
TEST(variants_of_one_kernel_count_once) {
  enum { PROBLEMS = 9, VARIANTS = 6 };
  static const size_t kernels[VARIANTS] = {0, 0, 0, 0, 4, 5};
  double ratios[PROBLEMS * VARIANTS];
  struct portfolio_matrix m = {
      .problems = PROBLEMS, .variants = VARIANTS, .ratios = ratios, .kernels = kernels};
  size_t chosen[VARIANTS], count;
  for (size_t p = 0; p < PROBLEMS; p++)
    for (size_t v = 0; v < VARIANTS; v++)
      ratios[p * VARIANTS + v] = p == 8       ? (v == 5 ? 1 : NONE)
                                 : v == 5     ? NONE
                                 : v == 4     ? 1.5
                                 : p % 4 == v ? 1
                                              : 3;
  assert_int_equal(portfolio_most_variants(&m, 2), VARIANTS);
  assert_int_equal(portfolio_choose(&m, NULL, 2, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 5);
  for (size_t i = 0; i < 4; i++) assert_int_equal(chosen[i], i);
  assert_int_equal(chosen[4], 5);
  m.kernels = NULL;
  assert_int_equal(portfolio_most_variants(&m, 2), 2);
  assert_int_equal(portfolio_choose(&m, NULL, 2, chosen, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 2);
  assert_int_equal(chosen[0], 4);
  assert_int_equal(chosen[1], 5);
}

/* ---- Rules ---------------------------------------------------------------------------------- */

enum { GRID = 12 };

/* M and N of 2^0 .. 2^11 each: variant 0 is the best where M * N is small, 1 where it is large,
   2 where only M is large. */
static void make_grid(double *ratios, int64_t *values, int shift) {
  for (size_t i = 0; i < GRID; i++)
    for (size_t k = 0; k < GRID; k++) {
      const size_t p = i * GRID + k, best = (int)(i + k) <= shift ? 0 : i < 3 ? 2 : 1;
      values[2 * p] = (int64_t)1 << i, values[2 * p + 1] = (int64_t)1 << k;
      for (size_t v = 0; v < 3; v++) ratios[3 * p + v] = v == best ? 1 : 1.4;
    }
}

TEST(the_rule_separates_what_differs) {
  double ratios[GRID * GRID * 3];
  int64_t values[GRID * GRID * 2];
  const struct portfolio_matrix m = matrix_of(GRID * GRID, 3, ratios, 2, values);
  FREED(portfolio_learnt) learnt;
  make_grid(ratios, values, 9);
  assert_int_equal(portfolio_learn(&m, 8, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.count, 3);
  assert_int_equal(learnt.leaves, 3);
  assert_non_null(strstr(text_get(&learnt.rule), "M * N <= 512"));
  assert_non_null(strstr(text_get(&learnt.rule), "M <= 4"));
  assert_true(learnt.tuned_loss.worst < 1.0001);
  assert_int_equal(learnt.tuned_loss.known, GRID * GRID);
  assert_int_equal(learnt.held_loss.known, GRID * GRID);
  assert_true(learnt.held_loss.mean < 1.01);
  for (size_t p = 0; p < m.problems; p++)
    assert_true(fabs(portfolio_ratio(&m, p, learnt.chosen[learnt.given[p]]) - 1) < 1e-9);
}

/* The best variant is random: a rule loses on held-out problems no more than a guess, which
   loses 3.2 %, plus some slack. */
TEST(noise_is_not_learnt) {
  enum { PROBLEMS = 100 };
  double ratios[PROBLEMS * 2];
  int64_t values[PROBLEMS];
  const struct portfolio_matrix m = matrix_of(PROBLEMS, 2, ratios, 1, values);
  FREED(portfolio_learnt) learnt;
  uint64_t random = 5;
  for (size_t p = 0; p < PROBLEMS; p++) {
    const bool first = random_next(&random) % 3 > 0;
    values[p] = (int64_t)p + 1;
    ratios[2 * p] = first ? 1 : 1.1, ratios[2 * p + 1] = first ? 1.1 : 1;
  }
  assert_int_equal(portfolio_learn(&m, 8, &learnt, NULL), CUGEN_OK);
  assert_true(learnt.leaves <= 20);
  assert_true(learnt.held_loss.mean < 1.04);
  assert_true(learnt.held_loss.mean > 1.02);
}

/* Two problems have the same best variant, which is eight times slower on all problems around
   them. Their leaf gets the other variant. */
TEST(few_problems_do_not_decide_against_all_around) {
  enum { PROBLEMS = 40 };
  static const size_t chosen[] = {0, 1};
  double ratios[PROBLEMS * 2];
  int64_t values[PROBLEMS];
  const struct portfolio_matrix m = matrix_of(PROBLEMS, 2, ratios, 1, values);
  struct portfolio_tree tree;
  for (size_t p = 0; p < PROBLEMS; p++) {
    const bool odd_one = p >= 38;
    values[p] = 10 * (int64_t)p + 10;
    ratios[2 * p] = odd_one ? 1.05 : 1, ratios[2 * p + 1] = odd_one ? 1 : 8;
  }
  assert_int_equal(portfolio_tree_grow(&m, NULL, chosen, 2, NULL, PROBLEMS, &tree, NULL), CUGEN_OK);
  assert_int_equal(portfolio_tree_says(&tree, PROBLEMS, &m, 39), 0);
  portfolio_tree_free(&tree);
  for (size_t p = 0; p < PROBLEMS / 2; p++) ratios[2 * p] = 1.15, ratios[2 * p + 1] = 1;
  assert_int_equal(portfolio_tree_grow(&m, NULL, chosen, 2, NULL, PROBLEMS, &tree, NULL), CUGEN_OK);
  assert_int_equal(portfolio_tree_says(&tree, PROBLEMS, &m, 10), 1);
  portfolio_tree_free(&tree);
}

/* One problem is served a thousand times slower when it is left out of the learning
   (cross-validation). This must not decide against a rule by which the other problems lose
   nothing. */
TEST(one_that_is_far_off_does_not_decide) {
  enum { PROBLEMS = 100 };
  double ratios[PROBLEMS * 2];
  int64_t values[PROBLEMS];
  const struct portfolio_matrix m = matrix_of(PROBLEMS, 2, ratios, 1, values);
  FREED(portfolio_learnt) learnt;
  for (size_t p = 0; p < PROBLEMS; p++) {
    values[p] = p == 59 ? 605 : 10 * (int64_t)p + 10;
    ratios[2 * p] = p < 60 ? 1 : 1.2, ratios[2 * p + 1] = p < 60 ? 1.2 : 1;
  }
  ratios[2 * 59 + 1] = 1000;
  assert_int_equal(portfolio_learn(&m, 8, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.leaves, 2);
  assert_true(learnt.held_loss.worst > 900);
  assert_true(learnt.tuned_loss.worst < 1.0001);
}

/* The best variants are drawn, so no rule knows those of other problems. The rule names problems
   that were asked for and that it would serve much slower. */
TEST(exceptions_are_named) {
  enum { PROBLEMS = 24 };
  double ratios[PROBLEMS * 2];
  int64_t values[PROBLEMS * 2];
  const struct portfolio_matrix m = matrix_of(PROBLEMS, 2, ratios, 2, values);
  FREED(portfolio_learnt) learnt;
  size_t exceptions = 0;
  uint64_t random = 5;
  for (size_t p = 0; p < PROBLEMS; p++) {
    const size_t best = random_next(&random) % 3 == 0;
    values[2 * p] = 100 + 7 * (int64_t)p, values[2 * p + 1] = 64;
    ratios[2 * p + best] = 1, ratios[2 * p + !best] = 1.3;
  }
  assert_int_equal(portfolio_learn(&m, 2, &learnt, NULL), CUGEN_OK);
  assert_true(learnt.tuned_loss.worst < 1.0001);
  assert_true(learnt.alone_loss.worst > 1.29);
  assert_true(learnt.held_loss.worst > 1.29);
  assert_int_equal(learnt.kernels, 2);
  for (size_t p = 0; p < PROBLEMS; p++) {
    char named[64];
    snprintf(named, sizeof named, "M == %d and N == 64, %zu, ", (int)values[2 * p],
             learnt.given[p]);
    exceptions += strstr(text_get(&learnt.rule), named) != NULL;
  }
  assert_in_range(exceptions, 1, PROBLEMS);
}

/* Variant 0 needs a multiple of 8, and is the best where the size is one. */
TEST(what_is_no_variant_is_told_apart) {
  enum { PROBLEMS = 64 };
  double ratios[PROBLEMS * 3];
  int64_t values[PROBLEMS];
  const struct portfolio_matrix m = {.problems = PROBLEMS,
                                     .variants = 3,
                                     .ratios = ratios,
                                     .sizes = 1,
                                     .names = &names[2],
                                     .values = values};
  FREED(portfolio_learnt) learnt;
  for (size_t p = 0; p < PROBLEMS; p++) {
    const bool aligned = p % 2 == 0, large = p >= 32;
    values[p] = aligned ? 8 * ((int64_t)p + 1) : 8 * (int64_t)p + 5;
    ratios[3 * p] = aligned ? 1 : NONE;
    ratios[3 * p + 1] = aligned ? 2 : large ? 1 : 1.5;
    ratios[3 * p + 2] = aligned ? 2 : large ? 1.5 : 1;
  }
  assert_int_equal(portfolio_learn(&m, 3, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.count, 3);
  assert_true(learnt.tuned_loss.worst < 1.0001);
  for (size_t p = 0; p < PROBLEMS; p++) assert_true(learnt.given[p] < learnt.count);
}

/* Variant 0 is valid everywhere, and fast for small sizes only; 1 and 2 need multiples of 4 and
   of 2. Where the rule's variant is not valid, a fast one serves: never 0, although it alone is
   valid everywhere. */
TEST(what_falls_back_falls_to_what_is_fast) {
  enum { PROBLEMS = 96 };
  double ratios[PROBLEMS * 3];
  int64_t values[PROBLEMS];
  const struct portfolio_matrix m = matrix_of(PROBLEMS, 3, ratios, 1, values);
  FREED(portfolio_learnt) learnt;
  size_t served = 0;
  for (size_t p = 0; p < PROBLEMS; p++) {
    const bool small = p < 30, by_4 = p % 2 == 0;
    values[p] = by_4 ? 4 * ((int64_t)p + 1) : 4 * (int64_t)p + 2;
    ratios[3 * p] = small ? 1 : 50;
    ratios[3 * p + 1] = by_4 ? small ? 3 : 1 : NONE;
    ratios[3 * p + 2] = small ? 3 : by_4 ? 1.5 : 1;
  }
  assert_int_equal(portfolio_learn(&m, 3, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.count, 3);
  assert_int_equal(learnt.chosen[2], 0);
  for (size_t p = 30; p < PROBLEMS; p++)
    for (size_t choice = 0; choice < 2; choice++, served++)
      assert_int_not_equal(
          learnt.chosen[portfolio_given(&m, p, learnt.chosen, learnt.count, choice, NULL)], 0);
  assert_int_equal(served, 2 * (PROBLEMS - 30));
}

/* Features ask for multiples of a size only if the size decides which variants are valid; if
   that is not known, of every size. */
TEST(what_decides_nothing_is_not_asked) {
  static const bool decides[] = {false, true};
  static const int64_t values[] = {8, 16, 24, 7};
  struct portfolio_matrix m = {.problems = 2, .sizes = 2, .names = names, .values = values};
  for (int known = 0; known < 2; known++) {
    bool asked[2] = {false};
    size_t count;
    m.decides = known ? decides : NULL;
    struct portfolio_feature *all = portfolio_features(&m, &count);
    assert_non_null(all);
    for (size_t i = 0; i < count; i++)
      if (all[i].kind == FEATURE_MULTIPLES) asked[all[i].each >> 1] = true;
    free(all);
    assert_int_equal(asked[0], !known);
    assert_true(asked[1]);
  }
}

/* Prints the feature for all sizes that may be multiples: K is never a multiple of 8 in these
   problems. */
static void prints_all_that_divide(const struct portfolio_feature *f,
                                   const struct portfolio_matrix *m) {
  static const int64_t both[] = {24, 16, 3}, one[] = {24, 12, 3};
  FREED(text) text = {0};
  assert_true(portfolio_feature_of(f, both, 3) == 3);
  assert_true(portfolio_feature_of(f, one, 3) == 2);
  portfolio_feature_print(f, m, portfolio_threshold(f, 2, 3), &text);
  assert_string_equal(text_get(&text), "M % 8 ~= 0 or N % 8 ~= 0");
}

/* If no size decides which variants are valid, one feature asks for multiples of all sizes
   together. */
TEST(what_divides_all_is_asked_where_none_decides) {
  static const bool none[] = {false, false, false}, one[] = {false, true, false};
  static const int64_t values[] = {8, 16, 3, 24, 7, 5};
  struct portfolio_matrix m = {.problems = 2, .sizes = 3, .names = names, .values = values};
  const bool *all_decides[] = {none, one, NULL};
  for (size_t k = 0; k < sizeof all_decides / sizeof *all_decides; k++) {
    size_t count, together = 0;
    m.decides = all_decides[k];
    struct portfolio_feature *all = portfolio_features(&m, &count);
    assert_non_null(all);
    for (size_t i = 0; i < count; i++)
      if (all[i].each & (all[i].each - 1)) together++, prints_all_that_divide(&all[i], &m);
    free(all);
    assert_int_equal(together, k == 0);
  }
}

/* All variants are valid everywhere. Variant 0 is fast where both sizes are multiples of 8, and
   no other feature shows that. */
TEST(a_rule_that_asks_all_sizes_is_learnt) {
  enum { PROBLEMS = 64 };
  static const bool none[] = {false, false};
  double ratios[PROBLEMS * 2];
  int64_t values[PROBLEMS * 2];
  struct portfolio_matrix m = matrix_of(PROBLEMS, 2, ratios, 2, values);
  m.decides = none;
  struct portfolio_learnt learnt;
  for (size_t p = 0; p < PROBLEMS; p++) {
    const bool aligned = p % 2 == 0;
    values[2 * p] = 8 * (int64_t)(1 + p * 37 % 64) + (aligned ? 0 : 3);
    values[2 * p + 1] = 8 * (int64_t)(1 + p * 23 % 64) + (aligned || p % 4 == 1 ? 0 : 1);
    ratios[2 * p] = aligned ? 1 : 5;
    ratios[2 * p + 1] = aligned ? 1.3 : 1;
  }
  assert_int_equal(portfolio_learn(&m, 2, &learnt, NULL), CUGEN_OK);
  assert_string_equal(text_get(&learnt.rule), "least");
  for (size_t i = 0; i < 2; i++)
    assert_non_null(strstr(text_get(&learnt.times[i]), "select(M % 8 ~= 0 or N % 8 ~= 0, "));
  assert_true(learnt.tuned_loss.worst < 1.0001);
  assert_true(learnt.held_loss.worst < 1.0001);
  portfolio_learnt_free(&learnt);
  /* If a size is called "least", no rule uses the word. */
  static const char *const sizes[] = {"least", "N"};
  struct portfolio_matrix other = m;
  other.names = sizes;
  assert_int_equal(portfolio_learn(&other, 2, &learnt, NULL), CUGEN_OK);
  assert_true(strcmp(text_get(&learnt.rule), "least") != 0);
  for (size_t i = 0; i < 2; i++) assert_string_equal(text_get(&learnt.times[i]), "");
  portfolio_learnt_free(&learnt);
}

TEST(sets_of_one_and_of_nothing) {
  static const double one[] = {1.2, 1}, none[] = {GAP, NONE};
  static const int64_t values[] = {64};
  struct portfolio_matrix m = matrix_of(1, 2, one, 1, values);
  struct portfolio_learnt learnt;
  assert_int_equal(portfolio_learn(&m, 8, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.count, 1);
  assert_int_equal(learnt.chosen[0], 1);
  assert_string_equal(text_get(&learnt.rule), "0");
  assert_int_equal(learnt.held_loss.known, 0);
  assert_true(isnan(learnt.held_loss.mean) && isnan(learnt.held_loss.worst));
  portfolio_learnt_free(&learnt);
  m.ratios = none;
  assert_int_equal(portfolio_learn(&m, 8, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.count, 0);
  assert_string_equal(text_get(&learnt.rule), "");
  assert_int_equal(learnt.tuned_loss.known, 0);
  portfolio_learnt_free(&learnt);
}

/* Two problems have different best variants: the rule names both, although nothing can be held
   out. */
TEST(few_problems_are_served_each) {
  static const double ratios[] = {1, 2, 2, 1};
  static const int64_t values[] = {64, 4096};
  const struct portfolio_matrix m = matrix_of(2, 2, ratios, 1, values);
  FREED(portfolio_learnt) learnt;
  assert_int_equal(portfolio_learn(&m, 8, &learnt, NULL), CUGEN_OK);
  assert_string_equal(text_get(&learnt.rule), "select(M <= 512, 0, 1)");
  assert_true(learnt.tuned_loss.worst < 1.0001);
}

/* Two of four problems share a variant; the other two have variants of their own, so nothing
   learnt from the others serves them. They have no held-out loss and are counted. */
TEST(what_nothing_serves_is_counted) {
  static const double ratios[] = {1, NONE, NONE, 1.21, NONE, NONE, NONE, 1, NONE, NONE, NONE, 1};
  static const int64_t values[] = {64, 128, 256, 512};
  const struct portfolio_matrix m = matrix_of(4, 3, ratios, 1, values);
  struct portfolio_learnt learnt;
  assert_int_equal(portfolio_learn(&m, 3, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.tuned_loss.missed, 0);
  assert_int_equal(learnt.held_loss.missed, 2);
  assert_int_equal(learnt.held_loss.known, 2);
  portfolio_learnt_free(&learnt);
  assert_int_equal(portfolio_learn(&m, 2, &learnt, NULL), CUGEN_OK);
  assert_int_equal(learnt.tuned_loss.missed, 1);
  assert_int_equal(learnt.tuned_loss.known, 3);
  assert_true(fabs(learnt.tuned_loss.mean - cbrt(1.21)) < 1e-12);
  portfolio_learnt_free(&learnt);
}

TEST(equal_input_gives_equal_output) {
  enum { PROBLEMS = 150, VARIANTS = 40 };
  static double ratios[PROBLEMS * VARIANTS];
  int64_t values[PROBLEMS * 3];
  const struct portfolio_matrix m = matrix_of(PROBLEMS, VARIANTS, ratios, 3, values);
  FREED(portfolio_learnt) a, b;
  uint64_t random = 9;
  fill(ratios, PROBLEMS, VARIANTS, &random);
  for (size_t i = 0; i < PROBLEMS * 3; i++) values[i] = 1 + (int64_t)(random_next(&random) % 8192);
  assert_int_equal(portfolio_learn(&m, 8, &a, NULL), CUGEN_OK);
  assert_int_equal(portfolio_learn(&m, 8, &b, NULL), CUGEN_OK);
  assert_int_equal(a.count, b.count);
  assert_memory_equal(a.chosen, b.chosen, a.count * sizeof *a.chosen);
  assert_string_equal(text_get(&a.rule), text_get(&b.rule));
}

/* ---- Formulas ------------------------------------------------------------------------------- */

enum { PRODUCTS = 160, UNITS = 132 };

/* Products with sizes from 64 to 4096, every fourth of them ragged. */
struct products {
  int64_t values[3 * PRODUCTS];
  double best[PRODUCTS], ratios[2 * PRODUCTS];
  struct portfolio_matrix m;
};

/* Returns the time of a kernel with such tiles: whole waves, and bytes. */
static double true_time(const int64_t *sizes, int64_t tile_m, int64_t tile_n, double step) {
  const int64_t tiles = ((sizes[0] + tile_m - 1) / tile_m) * ((sizes[1] + tile_n - 1) / tile_n);
  const int64_t whole = (tiles + UNITS - 1) / UNITS;
  const double waves = (double)whole;
  const double ragged = sizes[2] % 8 ? 1.5 : 1;
  return (2 + waves * (0.8 + step * (double)sizes[2]) + 1e-6 * (double)(sizes[0] * sizes[1])) *
         ragged;
}

static void make_products(struct products *p) {
  uint64_t random = 9;
  for (size_t i = 0; i < PRODUCTS; i++) {
    int64_t *sizes = &p->values[3 * i];
    for (size_t s = 0; s < 3; s++) sizes[s] = 8 * (int64_t)exp2(3 + 6 * uniform(&random));
    sizes[2] += i % 4 == 0 ? 3 : 0;
    const double large = true_time(sizes, 128, 256, 0.02), small = true_time(sizes, 64, 64, 0.0042);
    p->best[i] = fmin(large, small);
    p->ratios[2 * i] = large / p->best[i], p->ratios[2 * i + 1] = small / p->best[i];
  }
  p->m = (struct portfolio_matrix){.problems = PRODUCTS,
                                   .variants = 2,
                                   .ratios = p->ratios,
                                   .sizes = 3,
                                   .names = names,
                                   .values = p->values,
                                   .best = p->best,
                                   .multiprocessors = UNITS};
}

TEST(waves_of_tiles_are_found) {
  struct products p;
  struct portfolio_formula ways[FORMULA_WAYS];
  FREED(portfolio_learnt) learnt;
  make_products(&p);
  assert_int_equal(portfolio_formula_fit(&p.m, NULL, 0, ways, NULL), CUGEN_OK);
  for (size_t way = 0; way < FORMULA_WAYS; way++) assert_true(ways[way].known);
  assert_int_equal(ways[1].a, 0);
  assert_int_equal(ways[1].b, 1);
  assert_int_equal(ways[1].tile_a, 128);
  assert_int_equal(ways[1].tile_b, 256);
  for (size_t i = 0; i < PRODUCTS; i++) {
    const double time = portfolio_formula_of(&ways[1], &p.m, &p.values[3 * i]);
    assert_true(fabs(log(time / (p.best[i] * p.ratios[2 * i]))) < 0.1);
  }
  assert_int_equal(portfolio_learn(&p.m, 8, &learnt, NULL), CUGEN_OK);
  assert_string_equal(text_get(&learnt.rule), "least");
  assert_true(learnt.held_loss.mean < 1.005);
  assert_true(learnt.held_loss.worst < 1.1);
}

static struct expr_symbol find_name(void *context, const char *name) {
  for (int i = 0; i < 3; i++)
    if (strcmp(names[i], name) == 0) return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = i};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

static const char *const *list_names(void *context, size_t *count) {
  *count = 3;
  return names;
}

/* A plan evaluates the printed text, which must give exactly the number that was learnt with. */
TEST(what_is_printed_is_what_was_fitted) {
  const struct expr_scope scope = {find_name, list_names, NULL};
  struct products p;
  struct portfolio_formula ways[FORMULA_WAYS];
  uint64_t random = 4;
  make_products(&p);
  for (size_t variant = 0; variant < 2; variant++) {
    FREED(text) text = {0};
    CLOSED(expr) *expr;
    assert_int_equal(portfolio_formula_fit(&p.m, NULL, variant, ways, NULL), CUGEN_OK);
    portfolio_formula_print(&ways[variant], &p.m, &text);
    assert_int_equal(expr_parse(text_get(&text), &scope, &expr, NULL), CUGEN_OK);
    for (int i = 0; i < 1000; i++) {
      int64_t sizes[3];
      struct value slots[3];
      double value;
      for (int s = 0; s < 3; s++)
        sizes[s] = 1 + (int64_t)(random_next(&random) % 9000), slots[s] = value_int(sizes[s]);
      assert_int_equal(expr_eval_float(expr, slots, &value, NULL), CUGEN_OK);
      assert_true(value == portfolio_formula_of(&ways[variant], &p.m, sizes));
    }
  }
}

/* Two known sizes give no formula, nor do sizes that are all equal. */
TEST(little_gives_no_formula) {
  struct products p;
  struct portfolio_formula ways[FORMULA_WAYS];
  FREED(text) text = {0};
  make_products(&p);
  for (size_t i = 0; i < PRODUCTS; i++) p.ratios[2 * i] = i < 2 ? p.ratios[2 * i] : GAP;
  assert_int_equal(portfolio_formula_fit(&p.m, NULL, 0, ways, NULL), CUGEN_OK);
  assert_false(ways[0].known || ways[1].known);
  assert_true(isinf(portfolio_formula_of(&ways[0], &p.m, p.values)));
  portfolio_formula_print(&ways[0], &p.m, &text);
  assert_string_equal(text_get(&text), "");
  for (size_t i = 0; i < 3 * PRODUCTS; i++) p.values[i] = 64;
  assert_int_equal(portfolio_formula_fit(&p.m, NULL, 1, ways, NULL), CUGEN_OK);
  assert_false(ways[0].known || ways[1].known);
}

/* A threshold below 1 multiplies the first size instead, so that no fraction is printed. */
TEST(a_ratio_is_printed_in_whole_numbers) {
  static const struct {
    double threshold;
    const char *text;
  } cases[] = {{0.25, "4 * M <= N"}, {1, "M <= N"}, {8, "M <= 8 * N"}};
  const struct portfolio_feature ratio = {.kind = FEATURE_RATIO, .a = 0, .b = 1};
  const struct portfolio_matrix m = {.sizes = 3, .names = names};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) text = {0};
    portfolio_feature_print(&ratio, &m, cases[i].threshold, &text);
    assert_string_equal(text_get(&text), cases[i].text);
  }
}

/* Where N is 32, variant 1 is faster than its formula says, so the rule names it there. One such
   problem is so large that variant 1 is far slower, as its formula says. Held out, that problem
   is served well only if the rule is doubted, and the others are served well only if small
   differences raise no doubt. */
TEST(a_rule_is_doubted_where_it_is_far_off) {
  enum { EACH = 24, PROBLEMS = 2 * EACH + 1 };
  double ratios[PROBLEMS * 2], best[PROBLEMS];
  int64_t values[PROBLEMS * 2];
  struct portfolio_matrix m = matrix_of(PROBLEMS, 2, ratios, 2, values);
  m.best = best;
  m.multiprocessors = 16;
  FREED(portfolio_learnt) learnt;
  for (int p = 0; p < PROBLEMS; p++) {
    const bool last = p == PROBLEMS - 1;
    const int64_t M = last ? 8000 : 16 * (p % EACH + 1), N = p < EACH || last ? 32 : 1024;
    const double first = 2 + 1e-4 * (double)(M * N), formula = 1 + 3e-4 * (double)(M * N);
    const double second = p < EACH ? fmin(formula, first / 1.25) : formula;
    values[2 * p] = M, values[2 * p + 1] = N;
    best[p] = fmin(first, second);
    ratios[2 * p] = first / best[p], ratios[2 * p + 1] = second / best[p];
  }
  assert_int_equal(portfolio_learn(&m, 8, &learnt, NULL), CUGEN_OK);
  assert_true(learnt.doubted == PORTFOLIO_DOUBTED);
  assert_true(learnt.held_loss.worst < 1.01);
}

/* Where the rule's variant is not valid, the valid variant with the least time serves; if none
   is valid, none serves. */
TEST(the_least_that_is_a_variant_serves) {
  static const size_t chosen[] = {0, 1};
  struct products p;
  FREED(portfolio_formulas) formulas;
  make_products(&p);
  p.ratios[0] = NONE, p.ratios[2 + 1] = NONE, p.ratios[4] = p.ratios[4 + 1] = NONE;
  assert_int_equal(portfolio_formulas_fit(&p.m, NULL, chosen, 2, &formulas, NULL), CUGEN_OK);
  assert_int_equal(formulas.least[0], 1);
  assert_int_equal(formulas.honest[0], 1);
  assert_int_equal(formulas.least[1], 0);
  assert_int_equal(formulas.least[2], 2);
  assert_int_equal(portfolio_given(&p.m, 0, chosen, 2, 0, formulas.least), 1);
  assert_int_equal(portfolio_given(&p.m, 2, chosen, 2, 0, formulas.least), 2);
}

/* ---- What a plan asks ----------------------------------------------------------------------- */

/* The rule's variant comes first unless the rule is doubted; the others follow by time. A
   variant without a time, or without one for the size, comes last. */
TEST(a_plan_asks_the_rule) {
  static const char text[] =
      "kernel 'k' { problem 'M' (64), output 'y' { dtype = 'f32', shape = { 'M' } }, reference "
      "'none', implementation 'a' { template 't.cu', grid { 1 }, block { 32 } } }";
  static const struct {
    const char *rule, *times[3];
    double doubted;
    const char *size, *order;
    bool named;
  } cases[] = {
      {"1", {"3.0", "2.0", "1.0"}, 0, "M=64", "120", true},
      {"least", {"3.0", "2.0", "1.0"}, 0, "M=64", "210", true},
      {"least", {"3.0", "3.0", "3.0"}, 0, "M=64", "012", true},
      {"3", {"3.0", "2.0", "1.0"}, 0, "M=64", "210", false},
      {"M // (M - 64)", {"3.0", "2.0", "1.0"}, 0, "M=64", "210", false},
      {"0", {"3.0", "2.0", "1.0"}, 1.6, "M=64", "201", true},
      {"0", {"3.0", "2.0", "1.0"}, 1.4, "M=64", "210", true},
      {"0", {NULL, "2.0", "1.0"}, 1.4, "M=64", "021", true},
      {"least", {"0 // (M - 64) + 1.0", "M * 0.5", "40.0"}, 0, "M=64", "120", true},
      {"least", {NULL, NULL, NULL}, 0, "M=64", "012", false},
      /* two conditions, one of which begins with the other */
      {"least",
       {"select(M <= 64, 3.0, 5.0)", "select(M <= 6, 1.0, 4.0)", NULL},
       0,
       "M=64",
       "012",
       true},
      {"least",
       {"select(M <= 64, 3.0, 5.0)", "select(M <= 64, 1.0, 6.0)", NULL},
       0,
       "M=64",
       "102",
       true},
      {"least",
       {"select(M <= 64, 3.0, 5.0)", "select(M <= 64, 1.0, 6.0)", NULL},
       0,
       "M=65",
       "012",
       true},
  };
  CLOSED(config) *config;
  assert_int_equal(config_parse("k.lua", text, sizeof text - 1, &config, NULL), CUGEN_OK);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct portfolio_body_variant variants[3] = {{.variant = NULL}};
    const struct portfolio_body body = {.rule = (char *)(uintptr_t)cases[i].rule,
                                        .doubted = cases[i].doubted,
                                        .variants = variants,
                                        .count = 3};
    FREED(problem) problem;
    struct portfolio_order order;
    char got[4] = "";
    for (size_t v = 0; v < 3; v++) variants[v].time = (char *)(uintptr_t)cases[i].times[v];
    assert_int_equal(problem_set(config, &cases[i].size, 1, false, &problem, NULL), CUGEN_OK);
    assert_int_equal(portfolio_ask(&body, config, &problem, &order, NULL), CUGEN_OK);
    assert_int_equal(order.count, 3);
    for (size_t v = 0; v < 3; v++) got[v] = (char)('0' + order.at[v]);
    if (strcmp(got, cases[i].order) != 0 || order.named != cases[i].named)
      fail_msg("case %zu: %s, %d", i, got, order.named);
  }
}

/* A bundle leaves out a portfolio whose rule gives no whole number, so a plan skips it, too. */
TEST(a_plan_refuses_a_rule_without_a_whole_number) {
  static const char text[] =
      "kernel 'k' { problem 'M' (64), output 'y' { dtype = 'f32', shape = { 'M' } }, reference "
      "'none', implementation 'a' { template 't.cu', grid { 1 }, block { 32 } } }";
  static const char *const rules[] = {"1.5", "M * 0.5", "M > 64"};
  char time[] = "1.0";
  struct portfolio_body_variant variant = {.time = time};
  CLOSED(config) *config;
  FREED(problem) problem;
  WORKS(config_parse("k.lua", text, sizeof text - 1, &config, &err));
  WORKS(problem_set(config, NULL, 0, false, &problem, &err));
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    const struct portfolio_body body = {
        .rule = (char *)(uintptr_t)rules[i], .variants = &variant, .count = 1};
    struct portfolio_order order;
    FAILS(portfolio_ask(&body, config, &problem, &order, &err), CUGEN_ERROR_CONFIG,
          "no whole number");
  }
}
