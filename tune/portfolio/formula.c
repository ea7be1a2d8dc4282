/* Fits formulas of time; see formula.h.

   The model: a kernel cuts one or two sizes into tiles, one for each block, and as many blocks run
   at a time as there are multiprocessors. The time is a sum of terms. A constant, the waves of
   tiles (rounded up, and as a fraction) and the tiles are terms, each alone and times the sizes
   that are not cut, which are the steps of a block. The other terms are the bytes of the operands.
   No term takes negative time, so the sum is fitted by least squares of the relative error with
   coefficients that are not negative (NNLS; Lawson and Hanson, Solving Least Squares Problems,
   1974). The sizes that are cut, and the sizes of the tiles, are those of the best fit. A ridge
   regression attributes the logarithm of what is left over to sizes that are no multiples of 2 or
   8, where accesses are narrow.

   A valid variant that was not measured on a problem was most likely left out because it was slow.
   The variant counts as 75 % slower than the best, with half the weight. */
#include "formula.h"

#include <stdlib.h>
#include <string.h>

#include "base/value.h"
#include "features.h"

enum { LEAST_KNOWN = 3, MOST_UNKNOWNS = FORMULA_MOST_RAGGED + 1 };

static const double unknown_ratio = 1.75, unknown_weight = 0.5, ridge = 1, intercept_ridge = 1e-3;
static const int64_t tile_sizes[] = {1, 16, 32, 64, 96, 128, 192, 256};
enum { TILE_SIZES = sizeof tile_sizes / sizeof *tile_sizes };

/* ---- Terms ---------------------------------------------------------------------------------- */

/* Factors of a term, as bits. */
enum {
  WAVES = 1,  /* waves of tiles, rounded up */
  FILLED = 2, /* waves of tiles as a fraction, but at least one */
  TILES = 4,
  SIZE_A = 8, /* the sizes that are cut */
  SIZE_B = 16,
  REST = 32, /* the product of the other sizes */
  BLOCKS = WAVES | FILLED | TILES
};
/* The factors of each term. Terms with equal factors of BLOCKS are adjacent. */
static const int term_factors[FORMULA_TERMS] = {
    0,      REST,          SIZE_A | SIZE_B, SIZE_A | REST, SIZE_B | REST, WAVES, WAVES | REST,
    FILLED, FILLED | REST, TILES,           TILES | REST,
};

/* Returns true if the term is to be fitted. Without a second cut size, or without other sizes, some
   terms would equal others. */
static bool term_is_asked(const struct portfolio_formula *f, size_t term) {
  const int factors = term_factors[term];
  if ((factors & REST) && !f->rest) return false;
  return f->b != PORTFOLIO_NO_SIZE || factors != (SIZE_B | REST);
}

static double tiles_of(int64_t size, int64_t tile) {
  const int64_t whole = size / tile, rest = size % tile > 0;
  return (double)(whole + rest);
}

/* Multiplies the value by those of the factors that are sizes. */
static double times_sizes(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                          int factors, const int64_t *sizes, double value) {
  if (factors & SIZE_A) value *= (double)sizes[f->a];
  if (factors & SIZE_B && f->b != PORTFOLIO_NO_SIZE) value *= (double)sizes[f->b];
  for (size_t s = 0; s < m->sizes && factors & REST; s++)
    if (f->rest >> s & 1) value *= (double)sizes[s];
  return value;
}

/* Returns the value of the factor that is in BLOCKS: waves, a fraction of waves, or tiles. */
static double formula_blocks_of(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                                int factors, const int64_t *sizes) {
  const double units = m->multiprocessors > 0 ? (double)m->multiprocessors : 1;
  double tiles = tiles_of(sizes[f->a], f->tile_a);
  if (f->b != PORTFOLIO_NO_SIZE) tiles *= tiles_of(sizes[f->b], f->tile_b);
  if (factors & WAVES) return ceil(tiles / units);
  return factors & FILLED ? fmax(tiles / units, 1) : tiles;
}

