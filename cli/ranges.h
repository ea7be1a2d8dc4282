/* Where things lie in a drawn roofline, whether in pixels or characters; chart.h says what is drawn. */
#ifndef CLI_RANGES_H
#define CLI_RANGES_H

#include "findings.h"

/* The logarithms at the edges of both axes. */
struct ranges {
  bool roof;
  double x0, x1, y0, y1;
};

/* Whether there is a roofline to draw, not just rates: operations, bytes and both ceilings are known. */
bool ranges_has_roof(const struct findings *findings);
struct ranges ranges_find(const struct findings *findings);
/* The logarithm of what a roof allows there. */
double ranges_attainable(const struct ranges *ranges, double log_x, double peak, double bandwidth);

/* Whether another problem's best is shown: there is room for another intensity. */
bool ranges_takes_other(const struct findings *findings, const cugen_cache_set *set);
/* The problem's own intensity, and whether variants lie elsewhere: by what they request. */
double ranges_own_intensity(const struct findings *findings);
bool ranges_has_own(const struct findings *findings);
double ranges_log_intensity(const cugen_record *record);
/* The place among those implementations that came out right, and how many they are. */
double ranges_place_of(const struct findings *findings, size_t implementation, double *count);

#endif
