/* A surrogate: two forests (forest.h) over the results so far, one of the logarithm of costs, one
   of the logarithm of the seconds that a result took. The score of a variant is its expected
   improvement, by the forest's mean and spread, per second that it takes (expected improvement per
   second; Snoek, Larochelle, Adams: Practical Bayesian optimization, NIPS 2012; with random forests
   over configurations: Hutter, Hoos, Leyton-Brown: Sequential model-based optimization (SMAC), LION
   2011).

   - A row has a number for each axis: the value, or its logarithm if all values are above 0 and the
     greatest is at least four times the least. For whole numbers, the odd part is another column,
     because powers of two behave differently from their neighbours on a GPU.
   - A failure counts as a cost that nine out of ten results beat.
   - A score asks COMMITTEE trees, drawn anew for each choice. So what only few trees promise gets
     its turn as well, while the mean of all trees would stay on one plateau; and choices differ
     while many results are awaited (Thompson sampling by an ensemble; Eckles, Kaptein: Thompson
     sampling with the online bootstrap, 2014).
   - A variant whose result is awaited counts as the slowest known one ("constant liar";
     Ginsbourger, Le Riche, Carraro: Kriging is well-suited to parallelize optimization, 2010). So
     the next choice goes elsewhere. No split is chosen by such a value, because it is no result. On
     recorded spaces with 34 results awaited, using the model's prediction instead ("kriging
     believer") scored 0.03 less, and using the best known cost 0.12 less; when the first variants
     were evenly spread, the believer was as good.
   - Logarithms are computed here, because a library's last digit may differ between machines and
     change a choice. */
#include "model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "forest.h"

enum {
  RESULTS = 8,     /* results needed before there are scores */
  TREES = 16,      /* trees of the costs */
  TREES_PRICE = 4, /* trees of the seconds */
  COMMITTEE = 4,   /* trees of costs asked for a score */
  MOST_ROWS = 8192 /* further results teach nothing new */
};

/* Relative noise of a measurement. With 2 %, every variant of a plateau promised an improvement
   again, so that dozens of variants which differ from the best in a tunable without effect were
   tried first. */
static const double noise = 0.01;
/* An improvement by less than this part does not count as one. */
static const double clearly = 0.005;
/* Parts of the trees' spread that are taken for uncertainty, by turns. A small part refines the
   best variants; a large one looks elsewhere. Alternating is better than either, above all with
   many results awaited, because choices differ although the model is the same (as with confidence
   bounds drawn at random; Hutter, Hoos, Leyton-Brown: Parallel algorithm configuration, LION
   2012). */
static const double ignorance[] = {0.02, 0.1, 0.5};
enum { IGNORANCES = sizeof ignorance / sizeof *ignorance };

struct column {        /* columns of an axis */
  float *values, *odd; /* by position; odd NULL: the axis has no column of odd parts */
};

struct model {
  const struct strategy_space *space;
  struct strategy_space own; /* `space` points to this copy */
  struct forest *costs, *prices;
  struct column *columns;
  size_t column_count; /* including columns of odd parts */
  uint64_t seed;
  /* Arrays by row: */
  float *x;
  double *cost, *price; /* logarithms */
  uint64_t *index;
  enum { EXPECTED, RIGHT, FAILED } * state;
  uint32_t *order; /* numbers of the known rows, then of the awaited ones */
  size_t rows, capacity;
  size_t known, right, idle;
  double best, worst, sum, squares; /* over the logarithms of right results */
  double mark;                      /* best cost at the last clear improvement */
  bool grown, broken;               /* broken: out of memory, the model stays as it is */
};

/* ---- Numbers -------------------------------------------------------------------------------- */

/* Natural logarithm, x > 0: 2 artanh((m - 1) / (m + 1)) of the mantissa, to 12 digits. */
static double logarithm(double x) {
  int exponent;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752) m *= 2, exponent--;
  double z = (m - 1) / (m + 1), z2 = z * z, sum = 0;
  for (int n = 15; n >= 1; n -= 2) sum = sum * z2 + 1.0 / n;
  return 2 * z * sum + exponent * 0.69314718055994531;
}

static bool model_is_whole(double v) {
  return v >= 1 && v < 1e15 && v - (double)(int64_t)v == 0; /* x: above 0 */
}

