/* Chooses the variants of a portfolio; see choose.h.

   The choice is the k-median problem: choose k columns (variants) so that the sum over the rows
   (problems) of each row's least cost is least (Kariv and Hakimi 1979, NP-hard). A variant that
   another one equals or beats on every problem is not needed and is removed first. If few
   combinations of the remaining variants are possible, all are tried. Otherwise the greedy choice
   (Nemhauser, Wolsey, Fisher 1978) and some random choices are improved by exchanging one variant
   for another until no exchange gains anything (Teitz and Bart 1968).

   Variants that launch one compiled kernel in several ways count once. So kernels are chosen first,
   each as good as its best variant. Then some variants of the chosen kernels are chosen in the same
   way. */
#include "choose.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Most steps of an exact search; so many steps take about 50 ms. */
static const double most_exact = 2e7;

enum {
  WAYS = 3,      /* most variants of a chosen kernel, on average */
  BEGINNINGS = 8 /* random beginnings of the choice by exchange */
};

struct chooser {
  size_t rows, columns;
  double *costs; /* [row * columns + column] */
  /* The variant of each column, in rising order; if columns are kernels, each kernel's first
     variant. */
  size_t *variants;
  size_t most;
  size_t *chosen; /* indices of columns */
  size_t count;
  double sum;
  double *rest; /* scratch of fill_rest, by row */
};

static double sum_of(const struct chooser *c, const size_t *columns, size_t count) {
  double sum = 0;
  for (size_t r = 0; r < c->rows; r++) {
    double least = PORTFOLIO_UNSERVED;
    for (size_t i = 0; i < count; i++) least = fmin(least, c->costs[r * c->columns + columns[i]]);
    sum += least;
  }
  return sum;
}

/* ---- Variants that may be needed ------------------------------------------------------------ */

static bool serves_any(const struct portfolio_matrix *m, const bool *rows, size_t variant) {
  for (size_t p = 0; p < m->problems; p++)
    if ((!rows || rows[p]) && isfinite(portfolio_ratio(m, p, variant))) return true;
  return false;
}

static double ratio_or_worst(const struct portfolio_matrix *m, size_t problem, size_t variant) {
  const double ratio = portfolio_ratio(m, problem, variant);
  return isfinite(ratio) ? ratio : (double)INFINITY;
}

/* Returns true if `other` is at least as good as `variant` on every problem. Of two equal variants,
   the first one beats the second one. */
static bool beats(const struct portfolio_matrix *m, const bool *rows, size_t other,
                  size_t variant) {
  bool better = false;
  for (size_t p = 0; p < m->problems; p++) {
    if (rows && !rows[p]) continue;
    const double a = ratio_or_worst(m, p, other), b = ratio_or_worst(m, p, variant);
    if (a > b) return false;
    better |= a < b;
  }
  return better || other < variant;
}

static bool choose_is_beaten(const struct portfolio_matrix *m, const bool *rows,
                             const bool *dropped, size_t variant) {
  for (size_t other = 0; other < m->variants; other++)
    if (other != variant && !dropped[other] && beats(m, rows, other, variant)) return true;
  return false;
}

/* Sets dropped[v] to whether variant v is not needed. Returns how many variants are left. */
static size_t drop_needless(const struct portfolio_matrix *m, const bool *rows, bool *dropped) {
  size_t left = m->variants;
  for (size_t v = 0; v < m->variants; v++) dropped[v] = !serves_any(m, rows, v);
  for (size_t v = 0; v < m->variants; v++)
    dropped[v] = dropped[v] || choose_is_beaten(m, rows, dropped, v);
  for (size_t v = 0; v < m->variants; v++) left -= dropped[v];
  return left;
}

static void fill_costs(struct chooser *c, const struct portfolio_matrix *m, const bool *rows) {
  size_t at = 0;
  for (size_t p = 0; p < m->problems; p++) {
    if (rows && !rows[p]) continue;
    for (size_t i = 0; i < c->columns; i++)
      c->costs[at++] = portfolio_choice_cost(portfolio_ratio(m, p, c->variants[i]));
  }
}

static int choose_allocate(struct chooser *c, size_t rows, size_t columns, size_t most,
                           cugen_error *err) {
  *c = (struct chooser){.rows = rows, .columns = columns, .most = most < columns ? most : columns};
  c->costs = calloc(rows * columns + 1, sizeof *c->costs);
  c->variants = calloc(columns ? columns : 1, sizeof *c->variants);
  c->chosen = calloc(c->most ? c->most : 1, sizeof *c->chosen);
  c->rest = calloc(rows + 1, sizeof *c->rest);
  return c->costs && c->variants && c->chosen && c->rest ? CUGEN_OK : error_memory(err);
}

