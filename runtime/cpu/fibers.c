/* The scheduler of the cpu device; see fibers.h. A fiber is a stack that runs CUDA threads one after the other: a
   thread that never waits leaves its fiber to the next thread, so that a kernel without barriers needs one stack and
   no switch. A thread that waits keeps its fiber, and control goes straight to the next thread that can run.

   Who runs next is decided in one order, so that every run of a kernel is the same run: the lowest thread that can go
   on, else the lowest that has not begun, else a copy that is on its way arrives, else the next block. The blocks of a
   cluster run together; their static shared memory changes places when control goes from one to another. */
#include "fibers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "note.h"
#include "scheduler.h"

_Thread_local struct fibers *fibers_running;
static _Atomic(void (*)(const char *)) fault_handler;

/* ---- Switching ---- */

static void switch_to(struct fibers *all, struct context *to) {
  struct context *from = all->active;
  all->active = to;
  all->left = from;
  context_switch(from, to);
  context_arrive(all->left, from);
}

/* Without a handler the launch is given up: its caller goes on and nobody comes back to these stacks. */
_Noreturn void fibers_fault(const char *text) {
  void (*handler)(const char *) = atomic_load(&fault_handler);
  if (handler) handler(text);
  if (fibers_running) {
    struct note note = {fibers_running->fault, fibers_running->fault + FIBERS_FAULT_BYTES - 1};
    note_text(&note, text);
    switch_to(fibers_running, &fibers_running->caller);
  }
  abort();
}

void fibers_on_fault(void (*handler)(const char *text)) {
  atomic_store(&fault_handler, handler);
}

/* Puts the static shared memory of one block of the cluster in the place of another's. */
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

static void enter_block(struct fibers *all, unsigned rank) {
  struct cpu_builtins *builtins = all->launch->builtins;
  exchange_statics(all, all->crowd.rank, rank);
  all->crowd.rank = rank;
  builtins->block = all->blocks[rank].at;
  builtins->cluster_rank = rank;
  builtins->dynamic_shared = (char *)all->launch->dynamic_shared + rank * all->launch->dynamic_room;
}

static void set_current(struct fibers *all, unsigned slot) {
  struct cpu_builtins *builtins = all->launch->builtins;
  unsigned thread = slot;
  if (all->crowd.blocks > 1) {
    const unsigned rank = slot / all->crowd.padded;
    if (rank != all->crowd.rank) enter_block(all, rank);
    thread -= rank * all->crowd.padded;
  }
  builtins->thread = all->positions[thread];
  builtins->linear = thread;
  all->crowd.slot = slot;
}

/* Precondition: a thread is ready. */
static struct fiber *resume_ready(struct fibers *all) {
  unsigned word = 0;
  while (!all->ready_warps[word]) ++word;
  const unsigned warp = word * FIBERS_READY_BITS + (unsigned)__builtin_ctzll(all->ready_warps[word]);
  const unsigned thread = warp * WAIT_WARP + (unsigned)__builtin_ctz(all->warps[warp].ready);
  fibers_unmark_ready(all, thread);
  set_current(all, thread);
  return all->parked[thread].fiber;
}

static void start_next(struct fibers *all, struct fiber *on) {
  const unsigned slot = all->unstarted++;
  if (all->unstarted % all->crowd.padded == all->crowd.threads)
    all->unstarted += all->crowd.padded - all->crowd.threads;
  all->parked[slot].fiber = on;
  set_current(all, slot);
}

static void fiber_main(void);

/* A stack for each thread that waits: there are as many as threads in the largest block so far. */
static struct fiber *take_idle(struct fibers *all) {
  struct fiber *fiber = all->idle[--all->idle_count];
  if (fiber->made) return fiber;
  const size_t index = (size_t)(fiber - all->fibers);
  const size_t colour = index * FIBERS_COLOUR_STEP % FIBERS_COLOUR_BYTES;
  context_make(&fiber->context, all->stacks + index * all->stride + all->guard, FIBERS_STACK_BYTES - colour,
               fiber_main);
  fiber->made = true;
  return fiber;
}

