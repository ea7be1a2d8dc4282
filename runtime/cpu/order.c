/* Times and clocks of a launch; see order.h. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

void order_close(struct order *o) {
  clocks_drop(&o->clocks);
  free(o->begun);
  o->begun = NULL;
}

/* ---- The launch, its blocks ---- */

void order_launch(struct order *o, unsigned blocks, unsigned padded) {
  clocks_drop(&o->clocks); /* of another number of threads */
  o->blocks = blocks;
  o->padded = padded;
  o->launch_time = ++o->time;
  o->begun_count = 0;
  memset(o->warp_time, 0, sizeof o->warp_time);
  memset(o->pairs, 0, sizeof o->pairs);
  memset(o->pairs_used, 0, sizeof o->pairs_used);
}

/* Without memory a finding names an earlier block for a later one. */
static void note_begun(struct order *o, uint64_t block) {
  if (o->begun_count == o->begun_room) {
    const size_t room = o->begun_room ? 2 * o->begun_room : 256;
    struct begun *grown = realloc(o->begun, room * sizeof *grown);
    if (!grown) return;
    o->begun = grown;
    o->begun_room = room;
  }
  o->begun[o->begun_count++] = (struct begun){o->time, block};
}

void order_block(struct order *o, uint64_t block) {
  o->block_time = o->cluster_time = ++o->time;
  for (int i = 0; i < ORDER_BLOCKS; i++) o->barrier_time[i] = o->time;
  clocks_clear(&o->clocks);
  note_begun(o, block);
}

const struct begun *order_begun(const struct order *o, uint32_t time, uint32_t *until) {
  size_t low = 0, high = o->begun_count;
  if (!high) return NULL;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (o->begun[middle].time <= time)
      low = middle;
    else
      high = middle;
  }
  if (until) *until = high < o->begun_count ? o->begun[high].time : UINT32_MAX;
  return &o->begun[low];
}

/* ---- Rows ---- */

static size_t block_row(const struct order *o, unsigned rank) {
  return (size_t)o->blocks * o->padded + rank;
}

static size_t named_row(const struct order *o, unsigned row) {
  return block_row(o, o->blocks) + row;
}

/* Rows are made when a launch first needs them: what was before is ordered by barriers of whole blocks. */
static bool need_clocks(struct order *o) {
  const size_t threads = (size_t)o->blocks * o->padded;
  return o->clocks.words || clocks_make(&o->clocks, threads, threads + o->blocks + ORDER_ROWS);
}

bool order_by_clocks(const struct order *o, const struct moment *then, unsigned thread) {
  const size_t whose = then->engine ? o->clocks.row_words - 1 : then->thread;
  const uint32_t *own = clocks_row(&o->clocks, thread);
  const uint32_t *all = clocks_row(&o->clocks, block_row(o, thread / o->padded));
  return then->time <= own[whose] || then->time <= all[whose];
}

void order_release(struct order *o, unsigned thread, unsigned row) {
  if (!need_clocks(o)) return;
  clocks_row(&o->clocks, thread)[thread] = o->time++;
  clocks_join(&o->clocks, named_row(o, row), thread);
  clocks_join(&o->clocks, named_row(o, row), block_row(o, thread / o->padded));
}

void order_acquire(struct order *o, unsigned thread, unsigned row) {
  if (need_clocks(o)) clocks_join(&o->clocks, thread, named_row(o, row));
}

void order_pass(struct order *o, unsigned to, unsigned from) {
  if (need_clocks(o)) clocks_join(&o->clocks, named_row(o, to), named_row(o, from));
}

void order_follow(struct order *o, unsigned thread, unsigned other, uint32_t time) {
  if (!need_clocks(o)) return;
  uint32_t *own = clocks_row(&o->clocks, thread);
  if (time > own[other]) own[other] = time;
}

void order_counted(struct order *o, unsigned row, uint32_t time) {
  if (!need_clocks(o)) return;
  uint32_t *words = clocks_row(&o->clocks, named_row(o, row));
  if (time > words[o->clocks.row_words - 1]) words[o->clocks.row_words - 1] = time;
}

/* ---- Barriers ---- */

/* What its threads know of others the whole block knows; in a block of its own, of the copy engine. */
static void join_block(struct order *o, unsigned rank) {
  const unsigned first = rank * o->padded;
  const size_t row = block_row(o, rank), engine = o->clocks.row_words - 1;
  uint32_t *all = o->clocks.words ? clocks_row(&o->clocks, row) : NULL;
  for (unsigned thread = first; all && thread < first + o->padded; thread++) {
    if (o->blocks > 1) clocks_join(&o->clocks, row, thread);
    const uint32_t known = clocks_row(&o->clocks, thread)[engine];
    if (known > all[engine]) all[engine] = known;
  }
}

void order_barrier(struct order *o, unsigned rank) {
  o->barrier_time[rank] = ++o->time;
  join_block(o, rank);
}

void order_cluster(struct order *o) {
  o->cluster_time = ++o->time;
  for (unsigned rank = 0; rank < o->blocks; rank++) join_block(o, rank);
  for (unsigned rank = 1; rank < o->blocks && o->clocks.words; rank++)
    clocks_join(&o->clocks, block_row(o, 0), block_row(o, rank));
  for (unsigned rank = 1; rank < o->blocks && o->clocks.words; rank++)
    clocks_join(&o->clocks, block_row(o, rank), block_row(o, 0));
}

static void join_lanes(struct order *o, unsigned warp, unsigned lanes) {
  const unsigned first = warp * ORDER_WARP + (unsigned)__builtin_ctz(lanes);
  for (unsigned left = lanes; left; left &= left - 1) {
    const unsigned thread = warp * ORDER_WARP + (unsigned)__builtin_ctz(left);
    clocks_row(&o->clocks, thread)[thread] = o->time - 1;
    clocks_join(&o->clocks, first, thread);
  }
  for (unsigned left = lanes; left; left &= left - 1)
    clocks_join(&o->clocks, warp * ORDER_WARP + (unsigned)__builtin_ctz(left), first);
}

void order_lanes(struct order *o, unsigned warp, unsigned lanes, bool all) {
  o->time++;
  if (o->clocks.words) join_lanes(o, warp, lanes);
  if (all) {
    o->warp_time[warp] = o->time;
    return;
  }
  o->pairs_used[warp] = true;
  for (unsigned left = lanes; left; left &= left - 1)
    for (unsigned others = lanes; others; others &= others - 1)
      o->pairs[warp][__builtin_ctz(left)][__builtin_ctz(others)] = o->time;
}
