/* Finds a kernel's portfolios and the variant that a portfolio gives for a problem; see
   portfolio.h. The rule gives the index of a variant. If this variant is not valid for the problem,
   the valid variant with the smallest time serves; without times, the first valid one. A variant
   whose source has changed since it was measured serves only if its portfolio ships. */
#include "portfolio.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

const char *portfolio_objective(const struct config *config) {
  return config->objective ? config->objective->text : objective_names[OBJECTIVE_TIME];
}

/* ---- Finding portfolios --------------------------------------------------------------------- */

static void free_found(struct portfolio_found *found) {
  cache_portfolio_free(&found->kept);
  portfolio_body_free(&found->body);
}

/* Takes over the contents of *kept. A portfolio that cannot be parsed is skipped. */
static int portfolio_take(struct cache_portfolio *kept, struct portfolio_found **out, size_t *count,
                          cugen_error *err) {
  cugen_error why;
  if (!ARRAY_ROOM(*out, *count)) return error_memory(err);
  int status = portfolio_body_parse(kept->body, &(*out)[*count].body, &why);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  (*out)[(*count)++].kept = *kept;
  *kept = (struct cache_portfolio){0};
  return CUGEN_OK;
}

/* own: finds portfolios that were learnt from this config file or from an unknown one; otherwise
   portfolios of other files. */
static int portfolio_find(const struct lookup *l, const struct cache_key *key, struct cache *cache,
                          const struct cache_key *class_key, bool own, struct portfolio_found **out,
                          size_t *count, cugen_error *err) {
  struct cache_portfolio *kept;
  size_t all;
  int status = cache_portfolios(cache, key, &kept, &all, err);
  for (size_t i = 0; i < all && !status; i++) {
    const char *origin = kept[i].origin;
    const bool is_own = !*origin || (l->origin && strcmp(origin, l->origin) == 0);
    uint64_t lacks;
    if (is_own == own && strcmp(kept[i].objective, portfolio_objective(l->config)) == 0 &&
        cache_lacks(class_key, kept[i].class, &lacks))
      status = portfolio_take(&kept[i], out, count, err);
  }
  cache_portfolios_free(kept, all);
  return status;
}

/* Compares the source at the problem where the variant was measured, because if sizes are part of
   the source, each problem has another source. */
static int is_measured(const struct lookup *l, const struct portfolio_body_variant *v, bool *same,
                       cugen_error *err) {
  struct problem problem;
  struct lookup other = {0};
  struct kernel_spec spec = {0};
  cugen_error why;
  uint64_t index;
  bool known;
  *same = false;
  int status = api_read_problem(l->config, v->problem, &problem, &known, err);
  if (status || !known) return status;
  status = lookup_for_problem(l, &problem, &other, err);
  if (!status) status = lookup_prepare(&other, &why);
  if (!status) status = space_find_brief(other.space, v->variant, &index, &why);
  if (!status) status = lookup_expand(&other, index, &spec, &why);
  if (!status) *same = strcmp(kernel_spec_passed(&spec).hex, v->source.hex) == 0;
  kernel_spec_free(&spec);
  lookup_close(&other);
  problem_free(&problem);
  return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
}

/* Finds portfolios of a config that was moved or copied, which are stored under the origin of the
   other file. Such a portfolio is of this kernel if one of its first variants has the same source,
   at the problem where the variant was measured. */
static int find_elsewhere(const struct lookup *l, const struct cache_key *key, struct cache *cache,
                          const struct cache_key *class_key, struct portfolio_found **out,
                          size_t *count, cugen_error *err) {
  enum { MOST_ASKED = 3 };
  const size_t own = *count;
  size_t all = own;
  int status = portfolio_find(l, key, cache, class_key, false, out, &all, err);
  for (size_t i = own; i < all; i++) {
    const struct portfolio_found one = (*out)[i];
    bool same = false;
    for (size_t v = 0; v < one.body.count && v < MOST_ASKED && !status && !same; v++)
      status = is_measured(l, &one.body.variants[v], &same, err);
    (*out)[i] = (*out)[*count];
    (*out)[*count] = one;
    *count += same;
  }
  for (size_t i = *count; i < all; i++) free_found(&(*out)[i]);
  return status;
}

