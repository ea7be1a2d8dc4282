/* Large CUDA headers that the cpu device provides as files (shim/headers), for sources that
   include them. */
#ifndef EMULATOR_HEADERS_H
#define EMULATOR_HEADERS_H

#include <stddef.h>

struct cpu_header {
  const char *name; /* "cooperative_groups/reduce.h" */
  const char *text;
  size_t length;
};
extern const struct cpu_header cpu_headers[]; /* embedded by the build; ends with a NULL name */

#endif
