/* Shadow memory: for each word who wrote and who read it last; see watch.h. */
#include "watch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "arrays.h"
#include "flags.h"
#include "share.h"
#include "traffic.h"
#include "waits.h"

enum {
  WARP = 32,
  MOST_BLOCKS = ORDER_BLOCKS,
  MOST_THREADS = ORDER_THREADS,
  MOST_REGISTERS = 16,
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
  struct touch atomic;          /* the last atomic operation: it does not hide the write before */
  uint32_t flag;                /* of flags.h */
  uint8_t written;              /* bytes; of shared memory in this block */
};

struct region {
  char name[WATCH_NAME];
  uintptr_t start, end, low, high; /* low to high: nothing else lies there */
  struct cell *cells;
  size_t cell_bytes;
  int element;
  bool shared, read_only, unwritten;
  bool arrays; /* static shared memory */
};

/* A thread's sums that products are added to. */
struct registers {
  uintptr_t start, end; /* 0: none */
  uint32_t site, thread;
  bool in_flight, touched; /* touched: by the thread, since its last wgmma.fence */
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
  /* Of each block of a cluster: all static arrays as one; the dynamic array. */
  struct region shared[MOST_BLOCKS], dynamic[MOST_BLOCKS];
  uint8_t *array_of; /* for each word of static shared memory: its array or gap, from 1; 0: none */

  /* One launch. */
  struct watch_launch launch;
  struct order order;
  struct flags *flags;
  uint32_t fence_time[MOST_THREADS];             /* of the last fence.proxy.async */
  struct registers (*registers)[MOST_REGISTERS]; /* of each thread; NULL: none are known */
  uint32_t last_site;                            /* where the last access was, and of what */
  uintptr_t last_at;
  unsigned last_kind;
  bool products_fenced[MOST_THREADS]; /* the thread has come to a wgmma.fence */
  bool fenced;                        /* __threadfence() was called: blocks may order themselves by flags */
  bool counting;                      /* this block's accesses are counted: each of so many, */
  uint64_t every;
  uint64_t block, blocks; /* a cluster counts as one */
  bool entangled;         /* what a block does depends on others, or it was tried in vain: one process runs all */
  struct share *share;    /* in one of several processes */
  clock_t began;          /* time of the processor */
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
  if (!status) status = flags_open(&w->flags, &w->order, err);
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
  for (int i = 0; i < MOST_BLOCKS; i++) drop_cells(&w->shared[i]), drop_cells(&w->dynamic[i]);
  order_close(&w->order);
  flags_close(w->flags);
  free(w->registers);
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
  w->order.time = 1;
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
  const struct cpu_dim3 *grid = &w->launch.grid, *size = &w->launch.block, *cluster = &w->launch.cluster;
  const unsigned rank = thread / w->launch.padded, wide = grid->x / cluster->x, high = grid->y / cluster->y;
  thread %= w->launch.padded;
  place->site = site;
  place->block[0] = (uint32_t)(block % wide) * cluster->x + rank % cluster->x;
  place->block[1] = (uint32_t)(block / wide % high) * cluster->y + rank / cluster->x % cluster->y;
  place->block[2] = (uint32_t)(block / wide / high) * cluster->z + rank / cluster->x / cluster->y;
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
  unsigned bytes, kind, thread, rank; /* rank: of the block whose static shared memory it is */
  uint32_t site;
};

