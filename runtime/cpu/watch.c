/* What a watched kernel and the scheduler report; see watch.h, and watch_state.h for the parts that look at it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "waits.h"
#include "watch_state.h"

enum { COUNTED_BLOCKS = 256, WHOLE_WORD = 15 };

/* The hooks carry no context. */
static _Thread_local struct watch *watching;

/* ---- Opening ---- */

int watch_open(struct watch_report *report, const uint64_t *fork, struct watch **out, cugen_error *err) {
  *out = NULL;
  struct watch *w = calloc(1, sizeof *w);
  if (!w) return error_memory(err);
  w->report = report;
  w->fork = fork;
  int status = traffic_open(&w->traffic, err);
  if (!status) status = flags_open(&w->flags, &w->order, err);
  if (status)
    watch_close(w);
  else
    *out = w;
  return status;
}

void watch_close(struct watch *w) {
  if (!w) return;
  for (size_t i = 0; i < w->region_count; i++) cells_drop(&w->regions[i]);
  for (int i = 0; i < WATCH_BLOCKS; i++) cells_drop(&w->shared[i]), cells_drop(&w->dynamic[i]);
  order_close(&w->order);
  flags_close(w->flags);
  free(w->registers);
  traffic_close(w->traffic);
  free(w->arrays);
  free(w->array_of);
  free(w);
}

int watch_buffers(struct watch *w, const struct watch_buffer *buffers, size_t count, cugen_error *err) {
  const double limit = w->report->limit;
  const uint32_t count_blocks = w->report->count_blocks, processes = w->report->processes;
  memset(w->report, 0, sizeof *w->report);
  w->report->limit = limit;
  w->report->count_blocks = count_blocks;
  w->report->processes = processes;
  w->order.time = 1;
  return place_buffers(w, buffers, count, err);
}

void watch_event(struct watch *w, enum watch_kind kind, const void *site, unsigned thread, const void *other_site,
                 unsigned other_thread, const char *text) {
  const uint64_t other = finding_site(w, other_site);
  struct watch_finding *f = finding_new(w, kind, finding_site(w, site), other, thread);
  if (!f) return;
  if (other) finding_place(w, &f->other, other, w->block, other_thread);
  finding_text(f, text);
}

void watch_stray(struct watch *w, const void *site, const void *address, bool write) {
  const uint64_t place = finding_site(w, watch_standing(w, site));
  struct watch_finding *f = finding_new(w, WATCH_BOUNDS, place, 0, w->launch.builtins->linear);
  if (!f) return;
  f->here.write = write;
  f->offset = (int64_t)(uintptr_t)address;
}

/* ---- Hooks ---- */

unsigned watch_thread(const struct watch *w) {
  return w->launch.builtins->cluster_rank * w->launch.padded + w->launch.builtins->linear;
}

static void on_access(const void *at, unsigned long bytes, unsigned kind, const void *site) {
  struct watch *w = watching;
  const uintptr_t address = (uintptr_t)at;
  if (!w) return; /* no launch: it says what it takes */
  const bool noted = !site;
  if (noted) site = __builtin_return_address(0);
  if (w->time_is_up) fibers_end_hang(site);
  if (address - w->launch.stacks < w->launch.stack_bytes) {
    sums_touch(w, address, site);
    return;
  }
  struct access a = {.watch = w,
                     .at = address,
                     .bytes = (unsigned)bytes,
                     .kind = kind,
                     .thread = watch_thread(w),
                     .rank = w->launch.builtins->cluster_rank,
                     .site = (uint32_t)finding_site(w, site)};
  w->last_site = a.site;
  w->last_at = address;
  w->last_kind = kind;
  if (address & (bytes - 1)) align_check(&a, noted);
  place_visit(&a);
}

