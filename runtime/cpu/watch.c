/* Shadow memory: for each word who wrote and who read it last; see watch.h.

   Time counts the events that order threads. An access is ordered after an earlier one of another thread of its block
   when a barrier lies between them, or a __syncwarp of both. */
#include "watch.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "arrays.h"
#include "share.h"
#include "traffic.h"

enum {
  WARP = 32,
  MOST_WARPS = 32,
  WORD = 4,
  WHOLE_WORD = 15,
  ZONE = 1 << 20, /* around a buffer, where nothing else lies: see guard.h */
  COUNTED_BLOCKS = 256
};

struct touch {
  uint32_t time, site; /* time 0: never */
  uint16_t thread;
  uint8_t bytes; /* of the word: a bit each */
  uint8_t kind;
};

struct cell {
  struct touch write, reads[2]; /* the last reader, and one of another warp if there is one */
  uint32_t block;               /* linear number: of the writer */
  uint8_t written;              /* bytes; of shared memory in this block */
};

struct region {
  char name[WATCH_NAME];
  uintptr_t start, end, low, high; /* low to high: nothing else lies there */
  struct cell *cells;
  size_t cell_bytes;
  int element;
  bool shared, read_only, unwritten;
};

struct watch {
  struct watch_report *report;
  struct region regions[WATCH_MOST_BUFFERS];
  size_t region_count, recent;
  struct traffic *traffic;

  /* One image. */
  struct watch_image image;
  struct shared_array *arrays;
  size_t array_count;
  struct region shared, dynamic; /* all static arrays as one; the dynamic array */
  uint8_t *array_of;             /* for each word of static shared memory: its array or gap, from 1; 0: none */

  /* One launch. */
  struct watch_launch launch;
  uint32_t time, launch_time, block_time, barrier_time;
  uint32_t warp_time[MOST_WARPS];         /* the last time that all lanes of a warp met, */
  uint32_t pairs[MOST_WARPS][WARP][WARP]; /* and two of them; when some but not all did */
  bool pairs_used[MOST_WARPS];
  uint32_t last_site; /* where the last access was */
  bool fenced;        /* __threadfence() was called: blocks may order themselves by flags */
  bool counting;      /* this block's accesses are counted: each of so many, */
  uint64_t every;
  uint64_t block, blocks;
  bool entangled;      /* what a block does depends on others, or it was tried in vain: one process runs all */
  struct share *share; /* in one of several processes */
  clock_t began;       /* time of the processor */
};

/* The hooks carry no context. */
static _Thread_local struct watch *watching;

/* ---- Opening ---- */

int watch_open(struct watch_report *report, struct watch **out, cugen_error *err) {
  *out = NULL;
  struct watch *w = calloc(1, sizeof *w);
  if (!w) return error_memory(err);
  w->report = report;
  int status = traffic_open(&w->traffic, err);
  if (status)
    watch_close(w);
  else
    *out = w;
  return status;
}

static void drop_cells(struct region *region) {
  if (region->cells) munmap(region->cells, region->cell_bytes);
  *region = (struct region){.shared = false};
}

void watch_close(struct watch *w) {
  if (!w) return;
  for (size_t i = 0; i < w->region_count; i++) drop_cells(&w->regions[i]);
  drop_cells(&w->shared);
  drop_cells(&w->dynamic);
  traffic_close(w->traffic);
  free(w->arrays);
  free(w->array_of);
  free(w);
}

/* Untouched pages cost nothing, and are zero. */
static int make_cells(struct region *region, cugen_error *err) {
  const size_t words = (region->end - region->start) / WORD + 2;
  void *at = mmap(NULL, words * sizeof *region->cells, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) return error_memory(err);
  region->cells = at;
  region->cell_bytes = words * sizeof *region->cells;
  return CUGEN_OK;
}

