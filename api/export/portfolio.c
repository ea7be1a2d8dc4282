/* Portfolios in a bundle: their variants are stored like other codes, and the rule becomes a C
   function. The portfolios stand in the order in which a plan tries them. */
#include <stdlib.h>
#include <string.h>

#include "api/portfolio.h"
#include "base/array.h"
#include "export.h"

/* ---- The rule as C -------------------------------------------------------------------------- */

struct naming {
  const struct config *config;
  struct text name;
};

static const char *portfolio_slot_name(void *context, int slot) {
  struct naming *naming = context;
  const size_t at = (size_t)(slot - naming->config->first_problem);
  if (at == naming->config->problem_count) return "least";
  text_clear(&naming->name);
  text_addf(&naming->name, "p->%s", naming->config->problems[at].name);
  return text_get(&naming->name);
}

/* Prints a rule, or the time of a variant, as C. CUGEN_ERROR_CONFIG: the expression has no form in
   C, or gives no number, or, with `whole`, no whole number. */
static int print_c(const struct config *config, const char *rule, bool whole, struct text *out,
                   cugen_error *err) {
  struct naming naming = {.config = config};
  enum expr_kind kind = EXPR_WHOLE;
  struct value constant;
  struct expr *expr;
  int status = portfolio_parse_rule(rule, config, &expr, err);
  if (status) return status;
  if (expr_constant(expr, &constant)) {
    value_print(constant, out);
    if (constant.type != VALUE_INT) kind = constant.type == VALUE_FLOAT ? EXPR_REAL : EXPR_BOOLEAN;
  } else {
    status = expr_print_checked(expr, portfolio_slot_name, &naming, out, &kind, err);
  }
  if (!status && (whole ? kind != EXPR_WHOLE : kind == EXPR_BOOLEAN))
    status = error_set(err, CUGEN_ERROR_CONFIG, "its rule gives no number of that kind");
  expr_free(expr);
  text_free(&naming.name);
  return status;
}

/* Prints statements that set the times. A time that cannot be computed at some sizes is unknown
   there. */
static int portfolio_print_times(const struct config *config, const struct portfolio_body *body,
                                 struct text *out, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < body->count && !status; i++) {
    text_addf(out, "  times[%zu] = ", i);
    if (body->variants[i].time)
      status = print_c(config, body->variants[i].time, false, out, err);
    else
      text_add(out, "NO_TIME");
    text_addf(out, ";\n  times[%zu] = told(times[%zu], &wrong);\n", i, i);
  }
  return status;
}

/* ---- Variants of a portfolio ----------------------------------------------------------------- */

/* Adds a code to the last member, unless the member has it. */
static int add_member_code(struct exporter *x, size_t code, cugen_error *err) {
  struct export_member *member = &x->members[x->member_count - 1];
  if (!ARRAY_ROOM(x->member_codes, x->member_code_count)) return error_memory(err);
  for (size_t i = 0; i < member->count; i++)
    if (x->member_codes[member->first + i] == code) return CUGEN_OK;
  x->member_codes[x->member_code_count++] = code;
  member->count++;
  return CUGEN_OK;
}

static void note(struct exporter *x, size_t device, const char *variant, const char *why) {
  text_addf(x->notes, "%s: '%s' of the portfolio is left out: %s\n", x->devices[device].text,
            variant, why);
}

/* Opens the space with this variant alone, because a bundle tries each variant at many problems,
   and the whole space takes much longer. A variant that the config does not know is no filter. */
static int open_alone(struct lookup *l, const char *variant, cugen_error *err) {
  const cugen_filter alone = {.variant = variant, .all = true};
  cugen_error ignored;
  l->filter = &alone;
  int status = lookup_space(l, &ignored);
  l->filter = NULL;
  return status ? lookup_space(l, err) : CUGEN_OK;
}

/* Adds the code of the variant for that problem. *code stays SIZE_MAX if the variant is not current
   or a bundle cannot contain it. any_source: any source counts as current. classes: the classes of
   sizes; may be NULL. */
