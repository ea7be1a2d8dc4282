/* Reading wisdom line by line with jansson; see wisdom.h. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/array.h"
#include "base/error.h"
#include "base/input.h"
#include "format.h"

/* ---- Reading -------------------------------------------------------------------------------- */

struct reader {
  const char *name;
  struct cache *cache;
  const struct cache_watch *watch;
  struct cache_stage *stage; /* opened when the header is read */
  size_t line;               /* the line being read, from 1 on */
  size_t promised, count;    /* numbers of records: by the header; read so far */
  size_t promised_portfolios, portfolio_count;
  struct cache_portfolio *portfolios; /* portfolios are few, and are stored after all records */
  /* The cache's format that belongs to the file's version; the file lacks the columns of later
     formats. */
  int format;
  struct text scratch;
  cugen_error *err;
};

static int read_refuse(const struct reader *reader, const char *format, ...) PRINTF_LIKE(2, 3);
static int read_refuse(const struct reader *reader, const char *format, ...) {
  struct text what = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&what, format, args);
  va_end(args);
  int status = what.failed
                   ? error_memory(reader->err)
                   : error_set_at(reader->err, CUGEN_ERROR_CACHE, reader->name, (int)reader->line,
                                  "%.2000s; nothing was imported", text_get(&what));
  text_free(&what);
  return status;
}

/* jansson does not always report a lack of memory, but it always reports an error in the text. */
static bool was_memory(const json_error_t *error) {
  return json_error_code(error) == json_error_out_of_memory ||
         json_error_code(error) == json_error_unknown;
}

/* Parses the line as an object and checks its checksum. */
static int read_object(const struct reader *reader, const char *line, size_t length, json_t **out) {
  json_error_t error;
  *out = json_loadb(line, length, JSON_REJECT_DUPLICATES, &error);
  if (!*out && was_memory(&error)) return error_memory(reader->err);
  if (!*out)
    return read_refuse(reader, "no JSON object: %s at byte %d; is the line whole?", error.text,
                       error.position);
  if (!json_is_object(*out)) return read_refuse(reader, "no JSON object");
  const char *checksum = json_string_value(json_object_get(*out, "checksum"));
  if (!checksum) return read_refuse(reader, "'checksum' is missing");
  size_t covered = length > WISDOM_CHECKSUM ? length - WISDOM_CHECKSUM : 0;
  if (!covered || memcmp(line + covered, WISDOM_CHECKSUM_MARK, WISDOM_MARK) != 0)
    return read_refuse(reader, "'checksum' must stand last");
  struct hash hash = hash_bytes(line, covered);
  return strcmp(hash.hex, checksum) == 0 ? CUGEN_OK
                                         : read_refuse(reader,
                                                       "the checksum does not match: the line was "
                                                       "changed (it says %.40s, the line has %s)",
                                                       checksum, hash.hex);
}

/* Gets a member of the object and counts it in *used. */
static int get(const struct reader *reader, json_t *object, const char *name, json_t **out,
               size_t *used) {
  *out = json_object_get(object, name);
  ++*used;
  return *out ? CUGEN_OK : read_refuse(reader, "'%s' is missing", name);
}

static int read_wrong_type(const struct reader *reader, const char *name, const char *want) {
  return read_refuse(reader, "'%s' must be %s", name, want);
}

/* ---- The header ----------------------------------------------------------------------------- */

/* Files have portfolios from version 8 on. */
static int read_portfolio_count(struct reader *reader, json_t *object, size_t *used) {
  json_t *value = NULL;
  int status = get(reader, object, "portfolios", &value, used);
  if (status) return status;
  const json_int_t count = json_integer_value(value);
  if (!json_is_integer(value) || count < 0)
    return read_wrong_type(reader, "portfolios", "a whole number");
  if (count > WISDOM_MAX_PORTFOLIOS)
    return read_refuse(reader, "%lld portfolios; %d are the most", (long long)count,
                       WISDOM_MAX_PORTFOLIOS);
  reader->promised_portfolios = (size_t)count;
  return CUGEN_OK;
}

