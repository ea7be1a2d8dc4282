/* A step of the worker in a process of its own, forked for it. What the step leaves behind ends with that process: open files,
   limits, rounding, signals, threads, its folder, static data. Only for a worker process, without threads. */
#ifndef TUNE_ISOLATE_H
#define TUNE_ISOLATE_H

#include <stddef.h>

#include "base/error.h"

/* The step writes its result into `result`, which is copied back. When the step's process dies, so does this one, in the same
   way: to whoever started it, the worker has died of the step. */
int isolate(void (*step)(void *context, void *result), void *context, void *result, size_t bytes, cugen_error *err);

#endif
