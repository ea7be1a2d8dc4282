/* Strategies over the axes of a space, and the axes that a config's space has. */
#include <math.h>

#include "tests/testing.h"
#include "tune/search/axes.h"
#include "tune/search/gauss.h"
#include "tune/search/model.h"

/* ---- The axes of a config ------------------------------------------------------------------- */

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

TEST(axes_are_names_over_all_implementations) {
  struct opened t;
  open_config(two, &t);
  const struct strategy_axis *axes = t.described.axes;
  const double blocks[] = {32, 64, 128, 256};
  assert_int_equal(t.described.axis_count, 4); /* implementation, block, mode and tile */
  assert_int_equal(axes[0].count, 2);
  assert_null(axes[0].values);
  assert_int_equal(axes[1].count, 4);
  assert_memory_equal(axes[1].values, blocks, sizeof blocks);
  assert_int_equal(axes[2].count, 2);
  assert_null(axes[2].values);
  assert_int_equal(axes[3].count, 3);
  close_config(&t);
}

TEST(positions_and_variants_belong_to_each_other) {
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
  /* the combination is ruled out */
  assert_false(space->find(space->context, (const uint16_t[]){0, 2, 0, STRATEGY_ABSENT}, &found));
  /* the tunable is of "tiled" */
  assert_false(space->find(space->context, (const uint16_t[]){0, 3, 0, STRATEGY_ABSENT}, &found));
  assert_false(space->find(space->context,
                           (const uint16_t[]){1, 0, STRATEGY_ABSENT, STRATEGY_ABSENT}, &found));
  close_config(&t);
}

/* ---- Strategies on a planted space ---------------------------------------------------------- */

/* 8 x 6 x 5 x 4 x 3 combinations of numbers, without those whose first two positions are equal. */
enum { AXES = 5, COMBINATIONS = 2880, AROUND = 21 };
static const size_t sizes[AXES] = {8, 6, 5, 4, 3};
static const double numbers[8] = {1, 2, 4, 8, 16, 32, 64, 128};
static const struct strategy_axis planted_axes[AXES] = {
    {8, numbers}, {6, numbers}, {5, numbers}, {4, numbers}, {3, NULL}};
static uint64_t planted[COMBINATIONS], planted_at[COMBINATIONS],
    planted_count; /* the rank of each variant, and the variant of each rank */

static uint64_t rank_at(const uint16_t *positions) {
  uint64_t rank = 0;
  for (size_t a = 0; a < AXES; a++) rank = rank * sizes[a] + positions[a];
  return rank;
}

static void locate(const void *context, uint64_t index, uint16_t *positions) {
  uint64_t rank = planted[index];
  for (size_t a = AXES; a-- > 0; rank /= sizes[a]) positions[a] = (uint16_t)(rank % sizes[a]);
}

static bool find(const void *context, const uint16_t *positions, uint64_t *index) {
  *index = planted_at[rank_at(positions)];
  return positions[0] != positions[1];
}

static size_t neighbours(const void *context, uint64_t index, uint64_t *out) {
  uint16_t at[AXES];
  size_t count = 0;
  for (size_t a = 0; a < AXES; a++) {
    locate(context, index, at);
    uint16_t own = at[a];
    for (at[a] = 0; at[a] < sizes[a]; at[a]++)
      if (at[a] != own && find(context, at, &out[count])) count++;
  }
  return count;
}

static void plant(void) {
  uint16_t at[AXES];
  planted_count = 0;
  for (uint64_t rank = 0; rank < COMBINATIONS; rank++) {
    planted[planted_count] = rank;
    locate(NULL, planted_count, at);
    planted_at[rank] = planted_count;
    planted_count += at[0] != at[1];
  }
}

/* The best variant is at 5, 2, 3, 1, 2 of a valley in which two tunables depend on each other;
   every ninth variant fails. */
static double planted_seconds(uint64_t index) {
  uint16_t at[AXES];
  locate(NULL, index, at);
  double tile = at[0] + at[1] - 7.0, skew = at[0] - 5.0, depth = at[2] - 3.0, vector = at[3] - 1.0;
  if (planted[index] % 9 == 4) return (double)INFINITY;
  return 1 + 0.5 * tile * tile + 0.1 * skew * skew + 0.2 * depth * depth + 0.3 * vector * vector +
         (at[4] != 2);
}

