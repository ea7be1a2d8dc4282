/* One variant of a kernel: what its verification needs, its compiled form, its launches and its
   resources. `variant` is a text as for cugen_kernel_source. */
#ifndef API_SOURCE_H
#define API_SOURCE_H

#include "base/results.h"

/* Compiles the variant to PTX for the kernel's device, which need not be present. *ptx lives until
   the next call. variant NULL: of the choices that were not measured for this problem, those that
   do not compile are passed over, here and in the next choices. CUGEN_ERROR_USAGE: for example, the
   device is the cpu device, or the variant is a library's kernel. */
int api_kernel_ptx(cugen_kernel *kernel, const char *variant, const char **ptx, cugen_error *error);

/* Checks for the cpu device that the front end of NVRTC accepts the variant's source.
   CUGEN_ERROR_COMPILE: NVRTC rejects the source. Without NVRTC, and on a GPU, nothing is compiled
   and CUGEN_OK returned. */
int api_kernel_accepts(cugen_kernel *kernel, const char *variant, cugen_error *error);

/* One launch of a variant, or several equal ones in a row. */
typedef struct cugen_launch_info {
  const char *entry;              /* name of the kernel in the source: "reduce", "reduce<4>" */
  const char *place;              /* place in the template: "reduce.cu:12"; "": unknown */
  int line;                       /* line of the launch in the config */
  unsigned int grid[3], block[3]; /* blocks of a grid, threads of a block; {0, 1, 1} if a library's
                                     kernel chooses the grid and the block */
  int64_t shared_bytes;           /* dynamic shared memory of a block */
  int carveout;                   /* preferred shared memory in percent, as in the config; -1: the
                                     driver decides */
  int overlap;                    /* may begin before the previous launch has ended */
  int cooperative;                /* all blocks run at once, so that they may wait for each other */
  int listed;                     /* passes what the config's pass lists, else all arguments */
  const char *passes;             /* the parameters in order, with values of this launch: "source,
                                     ping, n=100" */
  size_t times;                   /* number of equal launches in a row; in total, if a call makes
                                     more than 64 launches */
} cugen_launch_info;

/* Lists the launches that one call of a variant makes, in order, for the kernel's problem. *name
   (may be NULL) becomes the full text of the variant. The list lives until the next call, the name
   until a function gives another variant's text. */
int api_kernel_launches(cugen_kernel *kernel, const char *variant, const cugen_launch_info **out,
                        size_t *count, const char **name, cugen_error *error);

/* Checks that everything exists that the variant and its verification need: source, reference or
   verify kernel, and the files of the inputs' data. Nothing is compiled. The error names what is
   missing. */
int api_kernel_complete(cugen_kernel *kernel, const char *variant, cugen_error *error);

/* The resources of a multiprocessor that a kernel uses. */
typedef struct cugen_resources {
  int registers;        /* per thread */
  int threads;          /* per block */
  int64_t shared_bytes; /* per block, static and dynamic */
  /* NULL, or further dynamic bytes per block, as an expression in the config's language that may
     depend on `block`, the threads of a block: "4 * block" */
  const char *dynamic_shared;
  int has_carveout; /* 0: the driver divides the storage between L1 and shared memory */
  int carveout;     /* preferred share of shared memory, in percent, if has_carveout is set */
} cugen_resources;

/* Compiles a variant for the kernel's device, which need not be present, and returns its resources:
   of several launches, those of the launch whose block has the most registers. CUGEN_ERROR_USAGE:
   for example, the device is the cpu device, or the variant is a library's kernel. */
int api_kernel_resources(cugen_kernel *kernel, const char *variant, cugen_resources *out,
                         cugen_error *error);

#endif