int portfolios_find(const struct lookup *l, const struct prediction_key *predictions,
                    struct portfolio_found **out, size_t *count, cugen_error *err) {
  const struct cache_key key = predictions ? lookup_predicted_key(l, predictions) : lookup_key(l);
  struct text class = {0};
  struct cache *cache;
  *out = NULL, *count = 0;
  problem_print_class(l->config, l->problem, &class);
  const struct cache_key class_key = {.problem = text_get(&class),
                                      .may_lack = problem_class_may_lack(l->config, l->problem)};
  int status = class.failed ? error_memory(err) : api_cache_to_read(l->lib, &cache, err);
  if (!status) status = portfolio_find(l, &key, cache, &class_key, true, out, count, err);
  if (!status) status = find_elsewhere(l, &key, cache, &class_key, out, count, err);
  text_free(&class);
  if (status) portfolios_free(*out, *count), *out = NULL, *count = 0;
  return status;
}

void portfolios_free(struct portfolio_found *found, size_t count) {
  for (size_t i = 0; i < count; i++) free_found(&found[i]);
  free(found);
}

/* ---- Evaluating the rule -------------------------------------------------------------------- */

/* The slot of the variant with the smallest time, behind the slots of the problem. */
static int least_slot(const struct config *config) {
  return config->first_problem + (int)config->problem_count;
}

/* Resolves sizes and "least". */
static struct expr_symbol find_size(void *context, const char *name) {
  const struct config *config = context;
  for (size_t i = 0; i < config->problem_count; i++)
    if (strcmp(config->problems[i].name, name) == 0 && config_is_size(config, i))
      return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = config->first_problem + (int)i};
  if (strcmp(name, "least") == 0)
    return (struct expr_symbol){.kind = SYMBOL_SLOT, .slot = least_slot(config)};
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

static const char *const *list_none(void *context, size_t *count) {
  static const char *const none[] = {NULL};
  (void)context;
  *count = 0;
  return none;
}

int portfolio_parse_rule(const char *rule, const struct config *config, struct expr **out,
                         cugen_error *err) {
  const struct expr_scope scope = {find_size, list_none, (void *)(uintptr_t)config};
  return expr_parse(rule, &scope, out, err);
}

/* A condition in a variant's time, and whether it holds for the problem. */
struct condition {
  struct text text;
  bool holds;
};
enum { MOST_CONDITIONS = 4 };

/* A problem for which the rule is evaluated: the values by slot. The slots of device facts are not
   read. */
struct asked {
  const struct portfolio_body *body;
  const struct config *config;
  struct value *slots;
  struct condition conditions[MOST_CONDITIONS]; /* conditions that were evaluated, because times
                                                   repeat conditions */
  size_t condition_count;
};

/* Finds the beginnings of a, b and c in "select(a, b, c)". Returns the place of the last
   parenthesis; NULL: the text has another form. */
static const char *split_select(const char *text, const char *parts[3]) {
  static const char begin[] = "select(";
  const size_t length = sizeof begin - 1;
  int depth = 0, count = 0;
  if (strncmp(text, begin, length) != 0) return NULL;
  parts[count++] = text + length;
  for (const char *at = parts[0]; *(at += strcspn(at, "(),")); at++) {
    if (*at == ')' && depth == 0) return count == 3 && !at[1] ? at : NULL;
    depth += (*at == '(') - (*at == ')');
    if (*at != ',' || depth) continue;
    if (count == 3) return NULL;
    parts[count++] = at + 1;
  }
  return NULL;
}

/* Sets *holds to whether the condition holds for the problem; a condition that cannot be evaluated
   does not hold. A condition that was evaluated before is not parsed again. */
static int portfolio_ask_condition(struct asked *a, const char *text, size_t length, bool *holds,
                                   cugen_error *err) {
  struct expr *parsed;
  cugen_error ignored;
  for (size_t i = 0; i < a->condition_count; i++) {
    const struct condition *known = &a->conditions[i];
    *holds = known->holds;
    if (known->text.length == length && strncmp(text_get(&known->text), text, length) == 0)
      return CUGEN_OK;
  }
  if (a->condition_count == MOST_CONDITIONS) a->condition_count--;
  struct condition *condition = &a->conditions[a->condition_count];
  text_restart(&condition->text);
  text_add_n(&condition->text, text, length);
  if (condition->text.failed) return error_memory(err);
  int status = portfolio_parse_rule(text_get(&condition->text), a->config, &parsed, err);
  if (status) return status;
  if (expr_eval_bool(parsed, a->slots, &condition->holds, &ignored)) condition->holds = false;
  expr_free(parsed);
  *holds = condition->holds;
  a->condition_count++;
  return CUGEN_OK;
}