static double no_time(uint64_t index) {
  return (double)INFINITY;
}

static double equal_time(uint64_t index) {
  return 1;
}

static struct strategy_space planted_space(const struct strategy_span *span, uint64_t seed) {
  return (struct strategy_space){.spans = span,
                                 .span_count = 1,
                                 .seed = seed,
                                 .neighbours = neighbours,
                                 .max_neighbours = AROUND,
                                 .axes = planted_axes,
                                 .axis_count = AXES,
                                 .locate = locate,
                                 .find = find};
}

/* Runs a strategy to its end, or until `most` variants were given. A result is reported after
   `latency` more variants were given. order: has room for all variants. */
static size_t run(const struct strategy_ops *ops, const struct strategy_space *space,
                  double (*seconds)(uint64_t), size_t latency, size_t most, uint64_t *order) {
  struct strategy *s = ops->open(space);
  size_t given = 0, heard = 0;
  assert_non_null(s);
  for (bool more = true; more || heard < given;) {
    more = more && given < most && ops->next(s, &order[given]);
    given += more;
    if (more && given - heard <= latency) continue;
    if (heard < given) ops->report(s, order[heard], seconds(order[heard]), 0.5), heard++;
  }
  ops->close(s);
  return given;
}

/* Returns the number of variants until one that takes at most `enough` is given; most + 1 if the
   first `most` have none. */
static size_t given_until(const struct strategy_ops *ops, const struct strategy_space *space,
                          double (*seconds)(uint64_t), double enough, size_t latency, size_t most) {
  struct strategy *s = ops->open(space);
  uint64_t order[COMBINATIONS];
  size_t given = 0;
  bool found = false;
  while (!found && given < most && ops->next(s, &order[given])) {
    found = seconds(order[given++]) <= enough;
    if (given > latency)
      ops->report(s, order[given - latency - 1], seconds(order[given - latency - 1]), 0.5);
  }
  ops->close(s);
  return found ? given : most + 1;
}

static void expect_each_once(const uint64_t *order, size_t given, struct strategy_span span) {
  char seen[COMBINATIONS] = {0};
  assert_int_equal(given, span.count);
  for (size_t i = 0; i < given; i++) {
    assert_true(order[i] >= span.first && order[i] < span.first + span.count);
    assert_int_equal(seen[order[i]]++, 0);
  }
}

static const struct strategy_ops *named(const char *name) {
  const struct strategy_ops *ops;
  assert_int_equal(strategy_find(name, &ops, NULL), CUGEN_OK);
  return ops;
}

TEST(each_gives_every_variant_once) {
  double (*const times[])(uint64_t) = {planted_seconds, no_time, equal_time};
  const size_t latencies[] = {0, 6, 64};
  const struct strategy_ops *ops;
  uint64_t order[COMBINATIONS];
  for (size_t n = 0; (ops = strategy_at(n)); n++)
    for (int i = 0; i < 3; i++) {
      /* each strategy gets another part of the space */
      const struct strategy_span part = {(uint64_t)i * 700, 300};
      const struct strategy_space space = planted_space(&part, (uint64_t)i);
      expect_each_once(order, run(ops, &space, times[i], latencies[i], COMBINATIONS, order), part);
    }
}

TEST(each_copes_with_one_variant_and_without_axes) {
  const struct strategy_span one = {17, 1}, some = {0, 200};
  const struct strategy_ops *ops;
  uint64_t order[COMBINATIONS];
  for (size_t n = 0; (ops = strategy_at(n)); n++) {
    struct strategy_space space = planted_space(&one, 3);
    expect_each_once(order, run(ops, &space, planted_seconds, 2, COMBINATIONS, order), one);
    space = planted_space(&some, 3);
    space.axes = NULL, space.axis_count = 0, space.locate = NULL, space.find = NULL;
    expect_each_once(order, run(ops, &space, planted_seconds, 5, COMBINATIONS, order), some);
  }
}

