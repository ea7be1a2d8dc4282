/* Learns a portfolio; see learn.h.

   A rule is a tree. A leaf names a variant, or says that the variant whose formula of time is least
   serves. Cross-validation decides how many leaves are worthwhile: each tenth of the problems is
   left out in turn, variants and rule are learnt from the other problems, and the rule of each
   number of leaves is applied to the problems left out. All numbers of leaves that are nearly the
   best there (within `slack`) are admitted. Then variants and rule are learnt again from all
   problems, and the fewest admitted leaves that serve these problems nearly best are taken. With
   fewer than FEW problems, all numbers of leaves are admitted.

   A problem becomes an exception, named by its sizes, if a chosen variant would serve it faster
   than the rule does by more than the factor `bearable`. The cross-validation makes no
   exceptions. */
#include "learn.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "choose.h"
#include "formulas.h"
#include "tree.h"

enum { FOLDS = 10, FEW = 16, MOST_LEAVES = 64 };

/* By how much the average cost of the problems left out may exceed the least one, if the problems
   themselves are served better: 0.1 %. */
static const double slack = 0.001;

struct validation {
  const struct portfolio_matrix *m;
  size_t most; /* most kernels of the portfolio */
  size_t folds;
  size_t *fold;   /* fold of each problem */
  bool *rows;     /* problems that the current fold does not leave out */
  size_t *chosen; /* variants chosen in a fold */
  size_t leaves;  /* most leaves of a rule */
  double *held;   /* [(leaves - 1) * problems + problem]: loss of the problem when left out */
  double *trusts; /* like `held`, for a rule whose variant is never doubted (PORTFOLIO_DOUBTED) */
  bool *missed;   /* problems for which no variant learnt from the other problems is valid */
  bool doubts;    /* the rule's variant may be doubted; `held` then has the losses with doubts */
};

/* ---- The order of the portfolio ------------------------------------------------------------- */

struct placed {
  size_t variant;
  double cost;
};

static int learn_by_cost(const void *a, const void *b) {
  const struct placed *x = a, *y = b;
  if (x->cost != y->cost) return x->cost < y->cost ? -1 : 1;
  return (x->variant > y->variant) - (x->variant < y->variant);
}

/* Returns the average cost over the problems where the variant's cost is known and two more
   problems of cost PORTFOLIO_FAR_OFF, so that few problems say little. */
static double average_cost(const struct portfolio_matrix *m, const bool *rows, size_t variant) {
  double sum = 2 * PORTFOLIO_FAR_OFF, count = 2;
  for (size_t p = 0; p < m->problems; p++) {
    if ((rows && !rows[p]) || !isfinite(portfolio_ratio(m, p, variant))) continue;
    sum += portfolio_cost(portfolio_ratio(m, p, variant));
    count++;
  }
  return sum / count;
}

/* Chooses the variants and sorts them by their average cost. If the rule's choice is not valid for
   a problem and there are no formulas, the first valid variant in this order serves. So variants
   that are good where they are valid come first. */
static int learn_choose(const struct portfolio_matrix *m, const bool *rows, size_t most,
                        size_t *chosen, size_t *count, cugen_error *err) {
  struct placed placed[PORTFOLIO_MOST];
  const int status = portfolio_choose(m, rows, most, chosen, count, err);
  if (status) return status;
  for (size_t i = 0; i < *count; i++)
    placed[i] = (struct placed){chosen[i], average_cost(m, rows, chosen[i])};
  qsort(placed, *count, sizeof *placed, learn_by_cost);
  for (size_t i = 0; i < *count; i++) chosen[i] = placed[i].variant;
  return CUGEN_OK;
}

/* ---- What problems lose --------------------------------------------------------------------- */

/* The variants that serve problems, and their formulas. */
struct service {
  const struct portfolio_matrix *m;
  const size_t *chosen;
  size_t count;
  const struct portfolio_formulas *formulas;
};

/* Returns the index in `chosen` of the variant that serves when the tree says `choice`: the result
   of portfolio_given or, if this variant is doubted (PORTFOLIO_DOUBTED), the variant of the least
   formula. s->count: no chosen variant is valid. */
