/* Barriers of a block and operations of a warp; see scheduler.h. */
#include "note.h"
#include "scheduler.h"

/* Tells the watch of threads at another place than the first, and of those that will never come. */
static void watch_arrivals(const struct fibers *all, unsigned rank) {
  struct watch *watch = all->launch->watch;
  const struct block *block = &all->blocks[rank];
  const unsigned begin = rank * all->crowd.padded, end = begin + all->crowd.threads;
  unsigned first = FIBERS_SLOTS;
  for (unsigned thread = begin; thread < end; ++thread) {
    if (!fibers_is_live(all, thread)) continue;
    if (first == FIBERS_SLOTS) first = thread;
    const struct parked *other = &all->parked[thread], *here = &all->parked[first];
    const char *apart = other->barrier == here->barrier ? "" : "another barrier";
    if (other->site != here->site) watch_event(watch, WATCH_DIVERGED, here->site, first, other->site, thread, apart);
  }
  if (block->live < all->crowd.threads && first < FIBERS_SLOTS) {
    char text[WATCH_TEXT];
    struct note note = {text, text + sizeof text - 1};
    note_count(&note, all->crowd.threads - block->live, " of the block's ", all->crowd.threads);
    note_text(&note, " threads have ended and never come to this barrier");
    watch_event(watch, WATCH_EXITED, all->parked[first].site, first, NULL, 0, text);
  }
  watch_barrier(watch, rank);
}

void meet_release(struct fibers *all, unsigned rank) {
  struct block *block = &all->blocks[rank];
  if (all->launch->watch) watch_arrivals(all, rank);
  block->released = block->arrived;
  block->released_agreed = block->agreed;
  block->arrived = block->agreed = 0;
  const unsigned first = rank * all->crowd.padded / WAIT_WARP, warps = all->crowd.padded / WAIT_WARP;
  for (unsigned warp = first; warp < first + warps; ++warp) fibers_mark_ready(all, warp, all->warps[warp].live);
}

/* Safe to ask after a wait: the next barrier is passed only when every live thread has come to it. */
static int barrier_result(const struct block *block, int kind) {
  switch (kind) {
  case CPU_BARRIER_COUNT: return (int)block->released_agreed;
  case CPU_BARRIER_AND: return block->released_agreed == block->released;
  case CPU_BARRIER_OR: return block->released_agreed != 0;
  default: return 0;
  }
}

int meet_barrier(int kind, int predicate) {
  struct fibers *all = fibers_running;
  struct block *block = &all->blocks[all->crowd.rank];
  struct parked *self = &all->parked[all->crowd.slot];
  self->site = __builtin_return_address(0);
  self->barrier = kind / CPU_BARRIER_KINDS;
  block->agreed += predicate != 0;
  if (++block->arrived == block->live) {
    meet_release(all, all->crowd.rank);
    fibers_unmark_ready(all, all->crowd.slot);
  } else {
    fibers_park(all);
  }
  return barrier_result(block, kind % CPU_BARRIER_KINDS);
}

/* Whether every lane of the set waits at this very operation; collects their arguments. */
static bool gather(const struct parked *lanes, unsigned set, const struct parked *operation, void **slots) {
  for (; set; set &= set - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(set);
    if (lanes[lane].mask != operation->mask || lanes[lane].combine != operation->combine) return false;
    slots[lane] = lanes[lane].mine;
  }
  return true;
}

/* The mask of the operation at which a thread waits names lanes that are not there. */
static void watch_mask(const struct fibers *all, unsigned thread) {
  const struct parked *operation = &all->parked[thread];
  const unsigned absent = operation->mask & ~all->warps[thread / WAIT_WARP].live;
  char text[WATCH_TEXT];
  struct note note = {text, text + sizeof text - 1};
  note_text(&note, "mask ");
  note_lanes(&note, operation->mask);
  note_text(&note, " names lanes ");
  note_lanes(&note, absent);
  note_text(&note, ", which have ended or are not in the block");
  watch_event(all->launch->watch, WATCH_MASK, operation->site, thread, NULL, 0, text);
}

static _Noreturn void refuse_mask(const struct fibers *all, unsigned thread) {
  static const char what[] = "a warp operation whose mask does not name the calling lane";
  if (all->launch->watch)
    watch_event(all->launch->watch, WATCH_MASK, all->parked[thread].site, thread, NULL, 0, what);
  fibers_give_up(what);
}

/* Performs the operation at which a thread waits, when all that it names have come. Lanes that have ended without coming are no
   harm to a __syncwarp(). */
bool meet_try_warp(struct fibers *all, unsigned thread) {
  const struct parked *operation = &all->parked[thread];
  struct warp *warp = &all->warps[thread / WAIT_WARP];
  const unsigned wanted = operation->mask & warp->live;
  if (wanted & ~warp->waiting) return false;
  void *slots[WAIT_WARP] = {NULL};
  if (!gather(&all->parked[thread / WAIT_WARP * WAIT_WARP], wanted, operation, slots)) return false;
  operation->combine(slots, wanted);
  if (all->launch->watch && operation->mine && wanted != operation->mask) watch_mask(all, thread);
  if (all->launch->watch)
    watch_warp(all->launch->watch, thread / WAIT_WARP, wanted, wanted == warp->live, !operation->mine);
  warp->waiting &= ~wanted;
  fibers_mark_ready(all, thread / WAIT_WARP, wanted);
  return true;
}

void meet_warp(unsigned mask, void (*combine)(void **slots, unsigned mask), void *mine) {
  struct fibers *all = fibers_running;
  const unsigned thread = all->crowd.slot, lane = 1u << thread % WAIT_WARP;
  struct parked *self = &all->parked[thread];
  self->site = __builtin_return_address(0);
  self->mask = mask;
  if (!(mask & lane)) refuse_mask(all, thread);
  if (all->launch->watch && mine && mask & ~all->warps[thread / WAIT_WARP].live) watch_mask(all, thread);
  self->combine = combine;
  self->mine = mine;
  all->warps[thread / WAIT_WARP].waiting |= lane;
  if (meet_try_warp(all, thread)) {
    fibers_unmark_ready(all, thread);
  } else {
    fibers_park(all);
  }
}

unsigned meet_active_mask(void) {
  return fibers_running->warps[fibers_running->crowd.slot / WAIT_WARP].live;
}
