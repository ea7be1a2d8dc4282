/* Which lines of the templates, among those that access memory, have run. */
#ifndef EMULATOR_CHECK_REACHED_H
#define EMULATOR_CHECK_REACHED_H

#include "emulator/lines.h"
#include "runtime/device.h"
#include "runtime/watch.h"

struct reached_line {
  char *file;
  int line;
  bool ran;
};

struct reached {
  struct reached_line *lines;
  size_t count;
};

/* The accesses of the last image, with their lines, kept because runs of one variant have one
   image. */
struct reached_image {
  struct hash hash;
  uint64_t *sites;
  struct source_place *places;
  size_t count;
};

int reached_look(struct reached_image *image, const struct compiled *compiled, cugen_error *err);
void reached_image_free(struct reached_image *image);

int reached_add(struct reached *reached, const struct reached_image *image,
                const struct watch_report *report, cugen_error *err);
/* Sorts by file and line. */
void reached_sort(struct reached *reached);
void reached_free(struct reached *reached);

#endif
