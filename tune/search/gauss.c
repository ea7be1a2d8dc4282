/* A Gaussian process (Rasmussen, Williams: Gaussian Processes for Machine Learning, 2006). The
   covariance of two rows is (1 + r / 4)^-2 of their weighted squared distance r, a rational
   quadratic kernel. Each column has a weight: the smaller it is, the less the column matters. The
   costs, prices and failures of rows share the weights, which are chosen for the costs.

   MEMBERS processes differ in their weights, and a choice asks one of them, so that the weights may
   be uncertain. With each result, every member tries DRAWS random changes of its weights, and keeps
   a change by its marginal likelihood and a prior (Metropolis). The weights, and the roughness (a
   part of the variance that rows do not share) in hundredths, are powers of two, so that all
   machines compute equal ones.

   Learning takes rows^3 steps and the variance of a prediction rows^2, so that GAUSS_MOST is
   small. */
#include "gauss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "search.h"

enum { MEMBERS = 4, DRAWS = 2, CHANGES = 3 /* most changes in a draw */, LARGEST = 12 };

struct member {
  int exponents[GAUSS_MOST_COLUMNS + 1]; /* of the weights; [columns]: of the roughness */
  double weights[GAUSS_MOST_COLUMNS + 1];
  double evidence, scale; /* logarithm of the likelihood and the prior; variance of the costs */
  /* The Cholesky factor of the covariances: [j][i] has row i and column j; [i][i] is inverted. */
  double factor[GAUSS_MOST][GAUSS_MOST];
  /* The inverse covariances times `costs`, `prices` and `rights` of struct gauss. */
  double costs[GAUSS_MOST], prices[GAUSS_MOST], rights[GAUSS_MOST];
};

struct gauss {
  size_t columns, right, known, count;
  uint64_t state;
  double cost, price, share; /* means of costs and prices; right rows / known rows */
  double spread;             /* mean square of `costs` */
  /* Numbers of the rows less their means; a right is 1 for a right row and 0 for a failure. */
  double costs[GAUSS_MOST], prices[GAUSS_MOST], rights[GAUSS_MOST];
  /* The rows, stored twice: [column][row] and [row][column]. */
  float x[GAUSS_MOST_COLUMNS][GAUSS_MOST], rows[GAUSS_MOST][GAUSS_MOST_COLUMNS];
  struct member *members[MEMBERS + 1], all[MEMBERS + 1]; /* the last member holds a draw */
};

static void set_exponent(struct member *m, size_t at, size_t rough, int exponent) {
  static const double roughness = 0.01; /* part of the variance, if the exponent is 0 */
  m->exponents[at] = exponent > LARGEST ? LARGEST : exponent < -LARGEST ? -LARGEST : exponent;
  m->weights[at] = ldexp(at == rough ? roughness : 1, m->exponents[at]);
}

struct gauss *gauss_open(size_t columns, uint64_t seed) {
  struct gauss *g = calloc(1, sizeof *g);
  if (!g) return NULL;
  g->columns = columns;
  g->state = seed;
  for (size_t i = 0; i <= MEMBERS; i++) {
    g->members[i] = &g->all[i];
    for (size_t c = 0; c <= columns; c++)
      set_exponent(&g->all[i], c, columns, c < columns ? (int)(random_next(&g->state) % 5) - 2 : 0);
  }
  return g;
}

void gauss_close(struct gauss *g) {
  free(g);
}

/* ---- Covariances ---------------------------------------------------------------------------- */

/* The inner loops go over rows, so that they become vector instructions. */
static void gauss_covary(const struct gauss *g, const struct member *m, const float *row,
                         size_t count, double *z) {
  memset(z, 0, count * sizeof *z);
  for (size_t c = 0; c < g->columns; c++) {
    const double value = row[c], weight = m->weights[c];
    for (size_t i = 0; i < count; i++) {
      const double apart = value - (double)g->x[c][i];
      z[i] += weight * apart * apart;
    }
  }
  for (size_t i = 0; i < count; i++) z[i] = 1 / ((1 + z[i] / 4) * (1 + z[i] / 4));
}

/* Divides z, the covariances of a row with the first `count` rows, by the Cholesky factor. Returns
   the sum of squares of the result: the part of the row's variance that the first rows explain. */
static double gauss_explain(const struct member *m, size_t count, double *z) {
  double squares = 0;
  for (size_t j = 0; j < count; j++) {
    const double *column = m->factor[j], value = z[j] *= column[j];
    squares += value * value;
    for (size_t i = j + 1; i < count; i++) z[i] -= column[i] * value;
  }
  return squares;
}

static void add_row(const struct gauss *g, struct member *m, size_t i) {
  double z[GAUSS_MOST];
  gauss_covary(g, m, g->rows[i], i, z);
  const double left = 1 + m->weights[g->columns] - gauss_explain(m, i, z);
  for (size_t j = 0; j < i; j++) m->factor[j][i] = z[j];
  m->factor[i][i] = 1 / sqrt(fmax(left, 1e-9));
}

/* Sets `out` to the inverse covariances times `values`. Returns the scalar product of `values` and
   `out`. */
