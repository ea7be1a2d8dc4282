/* Results of other autotuners as suggestions: variants with which tuning begins (priors.h).
   foreign.c reads a file of results, by a map of names, and stores the suggestions in the cache
   under a key of their own; foreign_forms.c reads the forms of such files. */
#ifndef API_FOREIGN_H
#define API_FOREIGN_H

#include <jansson.h>

#include "cache.h"
#include "runtime/store/cache.h"

/* The device and options of the key of suggestions. */
#define FOREIGN_DEVICE  "other autotuners"
#define FOREIGN_OPTIONS "suggested"

/* Imports the file of results by the map. Nothing is stored before the whole file is read.
   CUGEN_ERROR_USAGE: for example, a file has an unknown form, the map is wrong, or no result is a
   variant of the config. */
int api_foreign_import(cugen *lib, struct cache *cache, const char *path, const char *map,
                       api_suggested *out, cugen_error *err);

/* ---- foreign_forms.c ------------------------------------------------------------------------ */

/* Gets a result: the parameters by name, which are numbers, words or flags, and the time in
   seconds; negative: the result failed, or lacks a time; 0: the file has no times. */
typedef int foreign_visit(void *context, json_t *parameters, double seconds, cugen_error *err);

/* Visits the results of the file's text. */
int foreign_read(const char *path, const struct text *text, foreign_visit *visit, void *context,
                 cugen_error *err);
/* Reads a JSON text that is an object. */
int foreign_parse(const char *path, const struct text *text, json_t **out, cugen_error *err);

#endif
