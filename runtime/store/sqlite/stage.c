/* An import in progress; see cache_stage_open in cache.h.

   Records are read into a database of their own: the file CACHE-import, or memory if they are few
   or the cache cannot be written. The file's user_version is set when all records were read and are
   on disk: from then on a kill does not stop the import. Then the records are merged into the cache
   in short transactions with pauses. After a kill, the next process that opens the cache goes on
   from the row in the table `place`. Merging a record twice changes nothing, so `place` may lie
   before the last merged record. flock on the file tells whether the import's process lives. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system.h"
#include "database.h"

enum { FIRST_FORMAT = 7 };

enum stage_statement { SPACE_OF, SPACE_NEW, ENTRY_NEW, ENTRY_LINE, STAGE_STATEMENTS };

/* "%t", "%s", "%v": as in tables.c. */
static const char stage_tables_sql[] =
    "CREATE TABLE space (id INTEGER PRIMARY KEY, device TEXT NOT NULL, config TEXT NOT NULL, "
    "problem TEXT NOT NULL, options TEXT NOT NULL, UNIQUE (problem, config, device, options));\n"
    "CREATE TABLE record (space_id INTEGER NOT NULL, line INTEGER NOT NULL, %t, PRIMARY KEY "
    "(space_id, variant, hash)) WITHOUT ROWID;\n"
    "CREATE TABLE place (id INTEGER PRIMARY KEY, space_id INTEGER NOT NULL, variant TEXT NOT NULL, "
    "hash TEXT NOT NULL);\n";
static const char *const stage_sql[STAGE_STATEMENTS] = {
    [SPACE_OF] =
        "SELECT id FROM space WHERE device = ?1 AND config = ?2 AND problem = ?3 AND options = ?4",
    [SPACE_NEW] = "INSERT INTO space (device, config, problem, options) VALUES (?1, ?2, ?3, ?4)",
    [ENTRY_NEW] = "INSERT OR IGNORE INTO record (space_id, line, %s) VALUES (?1, ?2, %v)",
    [ENTRY_LINE] = "SELECT line FROM record WHERE space_id = ?1 AND variant = ?2 AND hash = ?3",
};
/* The last column tells whether the import has another kernel's record for the variant, because
   merge_row keeps such records apart. */
static const char entries_sql[] =
    "SELECT %o, space_id, EXISTS (SELECT 1 FROM record o WHERE o.space_id = r.space_id AND "
    "o.variant = r.variant AND o.hash <> r.hash) FROM record r WHERE (space_id, variant, hash) > "
    "(SELECT space_id, variant, hash FROM place) ORDER BY space_id, variant, hash";
static const char key_sql[] = "SELECT device, config, problem, options FROM space WHERE id = ?1";
static const char place_sql[] = "UPDATE place SET space_id = ?1, variant = ?2, hash = ?3";

struct sqlite_stage {
  struct cache_stage base;
  struct sqlite_cache *cache;
  sqlite3 *db;
  struct text path;
  int fd;         /* of the locked file; -1: in memory */
  bool read_only; /* the cache cannot be written, so its copy in memory gets the records */
  bool checked;   /* this process has checked and added the records */
  bool kept;      /* the file stays, because its import is still to be finished */
  int format;     /* of the records */
  sqlite3_stmt *statements[STAGE_STATEMENTS];
  sqlite3_stmt *entries, *keys, *places; /* used for merging */
  struct text key;                       /* of the latest entry, by cache_key_write */
  int64_t space; /* the id of the latest entry's set, in the stage's own table of sets */
  size_t steps;  /* transactions that have merged records */
};

static const char doing[] = "merge records";

static struct sqlite_stage *sqlite_stage_of(struct cache_stage *base) {
  return (struct sqlite_stage *)base;
}

static int stage_error(struct sqlite_stage *stage, cugen_error *err) {
  return stage->db ? cache_error_database(stage->db, text_get(&stage->path), doing, err)
                   : error_memory(err);
}

/* ---- The file ------------------------------------------------------------------------------- */

/* Opens and locks the file. Returns 1; 0 if another process has locked or replaced the file; -1
   after another failure, by errno. */