static double term_times(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                         size_t term, const int64_t *sizes, double value) {
  const int factors = term_factors[term];
  if (factors & BLOCKS) value *= formula_blocks_of(f, m, factors, sizes);
  return times_sizes(f, m, factors, sizes, value);
}

static bool is_ragged(const struct portfolio_ragged *ragged, const int64_t *sizes) {
  for (size_t s = 0; s < 64 && ragged->sizes >> s; s++)
    if (ragged->sizes >> s & 1 && sizes[s] % ragged->of != 0) return true;
  return false;
}

/* Sums up the terms, from *term on, that have equal factors of BLOCKS, without these factors. *term
   moves behind the terms. The terms are added in the order of the printed formula, so that the sum
   equals its value. */
static double sum_group(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                        const int64_t *sizes, size_t *term) {
  const int blocks = term_factors[*term] & BLOCKS;
  double sum = 0;
  for (; *term < FORMULA_TERMS && (term_factors[*term] & BLOCKS) == blocks; ++*term)
    if (f->terms[*term] > 0) sum += times_sizes(f, m, term_factors[*term], sizes, f->terms[*term]);
  return sum;
}

double portfolio_formula_of(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                            const int64_t *sizes) {
  double sum = 0;
  if (!f->known) return INFINITY;
  for (size_t t = 0; t < FORMULA_TERMS;) {
    const int blocks = term_factors[t] & BLOCKS;
    const double group = sum_group(f, m, sizes, &t);
    sum += blocks && group > 0 ? formula_blocks_of(f, m, blocks, sizes) * group : group;
  }
  for (size_t i = 0; i < f->ragged_count; i++)
    if (is_ragged(&f->ragged[i], sizes)) sum *= f->ragged[i].factor;
  return sum;
}

/* ---- Linear systems ------------------------------------------------------------------------- */

/* Solves a x = b by Cholesky's method for the unknowns that are taken; the other unknowns become 0.
   a is symmetric and positive definite. Returns false if a is singular. */
static bool solve(size_t count, double a[][MOST_UNKNOWNS], const double *b, const bool *taken,
                  double *x) {
  double l[MOST_UNKNOWNS][MOST_UNKNOWNS], y[MOST_UNKNOWNS];
  size_t at[MOST_UNKNOWNS], n = 0;
  for (size_t i = 0; i < count; i++) x[i] = 0;
  for (size_t i = 0; i < count; i++)
    if (taken[i]) at[n++] = i;
  for (size_t i = 0; i < n; i++) {
    for (size_t k = 0; k <= i; k++) {
      double sum = a[at[i]][at[k]];
      for (size_t j = 0; j < k; j++) sum -= l[i][j] * l[k][j];
      if (i == k && !(sum > 0)) return false;
      l[i][k] = i == k ? sqrt(sum) : sum / l[k][k];
    }
    y[i] = b[at[i]];
    for (size_t j = 0; j < i; j++) y[i] -= l[i][j] * y[j];
    y[i] /= l[i][i];
  }
  for (size_t i = n; i > 0; i--) {
    for (size_t j = i; j < n; j++) y[i - 1] -= l[j][i - 1] * x[at[j]];
    x[at[i - 1]] = y[i - 1] / l[i - 1][i - 1];
  }
  return true;
}

/* Returns the unknown that would lower the error most if it rose from 0; count: none would. */
static size_t most_wanted(size_t count, double a[][MOST_UNKNOWNS], const double *b,
                          const bool *taken, const double *x) {
  double most = 1e-9;
  size_t wanted = count;
  for (size_t i = 0; i < count; i++) {
    double gradient = b[i];
    for (size_t k = 0; k < count; k++) gradient -= a[i][k] * x[k];
    if (!taken[i] && a[i][i] > 0 && gradient > most) most = gradient, wanted = i;
  }
  return wanted;
}

/* Moves x towards z until an unknown becomes 0, which is then not taken any more. Returns whether
   an unknown was removed. */
