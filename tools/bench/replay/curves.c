/* Isotonic regression by pooling adjacent violators (Busing, Monotone regression: a simple and
   fast O(n) PAVA implementation, Journal of Statistical Software 102, 2022), and the monotone
   cubic interpolation of Fritsch and Butland (A method for constructing local monotone piecewise
   cubic interpolants, SIAM Journal on Scientific and Statistical Computing 5, 1984). The order
   of additions is that of SciPy and scikit-learn: a mean of indices is rounded afterwards, and
   one half must be one half here as there. */
#include "curves.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "twister.h"

/* ---- Isotonic ------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b) {
  const struct curve_point *p = a, *q = b;
  if (p->x != q->x) return p->x < q->x ? -1 : 1;
  return (p->y > q->y) - (p->y < q->y);
}

/* Two numbers that are nearer than this count as equal. */
static const double resolution = 1e-15;

/* Replaces points with one x by their mean. Returns how many are left. */
static size_t merge_equal(struct curve_point *points, double *weights, size_t count) {
  size_t kept = 0;
  for (size_t i = 0; i < count;) {
    const double x = points[i].x;
    double sum = 0, weight = 0;
    for (; i < count && points[i].x - x < resolution; i++)
      sum += points[i].y * weights[i], weight += weights[i];
    points[kept] = (struct curve_point){x, sum / weight};
    weights[kept++] = weight;
  }
  return kept;
}

/* The level stretches of the fit, the last one in x first, so that the values rise. */
struct blocks {
  double *mean, *weight;
  size_t *end; /* exclusive, counted from the last point */
  size_t count;
};

static void pool(const struct curve_point *points, const double *weights, size_t count,
                 struct blocks *out) {
#define VALUE(i)  points[count - 1 - (i)].y
#define WEIGHT(i) weights[count - 1 - (i)]
  out->count = 0;
  for (size_t i = 0; i < count; i++) {
    size_t b = out->count;
    double mean = VALUE(i), weight = WEIGHT(i);
    if (b > 0 && out->mean[b - 1] >= mean) {
      b--;
      double sum = out->weight[b] * out->mean[b] + weight * mean;
      weight += out->weight[b];
      mean = sum / weight;
      while (i + 1 < count && mean >= VALUE(i + 1)) {
        i++;
        sum += WEIGHT(i) * VALUE(i);
        weight += WEIGHT(i);
        mean = sum / weight;
      }
      while (b > 0 && out->mean[b - 1] >= mean) {
        b--;
        sum += out->weight[b] * out->mean[b];
        weight += out->weight[b];
        mean = sum / weight;
      }
    }
    out->mean[b] = mean, out->weight[b] = weight, out->end[b] = i + 1;
    out->count = b + 1;
  }
#undef VALUE
#undef WEIGHT
}

/* Replaces the values of the points by the fitted ones. */
static void spread(const struct blocks *blocks, struct curve_point *points, size_t count) {
  size_t i = 0;
  for (size_t b = 0; b < blocks->count; b++)
    for (; i < blocks->end[b]; i++) points[count - 1 - i].y = blocks->mean[b];
}

/* Removes the inner points of level stretches. Returns how many are left. */
static size_t drop_level(struct curve_point *points, size_t count) {
  size_t kept = 0;
  double before = 0;
  for (size_t i = 0; i < count; i++) {
    const double own = points[i].y;
    if (i == 0 || i + 1 == count || own != before || own != points[i + 1].y)
      points[kept++] = points[i];
    before = own;
  }
  return kept;
}

static void clip(struct curve_point *points, size_t count, double low, double high) {
  for (size_t i = 0; i < count; i++) points[i].y = fmin(fmax(points[i].y, low), high);
}

static void interpolate(const struct curve_point *points, size_t count, const double *wanted,
                        size_t wanted_count, double *out) {
  size_t at = 0;
  for (size_t i = 0; i < wanted_count; i++) {
    const double x = fmin(fmax(wanted[i], points[0].x), points[count - 1].x);
    while (at + 1 < count && points[at + 1].x <= x) at++;
    out[i] = points[at].y;
    if (at + 1 == count || points[at].x == x) continue;
    out[i] +=
        (points[at + 1].y - points[at].y) / (points[at + 1].x - points[at].x) * (x - points[at].x);
  }
}

/* The memory of one fit, and of all of them. */
struct fitting {
  struct curve_point *all, *points; /* all points, sorted; the points of this fit */
  size_t count;
  size_t *places;  /* the place of each original point after sorting */
  double *drawn;   /* how often each point was drawn, in sorted order */
  double *weights; /* weights of `points` */
  struct blocks blocks;
  double low, high;
  double *curve;
};

static void fit(struct fitting *f, const double *wanted, size_t wanted_count) {
  size_t count = 0;
  for (size_t i = 0; i < f->count; i++)
    if (f->drawn[i] > 0) f->points[count] = f->all[i], f->weights[count++] = f->drawn[i];
  count = merge_equal(f->points, f->weights, count);
  pool(f->points, f->weights, count, &f->blocks);
  spread(&f->blocks, f->points, count);
  clip(f->points, count, f->low, f->high);
  interpolate(f->points, drop_level(f->points, count), wanted, wanted_count, f->curve);
}

