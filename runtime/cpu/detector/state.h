/* What the detector's parts share: the shadow memory, and what is known of the launch. findings.c writes the report,
   flags.c says which fence is missing, shadow_memory.c looks at a word, regions.c knows which memory an address lies in,
   alignment.c what it must be a multiple of, access.c is what the kernel calls before each access, accumulators.c follows products' registers, parallel_blocks.c gives blocks to processes; watch.c, above them, is what the
   kernel and the emulator call. */
#ifndef RUNTIME_CPU_DETECTOR_STATE_H
#define RUNTIME_CPU_DETECTOR_STATE_H

#include <signal.h>
#include <time.h>

#include "arrays.h"
#include "release_acquire.h"
#include "speculation.h"
#include "traffic.h"
#include "watch.h"

enum {
  WATCH_WARP = 32,
  WATCH_BLOCKS = HB_BLOCKS,
  WATCH_THREADS = HB_THREADS,
  WATCH_ACCUMULATORS = 16, /* arrays of a thread */
  WATCH_WORD = 4,
  WATCH_WHOLE_WORD = 15, /* its bytes */
  WATCH_WAITED = 4
};

/* In a cell: an epoch and a thread, FastTrack's c@t, and where in the program. */
struct last_access {
  uint32_t epoch, site; /* epoch 0: never */
  uint16_t thread;
  uint8_t bytes; /* of the word: a bit each */
  uint8_t kind;
};

/* What every access of the word looks at. The rest of it lies apart, so that a buffer which is written once costs 16 bytes a word. */
struct cell {
  struct last_access write;
  uint8_t written; /* bytes; of shared memory in this block */
  uint8_t split;   /* bytes were accessed by themselves: the region's cells of bytes count, too */
  uint8_t more;    /* enum cell_more */
  uint8_t spare;
};

/* Which other cells of the word hold anything. */
enum cell_more { CELL_READS = 1, CELL_RARE = 2 };

struct read_cell {
  struct last_access last, other; /* the last reader; one of another warp, if there is one */
};

struct rare_cell {
  struct last_access before; /* the last reader of a block before; not of shared memory */
  struct last_access atomic; /* the last atomic operation: it does not hide the write before */
  uint32_t flag;             /* what was released there, of release_acquire.h */
};

/* Of the bytes of a word, where accesses of less than a word came: touched by those alone. */
struct byte_cell {
  struct last_access write, reads[2];
};

enum {
  CELL_BLOCK = CPU_PACKED /* in last_access.kind: CPU_BLOCK, for which there is no room; nobody asks for CPU_PACKED */
};

struct region {
  char name[WATCH_NAME];
  uintptr_t start, end, low, high; /* low to high: nothing else lies there */
  struct cell *cells;              /* of each word, as all of these */
  struct read_cell *reads;
  struct rare_cell *rare;
  struct byte_cell *bytes; /* four; NULL: none was needed yet */
  int element;
  bool shared, read_only, unwritten;
  bool arrays;   /* static shared memory */
  bool variable; /* a __device__ or __constant__ variable of the image */
};

/* Registers of a thread that products are added to: an array on its stack. */
struct accumulators {
  uintptr_t start, end; /* 0: none */
  uint32_t site, thread;
  bool in_flight, touched; /* touched: by the thread, since its last wgmma.fence */
};

/* A block's last strong write (atomic or volatile), with the barrier and the fence before it. */
struct flag_release {
  uint32_t block_epoch, epoch, barrier, fence, site;
  unsigned thread;
};

/* A strong read, and what it found. */
struct flag_use {
  uintptr_t at;
  uint32_t epoch, site;
  unsigned thread;
  struct last_access found;
};

enum { FLAG_USES = 128 };

struct flags {
  struct flag_release *releases; /* of the launch, by block */
  size_t release_count, release_room;
  struct flag_use uses[FLAG_USES]; /* of the block that runs, the last ones */
  unsigned use_count;
};

/* The functions that a thread is in, outermost first: where each returns to. Deeper ones are only counted. */
enum { PATH_DEPTH = 8 };

struct call_path {
  uint32_t depth, sites[PATH_DEPTH];
};

/* Where a fence would order two accesses. */
struct missing_fence {
  uint32_t site; /* of the flag's access, */
  bool front;    /* in front of which it is missing, or behind which; */
  bool device;   /* __threadfence(), or __threadfence_block() */
};

/* A write that races with another one, and has not happened when it is reported: what it leaves there is seen at the next report. */
struct overwriting {
  struct watch_finding *finding; /* NULL: none */
  const void *at;
  unsigned bytes;
  unsigned char before[16];
};

