/* A surrogate: a Gaussian process (gauss.h) over the results so far, of the logarithm of costs, of
   the logarithm of the seconds that a result took, and of failures. The score of a variant is its
   expected improvement, times the probability that it is right, per second that it takes (expected
   improvement per second; Snoek, Larochelle, Adams: Practical Bayesian optimization, NIPS 2012).

   - A row has a number for each axis: the position of a word, or the value, or its logarithm if all
     values are above 0 and the greatest is at least four times the least. For axes of many whole
     numbers, the odd part is another column, because powers of two behave differently from their
     neighbours on a GPU.
   - What a variant does not share with others near it, the roughness, counts as a chance of an
     improvement. Without it, the neighbours of the best are left too early.
   - Choices take turns among processes that weigh the columns differently. So a variant that only
     one process finds promising is tried as well, and choices differ while many results are awaited
     (Thompson sampling).
   - A variant whose result is awaited lowers the uncertainty near it, but tells no cost. So the
     next choice goes elsewhere (Desautels, Krause, Burdick: Parallelizing exploration-exploitation
     tradeoffs in Gaussian process bandit optimization, JMLR 15, 2014).
   - With more results than LEARNT, half of the rows are the fastest, and the other half are taken
     evenly from the remaining results. */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gauss.h"
#include "search.h"

enum {
  RESULTS = 8,     /* results needed before there are scores */
  LEARNT = 128,    /* most results that the process learns from */
  MOST_ROWS = 8192 /* most variants in the model; at the next one it stops learning */
};

/* Relative noise of a measurement. */
static const double noise = 0.01;
/* An improvement by less than this part does not count as one. */
static const double clearly = 0.005;
/* Factor of the predicted deviation, below 1 because the processes differ already. */
static const double doubt = 0.5;
static const double least_right = 0.05; /* least probability of a right result */

struct column {        /* columns of an axis */
  float *values, *odd; /* by position; odd NULL: the axis has no column of odd parts */
};

struct model {
  const struct strategy_space *space;
  struct strategy_space own; /* `space` points to this copy */
  struct gauss *gauss;
  struct column *columns;
  size_t column_count; /* including columns of odd parts */
  /* Arrays by row: */
  float *x;
  double *cost, *price; /* logarithms */
  uint64_t *index;
  enum { EXPECTED, RIGHT, FAILED } * state;
  uint32_t *order; /* numbers of the known rows, least cost first, failures last */
  size_t rows;
  /* Number of rows with a result, and with a right result; of results since the last clear
     improvement. */
  size_t known, right, idle;
  double best;        /* least logarithm of a cost */
  double mark;        /* `best` at the last clear improvement */
  bool ready, broken; /* broken: out of memory or of rows; the model stays as it is */
};

/* ---- Columns -------------------------------------------------------------------------------- */

static double odd_part(double v) {
  int64_t n = (int64_t)v;
  while (n % 2 == 0) n /= 2;
  return (double)n;
}

/* Returns true if a column of odd parts pays off: for axes of six or more whole numbers that are
   not all powers of two. */
static bool wants_odd(const struct strategy_axis *axis) {
  bool other = false;
  if (!axis->values || axis->count < 6) return false;
  for (size_t i = 0; i < axis->count; i++) {
    const double v = axis->values[i];
    const bool whole = v >= 1 && v < 1e15 && v - (double)(int64_t)v == 0;
    if (!whole) return false;
    other |= odd_part(v) > 1;
  }
  return other;
}

static float scaled(const struct strategy_axis *axis, size_t at) {
  if (axis->count < 2) return 0;
  if (!axis->values) return (float)at / (float)(axis->count - 1);
  double least = axis->values[0], most = axis->values[axis->count - 1];
  if (least > 0 && most >= 4 * least)
    return (float)(search_logarithm(axis->values[at] / least) / search_logarithm(most / least));
  return (float)((axis->values[at] - least) / (most - least));
}

/* Makes a column of the logarithms of odd parts, scaled from 0 to 1 like the values, because
   distances add up the columns. */
static float *odd_column(const struct strategy_axis *axis) {
  float *odd = calloc(axis->count + 1, sizeof *odd), most = 0;
  for (size_t i = 0; i < axis->count && odd; i++) {
    odd[i] = (float)search_logarithm(odd_part(axis->values[i]));
    most = odd[i] > most ? odd[i] : most;
  }
  for (size_t i = 0; i < axis->count && odd; i++) odd[i] /= most;
  return odd;
}

