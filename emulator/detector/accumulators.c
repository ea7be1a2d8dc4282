/* Accumulators of asynchronous products (wgmma). A thread must not touch the accumulators between a
   product and its wait, and a wgmma.fence must lie between other uses and the next product; see
   state.h. PTX ISA, "wgmma.fence". */
#include <stdlib.h>
#include <string.h>

#include "state.h"

void accumulators_touch(struct watch *w, uintptr_t at, const void *site) {
  if (!w->accumulators) return;
  struct accumulators *all = w->accumulators[watch_thread(w)];
  for (int i = 0; i < WATCH_ACCUMULATORS && all[i].start; i++) {
    if (at < all[i].start || at >= all[i].end) continue;
    all[i].touched = true;
    if (!all[i].in_flight) continue;
    struct watch_finding *f = finding_new(w, CUGEN_FINDING_ACCUMULATORS, finding_site(w, site),
                                          all[i].site, watch_thread(w));
    if (f) finding_place(w, &f->other, all[i].site, w->block, watch_thread(w));
  }
}

static struct accumulators *find_accumulators(struct watch *w, unsigned thread, uintptr_t start) {
  if (!w->accumulators) w->accumulators = calloc(HB_THREADS, sizeof *w->accumulators);
  struct accumulators *all = w->accumulators ? w->accumulators[thread] : NULL;
  for (int i = 0; i < WATCH_ACCUMULATORS && all; i++)
    if (!all[i].start || all[i].start == start) return &all[i];
  return NULL;
}

void accumulators_hold(struct watch *w, unsigned thread, const void *start, size_t bytes,
                       const void *site) {
  struct accumulators *r = find_accumulators(w, thread, (uintptr_t)start);
  if (!r) return;
  if (!r->start)
    *r = (struct accumulators){.start = (uintptr_t)start, .touched = !w->products_fenced[thread]};
  if (r->touched && !r->in_flight)
    finding_report(w, CUGEN_FINDING_MISSING_FENCE, site, thread, NULL, 0,
                   "registers of a product's sums were used since the thread's last wgmma.fence");
  r->end = r->start + bytes;
  r->site = (uint32_t)finding_site(w, site);
  r->in_flight = true;
}

void accumulators_release(struct watch *w, unsigned thread, const void *start) {
  struct accumulators *r = find_accumulators(w, thread, (uintptr_t)start);
  if (r) r->in_flight = false;
}

void accumulators_fence(struct watch *w, unsigned thread) {
  w->products_fenced[thread] = true;
  for (int i = 0; i < WATCH_ACCUMULATORS && w->accumulators; i++)
    w->accumulators[thread][i].touched = false;
}

void accumulators_block(struct watch *w) {
  memset(w->products_fenced, 0, sizeof w->products_fenced);
  if (w->accumulators)
    memset(w->accumulators, 0, w->launch.blocks * w->launch.padded * sizeof *w->accumulators);
}