struct watch {
  struct observer observer; /* first: the emulator knows it as this */
  struct watch_report *report;
  struct cpu_watch hooks; /* what a watched image calls by */
  const uint64_t *fork;   /* as in device_options */
  struct region regions[WATCH_MOST_BUFFERS];
  size_t region_count, recent;
  struct place *places; /* access.c's */
  bool places_kept;     /* some of them are known */
  struct traffic *traffic;

  /* One image. */
  struct observed_image image;
  struct shared_array *arrays;
  size_t array_count;
  struct region *variables; /* __device__ and __constant__, in order of address */
  size_t variable_count;
  /* Of each block of a cluster: all static arrays as one; the dynamic array. */
  struct region shared[WATCH_BLOCKS], dynamic[WATCH_BLOCKS];
  uint8_t *array_of; /* for each word of static shared memory: its array or gap, from 1; 0: none */

  /* One launch. */
  struct observed_launch launch;
  struct happens_before hb;
  struct release_acquire *ra;
  uint32_t *written; /* ra_written() */
  struct flags flags;
  struct call_path paths[WATCH_THREADS];
  /* Strong accesses in a row of a thread that does nothing else: it may wait for another one. Whether one has let the block's
     others go on; the last words that they looked at. */
  unsigned strong_run, strong_thread;
  bool yielded;
  uintptr_t waited[WATCH_WAITED];
  unsigned waited_count;
  uint32_t fence_epoch[WATCH_THREADS];                     /* of the last fence.proxy.async */
  struct accumulators (*accumulators)[WATCH_ACCUMULATORS]; /* of each thread; NULL: none are known */
  struct overwriting overwriting;
  struct watch_finding *known; /* the one that finding_new has counted instead */
  uint32_t last_site;          /* where the last access was, and of what */
  uintptr_t last_at;
  unsigned last_kind;
  bool products_fenced[WATCH_THREADS]; /* the thread has reached a wgmma.fence */
  bool launch_waited[WATCH_THREADS];   /* and to a griddepcontrol.wait; */
  struct event last_waited;            /* the last one that did */
  size_t static_bytes;                 /* of the arrays that were touched */
  bool fenced;                         /* __threadfence() was called: blocks may order themselves by flags */
  bool passed_over;                    /* nothing is wanted of this block's accesses */
  bool running;
  volatile sig_atomic_t full; /* something wants a full look at each access: watch_look() */
  bool counting;              /* this block's accesses are counted: each of so many, */
  uint64_t every;
  uint64_t block, blocks; /* a cluster counts as one */
  bool entangled;         /* what a block does depends on others, or it was tried in vain: one process runs all */
  struct speculation *speculation; /* in one of several processes */
  clock_t began;                   /* time of the processor */
  volatile sig_atomic_t time_is_up;
};

/* An access, on its way through the words that it touches. */
struct access {
  struct watch *watch;
  const struct region *region;
  uintptr_t at;
  unsigned bytes, kind, thread, rank; /* rank: of the block whose static shared memory it is */
  uint32_t site;
  bool own; /* the kernel's own instruction, which follows: what it writes is there at the next report */
};

/* The thread that runs. */
static inline unsigned watch_thread(const struct watch *w) {
  return w->launch.builtins->cluster_rank * w->launch.padded + w->launch.builtins->linear;
}

/* After a change of what `full` follows from. A signal handler may set time_is_up, and do the same, at any moment. */
static inline void watch_look(struct watch *w) {
  w->full = !w->running || w->passed_over || w->overwriting.finding;
  if (w->time_is_up) w->full = true;
}

/* ---- access.c ---- */

/* The watch of the launch that runs: most hooks carry no context. */
extern _Thread_local struct watch *watching __attribute__((visibility("hidden")));

int access_open(struct watch *watch, cugen_error *err);
void access_close(struct watch *watch);
/* After a change of passed_over or time_is_up, which a signal handler may set, and call this, at any moment. */
void access_choose_hooks(struct watch *watch);
/* Places in the program are not known any more, nor what they access. */
void access_forget(struct watch *watch);
/* The hook of any access; those of plain ones are chosen. */
void access_report(const void *at, unsigned long bytes, unsigned kind, const void *site);

/* ---- findings.c ---- */

uint64_t finding_site(const struct watch *watch, const void *site);
void finding_place(const struct watch *watch, struct watch_place *place, uint64_t site, uint64_t block,
                   unsigned thread);
/* NULL: it is known already, or there is no room. */
struct watch_finding *finding_new(struct watch *watch, cugen_finding_kind kind, uint64_t site, uint64_t other_site,
                                  unsigned thread);
