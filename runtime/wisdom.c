/* Writing and reading wisdom with jansson; see wisdom.h. */
#include "wisdom.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cache_tables.h"

static const char format_name[] = "cugen wisdom";
static const char checksum_mark[] = ",\"checksum\":\"";
enum { HASH_DIGITS = 32, CHECKSUM_LENGTH = sizeof checksum_mark - 1 + HASH_DIGITS + 2 /* "} */ };

static const char *const key_names[] = {"device", "config", "problem", "options"};
enum { KEYS = sizeof key_names / sizeof *key_names, FIELDS = KEYS + CACHE_COLUMNS + 1 /* checksum */ };

static const char **key_part(struct cache_key *key, int i) {
  const char **const parts[KEYS] = {&key->device, &key->config, &key->problem, &key->options};
  return parts[i];
}

/* ---- What a record must be ------------------------------------------------------------------------------------- */

/* The name of what is wrong in *name, and how; NULL: nothing. */
static const char *entry_wrong(struct cache_entry *entry, const char **name) {
  for (int i = 0; i < KEYS; i++) {
    const char *part = *key_part(&entry->key, i);
    *name = key_names[i];
    if (cache_has_control(part, "")) return "has a control character";
    if (!*part && strcmp(key_names[i], "problem") != 0) return "is empty";
  }
  return cache_record_wrong(&entry->record, name);
}

/* ---- Writing ---------------------------------------------------------------------------------------------------- */

/* Appends the object as a line, with its checksum; releases it. */
static int write_line(json_t *object, struct text *out, cugen_error *err) {
  char *line = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
  json_decref(object);
  if (!line) return error_memory(err);
  size_t length = strlen(line) - 1; /* without the closing brace */
  struct hash checksum = hash_bytes(line, length);
  text_add_n(out, line, length);
  text_addf(out, "%s%s\"}\n", checksum_mark, checksum.hex);
  free(line);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

static json_t *real_json(double value) {
  return isfinite(value) ? json_real(value) : isnan(value) ? json_null() : json_string("inf");
}

/* Compilers may write anything: what is no UTF-8 or would move a terminal's cursor becomes '?'. */
static json_t *reason_json(const char *reason) {
  struct text text = {0};
  json_t *whole = json_string(reason);
  bool utf8 = whole != NULL;
  json_decref(whole);
  for (; *reason; reason++) {
    unsigned char c = (unsigned char)*reason;
    bool plain = (c >= ' ' && c != 127) || strchr(CACHE_REASON_CONTROLS, *reason);
    text_add_char(&text, plain && (utf8 || c < 128) ? *reason : '?');
  }
  json_t *string = text.failed ? NULL : json_string(text_get(&text));
  text_free(&text);
  return string;
}

static json_t *column_json(struct cache_record *record, int i) {
  const void *value = cache_place_of(record, i);
  switch (cache_columns[i].type) {
  case COLUMN_TEXT:
    return strcmp(cache_columns[i].name, "reason") == 0 ? reason_json(record->reason)
                                                        : json_string(*(char *const *)value);
  case COLUMN_CHARS:
  case COLUMN_HASH: return json_string(value);
  case COLUMN_INT: return json_integer(*(const int *)value);
  case COLUMN_INT64: return json_integer(*(const int64_t *)value);
  case COLUMN_REAL: break;
  }
  return real_json(*(const double *)value);
}

static bool is_ascii(const char *text) {
  while (*text && (unsigned char)*text < 128) text++;
  return !*text;
}

/* Why there is no JSON of an entry: its texts, else memory. */
static int write_failed(struct cache *cache, struct cache_entry *entry, cugen_error *err) {
  bool ascii = is_ascii(entry->record.variant);
  for (int i = 0; i < KEYS; i++) ascii = ascii && is_ascii(*key_part(&entry->key, i));
  if (ascii) return error_memory(err);
  return error_set(err, CUGEN_ERROR_CACHE, "%s: a text of %s %s, '%s', is not UTF-8", cache_path(cache),
                   entry->key.config, entry->key.problem, entry->record.variant);
}

static int too_long(struct cache *cache, const struct cache_entry *entry, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_CACHE, "%s: the record of %s %s, '%s', is longer than a line of %d bytes",
                   cache_path(cache), entry->key.config, entry->key.problem, entry->record.variant, WISDOM_MAX_LINE);
}