static int try_lock(const char *path, int flags, mode_t mode, int *fd) {
  struct stat info, named;
  *fd = open(path, flags | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, mode);
  if (*fd < 0) return -1;
  int code = fstat(*fd, &info) ? errno : !S_ISREG(info.st_mode) ? EINVAL : 0;
  if (!code && flock(*fd, LOCK_EX | LOCK_NB)) code = errno;
  /* The name must still refer to the open file. */
  if (!code && !stat(path, &named) && info.st_dev == named.st_dev && info.st_ino == named.st_ino)
    return 1;
  close(*fd);
  *fd = -1;
  errno = code;
  return code == 0 || code == EWOULDBLOCK || code == EINTR ? 0 : -1;
}

static int stage_open_database(struct sqlite_stage *stage, const char *name, cugen_error *err) {
  int flags = stage->read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  if (sqlite3_open_v2(name, &stage->db, flags | SQLITE_OPEN_NOMUTEX, NULL))
    return stage_error(stage, err);
  bool good = cache_harden(stage->db) && cache_sql(stage->db, "PRAGMA locking_mode = EXCLUSIVE");
  return good ? CUGEN_OK : stage_error(stage, err);
}

/* Locks the import's file for this process. Waits while another process imports, and finishes an
   import that was killed. */
static int take_file(struct sqlite_stage *stage, cugen_error *err) {
  const char *path = text_get(&stage->path);
  const struct timespec lock_pause = {0, 20000000};
  struct stat info;
  mode_t mode = stat(text_get(&stage->cache->base.path), &info) ? 0600 : info.st_mode & 0666;
  for (int tries = 0;;) {
    cache_stage_resume(stage->cache, false);
    int got = try_lock(path, O_RDWR | O_CREAT, mode, &stage->fd);
    if (got < 0) return error_file(err, "write", path, errno);
    if (got && fstat(stage->fd, &info) == 0 && info.st_size == 0) return CUGEN_OK;
    /* the locked file still has an import, which cannot be finished, or whose process ended after
       the last call of cache_stage_resume */
    if (got) {
      close(stage->fd);
      stage->fd = -1;
      if (++tries == 3)
        return error_set(err, CUGEN_ERROR_IO,
                         "%s: holds an import that was killed and cannot be merged now; remove the "
                         "file to give that import up",
                         path);
    }
    const int stopped = cache_stage_watch(&stage->base, err);
    if (stopped) return stopped;
    nanosleep(&lock_pause, NULL);
  }
}

void sqlite_stage_close(struct cache_stage *base) {
  struct sqlite_stage *stage = sqlite_stage_of(base);
  for (int i = 0; i < STAGE_STATEMENTS; i++) sqlite3_finalize(stage->statements[i]);
  sqlite3_finalize(stage->entries);
  sqlite3_finalize(stage->keys);
  sqlite3_finalize(stage->places);
  /* The file stays if its import is still to be finished, or if the cache cannot be written. */
  if (stage->fd >= 0 && !stage->read_only && !stage->kept) unlink(text_get(&stage->path));
  sqlite3_close(stage->db);
  if (stage->fd >= 0) close(stage->fd);
  text_free(&stage->path);
  text_free(&stage->key);
  free(stage);
}

static struct sqlite_stage *stage_new(struct sqlite_cache *cache) {
  struct sqlite_stage *stage = calloc(1, sizeof *stage);
  if (!stage) return NULL;
  stage->base.engine = cache->base.engine;
  stage->cache = cache;
  stage->fd = -1;
  stage->format = CACHE_FORMAT_VERSION;
  text_addf(&stage->path, "%s-import", text_get(&cache->base.path));
  if (!stage->path.failed) return stage;
  sqlite_stage_close(&stage->base);
  return NULL;
}

static int stage_make_tables(struct sqlite_stage *stage, cugen_error *err) {
  bool made = cache_sql(stage->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA "
                                   "cache_size = -32768; BEGIN EXCLUSIVE") &&
              cache_sql_on(stage->db, stage_tables_sql, stage->format) &&
              cache_sql(stage->db, "INSERT INTO place VALUES (1, 0, '', '')");
  if (!made) return stage_error(stage, err);
  for (int i = 0; i < STAGE_STATEMENTS; i++)
    if (!cache_prepare_on(stage->db, stage_sql[i], stage->format, &stage->statements[i]))
      return stage_error(stage, err);
  return CUGEN_OK;
}

