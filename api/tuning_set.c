/* Tunes several problems within one budget.

   The problems are tuned in rounds (end_of_round). Within a round each problem gets an equal share
   of the time, or a share by the problem's weight. What a problem leaves of its share is added to
   the shares of later problems.

   The search for a problem begins with variants that are fast for other problems
   (api_near_leaders). A variant whose sizes are launch parameters is compiled once, because its
   image is in the cache.

   For a portfolio each round searches in half of the time that is left, and then fills the matrix
   from which api_kernels_learn chooses: it measures the leaders of all problems
   (portfolio_candidates) on every problem that has no record of them, the most promising first. The
   leaders of remembered problems of the class are included, though these problems are not in the
   set. Without options->again the first round skips problems that have a correct record.

   Problems without a correct record come first, so that a new run goes on with the problems that an
   earlier run did not reach. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/system.h"
#include "kernel.h"
#include "portfolio.h"
#include "records.h"
#include "tuning.h"

enum { MOST_ROUNDS = 4, MOST_REMEMBERED = 256 };

struct set {
  cugen_kernel *const *kernels;
  size_t count;
  const cugen_tune_options *options;
  cugen_tune_result *results;
  size_t *order;         /* the order in which the kernels are tuned */
  bool *right;           /* for each kernel: a correct record exists */
  double begin, budget;  /* seconds; budget 0: no limit */
  double least;          /* seconds; a smaller share would be spent on starting the worker */
  double round_begin;    /* seconds that were spent when the round began */
  bool halves;           /* the first round spends half of the budget; false for predictions */
  bool filling;          /* a portfolio's matrix is being filled */
  uint64_t valid;        /* variants of all problems together */
  cugen_error too_large; /* error of the first problem for which memory ran out */
  size_t tried, failed;  /* variants, in the tunings that have ended */
  size_t current;
};

/* ---- Progress ------------------------------------------------------------------------------- */

static int report(const cugen_progress *one, void *context) {
  const struct set *set = context;
  cugen_progress all = *one;
  all.elapsed = clock_seconds() - set->begin;
  all.remaining = set->budget > 0 ? fmax(set->budget - all.elapsed, 0) : -1;
  all.done += set->tried;
  all.failed += set->failed;
  all.planned = set->options->budget_count ? set->options->budget_count
                : set->budget > 0          ? 0
                                           : (size_t)set->valid;
  all.problem = api_kernel_problem_short(set->kernels[set->current]);
  all.problem_index = set->current;
  all.problems = set->count;
  return set->options->progress(&all, set->options->context);
}

/* ---- Checks before anything runs ------------------------------------------------------------ */

static int tuning_set_refuse(const cugen_kernel *k, const cugen_error *why, cugen_error *err) {
  return error_set(err, why->status, "%s %s: %s", cugen_kernel_name(k), api_kernel_problem_short(k),
                   why->message);
}

static int tuning_set_check_kernels(cugen_kernel *const *kernels, size_t count, cugen_error *err) {
  if (count == 0 || count > CUGEN_MOST_PROBLEMS)
    return error_set(err, CUGEN_ERROR_USAGE, "%zu problems to tune: 1 to %d can be tuned together",
                     count, CUGEN_MOST_PROBLEMS);
  for (size_t i = 0; i < count; i++) {
    if (!kernels[i])
      return error_set(err, CUGEN_ERROR_USAGE, "cugen_kernels_tune: kernels[%zu] is NULL", i);
    if (kernels[i]->lookup.lib != kernels[0]->lookup.lib)
      return error_set(err, CUGEN_ERROR_USAGE,
                       "cugen_kernels_tune: kernels[%zu] is of another library", i);
  }
  return CUGEN_OK;
}

/* Returns whether a correct record is remembered, from this run or another. */
static bool has_right(cugen_kernel *k, size_t *remembered) {
  const cugen_record *all = api_records(k, remembered);
  const bool right = *remembered && all[0].outcome == CUGEN_OUTCOME_OK;
  api_forget_records(k);
  return right;
}

/* Prepares a kernel. The kernel's space is closed until the kernel is tuned, to save memory. */
static int tuning_set_prepare(struct set *set, size_t i, cugen_error *err) {
  cugen_kernel *k = set->kernels[i];
  cugen_error why;
  int status = api_tune_device(k, &why);
  if (!status) status = api_prepare_tuning(k, &why);
  if (!status && space_valid(k->lookup.space) == 0)
    status = space_explain_empty(k->lookup.space, &why);
  if (status) return tuning_set_refuse(k, &why, err);
  set->results[i].valid = set->results[i].left = space_valid(k->lookup.space);
  set->valid += set->results[i].valid;
  lookup_drop_space(&k->lookup);
  set->right[i] = has_right(k, &set->results[i].remembered);
  return CUGEN_OK;
}

