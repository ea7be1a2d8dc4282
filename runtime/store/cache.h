/* The cache: records and images that many processes use at once. Every store is committed when it returns. Any thread may call;
   calls on one cache wait for each other. Not to be used across fork. This is the interface; behind it stands an engine (engine.h): an SQLite
   database, or a PostgreSQL server. docs/cache.md describes the tables. */
#ifndef RUNTIME_STORE_CACHE_H
#define RUNTIME_STORE_CACHE_H

#include "base/measure_way.h"
#include "base/system.h"
#include "portfolio.h"
#include "record.h"
#include "runtime/device.h"

struct cache;

/* What a set of records belongs to. All texts are compared whole. */
struct cache_key {
  const char *device;  /* device_description.fingerprint */
  const char *config;  /* kernel name */
  const char *problem; /* "M=4096 ... dtype=f32" */
  const char *options; /* compile options and architecture, and how it is timed (base/measure_way.h) */
  /* Of which config file, since two may give their kernels one name; NULL or "": not known. It keeps their records apart and
     decides nothing: a record of another file with the kernel's own hash is as good as an own one. */
  const char *origin;
  const struct objective *objective; /* what its records are ranked by; no part of what they belong to. NULL: time */
  /* The problem's settings, a line each. What begins with '?' the config may have got after records were made: what cache_load
     and cache_fastest find need not have it, see cache_record.lacks. NULL: all are needed. */
  const char *settings;
};

/* What is wrong with a key, with the *name of the part: see the gate in record.h. NULL: nothing. */
const char *cache_key_wrong(const struct cache_key *key, const char **name);

/* path "" or "none": a cache in memory; postgresql://...: tables on a server; else a file. A folder that cannot be written, or a full disk: *warning (may be NULL) says so and the
   cache is read-only or in memory; that is no error. A corrupt, foreign or newer database is CUGEN_ERROR_CACHE,
   untouched. */
int cache_open(const char *path, struct cache **out, struct text *warning, cugen_error *err);
/* The same; stop is asked while a server is waited for, as long as the cache is open. Once it has
   said so, a server that is silent for a second is given up: CUGEN_ERROR_INTERRUPTED with
   CUGEN_CAUSE_BUSY, then and from then on. */
int cache_open_watched(const char *path, struct process_stop stop, struct cache **out, struct text *warning,
                       cugen_error *err);
void cache_close(struct cache *cache);
/* Why nothing that is stored or removed outlives this process, though it is a file, and what to do; "". */
const char *cache_why_unwritable(const struct cache *cache);
/* As cache_name. */
const char *cache_path(const struct cache *cache);
/* Parses text; whether such a cache exists is not asked. NULL is the default, a file. */
cugen_cache_kind cache_parse(const char *text);
/* What a path is called in messages: a connection string without its password. */
void cache_name(const char *path, struct text *out);
/* Nothing is there, and cache_open would make it. */
bool cache_is_missing(const char *path);

/* Whether records of that problem may be the key's: *lacks as in cache_record. */
bool cache_lacks(const struct cache_key *key, const char *problem, uint64_t *lacks);
/* All current records of the key, ok ones by cost, then the rest; the caller frees each and the array. Of a kernel that was
   measured with more of the key's settings and with fewer, the record with more is there. */
int cache_load(struct cache *cache, const struct cache_key *key, struct cache_record **out, size_t *count,
               cugen_error *err);
/* Calls visit with the current ok records of the key, the least cost first, until it sets *stop or fails; no more are read
   than it is shown. It may take a record's strings and leave NULL in their place. visit may not use the cache. */
typedef int cache_visitor(void *context, struct cache_record *record, bool *stop, cugen_error *err);
int cache_fastest(struct cache *cache, const struct cache_key *key, cache_visitor *visit, void *context,
                  cugen_error *err);
/* Calls visit with each problem that has records under this device, config and options (key->problem is not used), in
   their order as text; a status it returns ends the walk and is returned. visit may not use the cache. */
int cache_problems(struct cache *cache, const struct cache_key *key,
                   int (*visit)(void *context, const char *problem, cugen_error *err), void *context,
                   cugen_error *err);
/* Calls visit with each device and options under which right records of the key's config and problem are, in their order as text; else the
   same. */
int cache_devices(struct cache *cache, const struct cache_key *key,
                  int (*visit)(void *context, const char *device, const char *options, cugen_error *err),
                  void *context, cugen_error *err);
/* Adds the record, with its times and reason as cache_record_settle makes them. What is no record is an error, and nothing is stored. An older
   record of the same variant becomes history, if it is of the key's origin, of none that is known, or of the
   same kernel (hash). On a read-only cache this keeps it in
   memory for this process. What was stored is there whatever becomes of this process; of a power cut the next store
   makes it safe that comes a fifth of a second after the last safe one, or cache_sync. */
