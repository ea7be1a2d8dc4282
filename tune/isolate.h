/* A step of the worker in a process of its own, forked for it. What the step leaves behind ends with that process: open files,
   limits, rounding, signals, threads, its folder, static data. Only for a worker process, without threads. */
#ifndef TUNE_ISOLATE_H
#define TUNE_ISOLATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* What the step's process writes to stdout and stderr. */
struct isolate_output {
  uint64_t bytes; /* in all; what does not fit the text is dropped */
  uint64_t first; /* how many of them came before isolate_mark */
  uint64_t marked;
  char text[2040];
};

/* The step writes its result into `result`, which is copied back. It has no open file but these outputs, which are added to *output, and `kept` (-1: none).
   When the step's process dies, so does this one, in the same way: to whoever started it, the worker has died of the step. */
int isolate(void (*step)(void *context, void *result), void *context, void *result, size_t bytes,
            struct isolate_output *output, int kept, cugen_error *err);

/* For a step: tells what it has written until now from what follows. */
void isolate_mark(void);

#endif