static int tuning_set_open_set(struct set *set, cugen_error *err) {
  const struct lookup *l = &set->kernels[0]->lookup;
  set->order = calloc(set->count, sizeof *set->order);
  set->right = calloc(set->count, sizeof *set->right);
  if (!set->order || !set->right) return error_memory(err);
  int status = CUGEN_OK;
  for (size_t i = 0; i < set->count && !status; i++) status = tuning_set_prepare(set, i, err);
  size_t at = 0;
  for (size_t i = 0; i < set->count; i++)
    if (!set->right[i]) set->order[at++] = i;
  for (size_t i = 0; i < set->count; i++)
    if (set->right[i]) set->order[at++] = i;

  const bool gpu = l->device.facts.is_gpu && !l->predicted;
  set->budget = set->options->budget_seconds;
  set->halves = !l->predicted;
  set->least = gpu ? 2 : 0.5;
  if (set->budget == 0 && !set->options->budget_count)
    set->budget = tune_default_budget(gpu) * (double)set->count;
  return status;
}

/* ---- Rounds --------------------------------------------------------------------------------- */

/* Returns how many seconds of the budget are spent when the round ends. A budget that is too small
   for two halves is spent in one round. For a portfolio, a round searches in half of what is left,
   and then fills the matrix. */
static double end_of_round(const struct set *set, size_t round) {
  const bool large = set->budget / (double)set->count >= 2 * set->least;
  if (set->options->portfolio)
    return set->filling ? set->budget : (set->round_begin + set->budget) / 2;
  return round == 0 && set->halves && large ? set->budget / 2 : set->budget;
}

static double time_spent(const struct set *set) {
  return clock_seconds() - set->begin;
}

static bool is_spent(const struct set *set) {
  const size_t most = set->options->budget_count;
  return (set->budget > 0 && time_spent(set) >= set->budget) || (most && set->tried >= most);
}

/* Returns whether the problem is to be searched. The first round for a portfolio leaves out
   problems with a correct record, unless they are to be measured again; later rounds leave out
   problems whose search is done or has settled. */
static bool tuning_set_is_open(const struct set *set, size_t round, size_t i) {
  if (round == 0) return !set->options->portfolio || !set->right[i] || set->options->again;
  return set->results[i].left > 0 && !set->results[i].settled;
}

/* Returns the share of the rest of the round for the problem at this place in the order: its weight
   among the problems that are still to come. */
static double tuning_set_part(const struct set *set, size_t round, size_t at) {
  const double *weights = set->options->weights;
  double sum = 0;
  size_t open = 0;
  for (size_t next = at; next < set->count; next++) {
    if (!tuning_set_is_open(set, round, set->order[next])) continue;
    open++;
    if (weights) sum += weights[set->order[next]];
  }
  return weights && sum > 0 ? weights[set->order[at]] / sum : 1 / (double)open;
}

/* Sets the options for tuning one problem in this round. own: the problem's share of the rest of
   the round. */
static void tuning_set_share(const struct set *set, size_t round, double own,
                             cugen_tune_options *out) {
  *out = *set->options;
  if (set->budget > 0)
    out->budget_seconds = fmax((end_of_round(set, round) - time_spent(set)) * own, set->least);
  if (out->budget_count) {
    const size_t all = out->budget_count,
                 end = round == 0 && set->halves && all / 2 >= set->count ? all / 2 : all,
                 left = end > set->tried ? end - set->tried : 0;
    /* the factor keeps a rounding error of the share from losing a variant */
    out->budget_count = (size_t)fmax((double)left * own * (1 + 1e-12), 1);
  }
  if (round > 0) out->again = 0; /* the first round has measured remembered variants again */
}

static void add_result(cugen_tune_result *all, const cugen_tune_result *one, size_t round) {
  const cugen_tune_result before = *all;
  *all = *one;
  if (!one->baseline.function) all->baseline = before.baseline;
  if (round == 0) return;
  all->remembered = before.remembered;
  all->tried += before.tried;
  all->failed += before.failed;
  all->unpredicted += before.unpredicted;
  all->unsupported += before.unsupported;
  all->leaders += before.leaders;
  all->compiled += before.compiled;
  all->seconds += before.seconds;
  all->measuring += before.measuring;
  all->verified += before.verified;
  all->refuted += before.refuted;
  all->power_capped += before.power_capped;
  all->steady += before.steady;
  all->unsettled += before.unsettled;
}

