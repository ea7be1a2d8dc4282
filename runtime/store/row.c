/* Records and keys from the rows of any engine; see engine.h. */
#include <stdlib.h>
#include <string.h>

#include "engine.h"

/* Reads column i into *out. Returns what is wrong with its value, or NULL. Sets *memory to false if
   memory runs out. */
static const char *row_read_column(const struct cache_row *row, int i, struct cache_record *out,
                                   bool *memory) {
  switch (cache_columns[i].type) {
  case COLUMN_TEXT:
    *(char **)cache_place_of(out, i) = strdup(row_text(row, i));
    *memory = *(char **)cache_place_of(out, i) != NULL;
    return NULL;
  case COLUMN_HASH:
  case COLUMN_CHARS:
  case COLUMN_OUTPUTS: return cache_take_text(out, i, row_text(row, i));
  case COLUMN_INT:
  case COLUMN_INT64:
  case COLUMN_TIME: return cache_take_whole(out, i, row_integer(row, i));
  case COLUMN_REAL: break;
  }
  return cache_take_real(out, i, row_real(row, i));
}

bool cache_row_record(const struct cache_row *row, struct cache_record *out) {
  bool memory = true;
  *out = (struct cache_record){0};
  for (int i = 0; i < CACHE_COLUMNS && memory; i++) {
    const char *wrong = row_read_column(row, i, out, &memory);
    if (wrong && !out->wrong) out->wrong = wrong, out->wrong_column = i;
  }
  if (memory)
    cache_record_settle(out);
  else
    cache_record_free(out);
  return memory;
}

struct cache_key cache_row_key(const struct cache_row *row, int first) {
  return (struct cache_key){.device = row_text(row, first),
                            .config = row_text(row, first + 1),
                            .problem = row_text(row, first + 2),
                            .options = row_text(row, first + 3)};
}
