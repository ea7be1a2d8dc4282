/* Operations on the cache, which has the records of all kernels. */
#ifndef API_CACHE_H
#define API_CACHE_H

#include "base/results.h"

/* Selects records; a member that is NULL or 0 does not restrict. */
typedef struct cugen_cache_filter {
  const char *config;  /* name of a kernel, or a config as for cugen_kernel_open, which means the
                          config's kernel */
  const char *problem; /* "M=4096 dtype=f32": problems with these values, whatever their
                          other values are */
  const char *device;  /* "cuda:0", "model:H200" (predictions for an H200), or a part of the text
                          by which records name their device ("H200", "cpu") */
  int64_t before;      /* for api_cache_remove: only records measured before this time; seconds
                          since the epoch */
  int failed;          /* for api_cache_remove: only failures */
  const char *measure; /* how the records were timed: as in cugen_options.measure, or "served", by
                          plans that explored */
} cugen_cache_filter;

/* Lists the sets of records that the filter selects (NULL: all). *out lives until the next call. A
   missing database is not created. */
int api_cache_list(cugen *lib, const cugen_cache_filter *filter, const cugen_cache_set **out,
                   size_t *count, cugen_error *error);

/* Removes the selected records and portfolios, and images that no remaining record can use, in
   short transactions, so that other processes can go on. After a failure some may already be
   removed; *out counts them. If filter->config is a config and not the name of a kernel, only
   records from that file and, while the file can be read, from unknown files (such as imported
   ones) are removed. really 0: only counts. CUGEN_ERROR_IO: the cache cannot be written. */
int api_cache_remove(cugen *lib, const cugen_cache_filter *filter, int really,
                     cugen_cache_counts *out, cugen_error *error);

/* Checks the file and the tables; checks and counts records and images. CUGEN_ERROR_CACHE: there
   are defects; *wrong (`wrong` may be NULL) has a line for each and lives until the next call.
   Without defects *wrong has a line for each foreign image (cugen_cache_counts), or is NULL.
   CUGEN_ERROR_MISSING: there is no database. */
int api_cache_verify(cugen *lib, cugen_cache_counts *out, const char **wrong, cugen_error *error);

/* Writes wisdom (docs/cache.md), which api_cache_import reads: the records and portfolios that the
   filter selects (NULL: all), without history, one line of text each. A regular file at path is
   replaced only when the new one is complete. path NULL: only progress gets the text. progress may
   be NULL. *records is the number of written records. */
int api_cache_export(cugen *lib, const cugen_cache_filter *filter, const char *path,
                     cugen_export_callback progress, void *context, size_t *records,
                     cugen_error *error);

/* ---- Importing ------------------------------------------------------------------------------- */

/* Imports like cugen_cache_import; progress may be NULL. */
int api_cache_import(cugen *lib, const char *path, cugen_import_callback progress, void *context,
                     cugen_cache_merged *out, cugen_error *error);

/* The numbers of results in another autotuner's file, by what api_cache_suggest did with them. */
typedef struct api_suggested {
  size_t results;   /* in the file */
  size_t left_out;  /* failed, without a time, or excluded by the map's `where` */
  size_t unmatched; /* results that are no variants of the config */
  size_t slower;    /* valid, but not among the fastest of their problem */
  cugen_cache_merged merged;
} api_suggested;

/* Imports another autotuner's results as variants with which a search begins; the file `map`
   translates their names (docs/cache.md). Nothing is stored unless the whole file could be read.
   CUGEN_ERROR_USAGE: for example, a file has an unknown form, the map is wrong, or no result is a
   variant of the config. */
int api_cache_suggest(cugen *lib, const char *path, const char *map, api_suggested *out,
                      cugen_error *error);

#endif
