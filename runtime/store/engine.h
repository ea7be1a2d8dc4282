/* The engines behind cache.h: an engine is a table of functions over its own kind of cache,
   whose struct begins with struct cache. Code that does not depend on where records are kept is
   shared by the engines. An engine is a folder and a row in cache.c. */
#ifndef RUNTIME_STORE_ENGINE_H
#define RUNTIME_STORE_ENGINE_H

#include <pthread.h>

#include "base/error.h"
#include "base/system.h"
#include "cache.h"
#include "seal.h"

/* Seconds for which a transaction waits for other processes, or for a server: to serve a user's
   request, and to store a measurement that must not be lost. */
enum { CACHE_BUSY_SECONDS = 20, CACHE_STORE_SECONDS = 600 };

struct cache_engine;

struct cache {
  const struct cache_engine *engine;
  /* the cache's path as shown to users: "none" for a cache in memory, never with a password */
  struct text path;
  pthread_mutex_t lock;
  struct seal seal;       /* key for sealing images; see image.c */
  struct text unsealed;   /* cache_image_warning */
  struct text unwritable; /* cache_why_unwritable */
  bool in_file;           /* stored data outlive this process */
  /* bytes of images that may be added before the size limit is checked again */
  size_t may_add;
};

struct cache_stage {
  const struct cache_engine *engine;
  struct cache_watch watch;
  size_t planned, added, merged; /* records */
};
/* CUGEN_ERROR_INTERRUPTED: the caller wants the import to end. */
static inline int cache_stage_watch(const struct cache_stage *stage, cugen_error *err) {
  const cugen_import_progress state = {stage->added, stage->merged, stage->planned};
  if (!stage->watch.stop || !stage->watch.stop(&state, stage->watch.context)) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped on request; nothing was imported");
}

/* Failed records: their outcome is neither OK nor UNPREDICTED. */
#define CACHE_FAILED_SQL "outcome NOT IN (0, 7)"
_Static_assert(CUGEN_OUTCOME_OK == 0 && CUGEN_OUTCOME_UNPREDICTED == 7, "as above");

/* ---- Queries -------------------------------------------------------------------------------- */

/* The queries that only read; query.c has their statements, for all engines. A comment names the
   values that a query takes, in their order. */
enum cache_query {
  CACHE_QUERY_LOAD,     /* device, config, problem, options, origin */
  CACHE_QUERY_FASTEST,  /* device, config, problem, options */
  CACHE_QUERY_HISTORY,  /* device, config, problem, options, origin */
  CACHE_QUERY_PROBLEMS, /* device, config, options */
  CACHE_QUERY_DEVICES,  /* config, problem */
  CACHE_QUERY_SHORTER,  /* device, config, problem, options, and two bounds of the problem */
  CACHE_QUERY_RATE,     /* device, config, a text in the problem */
  CACHE_QUERY_SPACES,
  CACHE_QUERY_ORIGIN, /* origin */
  CACHE_QUERY_PORTFOLIOS,
  CACHE_QUERY_PORTFOLIOS_OF, /* device, config, options */
  /* These queries take no values. */
  CACHE_QUERY_IMAGES,  /* gives name and bytes */
  CACHE_QUERY_KEYS,    /* gives device, config, problem, options, id */
  CACHE_QUERY_DOUBLES, /* gives a message for several records of which none is superseded */
  CACHE_QUERY_ENTRIES, /* gives a message for an image with a wrong number of kernels */
  CACHE_QUERIES
};
/* Appends the statement for PostgreSQL (server) or SQLite; "%s" is left for the columns of a
   record. */
void cache_query_sql(enum cache_query which, bool server, struct text *out);
/* Returns the verb for a message about a failed query: "cannot VERB". */
const char *cache_query_doing(enum cache_query which);

/* A row of an answer. Its texts live until the next row. */
struct cache_row {
  const struct cache_columns_of *columns; /* how the engine reads the row's columns */
  struct cache *cache;
  void *answer; /* the engine's own */
  int number;   /* of the row in the answer, if the engine has a whole answer at once */
};
struct cache_columns_of {
  const char *(*text)(const struct cache_row *row, int column); /* "" for NULL */
  int64_t (*integer)(const struct cache_row *row, int column);
  double (*real)(const struct cache_row *row, int column); /* NaN for NULL */
};
static inline const char *row_text(const struct cache_row *row, int column) {
  return row->columns->text(row, column);
}
static inline int64_t row_integer(const struct cache_row *row, int column) {
  return row->columns->integer(row, column);
}
static inline double row_real(const struct cache_row *row, int column) {
  return row->columns->real(row, column);
}
/* A visitor returns CACHE_STOP to end a walk without an error. */
enum { CACHE_STOP = 1 };
typedef int cache_row_visitor(void *context, const struct cache_row *row, cugen_error *err);

