/* Chooses the variant of a plan: the best measured for its problem, else by the policy the best of
   a near problem or a portfolio's, else the best on another GPU (other_gpu.c), else one of a
   shipped portfolio (shipped.c) or of predictions, else the first try or valid variant. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/array.h"
#include "foreign.h"
#include "kernel.h"
#include "portfolio.h"
#include "priors.h"

/* ---- Distances between problems ------------------------------------------------------------- */

static double selection_number(struct value value) {
  return value.type == VALUE_INT     ? (double)value.integer
         : value.type == VALUE_FLOAT ? value.real
                                     : 0;
}

/* Returns the larger size divided by the smaller; 1 for equal values; infinity if the values are
   not sizes and differ. */
static double value_ratio(struct value a, struct value b) {
  const double x = selection_number(a), y = selection_number(b);
  if (value_equal(a, b)) return 1;
  return x > 0 && y > 0 ? fmax(x, y) / fmin(x, y) : INFINITY;
}

/* The distance of two problems. Ratios are compared, not their logarithms, because an exported
   bundle compares without a mathematical library. */
struct distance {
  double ratio, product; /* ratio: the largest ratio of a size; product: the product of all
                            ratios */
  double largest;        /* log2(ratio) */
};

static struct distance problem_distance(const struct problem *a, const struct problem *b) {
  struct distance distance = {1, 1, 0};
  for (size_t i = 0; i < a->count; i++) {
    const double ratio = value_ratio(a->values[i], b->values[i]);
    distance.ratio = fmax(distance.ratio, ratio);
    distance.product *= ratio;
  }
  distance.largest = log2(distance.ratio);
  return distance;
}

/* ---- The nearest problem -------------------------------------------------------------------- */

struct tuned {
  struct problem problem;
  struct distance distance;
  size_t order; /* position among the sorted texts */
};

struct nearby {
  const struct lookup *lookup;
  double limit;
  struct tuned *all;
  size_t count;
};

static int selection_visit(void *context, const char *text, cugen_error *err) {
  struct nearby *nearby = context;
  struct tuned tuned = {0};
  bool known;
  int status = api_read_problem(nearby->lookup->config, text, &tuned.problem, &known, err);
  if (status || !known) return status;
  tuned.distance = problem_distance(nearby->lookup->problem, &tuned.problem);
  tuned.order = nearby->count;
  bool near = tuned.distance.largest > 0 && tuned.distance.largest <= nearby->limit;
  if (near && ARRAY_ADD(nearby->all, nearby->count, tuned)) return CUGEN_OK;
  problem_free(&tuned.problem);
  return near ? error_memory(err) : CUGEN_OK;
}

/* Orders by the largest ratio, then by the product of the ratios, then by text. */
static int selection_compare(const void *left, const void *right) {
  const struct tuned *a = left, *b = right;
  if (a->distance.ratio != b->distance.ratio) return a->distance.ratio < b->distance.ratio ? -1 : 1;
  if (a->distance.product != b->distance.product)
    return a->distance.product < b->distance.product ? -1 : 1;
  return a->order < b->order ? -1 : 1;
}

/* Takes the best of the tuned problem's variants that are valid for the look-up's problem. */
static int try_problem(const struct lookup *l, const struct tuned *tuned, struct failures *failures,
                       struct selection *out, bool *found, cugen_error *err) {
  struct lookup other;
  int status = lookup_for_problem(l, &tuned->problem, &other, err);
  const struct cache_key key = lookup_measured_key(&other);
  if (!status) status = api_best_under(&other, &key, false, l->space, failures, &out->best, err);
  *found = !status && out->best.found;
  if (*found) {
    out->how = CUGEN_PLAN_NEAR;
    out->index = lookup_lent(l, out->best.index);
    out->distance = tuned->distance.largest;
    text_add(&out->problem, text_get(&other.problem_text));
  }
  lookup_close(&other);
  return status;
}

static void nearby_free(struct nearby *nearby) {
  for (size_t i = 0; i < nearby->count; i++) problem_free(&nearby->all[i].problem);
  free(nearby->all);
}

/* Finds the tuned problems within the limit, the nearest first. Free *out also after a failure. */
static int find_nearby(const struct lookup *l, const struct cache_key *key, double limit,
                       struct cache *cache, struct nearby *out, cugen_error *err) {
  *out = (struct nearby){.lookup = l, .limit = limit};
  int status = cache_problems(cache, key, selection_visit, out, err);
  if (out->count) qsort(out->all, out->count, sizeof *out->all, selection_compare);
  return status;
}