static int portfolio_try_at(struct exporter *x, size_t device,
                            const struct portfolio_body_variant *v, const struct problem *problem,
                            bool any_source, enum portfolio_state *state, size_t *code,
                            struct export_classes *classes, cugen_error *err) {
  struct lookup *l = &x->devices[device].lookup;
  struct kernel_spec spec = {0};
  uint64_t index;
  bool failing = false, compiles = true;
  int status = lookup_set_problem(l, problem, err);
  if (!status) status = open_alone(l, v->variant, err);
  if (!status) status = portfolio_try(l, v, any_source, state, &index, &spec, err);
  kernel_spec_free(&spec);
  if (!status && *state == PORTFOLIO_CURRENT)
    status = export_is_failing(x, l, index, &failing, err);
  if (failing) *state = PORTFOLIO_FAILING;
  if (!status && *state == PORTFOLIO_CURRENT)
    status = export_add_variant(x, device, index, code, any_source ? &compiles : NULL, err);
  if (!compiles) *state = PORTFOLIO_FAILING;
  if (!status && *state == PORTFOLIO_CURRENT && *code != SIZE_MAX && classes)
    status = export_classes_find(l, index, problem, classes, err);
  lookup_drop_space(l);
  return status;
}

/* Adds a code for each class of sizes that needs another code. */
static int portfolio_add_classes(struct exporter *x, const struct export_portfolio *p,
                                 const struct portfolio_body_variant *v,
                                 struct export_classes *classes, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < classes->count && !status; i++) {
    if (!export_class_open(classes, i)) continue;
    enum portfolio_state state = PORTFOLIO_INVALID;
    size_t code = SIZE_MAX;
    status = portfolio_try_at(x, p->device, v, &classes->problems[i], p->shipped, &state, &code,
                              NULL, err);
    if (status == CUGEN_ERROR_CONFIG) status = CUGEN_OK; /* these sizes are not valid together */
    if (status || state != PORTFOLIO_CURRENT) continue;
    export_class_serve(classes, i);
    if (code != SIZE_MAX) status = add_member_code(x, code, err);
  }
  return status;
}

/* Adds the variant at the problem where it was measured; for a shipped portfolio at the requested
   problem, if the variant is valid there. A variant that is left out keeps its index in the rule,
   but no code serves it. */
static int export_portfolio_add_variant(struct exporter *x, const struct export_portfolio *p,
                                        const struct portfolio_body_variant *v, cugen_error *err) {
  const struct config *config = x->devices[p->device].lookup.config;
  enum portfolio_state state = PORTFOLIO_INVALID;
  struct export_classes classes = {0};
  struct problem problem;
  size_t code = SIZE_MAX;
  bool known;
  int status = api_read_problem(config, v->problem, &problem, &known, err);
  if (status) return status;
  if (p->shipped)
    status = portfolio_try_at(x, p->device, v, p->class, true, &state, &code, &classes, err);
  /* A shipped portfolio serves several classes but was measured for one. */
  for (size_t i = 0; p->shipped && known && i < problem.count; i++)
    if (!config_is_size(config, i)) problem.values[i] = p->class->values[i];
  if (!status && known && state == PORTFOLIO_INVALID)
    status = portfolio_try_at(x, p->device, v, &problem, p->shipped, &state, &code, &classes, err);
  if (!status && state == PORTFOLIO_STALE)
    note(x, p->device, v->variant, "its source has changed since; learn again");
  if (!status && state == PORTFOLIO_INVALID)
    note(x, p->device, v->variant, "it is no variant of this config now");
  if (!status && state == PORTFOLIO_FAILING) note(x, p->device, v->variant, "it fails");
  if (!status && state == PORTFOLIO_CURRENT && code == SIZE_MAX)
    note(x, p->device, v->variant, "it reads an input as a texture, which a bundle cannot");
  if (!status && !ARRAY_ADD(x->members, x->member_count,
                            (struct export_member){.first = x->member_code_count}))
    status = error_memory(err);
  if (!status && code != SIZE_MAX) status = add_member_code(x, code, err);
  if (!status) status = portfolio_add_classes(x, p, v, &classes, err);
  export_classes_free(&classes);
  if (known) problem_free(&problem);
  return status;
}

static void free_rule(struct export_portfolio *portfolio) {
  text_free(&portfolio->rule);
  text_free(&portfolio->times);
}

/* Adds the portfolio with its variants. class: a problem of the class that is served, which must
   live as long as the exporter. */
static int add_portfolio(struct exporter *x, size_t device, const struct portfolio_body *body,
                         const struct problem *class, bool shipped, cugen_error *err) {
  struct export_portfolio portfolio = {.device = device,
                                       .class = class,
                                       .first = x->member_count,
                                       .count = body->count,
                                       .shipped = shipped,
                                       .doubted = body->doubted};
  cugen_error why;
  int status = print_c(x->devices[device].lookup.config, body->rule, true, &portfolio.rule, &why);
  if (!status)
    status = portfolio_print_times(x->devices[device].lookup.config, body, &portfolio.times, &why);
  /* for example, the config has other sizes now: bundles and plans leave the portfolio out */
  if (status) {
    free_rule(&portfolio);
    return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  }
  for (size_t i = 0; i < body->count && !status; i++)
    status = export_portfolio_add_variant(x, &portfolio, &body->variants[i], err);
  if (!status && !ARRAY_ROOM(x->portfolios, x->portfolio_count)) status = error_memory(err);
  if (status) return free_rule(&portfolio), status;
  x->portfolios[x->portfolio_count++] = portfolio;
  return CUGEN_OK;
}