int watch_buffers(struct watch *w, const struct watch_buffer *buffers, size_t count, cugen_error *err) {
  const double limit = w->report->limit;
  const uint32_t count_blocks = w->report->count_blocks, processes = w->report->processes;
  memset(w->report, 0, sizeof *w->report);
  w->report->limit = limit;
  w->report->count_blocks = count_blocks;
  w->report->processes = processes;
  for (size_t i = 0; i < w->region_count; i++) drop_cells(&w->regions[i]);
  w->region_count = w->recent = 0;
  w->image = (struct watch_image){NULL, 0, 0}; /* another may come to lie in its place */
  w->time = 1;
  for (size_t i = 0; i < count && i < WATCH_MOST_BUFFERS; i++) {
    struct region *r = &w->regions[w->region_count++];
    const uintptr_t start = (uintptr_t)buffers[i].start;
    *r = (struct region){.start = start,
                         .end = start + buffers[i].bytes,
                         .low = start - ZONE,
                         .high = start + buffers[i].bytes + ZONE,
                         .element = buffers[i].element,
                         .read_only = buffers[i].read_only,
                         .unwritten = buffers[i].unwritten};
    memcpy(r->name, buffers[i].name, strnlen(buffers[i].name, WATCH_NAME - 1));
    int status = make_cells(r, err);
    if (status) return status;
  }
  return CUGEN_OK;
}

/* ---- Findings ---- */

static uint64_t site_of(const struct watch *w, const void *site) {
  return site ? (uintptr_t)site - w->launch.image->base : 0;
}

static void set_place(const struct watch *w, struct watch_place *place, uint64_t site, uint64_t block,
                      unsigned thread) {
  const struct cpu_dim3 *grid = &w->launch.grid, *size = &w->launch.block;
  place->site = site;
  place->block[0] = (uint32_t)(block % grid->x);
  place->block[1] = (uint32_t)(block / grid->x % grid->y);
  place->block[2] = (uint32_t)(block / grid->x / grid->y);
  place->thread[0] = thread % size->x;
  place->thread[1] = thread / size->x % size->y;
  place->thread[2] = thread / size->x / size->y;
}

/* NULL: it is known already, or there is no room. */
static struct watch_finding *find_finding(struct watch *w, enum watch_kind kind, uint64_t site, uint64_t other_site,
                                          unsigned thread) {
  struct watch_report *report = w->report;
  for (uint32_t i = 0; i < report->finding_count; i++) {
    struct watch_finding *f = &report->findings[i];
    if (f->kind != kind || f->here.site != site || f->other.site != other_site) continue;
    f->count++;
    return NULL;
  }
  if (w->share && kind != WATCH_HANG) share_drop(w->share); /* one process finds it again */
  if (report->finding_count == WATCH_MOST_FINDINGS) {
    report->lost++;
    return NULL;
  }
  struct watch_finding *f = &report->findings[report->finding_count++];
  *f = (struct watch_finding){.kind = kind, .count = 1};
  set_place(w, &f->here, site, w->block, thread);
  f->other.site = other_site;
  return f;
}

static void add_text(struct watch_finding *finding, const char *text) {
  memcpy(finding->text, text, strnlen(text, WATCH_TEXT - 1));
}

void watch_event(struct watch *w, enum watch_kind kind, const void *site, unsigned thread, const void *other_site,
                 unsigned other_thread, const char *text) {
  const uint64_t other = site_of(w, other_site);
  struct watch_finding *f = find_finding(w, kind, site_of(w, site), other, thread);
  if (!f) return;
  if (other) set_place(w, &f->other, other, w->block, other_thread);
  add_text(f, text);
}

/* An access, on its way through the words that it touches. */
struct access {
  struct watch *watch;
  const struct region *region;
  uintptr_t at;
  unsigned bytes, kind, thread;
  uint32_t site;
};

/* In the shared array that the address is in, or the buffer. */
static void describe_place(struct watch *w, const struct region *region, uintptr_t at, struct watch_finding *f) {
  const char *name = region->name;
  uintptr_t start = region->start, end = region->end;
  if (region == &w->shared && w->array_of[(at - start) / WORD]) {
    const struct shared_array *array = &w->arrays[w->array_of[(at - start) / WORD] - 1];
    name = array->name;
    start = array->start;
    end = array->end;
  }
  memcpy(f->array, name, strnlen(name, WATCH_NAME - 1));
  f->shared = region->shared;
  f->offset = (int64_t)(at - start);
  f->bytes = (int64_t)(end - start);
  f->element = region->element;
}

