/* The cache as an SQLite database, shared by the files of this folder, which alone include sqlite3.h. From below:
   file.c          what a file is, where it lies, what its failures mean
   connection.c    a connection that trusts nothing in the file
   tables.c        the tables, older formats of them, the statements
   schema.c        whether the tables of a file are cugen's
   row.c           keys and records to and from rows
   transaction.c   transactions, and what is durable when
   load.c, store.c, walk.c, manage.c, image.c, verify.c    what cache.h offers, a subject each
   merge.c, stage.c    an import
   open.c          opens and closes */
#ifndef RUNTIME_STORE_SQLITE_DATABASE_H
#define RUNTIME_STORE_SQLITE_DATABASE_H

#include <pthread.h>
#include <sqlite3.h>

#include "runtime/store/cache.h"
#include "runtime/store/seal.h"

enum {
  CACHE_APPLICATION_ID = 0x6375676e, /* "cugn", in the file's header at byte 68 */
  CACHE_FORMAT_VERSION = 10,         /* in its header at byte 60; any change of the tables raises it */
  /* How long a transaction waits for other processes: a user who asked for something, and what nobody may lose. */
  CACHE_BUSY_SECONDS = 20,
  CACHE_STORE_SECONDS = 600
};

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

struct cache {
  sqlite3 *db;
  struct text path; /* "none" for a cache in memory */
  pthread_mutex_t lock;
  const char *schema; /* where the file is: "main", or "disk" when it can only be read */
  sqlite3_stmt *statements[CACHE_STATEMENTS];
  bool checked;         /* what is in the tables may be added to; see cache_before_writing */
  bool log_wanted;      /* the file has not been given its write-ahead log by this handle */
  bool log;             /* it has one */
  bool waits;           /* a commit waits for the disk */
  bool hurry;           /* the next need not, see cache_store */
  bool unsynced;        /* the last one did not */
  double synced;        /* when one last did, by clock_seconds */
  struct seal seal;     /* of images; see image.c */
  struct text unsealed; /* why there is none; "" */
  bool in_file;         /* what is stored outlives this process */
  size_t may_add;       /* bytes of images, before there may be too many of them */
  double patience;      /* seconds that a transaction waits for other processes */
  double busy_since;    /* by clock_seconds */
  struct text refusal;  /* why it may not, until cache_error has told */
  int refusal_status;
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
int cache_prepare(struct cache *cache, bool with_disk, cugen_error *err);

/* Prepares a statement for one use, with its "%s"; NULL on failure. */
sqlite3_stmt *cache_query(struct cache *cache, const char *sql);
/* The same of another database, whose tables are of `format`; *out NULL on failure. */
bool cache_prepare_on(sqlite3 *db, const char *sql, int format, sqlite3_stmt **out);
/* Runs statements on it, "%s" and so on put in. */
bool cache_sql_on(sqlite3 *db, const char *sql);

/* ---- transaction.c ---- */

/* To be called ahead of a handle's first transaction that writes: a damaged file is left as it is. False: cache_error
   tells why. */
bool cache_before_writing(struct cache *cache);
/* Around a transaction of whoever cannot wait for the disk each time, under the lock. */
void cache_hurry(struct cache *cache);
void cache_hurried(struct cache *cache, int status);
/* Runs a statement that gives no rows. */
bool cache_step(struct cache *cache, enum cache_statement which);
/* Ends what BEGIN began: commits when good, else rolls back and sets the error. */
int cache_finish(struct cache *cache, bool good, const char *doing, cugen_error *err);

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
  struct cache *cache;
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
void cache_stage_resume(struct cache *cache, bool dropped);

/* ---- image.c ---- */

/* Finds the key that the user has, if there is one; a cache in memory alone has its own. */
void cache_seal(struct cache *cache, bool memory);
enum cache_image_state { CACHE_IMAGE_OWN, CACHE_IMAGE_FOREIGN, CACHE_IMAGE_CHANGED };
/* Visits all, with whose each is and whether it is what was stored. */
int cache_images_visit(struct cache *cache,
                       void (*visit)(void *context, const char *name, int64_t bytes, enum cache_image_state state),
                       void *context, cugen_error *err);

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
int cache_error(struct cache *cache, const char *doing, cugen_error *err);
/* Keeps what just failed for cache_error, which must follow: ending another statement in between would hide it. */
void cache_keep_error(struct cache *cache, const char *doing);
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

#endif
