/* A recorded space: tunables, the variants that were measured, what each took. It is read from
   what other tuners write, and it is any set of variants, not the product of its tunables'
   values: which variants there are is looked up by hash. Variants are numbered in the file's
   order. */
#ifndef REPLAY_RECORDED_H
#define REPLAY_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

#include "base/system.h"

/* The outcomes that strategies know. */
enum {
  RECORDED_MOST_AXES = 64,
  RECORDED_MOST_VALUES = 65534,
  RECORDED_ABSENT = UINT16_MAX /* in place of a position: the variant has no such tunable */
};

/* A tunable with more than one value, or one that not all variants have. */
struct recorded_axis {
  char *name;
  size_t count;
  char **texts;   /* texts of the values; numbers rise, words are in the order of the file */
  double *values; /* the values as numbers; NULL: they are words */
};

struct recorded {
  const char *format;    /* "T4" */
  char *kernel, *device; /* "": the file does not name it */
  struct recorded_axis *axes;
  size_t axis_count;
  size_t count;        /* number of variants */
  uint16_t *positions; /* positions of each variant's values on the axes */
  /* what variants are ranked by, in the file's unit; NAN: the variant failed */
  double *costs;
  double *compile;    /* seconds of each variant's compile, */
  double *total;      /* and of all its work */
  double all_compile; /* seconds that every compile takes instead; negative: as recorded */
  double all_else;    /* seconds of everything else instead; negative: as recorded */
  double per_second;  /* units of the costs in a second: 1000 for milliseconds */
  uint32_t *table;    /* hash table of indices, by positions; UINT32_MAX: free */
  size_t table_mask;
};

/* path "-": standard input. The error names the file. */
int recorded_read(const char *path, struct process_stop stop, struct recorded *out,
                  cugen_error *err);
void recorded_free(struct recorded *recorded);
/* Makes the table. Of a variant that occurs twice the first one counts. */
int recorded_index(struct recorded *recorded, cugen_error *err);

/* The seconds of a variant's compile, and of all its work. */
double recorded_compile(const struct recorded *recorded, size_t index);
double recorded_total(const struct recorded *recorded, size_t index);

/* Prints the variant: "block=32 tile=4". */
void recorded_print(const struct recorded *recorded, size_t index, struct text *out);

/* ---- For strategies: context is a struct recorded ------------------------------------------- */

void recorded_locate(const void *context, uint64_t index, uint16_t *positions);
bool recorded_find(const void *context, const uint16_t *positions, uint64_t *index);
/* Lists the variants that differ in one value. */
size_t recorded_neighbours(const void *context, uint64_t index, uint64_t *out);
size_t recorded_max_neighbours(const struct recorded *recorded);

#endif
