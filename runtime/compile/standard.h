/* Headers of C's library for NVRTC, which has none of its own. NVRTC has most of their functions
   built in, so that runtime/compile/standard/NAME.h mostly contains types, limits and names in
   std. Each header is also available as cNAME. */
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

/* Lists the headers for nvrtcCreateProgram; returns their number. */
int standard_list(const char **texts, const char **names);

/* The text of the header with that name. */
const char *standard_text(const char *name);

/* Appends what to do about a header that NVRTC does not find. */
void standard_advise(const struct toolkit *toolkit, const char *header, struct text *out);

#endif
