/* Computes positions in a drawn roofline; see ranges.h. */
#include "ranges.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "base/key.h"

bool ranges_has_roof(const struct findings *f) {
  const cugen_record *r = f->right_count ? f->right[0] : NULL;
  return r && r->flops > 0 && r->bytes > 0 && findings_peak(f) > 0 && findings_bandwidth(f) > 0;
}

static void ranges_include(double value, double *least, double *most) {
  if (!(value > 0)) return;
  if (*least <= 0 || value < *least) *least = value;
  if (value > *most) *most = value;
}

/* Returns true for problems of one kernel that differ only in sizes; another type would have
   another ceiling. */
static bool ranges_is_alike(const char *a, const char *b) {
  struct setting one, other;
  size_t length;
  while (setting_next(&a, &one))
    if (!setting_next(&b, &other) ||
        !(setting_equal(&one, &other) || isdigit((unsigned char)*setting_value(&one, &length))))
      return false;
  return !setting_next(&b, &other);
}

/* The best variants of other problems are shown if there is room for another intensity. */
bool ranges_takes_other(const struct findings *f, const cugen_cache_set *set) {
  return findings_is_kin(f, set) &&
         ranges_is_alike(cugen_kernel_problem(f->kernel), set->problem) && set->seconds > 0 &&
         set->flops > 0 && set->bytes > 0 && f->right_count && strcmp(set->best, "") != 0 &&
         (set->flops != f->right[0]->flops || set->bytes != f->right[0]->bytes);
}

double ranges_own_intensity(const struct findings *f) {
  return f->right[0]->flops / f->right[0]->bytes;
}

/* Returns true if some requests are known; otherwise all variants are at the problem's own
   intensity. */
bool ranges_has_own(const struct findings *f) {
  for (size_t i = 0; i < f->right_count; i++)
    if (f->right[i]->requested > 0) return true;
  return false;
}

/* Returns the intensity of a variant by its requests. */
double ranges_log_intensity(const cugen_record *r) {
  return log10(r->flops / (r->requested > 0 ? r->requested : r->bytes));
}

static void find_x(const struct findings *f, struct ranges *out) {
  double least = 0, most = 0;
  if (!out->roof) return;
  for (size_t i = 0; i < f->right_count; i++)
    ranges_include(pow(10, ranges_log_intensity(f->right[i])), &least, &most);
  ranges_include(ranges_own_intensity(f), &least, &most);
  ranges_include(findings_peak(f) / findings_bandwidth(f), &least, &most);
  for (size_t i = 0; i < f->set_count; i++)
    if (ranges_takes_other(f, &f->sets[i]))
      ranges_include(f->sets[i].flops / f->sets[i].bytes, &least, &most);
  out->x0 = log10(least / 6);
  out->x1 = log10(most * 4);
}

/* Includes the ceilings to which a rate without an intensity is compared. */
static void include_ceilings(const struct findings *f, const cugen_record *r, double *least,
                             double *most) {
  double device_peak = r->flops > 0 ? f->ceilings.flops_peak : f->ceilings.bandwidth_peak;
  ranges_include(r->flops > 0 ? findings_peak(f) : findings_bandwidth(f), least, most);
  ranges_include(device_peak, least, most);
}

struct ranges ranges_find(const struct findings *f) {
  struct ranges r = {.roof = ranges_has_roof(f)};
  double least = 0, most = 0;
  for (size_t i = 0; i < f->right_count; i++)
    ranges_include(findings_rate(f->right[i]), &least, &most);
  if (f->right_count) include_ceilings(f, f->right[0], &least, &most);
  for (size_t i = 0; r.roof && i < f->set_count; i++)
    if (ranges_takes_other(f, &f->sets[i]))
      ranges_include(f->sets[i].flops / f->sets[i].seconds, &least, &most);
  if (least <= 0) least = most = 1;
  find_x(f, &r);
  r.y0 = log10(least) - 0.15;
  r.y1 = log10(most) + 0.2;
  if (r.y1 - r.y0 < 0.6) r.y0 = r.y1 - 0.6;
  return r;
}

double ranges_attainable(const struct ranges *r, double log_x, double peak, double bandwidth) {
  double slope = log_x + log10(bandwidth);
  return r->roof && slope < log10(peak) ? slope : log10(peak);
}

/* Returns the position of the implementation among those with right variants, and their number. */
double ranges_place_of(const struct findings *f, size_t implementation, double *count) {
  double at = 0;
  *count = 0;
  for (size_t i = 0; i < f->implementation_count; i++) {
    if (!f->implementations[i].best) continue;
    if (i < implementation) at++;
    ++*count;
  }
  return at;
}
