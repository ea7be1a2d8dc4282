/* Runs a worker as a thread of this process, for tuning in place. The thread serves the same
   messages over the same kind of socket as a worker process, but it cannot be ended from
   outside. */
#ifndef TUNE_WORKER_WORKER_THREAD_H
#define TUNE_WORKER_WORKER_THREAD_H

#include <stdbool.h>

#include "base/error.h"

struct worker_thread;

/* Starts the thread. context: the CUDA context to use; NULL: the primary context. The caller closes
   *socket first and ends the thread afterwards. */
int worker_thread_start(void *context, struct worker_thread **out, int *socket, cugen_error *err);
/* Asks the thread to stop, and waits at most `seconds`. Returns false if it has not ended; it then
   goes on until it ends by itself. In both cases the caller must not use the thread any more. */
bool worker_thread_end(struct worker_thread *thread, double seconds);

#endif