static int select_nearest(struct lookup *l, double limit, struct failures *failures,
                          struct selection *out, bool *found, cugen_error *err) {
  struct nearby nearby = {0};
  struct cache *cache;
  const struct cache_key key = lookup_measured_key(l);
  int status = api_cache_to_read(l->lib, &cache, err);
  if (!status) status = find_nearby(l, &key, limit, cache, &nearby, err);
  for (size_t i = 0; i < nearby.count && !status && !*found; i++)
    status = try_problem(l, &nearby.all[i], failures, out, found, err);
  nearby_free(&nearby);
  return status;
}

/* ---- Leaders for tuning --------------------------------------------------------------------- */

/* A key for a look-up's problem: of its measurements, or of suggestions. */
typedef struct cache_key leaders_key(const struct lookup *l);

/* The key of other autotuners' suggestions, which have a time but no energy or work, so that the
   objective is time. */
static struct cache_key foreign_key(const struct lookup *l) {
  struct cache_key key = lookup_measured_key(l);
  key.device = FOREIGN_DEVICE;
  key.options = FOREIGN_OPTIONS;
  key.objective = NULL;
  return key;
}

int api_predicted_leaders(struct lookup *l, struct cache *cache, struct priors *out,
                          cugen_error *err) {
  struct prediction_key predictions;
  int status = api_find_predictions(l, &predictions, err);
  const struct cache_key key = lookup_predicted_key(l, &predictions);
  if (!status) status = failures_open(l, &out->failures, err);
  if (!status) status = cache_fastest(cache, &key, priors_take, out, err);
  failures_close(out->failures);
  out->failures = NULL;
  api_prediction_key_free(&predictions);
  return status;
}

/* Takes from each near problem an equal share of the places, at least two, until all are full. */
static int take_nearby(struct lookup *l, leaders_key *key_of, struct cache *cache,
                       struct priors *out, cugen_error *err) {
  struct nearby nearby = {0};
  const struct cache_key key = key_of(l);
  const size_t room = out->most;
  int status = find_nearby(l, &key, DBL_MAX, cache, &nearby, err);
  size_t each = nearby.count ? (room + nearby.count - 1) / nearby.count : 0;
  if (each < 2) each = 2;
  for (size_t i = 0; i < nearby.count && !status && out->count < room; i++) {
    struct lookup other;
    out->most = out->count + each < room ? out->count + each : room;
    status = lookup_for_problem(l, &nearby.all[i].problem, &other, err);
    const struct cache_key of_other = key_of(&other);
    if (!status) status = cache_fastest(cache, &of_other, priors_take, out, err);
    lookup_close(&other);
  }
  nearby_free(&nearby);
  return status;
}

int api_near_leaders(struct lookup *l, struct cache *cache, struct priors *out, cugen_error *err) {
  return take_nearby(l, lookup_measured_key, cache, out, err);
}

int api_foreign_leaders(struct lookup *l, struct cache *cache, struct priors *out,
                        cugen_error *err) {
  const struct cache_key key = foreign_key(l);
  int status = cache_fastest(cache, &key, priors_take, out, err);
  return status || priors_full(out) ? status : take_nearby(l, foreign_key, cache, out, err);
}

/* ---- The bucket ----------------------------------------------------------------------------- */

static int select_bucket(struct lookup *l, struct failures *failures, struct selection *out,
                         bool *found, cugen_error *err) {
  struct tuned tuned;
  int status = problem_bucket(l->config, l->problem, &tuned.problem, err);
  if (status) return status;
  tuned.distance = problem_distance(l->problem, &tuned.problem);
  if (tuned.distance.largest > 0) status = try_problem(l, &tuned, failures, out, found, err);
  problem_free(&tuned.problem);
  return status;
}

/* ---- The order of choices ------------------------------------------------------------------- */

/* The variant was expanded to be compared, so the plan uses this expansion. */
static void take_answer(const struct portfolio_answer *answer, struct selection *out) {
  out->index = answer->index;
  out->best = (struct best_record){.found = true, .index = answer->index, .spec = answer->spec};
}

