/* Recorded spaces: reading them, the score compared with that of the methodology's package, the
   simulated clock. */
#include <math.h>

#include <jansson.h>

#include "tests/testing.h"
#include "tools/bench/replay/simulate.h"

CLOSABLE(score, score_close);

#define CACHE "tests/spaces/recorded_cache.json"

static struct recorded space(const char *path) {
  struct recorded out;
  cugen_error err = {0};
  if (recorded_read(path, (struct process_stop){0}, &out, &err)) fail_msg("%s", err.message);
  return out;
}

/* ---- Reading -------------------------------------------------------------------------------- */

TEST(all_formats_are_read) {
  const struct {
    const char *path, *format, *kernel, *first;
    size_t axes;
  } rows[] = {
      {CACHE, "Kernel Tuner", "cached", "block=32 tile=1 unroll=0 cache=0", 4},
      {"tests/spaces/recorded_t4.json", "T4", "", "block=32 tile=1 unroll=0 cache=0 layout=column",
       6},
      {"tests/spaces/recorded_ktt.json", "KTT", "kept", "BLOCK=32 TILE=1 UNROLL=0 CACHE=0", 4}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    FREED(recorded) r = space(rows[i].path);
    FREED(text) text = {0};
    recorded_print(&r, 0, &text);
    assert_string_equal(text_get(&text), rows[i].first);
    assert_string_equal(r.format, rows[i].format);
    assert_string_equal(r.kernel, rows[i].kernel);
    assert_int_equal(r.axis_count, rows[i].axes);
    assert_int_equal(r.count, 168);
  }
}

TEST(variants_are_found_by_their_values) {
  FREED(recorded) r = space("tests/spaces/recorded_t4.json");
  uint16_t positions[RECORDED_MOST_AXES];
  uint64_t index;
  for (size_t i = 0; i < r.count; i++) {
    recorded_locate(&r, i, positions);
    assert_true(recorded_find(&r, positions, &index));
    assert_int_equal(index, i);
  }
  recorded_locate(&r, 0, positions);
  assert_int_equal(positions[5], RECORDED_ABSENT); /* pad exists only where cache is 1 */
  positions[0] = 4, positions[1] = 4;              /* the space has no block=512 tile=8 */
  assert_false(recorded_find(&r, positions, &index));
}

TEST(neighbours_differ_in_one_value) {
  FREED(recorded) r = space(CACHE);
  uint64_t *around = calloc(recorded_max_neighbours(&r), sizeof *around);
  for (size_t i = 0; i < r.count; i++) {
    size_t count = recorded_neighbours(&r, i, around);
    assert_in_range(count, 1, recorded_max_neighbours(&r));
    for (size_t n = 0; n < count; n++) {
      size_t differ = 0;
      for (size_t a = 0; a < r.axis_count; a++)
        differ += r.positions[i * r.axis_count + a] != r.positions[around[n] * r.axis_count + a];
      assert_int_equal(differ, 1);
    }
  }
  free(around);
}

TEST(numbers_stand_in_their_order) {
  FREED(recorded) r = space("tests/spaces/recorded_t4.json");
  for (size_t a = 0; a < r.axis_count; a++)
    for (size_t v = 1; v < r.axes[a].count && r.axes[a].values; v++)
      assert_true(r.axes[a].values[v - 1] < r.axes[a].values[v]);
  assert_null(r.axes[4].values); /* the values are words */
}

/* ---- The score ------------------------------------------------------------------------------ */

/* A run that tries these variants, one after the other. */
static struct score_run run_of(const struct recorded *r, const json_t *indices) {
  const size_t count = json_array_size(indices);
  struct score_run run = {count, calloc(count, sizeof(double)), calloc(count, sizeof(double))};
  double now = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t index = (size_t)json_integer_value(json_array_get(indices, i));
    run.seconds[i] = now += recorded_total(r, index);
    run.costs[i] = r->costs[index];
  }
  return run;
}

