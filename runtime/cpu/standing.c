/* Where threads stand, for fault texts and for the watch; see scheduler.h. */
#include "note.h"
#include "scheduler.h"

void fibers_where(char *out, size_t size) {
  if (!size) return;
  struct note note = {out, out + size - 1};
  *out = '\0';
  if (!fibers_running) return;
  note_position(&note, "block", fibers_running->launch->builtins->block);
  note_position(&note, " thread", fibers_running->launch->builtins->thread);
}

static void watch_waiting(const struct fibers *all, const void *site) {
  for (unsigned thread = 0; thread < all->unstarted; ++thread) {
    const struct warp *warp = &all->warps[thread / WAIT_WARP];
    if (thread == all->crowd.slot || !((warp->live & ~warp->ready) >> thread % WAIT_WARP & 1)) continue;
    watch_event(all->launch->watch, WATCH_HANG, site, all->crowd.slot, all->parked[thread].site, thread, "");
  }
}

static const char time_is_up[] = "the time is up";

static void watch_hang(const struct fibers *all, const void *site) {
  watch_event(all->launch->watch, WATCH_HANG, site, all->crowd.slot, NULL, 0, "");
  watch_waiting(all, site);
}

bool fibers_time_is_up(void) {
  const struct fibers *all = fibers_running;
  return all && all->launch->watch && watch_time_is_up(all->launch->watch);
}

const char *fibers_hang(const void *site) {
  const struct fibers *all = fibers_running;
  if (!all || !all->launch->watch) return "";
  watch_hang(all, watch_standing(all->launch->watch, site));
  return time_is_up;
}

_Noreturn void fibers_end_hang(const void *site) {
  char text[FIBERS_FAULT_BYTES];
  struct note note = {text, text + sizeof text - 1};
  watch_hang(fibers_running, site);
  note_text(&note, time_is_up);
  note_text(&note, " in ");
  fibers_where(note.at, (size_t)(note.end - note.at) + 1);
  fibers_fault(text);
}

void fibers_stray(const void *site, const void *address, bool write) {
  const struct fibers *all = fibers_running;
  if (all && all->launch->watch) watch_stray(all->launch->watch, site, address, write);
}

void fibers_misplaced(const void *site) {
  const struct fibers *all = fibers_running;
  if (all && all->launch->watch) watch_misplaced(all->launch->watch, site);
}

void fibers_ended(const void *site, const char *what) {
  const struct fibers *all = fibers_running;
  if (!all || !all->launch->watch) return;
  watch_event(all->launch->watch, WATCH_TRAP, watch_standing(all->launch->watch, site), all->crowd.slot, NULL, 0,
              what);
}

_Noreturn void fibers_give_up(const char *what) {
  char text[FIBERS_FAULT_BYTES], where[128];
  struct note note = {text, text + sizeof text - 1};
  fibers_where(where, sizeof where);
  note_text(&note, "trap: ");
  note_text(&note, what);
  note_text(&note, " in ");
  note_text(&note, where);
  fibers_fault(text);
}

static bool waits_in_warp(const struct fibers *all, unsigned slot) {
  return all->warps[slot / WAIT_WARP].waiting >> slot % WAIT_WARP & 1;
}

static bool waits_at_gate(const struct fibers *all, unsigned slot) {
  return fibers_is_live(all, slot) && all->parked[slot].describe;
}

/* The first thread of which `waits` is true; slots: there is none. */
static unsigned first_waiting(const struct fibers *all, bool (*waits)(const struct fibers *, unsigned)) {
  unsigned slot = 0;
  while (slot < all->slots && !waits(all, slot)) ++slot;
  return slot;
}

static void note_warp_operation(const struct fibers *all, unsigned slot, struct note *note) {
  const struct warp *warp = &all->warps[slot / WAIT_WARP];
  const unsigned mask = all->parked[slot].mask;
  const unsigned missing = mask & warp->live & ~warp->waiting;
  note_text(note, " waits at a warp operation with mask ");
  note_lanes(note, mask);
  if (missing) {
    note_text(note, ", and lanes ");
    note_lanes(note, missing);
    note_text(note, " of its warp never come");
  } else {
    note_text(note, ", and the other lanes of its warp wait at another operation or with another mask");
  }
}

/* Where a thread waits. */
static void note_waiting(const struct fibers *all, unsigned slot, struct note *note) {
  const struct block *block = &all->blocks[slot / all->crowd.padded];
  char text[WATCH_TEXT] = "";
  note_position(note, "deadlock: in block", block->at);
  note_position(note, " thread", all->positions[slot % all->crowd.padded]);
  if (waits_in_warp(all, slot)) {
    note_warp_operation(all, slot, note);
  } else if (waits_at_gate(all, slot)) {
    all->parked[slot].describe(all->parked[slot].object, text, sizeof text);
    note_text(note, " waits ");
    note_text(note, text);
  }
  note_text(note, "; ");
  note_number(note, block->arrived, 10, 1);
  note_text(note, " of the block's ");
  note_number(note, block->live, 10, 1);
  note_text(note, " live threads wait at a barrier");
}

static void watch_deadlock(const struct fibers *all, unsigned slot) {
  char text[FIBERS_FAULT_BYTES];
  struct note note = {text, text + sizeof text - 1};
  note_waiting(all, slot, &note);
  watch_event(all->launch->watch, WATCH_DEADLOCK, all->parked[slot].site, slot, NULL, 0, text);
}

/* Some thread waits for other than its block's barrier: a block whose live threads have all come to that passes it. */
_Noreturn void standing_deadlock(const struct fibers *all) {
  const unsigned in_warp = first_waiting(all, waits_in_warp), at_gate = first_waiting(all, waits_at_gate);
  char text[FIBERS_FAULT_BYTES];
  struct note note = {text, text + sizeof text - 1};
  note_waiting(all, in_warp < all->slots ? in_warp : at_gate, &note);
  if (all->launch->watch) {
    if (in_warp < all->slots) watch_deadlock(all, in_warp);
    for (unsigned slot = at_gate; slot < all->slots; ++slot)
      if (fibers_is_live(all, slot)) watch_deadlock(all, slot);
  }
  fibers_fault(text);
}
