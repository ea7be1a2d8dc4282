/* The report of a watched kernel on the cpu device: findings, and how well the kernel's accesses
   fit the banks of shared memory and the sectors of global memory. The report is plain data of
   fixed size, in memory that the worker shares with its parent, and so outlives a crash. */
#ifndef RUNTIME_WATCH_H
#define RUNTIME_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/kernel.h"

/* ---- Findings ------------------------------------------------------------------------------- */

enum {
  WATCH_NAME = 64,
  WATCH_TEXT = 320,
  WATCH_MOST_FINDINGS = 128,
  WATCH_MOST_COUNTERS = 32,
  WATCH_MOST_BUFFERS = 32,
  WATCH_COUNTED_BLOCKS =
      64, /* of a larger launch, the traffic of about so many blocks is counted */
  /* bytes of an image's code for which `reached` says whether their accesses have run */
  WATCH_REACHED = 1 << 19
};

struct watch_place {
  uint64_t site; /* offset in the image's code; 0: not known */
  uint32_t block[3], thread[3];
  bool write;
};

/* The difference between the places at which threads of a diverged block wait. */
enum watch_apart {
  WATCH_APART_AT_SITES,    /* at copies of one barrier, which the compiler duplicated */
  WATCH_APART_AT_BARRIERS, /* at different barriers */
  WATCH_APART_AT_CALLS     /* at one barrier in a function that was called from different places */
};

struct watch_finding {
  cugen_finding_kind kind;
  struct watch_place here, other; /* other.site 0: the finding has no second place */
  bool shared;                    /* the access is to shared memory, not global memory */
  char array[WATCH_NAME];         /* name of the array or buffer; "": not known */
  /* Offset of the access in the array and size of the array, in bytes; without an array, offset
     is the address. */
  int64_t offset, bytes;
  int element, size; /* bytes of an element (0: not known), and of the access */
  uint64_t count;    /* occurrences; only the first is described */
  /* Site of the access to a flag at which a fence is missing; 0: none. */
  uint64_t fence;
  /* the fence is missing behind the access to the flag, not in front of it */
  bool fence_behind;
  /* of a hang: the thread waits for a value that a block which runs later would write */
  bool spins;
  /* of a race between two writes: the later write always stored the value that was there */
  bool same_value;
  enum watch_apart apart; /* of a divergence: how the waiting places differ */
  char text[WATCH_TEXT];  /* words for the message, such as the fence that is missing; "": none */
  /* site of the thread's last access, used where a place is on no line of the source */
  uint64_t last_site;
};

/* ---- Counters ------------------------------------------------------------------------------- */

/* A launch's load on the memory system, scaled from the counted blocks to all blocks: the reads or
   the writes of one array of shared or constant memory or of one buffer. A request is the accesses
   that the lanes of a warp make together at one place of the program. */
struct watch_counter {
  char array[WATCH_NAME];
  cugen_memory memory;
  bool write;
  double requests, bytes;
  /* Passes of the banks (shared), sectors of 32 bytes (global) or distinct words (constant) that
     were needed, and the smallest number possible for so many bytes. */
  double needed, ideal;
  /* of global memory: lines of 128 bytes; bytes, each of which counts once for all lanes */
  double lines, touched;
};

/* Launches of a call that have counters of their own. Later launches share one more set, each
   overwriting the one before, and are not shown. */
enum { WATCH_MOST_LAUNCHES = 64 };

struct launch_counters {
  double blocks;  /* in the grid */
  double counted; /* blocks counted, evenly spread; the figures are scaled to all blocks */
  size_t count;
  struct watch_counter counters[WATCH_MOST_COUNTERS];
  double barriers; /* barriers passed by the blocks, summed over all blocks */
  /* the totals are too small: there was no room for a place, an array or a round of a loop */
  bool incomplete;
};

/* ---- The report ----------------------------------------------------------------------------- */

/* What a run reports. Where the compiler moves accesses, their traffic is taken from the
   optimised image and their findings from another image. */
enum watch_mode { WATCH_ALL, WATCH_FINDINGS, WATCH_TRAFFIC };

struct watch_report {
  uint32_t finding_count, lost; /* lost: findings dropped because the array was full */
  struct watch_finding findings[WATCH_MOST_FINDINGS];
  uint64_t elsewhere;                 /* number of accesses to memory that is not watched */
  uint8_t reached[WATCH_REACHED / 8]; /* a bit for each site: an access there has run */
  uint32_t launch_count;
  struct launch_counters launches[WATCH_MOST_LAUNCHES + 1];
  /* The parent sets limit, count_blocks, mode and processes before a run. */
  /* seconds after which the launch reports where it stands and ends; 0: no limit */
  double limit;
  /* > 0: only about so many blocks, evenly spread, are run for their counters, and results are not
     valid */
  uint32_t count_blocks;
  enum watch_mode mode;
  uint32_t processes; /* > 1: a long launch may be spread over so many processes */
  uint32_t spread;    /* launches that were spread over processes */
  /* a block may have read what other blocks of its launch wrote, other than by a race */
  bool dependent;
};

struct watch_buffer {
  const char *name;
  const void *start;
  size_t bytes;
  int element;    /* bytes */
  bool read_only; /* the argument is an input */
  /* its content is undefined before the first launch, so that reading it is an error */
  bool unwritten;
};

#endif
