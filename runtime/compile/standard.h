/* Headers of C's library for NVRTC, which has none but has most functions built in. The files
   runtime/compile/standard/NAME.h mostly contain types, limits and names in std, and are also
   available as cNAME. */
#ifndef RUNTIME_COMPILE_STANDARD_H
#define RUNTIME_COMPILE_STANDARD_H

#include "toolkit.h"

struct standard_header {
  const char *name; /* "stdint.h", "cstdint" */
  const char *text;
  size_t length;
};
/* embedded by the build; ends with a NULL name */
extern const struct standard_header standard_headers[];

enum { STANDARD_MOST = 32 };

/* Lists the headers for nvrtcCreateProgram in arrays of STANDARD_MOST; returns their number. */
int standard_list(const char **texts, const char **names);

/* Returns the text of the header of that name in standard_headers; "": there is none. */
const char *standard_text(const char *name);

/* Returns whether the toolkit has that header of libcu++, as <cuda/std/NAME>. */
bool standard_has_libcuxx(const struct toolkit *toolkit, const char *header);

#endif