/* Returns whether the plan's options ask for a portfolio, or the config's policy does and the
   options do not override it. */
static bool asks_portfolio(const struct lookup *l, double distance, bool by_portfolio) {
  return distance >= 0 &&
         (by_portfolio || (distance == 0 && l->config->policy.kind == POLICY_PORTFOLIO));
}

static int select_other(struct lookup *l, double distance, bool by_portfolio,
                        struct failures *failures, struct selection *out, bool *found,
                        cugen_error *err) {
  const struct config_policy *policy = &l->config->policy;
  struct portfolio_answer answer;
  int status = CUGEN_OK;
  if (distance < 0) return CUGEN_OK;
  if (asks_portfolio(l, distance, by_portfolio))
    status = portfolio_serve(l, NULL, failures, &answer, found, err);
  if (!status && *found) out->how = CUGEN_PLAN_PORTFOLIO, take_answer(&answer, out);
  if (status || *found) return status;
  if (distance > 0) return select_nearest(l, distance, failures, out, found, err);
  if (policy->kind == POLICY_BUCKETS) return select_bucket(l, failures, out, found, err);
  return policy->distance > 0 ? select_nearest(l, policy->distance, failures, out, found, err)
                              : CUGEN_OK;
}

/* Takes the variant that a shipped portfolio of the kind gives. */
static int select_shipped(struct lookup *l, enum portfolio_kind kind, struct failures *failures,
                          struct selection *out, cugen_error *err) {
  struct portfolio_answer answer;
  bool found;
  if (!l->device.facts.is_gpu) return CUGEN_OK;
  int status = portfolio_serve_shipped(l, kind, failures, &answer, &out->other, &found, err);
  if (status || !found) return status;
  take_answer(&answer, out);
  out->same_model = answer.same_model;
  out->predicted = kind == PORTFOLIO_PREDICTED;
  out->other_class = kind == PORTFOLIO_OTHER_CLASS;
  return CUGEN_OK;
}

/* Takes the variant that remembered predictions for this device and problem rank first. */
static int select_predicted(struct lookup *l, struct failures *failures, struct selection *out,
                            cugen_error *err) {
  struct prediction_key predictions;
  if (!l->device.facts.is_gpu) return CUGEN_OK;
  int status = api_find_predictions(l, &predictions, err);
  const struct cache_key key = lookup_predicted_key(l, &predictions);
  if (!status) status = api_best_under(l, &key, true, l->space, failures, &out->best, err);
  api_prediction_key_free(&predictions);
  out->index = out->best.index;
  out->predicted = out->best.found;
  return status;
}

/* Takes a variant from a portfolio that was learnt from predictions of other problems for this
   device. */
static int select_predicted_portfolio(struct lookup *l, struct failures *failures,
                                      struct selection *out, cugen_error *err) {
  struct prediction_key predictions;
  struct portfolio_answer answer;
  bool found = false;
  if (!l->device.facts.is_gpu) return CUGEN_OK;
  int status = api_find_predictions(l, &predictions, err);
  if (!status) status = portfolio_serve(l, &predictions, failures, &answer, &found, err);
  api_prediction_key_free(&predictions);
  if (status || !found) return status;
  take_answer(&answer, out);
  out->predicted = out->by_portfolio = true;
  return CUGEN_OK;
}

/* Chooses a variant without measurements from a space that is not empty: the first try of the
   config, else the first variant. A variant that is known to fail is taken only if all variants
   are; out->failed then says how. */
static int select_default(struct lookup *l, struct failures *failures, struct selection *out,
                          cugen_error *err) {
  const uint64_t valid = space_valid(l->space);
  const size_t tries =
      l->device.facts.is_gpu ? config_tries(l->config) : 0; /* tries are for GPUs */
  const struct cache_record *failed = NULL, *first = NULL;
  int status = CUGEN_OK;
  for (size_t i = 0; i < tries && !status && !out->named; i++) {
    if (!space_try(l->space, i, &out->index)) continue;
    status = failures_find_at(failures, l, out->index, &failed, err);
    out->named = !status && !failed;
  }
  if (status || out->named) return status;

  for (uint64_t i = 0; i < valid && !status; i++) {
    status = failures_find_at(failures, l, out->index = i, &failed, err);
    if (!failed) return status;
    if (!first) first = failed;
  }
  out->index = 0;
  if (status || !first) return status;
  int length;
  const char *reason = error_essence(first->reason, &length);
  text_addf(&out->failed, "%s: %.*s", outcome_text((int)first->outcome), length, reason);
  return out->failed.failed ? error_memory(err) : CUGEN_OK;
}

