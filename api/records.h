/* The records of one kernel, and the best of them. */
#ifndef API_RECORDS_H
#define API_RECORDS_H

#include "base/results.h"

/* Loads the records of cugen_kernel_records, unless they are loaded. */
int api_load_records(cugen_kernel *kernel, cugen_error *error);
/* Loads and returns the kernel's records, which live until the kernel is tuned, run or changed.
   NULL, with *count 0: they cannot be loaded. */
const cugen_record *api_records(cugen_kernel *kernel, size_t *count);

/* A record, and whether it is still valid for the kernel. */
typedef struct cugen_stored_record {
  cugen_record record;
  int current;         /* the variant still expands to the kernel that was measured; a look-up uses
                          the record unless it is superseded */
  int superseded;      /* the record is history: another record of the variant is used instead */
  int64_t measured_at; /* seconds since the epoch */
  int driver_version, nvrtc_version;
} cugen_stored_record;

/* Lists the records in the cache for this kernel, problem, device and options, whether current or
   not (those of other config files only if current): correct records by cost, then failed ones,
   then, with history, superseded ones, the latest first. *out lives until the next call. */
int api_kernel_stored(cugen_kernel *kernel, int history, const cugen_stored_record **out,
                      size_t *count, cugen_error *error);

/* Returns the index of the best of these records. Only correct records count; returns count if
   there is none, or if records is NULL. */
size_t api_best_of(const cugen_record *const *records, size_t count);

/* Finds the last comparison of the kernel's best variant with a function of the user's own;
   out->function is NULL if there was none, and lives until the next call or tune. */
int api_kernel_baseline(cugen_kernel *kernel, cugen_baseline_result *out, cugen_error *error);

#endif
