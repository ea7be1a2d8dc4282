/* Prints results as JSON; docs/json.md describes each field. */
#include "json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

json_t *json_count(uint64_t value) {
  return json_integer((json_int_t)value);
}

json_t *json_number(double value) {
  return isfinite(value) ? json_real(value) : json_null();
}

json_t *json_known(double value) {
  return value != 0 ? json_number(value) : json_null();
}

json_t *json_known_integer(int64_t value) {
  return value ? json_integer(value) : json_null();
}

/* A text that is not UTF-8, such as compiler output cut within a character, keeps only its ASCII
   characters. */
json_t *json_text(const char *string) {
  json_t *whole = json_string(string);
  char *plain = whole ? NULL : strdup(string);
  if (!plain) return whole;
  for (char *c = plain; *c; c++)
    if ((unsigned char)*c >= 128) *c = '?';
  json_t *result = json_string(plain);
  free(plain);
  return result;
}

json_t *json_optional_string(const char *string) {
  return string && *string ? json_text(string) : json_null();
}

json_t *json_add_fields(json_t *object, const struct json_field *fields) {
  for (; fields->name; fields++) json_object_set_new(object, fields->name, fields->value);
  return object;
}

json_t *json_list(const void *items, size_t count, size_t size, json_t *(*make)(const void *item)) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, make((const char *)items + i * size));
  return list;
}

static json_t *string_item(const void *item) {
  return json_string(*(const char *const *)item);
}

json_t *json_strings(const char *const *strings, size_t count) {
  return JSON_LIST(strings, count, string_item);
}

static json_t *outputs_json(const cugen_outputs *outputs) {
  char text[48];
  outputs_text(outputs, text, sizeof text);
  return json_optional_string(text);
}

static json_t *baseline_json(const cugen_baseline_result *b) {
  if (!b->function) return json_null();
  return JSON_NEW(MEMBER(text, b, function),
                  {"outcome", json_string(outcome_name((int)b->outcome))},
                  MEMBER(optional_string, b, reason), MEMBER(known, b, seconds),
                  MEMBER(known, b, best_seconds), MEMBER(known, b, ratio));
}

/* ---- Fields by their tables (base/results.h) ------------------------------------------------ */

#define SHOW_COUNT(of, value)    json_integer((json_int_t)(value))
#define SHOW_NUMBER(of, value)   json_number(value)
#define SHOW_FLAG(of, value)     json_boolean(value)
#define SHOW_TEXT(of, value)     json_string(value)
#define SHOW_OPTIONAL(of, value) json_optional_string(value)
#define SHOW_OUTPUTS(of, value)  outputs_json(&(value))
#define SHOW_BASELINE(of, value) baseline_json(&(value))
#define SHOW_OUTCOME(of, value)  json_string(outcome_name((int)(value)))
#define SHOW_KNOWN(of, value)    json_known(value)
#define SHOW_ID(of, value)       json_known_integer(value)
/* Only a correct variant has times that mean something. */
#define IF_OK(of, json)          ((of)->outcome == CUGEN_OUTCOME_OK ? (json) : json_null())
#define SHOW_TIMED(of, value)    IF_OK(of, json_number(value))
#define SHOW_RATIO(of, value)    IF_OK(of, json_known(value))
#define SHOW_VERIFIED(of, value) ((of)->verified ? json_number(value) : json_null())
/* Without registers no resources are known, for example because the variant did not compile. */
#define SHOW_RESOURCE(of, value) ((of)->registers > 0 ? json_integer(value) : json_null())
#define SHOW_ENERGY(of, value)   ((of)->energy > 0 ? json_boolean(value) : json_null())
#define SHOW_RUN(of, value)      ((of)->run_began ? json_number(value) : json_null())
#define SHOW_NONE(of, value)     NULL

/* An empty name marks a field that is not shown. */
static void set_shown(json_t *object, const char *name, json_t *value) {
  if (*name) json_object_set_new(object, name, value);
}

json_t *json_record_plain(const cugen_record *r) {
  const bool timed = r->outcome == CUGEN_OUTCOME_OK && r->seconds > 0;
  const char *ceiling = r->roofline_measured ? "measured" : "peak";
  json_t *object = json_object();
#define X(show, type, name, json, what) set_shown(object, json, SHOW_##show(r, r->name));
  RECORD_FIELDS(X)
#undef X
  /* The last five members are computed from the fields. */
  return JSON_ADD(
      object, {"flops_per_second", json_known(timed ? r->flops / r->seconds : 0)},
      {"bytes_per_second", json_known(timed ? r->bytes / r->seconds : 0)},
      {"intensity", json_known(r->bytes > 0 ? r->flops / r->bytes : 0)},
      {"roofline_of", json_optional_string(timed && r->roofline > 0 ? ceiling : NULL)},
      {"static_shared_bytes", SHOW_RESOURCE(r, r->shared_bytes - r->dynamic_shared_bytes)});
}

json_t *json_tune_result(const cugen_tune_result *result) {
  json_t *object = json_object();
#define X(show, type, name, what)                                                                  \
  json_object_set_new(object, #name, SHOW_##show(result, result->name));
  TUNE_RESULT_FIELDS(X)
#undef X
  return object;
}

json_t *json_merged(const cugen_cache_merged *merged) {
  return JSON_NEW(MEMBER(count, merged, records), MEMBER(count, merged, added),
                  MEMBER(count, merged, better), MEMBER(count, merged, worse),
                  MEMBER(count, merged, known), MEMBER(count, merged, portfolios));
}

json_t *json_document(json_t *object) {
  json_t *whole = json_object();
  if (json_object_set_new(whole, "version", json_integer(JSON_VERSION)) ||
      json_object_update(whole, object)) {
    json_decref(whole);
    whole = NULL;
  }
  json_decref(object);
  return whole;
}
