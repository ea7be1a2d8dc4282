/* The cache: the records of all kernels. */
#ifndef API_CACHE_H
#define API_CACHE_H

#include "base/results.h"

/* Selects records; NULL or 0 in a member selects all. */
typedef struct cugen_cache_filter {
  const char *config;  /* name of a kernel, or a config as for cugen_kernel_open, which stands for
                          its kernel */
  const char *problem; /* "M=4096 dtype=f32": problems with these values */
  const char *device;  /* "cuda:0", "model:H200" (its predictions), or a part of devices' texts
                          ("H200", "cpu") */
  int64_t before;      /* for api_cache_remove: only records measured before this time; seconds
                          since the epoch */
  int failed;          /* for api_cache_remove: only failures */
  const char *measure; /* how the records were timed, such as "cold" (cugen_options.measure);
                          "served": by plans that explored */
} cugen_cache_filter;

/* The records of one kernel for one problem on one device with one set of options. */
typedef struct cugen_cache_set {
  const char *config, *problem, *device, *options;
  const char *arch;    /* from the options: "sm_90a", "cpu"; NULL: the records are predictions */
  const char *measure; /* from the options: how the records were timed, "burst" or "served"; NULL:
                          they are predictions */
  size_t records;      /* variants with a record, measured or failed */
  size_t failed;       /* failed ones among the records */
  size_t history;      /* earlier records of the same variants */
  const char *best;    /* the variant that api_best_of finds, including stale records; the fastest
                          if the config is missing; "": none is correct */
  double seconds;      /* time of the best */
  double flops, bytes; /* declared work of the problem; 0: not declared */
  int64_t measured_at; /* time of the latest record; seconds since the epoch */
} cugen_cache_set;

/* The numbers of objects that exist or were removed. */
typedef struct cugen_cache_counts {
  size_t sets, records, history;
  size_t images; /* compiled kernels */
  int64_t image_bytes;
  size_t foreign_images; /* api_cache_verify: images that are not used, because another user or an
                            unknown one compiled them */
  size_t portfolios;     /* stored portfolios */
} cugen_cache_counts;

/* Lists the sets. *out lives until the next call. filter (may be NULL: all): only its first three
   members are used. A missing database is not created. */
int api_cache_list(cugen *lib, const cugen_cache_filter *filter, const cugen_cache_set **out,
                   size_t *count, cugen_error *error);

/* Removes the selected records and portfolios, and each image that no remaining record can use, in
   short transactions, so that other processes go on reading and storing. If it fails, some may
   already be removed; *out counts them. If filter->config is a config and not the name of a kernel,
   only records from that file and from unknown files (such as imported ones) are removed; the file
   need no longer exist. A kernel of the same name in another file keeps its records. really 0: only
   counts. CUGEN_ERROR_IO: the cache is read-only. */
int api_cache_remove(cugen *lib, const cugen_cache_filter *filter, int really,
                     cugen_cache_counts *out, cugen_error *error);

/* Checks the file, the tables, every record and every image, and counts them. CUGEN_ERROR_CACHE:
   there are defects; *wrong (may be NULL) has a line for each and lives until the next call.
   Without a defect *wrong has a line for each foreign image, or is NULL. CUGEN_ERROR_MISSING: there
   is no database. */
int api_cache_verify(cugen *lib, cugen_cache_counts *out, const char **wrong, cugen_error *error);

/* The progress of an export; valid during the callback. */
typedef struct cugen_export_progress {
  size_t written, records; /* records written so far, and the number of all */
  const char *text;        /* the text since the last call: whole lines, without a terminating
                              zero */
  size_t length;           /* bytes of `text` */
  size_t left_out;         /* damaged records, which are not written; api_cache_verify describes
                              them */
} cugen_export_progress;
/* Called for each piece of about 64 KB, from the exporting thread; it must not use lib. Return
   nonzero to stop. */
typedef int (*cugen_export_callback)(const cugen_export_progress *progress, void *context);

/* Writes wisdom, which api_cache_import reads: the records that the filter's first three members
   select (NULL: all), without history, and the portfolios, as text with one line each
   (docs/cache.md). The file at path is replaced only when the new one is complete, and is unchanged
   if progress stops the export (CUGEN_ERROR_INTERRUPTED). path NULL: no file, progress takes the
   text. progress may be NULL. *records is the number of written records. The memory used does not
   grow with the number of records. */
int api_cache_export(cugen *lib, const cugen_cache_filter *filter, const char *path,
                     cugen_export_callback progress, void *context, size_t *records,
                     cugen_error *error);

/* ---- Importing ------------------------------------------------------------------------------- */

/* The counts of an import. */
typedef struct cugen_cache_merged {
  size_t records;    /* records in the file: the sum of the next four */
  size_t added;      /* records of variants that had none */
  size_t better;     /* records that replaced the record of their variant, which is kept as
                        history */
  size_t worse;      /* records that are kept as history themselves */
  size_t known;      /* records that the cache had already */
  size_t portfolios; /* portfolios in the file; each replaces an earlier one of its kernel, class
                        and device */
} cugen_cache_merged;

/* The progress of an import; valid during the callback. */
typedef struct cugen_import_progress {
  size_t read, merged; /* records read and merged so far */
  size_t records;      /* records in the file, as it says itself; 0: it does not say */
} cugen_import_progress;

/* Called from the importing thread; return nonzero to stop. */
typedef int (*cugen_import_callback)(const cugen_import_progress *progress, void *context);

/* Imports like cugen_cache_import; progress may be NULL. */
int api_cache_import(cugen *lib, const char *path, cugen_import_callback progress, void *context,
                     cugen_cache_merged *out, cugen_error *error);

#endif