static void expect_score(const char *path, const char *kind, const json_t *expected) {
  FREED(recorded) r = space(path);
  const json_t *lists = json_object_get(expected, "runs");
  const size_t count = json_array_size(lists);
  struct score_run *runs = calloc(count, sizeof *runs);
  CLOSED(score) *score;
  double got, want = json_real_value(json_object_get(expected, "score"));
  for (size_t i = 0; i < count; i++) runs[i] = run_of(&r, json_array_get(lists, i));
  WORKS(score_open(&r, 0, &score, &err));
  WORKS(score_runs(score, runs, count, &got, &err));
  if (!(fabs(got - want) < 1e-9)) fail_msg("%s, %s: %.12f instead of %.12f", path, kind, got, want);
  for (size_t i = 0; i < count; i++) simulate_free(&runs[i], NULL);
  free(runs);
}

/* tests/spaces/make_recorded.py wrote the scores of the package. */
TEST(scores_are_those_of_the_package) {
  json_t *all = json_load_file("tests/spaces/recorded_runs.json", 0, NULL), *file, *kind;
  const char *path, *name;
  size_t compared = 0;
  json_object_foreach(all, path, file) {
    json_object_foreach(file, name, kind) {
      expect_score(formed("tests/spaces/%s", path), name, kind);
      compared++;
    }
  }
  assert_int_equal(compared, 12);
  json_decref(all);
}

/* The number at which the package would stop. */
TEST(runs_without_a_result_are_the_worst) {
  FREED(recorded) r = space(CACHE);
  CLOSED(score) *score;
  double at[] = {1, 2}, none[] = {(double)NAN, (double)NAN}, got;
  const struct score_run empty = {0}, failing = {2, at, none};
  WORKS(score_open(&r, 0, &score, &err));
  WORKS(score_runs(score, &empty, 1, &got, &err));
  assert_true(got < -1);
  double same = got;
  WORKS(score_runs(score, &failing, 1, &got, &err));
  assert_true(fabs(got - same) < 1e-12);
}

TEST(the_optimum_at_once_is_one) {
  FREED(recorded) r = space(CACHE);
  CLOSED(score) *score;
  WORKS(score_open(&r, 0, &score, &err));
  double at[] = {score_start(score), score_stop(score)},
         best[] = {score_optimum(score), score_optimum(score)}, got;
  const struct score_run run = {2, at, best};
  WORKS(score_runs(score, &run, 1, &got, &err));
  assert_true(fabs(got - 1) < 1e-12);
}

TEST(a_space_without_times_is_refused) {
  FREED(recorded) r = space(CACHE);
  struct score *score;
  r.all_compile = r.all_else = 0;
  FAILS(score_open(&r, 0, &score, &err), CUGEN_ERROR_CACHE, "cugen_replay_options.compile_time");
}

/* ---- The clock ------------------------------------------------------------------------------ */

/* A strategy that gives the variants in a fixed order, and notes how many results it had by
   then. */
struct strategy {
  uint64_t next, total, heard;
  struct strategy *asked; /* here and below: of asking_until_best */
  struct strategy_space space;
  bool *given, found;
};

static struct strategy *in_order_open(const struct strategy_space *s) {
  struct strategy *out = calloc(1, sizeof *out);
  out->total = s->spans[0].count;
  return out;
}

static void in_order_close(struct strategy *s) {
  free(s);
}

static uint64_t heard_before[256];

static bool in_order_next(struct strategy *s, uint64_t *index) {
  if (s->next == s->total) return false;
  heard_before[s->next] = s->heard;
  *index = s->next++;
  return true;
}

static void in_order_report(struct strategy *s, uint64_t index, double cost, double seconds) {
  s->heard++;
}

static const struct strategy_ops in_order = {.name = "in order",
                                             .open = in_order_open,
                                             .close = in_order_close,
                                             .next = in_order_next,
                                             .report = in_order_report};

