/* Barriers of some of a block's warps, by number, and of a cluster. PTX ISA, "Parallel
   Synchronization and Communication Instructions: bar, barrier.cluster". */
#include <stdio.h>

#include "async.h"

static void describe_named(const void *object, char *out, size_t size) {
  const struct named_barrier *barrier = object;
  snprintf(out, size, "at a barrier of %u threads, to which %u have come", barrier->threads,
           barrier->arrived);
}

/* The first named barrier's sync (observer.h), behind the syncs of all mbarriers, two for each. */
enum { NAMED_SYNCS = 2 * FIBERS_BLOCKS * ASYNC_MOST_MBARRIERS };
_Static_assert(NAMED_SYNCS + FIBERS_BLOCKS * ASYNC_NAMED <= OBSERVER_SYNCS,
               "syncs of all barriers");

void barriers_named(unsigned number, unsigned threads, int wait) {
  const void *site = async_site(__builtin_return_address(0));
  const struct observer *observer = fibers_observer();
  const unsigned slot = fibers_current()->slot,
                 sync = NAMED_SYNCS + fibers_current()->rank * ASYNC_NAMED + number;
  if (number >= ASYNC_NAMED || !threads || threads % FIBERS_LANES)
    async_trap(site, "a barrier has a number below 16, and whole warps come to it");
  struct named_barrier *barrier = &fibers_async()->named[fibers_current()->rank][number];
  fibers_async()->used = true;
  if (barrier->arrived && barrier->threads != threads)
    async_trap(site, "threads at one barrier say that it has different numbers of threads");
  barrier->threads = threads;
  /* A thread that arrives without being ordered after the barrier's last round might be counted in
     that round. */
  if (observer && barrier->completed &&
      !observer->ops->knows(observer->watch, slot, barrier->last, barrier->completed))
    async_misuse(CUGEN_FINDING_ASYNC_MISUSE, site, slot,
                 "comes to a named barrier, and nothing makes it wait for the end of the barrier's "
                 "last round: it may be counted in that round, in place of another thread");
  OBSERVE(observer, release, slot, sync);
  if (++barrier->arrived == threads) {
    barrier->arrived = 0;
    barrier->last = slot;
    /* the release has just advanced the observer's counter */
    if (observer) barrier->completed = observer->ops->now(observer->watch) - 1;
    fibers_wake_all(&barrier->queue);
  } else if (wait) {
    fibers_wait(&barrier->queue, site, describe_named, barrier);
  }
  if (wait) OBSERVE(observer, acquire, slot, sync);
}

static void describe_cluster(const void *object, char *out, size_t size) {
  const struct async *async = object;
  snprintf(out, size, "at the cluster's barrier, to which %u of %u live threads have come",
           async->cluster_arrived, fibers_live_all());
}

void barriers_try_cluster(struct async *async) {
  if (!async->cluster_arrived || async->cluster_arrived < fibers_live_all()) return;
  async->cluster_arrived = 0;
  async->cluster_phase++;
  const struct observer *observer = fibers_observer();
  if (observer) observer->ops->cluster_barrier(observer->watch);
  fibers_wake_all(&async->cluster_queue);
}

void barriers_cluster(int what) {
  const void *site = async_site(__builtin_return_address(0));
  struct async *async = fibers_async();
  unsigned *own = &async->cluster_phase_of[fibers_current()->slot];
  async->used = true;
  if (what & CPU_CLUSTER_ARRIVE) {
    if (*own) async_trap(site, "a thread arrives at the cluster's barrier twice and does not wait");
    *own = async->cluster_phase + 1;
    async->cluster_arrived++;
    barriers_try_cluster(async);
  }
  if (!(what & CPU_CLUSTER_WAIT)) return;
  if (!*own) async_trap(site, "a thread waits at the cluster's barrier and has not arrived");
  while (async->cluster_phase < *own)
    fibers_wait(&async->cluster_queue, site, describe_cluster, async);
  *own = 0;
}

/* CPU_FENCE_MBARRIER_INIT and CPU_FENCE_PROXY publish the barriers that the thread has initialised;
   CPU_FENCE_PROXY also publishes the thread's writes. CPU_FENCE_LAUNCH (griddepcontrol.wait) only
   tells the observer. */
void barriers_fence(int kind) {
  const unsigned slot = fibers_current()->slot;
  if (kind == CPU_FENCE_LAUNCH) {
    OBSERVE(fibers_observer(), launch_waited, slot);
    return;
  }
  mbarrier_fence(fibers_async());
  if (kind == CPU_FENCE_PROXY) OBSERVE(fibers_observer(), proxy_fence, slot);
}
