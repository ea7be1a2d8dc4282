/* CUDA C++ as text that the shim's macros can take: what has no form in C++ is written otherwise. */
#ifndef RUNTIME_CPU_TRANSLATE_H
#define RUNTIME_CPU_TRANSLATE_H

#include "base/text.h"

/* The source with each `extern __shared__ TYPE name[];` as a pointer to the block's dynamic shared memory, launches as refusals, and
   asm as calls. Lines stay where they are. */
void cpu_translate(const char *source, struct text *out);

/* What an attribute of the entry's kernel says, `__cluster_dims__(n, 1, 1)`, as numbers for whoever reads the object: shim/entry.h. Its
   names are known behind the source too. Nothing where the kernel has none. always: also where an #if may have left it out. */
void cpu_translate_numbers(const char *source, const char *entry, size_t index, const char *word, const char *what,
                           bool always, struct text *out);

#endif
