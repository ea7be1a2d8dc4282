/* Spreads the blocks of a watched launch over processes. Blocks may run side by side as long as none reads or writes what
   another one writes. So each process claims the bytes that it touches, and where claims meet all that they did is dropped:
   memory is as it was, and the launch goes on alone. What comes out is in either case what one process would have found. */
#ifndef RUNTIME_CPU_SHARE_H
#define RUNTIME_CPU_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/watch.h"

struct share;

/* Memory that blocks may have in common; of MAP_SHARED, so that what a process writes is written. */
struct share_memory {
  void *start;
  size_t bytes;
};

enum share_outcome {
  SHARE_NONE,  /* it did not work, or claims met: nothing has happened */
  SHARE_CHILD, /* this is one of the processes */
  SHARE_DONE,  /* all blocks have run */
  SHARE_HANG   /* the time was up in one of them: its report says where */
};

struct share_range {
  uint64_t first, end, step; /* end is exclusive */
  uint64_t fork;             /* the key of seccomp_fork */
};

/* Runs the blocks of the range in `processes` processes, started here; comes back
   in each of them, and when they have ended here. report: each process has its own, of which *out gets a copy of the one that
   hung. *share: for the functions below, until share_close; NULL with SHARE_NONE. */
enum share_outcome share_run(const struct share_memory *memory, size_t count, int processes,
                             const struct share_range *range, struct share **share);
void share_close(struct share *share);

/* ---- In a process ---- */

/* Its own, zeroed; the parent can read it. */
struct watch_report *share_report(struct share *share);
/* The next block; `end`: there is none. */
uint64_t share_next(struct share *share);
/* Bytes of the i-th memory are read or written. May not come back. */
void share_claim(struct share *share, size_t i, size_t offset, size_t bytes, bool write);
/* All is dropped; ends the process. */
_Noreturn void share_drop(struct share *share);
/* Its blocks are done; ends the process. */
_Noreturn void share_end(struct share *share);

/* ---- In the parent, with SHARE_DONE ---- */

/* The i-th process's report; NULL: there are no more. */
const struct watch_report *share_result(const struct share *share, size_t i);
/* Whether a process has written the byte. */
bool share_written(const struct share *share, size_t i, size_t offset);

#endif
