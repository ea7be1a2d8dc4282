/* Declarations shared by the parts of the scheduler: the threads of a block or a cluster of blocks,
   and which of them can run. Two functions that scheduler.c needs belong to higher parts and are
   pointers here: the program of a fresh fiber, and one step of asynchronous copies. */
#ifndef EMULATOR_SCHEDULER_H
#define EMULATOR_SCHEDULER_H

#include "context.h"
#include "wait_queues.h"

enum {
  FIBERS_WARPS = FIBERS_SLOTS / FIBERS_LANES,
  FIBERS_READY_BITS = 64,
  FIBERS_STACK_BYTES = 128 * 1024,
  /* Stacks at equal distances share the sets of the L1 cache. Therefore their tops are moved apart
     by an odd number of cache lines, so that they use all sets. */
  FIBERS_COLOUR_STEP = 9 * 64,
  FIBERS_COLOUR_BYTES = 4096
};

struct fiber {
  struct context context;
  bool made;
};

/* What a waiting thread waits for. */
struct parked {
  struct fiber *fiber;
  const void *site; /* in the kernel */
  unsigned mask;    /* lanes of the warp operation, or that have converged */
  void (*combine)(void **slots, unsigned mask);
  void *mine;
  int barrier;   /* the barrier's number in the source; 0: none */
  unsigned next; /* next thread in the queue: slot + 1 */
  describe_wait *describe;
  const void *object;
};

/* Bits are lanes. A live lane that is in none of the other sets is running, waits at the barrier or
   in a wait queue, or has not begun. */
struct warp {
  unsigned live;       /* has not ended */
  unsigned ready;      /* has waited and can continue */
  unsigned waiting;    /* waits at a warp operation */
  unsigned yielded;    /* can continue, after all other threads */
  unsigned converging; /* waits for lanes that come to the same place */
};

struct block {
  struct cpu_dim3 at;
  unsigned live;
  /* threads at the present barrier; those of them with a true predicate */
  unsigned arrived, agreed;
  /* `arrived` and `agreed` of the barrier that was passed last */
  unsigned released, released_agreed;
};

struct fibers {
  char *stacks; /* FIBERS_SLOTS stacks, each with a guard page */
  size_t guard, stride;
  unsigned usable;                   /* stacks that may be written */
  void (*thread_main)(void);         /* runs on a fresh fiber */
  bool (*step)(struct async *async); /* lets one copy in flight arrive; false: there is none */
  struct fiber fibers[FIBERS_SLOTS];
  struct fiber *idle[FIBERS_SLOTS]; /* fibers without a thread; the last one is taken first */
  unsigned idle_count;
  struct cpu_dim3 positions[FIBERS_THREADS]; /* threadIdx by linear number */
  struct cpu_dim3 positions_of;              /* the size of a block that `positions` are for */

  /* The present launch. */
  const struct fiber_launch *launch;
  struct context caller, *active;
  struct context *left; /* the context that control came from */
  struct async *async;
  uint64_t number; /* counts blocks, or clusters, as they run; unused with an observer */
  char *kept;      /* static shared memory of the cluster's blocks that are not running */
  size_t kept_bytes;

  /* The running block, or cluster of blocks. */
  struct current current;
  unsigned unstarted, slots, live; /* slots: of all blocks */
  unsigned converging;             /* threads that wait for lanes to converge */
  struct block blocks[FIBERS_BLOCKS];
  struct cpu_dim3 cluster;                                /* blocks of a cluster */
  uint64_t ready_warps[FIBERS_WARPS / FIBERS_READY_BITS]; /* warps with a ready lane */
  struct warp warps[FIBERS_WARPS];
  bool any_yielded;
  struct parked parked[FIBERS_SLOTS];
  struct fault fault; /* why the launch was given up */
};

/* The launch that runs on this thread, or NULL; hooks and signal handlers get no context
   argument. */
extern _Thread_local struct fibers *fibers_running __attribute__((visibility("hidden")));

static inline bool fibers_is_live(const struct fibers *all, unsigned slot) {
  return all->warps[slot / FIBERS_LANES].live >> slot % FIBERS_LANES & 1;
}