static void draw(struct fitting *f, uint32_t seed, size_t samples) {
  struct twister twister;
  twister_seed(&twister, seed);
  memset(f->drawn, 0, f->count * sizeof *f->drawn);
  for (size_t i = 0; i < samples; i++)
    f->drawn[f->places[twister_below(&twister, (uint32_t)f->count - 1)]]++;
}

/* A point with its original place, for sorting. */
struct placed {
  struct curve_point point;
  size_t from;
};

static int by_point(const void *a, const void *b) {
  const struct placed *p = a, *q = b;
  const int order = by_place(&p->point, &q->point);
  return order ? order : (p->from > q->from) - (p->from < q->from);
}

static void sort_points(struct fitting *f, struct placed *placed) {
  for (size_t i = 0; i < f->count; i++) placed[i] = (struct placed){f->all[i], i};
  qsort(placed, f->count, sizeof *placed, by_point);
  for (size_t i = 0; i < f->count; i++) f->all[i] = placed[i].point, f->places[placed[i].from] = i;
}

static void fit_all(struct fitting *f, size_t fits, const double *wanted, size_t wanted_count,
                    double *out) {
  const double share = 1 / sqrt((double)fits);
  const size_t samples = (size_t)fmax(1, share * (double)f->count);
  struct twister seeds;
  twister_seed(&seeds, 1);
  memset(out, 0, wanted_count * sizeof *out);
  for (size_t n = 0; n < fits; n++) {
    draw(f, twister_below(&seeds, INT32_MAX - 1), samples);
    fit(f, wanted, wanted_count);
    for (size_t i = 0; i < wanted_count; i++) out[i] += f->curve[i];
  }
  for (size_t i = 0; i < wanted_count; i++) out[i] /= (double)fits;
}

int curve_isotonic(struct curve_point *points, size_t count, size_t fits, const double *wanted,
                   size_t wanted_count, double *out, cugen_error *err) {
  struct fitting f = {
      .all = points, .count = count, .low = (double)INFINITY, .high = -(double)INFINITY};
  struct placed *placed = calloc(count, sizeof *placed);
  double *numbers = calloc(4 * count + wanted_count, sizeof *numbers);
  size_t *sizes = calloc(2 * count, sizeof *sizes);
  f.points = calloc(count, sizeof *f.points);
  const bool memory = placed && numbers && sizes && f.points;
  if (memory) {
    f.drawn = numbers, f.weights = numbers + count, f.curve = numbers + 4 * count;
    f.blocks = (struct blocks){numbers + 2 * count, numbers + 3 * count, sizes, 0};
    f.places = sizes + count;
    for (size_t i = 0; i < count; i++)
      f.low = fmin(f.low, points[i].y), f.high = fmax(f.high, points[i].y);
    sort_points(&f, placed);
    fit_all(&f, fits, wanted, wanted_count, out);
  }
  free(placed);
  free(numbers);
  free(sizes);
  free(f.points);
  return memory ? CUGEN_OK : error_memory(err);
}

/* ---- Cubic ---------------------------------------------------------------------------------- */

static int sign(double x) {
  return (x > 0) - (x < 0);
}

/* Returns the slope at an end, from the widths and slopes of its two nearest stretches. */
static double end_slope(double width, double next_width, double slope, double next_slope) {
  const double wanted =
      ((2 * width + next_width) * slope - width * next_slope) / (width + next_width);
  if (sign(wanted) != sign(slope)) return 0;
  return sign(slope) != sign(next_slope) && fabs(wanted) > 3 * fabs(slope) ? 3 * slope : wanted;
}

static double width(const struct curve_point *points, size_t i) {
  return points[i + 1].x - points[i].x;
}

static double slope(const struct curve_point *points, size_t i) {
  return (points[i + 1].y - points[i].y) / width(points, i);
}

static void find_slopes(const struct curve_point *points, size_t count, double *out) {
  const size_t last = count - 1;
  out[0] = out[last] = slope(points, 0);
  if (count == 2) return;
  for (size_t i = 1; i < last; i++) {
    const double before = slope(points, i - 1), after = slope(points, i);
    const double w1 = 2 * width(points, i) + width(points, i - 1),
                 w2 = width(points, i) + 2 * width(points, i - 1);
    const bool turns = sign(before) != sign(after) || sign(before) == 0;
    out[i] = turns ? 0 : 1 / ((w1 / before + w2 / after) / (w1 + w2));
  }
  out[0] = end_slope(width(points, 0), width(points, 1), slope(points, 0), slope(points, 1));
  out[last] = end_slope(width(points, last - 1), width(points, last - 2), slope(points, last - 1),
                        slope(points, last - 2));
}

int curve_cubic(const struct curve_point *points, size_t count, const double *wanted,
                size_t wanted_count, double *out, cugen_error *err) {
  double *slopes = calloc(count, sizeof *slopes);
  if (!slopes) return error_memory(err);
  find_slopes(points, count, slopes);
  for (size_t i = 0, at = 0; i < wanted_count; i++) {
    while (at + 2 < count && points[at + 1].x <= wanted[i]) at++;
    const double x = wanted[i] - points[at].x, w = width(points, at), rise = slope(points, at);
    const double t = (slopes[at] + slopes[at + 1] - 2 * rise) / w;
    out[i] = points[at].y + slopes[at] * x + ((rise - slopes[at]) / w - t) * (x * x) +
             t / w * (x * x * x);
  }
  free(slopes);
  return CUGEN_OK;
}
