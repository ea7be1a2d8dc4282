/* What the parts of the scheduler share: the threads of a block or a cluster of them, and who can go on. From the bottom up:
   fault.c ends a launch, positions.c says where threads are when something went wrong, scheduler.c chooses who goes next,
   collectives.c has barriers and warp operations, and fibers.c runs threads, blocks and grids. Two things that scheduler.c needs
   lie above it, and are pointers here: what runs on a fresh fiber, and one step of the copies that go on by themselves. */
#ifndef RUNTIME_CPU_SCHEDULER_H
#define RUNTIME_CPU_SCHEDULER_H

#include "context.h"
#include "wait_queues.h"

enum {
  FIBERS_WARPS = FIBERS_SLOTS / FIBERS_LANES,
  FIBERS_READY_BITS = 64,
  FIBERS_STACK_BYTES = 128 * 1024,
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
  unsigned next; /* in the same queue: slot + 1 */
  describe_wait *describe;
  const void *object;
};

/* Bits are lanes. A live lane that is in neither set runs, waits at the barrier, or has not begun. */
struct warp {
  unsigned live;       /* has not ended */
  unsigned ready;      /* waited and can go on */
  unsigned waiting;    /* waits at a warp operation */
  unsigned yielded;    /* can go on, after all others */
  unsigned converging; /* waits for lanes that come to the same place */
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
  unsigned usable;                   /* stacks that may be written */
  void (*thread_main)(void);         /* runs on a fresh fiber */
  bool (*step)(struct async *async); /* one copy that is on its way arrives; false: there is none */
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
  uint64_t number; /* of the block that runs, or the cluster, in the order of the launch */
  char *kept;      /* static shared memory of the blocks of a cluster that do not run */
  size_t kept_bytes;

  /* One block, or a cluster of them. */
  struct current current;
  unsigned unstarted, slots, live; /* slots: of all blocks */
  unsigned converging;             /* threads that wait for lanes */
  struct block blocks[FIBERS_BLOCKS];
  struct cpu_dim3 cluster;                                /* blocks of a cluster */
  uint64_t ready_warps[FIBERS_WARPS / FIBERS_READY_BITS]; /* those with a ready lane */
  struct warp warps[FIBERS_WARPS];
  bool any_yielded;
  struct parked parked[FIBERS_SLOTS];
  struct fault fault; /* why the launch was given up */
};

/* Hooks and signal handlers get no context: this is theirs. */
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

/* ---- fault.c ---- */

/* Ends the launch, or the process. */
_Noreturn void fibers_fault(cugen_cause cause, const char *text);

static inline void fibers_switch_to(struct fibers *all, struct context *to) {
  struct context *from = all->active;
  all->active = to;
  all->left = from;
  context_switch(from, to);
  context_arrive(all->left, from);
}

/* ---- positions.c ---- */

/* Some thread waits for other than its block's barrier: a block whose live threads have all reached that passes it. */
_Noreturn void positions_deadlock(const struct fibers *all);

/* ---- scheduler.c ---- */

/* The current thread waits; comes back when it was made ready. */
void fibers_park(struct fibers *all);
/* The lowest thread that can go on becomes the current one; on its fiber. Precondition: a thread is ready. */
struct fiber *fibers_resume_ready(struct fibers *all);
/* A stack for a thread. There are as many as threads in the largest block so far. */
struct fiber *fibers_take_idle(struct fibers *all);
/* Nobody can go on: as late as that the lanes are known that are at one place together, and copies arrive which go on by
   themselves, one after the other. */
void fibers_await(struct fibers *all);
void fibers_stop_if_asked(const struct fibers *all);
/* Control goes to another block of the cluster. */
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

/* The lowest thread that has not begun becomes the current one. */
static inline void fibers_start_next(struct fibers *all, struct fiber *on) {
  const unsigned slot = all->unstarted++;
  if (all->unstarted % all->current.padded == all->current.threads)
    all->unstarted += all->current.padded - all->current.threads;
  all->parked[slot].fiber = on;
  fibers_set_current(all, slot);
}

/* ---- collectives.c ---- */

/* site: where the kernel waits; without it, where it called. */
int collective_barrier_at(const void *site, int kind, int predicate);
/* Gives the lanes that came, in a watched launch. */
unsigned collective_warp_at(const void *site, unsigned mask, void (*combine)(void **slots, unsigned mask),
                            void *mine);
int collective_barrier(int kind, int predicate);
unsigned collective_warp(unsigned mask, void (*combine)(void **slots, unsigned mask), void *mine);
unsigned collective_active_mask(void);
unsigned collective_converged(void);
/* All live threads of the block have reached its barrier. */
void collective_release(struct fibers *all, unsigned rank);
/* Performs the operation at which a thread waits, when all that it names have come. */
bool collective_try_warp(struct fibers *all, unsigned thread);

#endif
