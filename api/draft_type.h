/* The types that kernels' texts and tuning scripts name. */
#ifndef API_DRAFT_TYPE_H
#define API_DRAFT_TYPE_H

#include "base/dtype.h"

/* Returns the dtype of a type's name; NULL: unknown. *elements becomes the length of a vector such
   as float4, else 1. */
const struct dtype *draft_type(const char *type, int *elements);

#endif
