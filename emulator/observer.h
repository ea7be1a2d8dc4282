/* An observer of launches: a table of functions that the emulator calls. Without an observer the
   pointer is NULL, and the helpers below do nothing. Accesses are frequent, so the watched kernel
   reports them directly to the observer (abi.h, struct cpu_watch). The only observer is the race
   detector, detector/watch.h.

   thread: a slot (wait_queues.h). epoch: a number that the observer assigns to events, in order;
   0 is before all events. sync: the caller's number of a synchronization object, such as a phase
   of an mbarrier. site: a return address. */
#ifndef EMULATOR_OBSERVER_H
#define EMULATOR_OBSERVER_H

#include "abi.h"
#include "base/error.h"
#include "runtime/watch.h"

/* A loaded image: its address, and its arrays of shared memory, from its symbols. */
struct observed_image {
  const void *bytes; /* contents of the file */
  size_t length;
  uintptr_t base; /* where the image's first byte was loaded */
};

struct observed_launch {
  const struct observed_image *image;
  const struct cpu_builtins *builtins;
  struct cpu_dim3 grid, block;
  uintptr_t stacks; /* address of the threads' stacks */
  size_t stack_bytes;
  /* dynamic shared memory: its address, and below the requested and the present bytes */
  uintptr_t dynamic;
  /* Bytes of a block's dynamic shared memory, and of the room for it. The blocks of a cluster have
     their rooms one after the other. */
  size_t dynamic_bytes, dynamic_room;
  /* blocks of a cluster; numbers of a block's threads begin at a multiple of `padded` */
  unsigned blocks, padded;
  struct cpu_dim3 cluster;
  bool overlap; /* on a GPU the launch may begin before the one in front has ended */
};

/* Kinds of access besides those of enum cpu_access. */
enum observed_kind {
  OBSERVED_ENGINE = 8, /* made by the copy engine, on behalf of the thread */
  OBSERVED_PROXY = 16  /* made by a unit that sees threads' writes only after a fence */
};

/* An access by an asynchronous operation. */
struct observed_access {
  const void *at; /* for static shared memory, where the running block has it */
  size_t bytes;
  unsigned kind, thread, rank; /* rank: of the block whose shared memory is accessed */
  const void *site;
};

enum { OBSERVER_SYNCS = 4096 };

/* Result of next_block: the time was up in a process that ran some of the blocks, and the report
   says where. */
#define OBSERVER_HUNG UINT64_MAX

struct observer {
  const struct observer_ops *ops;
};

/* All functions except begin are called between begin and end, in the launch's thread. */
struct observer_ops {
  int (*begin)(struct observer *observer, const struct observed_launch *launch, cugen_error *err);
  void (*end)(struct observer *observer);
  void (*block_begins)(struct observer *observer);
  /* The number of the next block (or cluster); the number of blocks: there is none. May split
     the blocks over several processes. */
  uint64_t (*next_block)(struct observer *observer);

  /* Every live thread of the block with that rank in its cluster, or of the cluster, has reached
     a barrier. */
  void (*barrier)(struct observer *observer, unsigned rank);
  void (*cluster_barrier)(struct observer *observer);
  /* These lanes of a warp have met; all: they are all lanes that have not ended; orders: the
     meeting orders memory (__syncwarp). */
  void (*warp)(struct observer *observer, unsigned warp, unsigned lanes, bool all, bool orders);

  /* Joins of vector clocks: release adds the thread's knowledge to the sync, acquire the sync's
     knowledge to the thread, and the third a sync's to another sync. */
  void (*release)(struct observer *observer, unsigned thread, unsigned sync);
  void (*acquire)(struct observer *observer, unsigned thread, unsigned sync);
  void (*pass)(struct observer *observer, unsigned to_sync, unsigned from_sync);
  /* Orders the thread after everything that the other did until that epoch. */
  void (*follow)(struct observer *observer, unsigned thread, unsigned other, uint32_t epoch);
  uint32_t (*now)(const struct observer *observer);
  /* Returns whether the thread is ordered after the action of `other` in that epoch. */
  bool (*knows)(const struct observer *observer, unsigned thread, unsigned other, uint32_t epoch);

  /* Whether two threads reached their places by the same calls; if not, the calls in which they
     differ. */
  bool (*same_path)(const struct observer *observer, unsigned thread, unsigned other,
                    const void **call, const void **other_call);
  /* Reports an access; returns its epoch. */
  uint32_t (*access)(struct observer *observer, const struct observed_access *access);
  /* Reports that the thread uses the object that was last written there (an mbarrier), and must
     be ordered after that write. */
  void (*use)(struct observer *observer, const struct observed_access *access);
  /* The data that the copy engine began to write in that epoch have arrived, and are counted at
     the sync. */
  void (*copy_landed)(struct observer *observer, const void *at, size_t bytes, uint32_t epoch);
  void (*copy_counted)(struct observer *observer, unsigned sync, uint32_t epoch);
  void (*proxy_fence)(struct observer *observer, unsigned thread);
  /* hold: registers (on the thread's stack) are accumulators of products until they are
     released. fence: wgmma.fence. */
  void (*accumulators_hold)(struct observer *observer, unsigned thread, const void *start,
                            size_t bytes, const void *site);
  void (*accumulators_release)(struct observer *observer, unsigned thread, const void *start);
  void (*accumulators_fence)(struct observer *observer, unsigned thread);
  /* The thread has waited for the launch in front (griddepcontrol.wait). used: a use of global
     memory on behalf of the thread, which needs no wait. */
  void (*launch_waited)(struct observer *observer, unsigned thread);
  void (*launch_used)(struct observer *observer, unsigned thread, const void *site);

