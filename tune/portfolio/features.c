/* Features of a problem's sizes; see features.h. */
#include "features.h"

#include <inttypes.h>
#include <stdlib.h>

/* ---- The features of a matrix --------------------------------------------------------------- */

struct list {
  struct portfolio_feature *all;
  size_t count;
};

static void features_add(struct list *list, enum portfolio_feature_kind kind, size_t a, size_t b) {
  list->all[list->count].kind = kind;
  list->all[list->count].a = a;
  list->all[list->count++].b = b;
}

static void add_pairs(struct list *list, const size_t *sizes, size_t count,
                      enum portfolio_feature_kind kind) {
  for (size_t i = 0; i < count; i++)
    for (size_t k = i + 1; k < count; k++) features_add(list, kind, sizes[i], sizes[k]);
}

/* ---- Divisors ------------------------------------------------------------------------------- */

enum { MOST_BITS = 64 };

static void add_divisor(struct list *list, uint64_t each) {
  features_add(list, FEATURE_MULTIPLES, 0, 0);
  list->all[list->count - 1].each = each;
}

/* Adds a feature for the divisors of each size that may decide which variants are valid. Without
   such a size, adds one feature for all sizes that some problem has as a multiple of 8, because the
   problems may not tell which size's divisors decide how fast variants are. */
static void add_multiples(struct list *list, const struct portfolio_matrix *m, const size_t *sizes,
                          size_t count) {
  uint64_t each = 0;
  bool any = false;
  for (size_t i = 0; i < count && sizes[i] < MOST_BITS; i++) {
    const uint64_t own = UINT64_C(1) << sizes[i];
    if (!m->decides || m->decides[sizes[i]]) any = true, add_divisor(list, own);
    for (size_t p = 0; p < m->problems; p++)
      if (portfolio_value(m, p, sizes[i]) % 8 == 0) each |= own;
  }
  if (!any && each) add_divisor(list, each);
}

struct portfolio_feature *portfolio_features(const struct portfolio_matrix *m, size_t *count) {
  enum { PAIRS = PORTFOLIO_MOST_SIZES * (PORTFOLIO_MOST_SIZES - 1) / 2 };
  size_t sizes[PORTFOLIO_MOST_SIZES], differ = 0;
  /* All sizes that differ are at least 1, as ratios and divisors need. */
  bool positive = true;
  struct list list = {.all = calloc(2 * PORTFOLIO_MOST_SIZES + 3 * PAIRS + 2, sizeof *list.all)};
  *count = 0;
  if (!list.all) return NULL;
  for (size_t s = 0; s < m->sizes && differ < PORTFOLIO_MOST_SIZES; s++) {
    bool differs = false, at_least_1 = true;
    for (size_t p = 0; p < m->problems; p++) {
      differs |= portfolio_value(m, p, s) != portfolio_value(m, 0, s);
      at_least_1 &= portfolio_value(m, p, s) >= 1;
    }
    if (differs) sizes[differ++] = s, positive &= at_least_1;
  }
  for (size_t i = 0; i < differ; i++) features_add(&list, FEATURE_SIZE, sizes[i], 0);
  if (positive) {
    add_pairs(&list, sizes, differ, FEATURE_PRODUCT);
    if (differ > 2) features_add(&list, FEATURE_VOLUME, 0, 0);
    add_pairs(&list, sizes, differ, FEATURE_TILES);
    add_pairs(&list, sizes, differ, FEATURE_RATIO);
    add_multiples(&list, m, sizes, differ);
  }
  *count = list.count;
  return list.all;
}

/* ---- Values of features --------------------------------------------------------------------- */

static double tiles(int64_t size) {
  return ceil((double)size / PORTFOLIO_TILE);
}

/* Returns the exponent of the largest power of two that divides the size, up to
   PORTFOLIO_MOST_POWER. */
static double power_in(int64_t size) {
  int power = 0;
  while (power < PORTFOLIO_MOST_POWER && size % 2 == 0 && size) size /= 2, power++;
  return power;
}

static double volume(const int64_t *sizes, size_t count) {
  double product = 1;
  for (size_t i = 0; i < count; i++) product *= (double)sizes[i];
  return product;
}

