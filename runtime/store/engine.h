/* What stands behind cache.h: an engine is a table of functions over a cache of its own kind, whose struct begins with struct cache.
   What does not depend on where records are kept is here, once: which records are a key's (load.c), what a filter means (filter.c),
   which of two records goes first (precedence.c), whose an image is (image.c). An engine is a folder and a row in engines.c. */
#ifndef RUNTIME_STORE_ENGINE_H
#define RUNTIME_STORE_ENGINE_H

#include <pthread.h>

#include "base/system.h"
#include "cache.h"
#include "seal.h"

/* Of the tables, whatever keeps them; any change of a record's fields raises it. */
enum { CACHE_FORMAT_VERSION = 12 };
/* How long a transaction waits for others: a user who asked for something, and what nobody may lose. */
enum { CACHE_BUSY_SECONDS = 20, CACHE_STORE_SECONDS = 600 };

struct cache_engine;

struct cache {
  const struct cache_engine *engine;
  struct text path; /* as it is shown: "none" for a cache in memory, never with a password */
  pthread_mutex_t lock;
  struct seal seal;       /* of images; see image.c */
  struct text unsealed;   /* why there is none; "" */
  struct text unwritable; /* why it is a copy in memory, and what to do; "" */
  bool in_file;           /* what is stored outlives this process */
  size_t may_add;         /* bytes of images, before there may be too many of them */
};

struct cache_stage {
  const struct cache_engine *engine;
};

/* ---- What engines fill ---- */

/* Where the next one goes; it counts when the engine has raised count. NULL: out of memory. */
struct cache_record *cache_records_next(struct cache_records *records);

struct cache_spaces {
  struct cache_space *data;
  size_t count, capacity;
};
struct cache_space *cache_spaces_next(struct cache_spaces *spaces);

struct cache_portfolios {
  struct cache_portfolio *data;
  size_t count;
};
/* An empty one more, which counts. NULL: out of memory. */
struct cache_portfolio *cache_portfolios_next(struct cache_portfolios *portfolios);

/* An image as it is kept, not yet vouched for. */
struct cache_image_row {
  struct compiled compiled;
  unsigned char mac[SEAL_BYTES];
  bool sealed; /* there was a MAC of that length */
};

typedef int cache_problem_visitor(void *context, const char *problem, cugen_error *err);
typedef int cache_device_visitor(void *context, const char *device, const char *options, cugen_error *err);
typedef int cache_image_visitor(void *context, const char *name, int64_t bytes, cugen_error *err);

/* ---- The table ---- */

/* All are called under the cache's lock, but for close, sync, set_patience and those of a stage. What each does is said in cache.h, at the
   function of that name, or here. */
struct cache_engine {
  /* Whether it is meant by this path; asked in the order of engines.c. */
  bool (*takes)(const char *path);
  cugen_cache_kind kind;
  /* As cache_name and cache_is_missing. */
  void (*name)(const char *path, struct text *out);
  bool (*is_missing)(const char *path);
  /* As cache_open, but for engine and seal. */
  int (*open)(const char *path, struct process_stop stop, struct cache **out, struct text *warning, cugen_error *err);
  void (*close)(struct cache *cache);
  int (*sync)(struct cache *cache, cugen_error *err);
  void (*set_patience)(struct cache *cache, double seconds);

  /* The current records of exactly this key: right ones by time, then the rest, then as they came. */
  int (*load)(struct cache *cache, const struct cache_key *key, struct cache_records *out, cugen_error *err);
  int (*fastest)(struct cache *cache, const struct cache_key *key, cache_visitor *visit, void *context,
                 cugen_error *err);
  int (*history)(struct cache *cache, const struct cache_key *key, struct cache_records *out, cugen_error *err);
  int (*problems)(struct cache *cache, const struct cache_key *key, cache_problem_visitor *visit, void *context,
                  cugen_error *err);
  /* As cache_devices. */
  int (*devices)(struct cache *cache, const struct cache_key *key, cache_device_visitor *visit, void *context,
                 cugen_error *err);
  /* Problems with records, from <= problem < to as bytes, shorter than the key's; the longest first. A status ends it. */
  int (*shorter)(struct cache *cache, const struct cache_key *key, const char *from, const char *to,
                 cache_problem_visitor *visit, void *context, cugen_error *err);
  int (*store)(struct cache *cache, const struct cache_key *key, const struct cache_record *record, cugen_error *err);
  int (*greatest_rate)(struct cache *cache, const char *device, const char *config, const char *word,
                       struct cache_rate *out, cugen_error *err);