static void stop_if_asked(const struct fibers *all) {
  const atomic_bool *stop = all->launch->stop;
  if (stop && atomic_load_explicit(stop, memory_order_relaxed)) fibers_fault("stopped");
}

/* Nobody can go on: as late as that copies arrive which go on by themselves, one after the other. */
static void await_copies(struct fibers *all) {
  while (!fibers_any_ready(all) && async_step(all->async)) continue;
}

/* The current thread waits; comes back when it was made ready. */
void fibers_park(struct fibers *all) {
  struct fiber *next;
  stop_if_asked(all);
  if (!fibers_any_ready(all) && all->unstarted >= all->slots) await_copies(all);
  if (fibers_any_ready(all)) {
    next = resume_ready(all);
  } else if (all->unstarted < all->slots) {
    next = take_idle(all);
    start_next(all, next);
  } else {
    standing_deadlock(all);
  }
  if (&next->context != all->active) switch_to(all, &next->context);
}

static _Noreturn void hook_trap(const char *what) {
  fibers_ended(__builtin_return_address(0), what);
  fibers_give_up(what);
}

const struct cpu_hooks *fibers_hooks(void) {
  static const struct cpu_hooks hooks = {meet_barrier, meet_warp, meet_active_mask, hook_trap, &async_hooks};
  return &hooks;
}

/* ---- For operations in files of their own ---- */

const struct crowd *fibers_crowd(void) {
  return &fibers_running->crowd;
}

const struct fiber_launch *fibers_launch(void) {
  return fibers_running->launch;
}

struct async *fibers_async(void) {
  return fibers_running->async;
}

unsigned fibers_live(unsigned rank) {
  return fibers_running->blocks[rank].live;
}

unsigned fibers_live_all(void) {
  return fibers_running->live;
}

void *fibers_static(unsigned rank, uintptr_t at) {
  const struct fiber_launch *launch = fibers_running->launch;
  char *kept = fibers_running->kept + rank * launch->static_bytes;
  for (size_t i = 0; i < launch->static_count && rank != fibers_running->crowd.rank; ++i) {
    const struct static_array *array = &launch->statics[i];
    if (at >= array->start && at < array->end) return kept + (at - array->start);
    kept += array->end - array->start;
  }
  return (void *)at;
}

_Noreturn void fibers_trap(const char *what) {
  hook_trap(what);
}

void fibers_pause(struct gate *gate, const void *site, describe_wait *describe, const void *object) {
  struct fibers *all = fibers_running;
  struct parked *self = &all->parked[all->crowd.slot];
  self->site = site;
  self->describe = describe;
  self->object = object;
  self->next = gate->first;
  gate->first = all->crowd.slot + 1;
  fibers_park(all);
}

void fibers_open_gate(struct gate *gate) {
  struct fibers *all = fibers_running;
  while (gate->first) {
    const unsigned slot = gate->first - 1;
    gate->first = all->parked[slot].next;
    all->parked[slot].describe = NULL;
    fibers_mark_ready(all, slot / WAIT_WARP, 1u << slot % WAIT_WARP);
  }
}

/* ---- Threads, blocks, the grid ---- */

/* An ended thread counts as arrived wherever others wait for it. */
static void thread_ended(struct fibers *all) {
  struct warp *warp = &all->warps[all->crowd.slot / WAIT_WARP];
  struct block *block = &all->blocks[all->crowd.rank];
  warp->live &= ~(1u << all->crowd.slot % WAIT_WARP);
  all->live--;
  block->live--;
  if (block->live && block->arrived == block->live) meet_release(all, all->crowd.rank);
  async_ended(all->async);
  for (unsigned left = warp->waiting; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left);
    if (warp->waiting >> lane & 1) meet_try_warp(all, all->crowd.slot / WAIT_WARP * WAIT_WARP + lane);
  }
}

