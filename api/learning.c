/* Learns portfolios from the records of many problems, and hands portfolios out. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api.h"
#include "base/array.h"
#include "base/system.h"
#include "learning.h"
#include "portfolio_out.h"

enum {
  USUAL_MOST = 8,     /* kernels of a portfolio, where the options do not say */
  MOST_COLUMNS = 768, /* variants among which learning chooses */
  MOST_PASSES = 16    /* limit of attempts; a stale record of a chosen variant makes learning begin
                      again */
};

/* An unknown value is 0 in public structs and NAN inside. */
static double learning_known(double value) {
  return isfinite(value) ? value : 0;
}

/* ---- Choosing the columns (variants) of the matrix ------------------------------------------ */

struct ranked {
  size_t variant, near;
  double sum;
};

static int learning_by_nearness(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->near != y->near) return x->near > y->near ? -1 : 1;
  if (x->sum != y->sum) return x->sum < y->sum ? -1 : 1;
  return (x->variant > y->variant) - (x->variant < y->variant);
}

/* Returns the variants near the best, those of most problems first, at most MOST_COLUMNS; the
   caller frees the array. */
static size_t *learning_choose_columns(const struct portfolio_data *data, size_t *count,
                                       cugen_error *err) {
  const double near = 1.5;
  struct ranked *ranked = calloc(data->variant_count + 1, sizeof *ranked);
  size_t *out = calloc(MOST_COLUMNS, sizeof *out);
  *count = 0;
  for (size_t v = 0; ranked && v < data->variant_count; v++) ranked[v].variant = v;
  for (size_t i = 0; ranked && i < data->entry_count; i++) {
    const double ratio = portfolio_entry_ratio(data, &data->entries[i]);
    if (!(ratio <= near)) continue;
    ranked[data->entries[i].variant].near++;
    ranked[data->entries[i].variant].sum += ratio;
  }
  if (ranked && data->variant_count)
    qsort(ranked, data->variant_count, sizeof *ranked, learning_by_nearness);
  for (size_t i = 0;
       ranked && out && i < data->variant_count && *count < MOST_COLUMNS && ranked[i].near; i++)
    out[(*count)++] = ranked[i].variant;
  const bool good = ranked && out;
  free(ranked);
  if (good) return out;
  free(out);
  error_memory(err);
  return NULL;
}

/* ---- Checking that the chosen records are still valid --------------------------------------- */

/* Returns the problem's entry of the variant with that text; NULL: the variant was not chosen, or
   has no entry. */
static struct portfolio_entry *chosen_entry(const struct portfolio_data *data, size_t problem,
                                            const size_t *columns,
                                            const struct portfolio_learnt *learnt,
                                            const char *text) {
  for (size_t i = 0; i < learnt->count; i++) {
    const size_t variant = columns[learnt->chosen[i]];
    if (strcmp(data->variants[variant], text) == 0)
      return portfolio_entry_of(data, problem, variant);
  }
  return NULL;
}

/* Judges the problem's entries of the chosen variants. A stale entry is treated as not measured,
   and sets *stale. */
static int judge_row(struct portfolio_data *data, size_t problem, const size_t *columns,
                     const struct portfolio_learnt *learnt, bool *stale, cugen_error *err) {
  struct lookup l = {0};
  struct cache_record *records = NULL;
  size_t count = 0;
  int status = portfolio_open_row(data, problem, NULL, &l, err);
  if (!status) status = lookup_expander(&l, err);
  const struct cache_key key = lookup_key(&l);
  if (!status) status = lookup_records(&l, &key, &records, &count, err);
  for (size_t i = 0; i < count && !status; i++) {
    struct judgement judgement;
    if (records[i].outcome != CUGEN_OUTCOME_OK) continue;
    struct portfolio_entry *entry =
        chosen_entry(data, problem, columns, learnt, records[i].variant);
    if (!entry || isnan(entry->cost) || strcmp(entry->source.hex, records[i].source_hash.hex) != 0)
      continue;
    status = api_judge(&l, &records[i], &judgement, err);
    if (status) break;
    if (judgement.how == JUDGED_CURRENT)
      entry->passed = judgement.passed;
    else
      entry->cost = NAN, entry->stale = true, *stale = true;
  }
  records_free(records, count);
  lookup_close(&l);
  return status;
}

/* ---- Learning ------------------------------------------------------------------------------- */

