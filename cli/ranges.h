/* Computes positions in a drawn roofline, whether in pixels or characters; chart.h says what is
   drawn. */
#ifndef CLI_RANGES_H
#define CLI_RANGES_H

#include "api/cache.h"
#include "findings.h"

/* The logarithms at the edges of both axes. */
struct ranges {
  bool roof;
  double x0, x1, y0, y1;
};

/* Returns true if a roofline can be drawn instead of mere rates: operations, bytes and both
   ceilings are known. */
bool ranges_has_roof(const struct findings *findings);
struct ranges ranges_find(const struct findings *findings);
/* Returns the logarithm of the rate that the roof allows at log_x. */
double ranges_attainable(const struct ranges *ranges, double log_x, double peak, double bandwidth);

/* Returns true if another problem's best is shown, because there is room for another intensity. */
bool ranges_takes_other(const struct findings *findings, const cugen_cache_set *set);
/* ranges_own_intensity returns the problem's own intensity; ranges_has_own whether variants are
   elsewhere because of their requests. */
double ranges_own_intensity(const struct findings *findings);
bool ranges_has_own(const struct findings *findings);
double ranges_log_intensity(const cugen_record *record);
/* Returns the position of the implementation among those with right variants, and their number. */
double ranges_place_of(const struct findings *findings, size_t implementation, double *count);

#endif