  int (*spaces)(struct cache *cache, struct cache_spaces *out, cugen_error *err);
  int (*has_origin)(struct cache *cache, const char *origin, bool *has, cugen_error *err);
  int (*remove)(struct cache *cache, const struct cache_filter *filter, bool really, struct cache_removal *out,
                cugen_error *err);
  int (*each)(struct cache *cache, const struct cache_filter *filter, const struct cache_visit *visit,
              cugen_error *err);
  int (*verify)(struct cache *cache, struct cache_checked *out, struct text *wrong, struct text *foreign,
                cugen_error *err);

  int (*stage_open)(struct cache *cache, size_t planned, const struct cache_watch *watch, struct cache_stage **out,
                    cugen_error *err);
  int (*stage_add)(struct cache_stage *stage, const struct cache_entry *entry, size_t line, size_t *twice,
                   cugen_error *err);
  int (*stage_merge)(struct cache_stage *stage, struct cache_merged *out, cugen_error *err);
  void (*stage_close)(struct cache_stage *stage);

  /* As cache_portfolios. */
  int (*portfolios)(struct cache *cache, const struct cache_key *key, struct cache_portfolios *out, cugen_error *err);
  /* In one transaction: stores them as cache_portfolios_store does, or removes those of their keys. */
  int (*portfolios_change)(struct cache *cache, const struct cache_portfolio *portfolios, size_t count, bool removed,
                           cugen_error *err);

  /* By the name that image.c gives it. What is larger than any is not found. The caller frees what is in *out, whatever the status. */
  int (*image_load)(struct cache *cache, const char *name, struct cache_image_row *out, bool *found,
                    cugen_error *err);
  /* In place of one of that name. */
  int (*image_store)(struct cache *cache, const char *name, const struct compiled *compiled, const unsigned char *mac,
                     cugen_error *err);
  /* Removes the oldest until so many bytes are left, but none of the fastest records' ones. */
  int (*image_trim)(struct cache *cache, size_t most, cugen_error *err);
  int (*images)(struct cache *cache, cache_image_visitor *visit, void *context, cugen_error *err);

  /* NULL, all three: it keeps no claims. */
  int (*claim)(struct cache *cache, const struct cache_key *key, const struct cache_lease *lease,
               struct cache_claim *claims, size_t count, cugen_error *err);
  int (*unclaim)(struct cache *cache, const char *owner, cugen_error *err);
  int (*news)(struct cache *cache, const struct cache_key *key, struct cache_news *news, cugen_error *err);
};

extern const struct cache_engine *const cache_engines[];

/* ---- Rules that engines share ---- */

/* precedence.c: which of two records of a variant an import leaves in front. */
bool cache_record_goes_first(const struct cache_record *new, const struct cache_record *old);
/* Whether they are the same measurement. */
bool cache_records_equal(const struct cache_record *a, const struct cache_record *b);

/* image.c: for each image, whose it is and whether it is what was stored; under the lock. */
enum cache_image_state { CACHE_IMAGE_OWN, CACHE_IMAGE_FOREIGN, CACHE_IMAGE_CHANGED };
int cache_images_visit(struct cache *cache,
                       void (*visit)(void *context, const char *name, int64_t bytes, enum cache_image_state state),
                       void *context, cugen_error *err);

/* findings.c: what is found wrong, a line each. */
struct cache_check {
  struct cache *cache;
  struct cache_checked *out;
  struct text *wrong, *foreign;
};
void cache_check_add(struct cache_check *check, const char *format, ...) PRINTF_LIKE(2, 3);
/* value: as the row has it, of the column that is wrong. */
void cache_check_record(struct cache_check *check, long long id, const struct cache_record *record,
                        const char *value);
void cache_check_key(struct cache_check *check, long long id, const struct cache_key *key);
int cache_check_images(struct cache_check *check, cugen_error *err);
/* gate.c: whether an entry that was read is one for others. */
bool cache_entry_is_sound(const struct cache_entry *entry);
/* In front of the engines, so that none stores what another one, an export or a check would call damage. The record is settled. */
int cache_check_entry(const struct cache *cache, const struct cache_key *key, const struct cache_record *record,
                      cugen_error *err);
/* portfolios.c: under the lock. */
int cache_check_portfolios(struct cache_check *check, cugen_error *err);

#endif
