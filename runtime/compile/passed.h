/* Which name on a line is no constant, as it is computed from a size that the kernel is passed at launch. */
#ifndef RUNTIME_COMPILE_PASSED_H
#define RUNTIME_COMPILE_PASSED_H

#include <stdbool.h>
#include <stddef.h>

/* Both in the source. The name is the size itself where the text has that. */
struct passed {
  const char *name, *size;
  size_t name_length, size_length;
};
/* The first such name in [at, end), a part of the source: one that the prologue defines, or a parameter in brackets. */
bool passed_find(const char *source, const char *at, const char *end, struct passed *out);

#endif