/* key.c: appends the parts of a key, each with its final zero. */
void cache_key_write(const struct cache_key *key, struct text *out);
/* Returns whether the text is what cache_key_write writes for this key. */
bool cache_key_is(const struct text *written, const struct cache_key *key);
/* Returns the key that was written; the key's texts lie in `written`. */
struct cache_key cache_key_read(const struct text *written);

/* row.c: reads a record from a row that begins with a record's columns. Returns false if out of
   memory. */
bool cache_row_record(const struct cache_row *row, struct cache_record *out);
/* Reads a key from four columns: device, config, problem, options. The key's texts are the
   row's. */
struct cache_key cache_row_key(const struct cache_row *row, int first);

/* The two passes of cache_each: the first counts, in any order, the second visits. */
struct cache_pass {
  const struct cache_visit *visit;
  bool counting;
  size_t count, left_out;
};
/* Counts or visits a row that begins with a record. key: of the record. */
int cache_pass_entry(struct cache_pass *pass, const struct cache_key *key,
                     const struct cache_row *row, cugen_error *err);

/* load.c: a cache_row_visitor whose context is struct cache_records. The row has a record, and then
   whether the record is of another config file. */
cache_row_visitor cache_take_record;

/* An image as it is stored, before its seal is checked. */
struct cache_image_row {
  struct compiled compiled;
  unsigned char mac[SEAL_BYTES];
  bool sealed; /* the row has a MAC of the right length */
};

/* A check in progress, see cache_verify. */
struct cache_check {
  struct cache *cache;
  cugen_cache_counts *out;
  struct text *wrong, *foreign;
};

/* ---- The table ------------------------------------------------------------------------------ */

/* Functions that take a cache are called under its lock, except close, sync and those of a stage. A
   function is documented in cache.h under the same name, or here. */
struct cache_engine {
  /* Whether the path is for this engine. */
  bool (*takes)(const char *path);
  cugen_cache_kind kind;
  /* Like cache_name and cache_is_missing. */
  void (*name)(const char *path, struct text *out);
  bool (*is_missing)(const char *path);
  /* Like cache_open_watched, but does not set the members `engine`, `seal` and `unsealed`. */
  int (*open)(const char *path, struct process_stop stop, struct cache **out, struct text *warning,
              cugen_error *err);
  void (*close)(struct cache *cache);
  int (*sync)(struct cache *cache, cugen_error *err);

  /* Visits the rows of a query's answer until the visitor fails or returns CACHE_STOP. values:
     texts; NULL becomes "". */
  int (*query)(struct cache *cache, enum cache_query which, const char *const *values, int count,
               cache_row_visitor *visit, void *context, cugen_error *err);
  int (*store)(struct cache *cache, const struct cache_key *key, const struct cache_record *record,
               cugen_error *err);
  int (*remove)(struct cache *cache, const struct cache_filter *filter, bool really,
                cugen_cache_counts *out, cugen_error *err);
  int (*each)(struct cache *cache, const struct cache_filter *filter,
              const struct cache_visit *visit, cugen_error *err);
  int (*verify)(struct cache_check *check, cugen_error *err);

  /* The stage begins with a copy of *given. */
  int (*stage_open)(struct cache *cache, const struct cache_stage *given, struct cache_stage **out,
                    cugen_error *err);
  int (*stage_add)(struct cache_stage *stage, const struct cache_entry *entry, size_t line,
                   size_t *twice, cugen_error *err);
  int (*stage_merge)(struct cache_stage *stage, cugen_cache_merged *out, cugen_error *err);
  void (*stage_close)(struct cache_stage *stage);

  /* Stores the portfolios like cache_portfolios_store, or removes the stored portfolios of the same
     keys, in one transaction. */
  int (*portfolios_change)(struct cache *cache, const struct cache_portfolio *portfolios,
                           size_t count, bool removed, cugen_error *err);

