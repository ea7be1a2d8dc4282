/* What the scheduler (fibers.c) offers to those of its operations that stand in files of their own: threads that wait for
   something, and where they are. Only in a launch's thread. */
#ifndef RUNTIME_CPU_WAITS_H
#define RUNTIME_CPU_WAITS_H

#include <stdbool.h>
#include <stddef.h>

#include "fibers.h"

enum {
  WAIT_WARP = 32,
  WAIT_BLOCK_THREADS = 1024, /* CUDA C++ Programming Guide, technical specifications per compute capability */
  WAIT_CLUSTER = 8,          /* blocks: the portable size of a cluster */
  WAIT_SLOTS = WAIT_BLOCK_THREADS * WAIT_CLUSTER
};

/* Threads are numbered through their cluster: a block's begin at a multiple of a warp. */
struct crowd {
  unsigned blocks, padded; /* in the cluster; slots of a block */
  unsigned threads;        /* of a block */
  unsigned slot, rank;     /* of the thread that runs */
};
const struct crowd *fibers_crowd(void);
const struct fiber_launch *fibers_launch(void);
struct async *fibers_async(void);

/* Threads that wait for the same thing. All zero: none. */
struct gate {
  unsigned first; /* slot + 1 */
};

/* What is said of a thread that waits when it waits for ever: object is the gate's. */
typedef void describe_wait(const void *object, char *out, size_t size);

/* The current thread waits until the gate is opened. */
void fibers_pause(struct gate *gate, const void *site, describe_wait *describe, const void *object);
void fibers_open_gate(struct gate *gate);

/* Threads that have not ended: of a block, or of the whole cluster. */
unsigned fibers_live(unsigned rank);
unsigned fibers_live_all(void);

/* Where in that block's static shared memory this place of the running block's is. */
void *fibers_static(unsigned rank, uintptr_t at);

/* Ends the launch: "trap: what in block ... thread ...". */
_Noreturn void fibers_trap(const char *what);

/* The same, of what the watch has found. */
_Noreturn void fibers_give_up(const char *what);

/* The same, when the time is up: the report is told where the threads stand. */
_Noreturn void fibers_end_hang(const void *site);

/* ---- async.c: mbarriers, copies that go on by themselves, barriers of a cluster and of some warps ---- */

struct async;

int async_open(struct async **out, cugen_error *err);
void async_close(struct async *async);
/* Before a cluster's threads begin, and when all have ended. */
void async_begin(struct async *async);
void async_end(struct async *async);
/* One copy that is on its way arrives. False: there is none. */
bool async_step(struct async *async);
/* A thread has ended, which others may wait for. */
void async_ended(struct async *async);
extern const struct cpu_async async_hooks;

#endif