int sqlite_stage_open(struct cache *base, const struct cache_stage *given, struct cache_stage **out,
                      cugen_error *err) {
  struct sqlite_cache *cache = sqlite_cache_of(base);
  struct sqlite_stage *stage = stage_new(cache);
  if (!stage) return error_memory(err);
  stage->base = *given;
  bool in_memory = given->planned <= CACHE_STAGE_FEW || !cache->base.in_file;
  int status = in_memory ? CUGEN_OK : take_file(stage, err);
  if (!status)
    status = stage_open_database(stage, in_memory ? ":memory:" : text_get(&stage->path), err);
  if (!status) status = stage_make_tables(stage, err);
  if (status)
    sqlite_stage_close(&stage->base);
  else
    *out = &stage->base;
  return status;
}

/* ---- Adding --------------------------------------------------------------------------------- */

/* Sets *out to the first column of the first row; 0: there is no row. */
static bool fetch(sqlite3_stmt *statement, int64_t *out) {
  *out = sqlite3_step(statement) == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  return sqlite3_reset(statement) == SQLITE_OK;
}

static bool stage_find_space(struct sqlite_stage *stage, const struct cache_key *key) {
  sqlite3_stmt *find = stage->statements[SPACE_OF], *add = stage->statements[SPACE_NEW];
  if (cache_key_is(&stage->key, key)) return true;
  text_clear(&stage->key);
  cache_key_write(key, &stage->key);
  if (!cache_bind_key(find, key) || !fetch(find, &stage->space)) return false;
  if (stage->space) return true;
  if (!cache_bind_key(add, key) || !cache_run(add)) return false;
  stage->space = sqlite3_last_insert_rowid(stage->db);
  return true;
}

int sqlite_stage_add(struct cache_stage *base, const struct cache_entry *entry, size_t line,
                     size_t *twice, cugen_error *err) {
  struct sqlite_stage *stage = sqlite_stage_of(base);
  sqlite3_stmt *statement = stage->statements[ENTRY_NEW], *find = stage->statements[ENTRY_LINE];
  bool good = stage_find_space(stage, &entry->key) && !stage->key.failed &&
              sqlite3_bind_int64(statement, 1, stage->space) == SQLITE_OK &&
              sqlite3_bind_int64(statement, 2, (int64_t)line) == SQLITE_OK &&
              cache_bind_record(statement, &entry->record) && cache_run(statement);
  if (good && sqlite3_changes(stage->db) == 0) {
    int64_t found = 0;
    good = sqlite3_bind_int64(find, 1, stage->space) == SQLITE_OK &&
           cache_bind_text(find, 2, entry->record.variant) &&
           cache_bind_text(find, 3, entry->record.hash.hex) && fetch(find, &found);
    *twice = (size_t)found;
  }
  if (stage->key.failed) return error_memory(err);
  return good ? CUGEN_OK : stage_error(stage, err);
}

/* ---- Merging -------------------------------------------------------------------------------- */