static bool fill_column(const struct strategy_axis *axis, struct column *out) {
  out->values = calloc(axis->count + 1, sizeof *out->values);
  if (!out->values) return false;
  for (size_t i = 0; i < axis->count; i++) out->values[i] = scaled(axis, i);
  if (!wants_odd(axis)) return true;
  return (out->odd = odd_column(axis));
}

static void model_fill_row(const struct model *m, uint64_t index, float *row) {
  uint16_t at[STRATEGY_MAX_AXES];
  m->space->locate(m->space->context, index, at);
  for (size_t a = 0; a < m->space->axis_count; a++) {
    bool absent = at[a] == STRATEGY_ABSENT;
    *row++ = absent ? -1 : m->columns[a].values[at[a]];
    if (m->columns[a].odd) *row++ = absent ? -1 : m->columns[a].odd[at[a]];
  }
}

/* ---- Opening -------------------------------------------------------------------------------- */

struct model *model_open(const struct strategy_space *space, uint64_t seed) {
  struct model *m = calloc(1, sizeof *m);
  if (!m) return NULL;
  m->own = *space;
  m->space = &m->own;
  m->best = m->mark = INFINITY;
  m->columns = calloc(space->axis_count + 1, sizeof *m->columns);
  bool filled = m->columns;
  for (size_t a = 0; a < space->axis_count && filled; a++) {
    filled = fill_column(&space->axes[a], &m->columns[a]);
    m->column_count += m->columns[a].odd ? 2 : 1;
  }
  m->gauss = gauss_open(m->column_count, seed);
  if (filled && m->gauss) return m;
  model_close(m);
  return NULL;
}

void model_close(struct model *m) {
  if (!m) return;
  for (size_t a = 0; a < m->space->axis_count && m->columns; a++) {
    free(m->columns[a].values);
    free(m->columns[a].odd);
  }
  gauss_close(m->gauss);
  free(m->columns);
  free(m->x);
  free(m->cost);
  free(m->price);
  free(m->index);
  free(m->state);
  free(m->order);
  free(m);
}

/* ---- Rows ----------------------------------------------------------------------------------- */

/* Returns false if there is no room for a row. */
static bool model_add_row(struct model *m, uint64_t index, size_t *row) {
  const bool room = m->rows < MOST_ROWS &&
                    array_room(&m->x, m->rows, m->column_count * sizeof *m->x) &&
                    ARRAY_ROOM(m->cost, m->rows) && ARRAY_ROOM(m->price, m->rows) &&
                    ARRAY_ROOM(m->index, m->rows) && ARRAY_ROOM(m->state, m->rows) &&
                    ARRAY_ROOM(m->order, m->rows);
  m->broken |= !room;
  if (m->broken) return false;
  *row = m->rows++;
  m->index[*row] = index;
  m->state[*row] = EXPECTED;
  m->cost[*row] = m->price[*row] = 0;
  model_fill_row(m, index, m->x + *row * m->column_count);
  return true;
}

/* Searches from the end, because a reported variant is usually one of the last announced. */
static bool model_find_row(const struct model *m, uint64_t index, size_t *row) {
  for (*row = m->rows; (*row)-- > 0;)
    if (m->index[*row] == index) return true;
  return false;
}

/* ---- Predicting ----------------------------------------------------------------------------- */

/* The expected improvement is approximated by deviation * (z + sqrt(z^2 + 2 / pi)) / 2. The
   approximation is right for z = 0 and for large z, and above the value of a normal distribution
   otherwise, and never vanishes. The common factor 1 / 2 is left out. */
static double score(const struct model *m, const struct gauss_guess *guess, bool elsewhere) {
  const double right = fmin(1, fmax(least_right, guess->right)),
               variance = doubt * doubt * guess->variance + 1e-18;
  if (elsewhere) return search_logarithm(right * sqrt(variance)) - guess->price;
  const double deviation = sqrt(variance + guess->roughness + noise * noise),
               z = (m->best - guess->cost) / deviation;
  return search_logarithm(right * deviation * (z + sqrt(z * z + 0.63661977236758134))) -
         guess->price;
}

