/* Findings of one mistake stand together in a list: the cause, and what follows from it; see order.h.

   Threads that meet at other barriers than the source means, or wait for nobody, run in another order from there on: races, reads of
   memory that nobody has written yet and wrong results follow. So do they from a wrong address. A race, too, may let a read come too
   early. What a kernel dies of and what comes out wrong are effects. */
#include "order.h"

#include <stdlib.h>
#include <string.h>

enum rank { RANK_WAITING, RANK_ADDRESS, RANK_UNORDERED, RANK_UNWRITTEN, RANK_END, RANK_RESULT, RANK_NOTE };

static enum rank rank_of(cugen_finding_kind kind) {
  switch (kind) {
  case CUGEN_FINDING_DIVERGENCE:
  case CUGEN_FINDING_EXITED:
  case CUGEN_FINDING_ABSENT_LANES:
  case CUGEN_FINDING_DEADLOCK:
  case CUGEN_FINDING_ASYNC_MISUSE: return RANK_WAITING;
  case CUGEN_FINDING_OUT_OF_BOUNDS:
  case CUGEN_FINDING_MISALIGNED:
  case CUGEN_FINDING_INDEX:
  case CUGEN_FINDING_INPUT_WRITE:
  case CUGEN_FINDING_CONSTANT_WRITE:
  case CUGEN_FINDING_SHARED_LIMIT:
  case CUGEN_FINDING_LAUNCH: return RANK_ADDRESS;
  case CUGEN_FINDING_RACE:
  case CUGEN_FINDING_BLOCK_RACE:
  case CUGEN_FINDING_COPY_IN_FLIGHT:
  case CUGEN_FINDING_MISSING_FENCE:
  case CUGEN_FINDING_ACCUMULATORS: return RANK_UNORDERED;
  case CUGEN_FINDING_UNINITIALISED: return RANK_UNWRITTEN;
  case CUGEN_FINDING_HANG:
  case CUGEN_FINDING_TRAP: return RANK_END;
  case CUGEN_FINDING_SAME_VALUE: return RANK_NOTE;
  default: return RANK_RESULT;
  }
}

static int by_cause(const void *a, const void *b) {
  const struct check_finding *x = a, *y = b;
  const enum rank left = rank_of(x->kind), right = rank_of(y->kind);
  if (left != right) return left < right ? -1 : 1;
  const int files = strcmp(x->here.file, y->here.file);
  if (files) return files;
  if (x->here.line != y->here.line) return x->here.line < y->here.line ? -1 : 1;
  return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1) : strcmp(x->message, y->message);
}

void findings_sort(struct check_finding *findings, size_t count) {
  if (count) qsort(findings, count, sizeof *findings, by_cause);
}

static int by_number(const void *a, const void *b) {
  const struct check_skip *x = a, *y = b;
  if (x->first != y->first) return x->first < y->first ? -1 : 1;
  return strcmp(x->why, y->why);
}

void skips_sort(struct check_skip *skips, size_t count) {
  if (count) qsort(skips, count, sizeof *skips, by_number);
}
