/* Results as JSON; docs/json.md describes each field. */
#ifndef API_JSON_H
#define API_JSON_H

#include <jansson.h>

#include "cache.h"

enum { JSON_VERSION = 1 }; /* docs/json.md describes when it is raised */

json_t *json_number(double value); /* null if the value is not finite */
json_t *json_known(double value);  /* null if the value is 0, which means unknown */
json_t *json_known_integer(int64_t value);
json_t *json_text(const char *string);            /* bytes that are not UTF-8 become '?' */
json_t *json_optional_string(const char *string); /* null for NULL and "" */
/* Prints a record; its reason names options as C does ("cugen_options.toolkit"). */
json_t *json_record_plain(const cugen_record *record);
/* The field "run" of tune --json. */
json_t *json_tune_result(const cugen_tune_result *result);
/* The counts of an import. */
json_t *json_merged(const cugen_cache_merged *merged);
/* Copies the object with "version" as the first field, and releases the reference to `object`;
   NULL: out of memory. */
json_t *json_document(json_t *object);

#endif
