/* Sums in registers, on a thread's stack, that products are added to; see watch_state.h. */
#include <stdlib.h>
#include <string.h>

#include "watch_state.h"

/* Of a thread's own stack: whether sums lie there that products are added to. */
void sums_touch(struct watch *w, uintptr_t at, const void *site) {
  if (!w->registers) return;
  struct registers *all = w->registers[watch_thread(w)];
  for (int i = 0; i < WATCH_REGISTERS && all[i].start; i++) {
    if (at < all[i].start || at >= all[i].end) continue;
    all[i].touched = true;
    if (!all[i].in_flight) continue;
    struct watch_finding *f = finding_new(w, WATCH_SUMS, finding_site(w, site), all[i].site, watch_thread(w));
    if (f) finding_place(w, &f->other, all[i].site, w->block, watch_thread(w));
  }
}

static struct registers *find_registers(struct watch *w, unsigned thread, uintptr_t start) {
  if (!w->registers) w->registers = calloc(WATCH_THREADS, sizeof *w->registers);
  struct registers *all = w->registers ? w->registers[thread] : NULL;
  for (int i = 0; i < WATCH_REGISTERS && all; i++)
    if (!all[i].start || all[i].start == start) return &all[i];
  return NULL;
}

void watch_hold(struct watch *w, unsigned thread, const void *start, size_t bytes, const void *site) {
  struct registers *r = find_registers(w, thread, (uintptr_t)start);
  if (!r) return;
  if (!r->start) *r = (struct registers){.start = (uintptr_t)start, .touched = !w->products_fenced[thread]};
  if (r->touched && !r->in_flight)
    watch_event(w, WATCH_FENCE, site, thread, NULL, 0,
                "registers of a product's sums were used since the thread's last wgmma.fence");
  r->end = r->start + bytes;
  r->site = (uint32_t)finding_site(w, site);
  r->in_flight = true;
}

void watch_give_back(struct watch *w, unsigned thread, const void *start) {
  struct registers *r = find_registers(w, thread, (uintptr_t)start);
  if (r) r->in_flight = false;
}

void watch_registers_fence(struct watch *w, unsigned thread) {
  w->products_fenced[thread] = true;
  for (int i = 0; i < WATCH_REGISTERS && w->registers; i++) w->registers[thread][i].touched = false;
}

void sums_block(struct watch *w) {
  memset(w->products_fenced, 0, sizeof w->products_fenced);
  if (w->registers) memset(w->registers, 0, w->launch.blocks * w->launch.padded * sizeof *w->registers);
}
