/* Finding a name that is not a constant because it is computed from a size which is passed to
   the kernel at launch. */
#ifndef RUNTIME_COMPILE_PASSED_H
#define RUNTIME_COMPILE_PASSED_H

#include <stdbool.h>
#include <stddef.h>

/* The name and the size it is computed from, both within the source. They are equal if the name
   is the size itself. */
struct passed {
  const char *name, *size;
  size_t name_length, size_length;
};
/* Finds the first such name in [at, end), a part of the source: a name that the prologue
   defines, or a parameter within brackets. */
bool passed_find(const char *source, const char *at, const char *end, struct passed *out);

#endif
