/* How fast data moves between host and device: from and to every kind of host memory, small and large. */
#ifndef TUNE_TRANSFER_H
#define TUNE_TRANSFER_H

#include "measure.h"

enum transfer_kind {
  TRANSFER_PAGEABLE,   /* malloc; the driver copies through pinned memory of its own */
  TRANSFER_REGISTERED, /* malloc, page-locked afterwards */
  TRANSFER_PINNED,     /* page-locked from the start */
  TRANSFER_COMBINED,   /* pinned and write-combined: past the processor's caches */
  TRANSFER_PITCHED,    /* pinned, 2-D: packed rows of 255 floats to and from rows as the driver pitches them */
  TRANSFER_PITCHED_3D, /* the same in slices of 15 rows, to and from slices of 16 */
  TRANSFER_DEFAULT,    /* pinned; the driver tells the direction from the addresses */
  TRANSFER_MAPPED,     /* zero-copy: a kernel reads or writes the host's memory */
  TRANSFER_MANAGED,    /* pages move when a kernel, or the host, touches them */
  TRANSFER_PREFETCH,   /* managed; they are moved ahead of that */
  TRANSFER_KIND_COUNT
};

extern const char *const transfer_kind_names[TRANSFER_KIND_COUNT + 1]; /* ends with NULL */

struct transfer_row {
  enum transfer_kind kind;
  bool to_host;
  const char *unavailable; /* NULL, or why the kind was not measured; then there is one row of it, without figures */
  size_t size, bytes;      /* asked for, and moved */
  double alone;            /* seconds of one transfer that is waited for */
  struct measurement many; /* seconds of one of many in a row, or of one alone where each needs preparing */
};

struct transfer_options {
  bool kinds[TRANSFER_KIND_COUNT];
  const size_t *sizes; /* bytes, each 1 or more */
  size_t size_count;
  double seconds;                /* to spend on a row, about */
  const struct compiled *copier; /* templates/transfer_copy.cu; NULL: no kernel can run, */
  const char *why;               /* for this reason */
  int (*done)(const struct transfer_row *row, void *context); /* after each; a status other than CUGEN_OK ends it */
  void *context;
};

/* How many rows there will be at most. */
size_t transfer_count(const struct transfer_options *options);

/* In the device's primary context, alone on the GPU as far as cugen goes. The bytes that arrive are compared with those
   that left, up to 16 MiB of them: CUGEN_ERROR_WRONG. */
int transfer_measure(const struct toolkit *toolkit, int ordinal, const struct transfer_options *options,
                     cugen_error *err);

#endif