static void on_misaligned(const char *type, const void *at, unsigned long multiple, unsigned kind, const void *site) {
  struct watch *w = watching;
  const struct access a = {.watch = w,
                           .at = (uintptr_t)at,
                           .bytes = (unsigned)multiple,
                           .kind = kind,
                           .thread = watch_thread(w),
                           .site = (uint32_t)finding_site(w, site)};
  align_refuse(&a, (unsigned)multiple, type);
}

static void on_arrived(const void *at, unsigned long bytes, const void *site) {
  struct watch *w = watching;
  for (unsigned long done = 0; done < bytes; done += WATCH_WORD) {
    struct cell *cell = place_cell(w, (uintptr_t)at + done);
    if (!cell || !(cell->write.kind & CPU_ASYNC)) continue;
    cell->write.kind &= (uint8_t)~CPU_ASYNC;
    cell->write.time = w->order.time;
  }
  (void)site;
}

static void on_index(const char *type, long long index, const void *site) {
  struct watch *w = watching;
  struct watch_finding *f = finding_new(w, WATCH_INDEX, finding_site(w, site), 0, watch_thread(w));
  if (!f) return;
  f->offset = index;
  finding_text(f, type);
}

static void on_fence(int device) {
  struct watch *w = watching;
  w->fenced |= device;
  flags_fence(w->flags, watch_thread(w), device);
}

static void on_lane(unsigned mask, unsigned lane) {
  char text[WATCH_TEXT];
  struct watch *w = watching;
  snprintf(text, sizeof text, "reads lane %u, which mask 0x%08x does not name: what it gets is undefined", lane,
           mask);
  watch_event(w, WATCH_MASK, __builtin_return_address(0), watch_thread(w), NULL, 0, text);
}

const struct cpu_watch *watch_hooks(void) {
  static const struct cpu_watch hooks = {on_access,     on_arrived, on_index, on_fence,
                                         on_misaligned, on_lane,    memmove,  memset};
  return &hooks;
}

/* ---- A launch ---- */

void watch_all_met(struct watch *w) {
  for (unsigned warp = 0; warp * WATCH_WARP < w->launch.padded; warp++) traffic_met(w->traffic, warp);
}

int watch_begin(struct watch *w, const struct watch_launch *launch, cugen_error *err) {
  w->launch = *launch;
  int status = place_image(w, launch->image, err);
  if (!status) status = place_dynamic(w, err);
  if (status) return status;
  struct watch_report *report = w->report;
  const uint32_t slot = report->launch_count < KERNEL_MAX_LAUNCHES ? report->launch_count++ : KERNEL_MAX_LAUNCHES - 1;
  traffic_begin(w->traffic, &report->launches[slot]);
  w->blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z / launch->blocks;
  report->launches[slot].blocks = (double)w->blocks * launch->blocks;
  order_launch(&w->order, launch->blocks, launch->padded);
  flags_launch(w->flags);
  w->every = spread_evenly(w, COUNTED_BLOCKS);
  w->fenced = w->entangled = false;
  w->began = clock();
  w->time_is_up = false;
  w->last_site = 0; /* of another image */
  watching = w;
  return CUGEN_OK;
}

void watch_end(struct watch *w) {
  if (w->counting) watch_all_met(w);
  w->counting = false;
  traffic_end(w->traffic);
  watching = NULL;
}

double watch_limit(const struct watch *w) {
  return w->report->limit;
}

void watch_block_begins(struct watch *w) {
  const struct cpu_dim3 *at = &w->launch.builtins->block, *grid = &w->launch.grid, *cluster = &w->launch.cluster;
  const uint64_t wide = grid->x / cluster->x, high = grid->y / cluster->y;
  if (w->counting) watch_all_met(w);
  w->block = at->x / cluster->x + wide * (at->y / cluster->y + high * (at->z / cluster->z));
  order_block(&w->order, w->block);
  flags_block(w->flags);
  sums_block(w);
  memset(w->launch_waited, 0, sizeof w->launch_waited);
  w->last_waited = (struct moment){0};
  w->counting = w->report->count_blocks || w->block % w->every == 0;
  w->report->launches[w->report->launch_count - 1].counted += w->counting;
}

