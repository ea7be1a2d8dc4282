/* Records and keys from the rows of any engine; see engine.h. */
#include "engine.h"

static const char *row_read_column(const struct cache_row *row, int i, struct cache_record *out) {
  switch (cache_kind_of(i)) {
  case CACHE_TEXT: return cache_take_text(out, i, row_text(row, i));
  case CACHE_WHOLE: return cache_take_whole(out, i, row_integer(row, i));
  case CACHE_REAL: break;
  }
  return cache_take_real(out, i, row_real(row, i));
}

bool cache_row_record(const struct cache_row *row, struct cache_record *out) {
  bool memory = true;
  *out = (struct cache_record){0};
  for (int i = 0; i < CACHE_COLUMNS && memory; i++) {
    const char *wrong = row_read_column(row, i, out);
    memory = wrong != cache_no_memory;
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

int cache_pass_entry(struct cache_pass *pass, const struct cache_key *key,
                     const struct cache_row *row, cugen_error *err) {
  struct cache_entry entry = {.key = *key};
  if (!cache_row_record(row, &entry.record)) return error_memory(err);
  const char *name, *wrong = cache_entry_wrong(&entry.key, &entry.record, &name);
  int status = CUGEN_OK;
  if (pass->counting)
    ++*(wrong ? &pass->left_out : &pass->count);
  else if (!wrong)
    status = pass->visit->record(pass->visit->context, &entry, err);
  cache_record_free(&entry.record);
  return status;
}
