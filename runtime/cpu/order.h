/* What orders the accesses of a launch: barriers of blocks, clusters and warps by times, others by vector clocks (clocks.h).
   Time counts the events that order threads. Threads are numbered through their cluster, whose blocks run together; one
   cluster (or block) runs after the other. */
#ifndef RUNTIME_CPU_ORDER_H
#define RUNTIME_CPU_ORDER_H

#include "base/error.h"
#include "clocks.h"

enum {
  ORDER_WARP = 32,
  ORDER_BLOCKS = 8, /* of a cluster */
  ORDER_THREADS = ORDER_BLOCKS * 1024,
  ORDER_WARPS = ORDER_THREADS / ORDER_WARP,
  ORDER_ROWS = 4096 /* that others name */
};

/* What a thread, or the copy engine, did at a time. */
struct moment {
  uint32_t time;
  unsigned thread;
  bool engine;
};

/* A block, or a cluster, of the launch. */
struct begun {
  uint32_t time;
  uint64_t block;
};

struct order {
  uint32_t time, launch_time, block_time;
  uint32_t cluster_time, barrier_time[ORDER_BLOCKS];   /* of the last barrier */
  uint32_t warp_time[ORDER_WARPS];                     /* the last time that all lanes of a warp met, */
  uint32_t pairs[ORDER_WARPS][ORDER_WARP][ORDER_WARP]; /* and two of them; when some but not all did */
  bool pairs_used[ORDER_WARPS];
  unsigned blocks, padded; /* of a cluster; a block's threads are numbered from a multiple of padded on */
  struct clocks clocks;    /* rows: threads, blocks, what others name */
  struct begun *begun;     /* those that have, in turn */
  size_t begun_count, begun_room;
};

void order_close(struct order *order);

void order_launch(struct order *order, unsigned blocks, unsigned padded);
void order_block(struct order *order, uint64_t block);
/* All threads of the block of that rank, or of the cluster, have met; lanes of a warp, which are all that have not ended. */
void order_barrier(struct order *order, unsigned rank);
void order_cluster(struct order *order);
void order_lanes(struct order *order, unsigned warp, unsigned lanes, bool all);

/* All that the thread has seen until now is in that row. */
void order_release(struct order *order, unsigned thread, unsigned row);
void order_acquire(struct order *order, unsigned thread, unsigned row);
void order_pass(struct order *order, unsigned to_row, unsigned from_row);
/* The thread comes after what the other did until that time. */
void order_follow(struct order *order, unsigned thread, unsigned other, uint32_t time);
/* What the copy engine began then is counted at the barrier of that row. */
void order_counted(struct order *order, unsigned row, uint32_t time);

/* Which block did something at that time of this launch, and when the next one began. */
const struct begun *order_begun(const struct order *order, uint32_t time, uint32_t *until);

bool order_by_clocks(const struct order *order, const struct moment *then, unsigned thread);

/* Barriers of a whole block or cluster, and of a warp. */
static inline bool order_by_barriers(const struct order *o, const struct moment *then, unsigned thread) {
  const unsigned warp = thread / ORDER_WARP, rank = thread / o->padded;
  if (then->thread == thread || then->time < o->cluster_time) return true;
  if (then->thread / o->padded == rank && then->time < o->barrier_time[rank]) return true;
  if (then->thread / ORDER_WARP != warp) return false;
  if (then->time < o->warp_time[warp]) return true;
  return o->pairs_used[warp] && then->time < o->pairs[warp][then->thread % ORDER_WARP][thread % ORDER_WARP];
}

/* Whether something of these orders `then`, of the block that runs, before what the thread does now. What the copy engine
   writes is ordered by the barrier that counts it alone. */
static inline bool order_before(const struct order *o, const struct moment *then, unsigned thread) {
  if (!then->engine && order_by_barriers(o, then, thread)) return true;
  return o->clocks.words && order_by_clocks(o, then, thread);
}

#endif
