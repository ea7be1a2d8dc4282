/* Arrays that grow by one element, and double when full. */
#ifndef BASE_ARRAY_H
#define BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns the array, moved if needed, with room for one more than `count` elements of `size` bytes.
   Returns NULL if memory is out; the old array is then unchanged. The capacity is at least
   the smallest power of two that is not below count, so count must start at 0. */
void *array_grow(void *array, size_t count, size_t size);

/* Like array_grow, for the variable in which the array is stored. Returns false if memory is
   out. */
#define ARRAY_ROOM(array, count) array_room(&(array), count, sizeof *(array))
bool array_room(void *place, size_t count, size_t size);
/* Appends a value; false if memory is out. */
#define ARRAY_ADD(array, count, ...)                                                               \
  (ARRAY_ROOM(array, count) && ((array)[(count)++] = (__VA_ARGS__), true))

/* Adds a copy of the text to a list of texts. Returns false if memory is out. */
bool array_add_text(char ***texts, size_t *count, const char *text);
/* Frees a list of texts, some of which may be NULL. */
void array_free_texts(char **texts, size_t count);

/* Sorts numbers, the least first. */
void array_sort_doubles(double *numbers, size_t count);

/* Like array_grow, for an array whose capacity the caller stores. */
void *array_reserve(void *array, size_t *capacity, size_t count, size_t size);

#endif
