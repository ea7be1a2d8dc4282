/* The emulator of CUDA threads; see fibers.h. A fiber is a stack that runs CUDA threads one after
   the other: a thread that never waits leaves its fiber to the next thread. A thread that waits
   keeps its fiber, and control goes straight to the next thread that can run (scheduler.c). MCUDA
   (Stratton, Stone and Hwu, LCPC 2008) instead turns the code between barriers into loops over
   threads; fibers leave the kernel unchanged.

   The order of threads is deterministic, so that every run of a kernel is the same. The next to run
   is the lowest thread that can continue, else the lowest that has not begun, else the lanes that
   wait to converge, else a copy in flight arrives, else threads that have yielded continue, else
   the next block begins. The blocks of a cluster run together; their static shared memory is
   exchanged when control goes from one block to another.

   Invariants, for a running block or cluster:
   - A thread that has not ended is in one of these states: not begun (its slot is not below
   `unstarted`), current, ready (its warp's `ready`), or parked: at a warp operation (its warp's
   `waiting`), where lanes converge (its warp's `converging`), after yielding (its warp's
   `yielded`), in a wait queue (its `describe`), or else at its block's barrier.
   - No more fibers are in use than there are slots.
   - Control moves only where a thread waits, yields or ends, and code between is atomic.
   - If no thread can continue or begin and no copy is in flight, but threads are alive, there is a
   deadlock, and each thread can say what it waits for (positions.c).
   - threadIdx and the other built-in variables belong to the loaded object (abi.h, cpu_builtins),
   and have the current thread's values. */
#include "fibers.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "async.h"
#include "base/launch.h"
#include "scheduler.h"

/* ---- Threads, blocks, the grid -------------------------------------------------------------- */

/* An ended thread counts as arrived at the barriers of its block and cluster, and is left out of
   warp operations. */
static void thread_ended(struct fibers *all) {
  struct warp *warp = &all->warps[all->current.slot / FIBERS_LANES];
  struct block *block = &all->blocks[all->current.rank];
  warp->live &= ~(1u << all->current.slot % FIBERS_LANES);
  all->live--;
  block->live--;
  if (block->live && block->arrived == block->live) collective_release(all, all->current.rank);
  barriers_try_cluster(all->async);
  for (unsigned left = warp->waiting; left; left &= left - 1) {
    const unsigned lane = (unsigned)__builtin_ctz(left);
    if (warp->waiting >> lane & 1)
      collective_try_warp(all, all->current.slot / FIBERS_LANES * FIBERS_LANES + lane);
  }
}

/* Starts a block, or the cluster that begins with it. */
static void start_block(struct fibers *all) {
  const struct fiber_launch *launch = all->launch;
  const struct cpu_dim3 origin = launch->builtins->block;
  const unsigned wide = all->cluster.x, high = all->cluster.y;
  const unsigned whole = all->current.threads / FIBERS_LANES,
                 rest = all->current.threads % FIBERS_LANES;
  if (all->current.blocks > 1) fibers_enter_block(all, 0);
  all->live = all->current.blocks * all->current.threads;
  all->unstarted = 0;
  for (unsigned rank = 0; rank < all->current.blocks; ++rank) {
    all->blocks[rank] = (struct block){.live = all->current.threads,
                                       .at = {origin.x + rank % wide, origin.y + rank / wide % high,
                                              origin.z + rank / wide / high}};
    struct warp *warps = &all->warps[rank * all->current.padded / FIBERS_LANES];
    for (unsigned warp = 0; warp < whole; ++warp) warps[warp].live = ~0u;
    if (rest) warps[whole].live = (1u << rest) - 1;
  }
  launch->builtins->block = origin;
  const struct observer *observer = launch->observer;
  if (observer) observer->ops->block_begins(observer->watch);
  async_begin(all->async);
}

/* Makes the number-th block, or cluster, the next one. Returns false if there are not so many. */
static bool choose_block(struct fibers *all, uint64_t number) {
  const struct cpu_dim3 *grid = &all->launch->grid, *cluster = &all->cluster;
  const unsigned wide = grid->x / cluster->x, high = grid->y / cluster->y;
  const uint64_t count = (uint64_t)wide * high * (grid->z / cluster->z);
  if (number >= count) return false;
  if (all->launch->reversed) number = count - 1 - number;
  const uint64_t row = number / wide;
  all->launch->builtins->block =
      (struct cpu_dim3){(unsigned)(number % wide) * cluster->x, (unsigned)(row % high) * cluster->y,
                        (unsigned)(row / high) * cluster->z};
  return true;
}

static bool fibers_next_block(struct fibers *all) {
  const struct observer *observer = all->launch->observer;
  const uint64_t next = observer ? observer->ops->next_block(observer->watch) : ++all->number;
  if (next == OBSERVER_HUNG) fibers_fault(CUGEN_CAUSE_NONE, "the time is up");
  return choose_block(all, next);
}

