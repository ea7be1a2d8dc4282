/* Opening the cache: an SQLite database that many processes and users share, and that anybody may
   have made.

   Algorithm. There are three ways to open, between which open_path decides:
   1. A file that can be written. Before SQLite opens it, file.c checks that it is a complete cugen
   cache of a known format. Then its schema is compared with the one that cugen makes, statement by
   statement (schema.c). Only then is anything in the file used. Missing tables are made and older
   formats migrated, each in one transaction (tables.c).
   2. A file that can only be read. The file is attached to a database in memory, and its records
   are copied. Stored records are kept until the cache is closed. Images stay in the file and, if
   the file has the current format, are read through a view of both databases. A full disk may
   require this way, too.
   3. No file is wanted, or a missing file cannot be made: memory alone.
   In each case the records are in the schema "main".

   Invariants:
   - A refused file is not changed, not even by a checkpoint of its log.
   - Nothing in a file runs: triggers and extensions are switched off (cache_harden), and a schema
   that has triggers or views is refused (schema.c). An image is used only with a seal of this
   user's own (image.c).
   - The tables of records are checked page by page before this handle's first transaction that
   writes (cache_before_writing), or before they are copied. A handle that only reads a writable
   file skips this check.
   - A file is of its old format or of the current one, never a mixture.
   - A write takes BEGIN IMMEDIATE, so that it meets no conflict later. BEGIN waits for other
   processes (wait_for_others). A large change is split into short transactions with pauses
   (CACHE_STEP_SECONDS).

   Durability: a record committed to a file outlives this process. A commit waits for the disk,
   except some commits in the 0.2 seconds after one that waited (cache_hurry). A power cut can
   lose the commits that did not wait, until a later commit waits or cache_sync is called. On a
   network file system there is no write-ahead log, and each commit waits.

   Source: https://www.sqlite.org/wal.html, https://www.sqlite.org/pragma.html#pragma_synchronous
   and https://www.sqlite.org/security.html. docs/cache.md describes the tables and what is
   durable when. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/system.h"
#include "database.h"

/* SQLite's busy handler. Tries every millisecond or two, because an import pauses for three
   milliseconds after each of its transactions, and SQLite's own waiting would sleep through that
   pause. */
static int wait_for_others(void *context, int tries) {
  struct sqlite_cache *cache = context;
  const double now = clock_seconds();
  if (tries == 0) cache->busy_since = now;
  if (now - cache->busy_since > cache->patience) return 0;
  const struct timespec pause = {0, 1000000 + 100000 * (tries % 10)};
  nanosleep(&pause, NULL);
  return 1;
}

static int sqlite_open_database(struct sqlite_cache *cache, const char *name, cugen_error *err) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  /* open_attach writes a URI; a user's path is never taken for a URI */
  if (strcmp(name, ":memory:") == 0) flags |= SQLITE_OPEN_URI;
  if (sqlite3_open_v2(name, &cache->db, flags, NULL) != SQLITE_OK)
    return cache->db ? cache_error(cache, "open", err) : error_memory(err);
  sqlite3_extended_result_codes(cache->db, 0);
  sqlite3_busy_handler(cache->db, wait_for_others, cache);
  bool good = sqlite3_db_config(cache->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK &&
              cache_harden(cache->db);
  return good ? CUGEN_OK : cache_error(cache, "open", err);
}

