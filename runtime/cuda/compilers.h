/* Compiler processes: NVRTC runs in child processes, so that a source which crashes NVRTC or fills
   the memory causes a failed compile and nothing else. Each child compiles one source at a time,
   for any thread. A child ends, for example, when its parent ends or when the child has been idle
   for a while. */
#ifndef RUNTIME_CUDA_COMPILERS_H
#define RUNTIME_CUDA_COMPILERS_H

#include "runtime/compile/toolkit.h"
#include "runtime/wire.h"

struct compilers;

/* A child ends after this time without a request, because a child takes some 70 MB. */
enum { COMPILER_IDLE_SECONDS = 60 };

struct compilers_options {
  const char *program; /* the worker program, which is started with the argument "worker"; borrowed,
                          like the toolkit's strings */
  struct toolkit_options toolkit;
  double idle_seconds; /* idle time after which a child ends; 0: COMPILER_IDLE_SECONDS */
};

/* Does not start a process yet. */
int compilers_open(const struct compilers_options *options, struct compilers **out,
                   cugen_error *err);
/* No compile may be running. */
void compilers_close(struct compilers *compilers);

/* Starts up to `count` processes, so that they have loaded NVRTC when the first compiles need them.
   Does not report failures. */
void compilers_prepare(struct compilers *compilers, int count);

/* Like nvrtc_compile, from any thread. CUGEN_ERROR_COMPILE: also if the compiler crashes or passes
   a limit. CUGEN_ERROR_MEMORY: also if SIGKILL ends the process. CUGEN_ERROR_MISSING: no worker
   of this build, or no NVRTC. CUGEN_ERROR_INTERRUPTED: request->stop asked to stop. */
int compilers_compile(struct compilers *compilers, const struct compile_request *request,
                      struct compiled *out, cugen_error *err);

/* The state of a child process. */
struct compilers_child {
  bool open; /* the toolkit is open, and the process is in its jail (base/jail.h) */
  struct toolkit *toolkit;
  struct precompiled *precompiled;
  double idle; /* seconds to wait for the next request; 0: no request has come yet */
};
void compilers_child_close(struct compilers_child *child);
/* Carries out MESSAGE_PREPARE. */
int compilers_serve_prepare(struct wire_reader *reader, struct compilers_child *child,
                            cugen_error *err);
/* Carries out MESSAGE_COMPILE and writes the payload of the answer. The first MESSAGE_PREPARE or
   MESSAGE_COMPILE limits the memory and the stack of the process, and turns off its core file and
   stderr. */
int compilers_serve(struct wire_reader *reader, struct compilers_child *child, struct text *answer,
                    cugen_error *err);

#endif
