/* The arrays of shared memory in a watched image, from its symbol table: the static variables of functions, each behind
   a gap (shim/language.h). */
#ifndef RUNTIME_CPU_DETECTOR_ARRAYS_H
#define RUNTIME_CPU_DETECTOR_ARRAYS_H

#include "base/error.h"
#include "runtime/watch.h"

struct shared_array {
  char name[WATCH_NAME]; /* "": a gap before the next */
  uintptr_t start, end;  /* where it was loaded */
};

/* Arrays and gaps in order of address; *out is to be freed. bytes: the file; base: where its first byte lies. No array is no error. */
int arrays_read(const void *bytes, size_t length, uintptr_t base, struct shared_array **out, size_t *count,
                cugen_error *err);

#endif