/* Called after a thread ended on this fiber; returns when the fiber has another thread to run. */
static void fibers_find_work(struct fibers *all, struct fiber *self) {
  struct context *next = &all->caller;
  if (!fibers_any_ready(all) && all->unstarted >= all->slots && all->live) fibers_await(all);
  if (!all->live) async_end(all->async);
  if (fibers_any_ready(all)) {
    next = &fibers_resume_ready(all)->context;
  } else if (all->unstarted < all->slots) {
    fibers_start_next(all, self);
    return;
  } else if (all->live) {
    positions_deadlock(all);
  } else if (fibers_next_block(all)) {
    fibers_stop_if_asked(all);
    start_block(all);
    fibers_start_next(all, self);
    return;
  }
  all->idle[all->idle_count++] = self;
  fibers_switch_to(all, next);
}

static void fiber_main(void) {
  struct fibers *all = fibers_running;
  struct fiber *self = all->parked[all->current.slot].fiber;
  context_arrive(all->left, NULL);
  for (;;) {
    all->launch->entry(all->launch->parameters);
    thread_ended(all);
    fibers_find_work(all, self);
  }
}

/* ---- Opening, launching --------------------------------------------------------------------- */

int fibers_open(struct fibers **out, cugen_error *err) {
  *out = NULL;
  struct fibers *all = calloc(1, sizeof *all);
  if (!all) return error_memory(err);
  all->thread_main = fiber_main;
  all->step = copies_step;
  all->guard = (size_t)sysconf(_SC_PAGESIZE);
  all->stride = all->guard + FIBERS_STACK_BYTES;
  all->stacks = mmap(NULL, FIBERS_SLOTS * all->stride, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
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
  return offset < FIBERS_SLOTS * fibers_running->stride &&
         offset % fibers_running->stride < fibers_running->guard;
}

static int prepare_stacks(struct fibers *all, cugen_error *err) {
  while (all->usable < all->current.blocks * all->current.threads) {
    char *stack = all->stacks + all->usable * all->stride + all->guard;
    if (mprotect(stack, FIBERS_STACK_BYTES, PROT_READ | PROT_WRITE)) return error_memory(err);
    all->idle[all->idle_count++] = &all->fibers[all->usable++];
  }
  return CUGEN_OK;
}

static void prepare_positions(struct fibers *all, struct cpu_dim3 block) {
  if (!memcmp(&all->positions_of, &block, sizeof block)) return;
  struct cpu_dim3 at = {0, 0, 0};
  for (unsigned i = 0; i < all->current.threads; ++i) {
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
  const bool wide =
      block->x > FIBERS_THREADS || block->y > FIBERS_THREADS || block->z > FIBERS_THREADS;
  if (!empty && !wide && (uint64_t)block->x * block->y * block->z <= FIBERS_THREADS)
    return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_DEVICE,
                   "cannot launch a grid of %ux%ux%u blocks of %ux%ux%u threads: every number must "
                   "be at least 1, and a block may have %d threads",
                   grid->x, grid->y, grid->z, block->x, block->y, block->z, FIBERS_THREADS);
}

static int fibers_check_cluster(const struct fiber_launch *launch, const struct cpu_dim3 *cluster,
                                cugen_error *err) {
  const struct cpu_dim3 *grid = &launch->grid;
  const bool whole =
      grid->x % cluster->x == 0 && grid->y % cluster->y == 0 && grid->z % cluster->z == 0;
  if (whole && (uint64_t)cluster->x * cluster->y * cluster->z <= FIBERS_BLOCKS) return CUGEN_OK;
  return error_set_cause(err, CUGEN_ERROR_DEVICE, CUGEN_CAUSE_UNSUPPORTED,
                         "the cpu device runs clusters of at most %d blocks, and whole ones: not a "
                         "grid of %ux%ux%u blocks in clusters of %ux%ux%u",
                         FIBERS_BLOCKS, grid->x, grid->y, grid->z, cluster->x, cluster->y,
                         cluster->z);
}

/* Resets every stack after a launch was given up, and returns the fault as an error. */
static int clear_up(struct fibers *all, cugen_error *err) {
  all->idle_count = 0;
  for (unsigned i = 0; i < all->usable; ++i) {
    context_drop(&all->fibers[i].context);
    all->fibers[i] = (struct fiber){.made = false};
    all->idle[all->idle_count++] = &all->fibers[i];
  }
  memset(all->warps, 0, sizeof all->warps);
  all->any_yielded = false;
  memset(all->ready_warps, 0, sizeof all->ready_warps);
  all->converging = 0;
  for (size_t i = 0; i < FIBERS_SLOTS; ++i) all->parked[i].describe = NULL;
  const struct fault *fault = &all->fault;
  return error_set_cause(err, CUGEN_ERROR_DEVICE, fault->cause, "%s%s", cause_prefix(fault->cause),
                         fault->text);
}

static int begin_observer(const struct fibers *all, const struct fiber_launch *launch,
                          cugen_error *err) {
  const struct observer *observer = launch->observer;
  const struct observed_launch observed = {.image = launch->image,
                                           .builtins = launch->builtins,
                                           .grid = launch->grid,
                                           .block = launch->block,
                                           .stacks = (uintptr_t)all->stacks,
                                           .stack_bytes = FIBERS_SLOTS * all->stride,
                                           .dynamic = (uintptr_t)launch->dynamic_shared,
                                           .dynamic_bytes = launch->dynamic_bytes,
                                           .dynamic_room = launch->dynamic_room,
                                           .blocks = all->current.blocks,
                                           .padded = all->current.padded,
                                           .overlap = launch->overlap,
                                           .cluster = all->cluster};
  return observer ? observer->ops->begin(observer->watch, &observed, err) : CUGEN_OK;
}

static void run_grid(struct fibers *all, const struct fiber_launch *launch) {
  *launch->builtins = (struct cpu_builtins){.block_size = launch->block,
                                            .grid_size = launch->grid,
                                            .dynamic_shared = launch->dynamic_shared,
                                            .cluster_size = all->cluster,
                                            .cooperative = launch->cooperative};
  all->launch = launch;
  all->current.rank = 0;
  context_adopt(&all->caller);
  all->active = &all->caller;
  fibers_running = all;
  all->fault.text[0] = '\0';
  all->number = 0;
  choose_block(all, 0);
  start_block(all);
  struct fiber *first = fibers_take_idle(all);
  fibers_start_next(all, first);
  fibers_switch_to(all, &first->context);
  fibers_running = NULL;
}

/* Makes room for the static shared memory of the cluster's blocks, which begins with zeros or what
   an earlier launch has left. */
static int prepare_cluster(struct fibers *all, const struct fiber_launch *launch,
                           cugen_error *err) {
  const size_t bytes = all->current.blocks * launch->static_bytes;
  if (all->current.blocks == 1 || bytes <= all->kept_bytes) return CUGEN_OK;
  free(all->kept);
  all->kept = calloc(bytes, 1);
  all->kept_bytes = all->kept ? bytes : 0;
  return all->kept ? CUGEN_OK : error_memory(err);
}

static int prepare_shape(struct fibers *all, const struct fiber_launch *launch, cugen_error *err) {
  const struct cpu_dim3 *asked = &launch->cluster;
  const struct cpu_dim3 cluster = {asked->x ? asked->x : 1, asked->y ? asked->y : 1,
                                   asked->z ? asked->z : 1};
  int status = check_shape(launch, err);
  if (!status) status = fibers_check_cluster(launch, &cluster, err);
  if (status) return status;
  struct current *current = &all->current;
  all->cluster = cluster;
  current->blocks = cluster.x * cluster.y * cluster.z;
  current->threads = launch->block.x * launch->block.y * launch->block.z;
  current->padded = (current->threads + FIBERS_LANES - 1) / FIBERS_LANES * FIBERS_LANES;
  all->slots = (current->blocks - 1) * current->padded + current->threads;
  return prepare_cluster(all, launch, err);
}

int fibers_run(struct fibers *fibers, const struct fiber_launch *launch, cugen_error *err) {
  int status = prepare_shape(fibers, launch, err);
  if (status) return status;
  status = prepare_stacks(fibers, err);
  if (status) return status;
  prepare_positions(fibers, launch->block);
  status = begin_observer(fibers, launch, err);
  if (status) return status;
  run_grid(fibers, launch);
  if (launch->observer) launch->observer->ops->end(launch->observer->watch);
  return fibers->fault.text[0] ? clear_up(fibers, err) : CUGEN_OK;
}

/* ---- Hooks of loaded objects ---------------------------------------------------------------- */

static _Noreturn void hook_trap(const char *what) {
  fibers_ended(__builtin_return_address(0), what);
  fibers_give_up(CUGEN_CAUSE_TRAP, what);
}

static _Noreturn void hook_needs_grid(void) {
  fibers_give_up(CUGEN_CAUSE_GRID_SYNC, "the kernel " LAUNCH_GRID_SYNC);
}

const struct cpu_hooks *fibers_hooks(void) {
  static const struct cpu_hooks hooks = {
      collective_barrier, collective_warp,      collective_active_mask, hook_trap,
      &async_hooks,       collective_converged, hook_needs_grid};
  return &hooks;
}
