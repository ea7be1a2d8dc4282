/* Barriers that count arrivals and bytes, of some of a block's warps, and of a cluster. PTX ISA, "Parallel
   Synchronization and Communication Instructions". */
#include "async.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Addresses ---- */

enum { STATIC_BIT = 1 << 23, STATIC_REACH = 1 << 22, BASE_ALIGNMENT = 4096 };

/* What static shared memory is counted from: it lies near the other variables of the loaded object. */
static uintptr_t static_base(void) {
  return (uintptr_t)fibers_launch()->builtins / BASE_ALIGNMENT * BASE_ALIGNMENT - STATIC_REACH;
}

static unsigned hook_address(const void *at) {
  const struct fiber_launch *launch = fibers_launch();
  const uintptr_t dynamic = (uintptr_t)launch->builtins->dynamic_shared;
  if ((uintptr_t)at - dynamic < 1u << ASYNC_PLACE_BITS) return (unsigned)((uintptr_t)at - dynamic);
  const uintptr_t from_base = (uintptr_t)at - static_base();
  if (from_base >= STATIC_BIT) fibers_trap("an address of shared memory was asked for, of what does not lie there");
  return STATIC_BIT | (unsigned)from_base;
}

unsigned async_place(unsigned address, unsigned *rank) {
  const unsigned block = address >> ASYNC_BLOCK_SHIFT;
  *rank = block ? block - 1 : fibers_crowd()->rank;
  if (*rank >= fibers_crowd()->blocks) fibers_trap("an address in a block that the cluster does not have");
  return address & ((1u << ASYNC_BLOCK_SHIFT) - 1);
}

char *async_shared(unsigned place, unsigned rank, size_t bytes) {
  const struct fiber_launch *launch = fibers_launch();
  if (place & STATIC_BIT) return fibers_static(rank, static_base() + (place & ~(unsigned)STATIC_BIT));
  if (place >= launch->dynamic_bytes || bytes > launch->dynamic_bytes - place)
    fibers_trap("an asynchronous operation outside of the block's shared memory");
  return (char *)launch->dynamic_shared + rank * launch->dynamic_room + place;
}

/* Another block's memory is there until that block ends: async_end sees whether it knows of this use by then. */
static void note_remote(unsigned rank, const void *site) {
  const struct crowd *crowd = fibers_crowd();
  const struct watch *watch = fibers_launch()->watch;
  if (!watch || rank == crowd->rank) return;
  fibers_async()->used = true;
  fibers_async()->remote[rank][crowd->rank] = (struct remote_use){crowd->slot, watch_now(watch), site};
}

static void *hook_pointer(unsigned address) {
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  const struct fiber_launch *launch = fibers_launch();
  note_remote(rank, __builtin_return_address(0));
  if (place & STATIC_BIT) return fibers_static(rank, static_base() + (place & ~(unsigned)STATIC_BIT));
  return (char *)launch->dynamic_shared + rank * launch->dynamic_room + place;
}

void *async_raw(unsigned place, unsigned rank) {
  const struct fiber_launch *launch = fibers_launch();
  if (place & STATIC_BIT) return (void *)(static_base() + (place & ~(unsigned)STATIC_BIT));
  return (char *)launch->dynamic_shared + rank * launch->dynamic_room + place;
}

void async_misuse(enum watch_kind kind, const void *site, unsigned slot, const char *what) {
  if (fibers_launch()->watch) watch_event(fibers_launch()->watch, kind, site, slot, NULL, 0, what);
}

_Noreturn void async_trap(const void *site, const char *what) {
  async_misuse(WATCH_ASYNC, site, fibers_crowd()->slot, what);
  fibers_trap(what);
}

static unsigned hook_map(unsigned address, unsigned rank) {
  unsigned ignored;
  if (rank >= fibers_crowd()->blocks) fibers_trap("mapa names a block that the cluster does not have");
  return async_place(address, &ignored) | (rank + 1) << ASYNC_BLOCK_SHIFT;
}

/* ---- mbarriers ---- */

static struct mbarrier *find(struct async *async, unsigned rank, unsigned address) {
  for (unsigned i = 0; i < async->mbarrier_count[rank]; ++i)
    if (async->mbarriers[rank][i].address == address) return &async->mbarriers[rank][i];
  return NULL;
}

