/* Compute capabilities and architectures, and what every GPU of one has in common: limits, and rates a multiprocessor. The one
   place for these figures; descriptions (configs/devices/) state only what is different. */
#ifndef BASE_CAPABILITY_H
#define BASE_CAPABILITY_H

#include <stdbool.h>

#include "gpu.h"

/* "sm_90a" in its parts. */
struct arch {
  int capability; /* 90 */
  char suffix;    /* 'a', 'f', or 0 */
};

/* False: that is not how an architecture is written. Whether there is such a GPU is not asked. */
bool arch_parse(const char *text, struct arch *out);

/* Fills max_threads_per_sm, max_blocks_per_sm, registers_per_sm, shared_per_sm and shared_per_block_optin. False: not
   known. */
bool capability_limits(int64_t compute_capability, struct device_facts *out);

/* Fills the lanes and the tensor cores' rates, of the GPU with that name; 0: it has none, or it is not known. */
bool capability_rates(int64_t compute_capability, const char *name, struct gpu_rates *out);

#endif