void finding_text(struct watch_finding *finding, const char *text);
/* In the shared array that the address is in, or the buffer. */
void finding_where(struct watch *watch, const struct region *region, uintptr_t at, struct watch_finding *finding);
/* Of one thread, or two, at a site: other_site 0: no other. */
void finding_report(struct watch *watch, cugen_finding_kind kind, const void *site, unsigned thread,
                    const void *other_site, unsigned other_thread, const char *text);
/* An access that is nowhere. Async-signal-safe. */
void finding_stray(struct watch *watch, const void *site, const void *address, bool write);
/* The return address, if it is in the kernel, else the place of the last access. Async-signal-safe. */
const void *finding_position(const struct watch *watch, const void *site);
void finding_add(const struct access *access, cugen_finding_kind kind, const struct last_access *other);
/* The same, where a flag would order them with one more fence. */
void finding_add_fence(const struct access *access, const struct last_access *other,
                       const struct missing_fence *fence);
/* Whether a write that races has changed anything. Called when the thread goes on. */
void finding_compare(struct watch *watch);

/* ---- shadow_memory.c ---- */

/* Untouched pages cost nothing, and are zero. */
int shadow_make(struct region *region, cugen_error *err);
void shadow_drop(struct region *region);
/* The words of an access whose region is known; one of them. */
void shadow_visit(const struct access *access);
void shadow_visit_word(const struct access *access, struct cell *cell, unsigned bytes);
void shadow_check_write(const struct access *access, const struct cell *cell, unsigned bytes);
/* Of the word; if it has none, an empty one. */
static inline const struct rare_cell *shadow_rare(const struct region *region, const struct cell *cell) {
  static const struct rare_cell none;
  return cell->more & CELL_RARE ? &region->rare[cell - region->cells] : &none;
}

/* ---- flags.c ---- */

void flags_launch(struct watch *watch);
void flags_block(struct watch *watch);
/* A strong access, before the cell knows of it. */
void flags_use(const struct access *access, const struct cell *cell);
/* Nothing orders `then` before the access: whether a flag would, with one more fence. */
bool flags_missing_fence(const struct access *access, const struct last_access *then, bool here,
                         struct missing_fence *out);

/* ---- regions.c ---- */

int regions_buffers(struct watch *watch, const struct watch_buffer *buffers, size_t count, cugen_error *err);
int regions_image(struct watch *watch, const struct observed_image *image, cugen_error *err);
void regions_close_image(struct watch *watch);
int regions_dynamic(struct watch *watch, cugen_error *err);
void regions_launch(struct watch *watch);
void regions_visit(struct access *access);
/* NULL: it is not watched, such as what a thread has of its own. */
const struct region *regions_find(struct watch *watch, uintptr_t at);
/* An array, all dynamic shared memory or a buffer. */
struct region_part {
  const struct region *region;
  const char *name;
  uintptr_t start, bytes;
};
/* The one that the address is in; false: it is in none. */
bool regions_part(struct watch *watch, uintptr_t at, struct region_part *out);
/* Of the image, and never watched: cugen's own, or what never changes. */
bool regions_is_constant(struct watch *watch, uintptr_t at);
/* Of shared memory of the block that runs; NULL: it is none. */
struct cell *regions_cell(struct watch *watch, uintptr_t at);
/* Of a launch that overlaps: as in observer.h. */
void regions_launch_waited(struct watch *watch, unsigned thread);
void regions_launch_used(struct watch *watch, unsigned thread, const void *site);

/* ---- alignment.c ---- */

/* Of an access whose place is no multiple of its bytes; noted: the kernel's own wrapper says what it does. Comes back where
   that is no harm, or nothing is watched. */
void alignment_check(const struct access *access, bool noted);
void alignment_refuse(const struct access *access, unsigned multiple, const char *type);
/* The processor has refused an access of 16 bytes that is no multiple of them. In a signal handler, of the kernel's own
   instruction. */
void alignment_fault(struct watch *watch, const void *site);

/* ---- accumulators.c ---- */

/* An access to a thread's own stack: whether accumulators lie there. */
void accumulators_touch(struct watch *watch, uintptr_t at, const void *site);
void accumulators_block(struct watch *watch);
/* As in observer.h. */
void accumulators_hold(struct watch *watch, unsigned thread, const void *start, size_t bytes, const void *site);
void accumulators_release(struct watch *watch, unsigned thread, const void *start);
void accumulators_fence(struct watch *watch, unsigned thread);

/* ---- parallel_blocks.c ---- */

/* Every how many blocks one is taken, for so many of all; so that they come from all rows and columns of the grid. */
uint64_t parallel_step(const struct watch *watch, uint64_t wanted);
uint64_t parallel_next(struct watch *watch);
/* One process runs the rest of the launch. */
bool parallel_decided(const struct watch *watch);

#endif