TEST(each_repeats_for_a_seed) {
  const struct strategy_span all = {0, planted_count};
  const struct strategy_ops *ops;
  uint64_t one[300], again[300], other[300];
  for (size_t n = 0; (ops = strategy_at(n)); n++) {
    struct strategy_space space = planted_space(&all, 11);
    assert_int_equal(run(ops, &space, planted_seconds, 34, 300, one), 300);
    run(ops, &space, planted_seconds, 34, 300, again);
    assert_memory_equal(one, again, sizeof one);
    space.seed = 12;
    run(ops, &space, planted_seconds, 34, 300, other);
    if (ops != named("exhaustive")) assert_memory_not_equal(one, other, sizeof one);
  }
}

static int compare_tries(const void *a, const void *b) {
  const size_t *one = a, *other = b;
  return (*one > *other) - (*one < *other);
}

/* Returns the number of variants until the best of all: the median over SEEDS seeds, at most
   `most`. */
static size_t tries(const char *name, size_t latency, size_t most) {
  enum { SEEDS = 9 };
  const struct strategy_span all = {0, planted_count};
  size_t counts[SEEDS];
  double best = INFINITY;
  for (uint64_t i = 0; i < planted_count; i++) best = fmin(best, planted_seconds(i));
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    const struct strategy_space space = planted_space(&all, seed);
    counts[seed] = given_until(named(name), &space, planted_seconds, best, latency, most);
  }
  qsort(counts, SEEDS, sizeof *counts, compare_tries);
  return counts[SEEDS / 2];
}

TEST(those_that_learn_find_the_best_sooner) {
  static const struct {
    const char *name;
    size_t latency, sooner; /* times as soon as at random */
  } rows[] = {{"surrogate", 0, 8},  {"surrogate", 34, 3}, {"portfolio", 0, 6},
              {"portfolio", 34, 3}, {"local", 0, 5},      {"evolutionary", 0, 5}};
  const size_t random = tries("random", 0, planted_count);
  assert_true(random > 900);
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const size_t most = random / rows[i].sooner, got = tries(rows[i].name, rows[i].latency, most);
    if (got > most)
      fail_msg("%s, %zu in flight: more than %zu", rows[i].name, rows[i].latency, most);
  }
}

/* One variant in 24 is right, and all neighbours of all variants fail. */
static double rare_seconds(uint64_t index) {
  uint16_t at[AXES];
  locate(NULL, index, at);
  return at[0] < 7 || planted[index] % 9 > 2 ? (double)INFINITY : planted_seconds(index);
}

static size_t failing_neighbours(const void *context, uint64_t index, uint64_t *out) {
  size_t count = 0;
  for (uint64_t i = 1; count < AROUND; i++) {
    const uint64_t other = (index + 7 * i) % planted_count;
    if (isinf(rare_seconds(other))) out[count++] = other;
  }
  return count;
}

/* Failures pay nothing, so local search, which finds nothing else here, gives few variants. */
TEST(a_portfolio_leaves_strategies_that_fail) {
  const struct strategy_span all = {0, planted_count};
  uint64_t order[COMBINATIONS];
  size_t right = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    struct strategy_space space = planted_space(&all, seed);
    space.neighbours = failing_neighbours;
    const size_t given = run(named("portfolio"), &space, rare_seconds, 0, 90, order);
    for (size_t i = 0; i < given; i++) right += isinf(rare_seconds(order[i])) ? 0 : 1;
  }
  if (right < 320) fail_msg("%zu of 1800 were right", right);
}

/* Half of the variants take a hundred times longer to measure, and are not better. */
TEST(the_surrogate_leaves_what_is_dear) {
  const struct strategy_span all = {0, planted_count};
  const struct strategy_space space = planted_space(&all, 5);
  const struct strategy_ops *ops = named("surrogate");
  struct strategy *s = ops->open(&space);
  uint64_t index;
  uint16_t at[AXES];
  int dear = 0;
  for (int i = 0; i < 200; i++) {
    assert_true(ops->next(s, &index));
    locate(NULL, index, at);
    dear += i >= 40 && at[3] >= 2;
    ops->report(s, index, planted_seconds(index), at[3] >= 2 ? 100 : 1);
  }
  assert_true(dear < 40);
  ops->close(s);
}

