/* Finds which blocks of a grid have work. Some programs launch more blocks than they need, and the
   superfluous blocks return at once. */
#ifndef RUNTIME_MODEL_PTX_SURVEY_H
#define RUNTIME_MODEL_PTX_SURVEY_H

#include "ptx_walk.h"

struct ptx_survey {
  /* estimated fraction of the grid's blocks that execute at least a quarter of the busiest block's
     instructions */
  double working;
  uint32_t at[3]; /* a working block, in the middle of the working blocks if these are contiguous */
  double idle;    /* instructions of a warp of an idle block */
};

/* Follows the first instructions of the block in the middle and the blocks at the ends, and of more
   blocks if one of these seems idle. */
int ptx_survey(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
               const struct ptx_launch *launch, struct ptx_survey *out, cugen_error *err);

#endif
