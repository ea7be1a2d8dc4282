/* Arrays that grow; see array.h. */
#include "array.h"

#include <stdint.h>
#include <stdlib.h>

static void *resize(void *array, size_t count, size_t size) {
  return count > SIZE_MAX / size ? NULL : realloc(array, count * size);
}

void *array_grow(void *array, size_t count, size_t size) {
  if (count & (count - 1)) return array; /* The array is full only when count is a power of two. */
  return resize(array, count ? 2 * count : 1, size);
}

void *array_reserve(void *array, size_t *capacity, size_t count, size_t size) {
  enum { FIRST = 16 };
  if (count < *capacity) return array;
  const size_t wanted = *capacity ? 2 * *capacity : FIRST;
  void *grown = resize(array, wanted, size);
  if (grown) *capacity = wanted;
  return grown;
}
