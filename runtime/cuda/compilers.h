/* Compiler processes: NVRTC in children of this process, so that a source that crashes it, or fills the memory, is a failed
   compile and nothing else. Each child compiles one source at a time, for any thread. It ends when the process that started it
   does, when it has nothing to do for a while, and when its compilers are closed. */
#ifndef RUNTIME_CUDA_COMPILERS_H
#define RUNTIME_CUDA_COMPILERS_H

#include "runtime/compile/toolkit.h"
#include "runtime/wire.h"

struct compilers;

enum { COMPILER_IDLE_SECONDS = 60 }; /* without a request it ends: it holds some 70 MB */

struct compilers_options {
  const char *program; /* started as: program worker; borrowed, as are the toolkit's strings */
  struct toolkit_options toolkit;
  double idle_seconds; /* after which a child ends; 0: COMPILER_IDLE_SECONDS */
};

/* No process is started yet. */
int compilers_open(const struct compilers_options *options, struct compilers **out, cugen_error *err);
/* No compile may be under way. */
void compilers_close(struct compilers *compilers);

/* Starts so many processes ahead of the first compiles. They load NVRTC meanwhile; what fails is told by a compile. */
void compilers_prepare(struct compilers *compilers, int count);

/* As nvrtc_compile, from any thread. A compiler that crashes or passes a limit is CUGEN_ERROR_COMPILE, a program that is no
   worker of this build CUGEN_ERROR_MISSING. */
int compilers_compile(struct compilers *compilers, const struct compile_request *request, struct compiled *out,
                      cugen_error *err);

/* The child's side. */
struct compilers_child {
  bool open; /* since the first compile; and closed off */
  struct toolkit *toolkit;
  struct precompiled *precompiled;
  double idle; /* how many seconds it shall wait for the next compile; 0: there was none */
};
void compilers_child_close(struct compilers_child *child);
/* Carries out MESSAGE_PREPARE. */
int compilers_serve_prepare(struct wire_reader *reader, struct compilers_child *child, cugen_error *err);
/* Carries out MESSAGE_COMPILE and writes the answer's payload. The limits above hold for the process from the first on. */
int compilers_serve(struct wire_reader *reader, struct compilers_child *child, struct text *answer, cugen_error *err);

#endif
