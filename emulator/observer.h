/* What the emulator tells the race detector (detector/watch.h) about a launch: a table of
   functions, because the detector is built on the emulator. A launch that is not watched has no
   observer (NULL). The kernel itself reports accesses (abi.h, struct cpu_watch).

   thread: a slot (wait_queues.h). epoch: a number that the observer assigns to events, in order; 0
   is before all events. sync: the caller's number of a synchronization object, such as a phase of
   an mbarrier. site: a return address. */
#ifndef EMULATOR_OBSERVER_H
#define EMULATOR_OBSERVER_H

#include "abi.h"
#include "base/error.h"
#include "runtime/watch.h"

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
  uintptr_t dynamic; /* address of the first block's dynamic shared memory */
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
  OBSERVED_ENGINE = 8, /* a write of the copy engine to shared memory, on behalf of the thread */
  OBSERVED_PROXY = 16  /* made by a unit that sees threads' writes only after a fence */
};

/* An access by an asynchronous operation. */
struct observed_access {
  const void *at; /* for static shared memory, the address in the running block */
  size_t bytes;
  unsigned kind, thread, rank; /* rank: of the block whose shared memory is accessed */
  const void *site;
};

enum { OBSERVER_SYNCS = 4096 };

/* Result of next_block: the time was up in a process that ran some of the blocks, and the report
   says where. */
#define OBSERVER_HUNG UINT64_MAX

struct watch;

struct observer {
  const struct observer_ops *ops;
  struct watch *watch;
};

/* All functions except begin are called between begin and end, in the launch's thread. */
struct observer_ops {
  int (*begin)(struct watch *watch, const struct observed_launch *launch, cugen_error *err);
  void (*end)(struct watch *watch);
  void (*block_begins)(struct watch *watch);
  /* Returns the number of the next block (or cluster), the number of blocks if there is none, or
     OBSERVER_HUNG. May split the blocks over several processes. */
  uint64_t (*next_block)(struct watch *watch);

  /* Every live thread of the block with that rank in its cluster, or of the cluster, has reached
     a barrier. */
  void (*barrier)(struct watch *watch, unsigned rank);
  void (*cluster_barrier)(struct watch *watch);
  /* The lanes in `lanes` of a warp have met. all: no other lane of the warp is live. orders: the
     meeting orders memory (__syncwarp). */
  void (*warp)(struct watch *watch, unsigned warp, unsigned lanes, bool all, bool orders);

  /* Joins of vector clocks: release adds the thread's knowledge to the sync, acquire adds the
     sync's knowledge to the thread, and pass adds a sync's knowledge to another sync. */
  void (*release)(struct watch *watch, unsigned thread, unsigned sync);
  void (*acquire)(struct watch *watch, unsigned thread, unsigned sync);
  void (*pass)(struct watch *watch, unsigned to_sync, unsigned from_sync);
  /* Orders the thread after everything that the thread `other` did until that epoch. */
  void (*follow)(struct watch *watch, unsigned thread, unsigned other, uint32_t epoch);
  uint32_t (*now)(const struct watch *watch);
  /* Returns true if the thread is ordered after the action of the thread `other` in that epoch. */
  bool (*knows)(const struct watch *watch, unsigned thread, unsigned other, uint32_t epoch);

  /* Returns true if two threads reached their places by the same calls; if not, sets the first
     calls in which they differ. */
  bool (*same_path)(const struct watch *watch, unsigned thread, unsigned other, const void **call,
                    const void **other_call);
  /* Reports an access; returns its epoch. */
  uint32_t (*access)(struct watch *watch, const struct observed_access *access);
  /* Reports that the thread uses an object in memory (an mbarrier), and must be ordered after the
     last write to the object. */
  void (*use)(struct watch *watch, const struct observed_access *access);
  /* copy_landed: the data that the copy engine began to write in that epoch have arrived;
     copy_counted: the sync counts them. */
  void (*copy_landed)(struct watch *watch, const void *at, size_t bytes, uint32_t epoch);
  void (*copy_counted)(struct watch *watch, unsigned sync, uint32_t epoch);
  void (*proxy_fence)(struct watch *watch, unsigned thread);
  /* hold: registers (on the thread's stack) are accumulators of products until they are
     released. fence: wgmma.fence. */
  void (*accumulators_hold)(struct watch *watch, unsigned thread, const void *start, size_t bytes,
                            const void *site);
  void (*accumulators_release)(struct watch *watch, unsigned thread, const void *start);
  void (*accumulators_fence)(struct watch *watch, unsigned thread);
  /* launch_waited: the thread has waited for the launch in front (griddepcontrol.wait).
     launch_used: a copy uses global memory on behalf of the thread, which must have waited. */
  void (*launch_waited)(struct watch *watch, unsigned thread);
  void (*launch_used)(struct watch *watch, unsigned thread, const void *site);

  /* The functions from here on are async-signal-safe. finding: a misuse at a site by a thread;
     other_site NULL: there is no other site. */
  void (*finding)(struct watch *watch, cugen_finding_kind kind, const void *site, unsigned thread,
                  const void *other_site, unsigned other_thread, const char *text);
  /* Two threads of a block wait at different places, or in calls from different places. */
  void (*diverged)(struct watch *watch, const void *site, unsigned thread, const void *other_site,
                   unsigned other_thread, enum watch_apart apart);
  /* stray: an access to memory that nobody owns; misaligned: one that the processor refuses for its
     alignment. */
  void (*stray)(struct watch *watch, const void *site, const void *address, bool write);
  void (*misaligned)(struct watch *watch, const void *site);
  /* Ends the launch at its next access, as a hang. Returns false if the launch was to end
     already. */
  bool (*time_is_up)(struct watch *watch);
  /* Returns `site` if it is in the kernel's image, else the site of the last access. */
  const void *(*position)(const struct watch *watch, const void *site);
};

/* ---- Calls of the emulator, which do nothing without an observer ---------------------------- */

/* Calls a function of the observer's table with these arguments. */
#define OBSERVE(by, function, ...)                                                                 \
  do {                                                                                             \
    const struct observer *const to = (by);                                                        \
    if (to) to->ops->function(to->watch, __VA_ARGS__);                                             \
  } while (0)

static inline uint32_t observe_access(const struct observer *o,
                                      const struct observed_access *access) {
  return o ? o->ops->access(o->watch, access) : 0;
}

static inline void observe_misuse(const struct observer *o, cugen_finding_kind kind,
                                  const void *site, unsigned thread, const char *text) {
  OBSERVE(o, finding, kind, site, thread, NULL, 0, text);
}

#endif
