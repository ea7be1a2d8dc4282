/* Wording the defects that a check of a cache finds; see engine.h. */
#include <stdarg.h>

#include "base/error.h"
#include "engine.h"

/* Values in a row may come from anybody, so they are cleaned: no text moves a terminal's cursor
   or looks like a line of the check. */
static void findings_end_line(struct text *lines, size_t from) {
  for (size_t i = from; !lines->failed && i < lines->length; i++)
    if ((unsigned char)lines->data[i] < ' ' || lines->data[i] == 127) lines->data[i] = '?';
  text_add_char(lines, '\n');
}

void cache_check_add(struct cache_check *check, const char *format, ...) {
  size_t from = check->wrong->length;
  va_list args;
  va_start(args, format);
  text_vaddf(check->wrong, format, args);
  va_end(args);
  findings_end_line(check->wrong, from);
}

int cache_check_words(void *check, const struct cache_row *row, cugen_error *err) {
  (void)err;
  cache_check_add(check, "%s", row_text(row, 0));
  return CUGEN_OK;
}

int cache_check_record(void *context, const struct cache_row *row, cugen_error *err) {
  struct cache_check *check = context;
  const long long id = row_integer(row, CACHE_COLUMNS);
  const int64_t superseded = row_integer(row, CACHE_COLUMNS + 1);
  struct cache_record record;
  ++*(superseded ? &check->out->history : &check->out->records);
  if (superseded != 0 && superseded != 1)
    cache_check_add(check, "record %lld: superseded is neither 0 nor 1", id);
  if (!cache_row_record(row, &record)) return error_memory(err);
  if (record.wrong)
    cache_check_add(check, "record %lld ('%s'): %s %s: '%.200s'", id, record.variant,
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
    cache_check_add(check, "set %lld ('%s %s'): %s %s", (long long)row_integer(row, 4), key.config,
                    key.problem, name, wrong);
  return CUGEN_OK;
}

static void visit_image(void *context, const char *name, int64_t bytes,
                        enum cache_image_state state) {
  struct cache_check *check = context;
  check->out->images++;
  check->out->image_bytes += bytes;
  check->out->foreign_images += state == CACHE_IMAGE_FOREIGN;
  if (state == CACHE_IMAGE_FOREIGN) {
    size_t from = check->foreign->length;
    text_addf(check->foreign, "image '%s' is sealed with another key", name);
    findings_end_line(check->foreign, from);
  }
  if (state == CACHE_IMAGE_CHANGED)
    cache_check_add(
        check, "image '%s' is not what was stored; it will be compiled again when it is needed",
        name);
}

int cache_check_rest(struct cache_check *check, cugen_error *err) {
  struct cache *cache = check->cache;
  int status =
      cache->engine->query(cache, CACHE_QUERY_DOUBLES, NULL, 0, cache_check_words, check, err);
  if (!status)
    status = cache->engine->query(cache, CACHE_QUERY_KEYS, NULL, 0, check_key, check, err);
  if (!status)
    status =
        cache->engine->query(cache, CACHE_QUERY_ENTRIES, NULL, 0, cache_check_words, check, err);
  return status ? status : cache_images_visit(cache, visit_image, check, err);
}