static int write_entry(struct cache *cache, struct cache_entry *entry, struct text *out, cugen_error *err) {
  char *reason = entry->record.reason;
  const char *name, *wrong;
  entry->record.reason = (char *)(uintptr_t) ""; /* it is made right on the way */
  wrong = entry_wrong(entry, &name);
  entry->record.reason = reason;
  if (wrong)
    return error_set(err, CUGEN_ERROR_CACHE,
                     "%s: the record of %s %s, '%s', is not as it should be: %s %s; 'cugen cache verify' checks all",
                     cache_path(cache), entry->key.config, entry->key.problem, entry->record.variant, name, wrong);
  json_t *object = json_object();
  bool good = object != NULL;
  for (int i = 0; i < KEYS && good; i++)
    good = json_object_set_new(object, key_names[i], json_string(*key_part(&entry->key, i))) == 0;
  for (int i = 0; i < CACHE_COLUMNS && good; i++)
    good = json_object_set_new(object, cache_columns[i].name, column_json(&entry->record, i)) == 0;
  size_t before = out->length;
  if (good) {
    int status = write_line(object, out, err);
    return status || out->length - before <= WISDOM_MAX_LINE ? status : too_long(cache, entry, err);
  }
  json_decref(object);
  return write_failed(cache, entry, err);
}

static int by_variant(const void *a, const void *b) {
  return strcmp(((const struct cache_record *)a)->variant, ((const struct cache_record *)b)->variant);
}

/* In the order of variants, so that equal caches give equal files. */
static int write_set(struct cache *cache, const struct cache_space *space, struct text *out, size_t *written,
                     cugen_error *err) {
  struct cache_entry entry = {
      {space->device, space->config, space->problem, space->options, NULL, OBJECTIVE_TIME, NULL}, {0}};
  struct cache_record *records;
  size_t count;
  int status = cache_load(cache, &entry.key, &records, &count, err);
  if (count) qsort(records, count, sizeof *records, by_variant);
  for (size_t i = 0; i < count; i++) {
    entry.record = records[i];
    if (!status) status = write_entry(cache, &entry, out, err);
    cache_record_free(&records[i]);
  }
  free(records);
  *written += count;
  return status;
}

static int write_header(size_t count, struct text *out, cugen_error *err) {
  json_t *header = json_object();
  json_object_set_new(header, "format", json_string(format_name));
  json_object_set_new(header, "version", json_integer(WISDOM_VERSION));
  json_object_set_new(header, "cugen", json_string(CUGEN_VERSION));
  json_object_set_new(header, "records", json_integer((json_int_t)count));
  return write_line(header, out, err);
}

int wisdom_export(struct cache *cache, const struct cache_filter *filter, struct text *out, size_t *count,
                  cugen_error *err) {
  struct cache_space *spaces;
  struct text lines = {0};
  size_t space_count;
  *count = 0;
  int status = cache_spaces(cache, &spaces, &space_count, err);
  for (size_t i = 0; i < space_count && !status; i++)
    if (cache_filter_takes(filter, &spaces[i])) status = write_set(cache, &spaces[i], &lines, count, err);
  cache_spaces_free(spaces, space_count);
  if (!status) status = write_header(*count, out, err);
  text_add_n(out, text_get(&lines), lines.length);
  bool failed = lines.failed || out->failed;
  text_free(&lines);
  return !status && failed ? error_memory(err) : status;
}

/* ---- Reading ---------------------------------------------------------------------------------------------------- */

struct line_entry {
  struct cache_entry entry;
  json_t *object; /* has the key's strings */
  size_t line;
};

struct reader {
  const char *name;
  size_t line;     /* the one being read, from 1 on */
  size_t promised; /* by the header */
  int format;      /* of the cache that its version goes with: later columns are not in it */
  struct line_entry *entries;
  size_t count, capacity;
  cugen_error *err;
};