/* Call chooser_close even after an error. */
static int chooser_open(struct chooser *c, const struct portfolio_matrix *m, const bool *rows,
                        size_t most, cugen_error *err) {
  size_t count = 0;
  *c = (struct chooser){0};
  for (size_t p = 0; p < m->problems; p++) count += !rows || rows[p];
  bool *dropped = calloc(m->variants + 1, sizeof *dropped);
  if (!dropped) return error_memory(err);
  const int status = choose_allocate(c, count, drop_needless(m, rows, dropped), most, err);
  for (size_t v = 0, at = 0; !status && v < m->variants; v++)
    if (!dropped[v]) c->variants[at++] = v;
  if (!status) fill_costs(c, m, rows);
  free(dropped);
  return status;
}

static void chooser_close(struct chooser *c) {
  free(c->costs);
  free(c->variants);
  free(c->chosen);
  free(c->rest);
}

/* ---- The exact choice ----------------------------------------------------------------------- */

static double combinations(size_t of, size_t count) {
  double product = 1;
  for (size_t i = 0; i < count; i++) product *= (double)(of - i) / (double)(i + 1);
  return product;
}

/* Moves `at` to the next combination of `count` out of `of`, in lexicographic order; returns false
   after the last one. */
static bool next_combination(size_t *at, size_t count, size_t of) {
  size_t i = count;
  while (i > 0 && at[i - 1] == of - count + i - 1) i--;
  if (i == 0) return false;
  at[i - 1]++;
  for (; i < count; i++) at[i] = at[i - 1] + 1;
  return true;
}

static int choose_exactly(struct chooser *c, cugen_error *err) {
  size_t *at = calloc(c->most + 1, sizeof *at);
  if (!at) return error_memory(err);
  for (size_t i = 0; i < c->most; i++) at[i] = i;
  c->count = c->most;
  c->sum = INFINITY;
  do {
    const double sum = sum_of(c, at, c->most);
    if (sum >= c->sum) continue;
    c->sum = sum;
    memcpy(c->chosen, at, c->most * sizeof *at);
  } while (next_combination(at, c->most, c->columns));
  free(at);
  return CUGEN_OK;
}

/* ---- The choice by exchange ----------------------------------------------------------------- */

/* Sets rest[row] to the least cost of the chosen columns other than the one at `place`. */
static void fill_rest(struct chooser *c, size_t place) {
  for (size_t r = 0; r < c->rows; r++) {
    c->rest[r] = PORTFOLIO_UNSERVED;
    for (size_t i = 0; i < c->count; i++)
      if (i != place) c->rest[r] = fmin(c->rest[r], c->costs[r * c->columns + c->chosen[i]]);
  }
}

/* Returns the sum of costs if `column` joins the chosen columns that fill_rest counted. */
static double sum_with(const struct chooser *c, size_t column) {
  double sum = 0;
  for (size_t r = 0; r < c->rows; r++) sum += fmin(c->rest[r], c->costs[r * c->columns + column]);
  return sum;
}

/* Puts the column that makes the sum least at `place` of the chosen columns. Returns true if the
   sum became less. */
static bool improve_place(struct chooser *c, size_t place) {
  const size_t before = c->chosen[place];
  size_t best = before;
  fill_rest(c, place);
  for (size_t column = 0; column < c->columns; column++) {
    const double sum = sum_with(c, column);
    if (sum < c->sum - 1e-12) c->sum = sum, best = column;
  }
  c->chosen[place] = best;
  return best != before;
}

static void choose_exchange(struct chooser *c) {
  for (bool better = true; better;) {
    better = false;
    for (size_t i = 0; i < c->count; i++) better |= improve_place(c, i);
  }
}

static void choose_greedily(struct chooser *c) {
  c->sum = INFINITY;
  while (c->count < c->most) {
    c->count++;
    c->chosen[c->count - 1] = 0;
    c->sum = INFINITY;
    improve_place(c, c->count - 1);
  }
  choose_exchange(c);
}

static void choose_at_random(struct chooser *c, uint64_t *state) {
  for (c->count = 0; c->count < c->most;) {
    const size_t column = random_next(state) % c->columns;
    size_t at = 0;
    while (at < c->count && c->chosen[at] != column) at++;
    if (at == c->count) c->chosen[c->count++] = column;
  }
  c->sum = sum_of(c, c->chosen, c->count);
  choose_exchange(c);
}

/* Exchange can end far from the best choice, so it is repeated from several beginnings. */
static int choose_often(struct chooser *c, cugen_error *err) {
  uint64_t state = 1;
  double sum;
  size_t *best = calloc(c->most + 1, sizeof *best);
  if (!best) return error_memory(err);
  choose_greedily(c);
  memcpy(best, c->chosen, c->most * sizeof *best);
  sum = c->sum;
  for (int i = 0; i < BEGINNINGS; i++) {
    choose_at_random(c, &state);
    if (c->sum < sum - 1e-12) {
      memcpy(best, c->chosen, c->most * sizeof *best);
      sum = c->sum;
    }
  }
  memcpy(c->chosen, best, c->most * sizeof *best);
  c->sum = sum;
  free(best);
  return CUGEN_OK;
}

/* ---- The whole choice ----------------------------------------------------------------------- */