/* The first two tunables, with 48 pairs of values, change only the last digits. With the fourth
   at 0 all variants are slow, except for one value of the third and the fifth, which is the best
   by 5 %. */
static double plateau_seconds(uint64_t index) {
  uint64_t state = index;
  uint16_t at[AXES];
  locate(NULL, index, at);
  const double digits = 0.003 * (double)(random_next(&state) >> 11) / (double)(UINT64_C(1) << 53);
  const bool best = at[2] == 4 && at[3] == 0 && at[4] == 0;
  return (best ? 0.95
               : 1 + 0.1 * (4 - at[2]) + 0.1 * at[4] + (at[3] == 0 ? 0.3 : 0.05 * (3 - at[3]))) *
         (1 + digits);
}

TEST(the_surrogate_leaves_a_plateau) {
  enum { SEEDS = 40, MOST = 60 };
  const struct strategy_span all = {0, planted_count};
  size_t counts[SEEDS];
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    const struct strategy_space space = planted_space(&all, seed);
    counts[seed] = given_until(named("surrogate"), &space, plateau_seconds, 0.96, 0, MOST);
  }
  qsort(counts, SEEDS, sizeof *counts, compare_tries);
  assert_true(counts[SEEDS * 4 / 5] <= MOST);
}

/* Returns the least distance between a variant and the nearest earlier one, over the first 35
   variants. */
static double least_distance(const char *name, uint64_t seed) {
  enum { FIRST = 35 };
  const struct strategy_span all = {0, planted_count};
  const struct strategy_space space = planted_space(&all, seed);
  uint64_t order[FIRST];
  uint16_t one[AXES], other[AXES];
  double least = INFINITY;
  run(named(name), &space, planted_seconds, FIRST, FIRST, order);
  for (size_t i = 0; i < FIRST; i++)
    for (size_t j = 0; j < i; j++) {
      double distance = 0;
      locate(NULL, order[i], one), locate(NULL, order[j], other);
      for (size_t a = 0; a < AXES; a++) distance += abs(one[a] - other[a]) / (double)(sizes[a] - 1);
      least = fmin(least, distance);
    }
  return least;
}

TEST(the_surrogate_begins_spread_out) {
  for (uint64_t seed = 1; seed < 6; seed++)
    assert_true(least_distance("surrogate", seed) > 1.5 * least_distance("random", seed));
}

/* A variant beside one whose result is awaited promises less than before, even if it is beside
   the best so far. */
TEST(what_is_awaited_is_left_alone) {
  enum { KNOWN = 60, TURNS = 48 };
  const struct strategy_span all = {0, planted_count};
  const struct strategy_space space = planted_space(&all, 1);
  uint64_t around[64], seed = 3, best = 0;
  double before[TURNS];
  size_t less = 0, more = 0;
  struct model *model = model_open(&space, 1);
  for (int i = 0; i < KNOWN; i++) {
    const uint64_t index = random_next(&seed) % planted_count;
    model_learn(model, index, planted_seconds(index), 1);
    best = planted_seconds(index) < planted_seconds(best) ? index : best;
  }
  assert_true(neighbours(NULL, best, around) > 2);
  for (size_t turn = 0; turn < TURNS; turn++)
    before[turn] = model_score(model, around[0], turn, false, -INFINITY);
  model_expect(model, around[1]);
  for (size_t turn = 0; turn < TURNS; turn++) {
    const double after = model_score(model, around[0], turn, false, -INFINITY);
    less += after < before[turn];
    more += after > before[turn];
  }
  assert_true(less > TURNS / 2);
  assert_int_equal(more, 0);
  model_close(model);
}

TEST(few_are_ahead_while_little_is_known) {
  assert_int_equal(strategy_ahead(18, 0, 34), 18);
  assert_int_equal(strategy_ahead(18, 80, 34), 28);
  assert_int_equal(strategy_ahead(18, UINT64_MAX / 2, 34), 34);
  assert_int_equal(strategy_ahead(3, 0, 2), 2);
}

