/* Arrays that grow by one element at a time, twice as large whenever they are full. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stddef.h>

/* The array with room for one more than count elements of that size; NULL: out of memory, and the old one is as it was. It has
   room for the next power of two, so that no capacity is kept; count begins at 0 and only rises. */
void *array_grow(void *array, size_t count, size_t size);

/* The same for an array that is filled again from its start, or has a capacity for another reason. */
void *array_reserve(void *array, size_t *capacity, size_t count, size_t size);

#endif
