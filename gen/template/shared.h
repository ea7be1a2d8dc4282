/* Writes a shared array of the config into the source. */
#ifndef GEN_TEMPLATE_SHARED_H
#define GEN_TEMPLATE_SHARED_H

#include "gen/config/config.h"

/* Appends the type of the array, with its accessors, and its declaration: a variable of static
   shared memory, or a part of the block's dynamic shared memory. block_align: for the first dynamic
   array of a source the alignment of the dynamic memory, which is then declared, too; else 0. */
void shared_array_define(const struct layout_array *array, int64_t block_align, struct text *out);

#endif
