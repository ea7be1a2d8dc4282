/* The formulas of all variants of a portfolio; see formulas.h.

   A cross-validation decides which way of fitting is better for problems that were not measured,
   and what a problem costs if the variant of the least formula serves it: each fifth of the
   problems is left out in turn, and formulas fitted to the other problems choose the variants for
   the problems left out. */
#include "formulas.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { PARTS = 5, FEW = 16 }; /* FEW: with fewer problems there are no formulas */

void portfolio_deal(size_t count, size_t parts, uint64_t seed, size_t *part) {
  uint64_t state = seed;
  for (size_t i = 0; i < count; i++) part[i] = i % parts;
  for (size_t i = count; i > 1; i--) {
    const size_t other = random_next(&state) % i, swapped = part[i - 1];
    part[i - 1] = part[other];
    part[other] = swapped;
  }
}

struct fitting {
  const struct portfolio_matrix *m;
  const size_t *chosen;
  size_t count;
  struct portfolio_formula (*of)[FORMULA_WAYS];
};

static int fit_all(const struct fitting *f, const bool *rows, cugen_error *err) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < f->count && !status; i++)
    status = portfolio_formula_fit(f->m, rows, f->chosen[i], f->of[i], err);
  return status;
}

/* Returns the index in `chosen` of the valid variant of the least formula, or f->count if no chosen
   variant is valid. Variants without a formula come last; of variants with equal formulas the first
   is taken. */
static size_t find_least(const struct fitting *f, size_t problem, size_t way) {
  size_t best = f->count;
  double least = INFINITY;
  for (size_t i = 0; i < f->count; i++) {
    if (isinf(portfolio_ratio(f->m, problem, f->chosen[i]))) continue;
    const double value =
        portfolio_formula_of(&f->of[i][way], f->m, &f->m->values[problem * f->m->sizes]);
    if (best < f->count && !(value < least)) continue;
    best = i, least = value;
  }
  return best;
}

/* Returns the cost of the problem if the chosen variant `given` serves it, at most
   PORTFOLIO_FAR_OFF. */
static double formulas_cost_of(const struct fitting *f, size_t problem, size_t given) {
  const double ratio =
      given < f->count ? portfolio_ratio(f->m, problem, f->chosen[given]) : (double)NAN;
  return fmin(portfolio_cost(ratio), PORTFOLIO_FAR_OFF);
}

/* Sets honest[way * problems + problem] for the problems of rows, and *best to the way of fitting
   that costs these problems least. part and others are scratch, by problem. */
static int validate(const struct fitting *f, const bool *rows, size_t *honest, size_t *part,
                    bool *others, size_t *best, cugen_error *err) {
  const size_t problems = f->m->problems;
  double sums[FORMULA_WAYS] = {0};
  int status = CUGEN_OK;
  portfolio_deal(problems, PARTS, 2, part);
  for (size_t z = 0; z < PARTS && !status; z++) {
    for (size_t p = 0; p < problems; p++) others[p] = (!rows || rows[p]) && part[p] != z;
    status = fit_all(f, others, err);
    for (size_t p = 0; p < problems && !status; p++)
      for (size_t way = 0; way < FORMULA_WAYS && (!rows || rows[p]) && part[p] == z; way++) {
        honest[way * problems + p] = find_least(f, p, way);
        sums[way] += formulas_cost_of(f, p, honest[way * problems + p]);
      }
  }
  *best = 0;
  for (size_t way = 1; way < FORMULA_WAYS; way++)
    if (sums[way] < sums[*best]) *best = way;
  return status;
}

/* Returns true if a size is named "least", which would change the meaning of "least" in a rule. */
static bool has_size_least(const struct portfolio_matrix *m) {
  for (size_t s = 0; s < m->sizes; s++)
    if (strcmp(m->names[s], "least") == 0) return true;
  return false;
}

int portfolio_formulas_fit(const struct portfolio_matrix *m, const bool *rows, const size_t *chosen,
                           size_t count, struct portfolio_formulas *out, cugen_error *err) {
  size_t problems = 0;
  *out = (struct portfolio_formulas){0};
  for (size_t p = 0; p < m->problems; p++) problems += !rows || rows[p];
  if (problems < FEW || !m->sizes || has_size_least(m)) return CUGEN_OK;
  out->of = calloc(count + 1, sizeof *out->of);
  out->least = calloc(m->problems + 1, sizeof *out->least);
  out->honest = calloc(m->problems + 1, sizeof *out->honest);
  size_t *honest = calloc(FORMULA_WAYS * m->problems + 1, sizeof *honest);
  size_t *part = calloc(m->problems + 1, sizeof *part);
  bool *others = calloc(m->problems + 1, sizeof *others);
  const bool good = out->of && out->least && out->honest && honest && part && others;
  const struct fitting f = {m, chosen, count, out->of};
  int status = good ? validate(&f, rows, honest, part, others, &out->way, err) : error_memory(err);
  if (!status) status = fit_all(&f, rows, err);
  for (size_t p = 0; p < m->problems && !status; p++) {
    out->least[p] = find_least(&f, p, out->way);
    out->honest[p] = !rows || rows[p] ? honest[out->way * m->problems + p] : out->least[p];
  }
  free(honest);
  free(part);
  free(others);
  return status;
}

void portfolio_formulas_free(struct portfolio_formulas *formulas) {
  free(formulas->of);
  free(formulas->least);
  free(formulas->honest);
  *formulas = (struct portfolio_formulas){0};
}