static double solve(const struct member *m, const double *values, size_t count, double *out) {
  memcpy(out, values, count * sizeof *out);
  const double product = gauss_explain(m, count, out);
  for (size_t i = count; i-- > 0;) {
    for (size_t k = i + 1; k < count; k++) out[i] -= m->factor[i][k] * out[k];
    out[i] *= m->factor[i][i];
  }
  return product;
}

static void learn_costs(const struct gauss *g, struct member *m) {
  const double count = (double)g->right;
  m->evidence = 0;
  for (size_t i = 0; i < g->right; i++) {
    add_row(g, m, i);
    m->evidence += search_logarithm(m->factor[i][i]);
  }
  m->scale = (2 * g->spread + solve(m, g->costs, g->right, m->costs)) / (count + 2);
  m->evidence -= (count + 2) / 2 * search_logarithm(m->scale);
  for (size_t c = 0; c <= g->columns; c++) m->evidence -= 0.1 * m->exponents[c] * m->exponents[c];
}

static void learn_others(const struct gauss *g, struct member *m) {
  for (size_t i = g->right; i < g->count; i++) add_row(g, m, i);
  solve(m, g->prices, g->known, m->prices);
  solve(m, g->rights, g->known, m->rights);
}

/* ---- Learning and predicting ---------------------------------------------------------------- */

static void improve(struct gauss *g, struct member **m) {
  struct member *draw = g->members[MEMBERS];
  memcpy(draw->exponents, (*m)->exponents, sizeof draw->exponents);
  memcpy(draw->weights, (*m)->weights, sizeof draw->weights);
  for (uint64_t left = 1 + random_next(&g->state) % CHANGES; left > 0; left--) {
    const size_t at = random_next(&g->state) % (g->columns + 1);
    const int by = 1 + (int)(random_next(&g->state) % 2);
    set_exponent(draw, at, g->columns,
                 draw->exponents[at] + (random_next(&g->state) % 2 ? by : -by));
  }
  learn_costs(g, draw);
  const double share = (double)((random_next(&g->state) >> 11) + 1) / (double)(UINT64_C(1) << 53);
  if (search_logarithm(share) >= draw->evidence - (*m)->evidence) return;
  g->members[MEMBERS] = *m;
  *m = draw;
}

static void set_row(struct gauss *g, size_t at, const float *row) {
  memcpy(g->rows[at], row, g->columns * sizeof *row);
  for (size_t c = 0; c < g->columns; c++) g->x[c][at] = row[c];
}

/* Sets `out` to the values of the rows less their mean, and returns the mean. */
static double center(const double *values, const uint32_t *rows, size_t count, double *out) {
  double sum = 0;
  for (size_t i = 0; i < count; i++) sum += values[rows[i]];
  for (size_t i = 0; i < count; i++) out[i] = values[rows[i]] - sum / (double)count;
  return sum / (double)count;
}

void gauss_learn(struct gauss *g, const float *x, const double *cost, const double *price,
                 const uint32_t *rows, size_t right, size_t known, size_t count) {
  g->right = right, g->known = known, g->count = count;
  for (size_t i = 0; i < count; i++) set_row(g, i, x + rows[i] * g->columns);
  g->cost = center(cost, rows, right, g->costs);
  g->price = center(price, rows, known, g->prices);
  g->share = (double)right / (double)known;
  for (size_t i = 0; i < known; i++) g->rights[i] = (i < right) - g->share;
  g->spread = 1e-18;
  for (size_t i = 0; i < right; i++) g->spread += g->costs[i] * g->costs[i] / (double)right;
  for (size_t i = 0; i < MEMBERS; i++) {
    learn_costs(g, g->members[i]);
    for (size_t n = 0; n < DRAWS; n++) improve(g, &g->members[i]);
    learn_others(g, g->members[i]);
  }
}

void gauss_expect(struct gauss *g, const float *row) {
  if (g->count == GAUSS_MOST) return;
  set_row(g, g->count, row);
  for (size_t i = 0; i < MEMBERS; i++) add_row(g, g->members[i], g->count);
  g->count++;
}

void gauss_predict(const struct gauss *g, const float *row, size_t turn, struct gauss_guess *out) {
  const struct member *m = out->member = g->members[turn % MEMBERS];
  double *z = out->covariances, most = 0;
  gauss_covary(g, m, row, g->count, z);
  out->cost = g->cost, out->price = g->price, out->right = g->share;
  for (size_t i = 0; i < g->right; i++) out->cost += z[i] * m->costs[i];
  for (size_t i = 0; i < g->known; i++) {
    out->price += z[i] * m->prices[i];
    out->right += z[i] * m->rights[i];
  }
  for (size_t i = 0; i < g->count; i++) most = fmax(most, z[i]);
  out->roughness = m->weights[g->columns] * m->scale;
  out->variance = m->scale * (1 - most * most / (1 + m->weights[g->columns]));
}

void gauss_refine(const struct gauss *g, struct gauss_guess *guess) {
  const double explained = gauss_explain(guess->member, g->count, guess->covariances);
  guess->variance = guess->member->scale * fmax(1 - explained, 0);
}