static int check_schema(struct sqlite_cache *cache, const char *schema, cugen_error *err) {
  int status =
      cache_check_schema(cache->db, schema, cache_tables_sql, text_get(&cache->base.path), err);
  if (status && cache_has_log(text_get(&cache->base.path)))
    sqlite3_db_config(cache->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  return status;
}

static int open_file(struct sqlite_cache *cache, const char *folder, cugen_error *err) {
  bool network = cache_on_network(folder);
  int status = sqlite_open_database(cache, text_get(&cache->base.path), err);
  if (!status) status = check_schema(cache, "main", err);
  if (status != CUGEN_OK) return status;
  /* An existing write-ahead log can be used without shared memory only under an exclusive lock
     (wal.html section 8). */
  if (network &&
      !cache_sql(cache->db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE;PRAGMA "
                            "locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema"))
    return cache_error(cache, "open", err);
  /* EXTRA: a commit is on disk when it returns, including the removal of a rollback journal from
     its folder. */
  if (!cache_sql(cache->db, "PRAGMA synchronous = EXTRA")) return cache_error(cache, "open", err);
  if (!cache_make_tables(cache->db)) return cache_error(cache, "create", err);
  cache->base.in_file = true;
  cache->checked = false;
  cache->log_wanted = !network;
  if (!cache_is_current(cache->db) && !(cache_before_writing(cache) && cache_migrate(cache->db)))
    return cache_error(cache, "bring it up to date", err);
  return cache_prepare(cache, false, err);
}

static int open_memory(struct sqlite_cache *cache, cugen_error *err) {
  text_clear(&cache->base.path);
  text_add(&cache->base.path, "none");
  int status = sqlite_open_database(cache, ":memory:", err);
  if (status == CUGEN_OK && !cache_make_tables(cache->db))
    status = cache_error(cache, "create", err);
  return status == CUGEN_OK ? cache_prepare(cache, false, err) : status;
}

/* Appends a URI such as "file:/a%3Fb?mode=ro". */
static void write_uri(const char *path, const char *query, struct text *out) {
  text_add(out, "file:");
  while (path[0] == '/' && path[1] == '/') path++; /* "file://a" would name a host */
  for (; *path; path++)
    if (strchr("?#%", *path))
      text_addf(out, "%%%02X", (unsigned char)*path);
    else
      text_add_char(out, *path);
  text_add(out, query);
}

static bool open_attach(sqlite3 *db, const char *path, const char *query) {
  struct text uri = {0};
  write_uri(path, query, &uri);
  sqlite3_stmt *statement = NULL;
  bool attached = !uri.failed &&
                  sqlite3_prepare_v2(db, "ATTACH ?1 AS disk", -1, &statement, NULL) == SQLITE_OK &&
                  sqlite3_bind_text(statement, 1, text_get(&uri), -1, SQLITE_STATIC) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_finalize(statement);
  text_free(&uri);
  if (attached && cache_sql(db, "SELECT count(*) FROM disk.sqlite_schema")) return true;
  if (attached) cache_sql(db, "DETACH disk");
  return false;
}

static int open_read_only(struct sqlite_cache *cache, cugen_error *err) {
  const char *path = text_get(&cache->base.path);
  int status = sqlite_open_database(cache, ":memory:", err);
  if (status != CUGEN_OK) return status;
  /* SQLite cannot open a log in a folder that cannot be written. If there is no log or an empty
     log, the file is read alone (immutable=1). */
  if (!open_attach(cache->db, path, "?mode=ro") &&
      (cache_has_log(path) || !open_attach(cache->db, path, "?mode=ro&immutable=1")))
    return cache_error(cache, "read", err);
  status = check_schema(cache, "disk", err);
  if (!status) status = cache_check_tables(cache->db, "disk", path, err);
  if (status != CUGEN_OK) return status;
  if (!cache_make_tables(cache->db) || !cache_copy_disk(cache->db))
    return cache_error(cache, "read", err);
  return cache_prepare(cache, true, err);
}

static void close_database(struct sqlite_cache *cache) {
  for (int i = 0; i < CACHE_STATEMENTS; i++) sqlite3_finalize(cache->statements[i]);
  for (int i = 0; i < CACHE_QUERIES; i++) sqlite3_finalize(cache->queries[i]);
  memset(cache->statements, 0, sizeof cache->statements);
  memset(cache->queries, 0, sizeof cache->queries);
  sqlite3_close(cache->db);
  cache->db = NULL;
}

static void warn(struct cache *cache, const char *why, const char *way_out, const char *then,
                 struct text *warning) {
  text_addf(&cache->unwritable, "%s; %s another place with cugen_options.cache", why, then);
  if (warning)
    text_addf(warning,
              "%s: cannot be written (%s); what is measured now is remembered until the end of "
              "this run only. %s another place with cugen_options.cache",
              text_get(&cache->path), why, way_out);
}

static int open_without_writing(struct sqlite_cache *cache, bool fresh, cugen_error *err) {
  return fresh ? open_memory(cache, err) : open_read_only(cache, err);
}

/* Even reading needs a little room beside a file that other processes write. Without room, the file
   is opened as read-only. */
static int open_on_full_disk(struct sqlite_cache *cache, bool fresh, struct text *warning,
                             cugen_error *err) {
  close_database(cache);
  cache->refusal.status = CUGEN_OK;
  cache->base.in_file = cache->log_wanted = false;
  cache->checked = true;
  warn(&cache->base, "the disk is full", "Make room, or name", "make room, or name", warning);
  return open_without_writing(cache, fresh, err);
}

static int open_path(struct sqlite_cache *cache, struct text *warning, cugen_error *err) {
  const char *path = text_get(&cache->base.path);
  struct text folder = {0};
  bool fresh = true;
  path_folder(path, &folder);
  int status = folder.failed ? error_memory(err) : cache_probe(path, &fresh, err);
  if (status == CUGEN_OK) {
    /* if the folder cannot be made, cache_why_not_writable tells why */
    if (fresh) folder_make(text_get(&folder), NULL);
    int why = cache_why_not_writable(path, text_get(&folder));
    if (why) warn(&cache->base, strerror(why), "Name", "name", warning);
    status =
        why ? open_without_writing(cache, fresh, err) : open_file(cache, text_get(&folder), err);
    const bool full = !why && status && cache->db && (cache->full || cache_is_full(cache->db));
    if (full) status = open_on_full_disk(cache, fresh, warning, err);
    if (!status && !((why || full) && fresh)) cache_stage_resume(cache, fresh);
  }
  text_free(&folder);
  return status;
}

void sqlite_name(const char *path, struct text *out) {
  text_add(out, path);
}

bool sqlite_is_missing(const char *path) {
  return file_missing(path);
}

bool sqlite_takes(const char *path) {
  (void)path; /* any path can be the name of a file */
  return true;
}

int sqlite_open(const char *path, struct process_stop stop, struct cache **out,
                struct text *warning, cugen_error *err) {
  (void)stop; /* wait_for_others ends by itself */
  struct sqlite_cache *cache = calloc(1, sizeof *cache);
  if (!cache) return error_memory(err);
  pthread_mutex_init(&cache->base.lock, NULL);
  cache->checked = true; /* stays true in memory; open_file clears it for a file */
  cache->waits = true;
  cache->patience = CACHE_BUSY_SECONDS;
  bool memory = strcmp(path, "none") == 0;
  text_add(&cache->base.path, path);
  int status = cache->base.path.failed ? error_memory(err)
               : memory                ? open_memory(cache, err)
                                       : open_path(cache, warning, err);
  if (status == CUGEN_OK)
    *out = &cache->base;
  else
    sqlite_close(&cache->base);
  return status;
}

void sqlite_close(struct cache *base) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  sqlite_sync(base, NULL);
  close_database(cache);
  pthread_mutex_destroy(&cache->base.lock);
  text_free(&cache->base.path);
  text_free(&cache->base.unsealed);
  text_free(&cache->base.unwritable);
  seal_forget(&cache->base.seal);
  free(cache);
}

const struct cache_engine cache_sqlite = {.kind = CUGEN_CACHE_FILE,
                                          CACHE_ENGINE_FUNCTIONS(CACHE_ENGINE_MEMBER, sqlite)};
