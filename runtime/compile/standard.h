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

/* Why a compiler does not find a header. */
enum standard_lack {
  STANDARD_LACK_CPU,    /* the compiler is that of the cpu device */
  STANDARD_LACK_CORE,   /* the toolkit comes without CUDA's core libraries */
  STANDARD_LACK_STD,    /* the header is one of C++, and libcu++ has it */
  STANDARD_LACK_FILE,   /* no such file */
  STANDARD_LACK_LIBRARY /* NVRTC has no C++ library */
};
enum standard_lack standard_find_lack(const struct toolkit *toolkit, const char *header);

#endif