static size_t served(const struct service *s, size_t problem, size_t choice, bool doubts) {
  const struct portfolio_formulas *formulas = s->formulas;
  const size_t given = portfolio_given(s->m, problem, s->chosen, s->count, choice, formulas->least);
  const size_t least = formulas->least ? formulas->least[problem] : s->count;
  if (!doubts || choice >= s->count || given != choice || least >= s->count) return given;
  const int64_t *sizes = &s->m->values[problem * s->m->sizes];
  const double own = portfolio_formula_of(&formulas->of[given][formulas->way], s->m, sizes);
  const double other = portfolio_formula_of(&formulas->of[least][formulas->way], s->m, sizes);
  return isfinite(own) && other < own / PORTFOLIO_DOUBTED ? least : given;
}

static double loss_of(const struct service *s, size_t problem, size_t choice, bool doubts) {
  const size_t given = served(s, problem, choice, doubts);
  return given < s->count ? portfolio_ratio(s->m, problem, s->chosen[given]) : (double)NAN;
}

static struct portfolio_loss sum_up(const double *losses, size_t count) {
  struct portfolio_loss loss = {0};
  double sum = 0;
  for (size_t i = 0; i < count; i++) {
    if (isnan(losses[i])) continue;
    sum += log(losses[i]);
    loss.worst = fmax(loss.worst, losses[i]);
    loss.known++;
  }
  loss.mean = loss.known ? exp(sum / (double)loss.known) : (double)NAN;
  if (!loss.known) loss.worst = NAN;
  return loss;
}

/* ---- Cross-validation ----------------------------------------------------------------------- */

static int run_fold(struct validation *v, size_t fold, cugen_error *err) {
  const struct portfolio_matrix *m = v->m;
  struct portfolio_tree tree = {0};
  struct portfolio_formulas formulas = {0};
  size_t count = 0;
  for (size_t p = 0; p < m->problems; p++) v->rows[p] = v->fold[p] != fold;
  int status = learn_choose(m, v->rows, v->most, v->chosen, &count, err);
  for (size_t p = 0; p < m->problems && !status; p++) {
    if (v->rows[p]) continue;
    size_t valid = 0;
    for (size_t i = 0; i < count; i++) valid += !isinf(portfolio_ratio(m, p, v->chosen[i]));
    v->missed[p] = valid == 0;
  }
  if (!status) status = portfolio_formulas_fit(m, v->rows, v->chosen, count, &formulas, err);
  if (!status)
    status =
        portfolio_tree_grow(m, v->rows, v->chosen, count, formulas.honest, v->leaves, &tree, err);
  const struct service service = {m, v->chosen, count, &formulas};
  for (size_t leaves = 1; leaves <= v->leaves && !status; leaves++)
    for (size_t p = 0; p < m->problems; p++) {
      if (v->rows[p]) continue;
      const size_t says = portfolio_tree_says(&tree, leaves, m, p),
                   at = (leaves - 1) * m->problems + p;
      v->held[at] = loss_of(&service, p, says, true);
      v->trusts[at] = loss_of(&service, p, says, false);
    }
  portfolio_tree_free(&tree);
  portfolio_formulas_free(&formulas);
  return status;
}

static int open_validation(struct validation *v, const struct portfolio_matrix *m, size_t most,
                           cugen_error *err) {
  *v =
      (struct validation){.m = m, .most = most, .folds = m->problems < FOLDS ? m->problems : FOLDS};
  v->leaves = m->problems < MOST_LEAVES ? m->problems : MOST_LEAVES;
  v->fold = calloc(m->problems + 1, sizeof *v->fold);
  v->rows = calloc(m->problems + 1, sizeof *v->rows);
  v->chosen = calloc(portfolio_most_variants(m, most) + 1, sizeof *v->chosen);
  v->held = calloc(v->leaves * m->problems + 1, sizeof *v->held);
  v->trusts = calloc(v->leaves * m->problems + 1, sizeof *v->trusts);
  v->missed = calloc(m->problems + 1, sizeof *v->missed);
  return v->fold && v->rows && v->chosen && v->held && v->trusts && v->missed ? CUGEN_OK
                                                                              : error_memory(err);
}

static void close_validation(struct validation *v) {
  free(v->fold);
  free(v->rows);
  free(v->chosen);
  free(v->held);
  free(v->trusts);
  free(v->missed);
}

