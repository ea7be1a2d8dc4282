/* Reading a line of wisdom in exactly the form that cugen writes: fields in order, no escapes,
   ASCII alone. Most lines have this form, and are read faster than by jansson. Any other line,
   right or wrong, is left to jansson: see read.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "format.h"
#include "runtime/store/engine.h"

/* A copy of a line that is being read, in which strings get their final zeros. */
struct plain {
  char *at; /* the part that is not read yet */
};

static bool plain_take(struct plain *plain, const char *text, size_t length) {
  if (strncmp(plain->at, text, length) != 0) return false;
  plain->at += length;
  return true;
}

/* Takes '{"name":' at the first field, ',"name":' at later fields. */
static bool plain_take_name(struct plain *plain, bool first, const char *name) {
  return plain_take(plain, first ? "{\"" : ",\"", 2) && plain_take(plain, name, strlen(name)) &&
         plain_take(plain, "\":", 2);
}

static char *take_string(struct plain *plain) {
  if (*plain->at != '"') return NULL;
  char *start = ++plain->at;
  while (*plain->at >= ' ' && *plain->at < 127 && *plain->at != '"' && *plain->at != '\\')
    plain->at++;
  if (*plain->at != '"') return NULL;
  *plain->at++ = '\0';
  return start;
}

static size_t plain_digits(const char *at) {
  return strspn(at, "0123456789");
}

enum { SURE_DIGITS = 15 }; /* digits of a whole number that a double holds exactly */

static bool plain_take_whole(struct plain *plain, int64_t *out) {
  size_t length = plain_digits(plain->at);
  if (length == 0 || length > 18 || (*plain->at == '0' && length > 1)) return false;
  *out = 0;
  for (; length; length--) *out = 10 * *out + (*plain->at++ - '0');
  return *plain->at == ',';
}

static bool take_real(struct plain *plain, double *out) {
  const char *at = plain->at;
  if (plain_take(plain, "null", 4)) return *out = (double)NAN, true;
  if (plain_take(plain, "\"inf\"", 5)) return *out = (double)INFINITY, true;
  size_t whole = plain_digits(at);
  if (whole == 0 || whole > SURE_DIGITS || (*at == '0' && whole > 1)) return false;
  at += whole;
  if (*at == '.') {
    size_t fraction = plain_digits(at + 1);
    if (fraction == 0) return false;
    at += 1 + fraction;
  }
  if (*at == 'e' || *at == 'E') {
    at += 1 + (at[1] == '+' || at[1] == '-');
    if (plain_digits(at) == 0) return false;
    at += plain_digits(at);
  }
  char *end;
  /* strtod stops early where an application's locale has another decimal point */
  *out = strtod(plain->at, &end);
  plain->at = end;
  return end == at && *end == ',' && isfinite(*out);
}

static bool take_column(struct plain *plain, int i, struct cache_record *out) {
  int64_t whole;
  double real;
  char *text;
  switch (cache_kind_of(i)) {
  case CACHE_TEXT:
    if (!(text = take_string(plain))) return false;
    if (cache_columns[i].type != COLUMN_TEXT) return !cache_take_text(out, i, text);
    *(char **)cache_place_of(out, i) = text; /* lies in the scratch */
    return true;
  case CACHE_WHOLE: return plain_take_whole(plain, &whole) && !cache_take_whole(out, i, whole);
  case CACHE_REAL: break;
  }
  return take_real(plain, &real) && !cache_take_real(out, i, real);
}

static bool plain_take_entry(struct plain *plain, int format, struct cache_entry *out) {
  for (int i = 0; i < CACHE_KEY_PARTS; i++)
    if (!plain_take_name(plain, i == 0, cache_key_names[i]) ||
        !(*cache_key_part(&out->key, i) = take_string(plain)))
      return false;
  for (int i = 0; i < CACHE_COLUMNS; i++)
    if (cache_columns[i].format <= format &&
        !(plain_take_name(plain, false, cache_columns[i].name) &&
          take_column(plain, i, &out->record)))
      return false;
  return true;
}

static bool is_proved(const char *line, size_t covered) {
  struct hash hash = hash_bytes(line, covered);
  const char *mark = line + covered;
  return memcmp(mark, WISDOM_CHECKSUM_MARK, WISDOM_MARK) == 0 &&
         memcmp(mark + WISDOM_MARK, hash.hex, 32) == 0 &&
         memcmp(mark + WISDOM_MARK + 32, "\"}", 2) == 0;
}

const char *wisdom_entry_wrong(struct cache_entry *entry, const char **name) {
  struct cache_record *record = &entry->record;
  record->wrong = cache_record_wrong(record, &record->wrong_column);
  return cache_entry_wrong(&entry->key, record, name);
}

bool wisdom_read_plain(const char *line, size_t length, int format, struct text *scratch,
                       struct cache_entry *out) {
  const char *name;
  if (length <= WISDOM_CHECKSUM || !is_proved(line, length - WISDOM_CHECKSUM)) return false;
  text_clear(scratch);
  text_add_n(scratch, line, length);
  if (scratch->failed || strlen(text_get(scratch)) != length) return false;
  struct plain plain = {scratch->data};
  *out = (struct cache_entry){0};
  return plain_take_entry(&plain, format, out) &&
         plain.at == scratch->data + length - WISDOM_CHECKSUM && !wisdom_entry_wrong(out, &name);
}