int cache_store(struct cache *cache, const struct cache_key *key, const struct cache_record *record,
                cugen_error *err);
/* CUGEN_ERROR_IO: what was stored is not at its place any more, since somebody has removed, moved
   or replaced the file. */
int cache_sync(struct cache *cache, cugen_error *err);
/* How long a transaction waits for another process, where that is to be other than usual. */
void cache_set_patience(struct cache *cache, double seconds);

/* The greatest rate remembered of a config on a device, whatever the options, for problems that hold this word (such as
   "dtype=f32"; "": all). *flops and *bytes are 0 when there is none. */
struct cache_rate {
  double flops, bytes; /* a second */
  int64_t measured_at;
};
int cache_greatest_rate(struct cache *cache, const char *device, const char *config, const char *word,
                        struct cache_rate *out, cugen_error *err);

/* A growing array. */
struct cache_records {
  struct cache_record *data;
  size_t count, capacity;
};
void cache_records_free(struct cache_records *records);

/* ---- Claims: several tuners on one space, each at variants that no other is at ---- */

/* Whether this cache keeps claims. A file does not: who shares one shares a machine as well. */
bool cache_keeps_claims(const struct cache *cache);
enum cache_claim_state {
  CACHE_CLAIM_TAKEN, /* by another owner */
  CACHE_CLAIM_GRANTED,
  CACHE_CLAIM_RECORDED, /* there is a record of this kernel */
  CACHE_CLAIM_LEFT      /* as many as are wanted stand before it */
};
struct cache_claim {
  const char *variant, *hash; /* kernel_spec.hash */
  enum cache_claim_state state;
};
struct cache_lease {
  const char *owner; /* a text that no other tuner has */
  double seconds;    /* a claim ends after that unless it is claimed again, so that a killed tuner's come back */
  int64_t since;     /* a variant whose kernel has a record that was measured then or later is not granted */
  size_t most;       /* so many are granted at most, the first ones; 0: all */
};
/* At most one owner is granted a variant at a time. */
int cache_claim(struct cache *cache, const struct cache_key *key, const struct cache_lease *lease,
                struct cache_claim *claims, size_t count, cugen_error *err);
/* Gives back all that the owner has. */
int cache_unclaim(struct cache *cache, const char *owner, cugen_error *err);
struct cache_news {
  int64_t since; /* below 0: nothing is news yet, and this call says from where on */
  struct cache_records
      records; /* current ones of the key that came since, in the order in which they came; some may have been seen. The caller frees */
  size_t tuners; /* owners who have claims of the key now */
};
int cache_news(struct cache *cache, const struct cache_key *key, struct cache_news *news, cugen_error *err);

/* ---- Looking through and tidying up ---- */

/* One set of records. The strings belong to it. */
struct cache_space {
  int64_t id;
  char *device, *config, *problem, *options;
  char *best;                      /* the fastest right variant; "": none */
  double seconds, flops, bytes;    /* its */
  char *origin;                    /* its; "": not known */
  size_t records, failed, history; /* current ones, those of them that failed, superseded ones */
  int64_t measured_at;             /* the latest */
};

/* All of them, by config, device, options, problem; the caller frees with cache_spaces_free. */
int cache_spaces(struct cache *cache, struct cache_space **out, size_t *count, cugen_error *err);
void cache_spaces_free(struct cache_space *spaces, size_t count);
/* As cache_load, but what was superseded, the latest first. */
int cache_history(struct cache *cache, const struct cache_key *key, struct cache_record **out, size_t *count,
                  cugen_error *err);

/* Which records are meant. */
struct cache_filter {
  const char *config, *device; /* NULL: any. device is part of a fingerprint, */
  bool whole_device;           /* or all of it */
  const char *problem;         /* "M=64 N=32": these are among the problem's values; NULL: any */
  int64_t before;              /* measured before that; 0: whenever */
  bool failed;                 /* only those that failed */
  bool timed;                  /* only those that were timed in this way: */
  enum measure_way measure;
  /* For cache_remove: measured from this config file; unknown: or it is not known from which. NULL: any. */
  const char *origin;
  bool unknown;
};
/* By config, device, problem and way. */
bool cache_filter_takes(const struct cache_filter *filter, const struct cache_key *key);

struct cache_removal {
  size_t spaces, records, history, images;
  int64_t image_bytes;
};
/* Whether there are records, or history, of this origin. */
int cache_has_origin(struct cache *cache, const char *origin, bool *has, cugen_error *err);
/* Removes them, and every image that no remaining record can want, in short transactions. What is stored meanwhile stays. On a failure
   some may be removed: *out counts them. really false: counts only, and waits for nobody. */
