/* Divides a large piece of work on data into parts, each done by one thread. */
#ifndef TUNE_DATA_PARALLEL_FOR_H
#define TUNE_DATA_PARALLEL_FOR_H

#include <stdint.h>

#include "base/error.h"

enum { PARALLEL_MOST = 16 };

/* Does the units from `first` up to, but not including, `last`. part: the number of the part, from
   0 to PARALLEL_MOST - 1. Each part has its own err. */
typedef int parallel_work(void *context, int part, int64_t first, int64_t last, cugen_error *err);

/* Divides `units` units of `size` elements each into parts, and calls work for each part. There are
   as many parts as processors, but at most PARALLEL_MOST, at most one for each unit and for each
   2^18 elements, and at least one. The calling thread does the first part, and every part whose
   thread cannot be started. Returns the error of the lowest part that failed. */
int parallel_for(int64_t units, int64_t size, parallel_work *work, void *context, cugen_error *err);

#endif