static bool step_back(size_t count, bool *taken, double *x, const double *z) {
  double step = 1;
  for (size_t i = 0; i < count; i++)
    if (taken[i] && z[i] <= 0) step = fmin(step, x[i] / (x[i] - z[i] + 1e-300));
  for (size_t i = 0; i < count; i++) x[i] += step * (z[i] - x[i]);
  if (step >= 1) return false;
  for (size_t i = 0; i < count; i++)
    if (taken[i] && x[i] <= 1e-12) taken[i] = false, x[i] = 0;
  return true;
}

/* Finds the x >= 0 of least squares, given the normal equations a x = b, whose diagonal is scaled
   to about 1. */
static void solve_positive(size_t count, double a[][MOST_UNKNOWNS], const double *b, double *x) {
  bool taken[MOST_UNKNOWNS] = {false};
  double z[MOST_UNKNOWNS];
  for (size_t i = 0; i < count; i++) x[i] = 0;
  for (size_t round = 0; round < 3 * count; round++) {
    const size_t wanted = most_wanted(count, a, b, taken, x);
    if (wanted == count) return;
    taken[wanted] = true;
    do
      if (!solve(count, a, b, taken, z)) return;
    while (step_back(count, taken, x, z));
  }
}

/* ---- Fitting -------------------------------------------------------------------------------- */

struct fitter {
  const struct portfolio_matrix *m;
  size_t rows;
  size_t *problems; /* problems of the rows */
  double *times;    /* times to be fitted */
  double *weights;  /* squared weights */
  double *factors;  /* the constant times the row's ragged factors of fit_ragged; 1 before */
};

/* Lists the problems whose time is known or assumed. Returns how many times are known. */
static size_t formula_list_rows(struct fitter *f, const bool *rows, size_t variant) {
  size_t known = 0;
  for (size_t p = 0; p < f->m->problems; p++) {
    const double ratio = portfolio_ratio(f->m, p, variant), best = f->m->best ? f->m->best[p] : 1;
    if ((rows && !rows[p]) || isinf(ratio) || !(best > 0) || isinf(best)) continue;
    f->problems[f->rows] = p;
    f->times[f->rows] = best * (isnan(ratio) ? unknown_ratio : ratio);
    f->weights[f->rows] = isnan(ratio) ? unknown_weight * unknown_weight : 1;
    f->factors[f->rows++] = 1;
    known += isnan(ratio) ? 0 : 1;
  }
  return known;
}

static const int64_t *sizes_of(const struct fitter *f, size_t row) {
  return &f->m->values[f->problems[row] * f->m->sizes];
}

/* Fits the coefficients of the terms, with the tiles that *out has, to the times divided by
   f->factors, the factors of ragged sizes. Returns the weighted sum of squares of the relative
   errors. */
static double fit_terms(const struct fitter *f, struct portfolio_formula *out) {
  double a[MOST_UNKNOWNS][MOST_UNKNOWNS] = {{0}}, b[MOST_UNKNOWNS] = {0}, x[MOST_UNKNOWNS],
         scale[FORMULA_TERMS];
  double error = 0;
  for (size_t r = 0; r < f->rows; r++) {
    double value[FORMULA_TERMS] = {0};
    for (size_t t = 0; t < FORMULA_TERMS; t++)
      if (term_is_asked(out, t))
        value[t] = term_times(out, f->m, t, sizes_of(f, r), f->factors[r] / f->times[r]);
    for (size_t t = 0; t < FORMULA_TERMS; t++) {
      b[t] += f->weights[r] * value[t];
      for (size_t k = 0; k <= t; k++) a[t][k] += f->weights[r] * value[t] * value[k];
    }
    error += f->weights[r];
  }
  for (size_t t = 0; t < FORMULA_TERMS; t++) scale[t] = a[t][t] > 0 ? 1 / sqrt(a[t][t]) : 0;
  for (size_t t = 0; t < FORMULA_TERMS; t++) {
    b[t] *= scale[t];
    for (size_t k = 0; k <= t; k++)
      a[k][t] = a[t][k] = a[t][k] * scale[t] * scale[k] + (t == k ? 1e-9 : 0);
  }
  solve_positive(FORMULA_TERMS, a, b, x);
  for (size_t t = 0; t < FORMULA_TERMS; t++) {
    error -= 2 * b[t] * x[t];
    for (size_t k = 0; k < FORMULA_TERMS; k++) error += a[t][k] * x[t] * x[k];
    out->terms[t] = x[t] * scale[t];
  }
  return error;
}