static int wisdom_read_header(struct reader *reader, const char *line, size_t length) {
  static const int early_formats[] = {0, 2, 3, 4, 6}; /* of the cache, by wisdom's version */
  const int early = sizeof early_formats / sizeof *early_formats;
  json_t *object, *format = NULL, *version = NULL, *writer = NULL, *records = NULL;
  json_error_t error;
  size_t used = 1;
  /* The version is read first, because another version may have another checksum. */
  object = json_loadb(line, length, 0, &error);
  if (!object && was_memory(&error)) return error_memory(reader->err);
  const char *name = json_string_value(json_object_get(object, "format"));
  json_int_t number = json_integer_value(json_object_get(object, "version"));
  int status = CUGEN_OK;
  if (!name || strcmp(name, WISDOM_FORMAT) != 0)
    status = read_refuse(reader,
                         "no wisdom: the first line is to begin with {\"format\":\"%s\" (another "
                         "autotuner's file needs a map: docs/cache.md)",
                         WISDOM_FORMAT);
  else if (number < 1 || number > WISDOM_VERSION)
    status = read_refuse(reader, "wisdom of version %lld; this cugen reads versions up to %d",
                         (long long)number, WISDOM_VERSION);
  json_decref(object);
  if (status) return status;
  status = read_object(reader, line, length, &object);
  if (!status) status = get(reader, object, "format", &format, &used);
  if (!status) status = get(reader, object, "version", &version, &used);
  if (!status) status = get(reader, object, "cugen", &writer, &used);
  if (!status) status = get(reader, object, "records", &records, &used);
  if (!status && !json_is_string(writer)) status = read_wrong_type(reader, "cugen", "a string");
  if (!status && !(json_is_integer(records) && json_integer_value(records) >= 0))
    status = read_wrong_type(reader, "records", "a whole number");
  if (!status && number >= 8) status = read_portfolio_count(reader, object, &used);
  if (!status && json_object_size(object) != used)
    status = read_refuse(reader, "the header has a field that is not known");
  if (!status && json_integer_value(records) > WISDOM_MAX_RECORDS)
    status = read_refuse(reader, "%lld records; %d are the most",
                         (long long)json_integer_value(records), WISDOM_MAX_RECORDS);
  if (!status) reader->promised = (size_t)json_integer_value(records);
  reader->format =
      number < early ? early_formats[number] : (int)number + CACHE_FORMAT_VERSION - WISDOM_VERSION;
  json_decref(object);
  return status;
}

/* ---- A record ------------------------------------------------------------------------------- */

static int wisdom_read_text(const struct reader *reader, const char *name, json_t *value,
                            const char **out) {
  *out = json_string_value(value);
  if (!*out) return read_wrong_type(reader, name, "a string");
  return strlen(*out) == json_string_length(value)
             ? CUGEN_OK
             : read_refuse(reader, "'%s' has a zero byte", name);
}

/* wrong NULL: the column's value was accepted. */
static int taken(const struct reader *reader, int i, const char *wrong) {
  if (wrong == cache_no_memory) return error_memory(reader->err);
  return wrong ? read_refuse(reader, "'%s' %s", cache_columns[i].name, wrong) : CUGEN_OK;
}

static int read_real(const struct reader *reader, const struct cache_column *column, json_t *value,
                     double *out) {
  const char *text = json_string_value(value);
  if (json_is_number(value))
    *out = json_number_value(value);
  else if (json_is_null(value))
    *out = (double)NAN;
  else if (text && strcmp(text, "inf") == 0)
    *out = (double)INFINITY;
  else
    return read_wrong_type(reader, column->name, "a number, null or \"inf\"");
  return CUGEN_OK;
}

static int wisdom_read_column(const struct reader *reader, int i, json_t *value,
                              struct cache_record *record) {
  const struct cache_column *column = &cache_columns[i];
  const char *text;
  double real = 0;
  int status;
  switch (cache_kind_of(i)) {
  case CACHE_TEXT:
    status = wisdom_read_text(reader, column->name, value, &text);
    return status ? status : taken(reader, i, cache_take_text(record, i, text));
  case CACHE_WHOLE:
    if (!json_is_integer(value)) return read_wrong_type(reader, column->name, "a whole number");
    return taken(reader, i, cache_take_whole(record, i, json_integer_value(value)));
  case CACHE_REAL: break;
  }
  status = read_real(reader, column, value, &real);
  return status ? status : taken(reader, i, cache_take_real(record, i, real));
}

static bool in_format(const struct reader *reader, int column) {
  return cache_columns[column].format <= reader->format;
}

