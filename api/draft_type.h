/* The types that kernels' texts and tuning scripts name. */
#ifndef API_DRAFT_TYPE_H
#define API_DRAFT_TYPE_H

#include "base/dtype.h"

/* Returns the type, and of a vector such as float4 the number of its elements; NULL: unknown. */
const struct dtype *draft_type(const char *type, int *elements);

#endif
