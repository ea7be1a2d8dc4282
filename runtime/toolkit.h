/* Finding the parts cugen does not link: NVRTC, the CUDA headers, libcuda, NVML, a C++ compiler. Looked for once,
   at open, in a stated order; what was looked at is kept for messages. The environment is read here and nowhere
   else. */
#ifndef RUNTIME_TOOLKIT_H
#define RUNTIME_TOOLKIT_H

#include "base/text.h"

struct toolkit_options {
  const char *toolkit;  /* --toolkit */
  const char *compiler; /* --compiler */
};

/* Order for NVRTC and headers: the option, $CUGEN_TOOLKIT, beside the program (../lib/cugen/toolkit of an
   installation, then toolkit/ in a build folder), $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, the loader (NVRTC only).
   Paths are "" when not found. */
struct toolkit {
  struct text nvrtc;    /* path or soname of libnvrtc.so.13 / .12 */
  struct text include;  /* folder with cuda_fp16.h */
  struct text compiler; /* C++ compiler for the cpu device: option, $CUGEN_CXX, c++, g++, clang++ */
  struct text searched; /* one line a place looked at: "nvrtc: /usr/local/cuda/lib64: not there" */
};

int toolkit_open(const struct toolkit_options *options, struct toolkit **out, cugen_error *err);
void toolkit_close(struct toolkit *toolkit);

/* Fills err with CUGEN_ERROR_MISSING: what is missing ("NVRTC", "a C++ compiler"), where it was looked for, and
   how to get it. what: "nvrtc", "include" or "compiler". */
int toolkit_missing(const struct toolkit *toolkit, const char *what, cugen_error *err);

#endif
