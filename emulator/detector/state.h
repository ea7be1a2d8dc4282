/* State shared by the parts of the detector: the shadow memory, and facts about the launch. watch.c
   explains the method. */
#ifndef EMULATOR_DETECTOR_STATE_H
#define EMULATOR_DETECTOR_STATE_H

#include <signal.h>
#include <time.h>

#include "arrays.h"
#include "release_acquire.h"
#include "speculation.h"
#include "traffic.h"
#include "watch.h"

enum {
  WATCH_ACCUMULATORS = 16, /* arrays of a thread */
  WATCH_WORD = 4,
  WATCH_WHOLE_WORD = 15, /* mask of a word's bytes */
  WATCH_WAITED = 4,
  WATCH_STRONG = CPU_ATOMIC | CPU_VOLATILE /* accesses with which threads may synchronise */
};

/* An earlier access in a cell: an epoch and a thread, FastTrack's c@t, and the place in the
   program. */
struct last_access {
  uint32_t epoch, site; /* epoch 0: no access */
  uint16_t thread;
  uint8_t bytes; /* accessed bytes of the word: a bit each */
  uint8_t kind;
};

/* The data that every access of a word needs. Rarer data are in separate arrays. */
struct cell {
  struct last_access write;
  uint8_t written; /* bytes that were written; for shared memory by the last block that wrote */
  uint8_t split;   /* bytes were accessed separately: the region's byte cells count, too */
  uint8_t more;    /* of enum cell_more */
  uint8_t spare;
};

/* Which other cells of the word are in use. */
enum cell_more { CELL_READS = 1, CELL_RARE = 2 };

struct read_cell {
  struct last_access last, other; /* other: an earlier read by another thread (quick_keep_read) */
};

struct rare_cell {
  struct last_access before; /* the last reader of an earlier block; not for shared memory */
  struct last_access atomic; /* the last atomic operation; the write before it is kept as well */
  uint32_t flag;             /* number of the last release at the word (ra_use); 0: none */
};

/* Accesses of less than a word to one byte of the word. */
struct byte_cell {
  struct last_access write, reads[2];
};

enum {
  /* The bit of last_access.kind that stands for CPU_BLOCK, which does not fit into 8 bits. It is
     the bit of CPU_PACKED, which is not kept there. */
  CELL_BLOCK = CPU_PACKED
};

struct region {
  char name[WATCH_NAME];
  uintptr_t start, end, low, high; /* low to high: near a buffer or variable; else 0 */
  struct cell *cells;              /* one for each word, like the arrays below */
  struct read_cell *reads;
  struct rare_cell *rare;
  struct byte_cell *bytes; /* four for each word; NULL: not made */
  int element;
  bool shared, read_only, unwritten;
  bool arrays;   /* the region is static shared memory */
  bool variable; /* the region is a __device__ or __constant__ variable of the image */
};

/* Registers of a thread that products add to: an array on its stack. */
struct accumulators {
  uintptr_t start, end; /* 0: none */
  uint32_t site;
  bool in_flight, touched; /* touched: by the thread, since its last wgmma.fence */
};

/* A block's last strong write (atomic or volatile; epoch 0: none), with the barrier and the fence
   before it. */
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
  struct flag_use uses[FLAG_USES]; /* the running block's last strong reads of others' writes */
  unsigned use_count;
};

/* The functions that a thread is in, outermost first, by their return addresses. Deeper ones are
   only counted. */
enum { PATH_DEPTH = 8 };

struct call_path {
  uint32_t depth, sites[PATH_DEPTH];
};

/* The place where a fence would order two accesses. */
struct missing_fence {
  uint32_t site; /* of the access to the flag */
  bool front;    /* the fence is missing in front of the access, not behind it */
  bool device;   /* __threadfence() is needed, not __threadfence_block() */
};

/* A reported write of a race; the value that it leaves is read at the next report. */
struct overwriting {
  struct watch_finding *finding; /* NULL: none */
  const void *at;
  unsigned bytes;
  unsigned char before[16];
};

struct watch {
  struct observer observer; /* what the emulator calls */
  struct watch_report *report;
  struct cpu_watch hooks; /* the hooks that a watched image calls */
  const uint64_t *fork;   /* as in device_options */
  struct region regions[WATCH_MOST_BUFFERS];
  size_t region_count, recent; /* recent: the region that was found last */
  struct place *places;        /* the table of access.c */
  bool places_kept;            /* some places are known */
  struct traffic *traffic;

  /* The loaded image. */
  struct observed_image image;
  struct shared_array *arrays;
  size_t array_count;
  struct region *variables; /* __device__ and __constant__ variables, in order of address */
  size_t variable_count;
  /* For each block of a cluster: all static arrays as one region; the dynamic array. */
  struct region shared[HB_BLOCKS], dynamic[HB_BLOCKS];
  /* for each word of static shared memory the index of its array or gap, from 1; 0: none */
  uint8_t *array_of;