static void add_finding(const struct access *a, enum watch_kind kind, const struct touch *other, uint64_t block) {
  struct watch *w = a->watch;
  struct watch_finding *f = find_finding(w, kind, a->site, other ? other->site : 0, a->thread);
  if (!f) return;
  f->here.write = a->kind & CPU_WRITE;
  f->size = (int)a->bytes;
  describe_place(w, a->region, a->at, f);
  if (!other) return;
  set_place(w, &f->other, other->site, block, other->thread);
  f->other.write = other->kind & CPU_WRITE;
}

/* ---- One word ---- */

/* Whether something orders `then`, of this launch, before what the thread does now. */
static bool ordered(const struct watch *w, const struct touch *then, unsigned thread) {
  if (then->thread == thread || then->time < w->barrier_time) return true;
  const unsigned warp = thread / WARP;
  if (then->thread / WARP != warp) return false;
  if (then->time < w->warp_time[warp]) return true;
  return w->pairs_used[warp] && then->time < w->pairs[warp][then->thread % WARP][thread % WARP];
}

static bool both_atomic(const struct access *a, const struct touch *then) {
  return a->kind & then->kind & CPU_ATOMIC;
}

/* An earlier access, in this launch, of a block before this one. */
static bool of_another_block(const struct watch *w, const struct touch *then) {
  return then->time >= w->launch_time && then->time < w->block_time;
}

static void check_write(const struct access *a, const struct cell *cell, unsigned bytes) {
  const struct watch *w = a->watch;
  const struct touch *then = &cell->write;
  if (!(then->bytes & bytes) || both_atomic(a, then)) return;
  if (then->time >= w->block_time) {
    if (then->kind & CPU_ASYNC)
      add_finding(a, WATCH_IN_FLIGHT, then, w->block);
    else if (!ordered(w, then, a->thread))
      add_finding(a, WATCH_RACE, then, w->block);
  } else if (!a->region->shared && of_another_block(w, then) && (a->kind & CPU_WRITE || !w->fenced)) {
    add_finding(a, WATCH_RACE_BLOCKS, then, cell->block);
  }
}

static void check_reads(const struct access *a, const struct cell *cell, unsigned bytes) {
  const struct watch *w = a->watch;
  for (int i = 0; i < 2; i++) {
    const struct touch *then = &cell->reads[i];
    if (!(then->bytes & bytes) || then->time < w->block_time) continue;
    if (!ordered(w, then, a->thread)) add_finding(a, WATCH_RACE, then, w->block);
  }
}

static void keep_read(const struct watch *w, struct cell *cell, const struct touch *now) {
  struct touch *last = &cell->reads[0], *other = &cell->reads[1];
  if (last->thread == now->thread && last->time == now->time) {
    last->bytes |= now->bytes;
    last->site = now->site;
    return;
  }
  const bool matters = last->time >= w->barrier_time && last->thread != now->thread;
  const bool better = other->time < w->barrier_time || other->thread / WARP == now->thread / WARP;
  if (matters && (better || last->thread / WARP != now->thread / WARP)) *other = *last;
  *last = *now;
}

static void keep_write(const struct access *a, struct cell *cell, const struct touch *now) {
  const struct watch *w = a->watch;
  if (a->region->shared && cell->write.time < w->block_time) cell->written = 0;
  const bool more = cell->write.thread == now->thread && cell->write.time == now->time;
  const unsigned bytes = more ? cell->write.bytes : 0;
  cell->write = *now;
  cell->write.bytes |= (uint8_t)bytes;
  cell->written |= now->bytes;
  cell->block = (uint32_t)w->block;
}

static void check_written(const struct access *a, const struct cell *cell, unsigned bytes) {
  const bool here = !a->region->shared || cell->write.time >= a->watch->block_time;
  if (!a->region->unwritten || ((here ? cell->written : 0u) & bytes) == bytes) return;
  add_finding(a, WATCH_UNWRITTEN, NULL, 0);
}

