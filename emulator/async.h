/* Declarations shared by the asynchronous operations of a launch: shared_address.c (addresses),
   mbarrier.c, barriers.c (of some warps, of a cluster), copies.c and warpgroup.c (matrix products),
   and above them async.c. */
#ifndef EMULATOR_ASYNC_H
#define EMULATOR_ASYNC_H

#include "wait_queues.h"

enum {
  /* bits of an offset in dynamic shared memory; static shared memory has higher addresses */
  ASYNC_PLACE_BITS = 18,
  ASYNC_BLOCK_SHIFT = 24,
  ASYNC_MOST_MBARRIERS = 128,
  ASYNC_NAMED = 16,
  ASYNC_WARPGROUP = 128,
  ASYNC_WARPGROUPS = FIBERS_SLOTS / ASYNC_WARPGROUP
};

struct mbarrier {
  unsigned address, arrivals; /* number of arrivals that complete a phase */
  unsigned pending, phase;
  /* bytes that are expected and have not arrived yet; below 0: bytes that arrived before they were
     expected */
  int64_t bytes;
  /* For the observer (observer.h): the sync of this phase's arrivals; sync + 1 is that of the phase
     before. */
  unsigned sync;
  unsigned slot; /* the thread that initialised the barrier */
  bool fenced;   /* the thread has made the initialisation visible to the users of the barrier */
  struct wait_queue queue;
};

struct named_barrier {
  unsigned threads, arrived;
  unsigned last;      /* the thread that completed the barrier's last round */
  uint32_t completed; /* the observer's epoch in which the round was completed; 0: none was */
  struct wait_queue queue;
};

struct remote_use { /* the last use of a block's shared memory by another block of the cluster */
  unsigned slot;
  uint32_t epoch; /* of the observer; 0: no use */
  const void *site;
};

struct copies;
struct warpgroup;
struct iptx_program;

struct async {
  struct mbarrier mbarriers[FIBERS_BLOCKS][ASYNC_MOST_MBARRIERS];
  unsigned mbarrier_count[FIBERS_BLOCKS];
  struct named_barrier named[FIBERS_BLOCKS][ASYNC_NAMED];
  unsigned cluster_arrived, cluster_phase;
  /* The phase + 1 that the thread has arrived for; 0: it has not arrived. */
  unsigned cluster_phase_of[FIBERS_SLOTS];
  struct wait_queue cluster_queue;
  /* [a][b]: use of block a's memory by block b */
  struct remote_use remote[FIBERS_BLOCKS][FIBERS_BLOCKS];
  struct copies *copies;
  struct warpgroup *warpgroups[ASYNC_WARPGROUPS];
  bool used; /* something asynchronous was used in this cluster */
  /* place of the operation that inline PTX calls next; NULL: the kernel makes the call itself */
  const void *site;
  struct iptx_program *programs;
};

int async_open(struct async **out, cugen_error *err);
void async_close(struct async *async);
/* Called before a cluster's threads begin, and when all have ended. */
void async_begin(struct async *async);
void async_end(struct async *async);
extern const struct cpu_async async_hooks;

/* ---- shared_address.c ----------------------------------------------------------------------- */

/* The address without the block, `place` below; *rank becomes the rank of the block, the thread's
   own if the address names none. */
unsigned async_place(unsigned address, unsigned *rank);
/* Returns where `bytes` bytes of a block's shared memory lie; traps if the bytes are not all in the
   block's dynamic shared memory, unless the address is one of static shared memory. */
char *async_shared(unsigned place, unsigned rank, size_t bytes);
/* Like async_shared, without a check, for the observer: static shared memory has the address that
   it has in the running block. */
void *async_raw(unsigned place, unsigned rank);
/* If the kernel is watched, notes that the current thread uses shared memory of the block of that
   rank, which must not end before this use. */
void async_remember_remote(unsigned rank, const void *site);
/* Called when all blocks have ended: checks that each ended after the other blocks' uses of its
   memory. */
void async_check_remote(const struct async *async);
/* Reports a misuse as a finding, if the launch is observed. async_trap also
   ends the launch. */
void async_misuse(cugen_finding_kind kind, const void *site, unsigned slot, const char *what);
_Noreturn void async_trap(const void *site, const char *what);

/* Returns async->site and clears that member; if no site was noted, returns `address`, the return
   address of the call. */
const void *async_site(const void *address);

/* Hooks of abi.h. The sections below also end with such hooks. */
unsigned async_address(const void *at);
void *async_pointer(unsigned address);
unsigned async_map(unsigned address, unsigned rank);

/* ---- mbarrier.c ----------------------------------------------------------------------------- */

/* The arrival of a copy of the copy engine at a barrier. */
struct arrival {
  unsigned rank, barrier, bytes, slot;
  uint32_t epoch; /* when the copy began */
  const void *site;
};
void mbarrier_complete(struct async *async, const struct arrival *arrival);
/* Makes the barriers that the current thread has initialised visible to other threads. */
void mbarrier_fence(struct async *async);

void mbarrier_init(unsigned address, unsigned arrivals);
void mbarrier_arrive(unsigned address, unsigned expected_bytes);
void mbarrier_wait(unsigned address, unsigned parity);
unsigned mbarrier_phase(unsigned address);
void mbarrier_expect(unsigned address, unsigned bytes);

/* ---- barriers.c ----------------------------------------------------------------------------- */

/* Completes the cluster's barrier if every thread of the cluster that has not ended has reached
   it. */
void barriers_try_cluster(struct async *async);

void barriers_named(unsigned number, unsigned threads, int wait);
void barriers_cluster(int what);
void barriers_fence(int kind);

/* ---- copies.c ------------------------------------------------------------------------------- */

int copies_open(struct copies **out, cugen_error *err);
void copies_close(struct copies *copies);
void copies_begin(struct copies *copies);
void copies_end(struct copies *copies);
/* Lets one load that is under way arrive. Returns false if there is none. */
bool copies_step(struct async *async);

void copies_tensor_load(unsigned to, const void *map, unsigned barrier, const int *at,
                        unsigned blocks);
void copies_tensor_store(const void *map, unsigned from, const int *at);
void copies_bulk_load(unsigned to, const void *from, unsigned bytes, unsigned barrier);
void copies_bulk_store(void *to, unsigned from, unsigned bytes);
void copies_commit(void);
void copies_wait(unsigned newest);

/* A thread's own copies, for the hooks copy_begin, copy_commit and copy_next. */
void copies_own_add(const struct cpu_copy *copy);
void copies_own_commit(void);
int copies_own_next(unsigned newest, struct cpu_copy *out);

/* ---- warpgroup.c ---------------------------------------------------------------------------- */

void warpgroup_close(struct warpgroup *warpgroup);
void warpgroup_begin(struct warpgroup *warpgroup);

#endif
