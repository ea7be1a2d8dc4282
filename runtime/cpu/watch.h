/* Watches a kernel at work: who touched each word of shared and global memory, when, and whether anything orders it
   before the next who does. Fed by the accesses that a watched kernel reports (abi.h) and by the scheduler (fibers.c). */
#ifndef RUNTIME_CPU_WATCH_H
#define RUNTIME_CPU_WATCH_H

#include "abi.h"
#include "base/error.h"
#include "order.h"
#include "runtime/watch.h"

struct watch;

/* report is borrowed; it is zeroed when watch_buffers is called. */
int watch_open(struct watch_report *report, const uint64_t *fork, struct watch **out, cugen_error *err);
void watch_close(struct watch *watch);

/* The hooks that a watched image is given. */
const struct cpu_watch *watch_hooks(void);

/* What the launches that follow work on. Copied. */
int watch_buffers(struct watch *watch, const struct watch_buffer *buffers, size_t count, cugen_error *err);

/* A loaded image: where it lies, and its arrays of shared memory, from its symbols. */
struct watch_image {
  const void *bytes; /* the file */
  size_t length;
  uintptr_t base; /* where its first byte was loaded */
};

struct watch_launch {
  const struct watch_image *image;
  const struct cpu_builtins *builtins;
  struct cpu_dim3 grid, block;
  uintptr_t stacks; /* of the threads: nobody else's business */
  size_t stack_bytes;
  uintptr_t dynamic;                  /* shared memory: how much was asked for, how much there is */
  size_t dynamic_bytes, dynamic_room; /* of a block; the blocks of a cluster have theirs one after the other */
  unsigned blocks, padded;            /* of a cluster; a block's threads are numbered from a multiple of padded on */
  struct cpu_dim3 cluster;
  bool overlap; /* it may begin before the launch in front of it has ended */
};

/* ---- For the scheduler; between watch_begin and watch_end in the launch's thread ---- */

int watch_begin(struct watch *watch, const struct watch_launch *launch, cugen_error *err);
void watch_end(struct watch *watch);
void watch_block_begins(struct watch *watch);
/* Every live thread of the block, of that rank in its cluster, has come to a barrier. */
void watch_barrier(struct watch *watch, unsigned rank);
/* Those lanes of a warp have met, which are all that have not ended; orders: so that memory is ordered (__syncwarp). */
void watch_warp(struct watch *watch, unsigned warp, unsigned lanes, bool all, bool orders);
/* ---- Asynchronous operations. Threads are numbered through their cluster, as slots are in waits.h ---- */

/* Beside those of enum cpu_access. */
enum watch_access {
  WATCH_ENGINE = 8, /* by the copy engine, on behalf of the thread */
  WATCH_PROXY = 16  /* by what sees threads' writes after a fence only */
};

/* What threads leave at a barrier for those who pass it: rows that the caller numbers. */
enum { WATCH_ROWS = ORDER_ROWS };

struct watch_touch {
  const void *at; /* of static shared memory: where the block that runs has it */
  size_t bytes;
  unsigned kind, thread, rank; /* rank: of the block whose shared memory it is */
  const void *site;
};

/* All that the thread has seen until now is in that row. */
void watch_release(struct watch *watch, unsigned thread, unsigned row);
void watch_acquire(struct watch *watch, unsigned thread, unsigned row);
void watch_pass(struct watch *watch, unsigned to_row, unsigned from_row);
/* The thread comes after what the other did until that time. */
void watch_follow(struct watch *watch, unsigned thread, unsigned other, uint32_t time);
void watch_cluster_barrier(struct watch *watch);
/* Returns its time. */
uint32_t watch_touch(struct watch *watch, const struct watch_touch *touch);
/* The thread uses what was written last there (an mbarrier), and is to come after that. */
void watch_follows(struct watch *watch, const struct watch_touch *touch);
/* What the engine began to write then is there, and counted at the barrier of that row. */
void watch_landed(struct watch *watch, const void *at, size_t bytes, uint32_t time);
void watch_counted(struct watch *watch, unsigned row, uint32_t time);
void watch_proxy_fence(struct watch *watch, unsigned thread);
/* Registers (on the thread's stack) that products are added to, until they are given back. */
void watch_hold(struct watch *watch, unsigned thread, const void *start, size_t bytes, const void *site);
void watch_give_back(struct watch *watch, unsigned thread, const void *start);
void watch_registers_fence(struct watch *watch, unsigned thread);

/* The time of what happens now, and whether the thread comes after what another one did at a time. */
uint32_t watch_now(const struct watch *watch);
bool watch_knows(const struct watch *watch, unsigned thread, unsigned other, uint32_t time);
/* The thread has waited for the launch in front, and uses global memory: by itself, it does without. */
void watch_launch_waited(struct watch *watch, unsigned thread);
void watch_launch_used(struct watch *watch, unsigned thread, const void *site);

/* At a site, thread by linear number; other_site 0: no other. */
void watch_event(struct watch *watch, enum watch_kind kind, const void *site, unsigned thread, const void *other_site,
                 unsigned other_thread, const char *text);
/* An access that is nowhere. Async-signal-safe. */
void watch_stray(struct watch *watch, const void *site, const void *address, bool write);
/* The processor has refused an access of 16 bytes that is no multiple of them. In a signal handler, of the
   kernel's own instruction. */
void watch_misplaced(struct watch *watch, const void *site);
/* The linear number of the block that is to run next; as many as the grid has: there is none. WATCH_HUNG: the launch has
   found out elsewhere that it does not end. Starts processes where that pays (share.h), and does not come back in theirs. */
#define WATCH_HUNG UINT64_MAX
uint64_t watch_next(struct watch *watch);
double watch_limit(const struct watch *watch);
/* The launch ends at its next access, as a hang. False: it was to end already. Async-signal-safe. */
bool watch_time_is_up(struct watch *watch);
/* The return address, if it is in the kernel, else the place of the last access. Async-signal-safe. */
const void *watch_standing(const struct watch *watch, const void *site);

#endif
