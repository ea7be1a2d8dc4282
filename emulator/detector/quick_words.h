/* The fast path: the result of shadow_memory.c for a plain access of a whole word, in a launch
   without clusters. An earlier access is settled if it was made by the same thread, in an earlier
   launch or, in shared memory, by an earlier block, or if a barrier of the block lies between. A
   function returns false without any effect if it cannot decide. This is FastTrack's same-epoch
   path, extended by barriers. */
#ifndef EMULATOR_DETECTOR_QUICK_WORDS_H
#define EMULATOR_DETECTOR_QUICK_WORDS_H

#include <string.h>

#include "state.h"

/* kinds of access that a barrier does not order */
enum { QUICK_UNSETTLED = CPU_ASYNC | OBSERVED_ENGINE };

/* The fields of a cell after epoch and site, as one number. */
static inline uint64_t quick_rest(const struct cell *cell) {
  uint64_t rest;
  memcpy(&rest, (const char *)cell + offsetof(struct cell, write.thread), sizeof rest);
  return rest;
}

/* Whether a cell is common: its last write was not asynchronous, no bytes were accessed separately,
   and CELL_RARE is not set; with `written`, all bytes have been written. */
static inline bool quick_is_common(const struct cell *cell, bool written) {
  static const struct cell mask = {.write.kind = QUICK_UNSETTLED,
                                   .split = UINT8_MAX,
                                   .more = CELL_RARE,
                                   .written = WATCH_WHOLE_WORD};
  static const struct cell unwritten = {.written = WATCH_WHOLE_WORD};
  const uint64_t whole = quick_rest(&unwritten);
  const uint64_t looked_at = written ? quick_rest(&mask) : quick_rest(&mask) & ~whole;
  return (quick_rest(cell) & looked_at) == (written ? whole : 0);
}

static inline bool quick_is_settled(const struct happens_before *hb, const struct last_access *then,
                                    unsigned thread, bool shared) {
  if (then->epoch >= hb->block_epoch)
    return then->epoch < hb->barrier_epoch[0] || then->thread == thread;
  return shared || then->epoch < hb->launch_epoch;
}

/* Keeps the last read, and an earlier read of another thread, preferably of another warp. A
   thread's reads in one epoch count as one. */
static inline void quick_keep_read(struct read_cell *reads, const struct last_access *now,
                                   uint32_t barrier_epoch) {
  struct last_access *last = &reads->last, *other = &reads->other;
  if (last->thread == now->thread && last->epoch == now->epoch) {
    last->bytes |= now->bytes;
    last->site = now->site;
    return;
  }
  const bool matters = last->epoch >= barrier_epoch && last->thread != now->thread;
  const bool better =
      other->epoch < barrier_epoch || other->thread / HB_WARP == now->thread / HB_WARP;
  if (matters && (better || last->thread / HB_WARP != now->thread / HB_WARP)) *other = *last;
  *last = *now;
}

/* Checks and records a read of a word. unwritten: the memory has no contents at first, so that the
   word must have been written before. */
static inline bool quick_read(const struct watch *w, struct cell *cell, struct read_cell *reads,
                              const struct last_access *now, bool shared, bool unwritten) {
  const struct happens_before *hb = &w->hb;
  if (!quick_is_common(cell, unwritten) || !quick_is_settled(hb, &cell->write, now->thread, shared))
    return false;
  if (shared && cell->write.epoch < hb->block_epoch) return false;
  const uint32_t before = reads->last.epoch;
  if (!shared && before >= hb->launch_epoch && before < hb->block_epoch) return false;
  if (!(cell->more & CELL_READS)) cell->more |= CELL_READS;
  quick_keep_read(reads, now, hb->barrier_epoch[0]);
  return true;
}

static inline bool quick_has_settled(const struct happens_before *hb, const struct read_cell *reads,
                                     unsigned thread, bool shared) {
  if ((reads->last.kind | reads->other.kind) & QUICK_UNSETTLED) return false;
  return quick_is_settled(hb, &reads->last, thread, shared) &&
         quick_is_settled(hb, &reads->other, thread, shared);
}

static inline bool quick_write(const struct watch *w, struct cell *cell,
                               const struct read_cell *reads, const struct last_access *now,
                               bool shared) {
  const struct happens_before *hb = &w->hb;
  if (!quick_is_common(cell, false) || !quick_is_settled(hb, &cell->write, now->thread, shared))
    return false;
  if (cell->more & CELL_READS && !quick_has_settled(hb, reads, now->thread, shared)) return false;
  if (!shared) w->written[now->thread] = now->epoch;
  *cell = (struct cell){.write = *now, .written = WATCH_WHOLE_WORD, .more = cell->more};
  return true;
}

#endif
