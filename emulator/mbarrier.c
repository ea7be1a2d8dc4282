/* mbarriers: they count arrivals of threads and bytes of copies, phase by phase. PTX ISA,
   "mbarrier". */
#include <stdio.h>

#include "async.h"

static struct mbarrier *mbarrier_find(struct async *async, unsigned rank, unsigned address) {
  for (unsigned i = 0; i < async->mbarrier_count[rank]; ++i)
    if (async->mbarriers[rank][i].address == address) return &async->mbarriers[rank][i];
  return NULL;
}

/* Describes a use of the barrier for the observer: a write to the barrier's word. */
static struct observed_access word_of(unsigned address, unsigned rank, unsigned slot,
                                      const void *site) {
  return (struct observed_access){.at = async_raw(address, rank),
                                  .bytes = 8,
                                  .kind = CPU_WRITE,
                                  .thread = slot,
                                  .rank = rank,
                                  .site = site};
}

/* Finds a barrier. Traps if it was not initialised, and reports a finding if nothing orders the
   initialisation before this use by the thread in `slot`. */
static struct mbarrier *need(struct async *async, unsigned rank, unsigned address, unsigned slot,
                             const void *site) {
  struct mbarrier *barrier = mbarrier_find(async, rank, address);
  if (!barrier) async_trap(site, "uses an mbarrier that was not initialised");
  const struct observed_access use = word_of(address, rank, slot, site);
  OBSERVE(fibers_observer(), use, &use);
  return barrier;
}

static void need_fence(const struct mbarrier *barrier, unsigned slot, const void *site) {
  if (!barrier->fenced)
    async_misuse(CUGEN_FINDING_MISSING_FENCE, site, slot,
                 "an mbarrier that copies or other blocks use was initialised without "
                 "fence.mbarrier_init behind it");
}

void mbarrier_init(unsigned address, unsigned arrivals) {
  const void *site = async_site(__builtin_return_address(0));
  struct async *async = fibers_async();
  unsigned rank;
  const unsigned place = async_place(address, &rank), slot = fibers_current()->slot;
  struct mbarrier *barrier = mbarrier_find(async, rank, place);
  async->used = true;
  if (place % 8) async_trap(site, "an mbarrier lies at a multiple of 8 bytes");
  if (!barrier && async->mbarrier_count[rank] == ASYNC_MOST_MBARRIERS)
    async_trap(site, "more than 128 mbarriers in a block, which the cpu device does not follow");
  if (!barrier) barrier = &async->mbarriers[rank][async->mbarrier_count[rank]++];
  const unsigned sync = 2 * (unsigned)(barrier - async->mbarriers[0]);
  *barrier = (struct mbarrier){
      .address = place, .arrivals = arrivals, .pending = arrivals, .sync = sync, .slot = slot};
  const struct observed_access init = word_of(place, rank, slot, site);
  observe_access(fibers_observer(), &init);
}

static void try_complete(struct mbarrier *barrier, const void *site) {
  if (barrier->pending) return;
  if (barrier->bytes < 0)
    async_trap(site, "more bytes have come to an mbarrier than were expected");
  if (barrier->bytes) return;
  barrier->pending = barrier->arrivals;
  barrier->phase++;
  OBSERVE(fibers_observer(), pass, barrier->sync + 1, barrier->sync);
  fibers_wake_all(&barrier->queue);
}

void mbarrier_arrive(unsigned address, unsigned expected_bytes) {
  const void *site = async_site(__builtin_return_address(0));
  struct async *async = fibers_async();
  const struct current *current = fibers_current();
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  struct mbarrier *barrier = need(async, rank, place, current->slot, site);
  if (rank != current->rank) need_fence(barrier, current->slot, site);
  async_remember_remote(rank, site);
  if (!barrier->pending) async_trap(site, "more arrivals at an mbarrier than complete its phase");
  OBSERVE(fibers_observer(), release, current->slot, barrier->sync);
  barrier->bytes += expected_bytes;
  barrier->pending--;
  try_complete(barrier, site);
}

unsigned mbarrier_phase(unsigned address) {
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  const struct mbarrier *barrier = mbarrier_find(fibers_async(), rank, place);
  if (!barrier)
    async_trap(async_site(__builtin_return_address(0)),
               "uses an mbarrier that was not initialised");
  return barrier->phase;
}

void mbarrier_expect(unsigned address, unsigned bytes) {
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  need(fibers_async(), rank, place, fibers_current()->slot, async_site(__builtin_return_address(0)))
      ->bytes += bytes;
}

void mbarrier_complete(struct async *async, const struct arrival *arrival) {
  struct mbarrier *barrier =
      need(async, arrival->rank, arrival->barrier, arrival->slot, arrival->site);
  need_fence(barrier, arrival->slot, arrival->site);
  OBSERVE(fibers_observer(), copy_counted, barrier->sync, arrival->epoch);
  barrier->bytes -= arrival->bytes;
  try_complete(barrier, arrival->site);
}

static void describe_mbarrier(const void *object, char *out, size_t size) {
  const struct mbarrier *barrier = object;
  snprintf(out, size,
           "for phase %u of an mbarrier, parity %u, which lacks %u of %u arrivals and %lld bytes",
           barrier->phase, barrier->phase & 1, barrier->pending, barrier->arrivals,
           (long long)barrier->bytes);
}

void mbarrier_wait(unsigned address, unsigned parity) {
  const void *site = async_site(__builtin_return_address(0));
  const unsigned slot = fibers_current()->slot;
  unsigned rank;
  const unsigned place = async_place(address, &rank);
  struct mbarrier *barrier = need(fibers_async(), rank, place, slot, site);
  while ((barrier->phase & 1) == (parity & 1))
    fibers_wait(&barrier->queue, site, describe_mbarrier, barrier);
  OBSERVE(fibers_observer(), acquire, slot, barrier->sync + 1);
}

void mbarrier_fence(struct async *async) {
  const struct current *current = fibers_current();
  for (unsigned i = 0; i < async->mbarrier_count[current->rank]; i++)
    if (async->mbarriers[current->rank][i].slot == current->slot)
      async->mbarriers[current->rank][i].fenced = true;
}
