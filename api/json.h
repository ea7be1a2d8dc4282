/* Results as JSON; docs/json.md describes each field. */
#ifndef API_JSON_H
#define API_JSON_H

#include <jansson.h>

#include "tools.h"

enum { JSON_VERSION = 1 }; /* docs/json.md says what raises it */

json_t *json_number(double value); /* null where it is no finite number */
json_t *json_known(double value);  /* null where it is 0, which means not known */
json_t *json_known_integer(int64_t value);
json_t *json_text(const char *string);            /* with '?' for the bytes of what is not UTF-8 */
json_t *json_optional_string(const char *string); /* null for NULL and "" */
/* A record; its reason names options as C does ("cugen_options.toolkit"). */
json_t *json_record_plain(const cugen_record *record);
/* "run" of tune --json. */
json_t *json_tune_result(const cugen_tune_result *result);
/* What an import did. */
json_t *json_merged(const cugen_cache_merged *merged);
/* A copy of the object with "version" in front, which takes the reference; NULL: out of memory. */
json_t *json_document(json_t *object);

#endif
