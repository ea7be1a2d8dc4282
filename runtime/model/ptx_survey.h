/* Which blocks of a grid have work. Programs launch more blocks than they need, and the
   superfluous ones return at once: the walked block must not be one of them, and they must not
   be counted as working. */
#ifndef RUNTIME_MODEL_PTX_SURVEY_H
#define RUNTIME_MODEL_PTX_SURVEY_H

#include "ptx_walk.h"

struct ptx_survey {
  /* fraction of the grid's blocks that execute at least a quarter of the busiest block's
     instructions */
  double working;
  uint32_t at[3]; /* a block in the middle of the working ones */
  double idle;    /* instructions of a warp of an idle block */
};

/* Follows the first instructions of some blocks: the middle one and those at the ends, and more
   blocks if these differ. Reads launch->grid and leaves launch->at unchanged. */
int ptx_survey(const struct ptx_kernel *kernel, const struct ptx_machine *machine,
               const struct ptx_launch *launch, struct ptx_survey *out, cugen_error *err);

#endif
