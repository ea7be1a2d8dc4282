/* Speculative parallel blocks: the blocks of a watched launch run in several processes, as long as
   no process reads or writes what another one writes. Each process claims the bytes that it
   touches. If claims conflict, everything that the processes did is dropped: memory is
   restored, and the launch continues in one process. */
#ifndef EMULATOR_DETECTOR_SPECULATION_H
#define EMULATOR_DETECTOR_SPECULATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/watch.h"

struct speculation;

/* Memory that blocks may share; it is mapped MAP_SHARED, so that writes of a process stay. */
struct speculation_memory {
  void *start;
  size_t bytes;
};

enum speculation_outcome {
  SPECULATION_NONE,  /* the processes gave no result: the memory is as it was before */
  SPECULATION_CHILD, /* the caller is one of the new processes */
  SPECULATION_DONE,  /* all blocks have run */
  SPECULATION_HANG   /* the time was up in one process: its report says where */
};

struct speculation_range {
  uint64_t first, end, step; /* range of blocks; end is exclusive */
  uint64_t fork;             /* the key of seccomp_fork */
};

/* Runs the blocks of the range in up to `processes` new processes. Returns in each new process, and
   in the caller when all of them have ended. *speculation is for the functions below, until
   speculation_close; NULL with SPECULATION_NONE. */
enum speculation_outcome speculation_run(const struct speculation_memory *memory, size_t count,
                                         int processes, const struct speculation_range *range,
                                         struct speculation **speculation);
void speculation_close(struct speculation *speculation);

/* ---- In one of the processes ---------------------------------------------------------------- */

/* The report of this process, zeroed; the parent can read it. */
struct watch_report *speculation_report(struct speculation *speculation);
/* Returns the number of the next block for this process, or `end` of the range if there is none. */
uint64_t speculation_next(struct speculation *speculation);
/* Claims bytes of the i-th memory that are read or written. Does not return if the claim
   conflicts. */
void speculation_claim(struct speculation *speculation, size_t i, size_t offset, size_t bytes,
                       bool write);
/* Drops the work of all processes, and ends this one. */
_Noreturn void speculation_drop(struct speculation *speculation);
/* Ends the process, whose blocks are done. */
_Noreturn void speculation_end(struct speculation *speculation);

/* ---- In the parent, when the processes have ended -------------------------------------------- */

/* The report of the i-th process; NULL: there are no more. */
const struct watch_report *speculation_result(const struct speculation *speculation, size_t i);
/* Whether any process has written the byte. */
bool speculation_written(const struct speculation *speculation, size_t i, size_t offset);

#endif