/* If a chosen entry turns out to be stale, learning begins again without it. *columns: the
   variants, to be freed also after a failure. */
static int learning_learn(struct portfolio_data *data, size_t most, struct portfolio_learnt *out,
                          size_t **columns, cugen_error *err) {
  bool again = true;
  int status = CUGEN_OK;
  *columns = NULL;
  for (int pass = 0; pass < MOST_PASSES && again && !status; pass++) {
    struct portfolio_columns matrix = {0};
    size_t count;
    portfolio_learnt_free(out);
    free(*columns);
    *columns = learning_choose_columns(data, &count, err);
    if (!*columns) return CUGEN_ERROR_MEMORY;
    status = portfolio_columns_open(data, *columns, count, &matrix, err);
    if (!status) status = portfolio_learn(&matrix.matrix, most, out, err);
    again = false;
    for (size_t p = 0; p < data->row_count && !status; p++)
      status = judge_row(data, p, *columns, out, &again, err);
    portfolio_columns_free(&matrix);
  }
  return status;
}

/* Returns an entry of the variant: for a problem that the variant serves, else for any problem.
   NULL: there is none. */
static const struct portfolio_entry *learning_find_proof(const struct portfolio_data *data,
                                                         const struct portfolio_learnt *l,
                                                         size_t choice, size_t variant) {
  const struct portfolio_entry *any = NULL;
  for (size_t p = 0; p < data->row_count; p++) {
    const struct portfolio_entry *entry = portfolio_entry_of(data, p, variant);
    if (!entry || isnan(entry->cost)) continue;
    if (l->given[p] == choice) return entry;
    if (!any) any = entry;
  }
  return any;
}

static int fill_body(const struct portfolio_data *data, const struct portfolio_learnt *l,
                     const size_t *columns, struct portfolio_body *out, cugen_error *err) {
  *out = (struct portfolio_body){.problems = (int64_t)data->row_count,
                                 .tuned_mean = learning_known(l->tuned_loss.mean),
                                 .tuned_worst = learning_known(l->tuned_loss.worst),
                                 .held_mean = learning_known(l->held_loss.mean),
                                 .held_worst = learning_known(l->held_loss.worst),
                                 .alone_mean = learning_known(l->alone_loss.mean),
                                 .alone_worst = learning_known(l->alone_loss.worst),
                                 .doubted = l->doubted,
                                 .kernels = (int64_t)l->kernels};
  out->rule = strdup(text_get(&l->rule));
  out->variants = calloc(l->count + 1, sizeof *out->variants);
  if (!out->rule || !out->variants) return error_memory(err);
  for (size_t i = 0; i < l->count; i++) {
    const size_t variant = columns[l->chosen[i]];
    const struct portfolio_entry *proof = learning_find_proof(data, l, i, variant);
    struct portfolio_body_variant *v = &out->variants[out->count++];
    v->variant = strdup(data->variants[variant]);
    v->problem = strdup(proof ? data->rows[proof->problem].text : "");
    if (l->times[i].length) v->time = strdup(text_get(&l->times[i]));
    if (!v->variant || !v->problem || (l->times[i].length && !v->time)) return error_memory(err);
    if (proof) v->source = proof->passed;
    for (size_t p = 0; p < data->row_count; p++) v->serves += l->given[p] == i;
  }
  return CUGEN_OK;
}

static int fill_key(const struct portfolio_data *data, struct cache_portfolio *out,
                    cugen_error *err) {
  const struct lookup *base = data->base;
  const struct cache_key key = lookup_key(base);
  struct text class = {0};
  problem_print_class(base->config, data->rows[0].problem, &class);
  *out = (struct cache_portfolio){.device = strdup(key.device),
                                  .config = strdup(key.config),
                                  .class = class.failed ? NULL : strdup(text_get(&class)),
                                  .options = strdup(key.options),
                                  .origin = strdup(base->origin ? base->origin : ""),
                                  .objective = strdup(portfolio_objective(base->config)),
                                  .learnt_at = clock_unix()};
  text_free(&class);
#define X(name) &&out->name
  return 1 CACHE_PORTFOLIO_KEY(X) ? CUGEN_OK : error_memory(err);
#undef X
}

