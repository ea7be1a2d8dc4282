/* What the parts of a watch share: the shadow memory, and what is known of the launch. findings.c says what is wrong, cells.c
   looks at a word, places.c knows where an address lies and what it must be a multiple of, sums.c follows registers, spread.c
   gives blocks to processes; watch.c is what the kernel and the scheduler call. */
#ifndef RUNTIME_CPU_WATCH_STATE_H
#define RUNTIME_CPU_WATCH_STATE_H

#include <signal.h>
#include <time.h>

#include "arrays.h"
#include "flags.h"
#include "share.h"
#include "traffic.h"
#include "watch.h"

enum {
  WATCH_WARP = 32,
  WATCH_BLOCKS = ORDER_BLOCKS,
  WATCH_THREADS = ORDER_THREADS,
  WATCH_REGISTERS = 16, /* arrays of sums of a thread */
  WATCH_WORD = 4
};

struct touch {
  uint32_t time, site; /* time 0: never */
  uint16_t thread;
  uint8_t bytes; /* of the word: a bit each */
  uint8_t kind;
};

struct cell {
  struct touch write,
      reads[3];        /* the last reader; one of another warp, if there is one; the last of a block before */
  struct touch atomic; /* the last atomic operation: it does not hide the write before */
  uint32_t flag;       /* of flags.h */
  uint8_t written;     /* bytes; of shared memory in this block */
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
  const uint64_t *fork; /* as in device_options */
  struct region regions[WATCH_MOST_BUFFERS];
  size_t region_count, recent;
  struct traffic *traffic;

  /* One image. */
  struct watch_image image;
  struct shared_array *arrays;
  size_t array_count;
  /* Of each block of a cluster: all static arrays as one; the dynamic array. */
  struct region shared[WATCH_BLOCKS], dynamic[WATCH_BLOCKS];
  uint8_t *array_of; /* for each word of static shared memory: its array or gap, from 1; 0: none */

  /* One launch. */
  struct watch_launch launch;
  struct order order;
  struct flags *flags;
  uint32_t fence_time[WATCH_THREADS];             /* of the last fence.proxy.async */
  struct registers (*registers)[WATCH_REGISTERS]; /* of each thread; NULL: none are known */
  uint32_t last_site;                             /* where the last access was, and of what */
  uintptr_t last_at;
  unsigned last_kind;
  bool products_fenced[WATCH_THREADS]; /* the thread has come to a wgmma.fence */
  bool launch_waited[WATCH_THREADS];   /* and to a griddepcontrol.wait; */
  struct moment last_waited;           /* the last one that did */
  bool fenced;                         /* __threadfence() was called: blocks may order themselves by flags */
  bool counting;                       /* this block's accesses are counted: each of so many, */
  uint64_t every;
  uint64_t block, blocks; /* a cluster counts as one */
  bool entangled;         /* what a block does depends on others, or it was tried in vain: one process runs all */
  struct share *share;    /* in one of several processes */
  clock_t began;          /* time of the processor */
  volatile sig_atomic_t time_is_up;
};

/* An access, on its way through the words that it touches. */
struct access {
  struct watch *watch;
  const struct region *region;
  uintptr_t at;
  unsigned bytes, kind, thread, rank; /* rank: of the block whose static shared memory it is */
  uint32_t site;
};

/* The thread that runs, and what its warps have asked for until now is all that belongs together. */
unsigned watch_thread(const struct watch *watch);
void watch_all_met(struct watch *watch);

/* ---- findings.c ---- */

uint64_t finding_site(const struct watch *watch, const void *site);
void finding_place(const struct watch *watch, struct watch_place *place, uint64_t site, uint64_t block,
                   unsigned thread);
/* NULL: it is known already, or there is no room. */
struct watch_finding *finding_new(struct watch *watch, enum watch_kind kind, uint64_t site, uint64_t other_site,
                                  unsigned thread);
void finding_text(struct watch_finding *finding, const char *text);
/* In the shared array that the address is in, or the buffer. */
void finding_where(struct watch *watch, const struct region *region, uintptr_t at, struct watch_finding *finding);
void finding_add(const struct access *access, enum watch_kind kind, const struct touch *other);

/* ---- cells.c ---- */

/* Untouched pages cost nothing, and are zero. */
int cells_make(struct region *region, cugen_error *err);
void cells_drop(struct region *region);
/* The words of an access whose region is known. */
void cells_visit(const struct access *access);
void cells_check_write(const struct access *access, const struct cell *cell, unsigned bytes);

/* ---- places.c ---- */

int place_buffers(struct watch *watch, const struct watch_buffer *buffers, size_t count, cugen_error *err);
int place_image(struct watch *watch, const struct watch_image *image, cugen_error *err);
int place_dynamic(struct watch *watch, cugen_error *err);
void place_visit(struct access *access);
/* NULL: it is not watched, such as what a thread has of its own. */
const struct region *place_region(struct watch *watch, uintptr_t at);
/* Of shared memory of the block that runs; NULL: it is none. */
struct cell *place_cell(struct watch *watch, uintptr_t at);

/* ---- align.c ---- */

/* Of an access whose place is no multiple of its bytes; noted: the kernel's own wrapper says what it does. Comes back where
   that is no harm, or nothing is watched. */
void align_check(const struct access *access, bool noted);
void align_refuse(const struct access *access, unsigned multiple, const char *type);

/* ---- sums.c ---- */

/* An access to a thread's own stack: whether sums lie there that products are added to. */
void sums_touch(struct watch *watch, uintptr_t at, const void *site);
void sums_block(struct watch *watch);

/* ---- spread.c ---- */

/* Each of how many blocks, for so many of all; so that they come from all rows and columns of the grid. */
uint64_t spread_evenly(const struct watch *watch, uint64_t wanted);
uint64_t spread_next(struct watch *watch);

#endif