  /* The present launch. */
  struct observed_launch launch;
  struct happens_before hb;
  struct release_acquire *ra;
  uint32_t *written; /* ra_written() */
  struct flags flags;
  struct call_path paths[HB_THREADS];
  /* Strong accesses of strong_thread without a plain write between: many mean that it polls. */
  unsigned strong_run, strong_thread;
  bool yielded;                   /* a thread of this block has polled long: see_progress */
  uintptr_t waited[WATCH_WAITED]; /* the last words that were polled */
  unsigned waited_count;
  uint32_t fence_epoch[HB_THREADS];                        /* of the last fence.proxy.async */
  struct accumulators (*accumulators)[WATCH_ACCUMULATORS]; /* of each thread; NULL: none */
  struct overwriting overwriting;
  /* the known finding that finding_new has counted instead of a new one */
  struct watch_finding *known;
  uint32_t last_site; /* site, address and kind of the last access */
  uintptr_t last_at;
  unsigned last_kind;
  bool products_fenced[HB_THREADS]; /* the thread has executed a wgmma.fence */
  bool launch_waited[HB_THREADS];   /* the thread has executed a griddepcontrol.wait */
  struct event last_waited;         /* the last griddepcontrol.wait */
  size_t static_bytes;              /* size of the arrays that were touched */
  /* __threadfence() was called: blocks may be ordered by flags */
  bool fenced;
  bool passed_over; /* this block's accesses are ignored */
  bool running;
  volatile sig_atomic_t full; /* each access needs a full check: watch_look() */
  bool counting;              /* this block's accesses are counted */
  uint64_t every;             /* without count_blocks each every-th block is counted */
  /* index of the current block, and number of blocks in the launch; a cluster counts as one */
  uint64_t block, blocks;
  /* blocks depend on others, or parallel processes were tried: none are started any more */
  bool entangled;
  /* not NULL while this process is one of several that run the launch */
  struct speculation *speculation;
  clock_t began; /* processor time */
  volatile sig_atomic_t time_is_up;
};

/* An access while its words are checked. */
struct access {
  struct watch *watch;
  const struct region *region;
  uintptr_t at;
  /* rank: of the block whose static shared memory is accessed */
  unsigned bytes, kind, thread, rank;
  uint32_t site;
  /* the access is made right after its report, so that the written value is in memory at the next
     report */
  bool own;
};

/* The number of the running thread. */
static inline unsigned watch_thread(const struct watch *w) {
  return w->launch.builtins->cluster_rank * w->launch.padded + w->launch.builtins->linear;
}

/* Recomputes `full` after a change of its inputs. A signal handler may set time_is_up and call
   this at any moment. */
static inline void watch_look(struct watch *w) {
  w->full = !w->running || w->passed_over || w->overwriting.finding;
  if (w->time_is_up) w->full = true;
}

/* ---- access.c ------------------------------------------------------------------------------- */

/* The watch of the running launch, or NULL; most hooks have no context argument. */
extern _Thread_local struct watch *watching __attribute__((visibility("hidden")));

int access_open(struct watch *watch, cugen_error *err);
void access_close(struct watch *watch);
/* To be called after a change of passed_over or time_is_up; a signal handler may set the latter
   and call this at any moment. */
void access_choose_hooks(struct watch *watch);
/* Forgets all places in the program and what they access. */
void access_forget(struct watch *watch);
/* The hook of any access; the hooks of plain accesses are selected by access_choose_hooks. */
void access_report(const void *at, unsigned long bytes, unsigned kind, const void *site);

/* ---- findings.c ----------------------------------------------------------------------------- */

uint64_t finding_site(const struct watch *watch, const void *site);
void finding_place(const struct watch *watch, struct watch_place *place, uint64_t site,
                   uint64_t block, unsigned thread);
/* Returns NULL if the finding is known already, if there is no room, or if only traffic is
   counted. */
struct watch_finding *finding_new(struct watch *watch, cugen_finding_kind kind, uint64_t site,
                                  uint64_t other_site, unsigned thread);
void finding_text(struct watch_finding *finding, const char *text);
/* Fills in the shared array, or else the region, that the address is in or near. */
void finding_where(struct watch *watch, const struct region *region, uintptr_t at,
                   struct watch_finding *finding);
/* Reports a finding of one or two threads at a site; other_site NULL: no other site. */
void finding_report(struct watch *watch, cugen_finding_kind kind, const void *site, unsigned thread,
                    const void *other_site, unsigned other_thread, const char *text);
/* Reports an access to memory that nobody owns. Async-signal-safe. */
void finding_stray(struct watch *watch, const void *site, const void *address, bool write);
/* Returns the return address if it is in the kernel's image, else the site of the last access.
   Async-signal-safe. */
