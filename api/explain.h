/* Figures that explain times: the ceilings of a GPU, and the occupancy that a kernel reaches. */
#ifndef API_EXPLAIN_H
#define API_EXPLAIN_H

#include "source.h"

/* Looks up the ceilings of the kernel's device. The measured rates are the highest recorded for two
   configs, which the user tunes: peak_copy, and peak_fma with the dtype in which the kernel
   computes. */
int api_kernel_ceilings(cugen_kernel *kernel, cugen_ceilings *out, cugen_error *error);
/* Returns the dense FLOP/s of the tensor cores of the kernel's device, at its highest clock, for
   products of that type: a dtype, "tf32" or "fp8"; 0: none, or unknown. */
double api_kernel_tensor_flops(const cugen_kernel *kernel, const char *type);

/* The number of a kernel's blocks that a multiprocessor holds, by NVIDIA's occupancy calculator
   (cuda_occupancy.h). */
typedef struct cugen_occupancy {
  char device[128];
  char arch[16];        /* "sm_90a" */
  int blocks;           /* resident blocks per multiprocessor */
  int max_threads;      /* threads that a multiprocessor can hold */
  double fraction;      /* fraction of max_threads that is in use */
  const char *limiter;  /* "threads", "blocks", "registers", "shared memory"; "none": not even one
                           block fits */
  int warps;            /* warps per block */
  int idle_lanes;       /* idle lanes in the last warp of a block, if its threads are not a multiple
                           of a warp */
  int64_t shared_bytes; /* per block, including dynamic_shared */
  int best_threads;     /* the block size with the highest occupancy; 0: none fits */
  int64_t best_shared_bytes;
  double best_fraction; /* occupancy with best_threads */
} cugen_occupancy;

/* Computes the occupancy on any known device, present or described. device: one, as in
   cugen_options; NULL: lib's own. CUGEN_ERROR_USAGE: for example, the cpu device, or resources that
   no kernel can have. */
int api_device_occupancy(cugen *lib, const char *device, const cugen_resources *resources,
                         cugen_occupancy *out, cugen_error *error);

#endif
