/* Choosing the next thread, and threads that wait; see scheduler.h. */
#include <string.h>

#include "scheduler.h"

/* Saves the static shared memory of block `from` and loads that of block `to` in its place. */
static void exchange_statics(struct fibers *all, unsigned from, unsigned to) {
  const struct fiber_launch *launch = all->launch;
  char *old = all->kept + from * launch->static_bytes, *new = all->kept + to * launch->static_bytes;
  for (size_t i = 0; i < launch->static_count; ++i) {
    const size_t bytes = launch->statics[i].end - launch->statics[i].start;
    void *at = (void *)launch->statics[i].start;
    memcpy(old, at, bytes);
    memcpy(at, new, bytes);
    old += bytes;
    new += bytes;
  }
}

void fibers_enter_block(struct fibers *all, unsigned rank) {
  struct cpu_builtins *builtins = all->launch->builtins;
  exchange_statics(all, all->current.rank, rank);
  all->current.rank = rank;
  builtins->block = all->blocks[rank].at;
  builtins->cluster_rank = rank;
  builtins->dynamic_shared = (char *)all->launch->dynamic_shared + rank * all->launch->dynamic_room;
}

struct fiber *fibers_resume_ready(struct fibers *all) {
  unsigned word = 0;
  while (!all->ready_warps[word]) ++word;
  const unsigned warp =
      word * FIBERS_READY_BITS + (unsigned)__builtin_ctzll(all->ready_warps[word]);
  const unsigned thread = warp * FIBERS_LANES + (unsigned)__builtin_ctz(all->warps[warp].ready);
  fibers_unmark_ready(all, thread);
  fibers_set_current(all, thread);
  return all->parked[thread].fiber;
}

struct fiber *fibers_take_idle(struct fibers *all) {
  struct fiber *fiber = all->idle[--all->idle_count];
  if (fiber->made) return fiber;
  const size_t index = (size_t)(fiber - all->fibers);
  const size_t colour = index * FIBERS_COLOUR_STEP % FIBERS_COLOUR_BYTES;
  context_make(&fiber->context, all->stacks + index * all->stride + all->guard,
               FIBERS_STACK_BYTES - colour, all->thread_main);
  fiber->made = true;
  return fiber;
}

void fibers_stop_if_asked(const struct fibers *all) {
  const atomic_bool *stop = all->launch->stop;
  if (stop && atomic_load_explicit(stop, memory_order_relaxed))
    fibers_fault(CUGEN_CAUSE_NONE, "stopped");
}

/* Lets lanes of the lowest warp with converging lanes continue: the lowest of these lanes, and
   those at the same place in the kernel. */
static void converge(struct fibers *all) {
  unsigned warp = 0, lanes = 0;
  while (!all->warps[warp].converging) ++warp;
  struct parked *parked = &all->parked[warp * FIBERS_LANES];
  const void *site = parked[__builtin_ctz(all->warps[warp].converging)].site;
  for (unsigned left = all->warps[warp].converging; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left);
    if (parked[lane].site == site) lanes |= 1u << lane;
  }
  for (unsigned left = lanes; left; left &= left - 1) parked[__builtin_ctz(left)].mask = lanes;
  all->warps[warp].converging &= ~lanes;
  all->converging -= (unsigned)__builtin_popcount(lanes);
  fibers_mark_ready(all, warp, lanes);
}

void fibers_await(struct fibers *all) {
  if (all->converging) converge(all);
  while (!fibers_any_ready(all) && all->step(all->async)) continue;
  if (fibers_any_ready(all) || !all->any_yielded) return;
  for (unsigned warp = 0; warp * FIBERS_LANES < all->slots; ++warp) {
    fibers_mark_ready(all, warp, all->warps[warp].yielded);
    all->warps[warp].yielded = 0;
  }
  all->any_yielded = false;
}

void fibers_park(struct fibers *all) {
  struct fiber *next;
  fibers_stop_if_asked(all);
  if (!fibers_any_ready(all) && all->unstarted >= all->slots) fibers_await(all);
  if (fibers_any_ready(all)) {
    next = fibers_resume_ready(all);
  } else if (all->unstarted < all->slots) {
    next = fibers_take_idle(all);
    fibers_start_next(all, next);
  } else {
    positions_deadlock(all);
  }
  if (&next->context != all->active) fibers_switch_to(all, &next->context);
}

void fibers_let_others_run(void) {
  struct fibers *all = fibers_running;
  const unsigned slot = all->current.slot;
  if (!fibers_any_ready(all) && all->unstarted >= all->slots) fibers_await(all);
  if (!fibers_any_ready(all) && all->unstarted >= all->slots) return;
  all->warps[slot / FIBERS_LANES].yielded |= 1u << slot % FIBERS_LANES;
  all->any_yielded = true;
  fibers_park(all);
}

/* ---- Functions for operations in other files: wait_queues.h --------------------------------- */

const struct current *fibers_current(void) {
  return &fibers_running->current;
}

const struct fiber_launch *fibers_launch(void) {
  return fibers_running->launch;
}

struct async *fibers_async(void) {
  return fibers_running->async;
}

unsigned fibers_live_all(void) {
  return fibers_running->live;
}

void *fibers_static(unsigned rank, uintptr_t at) {
  const struct fiber_launch *launch = fibers_running->launch;
  char *kept = fibers_running->kept + rank * launch->static_bytes;
  for (size_t i = 0; i < launch->static_count && rank != fibers_running->current.rank; ++i) {
    const struct static_array *array = &launch->statics[i];
    if (at >= array->start && at < array->end) return kept + (at - array->start);
    kept += array->end - array->start;
  }
  return (void *)at;
}

void fibers_wait(struct wait_queue *queue, const void *site, describe_wait *describe,
                 const void *object) {
  struct fibers *all = fibers_running;
  struct parked *self = &all->parked[all->current.slot];
  self->site = site;
  self->describe = describe;
  self->object = object;
  self->next = queue->first;
  queue->first = all->current.slot + 1;
  fibers_park(all);
}

void fibers_wake_all(struct wait_queue *queue) {
  struct fibers *all = fibers_running;
  while (queue->first) {
    const unsigned slot = queue->first - 1;
    queue->first = all->parked[slot].next;
    all->parked[slot].describe = NULL;
    fibers_mark_ready(all, slot / FIBERS_LANES, 1u << slot % FIBERS_LANES);
  }
}
