/* Arrays that grow; see array.h. */
#include "array.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *resize(void *array, size_t count, size_t size) {
  return count > SIZE_MAX / size ? NULL : realloc(array, count * size);
}

void *array_grow(void *array, size_t count, size_t size) {
  if (count & (count - 1)) return array; /* The array is full only when count is a power of two. */
  return resize(array, count ? 2 * count : 1, size);
}

bool array_room(void *place, size_t count, size_t size) {
  void *array;
  memcpy(&array, place, sizeof array);
  array = array_grow(array, count, size);
  if (array) memcpy(place, &array, sizeof array);
  return array != NULL;
}

bool array_add_text(char ***texts, size_t *count, const char *text) {
  if (!array_room(texts, *count, sizeof(char *))) return false;
  (*texts)[*count] = strdup(text);
  return (*texts)[*count] && ++*count;
}

void array_free_texts(char **texts, size_t count) {
  for (size_t i = 0; texts && i < count; i++) free(texts[i]);
  free(texts);
}

void *array_reserve(void *array, size_t *capacity, size_t count, size_t size) {
  enum { FIRST = 16 };
  if (count < *capacity) return array;
  const size_t wanted = *capacity ? 2 * *capacity : FIRST;
  void *grown = resize(array, wanted, size);
  if (grown) *capacity = wanted;
  return grown;
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

void array_sort_doubles(double *numbers, size_t count) {
  qsort(numbers, count, sizeof *numbers, compare_doubles);
}
