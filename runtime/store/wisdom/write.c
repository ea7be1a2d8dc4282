/* Writing wisdom with jansson; see runtime/store/wisdom.h. */
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "base/error.h"
#include "format.h"

/* ---- Writing -------------------------------------------------------------------------------- */

static int write_bytes(const char *bytes, size_t length, void *out) {
  text_add_n(out, bytes, length);
  return 0;
}

/* Appends the object as a line with its checksum, and releases the object. json_dumps would lose
   the name of a field without an error if memory runs out at that name. */
static int wisdom_write_line(json_t *object, struct text *out, cugen_error *err) {
  const size_t begin = out->length;
  const bool good = object && !json_dump_callback(object, write_bytes, out,
                                                  JSON_COMPACT | JSON_REAL_PRECISION(17));
  json_decref(object);
  if (!good || out->failed) return error_memory(err);
  text_cut(out, out->length - 1); /* the closing brace */
  struct hash checksum = hash_bytes(out->data + begin, out->length - begin);
  text_addf(out, WISDOM_CHECKSUM_MARK "%s\"}\n", checksum.hex);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

static json_t *column_json(const struct cache_record *record, int i) {
  char outputs[OUTPUTS_TEXT];
  const struct cache_value value = cache_value_of(record, i, outputs);
  switch (value.kind) {
  case CACHE_TEXT: return json_string(value.text);
  case CACHE_WHOLE: return json_integer(value.whole);
  case CACHE_REAL: break;
  }
  return isfinite(value.real) ? json_real(value.real)
         : isnan(value.real)  ? json_null()
                              : json_string("inf");
}

static int write_entry(struct cache *cache, struct cache_entry *entry, struct text *out,
                       cugen_error *err) {
  json_t *object = json_object();
  bool good = object != NULL;
  for (int i = 0; i < CACHE_KEY_PARTS && good; i++)
    good = json_object_set_new(object, cache_key_names[i],
                               json_string(cache_key_text(&entry->key, i))) == 0;
  for (int i = 0; i < CACHE_COLUMNS && good; i++)
    good = json_object_set_new(object, cache_columns[i].name, column_json(&entry->record, i)) == 0;
  if (!good) {
    json_decref(object);
    return error_memory(err);
  }
  const size_t before = out->length;
  int status = wisdom_write_line(object, out, err);
  if (status || out->length - before <= WISDOM_MAX_LINE) return status;
  return error_set(err, CUGEN_ERROR_CACHE,
                   "%s: the record of %s %s, '%s', is longer than a line of %d bytes",
                   cache_path(cache), entry->key.config, entry->key.problem, entry->record.variant,
                   WISDOM_MAX_LINE);
}

/* ---- Portfolios ----------------------------------------------------------------------------- */

static int write_portfolio(struct cache *cache, const struct cache_portfolio *p, struct text *out,
                           cugen_error *err) {
  const char *name, *wrong = cache_portfolio_wrong(p, &name);
  struct portfolio_body body;
  int status = wrong ? error_set(err, CUGEN_ERROR_CACHE, "%s %s", name, wrong)
                     : portfolio_body_parse(p->body, &body, err);
  if (status)
    return error_prefix(err, "%s: the portfolio of %s %s is not as it should be", cache_path(cache),
                        p->config, p->class);
  portfolio_body_free(&body);
  json_t *object = json_object();
  bool good = object != NULL;
#define X(field)                                                                                   \
  if (good && strcmp(#field, "origin") != 0)                                                       \
    good = json_object_set_new(object, #field, json_string(p->field)) == 0;
  CACHE_PORTFOLIO_KEY(X)
#undef X
  good = good &&
         json_object_set_new(object, "learnt_at", json_integer((json_int_t)p->learnt_at)) == 0 &&
         json_object_set_new(object, "portfolio", json_string(p->body)) == 0;
  if (good) return wisdom_write_line(object, out, err);
  json_decref(object);
  return error_set(err, CUGEN_ERROR_CACHE, "%s: a text of the portfolio of %s %s is not UTF-8",
                   cache_path(cache), p->config, p->class);
}

/* Lists the portfolios that the filter selects; the caller frees them. */
static int write_list_portfolios(struct cache *cache, const struct cache_filter *filter,
                                 struct cache_portfolio **out, size_t *count, cugen_error *err) {
  size_t all, kept = 0;
  int status = cache_portfolios(cache, NULL, out, &all, err);
  for (size_t i = 0; i < all; i++) {
    struct cache_portfolio *p = &(*out)[i];
    const struct cache_key key = {
        .device = p->device, .config = p->config, .problem = p->class, .options = p->options};
    if (cache_filter_takes(filter, &key))
      (*out)[kept++] = *p;
    else
      cache_portfolio_free(p);
  }
  *count = kept;
  return status;
}

/* ---- Writing in pieces ---------------------------------------------------------------------- */

struct writer {
  struct cache *cache;
  const struct wisdom_sink *sink;
  struct text lines; /* lines that the sink has not been given yet */
  size_t written, records, left_out;
  struct cache_portfolio *portfolios;
  size_t portfolio_count;
};

static int hand_over(struct writer *writer, cugen_error *err) {
  const struct text *lines = &writer->lines;
  if (lines->failed) return error_memory(err);
  const cugen_export_progress piece = {writer->written, writer->records, text_get(lines),
                                       lines->length, writer->left_out};
  int status = piece.length ? writer->sink->take(writer->sink->context, &piece, err) : CUGEN_OK;
  text_clear(&writer->lines);
  return status;
}

static int write_begin(void *context, size_t count, size_t left_out, cugen_error *err) {
  struct writer *writer = context;
  writer->left_out = left_out;
  writer->records = count;
  json_t *header = json_pack("{s:s, s:i, s:s, s:I, s:I}", "format", WISDOM_FORMAT, "version",
                             WISDOM_VERSION, "cugen", CUGEN_VERSION, "records", (json_int_t)count,
                             "portfolios", (json_int_t)writer->portfolio_count);
  return wisdom_write_line(header, &writer->lines, err);
}

static int write_add(void *context, struct cache_entry *entry, cugen_error *err) {
  enum { PIECE = 1 << 16 };
  struct writer *writer = context;
  int status = write_entry(writer->cache, entry, &writer->lines, err);
  writer->written += !status;
  return status || writer->lines.length < PIECE ? status : hand_over(writer, err);
}

int wisdom_write(struct cache *cache, const struct cache_filter *filter,
                 const struct wisdom_sink *sink, size_t *count, cugen_error *err) {
  struct writer writer = {.cache = cache, .sink = sink};
  const struct cache_visit visit = {write_begin, write_add, &writer};
  int status =
      write_list_portfolios(cache, filter, &writer.portfolios, &writer.portfolio_count, err);
  if (!status) status = cache_each(cache, filter, &visit, err);
  for (size_t i = 0; i < writer.portfolio_count && !status; i++)
    status = write_portfolio(cache, &writer.portfolios[i], &writer.lines, err);
  if (!status) status = hand_over(&writer, err);
  cache_portfolios_free(writer.portfolios, writer.portfolio_count);
  text_free(&writer.lines);
  *count = writer.written;
  return status;
}

static int add_to_text(void *context, const cugen_export_progress *piece, cugen_error *err) {
  struct text *out = context;
  text_add_n(out, piece->text, piece->length);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

int wisdom_export(struct cache *cache, const struct cache_filter *filter, struct text *out,
                  size_t *count, cugen_error *err) {
  const struct wisdom_sink sink = {add_to_text, out};
  return wisdom_write(cache, filter, &sink, count, err);
}