/* Sums up the costs of the problems left out. A cost above PORTFOLIO_FAR_OFF is cut, because
   otherwise a single problem would decide against all rules of some number of leaves. */
static double held_cost(const struct validation *v, size_t leaves) {
  const double *held = &v->held[(leaves - 1) * v->m->problems];
  double sum = 0;
  for (size_t p = 0; p < v->m->problems; p++)
    sum += fmin(portfolio_cost(held[p]), PORTFOLIO_FAR_OFF);
  return sum;
}

static double least_cost(const struct validation *v) {
  double least = INFINITY;
  for (size_t leaves = 1; leaves <= v->leaves; leaves++) least = fmin(least, held_cost(v, leaves));
  return least;
}

/* Enables doubts if problems left out lose less with them, and sets `held` accordingly. */
static void choose_doubts(struct validation *v) {
  double *const with = v->held;
  const double cost = least_cost(v);
  v->held = v->trusts;
  v->doubts = cost < least_cost(v) - 1e-9;
  if (v->doubts)
    v->held = with;
  else
    v->trusts = with;
}

/* Marks the numbers of leaves that are nearly the best for problems left out; with few problems,
   all numbers. */
static void admit(const struct validation *v, bool *admitted) {
  const double least = least_cost(v);
  for (size_t leaves = 1; leaves <= v->leaves; leaves++)
    admitted[leaves] =
        v->m->problems < FEW || held_cost(v, leaves) <= least + slack * (double)v->m->problems;
}

/* ---- Learning from all problems ------------------------------------------------------------- */

static double tuned_cost(const struct service *s, const struct portfolio_tree *tree, size_t leaves,
                         bool doubts) {
  double sum = 0;
  for (size_t p = 0; p < s->m->problems; p++)
    sum += portfolio_cost(loss_of(s, p, portfolio_tree_says(tree, leaves, s->m, p), doubts));
  return sum;
}

/* Returns the fewest admitted leaves that serve the problems nearly as well as any admitted
   number. */
static size_t choose_leaves(const struct validation *v, const struct portfolio_tree *tree,
                            const struct service *service) {
  bool admitted[MOST_LEAVES + 1] = {false};
  double costs[MOST_LEAVES + 1], least = INFINITY;
  size_t leaves = 1;
  admit(v, admitted);
  for (size_t i = 1; i <= v->leaves; i++) {
    costs[i] = admitted[i] ? tuned_cost(service, tree, i, v->doubts) : (double)INFINITY;
    least = fmin(least, costs[i]);
  }
  while (leaves < v->leaves &&
         costs[leaves] > least + PORTFOLIO_NEGLIGIBLE * (double)v->m->problems)
    leaves++;
  return leaves;
}

static int learn_make_room(const struct portfolio_matrix *m, size_t kernels,
                           struct portfolio_learnt *out, cugen_error *err) {
  const size_t most = portfolio_most_variants(m, kernels);
  out->chosen = calloc(most + 1, sizeof *out->chosen);
  out->given = calloc(m->problems + 1, sizeof *out->given);
  out->tuned = calloc(m->problems + 1, sizeof *out->tuned);
  out->held = calloc(m->problems + 1, sizeof *out->held);
  out->times = calloc(most + 1, sizeof *out->times);
  out->most = most;
  return out->chosen && out->given && out->tuned && out->held && out->times ? CUGEN_OK
                                                                            : error_memory(err);
}

/* Removes the variants that no leaf names and that serve no problem of the matrix. The remaining
   variants keep their order. */
static void drop_unused(const struct portfolio_matrix *m, struct portfolio_tree *tree,
                        struct portfolio_formulas *formulas, struct portfolio_learnt *out) {
  size_t place[PORTFOLIO_MOST + 1], kept = 0;
  bool used[PORTFOLIO_MOST + 1] = {false};
  portfolio_tree_choices(tree, out->leaves, used);
  for (size_t p = 0; p < m->problems; p++)
    if (out->given[p] < out->count) used[out->given[p]] = true;
  for (size_t i = 0; i < out->count; i++) {
    place[i] = kept;
    if (!used[i]) continue;
    out->chosen[kept] = out->chosen[i];
    if (formulas->of) memmove(&formulas->of[kept], &formulas->of[i], sizeof *formulas->of);
    kept++;
  }
  place[out->count] = kept;
  for (size_t i = 0; i < tree->count; i++) tree->nodes[i].choice = place[tree->nodes[i].choice];
  for (size_t p = 0; p < m->problems; p++) out->given[p] = place[out->given[p]];
  out->count = kept;
}

