/* Wait queues, and other functions that the scheduler (scheduler.c) offers to asynchronous
   operations. All are called only on the thread of the operating system that runs the launch. */
#ifndef EMULATOR_WAIT_QUEUES_H
#define EMULATOR_WAIT_QUEUES_H

#include <stdbool.h>
#include <stddef.h>

#include "fibers.h"

/* The running cluster and its current thread. Slots number the threads of a cluster; a block's
   slots begin at a multiple of the warp size. */
struct current {
  unsigned blocks, padded; /* blocks in the cluster; slots of a block */
  unsigned threads;        /* threads of a block */
  unsigned slot, rank;     /* of the running thread */
};
const struct current *fibers_current(void);
const struct fiber_launch *fibers_launch(void);
struct async *fibers_async(void);

/* Returns NULL if the launch is not observed. */
static inline const struct observer *fibers_observer(void) {
  return fibers_launch()->observer;
}

/* Threads that wait for the same event. All zero: no thread. */
struct wait_queue {
  unsigned first; /* 1 + the slot of the thread that began to wait last; 0: none */
};

/* Writes what a thread waits for, for the message of a deadlock. object: as given to
   fibers_wait. */
typedef void describe_wait(const void *object, char *out, size_t size);

/* Suspends the current thread until the queue is woken. site: where the thread waits. */
void fibers_wait(struct wait_queue *queue, const void *site, describe_wait *describe,
                 const void *object);
void fibers_wake_all(struct wait_queue *queue);

/* The number of the cluster's threads that have not ended. */
unsigned fibers_live_all(void);

/* Returns where the block of that rank has the byte of static shared memory that the running block
   has at `at`. Returns `at` for the running block itself, and outside of static shared memory. */
void *fibers_static(unsigned rank, uintptr_t at);

/* Ends the launch: "trap: what in block ... thread ...". */
_Noreturn void fibers_trap(const char *what);

#endif
