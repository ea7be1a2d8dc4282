/* The integer registers of a walked warp, by lane; see ptx_walk.h. */
#ifndef RUNTIME_MODEL_PTX_VALUE_H
#define RUNTIME_MODEL_PTX_VALUE_H

#include "ptx_walk.h"

enum { PTX_LANES = 32 };

/* The origin of an unknown value in a register. The result of integer arithmetic has the greatest
   origin of its operands and guard. */
enum ptx_origin {
  PTX_KNOWN,
  PTX_FROM_FLOAT, /* floats are not followed */
  PTX_FROM_LOCAL,
  PTX_FROM_SHARED,
  PTX_FROM_CONSTANT,
  PTX_FROM_GLOBAL, /* global memory outside of buffers, and textures */
  PTX_FROM_BUFFER, /* plus the buffer's number, see PTX_BUFFER_SHIFT */
  /* An atomic compare-and-swap; a loop that repeats the swap until the swap succeeds is assumed to
     succeed at once. */
  PTX_FROM_SWAP = 255,
};

struct ptx_values {
  uint64_t (*lanes)[PTX_LANES]; /* values by place, then lane */
  /* the place of a slot in lanes; -1: the slot's values are not kept */
  int *place;
  uint8_t *origin; /* by slot: enum ptx_origin */
  /* By slot: the value depends on the block's position in the grid, or on a load from memory. */
  bool *by_block;
  /* origin of the first unknown value that was stored to shared memory or by a generic address;
     0: none */
  uint8_t stored;
  uint32_t thread[PTX_LANES][3], block[3];
  int warp;
  const struct ptx_launch *launch;
};

/* Addresses of the lanes that take part in an access. */
struct ptx_lanes {
  uint32_t mask;
  int bytes;     /* bytes of each lane's access */
  bool known;    /* false: the addresses come from unknown values and are stand-ins */
  bool by_block; /* the addresses depend on the block's position in the grid, or on a load from
                    memory */
  uint64_t address[PTX_LANES];
};

/* Opens the values of the index-th warp of the launch's block. Close them also after a failure. */
int ptx_values_open(const struct ptx_kernel *kernel, const struct ptx_launch *launch, int index,
                    struct ptx_values *out, cugen_error *err);
void ptx_values_close(struct ptx_values *values);

/* Returns the lanes for which a guard holds. */
uint32_t ptx_predicate(const struct ptx_values *values, int slot, bool negated);
void ptx_execute(struct ptx_values *values, const struct ptx_kernel *kernel,
                 const struct ptx_instruction *in, uint32_t mask);

/* Returns the value of the instruction's index-th operand for a lane; 0: no such operand. */
int64_t ptx_value_of(const struct ptx_values *values, const struct ptx_kernel *kernel,
                     const struct ptx_instruction *in, int index, int lane);
/* Returns the greatest origin of the operands from `first` on; PTX_KNOWN: all values are known. */
enum ptx_origin ptx_origin_of(const struct ptx_values *values, const struct ptx_kernel *kernel,
                              const struct ptx_instruction *in, int first);
/* Returns the value of an operand that is a number in the text; otherwise `otherwise`. */
int64_t ptx_operand_number(const struct ptx_kernel *kernel, const struct ptx_instruction *in,
                           int index, int64_t otherwise);
void ptx_lanes_read(const struct ptx_values *values, const struct ptx_kernel *kernel,
                    const struct ptx_instruction *in, int index, uint32_t mask, int bytes,
                    struct ptx_lanes *out);

#endif