/* microseconds that tools/bench/ship-portfolio writes for sizes without a learnt time */
static const double portfolio_never = 1e30;

/* A portfolio of another class does not serve by variants whose time is this many times that of the
   named variant. */
static const double portfolio_far = 3.0;

/* *out becomes INFINITY if the variant has no time for the problem's sizes. If sizes were learnt
   separately, a time is a select() of formulas. Only the formula of these sizes is parsed. */
static int time_of(struct asked *a, size_t variant, double *out, cugen_error *err) {
  const char *text = a->body->variants[variant].time, *parts[3], *end;
  char *part = NULL;
  struct expr *time = NULL;
  cugen_error ignored;
  int status = CUGEN_OK;
  *out = INFINITY;
  if (!text) return CUGEN_OK;
  while (!status && (end = split_select(text, parts)) != NULL) {
    bool holds;
    status = portfolio_ask_condition(a, parts[0], (size_t)(parts[1] - parts[0] - 1), &holds, err);
    if (status) break;
    const char *from = parts[holds ? 1 : 2], *to = holds ? parts[2] - 1 : end;
    from += strspn(from, " ");
    char *next = strndup(from, (size_t)(to - from));
    free(part);
    text = part = next;
    if (!next) status = error_memory(err);
  }
  if (!status) status = portfolio_parse_rule(text, a->config, &time, err);
  if (!status && (expr_eval_float(time, a->slots, out, &ignored) || !(*out < portfolio_never)))
    *out = INFINITY;
  expr_free(time);
  free(part);
  return status;
}

/* Orders the variants by their times; equal times keep their order. times: the times in the new
   order. */
static int portfolio_put_in_order(struct asked *a, struct portfolio_order *out, double *times,
                                  cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < a->body->count && !status; i++) {
    double time;
    size_t at = i;
    status = time_of(a, i, &time, err);
    for (; at > 0 && time < times[at - 1]; at--)
      times[at] = times[at - 1], out->at[at] = out->at[at - 1];
    times[at] = time, out->at[at] = i;
  }
  while (out->timed < a->body->count && isfinite(times[out->timed])) out->timed++;
  out->count = a->body->count;
  if (!status && isfinite(times[0]))
    a->slots[least_slot(a->config)] = value_int((int64_t)out->at[0]);
  return status;
}

/* Moves the variant that the rule names to the front. If the rule is doubted, the named variant
   goes behind the variants whose times are far below its time. */
static void put_named(struct portfolio_order *order, const double *times, size_t variant,
                      double doubted) {
  size_t at = 0, to = 0;
  while (order->at[at] != variant) at++;
  while (doubted > 0 && isfinite(times[at]) && to < at && times[to] < times[at] / doubted) to++;
  while (order->near < order->timed && times[order->near] < portfolio_far * times[at])
    order->near++;
  if (at >= order->timed) order->timed++, order->near++;
  memmove(order->at + to + 1, order->at + to, (at - to) * sizeof *order->at);
  order->at[to] = variant;
  order->named = true;
}

/* Gives the rule's variant its place in the order. A rule may have no value, as when a product of
   sizes overflows. */
static int ask_rule(const struct asked *a, const struct expr *rule, const double *times,
                    struct portfolio_order *out, cugen_error *err) {
  struct value value;
  cugen_error ignored;
  if (expr_eval(rule, a->slots, &value, &ignored)) return CUGEN_OK;
  if (value.type != VALUE_INT)
    return error_set(err, CUGEN_ERROR_CONFIG, "the rule '%s' gives no whole number",
                     expr_text(rule));
  if (value.integer >= 0 && value.integer < (int64_t)a->body->count)
    put_named(out, times, (size_t)value.integer, a->body->doubted);
  return CUGEN_OK;
}