/* Initialised, and known to be by whoever uses it. */
static struct mbarrier *need(struct async *async, unsigned rank, unsigned address, unsigned slot, const void *site) {
  struct mbarrier *barrier = find(async, rank, address);
  struct watch *watch = fibers_launch()->watch;
  if (!barrier) async_trap(site, "uses an mbarrier that was not initialised");
  const struct watch_touch use = {
      .at = async_raw(address, rank), .bytes = 8, .kind = CPU_WRITE, .thread = slot, .rank = rank, .site = site};
  if (watch) watch_follows(watch, &use);
  return barrier;
}

static void need_fence(const struct mbarrier *barrier, unsigned slot, const void *site) {
  if (!barrier->fenced)
    async_misuse(WATCH_FENCE, site, slot,
                 "an mbarrier that copies or other blocks use was initialised without fence.mbarrier_init behind it");
}

static void hook_init(unsigned address, unsigned arrivals) {
  const void *site = __builtin_return_address(0);
  struct async *async = fibers_async();
  struct watch *watch = fibers_launch()->watch;
  unsigned rank;
  const unsigned place = async_place(address, &rank), slot = fibers_crowd()->slot;
  struct mbarrier *barrier = find(async, rank, place);
  async->used = true;
  if (place % 8) async_trap(site, "an mbarrier lies at a multiple of 8 bytes");
  if (!barrier && async->mbarrier_count[rank] == ASYNC_MOST_MBARRIERS)
    async_trap(site, "more than 128 mbarriers in a block, which the cpu device does not follow");
  if (!barrier) barrier = &async->mbarriers[rank][async->mbarrier_count[rank]++];
  const unsigned row = 2 * (unsigned)(barrier - async->mbarriers[0]);
  *barrier = (struct mbarrier){.address = place, .arrivals = arrivals, .pending = arrivals, .row = row, .slot = slot};
  const struct watch_touch init = {
      .at = async_raw(place, rank), .bytes = 8, .kind = CPU_WRITE, .thread = slot, .rank = rank, .site = site};
  if (watch) watch_touch(watch, &init);
}

static void try_complete(struct mbarrier *barrier, const void *site) {
  if (barrier->pending) return;
  if (barrier->bytes < 0) async_trap(site, "more bytes have come to an mbarrier than were expected");
  if (barrier->bytes) return;
  barrier->pending = barrier->arrivals;
  barrier->phase++;
  if (fibers_launch()->watch) watch_pass(fibers_launch()->watch, barrier->row + 1, barrier->row);
  fibers_open_gate(&barrier->gate);
}

static void hook_arrive(unsigned address, unsigned expected_bytes) {
  const void *site = __builtin_return_address(0);
  struct async *async = fibers_async();
  const struct crowd *crowd = fibers_crowd();
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  struct mbarrier *barrier = need(async, rank, place, crowd->slot, site);
  if (rank != crowd->rank) need_fence(barrier, crowd->slot, site);
  note_remote(rank, site);
  if (!barrier->pending) async_trap(site, "more arrivals at an mbarrier than complete its phase");
  if (fibers_launch()->watch) watch_release(fibers_launch()->watch, crowd->slot, barrier->row);
  barrier->bytes += expected_bytes;
  barrier->pending--;
  try_complete(barrier, site);
}

void async_complete(struct async *async, const struct arrival *arrival) {
  struct mbarrier *barrier = need(async, arrival->rank, arrival->barrier, arrival->slot, arrival->site);
  need_fence(barrier, arrival->slot, arrival->site);
  if (fibers_launch()->watch) watch_counted(fibers_launch()->watch, barrier->row, arrival->time);
  barrier->bytes -= arrival->bytes;
  try_complete(barrier, arrival->site);
}

static void describe_mbarrier(const void *object, char *out, size_t size) {
  const struct mbarrier *barrier = object;
  snprintf(out, size, "for phase %u of an mbarrier, parity %u, which lacks %u of %u arrivals and %lld bytes",
           barrier->phase, barrier->phase & 1, barrier->pending, barrier->arrivals, (long long)barrier->bytes);
}