static int describe_problems(struct portfolio_holding *from, const struct portfolio_learnt *l,
                             const size_t *columns, cugen_portfolio *out, cugen_error *err) {
  const struct portfolio_data *data = &from->data;
  from->problems = calloc(data->row_count + 1, sizeof *from->problems);
  if (!from->problems) return error_memory(err);
  for (size_t p = 0; p < data->row_count; p++) {
    const struct portfolio_row *row = &data->rows[p];
    const bool served = l->given[p] < l->count;
    const struct portfolio_entry *entry =
        served ? portfolio_entry_of(data, p, columns[l->chosen[l->given[p]]]) : NULL;
    from->problems[p] =
        (cugen_portfolio_problem){.problem = row->text,
                                  .variant = l->given[p],
                                  .seconds = entry ? learning_known(entry->seconds) : 0,
                                  .best = row->best ? row->best : "",
                                  .best_seconds = row->best_seconds,
                                  .loss = learning_known(l->tuned[p]),
                                  .held_out_loss = learning_known(l->held[p])};
    out->unserved += !(row->best_cost > 0);
  }
  out->problem = from->problems;
  out->held_out_missed = l->held_loss.missed;
  return CUGEN_OK;
}

/* Computes for each variant the geometric mean and the maximum of the losses of its problems. */
static void learning_sum_losses(struct portfolio_holding *from) {
  for (size_t i = 0; i < from->body.count; i++) {
    double sum = 0, worst = 0;
    size_t count = 0;
    for (size_t p = 0; p < from->data.row_count; p++) {
      const cugen_portfolio_problem *problem = &from->problems[p];
      if (problem->variant != i || !(problem->loss > 0)) continue;
      sum += log(problem->loss);
      worst = fmax(worst, problem->loss);
      count++;
    }
    from->body.variants[i].mean = count ? exp(sum / (double)count) : 0;
    from->body.variants[i].worst = worst;
  }
}

/* Returns whether the space is filtered by more than heuristics. */
static bool learning_is_filtered(const struct lookup *l) {
  return l->filter && (l->filter->where_count || l->filter->variant || l->filter->implementation);
}

/* The records of a class for which no portfolio could be learnt. worthless: correct records whose
   costs are not above 0, so that losses cannot be computed. */
struct remains {
  size_t stale, failed, worthless;
};

/* If no portfolio could be learnt although a row has a best record, which is current, the row's
   costs are worthless. */
static struct remains count_remains(const struct portfolio_data *data) {
  struct remains remains = {0};
  for (size_t i = 0; i < data->entry_count; i++) {
    const struct portfolio_entry *entry = &data->entries[i];
    if (isnan(entry->cost) && !entry->stale)
      remains.failed++;
    else if (data->rows[entry->problem].best && !entry->stale)
      remains.worthless++;
    else
      remains.stale++;
  }
  return remains;
}

/* Appends why nothing was learnt from the problems: "its 2 correct records are stale". */
static void print_remains(const struct portfolio_data *data, struct text *out) {
  const struct remains remains = count_remains(data);
  const size_t count = remains.stale ? remains.stale : remains.failed;
  if (remains.worthless)
    text_add(out, "what the objective gives is not above 0");
  else if (!count)
    text_addf(out, "nothing%s is remembered of it",
              learning_is_filtered(data->base) ? " that the filter admits" : "");
  else if (remains.stale)
    text_addf(out, "its %zu correct record%s stale", count, count == 1 ? " is" : "s are");
  else
    text_addf(out, "its %zu record%s failed", count, count == 1 ? "" : "s");
}

static void learning_refuse_untuned(const struct portfolio_data *data, cugen_error *err) {
  const struct remains remains = count_remains(data);
  const bool stale = remains.stale;
  if (remains.worthless) {
    error_set(err, CUGEN_ERROR_USAGE,
              "the objective gives nothing above 0 for %s of %s: a portfolio is learnt from what "
              "variants lose, in factors of their costs",
              data->rows[0].text, data->base->config->name);
    return;
  }
  error_set(err, CUGEN_ERROR_USAGE,
            "%s%s%s for %s%s of %s on %s%s: there is nothing to learn a portfolio from. 'cugen "
            "tune' with a budget measures them",
            stale ? "all remembered correct variants" : "no correct variant",
            learning_is_filtered(data->base) ? " that the filter admits" : "",
            stale ? "" : " is remembered",
            data->row_count == 1 ? "" : "any of the problems such as ", data->rows[0].text,
            data->base->config->name, data->base->device.name, stale ? " are stale" : "");
}

