/* Choosing the variants of a portfolio; see choose.h.

   It is the k-median problem: k columns, so that the sum over the rows of each row's least cost is least (Kariv and Hakimi 1979, NP-hard).
   A variant that another one beats or equals on every problem cannot be needed and goes first. Of what is left all combinations are
   tried where they are few. Else the greedy choice (Nemhauser, Wolsey, Fisher 1978) is improved by the exchange of one variant for
   another until no exchange gains anything (Teitz and Bart 1968). */
#include "choose.h"

#include <stdlib.h>
#include <string.h>

/* Steps of an exact search that are worth their time: some 50 ms. */
static const double most_exact = 2e7;

struct chooser {
  size_t rows, columns;
  double *costs;    /* [row * columns + column] */
  size_t *variants; /* of the columns, rising */
  size_t most;
  size_t *chosen; /* columns */
  size_t count;
  double sum;
};

double portfolio_sum(const struct portfolio_matrix *m, const bool *rows, const size_t *chosen, size_t count) {
  double sum = 0;
  for (size_t p = 0; p < m->problems; p++) {
    double least = PORTFOLIO_UNSERVED;
    if (rows && !rows[p]) continue;
    for (size_t i = 0; i < count; i++) least = fmin(least, portfolio_choice_cost(portfolio_ratio(m, p, chosen[i])));
    sum += least;
  }
  return sum;
}

static double sum_of(const struct chooser *c, const size_t *columns, size_t count) {
  double sum = 0;
  for (size_t r = 0; r < c->rows; r++) {
    double least = PORTFOLIO_UNSERVED;
    for (size_t i = 0; i < count; i++) least = fmin(least, c->costs[r * c->columns + columns[i]]);
    sum += least;
  }
  return sum;
}

/* ---- What can be needed ------------------------------------------------------------------------------------------- */

static bool serves_any(const struct portfolio_matrix *m, const bool *rows, size_t variant) {
  for (size_t p = 0; p < m->problems; p++)
    if ((!rows || rows[p]) && isfinite(portfolio_ratio(m, p, variant))) return true;
  return false;
}

static double ratio_or_worst(const struct portfolio_matrix *m, size_t problem, size_t variant) {
  const double ratio = portfolio_ratio(m, problem, variant);
  return isfinite(ratio) ? ratio : (double)INFINITY;
}

/* Whether the other one is as good everywhere; of two that are equal the first one stays. */
static bool beats(const struct portfolio_matrix *m, const bool *rows, size_t other, size_t variant) {
  bool better = false;
  for (size_t p = 0; p < m->problems; p++) {
    if (rows && !rows[p]) continue;
    const double a = ratio_or_worst(m, p, other), b = ratio_or_worst(m, p, variant);
    if (a > b) return false;
    better |= a < b;
  }
  return better || other < variant;
}

static bool is_beaten(const struct portfolio_matrix *m, const bool *rows, const bool *dropped, size_t variant) {
  for (size_t other = 0; other < m->variants; other++)
    if (other != variant && !dropped[other] && beats(m, rows, other, variant)) return true;
  return false;
}

/* dropped: zeros. Returns how many are left. */
static size_t drop_needless(const struct portfolio_matrix *m, const bool *rows, bool *dropped) {
  size_t left = m->variants;
  for (size_t v = 0; v < m->variants; v++) dropped[v] = !serves_any(m, rows, v);
  for (size_t v = 0; v < m->variants; v++) dropped[v] = dropped[v] || is_beaten(m, rows, dropped, v);
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

/* To be closed whatever comes back. */
static int chooser_open(struct chooser *c, const struct portfolio_matrix *m, const bool *rows, size_t most,
                        cugen_error *err) {
  *c = (struct chooser){.most = most};
  for (size_t p = 0; p < m->problems; p++) c->rows += !rows || rows[p];
  bool *dropped = calloc(m->variants + 1, sizeof *dropped);
  if (!dropped) return error_memory(err);
  c->columns = drop_needless(m, rows, dropped);
  if (c->most > c->columns) c->most = c->columns;
  c->costs = calloc(c->rows * c->columns + 1, sizeof *c->costs);
  c->variants = calloc(c->columns + 1, sizeof *c->variants);
  c->chosen = calloc(c->most + 1, sizeof *c->chosen);
  const bool good = c->costs && c->variants && c->chosen;
  for (size_t v = 0, at = 0; good && v < m->variants; v++)
    if (!dropped[v]) c->variants[at++] = v;
  if (good) fill_costs(c, m, rows);
  free(dropped);
  return good ? CUGEN_OK : error_memory(err);
}

static void chooser_close(struct chooser *c) {
  free(c->costs);
  free(c->variants);
  free(c->chosen);
}

/* ---- Exactly ------------------------------------------------------------------------------------------------------ */

static double combinations(size_t of, size_t count) {
  double product = 1;
  for (size_t i = 0; i < count; i++) product *= (double)(of - i) / (double)(i + 1);
  return product;
}

/* The next `count` of `of` in their order as numbers; false: these were the last. */
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

/* ---- By exchange -------------------------------------------------------------------------------------------------- */

/* The column that is best at this place of the chosen; whether it is better than what `sum` is of. */
static bool improve_place(struct chooser *c, size_t place) {
  const size_t before = c->chosen[place];
  size_t best = before;
  for (size_t column = 0; column < c->columns; column++) {
    c->chosen[place] = column;
    const double sum = sum_of(c, c->chosen, c->count);
    if (sum < c->sum - 1e-12) c->sum = sum, best = column;
  }
  c->chosen[place] = best;
  return best != before;
}

static void choose_greedily(struct chooser *c) {
  c->sum = INFINITY;
  while (c->count < c->most) {
    c->count++;
    c->chosen[c->count - 1] = 0;
    c->sum = INFINITY;
    improve_place(c, c->count - 1);
  }
  for (bool better = true; better;) {
    better = false;
    for (size_t i = 0; i < c->count; i++) better |= improve_place(c, i);
  }
}

/* ---- All ---------------------------------------------------------------------------------------------------------- */

static void remove_place(struct chooser *c, size_t place) {
  memmove(c->chosen + place, c->chosen + place + 1, (c->count - place - 1) * sizeof *c->chosen);
  c->count--;
}

/* The one without which the sum rises least. */
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

static void trim(struct chooser *c) {
  const double most = c->sum + PORTFOLIO_NEGLIGIBLE * (double)c->rows;
  while (c->count > 1) {
    double sum;
    const size_t place = least_needed(c, &sum);
    if (sum > most) break;
    remove_place(c, place);
    c->sum = sum;
  }
}

static int by_number(const void *a, const void *b) {
  const size_t *x = a, *y = b;
  return (*x > *y) - (*x < *y);
}

int portfolio_choose(const struct portfolio_matrix *m, const bool *rows, size_t most, size_t *chosen, size_t *count,
                     cugen_error *err) {
  struct chooser c;
  int status = chooser_open(&c, m, rows, most, err);
  *count = 0;
  if (!status && c.most) {
    const double steps = combinations(c.columns, c.most) * (double)(c.rows * c.most);
    if (steps <= most_exact)
      status = choose_exactly(&c, err);
    else
      choose_greedily(&c);
    trim(&c);
  }
  for (size_t i = 0; i < c.count && !status; i++) chosen[(*count)++] = c.variants[c.chosen[i]];
  if (*count) qsort(chosen, *count, sizeof *chosen, by_number);
  chooser_close(&c);
  return status;
}