int cache_remove(struct cache *cache, const struct cache_filter *filter, bool really, struct cache_removal *out,
                 cugen_error *err);

/* ---- From one cache to another ---- */

struct cache_entry {
  struct cache_key key;
  struct cache_record record;
};

/* Who looks at every record. */
struct cache_visit {
  /* First, with how many there are, and how many rows are left out since they are no records (record.h, the gate). */
  int (*begin)(void *context, size_t count, size_t left_out, cugen_error *err);
  int (*record)(void *context, struct cache_entry *entry, cugen_error *err);
  void *context;
};
/* Calls visit with each current record that the filter's config, device and problem mean, by config, device, options, problem, variant,
   then as cache_load has them. All are of one moment, and one is in memory at a time. A status that it returns ends the walk and is
   returned. It may not use the cache. */
int cache_each(struct cache *cache, const struct cache_filter *filter, const struct cache_visit *visit,
               cugen_error *err);

struct cache_merged {
  size_t added;      /* of variants that had no record */
  size_t better;     /* now stand in front of the record that was there, which is history */
  size_t worse;      /* are history themselves */
  size_t known;      /* were there */
  size_t portfolios; /* in the file */
};
/* Who watches an import; true: it is to stop. */
struct cache_watch {
  bool (*stop)(void *context, size_t read, size_t merged, size_t planned); /* NULL: nobody */
  void *context;
};

/* An import: records are staged in a file of their own beside the cache, and when all are there, merged in short transactions. Up to
   then a failure, a stop or a kill leaves nothing; from then on whoever opens the cache next merges what is left. Few
   are merged in one transaction, without a file.
   Of two records of one kernel one that was seen to go wrong comes first (a wrong result, out of bounds, a trap), then a right one,
   the faster first, and of the rest the later one; of two kernels the one that was measured later. */
struct cache_stage;
enum { CACHE_STAGE_FEW = 200 };
/* planned: so many will be added, at most. Waits for another import of this cache. */
int cache_stage_open(struct cache *cache, size_t planned, const struct cache_watch *watch, struct cache_stage **out,
                     cugen_error *err);
/* *twice: the line of the same variant and kernel that was added before; 0: there is none. */
int cache_stage_add(struct cache_stage *stage, const struct cache_entry *entry, size_t line, size_t *twice,
                    cugen_error *err);
int cache_stage_merge(struct cache_stage *stage, struct cache_merged *out, cugen_error *err);
void cache_stage_close(struct cache_stage *stage);

/* ---- Portfolios ---- */

/* Those of the key's device, config and options, the latest first; key NULL: all, by config, device, options and class. The caller frees
   with cache_portfolios_free. */
int cache_portfolios(struct cache *cache, const struct cache_key *key, struct cache_portfolio **out, size_t *count,
                     cugen_error *err);
/* Stores them in one transaction, each in place of one of the same key that is not later. */
int cache_portfolios_store(struct cache *cache, const struct cache_portfolio *portfolios, size_t count,
                           cugen_error *err);
/* Removes those that the filter means, whose problem is compared with the class; failed: none. Returns in *count how many. really
   false: counts only. */
int cache_portfolios_remove(struct cache *cache, const struct cache_filter *filter, bool really, size_t *count,
                            cugen_error *err);

/* ---- Checking ---- */

struct cache_checked {
  size_t spaces, records, history, images,
      foreign_images; /* foreign: of another user's key, or of none; of them no use is made */
  int64_t image_bytes;
  size_t portfolios;
};
/* Adds a line for each thing that is wrong to *wrong, and for each foreign image to *foreign; the status is about the checking
   itself. */
int cache_verify(struct cache *cache, struct cache_checked *out, struct text *wrong, struct text *foreign,
                 cugen_error *err);

/* ---- Images ---- */

/* A larger one is not kept: it is compiled anew each time. */
#define CACHE_MAX_IMAGE ((size_t)64 << 20)

/* Why none can be kept, and what to do, where the user's key may not be used; "". */
const char *cache_image_warning(const struct cache *cache);
/* Images by key: source hash, architecture, compiler version and options in one text. How records of those options are timed is
   no part of it. *found tells; the caller frees with compiled_free. One that this user has not compiled (the seal of all that is said of it says so) is not found. */
int cache_image_key(const struct kernel_spec *spec, const char *arch, const char *options, int nvrtc_version,
                    struct text *out, cugen_error *err);
int cache_image_load(struct cache *cache, const char *key, struct compiled *out, bool *found, cugen_error *err);
/* Keeps it, in place of one that was there, where it is not too large and there is a key to seal it with; else it does nothing.
   All together may have 256 MiB: the oldest go, except for the fastest records' ones. */
int cache_image_store(struct cache *cache, const char *key, const struct compiled *compiled, cugen_error *err);

#endif
