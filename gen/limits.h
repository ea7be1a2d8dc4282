/* What a device can launch, as far as a config tells before anything is compiled: one table for the space, which leaves out
   what exceeds it, and for the expansion, which refuses it. */
#ifndef GEN_LIMITS_H
#define GEN_LIMITS_H

#include "config.h"

/* CUDA C++ Programming Guide, table of technical specifications: grid 2^31 - 1, 65535, 65535; block 1024, 1024, 64. */
struct dimension_limit {
  const char *name;
  int64_t most;
};
extern const struct dimension_limit grid_limits[3], block_limits[3];

/* The product of the factors must lie between least and most. */
struct launch_limit {
  const struct expr *factors[3];
  size_t count;
  int64_t least, most;
  const struct expr *steps; /* 0: the launch is left out, and its limits with it; NULL: 1 */
};

enum { LAUNCH_LIMITS = 9 };

/* Those of a launch: of each dimension that is given, of a block's threads, of dynamic shared memory, of its steps. slots: the device. What is
   not known of it sets no limit. Returns how many. what[i]: "block: at most 1024 threads (device.max_threads_per_block)". */
size_t launch_limits(const struct config_launch *launch, const struct value *slots, struct launch_limit *out,
                     struct text *what);

/* Whether the product is allowed. What cannot be evaluated is: its own error tells more when the variant is expanded. */
bool launch_limit_holds(const struct launch_limit *limit, const struct value *slots);

#endif
