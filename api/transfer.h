/* Measures how fast data moves between host and device. */
#ifndef API_TRANSFER_H
#define API_TRANSFER_H

#include "base/results.h"

/* The progress of measuring; valid during the callback. */
typedef struct cugen_transfer_progress {
  size_t done, planned;           /* rows; an unavailable kind adds only one to done */
  const cugen_transfer_row *last; /* the row that was measured last */
} cugen_transfer_progress;

/* Called from the thread that measures, after each row; return nonzero to stop. */
typedef int (*cugen_transfer_callback)(const cugen_transfer_progress *progress, void *context);

/* What to measure. The kinds of host memory, and how the data is moved:
   - pageable: from malloc; the driver copies through its own pinned memory
   - registered: from malloc, page-locked afterwards (cuMemHostRegister, portable: for all contexts)
   - pinned: page-locked (cuMemHostAlloc, portable); the device's copy engine reads and writes it
   - combined: pinned and write-combined; it bypasses the processor's caches, so reading it is slow
   - pitched: pinned, 2-D: packed rows of 255 floats to and from rows in pitched device memory, 1024
     bytes apart where the driver aligns them to 512
   - pitched3d: pinned, 3-D: packed slices of 15 rows to and from slices of 16 rows
   - default: pinned; the driver finds the direction from the addresses (unified addressing,
     cudaMemcpyDefault)
   - mapped: zero-copy (cuMemHostAlloc, device map): a kernel reads or writes the host's memory in
     place
   - managed: a kernel or the host touches pages that are on the other side
   - prefetch: managed; the pages are prefetched */
typedef struct cugen_transfer_options {
  const char *memory;   /* the kinds to measure, such as "pinned, mapped"; NULL: all */
  const int64_t *sizes; /* sizes in bytes, each at least 1; NULL: 4 KiB to 1 GiB in powers of
                           four */
  size_t size_count;
  double seconds;                   /* approximate time for a row; 0: 0.1 */
  cugen_transfer_callback progress; /* may be NULL */
  void *context;                    /* passed to progress */
} cugen_transfer_options;

/* The measurements. Everything lives until the next api_transfer_measure, or until the library is
   closed. */
typedef struct cugen_transfer {
  const cugen_device_info *device;
  const cugen_transfer_row *rows; /* by kind, then by direction (to the device first), then by
                                     size */
  size_t count;
} cugen_transfer;

/* Measures on the GPU of options.device, by default the first one, in its primary context and the
   calling thread, and verifies what arrives in transfers of up to 16 MiB. Needs as much memory on
   host and device as the largest size. Buffers are reused, so the data of small sizes comes from
   the processor's caches. CUGEN_ERROR_USAGE: for example, an unknown kind, or the cpu device.
   CUGEN_ERROR_WRONG: other data arrived. CUGEN_ERROR_INTERRUPTED: the callback asked to stop; out
   has the measurements before that. */
int api_transfer_measure(cugen *lib, const cugen_transfer_options *options, cugen_transfer *out,
                         cugen_error *error);

#endif