/* Chooses a variant that was not measured for this problem on this device. */
static int select_instead(struct lookup *l, double distance, bool by_portfolio,
                          struct failures *failures, struct selection *out, cugen_error *err) {
  const bool asked = asks_portfolio(l, distance, by_portfolio);
  bool found = false;
  int status = CUGEN_OK;
  if (!l->predicted) status = select_other(l, distance, by_portfolio, failures, out, &found, err);
  if (!status && !found && distance >= 0 && !l->predicted)
    status = api_select_other_gpu(l, failures, out, &found, err);
  if (status || found) return status;
  out->how = CUGEN_PLAN_DEFAULT;
  status = select_shipped(l, PORTFOLIO_MEASURED, failures, out, err);
  if (!status && !out->best.found) status = select_predicted(l, failures, out, err);
  if (!status && !out->best.found && asked)
    status = select_predicted_portfolio(l, failures, out, err);
  if (!status && !out->best.found)
    status = select_shipped(l, PORTFOLIO_PREDICTED, failures, out, err);
  if (!status && !out->best.found && !asked)
    status = select_predicted_portfolio(l, failures, out, err);
  if (!status && !out->best.found)
    status = select_shipped(l, PORTFOLIO_OTHER_CLASS, failures, out, err);
  return status || out->best.found ? status : select_default(l, failures, out, err);
}

int api_select(struct lookup *l, double distance, bool by_portfolio, struct selection *out,
               cugen_error *err) {
  struct failures *failures = NULL;
  bool found = false;
  *out = (struct selection){.how = CUGEN_PLAN_EXACT};
  int status = lookup_space(l, err);
  if (!status && space_valid(l->space) == 0) status = space_explain_empty(l->space, err);
  if (!status && !l->predicted) {
    status = api_best(l, &out->best, err);
    found = !status && out->best.found;
    out->index = out->best.index;
    if (found) text_add(&out->problem, text_get(&l->problem_text));
  }
  if (!status && !found) status = failures_open(l, &failures, err);
  if (!status && !found) status = select_instead(l, distance, by_portfolio, failures, out, err);
  failures_close(failures);
  return !status && (out->problem.failed || out->other.failed) ? error_memory(err) : status;
}

bool api_pass_over(struct lookup *l, cugen_plan_choice how, const char *variant, int status) {
  cugen_error ignored;
  if (config_calls_library(l->config, variant)) {
    lookup_drop_libraries(l);
    return true;
  }
  return status == CUGEN_ERROR_COMPILE && how != CUGEN_PLAN_EXACT && how != CUGEN_PLAN_PINNED &&
         !lookup_drop_variant(l, variant, &ignored);
}

void api_selection_free(struct selection *selection) {
  api_best_free(&selection->best);
  text_free(&selection->problem);
  text_free(&selection->other);
  text_free(&selection->failed);
}

static void clear_selection(void *data) {
  api_selection_free(data);
}

int api_kernel_choose(cugen_kernel *k, double distance, cugen_choice *out, cugen_error *error) {
  struct selection *selection = kept_renew(&k->choice, sizeof *selection, clear_selection, error);
  if (!selection) return CUGEN_ERROR_MEMORY;
  if (!(distance < 1000))
    return error_set(error, CUGEN_ERROR_USAGE, "distance is %g, should be below 1000", distance);
  int status = api_select(&k->lookup, distance, false, selection, error);
  if (!status) status = api_variant_text(k, selection->index, &out->variant, error);
  if (status) return status;
  out->how = selection->how;
  out->tuned_for = out->how == CUGEN_PLAN_DEFAULT || out->how == CUGEN_PLAN_PORTFOLIO
                       ? NULL
                       : text_get(&selection->problem);
  out->tuned_on = selection->other.length ? text_get(&selection->other) : NULL;
  out->same_model = selection->same_model;
  out->distance = selection->distance;
  out->predicted = selection->predicted;
  out->by_portfolio = selection->by_portfolio;
  out->other_class = selection->other_class;
  out->named = selection->named;
  return CUGEN_OK;
}