static void hook_wait(unsigned address, unsigned parity) {
  const void *site = __builtin_return_address(0);
  const unsigned slot = fibers_crowd()->slot;
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  struct mbarrier *barrier = need(fibers_async(), rank, place, slot, site);
  while ((barrier->phase & 1) == (parity & 1)) fibers_pause(&barrier->gate, site, describe_mbarrier, barrier);
  if (fibers_launch()->watch) watch_acquire(fibers_launch()->watch, slot, barrier->row + 1);
}

/* ---- Barriers of some warps, and of the cluster ---- */

static void describe_named(const void *object, char *out, size_t size) {
  const struct named_barrier *barrier = object;
  snprintf(out, size, "at a barrier of %u threads, to which %u have come", barrier->threads, barrier->arrived);
}

enum { NAMED_ROWS = 2 * WAIT_CLUSTER * ASYNC_MOST_MBARRIERS };
_Static_assert(NAMED_ROWS + WAIT_CLUSTER * ASYNC_NAMED <= WATCH_ROWS, "rows of all barriers");

/* Who comes knows that the round before is over, or might have been taken for one of its threads. */
static void check_round(const struct named_barrier *barrier, unsigned slot, const void *site) {
  if (!barrier->completed || watch_knows(fibers_launch()->watch, slot, barrier->last, barrier->completed)) return;
  async_misuse(
      WATCH_ASYNC, site, slot,
      "comes to a named barrier that nothing orders behind its last round: it may be counted in that one, for "
      "another thread");
}

static void complete_round(struct named_barrier *barrier, unsigned slot) {
  const struct watch *watch = fibers_launch()->watch;
  barrier->arrived = 0;
  barrier->last = slot;
  if (watch) barrier->completed = watch_now(watch) - 1; /* watch_release has just counted on */
  fibers_open_gate(&barrier->gate);
}

static void hook_named(unsigned number, unsigned threads, int wait) {
  const void *site = __builtin_return_address(0);
  struct watch *watch = fibers_launch()->watch;
  const unsigned slot = fibers_crowd()->slot, row = NAMED_ROWS + fibers_crowd()->rank * ASYNC_NAMED + number;
  if (number >= ASYNC_NAMED || !threads || threads % WAIT_WARP)
    async_trap(site, "a barrier has a number below 16, and whole warps come to it");
  struct named_barrier *barrier = &fibers_async()->named[fibers_crowd()->rank][number];
  fibers_async()->used = true;
  if (barrier->arrived && barrier->threads != threads)
    async_trap(site, "threads at one barrier say that it has different numbers of threads");
  barrier->threads = threads;
  if (watch) check_round(barrier, slot, site);
  if (watch) watch_release(watch, slot, row);
  if (++barrier->arrived == threads) {
    complete_round(barrier, slot);
  } else if (wait) {
    fibers_pause(&barrier->gate, site, describe_named, barrier);
  }
  if (watch && wait) watch_acquire(watch, slot, row);
}

static void describe_cluster(const void *object, char *out, size_t size) {
  const struct async *async = object;
  snprintf(out, size, "at the cluster's barrier, to which %u of %u live threads have come", async->cluster_arrived,
           fibers_live_all());
}

static void try_cluster(struct async *async) {
  if (!async->cluster_arrived || async->cluster_arrived < fibers_live_all()) return;
  async->cluster_arrived = 0;
  async->cluster_phase++;
  if (fibers_launch()->watch) watch_cluster_barrier(fibers_launch()->watch);
  fibers_open_gate(&async->cluster_gate);
}

static void hook_cluster(int what) {
  const void *site = __builtin_return_address(0);
  struct async *async = fibers_async();
  unsigned *own = &async->cluster_phase_of[fibers_crowd()->slot];
  async->used = true;
  if (what & CPU_CLUSTER_ARRIVE) {
    if (*own) async_trap(site, "a thread arrives at the cluster's barrier twice and does not wait");
    *own = async->cluster_phase + 1;
    async->cluster_arrived++;
    try_cluster(async);
  }
  if (!(what & CPU_CLUSTER_WAIT)) return;
  if (!*own) async_trap(site, "a thread waits at the cluster's barrier and has not arrived");
  while (async->cluster_phase < *own) fibers_pause(&async->cluster_gate, site, describe_cluster, async);
  *own = 0;
}

