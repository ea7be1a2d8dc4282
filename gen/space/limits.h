/* What a device can launch, as far as a config tells before anything is compiled: one table for the space, which leaves out
   what exceeds it, and for the expansion, which refuses it. */
#ifndef GEN_SPACE_LIMITS_H
#define GEN_SPACE_LIMITS_H

#include "base/launch.h"
#include "gen/config/config.h"

/* The product of the factors, or their sum, must lie between least and most. */
struct launch_limit {
  const struct expr *factors[CONFIG_MAX_LAUNCHES];
  size_t count;
  bool sum;
  int64_t least, most;
  const struct config_launch *launch; /* whose step it is about; NULL: no step's */
  const struct expr *steps;           /* how many it has, as launch_limit_holds is to evaluate it */
  int step;                           /* a launch with fewer steps has no such limit */
};

enum { LAUNCH_LIMITS = 9 };

/* Those of a launch in one of its steps: of each dimension that is given, of a block's threads, of dynamic shared memory; with
   step 0 also of the number of steps of its loop, which the loop's first launch has. Later steps have those alone that depend on the step. slots: the device. What is not known of it
   sets no limit. Returns how many. what[i]: "block: at most 1024 threads (device.max_threads_per_block)", "grid y in step 3: 1 to 65535". */
size_t launch_limits(const struct config_launch *launch, int step, const struct value *slots,
                     struct launch_limit *out, struct text *what);

/* That of all launches together; false: no steps decide how many there are. */
bool launch_count_limit(const struct config_implementation *implementation, struct launch_limit *out,
                        struct text *what);

/* Whether the product is allowed. What cannot be evaluated is: its own error tells more when the variant is expanded. Sets the
   slots of the launch's steps. */
bool launch_limit_holds(const struct launch_limit *limit, struct value *slots);

#endif