/* In the shared array that the address is in, or the buffer. */
static void describe_place(struct watch *w, const struct region *region, uintptr_t at, struct watch_finding *f) {
  const char *name = region->name;
  uintptr_t start = region->start, end = region->end;
  if (region->arrays && w->array_of[(at - start) / WORD]) {
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

static void add_finding(const struct access *a, enum watch_kind kind, const struct touch *other) {
  struct watch *w = a->watch;
  struct watch_finding *f = find_finding(w, kind, a->site, other ? other->site : 0, a->thread);
  if (!f) return;
  f->here.write = a->kind & CPU_WRITE;
  f->size = (int)a->bytes;
  describe_place(w, a->region, a->at, f);
  if (!other) return;
  const struct begun *begun = order_begun(&w->order, other->time, NULL);
  set_place(w, &f->other, other->site, begun ? begun->block : w->block, other->thread);
  f->other.write = other->kind & CPU_WRITE;
}

void watch_stray(struct watch *w, const void *program_counter, const void *address, bool write) {
  const uint64_t site = site_of(w, watch_standing(w, program_counter));
  struct watch_finding *f = find_finding(w, WATCH_BOUNDS, site, 0, w->launch.builtins->linear);
  if (!f) return;
  f->here.write = write;
  f->offset = (int64_t)(uintptr_t)address;
}

/* ---- One word ---- */

enum { STRONG = CPU_ATOMIC | CPU_VOLATILE };

/* Whether something orders `then`, of this launch, before the access. */
static bool ordered(const struct access *a, const struct touch *then, bool here) {
  const struct watch *w = a->watch;
  const struct moment moment = {then->time, then->thread, then->kind & WATCH_ENGINE};
  if (here && order_before(&w->order, &moment, a->thread)) return true;
  return flags_order(w->flags, &moment, a->thread, a->kind & STRONG);
}

/* Accesses that may come at once: atomic operations, and volatile ones of other blocks or on what is used as a flag. */
static bool may_meet(const struct access *a, const struct cell *cell, const struct touch *then, bool here) {
  if (a->kind & then->kind & CPU_ATOMIC) return true;
  return a->kind & STRONG && then->kind & STRONG && (!here || flags_is_flag(a->watch->flags, cell->flag));
}

static void check_last(const struct access *a, const struct cell *cell, const struct touch *then, unsigned bytes) {
  const struct order *order = &a->watch->order;
  const bool here = then->time >= order->block_time, launch = here || then->time >= order->launch_time;
  if (!(then->bytes & bytes) || !launch || (!here && a->region->shared) || may_meet(a, cell, then, here)) return;
  if (here && then->kind & CPU_ASYNC)
    add_finding(a, WATCH_IN_FLIGHT, then);
  else if (!ordered(a, then, here))
    add_finding(a, here ? WATCH_RACE : WATCH_RACE_BLOCKS, then);
}

static void check_write(const struct access *a, const struct cell *cell, unsigned bytes) {
  check_last(a, cell, &cell->write, bytes);
  check_last(a, cell, &cell->atomic, bytes);
}

static void check_reads(const struct access *a, const struct cell *cell, unsigned bytes) {
  for (int i = 0; i < 2; i++) {
    struct touch then = cell->reads[i];
    if (!(then.kind & WATCH_PROXY)) then.kind &= (uint8_t)~CPU_ASYNC; /* not in flight for long: it is in registers */
    check_last(a, cell, &then, bytes);
  }
}

static void keep_read(const struct watch *w, struct cell *cell, const struct touch *now) {
  const uint32_t barrier_time = w->order.barrier_time[now->thread / w->launch.padded];
  struct touch *last = &cell->reads[0], *other = &cell->reads[1];
  if (last->thread == now->thread && last->time == now->time) {
    last->bytes |= now->bytes;
    last->site = now->site;
    return;
  }
  const bool matters = last->time >= barrier_time && last->thread != now->thread;
  const bool better = other->time < barrier_time || other->thread / WARP == now->thread / WARP;
  if (matters && (better || last->thread / WARP != now->thread / WARP)) *other = *last;
  *last = *now;
}

static uint32_t last_written(const struct cell *cell) {
  return cell->write.time > cell->atomic.time ? cell->write.time : cell->atomic.time;
}

static void keep_write(const struct access *a, struct cell *cell, const struct touch *now) {
  const struct watch *w = a->watch;
  if (!(now->kind & STRONG)) cell->flag = 0;
  if (!a->region->shared && !(now->kind & STRONG)) flags_written(w->flags, a->thread);
  struct touch *last = now->kind & CPU_ATOMIC ? &cell->atomic : &cell->write;
  if (a->region->shared && last_written(cell) < w->order.block_time) cell->written = 0, cell->flag = 0;
  const bool more = last->thread == now->thread && last->time == now->time;
  const unsigned bytes = more ? last->bytes : 0;
  *last = *now;
  last->bytes |= (uint8_t)bytes;
  cell->written |= now->bytes;
}

/* Where more is read than a word, which may be a struct that is copied, the bytes of a word that nobody has written are taken
   for padding. */
static void check_written(const struct access *a, const struct cell *cell, unsigned bytes) {
  const bool here = !a->region->shared || last_written(cell) >= a->watch->order.block_time;
  const unsigned written = here ? cell->written & bytes : 0;
  if (!a->region->unwritten || written == bytes || (written && a->bytes > WORD)) return;
  add_finding(a, WATCH_UNWRITTEN, NULL);
}

/* The copy engine and the tensor cores do not see what threads wrote without a fence: by the one who wrote, or the one who
   asks. */
static void check_fence(const struct access *a, const struct touch *then, unsigned bytes) {
  const struct watch *w = a->watch;
  if (!(a->kind & WATCH_PROXY) || !a->region->shared || !(then->bytes & bytes) || then->time < w->order.block_time)
    return;
  if (then->kind & (WATCH_PROXY | WATCH_ENGINE)) return;
  if (w->fence_time[then->thread] < then->time && w->fence_time[a->thread] < then->time)
    add_finding(a, WATCH_FENCE, then);
}

static void visit(const struct access *a, struct cell *cell, unsigned bytes) {
  const struct touch now = {.time = a->watch->order.time,
                            .site = a->site,
                            .thread = (uint16_t)a->thread,
                            .bytes = (uint8_t)bytes,
                            .kind = (uint8_t)a->kind};
  check_write(a, cell, bytes);
  check_fence(a, &cell->write, bytes);
  check_fence(a, &cell->atomic, bytes);
  if (!(a->kind & CPU_WRITE)) {
    check_written(a, cell, bytes);
    keep_read(a->watch, cell, &now);
    return;
  }
  check_reads(a, cell, bytes);
  keep_write(a, cell, &now);
}

/* As a flag, if it is used as one. */
static void use_flag(const struct access *a, struct cell *cell) {
  const int write = a->kind & CPU_WRITE ? FLAGS_WRITE : 0, read = write && !(a->kind & CPU_ATOMIC) ? 0 : FLAGS_READ;
  if (a->kind & STRONG) flags_use(a->watch->flags, a->thread, &cell->flag, write | read);
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
  use_flag(a, &a->region->cells[offset / WORD]);
}

/* ---- Where an address lies ---- */

/* A buffer's places count from its first byte, as on a GPU, where it is aligned; here its end is. */
static void count(const struct access *a, const char *array) {
  const uintptr_t at = a->region->shared ? a->at : a->at - a->region->start;
  const bool engine = a->kind & WATCH_PROXY || (a->kind & CPU_ASYNC && a->bytes > 16); /* no warp's request */
  const bool first = a->thread < a->watch->launch.padded; /* of a cluster's blocks the first stands for all */
  if (!a->watch->counting || !first || a->kind & CPU_ATOMIC || engine) return;
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
  struct region *shared = &w->shared[a->rank];
  const uint8_t number = w->array_of[(a->at - shared->start) / WORD];
  const struct shared_array *array = number ? &w->arrays[number - 1] : NULL;
  if (!array) return;
  if (is_gap(array) || a->at + a->bytes > array->end) {
    leave_array(a);
    return;
  }
  a->region = shared;
  visit_words(a);
  count(a, array->name);
}

static void access_dynamic(struct access *a) {
  struct watch *w = a->watch;
  struct region *dynamic = &w->dynamic[(a->at - w->launch.dynamic) / w->launch.dynamic_room];
  a->region = dynamic;
  if (a->at + a->bytes <= dynamic->end) {
    visit_words(a);
    count(a, dynamic->name);
    return;
  }
  add_finding(a, WATCH_BOUNDS, NULL);
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
    add_finding(a, WATCH_BOUNDS, NULL);
    return;
  }
  if (!region->read_only)
    visit_words(a);
  else if (a->kind & CPU_WRITE)
    add_finding(a, WATCH_INPUT, NULL);
  count(a, region->name);
}

/* ---- Hooks ---- */

static unsigned current_thread(const struct watch *w) {
  return w->launch.builtins->cluster_rank * w->launch.padded + w->launch.builtins->linear;
}

/* Of a thread's own stack: whether sums lie there that products are added to. */
static void touch_registers(struct watch *w, uintptr_t at, const void *site) {
  if (!w->registers) return;
  struct registers *all = w->registers[current_thread(w)];
  for (int i = 0; i < MOST_REGISTERS && all[i].start; i++) {
    if (at < all[i].start || at >= all[i].end) continue;
    all[i].touched = true;
    if (!all[i].in_flight) continue;
    struct watch_finding *f = find_finding(w, WATCH_SUMS, site_of(w, site), all[i].site, current_thread(w));
    if (f) set_place(w, &f->other, all[i].site, w->block, current_thread(w));
  }
}

static void visit_place(struct access *a) {
  struct watch *w = a->watch;
  const struct region *shared = &w->shared[0];
  if (a->at - shared->start < shared->end - shared->start)
    access_static(a);
  else if (a->at - w->launch.dynamic < w->launch.blocks * w->launch.dynamic_room)
    access_dynamic(a);
  else
    access_global(a);
}

/* ---- Places that are no multiple of what the access needs ---- */

/* Of one access of the type's own width. A compiler that calls one of 16 bytes knows of a multiple of 8 (gcc, tsan.cc,
   instrument_expr). Copies that go on by themselves need 16, or their width. */
static unsigned needed_multiple(const struct access *a, bool noted) {
  if (a->kind & CPU_PACKED || !a->bytes) return 1;
  if (a->bytes > 16) return noted && a->kind & CPU_ASYNC ? 16 : 1;
  if (a->bytes & (a->bytes - 1)) return 1;
  return a->bytes == 16 && !noted ? 8 : a->bytes;
}

/* NULL: it is not watched, such as what a thread has of its own. */
static const struct region *region_of(struct watch *w, uintptr_t at) {
  const struct region *shared = &w->shared[0];
  if (at - shared->start < shared->end - shared->start) return shared;
  if (at - w->launch.dynamic < w->launch.blocks * w->launch.dynamic_room)
    return &w->dynamic[(at - w->launch.dynamic) / w->launch.dynamic_room];
  return find_region(w, at);
}

/* False: the place is not watched. */
static bool add_misaligned(const struct access *a, unsigned multiple, const char *type) {
  const struct region *region = region_of(a->watch, a->at);
  struct watch_finding *f = region ? find_finding(a->watch, WATCH_ALIGN, a->site, 0, a->thread) : NULL;
  if (!f) return region;
  f->here.write = a->kind & CPU_WRITE;
  f->size = (int)multiple;
  describe_place(a->watch, region, a->at, f);
  snprintf(f->text, sizeof f->text, "%u bytes past a multiple of %u, which %s needs", (unsigned)(a->at % multiple),
           multiple, *type ? type : "an access of that width");
  return true;
}

/* A GPU ends the launch. So does this: the host's processor may, too, at the very access. */
static void refuse_place(const struct access *a, unsigned multiple, const char *type) {
  if (add_misaligned(a, multiple, type)) fibers_give_up("misaligned access");
}

void watch_misplaced(struct watch *w, const void *program_counter) {
  enum { WIDE = 16 };
  const struct access last = {.watch = w,
                              .at = w->last_at,
                              .bytes = WIDE,
                              .kind = w->last_kind,
                              .thread = current_thread(w),
                              .site = w->last_site};
  if (w->last_at % WIDE && add_misaligned(&last, WIDE, "")) return;
  watch_event(w, WATCH_TRAP, watch_standing(w, program_counter), last.thread, NULL, 0, "misaligned access");
}

static void on_access(const void *at, unsigned long bytes, unsigned kind, const void *site) {
  struct watch *w = watching;
  const uintptr_t address = (uintptr_t)at;
  if (!w) return; /* no launch: it says what it takes */
  const bool noted = !site;
  if (noted) site = __builtin_return_address(0);
  if (address - w->launch.stacks < w->launch.stack_bytes) {
    touch_registers(w, address, site);
    return;
  }
  struct access a = {.watch = w,
                     .at = address,
                     .bytes = (unsigned)bytes,
                     .kind = kind,
                     .thread = current_thread(w),
                     .rank = w->launch.builtins->cluster_rank,
                     .site = (uint32_t)site_of(w, site)};
  w->last_site = a.site;
  w->last_at = address;
  w->last_kind = kind;
  const unsigned multiple = needed_multiple(&a, noted);
  if (address % multiple) refuse_place(&a, multiple, "");
  visit_place(&a);
}

static void on_misaligned(const char *type, const void *at, unsigned long multiple, unsigned kind, const void *site) {
  struct watch *w = watching;
  const struct access a = {.watch = w,
                           .at = (uintptr_t)at,
                           .bytes = (unsigned)multiple,
                           .kind = kind,
                           .thread = current_thread(w),
                           .site = (uint32_t)site_of(w, site)};
  refuse_place(&a, (unsigned)multiple, type);
}

static struct cell *cell_at(struct watch *w, uintptr_t at) {
  const struct region *r = &w->shared[w->launch.builtins->cluster_rank];
  if (at - r->start >= r->end - r->start) {
    const size_t rank = (at - w->launch.dynamic) / w->launch.dynamic_room;
    if (at < w->launch.dynamic || rank >= w->launch.blocks) return NULL;
    r = &w->dynamic[rank];
  }
  if (at - r->start >= r->end - r->start) return NULL;
  return &r->cells[(at - r->start) / WORD];
}

static void on_arrived(const void *at, unsigned long bytes, const void *site) {
  struct watch *w = watching;
  for (unsigned long done = 0; done < bytes; done += WORD) {
    struct cell *cell = cell_at(w, (uintptr_t)at + done);
    if (!cell || !(cell->write.kind & CPU_ASYNC)) continue;
    cell->write.kind &= (uint8_t)~CPU_ASYNC;
    cell->write.time = w->order.time;
  }
  (void)site;
}

static void on_index(const char *type, long long index, const void *site) {
  struct watch *w = watching;
  struct watch_finding *f = find_finding(w, WATCH_INDEX, site_of(w, site), 0, current_thread(w));
  if (!f) return;
  f->offset = index;
  add_text(f, type);
}

static void on_fence(int device) {
  struct watch *w = watching;
  w->fenced |= device;
  flags_fence(w->flags, current_thread(w), device);
}

static void on_lane(unsigned mask, unsigned lane) {
  char text[WATCH_TEXT];
  struct watch *w = watching;
  snprintf(text, sizeof text, "reads lane %u, which mask 0x%08x does not name: what it gets is undefined", lane,
           mask);
  watch_event(w, WATCH_MASK, __builtin_return_address(0), current_thread(w), NULL, 0, text);
}

const struct cpu_watch *watch_hooks(void) {
  static const struct cpu_watch hooks = {on_access, on_arrived, on_index, on_fence, on_misaligned, on_lane};
  return &hooks;
}

/* ---- A launch ---- */

static void map_arrays(struct watch *w) {
  for (size_t i = 0; i < w->array_count; i++) {
    const uintptr_t start = w->arrays[i].start - w->shared[0].start, end = w->arrays[i].end - w->shared[0].start;
    const uintptr_t first = (start + (is_gap(&w->arrays[i]) ? WORD - 1 : 0)) / WORD, last = (end + WORD - 1) / WORD;
    if (first < last)
      memset(w->array_of + first, (int)(i + 1), last - first); /* a word is its array's, not the gap's */
  }
}

static int make_shared(struct watch *w, cugen_error *err) {
  const uintptr_t start = w->arrays[0].start / WORD * WORD, end = w->arrays[w->array_count - 1].end;
  int status = CUGEN_OK;
  for (int i = 0; i < MOST_BLOCKS && !status; i++) {
    w->shared[i] = (struct region){.start = start, .end = end, .shared = true, .unwritten = true, .arrays = true};
    status = make_cells(&w->shared[i], err);
  }
  return status;
}

static int take_image(struct watch *w, const struct watch_image *image, cugen_error *err) {
  if (w->image.bytes == image->bytes && w->image.base == image->base) return CUGEN_OK;
  free(w->arrays);
  free(w->array_of);
  for (int i = 0; i < MOST_BLOCKS; i++) drop_cells(&w->shared[i]);
  w->array_of = NULL;
  w->arrays = NULL;
  w->image = *image;
  int status = arrays_read(image->bytes, image->length, image->base, &w->arrays, &w->array_count, err);
  if (status || !w->array_count) return status;
  if (w->array_count > MOST_ARRAYS) w->array_count = MOST_ARRAYS;
  status = make_shared(w, err);
  if (status) return status;
  w->array_of = calloc((w->shared[0].end - w->shared[0].start) / WORD + 2, 1);
  if (!w->array_of) return error_memory(err);
  map_arrays(w);
  return CUGEN_OK;
}

static int take_dynamic(struct watch *w, cugen_error *err) {
  int status = CUGEN_OK;
  for (int i = 0; i < MOST_BLOCKS; i++) drop_cells(&w->dynamic[i]);
  for (unsigned i = 0; i < w->launch.blocks && !status; i++) {
    const uintptr_t start = w->launch.dynamic + i * w->launch.dynamic_room;
    w->dynamic[i] = (struct region){.start = start,
                                    .end = start + w->launch.dynamic_bytes,
                                    .shared = true,
                                    .unwritten = true,
                                    .name = "dynamic shared memory"};
    status = make_cells(&w->dynamic[i], err);
  }
  return status;
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
  w->blocks = (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z / launch->blocks;
  report->launches[slot].blocks = (double)w->blocks * launch->blocks;
  order_launch(&w->order, launch->blocks, launch->padded);
  flags_launch(w->flags);
  w->every = evenly(w, COUNTED_BLOCKS);
  w->fenced = w->entangled = false;
  w->began = clock();
  watching = w;
  return CUGEN_OK;
}

static void all_met(struct watch *w) {
  for (unsigned warp = 0; warp * WARP < w->launch.padded; warp++) traffic_met(w->traffic, warp);
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
  const struct cpu_dim3 *at = &w->launch.builtins->block, *grid = &w->launch.grid, *cluster = &w->launch.cluster;
  const uint64_t wide = grid->x / cluster->x, high = grid->y / cluster->y;
  if (w->counting) all_met(w);
  w->block = at->x / cluster->x + wide * (at->y / cluster->y + high * (at->z / cluster->z));
  order_block(&w->order, w->block);
  flags_block(w->flags);
  memset(w->products_fenced, 0, sizeof w->products_fenced);
  if (w->registers) memset(w->registers, 0, w->launch.blocks * w->launch.padded * sizeof *w->registers);
  w->counting = w->report->count_blocks || w->block % w->every == 0;
  w->report->launches[w->report->launch_count - 1].counted += w->counting;
}

void watch_barrier(struct watch *w, unsigned rank) {
  order_barrier(&w->order, rank);
  flags_barrier(w->flags, rank);
  if (!w->counting || rank) return;
  all_met(w);
  w->report->launches[w->report->launch_count - 1].barriers++;
}

void watch_warp(struct watch *w, unsigned warp, unsigned lanes, bool all, bool orders) {
  if (w->counting && all && warp * WARP < w->launch.padded) traffic_met(w->traffic, warp);
  if (orders) order_lanes(&w->order, warp, lanes, all);
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
                     .site = (uint32_t)site_of(w, touch->site)};
  visit_place(&a);
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
                           .site = (uint32_t)site_of(w, touch->site)};
  check_write(&a, &shared->cells[(at - shared->start) / WORD], WHOLE_WORD);
}