static double odd_part(double v) {
  int64_t n = (int64_t)v;
  while (n % 2 == 0) n /= 2;
  return (double)n;
}

/* ---- Columns -------------------------------------------------------------------------------- */

/* Returns true if a column of odd parts pays off: for axes of many values other than powers of
   two. */
static bool wants_odd(const struct strategy_axis *axis) {
  bool other = false;
  if (!axis->values || axis->count < 6) return false;
  for (size_t i = 0; i < axis->count; i++) {
    if (!model_is_whole(axis->values[i])) return false;
    other |= odd_part(axis->values[i]) > 1;
  }
  return other;
}

static float scaled(const struct strategy_axis *axis, size_t at) {
  if (axis->count < 2) return 0;
  if (!axis->values) return (float)at / (float)(axis->count - 1);
  double least = axis->values[0], most = axis->values[axis->count - 1];
  if (least > 0 && most >= 4 * least)
    return (float)(logarithm(axis->values[at] / least) / logarithm(most / least));
  return (float)((axis->values[at] - least) / (most - least));
}

/* Makes a column of odd parts, scaled from 0 to 1 like the values, because distances add up the
   columns. */
static float *odd_column(const struct strategy_axis *axis) {
  float *odd = calloc(axis->count + 1, sizeof *odd), most = 0;
  for (size_t i = 0; i < axis->count && odd; i++) {
    odd[i] = (float)logarithm(odd_part(axis->values[i]));
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
  m->seed = seed;
  m->best = m->mark = INFINITY;
  m->worst = -INFINITY;
  m->columns = calloc(space->axis_count + 1, sizeof *m->columns);
  bool filled = m->columns;
  for (size_t a = 0; a < space->axis_count && filled; a++) {
    filled = fill_column(&space->axes[a], &m->columns[a]);
    m->column_count += m->columns[a].odd ? 2 : 1;
  }
  m->costs = forest_open(m->column_count, TREES, seed);
  m->prices = forest_open(m->column_count, TREES_PRICE, seed + 1);
  if (filled && m->costs && m->prices) return m;
  model_close(m);
  return NULL;
}

void model_close(struct model *m) {
  if (!m) return;
  for (size_t a = 0; a < m->space->axis_count && m->columns; a++) {
    free(m->columns[a].values);
    free(m->columns[a].odd);
  }
  forest_close(m->costs);
  forest_close(m->prices);
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

static bool enlarge(void *array, size_t count, size_t size) {
  void **at = array, *larger = realloc(*at, count * size);
  if (larger) *at = larger;
  return larger;
}

static bool model_reserve(struct model *m) {
  size_t capacity = m->capacity ? 2 * m->capacity : 64;
  if (m->rows < m->capacity) return true;
  if (!enlarge(&m->x, capacity, m->column_count * sizeof *m->x) ||
      !enlarge(&m->cost, capacity, sizeof *m->cost) ||
      !enlarge(&m->price, capacity, sizeof *m->price) ||
      !enlarge(&m->index, capacity, sizeof *m->index) ||
      !enlarge(&m->state, capacity, sizeof *m->state) ||
      !enlarge(&m->order, capacity, sizeof *m->order))
    return false;
  m->capacity = capacity;
  return true;
}

/* Returns false if there is no room for a row. */
static bool model_add_row(struct model *m, uint64_t index, size_t *row) {
  m->broken |= m->rows >= MOST_ROWS || !model_reserve(m);
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

/* Predicts by a committee of trees of costs, beginning with tree `from`. */
static void search_model_predict(const struct model *m, const float *row, size_t from, double *mean,
                                 double *variance, double *price) {
  uint32_t nearest[FOREST_MOST_TREES];
  double sum = 0, squares = 0;
  forest_nearest(m->costs, row, from, COMMITTEE, nearest);
  for (size_t i = 0; i < COMMITTEE; i++) {
    double cost = m->cost[nearest[i]] - m->best;
    sum += cost;
    squares += cost * cost;
  }
  *mean = m->best + sum / COMMITTEE;
  *variance = fmax(0, squares - sum * sum / COMMITTEE) / COMMITTEE;
  forest_nearest(m->prices, row, 0, TREES_PRICE, nearest);
  *price = 0;
  for (size_t i = 0; i < TREES_PRICE; i++) *price += m->price[nearest[i]] / TREES_PRICE;
}

/* Returns the first tree of the committee of this turn. */
static size_t committee(const struct model *m, size_t turn) {
  uint64_t state = m->seed + turn;
  return (size_t)(random_next(&state) % TREES);
}

double model_score(const struct model *m, uint64_t index, size_t turn) {
  float row[FOREST_MOST_COLUMNS];
  double mean, variance, price;
  model_fill_row(m, index, row);
  search_model_predict(m, row, committee(m, turn), &mean, &variance, &price);
  /* The expected improvement is approximated by deviation * (z + sqrt(z^2 + 2 / pi)) / 2. This is
     right for z = 0 and for large z, and above the value of a normal distribution for small z, so
     that it never vanishes. */
  const double share = ignorance[turn % IGNORANCES];
  double deviation = sqrt(share * share * variance + noise * noise),
         z = (m->best - mean) / deviation;
  return logarithm(deviation * (z + sqrt(z * z + 0.63661977236758134))) - price;
}

double model_distance(const struct model *m, uint64_t index) {
  float row[FOREST_MOST_COLUMNS];
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
  return m->grown;
}

size_t model_idle(const struct model *m) {
  const size_t awaited = m->rows - m->known;
  return m->idle > 2 * awaited ? m->idle - 2 * awaited : 0;
}

/* ---- Learning ------------------------------------------------------------------------------- */

/* Returns how many trees to grow now; with many rows, trees are grown less often. */
static size_t trees_to_grow(const struct model *m) {
  if (m->rows < 128) return 4;
  if (m->rows < 256) return 2;
  return m->known % (1 + m->rows / 256) == 0;
}

/* Updates the costs of failures, which depend on the known costs, and of awaited variants, which
   have the worst known cost. */
static void set_unknown(struct model *m) {
  double count = (double)m->right, mean = m->sum / count;
  double deviation = sqrt(fmax(0, m->squares / count - mean * mean));
  for (size_t i = 0; i < m->rows; i++) {
    if (m->state[i] == FAILED) m->cost[i] = mean + 1.28 * deviation;
    if (m->state[i] == EXPECTED) m->cost[i] = m->worst;
  }
}

static void set_order(struct model *m) {
  size_t known = 0, expected = m->known;
  for (size_t i = 0; i < m->rows; i++)
    m->order[m->state[i] == EXPECTED ? expected++ : known++] = (uint32_t)i;
}

static void model_grow(struct model *m) {
  if (m->known < RESULTS || m->right < 2) return;
  set_unknown(m);
  set_order(m);
  size_t trees = trees_to_grow(m);
  bool grown =
      forest_grow(m->costs, m->x, m->cost, m->order, m->known, m->rows, m->grown ? trees : TREES) &&
      forest_grow(m->prices, m->x, m->price, m->order, m->known, m->known,
                  m->grown ? trees > 0 : TREES_PRICE);
  m->grown |= grown;
  m->broken |= !grown;
}

void model_expect(struct model *m, uint64_t index) {
  size_t row;
  if (!model_add_row(m, index, &row)) return;
  m->cost[row] = m->worst;
  if (m->grown) m->broken |= !forest_insert(m->costs, m->x, row);
}

static void set_result(struct model *m, size_t row, double cost, double seconds) {
  bool right = isfinite(cost) && cost > 0;
  m->known++;
  m->idle++;
  m->state[row] = right ? RIGHT : FAILED;
  m->price[row] = seconds > 0 ? logarithm(seconds) : 0;
  if (!right) return;
  m->cost[row] = logarithm(cost);
  m->right++;
  m->sum += m->cost[row];
  m->squares += m->cost[row] * m->cost[row];
  m->best = fmin(m->best, m->cost[row]);
  m->worst = fmax(m->worst, m->cost[row]);
  if (m->best < m->mark - clearly) m->mark = m->best, m->idle = 0;
}

void model_learn(struct model *m, uint64_t index, double cost, double seconds) {
  size_t row;
  bool expected = model_find_row(m, index, &row);
  if (!expected && !model_add_row(m, index, &row)) return;
  if (m->state[row] != EXPECTED) return;
  set_result(m, row, cost, seconds);
  if (m->broken) return;
  if (m->grown)
    m->broken |=
        (!expected && !forest_insert(m->costs, m->x, row)) || !forest_insert(m->prices, m->x, row);
  model_grow(m);
}
