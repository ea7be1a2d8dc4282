/* Benchmark: how many variants each strategy tries before it has seen one at 95, 97 and 99 % of
   the best's speed. The spaces are those of tests/spaces. Where NAME.times lies beside NAME.lua,
   the times are those measured on a GPU; the published spaces come without times, and get them
   from a model: a seeded effect of each tunable and of pairs of them. `build/bench_strategies
   [LATENCY]`: so many variants are compiled ahead of the one that is measured. */
#include "base/hash.h"
#include "common.h"
#include "tune/search/axes.h"

enum { SEEDS = 50, LATENCY = 6 };

static const char *const spaces[] = {"matmul_h200", "reduce_h200", "dedispersion", "expdist",
                                     "hotspot",     "gemm",        "microhh"};

static const char *const strategies[] = {"random", "local", "evolutionary", "portfolio",
                                         "surrogate"};

struct timed { /* a space with the time of each of its variants */
  struct config *config;
  struct problem problem;
  struct space *space;
  struct axes *axes;
  double *seconds; /* infinity: the variant fails */
  double best;
  bool measured; /* the times were measured, not modelled */
};

/* ---- Times ---------------------------------------------------------------------------------- */

/* Returns a number drawn uniformly from [0, 1), determined by these numbers. */
static double drawn(uint64_t seed, uint64_t a, uint64_t b, uint64_t c, uint64_t d) {
  uint64_t state = seed;
  const uint64_t all[] = {a, b, c, d};
  for (int i = 0; i < 4; i++) state = random_next(&state) ^ all[i];
  return (double)(random_next(&state) >> 11) / (double)(UINT64_C(1) << 53);
}

/* Returns the effect of the value at `at` of `count`, by its distance from the tunable's best
   one: GPUs prefer some middle or end of a scale. */
static double effect(uint64_t seed, uint64_t tunable, size_t at, size_t count) {
  double best = drawn(seed, 1, tunable, 0, 0) * 1.4 - 0.2, weight = drawn(seed, 2, tunable, 0, 0);
  double x = count > 1 ? (double)at / (double)(count - 1) - best : 0;
  return weight * weight * (1.5 * x * x + 0.2 * drawn(seed, 3, tunable, at, 0));
}

static double pair_effect(uint64_t seed, size_t t, size_t at, size_t u, size_t other) {
  if (drawn(seed, 4, t, u, 0) > 0.3) return 0;
  return 0.5 * drawn(seed, 5, t, u, 1) * drawn(seed, t * 64 + u, at, other, 6);
}

static size_t value_at(const struct config_tunable *tunable, struct value value) {
  size_t at = 0;
  while (!value_equal(tunable->values[at], value)) at++;
  return at;
}

static double modelled(const struct variant *variant, uint64_t index, uint64_t seed) {
  const struct config_implementation *impl = variant->implementation;
  double sum = 0.02 * drawn(seed, 7, index, 0, 0);
  size_t at[64];
  for (size_t t = 0; t < impl->tunable_count; t++)
    at[t] = value_at(&impl->tunables[t], variant->values[t]);
  for (size_t t = 0; t < impl->tunable_count; t++) {
    sum += effect(seed, t, at[t], impl->tunables[t].value_count);
    for (size_t u = 0; u < t; u++) sum += pair_effect(seed, t, at[t], u, at[u]);
  }
  return drawn(seed, 8, index, 0, 0) < 0.05 ? (double)INFINITY : exp(sum);
}

static void model(struct timed *t, uint64_t seed) {
  struct value *values = require_memory(calloc(space_max_tunables(t->space) + 1, sizeof *values));
  for (uint64_t i = 0; i < space_valid(t->space); i++) {
    struct variant variant;
    space_variant(t->space, i, &variant, values);
    t->seconds[i] = modelled(&variant, i, seed);
  }
  free(values);
}

/* Reads a time in microseconds from each line, "-" for a variant that failed, in the order of
   the space. */
static bool read_times(struct timed *t, const char *path) {
  struct text text = {0};
  cugen_error err;
  if (file_read(path, &text, &err)) return false;
  const char *at = text_get(&text);
  for (uint64_t i = 0; i < space_valid(t->space); i++) {
    char *end;
    double time = strtod(at, &end);
    t->seconds[i] = end == at ? (double)INFINITY : 1e-6 * time;
    at = strchr(at, '\n');
    if (!at++) require(error_set(&err, CUGEN_ERROR_IO, "%s: too few lines", path), &err);
  }
  text_free(&text);
  return true;
}