/* ---- Classes of problems -------------------------------------------------------------------- */

static bool portfolio_is_done(const struct exporter *x, size_t device,
                              const struct problem *problem, bool shipped) {
  for (size_t i = 0; i < x->portfolio_count; i++)
    if (x->portfolios[i].device == device && x->portfolios[i].shipped == shipped &&
        api_same_class(x->base->opened.config, x->portfolios[i].class, problem))
      return true;
  return false;
}

/* Adds the remembered portfolios of this class. Takes over the problem. */
static int add_class(struct exporter *x, size_t device, struct problem *problem, cugen_error *err) {
  struct lookup *l = &x->devices[device].lookup;
  struct portfolio_found *found = NULL;
  size_t count = 0;
  struct problem *own =
      ARRAY_ROOM(x->portfolio_classes, x->portfolio_class_count) ? malloc(sizeof *own) : NULL;
  if (!own) return problem_free(problem), error_memory(err);
  *own = *problem;
  x->portfolio_classes[x->portfolio_class_count++] = own;
  int status = lookup_set_problem(l, own, err);
  if (!status) status = portfolios_find(l, NULL, &found, &count, err);
  if (!status) status = export_failing_open(x, device, err);
  for (size_t i = 0; i < count && !status; i++)
    status = add_portfolio(x, device, &found[i].body, own, false, err);
  portfolios_free(found, count);
  return status;
}

/* Adds the portfolios for the class of a portfolio in the cache: the class of the problem at which
   that portfolio's first variant was measured. */
static int add_kept(struct exporter *x, size_t device, const struct cache_portfolio *kept,
                    cugen_error *err) {
  struct portfolio_body body;
  struct problem problem;
  cugen_error ignored;
  bool known = false;
  int status = portfolio_body_parse(kept->body, &body, &ignored);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  status =
      api_read_problem(x->base->opened.config, body.variants[0].problem, &problem, &known, err);
  portfolio_body_free(&body);
  if (status || !known) return status;
  if (api_agrees(x->base, &problem, false) && !portfolio_is_done(x, device, &problem, false))
    return add_class(x, device, &problem, err);
  problem_free(&problem);
  return CUGEN_OK;
}

int export_portfolios(struct exporter *x, size_t device, cugen_error *err) {
  const struct cache_key key = lookup_measured_key(&x->devices[device].lookup);
  struct cache_portfolio *kept;
  size_t count;
  int status = cache_portfolios(x->cache, &key, &kept, &count, err);
  for (size_t i = 0; i < count && !status; i++) status = add_kept(x, device, &kept[i], err);
  cache_portfolios_free(kept, count);
  return status;
}

int export_shipped(struct exporter *x, size_t device, const struct problem *problem,
                   cugen_error *err) {
  struct lookup *l = &x->devices[device].lookup;
  struct portfolio_shipped shipped;
  bool found;
  if (export_stands_for_others(&x->devices[device]) || portfolio_is_done(x, device, problem, true))
    return CUGEN_OK;
  int status = lookup_set_problem(l, problem, err);
  if (!status) status = portfolio_find_shipped(l, PORTFOLIO_MEASURED, &shipped, &found, err);
  if (status || !found) return status;
  status = add_portfolio(x, device, &shipped.body, problem, true, err);
  portfolio_shipped_free(&shipped);
  return status;
}

size_t export_portfolio_count(const struct exporter *x, bool shipped) {
  size_t count = 0;
  for (size_t i = 0; i < x->portfolio_count; i++) count += x->portfolios[i].shipped == shipped;
  return count;
}

void export_portfolios_free(struct exporter *x) {
  for (size_t i = 0; i < x->portfolio_count; i++) free_rule(&x->portfolios[i]);
  for (size_t i = 0; i < x->portfolio_class_count; i++) {
    problem_free(x->portfolio_classes[i]);
    free(x->portfolio_classes[i]);
  }
  free(x->portfolios);
  free(x->portfolio_classes);
  free(x->members);
  free(x->member_codes);
}
