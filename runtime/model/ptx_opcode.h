/* Decoding an opcode such as "ld.global.nc.v4.f32"; see ptx.h. */
#ifndef RUNTIME_MODEL_PTX_OPCODE_H
#define RUNTIME_MODEL_PTX_OPCODE_H

#include "ptx.h"

/* Sets the members that follow from the opcode; results is 1 if the first operand is the result,
   else 0. An unknown opcode counts as arithmetic whose value is not followed. */
void ptx_opcode_read(const char *text, size_t length, struct ptx_instruction *out);

#endif
