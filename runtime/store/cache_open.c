/* Opening a cache: a file that can be written, one that can only be read, or memory; see cache_tables.h. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/system.h"
#include "cache_tables.h"

/* Tries every millisecond or two: an import pauses for three after each of its transactions, and SQLite's own waiting would sleep
   through that. */
static int wait_for_others(void *context, int tries) {
  struct cache *cache = context;
  const double now = clock_seconds();
  if (tries == 0) cache->busy_since = now;
  if (now - cache->busy_since > cache->patience) return 0;
  const struct timespec pause = {0, 1000000 + 100000 * (tries % 10)};
  nanosleep(&pause, NULL);
  return 1;
}

/* The file may come from a stranger: nothing in its schema is to run, its pages are not to be trusted, and no value is larger
   than what cugen stores. */
bool cache_harden(sqlite3 *db) {
  static const int switches[][2] = {{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                    {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                    {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                                    {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0},
                                    {SQLITE_DBCONFIG_ENABLE_FKEY, 1}};
  static const int limits[][2] = {{SQLITE_LIMIT_LENGTH, 2 * (int)CACHE_MAX_IMAGE + (16 << 20)},
                                  {SQLITE_LIMIT_SQL_LENGTH, 1 << 20},
                                  {SQLITE_LIMIT_ATTACHED, 1},
                                  {SQLITE_LIMIT_WORKER_THREADS, 0},
                                  {SQLITE_LIMIT_EXPR_DEPTH, 100},
                                  {SQLITE_LIMIT_COLUMN, 200}};
  bool good = true;
  for (size_t i = 0; i < sizeof switches / sizeof *switches; i++)
    good = good && sqlite3_db_config(db, switches[i][0], switches[i][1], NULL) == SQLITE_OK;
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) sqlite3_limit(db, limits[i][0], limits[i][1]);
  return good && cache_sql(db, "PRAGMA cell_size_check = ON; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY");
}

static int open_database(struct cache *cache, const char *name, cugen_error *err) {
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
  if (strcmp(name, ":memory:") == 0) flags |= SQLITE_OPEN_URI; /* for what attach gives; a user's path is none */
  if (sqlite3_open_v2(name, &cache->db, flags, NULL) != SQLITE_OK)
    return cache->db ? cache_error(cache, "open", err) : error_memory(err);
  sqlite3_extended_result_codes(cache->db, 0);
  sqlite3_busy_handler(cache->db, wait_for_others, cache);
  bool good =
      sqlite3_db_config(cache->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL) == SQLITE_OK && cache_harden(cache->db);
  return good ? CUGEN_OK : cache_error(cache, "open", err);
}

/* What is refused is not changed either, not even by taking in its write-ahead log. */
static int check_schema(struct cache *cache, const char *schema, cugen_error *err) {
  int status = cache_check_schema(cache->db, schema, cache_tables_sql, text_get(&cache->path), err);
  if (status && cache_has_log(text_get(&cache->path)))
    sqlite3_db_config(cache->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
  return status;
}

/* EXTRA: a commit is on the disk when it returns, with the folder entry of a rollback journal's removal too
   (https://www.sqlite.org/pragma.html#pragma_synchronous); see cache_store for those that are not waited for. */
static bool set_journal(sqlite3 *db, bool network) {
  /* An existing write-ahead log is left without shared memory only under an exclusive lock (wal.html section 8). */
  if (network && !cache_sql(db, "PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = DELETE;"
                                "PRAGMA locking_mode = NORMAL; SELECT count(*) FROM sqlite_schema"))
    return false;
  return cache_sql(db, "PRAGMA synchronous = EXTRA");
}

static int open_file(struct cache *cache, const char *folder, cugen_error *err) {
  bool network = cache_on_network(folder);
  int status = open_database(cache, text_get(&cache->path), err);
  if (!status) status = check_schema(cache, "main", err);
  if (status != CUGEN_OK) return status;
  if (!set_journal(cache->db, network)) return cache_error(cache, "open", err);
  if (!cache_make_tables(cache->db)) return cache_error(cache, "create", err);
  cache->in_file = true;
  cache->checked = false;
  cache->log_wanted = !network;
  if (!cache_is_current(cache->db) && !(cache_before_writing(cache) && cache_migrate(cache->db)))
    return cache_error(cache, "bring it up to date", err);
  return cache_prepare(cache, false, err);
}

bool cache_before_writing(struct cache *cache) {
  cugen_error err;
  if (cache->checked) return true;
  int status = cache_check_tables(cache->db, "main", text_get(&cache->path), &err);
  if (status != CUGEN_OK) {
    text_restart(&cache->refusal);
    text_add(&cache->refusal, err.message);
    cache->refusal_status = status;
    return false;
  }
  cache->checked = true;
  /* Only now, so that the application id stands in the file itself from the first commit and a damaged file is left
     as it is. It is a matter of speed: when another process is in the way, a later handle does it. */
  cache->log = cache->log_wanted && cache_is_logged(cache->db);
  return true;
}

static int open_memory(struct cache *cache, cugen_error *err) {
  text_clear(&cache->path);
  text_add(&cache->path, "none");
  int status = open_database(cache, ":memory:", err);
  if (status == CUGEN_OK && !cache_make_tables(cache->db)) status = cache_error(cache, "create", err);
  return status == CUGEN_OK ? cache_prepare(cache, false, err) : status;
}

/* "file:/a%3Fb?mode=ro" */
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

static bool attach(sqlite3 *db, const char *path, const char *query) {
  struct text uri = {0};
  write_uri(path, query, &uri);
  sqlite3_stmt *statement = NULL;
  bool attached = !uri.failed && sqlite3_prepare_v2(db, "ATTACH ?1 AS disk", -1, &statement, NULL) == SQLITE_OK &&
                  sqlite3_bind_text(statement, 1, text_get(&uri), -1, SQLITE_STATIC) == SQLITE_OK &&
                  sqlite3_step(statement) == SQLITE_DONE;
  sqlite3_finalize(statement);
  text_free(&uri);
  if (attached && cache_sql(db, "SELECT count(*) FROM disk.sqlite_schema")) return true;
  if (attached) cache_sql(db, "DETACH disk");
  return false;
}

/* The records of a file that cannot be written are copied into memory; its images stay where they are. */
static int open_read_only(struct cache *cache, cugen_error *err) {
  const char *path = text_get(&cache->path);
  int status = open_database(cache, ":memory:", err);
  if (status != CUGEN_OK) return status;
  /* A log in a folder that cannot be written cannot be opened in the usual way; without content it need not be. */
  if (!attach(cache->db, path, "?mode=ro") &&
      (cache_has_log(path) || !attach(cache->db, path, "?mode=ro&immutable=1")))
    return cache_error(cache, "read", err);
  status = check_schema(cache, "disk", err);
  if (!status) status = cache_check_tables(cache->db, "disk", path, err);
  if (status != CUGEN_OK) return status;
  if (!cache_make_tables(cache->db) || !cache_copy_disk(cache->db)) return cache_error(cache, "read", err);
  return cache_prepare(cache, true, err);
}

static int open_path(struct cache *cache, struct text *warning, cugen_error *err) {
  const char *path = text_get(&cache->path);
  struct text folder = {0};
  bool fresh = true;
  path_folder(path, &folder);
  int status = folder.failed ? error_memory(err) : cache_probe(path, &fresh, err);
  if (status == CUGEN_OK) {
    if (fresh) folder_make(text_get(&folder), NULL); /* when that fails, the next line says why */
    int why = cache_why_not_writable(path, text_get(&folder));
    if (why && warning)
      text_addf(warning,
                "%s: cannot be written (%s); what is measured now is remembered until the end of this run only. "
                "Pass --cache FILE for another place",
                path, strerror(why));
    status = !why ? open_file(cache, text_get(&folder), err)
                  : (fresh ? open_memory(cache, err) : open_read_only(cache, err));
    if (!status && !(why && fresh)) cache_stage_resume(cache, fresh);
  }
  text_free(&folder);
  return status;
}

int cache_open(const char *path, struct cache **out, struct text *warning, cugen_error *err) {
  *out = NULL;
  struct cache *cache = calloc(1, sizeof *cache);
  if (!cache) return error_memory(err);
  pthread_mutex_init(&cache->lock, NULL);
  cache->checked = true; /* of memory; open_file knows better */
  cache->waits = true;
  cache->patience = CACHE_BUSY_SECONDS;
  bool memory = !path || !*path || strcmp(path, "none") == 0;
  text_add(&cache->path, memory ? "none" : path);
  int status = cache->path.failed ? error_memory(err)
               : memory           ? open_memory(cache, err)
                                  : open_path(cache, warning, err);
  if (status == CUGEN_OK) cache_seal(cache, memory);
  if (status == CUGEN_OK)
    *out = cache;
  else
    cache_close(cache);
  return status;
}

void cache_sync(struct cache *cache) {
  pthread_mutex_lock(&cache->lock);
  if (cache->unsynced) sqlite3_wal_checkpoint_v2(cache->db, "main", SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
  cache->unsynced = false;
  pthread_mutex_unlock(&cache->lock);
}

void cache_close(struct cache *cache) {
  if (!cache) return;
  cache_sync(cache);
  for (int i = 0; i < CACHE_STATEMENTS; i++) sqlite3_finalize(cache->statements[i]);
  sqlite3_close(cache->db);
  pthread_mutex_destroy(&cache->lock);
  text_free(&cache->path);
  text_free(&cache->refusal);
  text_free(&cache->unsealed);
  seal_forget(&cache->seal);
  free(cache);
}

const char *cache_path(const struct cache *cache) {
  return text_get(&cache->path);
}