static void visit(const struct access *a, struct cell *cell, unsigned bytes) {
  const struct touch now = {.time = a->watch->time,
                            .site = a->site,
                            .thread = (uint16_t)a->thread,
                            .bytes = (uint8_t)bytes,
                            .kind = (uint8_t)a->kind};
  check_write(a, cell, bytes);
  if (!(a->kind & CPU_WRITE)) {
    check_written(a, cell, bytes);
    keep_read(a->watch, cell, &now);
    return;
  }
  check_reads(a, cell, bytes);
  keep_write(a, cell, &now);
}

static void visit_words(const struct access *a) {
  const uintptr_t offset = a->at - a->region->start, end = offset + a->bytes;
  if (a->watch->share && !a->region->shared)
    share_claim(a->watch->share, (size_t)(a->region - a->watch->regions), offset, a->bytes, a->kind & CPU_WRITE);
  for (uintptr_t word = offset / WORD; word * WORD < end; word++) {
    const unsigned whole = WHOLE_WORD;
    unsigned bytes = whole;
    if (word * WORD < offset) bytes &= whole << (unsigned)(offset - word * WORD);
    if (word * WORD + WORD > end) bytes &= whole >> (unsigned)(word * WORD + WORD - end);
    visit(a, &a->region->cells[word], bytes & whole);
  }
}

/* ---- Where an address lies ---- */

/* A buffer's places count from its first byte, as on a GPU, where it is aligned; here its end is. */
static void count(const struct access *a, const char *array) {
  const uintptr_t at = a->region->shared ? a->at : a->at - a->region->start;
  const bool engine = a->kind & CPU_ASYNC && a->bytes > 16; /* no warp's request */
  if (!a->watch->counting || a->kind & CPU_ATOMIC || engine) return;
  for (unsigned done = 0; done < a->bytes; done += 16) {
    const unsigned bytes = a->bytes - done < 16 ? a->bytes - done : 16;
    traffic_note(a->watch->traffic, a->thread, a->site, array, a->region->shared, at + done, bytes, a->kind);
  }
}

enum { MOST_ARRAYS = 255 };

static bool is_gap(const struct shared_array *array) {
  return !array->name[0];
}

/* The array that an address in a gap, or past an end, is nearest to. */
static const struct shared_array *nearest_array(const struct watch *w, uintptr_t at) {
  const struct shared_array *nearest = NULL;
  uintptr_t distance = UINTPTR_MAX;
  for (size_t i = 0; i < w->array_count; i++) {
    const struct shared_array *array = &w->arrays[i];
    const uintptr_t away = at < array->start ? array->start - at : at < array->end ? 0 : at - array->end;
    if (is_gap(array) || away >= distance) continue;
    nearest = array;
    distance = away;
  }
  return nearest;
}

static void leave_array(const struct access *a) {
  struct watch *w = a->watch;
  const struct shared_array *array = nearest_array(w, a->at);
  struct watch_finding *f = array ? find_finding(w, WATCH_BOUNDS, a->site, 0, a->thread) : NULL;
  if (!f) return;
  f->here.write = a->kind & CPU_WRITE;
  f->size = (int)a->bytes;
  f->shared = true;
  memcpy(f->array, array->name, sizeof f->array);
  f->offset = (int64_t)(a->at - array->start);
  f->bytes = (int64_t)(array->end - array->start);
}

static void access_static(struct access *a) {
  struct watch *w = a->watch;
  const uint8_t number = w->array_of[(a->at - w->shared.start) / WORD];
  const struct shared_array *array = number ? &w->arrays[number - 1] : NULL;
  if (!array) return;
  if (is_gap(array) || a->at + a->bytes > array->end) {
    leave_array(a);
    return;
  }
  a->region = &w->shared;
  visit_words(a);
  count(a, array->name);
}

static void access_dynamic(struct access *a) {
  struct watch *w = a->watch;
  a->region = &w->dynamic;
  if (a->at + a->bytes <= w->dynamic.end) {
    visit_words(a);
    count(a, w->dynamic.name);
    return;
  }
  add_finding(a, WATCH_BOUNDS, NULL, 0);
}

