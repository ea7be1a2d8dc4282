/* The integers of a warp that is walked: registers by lane; see ptx_walk.h. */
#ifndef RUNTIME_MODEL_PTX_VALUE_H
#define RUNTIME_MODEL_PTX_VALUE_H

#include "ptx_walk.h"

enum { PTX_LANES = 32 };

/* Where the value of a register comes from that the walk does not know. Of an instruction's operands the greatest origin counts. */
enum ptx_origin {
  PTX_KNOWN,
  PTX_FROM_FLOAT, /* floats are not followed */
  PTX_FROM_LOCAL,
  PTX_FROM_SHARED,
  PTX_FROM_CONSTANT,
  PTX_FROM_GLOBAL,     /* memory of no buffer */
  PTX_FROM_BUFFER,     /* + the buffer's number, see PTX_BUFFER_SHIFT */
  PTX_FROM_SWAP = 255, /* an atomic compare-and-swap: what repeats it until it succeeds is taken to succeed at once */
};

struct ptx_values {
  uint64_t (*lanes)[PTX_LANES]; /* by place */
  int *place;                   /* by slot; -1: not kept */
  uint8_t *origin;              /* by slot: enum ptx_origin */
  bool *by_block; /* by slot: whether the block's place in the grid, or something not known, decides the value */
  uint8_t stored; /* the origin of what was stored to shared memory first */
  uint32_t thread[PTX_LANES][3], block[3];
  int warp;
  const struct ptx_launch *launch;
};

/* Addresses of the lanes that take part in an access. */
struct ptx_lanes {
  uint32_t mask;
  int bytes;     /* of each lane */
  bool known;    /* false: the addresses are made of values that are not known, and stand for others */
  bool by_block; /* other blocks go elsewhere */
  uint64_t address[PTX_LANES];
};

/* Of the index-th warp of the launch's block. */
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
/* The origin of what the operands from `first` on hold, PTX_KNOWN: all are known. */
enum ptx_origin ptx_origin_of(const struct ptx_values *values, const struct ptx_kernel *kernel,
                              const struct ptx_instruction *in, int first);
/* The same where it has to be a number in the text. */
int64_t ptx_operand_number(const struct ptx_kernel *kernel, const struct ptx_instruction *in, int index,
                           int64_t otherwise);
void ptx_lanes_read(const struct ptx_values *values, const struct ptx_kernel *kernel,
                    const struct ptx_instruction *in, int index, uint32_t mask, int bytes, struct ptx_lanes *out);

#endif
