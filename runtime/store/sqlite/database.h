/* The cache as an SQLite database, shared by the files of this folder, which alone include sqlite3.h. From below:
   file.c          what a file is, where it lies, what its failures mean
   connection.c    a connection that trusts nothing in the file
   tables.c        the tables, older formats of them, the statements
   schema.c        whether the tables of a file are cugen's
   row.c           keys and records to and from rows
   transaction.c   transactions, and what is durable when
   load.c, store.c, walk.c, manage.c, image.c, portfolio.c, verify.c    what engine.h asks for, a subject each
   merge.c, stage.c    an import
   open.c          opens and closes
   sqlite.c        the table of them all */
#ifndef RUNTIME_STORE_SQLITE_DATABASE_H
#define RUNTIME_STORE_SQLITE_DATABASE_H

#include <sqlite3.h>

#include "runtime/store/engine.h"
#include "sqlite.h"

enum {
  CACHE_APPLICATION_ID = 0x6375676e, /* "cugn", in the file's header at byte 68 */
};
/* CACHE_FORMAT_VERSION stands in its header at byte 60. */

/* ---- Statements ---- */

/* ?1 to ?4 are the key in every statement about records and spaces, ?5 on a record's columns, the variant first. The key's origin is
   bound where a statement asks for it. */
#define CACHE_ORIGIN_PLACE "?60"
enum { CACHE_ORIGIN = 60 };
/* What is larger nobody stored; it is not even read. */
#define CACHE_IMAGE_FITS "length(data) <= 67108864"
_Static_assert(CACHE_MAX_IMAGE == 67108864, "as above");
enum cache_statement {
  BEGIN,
  COMMIT,
  ROLLBACK, /* prepared: it must not fail for memory */
  SPACE_ADD,
  SPACE_LIST,
  SPACE_SHORTER, /* ?5 and ?6: between what the problem stands */
  RECORD_LOAD,
  RECORD_FASTEST,
  RECORD_SUPERSEDE,
  RECORD_ADD,
  IMAGE_LOAD,
  IMAGE_ENTRIES,
  IMAGE_TRIM,
  IMAGE_DROP,
  IMAGE_ADD,
  IMAGE_ENTRY_ADD,
  CACHE_STATEMENTS
};

struct sqlite_cache {
  struct cache base;
  sqlite3 *db;
  const char *schema; /* where the file is: "main", or "disk" when it can only be read */
  sqlite3_stmt *statements[CACHE_STATEMENTS];
  bool checked;        /* what is in the tables may be added to; see cache_before_writing */
  bool log_wanted;     /* the file has not been given its write-ahead log by this handle */
  bool log;            /* it has one */
  bool waits;          /* a commit waits for the disk */
  bool hurry;          /* the next need not, see cache_store */
  bool unsynced;       /* the last one did not */
  double synced;       /* when one last did, by clock_seconds */
  double patience;     /* seconds that a transaction waits for other processes */
  double busy_since;   /* by clock_seconds */
  struct text refusal; /* why it may not, until cache_error has told */
  int refusal_status;
  bool full; /* it was for want of room */
};

/* ---- tables.c ---- */

bool cache_sql(sqlite3 *db, const char *sql);
/* In one transaction: after a crash the file is still empty, or complete. Another process may come first. */
bool cache_make_tables(sqlite3 *db);
bool cache_is_current(sqlite3 *db);
/* Gives the file its write-ahead log, where nobody is in the way; whether it has it now. */
bool cache_is_logged(sqlite3 *db);
/* Brings tables of an older format up to date, in one transaction too: a file is of one format or of the next. */
bool cache_migrate(sqlite3 *db);
/* The statements that make the cache's tables. */
extern const char cache_tables_sql[];
/* A statement with its "%t" and so on, as of tables of `format`; the caller frees. */
void cache_write_sql(const char *sql, int format, struct text *out);
/* The first column of the first row. */
bool cache_query_text(sqlite3 *db, const char *sql, struct text *out);
/* Copies what a read-only database attached as disk remembers, of whatever format. */
bool cache_copy_disk(sqlite3 *db);
/* Reads every page of records. Images are not checked here but when one is loaded: there may be a gigabyte. Who only
   reads does without: SQLite checks the pages that it reads, and a large cache has many more. */
