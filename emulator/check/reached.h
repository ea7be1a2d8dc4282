/* Which lines of the templates, among those that access memory, have run. */
#ifndef EMULATOR_CHECK_REACHED_H
#define EMULATOR_CHECK_REACHED_H

#include "base/checked.h"
#include "emulator/lines.h"
#include "runtime/device.h"
#include "runtime/watch.h"

/* The accesses of the last image, with their lines, kept because runs of one variant have one
   image. */
struct reached_image {
  struct hash hash;
  uint64_t *sites;
  struct source_place *places;
  size_t count;
};

/* Reads the image's accesses, unless they were the last to be read. */
int reached_look(struct reached_image *image, const struct compiled *compiled, cugen_error *err);
void reached_image_free(struct reached_image *image);

/* Adds the lines of these accesses, and whether each line ran. */
int reached_add(cugen_check *check, const struct reached_image *image,
                const struct watch_report *report, cugen_error *err);
/* Sorts the lines by file and line, those that did not run first, and counts those that ran. */
void reached_sort(cugen_check *check);

#endif
