/* Finding the source lines of places in a compiled image, from the compiler's line tables with
   binutils' addr2line. */
#ifndef EMULATOR_LINES_H
#define EMULATOR_LINES_H

#include <stdint.h>

#include "base/error.h"

enum { LINES_NAME = 256, LINES_SECONDS = 10, LINES_MEMORY_MB = 1024 };

/* line 0: not known. Code of an inlined function belongs to two places: `file` is where the code
   was written, `user` is where it is called from, "" if not known. */
struct source_place {
  char file[LINES_NAME];
  int line;
  char user[LINES_NAME];
  int user_line;
  int discriminator; /* the compiler's number for one of several branches on a line; 0: none */
};

/* A place to look up, by return addresses that count from the image's first byte; 0: none. */
struct line_site {
  uint64_t site;
  uint64_t instead; /* used if `site` turns out to be a function of the shim */
};

/* Finds the places of sites. A site 0 gives line 0; a site without a line gets that of the code in
   front of it, or line 0. Files have the names of the source's #line. CUGEN_ERROR_MISSING: there is
   no addr2line. Each run of addr2line has the limits LINES_SECONDS and LINES_MEMORY_MB. Without a
   jail, an image that names another file gives CUGEN_ERROR_IO. */
int lines_find(const void *image, size_t length, const struct line_site *sites, size_t count,
               struct source_place *out, cugen_error *err);

#endif