void watch_barrier(struct watch *w, unsigned rank) {
  order_barrier(&w->order, rank);
  flags_barrier(w->flags, rank);
  if (!w->counting || rank) return;
  watch_all_met(w);
  w->report->launches[w->report->launch_count - 1].barriers++;
}

void watch_warp(struct watch *w, unsigned warp, unsigned lanes, bool all, bool orders) {
  if (w->counting && all && warp * WATCH_WARP < w->launch.padded) traffic_met(w->traffic, warp);
  if (orders) order_lanes(&w->order, warp, lanes, all);
}

uint64_t watch_next(struct watch *w) {
  return spread_next(w);
}

bool watch_time_is_up(struct watch *w) {
  const bool already = w->time_is_up;
  w->time_is_up = true;
  return !already;
}

const void *watch_standing(const struct watch *w, const void *site) {
  const uintptr_t base = w->launch.image->base;
  const bool inside = (uintptr_t)site - base < w->launch.image->length;
  return inside ? site : (const void *)(base + w->last_site);
}

/* ---- Asynchronous operations ---- */

void watch_release(struct watch *w, unsigned thread, unsigned row) {
  order_release(&w->order, thread, row);
}

void watch_acquire(struct watch *w, unsigned thread, unsigned row) {
  order_acquire(&w->order, thread, row);
}

void watch_pass(struct watch *w, unsigned to, unsigned from) {
  order_pass(&w->order, to, from);
}

uint32_t watch_now(const struct watch *w) {
  return w->order.time;
}

bool watch_knows(const struct watch *w, unsigned thread, unsigned other, uint32_t time) {
  const struct moment then = {.time = time, .thread = other};
  return order_before(&w->order, &then, thread);
}

void watch_follow(struct watch *w, unsigned thread, unsigned other, uint32_t time) {
  order_follow(&w->order, thread, other, time);
}

void watch_cluster_barrier(struct watch *w) {
  order_cluster(&w->order);
}

uint32_t watch_touch(struct watch *w, const struct watch_touch *touch) {
  struct access a = {.watch = w,
                     .at = (uintptr_t)touch->at,
                     .bytes = (unsigned)touch->bytes,
                     .kind = touch->kind,
                     .thread = touch->thread,
                     .rank = touch->rank,
                     .site = (uint32_t)finding_site(w, touch->site)};
  place_visit(&a);
  return w->order.time++;
}

void watch_follows(struct watch *w, const struct watch_touch *touch) {
  const uintptr_t at = (uintptr_t)touch->at;
  const struct region *shared = &w->shared[touch->rank];
  if (at - shared->start >= shared->end - shared->start) shared = &w->dynamic[touch->rank];
  if (at - shared->start >= shared->end - shared->start) return;
  const struct access a = {.watch = w,
                           .region = shared,
                           .at = at,
                           .bytes = (unsigned)touch->bytes,
                           .kind = touch->kind,
                           .thread = touch->thread,
                           .site = (uint32_t)finding_site(w, touch->site)};
  cells_check_write(&a, &shared->cells[(at - shared->start) / WATCH_WORD], WHOLE_WORD);
}

void watch_landed(struct watch *w, const void *at, size_t bytes, uint32_t time) {
  for (size_t done = 0; done < bytes; done += WATCH_WORD) {
    struct cell *cell = place_cell(w, (uintptr_t)at + done);
    if (cell && cell->write.kind & WATCH_ENGINE && cell->write.time == time) cell->write.kind &= (uint8_t)~CPU_ASYNC;
  }
}

void watch_counted(struct watch *w, unsigned row, uint32_t time) {
  order_counted(&w->order, row, time);
}

void watch_proxy_fence(struct watch *w, unsigned thread) {
  w->fence_time[thread] = w->order.time++;
}
