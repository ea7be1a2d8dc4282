/* Strategies on recorded spaces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "library.h"
#include "tune/replay/prior.h"
#include "tune/replay/simulate.h"

enum { USUAL_RUNS = 50, MOST_RUNS = 100000, MOST_IN_FLIGHT = 10000 };

struct cugen_replay {
  char *path;
  struct recorded recorded;
  struct text best, variant;
  uint64_t priors[SIMULATE_MOST_PRIORS];
  size_t prior_count;
  struct score *score; /* of the times in recorded and this budget; NULL: of none yet */
  double budget;
  cugen_stop_callback stop; /* NULL: none */
  void *context;
};

void cugen_replay_close(cugen_replay *replay) {
  if (!replay) return;
  score_close(replay->score);
  recorded_free(&replay->recorded);
  free(replay->path);
  text_free(&replay->best);
  text_free(&replay->variant);
  free(replay);
}

static bool is_stopped(void *context) {
  const cugen_replay *replay = context;
  return replay->stop(replay->context) != 0;
}

/* Who is asked while a file is read. */
static struct process_stop stop_of(cugen_replay *replay) {
  return (struct process_stop){replay->stop ? is_stopped : NULL, replay};
}

int cugen_replay_open(const char *path, cugen_stop_callback stop, void *context, cugen_replay **out,
                      cugen_error *error) {
  if (API_NEEDS(error, "path, out", path, out)) return CUGEN_ERROR_USAGE;
  *out = calloc(1, sizeof **out);
  if (!*out) return error_memory(error);
  (*out)->path = strdup(path);
  (*out)->stop = stop;
  (*out)->context = context;
  int status = (*out)->path ? recorded_read(path, stop_of(*out), &(*out)->recorded, error) : error_memory(error);
  if (status) cugen_replay_close(*out), *out = NULL;
  return status;
}

int cugen_replay_describe(cugen_replay *replay, cugen_replay_info *out, cugen_error *error) {
  if (API_NEEDS(error, "replay, out", replay, out)) return CUGEN_ERROR_USAGE;
  const struct recorded *recorded = &replay->recorded;
  size_t best = recorded->count, failed = 0;
  for (size_t i = 0; i < recorded->count; i++) {
    failed += isnan(recorded->costs[i]) ? 1 : 0;
    if (best == recorded->count || isnan(recorded->costs[best]) || recorded->costs[i] < recorded->costs[best])
      best = i;
  }
  text_clear(&replay->best);
  recorded_print(recorded, best, &replay->best);
  if (replay->best.failed) return error_memory(error);
  *out = (cugen_replay_info){.format = recorded->format,
                             .kernel = recorded->kernel,
                             .device = recorded->device,
                             .best = text_get(&replay->best),
                             .best_seconds = recorded->costs[best] / recorded->per_second,
                             .variants = recorded->count,
                             .failed = failed,
                             .tunables = recorded->axis_count};
  return CUGEN_OK;
}

int cugen_replay_variant(cugen_replay *replay, uint64_t index, const char **out, cugen_error *error) {
  if (API_NEEDS(error, "replay, out", replay, out)) return CUGEN_ERROR_USAGE;
  if (index >= replay->recorded.count)
    return error_set(error, CUGEN_ERROR_USAGE, "there is no variant %llu: %zu were recorded",
                     (unsigned long long)index, replay->recorded.count);
  text_clear(&replay->variant);
  recorded_print(&replay->recorded, index, &replay->variant);
  *out = text_get(&replay->variant);
  return replay->variant.failed ? error_memory(error) : CUGEN_OK;
}

int cugen_replay_prior(cugen_replay *replay, const char *path, size_t *out, cugen_error *error) {
  if (API_NEEDS(error, "replay, out", replay, out)) return CUGEN_ERROR_USAGE;
  struct recorded prior;
  *out = replay->prior_count = 0;
  if (!path) return CUGEN_OK;
  int status = recorded_read(path, stop_of(replay), &prior, error);
  if (status) return status;
  status = prior_find(&prior, &replay->recorded, SIMULATE_MOST_PRIORS, replay->priors, out, error);
  recorded_free(&prior);
  if (!status) replay->prior_count = *out;
  if (status || *out) return status;
  return error_set(error, CUGEN_ERROR_USAGE,
                   "%s: none of its variants is one of %s: a prior has the same tunables and values", path,
                   replay->path);
}

/* ---- Scoring ---- */

struct scoring {
  struct cugen_replay *replay;
  const cugen_replay_options *options;
  struct score_run *runs;
  size_t count;
  double tried, *reached;
};

/* The random search to compare with, unless it is that of the last call. */
static int open_score(struct cugen_replay *replay, const cugen_replay_options *options, cugen_error *err) {
  struct recorded *recorded = &replay->recorded;
  const double compile = options->compile_seconds > 0 ? options->compile_seconds : -1;
  const double rest = options->run_seconds > 0 ? options->run_seconds : -1;
  if (replay->score && recorded->all_compile == compile && recorded->all_else == rest &&
      replay->budget == options->budget_seconds)
    return CUGEN_OK;
  score_close(replay->score);
  recorded->all_compile = compile, recorded->all_else = rest;
  replay->budget = options->budget_seconds;
  int status = score_open(recorded, replay->budget, &replay->score, err);
  return status ? error_prefix(err, "%s", replay->path) : CUGEN_OK;
}

