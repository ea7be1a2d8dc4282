/* Measures how fast data moves between host and device, for every kind of host memory and for small
   and large sizes. */
#ifndef TUNE_WORKER_TRANSFER_H
#define TUNE_WORKER_TRANSFER_H

#include "measure.h"

enum transfer_kind {
  TRANSFER_PAGEABLE,   /* malloc; the driver copies through pinned memory of its own */
  TRANSFER_REGISTERED, /* malloc, page-locked afterwards */
  TRANSFER_PINNED,     /* page-locked from the start */
  TRANSFER_COMBINED,   /* pinned and write-combined: host writes bypass the processor's caches */
  /* Pinned, 2-D: packed rows of 255 floats on the host, rows of the driver's pitch on the
     device. */
  TRANSFER_PITCHED,
  /* Like TRANSFER_PITCHED, in slices of 15 rows on the host and 16 rows on the device. */
  TRANSFER_PITCHED_3D,
  /* Pinned, copied by cuMemcpyAsync: the driver finds the direction from the addresses. */
  TRANSFER_DEFAULT,
  TRANSFER_MAPPED,   /* zero-copy: a kernel reads or writes the host memory directly */
  TRANSFER_MANAGED,  /* managed memory: pages move when a kernel or the host touches them */
  TRANSFER_PREFETCH, /* managed memory, prefetched before a kernel or the host touches it */
  TRANSFER_KIND_COUNT
};

/* Names by kind, terminated by NULL. */
extern const char *const transfer_kind_names[TRANSFER_KIND_COUNT + 1];

struct transfer_options {
  bool kinds[TRANSFER_KIND_COUNT];
  const size_t *sizes; /* sizes in bytes, each at least 1 */
  size_t size_count;
  double seconds; /* approximate seconds to spend on a row: one kind, size and direction */
  const struct compiled *copier; /* image of templates/transfer_copy.cu; NULL: kernels cannot run */
  const char *why;               /* reason why `copier` is NULL */
  /* Called with each row; a status other than CUGEN_OK ends the measurement. */
  int (*done)(const cugen_transfer_row *row, void *context);
  void *context;
};

/* Returns an upper bound of the number of rows. */
size_t transfer_count(const struct transfer_options *options);

/* Measures in the device's primary context, while no other cugen process measures on the GPU. For
   each row, up to 16 MiB of what arrives are compared with what was sent; a difference is
   CUGEN_ERROR_WRONG. */
int transfer_measure(const struct toolkit *toolkit, int ordinal,
                     const struct transfer_options *options, cugen_error *err);

#endif