int cache_check_tables(sqlite3 *db, const char *schema, const char *path, cugen_error *err);
/* The statements. with_disk: images are also looked for in the database attached as disk. */
int cache_prepare(struct sqlite_cache *cache, bool with_disk, cugen_error *err);

/* Prepares a statement for one use, with its "%s"; NULL on failure. */
sqlite3_stmt *cache_query(struct sqlite_cache *cache, const char *sql);
/* The same of another database, whose tables are of `format`; *out NULL on failure. */
bool cache_prepare_on(sqlite3 *db, const char *sql, int format, sqlite3_stmt **out);
/* Runs statements on it, "%s" and so on put in. */
bool cache_sql_on(sqlite3 *db, const char *sql);

/* ---- transaction.c ---- */

/* To be called ahead of a handle's first transaction that writes: a damaged file is left as it is. False: cache_error
   tells why. */
bool cache_before_writing(struct sqlite_cache *cache);
/* Around a transaction of whoever cannot wait for the disk each time, under the lock. */
void cache_hurry(struct sqlite_cache *cache);
void cache_hurried(struct sqlite_cache *cache, int status);
/* Runs a statement that gives no rows. */
bool cache_step(struct sqlite_cache *cache, enum cache_statement which);
/* Ends what BEGIN began: commits when good, else rolls back and sets the error. */
int cache_finish(struct sqlite_cache *cache, bool good, const char *doing, cugen_error *err);

/* Who changes much does it in transactions of this length with a pause after each, so that a tuner's store comes in between. */
#define CACHE_STEP_SECONDS 0.03
void cache_pause(void);

/* ---- row.c ---- */

/* string NULL is "". It must live until the statement has run. */
bool cache_bind_text(sqlite3_stmt *statement, int place, const char *string);
bool cache_bind_key(sqlite3_stmt *statement, const struct cache_key *key);
bool cache_bind_record(sqlite3_stmt *statement, const struct cache_record *record);
const char *cache_column_text(sqlite3_stmt *statement, int i); /* never NULL */
/* A record's columns stand first in the row. False: out of memory. */
bool cache_read_record(sqlite3_stmt *statement, struct cache_record *out);

/* ---- merge.c ---- */

enum cache_merge_statement {
  MERGE_SAME,
  MERGE_UNKNOWN,
  MERGE_RETIRE_SAME,
  MERGE_RETIRE_ORIGIN,
  MERGE_ADD,
  MERGE_SPACE,
  CACHE_MERGE_STATEMENTS
};
struct cache_merge {
  struct sqlite_cache *cache;
  struct cache_merged *out;
  sqlite3_stmt *statements[CACHE_MERGE_STATEMENTS];
  int64_t space; /* of the entries to come; 0: not known */
  bool no_memory;
};
/* To be called when a transaction has begun. */
bool cache_merge_prepare(struct cache_merge *merge);
bool cache_merge_next(struct cache_merge *merge, const struct cache_entry *entry);
void cache_merge_end(struct cache_merge *merge);

/* ---- stage.c ---- */

/* Ends an import that was killed: what it had read whole is merged, else it is dropped. One that is alive is left alone. dropped: even what
   is whole. */
void cache_stage_resume(struct sqlite_cache *cache, bool dropped);

/* ---- schema.c ---- */

/* tables: the statements that make them, as cache_write_sql takes them, each ended by a line's end. CUGEN_ERROR_CACHE, with the way out, where the tables, columns, indices are others than cugen makes, in any format; or where there
   is more: triggers, views, generated columns. Nothing of such a schema has been run by then. */
int cache_check_schema(sqlite3 *db, const char *schema, const char *tables, const char *path, cugen_error *err);

/* ---- connection.c ---- */

/* For a file that may come from a stranger. */
bool cache_harden(sqlite3 *db);

/* ---- file.c ---- */

int cache_error_corrupt(const char *path, const char *what, cugen_error *err);
/* What SQLite's last failure on this database means for the user. */
int cache_error_database(sqlite3 *db, const char *path, const char *doing, cugen_error *err);
/* Whether the file, or its folder, is not at its place any more: it was removed, moved or replaced
   since it was opened. */