void async_ended(struct async *async) {
  if (async->cluster_arrived) try_cluster(async);
}

/* Both kinds make barriers known that the thread initialised; what it wrote only one. */
static void hook_fence(int kind) {
  struct async *async = fibers_async();
  const struct crowd *crowd = fibers_crowd();
  if (kind == CPU_FENCE_LAUNCH) {
    if (fibers_launch()->watch) watch_launch_waited(fibers_launch()->watch, crowd->slot);
    return;
  }
  for (unsigned i = 0; i < async->mbarrier_count[crowd->rank]; i++)
    if (async->mbarriers[crowd->rank][i].slot == crowd->slot) async->mbarriers[crowd->rank][i].fenced = true;
  if (kind == CPU_FENCE_PROXY && fibers_launch()->watch) watch_proxy_fence(fibers_launch()->watch, crowd->slot);
}

/* ---- Opening; a cluster of blocks ---- */

int async_open(struct async **out, cugen_error *err) {
  *out = calloc(1, sizeof **out);
  return *out ? copies_open(&(*out)->copies, err) : error_memory(err);
}

void async_close(struct async *async) {
  if (!async) return;
  copies_close(async->copies);
  for (size_t i = 0; i < ASYNC_WARPGROUPS; i++) warpgroup_close(async->warpgroups[i]);
  free(async);
}

void async_begin(struct async *async) {
  if (!async->used) return;
  async->used = false;
  memset(async->mbarrier_count, 0, sizeof async->mbarrier_count);
  memset(async->named, 0, sizeof async->named);
  memset(async->cluster_phase_of, 0, sizeof async->cluster_phase_of);
  memset(async->remote, 0, sizeof async->remote);
  async->cluster_arrived = async->cluster_phase = 0;
  async->cluster_gate = (struct gate){0};
  copies_begin(async->copies);
  for (size_t i = 0; i < ASYNC_WARPGROUPS; i++)
    if (async->warpgroups[i]) warpgroup_begin(async->warpgroups[i]);
}

/* Whether the block had a thread that came after it. */
static bool outlives(unsigned rank, const struct remote_use *use) {
  const struct crowd *crowd = fibers_crowd();
  unsigned thread = 0;
  while (thread < crowd->threads &&
         !watch_knows(fibers_launch()->watch, rank * crowd->padded + thread, use->slot, use->time))
    thread++;
  return thread < crowd->threads;
}

static void check_remote(const struct async *async) {
  const unsigned blocks = fibers_crowd()->blocks;
  for (unsigned i = 0; i < blocks * blocks; i++) {
    const struct remote_use *use = &async->remote[i / blocks][i % blocks];
    if (use->time && !outlives(i / blocks, use))
      async_misuse(
          WATCH_ASYNC, use->site, use->slot,
          "uses shared memory of another block of the cluster, which may have ended by then: no barrier keeps it");
  }
}

void async_end(struct async *async) {
  if (!async->used) return;
  if (fibers_launch()->watch) check_remote(async);
  copies_end(async->copies);
}

bool async_step(struct async *async) {
  return copies_step(async->copies);
}

const struct cpu_async async_hooks = {.address = hook_address,
                                      .pointer = hook_pointer,
                                      .map = hook_map,
                                      .fence = hook_fence,
                                      .cluster_barrier = hook_cluster,
                                      .named_barrier = hook_named,
                                      .mbarrier_init = hook_init,
                                      .mbarrier_arrive = hook_arrive,
                                      .mbarrier_wait = hook_wait,
                                      .tensor_load = copies_tensor_load,
                                      .tensor_store = copies_tensor_store,
                                      .bulk_load = copies_bulk_load,
                                      .bulk_store = copies_bulk_store,
                                      .bulk_commit = copies_commit,
                                      .bulk_wait = copies_wait,
                                      .wgmma_fence = warpgroup_fence,
                                      .wgmma = warpgroup_multiply,
                                      .wgmma_commit = warpgroup_commit,
                                      .wgmma_wait = warpgroup_wait};
