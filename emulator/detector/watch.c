/* Race detection: the functions that a watched kernel (cpu_watch, abi.h) and the emulator
   (observer.h) call.

   Each word of shared and global memory has a cell of shadow memory: the last write, the last
   atomic operation and up to three reads, each an epoch, a thread and a site (state.h). An access
   is compared with those that touched the same bytes. If one of the two writes, and they are not of
   a kind that may be concurrent (both atomic, or volatile on a flag), something must order the
   earlier access before the later, or they race. Happens-before is FastTrack's (Flanagan and
   Freund, PLDI 2009), with the means by which a GPU orders threads, the cheapest first:

   1. Barriers of a block, a cluster, a warp: the earlier access is ordered if its epoch is before
   that of the barrier (happens_before.h).
   2. mbarriers, named barriers and waits for products: vector clocks, made when a launch first
   needs them (happens_before.c). A write of the copy engine is ordered only by the mbarrier that
   counts it.
   3. Fences with atomic or volatile accesses: release and acquire as in the PTX ISA's memory
   consistency model. Only these order blocks that do not run together (release_acquire.c).

   access.c decides most accesses by a quick check of the cell; shadow_memory.c checks the others.

   Invariants:
   - Epochs never decrease while a cell lives; epoch 0 means never. A cell is not cleared between
   blocks and launches: an access of an earlier launch, or in shared memory of an earlier block, is
   recognised by its epoch and races with nothing.
   - The verdict depends on ordering, not on which access came first: another order of the threads
   has the same races, as long as they take the same branches.
   - Of the readers since the last write three are kept: the last, another (of another warp if
   possible), and the last of an earlier block. A race with another reader may be missed if a vector
   clock or an acquire orders the writer after these alone.
   - A long launch may run its blocks in several processes (parallel_blocks.c, speculation.c).
   - Hooks run on the kernel's stack, in its launch's thread. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emulator/fibers.h"
#include "state.h"

/* ---- Hooks ----------------------------------------------------------------------------------

   A launch without an observer, such as one in reverse order, calls hooks, too: `watching` is then
   NULL, and nothing is recorded. */

static void on_misaligned(const char *type, const void *at, unsigned long multiple, unsigned kind,
                          const void *site) {
  struct watch *w = watching;
  if (!w) return;
  const struct access a = {.watch = w,
                           .at = (uintptr_t)at,
                           .bytes = (unsigned)multiple,
                           .kind = kind,
                           .thread = watch_thread(w),
                           .site = (uint32_t)finding_site(w, site)};
  alignment_refuse(&a, (unsigned)multiple, type);
}

static void on_arrived(const void *at, unsigned long bytes, const void *site) {
  struct watch *w = watching;
  for (unsigned long done = 0; w && done < bytes; done += WATCH_WORD) {
    struct cell *cell = regions_cell(w, (uintptr_t)at + done);
    if (!cell || !(cell->write.kind & CPU_ASYNC)) continue;
    cell->write.kind &= (uint8_t)~CPU_ASYNC;
    cell->write.epoch = w->hb.epoch;
  }
  (void)site;
}

static void on_mismatched(const struct cpu_ubsan_mismatch *what, const void *at, const void *site) {
  on_misaligned(what->type->name, at, 1ul << what->log_multiple, what->use == 1 ? CPU_WRITE : 0,
                site);
}

/* Returns the index as a number, which is signed if its type is. */
static long long index_value(const struct cpu_ubsan_type *type, unsigned long index) {
  const int shift = 64 - (1 << (type->info >> 1));
  const bool negative = type->info & 1 && shift >= 0 && shift < 64;
  return negative ? (long long)(index << shift) >> shift : (long long)index;
}

static void on_outside(const struct cpu_ubsan_bounds *bounds, unsigned long index,
                       const void *site) {
  struct watch *w = watching;
  if (!w) return;
  struct watch_finding *f =
      finding_new(w, CUGEN_FINDING_INDEX, finding_site(w, site), 0, watch_thread(w));
  if (!f) return;
  f->offset = index_value(bounds->index, index);
  finding_text(f, bounds->array->name);
}

static void *on_copied(void *to, const void *from, unsigned long bytes, const void *site) {
  if (bytes) access_report(from, bytes, CPU_PACKED, site);
  if (bytes) access_report(to, bytes, CPU_WRITE | CPU_PACKED, site);
  return memmove(to, from, bytes);
}

