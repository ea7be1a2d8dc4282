/* The cache as an SQLite database, shared by the files of this folder. From the lowest layer up:
   file.c          where the file lies, whether it is a cache, what its failures mean
   tables.c        the tables, older formats of them, the statements
   schema.c        whether the tables of a file are cugen's
   row.c           keys and records to and from rows
   transaction.c   transactions, and what is durable when
   store.c, walk.c, manage.c, image.c    the functions of engine.h by subject
   merge.c, stage.c    an import
   open.c          opening and closing, and the table of functions */
#ifndef RUNTIME_STORE_SQLITE_DATABASE_H
#define RUNTIME_STORE_SQLITE_DATABASE_H

#include <sqlite3.h>

#include "runtime/store/engine.h"

enum {
  CACHE_APPLICATION_ID = 0x6375676e, /* "cugn", in the file's header at byte 68 */
};
/* CACHE_FORMAT_VERSION stands in the file's header at byte 60. */

/* ---- Statements ----------------------------------------------------------------------------- */

/* In the statements of tables.c about records and spaces, ?1 to ?4 are the key and ?5 on are a
   record's columns, the variant first. The key's origin is bound as ?60 where it is used. */
#define CACHE_ORIGIN_PLACE "?60"
enum { CACHE_ORIGIN = 60 };
/* cugen stores no larger image, so a larger image is not even read. */
#define CACHE_IMAGE_FITS "length(data) <= 67108864"
_Static_assert(CACHE_MAX_IMAGE == 67108864, "as above");
enum cache_statement {
  BEGIN,
  COMMIT,
  ROLLBACK, /* prepared in advance, because it must not fail for lack of memory */
  SPACE_ADD,
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
  const char *schema; /* the schema of the file: "main", or "disk" when the file can only be read */
  sqlite3_stmt *statements[CACHE_STATEMENTS];
  sqlite3_stmt *queries[CACHE_QUERIES]; /* each is prepared when it is first used */
  bool checked;        /* the tables were checked and may be written; see cache_before_writing */
  bool log_wanted;     /* the file may get a write-ahead log: it is on no network file system */
  bool log;            /* the file is known to have a write-ahead log */
  bool waits;          /* a commit waits for the disk */
  bool hurry;          /* the next commit need not wait for the disk, see cache_store */
  bool unsynced;       /* the last commit did not wait for the disk */
  double synced;       /* when a commit last waited for the disk, by clock_seconds */
  double patience;     /* seconds that a transaction waits for other processes */
  double busy_since;   /* when the latest wait for other processes began, by clock_seconds */
  cugen_error refusal; /* a failure that cache_error has still to report; status 0: none */
  bool full;           /* a kept failure was for lack of room on the disk */
};

/* ---- tables.c ------------------------------------------------------------------------------- */

bool cache_sql(sqlite3 *db, const char *sql);
/* Secures a connection to a file that may come from a stranger. */
bool cache_harden(sqlite3 *db);
/* Makes the tables of an empty database in one transaction: after a crash the file is either still
   empty or complete. Another process may make the tables first. */
bool cache_make_tables(sqlite3 *db);
bool cache_is_current(sqlite3 *db);
/* Gives the file its write-ahead log unless another process is using the file; returns whether the
   file now has a log. */
bool cache_is_logged(sqlite3 *db);
/* Migrates tables of an older format in one transaction, so that a file never has a mixture of
   two formats. */
bool cache_migrate(sqlite3 *db);
extern const char cache_tables_sql[];
/* Appends statements, with "%s", "%t", "%v" and "%o" replaced as tables_write_columns says. */
void cache_write_sql(const char *sql, int format, struct text *out);
/* The number in the first column of the first row; -1: the query failed or has no row. */
int cache_query_number(sqlite3 *db, const char *sql);
/* Runs a check whose answer is "ok" if nothing is damaged; any other answer becomes the message of
   CUGEN_ERROR_CACHE. */
int cache_quick_check(sqlite3 *db, const char *sql, const char *path, const char *doing,
                      cugen_error *err);
/* Copies the records and portfolios of the read-only database attached as disk, of any format. */
bool cache_copy_disk(sqlite3 *db);
/* Checks every page of the records and portfolios. An image is large, so it is checked only when
   it is loaded. */
int cache_check_tables(sqlite3 *db, const char *schema, const char *path, cugen_error *err);
/* Prepares the statements. with_disk: images are also looked for in the database attached as
   disk, if that has the current format. */
int cache_prepare(struct sqlite_cache *cache, bool with_disk, cugen_error *err);

/* Prepares a statement for one use, with the marks of cache_write_sql replaced for the current
   format; NULL on failure. */
sqlite3_stmt *cache_query(struct sqlite_cache *cache, const char *sql);
/* Like cache_query, for another database whose tables are of `format`; *out is NULL on failure. */
bool cache_prepare_on(sqlite3 *db, const char *sql, int format, sqlite3_stmt **out);
/* Runs statements on a database, with the marks of cache_write_sql replaced for `format`. */
bool cache_sql_on(sqlite3 *db, const char *sql, int format);

/* ---- transaction.c -------------------------------------------------------------------------- */

