/* What a compiler's diagnostic means for a .cu that was written for nvcc, which takes host code too: which #include of the
   user's it comes from, which function is host code, and what to do about it. */
#ifndef RUNTIME_COMPILE_ADVICE_H
#define RUNTIME_COMPILE_ADVICE_H

#include "runtime/device.h"

/* What the cpu device calls the source that it compiles, and what it puts behind it. */
#define CPU_UNIT_NAME    "kernel.cpp"
#define CPU_ENTRIES_NAME "cugen entries"
#define CPU_HEADERS_NAME "cugen_headers" /* a folder beside the unit */

/* One for the diagnostics of one source. */
struct advice {
  const struct compile_request *request;
  bool cpu;          /* the diagnostics are those of the host's compiler */
  bool given;        /* once is enough */
  bool ends;         /* the diagnostics behind it say nothing more */
  cugen_error where; /* its place alone: of the first error in a file of the user's */
};

/* Appends the line, "file:12: error: ...", with what is known of its cause in front of it and what to do behind it.
   from: "file:12" of the line that includes the diagnostic's file; NULL: this is to be found out, or there is none. */
void advice_add(struct advice *advice, const char *line, size_t length, const char *from, struct text *out);

#endif
