/* Finds names that are not constants, because their values are passed at launch or computed from
   passed values. */
#ifndef RUNTIME_COMPILE_PASSED_H
#define RUNTIME_COMPILE_PASSED_H

#include <stdbool.h>
#include <stddef.h>

/* The name, and the size from which the name is computed, both within the source. name == size: the
   name is the size itself. */
struct passed {
  const char *name, *size;
  size_t name_length, size_length;
};
/* Finds the first name in [at, end), a part of the source, that the prologue computes from a passed
   size, or that is a passed size within [ ] or in a directive. */
bool passed_find(const char *source, const char *at, const char *end, struct passed *out);

#endif
