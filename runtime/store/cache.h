/* The cache: records and images that many processes use at once. A store is committed when the call
   returns. Any thread may call; calls on one cache wait for each other. A cache must not be used
   across fork. Behind this interface stands an engine (engine.h): an SQLite database or a
   PostgreSQL server. docs/cache.md describes the tables. */
#ifndef RUNTIME_STORE_CACHE_H
#define RUNTIME_STORE_CACHE_H

#include "base/key.h"
#include "base/system.h"
#include "portfolio.h"
#include "record.h"
#include "runtime/device.h"

struct cache;

/* The key of a set of records. All texts are compared whole. */
struct cache_key {
  const char *device;  /* device_description.fingerprint */
  const char *config;  /* kernel name */
  const char *problem; /* "M=4096 ... dtype=f32" */
  /* a struct record_options of base/key.h, as text */
  const char *options;
  /* The config file, since two files may give their kernels the same name; NULL or "": not
     known. Records of different files are kept apart, but a record of another file counts, too, if
     the record's hash is that of the present kernel. */
  const char *origin;
  const struct objective *objective; /* the order of the records; not part of the key. NULL: time */
  /* Bit i: the problem's setting i may have been added to the config after records were made.
     cache_load and cache_fastest also find records without such settings, see
     cache_record.lacks. */
  uint64_t may_lack;
};

/* The texts that name a set of records: device, config, problem and options, in this order. */
enum { CACHE_KEY_PARTS = 4 };
extern const char *const cache_key_names[CACHE_KEY_PARTS];
const char **cache_key_part(struct cache_key *key, int i);
const char *cache_key_text(const struct cache_key *key, int i);
/* Returns what is wrong with a key, such as "is empty", and sets *name to the wrong part; NULL if
   the key is valid. See the gate in record.h. */
const char *cache_key_wrong(const struct cache_key *key, const char **name);

/* path NULL, "" or "none": a cache in memory; postgresql://... or postgres://...: tables on a
   server; otherwise a file.
   If a folder cannot be written or a disk is full, the cache is read-only or in memory and
   *warning (may be NULL) says so; that is no error. A corrupt, foreign or newer database is
   CUGEN_ERROR_CACHE and is left untouched. */
int cache_open(const char *path, struct cache **out, struct text *warning, cugen_error *err);
/* Like cache_open, but while any call waits for a server, `stop` is asked. Once stop returns true,
   a server that does not answer soon is given up: the waiting call and later calls return
   CUGEN_ERROR_INTERRUPTED with CUGEN_CAUSE_BUSY. */
int cache_open_watched(const char *path, struct process_stop stop, struct cache **out,
                       struct text *warning, cugen_error *err);
void cache_close(struct cache *cache);
/* Says why changes of a cache file do not outlive this process, and what to do; "": they do, or the
   cache is no file. */
const char *cache_why_unwritable(const struct cache *cache);
/* The cache's path as cache_name prints it. */
const char *cache_path(const struct cache *cache);
/* The kind of cache that a path names, without looking whether the cache exists. NULL is the
   default, a file. */
cugen_cache_kind cache_parse(const char *text);
/* Appends a path as messages show it: a connection string without its password. */
void cache_name(const char *path, struct text *out);
/* Returns whether the path is that of a cache file that does not exist yet. */
bool cache_is_missing(const char *path);

/* Returns whether records of that problem count as the key's; *lacks: as in cache_record. */
bool cache_lacks(const struct cache_key *key, const char *problem, uint64_t *lacks);
/* Loads the current valid records of the key: ok records by cost, then all others. The caller frees
   each record and the array. If a kernel was measured with all of the key's settings and with
   fewer, only the record with the longest problem is loaded. */
int cache_load(struct cache *cache, const struct cache_key *key, struct cache_record **out,
               size_t *count, cugen_error *err);
/* Calls visit with the current ok records of the key by rising cost, until visit sets *stop or
   fails. visit may take a record's strings and leave NULL in their place. visit may not use the
   cache. */
typedef int cache_visitor(void *context, struct cache_record *record, bool *stop, cugen_error *err);
int cache_fastest(struct cache *cache, const struct cache_key *key, cache_visitor *visit,
                  void *context, cugen_error *err);
/* Calls visit with each problem that has current records under the key's device, config and
   options, in the order of the problems' texts. A status that visit returns ends the walk and is
   returned. visit may not use the cache. */
int cache_problems(struct cache *cache, const struct cache_key *key,
                   int (*visit)(void *context, const char *problem, cugen_error *err),
                   void *context, cugen_error *err);
/* Like cache_problems, but visits each device and options under which there are right records of
   the key's config and problem. */
int cache_devices(struct cache *cache, const struct cache_key *key,
                  int (*visit)(void *context, const char *device, const char *options,
                               cugen_error *err),
                  void *context, cugen_error *err);
