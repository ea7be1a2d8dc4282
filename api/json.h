/* Results as JSON; docs/json.md describes each field. */
#ifndef API_JSON_H
#define API_JSON_H

#include <jansson.h>

#include "cache.h"

enum { JSON_VERSION = 1 }; /* new names do not raise it (docs/json.md) */

json_t *json_count(uint64_t value);
json_t *json_number(double value);                /* null if the value is not finite */
json_t *json_known(double value);                 /* null if the value is 0, which means unknown */
json_t *json_known_integer(int64_t value);        /* null if the value is 0 */
json_t *json_text(const char *string);            /* if not UTF-8, bytes above 127 become '?' */
json_t *json_optional_string(const char *string); /* null for NULL and "" */

/* A field of an object; takes over the reference to `value`. Without a value there is no field. */
struct json_field {
  const char *name;
  json_t *value;
};
/* fields: ended by a NULL name. */
json_t *json_add_fields(json_t *object, const struct json_field *fields);
/* JSON_ADD adds fields to an object; JSON_NEW({"at", json_integer(1)}, ...) makes an object. */
#define JSON_ADD(object, ...)                                                                      \
  json_add_fields(object, (const struct json_field[]){__VA_ARGS__, {NULL, NULL}})
#define JSON_NEW(...) JSON_ADD(json_object(), __VA_ARGS__)
/* A struct's member as a field of that name: MEMBER(count, merged, added) is json_count of
   merged->added. */
#define MEMBER(kind, of, member)                                                                   \
  { #member, json_##kind((of)->member) }

/* Makes an array of what `make` gives for each item. */
json_t *json_list(const void *items, size_t count, size_t size, json_t *(*make)(const void *item));
#define JSON_LIST(items, count, make) json_list(items, count, sizeof *(items), make)
json_t *json_strings(const char *const *strings, size_t count);

/* Makes the object of a record, whose reason names options as C does ("cugen_options.toolkit"). */
json_t *json_record_plain(const cugen_record *record);
/* Makes the field "run" of tune --json. */
json_t *json_tune_result(const cugen_tune_result *result);
/* Makes the object of an import's counts. */
json_t *json_merged(const cugen_cache_merged *merged);
/* Copies the object with "version" as the first field, and releases the reference to `object`;
   NULL: out of memory. */
json_t *json_document(json_t *object);

#endif