/* ---- Exceptions ----------------------------------------------------------------------------- */

/* Of the problems that another chosen variant would serve faster by more than this factor, the rule
   names the MOST_EXCEPTIONS with the greatest gains. */
static const double bearable = 1.05;
enum { MOST_EXCEPTIONS = 32 };

struct exceptions {
  size_t at[MOST_EXCEPTIONS]; /* indices of problems */
  double gains[MOST_EXCEPTIONS];
  size_t count;
};

static size_t fastest_of(const struct portfolio_matrix *m, size_t problem, const size_t *chosen,
                         size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++) {
    const double ratio = portfolio_ratio(m, problem, chosen[i]),
                 least = portfolio_ratio(m, problem, chosen[best]);
    if (ratio < least || isnan(least)) best = i;
  }
  return best;
}

static void add_exception(struct exceptions *e, size_t problem, double gain) {
  size_t at = e->count < MOST_EXCEPTIONS ? e->count++ : MOST_EXCEPTIONS - 1;
  if (at == MOST_EXCEPTIONS - 1 && e->count == MOST_EXCEPTIONS && e->gains[at] >= gain) return;
  for (; at > 0 && e->gains[at - 1] < gain; at--)
    e->at[at] = e->at[at - 1], e->gains[at] = e->gains[at - 1];
  e->at[at] = problem;
  e->gains[at] = gain;
}

/* Finds the exceptions, and has their fastest variants serve them. A problem is no exception if its
   fastest variant would be doubted even if the rule named it. */
static void except(const struct service *s, struct portfolio_learnt *out, struct exceptions *e) {
  const struct portfolio_matrix *m = s->m;
  for (size_t p = 0; p < m->problems && m->sizes; p++) {
    const size_t best = fastest_of(m, p, out->chosen, out->count);
    const double ratio = portfolio_ratio(m, p, out->chosen[best]);
    const double gain = isnan(out->tuned[p]) ? INFINITY : out->tuned[p] / ratio;
    if (isfinite(ratio) && gain > bearable && served(s, p, best, out->doubted > 0) == best)
      add_exception(e, p, gain);
  }
  for (size_t i = 0; i < e->count; i++) {
    const size_t p = e->at[i], best = fastest_of(m, p, out->chosen, out->count);
    out->given[p] = best;
    out->tuned[p] = portfolio_ratio(m, p, out->chosen[best]);
  }
}

/* Prints "select(M == 64 and N == 1000, 3, ", to be followed by the rule. */
static void print_exceptions(const struct portfolio_matrix *m, const struct exceptions *e,
                             const struct portfolio_learnt *learnt, struct text *out) {
  for (size_t i = 0; i < e->count; i++) {
    const char *between = i ? "" : "select(";
    for (size_t s = 0; s < m->sizes; s++) {
      text_addf(out, "%s%s == %" PRId64, between, m->names[s], portfolio_value(m, e->at[i], s));
      between = " and ";
    }
    text_addf(out, ", %zu, ", learnt->given[e->at[i]]);
  }
}

/* ---- The rule ------------------------------------------------------------------------------- */

static int print_rule(const struct portfolio_matrix *m, const struct portfolio_tree *tree,
                      const struct portfolio_formulas *formulas,
                      const struct exceptions *exceptions, struct portfolio_learnt *out,
                      cugen_error *err) {
  bool failed = false;
  print_exceptions(m, exceptions, out, &out->rule);
  portfolio_tree_print(tree, out->leaves, m, out->count, &out->rule);
  if (exceptions->count) text_add_char(&out->rule, ')');
  for (size_t i = 0; i < out->count && formulas->of; i++) {
    portfolio_formula_print(&formulas->of[i][formulas->way], m, &out->times[i]);
    failed |= out->times[i].failed;
  }
  return failed || out->rule.failed ? error_memory(err) : CUGEN_OK;
}

