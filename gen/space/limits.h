/* Limits of a device's launches, as far as the config determines them before anything is compiled.
   The space leaves out variants that break these limits. */
#ifndef GEN_SPACE_LIMITS_H
#define GEN_SPACE_LIMITS_H

#include "base/launch.h"
#include "gen/config/config.h"

/* The product of the factors, or their sum, must lie between `least` and `most`. */
struct launch_limit {
  const struct expr *factors[CONFIG_MAX_LAUNCHES];
  size_t count;
  bool sum;
  int64_t least, most;
  const struct config_launch *launch; /* launch whose step the limit is about; NULL: the limit is
                                         not about a step */
  const struct expr *steps;           /* number of steps of the launch */
  int step;                           /* number of the step; the limit does not apply if the launch
                                         has fewer steps */
};

/* The most limits that launch_limits lists. */
enum { LAUNCH_LIMITS = 9 };

/* Lists the limits of a launch in one of its steps: of each dimension of grid and block that is
   given, of the threads of a block, and of dynamic shared memory. Step 0 of the first launch of a
   loop also has the limit of the loop's number of steps. Later steps have only the limits that
   depend on the step. slots: the device is set; unknown facts set no limit. Returns the number of
   limits. what[i]: "block: at most 1024 threads (device.max_threads_per_block)", "grid y in step 3:
   1 to 65535". */
size_t launch_limits(const struct config_launch *launch, int step, const struct value *slots,
                     struct launch_limit *out, struct text *what);

/* Fills in the limit of all launches of a call together. Returns false if no steps influence the
   number of launches. */
bool launch_count_limit(const struct config_implementation *implementation,
                        struct launch_limit *out, struct text *what);

/* Returns whether the limit allows the values in the slots. A limit that cannot be evaluated holds.
   Overwrites the slots of the launch's steps. */
bool launch_limit_holds(const struct launch_limit *limit, struct value *slots);
/* Sets *total to the product or sum that the limit bounds; to INT64_MAX if it overflows. Returns
   false if the limit cannot be evaluated or the launch has no such step. Overwrites the slots of
   the launch's steps. */
bool launch_limit_total(const struct launch_limit *limit, struct value *slots, int64_t *total);

#endif
