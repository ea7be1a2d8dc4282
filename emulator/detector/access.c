/* The hooks that a watched kernel calls before each access to memory; see state.h. Each place in
   the program remembers the array or buffer that it accessed last. While the place stays with that
   memory, its accesses skip the search for the memory, and quick_words.h can check whole words.
   Other accesses go through visit_new.

   Invariant: with or without the search, an access has the same effect on the shadow memory, the
   counters and the findings. */
#include <stdlib.h>
#include <string.h>

#include "emulator/fibers.h"
#include "quick_words.h"

enum {
  PLACES = 4096,
  CALL = 4 /* CALL: the least number of code bytes from one call to the next */
};

/* How an access checks the shadow memory: not at all, its whole words by quick_words.h, without or
   after a claim of the memory (speculation.h), or by shadow_visit. */
enum look { LOOK_NONE, LOOK_WORDS, LOOK_CLAIMED, LOOK_FULL };

/* A place in the program, by the return address of its call, and what it accessed last: an array
   or a buffer; or, without a region, constants of the image, which are not watched. Has the size
   of a cache line. */
struct place {
  uintptr_t from;        /* 0: the entry is empty */
  uintptr_t start, room; /* an access fits if it begins less than `room` bytes after the start */
  struct cell *cells;    /* cells from the start on */
  struct read_cell *reads;
  const struct region *region;
  struct traffic_site *counted; /* NULL: not known yet, or there is no room for it */
  uint32_t site;
  uint8_t look;
  bool shared, unwritten;
};

_Thread_local struct watch *watching;

int access_open(struct watch *w, cugen_error *err) {
  w->places = calloc(PLACES, sizeof *w->places);
  return w->places ? CUGEN_OK : error_memory(err);
}

void access_close(struct watch *w) {
  free(w->places);
}

void access_forget(struct watch *w) {
  if (w->places_kept) memset(w->places, 0, PLACES * sizeof *w->places);
  w->places_kept = false;
}

/* ---- The general way ------------------------------------------------------------------------ */

/* After PATIENCE atomic or volatile accesses without a plain write a thread seems to poll a flag:
   the other threads run before it continues. */
static void see_progress(struct watch *w, unsigned kind, uintptr_t at) {
  enum { PATIENCE = 4096 };
  const unsigned thread = watch_thread(w);
  const bool strong = kind & WATCH_STRONG;
  if (!strong || thread != w->strong_thread) w->strong_run = 0;
  w->strong_thread = thread;
  if (!strong || ++w->strong_run % PATIENCE) return;
  w->yielded = true;
  w->waited[w->waited_count++ % WATCH_WAITED] = at;
  fibers_let_others_run();
}

void access_report(const void *at, unsigned long bytes, unsigned kind, const void *site) {
  struct watch *w = watching;
  const uintptr_t address = (uintptr_t)at;
  if (!w) return; /* the launch is not observed */
  if (w->passed_over && !w->time_is_up && !(kind & WATCH_STRONG)) return;
  const bool noted = !site; /* reported by cugen_note of the shim */
  if (noted) site = __builtin_return_address(0);
  if (w->time_is_up) fibers_end_hang(site);
  if (w->overwriting.finding) finding_compare(w);
  if (address - w->launch.stacks < w->launch.stack_bytes) {
    accumulators_touch(w, address, site);
    return;
  }
  if (kind & (WATCH_STRONG | CPU_WRITE)) see_progress(w, kind, address);
  if (w->passed_over) return;
  struct access a = {.watch = w,
                     .at = address,
                     .bytes = (unsigned)bytes,
                     .kind = kind,
                     .thread = watch_thread(w),
                     .rank = w->launch.builtins->cluster_rank,
                     .own = !noted,
                     .site = (uint32_t)finding_site(w, site)};
  if (a.site < WATCH_REACHED) w->report->reached[a.site / 8] |= (uint8_t)(1u << a.site % 8);
  w->last_site = a.site;
  w->last_at = address;
  w->last_kind = kind;
  if (address & (bytes - 1)) alignment_check(&a, noted);
  regions_visit(&a);
}

/* ---- Places --------------------------------------------------------------------------------- */

static struct place *access_place_of(const struct watch *w, uintptr_t from) {
  return &w->places[from / CALL % PLACES];
}

