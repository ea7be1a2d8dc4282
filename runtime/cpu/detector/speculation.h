/* Speculative parallel blocks: those of a watched launch run in several processes. Blocks may run side by side as long as none
   reads or writes what another one writes. So each process claims the bytes that it touches, and where claims meet all that they did is dropped:
   memory is as it was, and the launch goes on alone. What comes out is in either case what one process would have found. */
#ifndef RUNTIME_CPU_DETECTOR_SPECULATION_H
#define RUNTIME_CPU_DETECTOR_SPECULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/watch.h"

struct speculation;

/* Memory that blocks may have in common; of MAP_SHARED, so that what a process writes is written. */
struct speculation_memory {
  void *start;
  size_t bytes;
};

enum speculation_outcome {
  SPECULATION_NONE,  /* it did not work, or claims met: nothing has happened */
  SPECULATION_CHILD, /* this is one of the processes */
  SPECULATION_DONE,  /* all blocks have run */
  SPECULATION_HANG   /* the time was up in one of them: its report says where */
};

struct speculation_range {
  uint64_t first, end, step; /* end is exclusive */
  uint64_t fork;             /* the key of seccomp_fork */
};

/* Runs the blocks of the range in `processes` processes, started here; comes back in each of them, and here when they have ended.
   *speculation: for the functions below, until speculation_close; NULL with SPECULATION_NONE. */
enum speculation_outcome speculation_run(const struct speculation_memory *memory, size_t count, int processes,
                                         const struct speculation_range *range, struct speculation **speculation);
void speculation_close(struct speculation *speculation);

/* ---- In a process ---- */

/* Its own, zeroed; the parent can read it. */
struct watch_report *speculation_report(struct speculation *speculation);
/* The next block; `end`: there is none. */
uint64_t speculation_next(struct speculation *speculation);
/* Bytes of the i-th memory are read or written. May not come back. */
void speculation_claim(struct speculation *speculation, size_t i, size_t offset, size_t bytes, bool write);
/* All is dropped; ends the process. */
_Noreturn void speculation_drop(struct speculation *speculation);
/* Its blocks are done; ends the process. */
_Noreturn void speculation_end(struct speculation *speculation);

/* ---- In the parent, with SPECULATION_DONE ---- */

/* The i-th process's report; NULL: there are no more. */
const struct watch_report *speculation_result(const struct speculation *speculation, size_t i);
/* Whether a process has written the byte. */
bool speculation_written(const struct speculation *speculation, size_t i, size_t offset);

#endif