static struct score_run replay(const struct recorded *r, size_t in_flight, size_t threads,
                               uint64_t **tried) {
  const struct simulation simulation = {.recorded = r,
                                        .strategy = &in_order,
                                        .in_flight = in_flight,
                                        .threads = threads,
                                        .seconds = (double)INFINITY};
  struct score_run run;
  WORKS(simulate(&simulation, &run, tried, &err));
  assert_int_equal(run.count, r->count);
  return run;
}

TEST(variants_take_their_times_in_turn) {
  FREED(recorded) r = space(CACHE);
  for (size_t in_flight = 0; in_flight < 35; in_flight += 17) {
    uint64_t *tried;
    struct score_run run = replay(&r, in_flight, 0, &tried);
    double now = 0;
    uint64_t heard = 0;
    for (size_t i = 0; i < run.count; i++) {
      now += r.total[tried[i]];
      while (heard + strategy_ahead(1, heard, in_flight + 1) <= i) heard++;
      assert_int_equal(tried[i], (tried[0] + i) % r.count);
      assert_true(run.seconds[i] == now);
      assert_int_equal(heard_before[i], heard);
    }
    simulate_free(&run, tried);
  }
}

/* A compile takes a second, everything else a tenth: one thread compiles one variant a second,
   and ten threads keep the device busy. */
TEST(threads_compile_ahead) {
  FREED(recorded) r = space(CACHE);
  r.all_compile = 1, r.all_else = 0.1;
  struct score_run one = replay(&r, 3, 1, NULL), ten = replay(&r, 21, 10, NULL),
                   many = replay(&r, 60, 30, NULL);
  assert_true(fabs(one.seconds[one.count - 1] - (168 * 1 + 0.1)) < 1e-9);
  assert_true(fabs(ten.seconds[ten.count - 1] - (1 + 168 * 0.1)) < 0.2);
  assert_true(fabs(many.seconds[many.count - 1] - (1 + 168 * 0.1)) < 1e-9);
  simulate_free(&one, NULL), simulate_free(&ten, NULL), simulate_free(&many, NULL);
}

TEST(a_run_ends_with_its_time) {
  FREED(recorded) r = space(CACHE);
  const struct simulation simulation = {.recorded = &r, .strategy = &in_order, .seconds = 3};
  struct score_run run;
  WORKS(simulate(&simulation, &run, NULL, &err));
  assert_true(run.seconds[run.count - 1] > 3 && run.seconds[run.count - 2] <= 3);
  simulate_free(&run, NULL);
}

/* ---- What strategies score ------------------------------------------------------------------ */

/* 6 x 6 x 5 x 4 x 3 variants of some 100 ms: a valley in which two tunables depend on each
   other; every eleventh variant fails. */
enum { PLANTED_AXES = 5, PLANTED = 2160 };

static struct recorded planted_space(void) {
  static const size_t sizes[PLANTED_AXES] = {6, 6, 5, 4, 3};
  struct recorded r = {.format = "planted",
                       .axes = calloc(PLANTED_AXES, sizeof *r.axes),
                       .axis_count = PLANTED_AXES};
  r.count = PLANTED, r.per_second = 1, r.all_compile = r.all_else = -1;
  r.positions = calloc(PLANTED * PLANTED_AXES, sizeof *r.positions);
  r.costs = calloc(PLANTED, sizeof *r.costs);
  r.compile = calloc(PLANTED, sizeof *r.compile);
  r.total = calloc(PLANTED, sizeof *r.total);
  for (size_t a = 0; a < PLANTED_AXES; a++) {
    r.axes[a].count = sizes[a];
    r.axes[a].values = calloc(sizes[a], sizeof(double));
    for (size_t v = 0; v < sizes[a]; v++) r.axes[a].values[v] = (double)(UINT64_C(1) << v);
  }
  for (size_t i = 0; i < PLANTED; i++) {
    uint16_t *at = r.positions + i * PLANTED_AXES;
    size_t rest = i;
    for (size_t a = 0; a < PLANTED_AXES; rest /= sizes[a++]) at[a] = (uint16_t)(rest % sizes[a]);
    const double tile = at[0] + at[1] - 6.0, skew = at[0] - 4.0, depth = at[2] - 3.0,
                 vector = at[3] - 1.0;
    const double cost =
        1 + 0.3 * tile * tile + 0.1 * skew * skew + 0.2 * depth * depth + 0.2 * vector * vector;
    r.costs[i] = i % 11 == 7 ? (double)NAN : cost + 0.05 * at[4];
    r.total[i] = 0.1;
  }
  WORKS(recorded_index(&r, &err));
  return r;
}