/* Drops the class that is the last of out, and notes why. */
static int skip_class(struct portfolio_holdings *out, cugen_error *err) {
  const struct portfolio_data *data = &out->all[out->count - 1].data;
  const struct config *config = data->base->config;
  struct text class = {0}, reason = {0};
  if (!ARRAY_ROOM(out->skipped, out->skipped_count)) return error_memory(err);
  problem_print_class(config, data->rows[0].problem, &class);
  text_addf(&reason, "%s%s%s: ", config->name, class.length ? " " : "", text_get(&class));
  print_remains(data, &reason);
  reason.failed |= class.failed;
  text_free(&class);
  char *line = text_take(&reason);
  if (!line) return error_memory(err);
  out->skipped[out->skipped_count++] = line;
  if (!out->why.status) learning_refuse_untuned(data, &out->why);
  portfolio_holding_drop(out);
  return CUGEN_OK;
}

/* Learns the portfolio of problems of one class. */
static int learn_class(const struct lookup *base, const struct problem *const *problems,
                       size_t count, const cugen_learn_options *options,
                       struct portfolio_holdings *out, cugen_error *err) {
  struct portfolio_learnt learnt = {0};
  size_t *columns = NULL;
  struct portfolio_holding *h = portfolio_holding_add(out, err);
  if (!h) return CUGEN_ERROR_MEMORY;
  int status = portfolio_data_open(base, problems, count, &h->data, err);
  if (!status)
    status = learning_learn(&h->data, options->most ? options->most : USUAL_MOST, &learnt, &columns,
                            err);
  if (!status && learnt.count) {
    cugen_portfolio *published = &out->out[out->count - 1];
    status = fill_key(&h->data, &h->kept, err);
    if (!status) status = fill_body(&h->data, &learnt, columns, &h->body, err);
    if (!status) portfolio_publish(h, published);
    if (!status) status = describe_problems(h, &learnt, columns, published, err);
    if (!status) learning_sum_losses(h);
  } else if (!status) {
    status = skip_class(out, err);
  }
  portfolio_learnt_free(&learnt);
  free(columns);
  return status;
}

/* ---- Problems ------------------------------------------------------------------------------- */

/* The problems to learn from. */
struct classes {
  const struct lookup *base;
  struct portfolio_problems own; /* the problems that were read from the cache */
  const struct problem **all;
  size_t count;
};

static int take_remembered(struct classes *c, const cugen_kernel *k, cugen_error *err) {
  int status = portfolio_problems_open(&k->lookup, &c->own, err);
  c->all = calloc(c->own.count + 1, sizeof(const struct problem *));
  if (!status && !c->all) status = error_memory(err);
  for (size_t i = 0; i < c->own.count && !status; i++)
    if (api_agrees(k, &c->own.all[i], true)) c->all[c->count++] = &c->own.all[i];
  if (status || c->count) return status;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "nothing is remembered of %s on %s with these settings: there is nothing to "
                   "learn a portfolio from. 'cugen tune' with a budget measures it",
                   k->lookup.config->name, k->lookup.device.name);
}

/* Learns class after class, in the order of the problems. */
static int learn_classes(struct classes *c, const cugen_learn_options *options,
                         struct portfolio_holdings *out, cugen_error *err) {
  const struct problem **same = calloc(c->count + 1, sizeof(const struct problem *));
  bool *done = calloc(c->count + 1, sizeof *done);
  int status = same && done ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < c->count && !status; i++) {
    size_t count = 0;
    if (done[i]) continue;
    for (size_t k = i; k < c->count; k++)
      if (api_same_class(c->base->config, c->all[k], c->all[i]))
        same[count++] = c->all[k], done[k] = true;
    status = learn_class(c->base, same, count, options, out, err);
  }
  if (!status && !out->count) status = error_copy(err, &out->why);
  free(same);
  free(done);
  return status;
}

/* Stores the portfolios in the cache, their bodies as text. */
static int learning_store(const struct lookup *base, struct portfolio_holdings *h,
                          cugen_error *err) {
  struct cache *cache;
  struct cache_portfolio *kept = calloc(h->count + 1, sizeof *kept);
  int status = kept ? api_cache(base->lib, &cache, err) : error_memory(err);
  for (size_t i = 0; i < h->count && !status; i++) {
    struct text body = {0};
    portfolio_body_print(&h->all[i].body, &body);
    h->all[i].kept.body = text_take(&body);
    if (!h->all[i].kept.body) status = error_memory(err);
    kept[i] = h->all[i].kept;
  }
  if (!status) status = cache_portfolios_store(cache, kept, h->count, err);
  free(kept);
  return status;
}