static double least_power(uint64_t each, const int64_t *sizes, size_t count) {
  double least = PORTFOLIO_MOST_POWER;
  for (size_t i = 0; i < count && i < MOST_BITS; i++)
    if (each >> i & 1) least = fmin(least, power_in(sizes[i]));
  return least;
}

double portfolio_feature_of(const struct portfolio_feature *f, const int64_t *sizes, size_t count) {
  switch (f->kind) {
  case FEATURE_SIZE: return (double)sizes[f->a];
  case FEATURE_PRODUCT: return (double)sizes[f->a] * (double)sizes[f->b];
  case FEATURE_VOLUME: return volume(sizes, count);
  case FEATURE_TILES: return tiles(sizes[f->a]) * tiles(sizes[f->b]);
  case FEATURE_RATIO: return (double)sizes[f->a] / (double)sizes[f->b];
  case FEATURE_MULTIPLES: break;
  }
  return least_power(f->each, sizes, count);
}

/* ---- Thresholds ----------------------------------------------------------------------------- */

/* Returns the multiple of `unit` in [low, high) nearest to the geometric mean of low and high (the
   arithmetic mean if low is not positive); NAN: there is none. */
static double multiple_within(double low, double high, double unit) {
  const double first = ceil(low / unit), last = ceil(high / unit) - 1;
  const double middle = low > 0 ? sqrt(low) * sqrt(high) : 0.5 * (low + high);
  if (first > last) return NAN;
  return unit * fmin(fmax(round(middle / unit), first), last);
}

double portfolio_threshold(const struct portfolio_feature *f, double low, double high) {
  const double exact = 0x1p53;
  if (f->kind == FEATURE_MULTIPLES) return high - 1;
  /* A power of two is preferred, because most sizes are powers of two. */
  const double power = exp2(ceil(0.5 * (log2(low) + log2(high)) - 0.5));
  const bool between = power >= low && power < high;
  if (f->kind == FEATURE_RATIO)
    return between && power <= 0x1p30 && power >= 0x1p-30 ? power : (double)NAN;
  if (!(fabs(low) < exact) || !(fabs(high) < exact)) return NAN;
  if (low >= 1 && between) return power;
  /* Without a power of two, a multiple of the largest possible power of ten is chosen. */
  double unit = 1;
  while (unit < 1e18 && !isnan(multiple_within(low, high, 10 * unit)) &&
         multiple_within(low, high, 10 * unit) != 0)
    unit *= 10;
  return multiple_within(low, high, unit);
}

/* ---- As expressions ------------------------------------------------------------------------- */

/* Prints "M <= 4 * N" or "4 * M <= N". */
static void print_ratio(const char *a, const char *b, double threshold, struct text *out) {
  if (threshold > 1)
    text_addf(out, "%s <= %.0f * %s", a, threshold, b);
  else if (threshold < 1)
    text_addf(out, "%.0f * %s <= %s", 1 / threshold, a, b);
  else
    text_addf(out, "%s <= %s", a, b);
}

void portfolio_print_multiples(uint64_t each, int of, const struct portfolio_matrix *m,
                               struct text *out) {
  const char *between = "";
  for (size_t i = 0; i < m->sizes && i < MOST_BITS; i++) {
    if (!(each >> i & 1)) continue;
    text_addf(out, "%s%s %% %d ~= 0", between, m->names[i], of);
    between = " or ";
  }
}

void portfolio_feature_print(const struct portfolio_feature *f, const struct portfolio_matrix *m,
                             double threshold, struct text *out) {
  const char *a = m->names[f->a], *b = m->names[f->b];
  switch (f->kind) {
  case FEATURE_SIZE: text_add(out, a); break;
  case FEATURE_PRODUCT: text_addf(out, "%s * %s", a, b); break;
  case FEATURE_VOLUME:
    for (size_t i = 0; i < m->sizes; i++) text_addf(out, "%s%s", i ? " * " : "", m->names[i]);
    break;
  case FEATURE_TILES:
    text_addf(out, "ceil_div(%s, %d) * ceil_div(%s, %d)", a, PORTFOLIO_TILE, b, PORTFOLIO_TILE);
    break;
  case FEATURE_RATIO: print_ratio(a, b, threshold, out); return;
  case FEATURE_MULTIPLES:
    portfolio_print_multiples(f->each, 1 << (int)(threshold + 1), m, out);
    return;
  }
  text_addf(out, " <= %.0f", threshold);
}
