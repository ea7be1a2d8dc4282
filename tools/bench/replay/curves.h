/* The two regressions of the community's methodology, in its arithmetic: bagged isotonic (the
   pooled runs) and piecewise cubic (random search). */
#ifndef REPLAY_CURVES_H
#define REPLAY_CURVES_H

#include "base/error.h"

struct curve_point {
  double x, y;
};

/* out[i]: at wanted[i], rising, the mean of so many least-squares curves that never rise, each
   fitted to points drawn with replacement, a share of 1 / sqrt(fits) of them, and clipped to the
   points' range of y. points[0 .. count), count at least 1, are reordered. */
int curve_isotonic(struct curve_point *points, size_t count, size_t fits, const double *wanted,
                   size_t wanted_count, double *out, cugen_error *err);

/* out[i]: at wanted[i], rising, the monotone cubic interpolant through the points, of which
   there are at least two, x strictly rising. */
int curve_cubic(const struct curve_point *points, size_t count, const double *wanted,
                size_t wanted_count, double *out, cugen_error *err);

#endif
