/* Loads from shared memory that ptxas makes one of: NVRTC's PTX loads a row of a tile word by word where ptxas, which knows how the
   row is aligned, loads 16 bytes at a time. Of 64 loads of a step of a product 40 are left, so that what PTX asks of shared memory is
   not what the machine is asked for. */
#ifndef RUNTIME_MODEL_PTX_JOIN_H
#define RUNTIME_MODEL_PTX_JOIN_H

#include "ptx.h"

/* Marks in each basic block the loads that are whole groups of 16 or 8 bytes from one register's address on. Whether they are
   one access depends on the address and on what the machine code has: that is for the walk to say. */
void ptx_join(struct ptx_kernel *kernel);

/* Loads of the PTX itself that bring a lane so many bytes of shared memory. */
int ptx_join_count(const struct ptx_kernel *kernel, int bytes);

#endif
