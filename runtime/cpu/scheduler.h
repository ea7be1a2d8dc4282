/* What the parts of the scheduler share: the threads of a block or a cluster of them, and who can go on. fibers.c runs them,
   meet.c has barriers and warp operations, standing.c says where they stand when something went wrong. */
#ifndef RUNTIME_CPU_SCHEDULER_H
#define RUNTIME_CPU_SCHEDULER_H

#include "context.h"
#include "waits.h"

enum {
  FIBERS_THREADS = WAIT_BLOCK_THREADS,
  FIBERS_BLOCKS = WAIT_CLUSTER,
  FIBERS_SLOTS = WAIT_SLOTS,
  FIBERS_WARPS = FIBERS_SLOTS / WAIT_WARP,
  FIBERS_READY_BITS = 64,
  FIBERS_STACK_BYTES = 128 * 1024,
  FIBERS_FAULT_BYTES = 512,
  /* Stacks at equal distances share the sets of the L1 cache. Their tops are moved apart by an odd number of cache
     lines, which passes through all 64 lines of a 4 KB way before it repeats. */
  FIBERS_COLOUR_STEP = 9 * 64,
  FIBERS_COLOUR_BYTES = 4096
};

struct fiber {
  struct context context;
  bool made;
};

/* What a thread that waits left behind. */
struct parked {
  struct fiber *fiber;
  const void *site; /* in the kernel */
  unsigned mask;    /* of its warp operation */
  void (*combine)(void **slots, unsigned mask);
  void *mine;
  int barrier;   /* its number in the source, or 0 */
  unsigned next; /* at the same gate: slot + 1 */
  describe_wait *describe;
  const void *object;
};

/* Bits are lanes. A live lane that is in neither set runs, waits at the barrier, or has not begun. */
struct warp {
  unsigned live;    /* has not ended */
  unsigned ready;   /* waited and can go on */
  unsigned waiting; /* waits at a warp operation */
};

/* One of the cluster's. */
struct block {
  struct cpu_dim3 at;
  unsigned live;
  unsigned arrived, agreed;           /* at the barrier that is filling up; of these, with a true predicate */
  unsigned released, released_agreed; /* the same of the barrier that was passed last */
};

struct fibers {
  char *stacks; /* FIBERS_SLOTS times a guard page and a stack */
  size_t guard, stride;
  unsigned usable; /* stacks that may be written */
  struct fiber fibers[FIBERS_SLOTS];
  struct fiber *idle[FIBERS_SLOTS]; /* without a thread; the last one is taken first */
  unsigned idle_count;
  struct cpu_dim3 positions[FIBERS_THREADS]; /* threadIdx by linear number, for positions_of */
  struct cpu_dim3 positions_of;

  /* One launch. */
  const struct fiber_launch *launch;
  struct context caller, *active;
  struct context *left; /* where control came from */
  struct async *async;
  char *kept; /* static shared memory of the blocks of a cluster that do not run */
  size_t kept_bytes;

  /* One block, or a cluster of them. */
  struct crowd crowd;
  unsigned unstarted, slots, live; /* slots: of all blocks */
  struct block blocks[FIBERS_BLOCKS];
  struct cpu_dim3 cluster;                                /* blocks of a cluster */
  uint64_t ready_warps[FIBERS_WARPS / FIBERS_READY_BITS]; /* those with a ready lane */
  struct warp warps[FIBERS_WARPS];
  struct parked parked[FIBERS_SLOTS];
  char fault[FIBERS_FAULT_BYTES]; /* why the launch was given up; "" */
};

/* A kernel reaches its scheduler through hooks that carry no context, and so does a signal handler. */
extern _Thread_local struct fibers *fibers_running __attribute__((visibility("hidden")));

static inline bool fibers_is_live(const struct fibers *all, unsigned slot) {
  return all->warps[slot / WAIT_WARP].live >> slot % WAIT_WARP & 1;
}

static inline void fibers_mark_ready(struct fibers *all, unsigned warp, unsigned lanes) {
  all->warps[warp].ready |= lanes;
  if (lanes) all->ready_warps[warp / FIBERS_READY_BITS] |= UINT64_C(1) << warp % FIBERS_READY_BITS;
}

static inline void fibers_unmark_ready(struct fibers *all, unsigned slot) {
  const unsigned warp = slot / WAIT_WARP;
  all->warps[warp].ready &= ~(1u << slot % WAIT_WARP);
  if (!all->warps[warp].ready)
    all->ready_warps[warp / FIBERS_READY_BITS] &= ~(UINT64_C(1) << warp % FIBERS_READY_BITS);
}

static inline bool fibers_any_ready(const struct fibers *all) {
  if (all->crowd.blocks == 1) return all->ready_warps[0];
  uint64_t any = 0;
  for (unsigned i = 0; i < FIBERS_WARPS / FIBERS_READY_BITS; ++i) any |= all->ready_warps[i];
  return any;
}

/* The current thread waits; comes back when it was made ready. */
void fibers_park(struct fibers *all);
/* Ends the launch, or the process. */
_Noreturn void fibers_fault(const char *text);

/* ---- meet.c ---- */

int meet_barrier(int kind, int predicate);
void meet_warp(unsigned mask, void (*combine)(void **slots, unsigned mask), void *mine);
unsigned meet_active_mask(void);
/* All live threads of the block have come to its barrier. */
void meet_release(struct fibers *all, unsigned rank);
/* Performs the operation at which a thread waits, when all that it names have come. */
bool meet_try_warp(struct fibers *all, unsigned thread);

/* ---- standing.c ---- */

/* Some thread waits for other than its block's barrier: a block whose live threads have all come to that passes it. */
_Noreturn void standing_deadlock(const struct fibers *all);

#endif
