/* The positions of threads, for fault texts and for the observer; see scheduler.h. */
#include "fault_text.h"
#include "scheduler.h"

void fibers_where(char *out, size_t size) {
  if (!size) return;
  struct fault_text line = {out, out + size - 1};
  *out = '\0';
  if (!fibers_running) return;
  fault_text_position(&line, "block", fibers_running->launch->builtins->block);
  fault_text_position(&line, " thread", fibers_running->launch->builtins->thread);
}

static const char time_is_up[] = "the time is up";

static void report_hang(const struct fibers *all, const void *site) {
  const struct observer *observer = all->launch->observer;
  const unsigned self = all->current.slot;
  observe_misuse(observer, CUGEN_FINDING_HANG, site, self, "");
  for (unsigned thread = 0; thread < all->unstarted; ++thread) {
    const struct warp *warp = &all->warps[thread / FIBERS_LANES];
    if (thread == self || !((warp->live & ~warp->ready) >> thread % FIBERS_LANES & 1)) continue;
    OBSERVE(observer, finding, CUGEN_FINDING_HANG, site, self, all->parked[thread].site, thread,
            "");
  }
}

static const struct observer *running_observer(void) {
  return fibers_running ? fibers_running->launch->observer : NULL;
}

bool fibers_time_is_up(void) {
  const struct observer *observer = running_observer();
  return observer && observer->ops->time_is_up(observer->watch);
}

const char *fibers_hang(const void *site) {
  const struct observer *observer = running_observer();
  if (!observer) return "";
  report_hang(fibers_running, observer->ops->position(observer->watch, site));
  return time_is_up;
}

_Noreturn void fibers_end_hang(const void *site) {
  report_hang(fibers_running, site);
  fibers_give_up(CUGEN_CAUSE_NONE, time_is_up);
}

void fibers_stray(const void *site, const void *address, bool write) {
  OBSERVE(running_observer(), stray, site, address, write);
}

void fibers_misaligned(const void *site) {
  OBSERVE(running_observer(), misaligned, site);
}

void fibers_ended(const void *site, const char *what) {
  const struct observer *observer = running_observer();
  if (observer)
    observe_misuse(observer, CUGEN_FINDING_TRAP, observer->ops->position(observer->watch, site),
                   fibers_running->current.slot, what);
}

_Noreturn void fibers_give_up(cugen_cause cause, const char *what) {
  char text[FAULT_TEXT], where[128];
  struct fault_text line = {text, text + sizeof text - 1};
  fibers_where(where, sizeof where);
  fault_text_add(&line, what);
  fault_text_add(&line, " in ");
  fault_text_add(&line, where);
  fibers_fault(cause, text);
}

_Noreturn void fibers_trap(const char *what) {
  fibers_ended(__builtin_return_address(0), what);
  fibers_give_up(CUGEN_CAUSE_TRAP, what);
}

static bool waits_in_warp(const struct fibers *all, unsigned slot) {
  return all->warps[slot / FIBERS_LANES].waiting >> slot % FIBERS_LANES & 1;
}

static bool waits_in_queue(const struct fibers *all, unsigned slot) {
  return fibers_is_live(all, slot) && all->parked[slot].describe;
}

/* Returns the first thread for which `waits` is true; all->slots: there is none. */
static unsigned first_waiting(const struct fibers *all,
                              bool (*waits)(const struct fibers *, unsigned)) {
  unsigned slot = 0;
  while (slot < all->slots && !waits(all, slot)) ++slot;
  return slot;
}

static void add_warp_operation(const struct fibers *all, unsigned slot, struct fault_text *line) {
  const struct warp *warp = &all->warps[slot / FIBERS_LANES];
  const unsigned mask = all->parked[slot].mask;
  const unsigned missing = mask & warp->live & ~warp->waiting;
  fault_text_add(line, "waits at a warp operation with mask ");
  fault_text_lanes(line, mask);
  if (missing) {
    fault_text_add(line, ", and lanes ");
    fault_text_lanes(line, missing);
    fault_text_add(line, " of its warp never come");
  } else {
    fault_text_add(
        line, ", and the other lanes of its warp wait at another operation or with another mask");
  }
}

/* Appends where a thread waits, and how many of its block's threads wait at a barrier. */
static void add_waiting(const struct fibers *all, unsigned slot, struct fault_text *line) {
  const struct block *block = &all->blocks[slot / all->current.padded];
  char text[WATCH_TEXT] = "";
  if (waits_in_warp(all, slot)) {
    add_warp_operation(all, slot, line);
  } else if (waits_in_queue(all, slot)) {
    all->parked[slot].describe(all->parked[slot].object, text, sizeof text);
    fault_text_add(line, "waits ");
    fault_text_add(line, text);
  } else {
    fault_text_add(line, "waits at a barrier");
  }
  fault_text_add(line, "; ");
  fault_text_count(line, block->arrived, " of the block's ", block->live);
  fault_text_add(line, " live threads wait at a barrier");
}

static void report_deadlock(const struct fibers *all, unsigned slot) {
  char text[FAULT_TEXT];
  struct fault_text line = {text, text + sizeof text - 1};
  add_waiting(all, slot, &line);
  observe_misuse(all->launch->observer, CUGEN_FINDING_DEADLOCK, all->parked[slot].site, slot, text);
}

_Noreturn void positions_deadlock(const struct fibers *all) {
  const unsigned in_warp = first_waiting(all, waits_in_warp),
                 in_queue = first_waiting(all, waits_in_queue),
                 first = in_warp < all->slots ? in_warp : in_queue;
  char text[FAULT_TEXT];
  struct fault_text line = {text, text + sizeof text - 1};
  fault_text_position(&line, "deadlock: in block", all->blocks[first / all->current.padded].at);
  fault_text_position(&line, " thread", all->positions[first % all->current.padded]);
  fault_text_add(&line, " ");
  add_waiting(all, first, &line);
  if (all->launch->observer) {
    if (in_warp < all->slots) report_deadlock(all, in_warp);
    for (unsigned slot = in_queue; slot < all->slots; ++slot)
      if (fibers_is_live(all, slot)) report_deadlock(all, slot);
  }
  fibers_fault(CUGEN_CAUSE_NONE, text);
}