static bool sync_folder(const char *path) {
  struct text folder = {0};
  path_folder(path, &folder);
  int fd = folder.failed ? -1 : open(text_get(&folder), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  bool good = fd >= 0 && (fsync(fd) == 0 || errno == EINVAL);
  if (fd >= 0) close(fd);
  text_free(&folder);
  return good;
}

/* Marks the file as complete: from here on the import happens even if this process is killed. */
static int set_ready(struct sqlite_stage *stage, cugen_error *err) {
  struct text sql = {0};
  text_addf(&sql, "PRAGMA user_version = %d", stage->format);
  int status = sql.failed ? error_memory(err) : CUGEN_OK;
  if (!status && (fsync(stage->fd) || !sync_folder(text_get(&stage->path))))
    status = error_file(err, "write", text_get(&stage->path), errno);
  if (!status && !cache_sql(stage->db, text_get(&sql))) status = stage_error(stage, err);
  if (!status && fsync(stage->fd)) status = error_file(err, "write", text_get(&stage->path), errno);
  text_free(&sql);
  stage->kept = !status;
  return status;
}

/* Loads the key of a space; its texts live in stage->key. */
static bool load_key(struct sqlite_stage *stage, int64_t space) {
  sqlite3_stmt *statement = stage->keys;
  text_clear(&stage->key);
  stage->space = 0;
  if (sqlite3_bind_int64(statement, 1, space) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    const struct cache_row row = cache_row_of(statement);
    const struct cache_key key = cache_row_key(&row, 0);
    cache_key_write(&key, &stage->key);
    stage->space = space;
  }
  return sqlite3_reset(statement) == SQLITE_OK && stage->space && !stage->key.failed;
}

/* Merges the row that the reading statement is at. */
static int merge_row(struct sqlite_stage *stage, struct cache_merge *merge, cugen_error *err) {
  const struct cache_row row = cache_row_of(stage->entries);
  struct cache_entry entry = {0};
  const char *name;
  const int64_t space = sqlite3_column_int64(stage->entries, CACHE_COLUMNS);
  if (space != stage->space) {
    merge->space = 0;
    if (!load_key(stage, space))
      return stage->key.failed ? error_memory(err) : stage_error(stage, err);
  }
  if (!cache_row_record(&row, &entry.record)) return error_memory(err);
  entry.key = cache_key_read(&stage->key);
  if (sqlite3_column_int(stage->entries, CACHE_COLUMNS + 1))
    entry.key.origin = entry.record.hash.hex;
  int status = CUGEN_OK;
  if (!stage->checked && cache_entry_wrong(&entry.key, &entry.record, &name))
    status = cache_error_corrupt(text_get(&stage->path), name, err);
  else if (!cache_merge_next(merge, &entry))
    status = merge->no_memory ? error_memory(err) : cache_error(stage->cache, doing, err);
  cache_record_free(&entry.record);
  stage->base.merged += !status;
  return status;
}

/* Merges as many rows as fit one transaction; *more: there are further rows. */
static int merge_rows(struct sqlite_stage *stage, struct cache_merge *merge, bool *more,
                      cugen_error *err) {
  enum { CHECKS = 16 };
  const double end = clock_seconds() + CACHE_STEP_SECONDS;
  int status = CUGEN_OK;
  *more = true;
  for (size_t i = 1; !status && *more; i++) {
    if (sqlite3_column_count(stage->entries) && sqlite3_data_count(stage->entries))
      status = merge_row(stage, merge, err);
    if (status) break;
    int code = sqlite3_step(stage->entries);
    *more = code == SQLITE_ROW;
    if (code != SQLITE_ROW && code != SQLITE_DONE) status = stage_error(stage, err);
    if (stage->fd >= 0 && i % CHECKS == 0 && clock_seconds() > end) break;
  }
  return status;
}

static int merge_step(struct sqlite_stage *stage, struct cache_merge *merge, bool *more,
                      cugen_error *err) {
  struct sqlite_cache *cache = stage->cache;
  pthread_mutex_lock(&cache->base.lock);
  if (stage->fd >= 0) cache_hurry(cache, true);
  bool begun = cache_step(cache, BEGIN);
  int status = begun && cache_merge_prepare(merge) ? CUGEN_OK : cache_error(cache, doing, err);
  if (!status) status = merge_rows(stage, merge, more, err);
  if (!status) status = cache_finish(cache, true, doing, err);
  if (!sqlite3_get_autocommit(cache->db)) cache_step(cache, ROLLBACK);
  cache_hurried(cache, status);
  pthread_mutex_unlock(&cache->base.lock);
  return status;
}

/* Notes how far the merge has come, once the merged rows are safe from a power cut, so that a later
   merge need not repeat them. */
static void stage_note_place(struct sqlite_stage *stage) {
  sqlite3_stmt *row = stage->entries;
  if (stage->read_only || stage->fd < 0 || stage->cache->unsynced || !sqlite3_data_count(row))
    return;
  /* The stored place is the beginning of the present set. */
  if (stage->space && sqlite3_bind_int64(stage->places, 1, stage->space) == SQLITE_OK &&
      cache_bind_text(stage->places, 2, "") && cache_bind_text(stage->places, 3, ""))
    cache_run(stage->places);
}

/* The pragmas are only for speed, so failures are ignored. */
static void set_pragmas(struct sqlite_cache *cache, const char *sql) {
  pthread_mutex_lock(&cache->base.lock);
  cache_sql(cache->db, sql);
  pthread_mutex_unlock(&cache->base.lock);
}

static int merge_all(struct sqlite_stage *stage, cugen_cache_merged *out, cugen_error *err) {
  struct cache_merge merge = {.cache = stage->cache, .out = out};
  bool more = true;
  stage->space = 0;
  const bool good = cache_prepare_on(stage->db, entries_sql, stage->format, &stage->entries) &&
                    cache_prepare_on(stage->db, key_sql, stage->format, &stage->keys) &&
                    cache_prepare_on(stage->db, place_sql, stage->format, &stage->places);
  int status = good ? CUGEN_OK : stage_error(stage, err);
  if (stage->fd >= 0)
    set_pragmas(stage->cache, "PRAGMA wal_autocheckpoint = 8192; PRAGMA cache_size = -65536");
  while (!status && more) {
    status = merge_step(stage, &merge, &more, err);
    stage->steps += !status;
    if (!status) stage_note_place(stage);
    if (!status && more && (status = cache_stage_watch(&stage->base, err)))
      error_set(
          err, CUGEN_ERROR_INTERRUPTED,
          "stopped on request; what is not merged yet is merged when the cache is next opened");
    if (!status && more) cache_pause();
  }
  if (status && stage->steps && status != CUGEN_ERROR_INTERRUPTED &&
      !cache_is_moved(stage->cache->db))
    error_append(err, "; what is not merged yet is merged when the cache is next opened");
  cache_merge_end(&merge);
  if (stage->fd >= 0) {
    set_pragmas(stage->cache, "PRAGMA wal_autocheckpoint = 1000; PRAGMA cache_size = -2000");
    const int synced = sqlite_sync(&stage->cache->base, status ? NULL : err);
    if (!status) status = synced;
  }
  /* An import of this process that failed before its first step is given up, with its file. */
  stage->kept = stage->kept && status && (stage->steps || !stage->checked);
  return status;
}

int sqlite_stage_merge(struct cache_stage *base, cugen_cache_merged *out, cugen_error *err) {
  struct sqlite_stage *stage = sqlite_stage_of(base);
  stage->checked = true;
  int status = cache_sql(stage->db, "COMMIT") ? CUGEN_OK : stage_error(stage, err);
  if (!status && stage->fd >= 0) status = set_ready(stage, err);
  return status ? status : merge_all(stage, out, err);
}

/* ---- After a kill --------------------------------------------------------------------------- */

static void resume(struct sqlite_stage *stage) {
  cugen_cache_merged merged = {0};
  cugen_error err;
  if (stage_open_database(stage, text_get(&stage->path), &err)) return;
  /* user_version was set when the import was complete */
  stage->format = cache_query_number(stage->db, "PRAGMA user_version");
  /* written by a newer cugen, which will finish the import */
  stage->kept = stage->format > CACHE_FORMAT_VERSION;
  if (stage->format < FIRST_FORMAT || stage->kept) return;
  /* The file lies where others may write, so it is checked like a cache: it has the tables of an
     import and nothing else, and every page of them is intact. */
  const char *path = text_get(&stage->path);
  if (cache_check_schema(stage->db, "main", stage_tables_sql, path, &err) ||
      cache_check_tables(stage->db, "main", path, &err))
    return;
  stage->kept = true;
  cache_sql(stage->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF");
  int status = merge_all(stage, &merged, &err);
  stage->kept = status && status != CUGEN_ERROR_CACHE;
}

/* Returns whether a file that was found under the import's name may be read as one: it belongs to
   this user or to the cache's owner, has one link, and no more users can write it than the
   cache. */
static bool is_trusted(const struct sqlite_stage *stage) {
  struct stat mine, cache;
  return !fstat(stage->fd, &mine) && !stat(text_get(&stage->cache->base.path), &cache) &&
         (mine.st_uid == geteuid() || mine.st_uid == cache.st_uid) && mine.st_nlink == 1 &&
         !(mine.st_mode & ~cache.st_mode & 022);
}

void cache_stage_resume(struct sqlite_cache *cache, bool dropped) {
  struct sqlite_stage *stage = stage_new(cache);
  if (!stage) return;
  stage->read_only = !cache->base.in_file;
  const char *path = text_get(&stage->path);
  if (access(path, F_OK) == 0 &&
      try_lock(path, stage->read_only ? O_RDONLY : O_RDWR, 0, &stage->fd) > 0) {
    stage->kept = !is_trusted(stage);
    if (!stage->kept && !dropped) resume(stage);
  }
  sqlite_stage_close(&stage->base);
}