TEST(what_another_took_is_not_given) {
  const struct strategy_span part = {0, 100};
  const struct strategy_space space = planted_space(&part, 5);
  const struct strategy_ops *ops;
  uint64_t index;
  for (size_t n = 0; (ops = strategy_at(n)); n++) {
    struct strategy *s = ops->open(&space);
    size_t given = 0;
    for (uint64_t i = 0; i < 100; i += 2) ops->taken(s, i);
    for (; ops->next(s, &index); given++) {
      assert_int_equal(index % 2, 1);
      ops->report(s, index, planted_seconds(index), 1);
      if (given < 50) ops->report(s, 2 * given, planted_seconds(2 * given), 1);
    }
    assert_int_equal(given, 50);
    ops->close(s);
  }
}

/* ---- The process ---------------------------------------------------------------------------- */

/* Costs fall with the first column, and the second one does not matter. Rows with 1 in the third
   one fail after a long time. */
TEST(a_process_learns_what_matters) {
  enum { ROWS = 100, RIGHT = 80, LEARNT = 95 };
  float x[ROWS][3];
  double cost[ROWS], price[ROWS];
  uint32_t rows[ROWS];
  struct gauss *gauss = gauss_open(3, 1);
  for (size_t i = 0; i < ROWS; i++) {
    x[i][0] = (float)(i % 10) / 10, x[i][1] = (float)(i % 7) / 7, x[i][2] = i < RIGHT ? 0 : 1;
    cost[i] = 1 - x[i][0], price[i] = 3 * x[i][2];
    rows[i] = (uint32_t)i;
  }
  for (int i = 0; i < 20; i++) gauss_learn(gauss, x[0], cost, price, rows, RIGHT, LEARNT, ROWS);
  for (size_t turn = 0; turn < 8; turn++) {
    struct gauss_guess known, far;
    gauss_predict(gauss, (const float[]){0.55f, 0.3f, 0}, turn, &known);
    gauss_predict(gauss, (const float[]){0.55f, 0.3f, 1}, turn, &far);
    assert_true(fabs(known.cost - 0.45) < 0.05);
    assert_true(known.right > 0.9 && far.right < 0.3);
    assert_true(known.price < 0.3 && far.price > 2.5);
    const double bound = far.variance;
    gauss_refine(gauss, &known), gauss_refine(gauss, &far);
    assert_true(known.variance < far.variance && far.variance <= bound);
  }
  gauss_close(gauss);
}

/* What is left out for being worse than `least` would not have been chosen. */
TEST(a_score_is_left_out_only_if_it_is_worse) {
  const struct strategy_span all = {0, planted_count};
  const struct strategy_space space = planted_space(&all, 1);
  struct model *model = model_open(&space, 1);
  for (uint64_t i = 0; i < 200; i++) model_learn(model, i * 7, planted_seconds(i * 7), 1);
  for (uint64_t i = 1; i < 400; i++)
    for (size_t turn = 0; turn < 4; turn++) {
      const double score = model_score(model, i, turn, turn % 2, -INFINITY);
      assert_true(model_score(model, i, turn, turn % 2, score + 1e-9) < score + 1e-9);
      assert_true(model_score(model, i, turn, turn % 2, score - 1e-9) == score);
    }
  model_close(model);
}

/* A variant that fails on a broken device is reported again, with its cost on another one. */
TEST(a_right_result_replaces_a_failure) {
  enum { KNOWN = 20 };
  const struct strategy_span all = {0, planted_count};
  const struct strategy_space space = planted_space(&all, 1);
  struct model *model = model_open(&space, 1);
  for (uint64_t i = 0; i < KNOWN; i++) model_learn(model, i * 7, INFINITY, 1);
  assert_false(model_ready(model));
  for (uint64_t i = 0; i < KNOWN; i++) model_learn(model, i * 7, planted_seconds(i * 7), 1);
  assert_true(model_ready(model));
  assert_int_equal(model_rows(model), KNOWN);
  assert_true(isfinite(model_score(model, 1, 0, false, -INFINITY)));
  model_close(model);
}

int main(void) {
  plant();
  return tests_run();
}
