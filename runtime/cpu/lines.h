/* From places in a compiled image to lines of the source, by the compiler's line tables; binutils' addr2line reads them. */
#ifndef RUNTIME_CPU_LINES_H
#define RUNTIME_CPU_LINES_H

#include <stdint.h>

#include "base/error.h"

enum { LINES_NAME = 256, LINES_SECONDS = 10, LINES_MEMORY_MB = 1024 };

/* line 0: not known. Code of a function that was inlined is in two places: `file` is where it was written, `user` where it is called from,
   "" when that is not known. */
struct source_place {
  char file[LINES_NAME];
  int line;
  char user[LINES_NAME];
  int user_line;
  int discriminator; /* of the compiler, for what one line has in several branches; 0: it has none */
};

/* Return addresses, from the image's first byte; 0: none. */
struct line_site {
  uint64_t site;
  uint64_t instead; /* where the site turns out to be a function of the shim */
};

/* A site 0 gives line 0; one that has no line of its own gets that of the code in front of it. Files are called what the source
   calls them in its #line. CUGEN_ERROR_MISSING: there is no addr2line. It opens the system's files and the image, has the limits
   below for each of two questions, and what it cannot say is not known. */
int lines_find(const void *image, size_t length, const struct line_site *sites, size_t count,
               struct source_place *out, cugen_error *err);

#endif