static int refuse(const struct reader *reader, const char *format, ...) PRINTF_LIKE(2, 3);
static int refuse(const struct reader *reader, const char *format, ...) {
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  int status = what.failed ? error_memory(reader->err)
                           : error_set(reader->err, CUGEN_ERROR_CACHE, "%s:%zu: %.2000s; nothing was imported",
                                       reader->name, reader->line, text_get(&what));
  text_free(&what);
  return status;
}

/* jansson does not always say that it was memory; whatever is wrong with a text it does say. */
static bool was_memory(const json_error_t *error) {
  return json_error_code(error) == json_error_out_of_memory || json_error_code(error) == json_error_unknown;
}

/* The line as an object, its checksum proved. */
static int read_object(const struct reader *reader, const char *line, size_t length, json_t **out) {
  json_error_t error;
  *out = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
  if (!*out && was_memory(&error)) return error_memory(reader->err);
  if (!*out) return refuse(reader, "no JSON object: %s at byte %d; is the line whole?", error.text, error.position);
  if (!json_is_object(*out)) return refuse(reader, "no JSON object");
  const char *checksum = json_string_value(json_object_get(*out, "checksum"));
  if (!checksum) return refuse(reader, "'checksum' is missing");
  size_t covered = length > CHECKSUM_LENGTH ? length - CHECKSUM_LENGTH : 0;
  if (!covered || memcmp(line + covered, checksum_mark, sizeof checksum_mark - 1) != 0)
    return refuse(reader, "'checksum' must stand last");
  struct hash hash = hash_bytes(line, covered);
  return strcmp(hash.hex, checksum) == 0
             ? CUGEN_OK
             : refuse(reader, "the checksum does not match: the line was changed (it says %.40s, the line has %s)",
                      checksum, hash.hex);
}

/* A member of the object, of which *used counts those that were asked for. */
static int get(const struct reader *reader, json_t *object, const char *name, json_t **out, size_t *used) {
  *out = json_object_get(object, name);
  ++*used;
  return *out ? CUGEN_OK : refuse(reader, "'%s' is missing", name);
}

static int wrong_type(const struct reader *reader, const char *name, const char *want) {
  return refuse(reader, "'%s' must be %s", name, want);
}

/* ---- The header ---- */

static int read_header(struct reader *reader, const char *line, size_t length) {
  json_t *object, *format = NULL, *version = NULL, *writer = NULL, *records = NULL;
  json_error_t error;
  size_t used = 1;
  /* What it is comes first: another version may have another checksum. */
  object = json_loadb(line, length, 0, &error);
  if (!object && was_memory(&error)) return error_memory(reader->err);
  const char *name = json_string_value(json_object_get(object, "format"));
  json_int_t number = json_integer_value(json_object_get(object, "version"));
  int status = CUGEN_OK;
  if (!name || strcmp(name, format_name) != 0)
    status = refuse(reader, "no wisdom: the first line is to begin with {\"format\":\"%s\"", format_name);
  else if (number < 1 || number > WISDOM_VERSION)
    status = refuse(reader, "wisdom of version %lld; this cugen reads versions up to %d", (long long)number,
                    WISDOM_VERSION);
  json_decref(object);
  if (status) return status;
  status = read_object(reader, line, length, &object);
  if (!status) status = get(reader, object, "format", &format, &used);
  if (!status) status = get(reader, object, "version", &version, &used);
  if (!status) status = get(reader, object, "cugen", &writer, &used);
  if (!status) status = get(reader, object, "records", &records, &used);
  if (!status && !json_is_string(writer)) status = wrong_type(reader, "cugen", "a string");
  if (!status && !(json_is_integer(records) && json_integer_value(records) >= 0))
    status = wrong_type(reader, "records", "a whole number");
  if (!status && json_object_size(object) != used)
    status = refuse(reader, "the header has a field that is not known");
  if (!status) reader->promised = (size_t)json_integer_value(records);
  reader->format = (int)number + (number < 4 ? 1 : 2); /* what came with format 5 is in no file */
  json_decref(object);
  return status;
}

/* ---- A record ---- */