static int tuning_set_tune_one(struct set *set, size_t round, size_t i, double own,
                               const struct api_part *part, cugen_error *err) {
  cugen_kernel *k = set->kernels[i];
  cugen_tune_options options;
  cugen_tune_result result;
  cugen_error why;
  tuning_set_share(set, round, own, &options);
  if (options.progress) options.progress = report, options.context = set;
  set->current = i;
  int status = api_tune(k, &options, part, &result, &why);
  lookup_drop_space(&k->lookup);
  add_result(&set->results[i], &result, round);
  set->tried += result.tried;
  set->failed += result.failed;
  /* Nothing is tried if no listed variant is valid. */
  if (status == CUGEN_OK && (result.tried || !part->variants)) set->right[i] = true;
  if (status == CUGEN_ERROR_MEMORY) { /* other problems may fit into memory */
    if (!set->too_large.status) tuning_set_refuse(k, &why, &set->too_large);
    return CUGEN_OK;
  }
  if (status == CUGEN_ERROR_INTERRUPTED) return error_copy(err, &why);
  return !status || status == CUGEN_ERROR_WRONG ? CUGEN_OK : tuning_set_refuse(k, &why, err);
}

/* Returns whether another round is worthwhile: the rest of a budget is not too small, and from the
   third round on the round before tried something. */
static bool has_next(const struct set *set, size_t round, size_t before) {
  bool open = false;
  for (size_t i = 0; i < set->count; i++) open |= tuning_set_is_open(set, round, i);
  const bool worth =
      set->budget <= 0 || set->budget - time_spent(set) > fmax(set->least, 0.05 * set->budget);
  return open && worth && !is_spent(set) && round < MOST_ROUNDS &&
         (round == 1 || set->tried > before);
}

/* ---- For a portfolio ------------------------------------------------------------------------ */

/* Measures the leaders of problems of one class on the problems without a record of these
   leaders. */
static int fill_class(struct set *set, const struct problem *const *problems, size_t count,
                      size_t *open, cugen_error *err) {
  struct portfolio_data data;
  size_t leaders[PORTFOLIO_MOST_CANDIDATES], leader_count = 0, missing[PORTFOLIO_MOST_CANDIDATES];
  const char *variants[PORTFOLIO_MOST_CANDIDATES];
  int status = portfolio_data_open(&set->kernels[0]->lookup, problems, count, &data, err);
  if (!status)
    status = portfolio_candidates(&data, PORTFOLIO_MOST_CANDIDATES, leaders, &leader_count, err);
  for (size_t row = 0; row < count && !status && !is_spent(set); row++) {
    const struct problem *problem = data.rows[row].problem;
    size_t kernel = 0;
    while (kernel < set->count && set->kernels[kernel]->lookup.problem != problem) kernel++;
    if (kernel == set->count) continue; /* a remembered problem, which is not of this set */
    struct api_part part = {.variants = variants};
    part.count = portfolio_missing(&data, row, leaders, leader_count, missing);
    for (size_t i = 0; i < part.count; i++) variants[i] = data.variants[missing[i]];
    if (part.count)
      status = tuning_set_tune_one(set, 1, kernel, 1 / (double)(*open ? *open : 1), &part, err);
    --*open;
  }
  portfolio_data_free(&data);
  return status;
}

/* Adds the remembered problems of the class of problems[0], whose leaders become candidates, too;
   these problems are not measured again. Returns the number of all problems. */
static size_t tuning_set_add_remembered(const struct config *config,
                                        const struct portfolio_problems *remembered,
                                        const struct problem **problems, size_t own) {
  size_t count = own;
  for (size_t i = 0; i < remembered->count && count < own + MOST_REMEMBERED; i++) {
    const struct problem *problem = &remembered->all[i];
    size_t at = 0;
    if (!api_same_class(config, problems[0], problem)) continue;
    while (at < count && !api_same_problem(problem, problems[at])) at++;
    if (at == count) problems[count++] = problem;
  }
  return count;
}

