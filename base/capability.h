/* Compute capabilities and architectures, and figures by compute capability: limits, and rates per
   multiprocessor, some of which are lower for GeForce cards. The descriptions in configs/devices/
   state where a GPU differs. */
#ifndef BASE_CAPABILITY_H
#define BASE_CAPABILITY_H

#include <stdbool.h>

#include "gpu.h"

/* An architecture such as "sm_90a", split into its parts. */
struct arch {
  int capability; /* 90 for compute capability 9.0 */
  char suffix;    /* 'a' or 'f', or 0 without a suffix */
};

/* Returns false if the text is not written like an architecture. */
bool arch_parse(const char *text, struct arch *out);

/* Fills max_threads_per_sm, max_blocks_per_sm, registers_per_sm, shared_per_sm and
   shared_per_block_optin. Returns false if the compute capability is unknown. */
bool capability_limits(int64_t compute_capability, struct device_facts *out);

/* Fills the rates of the lanes and of the tensor cores of the GPU with this name. A rate is 0 if
   the GPU has no such unit or the rate is unknown. Returns false if the compute capability is
   unknown. */
bool capability_rates(int64_t compute_capability, const char *name, struct gpu_rates *out);

#endif
