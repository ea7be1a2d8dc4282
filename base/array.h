/* Arrays that grow by one element at a time, twice as large whenever they are full. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* Returns the array, moved if needed, with room for one more than `count` elements of `size` bytes.
   Returns NULL if memory is out; the old array is then unchanged. The capacity is not stored,
   because it is always the next power of two above count; count must start at 0 and may only
   rise. */
void *array_grow(void *array, size_t count, size_t size);

/* Like array_grow, for an array whose capacity the caller stores: an array that is refilled from
   its start, or was allocated with another capacity. */
void *array_reserve(void *array, size_t *capacity, size_t count, size_t size);

#endif
