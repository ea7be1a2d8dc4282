/* The memory of a watched image, from its symbol table: arrays of shared memory, which are
   static variables inside or outside of functions, each declaration after a gap (shim/language.h);
   and __device__ and __constant__ variables. */
#ifndef EMULATOR_DETECTOR_ARRAYS_H
#define EMULATOR_DETECTOR_ARRAYS_H

#include "base/error.h"
#include "runtime/watch.h"

struct shared_array {
  char name[WATCH_NAME]; /* "": a gap, or free bytes after an array */
  uintptr_t start, end;  /* addresses in memory */
  bool touched;          /* accessed in this launch */
};

struct image_variable {
  char name[WATCH_NAME];
  uintptr_t start, end;
  bool constant;
};

struct image_memory {
  struct shared_array *arrays; /* arrays, gaps and free bytes */
  struct image_variable *variables;
  size_t array_count, variable_count;
};

/* Both lists are in order of address; the caller frees *out. bytes: the file; base: where its
   first byte is loaded. An image without arrays is no error. */
int arrays_read(const void *bytes, size_t length, uintptr_t base, struct image_memory *out,
                cugen_error *err);
void arrays_free(struct image_memory *memory);

#endif
