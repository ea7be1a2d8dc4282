/* Types as a kernel's text and scripts spell them; see draft_type.h. */
#include "draft_type.h"

#include <string.h>

#include "gen/sources/signature.h"

const struct dtype *draft_type(const char *type, int *elements) {
  char base[SIGNATURE_TYPE];
  const size_t length = strlen(type);
  *elements = 1;
  for (size_t i = 0; i < DTYPE_COUNT; i++)
    if (strcmp(dtype_table[i].cuda_name, type) == 0 || strcmp(dtype_table[i].c_name, type) == 0)
      return &dtype_table[i];
  if (dtype_meant(type)) return dtype_find(dtype_meant(type));
  if (length < 2 || length > sizeof base || !strchr("234", type[length - 1])) return NULL;
  memcpy(base, type, length - 1);
  base[length - 1] = '\0';
  int inner;
  const struct dtype *dtype = draft_type(base, &inner);
  *elements = type[length - 1] - '0';
  return dtype;
}