bool cache_is_moved(sqlite3 *db);
/* Whether what failed last did so for want of room on the disk. */
bool cache_is_full(sqlite3 *db);
int cache_error(struct sqlite_cache *cache, const char *doing, cugen_error *err);
/* Keeps what just failed for cache_error, which must follow: ending another statement in between would hide it. */
void cache_keep_error(struct sqlite_cache *cache, const char *doing);
/* CUGEN_ERROR_CACHE when the file is not a cache that this cugen can use; nothing is written, not even beside a
   database of somebody else. *fresh: nothing there yet, or an empty file. */
int cache_probe(const char *path, bool *fresh, cugen_error *err);
/* The write-ahead log needs memory shared between all users of the file, which no network file system gives. */
bool cache_on_network(const char *folder);
/* 0 when the database can be written, else the errno that says why not. */
int cache_why_not_writable(const char *path, const char *folder);
/* A log beside the file that is not empty: a write-ahead log, with commits that are not yet in the file, or what a change
   that did not end is rolled back with. */
bool cache_has_log(const char *path);

/* ---- What engine.h asks for ---- */

static inline struct sqlite_cache *sqlite_cache_of(struct cache *base) {
  return (struct sqlite_cache *)base;
}

bool sqlite_takes(const char *path);
void sqlite_name(const char *path, struct text *out);
bool sqlite_is_missing(const char *path);
int sqlite_open(const char *path, struct process_stop stop, struct cache **out, struct text *warning,
                cugen_error *err);
void sqlite_close(struct cache *base);
int sqlite_sync(struct cache *base, cugen_error *err);
void sqlite_set_patience(struct cache *base, double seconds);
int sqlite_load(struct cache *base, const struct cache_key *key, struct cache_records *out, cugen_error *err);
int sqlite_fastest(struct cache *base, const struct cache_key *key, cache_visitor *visit, void *context,
                   cugen_error *err);
int sqlite_history(struct cache *base, const struct cache_key *key, struct cache_records *out, cugen_error *err);
int sqlite_devices(struct cache *base, const struct cache_key *key, cache_device_visitor *visit, void *context,
                   cugen_error *err);
int sqlite_problems(struct cache *base, const struct cache_key *key, cache_problem_visitor *visit, void *context,
                    cugen_error *err);
int sqlite_shorter(struct cache *base, const struct cache_key *key, const char *from, const char *to,
                   cache_problem_visitor *visit, void *context, cugen_error *err);
int sqlite_store(struct cache *base, const struct cache_key *key, const struct cache_record *record,
                 cugen_error *err);
int sqlite_greatest_rate(struct cache *base, const char *device, const char *config, const char *word,
                         struct cache_rate *out, cugen_error *err);
int sqlite_spaces(struct cache *base, struct cache_spaces *out, cugen_error *err);
int sqlite_has_origin(struct cache *base, const char *origin, bool *has, cugen_error *err);
int sqlite_remove(struct cache *base, const struct cache_filter *filter, bool really, struct cache_removal *out,
                  cugen_error *err);
int sqlite_each(struct cache *base, const struct cache_filter *filter, const struct cache_visit *visit,
                cugen_error *err);
int sqlite_verify(struct cache *base, struct cache_checked *out, struct text *wrong, struct text *foreign,
                  cugen_error *err);
int sqlite_stage_open(struct cache *base, size_t planned, const struct cache_watch *watch, struct cache_stage **out,
                      cugen_error *err);
int sqlite_stage_add(struct cache_stage *base, const struct cache_entry *entry, size_t line, size_t *twice,
                     cugen_error *err);
int sqlite_stage_merge(struct cache_stage *base, struct cache_merged *out, cugen_error *err);
void sqlite_stage_close(struct cache_stage *base);
int sqlite_portfolios(struct cache *base, const struct cache_key *key, struct cache_portfolios *out,
                      cugen_error *err);
int sqlite_portfolios_change(struct cache *base, const struct cache_portfolio *portfolios, size_t count, bool removed,
                             cugen_error *err);
int sqlite_image_load(struct cache *base, const char *name, struct cache_image_row *out, bool *found,
                      cugen_error *err);
int sqlite_image_store(struct cache *base, const char *name, const struct compiled *compiled,
                       const unsigned char *mac, cugen_error *err);
int sqlite_image_trim(struct cache *base, size_t most, cugen_error *err);
int sqlite_images(struct cache *base, cache_image_visitor *visit, void *context, cugen_error *err);

#endif
