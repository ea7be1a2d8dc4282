/* Wording the defects that a check of a cache finds; see engine.h. */
#include <stdarg.h>

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

void cache_check_record(struct cache_check *check, long long id, const struct cache_record *record,
                        const char *value) {
  if (record->wrong)
    cache_check_add(check, "record %lld ('%s'): %s %s: '%.200s'", id, record->variant,
                    cache_columns[record->wrong_column].name, record->wrong, value);
}

void cache_check_key(struct cache_check *check, long long id, const struct cache_key *key) {
  const char *name, *wrong = cache_key_wrong(key, &name);
  if (wrong)
    cache_check_add(check, "set %lld ('%s %s'): %s %s", id, key->config, key->problem, name, wrong);
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

int cache_check_images(struct cache_check *check, cugen_error *err) {
  return cache_images_visit(check->cache, visit_image, check, err);
}
