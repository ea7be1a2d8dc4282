/* `asm` in a source, as a call of the shim; see asm_text.c. */
#ifndef RUNTIME_CPU_ASM_TEXT_H
#define RUNTIME_CPU_ASM_TEXT_H

#include "base/text.h"

/* `asm volatile("text" : "=r"(x) : "r"(y) : "memory")` at `at`, which begins with that word: writes its replacement and gives the place
   behind it, on the same line. NULL: it is none, or of a form that stays as it is. refused: how many were refused so far. */
const char *asm_translate(const char *at, unsigned *refused, struct text *out);

#endif
