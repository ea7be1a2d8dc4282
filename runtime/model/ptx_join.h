/* Loads from shared memory that ptxas joins: NVRTC's PTX may load a row of a tile word by word,
   but ptxas, which knows the alignment of the row, loads 16 bytes at a time. So the shared memory
   traffic of PTX differs from the machine's. */
#ifndef RUNTIME_MODEL_PTX_JOIN_H
#define RUNTIME_MODEL_PTX_JOIN_H

#include "ptx.h"

/* Marks in each basic block the loads that together fill 16 or 8 bytes at offsets from one base.
   The walk decides whether such a group is one access. */
void ptx_join(struct ptx_kernel *kernel);

/* Returns the number of loads in the PTX, before joining, that bring a lane `bytes` bytes of shared
   memory. */
int ptx_join_count(const struct ptx_kernel *kernel, int bytes);

#endif
