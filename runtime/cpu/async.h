/* What the asynchronous operations of a launch share; see async.c (barriers), copies.c (the copy engine) and
   warpgroup.c (products). */
#ifndef RUNTIME_CPU_ASYNC_H
#define RUNTIME_CPU_ASYNC_H

#include "waits.h"

enum {
  ASYNC_PLACE_BITS = 18, /* of a place in dynamic shared memory; static shared memory lies above */
  ASYNC_BLOCK_SHIFT = 24,
  ASYNC_MOST_MBARRIERS = 128,
  ASYNC_NAMED = 16,
  ASYNC_WARPGROUP = 128,
  ASYNC_WARPGROUPS = WAIT_SLOTS / ASYNC_WARPGROUP
};

struct mbarrier {
  unsigned address, arrivals; /* how many complete a phase */
  unsigned pending, phase;
  int64_t bytes; /* that are expected and have not come, or the other way around */
  unsigned
      row; /* what is known at it, watch.h: of those who have come to this phase; the next one: of the last phase */
  unsigned slot; /* who initialised it, */
  bool fenced;   /* and said so to all who may use it */
  struct gate gate;
};

struct named_barrier {
  unsigned threads, arrived;
  unsigned last; /* thread that completed it, of watch.h's time; 0: nobody has */
  uint32_t completed;
  struct gate gate;
};

struct remote_use { /* of a block's shared memory by another block of the cluster: the last one */
  unsigned slot;
  uint32_t time; /* of watch.h; 0: none */
  const void *site;
};

struct copies;
struct warpgroup;

struct async {
  struct mbarrier mbarriers[WAIT_CLUSTER][ASYNC_MOST_MBARRIERS];
  unsigned mbarrier_count[WAIT_CLUSTER];
  struct named_barrier named[WAIT_CLUSTER][ASYNC_NAMED];
  unsigned cluster_arrived, cluster_phase;
  unsigned cluster_phase_of[WAIT_SLOTS]; /* + 1, that the thread arrived for; 0: it has not */
  struct gate cluster_gate;
  struct remote_use remote[WAIT_CLUSTER][WAIT_CLUSTER]; /* of that block's memory by this one */
  struct copies *copies;
  struct warpgroup *warpgroups[ASYNC_WARPGROUPS];
  bool used; /* in this cluster */
};

/* Without the block, which goes to *rank: the own one if it names none. */
unsigned async_place(unsigned address, unsigned *rank);
/* That many bytes of shared memory; traps where there are not so many. */
char *async_shared(unsigned place, unsigned rank, size_t bytes);

/* Where it lies, for watch.h: of static shared memory in the place that the running block has it in. */
void *async_raw(unsigned place, unsigned rank);

/* A barrier or copy is used wrongly: a finding of a watched kernel; async_trap ends the launch. */
void async_misuse(enum watch_kind kind, const void *site, unsigned slot, const char *what);
_Noreturn void async_trap(const void *site, const char *what);

/* What a thread asked the copy engine for has come to a barrier. time: of watch.h */
struct arrival {
  unsigned rank, barrier, bytes, slot;
  uint32_t time;
  const void *site;
};
void async_complete(struct async *async, const struct arrival *arrival);

/* ---- copies.c ---- */

int copies_open(struct copies **out, cugen_error *err);
void copies_close(struct copies *copies);
void copies_begin(struct copies *copies);
void copies_end(struct copies *copies);
bool copies_step(struct copies *copies);

void copies_tensor_load(unsigned to, const void *map, unsigned barrier, const int *at, unsigned blocks);
void copies_tensor_store(const void *map, unsigned from, const int *at);
void copies_bulk_load(unsigned to, const void *from, unsigned bytes, unsigned barrier);
void copies_bulk_store(void *to, unsigned from, unsigned bytes);
void copies_commit(void);
void copies_wait(unsigned newest);

/* ---- warpgroup.c ---- */

void warpgroup_close(struct warpgroup *warpgroup);
void warpgroup_begin(struct warpgroup *warpgroup);

void warpgroup_fence(void);
void warpgroup_multiply(int number, int n, void *sums, unsigned long long x, unsigned long long y, int flags);
void warpgroup_commit(void);
void warpgroup_wait(unsigned newest);

#endif
