/* Theoretical occupancy by the toolkit's own calculator (cuda_occupancy.h). */
#ifndef RUNTIME_MODEL_OCCUPANCY_H
#define RUNTIME_MODEL_OCCUPANCY_H

#include "runtime/device.h"

struct occupancy {
  int blocks;      /* resident on one multiprocessor */
  double fraction; /* of the multiprocessor's threads */
  /* "threads", "blocks", "registers", "shared memory"; "none" when blocks == 0 because no block
     fits */
  const char *limiter;
};

/* threads, dynamic_shared: of a block; carveout: preferred share of shared memory in percent, -1:
   the driver decides. *out has 0 blocks if no block fits. */
int occupancy_get(const struct device_facts *facts, const struct kernel_resources *resources,
                  int threads, int64_t dynamic_shared, int carveout, struct occupancy *out,
                  cugen_error *err);

/* The number of a cooperative launch's blocks that a multiprocessor holds at a time; -1: the
   launch is not cooperative, or the number is not known. */
int occupancy_resident(const struct device_facts *facts, const struct kernel_resources *resources,
                       const struct kernel_launch *launch);

/* Dynamic shared memory of a block with that many threads, in bytes. */
typedef int occupancy_shared(void *context, int threads, int64_t *bytes, cugen_error *err);
/* Sets *threads to the block size with the highest occupancy, the largest such size, as
   cudaOccupancyMaxPotentialBlockSizeVariableSMem does; 0: no block fits. A block size for which
   `shared` fails is left out. */
int occupancy_best_block(const struct device_facts *facts, const struct kernel_resources *resources,
                         int carveout, occupancy_shared *shared, void *context, int *threads,
                         cugen_error *err);

#endif
