/* The model: predicts how long a kernel takes on a described GPU, from its PTX, its resources
   and the GPU's published figures. docs/model.md has the formulas, docs/performance.md the model's
   accuracy. */
#ifndef RUNTIME_MODEL_MODEL_H
#define RUNTIME_MODEL_MODEL_H

#include "ptx_walk.h"
#include "runtime/device.h"

/* Part of the key of every prediction, so that predictions of another version of the model are
   not reused. */
enum { MODEL_VERSION = 6 };

/* The parts of a launch's time, each as if it were the only one; seconds. */
enum model_part {
  MODEL_INSTRUCTIONS, /* issuing instructions, and arithmetic */
  MODEL_FETCH,        /* fetching instructions that the instruction cache does not hold */
  MODEL_L1,           /* L1 with shared memory */
  MODEL_LATENCY,
  MODEL_L2,
  MODEL_MEMORY,
  MODEL_BLOCKS, /* starting blocks */
  MODEL_PARTS
};
/* "instructions", "L1 and shared memory", ... */
extern const char *const model_part_names[MODEL_PARTS];

/* Up to this many different launches are walked one by one. Of more launches, some of each kernel,
   at even distances, are walked, and stand for the launches between. */
enum { MODEL_MOST_LAUNCHES = 64 };

struct model_launch {
  double parts[MODEL_PARTS];
  /* MODEL_LATENCY without the time in which the block's units are busy; seconds */
  double waiting;
  double exchange;          /* the exchange between a cluster's blocks, after everything else;
                               seconds */
  int resident;             /* blocks on a multiprocessor */
  double blocks;            /* blocks of the grid that have work */
  struct ptx_counts counts; /* of a block */
};

struct model_prediction {
  double seconds;        /* of all launches */
  double requested;      /* bytes, see model_requested */
  enum model_part bound; /* the largest part */
  size_t launch_count;   /* number of launches that were walked */
  struct model_launch launches[MODEL_MOST_LAUNCHES];
};

/* Checks the symbols of arguments in the cubin. */
int model_check_symbols(const struct kernel_spec *spec, const struct compiled *compiled,
                        cugen_error *err);

/* compiled holds the PTX. CUGEN_ERROR_CONFIG: the GPU cannot launch the kernel, or the kernel's
   parameters or variables are not those of the config. CUGEN_ERROR_INTERRUPTED: the prediction was
   not done at `until`, by clock_seconds (0: no deadline). Any other failure: the model cannot
   predict a time. */
int model_predict(const struct device_description *device, const struct kernel_spec *spec,
                  const struct compiled *compiled, double until, struct model_prediction *out,
                  cugen_error *err);

/* The bytes of global memory that the loads, stores and copies of all launches request, whether
   caches or memory serve them: for each launch the bytes of one block, times the number of blocks
   with work. 0: not known, or *stop was set (stop NULL: no stop). compiled holds the PTX; the
   device need not be a described GPU. */
double model_requested(const struct device_description *device, const struct kernel_spec *spec,
                       const struct compiled *compiled, const atomic_bool *stop);

#endif
