/* Wisdom: records as text, for carrying them from one cache to another. docs/cache.md describes
   the fields. The first line is a header, each further line a complete record, and the portfolios
   follow; every line ends with a checksum of the text before it. Nothing of an invalid file is
   imported. */
#ifndef RUNTIME_STORE_WISDOM_H
#define RUNTIME_STORE_WISDOM_H

#include "cache.h"

enum {
  /* Since version 5, each format of the cache has a version of its own. */
  WISDOM_VERSION = CACHE_FORMAT_VERSION - 3,
  WISDOM_MAX_LINE = 1 << 20,
  WISDOM_MAX_RECORDS = 50000000,
  WISDOM_MAX_PORTFOLIOS = 100000
};

struct wisdom_sink {
  /* may not use the cache */
  int (*take)(void *context, const cugen_export_progress *piece, cugen_error *err);
  void *context;
};
/* Writes the header, the current records that the filter selects, and the filter's portfolios;
   no more than a piece of the records is in memory. A status that the sink returns ends the
   export and is returned. */
int wisdom_write(struct cache *cache, const struct cache_filter *filter,
                 const struct wisdom_sink *sink, size_t *count, cugen_error *err);
/* Like wisdom_write, but appends to *out. */
int wisdom_export(struct cache *cache, const struct cache_filter *filter, struct text *out,
                  size_t *count, cugen_error *err);

/* Merges the records and portfolios of wisdom into the cache. An invalid file is CUGEN_ERROR_CACHE
   with name and line, and leaves the cache unchanged. */
int wisdom_import(struct cache *cache, const char *name, const char *data, size_t length,
                  cugen_cache_merged *out, cugen_error *err);
/* Like wisdom_import, but reads a file or a pipe piece by piece. watch: NULL, or the observer
   who may stop the import. */
int wisdom_import_file(struct cache *cache, const char *path, const struct cache_watch *watch,
                       cugen_cache_merged *out, cugen_error *err);

#endif