static void *on_filled(void *to, int byte, unsigned long bytes, const void *site) {
  if (bytes) access_report(to, bytes, CPU_WRITE | CPU_PACKED, site);
  return memset(to, byte, bytes);
}

static void on_enter(const void *caller) {
  struct watch *w = watching;
  struct call_path *path = w ? &w->paths[watch_thread(w)] : NULL;
  if (path && path->depth < PATH_DEPTH)
    path->sites[path->depth] = (uint32_t)finding_site(w, caller);
  if (path) path->depth++;
}

static void on_leave(void) {
  struct watch *w = watching;
  struct call_path *path = w ? &w->paths[watch_thread(w)] : NULL;
  if (path && path->depth) path->depth--;
}

static void on_fence(int device) {
  struct watch *w = watching;
  if (!w) return;
  w->fenced |= device;
  ra_fence(w->ra, watch_thread(w), device);
}

static void on_lane(unsigned mask, unsigned lane) {
  char text[WATCH_TEXT];
  struct watch *w = watching;
  if (!w) return;
  const char *why = mask >> lane & 1
                        ? "has ended or is not in the block, though mask 0x%08x names it"
                        : "mask 0x%08x does not name";
  int length = snprintf(text, sizeof text, "reads lane %u, which ", lane);
  length += snprintf(text + length, sizeof text - (size_t)length, why, mask);
  snprintf(text + length, sizeof text - (size_t)length, ": what it gets is undefined");
  finding_report(w, CUGEN_FINDING_ABSENT_LANES, __builtin_return_address(0), watch_thread(w), NULL,
                 0, text);
}

const struct cpu_watch *watch_hooks(const struct watch *watch) {
  return &watch->hooks;
}

/* ---- The launch ----------------------------------------------------------------------------- */

static int watch_begin(struct watch *w, const struct observed_launch *launch, cugen_error *err) {
  w->launch = *launch;
  int status = regions_image(w, launch->image, err);
  if (!status) status = regions_dynamic(w, err);
  if (status) return status;
  struct watch_report *report = w->report;
  const uint32_t slot =
      report->launch_count <= WATCH_MOST_LAUNCHES ? report->launch_count++ : WATCH_MOST_LAUNCHES;
  traffic_begin(w->traffic, &report->launches[slot]);
  w->blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z / launch->blocks;
  report->launches[slot].blocks = (double)w->blocks * launch->blocks;
  hb_launch(&w->hb, launch->blocks, launch->padded);
  ra_launch(w->ra);
  flags_launch(w);
  regions_launch(w);
  w->every = parallel_step(w, WATCH_COUNTED_BLOCKS);
  w->fenced = w->entangled = false;
  w->began = clock();
  w->time_is_up = false;
  w->last_site = 0; /* the last site may be of another image */
  w->overwriting.finding = NULL;
  access_forget(w);
  watching = w;
  w->running = true;
  watch_look(w);
  return CUGEN_OK;
}

static void watch_end(struct watch *w) {
  if (w->overwriting.finding) finding_compare(w);
  if (w->counting) traffic_all_met(w->traffic, w->launch.padded);
  w->counting = w->running = false;
  w->passed_over = true;
  watch_look(w);
  access_choose_hooks(w);
  traffic_end(w->traffic);
  watching = NULL;
}

static void block_begins(struct watch *w) {
  const struct cpu_dim3 *at = &w->launch.builtins->block, *grid = &w->launch.grid,
                        *cluster = &w->launch.cluster;
  const uint64_t wide = grid->x / cluster->x, high = grid->y / cluster->y;
  if (w->counting) traffic_all_met(w->traffic, w->launch.padded);
  w->block = at->x / cluster->x + wide * (at->y / cluster->y + high * (at->z / cluster->z));
  hb_block(&w->hb, w->block);
  w->yielded = false;
  memset(w->waited, 0, sizeof w->waited);
  ra_block(w->ra);
  flags_block(w);
  accumulators_block(w);
  for (unsigned i = 0; i < w->launch.blocks * w->launch.padded; i++) w->paths[i].depth = 0;
  memset(w->launch_waited, 0, sizeof w->launch_waited);
  w->last_waited = (struct event){0};
  w->counting =
      w->report->mode != WATCH_FINDINGS && (w->report->count_blocks || w->block % w->every == 0);
  w->passed_over = w->report->mode == WATCH_TRAFFIC && !w->counting && parallel_decided(w);
  watch_look(w);
  access_choose_hooks(w);
  w->report->launches[w->report->launch_count - 1].counted += w->counting;
}