static int name_unknown(const struct reader *reader, json_t *object) {
  const char *name;
  json_t *value;
  json_object_foreach(object, name, value) {
    bool known = strcmp(name, "checksum") == 0;
    for (int i = 0; i < CACHE_KEY_PARTS; i++)
      known = known || strcmp(name, cache_key_names[i]) == 0;
    for (int i = 0; i < CACHE_COLUMNS; i++)
      known = known || (in_format(reader, i) && strcmp(name, cache_columns[i].name) == 0);
    if (!known) return read_refuse(reader, "'%.100s' is not known", name);
  }
  return CUGEN_OK;
}

static int fill_entry(const struct reader *reader, json_t *object, struct cache_entry *out) {
  json_t *value;
  size_t used = 1;
  int status = CUGEN_OK;
  for (int i = 0; i < CACHE_KEY_PARTS && !status; i++) {
    status = get(reader, object, cache_key_names[i], &value, &used);
    if (!status)
      status = wisdom_read_text(reader, cache_key_names[i], value, cache_key_part(&out->key, i));
  }
  for (int i = 0; i < CACHE_COLUMNS && !status; i++) {
    if (!in_format(reader, i)) continue;
    status = get(reader, object, cache_columns[i].name, &value, &used);
    if (!status) status = wisdom_read_column(reader, i, value, &out->record);
  }
  if (!status && json_object_size(object) != used) status = name_unknown(reader, object);
  if (status) return status;
  const char *name, *wrong = wisdom_entry_wrong(out, &name);
  return wrong ? read_refuse(reader, "'%s' %s", name, wrong) : CUGEN_OK;
}

static int stage_record(struct reader *reader, const struct cache_entry *entry) {
  size_t twice;
  int status = cache_stage_add(reader->stage, entry, reader->line, &twice, reader->err);
  if (status || !twice) return status;
  return read_refuse(reader, "a second record of '%s', which line %zu has", entry->record.variant,
                     twice);
}

static int read_record(struct reader *reader, const char *line, size_t length) {
  struct cache_entry entry;
  json_t *object = NULL;
  if (reader->count == reader->promised)
    return read_refuse(reader,
                       "the file has more than the %zu records that its first line promises",
                       reader->promised);
  reader->count++;
  if (wisdom_read_plain(line, length, reader->format, &reader->scratch, &entry))
    return stage_record(reader, &entry);
  entry = (struct cache_entry){0};
  int status = read_object(reader, line, length, &object);
  if (!status) status = fill_entry(reader, object, &entry);
  if (!status) status = stage_record(reader, &entry);
  cache_record_free(&entry.record);
  json_decref(object);
  return status;
}

/* ---- A portfolio ---------------------------------------------------------------------------- */

static int read_copy_text(const struct reader *reader, json_t *object, const char *name,
                          size_t *used, char **out) {
  json_t *value = NULL;
  const char *text = NULL;
  int status = get(reader, object, name, &value, used);
  if (!status) status = wisdom_read_text(reader, name, value, &text);
  if (status || !text) return status;
  *out = strdup(text);
  return *out ? CUGEN_OK : error_memory(reader->err);
}

static int check_portfolio(const struct reader *reader, const struct cache_portfolio *p) {
  struct portfolio_body body;
  cugen_error why;
  const char *name, *wrong = cache_portfolio_wrong(p, &name);
  if (wrong) return read_refuse(reader, "'%s' %s", name, wrong);
  if (portfolio_body_parse(p->body, &body, &why))
    return why.status == CUGEN_ERROR_MEMORY ? error_memory(reader->err)
                                            : read_refuse(reader, "%s", why.message);
  portfolio_body_free(&body);
  return CUGEN_OK;
}

