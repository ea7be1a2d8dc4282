/* The model: how long a kernel would take on a described GPU, from its PTX, its resources and the GPU's published figures. It
   ranks; it does not measure. docs/model.md has the formulas, docs/performance.md how good it is. */
#ifndef RUNTIME_MODEL_MODEL_H
#define RUNTIME_MODEL_MODEL_H

#include "ptx_walk.h"
#include "runtime/device.h"

/* Part of the key of every prediction: one of another model is not taken for one of this. */
enum { MODEL_VERSION = 6 };

/* What a launch spends its time on, each as if it were the only thing; seconds. */
enum model_part {
  MODEL_INSTRUCTIONS, /* and arithmetic */
  MODEL_FETCH,        /* of instructions that their cache does not hold */
  MODEL_L1,           /* with shared memory */
  MODEL_LATENCY,
  MODEL_L2,
  MODEL_MEMORY,
  MODEL_BLOCKS, /* starting them */
  MODEL_PARTS
};
/* "instructions", "L1 and shared memory", ... */
extern const char *const model_part_names[MODEL_PARTS];

/* Launches that differ are walked one by one. Of more of them some stand for those that follow: evenly spaced ones of each kernel. */
enum { MODEL_MOST_LAUNCHES = 64 };

struct model_launch {
  double parts[MODEL_PARTS];
  double waiting;           /* MODEL_LATENCY without what keeps the block's units busy; seconds */
  double exchange;          /* between the blocks of a cluster, after all else; seconds */
  int resident;             /* blocks on a multiprocessor */
  double blocks;            /* of the grid those that have something to do */
  struct ptx_counts counts; /* of a block */
};

struct model_prediction {
  double seconds;        /* of all launches */
  double requested;      /* bytes, as model_requested */
  enum model_part bound; /* the largest part */
  size_t launch_count;   /* that were walked */
  struct model_launch launches[MODEL_MOST_LAUNCHES];
};

/* As a device that is here looks for them, in the cubin; of PTX nothing is known. */
int model_check_symbols(const struct kernel_spec *spec, const struct compiled *compiled, cugen_error *err);

/* compiled holds the PTX. CUGEN_ERROR_CONFIG: the GPU cannot launch it, or it takes other parameters than it is passed. CUGEN_ERROR_INTERRUPTED:
   it was not done at `until`, by clock_seconds (0: never). Any other failure: the model knows no time for it. */
int model_predict(const struct device_description *device, const struct kernel_spec *spec,
                  const struct compiled *compiled, double until, struct model_prediction *out, cugen_error *err);

/* The bytes of global memory that the loads, stores and copies of all launches ask for, whatever serves them: those of each grid's
   middle block, times its blocks. 0: not known, or *stop was set (stop NULL: never). compiled holds the PTX; the device need not be described. */
double model_requested(const struct device_description *device, const struct kernel_spec *spec,
                       const struct compiled *compiled, const atomic_bool *stop);

#endif