static struct region *find_region(struct watch *w, uintptr_t at) {
  const struct region *recent = &w->regions[w->recent];
  if (w->region_count && at - recent->start < recent->end - recent->start) return &w->regions[w->recent];
  size_t found = w->region_count;
  for (size_t i = 0; i < w->region_count; i++) {
    const struct region *r = &w->regions[i];
    if (at >= r->start && at < r->end) {
      w->recent = i;
      return &w->regions[i];
    }
    if (at >= r->low && at < r->high) found = i;
  }
  return found < w->region_count ? &w->regions[found] : NULL;
}

/* Blocks run in turn from here on. */
static void entangle(struct watch *w) {
  w->entangled = true;
  if (w->share) share_drop(w->share);
}

static void access_global(struct access *a) {
  struct watch *w = a->watch;
  struct region *region = find_region(w, a->at);
  if (a->kind & CPU_ATOMIC || (!region && a->kind & CPU_WRITE)) entangle(w);
  if (!region) return;
  a->region = region;
  if (a->at < region->start || a->at + a->bytes > region->end) {
    add_finding(a, WATCH_BOUNDS, NULL, 0);
    return;
  }
  if (!region->read_only)
    visit_words(a);
  else if (a->kind & CPU_WRITE)
    add_finding(a, WATCH_INPUT, NULL, 0);
  count(a, region->name);
}

/* ---- Hooks ---- */

static void on_access(const void *at, unsigned long bytes, unsigned kind, const void *site) {
  struct watch *w = watching;
  const uintptr_t address = (uintptr_t)at;
  if (!w || address - w->launch.stacks < w->launch.stack_bytes) return; /* no launch: it says what it takes */
  if (!site) site = __builtin_return_address(0);
  struct access a = {.watch = w,
                     .at = address,
                     .bytes = (unsigned)bytes,
                     .kind = kind,
                     .thread = w->launch.builtins->linear,
                     .site = (uint32_t)site_of(w, site)};
  w->last_site = a.site;
  if (address - w->shared.start < w->shared.end - w->shared.start)
    access_static(&a);
  else if (address - w->dynamic.start < w->launch.dynamic_room)
    access_dynamic(&a);
  else
    access_global(&a);
}

static struct cell *cell_at(struct watch *w, uintptr_t at) {
  const struct region *r = at - w->shared.start < w->shared.end - w->shared.start ? &w->shared : &w->dynamic;
  if (at - r->start >= r->end - r->start) return NULL;
  return &r->cells[(at - r->start) / WORD];
}

static void on_arrived(const void *at, unsigned long bytes, const void *site) {
  struct watch *w = watching;
  for (unsigned long done = 0; done < bytes; done += WORD) {
    struct cell *cell = cell_at(w, (uintptr_t)at + done);
    if (!cell || !(cell->write.kind & CPU_ASYNC)) continue;
    cell->write.kind &= (uint8_t)~CPU_ASYNC;
    cell->write.time = w->time;
  }
  (void)site;
}

static void on_index(const char *type, long long index, const void *site) {
  struct watch *w = watching;
  struct watch_finding *f = find_finding(w, WATCH_INDEX, site_of(w, site), 0, w->launch.builtins->linear);
  if (!f) return;
  f->offset = index;
  add_text(f, type);
}

static void on_fence(void) {
  watching->fenced = true;
}

const struct cpu_watch *watch_hooks(void) {
  static const struct cpu_watch hooks = {on_access, on_arrived, on_index, on_fence};
  return &hooks;
}

/* ---- A launch ---- */

static void map_arrays(struct watch *w) {
  for (size_t i = 0; i < w->array_count; i++) {
    const uintptr_t start = w->arrays[i].start - w->shared.start, end = w->arrays[i].end - w->shared.start;
    const uintptr_t first = (start + (is_gap(&w->arrays[i]) ? WORD - 1 : 0)) / WORD, last = (end + WORD - 1) / WORD;
    if (first < last)
      memset(w->array_of + first, (int)(i + 1), last - first); /* a word is its array's, not the gap's */
  }
}

