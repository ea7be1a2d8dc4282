/* Finding the fence that is missing where a flag would order two accesses that race; see state.h.
   This file keeps the last strong write of each block, and what the running block has read at its
   flags lately. */
#include "base/array.h"
#include "state.h"

void flags_launch(struct watch *w) {
  w->flags.release_count = w->flags.use_count = 0;
}

void flags_block(struct watch *w) {
  struct flags *f = &w->flags;
  struct flag_release *grown =
      array_reserve(f->releases, &f->release_room, f->release_count, sizeof *grown);
  f->use_count = 0;
  if (!grown) return; /* without memory this block gets no advice */
  f->releases = grown;
  f->releases[f->release_count++] = (struct flag_release){.block_epoch = w->hb.block_epoch};
}

static void keep_release(struct watch *w, const struct access *a) {
  struct flags *f = &w->flags;
  struct flag_release *last = f->release_count ? &f->releases[f->release_count - 1] : NULL;
  if (!last || last->block_epoch != w->hb.block_epoch) return;
  last->epoch = w->hb.epoch;
  last->barrier = w->hb.barrier_epoch[a->thread / w->hb.padded];
  last->fence = ra_last_fence(w->ra, a->thread);
  last->thread = a->thread;
  last->site = a->site;
}

/* Returns the last strong write to the word; epoch 0: there was none. */
static const struct last_access *found_at(const struct region *region, const struct cell *cell) {
  const struct last_access *atomic = &shadow_rare(region, cell)->atomic;
  return cell->write.kind & WATCH_STRONG && cell->write.epoch > atomic->epoch ? &cell->write
                                                                              : atomic;
}

void flags_use(const struct access *a, const struct cell *cell) {
  struct watch *w = a->watch;
  struct flags *f = &w->flags;
  const struct last_access *found = found_at(a->region, cell);
  const bool reads = !(a->kind & CPU_WRITE) || a->kind & CPU_ATOMIC;
  const bool other = found->thread != a->thread || found->epoch < w->hb.block_epoch;
  if (reads && other && found->epoch >= w->hb.launch_epoch)
    f->uses[f->use_count++ % FLAG_USES] = (struct flag_use){
        .at = a->at, .epoch = w->hb.epoch, .thread = a->thread, .site = a->site, .found = *found};
  if (a->kind & CPU_WRITE) keep_release(w, a);
  w->hb.epoch++; /* so that the thread's next action is later than this one */
}

/* Returns the last strong write of the block that acted in that epoch; NULL: nothing is known. */
static const struct flag_release *release_of(const struct watch *w, uint32_t epoch) {
  size_t low = 0, high = w->flags.release_count;
  while (high - low > 1) {
    const size_t middle = (low + high) / 2;
    if (w->flags.releases[middle].block_epoch <= epoch)
      low = middle;
    else
      high = middle;
  }
  return high ? &w->flags.releases[low] : NULL;
}

/* Returns the latest use of a flag other than the accessed word, by a->thread or ordered before the
   access, that read a value written in `epoch` or later. If `here` is set, then->thread must have
   written the value. NULL: none. */
static const struct flag_use *find_use(const struct access *a, uint32_t epoch,
                                       const struct last_access *then, bool here) {
  const struct watch *w = a->watch;
  const struct flags *f = &w->flags;
  const unsigned count = f->use_count < FLAG_USES ? f->use_count : FLAG_USES;
  for (unsigned i = 1; i <= count; i++) {
    const struct flag_use *use = &f->uses[(f->use_count - i) % FLAG_USES];
    const struct event event = {.epoch = use->epoch, .thread = use->thread};
    if (use->found.epoch < epoch || use->at / WATCH_WORD == a->at / WATCH_WORD) continue;
    if (here && use->found.thread != then->thread) continue;
    if (use->thread == a->thread || happens_before(&w->hb, &event, a->thread)) return use;
  }
  return NULL;
}

static bool missing_within(const struct access *a, const struct last_access *then,
                           struct missing_fence *out) {
  const struct flag_use *use = find_use(a, then->epoch, then, true);
  if (!use) return false;
  *out = (struct missing_fence){.site = use->found.site, .front = true, .device = false};
  return true;
}

bool flags_missing_fence(const struct access *a, const struct last_access *then, bool here,
                         struct missing_fence *out) {
  const struct watch *w = a->watch;
  if (then->kind & (CPU_ASYNC | OBSERVED_ENGINE) || a->kind & OBSERVED_ENGINE) return false;
  if (here) return missing_within(a, then, out);
  const struct flag_release *release = release_of(w, then->epoch);
  if (!release || release->epoch < then->epoch) return false;
  if (release->thread != then->thread && then->epoch >= release->barrier) return false;
  const struct flag_use *use = find_use(a, release->epoch, then, false);
  if (!use) return false;
  const bool released = release->fence > then->epoch;
  const bool acquired = ra_last_fence(w->ra, a->thread) > use->epoch ||
                        ra_last_fence(w->ra, use->thread) > use->epoch;
  if (released && acquired) return false;
  *out = (struct missing_fence){
      .site = released ? use->site : release->site, .front = !released, .device = true};
  return true;
}
