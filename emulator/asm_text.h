/* Translating `asm` in a source into calls of the shim; see asm_text.c. */
#ifndef EMULATOR_ASM_TEXT_H
#define EMULATOR_ASM_TEXT_H

#include "base/text.h"

/* Translates `asm volatile("text" : "=r"(x) : "r"(y) : "memory")`, which begins at `at`: writes the
   replacement, with as many line ends, and returns the place behind the closing parenthesis.
   Returns NULL if no such statement begins there, if it has no instruction, or if its operands have
   another form. *refused: the number of statements refused so far. */
const char *asm_translate(const char *at, unsigned *refused, struct text *out);

/* Copies the ends of lines, with the backslashes that continue a macro. */
void asm_keep_lines(const char *at, const char *end, struct text *out);

#endif
