/* Epochs and vector clocks of a launch; see happens_before.h. */
#include "happens_before.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/array.h"

static void drop_clocks(struct happens_before *hb) {
  if (hb->clocks.words) munmap(hb->clocks.words, hb->clocks.bytes);
  hb->clocks.words = NULL;
}

void hb_close(struct happens_before *hb) {
  drop_clocks(hb);
  free(hb->begun);
  hb->begun = NULL;
}

/* ---- The launch and its blocks -------------------------------------------------------------- */

void hb_launch(struct happens_before *hb, unsigned blocks, unsigned padded) {
  drop_clocks(hb); /* made for another number of threads */
  hb->blocks = blocks;
  hb->padded = padded;
  hb->launch_epoch = ++hb->epoch;
  hb->begun_count = 0;
  memset(hb->warp_epoch, 0, sizeof hb->warp_epoch);
  for (int warp = 0; warp < HB_WARPS; warp++) /* a megabyte in all, most of which is rarely used */
    if (hb->pairs_used[warp]) memset(hb->pairs[warp], 0, sizeof hb->pairs[warp]);
  memset(hb->pairs_used, 0, sizeof hb->pairs_used);
}

/* Notes that a block begins. Without memory, findings name the block before instead. */
static void keep_begun(struct happens_before *hb, uint64_t block) {
  struct begun *grown = array_reserve(hb->begun, &hb->begun_room, hb->begun_count, sizeof *grown);
  if (!grown) return;
  hb->begun = grown;
  hb->begun[hb->begun_count++] = (struct begun){hb->epoch, block};
}

void hb_block(struct happens_before *hb, uint64_t block) {
  hb->block_epoch = hb->cluster_epoch = ++hb->epoch;
  for (int i = 0; i < HB_BLOCKS; i++) hb->barrier_epoch[i] = hb->epoch;
  if (hb->clocks.words) madvise(hb->clocks.words, hb->clocks.bytes, MADV_DONTNEED); /* zeros */
  keep_begun(hb, block);
}

const struct begun *hb_begun(const struct happens_before *hb, uint32_t epoch, uint32_t *until) {
  size_t low = 0, high = hb->begun_count;
  if (!high) return NULL;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (hb->begun[middle].epoch <= epoch)
      low = middle;
    else
      high = middle;
  }
  if (until) *until = high < hb->begun_count ? hb->begun[high].epoch : UINT32_MAX;
  return &hb->begun[low];
}

/* ---- Rows ----------------------------------------------------------------------------------- */

static uint32_t *row_at(const struct happens_before *hb, size_t row) {
  return hb->clocks.words + row * hb->clocks.row_words;
}

static void join_rows(const struct happens_before *hb, size_t to, size_t from) {
  uint32_t *into = row_at(hb, to);
  const uint32_t *what = row_at(hb, from);
  for (size_t i = 0; i < hb->clocks.row_words; i++) into[i] = what[i] > into[i] ? what[i] : into[i];
}

static size_t block_row(const struct happens_before *hb, unsigned rank) {
  return (size_t)hb->blocks * hb->padded + rank;
}

static size_t sync_row(const struct happens_before *hb, unsigned sync) {
  return block_row(hb, hb->blocks) + sync;
}

/* Makes rows of zeros when a launch first needs them: epochs describe the order until then. Returns
   false, and makes no row, if memory is out. */