static void try_tiles(const struct fitter *f, struct portfolio_formula tried, uint64_t differ,
                      struct portfolio_formula *best, double *least) {
  tried.rest = differ & ~(UINT64_C(1) << tried.a);
  if (tried.b != PORTFOLIO_NO_SIZE) tried.rest &= ~(UINT64_C(1) << tried.b);
  const double error = fit_terms(f, &tried);
  if (error < *least - 1e-12) *least = error, *best = tried;
}

/* Finds the tiles that fit best, over each single size and each pair of sizes. */
static void fit_tiles(const struct fitter *f, const size_t *sizes, size_t count,
                      struct portfolio_formula *out) {
  double least = INFINITY;
  uint64_t differ = 0;
  struct portfolio_formula tried = *out;
  for (size_t i = 0; i < count; i++) differ |= UINT64_C(1) << sizes[i];
  for (size_t i = 0; i < count; i++)
    for (size_t t = 0; t < TILE_SIZES; t++) {
      tried.a = sizes[i], tried.tile_a = tile_sizes[t], tried.b = PORTFOLIO_NO_SIZE,
      tried.tile_b = 1;
      try_tiles(f, tried, differ, out, &least);
      for (size_t k = i + 1; k < count && t > 0; k++)
        for (size_t u = 1; u < TILE_SIZES; u++) {
          tried.b = sizes[k], tried.tile_b = tile_sizes[u];
          try_tiles(f, tried, differ, out, &least);
        }
    }
}

/* ---- Ragged sizes --------------------------------------------------------------------------- */

/* Adds the condition if it holds for some rows and not for others. */
static void add_ragged(const struct fitter *f, uint64_t sizes, int of,
                       struct portfolio_formula *out) {
  const struct portfolio_ragged ragged = {sizes, of, 1};
  size_t are = 0;
  for (size_t r = 0; r < f->rows; r++) are += is_ragged(&ragged, sizes_of(f, r));
  if (are && are < f->rows) out->ragged[out->ragged_count++] = ragged;
}

static void list_ragged(const struct fitter *f, const size_t *sizes, size_t count,
                        struct portfolio_formula *out) {
  uint64_t each = 0;
  for (size_t i = 0; i < count; i++) {
    const uint64_t own = UINT64_C(1) << sizes[i];
    const size_t before = out->ragged_count;
    add_ragged(f, own, 8, out);
    if (out->ragged_count > before) each |= own;
    add_ragged(f, own, 2, out);
  }
  if (each & (each - 1)) add_ragged(f, each, 8, out);
}

/* Fits the factors of ragged sizes by ridge regression to the quotients of times and sums of terms.
   The constant of the regression is multiplied into the terms. Returns false if the regression has
   no solution. */
