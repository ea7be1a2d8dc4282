/* Single variants; see trial.h. */
#include "trial.h"

#include <limits.h>
#include <stdlib.h>

#include "base/system.h"
#include "candidate.h"

static const double usual_compile = 60, usual_run = 10;

struct trial {
  struct bench bench;
  struct trial_options options;
};

int trial_open(const struct tune_target *target, const struct trial_options *options,
               struct trial **out, cugen_error *err) {
  *out = NULL;
  struct trial *trial = calloc(1, sizeof *trial);
  if (!trial) return error_memory(err);
  trial->options = *options;
  const struct bench_options bench = {
      .seed = options->seed,
      .threads = 2,
      .timeout = options->compile_timeout > 0 ? options->compile_timeout : usual_compile,
      .interrupted = options->interrupted,
      .context = options->context};
  int status = bench_open(target, &bench, &trial->bench, err);
  if (status)
    free(trial);
  else
    *out = trial;
  return status;
}

void trial_close(struct trial *trial) {
  if (!trial) return;
  bench_close(&trial->bench);
  free(trial);
}

bool trial_poll(void *context) {
  struct trial_watch *w = context;
  const struct worker_pool *workers = w->trial ? w->trial->bench.workers : NULL;
  w->progress.elapsed = clock_seconds() - w->begin;
  w->progress.stage =
      workers && worker_pool_makes_data(workers) ? CUGEN_STAGE_DATA : CUGEN_STAGE_SEARCH;
  return w->callback && w->callback(&w->progress, w->context) != 0;
}

void trial_printed(const struct trial *trial, bool all, struct text *out) {
  if (trial->bench.workers) worker_printed(worker_pool_at(trial->bench.workers, 0), all, out);
}

int trial_run(struct trial *trial, uint64_t index, double timeout,
              const struct measure_options *measure, struct cache_record *out, cugen_error *err) {
  struct candidate *c = NULL;
  double busy;
  *out = (struct cache_record){0};
  int status = candidate_open(&trial->bench, index, &c, err);
  if (!status) status = candidate_build(&trial->bench, c, err);
  while (!status && !candidate_ready(&trial->bench, c)) {
    if (trial->options.interrupted && trial->options.interrupted(trial->options.context))
      status = error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request");
    else
      compile_pool_wait(trial->bench.pool, 0.05);
  }
  if (!status) candidate_count(&trial->bench, c);
  if (!status)
    status = candidate_run(&trial->bench, c, true, measure, timeout > 0 ? timeout : usual_run, out,
                           &busy, err);
  if (!status && out->outcome == CUGEN_OUTCOME_OK)
    candidate_counted(&trial->bench, c, (double)INT_MAX, &out->requested);
  if (!status && c->faulty) status = error_copy(err, &c->refused);
  candidate_close(&trial->bench, c);
  if (status) cache_record_free(out);
  return status;
}
