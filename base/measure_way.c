/* The ways of timing by name; see measure_way.h. */
#include "measure_way.h"

#include <string.h>

const char *const measure_way_names[MEASURE_SERVED + 1] = {"burst", "graph", "sustained",
                                                           "cold", [MEASURE_SERVED] = "served"};

static const char named[] = ", measure ";

enum measure_way measure_way_find(const char *word) {
  int way = 0;
  while (way < MEASURE_WAYS && strcmp(word, measure_way_names[way]) != 0) way++;
  return (enum measure_way)way;
}

void measure_way_add(enum measure_way way, struct text *options) {
  if (way != MEASURE_BURST) text_addf(options, "%s%s", named, measure_way_names[way]);
}

enum measure_way measure_way_of(const char *options, size_t *length) {
  const char *found = strstr(options, named);
  enum measure_way way = found ? measure_way_find(found + sizeof named - 1) : MEASURE_BURST;
  *length = found ? (size_t)(found - options) : strlen(options);
  return found && strcmp(found + sizeof named - 1, measure_way_names[MEASURE_SERVED]) == 0
             ? MEASURE_SERVED
             : way;
}