static void keep_constant(struct watch *w, uintptr_t at, uintptr_t from) {
  *access_place_of(w, from) = (struct place){
      .from = from, .start = at, .room = 1, .site = (uint32_t)finding_site(w, (const void *)from)};
}

static void keep_part(struct watch *w, const struct region_part *part, unsigned bytes,
                      uintptr_t from) {
  const struct region *region = part->region;
  const uintptr_t first = (part->start - region->start) / WATCH_WORD;
  const bool claims = w->speculation && !region->shared && !region->read_only;
  const bool looks = !region->read_only && w->report->mode != WATCH_TRAFFIC;
  const bool words =
      bytes >= WATCH_WORD && part->start % WATCH_WORD == 0 && region->start % WATCH_WORD == 0;
  const enum look words_look = claims ? LOOK_CLAIMED : LOOK_WORDS;
  const enum look look = !looks && !claims ? LOOK_NONE : words && looks ? words_look : LOOK_FULL;
  *access_place_of(w, from) = (struct place){.from = from,
                                             .start = part->start,
                                             .room = part->bytes - bytes + 1,
                                             .cells = region->cells + first,
                                             .reads = region->reads + first,
                                             .region = region,
                                             .site = (uint32_t)finding_site(w, (const void *)from),
                                             .look = (uint8_t)look,
                                             .shared = region->shared,
                                             .unwritten = region->unwritten};
}

/* Remembers the array, buffer or constants that the place has accessed, unless blocks or launches
   run together, or the access was not allowed. */
static void keep_place(struct watch *w, uintptr_t at, unsigned bytes, unsigned kind,
                       uintptr_t from) {
  struct region_part part;
  if (w->launch.blocks > 1 || w->launch.overlap) return;
  w->places_kept = true;
  if (!regions_part(w, at, &part)) {
    if (!kind && regions_is_constant(w, at)) keep_constant(w, at, from);
    return;
  }
  if (at - part.start + bytes > part.bytes || (part.region->read_only && kind)) return;
  keep_part(w, &part, bytes, from);
}

/* Handles an access that does not fit what its place remembers. */
static __attribute__((noinline)) void visit_new(struct watch *w, const void *at, unsigned bytes,
                                                unsigned kind, uintptr_t from) {
  const uintptr_t address = (uintptr_t)at;
  const bool own = address - w->launch.stacks < w->launch.stack_bytes;
  if (own && w->running && !w->full && !w->accumulators) return;
  access_report(at, bytes, kind, (const void *)from);
  if (!own && w->running && !w->full && !(address & (bytes - 1)))
    keep_place(w, address, bytes, kind, from);
}

static struct access access_of(struct watch *w, const struct place *p, uintptr_t at, unsigned bytes,
                               unsigned kind) {
  return (struct access){.watch = w,
                         .region = p->region,
                         .at = at,
                         .bytes = bytes,
                         .kind = kind,
                         .thread = watch_thread(w),
                         .own = true,
                         .site = p->site};
}

static __attribute__((noinline)) void access_count(struct watch *w, struct place *p, uintptr_t at,
                                                   unsigned bytes, unsigned kind) {
  struct region_part part;
  if (!p->region || (!p->counted && !regions_part(w, at, &part))) return;
  if (!p->counted)
    p->counted = traffic_site(w->traffic, p->site, part.name,
                              p->shared ? CUGEN_MEMORY_SHARED : CUGEN_MEMORY_GLOBAL, bytes, kind);
  traffic_access(w->traffic, p->counted, w->launch.builtins->linear,
                 p->shared ? at : at - p->start);
}

static __attribute__((noinline)) void look_full(struct watch *w, struct place *p, uintptr_t at,
                                                unsigned bytes, unsigned kind) {
  const struct access a = access_of(w, p, at, bytes, kind);
  shadow_visit(&a);
  if (w->counting) access_count(w, p, at, bytes, kind);
}

static __attribute__((noinline)) void look_word(struct watch *w, struct place *p, uintptr_t at,
                                                unsigned bytes, unsigned kind, struct cell *cell) {
  const struct access a = access_of(w, p, at, bytes, kind);
  shadow_visit_word(&a, cell, WATCH_WHOLE_WORD);
}

