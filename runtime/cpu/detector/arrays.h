/* The memory that a watched image brings along, from its symbol table: arrays of shared memory, each behind a gap
   (shim/language.h), which are static variables of functions or stand outside of them; and __device__ and __constant__ variables. */
#ifndef RUNTIME_CPU_DETECTOR_ARRAYS_H
#define RUNTIME_CPU_DETECTOR_ARRAYS_H

#include "base/error.h"
#include "runtime/watch.h"

struct shared_array {
  char name[WATCH_NAME]; /* "": a gap before the next */
  uintptr_t start, end;  /* where it was loaded */
  bool touched;          /* in this launch */
};

struct image_variable {
  char name[WATCH_NAME];
  uintptr_t start, end;
  bool constant;
};

struct image_memory {
  struct shared_array *arrays; /* and gaps */
  struct image_variable *variables;
  size_t array_count, variable_count;
};

/* Both in order of address; *out is to be freed. bytes: the file; base: where its first byte lies. None is no error. */
int arrays_read(const void *bytes, size_t length, uintptr_t base, struct image_memory *out, cugen_error *err);
void arrays_free(struct image_memory *memory);

#endif