static bool fit_ragged(struct fitter *f, struct portfolio_formula *out) {
  double a[MOST_UNKNOWNS][MOST_UNKNOWNS] = {{0}}, b[MOST_UNKNOWNS] = {0}, x[MOST_UNKNOWNS];
  bool taken[MOST_UNKNOWNS];
  const size_t count = out->ragged_count + 1;
  for (size_t i = 0; i < out->ragged_count; i++) out->ragged[i].factor = 1;
  for (size_t r = 0; r < f->rows; r++) {
    double value[MOST_UNKNOWNS] = {1};
    const double sum = portfolio_formula_of(out, f->m, sizes_of(f, r));
    const double left = log(f->times[r] / fmax(sum, 1e-9 * f->times[r]));
    for (size_t i = 1; i < count; i++)
      value[i] = is_ragged(&out->ragged[i - 1], sizes_of(f, r)) ? 0.5 : -0.5;
    for (size_t i = 0; i < count; i++) {
      b[i] += f->weights[r] * value[i] * left;
      for (size_t k = 0; k < count; k++) a[i][k] += f->weights[r] * value[i] * value[k];
    }
  }
  for (size_t i = 0; i < count; i++) taken[i] = true, a[i][i] += i ? ridge : intercept_ridge;
  if (!solve(count, a, b, taken, x)) return false;
  double constant = x[0];
  for (size_t i = 1; i < count; i++) out->ragged[i - 1].factor = exp(x[i]), constant -= 0.5 * x[i];
  for (size_t t = 0; t < FORMULA_TERMS; t++) out->terms[t] *= exp(constant);
  for (size_t r = 0; r < f->rows; r++) {
    f->factors[r] = exp(constant);
    for (size_t i = 0; i < out->ragged_count; i++)
      if (is_ragged(&out->ragged[i], sizes_of(f, r))) f->factors[r] *= out->ragged[i].factor;
  }
  return true;
}

/* ---- As it is printed ----------------------------------------------------------------------- */

/* Rounds to four digits; up to 1e-18 gives 0, and above 1e15 gives 1e15. The result is a product or
   a quotient of two numbers that are exact, so that the printed decimal number reads back as
   exactly this double. */
static double round_off(double value) {
  int digits = 3;
  double power = 1;
  if (!(value > 1e-18) || value > 1e15) return value > 1e15 ? 1e15 : 0;
  digits -= (int)floor(log10(value));
  for (int i = 0; i < abs(digits); i++) power *= 10;
  return digits < 0 ? round(value / power) * power : round(value * power) / power;
}

/* Look-ups parse the printed formula, so that it is kept short: terms of at most least_share of the
   time on every problem, and factors that differ from 1 by at most least_factor, are left out. */
static const double least_share = 0.005, least_factor = 0.01;

static void round_all(const struct fitter *f, struct portfolio_formula *formula) {
  size_t kept = 0;
  for (size_t t = 0; t < FORMULA_TERMS; t++) {
    bool matters = false;
    for (size_t r = 0; r < f->rows && !matters; r++)
      matters = term_times(formula, f->m, t, sizes_of(f, r), formula->terms[t]) >
                least_share * portfolio_formula_of(formula, f->m, sizes_of(f, r));
    formula->terms[t] = matters ? round_off(formula->terms[t]) : 0;
  }
  for (size_t i = 0; i < formula->ragged_count; i++) {
    formula->ragged[i].factor = round_off(formula->ragged[i].factor);
    if (fabs(formula->ragged[i].factor - 1) > least_factor)
      formula->ragged[kept++] = formula->ragged[i];
  }
  formula->ragged_count = kept;
}

static void formula_print_number(double value, struct text *out) {
  value_print(value_float(value), out);
}

static void print_blocks(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                         int factors, struct text *out) {
  const long long units = m->multiprocessors > 0 ? m->multiprocessors : 1;
  text_add(out, factors & WAVES ? "ceil_div(" : factors & FILLED ? "max(" : "");
  text_addf(out, "ceil_div(%s, %lld)", m->names[f->a], (long long)f->tile_a);
  if (f->b != PORTFOLIO_NO_SIZE)
    text_addf(out, " * ceil_div(%s, %lld)", m->names[f->b], (long long)f->tile_b);
  if (factors & WAVES) text_addf(out, ", %lld)", units);
  if (factors & FILLED) text_addf(out, " / %lld.0, 1.0)", units);
}

static void print_term(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                       size_t term, struct text *out) {
  const int factors = term_factors[term];
  formula_print_number(f->terms[term], out);
  if (factors & SIZE_A) text_addf(out, " * %s", m->names[f->a]);
  if (factors & SIZE_B && f->b != PORTFOLIO_NO_SIZE) text_addf(out, " * %s", m->names[f->b]);
  for (size_t s = 0; s < m->sizes && factors & REST; s++)
    if (f->rest >> s & 1) text_addf(out, " * %s", m->names[s]);
}

