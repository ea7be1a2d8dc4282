/* Which lines of the templates, among those that access memory, have run. */
#ifndef EMULATOR_CHECK_REACHED_H
#define EMULATOR_CHECK_REACHED_H

#include "base/checked.h"
#include "emulator/lines.h"
#include "runtime/device.h"
#include "runtime/watch.h"

/* The accesses of the image that was read last, with their lines. */
struct reached_image {
  struct hash hash;
  uint64_t *sites;
  struct source_place *places;
  size_t count;
};

/* Reads the accesses of the compiled image into *image, unless *image holds them already. */
int reached_look(struct reached_image *image, const struct compiled *compiled, cugen_error *err);
void reached_image_free(struct reached_image *image);

/* Adds to the check the lines of the image's accesses, and whether the report has them run. */
int reached_add(cugen_check *check, const struct reached_image *image,
                const struct watch_report *report, cugen_error *err);
/* Sorts the lines: first those that did not run, then those that ran, each by file and line. Counts
   the lines that ran. */
void reached_sort(cugen_check *check);

#endif