/* Of the share of the optimum that the run reached in the budget, and how many variants that took. */
static void look_at(struct scoring *scoring, const struct score_run *run) {
  double best = (double)INFINITY;
  size_t i = 0;
  for (; i < run->count && run->seconds[i] <= score_stop(scoring->replay->score); i++)
    best = fmin(best, run->costs[i]);
  scoring->tried += (double)i;
  scoring->reached[scoring->count] = score_optimum(scoring->replay->score) / best;
}

static int hand_out(const struct scoring *scoring, uint64_t seed, const struct score_run *run, const uint64_t *tried,
                    cugen_error *err) {
  if (!scoring->options->run) return CUGEN_OK;
  double *seconds = calloc(run->count + 1, sizeof *seconds);
  if (!seconds) return error_memory(err);
  for (size_t i = 0; i < run->count; i++)
    seconds[i] = isnan(run->costs[i]) ? (double)INFINITY : run->costs[i] / scoring->replay->recorded.per_second;
  const cugen_replay_run out = {seed, run->count, tried, run->seconds, seconds};
  const bool stop = scoring->options->run(&out, scoring->options->context) != 0;
  free(seconds);
  return stop ? error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request") : CUGEN_OK;
}

static int run_once(struct scoring *scoring, const struct strategy_ops *strategy, cugen_error *err) {
  const cugen_replay_options *options = scoring->options;
  const struct simulation simulation = {.recorded = &scoring->replay->recorded,
                                        .strategy = strategy,
                                        .seed = options->seed + scoring->count,
                                        .in_flight = options->in_flight,
                                        .threads = options->threads,
                                        .priors = scoring->replay->priors,
                                        .prior_count = scoring->replay->prior_count,
                                        .seconds = 1.1 * score_stop(scoring->replay->score)};
  struct score_run *run = &scoring->runs[scoring->count];
  uint64_t *tried;
  int status = simulate(&simulation, run, &tried, err);
  if (status) return status;
  look_at(scoring, run);
  scoring->count++;
  status = hand_out(scoring, simulation.seed, run, tried, err);
  free(tried);
  return status;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static int conclude(struct scoring *scoring, cugen_replay_result *out, cugen_error *err) {
  const struct score *score = scoring->replay->score;
  const size_t count = scoring->count;
  qsort(scoring->reached, count, sizeof *scoring->reached, by_size);
  *out = (cugen_replay_result){.budget_seconds = score_stop(score),
                               .budget_variants = score_variants(score),
                               .tried = scoring->tried / (double)count,
                               .reached = (scoring->reached[(count - 1) / 2] + scoring->reached[count / 2]) / 2,
                               .runs = count};
  return score_runs(score, scoring->runs, count, &out->score, err);
}

static int check_options(const cugen_replay_options *options, cugen_error *err) {
  if (options->runs > MOST_RUNS)
    return error_set(err, CUGEN_ERROR_USAGE, "%zu runs are too many: %d at most", options->runs, MOST_RUNS);
  if (options->in_flight > MOST_IN_FLIGHT || options->threads > MOST_IN_FLIGHT)
    return error_set(err, CUGEN_ERROR_USAGE, "%zu variants in flight and %zu threads are too many: %d at most",
                     options->in_flight, options->threads, MOST_IN_FLIGHT);
  if (options->threads && options->in_flight + 1 < options->threads)
    return error_set(err, CUGEN_ERROR_USAGE, "%zu threads have nothing to do with %zu variants in flight",
                     options->threads, options->in_flight);
  return CUGEN_OK;
}

static int score(struct scoring *scoring, size_t runs, cugen_replay_result *out, cugen_error *err) {
  const struct strategy_ops *strategy;
  int status = strategy_find(scoring->options->strategy, &strategy, err);
  if (!status) status = open_score(scoring->replay, scoring->options, err);
  while (!status && scoring->count < runs) status = run_once(scoring, strategy, err);
  return status ? status : conclude(scoring, out, err);
}

int cugen_replay_score(cugen_replay *replay, const cugen_replay_options *options, cugen_replay_result *out,
                       cugen_error *error) {
  static const cugen_replay_options defaults = CUGEN_REPLAY_OPTIONS_INIT;
  if (API_NEEDS(error, "replay, out", replay, out)) return CUGEN_ERROR_USAGE;
  *out = (cugen_replay_result){0};
  if (!options) options = &defaults;
  if (API_SIZE(error, cugen_replay_options, CUGEN_REPLAY_OPTIONS_INIT, options)) return CUGEN_ERROR_USAGE;
  int status = check_options(options, error);
  if (status) return status;
  const size_t runs = options->runs ? options->runs : USUAL_RUNS;
  struct scoring scoring = {.replay = replay,
                            .options = options,
                            .runs = calloc(runs, sizeof *scoring.runs),
                            .reached = calloc(runs, sizeof *scoring.reached)};
  status = scoring.runs && scoring.reached ? score(&scoring, runs, out, error) : error_memory(error);
  for (size_t i = 0; i < scoring.count; i++) simulate_free(&scoring.runs[i], NULL);
  free(scoring.runs);
  free(scoring.reached);
  return status;
}
