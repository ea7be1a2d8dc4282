/* The worker as a thread of this process, for tuning in place: the same service over the same socket, but nothing can
   end it from outside. */
#ifndef TUNE_WORKER_THREAD_H
#define TUNE_WORKER_THREAD_H

#include <stdbool.h>

#include "base/error.h"

struct worker_thread;

/* context: as device_options.context. The caller closes *socket, and then ends the thread. */
int worker_thread_start(void *context, struct worker_thread **out, int *socket, cugen_error *err);
/* Asks it to stop what it does and waits so many seconds. False: it did not end, and is left to itself until it
   does. It is gone for the caller in either case. */
bool worker_thread_end(struct worker_thread *thread, double seconds);

#endif