static int read_text(const struct reader *reader, const char *name, json_t *value, const char **out) {
  *out = json_string_value(value);
  if (!*out) return wrong_type(reader, name, "a string");
  return strlen(*out) == json_string_length(value) ? CUGEN_OK : refuse(reader, "'%s' has a zero byte", name);
}

static int read_chars(const struct reader *reader, const struct cache_column *column, json_t *value, char *out) {
  const char *text;
  int status = read_text(reader, column->name, value, &text);
  if (status) return status;
  size_t length = strlen(text);
  if (length >= column->size) return refuse(reader, "'%s' is longer than %zu bytes", column->name, column->size - 1);
  memcpy(out, text, length + 1);
  return CUGEN_OK;
}

static int read_integer(const struct reader *reader, const struct cache_column *column, json_t *value, void *out) {
  if (!json_is_integer(value)) return wrong_type(reader, column->name, "a whole number");
  json_int_t number = json_integer_value(value);
  if (number < 0 || !cache_column_holds(column, (double)number))
    return refuse(reader, "'%s' is out of range", column->name);
  if (column->type == COLUMN_INT)
    *(int *)out = (int)number;
  else
    *(int64_t *)out = number;
  return CUGEN_OK;
}

static int read_real(const struct reader *reader, const struct cache_column *column, json_t *value, double *out) {
  const char *text = json_string_value(value);
  if (json_is_number(value))
    *out = json_number_value(value);
  else if (json_is_null(value))
    *out = (double)NAN;
  else if (text && strcmp(text, "inf") == 0)
    *out = (double)INFINITY;
  else
    return wrong_type(reader, column->name, "a number, null or \"inf\"");
  return CUGEN_OK;
}

static int read_column(const struct reader *reader, int i, json_t *value, struct cache_record *record) {
  const struct cache_column *column = &cache_columns[i];
  void *out = cache_place_of(record, i);
  const char *text;
  int status;
  switch (column->type) {
  case COLUMN_TEXT:
    status = read_text(reader, column->name, value, &text);
    if (status) return status;
    *(char **)out = strdup(text);
    return *(char **)out ? CUGEN_OK : error_memory(reader->err);
  case COLUMN_CHARS:
  case COLUMN_HASH: return read_chars(reader, column, value, out);
  case COLUMN_INT:
  case COLUMN_INT64: return read_integer(reader, column, value, out);
  case COLUMN_REAL: break;
  }
  return read_real(reader, column, value, out);
}

static bool in_format(const struct reader *reader, int column) {
  return cache_columns[column].format <= reader->format;
}

static int name_unknown(const struct reader *reader, json_t *object) {
  const char *name;
  json_t *value;
  json_object_foreach(object, name, value) {
    bool known = strcmp(name, "checksum") == 0;
    for (int i = 0; i < KEYS; i++) known = known || strcmp(name, key_names[i]) == 0;
    for (int i = 0; i < CACHE_COLUMNS; i++)
      known = known || (in_format(reader, i) && strcmp(name, cache_columns[i].name) == 0);
    if (!known) return refuse(reader, "'%.100s' is not known", name);
  }
  return CUGEN_OK;
}

static int fill_entry(const struct reader *reader, json_t *object, struct cache_entry *out) {
  json_t *value;
  size_t used = 1;
  int status = CUGEN_OK;
  for (int i = 0; i < KEYS && !status; i++) {
    status = get(reader, object, key_names[i], &value, &used);
    if (!status) status = read_text(reader, key_names[i], value, key_part(&out->key, i));
  }
  for (int i = 0; i < CACHE_COLUMNS && !status; i++) {
    if (!in_format(reader, i)) continue;
    status = get(reader, object, cache_columns[i].name, &value, &used);
    if (!status) status = read_column(reader, i, value, &out->record);
  }
  if (!status && json_object_size(object) != used) status = name_unknown(reader, object);
  if (status) return status;
  const char *name, *wrong = entry_wrong(out, &name);
  return wrong ? refuse(reader, "'%s' %s", name, wrong) : CUGEN_OK;
}

