/* Advice on a compiler's diagnostics about a .cu file that was written for nvcc, which also
   accepts host code: which #include of the user's a diagnostic comes from, which function is
   host code, and what to do. */
#ifndef RUNTIME_COMPILE_ADVICE_H
#define RUNTIME_COMPILE_ADVICE_H

#include "runtime/device.h"

/* The cpu device's names for the source that it compiles, and for the code that it appends. */
#define CPU_UNIT_NAME    "kernel.cpp"
#define CPU_ENTRIES_NAME "cugen entries"
#define CPU_HEADERS_NAME "cugen_headers" /* a folder beside the unit */

/* The state for the diagnostics of one source. */
struct advice {
  const struct compile_request *request;
  bool cpu;   /* the diagnostics are those of the host's compiler */
  bool given; /* advice was given, and is not given again */
  bool ends;  /* later diagnostics add nothing */
  /* the place of the first error in a file of the user's; no other member is set */
  cugen_error where;
};

/* Appends the line, "file:12: error: ...", with the place of its cause in front and advice behind,
   as far as they are known. from: "file:12" of the line that includes the diagnostic's file; NULL:
   there is no such line, or it has to be searched for. */
void advice_add(struct advice *advice, const char *line, size_t length, const char *from,
                struct text *out);

#endif
