/* Rewriting parts of CUDA C++ that the shim's macros cannot express in C++. */
#ifndef EMULATOR_TRANSLATE_H
#define EMULATOR_TRANSLATE_H

#include "base/text.h"

/* Appends the source with each `extern __shared__ TYPE name[];` as a pointer to the block's
   dynamic shared memory, launches as refusals, and asm as calls. Line numbers do not change. */
void cpu_translate(const char *source, struct text *out);

/* Appends the numbers of an attribute of the entry's kernel, such as `__cluster_dims__(n, 1, 1)`,
   in the form that shim/entry.h exports. Appends nothing if the kernel has no such attribute.
   always: append the numbers even if an #if may exclude the attribute. */
void cpu_translate_numbers(const char *source, const char *entry, size_t index, const char *word,
                           const char *what, bool always, struct text *out);

#endif