static struct line_entry *next_entry(struct reader *reader) {
  if (reader->count == reader->capacity) {
    size_t capacity = 2 * reader->capacity + 64;
    struct line_entry *entries = realloc(reader->entries, capacity * sizeof *entries);
    if (!entries) return NULL;
    reader->entries = entries;
    reader->capacity = capacity;
  }
  struct line_entry *next = &reader->entries[reader->count++];
  *next = (struct line_entry){.line = reader->line};
  return next;
}

static int read_record(struct reader *reader, const char *line, size_t length) {
  struct line_entry *next = next_entry(reader);
  if (!next) return error_memory(reader->err);
  int status = read_object(reader, line, length, &next->object);
  return status ? status : fill_entry(reader, next->object, &next->entry);
}

/* ---- The file ---- */

static int read_lines(struct reader *reader, const char *data, size_t length) {
  int status = CUGEN_OK;
  for (const char *end = data + length; data < end && !status;) {
    const char *stop = memchr(data, '\n', (size_t)(end - data));
    size_t line = (size_t)((stop ? stop : end) - data);
    reader->line++;
    if (line > WISDOM_MAX_LINE)
      status = refuse(reader, "a line of %zu bytes; %d are the most", line, WISDOM_MAX_LINE);
    else
      status = reader->line == 1 ? read_header(reader, data, line) : read_record(reader, data, line);
    data += line + (stop != NULL);
  }
  if (status) return status;
  if (reader->line == 0) return reader->line = 1, refuse(reader, "no wisdom: the file is empty");
  if (reader->count != reader->promised)
    return refuse(reader, "the file ends after %zu of the %zu records that its first line promises", reader->count,
                  reader->promised);
  return CUGEN_OK;
}

static int compare_entries(const struct cache_entry *a, const struct cache_entry *b) {
  const char *const pairs[][2] = {{a->key.config, b->key.config},
                                  {a->key.device, b->key.device},
                                  {a->key.options, b->key.options},
                                  {a->key.problem, b->key.problem},
                                  {a->record.variant, b->record.variant}};
  int order = 0;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs && !order; i++) order = strcmp(pairs[i][0], pairs[i][1]);
  return order;
}

static int by_key(const void *left, const void *right) {
  const struct line_entry *a = left, *b = right;
  int order = compare_entries(&a->entry, &b->entry);
  if (!order) order = strcmp(a->entry.record.hash.hex, b->entry.record.hash.hex);
  return order ? order : a->line < b->line ? -1 : 1;
}

/* In the order that cache_merge takes; the caller frees the array, not what its entries point at. */
static int sort_entries(struct reader *reader, struct cache_entry **out) {
  *out = calloc(reader->count + 1, sizeof **out);
  if (!*out) return error_memory(reader->err);
  if (reader->count) qsort(reader->entries, reader->count, sizeof *reader->entries, by_key);
  for (size_t i = 0; i < reader->count; i++) {
    (*out)[i] = reader->entries[i].entry;
    if (i == 0 || compare_entries(&(*out)[i - 1], &(*out)[i]) != 0) continue;
    if (strcmp((*out)[i - 1].record.hash.hex, (*out)[i].record.hash.hex) != 0) {
      /* Two config files call their kernels so: kept apart. */
      for (size_t j = i - 1; j <= i; j++) (*out)[j].key.origin = (*out)[j].record.hash.hex;
      continue;
    }
    reader->line = reader->entries[i].line;
    return refuse(reader, "a second record of '%s', which line %zu has", (*out)[i].record.variant,
                  reader->entries[i - 1].line);
  }
  return CUGEN_OK;
}

int wisdom_import(struct cache *cache, const char *name, const char *data, size_t length, struct cache_merged *out,
                  cugen_error *err) {
  struct reader reader = {.name = name, .err = err};
  struct cache_entry *entries = NULL;
  *out = (struct cache_merged){0};
  int status = read_lines(&reader, data, length);
  if (!status) status = sort_entries(&reader, &entries);
  if (!status) status = cache_merge(cache, entries, reader.count, out, err);
  for (size_t i = 0; i < reader.count; i++) {
    cache_record_free(&reader.entries[i].entry.record);
    json_decref(reader.entries[i].object);
  }
  free(reader.entries);
  free(entries);
  return status;
}