/* Fills the matrix of one class of the set's problems after another. */
static int fill_matrix(struct set *set, cugen_error *err) {
  const struct config *config = set->kernels[0]->lookup.config;
  const struct problem **problems = calloc(set->count + MOST_REMEMBERED, sizeof *problems);
  struct portfolio_problems remembered;
  size_t open = set->count;
  bool *done = calloc(set->count, sizeof *done);
  int status = portfolio_problems_open(&set->kernels[0]->lookup, &remembered, err);
  if (!status && (!problems || !done)) status = error_memory(err);
  for (size_t i = 0; i < set->count && !status && !is_spent(set); i++) {
    size_t count = 0;
    if (done[i]) continue;
    for (size_t k = i; k < set->count; k++) {
      const struct problem *problem = set->kernels[k]->lookup.problem;
      if (done[k] || (count && !api_same_class(config, problems[0], problem))) continue;
      problems[count++] = problem;
      done[k] = true;
    }
    count = tuning_set_add_remembered(config, &remembered, problems, count);
    status = fill_class(set, problems, count, &open, err);
  }
  portfolio_problems_free(&remembered);
  free(problems);
  free(done);
  return status;
}

/* ---- The whole run -------------------------------------------------------------------------- */

/* Fails if a problem has no correct variant. Another process may have tuned a problem that this run
   did not reach. */
static int tuning_set_conclude(const struct set *set, cugen_error *err) {
  size_t without = 0, first = 0, remembered;
  for (size_t i = set->count; i-- > 0;)
    if (!set->right[i] && !has_right(set->kernels[i], &remembered)) without++, first = i;
  if (!without) return CUGEN_OK;
  if (without == set->count && set->too_large.status) return error_copy(err, &set->too_large);
  error_set(err, CUGEN_ERROR_WRONG, "%zu of %zu problems have no correct variant%s, such as %s",
            without, set->count, set->budget > 0 || set->options->budget_count ? " yet" : "",
            api_kernel_problem_short(set->kernels[first]));
  if (set->too_large.status) error_append(err, "; %s", set->too_large.message);
  return CUGEN_ERROR_WRONG;
}

static int tuning_set_tune_set(struct set *set, cugen_error *err) {
  int status = tuning_set_open_set(set, err);
  size_t before = 0;
  set->begin = clock_seconds();
  for (size_t round = 0; !status && (round == 0 || has_next(set, round, before)); round++) {
    before = set->tried;
    set->round_begin = time_spent(set);
    for (size_t at = 0; at < set->count && !status && !is_spent(set); at++)
      if (tuning_set_is_open(set, round, set->order[at]))
        status = tuning_set_tune_one(set, round, set->order[at], tuning_set_part(set, round, at),
                                     &(struct api_part){0}, err);
    set->filling = true;
    if (!status && set->options->portfolio && !is_spent(set)) status = fill_matrix(set, err);
    set->filling = false;
  }
  return status ? status : tuning_set_conclude(set, err);
}

int api_kernels_tune(cugen_kernel *const *kernels, size_t count, const cugen_tune_options *options,
                     cugen_tune_result *results, cugen_error *error) {
  static const cugen_tune_options defaults = CUGEN_TUNE_OPTIONS_INIT;
  if (!options) options = &defaults;
  int status = tuning_set_check_kernels(kernels, count, error);
  if (!status) status = api_check_tune_options(options, error);
  if (!status && options->budget_count && options->budget_count < count)
    status = error_set(error, CUGEN_ERROR_USAGE,
                       "a budget of %zu variants for %zu problems: each problem needs one at least",
                       options->budget_count, count);
  if (status) return status;
  for (size_t i = 0; options->weights && i < count; i++)
    if (!(options->weights[i] >= 0) || isinf(options->weights[i]))
      return error_set(error, CUGEN_ERROR_USAGE,
                       "cugen_tune_options.weights[%zu] is %g, should be 0 or more", i,
                       options->weights[i]);
  cugen_tune_result *own = calloc(count, sizeof *own);
  bool *on_check = calloc(count, sizeof *on_check);
  struct set set = {.kernels = kernels, .count = count, .options = options, .results = own};
  if (!own || !on_check) status = error_memory(error);
  for (size_t i = 0; on_check && i < count; i++) on_check[i] = kernels[i]->on_check;
  if (!status) {
    status = tuning_set_tune_set(&set, error);
    for (size_t i = 0; i < count; i++)
      status = api_restore_problem(kernels[i], on_check[i], status, error);
  }
  if (results && own) memcpy(results, own, count * sizeof *own);
  free(set.order);
  free(set.right);
  free(own);
  free(on_check);
  return status;
}