  /* Loads an image by the name that image.c makes. One larger than CACHE_MAX_IMAGE is not found.
     The caller frees *out, whatever the status. */
  int (*image_load)(struct cache *cache, const char *name, struct cache_image_row *out, bool *found,
                    cugen_error *err);
  /* Stores an image in place of an image of the same name. */
  int (*image_store)(struct cache *cache, const char *name, const struct compiled *compiled,
                     const unsigned char *mac, cugen_error *err);
  /* If all images together exceed `most` bytes, keeps those of the fastest records and the newest
     other images that fit `most`, and removes the rest. */
  int (*image_trim)(struct cache *cache, size_t most, cugen_error *err);

  /* All three functions are NULL if the engine keeps no claims. */
  int (*claim)(struct cache *cache, const struct cache_key *key, const struct cache_lease *lease,
               struct cache_claim *claims, size_t count, cugen_error *err);
  int (*unclaim)(struct cache *cache, const char *owner, cugen_error *err);
  int (*news)(struct cache *cache, const struct cache_key *key, struct cache_news *news,
              cugen_error *err);
};

/* The names of the table's functions, from which an engine's declarations and its row are made:
   sqlite_open is the function `open` of the engine sqlite. */
#define CACHE_ENGINE_FUNCTIONS(X, engine)                                                          \
  X(engine, takes)                                                                                 \
  X(engine, name)                                                                                  \
  X(engine, is_missing)                                                                            \
  X(engine, open)                                                                                  \
  X(engine, close)                                                                                 \
  X(engine, sync)                                                                                  \
  X(engine, query)                                                                                 \
  X(engine, store)                                                                                 \
  X(engine, remove)                                                                                \
  X(engine, each)                                                                                  \
  X(engine, verify)                                                                                \
  X(engine, stage_open)                                                                            \
  X(engine, stage_add)                                                                             \
  X(engine, stage_merge)                                                                           \
  X(engine, stage_close)                                                                           \
  X(engine, portfolios_change)                                                                     \
  X(engine, image_load)                                                                            \
  X(engine, image_store)                                                                           \
  X(engine, image_trim)
#define CACHE_CLAIM_FUNCTIONS(X, engine) X(engine, claim) X(engine, unclaim) X(engine, news)
#define CACHE_ENGINE_DECLARE(engine, function)                                                     \
  __typeof__(*((const struct cache_engine *)0)->function) engine##_##function;
#define CACHE_ENGINE_MEMBER(engine, function) .function = engine##_##function,

extern const struct cache_engine cache_postgres, cache_sqlite;

/* ---- Rules that engines share --------------------------------------------------------------- */

/* precedence.c: whether an import puts the new record of a variant in front of the old one. */
bool cache_record_goes_first(const struct cache_record *new, const struct cache_record *old);
/* Returns whether both records are the same measurement. */
bool cache_records_equal(const struct cache_record *a, const struct cache_record *b);

/* The resources of a kernel that are stored with its image, in the order of the columns. */
enum { CACHE_RESOURCES = 6 };
void cache_resources_get(const struct kernel_resources *from, int64_t out[CACHE_RESOURCES]);
struct kernel_resources cache_resources_of(const int64_t from[CACHE_RESOURCES]);

/* findings.c: adds a line to one of the check's texts. */
void cache_check_add(struct text *lines, const char *format, ...) PRINTF_LIKE(2, 3);
/* Visitors whose context is the check. A row of the first has a record, its id and whether it is
   superseded; a row of the second has the words for a defect. */
cache_row_visitor cache_check_record, cache_check_words;
/* Checks what all engines keep alike: sets, records that are there twice, images. */
int cache_check_rest(struct cache_check *check, cugen_error *err);
/* image.c: sets *out to whether this user sealed the image, and the image is unchanged; called
   under the lock. */
enum cache_image_state { CACHE_IMAGE_OWN, CACHE_IMAGE_FOREIGN, CACHE_IMAGE_CHANGED };
int cache_image_state(struct cache *cache, const char *name, enum cache_image_state *out,
                      cugen_error *err);
/* key.c: like cache_key_wrong, for the key and then the record, whose `wrong` has been set. */
const char *cache_entry_wrong(const struct cache_key *key, const struct cache_record *record,
                              const char **name);
/* CUGEN_ERROR_CACHE: the entry, whose record has been settled, is invalid and must not be
   stored. */
int cache_check_entry(const struct cache *cache, const struct cache_key *key,
                      const struct cache_record *record, cugen_error *err);
/* portfolios.c: called under the lock. */
int cache_check_portfolios(struct cache_check *check, cugen_error *err);

#endif
