/* What stands in an opcode such as "ld.global.nc.v4.f32"; see ptx.h. */
#ifndef RUNTIME_MODEL_PTX_OPCODE_H
#define RUNTIME_MODEL_PTX_OPCODE_H

#include "ptx.h"

/* Fills op, pipe, space, types and so on; results is 0 or 1: whether the first operand is what it gives. An opcode that is
   not known is arithmetic whose value is not followed. */
void ptx_opcode_read(const char *text, size_t length, struct ptx_instruction *out);

#endif