static void start_threads(struct fibers *all, unsigned rank) {
  const unsigned whole = all->crowd.threads / WAIT_WARP, rest = all->crowd.threads % WAIT_WARP;
  struct warp *warps = &all->warps[rank * all->crowd.padded / WAIT_WARP];
  for (unsigned warp = 0; warp < whole; ++warp) warps[warp].live = ~0u;
  if (rest) warps[whole].live = (1u << rest) - 1;
}

/* A block, or the cluster that begins with it. */
static void start_block(struct fibers *all) {
  const struct fiber_launch *launch = all->launch;
  const struct cpu_dim3 origin = launch->builtins->block;
  if (all->crowd.blocks > 1) enter_block(all, 0);
  all->live = all->crowd.blocks * all->crowd.threads;
  all->unstarted = 0;
  for (unsigned rank = 0; rank < all->crowd.blocks; ++rank) {
    const unsigned wide = all->cluster.x, high = all->cluster.y;
    all->blocks[rank] =
        (struct block){.live = all->crowd.threads,
                       .at = {origin.x + rank % wide, origin.y + rank / wide % high, origin.z + rank / wide / high}};
    start_threads(all, rank);
  }
  launch->builtins->block = origin;
  if (launch->watch) watch_block_begins(launch->watch);
  async_begin(all->async);
}

static bool step_block(struct fibers *all) {
  struct cpu_dim3 *block = &all->launch->builtins->block;
  const struct cpu_dim3 *grid = &all->launch->grid, *cluster = &all->cluster;
  if (all->crowd.blocks > 1) *block = all->blocks[0].at;
  if ((block->x += cluster->x) < grid->x) return true;
  block->x = 0;
  if ((block->y += cluster->y) < grid->y) return true;
  block->y = 0;
  return (block->z += cluster->z) < grid->z;
}

static bool next_block(struct fibers *all) {
  if (!all->launch->watch) return step_block(all);
  const struct cpu_dim3 *grid = &all->launch->grid, *cluster = &all->cluster;
  const unsigned wide = grid->x / cluster->x, high = grid->y / cluster->y;
  const uint64_t next = watch_next(all->launch->watch), row = next / wide;
  if (next == WATCH_HUNG) fibers_fault("the time is up");
  all->launch->builtins->block = (struct cpu_dim3){
      (unsigned)(next % wide) * cluster->x, (unsigned)(row % high) * cluster->y, (unsigned)(row / high) * cluster->z};
  return row / high < grid->z / cluster->z;
}

/* After a thread ended on this fiber: comes back when the fiber has another thread to run. */
static void find_work(struct fibers *all, struct fiber *self) {
  struct context *next = &all->caller;
  if (!fibers_any_ready(all) && all->unstarted >= all->slots && all->live) await_copies(all);
  if (!all->live) async_end(all->async);
  if (fibers_any_ready(all)) {
    next = &resume_ready(all)->context;
  } else if (all->unstarted < all->slots) {
    start_next(all, self);
    return;
  } else if (all->live) {
    standing_deadlock(all);
  } else if (next_block(all)) {
    stop_if_asked(all);
    start_block(all);
    start_next(all, self);
    return;
  }
  all->idle[all->idle_count++] = self;
  switch_to(all, next);
}

static void fiber_main(void) {
  struct fibers *all = fibers_running;
  struct fiber *self = all->parked[all->crowd.slot].fiber;
  context_arrive(all->left, NULL);
  for (;;) {
    all->launch->entry(all->launch->parameters);
    thread_ended(all);
    find_work(all, self);
  }
}

/* ---- Opening, launching ---- */