const void *finding_position(const struct watch *watch, const void *site);
void finding_add(const struct access *access, cugen_finding_kind kind,
                 const struct last_access *other);
/* Adds a finding of two accesses that a flag with one more fence would order. */
void finding_add_fence(const struct access *access, const struct last_access *other,
                       const struct missing_fence *fence);
/* Notes whether the write of `overwriting` has changed the value. */
void finding_compare(struct watch *watch);

/* ---- shadow_memory.c ------------------------------------------------------------------------ */

/* Makes the shadow memory; untouched pages take no memory and are zero. */
int shadow_make(struct region *region, cugen_error *err);
void shadow_drop(struct region *region);
/* shadow_visit checks and records an access, whose region must be set, in all its words,
   shadow_visit_word in one word. shadow_check_write only checks an access against writes to one
   word. */
void shadow_visit(const struct access *access);
void shadow_visit_word(const struct access *access, struct cell *cell, unsigned bytes);
void shadow_check_write(const struct access *access, const struct cell *cell, unsigned bytes);
/* The rare cell of the word; an empty one if the word has none. */
static inline const struct rare_cell *shadow_rare(const struct region *region,
                                                  const struct cell *cell) {
  static const struct rare_cell none;
  return cell->more & CELL_RARE ? &region->rare[cell - region->cells] : &none;
}

/* ---- flags.c -------------------------------------------------------------------------------- */

void flags_launch(struct watch *watch);
void flags_block(struct watch *watch);
/* Notes a strong access, before the cell is updated. */
void flags_use(const struct access *access, const struct cell *cell);
/* Returns true, and sets *out, if a flag with one more fence would order `then` before the access.
   here: `then` is an access of the running block or cluster. */
bool flags_missing_fence(const struct access *access, const struct last_access *then, bool here,
                         struct missing_fence *out);

/* ---- regions.c ------------------------------------------------------------------------------ */

int regions_buffers(struct watch *watch, const struct watch_buffer *buffers, size_t count,
                    cugen_error *err);
int regions_image(struct watch *watch, const struct observed_image *image, cugen_error *err);
void regions_close_image(struct watch *watch);
int regions_dynamic(struct watch *watch, cugen_error *err);
void regions_launch(struct watch *watch);
void regions_visit(struct access *access);
/* Returns the region that the address is in or near; NULL: the address is not watched, such as one
   on a thread's own stack. */
const struct region *regions_find(struct watch *watch, uintptr_t at);
/* An array, all dynamic shared memory or a buffer. */
struct region_part {
  const struct region *region;
  const char *name;
  uintptr_t start, bytes;
};
/* Finds the part that the address is in. Returns false if there is none. */
bool regions_part(struct watch *watch, uintptr_t at, struct region_part *out);
/* Returns true if the address is in memory that is never watched: cugen's own, or the image's
   constants. */
bool regions_is_constant(struct watch *watch, uintptr_t at);
/* Returns the cell of an address in static shared memory of the running block, or in dynamic shared
   memory of its cluster; NULL: another address. */
struct cell *regions_cell(struct watch *watch, uintptr_t at);
/* The observer's hooks launch_waited and launch_used (observer.h). */
void regions_launch_waited(struct watch *watch, unsigned thread);
void regions_launch_used(struct watch *watch, unsigned thread, const void *site);

/* ---- alignment.c ---------------------------------------------------------------------------- */

/* Checks an access whose address is not a multiple of its size; noted: cugen_note of the shim
   reports the access. Returns if the address is allowed, or not watched. */
void alignment_check(const struct access *access, bool noted);
void alignment_refuse(const struct access *access, unsigned multiple, const char *type);
/* The processor has refused an unaligned access of 16 bytes by the kernel's own instruction.
   Called in a signal handler. */
void alignment_fault(struct watch *watch, const void *site);

/* ---- accumulators.c ------------------------------------------------------------------------- */

/* Checks whether an access to a thread's own stack touches accumulators. */
void accumulators_touch(struct watch *watch, uintptr_t at, const void *site);
void accumulators_block(struct watch *watch);
/* The observer's hooks of these names (observer.h). */
void accumulators_hold(struct watch *watch, unsigned thread, const void *start, size_t bytes,
                       const void *site);
void accumulators_release(struct watch *watch, unsigned thread, const void *start);
void accumulators_fence(struct watch *watch, unsigned thread);

/* ---- parallel_blocks.c ---------------------------------------------------------------------- */

/* Returns the distance between the blocks to take so that about `wanted` are taken in all, from all
   rows and columns of the grid. */
uint64_t parallel_step(const struct watch *watch, uint64_t wanted);
/* Returns the next block to run, watch->blocks if there is none, or OBSERVER_HUNG. */
uint64_t parallel_next(struct watch *watch);
/* Returns true if one process runs the rest of the launch. */
bool parallel_decided(const struct watch *watch);

#endif