static int take_image(struct watch *w, const struct watch_image *image, cugen_error *err) {
  if (w->image.bytes == image->bytes && w->image.base == image->base) return CUGEN_OK;
  free(w->arrays);
  free(w->array_of);
  drop_cells(&w->shared);
  w->array_of = NULL;
  w->arrays = NULL;
  w->image = *image;
  int status = arrays_read(image->bytes, image->length, image->base, &w->arrays, &w->array_count, err);
  if (status || !w->array_count) return status;
  if (w->array_count > MOST_ARRAYS) w->array_count = MOST_ARRAYS;
  const uintptr_t start = w->arrays[0].start / WORD * WORD;
  w->shared =
      (struct region){.start = start, .end = w->arrays[w->array_count - 1].end, .shared = true, .unwritten = true};
  w->array_of = calloc((w->shared.end - start) / WORD + 2, 1);
  if (!w->array_of) return error_memory(err);
  map_arrays(w);
  return make_cells(&w->shared, err);
}

static int take_dynamic(struct watch *w, cugen_error *err) {
  drop_cells(&w->dynamic);
  w->dynamic = (struct region){.start = w->launch.dynamic,
                               .end = w->launch.dynamic + w->launch.dynamic_bytes,
                               .shared = true,
                               .unwritten = true,
                               .name = "dynamic shared memory"};
  return make_cells(&w->dynamic, err);
}

static uint64_t divisor(uint64_t a, uint64_t b) {
  return b ? divisor(b, a % b) : a;
}

/* Each of how many blocks, for so many of all; so that they come from all rows and columns of the grid. */
static uint64_t evenly(const struct watch *w, uint64_t wanted) {
  uint64_t step = w->blocks > wanted ? w->blocks / wanted : 1;
  while (step > 1 && (divisor(step, w->launch.grid.x) > 1 || divisor(step, w->launch.grid.y) > 1)) step++;
  return step;
}

int watch_begin(struct watch *w, const struct watch_launch *launch, cugen_error *err) {
  w->launch = *launch;
  int status = take_image(w, launch->image, err);
  if (!status) status = take_dynamic(w, err);
  if (status) return status;
  struct watch_report *report = w->report;
  const uint32_t slot = report->launch_count < KERNEL_MAX_LAUNCHES ? report->launch_count++ : KERNEL_MAX_LAUNCHES - 1;
  traffic_begin(w->traffic, &report->launches[slot]);
  w->blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z;
  report->launches[slot].blocks = (double)w->blocks;
  w->every = evenly(w, COUNTED_BLOCKS);
  w->fenced = w->entangled = false;
  w->began = clock();
  w->launch_time = ++w->time;
  memset(w->warp_time, 0, sizeof w->warp_time);
  memset(w->pairs, 0, sizeof w->pairs);
  memset(w->pairs_used, 0, sizeof w->pairs_used);
  watching = w;
  return CUGEN_OK;
}

static void all_met(struct watch *w) {
  const unsigned threads = w->launch.block.x * w->launch.block.y * w->launch.block.z;
  for (unsigned warp = 0; warp * WARP < threads; warp++) traffic_met(w->traffic, warp);
}

void watch_end(struct watch *w) {
  if (w->counting) all_met(w);
  w->counting = false;
  traffic_end(w->traffic);
  watching = NULL;
}

double watch_limit(const struct watch *w) {
  return w->report->limit;
}

void watch_block_begins(struct watch *w) {
  const struct cpu_dim3 *at = &w->launch.builtins->block, *grid = &w->launch.grid;
  if (w->counting) all_met(w);
  w->block = at->x + (uint64_t)grid->x * (at->y + (uint64_t)grid->y * at->z);
  w->block_time = w->barrier_time = ++w->time;
  w->counting = w->report->count_blocks || w->block % w->every == 0;
  w->report->launches[w->report->launch_count - 1].counted += w->counting;
}

void watch_barrier(struct watch *w, unsigned rank) {
  (void)rank;
  w->barrier_time = ++w->time;
  if (!w->counting) return;
  all_met(w);
  w->report->launches[w->report->launch_count - 1].barriers++;
}