/* A strategy that asks another one until that has given the best variant, then gives what is left.
   As every variant takes as long, what is tried after the best one changes no score. */
static struct {
  const struct strategy_ops *ops;
  const struct recorded *recorded;
  double best;
} asking;

static struct strategy *asking_open(const struct strategy_space *s) {
  struct strategy *out = calloc(1, sizeof *out);
  out->asked = asking.ops->open(s);
  out->space = *s, out->total = asking.recorded->count;
  out->given = calloc(out->total, sizeof *out->given);
  return out;
}

static void asking_close(struct strategy *s) {
  asking.ops->close(s->asked);
  free(s->given);
  free(s);
}

static bool asking_next(struct strategy *s, uint64_t *index) {
  uint16_t positions[RECORDED_MOST_AXES];
  uint64_t in_file;
  while (s->found && s->next < s->total && s->given[s->next]) s->next++;
  if (s->found && s->next == s->total) return false;
  if (s->found)
    *index = s->next;
  else if (!asking.ops->next(s->asked, index))
    return false;
  s->given[*index] = true;
  s->space.locate(s->space.context, *index, positions);
  assert_true(recorded_find(asking.recorded, positions, &in_file));
  s->found |= asking.recorded->costs[in_file] <= asking.best;
  return true;
}

static void asking_report(struct strategy *s, uint64_t index, double cost, double seconds) {
  if (!s->found) asking.ops->report(s->asked, index, cost, seconds);
}

static const struct strategy_ops asking_until_best = {.name = "asking",
                                                      .open = asking_open,
                                                      .close = asking_close,
                                                      .next = asking_next,
                                                      .report = asking_report};

static double score_of(const struct recorded *r, const char *name, size_t in_flight) {
  enum { RUNS = 12 };
  struct simulation simulation = {
      .recorded = r, .in_flight = in_flight, .strategy = &asking_until_best};
  struct score_run runs[RUNS];
  CLOSED(score) *score;
  double out;
  WORKS(strategy_find(name, &asking.ops, &err));
  WORKS(score_open(r, 0, &score, &err));
  asking.recorded = r, asking.best = score_optimum(score);
  simulation.seconds = 1.1 * score_stop(score);
  for (size_t i = 0; i < RUNS; i++) {
    simulation.seed = i + 1;
    WORKS(simulate(&simulation, &runs[i], NULL, &err));
  }
  WORKS(score_runs(score, runs, RUNS, &out, &err));
  for (size_t i = 0; i < RUNS; i++) simulate_free(&runs[i], NULL);
  return out;
}

/* The scores are the same on every machine, so this shows if a change costs a strategy much of
   its score. */
TEST(strategies_keep_their_scores) {
  const struct {
    const char *name;
    size_t in_flight;
    double least;
  } rows[] = {{"surrogate", 0, 0.8},   {"surrogate", 34, 0.55}, {"portfolio", 0, 0.7},
              {"portfolio", 34, 0.55}, {"local", 0, 0.65},      {"evolutionary", 0, 0.7},
              {"random", 0, -0.1}};
  FREED(recorded) r = planted_space();
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const double got = score_of(&r, rows[i].name, rows[i].in_flight);
    if (!(got >= rows[i].least))
      fail_msg("%s, %zu in flight: %.3f", rows[i].name, rows[i].in_flight, got);
  }
}
