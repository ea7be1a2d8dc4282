/* The integers of a warp that is walked: registers by lane; see ptx_walk.h. */
#ifndef RUNTIME_MODEL_PTX_VALUE_H
#define RUNTIME_MODEL_PTX_VALUE_H

#include "ptx_walk.h"

enum { PTX_LANES = 32 };

struct ptx_values {
  uint64_t (*lanes)[PTX_LANES]; /* by place */
  int *place;                   /* by slot; -1: not kept */
  uint32_t thread[PTX_LANES][3], block[3];
  int warp;
  const struct ptx_launch *launch;
};

/* Addresses of the lanes that take part in an access. */
struct ptx_lanes {
  uint32_t mask;
  int bytes; /* of each lane */
  uint64_t address[PTX_LANES];
};

/* Of the index-th warp of the grid's middle block. */
int ptx_values_open(const struct ptx_kernel *kernel, const struct ptx_launch *launch, int index,
                    struct ptx_values *out, cugen_error *err);
void ptx_values_close(struct ptx_values *values);

/* The lanes for which a guard holds. */
uint32_t ptx_predicate(const struct ptx_values *values, int slot, bool negated);
void ptx_execute(struct ptx_values *values, const struct ptx_kernel *kernel, const struct ptx_instruction *in,
                 uint32_t mask);

/* The instruction's operand at index, for a lane; 0 where there is none. */
int64_t ptx_value_of(const struct ptx_values *values, const struct ptx_kernel *kernel,
                     const struct ptx_instruction *in, int index, int lane);
/* The same where it has to be a number in the text. */
int64_t ptx_operand_number(const struct ptx_kernel *kernel, const struct ptx_instruction *in, int index,
                           int64_t otherwise);
void ptx_lanes_read(const struct ptx_values *values, const struct ptx_kernel *kernel,
                    const struct ptx_instruction *in, int index, uint32_t mask, int bytes, struct ptx_lanes *out);

#endif