static bool time_is_up(struct watch *w) {
  const bool already = w->time_is_up;
  w->time_is_up = true;
  watch_look(w);
  access_choose_hooks(w);
  return !already;
}

/* ---- Ordering of threads -------------------------------------------------------------------- */

static void barrier(struct watch *w, unsigned rank) {
  if (w->overwriting.finding) finding_compare(w);
  hb_barrier(&w->hb, rank);
  ra_barrier(w->ra, rank);
  if (!w->counting || rank) return;
  traffic_all_met(w->traffic, w->launch.padded);
  w->report->launches[w->report->launch_count - 1].barriers++;
}

static void cluster_barrier(struct watch *w) {
  hb_cluster(&w->hb);
}

static void warp(struct watch *w, unsigned warp, unsigned lanes, bool all, bool orders) {
  if (w->counting && all && warp * HB_WARP < w->launch.padded) traffic_met(w->traffic, warp);
  if (orders) hb_lanes(&w->hb, warp, lanes, all);
}

static void watch_release(struct watch *w, unsigned thread, unsigned sync) {
  hb_release(&w->hb, thread, sync);
}

static void watch_acquire(struct watch *w, unsigned thread, unsigned sync) {
  hb_acquire(&w->hb, thread, sync);
}

static void pass(struct watch *w, unsigned to_sync, unsigned from_sync) {
  hb_pass(&w->hb, to_sync, from_sync);
}

static void follow(struct watch *w, unsigned thread, unsigned other, uint32_t epoch) {
  hb_follow(&w->hb, thread, other, epoch);
}

static bool same_path(const struct watch *w, unsigned thread, unsigned other, const void **call,
                      const void **other_call) {
  const struct call_path *own = &w->paths[thread], *its = &w->paths[other];
  const unsigned depth = own->depth < its->depth ? own->depth : its->depth;
  for (unsigned i = 0; i < depth && i < PATH_DEPTH; i++) {
    if (own->sites[i] == its->sites[i]) continue;
    *call = (const void *)(w->launch.image->base + own->sites[i]);
    *other_call = (const void *)(w->launch.image->base + its->sites[i]);
    return false;
  }
  return true;
}

static uint32_t now(const struct watch *w) {
  return w->hb.epoch;
}

static bool knows(const struct watch *w, unsigned thread, unsigned other, uint32_t epoch) {
  const struct event then = {.epoch = epoch, .thread = other};
  return happens_before(&w->hb, &then, thread);
}

/* ---- Asynchronous operations ---------------------------------------------------------------- */

static uint32_t async_access(struct watch *w, const struct observed_access *what) {
  struct access a = {.watch = w,
                     .at = (uintptr_t)what->at,
                     .bytes = (unsigned)what->bytes,
                     .kind = what->kind,
                     .thread = what->thread,
                     .rank = what->rank,
                     .site = (uint32_t)finding_site(w, what->site)};
  regions_visit(&a);
  return w->hb.epoch++;
}

static void use(struct watch *w, const struct observed_access *what) {
  const uintptr_t at = (uintptr_t)what->at;
  const struct region *shared = &w->shared[what->rank];
  if (at - shared->start >= shared->end - shared->start) shared = &w->dynamic[what->rank];
  if (at - shared->start >= shared->end - shared->start) return;
  const struct access a = {.watch = w,
                           .region = shared,
                           .at = at,
                           .bytes = (unsigned)what->bytes,
                           .kind = what->kind,
                           .thread = what->thread,
                           .site = (uint32_t)finding_site(w, what->site)};
  shadow_check_write(&a, &shared->cells[(at - shared->start) / WATCH_WORD], WATCH_WHOLE_WORD);
}

static void copy_landed(struct watch *w, const void *at, size_t bytes, uint32_t epoch) {
  for (size_t done = 0; done < bytes; done += WATCH_WORD) {
    struct cell *cell = regions_cell(w, (uintptr_t)at + done);
    if (cell && cell->write.kind & OBSERVED_ENGINE && cell->write.epoch == epoch)
      cell->write.kind &= (uint8_t)~CPU_ASYNC;
  }
}

static void copy_counted(struct watch *w, unsigned sync, uint32_t epoch) {
  hb_copy_counted(&w->hb, sync, epoch);
}

static void proxy_fence(struct watch *w, unsigned thread) {
  w->fence_epoch[thread] = w->hb.epoch++;
}

/* ---- Errors --------------------------------------------------------------------------------- */