/* Stores the record, with its times and reason as cache_record_settle makes them; an invalid record
   is an error. An older record of the variant becomes history if it has the key's origin, no known
   origin, or the same kernel hash. A read-only cache keeps the new record in memory until it
   is closed. A record in a cache file survives a crash of this process, but a power cut only once
   it is on disk: a store waits for the disk if the last wait was a fifth of a second ago or
   more. */
int cache_store(struct cache *cache, const struct cache_key *key, const struct cache_record *record,
                cugen_error *err);
/* Waits while what was stored in a cache file is written to the disk; a failure to write is not
   reported. CUGEN_ERROR_IO: the stored data are lost, because the file was removed, moved or
   replaced. */
int cache_sync(struct cache *cache, cugen_error *err);

/* The rates of the current right record with the highest sum of both, for a config on a device,
   with any options, and problems that contain `word` (such as "dtype=f32"; "": all). 0: there is no
   record. */
struct cache_rate {
  double flops, bytes; /* a second */
  int64_t measured_at;
};
int cache_greatest_rate(struct cache *cache, const char *device, const char *config,
                        const char *word, struct cache_rate *out, cugen_error *err);

struct cache_records {
  struct cache_record *data;
  size_t count;
};
void cache_records_free(struct cache_records *records);

/* ---- Claims: tuners that share a space each measure variants that no other tuner measures --- */

/* Returns whether this cache keeps claims, which the functions below need. Only a server does. */
bool cache_keeps_claims(const struct cache *cache);
enum cache_claim_state {
  CACHE_CLAIM_TAKEN, /* claimed by another owner */
  CACHE_CLAIM_GRANTED,
  CACHE_CLAIM_RECORDED, /* the kernel has a record of lease->since or later */
  CACHE_CLAIM_LEFT      /* not tried, because `most` variants in front of it were granted */
};
struct cache_claim {
  const char *variant, *hash; /* kernel_spec.hash */
  enum cache_claim_state state;
};
struct cache_lease {
  const char *owner; /* a text that identifies the tuner uniquely */
  /* Lifetime of a claim unless it is renewed, so that the variants of a killed tuner become
     free. */
  double seconds;
  /* A variant is not granted if its kernel has a record that was measured at this time or later. */
  int64_t since;
  size_t most; /* at most so many variants are granted, in the order of the claims; 0: all */
};
/* Claims variants; a variant is granted to at most one owner at a time. */
int cache_claim(struct cache *cache, const struct cache_key *key, const struct cache_lease *lease,
                struct cache_claim *claims, size_t count, cugen_error *err);
/* Gives back all claims of the owner. */
int cache_unclaim(struct cache *cache, const char *owner, cugen_error *err);
struct cache_news {
  /* < 0: no records are returned. The call sets the point from which later records are news. */
  int64_t since;
  /* The current records of the key that came after `since`, oldest first; some may have been
     returned before. The caller frees them. */
  struct cache_records records;
  size_t tuners; /* number of owners that now have claims under the key */
};
int cache_news(struct cache *cache, const struct cache_key *key, struct cache_news *news,
               cugen_error *err);

/* ---- Looking through and tidying up --------------------------------------------------------- */

/* Lists the sets that have records by config, device, options and problem; the caller frees with
   cache_spaces_free. */
int cache_spaces(struct cache *cache, struct cache_space **out, size_t *count, cugen_error *err);
void cache_spaces_free(struct cache_space *spaces, size_t count);
/* Loads the superseded records of the key that are of its config file or of no known file, the
   latest first. The caller frees each record and the array. */
int cache_history(struct cache *cache, const struct cache_key *key, struct cache_record **out,
                  size_t *count, cugen_error *err);

struct cache_filter {
  const char *config, *device; /* NULL: any */
  bool whole_device;           /* device is the whole fingerprint, not a part of it */
  const char *problem;         /* "M=64 N=32": values that the problem has to contain; NULL: any */
  int64_t before; /* when removing: only records measured before that time; 0: any time */
  bool failed;    /* when removing: only failed records */
  bool timed;     /* only records that were timed in the way below */
  enum measure_way measure;
  /* When removing: only records and portfolios of this config file, and with `unknown` also
     records and portfolios of no known file. NULL: any. */
  const char *origin;
  bool unknown;
};
/* Returns whether the filter selects the key, by config, device, problem and way of timing. */
bool cache_filter_takes(const struct cache_filter *filter, const struct cache_key *key);

/* Sets *has to whether there are records, current or superseded, of this origin. */
int cache_has_origin(struct cache *cache, const char *origin, bool *has, cugen_error *err);
/* Removes the selected records, and the images that no remaining current record can use. After a
   failure some records may be removed: *out counts them. really false: only counts. */
