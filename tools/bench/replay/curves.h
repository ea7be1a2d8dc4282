/* The two regressions of the community's methodology, in its arithmetic: bagged isotonic (the
   pooled runs) and piecewise cubic (random search). */
#ifndef REPLAY_CURVES_H
#define REPLAY_CURVES_H

#include "base/error.h"

struct curve_point {
  double x, y;
};

/* Bagged isotonic regression. Makes `fits` least-squares curves that never rise, each through
   points drawn with replacement (a share of 1 / sqrt(fits) of all) and clipped to their range of
   y. out[i] is the mean of the curves at wanted[i], which must rise. points[0 .. count), count
   at least 1, are reordered. */
int curve_isotonic(struct curve_point *points, size_t count, size_t fits, const double *wanted,
                   size_t wanted_count, double *out, cugen_error *err);

/* out[i] is the monotone cubic interpolant at wanted[i], which must rise, through at least two
   points whose x rises strictly. */
int curve_cubic(const struct curve_point *points, size_t count, const double *wanted,
                size_t wanted_count, double *out, cugen_error *err);

#endif
