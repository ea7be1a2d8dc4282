/* What the asynchronous operations of a launch share: shared_address.c (addresses), mbarrier.c, barriers.c (of some warps, of a
   cluster), copies.c (the copy engine) and warpgroup.c (products), and above them async.c. */
#ifndef RUNTIME_CPU_ASYNC_H
#define RUNTIME_CPU_ASYNC_H

#include "wait_queues.h"

enum {
  ASYNC_PLACE_BITS = 18, /* of a place in dynamic shared memory; static shared memory lies above */
  ASYNC_BLOCK_SHIFT = 24,
  ASYNC_MOST_MBARRIERS = 128,
  ASYNC_NAMED = 16,
  ASYNC_WARPGROUP = 128,
  ASYNC_WARPGROUPS = FIBERS_SLOTS / ASYNC_WARPGROUP
};

struct mbarrier {
  unsigned address, arrivals; /* how many complete a phase */
  unsigned pending, phase;
  int64_t bytes; /* that are expected and have not come, or the other way around */
  unsigned sync; /* for the observer: of those who have reached this phase; the next one: of the last phase */
  unsigned slot; /* who initialised it, */
  bool fenced;   /* and said so to all who may use it */
  struct wait_queue queue;
};

struct named_barrier {
  unsigned threads, arrived;
  unsigned last; /* thread that completed it, in that epoch; 0: nobody has */
  uint32_t completed;
  struct wait_queue queue;
};

struct remote_use { /* of a block's shared memory by another block of the cluster: the last one */
  unsigned slot;
  uint32_t epoch; /* of the observer; 0: none */
  const void *site;
};

struct copies;
struct thread_copies;
struct warpgroup;
struct iptx_program;

struct async {
  struct mbarrier mbarriers[FIBERS_BLOCKS][ASYNC_MOST_MBARRIERS];
  unsigned mbarrier_count[FIBERS_BLOCKS];
  struct named_barrier named[FIBERS_BLOCKS][ASYNC_NAMED];
  unsigned cluster_arrived, cluster_phase;
  unsigned cluster_phase_of[FIBERS_SLOTS]; /* + 1, that the thread arrived for; 0: it has not */
  struct wait_queue cluster_queue;
  struct remote_use remote[FIBERS_BLOCKS][FIBERS_BLOCKS]; /* of that block's memory by this one */
  struct copies *copies;
  struct thread_copies *thread_copies;
  struct warpgroup *warpgroups[ASYNC_WARPGROUPS];
  bool used;                     /* in this cluster */
  const void *site;              /* of the operation that inline PTX calls next; NULL: it is called by the kernel */
  struct iptx_program *programs; /* inline PTX that was read */
};

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

/* ---- shared_address.c ---- */

/* Without the block, which goes to *rank: the own one if it names none. */
unsigned async_place(unsigned address, unsigned *rank);
/* That many bytes of shared memory; traps where there are not so many. */
char *async_shared(unsigned place, unsigned rank, size_t bytes);
/* Where it lies, for the observer: of static shared memory in the place that the running block has it in. */
void *async_raw(unsigned place, unsigned rank);
/* The current thread uses shared memory of the block of that rank, which is to outlive that. */
void async_remember_remote(unsigned rank, const void *site);
/* All blocks have ended: whether each did so after the others' uses of its memory. */
void async_check_remote(const struct async *async);
/* A barrier or copy is used wrongly: a finding of a watched kernel; async_trap ends the launch. */
void async_misuse(cugen_finding_kind kind, const void *site, unsigned slot, const char *what);
_Noreturn void async_trap(const void *site, const char *what);

/* The site of an operation that was called from that address. */
const void *async_site(const void *address);

/* Hooks, as in abi.h; so in all that follow. */
unsigned async_address(const void *at);
void *async_pointer(unsigned address);
unsigned async_map(unsigned address, unsigned rank);

/* ---- mbarrier.c ---- */

/* What a thread asked the copy engine for has reached a barrier. */
struct arrival {
  unsigned rank, barrier, bytes, slot;
  uint32_t epoch; /* when it began */
  const void *site;
};
void mbarrier_complete(struct async *async, const struct arrival *arrival);
/* The current thread makes those known that it has initialised. */
void mbarrier_fence(struct async *async);

void mbarrier_init(unsigned address, unsigned arrivals);
void mbarrier_arrive(unsigned address, unsigned expected_bytes);
void mbarrier_wait(unsigned address, unsigned parity);
unsigned mbarrier_phase(unsigned address);
void mbarrier_expect(unsigned address, unsigned bytes);

/* ---- barriers.c ---- */

/* Lets all go on when every thread of the cluster that has not ended has reached its barrier. */
void barriers_try_cluster(struct async *async);

void barriers_named(unsigned number, unsigned threads, int wait);
void barriers_cluster(int what);
void barriers_fence(int kind);

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

/* ---- thread_copies.c ---- */

int thread_copies_open(struct thread_copies **out, cugen_error *err);
void thread_copies_close(struct thread_copies *copies);
void thread_copies_begin(struct thread_copies *copies);

void thread_copies_add(const struct cpu_copy *copy);
void thread_copies_commit(void);
int thread_copies_next(unsigned newest, struct cpu_copy *out);

/* ---- warpgroup.c ---- */

void warpgroup_close(struct warpgroup *warpgroup);
void warpgroup_begin(struct warpgroup *warpgroup);

void warpgroup_fence(void);
void warpgroup_multiply(int number, int n, void *sums, unsigned long long x, unsigned long long y, int flags);
void warpgroup_commit(void);
void warpgroup_wait(unsigned newest);

#endif