static inline __attribute__((always_inline)) bool
access_is_settled(struct watch *w, const struct place *p, size_t word, unsigned kind) {
  const struct last_access now = {.epoch = w->hb.epoch,
                                  .site = p->site,
                                  .thread = (uint16_t)w->launch.builtins->linear,
                                  .bytes = WATCH_WHOLE_WORD,
                                  .kind = (uint8_t)kind};
  return kind & CPU_WRITE
             ? quick_write(w, &p->cells[word], &p->reads[word], &now, p->shared)
             : quick_read(w, &p->cells[word], &p->reads[word], &now, p->shared, p->unwritten);
}

static __attribute__((noinline)) void look_words(struct watch *w, struct place *p, uintptr_t at,
                                                 unsigned bytes, unsigned kind) {
  const size_t first = (at - p->start) / WATCH_WORD;
  if (p->look == LOOK_CLAIMED)
    speculation_claim(w->speculation, (size_t)(p->region - w->regions), at - p->start, bytes, kind);
  for (size_t word = first; word < first + bytes / WATCH_WORD; word++)
    if (!access_is_settled(w, p, word, kind)) look_word(w, p, at, bytes, kind, &p->cells[word]);
  if (w->counting) access_count(w, p, at, bytes, kind);
}

/* Calls the other functions last, so that this one needs no stack. */
static inline __attribute__((always_inline)) void access_see(const struct cpu_watch *hooks,
                                                             const void *pointer, unsigned bytes,
                                                             unsigned kind, const void *caller) {
  struct watch *w = (struct watch *)((uintptr_t)hooks - offsetof(struct watch, hooks));
  const uintptr_t at = (uintptr_t)pointer, from = (uintptr_t)caller;
  struct place *p = access_place_of(w, from);
  if (w->full || p->from != from || at - p->start >= p->room || at % bytes) {
    visit_new(w, pointer, bytes, kind, from);
    return;
  }
  if (kind & CPU_WRITE) w->strong_run = 0; /* as in see_progress */
  w->last_site = p->site;
  w->last_at = at;
  w->last_kind = kind;
  if (p->look == LOOK_CLAIMED || (p->look == LOOK_WORDS && bytes > WATCH_WORD)) {
    look_words(w, p, at, bytes, kind);
    return;
  }
  if (p->look == LOOK_FULL || (p->look == LOOK_WORDS && bytes == WATCH_WORD &&
                               !access_is_settled(w, p, (at - p->start) / WATCH_WORD, kind))) {
    look_full(w, p, at, bytes, kind);
    return;
  }
  if (w->counting) access_count(w, p, at, bytes, kind);
}

/* ---- Hooks ---------------------------------------------------------------------------------- */

#define HOOKS(bytes)                                                                               \
  static void on_read_##bytes(const void *at, const struct cpu_watch *hooks) {                     \
    access_see(hooks, at, bytes, 0, __builtin_return_address(0));                                  \
  }                                                                                                \
  static void on_write_##bytes(const void *at, const struct cpu_watch *hooks) {                    \
    access_see(hooks, at, bytes, CPU_WRITE, __builtin_return_address(0));                          \
  }
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)

static void access_pass_over(const void *at, const struct cpu_watch *hooks) {
  (void)at, (void)hooks;
}

static void access_set_hooks(struct cpu_watch *hooks, bool passed_over) {
  typedef void hook(const void *, const struct cpu_watch *);
  static hook *const reads[] = {on_read_1, on_read_2, on_read_4, on_read_8, on_read_16};
  static hook *const writes[] = {on_write_1, on_write_2, on_write_4, on_write_8, on_write_16};
  hooks->access = access_report;
  for (int i = 0; i < CPU_WATCH_SIZES; i++) {
    hooks->read[i] = passed_over ? access_pass_over : reads[i];
    hooks->write[i] = passed_over ? access_pass_over : writes[i];
  }
}

/* A signal handler that calls this function may run between the two lines; the second line then
   sets its hooks again. */
void access_choose_hooks(struct watch *w) {
  access_set_hooks(&w->hooks, w->passed_over && !w->time_is_up);
  if (w->time_is_up) access_set_hooks(&w->hooks, false);
}