/* Prints the terms that sum_group adds up. *between: text that separates these terms from the
   preceding text. */
static void print_group(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                        size_t *term, const char **between, struct text *out) {
  const int blocks = term_factors[*term] & BLOCKS;
  const char *first = blocks ? "" : *between;
  bool any = false;
  for (; *term < FORMULA_TERMS && (term_factors[*term] & BLOCKS) == blocks; ++*term) {
    if (!(f->terms[*term] > 0)) continue;
    if (!any && blocks) {
      text_add(out, *between);
      print_blocks(f, m, blocks, out);
      text_add(out, " * (");
    }
    text_add(out, any ? " + " : first);
    print_term(f, m, *term, out);
    any = true;
  }
  if (any && blocks) text_add_char(out, ')');
  if (any) *between = " + ";
}

void portfolio_formula_print(const struct portfolio_formula *f, const struct portfolio_matrix *m,
                             struct text *out) {
  const char *between = "";
  if (!f->known) return;
  text_add(out, f->ragged_count ? "(" : "");
  for (size_t t = 0; t < FORMULA_TERMS;) print_group(f, m, &t, &between, out);
  if (!*between) text_add(out, "0.0");
  text_add(out, f->ragged_count ? ")" : "");
  for (size_t i = 0; i < f->ragged_count; i++) {
    text_add(out, " * select(");
    portfolio_print_multiples(f->ragged[i].sizes, f->ragged[i].of, m, out);
    text_add(out, ", ");
    formula_print_number(f->ragged[i].factor, out);
    text_add(out, ", 1.0)");
  }
}

/* ---- Fitting and evaluating ----------------------------------------------------------------- */

/* Lists the first FORMULA_MOST_SIZES sizes that differ between problems. */
static size_t list_sizes(const struct fitter *f, size_t *out) {
  size_t count = 0;
  for (size_t s = 0; s < f->m->sizes && s < 64 && count < FORMULA_MOST_SIZES; s++)
    for (size_t r = 1; r < f->rows; r++) {
      if (sizes_of(f, r)[s] == sizes_of(f, 0)[s]) continue;
      out[count++] = s;
      break;
    }
  return count;
}

static void formula_fit(struct fitter *f, struct portfolio_formula out[FORMULA_WAYS]) {
  size_t sizes[FORMULA_MOST_SIZES];
  const size_t count = list_sizes(f, sizes);
  struct portfolio_formula formula = {0};
  if (!count) return;
  formula.known = true;
  fit_tiles(f, sizes, count, &formula);
  list_ragged(f, sizes, count, &formula);
  for (size_t way = 0; way < FORMULA_WAYS; way++) {
    if (way) fit_terms(f, &formula);
    if (!fit_ragged(f, &formula)) return;
    out[way] = formula;
    round_all(f, &out[way]);
  }
}

int portfolio_formula_fit(const struct portfolio_matrix *m, const bool *rows, size_t variant,
                          struct portfolio_formula out[FORMULA_WAYS], cugen_error *err) {
  double *numbers = calloc(3 * m->problems + 1, sizeof *numbers);
  size_t *problems = calloc(m->problems + 1, sizeof *problems);
  struct fitter f = {.m = m, .problems = problems};
  for (size_t way = 0; way < FORMULA_WAYS; way++) out[way] = (struct portfolio_formula){0};
  if (numbers && problems) {
    f.times = numbers, f.weights = numbers + m->problems, f.factors = numbers + 2 * m->problems;
    if (formula_list_rows(&f, rows, variant) >= LEAST_KNOWN) formula_fit(&f, out);
  }
  const bool good = numbers && problems;
  free(numbers);
  free(problems);
  return good ? CUGEN_OK : error_memory(err);
}
