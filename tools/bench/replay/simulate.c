/* The clock of the tuner's pipeline; see simulate.h and tune/tuner/tuner.c. Variants are asked for
   as long as at most in_flight are under way. A compile thread takes the variant that was asked for
   first. Of the compiled variants the device takes the one that was asked for first; a variant that
   does not compile takes no time of the device. When the result is reported, variants are asked for
   again.

   The first variant of a file has no meaning, but that of a config is one that its writer believes
   in. So the strategy's variant 0 is a random one of the file.

   Without threads one worker compiles and measures in turn. With nothing else in flight this is how
   Kernel Tuner works; with more in flight a strategy knows less when it chooses, while a variant
   costs the same. */
#include "simulate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* A variant under way. */
struct job {
  uint64_t index;  /* the index that the strategy uses */
  double compiled; /* when the compile ends; INFINITY: no thread has begun it */
};

struct run {
  const struct simulation *simulation;
  struct strategy *strategy;
  struct strategy_axis axes[RECORDED_MOST_AXES];
  /* place in the file of the strategy's variant 0 */
  uint64_t first;
  struct strategy_prior priors[SIMULATE_MOST_PRIORS]; /* the strategy's */
  /* in the order in which variants were asked for */
  struct job *jobs;
  size_t job_count;
  double *threads; /* when each thread is free */
  double now;
  struct score_run *out;
  uint64_t *tried;
};

/* ---- What the strategy sees: the file's variants, numbered from a random one on ------------- */

static uint64_t in_file(const struct run *run, uint64_t index) {
  return (index + run->first) % run->simulation->recorded->count;
}

static uint64_t in_run(const struct run *run, uint64_t index) {
  const uint64_t count = run->simulation->recorded->count;
  return (index + count - run->first) % count;
}

static size_t neighbours(const void *context, uint64_t index, uint64_t *out) {
  const struct run *run = context;
  const size_t count = recorded_neighbours(run->simulation->recorded, in_file(run, index), out);
  for (size_t i = 0; i < count; i++) out[i] = in_run(run, out[i]);
  return count;
}

static void locate(const void *context, uint64_t index, uint16_t *positions) {
  const struct run *run = context;
  recorded_locate(run->simulation->recorded, in_file(run, index), positions);
}

static bool find(const void *context, const uint16_t *positions, uint64_t *index) {
  const struct run *run = context;
  const bool found = recorded_find(run->simulation->recorded, positions, index);
  if (found) *index = in_run(run, *index);
  return found;
}

static struct strategy *open_strategy(struct run *run) {
  const struct recorded *recorded = run->simulation->recorded;
  const struct strategy_span span = {0, recorded->count};
  const struct strategy_space space = {.spans = &span,
                                       .span_count = 1,
                                       .seed = run->simulation->seed,
                                       .priors = run->priors,
                                       .prior_count = run->simulation->prior_count,
                                       .neighbours = neighbours,
                                       .max_neighbours = recorded_max_neighbours(recorded),
                                       .axes = run->axes,
                                       .axis_count = recorded->axis_count,
                                       .locate = locate,
                                       .find = find,
                                       .context = run};
  uint64_t state = run->simulation->seed;
  run->first = random_next(&state) % recorded->count;
  for (size_t i = 0; i < run->simulation->prior_count; i++)
    run->priors[i] = (struct strategy_prior){.index = in_run(run, run->simulation->priors[i])};
  for (size_t i = 0; i < recorded->axis_count; i++)
    run->axes[i] = (struct strategy_axis){recorded->axes[i].count, recorded->axes[i].values};
  return run->simulation->strategy->open(&space);
}

/* ---- The clock ------------------------------------------------------------------------------ */

static int keep(struct run *run, uint64_t index, double cost, cugen_error *err) {
  struct score_run *out = run->out;
  double *seconds = array_grow(out->seconds, out->count, sizeof *seconds);
  if (seconds) out->seconds = seconds;
  double *costs = seconds ? array_grow(out->costs, out->count, sizeof *costs) : NULL;
  if (costs) out->costs = costs;
  uint64_t *tried = costs ? array_grow(run->tried, out->count, sizeof *tried) : NULL;
  if (!tried) return error_memory(err);
  run->tried = tried;
  seconds[out->count] = run->now, costs[out->count] = cost, tried[out->count++] = index;
  return CUGEN_OK;
}

/* A thread compiles the variant as soon as both are there. */
static double compile(struct run *run, uint64_t index) {
  const struct simulation *s = run->simulation;
  double *earliest = run->threads;
  if (!s->threads) return run->now;
  for (size_t i = 1; i < s->threads; i++)
    if (run->threads[i] < *earliest) earliest = &run->threads[i];
  *earliest = fmax(*earliest, run->now) + recorded_compile(s->recorded, index);
  return *earliest;
}

static void top_up(struct run *run) {
  uint64_t index;
  const struct simulation *s = run->simulation;
  const size_t most = strategy_ahead(s->threads + 1, run->out->count, s->in_flight + 1);
  while (run->job_count < most && s->strategy->next(run->strategy, &index)) {
    run->jobs[run->job_count++] = (struct job){index, compile(run, in_file(run, index))};
  }
}

/* Chooses the first variant that is compiled now; if none is, the one that will be first. */
static size_t choose(const struct run *run) {
  size_t next = 0;
  for (size_t i = 0; i < run->job_count; i++) {
    if (run->jobs[i].compiled <= run->now) return i;
    if (run->jobs[i].compiled < run->jobs[next].compiled) next = i;
  }
  return next;
}

/* Returns the seconds that the variant takes once its turn has come. */
static double remaining(const struct simulation *s, uint64_t index) {
  return recorded_total(s->recorded, index) -
         (s->threads ? recorded_compile(s->recorded, index) : 0);
}

static int finish_one(struct run *run, cugen_error *err) {
  const struct simulation *s = run->simulation;
  const size_t at = choose(run);
  const struct job job = run->jobs[at];
  const uint64_t index = in_file(run, job.index);
  const double cost = s->recorded->costs[index];
  memmove(&run->jobs[at], &run->jobs[at + 1], (run->job_count - at - 1) * sizeof *run->jobs);
  run->job_count--;
  run->now = fmax(run->now, job.compiled) + remaining(s, index);
  s->strategy->report(run->strategy, job.index,
                      isnan(cost) ? (double)INFINITY : cost / s->recorded->per_second,
                      recorded_total(s->recorded, index));
  return keep(run, index, cost, err);
}

int simulate(const struct simulation *simulation, struct score_run *out, uint64_t **tried,
             cugen_error *err) {
  struct run run = {.simulation = simulation,
                    .jobs = calloc(simulation->in_flight + 2, sizeof *run.jobs),
                    .threads = calloc(simulation->threads + 1, sizeof *run.threads),
                    .out = out};
  run.strategy = open_strategy(&run);
  *out = (struct score_run){0};
  int status = run.strategy && run.jobs && run.threads ? CUGEN_OK : error_memory(err);
  while (!status && run.now <= simulation->seconds) {
    top_up(&run);
    if (!run.job_count) break;
    status = finish_one(&run, err);
  }
  if (run.strategy) simulation->strategy->close(run.strategy);
  free(run.jobs);
  free(run.threads);
  if (status || !tried) free(run.tried), run.tried = NULL;
  if (status) simulate_free(out, NULL);
  if (tried) *tried = run.tried;
  return status;
}

void simulate_free(struct score_run *run, uint64_t *tried) {
  free(run->seconds);
  free(run->costs);
  free(tried);
  *run = (struct score_run){0};
}
