/* The names of the ways of timing; see measure_way.h. */
#include "measure_way.h"

#include <string.h>

const char *const measure_way_names[MEASURE_SERVED + 1] = {"burst", "graph", "sustained",
                                                           "cold", [MEASURE_SERVED] = "served"};

enum measure_way measure_way_find(const char *word) {
  int way = 0;
  while (way < MEASURE_WAYS && strcmp(word, measure_way_names[way]) != 0) way++;
  return (enum measure_way)way;
}
