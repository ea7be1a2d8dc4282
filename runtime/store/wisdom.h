/* Wisdom: records as text, to be carried from one cache to another. docs/cache.md describes every field. The first line
   is a header, each further one a record that is complete in itself, and behind them the portfolios; every line ends with a checksum of what stands before
   it. A file is taken whole or not at all. */
#ifndef RUNTIME_STORE_WISDOM_H
#define RUNTIME_STORE_WISDOM_H

#include "cache.h"

enum { WISDOM_VERSION = 9, WISDOM_MAX_LINE = 1 << 20, WISDOM_MAX_RECORDS = 50000000, WISDOM_MAX_PORTFOLIOS = 100000 };

/* What is written, piece by piece: whole lines. */
struct wisdom_piece {
  const char *text;
  size_t length;
  size_t written, records; /* with this piece; in all */
  size_t left_out;         /* rows that are no records: see cache_visit */
};
struct wisdom_sink {
  int (*take)(void *context, const struct wisdom_piece *piece, cugen_error *err); /* may not use the cache */
  void *context;
};
/* Writes the header, the current records that the filter means, and its portfolios; of records no more than a piece is in memory.
   A status that the sink returns ends it and is returned. */
int wisdom_write(struct cache *cache, const struct cache_filter *filter, const struct wisdom_sink *sink,
                 size_t *count, cugen_error *err);
/* The same, appended to *out. */
int wisdom_export(struct cache *cache, const struct cache_filter *filter, struct text *out, size_t *count,
                  cugen_error *err);

/* Merges the records of wisdom into the cache. What cannot be vouched for is CUGEN_ERROR_CACHE with name and line, and the
   cache is as before. */
int wisdom_import(struct cache *cache, const char *name, const char *data, size_t length, struct cache_merged *out,
                  cugen_error *err);
/* The same of a file, or a pipe, as it is read. watch: NULL, or who may stop it. */
int wisdom_import_file(struct cache *cache, const char *path, const struct cache_watch *watch,
                       struct cache_merged *out, cugen_error *err);

#endif