int cache_remove(struct cache *cache, const struct cache_filter *filter, bool really,
                 cugen_cache_counts *out, cugen_error *err);

/* ---- From one cache to another -------------------------------------------------------------- */

struct cache_entry {
  struct cache_key key;
  struct cache_record record;
};

/* The callbacks of cache_each. */
struct cache_visit {
  /* called first, with the number of records, and the number of rows left out because they are
     invalid (see the gate in record.h) */
  int (*begin)(void *context, size_t count, size_t left_out, cugen_error *err);
  int (*record)(void *context, struct cache_entry *entry, cugen_error *err);
  void *context;
};
/* Calls visit with each valid current record whose key the filter selects, in the order of config,
   device, options, problem and variant, and within a variant by time, failed records last. All
   records are of one moment. A status that visit returns ends the walk and is returned. visit may
   not use the cache. */
int cache_each(struct cache *cache, const struct cache_filter *filter,
               const struct cache_visit *visit, cugen_error *err);

struct cache_watch {
  /* returns nonzero to end the import; NULL: the import is not observed */
  cugen_import_callback stop;
  void *context;
};

/* An import. Records are staged in a file beside the cache and, when all are read, merged in short
   transactions. Until then a failure, a stop or a kill leaves the cache unchanged; after that, the
   next process that opens the cache merges the remaining records. A small import, and an import
   into a server or into memory, is merged in one transaction, without a file.
   Precedence between two records of one kernel: a refuted record (wrong result, out of bounds,
   trap) comes first, then right records (those with varying outputs first, then the fastest), then
   all others, the latest first.
   Between records of two kernels, the one that was measured later comes first. */
struct cache_stage;
enum { CACHE_STAGE_FEW = 200 };
/* planned: upper limit of the number of records that will be added. May wait for another import
   into this cache. */
int cache_stage_open(struct cache *cache, size_t planned, const struct cache_watch *watch,
                     struct cache_stage **out, cugen_error *err);
/* *twice: the line that added the same variant and kernel before; 0: none. */
int cache_stage_add(struct cache_stage *stage, const struct cache_entry *entry, size_t line,
                    size_t *twice, cugen_error *err);
int cache_stage_merge(struct cache_stage *stage, cugen_cache_merged *out, cugen_error *err);
void cache_stage_close(struct cache_stage *stage);

/* ---- Portfolios ----------------------------------------------------------------------------- */

/* Loads the portfolios of the key's device, config and options, the latest first; key NULL: all
   portfolios by config, device, options and class. The caller frees them with
   cache_portfolios_free. */
int cache_portfolios(struct cache *cache, const struct cache_key *key, struct cache_portfolio **out,
                     size_t *count, cugen_error *err);
/* Stores the portfolios in one transaction. A portfolio replaces a stored portfolio of the same key
   unless the stored portfolio is later. */
int cache_portfolios_store(struct cache *cache, const struct cache_portfolio *portfolios,
                           size_t count, cugen_error *err);
/* Removes the portfolios that the filter selects, with the filter's problem compared to the class;
   with filter->failed none. *count becomes the portfolios' number. really false: only counts. */
int cache_portfolios_remove(struct cache *cache, const struct cache_filter *filter, bool really,
                            size_t *count, cugen_error *err);

/* ---- Checking ------------------------------------------------------------------------------- */

/* Adds a line to *wrong for each defect and to *foreign for each foreign image. The status tells
   whether the check itself succeeded. */
int cache_verify(struct cache *cache, cugen_cache_counts *out, struct text *wrong,
                 struct text *foreign, cugen_error *err);

/* ---- Images --------------------------------------------------------------------------------- */

/* A larger image is not cached. */
#define CACHE_MAX_IMAGE ((size_t)64 << 20)

/* Says why the user's key is not used, and what to do; "": nothing is wrong with the key, or it is
   missing. */
const char *cache_image_warning(const struct cache *cache);
/* Appends the key of an image: source hash, architecture, compile options, compiler version and
   entries. */
int cache_image_key(const struct kernel_spec *spec, const char *arch, const char *options,
                    int nvrtc_version, struct text *out, cugen_error *err);
/* *found: there is an image with a seal of this user's, which the caller frees with
   compiled_free. */
int cache_image_load(struct cache *cache, const char *key, struct compiled *out, bool *found,
                     cugen_error *err);
/* Caches an image in place of an older one of the same key. Does nothing if the image is too
   large or there is no key to seal it with. All images together may take some 256 MiB, or 32 MiB in
   memory: the oldest are removed, except the images of the fastest records. */
int cache_image_store(struct cache *cache, const char *key, const struct compiled *compiled,
                      cugen_error *err);

#endif