int portfolio_ask(const struct portfolio_body *body, const struct config *config,
                  const struct problem *problem, struct portfolio_order *out, cugen_error *err) {
  struct asked asked = {.body = body, .config = config};
  struct expr *rule;
  double times[PORTFOLIO_BODY_MOST_VARIANTS] = {INFINITY};
  *out = (struct portfolio_order){0};
  int status = portfolio_parse_rule(body->rule, config, &rule, err);
  if (status) return status;
  const int least = least_slot(config);
  asked.slots = calloc((size_t)least + problem->count + 1, sizeof *asked.slots);
  if (asked.slots) {
    memcpy(asked.slots + config->first_problem, problem->values,
           problem->count * sizeof *asked.slots);
    asked.slots[least] = value_int((int64_t)body->count);
  } else {
    status = error_memory(err);
  }
  if (!status) status = portfolio_put_in_order(&asked, out, times, err);
  if (!status) status = ask_rule(&asked, rule, times, out, err);
  expr_free(rule);
  free(asked.slots);
  for (size_t i = 0; i < MOST_CONDITIONS; i++) text_free(&asked.conditions[i].text);
  return status;
}

/* ---- Variants of a portfolio ----------------------------------------------------------------- */

int portfolio_try(struct lookup *l, const struct portfolio_body_variant *v, bool any_source,
                  enum portfolio_state *state, uint64_t *index, struct kernel_spec *spec,
                  cugen_error *err) {
  cugen_error why;
  *spec = (struct kernel_spec){0};
  *state = PORTFOLIO_INVALID;
  int status = space_find_brief(l->space, v->variant, index, &why);
  if (!status) status = lookup_expand(l, *index, spec, &why);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  bool same = any_source || strcmp(kernel_spec_passed(spec).hex, v->source.hex) == 0;
  if (!same) status = is_measured(l, v, &same, err);
  *state = same ? PORTFOLIO_CURRENT : PORTFOLIO_STALE;
  return status;
}

/* ---- Serving -------------------------------------------------------------------------------- */

/* Expands the variant for the look-up's problem. The variant of a shipped portfolio may have any
   source; otherwise its source must be the measured one. *found: the variant serves; a variant that
   is known to fail does not. */
static int try_one(struct lookup *l, const struct portfolio_body_variant *variant, bool shipped,
                   struct failures *failures, struct portfolio_answer *out, bool *found,
                   cugen_error *err) {
  const struct cache_record *failed;
  enum portfolio_state state;
  int status = portfolio_try(l, variant, shipped, &state, &out->index, &out->spec, err);
  *found = !status && state == PORTFOLIO_CURRENT;
  if (!status && *found) status = failures_find_at(failures, l, out->index, &failed, err);
  *found = !status && *found && !failed;
  if (!*found) kernel_spec_free(&out->spec);
  return status;
}

/* Tries the variants in order. If the rule of a shipped portfolio names no variant, nothing serves:
   the problem may be beyond the portfolio's limit. */
int portfolio_serve_by(struct lookup *l, const struct portfolio_body *body,
                       enum portfolio_kind kind, struct failures *failures,
                       struct portfolio_answer *out, bool *found, cugen_error *err) {
  struct portfolio_order order;
  cugen_error ignored;
  *out = (struct portfolio_answer){0};
  *found = false;
  int status = lookup_prepare(l, err);
  if (status) return status;
  status = portfolio_ask(body, l->config, l->problem, &order, &ignored);
  /* no error: the config may have other sizes now */
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  if (kind != PORTFOLIO_REMEMBERED && !order.named) return CUGEN_OK;
  const size_t most = kind == PORTFOLIO_REMEMBERED    ? order.count
                      : kind == PORTFOLIO_OTHER_CLASS ? order.near
                                                      : order.timed;
  for (size_t i = 0; i < most && !*found && !status; i++) {
    status = try_one(l, &body->variants[order.at[i]], kind != PORTFOLIO_REMEMBERED, failures, out,
                     found, err);
    out->first = *found && i == 0 && order.named;
  }
  return status;
}

int portfolio_serve(struct lookup *l, const struct prediction_key *predictions,
                    struct failures *failures, struct portfolio_answer *out, bool *found,
                    cugen_error *err) {
  struct portfolio_found *all;
  size_t count;
  *out = (struct portfolio_answer){0};
  *found = false;
  int status = portfolios_find(l, predictions, &all, &count, err);
  for (size_t i = 0; i < count && !*found && !status; i++)
    status = portfolio_serve_by(l, &all[i].body, PORTFOLIO_REMEMBERED, failures, out, found, err);
  portfolios_free(all, count);
  return status;
}