static void timed_open(struct timed *t, const char *name, uint64_t seed) {
  const struct device_facts facts = {.is_gpu = 1};
  struct text path = {0}, content = {0};
  cugen_error err;
  *t = (struct timed){.best = INFINITY};
  text_addf(&path, "tests/spaces/%s.lua", name);
  require(file_read(text_get(&path), &content, &err), &err);
  require(config_parse(text_get(&path), text_get(&content), content.length, &t->config, &err),
          &err);
  require(problem_set(t->config, NULL, 0, false, &t->problem, &err), &err);
  require(space_open(t->config, &t->problem, &facts, &t->space, &err), &err);
  t->axes = require_memory(axes_open(t->space));
  t->seconds = require_memory(calloc(space_valid(t->space), sizeof *t->seconds));
  text_clear(&path);
  text_addf(&path, "tests/spaces/%s.times", name);
  t->measured = read_times(t, text_get(&path));
  if (!t->measured) model(t, seed);
  for (uint64_t i = 0; i < space_valid(t->space); i++) t->best = fmin(t->best, t->seconds[i]);
  text_free(&path), text_free(&content);
}

static void timed_close(struct timed *t) {
  free(t->seconds);
  axes_close(t->axes);
  space_close(t->space);
  problem_free(&t->problem);
  config_close(t->config);
}

/* ---- Searching ------------------------------------------------------------------------------ */

struct reached {
  /* numbers of tries; and the share of the best speed after 100 */
  double at95, at97, at99, after100;
};

/* The strategy is told a result when `latency` further variants have been asked for. */
static struct reached search(const struct timed *t, const char *name, uint64_t seed,
                             size_t latency) {
  const struct strategy_span span = {0, space_valid(t->space)};
  struct strategy_space space = {.spans = &span, .span_count = 1, .seed = seed};
  const struct strategy_ops *ops;
  struct reached out = {0};
  uint64_t *ahead = require_memory(calloc(latency + 1, sizeof *ahead)), index;
  double best = INFINITY;
  require(strategy_find(name, &ops, NULL), NULL);
  axes_describe(t->axes, &space);
  struct strategy *s = require_memory(ops->open(&space));
  for (size_t given = 0, tried = 0; out.at99 <= 0 || tried < 100;) {
    while (given - tried <= latency && ops->next(s, &index)) ahead[given++ % (latency + 1)] = index;
    if (tried == given) break;
    index = ahead[tried++ % (latency + 1)];
    ops->report(s, index, t->seconds[index], 0);
    best = fmin(best, t->seconds[index]);
    if (tried <= 100) out.after100 = t->best / best;
    if (out.at95 <= 0 && best * 0.95 <= t->best) out.at95 = (double)tried;
    if (out.at97 <= 0 && best * 0.97 <= t->best) out.at97 = (double)tried;
    if (out.at99 <= 0 && best * 0.99 <= t->best) out.at99 = (double)tried;
  }
  ops->close(s);
  free(ahead);
  return out;
}
static void run(const struct timed *t, const char *space, const char *strategy, size_t latency) {
  double at95[SEEDS], at97[SEEDS], at99[SEEDS], after100[SEEDS];
  for (int seed = 0; seed < SEEDS; seed++) {
    struct reached reached = search(t, strategy, (uint64_t)seed, latency);
    at95[seed] = reached.at95, at97[seed] = reached.at97, at99[seed] = reached.at99,
    after100[seed] = reached.after100;
  }
  printf("%-14s %-8s %10llu  %-10s %8.0f %8.0f %8.0f %10.1f%%\n", space,
         t->measured ? "measured" : "modelled", (unsigned long long)space_valid(t->space), strategy,
         median(at95, SEEDS), median(at97, SEEDS), median(at99, SEEDS),
         100 * median(after100, SEEDS));
  fflush(stdout);
}

int main(int argc, char **argv) {
  size_t latency = argc > 1 ? (size_t)strtoul(argv[1], NULL, 10) : LATENCY;
  printf("Medians of %d seeds; a strategy hears of a variant when it has given %zu more.\n", SEEDS,
         latency);
  printf("%-14s %-8s %10s  %-10s %8s %8s %8s %11s\n", "space", "times", "variants", "strategy",
         "to 95%", "to 97%", "to 99%", "after 100");
  for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
    struct timed t;
    timed_open(&t, spaces[i], 1 + i);
    for (size_t n = 0; n < sizeof strategies / sizeof *strategies; n++)
      run(&t, spaces[i], strategies[n], latency);
    timed_close(&t);
  }
}
