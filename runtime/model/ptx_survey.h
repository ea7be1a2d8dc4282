/* Which blocks of a grid have something to do. Programs launch more than they need, and those that are left over return at once: the
   block that is walked must not be one of them, and they must not count as if they worked. */
#ifndef RUNTIME_MODEL_PTX_SURVEY_H
#define RUNTIME_MODEL_PTX_SURVEY_H

#include "ptx_walk.h"

struct ptx_survey {
  double working; /* the share of the grid's blocks that have as much to do as the busiest, or a quarter of it */
  uint32_t at[3]; /* one in the middle of these */
  double idle;    /* instructions of a warp of the others */
};

/* Some blocks are followed for their first instructions: the middle one and those at the ends, and more where these differ. Looks at
   launch->grid, and leaves launch->at alone. */
int ptx_survey(const struct ptx_kernel *kernel, const struct ptx_machine *machine, const struct ptx_launch *launch,
               struct ptx_survey *out, cugen_error *err);

#endif
