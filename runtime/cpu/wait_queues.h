/* Wait queues, and what else the scheduler (scheduler.c) offers to asynchronous operations. Only in a launch's thread. */
#ifndef RUNTIME_CPU_WAIT_QUEUES_H
#define RUNTIME_CPU_WAIT_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

#include "fibers.h"

/* The cluster that runs, and its current thread. Slots number the threads of a cluster; a block's begin at a multiple of a warp. */
struct current {
  unsigned blocks, padded; /* in the cluster; slots of a block */
  unsigned threads;        /* of a block */
  unsigned slot, rank;     /* of the thread that runs */
};
const struct current *fibers_current(void);
const struct fiber_launch *fibers_launch(void);
struct async *fibers_async(void);

/* NULL: nobody watches. */
static inline struct observer *fibers_observer(void) {
  return fibers_launch()->observer;
}

/* Threads that wait for the same thing. All zero: none. */
struct wait_queue {
  unsigned first; /* slot + 1 */
};

/* Writes what a thread waits for, for the text of a deadlock. object: as given to fibers_wait. */
typedef void describe_wait(const void *object, char *out, size_t size);

/* The current thread waits until the queue is woken. site: where it waits. */
void fibers_wait(struct wait_queue *queue, const void *site, describe_wait *describe, const void *object);
void fibers_wake_all(struct wait_queue *queue);

/* Threads of the cluster that have not ended. */
unsigned fibers_live_all(void);

/* The address in that block's static shared memory of what the running block has at `at`. */
void *fibers_static(unsigned rank, uintptr_t at);

/* Ends the launch: "trap: what in block ... thread ...". */
_Noreturn void fibers_trap(const char *what);

#endif
