/* Happens-before among the accesses of a launch: by the epochs of barriers of blocks, clusters and
   warps, and by vector clocks where other barriers are used. An epoch is the number of the last
   event that ordered threads; an epoch with a thread is the c@t of Flanagan and Freund, "FastTrack:
   Efficient and Precise Dynamic Race Detection", PLDI 2009. All threads share one counter, because
   one runs at a time.

   Threads are numbered through their cluster, whose blocks run together; one cluster (or block)
   runs after the other. */
#ifndef EMULATOR_DETECTOR_HAPPENS_BEFORE_H
#define EMULATOR_DETECTOR_HAPPENS_BEFORE_H

#include "base/error.h"
#include "emulator/observer.h"

enum {
  HB_WARP = 32,
  HB_BLOCKS = 8, /* most blocks of a cluster */
  HB_THREADS = HB_BLOCKS * 1024,
  HB_WARPS = HB_THREADS / HB_WARP,
  HB_SYNCS = OBSERVER_SYNCS
};

/* An action of a thread, or of the copy engine. */
struct event {
  uint32_t epoch;
  unsigned thread;
  bool engine;
};

/* The number of a block, or cluster, that has begun, and the epoch in which it began. */
struct begun {
  uint32_t epoch;
  uint64_t block;
};

/* What each thread, block and sync of a cluster knows of all threads. A row is one clock: for each
   thread, and for the copy engine, the epoch up to which all its actions are known. */
struct vector_clocks {
  uint32_t *words; /* NULL: not needed yet */
  size_t bytes, row_words;
};

struct happens_before {
  uint32_t epoch, launch_epoch, block_epoch;
  uint32_t cluster_epoch, barrier_epoch[HB_BLOCKS]; /* of the last barrier, or the block's begin */
  uint32_t warp_epoch[HB_WARPS];                    /* when all lanes of a warp last met */
  /* when two lanes of a warp last met without all the others */
  uint32_t pairs[HB_WARPS][HB_WARP][HB_WARP];
  bool pairs_used[HB_WARPS];
  /* blocks of a cluster; numbers of a block's threads begin at a multiple of `padded` */
  unsigned blocks, padded;
  struct vector_clocks clocks; /* rows: threads, blocks, syncs */
  struct begun *begun;         /* the blocks that have begun, in order */
  size_t begun_count, begun_room;
};

void hb_close(struct happens_before *hb);

void hb_launch(struct happens_before *hb, unsigned blocks, unsigned padded);
void hb_block(struct happens_before *hb, uint64_t block);
/* Called when all threads of the block with that rank, or of the cluster, or the lanes of a warp
   have met. all: the lanes are all lanes that have not ended. */
void hb_barrier(struct happens_before *hb, unsigned rank);
void hb_cluster(struct happens_before *hb);
void hb_lanes(struct happens_before *hb, unsigned warp, unsigned lanes, bool all);

/* The observer's hooks release, acquire and pass (observer.h), on the vector clock of a sync. */
void hb_release(struct happens_before *hb, unsigned thread, unsigned sync);
void hb_acquire(struct happens_before *hb, unsigned thread, unsigned sync);
void hb_pass(struct happens_before *hb, unsigned to_sync, unsigned from_sync);
/* Orders the thread after everything that the thread `other` did until that epoch. */
void hb_follow(struct happens_before *hb, unsigned thread, unsigned other, uint32_t epoch);
/* Notes that the sync counts what the copy engine began in that epoch. */
void hb_copy_counted(struct happens_before *hb, unsigned sync, uint32_t epoch);

/* Returns the block that acted in that epoch of this launch; *until becomes the epoch in which the
   next block began, UINT32_MAX if none has. NULL: no block was noted. */
const struct begun *hb_begun(const struct happens_before *hb, uint32_t epoch, uint32_t *until);

/* Whether a vector clock orders `then` before the thread's present action. The clocks must have
   been made. */
bool hb_by_clocks(const struct happens_before *hb, const struct event *then, unsigned thread);

/* Returns true if `then` is the thread's own, or a barrier of a block, a cluster or a warp orders
   it before the thread's present action. */
static inline bool hb_by_barriers(const struct happens_before *hb, const struct event *then,
                                  unsigned thread) {
  const unsigned warp = thread / HB_WARP, rank = thread / hb->padded;
  if (then->thread == thread || then->epoch < hb->cluster_epoch) return true;
  if (then->thread / hb->padded == rank && then->epoch < hb->barrier_epoch[rank]) return true;
  if (then->thread / HB_WARP != warp) return false;
  if (then->epoch < hb->warp_epoch[warp]) return true;
  return hb->pairs_used[warp] &&
         then->epoch < hb->pairs[warp][then->thread % HB_WARP][thread % HB_WARP];
}

/* Whether a barrier or a vector clock orders `then`, an action of the running block, before the
   thread's present action. Only vector clocks order a write of the copy engine. */
static inline bool happens_before(const struct happens_before *hb, const struct event *then,
                                  unsigned thread) {
  if (!then->engine && hb_by_barriers(hb, then, thread)) return true;
  return hb->clocks.words && hb_by_clocks(hb, then, thread);
}

#endif
