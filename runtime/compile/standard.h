/* Headers of C's library as NVRTC is given them, which has none: much of what they declare is built into it, so that
   runtime/compile/standard/NAME.h holds little but types, limits and the names in std. Each is there as cNAME too. */
#ifndef RUNTIME_COMPILE_STANDARD_H
#define RUNTIME_COMPILE_STANDARD_H

#include "toolkit.h"

struct standard_header {
  const char *name; /* "stdint.h", "cstdint" */
  const char *text;
  size_t length;
};
extern const struct standard_header standard_headers[]; /* embedded by the build; ends with a NULL name */

enum { STANDARD_MOST = 32 };

/* For nvrtcCreateProgram: how many. */
int standard_list(const char **texts, const char **names);

/* Of one of these names. */
const char *standard_text(const char *name);

/* Appends what to do about a header that NVRTC does not find. */
void standard_advise(const struct toolkit *toolkit, const char *header, struct text *out);

#endif