/* Returns the place of the chosen column whose removal raises the sum least. */
static size_t least_needed(struct chooser *c, double *sum) {
  size_t least = 0;
  *sum = INFINITY;
  for (size_t i = 0; i < c->count; i++) {
    const size_t column = c->chosen[i], last = c->chosen[c->count - 1];
    c->chosen[i] = last;
    const double without = sum_of(c, c->chosen, c->count - 1);
    c->chosen[i] = column;
    if (without < *sum) *sum = without, least = i;
  }
  return least;
}

/* Removes chosen columns while the sum rises by next to nothing (PORTFOLIO_NEGLIGIBLE). */
static void choose_trim(struct chooser *c) {
  const double most = c->sum + PORTFOLIO_NEGLIGIBLE * (double)c->rows;
  while (c->count > 1) {
    double sum;
    const size_t place = least_needed(c, &sum);
    if (sum > most) break;
    c->count--;
    memmove(c->chosen + place, c->chosen + place + 1, (c->count - place) * sizeof *c->chosen);
    c->sum = sum;
  }
}

static int choose_by_number(const void *a, const void *b) {
  const size_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

static int choose_run(struct chooser *c, cugen_error *err) {
  const double steps = combinations(c->columns, c->most) * (double)(c->rows * c->most);
  int status = CUGEN_OK;
  if (!c->most) return CUGEN_OK;
  if (steps <= most_exact)
    status = choose_exactly(c, err);
  else
    status = choose_often(c, err);
  if (!status) choose_trim(c);
  return status;
}

/* ---- Kernels, then variants ----------------------------------------------------------------- */

size_t portfolio_most_variants(const struct portfolio_matrix *m, size_t most) {
  size_t variants = m->kernels ? WAYS * most : most;
  if (variants > PORTFOLIO_MOST) variants = PORTFOLIO_MOST;
  return variants < m->variants ? variants : m->variants;
}

/* Opens a chooser with one column for each kernel, as good as the best of the kernel's variants.
   Call chooser_close even after an error. */
static int open_kernels(struct chooser *kernels, const struct portfolio_matrix *m,
                        const struct chooser *variants, size_t most, cugen_error *err) {
  int status = choose_allocate(kernels, variants->rows, variants->columns, most, err);
  size_t count = 0;
  for (size_t i = 0; i < variants->columns && !status; i++) {
    const size_t kernel = m->kernels[variants->variants[i]];
    size_t at = 0;
    while (at < count && kernels->variants[at] != kernel) at++;
    for (size_t r = 0; r < variants->rows; r++) {
      double *cost = &kernels->costs[r * variants->columns + at];
      const double own = variants->costs[r * variants->columns + i];
      *cost = at < count ? fmin(*cost, own) : own;
    }
    if (at == count) kernels->variants[count++] = kernel;
  }
  if (status) return status;
  for (size_t r = 1; r < kernels->rows; r++)
    memmove(&kernels->costs[r * count], &kernels->costs[r * kernels->columns],
            count * sizeof *kernels->costs);
  kernels->columns = count;
  if (kernels->most > count) kernels->most = count;
  return CUGEN_OK;
}

static bool choose_is_chosen(const struct chooser *kernels, size_t kernel) {
  for (size_t i = 0; i < kernels->count; i++)
    if (kernels->variants[kernels->chosen[i]] == kernel) return true;
  return false;
}

static void keep_kernels(struct chooser *variants, const struct portfolio_matrix *m,
                         const struct chooser *kernels) {
  size_t kept = 0, at = 0;
  for (size_t r = 0; r < variants->rows; r++)
    for (size_t i = 0; i < variants->columns; i++)
      if (choose_is_chosen(kernels, m->kernels[variants->variants[i]]))
        variants->costs[at++] = variants->costs[r * variants->columns + i];
  for (size_t i = 0; i < variants->columns; i++)
    if (choose_is_chosen(kernels, m->kernels[variants->variants[i]]))
      variants->variants[kept++] = variants->variants[i];
  variants->columns = kept;
  if (variants->most > WAYS * kernels->count) variants->most = WAYS * kernels->count;
  if (variants->most > kept) variants->most = kept;
}

static int choose_kernels(struct chooser *variants, const struct portfolio_matrix *m, size_t most,
                          cugen_error *err) {
  struct chooser kernels;
  int status = open_kernels(&kernels, m, variants, most, err);
  if (!status) status = choose_run(&kernels, err);
  if (!status) keep_kernels(variants, m, &kernels);
  chooser_close(&kernels);
  return status;
}

int portfolio_choose(const struct portfolio_matrix *m, const bool *rows, size_t most,
                     size_t *chosen, size_t *count, cugen_error *err) {
  struct chooser c;
  int status = chooser_open(&c, m, rows, portfolio_most_variants(m, most), err);
  *count = 0;
  if (!status && m->kernels) status = choose_kernels(&c, m, most, err);
  if (!status) status = choose_run(&c, err);
  for (size_t i = 0; i < c.count && !status; i++) chosen[(*count)++] = c.variants[c.chosen[i]];
  if (*count) qsort(chosen, *count, sizeof *chosen, choose_by_number);
  chooser_close(&c);
  return status;
}