static void finding(struct watch *w, cugen_finding_kind kind, const void *site, unsigned thread,
                    const void *other_site, unsigned other_thread, const char *text) {
  const uint32_t count = w->report->finding_count;
  finding_report(w, kind, site, thread, other_site, other_thread, text);
  const bool looks = w->yielded && w->last_kind & WATCH_STRONG && w->block + 1 < w->blocks;
  if (kind == CUGEN_FINDING_HANG && w->report->finding_count > count)
    w->report->findings[count].spins = looks;
}

static void diverged(struct watch *w, const void *site, unsigned thread, const void *other_site,
                     unsigned other_thread, enum watch_apart apart) {
  struct watch_report *report = w->report;
  const uint32_t count = report->finding_count;
  finding(w, CUGEN_FINDING_DIVERGENCE, site, thread, other_site, other_thread, "");
  if (report->finding_count > count) report->findings[count].apart = apart;
}

static const struct observer_ops watch_ops = {.begin = watch_begin,
                                              .end = watch_end,
                                              .block_begins = block_begins,
                                              .next_block = parallel_next,
                                              .barrier = barrier,
                                              .cluster_barrier = cluster_barrier,
                                              .warp = warp,
                                              .release = watch_release,
                                              .acquire = watch_acquire,
                                              .pass = pass,
                                              .follow = follow,
                                              .now = now,
                                              .knows = knows,
                                              .same_path = same_path,
                                              .access = async_access,
                                              .use = use,
                                              .copy_landed = copy_landed,
                                              .copy_counted = copy_counted,
                                              .proxy_fence = proxy_fence,
                                              .accumulators_hold = accumulators_hold,
                                              .accumulators_release = accumulators_release,
                                              .accumulators_fence = accumulators_fence,
                                              .launch_waited = regions_launch_waited,
                                              .launch_used = regions_launch_used,
                                              .finding = finding,
                                              .diverged = diverged,
                                              .stray = finding_stray,
                                              .misaligned = alignment_fault,
                                              .time_is_up = time_is_up,
                                              .position = finding_position};

/* ---- Opening -------------------------------------------------------------------------------- */

int watch_open(struct watch_report *report, const uint64_t *fork, struct watch **out,
               cugen_error *err) {
  *out = NULL;
  struct watch *w = calloc(1, sizeof *w);
  if (!w) return error_memory(err);
  w->observer = (struct observer){&watch_ops, w};
  w->report = report;
  w->hooks = (struct cpu_watch){.enter = on_enter,
                                .leave = on_leave,
                                .copied = on_copied,
                                .filled = on_filled,
                                .mismatched = on_mismatched,
                                .outside = on_outside,
                                .arrived = on_arrived,
                                .fence = on_fence,
                                .misaligned = on_misaligned,
                                .lane = on_lane,
                                .move = memmove,
                                .fill = memset};
  access_choose_hooks(w);
  w->fork = fork;
  int status = traffic_open(&w->traffic, err);
  if (!status) status = ra_open(&w->ra, &w->hb, err);
  if (!status) w->written = ra_written(w->ra);
  if (!status) status = access_open(w, err);
  if (status)
    watch_close(w);
  else
    *out = w;
  return status;
}

void watch_close(struct watch *w) {
  if (!w) return;
  for (size_t i = 0; i < w->region_count; i++) shadow_drop(&w->regions[i]);
  for (int i = 0; i < HB_BLOCKS; i++) shadow_drop(&w->dynamic[i]);
  regions_close_image(w);
  hb_close(&w->hb);
  ra_close(w->ra);
  access_close(w);
  free(w->flags.releases);
  free(w->accumulators);
  traffic_close(w->traffic);
  free(w);
}

int watch_buffers(struct watch *w, const struct watch_buffer *buffers, size_t count,
                  cugen_error *err) {
  const double limit = w->report->limit;
  const uint32_t count_blocks = w->report->count_blocks, processes = w->report->processes;
  const enum watch_mode mode = w->report->mode;
  memset(w->report, 0, sizeof *w->report);
  w->report->limit = limit;
  w->report->count_blocks = count_blocks;
  w->report->processes = processes;
  w->report->mode = mode;
  w->hb.epoch = 1;
  memset(w->fence_epoch, 0, sizeof w->fence_epoch);
  return regions_buffers(w, buffers, count, err);
}

const struct observer *watch_observer(const struct watch *w) {
  return &w->observer;
}

double watch_limit(const struct watch *w) {
  return w->report->limit;
}