/* Must be called before a handle's first transaction that writes, so that a damaged file is left
   as it is. Returns false if the file may not be written: cache_error reports why. */
bool cache_before_writing(struct sqlite_cache *cache);
/* Called under the lock before and after a transaction that need not wait for the disk each time.
   stores: the transaction waits for other processes for CACHE_STORE_SECONDS. */
void cache_hurry(struct sqlite_cache *cache, bool stores);
void cache_hurried(struct sqlite_cache *cache, int status);
/* Runs a statement that returns no rows. */
bool cache_step(struct sqlite_cache *cache, enum cache_statement which);
/* Ends a transaction: commits when good, else rolls back and sets the error. */
int cache_finish(struct sqlite_cache *cache, bool good, const char *doing, cugen_error *err);

/* Large changes are split into transactions of this length with a pause after each, so that a
   tuner's store can come in between. */
#define CACHE_STEP_SECONDS 0.03
void cache_pause(void);

/* ---- row.c ---------------------------------------------------------------------------------- */

/* string NULL is bound as "". The string must live until the statement has run. */
bool cache_bind_text(sqlite3_stmt *statement, int place, const char *string);
bool cache_bind_key(sqlite3_stmt *statement, const struct cache_key *key);
bool cache_bind_record(sqlite3_stmt *statement, const struct cache_record *record);
const char *cache_column_text(sqlite3_stmt *statement, int i); /* never NULL */
struct cache_row cache_row_of(sqlite3_stmt *statement);
/* Runs a statement that returns no rows. */
bool cache_run(sqlite3_stmt *statement);
/* Visits the rows of a statement until the visitor fails or returns CACHE_STOP, which is no
   failure. statement NULL: reports that preparing it failed. */
int cache_visit(struct sqlite_cache *cache, sqlite3_stmt *statement, cache_row_visitor *visit,
                void *context, const char *doing, cugen_error *err);

/* ---- merge.c -------------------------------------------------------------------------------- */

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
  cugen_cache_merged *out;
  sqlite3_stmt *statements[CACHE_MERGE_STATEMENTS];
  int64_t space; /* id of the next entries' set in the cache; 0: to be found by the key */
  bool no_memory;
};
/* To be called when a transaction has begun. */
bool cache_merge_prepare(struct cache_merge *merge);
/* Merges an entry. Returns false if memory is lacking (merge->no_memory) or SQLite failed. */
bool cache_merge_next(struct cache_merge *merge, const struct cache_entry *entry);
void cache_merge_end(struct cache_merge *merge);

/* ---- stage.c -------------------------------------------------------------------------------- */

/* Finishes an import that was killed; an import that is running, or whose file may not be read
   (is_trusted), is left alone. dropped: drops the import. Otherwise merges its records if all had
   been read, drops an incomplete or damaged import, and leaves alone an import of a newer cugen. */
void cache_stage_resume(struct sqlite_cache *cache, bool dropped);

/* ---- schema.c ------------------------------------------------------------------------------- */

/* schema: the database's name in SQL: "main", or that of an attached file. tables: the statements
   that make the tables, as cache_write_sql takes them, each ended by ";\n". CUGEN_ERROR_CACHE, with
   the remedy, if the file has anything but tables, columns and indices that cugen makes in some
   format, such as a trigger, a view or a generated column. Tables may be missing. Only the list of
   what the file has is read, so that nothing in a foreign file is run. */
int cache_check_schema(sqlite3 *db, const char *schema, const char *tables, const char *path,
                       cugen_error *err);

/* ---- file.c --------------------------------------------------------------------------------- */

int cache_error_corrupt(const char *path, const char *what, cugen_error *err);
/* Reports SQLite's last failure on this database in the user's terms. */
int cache_error_database(sqlite3 *db, const char *path, const char *doing, cugen_error *err);
/* Whether the file, or its folder, was removed, moved or replaced since it was opened. */
bool cache_is_moved(sqlite3 *db);
/* Whether the last failure was for lack of room on the disk. */
bool cache_is_full(sqlite3 *db);
int cache_error(struct sqlite_cache *cache, const char *doing, cugen_error *err);
/* Keeps the failure of the last statement until cache_error reports it, because SQLite forgets a
   failure when another statement ends. */
void cache_keep_error(struct sqlite_cache *cache, const char *doing);
/* Fails if the file is not a cache that this cugen can use; nothing is written, not even beside
   another program's database. *fresh: the file is missing or empty. */
int cache_probe(const char *path, bool *fresh, cugen_error *err);
/* Whether the folder is on a network file system, which cannot give the memory that all users of
   a write-ahead log share. */
bool cache_on_network(const char *folder);
/* 0 when the database can be written, else the errno that says why not. */
int cache_why_not_writable(const char *path, const char *folder);
/* Whether there is a log beside the file that is not empty: a write-ahead log, whose commits may
   not be in the file yet, or a journal for rolling back an unfinished change. */
bool cache_has_log(const char *path);

/* ---- The functions of engine.h -------------------------------------------------------------- */

static inline struct sqlite_cache *sqlite_cache_of(struct cache *base) {
  return (struct sqlite_cache *)base;
}

CACHE_ENGINE_FUNCTIONS(CACHE_ENGINE_DECLARE, sqlite)

#endif
