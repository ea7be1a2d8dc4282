/* Barriers of a block and operations of a warp; see scheduler.h. */
#include "fault_text.h"
#include "scheduler.h"

/* Reports the block's barrier to the observer, also each thread that waits at another place than
   the first live thread or came there through other calls, and how many threads have ended. */
static void observe_arrivals(const struct fibers *all, unsigned rank) {
  const struct observer *observer = all->launch->observer;
  const struct block *block = &all->blocks[rank];
  const unsigned begin = rank * all->current.padded, end = begin + all->current.threads;
  unsigned first = FIBERS_SLOTS;
  for (unsigned thread = begin; thread < end; ++thread) {
    if (!fibers_is_live(all, thread)) continue;
    if (first == FIBERS_SLOTS) first = thread;
    const struct parked *other = &all->parked[thread], *here = &all->parked[first];
    const enum watch_apart apart =
        other->barrier == here->barrier ? WATCH_APART_AT_SITES : WATCH_APART_AT_BARRIERS;
    const void *call, *other_call;
    if (other->site != here->site)
      OBSERVE(observer, diverged, here->site, first, other->site, thread, apart);
    else if (!observer->ops->same_path(observer->watch, first, thread, &call, &other_call))
      OBSERVE(observer, diverged, call, first, other_call, thread, WATCH_APART_AT_CALLS);
  }
  if (block->live < all->current.threads && first < FIBERS_SLOTS) {
    char text[WATCH_TEXT];
    struct fault_text line = {text, text + sizeof text - 1};
    fault_text_count(&line, all->current.threads - block->live, " of the block's ",
                     all->current.threads);
    fault_text_add(&line, " threads have ended and never come to this barrier");
    observe_misuse(observer, CUGEN_FINDING_EXITED, all->parked[first].site, first, text);
  }
  observer->ops->barrier(observer->watch, rank);
}

void collective_release(struct fibers *all, unsigned rank) {
  struct block *block = &all->blocks[rank];
  if (all->launch->observer) observe_arrivals(all, rank);
  block->released = block->arrived;
  block->released_agreed = block->agreed;
  block->arrived = block->agreed = 0;
  const unsigned first = rank * all->current.padded / FIBERS_LANES,
                 warps = all->current.padded / FIBERS_LANES;
  for (unsigned warp = first; warp < first + warps; ++warp)
    fibers_mark_ready(all, warp, all->warps[warp].live);
}

int collective_barrier_at(const void *site, int kind, int predicate) {
  struct fibers *all = fibers_running;
  struct block *block = &all->blocks[all->current.rank];
  struct parked *self = &all->parked[all->current.slot];
  self->site = site;
  self->barrier = kind / CPU_BARRIER_KINDS;
  block->agreed += predicate != 0;
  if (++block->arrived == block->live) {
    collective_release(all, all->current.rank);
    fibers_unmark_ready(all, all->current.slot);
  } else {
    fibers_park(all);
  }
  /* `released` and `released_agreed` do not change before this thread reaches the next barrier. */
  switch (kind % CPU_BARRIER_KINDS) {
  case CPU_BARRIER_COUNT: return (int)block->released_agreed;
  case CPU_BARRIER_AND: return block->released_agreed == block->released;
  case CPU_BARRIER_OR: return block->released_agreed != 0;
  default: return 0;
  }
}

int collective_barrier(int kind, int predicate) {
  return collective_barrier_at(__builtin_return_address(0), kind, predicate);
}

/* Returns true if every lane of the set waits at this operation; collects the lanes' arguments. */
static bool collectives_gather(const struct parked *lanes, unsigned set,
                               const struct parked *operation, void **slots) {
  for (; set; set &= set - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(set);
    if (lanes[lane].mask != operation->mask || lanes[lane].combine != operation->combine)
      return false;
    slots[lane] = lanes[lane].mine;
  }
  return true;
}

/* A mask may name lanes that have ended (CUDA C++ Programming Guide, warp shuffle functions). */
bool collective_try_warp(struct fibers *all, unsigned thread) {
  const struct parked *operation = &all->parked[thread];
  struct warp *warp = &all->warps[thread / FIBERS_LANES];
  const unsigned wanted = operation->mask & warp->live;
  if (wanted & ~warp->waiting) return false;
  void *slots[FIBERS_LANES] = {NULL};
  if (!collectives_gather(&all->parked[thread / FIBERS_LANES * FIBERS_LANES], wanted, operation,
                          slots))
    return false;
  operation->combine(slots, wanted);
  for (unsigned left = all->launch->observer ? wanted : 0; left; left &= left - 1)
    all->parked[thread / FIBERS_LANES * FIBERS_LANES + (unsigned)__builtin_ctz(left)].mask = wanted;
  OBSERVE(all->launch->observer, warp, thread / FIBERS_LANES, wanted, wanted == warp->live,
          !operation->mine);
  warp->waiting &= ~wanted;
  fibers_mark_ready(all, thread / FIBERS_LANES, wanted);
  return true;
}

unsigned collective_warp_at(const void *site, unsigned mask,
                            void (*combine)(void **slots, unsigned mask), void *mine) {
  struct fibers *all = fibers_running;
  const unsigned thread = all->current.slot, lane = 1u << thread % FIBERS_LANES;
  struct parked *self = &all->parked[thread];
  self->site = site;
  self->mask = mask;
  if (!(mask & lane)) {
    static const char what[] = "a warp operation whose mask does not name the calling lane";
    observe_misuse(all->launch->observer, CUGEN_FINDING_ABSENT_LANES, site, thread, what);
    fibers_give_up(CUGEN_CAUSE_MASK, what);
  }
  self->combine = combine;
  self->mine = mine;
  all->warps[thread / FIBERS_LANES].waiting |= lane;
  if (collective_try_warp(all, thread)) {
    fibers_unmark_ready(all, thread);
  } else {
    fibers_park(all);
  }
  return self->mask;
}

unsigned collective_warp(unsigned mask, void (*combine)(void **slots, unsigned mask), void *mine) {
  return collective_warp_at(__builtin_return_address(0), mask, combine, mine);
}

unsigned collective_active_mask(void) {
  return fibers_running->warps[fibers_running->current.slot / FIBERS_LANES].live;
}

unsigned collective_converged(void) {
  struct fibers *all = fibers_running;
  const unsigned thread = all->current.slot;
  struct parked *self = &all->parked[thread];
  self->site = __builtin_return_address(0);
  all->warps[thread / FIBERS_LANES].converging |= 1u << thread % FIBERS_LANES;
  ++all->converging;
  fibers_park(all);
  return self->mask;
}
