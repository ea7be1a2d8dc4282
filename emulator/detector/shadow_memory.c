/* Shadow memory: a cell for each word records who wrote it, read it and used an atomic operation
   on it last, and is checked at the next access; see state.h, and watch.c for the method. */
#include <sys/mman.h>

#include "quick_words.h"

static size_t words_of(const struct region *region) {
  return (region->end - region->start) / WATCH_WORD + 2;
}

static void *map_zeros(size_t bytes) {
  void *at =
      mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return at == MAP_FAILED ? NULL : at;
}

/* Most words of a small region are touched, so large pages save faults. */
enum { MOST_IN_LARGE_PAGES = 256 << 20 };

static void *map_cells(const struct region *region, size_t size) {
  const size_t bytes = words_of(region) * size;
  void *at = map_zeros(bytes);
  if (at && bytes < MOST_IN_LARGE_PAGES) madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

int shadow_make(struct region *region, cugen_error *err) {
  region->cells = map_cells(region, sizeof *region->cells);
  region->reads = map_cells(region, sizeof *region->reads);
  region->rare = map_cells(region, sizeof *region->rare);
  return region->cells && region->reads && region->rare ? CUGEN_OK : error_memory(err);
}

void shadow_drop(struct region *region) {
  const size_t words = words_of(region);
  if (region->cells) munmap(region->cells, words * sizeof *region->cells);
  if (region->reads) munmap(region->reads, words * sizeof *region->reads);
  if (region->rare) munmap(region->rare, words * sizeof *region->rare);
  if (region->bytes) munmap(region->bytes, words * WATCH_WORD * sizeof *region->bytes);
  *region = (struct region){.shared = false};
}

/* ---- One word ------------------------------------------------------------------------------- */

static struct rare_cell *need_rare(const struct region *region, struct cell *cell) {
  cell->more |= CELL_RARE;
  return &region->rare[cell - region->cells];
}

/* Returns true if anything orders `then`, an access of this launch, before the access. here: `then`
   is an access of the running block or cluster. */
static bool ordered(const struct access *a, const struct last_access *then, bool here) {
  const struct watch *w = a->watch;
  const struct event event = {then->epoch, then->thread, then->kind & OBSERVED_ENGINE};
  if (here && happens_before(&w->hb, &event, a->thread)) return true;
  return ra_orders(w->ra, &event, a->thread, a->kind & WATCH_STRONG);
}

/* Returns true if the word is among the last that threads polled so often that others had to
   run. */
static bool is_waited_for(const struct watch *w, uintptr_t at) {
  for (unsigned i = 0; i < WATCH_WAITED; i++)
    if (w->waited[i] && w->waited[i] / WATCH_WORD == at / WATCH_WORD) return true;
  return false;
}

/* Whether two accesses may be concurrent: atomic operations, and volatile ones of different
   blocks or on a flag. A flag is a word that is used with fences, that a thread has waited for,
   or that only one of the two writes in global memory. For other blocks, an atomic operation of
   block scope is only a plain access. */
static bool may_meet(const struct access *a, const struct cell *cell,
                     const struct last_access *then, bool here) {
  const unsigned padded = a->watch->hb.padded;
  const bool scoped = a->kind & CPU_BLOCK || (then->kind & CPU_ATOMIC && then->kind & CELL_BLOCK);
  if (scoped && (!here || then->thread / padded != a->thread / padded)) return false;
  if (a->kind & then->kind & CPU_ATOMIC) return true;
  const bool both = a->kind & WATCH_STRONG && then->kind & WATCH_STRONG,
             writes = a->kind & then->kind & CPU_WRITE;
  if (!both) return false;
  return !here || ra_is_flag(a->watch->ra, shadow_rare(a->region, cell)->flag) ||
         is_waited_for(a->watch, a->at) || (!a->region->shared && !writes);
}

/* Returns false if `then` touched none of these bytes, or if one of the common orders puts `then`
   before the access. */
static inline bool shadow_memory_is_open(const struct access *a, const struct last_access *then,
                                         unsigned bytes) {
  const struct happens_before *hb = &a->watch->hb;
  if (!(then->bytes & bytes) ||
      then->epoch < (a->region->shared ? hb->block_epoch : hb->launch_epoch))
    return false;
  if (then->epoch < hb->block_epoch || then->kind & (CPU_ASYNC | OBSERVED_ENGINE)) return true;
  const unsigned rank = a->thread / hb->padded;
  return then->thread != a->thread &&
         (then->epoch >= hb->barrier_epoch[rank] || then->thread / hb->padded != rank);
}

static void check_last(const struct access *a, const struct cell *cell,
                       const struct last_access *then, bool flies) {
  const bool here = then->epoch >= a->watch->hb.block_epoch;
  if (may_meet(a, cell, then, here)) return;
  struct missing_fence fence;
  if (here && flies)
    finding_add(a, CUGEN_FINDING_COPY_IN_FLIGHT, then);
  else if (ordered(a, then, here))
    return;
  else if (flags_missing_fence(a, then, here, &fence))
    finding_add_fence(a, then, &fence);
  else
    finding_add(a, here ? CUGEN_FINDING_RACE : CUGEN_FINDING_BLOCK_RACE, then);
}

void shadow_check_write(const struct access *a, const struct cell *cell, unsigned bytes) {
  if (shadow_memory_is_open(a, &cell->write, bytes))
    check_last(a, cell, &cell->write, cell->write.kind & CPU_ASYNC);
  const struct last_access *atomic = &shadow_rare(a->region, cell)->atomic;
  if (shadow_memory_is_open(a, atomic, bytes)) check_last(a, cell, atomic, false);
}

/* Only reads by the copy engine or a product are in flight. The read by a thread's own copy counts
   as over when the copy begins. */
static void check_read(const struct access *a, const struct cell *cell,
                       const struct last_access *then, unsigned bytes) {
  if (shadow_memory_is_open(a, then, bytes))
    check_last(a, cell, then, then->kind & CPU_ASYNC && then->kind & OBSERVED_PROXY);
}

static void check_reads(const struct access *a, const struct cell *cell, unsigned bytes) {
  if (cell->more & CELL_READS) {
    const struct read_cell *reads = &a->region->reads[cell - a->region->cells];
    check_read(a, cell, &reads->last, bytes);
    check_read(a, cell, &reads->other, bytes);
  }
  check_read(a, cell, &shadow_rare(a->region, cell)->before, bytes);
}

static void keep_read(const struct access *a, struct cell *cell, const struct last_access *now) {
  const struct happens_before *hb = &a->watch->hb;
  struct read_cell *reads = &a->region->reads[cell - a->region->cells];
  const bool before = !a->region->shared && reads->last.epoch >= hb->launch_epoch;
  if (before && reads->last.epoch < hb->block_epoch)
    need_rare(a->region, cell)->before = reads->last;
  cell->more |= CELL_READS;
  quick_keep_read(reads, now, hb->barrier_epoch[now->thread / hb->padded]);
}

/* ---- Separate bytes of a word --------------------------------------------------------------- */

/* Returns the four byte cells of the word; NULL: no memory, and accesses of single bytes are then
   known only by their word. */
static struct byte_cell *byte_cells(const struct access *a, const struct cell *cell) {
  struct region *region = (struct region *)(uintptr_t)a->region; /* the watch owns the region */
  if (!region->bytes) {
    region->bytes = map_zeros(words_of(region) * WATCH_WORD * sizeof *region->bytes);
  }
  return region->bytes ? region->bytes + WATCH_WORD * (cell - region->cells) : NULL;
}

static void check_byte(const struct access *a, const struct cell *cell,
                       const struct byte_cell *byte, unsigned bit) {
  const struct last_access *write = &byte->write;
  const bool known = write->epoch == cell->write.epoch && write->thread == cell->write.thread;
  if (!known && shadow_memory_is_open(a, write, bit))
    check_last(a, cell, write, write->kind & CPU_ASYNC);
  for (int i = 0; i < 2 && a->kind & CPU_WRITE; i++)
    if (shadow_memory_is_open(a, &byte->reads[i], bit)) check_last(a, cell, &byte->reads[i], false);
}

static void shadow_memory_check_bytes(const struct access *a, const struct cell *cell,
                                      unsigned bytes) {
  const struct byte_cell *all = byte_cells(a, cell);
  for (unsigned i = 0; i < WATCH_WORD && all; i++)
    if (bytes >> i & 1) check_byte(a, cell, &all[i], 1u << i);
}

static void keep_byte(struct byte_cell *byte, const struct last_access *now) {
  if (now->kind & CPU_WRITE) {
    byte->write = *now;
    return;
  }
  if (byte->reads[0].thread != now->thread) byte->reads[1] = byte->reads[0];
  byte->reads[0] = *now;
}

/* Atomic and asynchronous operations access whole words, or count for the whole word. Where threads
   share a word of global memory, only their writes are kept. */
static void keep_bytes(const struct access *a, struct cell *cell, const struct last_access *now) {
  if (now->kind & (CPU_ATOMIC | CPU_ASYNC | OBSERVED_ENGINE)) return;
  if (!a->region->shared && !(now->kind & CPU_WRITE)) return;
  struct byte_cell *all = byte_cells(a, cell);
  for (unsigned i = 0; i < WATCH_WORD && all; i++)
    if (now->bytes >> i & 1) keep_byte(&all[i], now);
  cell->split = all != NULL;
}

static uint32_t last_written(const struct region *region, const struct cell *cell) {
  const uint32_t atomic = shadow_rare(region, cell)->atomic.epoch;
  return cell->write.epoch > atomic ? cell->write.epoch : atomic;
}

static void keep_write(const struct access *a, struct cell *cell, const struct last_access *now) {
  const struct watch *w = a->watch;
  const bool earlier = a->region->shared && last_written(a->region, cell) < w->hb.block_epoch;
  const bool forgets = earlier || !(now->kind & WATCH_STRONG);
  if (forgets && cell->more & CELL_RARE) need_rare(a->region, cell)->flag = 0;
  if (!a->region->shared && !(now->kind & WATCH_STRONG)) w->written[a->thread] = w->hb.epoch;
  struct last_access *last =
      now->kind & CPU_ATOMIC ? &need_rare(a->region, cell)->atomic : &cell->write;
  if (earlier) cell->written = 0;
  const bool more = last->thread == now->thread && last->epoch == now->epoch;
  const unsigned bytes = more ? last->bytes : 0;
  *last = *now;
  last->bytes |= (uint8_t)bytes;
  cell->written |= now->bytes;
}

static bool makes_use(const struct access *a) {
  return !(a->kind & CPU_WRITE) || (a->kind & CPU_ATOMIC && !(a->kind & CPU_REPLACES));
}

/* When more than a word is read, which may be the copy of a struct, unwritten bytes of a word with
   written bytes are taken for padding. */
static void shadow_memory_check_written(const struct access *a, const struct cell *cell,
                                        unsigned bytes) {
  const bool here = !a->region->shared || last_written(a->region, cell) >= a->watch->hb.block_epoch;
  const unsigned written = here ? cell->written & bytes : 0;
  if (!a->region->unwritten || written == bytes || (written && a->bytes > WATCH_WORD)) return;
  struct access reads = *a; /* an atomic operation also reads */
  reads.kind &= ~(unsigned)CPU_WRITE;
  finding_add(&reads, CUGEN_FINDING_UNINITIALISED, NULL);
}

/* The copy engine and the tensor cores see writes of threads only after a fence, by the writing
   thread or by the one that starts the operation. */
static void check_fence(const struct access *a, const struct last_access *then, unsigned bytes) {
  const struct watch *w = a->watch;
  if (!(then->bytes & bytes) || then->epoch < w->hb.block_epoch) return;
  if (then->kind & (OBSERVED_PROXY | OBSERVED_ENGINE)) return;
  if (w->fence_epoch[then->thread] < then->epoch && w->fence_epoch[a->thread] < then->epoch)
    finding_add(a, CUGEN_FINDING_MISSING_FENCE, then);
}

static uint8_t cell_kind(unsigned kind) {
  return (uint8_t)((kind & ~(unsigned)CPU_PACKED) | (kind & CPU_BLOCK ? CELL_BLOCK : 0));
}

void shadow_visit_word(const struct access *a, struct cell *cell, unsigned bytes) {
  const struct last_access now = {.epoch = a->watch->hb.epoch,
                                  .site = a->site,
                                  .thread = (uint16_t)a->thread,
                                  .bytes = (uint8_t)bytes,
                                  .kind = cell_kind(a->kind)};
  shadow_check_write(a, cell, bytes);
  if (cell->split) shadow_memory_check_bytes(a, cell, bytes);
  if (a->kind & OBSERVED_PROXY && a->region->shared) {
    check_fence(a, &cell->write, bytes);
    check_fence(a, &shadow_rare(a->region, cell)->atomic, bytes);
  }
  if (makes_use(a)) shadow_memory_check_written(a, cell, bytes);
  if (bytes != WATCH_WHOLE_WORD) keep_bytes(a, cell, &now);
  if (!(a->kind & CPU_WRITE)) {
    keep_read(a, cell, &now);
    return;
  }
  check_reads(a, cell, bytes);
  keep_write(a, cell, &now);
  if (bytes == WATCH_WHOLE_WORD) cell->split = 0;
}

/* Tells ra_use about a strong access to the word, which may be a flag. */
static void use_flag(const struct access *a, struct cell *cell) {
  const bool stores = a->kind & CPU_WRITE && (!(a->kind & CPU_ATOMIC) || a->kind & CPU_VOLATILE);
  const int write = a->kind & CPU_WRITE ? RA_WRITE : 0, read = stores ? 0 : RA_READ;
  ra_use(a->watch->ra, a->thread, &need_rare(a->region, cell)->flag, write | read);
}

void shadow_visit(const struct access *a) {
  const uintptr_t offset = a->at - a->region->start, end = offset + a->bytes;
  if (a->watch->speculation && !a->region->shared && !a->region->variable)
    speculation_claim(a->watch->speculation, (size_t)(a->region - a->watch->regions), offset,
                      a->bytes, a->kind & CPU_WRITE);
  if (a->watch->report->mode == WATCH_TRAFFIC) return;
  if (a->kind & WATCH_STRONG) flags_use(a, &a->region->cells[offset / WATCH_WORD]);
  for (uintptr_t word = offset / WATCH_WORD; word * WATCH_WORD < end; word++) {
    const unsigned whole = WATCH_WHOLE_WORD;
    unsigned bytes = whole;
    if (word * WATCH_WORD < offset) bytes &= whole << (unsigned)(offset - word * WATCH_WORD);
    if (word * WATCH_WORD + WATCH_WORD > end)
      bytes &= whole >> (unsigned)(word * WATCH_WORD + WATCH_WORD - end);
    shadow_visit_word(a, &a->region->cells[word], bytes & whole);
  }
  if (a->kind & WATCH_STRONG) use_flag(a, &a->region->cells[offset / WATCH_WORD]);
}