static inline void fibers_mark_ready(struct fibers *all, unsigned warp, unsigned lanes) {
  all->warps[warp].ready |= lanes;
  if (lanes) all->ready_warps[warp / FIBERS_READY_BITS] |= UINT64_C(1) << warp % FIBERS_READY_BITS;
}

static inline void fibers_unmark_ready(struct fibers *all, unsigned slot) {
  const unsigned warp = slot / FIBERS_LANES;
  all->warps[warp].ready &= ~(1u << slot % FIBERS_LANES);
  if (!all->warps[warp].ready)
    all->ready_warps[warp / FIBERS_READY_BITS] &= ~(UINT64_C(1) << warp % FIBERS_READY_BITS);
}

static inline bool fibers_any_ready(const struct fibers *all) {
  if (all->current.blocks == 1) return all->ready_warps[0];
  uint64_t any = 0;
  for (unsigned i = 0; i < FIBERS_WARPS / FIBERS_READY_BITS; ++i) any |= all->ready_warps[i];
  return any;
}

/* ---- fault.c -------------------------------------------------------------------------------- */

/* Ends the launch, or the process. */
_Noreturn void fibers_fault(cugen_cause cause, const char *text);

static inline void fibers_switch_to(struct fibers *all, struct context *to) {
  struct context *from = all->active;
  all->active = to;
  all->left = from;
  context_switch(from, to);
  context_arrive(all->left, from);
}

/* ---- positions.c ---------------------------------------------------------------------------- */

/* Reports a deadlock, in which at least one thread waits at something other than its block's
   barrier. */
_Noreturn void positions_deadlock(const struct fibers *all);

/* ---- scheduler.c ---------------------------------------------------------------------------- */

/* Suspends the current thread; returns when it runs again. */
void fibers_park(struct fibers *all);
/* Makes the lowest ready thread the current one, and returns its fiber. Precondition: a thread
   is ready. */
struct fiber *fibers_resume_ready(struct fibers *all);
/* Takes a fiber for a thread. There are as many fibers as threads in the largest cluster so far. */
struct fiber *fibers_take_idle(struct fibers *all);
/* Tries to make threads ready when none is: lanes that have converged, else threads that a copy in
   flight wakes on arrival, else threads that have yielded. */
void fibers_await(struct fibers *all);
void fibers_stop_if_asked(const struct fibers *all);
/* Makes another block of the cluster the running one, and loads its static shared memory. */
void fibers_enter_block(struct fibers *all, unsigned rank);

static inline void fibers_set_current(struct fibers *all, unsigned slot) {
  struct cpu_builtins *builtins = all->launch->builtins;
  unsigned thread = slot;
  if (all->current.blocks > 1) {
    const unsigned rank = slot / all->current.padded;
    if (rank != all->current.rank) fibers_enter_block(all, rank);
    thread -= rank * all->current.padded;
  }
  builtins->thread = all->positions[thread];
  builtins->linear = thread;
  all->current.slot = slot;
}

/* Makes the lowest thread that has not begun the current one. */
static inline void fibers_start_next(struct fibers *all, struct fiber *on) {
  const unsigned slot = all->unstarted++;
  if (all->unstarted % all->current.padded == all->current.threads)
    all->unstarted += all->current.padded - all->current.threads;
  all->parked[slot].fiber = on;
  fibers_set_current(all, slot);
}

/* ---- collectives.c -------------------------------------------------------------------------- */

/* site: where the kernel waits; for collective_barrier, collective_warp and collective_converged
   their return address. */
int collective_barrier_at(const void *site, int kind, int predicate);
/* Returns the lanes that arrived in a watched launch, or `mask` in another. */
unsigned collective_warp_at(const void *site, unsigned mask,
                            void (*combine)(void **slots, unsigned mask), void *mine);
int collective_barrier(int kind, int predicate);
unsigned collective_warp(unsigned mask, void (*combine)(void **slots, unsigned mask), void *mine);
unsigned collective_active_mask(void);
unsigned collective_converged(void);
/* Lets the live threads of the block continue, all of which have reached the block's barrier. */
void collective_release(struct fibers *all, unsigned rank);
/* Performs the operation at which a thread waits if all live lanes of its mask have come. Returns
   false if they have not. */
bool collective_try_warp(struct fibers *all, unsigned thread);

#endif