int fibers_open(struct fibers **out, cugen_error *err) {
  *out = NULL;
  struct fibers *all = calloc(1, sizeof *all);
  if (!all) return error_memory(err);
  all->guard = (size_t)sysconf(_SC_PAGESIZE);
  all->stride = all->guard + FIBERS_STACK_BYTES;
  all->stacks = mmap(NULL, FIBERS_SLOTS * all->stride, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all->stacks == MAP_FAILED) all->stacks = NULL;
  int status = all->stacks ? async_open(&all->async, err) : error_memory(err);
  if (status)
    fibers_close(all);
  else
    *out = all;
  return status;
}

void fibers_close(struct fibers *fibers) {
  if (!fibers) return;
  for (unsigned i = 0; i < fibers->usable; ++i) context_drop(&fibers->fibers[i].context);
  if (fibers->stacks) munmap(fibers->stacks, FIBERS_SLOTS * fibers->stride);
  async_close(fibers->async);
  free(fibers->kept);
  free(fibers);
}

int fibers_owns_guard(const void *address) {
  if (!fibers_running) return 0;
  const uintptr_t offset = (uintptr_t)address - (uintptr_t)fibers_running->stacks;
  return offset < FIBERS_SLOTS * fibers_running->stride && offset % fibers_running->stride < fibers_running->guard;
}

static int prepare_stacks(struct fibers *all, cugen_error *err) {
  while (all->usable < all->crowd.blocks * all->crowd.threads) {
    char *stack = all->stacks + all->usable * all->stride + all->guard;
    if (mprotect(stack, FIBERS_STACK_BYTES, PROT_READ | PROT_WRITE)) return error_memory(err);
    all->idle[all->idle_count++] = &all->fibers[all->usable++];
  }
  return CUGEN_OK;
}

static void prepare_positions(struct fibers *all, struct cpu_dim3 block) {
  if (!memcmp(&all->positions_of, &block, sizeof block)) return;
  struct cpu_dim3 at = {0, 0, 0};
  for (unsigned i = 0; i < all->crowd.threads; ++i) {
    all->positions[i] = at;
    if (++at.x < block.x) continue;
    at.x = 0;
    if (++at.y < block.y) continue;
    at.y = 0;
    ++at.z;
  }
  all->positions_of = block;
}

static int check_shape(const struct fiber_launch *launch, cugen_error *err) {
  const struct cpu_dim3 *grid = &launch->grid, *block = &launch->block;
  const bool empty = !grid->x || !grid->y || !grid->z || !block->x || !block->y || !block->z;
  const bool wide = block->x > FIBERS_THREADS || block->y > FIBERS_THREADS || block->z > FIBERS_THREADS;
  if (!empty && !wide && (uint64_t)block->x * block->y * block->z <= FIBERS_THREADS) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "cannot launch a grid of %ux%ux%u blocks of %ux%ux%u threads: every number must be at least 1, "
                   "and a block may have %d threads",
                   grid->x, grid->y, grid->z, block->x, block->y, block->z, FIBERS_THREADS);
}

static int check_cluster(const struct fiber_launch *launch, const struct cpu_dim3 *cluster, cugen_error *err) {
  const struct cpu_dim3 *grid = &launch->grid;
  const bool whole = grid->x % cluster->x == 0 && grid->y % cluster->y == 0 && grid->z % cluster->z == 0;
  if (whole && (uint64_t)cluster->x * cluster->y * cluster->z <= FIBERS_BLOCKS) return CUGEN_OK;
  return error_set(
      err, CUGEN_ERROR_DEVICE,
      "cannot launch a grid of %ux%ux%u blocks in clusters of %ux%ux%u: the grid must be whole clusters, "
      "and a cluster may have %d blocks",
      grid->x, grid->y, grid->z, cluster->x, cluster->y, cluster->z, FIBERS_BLOCKS);
}