void watch_warp(struct watch *w, unsigned warp, unsigned lanes, bool all, bool orders) {
  w->time++;
  if (w->counting && all) traffic_met(w->traffic, warp);
  if (!orders) return;
  if (all) {
    w->warp_time[warp] = w->time;
    return;
  }
  w->pairs_used[warp] = true;
  for (unsigned left = lanes; left; left &= left - 1)
    for (unsigned others = lanes; others; others &= others - 1)
      w->pairs[warp][__builtin_ctz(left)][__builtin_ctz(others)] = w->time;
}

/* ---- The next block ---- */

/* Processes cost some milliseconds: what is left must take longer. */
static bool worth_spreading(const struct watch *w, uint64_t next) {
  static const double pays = 0.06;
  if (w->entangled || w->fenced || w->report->processes < 2) return false;
  const double spent = (double)(clock() - w->began) / CLOCKS_PER_SEC;
  return spent > pays / 6 && spent * (double)(w->blocks - next) / (double)next > pays;
}

static struct launch_counters *current_counters(const struct watch *w) {
  return &w->report->launches[w->report->launch_count - 1];
}

static void become_process(struct watch *w) {
  struct watch_report *own = share_report(w->share);
  *own = *w->report;
  w->report = own;
  traffic_move(w->traffic, current_counters(w));
}

static uint64_t next_in_process(struct watch *w) {
  const uint64_t next = share_next(w->share);
  if (next < w->blocks) return next;
  if (w->counting) all_met(w);
  share_end(w->share);
}

/* What the processes have written is written for the launches that follow. */
static void take_written(struct watch *w, const struct share *share) {
  for (size_t i = 0; i < w->region_count; i++)
    for (uintptr_t at = 0; at < w->regions[i].end - w->regions[i].start; at++)
      if (share_written(share, i, at)) w->regions[i].cells[at / WORD].written |= (uint8_t)(1u << at % WORD);
}

static uint64_t take_results(struct watch *w, const struct share *share) {
  const struct watch_report *report;
  const uint32_t slot = w->report->launch_count - 1;
  for (size_t i = 0; (report = share_result(share, i)) != NULL; i++)
    traffic_add(current_counters(w), &report->launches[slot]);
  take_written(w, share);
  w->report->spread++;
  return w->blocks;
}

static uint64_t take_hang(struct watch *w, const struct share *share) {
  const struct watch_report *report;
  for (size_t i = 0; (report = share_result(share, i)) != NULL; i++)
    for (uint32_t f = 0; f < report->finding_count; f++)
      if (report->findings[f].kind == WATCH_HANG) *w->report = *report;
  return WATCH_HUNG;
}

static uint64_t spread(struct watch *w, uint64_t next, uint64_t step) {
  struct share_memory memory[WATCH_MOST_BUFFERS];
  for (size_t i = 0; i < w->region_count; i++) {
    const struct region *r = &w->regions[i];
    memory[i] = (struct share_memory){(void *)r->start, r->read_only ? 0 : r->end - r->start};
  }
  if (w->counting) all_met(w);
  w->entangled = true; /* once is enough */
  const int processes = (int)w->report->processes;
  const enum share_outcome outcome = share_run(memory, w->region_count, processes, next, w->blocks, step, &w->share);
  struct share *share = w->share;
  if (outcome == SHARE_CHILD) {
    become_process(w);
    return next_in_process(w);
  }
  w->share = NULL;
  if (outcome == SHARE_DONE) next = take_results(w, share);
  if (outcome == SHARE_HANG) next = take_hang(w, share);
  share_close(share);
  return next;
}

uint64_t watch_next(struct watch *w) {
  const uint64_t wanted = w->report->count_blocks;
  const uint64_t step = wanted ? evenly(w, wanted) : 1;
  if (w->share) return next_in_process(w);
  const uint64_t next = w->block + step;
  if (next >= w->blocks) return w->blocks;
  return worth_spreading(w, next) ? spread(w, next, step) : next;
}

const void *watch_standing(const struct watch *w, const void *program_counter) {
  const uintptr_t base = w->launch.image->base;
  const bool inside = (uintptr_t)program_counter - base < w->launch.image->length;
  return inside ? program_counter : (const void *)(base + w->last_site);
}