static size_t count_kernels(const struct portfolio_matrix *m, const size_t *chosen, size_t count) {
  size_t kernels = 0;
  for (size_t i = 0; i < count; i++) {
    size_t same = 0;
    while (same < i && (!m->kernels || m->kernels[chosen[same]] != m->kernels[chosen[i]])) same++;
    kernels += same == i;
  }
  return kernels;
}

/* Finds which variant serves each problem by the tree and the formulas, and prints the rule. */
static int apply(const struct portfolio_matrix *m, const struct validation *v,
                 struct portfolio_tree *tree, struct portfolio_formulas *formulas,
                 struct portfolio_learnt *out, cugen_error *err) {
  struct exceptions exceptions = {.count = 0};
  const struct service service = {m, out->chosen, out->count, formulas};
  const size_t most = portfolio_tree_leaves(tree), wanted = choose_leaves(v, tree, &service);
  out->doubted = v->doubts ? PORTFOLIO_DOUBTED : 0;
  out->leaves = wanted < most ? wanted : most;
  for (size_t p = 0; p < m->problems; p++) {
    const size_t says = portfolio_tree_says(tree, out->leaves, m, p);
    out->given[p] = served(&service, p, says, v->doubts);
    out->tuned[p] = loss_of(&service, p, says, v->doubts);
  }
  out->alone_loss = sum_up(out->tuned, m->problems);
  if (m->problems > 1) except(&service, out, &exceptions);
  drop_unused(m, tree, formulas, out);
  out->kernels = count_kernels(m, out->chosen, out->count);
  return print_rule(m, tree, formulas, &exceptions, out, err);
}

static int learn_from_all(const struct portfolio_matrix *m, const struct validation *v,
                          struct portfolio_learnt *out, cugen_error *err) {
  struct portfolio_tree tree = {0};
  struct portfolio_formulas formulas = {0};
  int status = learn_choose(m, NULL, v->most, out->chosen, &out->count, err);
  if (status) return status;
  if (!out->count) {
    for (size_t p = 0; p < m->problems; p++) out->tuned[p] = NAN;
    return CUGEN_OK;
  }
  status = portfolio_formulas_fit(m, NULL, out->chosen, out->count, &formulas, err);
  if (!status)
    status = portfolio_tree_grow(m, NULL, out->chosen, out->count, formulas.honest, v->leaves,
                                 &tree, err);
  if (!status) status = apply(m, v, &tree, &formulas, out, err);
  portfolio_tree_free(&tree);
  portfolio_formulas_free(&formulas);
  return status;
}

/* One or two problems are too few to leave any out. */
static void learn_sum_losses(const struct validation *v, struct portfolio_learnt *out) {
  const size_t problems = v->m->problems, leaves = out->leaves ? out->leaves : 1;
  for (size_t p = 0; p < problems; p++)
    out->held[p] = problems > 2 && out->count ? v->held[(leaves - 1) * problems + p] : (double)NAN;
  out->tuned_loss = sum_up(out->tuned, problems);
  out->held_loss = sum_up(out->held, problems);
  for (size_t p = 0; p < problems; p++) {
    out->tuned_loss.missed += out->given[p] == out->count;
    out->held_loss.missed += out->count && v->missed[p];
  }
}

int portfolio_learn(const struct portfolio_matrix *m, size_t most, struct portfolio_learnt *out,
                    cugen_error *err) {
  struct validation v;
  *out = (struct portfolio_learnt){0};
  int status = open_validation(&v, m, most, err);
  if (!status) status = learn_make_room(m, most, out, err);
  if (!status && m->problems > 2) portfolio_deal(m->problems, v.folds, 1, v.fold);
  for (size_t fold = 0; fold < v.folds && m->problems > 2 && !status; fold++)
    status = run_fold(&v, fold, err);
  if (!status && m->problems > 2) choose_doubts(&v);
  if (!status) status = learn_from_all(m, &v, out, err);
  if (!status) learn_sum_losses(&v, out);
  close_validation(&v);
  return status;
}

void portfolio_learnt_free(struct portfolio_learnt *learnt) {
  free(learnt->chosen);
  free(learnt->given);
  free(learnt->tuned);
  free(learnt->held);
  for (size_t i = 0; i < learnt->most && learnt->times; i++) text_free(&learnt->times[i]);
  free(learnt->times);
  text_free(&learnt->rule);
  *learnt = (struct portfolio_learnt){0};
}