double model_score(const struct model *m, uint64_t index, size_t turn, bool elsewhere,
                   double least) {
  float row[GAUSS_MOST_COLUMNS];
  struct gauss_guess guess;
  model_fill_row(m, index, row);
  gauss_predict(m->gauss, row, turn, &guess);
  if (score(m, &guess, elsewhere) <= least) return -INFINITY;
  gauss_refine(m->gauss, &guess);
  return score(m, &guess, elsewhere);
}

double model_distance(const struct model *m, uint64_t index) {
  float row[GAUSS_MOST_COLUMNS];
  double nearest = INFINITY;
  model_fill_row(m, index, row);
  for (size_t i = 0; i < m->rows; i++) {
    double sum = 0;
    for (size_t c = 0; c < m->column_count; c++) {
      const double apart = (double)row[c] - m->x[i * m->column_count + c];
      sum += apart * apart;
    }
    nearest = fmin(nearest, sum);
  }
  return nearest;
}

size_t model_rows(const struct model *m) {
  return m->rows;
}

bool model_ready(const struct model *m) {
  return m->ready;
}

size_t model_idle(const struct model *m) {
  const size_t awaited = m->rows - m->known;
  return m->idle > 2 * awaited ? m->idle - 2 * awaited : 0;
}

/* ---- Learning ------------------------------------------------------------------------------- */

/* Lists the rows to learn from, the fastest first. Returns their number, and sets *right to how
   many of the listed rows have a right result. */
static size_t choose_learnt(const struct model *m, uint32_t *rows, size_t *right) {
  enum { FASTEST = LEARNT / 2 };
  const size_t count = m->known < LEARNT ? m->known : LEARNT;
  *right = 0;
  for (size_t i = 0; i < count; i++) {
    const size_t at = i < FASTEST || count < LEARNT
                          ? i
                          : FASTEST + (i - FASTEST) * (m->known - FASTEST) / (LEARNT - FASTEST);
    rows[i] = m->order[at];
    *right += at < m->right;
  }
  return count;
}

static void model_relearn(struct model *m) {
  uint32_t rows[GAUSS_MOST];
  size_t right, known;
  if (m->known < RESULTS || m->right < 2) return;
  size_t count = known = choose_learnt(m, rows, &right);
  for (size_t i = m->rows; i-- > 0 && count < GAUSS_MOST;)
    if (m->state[i] == EXPECTED) rows[count++] = (uint32_t)i;
  gauss_learn(m->gauss, m->x, m->cost, m->price, rows, right, known, count);
  m->ready = true;
}

void model_expect(struct model *m, uint64_t index) {
  size_t row;
  if (model_add_row(m, index, &row) && m->ready)
    gauss_expect(m->gauss, m->x + row * m->column_count);
}

static void set_order(struct model *m, size_t row) {
  size_t at = m->known++;
  for (; at > 0 && m->cost[m->order[at - 1]] > m->cost[row]; at--) m->order[at] = m->order[at - 1];
  m->order[at] = (uint32_t)row;
}

static void set_result(struct model *m, size_t row, double cost, double seconds) {
  bool right = isfinite(cost) && cost > 0;
  m->idle++;
  m->state[row] = right ? RIGHT : FAILED;
  m->cost[row] = right ? search_logarithm(cost) : (double)INFINITY;
  m->price[row] = seconds > 0 ? search_logarithm(seconds) : 0;
  m->right += right;
  set_order(m, row);
  m->best = fmin(m->best, m->cost[row]);
  if (m->best < m->mark - clearly) m->mark = m->best, m->idle = 0;
}

/* Takes a failed row out of the order, so that its result is awaited again. */
static void take_failure_back(struct model *m, size_t row) {
  size_t at = --m->known;
  while (m->order[at] != row) at--;
  memmove(&m->order[at], &m->order[at + 1], (m->known - at) * sizeof *m->order);
  m->state[row] = EXPECTED;
}

void model_learn(struct model *m, uint64_t index, double cost, double seconds) {
  size_t row;
  bool expected = model_find_row(m, index, &row);
  if (!expected && !model_add_row(m, index, &row)) return;
  if (m->state[row] == FAILED && isfinite(cost) && cost > 0) take_failure_back(m, row);
  if (m->state[row] != EXPECTED) return;
  set_result(m, row, cost, seconds);
  if (!m->broken) model_relearn(m);
}
