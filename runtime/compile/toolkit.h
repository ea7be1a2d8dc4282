/* Finding the parts cugen does not link: NVRTC, the CUDA headers, libcuda, NVML, a C++ compiler. Looked for once,
   at open, in a stated order; what was looked at is kept for messages. The environment is read here and nowhere
   else. */
#ifndef RUNTIME_COMPILE_TOOLKIT_H
#define RUNTIME_COMPILE_TOOLKIT_H

#include "base/text.h"

struct toolkit_options {
  const char *toolkit;  /* --toolkit */
  const char *compiler; /* --compiler */
};

struct toolkit_libraries; /* those opened so far */
struct kept_images;       /* see kept.h */

/* Order for NVRTC and headers: the option, else $CUGEN_TOOLKIT (a folder named there is the only one looked at),
   beside the program or library (../lib/cugen/toolkit of an installation, then toolkit/ in a build folder),
   $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /opt/cuda, /usr, the loader (NVRTC only). Paths are "" when not found. */
struct toolkit {
  struct text nvrtc;    /* path or soname of libnvrtc.so.13 / .12 */
  struct text include;  /* folder with cuda_fp16.h */
  struct text core;     /* folder of CUDA's core libraries (cuda/std/, cub/), where it is one of its own */
  struct text compiler; /* C++ compiler for the cpu device: option, $CUGEN_CXX, c++, g++, clang++ */
  struct text driver;   /* what the loader is asked for: libcuda.so.1 */
  struct text nvml;     /* likewise: libnvidia-ml.so.1 */
  struct text searched; /* one line a place looked at: "nvrtc: /usr/local/cuda/lib64: not there" */
  struct toolkit_libraries *libraries;
  struct kept_images *kept; /* compiled by the C++ compiler */
};

int toolkit_open(const struct toolkit_options *options, struct toolkit **out, cugen_error *err);
void toolkit_close(struct toolkit *toolkit);

/* Fills err with CUGEN_ERROR_MISSING: what is missing ("NVRTC", "a C++ compiler"), where it was looked for, and
   how to get it. what: "nvrtc", "include" or "compiler". */
int toolkit_missing(const struct toolkit *toolkit, const char *what, cugen_error *err);

/* Where it was looked for: "/usr/local/cuda, /opt/cuda". */
void toolkit_places(const struct toolkit *toolkit, const char *what, struct text *out);

/* The major version in the soname of the NVRTC found, 13 for libnvrtc.so.13; 0: none was found. */
int toolkit_nvrtc_major(const struct toolkit *toolkit);
/* 13000 for 13.0, without loading a library of a hundred megabytes: NVRTC opens its builtins by a name that holds its
   own version, so that the one libnvrtc-builtins.so.13.N beside it tells. 0: it must be asked. */
int toolkit_nvrtc_version(const struct toolkit *toolkit);

/* ---- Libraries opened at run time, each at most once a toolkit ---- */

enum toolkit_library {
  TOOLKIT_DRIVER,
  TOOLKIT_NVRTC,
  TOOLKIT_NVML,
  TOOLKIT_COMPILER, /* no library: its "table" is the text that the C++ compiler says of itself */
  TOOLKIT_LIBRARY_COUNT
};

/* Makes the table of a library's functions; the toolkit frees it with free(). Libraries are never unloaded. */
typedef int toolkit_loader(const struct toolkit *toolkit, void **table, cugen_error *err);

/* The table, made by load at the first call; a failure is remembered too, but for that of
   memory. From any thread. */
int toolkit_library(const struct toolkit *toolkit, enum toolkit_library which, toolkit_loader *load,
                    const void **table, cugen_error *err);

struct toolkit_symbol {
  const char *name; /* exact, version suffix included: "cuMemAlloc_v2" */
  size_t offset;    /* of the function pointer in the table */
  bool required;    /* else NULL when the library lacks it */
};

/* Opens the library and fills the table's function pointers. CUGEN_ERROR_MISSING with the loader's own words. */
int toolkit_load(const char *library, const struct toolkit_symbol *symbols, size_t count, void *table,
                 cugen_error *err);

#endif
