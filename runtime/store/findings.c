/* Wording the defects that a check of a cache finds; see engine.h. */
#include <stdarg.h>

#include "base/error.h"
#include "engine.h"

/* Values in a row may come from anybody, so control characters, which could move a terminal's
   cursor or imitate a line of the check, become '?'. */
void cache_check_add(struct text *lines, const char *format, ...) {
  const size_t from = lines->length;
  va_list args;
  va_start(args, format);
  text_vaddf(lines, format, args);
  va_end(args);
  for (size_t i = from; !lines->failed && i < lines->length; i++)
    if ((unsigned char)lines->data[i] < ' ' || lines->data[i] == 127) lines->data[i] = '?';
  text_add_char(lines, '\n');
}

int cache_check_words(void *context, const struct cache_row *row, cugen_error *err) {
  struct cache_check *check = context;
  (void)err;
  cache_check_add(check->wrong, "%s", row_text(row, 0));
  return CUGEN_OK;
}

int cache_check_record(void *context, const struct cache_row *row, cugen_error *err) {
  struct cache_check *check = context;
  const long long id = row_integer(row, CACHE_COLUMNS);
  const int64_t superseded = row_integer(row, CACHE_COLUMNS + 1);
  struct cache_record record;
  ++*(superseded ? &check->out->history : &check->out->records);
  if (superseded != 0 && superseded != 1)
    cache_check_add(check->wrong, "record %lld: superseded is neither 0 nor 1", id);
  if (!cache_row_record(row, &record)) return error_memory(err);
  if (record.wrong)
    cache_check_add(check->wrong, "record %lld ('%s'): %s %s: '%.200s'", id, record.variant,
                    cache_columns[record.wrong_column].name, record.wrong,
                    row_text(row, record.wrong_column));
  cache_record_free(&record);
  return CUGEN_OK;
}

static int check_key(void *context, const struct cache_row *row, cugen_error *err) {
  struct cache_check *check = context;
  const struct cache_key key = cache_row_key(row, 0);
  const char *name, *wrong = cache_key_wrong(&key, &name);
  (void)err;
  check->out->sets++;
  if (wrong)
    cache_check_add(check->wrong, "set %lld ('%s %s'): %s %s", (long long)row_integer(row, 4),
                    key.config, key.problem, name, wrong);
  return CUGEN_OK;
}

static int check_image(void *context, const struct cache_row *row, cugen_error *err) {
  struct cache_check *check = context;
  const char *name = row_text(row, 0);
  enum cache_image_state state;
  check->out->images++;
  check->out->image_bytes += row_integer(row, 1);
  int status = cache_image_state(check->cache, name, &state, err);
  if (status || state == CACHE_IMAGE_OWN) return status;
  check->out->foreign_images += state == CACHE_IMAGE_FOREIGN;
  if (state == CACHE_IMAGE_FOREIGN)
    cache_check_add(check->foreign, "image '%s' is sealed with another key", name);
  else
    cache_check_add(
        check->wrong,
        "image '%s' is not what was stored; it will be compiled again when it is needed", name);
  return CUGEN_OK;
}

int cache_check_rest(struct cache_check *check, cugen_error *err) {
  static const struct {
    enum cache_query query;
    cache_row_visitor *visit;
  } parts[] = {{CACHE_QUERY_DOUBLES, cache_check_words},
               {CACHE_QUERY_KEYS, check_key},
               {CACHE_QUERY_ENTRIES, cache_check_words},
               {CACHE_QUERY_IMAGES, check_image}};
  struct cache *cache = check->cache;
  int status = CUGEN_OK;
  for (size_t i = 0; i < sizeof parts / sizeof *parts && !status; i++)
    status = cache->engine->query(cache, parts[i].query, NULL, 0, parts[i].visit, check, err);
  return status;
}
