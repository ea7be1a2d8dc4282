/* Runs a step of the worker in a forked process of its own. Whatever the step changes ends with
   that process: open files, limits, rounding mode, signals, threads, working folder, static data.
   Call this only in a worker process, which has no threads. */
#ifndef TUNE_WORKER_ISOLATE_H
#define TUNE_WORKER_ISOLATE_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* The text that the step's process writes to stdout and stderr. */
struct isolate_output {
  uint64_t bytes; /* number of bytes written; bytes that do not fit into the text are dropped */
  uint64_t first; /* number of bytes written before isolate_mark, if it was called */
  uint64_t marked;
  char text[2040];
};

/* Runs the step, which writes its result into `result`; the result is copied back. The step has
   stdin, the output streams, whose text is appended to *output, and the descriptor `kept` (-1:
   none). If the step's process dies, this process dies in the same way, so that the coordinator
   sees the worker die of the step. */
int isolate(void (*step)(void *context, void *result), void *context, void *result, size_t bytes,
            struct isolate_output *output, int kept, cugen_error *err);

/* Called by a step: separates the output written so far from the output that follows. */
void isolate_mark(void);

#endif
