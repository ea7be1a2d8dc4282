/* CUDA C++ as text that the shim's macros can take: what has no form in C++ is written otherwise. */
#ifndef RUNTIME_CPU_TRANSLATE_H
#define RUNTIME_CPU_TRANSLATE_H

#include "base/text.h"

/* The source with each `extern __shared__ TYPE name[];` as a pointer to the block's dynamic shared memory, launches as refusals, and
   asm as calls. Lines stay where they are. */
void cpu_translate(const char *source, struct text *out);

/* How many blocks a cluster of the entry's kernel has: its __cluster_dims__, whose names are known behind the source too. Nothing where
   it has none. */
void cpu_translate_cluster(const char *source, const char *entry, size_t index, struct text *out);

#endif