void watch_landed(struct watch *w, const void *at, size_t bytes, uint32_t time) {
  for (size_t done = 0; done < bytes; done += WORD) {
    struct cell *cell = cell_at(w, (uintptr_t)at + done);
    if (cell && cell->write.kind & WATCH_ENGINE && cell->write.time == time) cell->write.kind &= (uint8_t)~CPU_ASYNC;
  }
}

void watch_counted(struct watch *w, unsigned row, uint32_t time) {
  order_counted(&w->order, row, time);
}

void watch_proxy_fence(struct watch *w, unsigned thread) {
  w->fence_time[thread] = w->order.time++;
}

/* ---- Sums in registers ---- */

static struct registers *find_registers(struct watch *w, unsigned thread, uintptr_t start) {
  if (!w->registers) w->registers = calloc(MOST_THREADS, sizeof *w->registers);
  struct registers *all = w->registers ? w->registers[thread] : NULL;
  for (int i = 0; i < MOST_REGISTERS && all; i++)
    if (!all[i].start || all[i].start == start) return &all[i];
  return NULL;
}

void watch_hold(struct watch *w, unsigned thread, const void *start, size_t bytes, const void *site) {
  struct registers *r = find_registers(w, thread, (uintptr_t)start);
  if (!r) return;
  if (!r->start) *r = (struct registers){.start = (uintptr_t)start, .touched = !w->products_fenced[thread]};
  if (r->touched && !r->in_flight)
    watch_event(w, WATCH_FENCE, site, thread, NULL, 0,
                "registers of a product's sums were used since the thread's last wgmma.fence");
  r->end = r->start + bytes;
  r->site = (uint32_t)site_of(w, site);
  r->in_flight = true;
}

void watch_give_back(struct watch *w, unsigned thread, const void *start) {
  struct registers *r = find_registers(w, thread, (uintptr_t)start);
  if (r) r->in_flight = false;
}

void watch_registers_fence(struct watch *w, unsigned thread) {
  w->products_fenced[thread] = true;
  for (int i = 0; i < MOST_REGISTERS && w->registers; i++) w->registers[thread][i].touched = false;
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
