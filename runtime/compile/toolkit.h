/* Finding the parts that cugen does not link: NVRTC, the CUDA headers, libcuda, NVML, a C++
   compiler. toolkit_open searches once, and keeps the searched places for messages. */
#ifndef RUNTIME_COMPILE_TOOLKIT_H
#define RUNTIME_COMPILE_TOOLKIT_H

#include "base/library.h"

struct toolkit_options {
  const char *toolkit;  /* --toolkit */
  const char *compiler; /* --compiler */
};

/* The parts that a user can install. */
enum toolkit_part {
  TOOLKIT_PART_NVRTC,
  TOOLKIT_PART_HEADERS,
  TOOLKIT_PART_COMPILER,
  TOOLKIT_PARTS
};

struct toolkit_libraries; /* the libraries opened so far */
struct kept_images;       /* see kept.h */

/* Search order for NVRTC and headers: the option, else $CUGEN_TOOLKIT (if a folder is named in
   either way, no other is searched), beside the program or library (../lib/cugen/toolkit of an
   installation, toolkit/ in a build folder, NVIDIA's packages beside cugen's in Python's
   site-packages), $CUDA_HOME, $CUDA_PATH, /usr/local/cuda, /opt/cuda, /usr, the loader (NVRTC
   only). A path that was not found is "". */
struct toolkit {
  struct text nvrtc;   /* path or soname of libnvrtc.so.13 / .12 */
  struct text include; /* folder with cuda_fp16.h */
  /* folder of CUDA's core libraries (cuda/std/, cub/), if it is another than `include` */
  struct text core;
  struct text compiler; /* C++ compiler for the cpu device: option, $CUGEN_CXX, c++, g++, clang++ */
  struct text driver;   /* the name that the loader is asked for: libcuda.so.1 */
  struct text nvml;     /* the name that the loader is asked for: libnvidia-ml.so.1 */
  /* The libraries whose kernels can be variants (base/library.h), searched for like NVRTC, but in
     the loader's folders instead of by loading them, which takes a tenth of a second. */
  struct toolkit_kernels {
    struct text path; /* "": not found */
    uint64_t build;   /* tells this build of the library from others; see base/library.h */
  } kernels[LIBRARY_COUNT];
  /* The places that were searched for each part: in lines for a message, "\n  looked at:
     /usr/local/cuda: not there", and as a list, "/usr/local/cuda, /opt/cuda". */
  struct text searched[TOOLKIT_PARTS], places[TOOLKIT_PARTS];
  struct toolkit_libraries *libraries;
  struct kept_images *kept; /* images from the C++ compiler */
};

int toolkit_open(const struct toolkit_options *options, struct toolkit **out, cugen_error *err);
void toolkit_close(struct toolkit *toolkit);

/* Fills err with CUGEN_ERROR_MISSING: which part is missing ("NVRTC", "a C++ compiler"), where
   it was searched for, and how to get it. */
int toolkit_missing(const struct toolkit *toolkit, enum toolkit_part part, cugen_error *err);

/* The major version in the name of the NVRTC library, 13 for libnvrtc.so.13; 0: no NVRTC was
   found. */
int toolkit_nvrtc_major(const struct toolkit *toolkit);
/* NVRTC's version, 13000 for 13.0, if exactly one file libnvrtc-builtins.so.13.N lies in its
   folder; 0: not known. */
int toolkit_nvrtc_version(const struct toolkit *toolkit);

/* ---- Libraries opened at run time, each at most once for a toolkit -------------------------- */

enum toolkit_library {
  TOOLKIT_DRIVER,
  TOOLKIT_NVRTC,
  TOOLKIT_NVML,
  TOOLKIT_COMPILER, /* not a library: its "table" is the C++ compiler's description of itself */
  TOOLKIT_KERNELS,  /* the first of the libraries in toolkit.kernels */
  TOOLKIT_KERNELS_LAST = TOOLKIT_KERNELS + LIBRARY_COUNT - 1,
  TOOLKIT_LIBRARY_COUNT
};

/* Makes the table of a library's functions; the toolkit frees the table with free(), after a
   failure too. A library that was loaded is not unloaded, unless it lacks a required symbol. */
typedef int toolkit_loader(const struct toolkit *toolkit, void **table, cugen_error *err);

/* Sets *table to the library's table, which `load` makes at the first call; NULL after a failure. A
   failure is final, except a lack of memory. May be called from any thread. */
int toolkit_library(const struct toolkit *toolkit, enum toolkit_library which, toolkit_loader *load,
                    const void **table, cugen_error *err);

struct toolkit_symbol {
  const char *name; /* exact name, version suffix included: "cuMemAlloc_v2" */
  size_t offset;    /* of the function pointer in the table */
  bool required;    /* false: the pointer is NULL when the library lacks the symbol */
};

/* Opens the library and fills the function pointers of the table. CUGEN_ERROR_MISSING: the library
   is not found, cannot be loaded, or lacks a required symbol. */
int toolkit_load(const char *library, const struct toolkit_symbol *symbols, size_t count,
                 void *table, cugen_error *err);
/* Allocates a table of `bytes` bytes and calls toolkit_load. Free *table also after a failure. */
int toolkit_load_table(const char *library, const struct toolkit_symbol *symbols, size_t count,
                       size_t bytes, void **table, cugen_error *err);

#endif