/* The config file of an imported portfolio is not known. */
static int fill_portfolio(const struct reader *reader, json_t *object,
                          struct cache_portfolio *out) {
  json_t *value = NULL;
  size_t used = 1;
  int status = CUGEN_OK;
#define X(field)                                                                                   \
  if (!status && strcmp(#field, "origin") != 0)                                                    \
    status = read_copy_text(reader, object, #field, &used, &out->field);
  CACHE_PORTFOLIO_KEY(X)
#undef X
  if (!status) status = read_copy_text(reader, object, "portfolio", &used, &out->body);
  if (!status) status = get(reader, object, "learnt_at", &value, &used);
  if (!status && !json_is_integer(value))
    status = read_wrong_type(reader, "learnt_at", "a whole number");
  if (!status && json_object_size(object) != used)
    status = read_refuse(reader, "a portfolio has a field that is not known");
  if (status) return status;
  out->learnt_at = cache_time(json_integer_value(value), 1);
  out->origin = strdup("");
  return out->origin ? check_portfolio(reader, out) : error_memory(reader->err);
}

static int wisdom_read_portfolio(struct reader *reader, const char *line, size_t length) {
  json_t *object = NULL;
  if (reader->portfolio_count == reader->promised_portfolios)
    return read_refuse(
        reader, "the file has more lines than its first line promises: %zu records, %zu portfolios",
        reader->promised, reader->promised_portfolios);
  if (!ARRAY_ROOM(reader->portfolios, reader->portfolio_count)) return error_memory(reader->err);
  struct cache_portfolio *next = &reader->portfolios[reader->portfolio_count];
  *next = (struct cache_portfolio){0};
  int status = read_object(reader, line, length, &object);
  if (!status) reader->portfolio_count++, status = fill_portfolio(reader, object, next);
  json_decref(object);
  return status;
}

/* ---- The file ------------------------------------------------------------------------------- */

static int wisdom_read_line(struct reader *reader, const char *line, size_t length) {
  reader->line++;
  if (length > WISDOM_MAX_LINE)
    return read_refuse(reader, "a line of more than %d bytes", WISDOM_MAX_LINE);
  if (reader->line > 1 && reader->count == reader->promised && reader->promised_portfolios)
    return wisdom_read_portfolio(reader, line, length);
  if (reader->line > 1) return read_record(reader, line, length);
  int status = wisdom_read_header(reader, line, length);
  return status ? status
                : cache_stage_open(reader->cache, reader->promised, reader->watch, &reader->stage,
                                   reader->err);
}

static int wisdom_read_lines(struct reader *reader, struct input *input) {
  for (;;) {
    const char *line;
    size_t length;
    int status = input_line(input, &line, &length, reader->err);
    if (status == CUGEN_ERROR_INTERRUPTED) error_append(reader->err, "; nothing was imported");
    if (status) return status;
    if (!line) break;
    status = wisdom_read_line(reader, line, length);
    if (status) return status;
  }
  if (reader->line == 0)
    return reader->line = 1, read_refuse(reader, "no wisdom: the file is empty");
  if (reader->count != reader->promised)
    return read_refuse(reader,
                       "the file ends after %zu of the %zu records that its first line promises",
                       reader->count, reader->promised);
  if (reader->portfolio_count != reader->promised_portfolios)
    return read_refuse(reader,
                       "the file ends after %zu of the %zu portfolios that its first line promises",
                       reader->portfolio_count, reader->promised_portfolios);
  return CUGEN_OK;
}

/* A stage may use the cache exclusively until it is closed, so portfolios are stored after that. */
static int read_import(struct reader *reader, struct input *input, cugen_cache_merged *out) {
  *out = (cugen_cache_merged){0};
  int status = wisdom_read_lines(reader, input);
  if (!status) status = cache_stage_merge(reader->stage, out, reader->err);
  cache_stage_close(reader->stage);
  if (!status)
    status = cache_portfolios_store(reader->cache, reader->portfolios, reader->portfolio_count,
                                    reader->err);
  if (!status) out->portfolios = reader->portfolio_count;
  cache_portfolios_free(reader->portfolios, reader->portfolio_count);
  text_free(&reader->scratch);
  return status;
}

int wisdom_import(struct cache *cache, const char *name, const char *data, size_t length,
                  cugen_cache_merged *out, cugen_error *err) {
  struct reader reader = {.name = name, .cache = cache, .err = err};
  struct input input = input_of_memory(name, data, length);
  return read_import(&reader, &input, out);
}

static bool read_is_stopped(void *context) {
  const struct reader *reader = context;
  const cugen_import_progress state = {.read = reader->count, .records = reader->promised};
  return reader->watch->stop(&state, reader->watch->context);
}

int wisdom_import_file(struct cache *cache, const char *path, const struct cache_watch *watch,
                       cugen_cache_merged *out, cugen_error *err) {
  struct reader reader = {.name = path, .cache = cache, .watch = watch, .err = err};
  const bool watched = watch && watch->stop;
  const struct input_limits limits = {.most_line = WISDOM_MAX_LINE,
                                      .stop = {watched ? read_is_stopped : NULL, &reader}};
  struct input input;
  int status = input_open(&input, path, &limits, err);
  if (status) return status;
  reader.name = input.name;
  status = read_import(&reader, &input, out);
  input_close(&input);
  return status;
}
