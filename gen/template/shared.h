/* What a declared shared array becomes in the source. */
#ifndef GEN_TEMPLATE_SHARED_H
#define GEN_TEMPLATE_SHARED_H

#include "gen/config/config.h"

enum shared_memory { SHARED_STATIC, SHARED_DYNAMIC, SHARED_DYNAMIC_FIRST };

/* Appends the type of the array, with its accessors, and its declaration: a variable of static
   shared memory, or a part of the block's dynamic shared memory, which is declared with the
   first. */
void shared_array_define(const struct layout_array *array, enum shared_memory memory,
                         struct text *out);

#endif