  /* The functions from here on are async-signal-safe. finding: a misuse at a site by a thread;
     other_site NULL: there is no other site. */
  void (*finding)(struct observer *observer, cugen_finding_kind kind, const void *site,
                  unsigned thread, const void *other_site, unsigned other_thread, const char *text);
  /* Two threads of a block wait at different places. */
  void (*diverged)(struct observer *observer, const void *site, unsigned thread,
                   const void *other_site, unsigned other_thread, enum watch_apart apart);
  /* stray: an access to memory that nobody owns; misaligned: an access that the processor
     refuses for its alignment. */
  void (*stray)(struct observer *observer, const void *site, const void *address, bool write);
  void (*misaligned)(struct observer *observer, const void *site);
  /* Ends the launch at its next access, as a hang. Returns false if the launch was to end
     already. */
  bool (*time_is_up)(struct observer *observer);
  /* The return address if it is in the kernel, else the site of the last access. */
  const void *(*position)(const struct observer *observer, const void *site);
};

/* ---- Calls of the emulator, which do nothing without an observer ---------------------------- */

static inline int observe_begin(struct observer *o, const struct observed_launch *launch,
                                cugen_error *err) {
  return o ? o->ops->begin(o, launch, err) : CUGEN_OK;
}

static inline void observe_end(struct observer *o) {
  if (o) o->ops->end(o);
}

static inline void observe_block_begins(struct observer *o) {
  if (o) o->ops->block_begins(o);
}

static inline void observe_cluster_barrier(struct observer *o) {
  if (o) o->ops->cluster_barrier(o);
}

static inline void observe_warp(struct observer *o, unsigned warp, unsigned lanes, bool all,
                                bool orders) {
  if (o) o->ops->warp(o, warp, lanes, all, orders);
}

static inline void observe_release(struct observer *o, unsigned thread, unsigned sync) {
  if (o) o->ops->release(o, thread, sync);
}

static inline void observe_acquire(struct observer *o, unsigned thread, unsigned sync) {
  if (o) o->ops->acquire(o, thread, sync);
}

static inline void observe_pass(struct observer *o, unsigned to_sync, unsigned from_sync) {
  if (o) o->ops->pass(o, to_sync, from_sync);
}

static inline void observe_follow(struct observer *o, unsigned thread, unsigned other,
                                  uint32_t epoch) {
  if (o) o->ops->follow(o, thread, other, epoch);
}

static inline uint32_t observe_access(struct observer *o, const struct observed_access *access) {
  return o ? o->ops->access(o, access) : 0;
}

static inline void observe_use(struct observer *o, const struct observed_access *access) {
  if (o) o->ops->use(o, access);
}

static inline void observe_copy_landed(struct observer *o, const void *at, size_t bytes,
                                       uint32_t epoch) {
  if (o) o->ops->copy_landed(o, at, bytes, epoch);
}

static inline void observe_copy_counted(struct observer *o, unsigned sync, uint32_t epoch) {
  if (o) o->ops->copy_counted(o, sync, epoch);
}

static inline void observe_proxy_fence(struct observer *o, unsigned thread) {
  if (o) o->ops->proxy_fence(o, thread);
}

static inline void observe_accumulators_hold(struct observer *o, unsigned thread, const void *start,
                                             size_t bytes, const void *site) {
  if (o) o->ops->accumulators_hold(o, thread, start, bytes, site);
}

static inline void observe_accumulators_release(struct observer *o, unsigned thread,
                                                const void *start) {
  if (o) o->ops->accumulators_release(o, thread, start);
}

static inline void observe_accumulators_fence(struct observer *o, unsigned thread) {
  if (o) o->ops->accumulators_fence(o, thread);
}

static inline void observe_launch_waited(struct observer *o, unsigned thread) {
  if (o) o->ops->launch_waited(o, thread);
}

static inline void observe_launch_used(struct observer *o, unsigned thread, const void *site) {
  if (o) o->ops->launch_used(o, thread, site);
}

static inline void observe_finding(struct observer *o, cugen_finding_kind kind, const void *site,
                                   unsigned thread, const void *other_site, unsigned other_thread,
                                   const char *text) {
  if (o) o->ops->finding(o, kind, site, thread, other_site, other_thread, text);
}

static inline void observe_divergence(struct observer *o, const void *site, unsigned thread,
                                      const void *other_site, unsigned other_thread,
                                      enum watch_apart apart) {
  if (o) o->ops->diverged(o, site, thread, other_site, other_thread, apart);
}

/* Reports a misuse by one thread at one site. */
static inline void observe_misuse(struct observer *o, cugen_finding_kind kind, const void *site,
                                  unsigned thread, const char *text) {
  observe_finding(o, kind, site, thread, NULL, 0, text);
}

#endif
