/* Growing lists of records and of sets of records, which engines fill; see engine.h. */
#include <stdlib.h>

#include "base/array.h"
#include "engine.h"

struct cache_record *cache_records_next(struct cache_records *records) {
  struct cache_record *data =
      array_reserve(records->data, &records->capacity, records->count, sizeof *data);
  if (!data) return NULL;
  records->data = data;
  return &records->data[records->count];
}

void cache_records_free(struct cache_records *records) {
  for (size_t i = 0; i < records->count; i++) cache_record_free(&records->data[i]);
  free(records->data);
}

struct cache_space *cache_spaces_next(struct cache_spaces *spaces) {
  struct cache_space *data =
      array_reserve(spaces->data, &spaces->capacity, spaces->count, sizeof *data);
  if (!data) return NULL;
  spaces->data = data;
  data[spaces->count] = (struct cache_space){0};
  return &data[spaces->count++];
}

void cache_spaces_free(struct cache_space *spaces, size_t count) {
  for (size_t i = 0; i < count; i++) {
    char *strings[] = {spaces[i].device,  spaces[i].config, spaces[i].problem,
                       spaces[i].options, spaces[i].best,   spaces[i].origin};
    for (size_t s = 0; s < sizeof strings / sizeof *strings; s++) free(strings[s]);
  }
  free(spaces);
}