static bool need_clocks(struct happens_before *hb) {
  struct vector_clocks *clocks = &hb->clocks;
  const size_t threads = (size_t)hb->blocks * hb->padded;
  if (clocks->words) return true;
  clocks->row_words = threads + 1;
  clocks->bytes = (threads + hb->blocks + HB_SYNCS) * clocks->row_words * sizeof *clocks->words;
  void *at = mmap(NULL, clocks->bytes, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  clocks->words = at == MAP_FAILED ? NULL : at;
  return clocks->words;
}

bool hb_by_clocks(const struct happens_before *hb, const struct event *then, unsigned thread) {
  const size_t whose = then->engine ? hb->clocks.row_words - 1 : then->thread;
  const uint32_t *own = row_at(hb, thread);
  const uint32_t *all = row_at(hb, block_row(hb, thread / hb->padded));
  return then->epoch <= own[whose] || then->epoch <= all[whose];
}

void hb_release(struct happens_before *hb, unsigned thread, unsigned sync) {
  if (!need_clocks(hb)) return;
  row_at(hb, thread)[thread] = hb->epoch++;
  join_rows(hb, sync_row(hb, sync), thread);
  join_rows(hb, sync_row(hb, sync), block_row(hb, thread / hb->padded));
}

void hb_acquire(struct happens_before *hb, unsigned thread, unsigned sync) {
  if (need_clocks(hb)) join_rows(hb, thread, sync_row(hb, sync));
}

void hb_pass(struct happens_before *hb, unsigned to, unsigned from) {
  if (need_clocks(hb)) join_rows(hb, sync_row(hb, to), sync_row(hb, from));
}

void hb_follow(struct happens_before *hb, unsigned thread, unsigned other, uint32_t epoch) {
  if (!need_clocks(hb)) return;
  uint32_t *own = row_at(hb, thread);
  if (epoch > own[other]) own[other] = epoch;
}

void hb_copy_counted(struct happens_before *hb, unsigned sync, uint32_t epoch) {
  if (!need_clocks(hb)) return;
  uint32_t *words = row_at(hb, sync_row(hb, sync));
  if (epoch > words[hb->clocks.row_words - 1]) words[hb->clocks.row_words - 1] = epoch;
}

/* ---- Barriers ------------------------------------------------------------------------------- */

/* Joins what a block's threads know into the row of the block; outside of clusters, only what they
   know of the copy engine. */
static void join_block(struct happens_before *hb, unsigned rank) {
  const unsigned first = rank * hb->padded;
  const size_t row = block_row(hb, rank), engine = hb->clocks.row_words - 1;
  uint32_t *all = hb->clocks.words ? row_at(hb, row) : NULL;
  for (unsigned thread = first; all && thread < first + hb->padded; thread++) {
    if (hb->blocks > 1) join_rows(hb, row, thread);
    const uint32_t known = row_at(hb, thread)[engine];
    if (known > all[engine]) all[engine] = known;
  }
}

void hb_barrier(struct happens_before *hb, unsigned rank) {
  hb->barrier_epoch[rank] = ++hb->epoch;
  join_block(hb, rank);
}

void hb_cluster(struct happens_before *hb) {
  hb->cluster_epoch = ++hb->epoch;
  for (unsigned rank = 0; rank < hb->blocks; rank++) join_block(hb, rank);
  for (unsigned rank = 1; rank < hb->blocks && hb->clocks.words; rank++)
    join_rows(hb, block_row(hb, 0), block_row(hb, rank));
  for (unsigned rank = 1; rank < hb->blocks && hb->clocks.words; rank++)
    join_rows(hb, block_row(hb, rank), block_row(hb, 0));
}

static void join_lanes(struct happens_before *hb, unsigned warp, unsigned lanes) {
  const unsigned first = warp * HB_WARP + (unsigned)__builtin_ctz(lanes);
  for (unsigned left = lanes; left; left &= left - 1) {
    const unsigned thread = warp * HB_WARP + (unsigned)__builtin_ctz(left);
    row_at(hb, thread)[thread] = hb->epoch - 1;
    join_rows(hb, first, thread);
  }
  for (unsigned left = lanes; left; left &= left - 1)
    join_rows(hb, warp * HB_WARP + (unsigned)__builtin_ctz(left), first);
}

void hb_lanes(struct happens_before *hb, unsigned warp, unsigned lanes, bool all) {
  hb->epoch++;
  if (hb->clocks.words) join_lanes(hb, warp, lanes);
  if (all) {
    hb->warp_epoch[warp] = hb->epoch;
    return;
  }
  hb->pairs_used[warp] = true;
  for (unsigned left = lanes; left; left &= left - 1)
    for (unsigned others = lanes; others; others &= others - 1)
      hb->pairs[warp][__builtin_ctz(left)][__builtin_ctz(others)] = hb->epoch;
}