/* ---- Public functions ----------------------------------------------------------------------- */

int api_kernels_learn(cugen_kernel *const *kernels, size_t count,
                      const cugen_learn_options *options, const cugen_portfolio **out,
                      size_t *portfolios, cugen_error *error) {
  static const cugen_learn_options defaults = {0};
  if (!options) options = &defaults;
  *out = NULL, *portfolios = 0;
  if (options->most > PORTFOLIO_MOST)
    return error_set(error, CUGEN_ERROR_USAGE, "a portfolio of %zu variants: 1 to %d are possible",
                     options->most, PORTFOLIO_MOST);
  if (count == 0)
    return error_set(error, CUGEN_ERROR_USAGE, "no problem to learn a portfolio from");
  for (size_t i = 0; i < count; i++)
    if (kernels[i]->lookup.lib != kernels[0]->lookup.lib ||
        strcmp(text_get(&kernels[i]->opened.origin), text_get(&kernels[0]->opened.origin)) != 0)
      return error_set(error, CUGEN_ERROR_USAGE,
                       "problem %zu to learn from is of another library or config than the first",
                       i);

  struct portfolio_holdings *h =
      kept_renew(&kernels[0]->learnt, sizeof *h, portfolio_holdings_clear, error);
  if (!h) return CUGEN_ERROR_MEMORY;
  int status = CUGEN_OK;
  struct classes classes = {.base = &kernels[0]->lookup};
  if (options->remembered) {
    status = take_remembered(&classes, kernels[0], error);
  } else {
    classes.all = calloc(count, sizeof(const struct problem *));
    if (!classes.all) status = error_memory(error);
    for (; !status && classes.count < count; classes.count++)
      classes.all[classes.count] = kernels[classes.count]->lookup.problem;
  }
  if (!status) status = learn_classes(&classes, options, h, error);
  if (!status && !options->dry) status = learning_store(classes.base, h, error);
  portfolio_problems_free(&classes.own);
  free(classes.all);
  if (status) return status;
  *out = h->out;
  *portfolios = h->count;
  return CUGEN_OK;
}

const char *api_kernel_unlearnt(const cugen_kernel *k, size_t index) {
  const struct portfolio_holdings *h = k ? k->learnt.data : NULL;
  return h && index < h->skipped_count ? h->skipped[index] : NULL;
}

/* Judges whether the portfolio's variants are unchanged since they were measured, and valid
   here. */
static int judge_variants(struct lookup *l, struct portfolio_holding *h, cugen_error *err) {
  int status = lookup_prepare(l, err);
  for (size_t i = 0; i < h->body.count && !status; i++) {
    enum portfolio_state state;
    struct kernel_spec spec;
    uint64_t index;
    status = portfolio_try(l, &h->body.variants[i], false, &state, &index, &spec, err);
    kernel_spec_free(&spec);
    h->body.variants[i].stale = state == PORTFOLIO_STALE;
    h->body.variants[i].invalid = state == PORTFOLIO_INVALID;
  }
  return status;
}

int api_kernel_portfolios(cugen_kernel *k, const cugen_portfolio **out, size_t *count,
                          cugen_error *error) {
  struct portfolio_found *found = NULL;
  size_t all = 0;
  *out = NULL, *count = 0;
  struct portfolio_holdings *h =
      kept_renew(&k->portfolios, sizeof *h, portfolio_holdings_clear, error);
  if (!h) return CUGEN_ERROR_MEMORY;
  int status = portfolios_find(&k->lookup, NULL, &found, &all, error);
  for (size_t i = 0; i < all && !status; i++) {
    struct portfolio_holding *holding = portfolio_holding_add(h, error);
    if (!holding) {
      status = CUGEN_ERROR_MEMORY;
      break;
    }
    holding->kept = found[i].kept, holding->body = found[i].body;
    found[i] = (struct portfolio_found){0};
    portfolio_publish(holding, &h->out[i]);
    status = judge_variants(&k->lookup, holding, error);
  }
  portfolios_free(found, all);
  if (status) return status;
  *out = h->out;
  *count = h->count;
  return CUGEN_OK;
}