/* After a launch that was given up: every stack is as good as new. */
static int clear_up(struct fibers *all, cugen_error *err) {
  all->idle_count = 0;
  for (unsigned i = 0; i < all->usable; ++i) {
    context_drop(&all->fibers[i].context);
    all->fibers[i] = (struct fiber){.made = false};
    all->idle[all->idle_count++] = &all->fibers[i];
  }
  memset(all->warps, 0, sizeof all->warps);
  memset(all->ready_warps, 0, sizeof all->ready_warps);
  for (size_t i = 0; i < FIBERS_SLOTS; ++i) all->parked[i].describe = NULL;
  return error_set(err, CUGEN_ERROR_DEVICE, "%s", all->fault);
}

static int begin_watch(const struct fibers *all, const struct fiber_launch *launch, cugen_error *err) {
  const struct watch_launch watched = {.image = launch->image,
                                       .builtins = launch->builtins,
                                       .grid = launch->grid,
                                       .block = launch->block,
                                       .stacks = (uintptr_t)all->stacks,
                                       .stack_bytes = FIBERS_SLOTS * all->stride,
                                       .dynamic = (uintptr_t)launch->dynamic_shared,
                                       .dynamic_bytes = launch->dynamic_bytes,
                                       .dynamic_room = launch->dynamic_room,
                                       .blocks = all->crowd.blocks,
                                       .padded = all->crowd.padded,
                                       .overlap = launch->overlap,
                                       .cluster = all->cluster};
  return launch->watch ? watch_begin(launch->watch, &watched, err) : CUGEN_OK;
}

static void run_grid(struct fibers *all, const struct fiber_launch *launch) {
  *launch->builtins = (struct cpu_builtins){
      .block_size = launch->block, .grid_size = launch->grid, .dynamic_shared = launch->dynamic_shared};
  all->launch = launch;
  all->crowd.rank = 0;
  context_adopt(&all->caller);
  all->active = &all->caller;
  fibers_running = all;
  all->fault[0] = '\0';
  start_block(all);
  struct fiber *first = take_idle(all);
  start_next(all, first);
  switch_to(all, &first->context);
  fibers_running = NULL;
}

/* Static shared memory of all blocks of a cluster begins as it is now. */
static int prepare_cluster(struct fibers *all, const struct fiber_launch *launch, cugen_error *err) {
  const size_t bytes = all->crowd.blocks * launch->static_bytes;
  if (all->crowd.blocks == 1 || bytes <= all->kept_bytes) return CUGEN_OK;
  free(all->kept);
  all->kept = calloc(bytes, 1);
  all->kept_bytes = all->kept ? bytes : 0;
  return all->kept ? CUGEN_OK : error_memory(err);
}

static int prepare_shape(struct fibers *all, const struct fiber_launch *launch, cugen_error *err) {
  const struct cpu_dim3 *asked = &launch->cluster;
  const struct cpu_dim3 cluster = {asked->x ? asked->x : 1, asked->y ? asked->y : 1, asked->z ? asked->z : 1};
  int status = check_shape(launch, err);
  if (!status) status = check_cluster(launch, &cluster, err);
  if (status) return status;
  struct crowd *crowd = &all->crowd;
  all->cluster = cluster;
  crowd->blocks = cluster.x * cluster.y * cluster.z;
  crowd->threads = launch->block.x * launch->block.y * launch->block.z;
  crowd->padded = (crowd->threads + WAIT_WARP - 1) / WAIT_WARP * WAIT_WARP;
  all->slots = (crowd->blocks - 1) * crowd->padded + crowd->threads;
  return prepare_cluster(all, launch, err);
}

int fibers_run(struct fibers *fibers, const struct fiber_launch *launch, cugen_error *err) {
  int status = prepare_shape(fibers, launch, err);
  if (status) return status;
  status = prepare_stacks(fibers, err);
  if (status) return status;
  prepare_positions(fibers, launch->block);
  status = begin_watch(fibers, launch, err);
  if (status) return status;
  run_grid(fibers, launch);
  if (launch->watch) watch_end(launch->watch);
  return fibers->fault[0] ? clear_up(fibers, err) : CUGEN_OK;
}
