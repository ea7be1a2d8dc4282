/* What running a watched kernel on the cpu device brings to light: findings, and how well its accesses fit the banks of
   shared memory and the sectors of global memory. Plain data of fixed size: it lies in memory that the worker shares with
   its parent, so that it outlives a crash. */
#ifndef RUNTIME_WATCH_H
#define RUNTIME_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/kernel.h"

/* ---- Findings ---- */

enum {
  WATCH_NAME = 64,
  WATCH_TEXT = 320,
  WATCH_MOST_FINDINGS = 128,
  WATCH_MOST_COUNTERS = 32,
  WATCH_MOST_BUFFERS = 32,
  WATCH_COUNTED_BLOCKS = 64, /* of a launch with more, whose traffic is counted */
  WATCH_REACHED = 1 << 19    /* bytes of an image's code, of which it is known whether their accesses have run */
};

struct watch_place {
  uint64_t site; /* in the image, from its first byte; 0: not known */
  uint32_t block[3], thread[3];
  bool write;
};

/* How threads that wait at different places are apart. */
enum watch_apart {
  WATCH_APART_AT_SITES,    /* at one barrier, which the compiler may have made several of */
  WATCH_APART_AT_BARRIERS, /* at different ones */
  WATCH_APART_AT_CALLS     /* at one barrier, of a function that was called from different places */
};

struct watch_finding {
  cugen_finding_kind kind;
  struct watch_place here, other; /* other.site 0: there is none */
  bool shared;                    /* which memory */
  char array[WATCH_NAME];         /* or buffer; "": not known */
  int64_t offset, bytes;          /* where in it, and how large it is, in bytes; without an array: the address */
  int element, size;              /* bytes of its element (0: not known), and of the access */
  uint64_t count;                 /* how often; only the first is described */
  uint64_t fence;         /* site of a flag's access at which a fence is missing; 0: it is none of that kind */
  bool fence_behind;      /* it, or in front of it */
  bool spins;             /* a hang: the thread waits for what another block is to write, which runs later */
  bool same_value;        /* of a race of two writes: each time the value was there already */
  enum watch_apart apart; /* of a divergence */
  char text[WATCH_TEXT];  /* the rest, in words; "" */
  uint64_t last_site;     /* of the last access: for a place that is no line of the source */
};

/* ---- Counters: what a launch asks of the memory system, in all blocks, from those that were counted ---- */

/* One array of shared memory or one buffer, read or written. A request is what the lanes of a warp ask for at one place of
   the program at once. */
struct watch_counter {
  char array[WATCH_NAME];
  bool shared, write;
  double requests, bytes;
  /* Passes that the banks need (shared) or sectors of 32 bytes (global), and the fewest that so many bytes can do with. */
  double needed, ideal;
  double lines, touched; /* of global memory: lines of 128 bytes; bytes, those that several lanes ask for once */
};

/* Launches of a call whose traffic is kept apart. That of later ones is counted, each over the one before, and not shown. */
enum { WATCH_MOST_LAUNCHES = 64 };

struct launch_counters {
  double blocks;  /* in the grid */
  double counted; /* of them, evenly spread; the figures are scaled to all */
  size_t count;
  struct watch_counter counters[WATCH_MOST_COUNTERS];
  double barriers; /* passed by a block, all blocks */
  bool incomplete; /* more places or arrays than there is room for */
};

/* ---- The report ---- */

/* What a run is to bring to light: where the compiler moves accesses, their traffic is that of one image, and what is wrong with them
   shows in another one. */
enum watch_mode { WATCH_ALL, WATCH_FINDINGS, WATCH_TRAFFIC };

struct watch_report {
  uint32_t finding_count, lost; /* lost: kinds of findings that there was no room for */
  struct watch_finding findings[WATCH_MOST_FINDINGS];
  uint64_t elsewhere;                 /* accesses to memory that is not watched */
  uint8_t reached[WATCH_REACHED / 8]; /* bits, by site: an access there has run */
  uint32_t launch_count;
  struct launch_counters launches[WATCH_MOST_LAUNCHES + 1];
  /* Set by the parent before a run. */
  double limit;          /* seconds after which the launch says where it stands, and ends; 0: none */
  uint32_t count_blocks; /* > 0: only so many blocks are run, evenly spread, to be counted: no result is right */
  enum watch_mode mode;
  uint32_t processes; /* > 1: a launch that takes long may use so many */
  uint32_t spread;    /* how many launches did */
  bool dependent;     /* a block may have used what others did in its launch, other than by a race */
};

/* A buffer as the kernel's argument. */
struct watch_buffer {
  const char *name;
  const void *start;
  size_t bytes;
  int element;    /* bytes */
  bool read_only; /* an input */
  bool unwritten; /* before the first launch nobody may read it */
};

#endif
