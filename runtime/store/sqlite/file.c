/* The file of a cache: where it lies, whether it is a cache, and what its failures mean; see
   database.h. Only SQLite's functions open the file, because closing another descriptor of the
   file would drop the locks that other handles in this process hold (POSIX locks belong to the
   process). */
#define _GNU_SOURCE /* AT_EACCESS */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/error.h"
#include "base/system.h"
#include "database.h"

/* ---- Errors --------------------------------------------------------------------------------- */

#define WAY_OUT "move it away, or name another with cugen_options.cache"

int cache_error_corrupt(const char *path, const char *what, cugen_error *err) {
  return error_set(err, CUGEN_ERROR_CACHE, "%s: the cache is damaged (%s); " WAY_OUT, path, what);
}

bool cache_is_moved(sqlite3 *db) {
  int moved = 0;
  return db && sqlite3_file_control(db, "main", SQLITE_FCNTL_HAS_MOVED, &moved) == SQLITE_OK &&
         moved;
}

bool cache_is_full(sqlite3 *db) {
  const int code = sqlite3_errcode(db), system = sqlite3_system_errno(db);
  return code == SQLITE_FULL || ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) &&
                                 (system == ENOSPC || system == EDQUOT));
}

int cache_error_database(sqlite3 *db, const char *path, const char *doing, cugen_error *err) {
  int code = sqlite3_errcode(db);
  const char *system =
      sqlite3_system_errno(db) ? strerror(sqlite3_system_errno(db)) : sqlite3_errstr(code);
  if (cache_is_moved(db))
    return error_set(err, CUGEN_ERROR_IO,
                     "%s: the cache was removed, moved or replaced while it was in use: what was "
                     "stored in it meanwhile is not there; run the command again",
                     path);
  if (cache_is_full(db))
    return error_set(
        err, CUGEN_ERROR_IO,
        "%s: cannot %s: the disk is full; make room, or name another with cugen_options.cache",
        path, doing);
  switch (code) {
  /* SQLite was not called: there was no memory for the text */
  case SQLITE_OK: return error_memory(err);
  case SQLITE_CORRUPT:
  case SQLITE_NOTADB: return cache_error_corrupt(path, sqlite3_errmsg(db), err);
  case SQLITE_BUSY:
  case SQLITE_LOCKED:
    return error_set(err, CUGEN_ERROR_IO,
                     "%s: cannot %s: another process keeps the cache locked; end it, or name "
                     "another with cugen_options.cache",
                     path, doing);
  case SQLITE_NOMEM: /* also when a damaged file asks for an impossible amount */
    return error_set(err, CUGEN_ERROR_MEMORY,
                     "%s: cannot %s: out of memory, or the file is damaged; " WAY_OUT, path, doing);
  case SQLITE_IOERR:
  case SQLITE_READONLY:
  case SQLITE_PERM:
  case SQLITE_CANTOPEN:
  case SQLITE_PROTOCOL:
    return error_set(err, CUGEN_ERROR_IO,
                     "%s: cannot %s: %s; name another place with cugen_options.cache", path, doing,
                     system);
  default: /* tables that differ from those that cugen makes */
    return error_set(err, CUGEN_ERROR_CACHE, "%s: cannot %s: %s; " WAY_OUT, path, doing,
                     sqlite3_errmsg(db));
  }
}

void cache_keep_error(struct sqlite_cache *cache, const char *doing) {
  if (cache->refusal.status) return;
  cache->full |= cache_is_full(cache->db);
  cache_error_database(cache->db, text_get(&cache->base.path), doing, &cache->refusal);
}

int cache_error(struct sqlite_cache *cache, const char *doing, cugen_error *err) {
  const int kept = cache->refusal.status;
  if (!kept) return cache_error_database(cache->db, text_get(&cache->base.path), doing, err);
  error_copy(err, &cache->refusal);
  cache->refusal.status = CUGEN_OK;
  return kept;
}

/* ---- Checking the file ---------------------------------------------------------------------- */

enum { HEADER_BYTES = 100 };

static uint32_t big_endian(const unsigned char *bytes) {
  return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

/* https://www.sqlite.org/fileformat2.html section 1.3 */
static int check_header(const unsigned char *header, const char *path, cugen_error *err) {
  if (memcmp(header, "SQLite format 3", 16) != 0)
    return error_set(err, CUGEN_ERROR_CACHE,
                     "%s: is not a cugen cache (no SQLite database at all); " WAY_OUT, path);
  if (big_endian(header + 68) != CACHE_APPLICATION_ID)
    return error_set(err, CUGEN_ERROR_CACHE,
                     "%s: is an SQLite database but not a cugen cache; " WAY_OUT, path);
  uint32_t version = big_endian(header + 60);
  if (version > CACHE_FORMAT_VERSION)
    return error_set(err, CUGEN_ERROR_CACHE,
                     "%s: was written by a newer cugen (format %u, this one reads up to %d); "
                     "update cugen, " WAY_OUT,
                     path, version, CACHE_FORMAT_VERSION);
  return version < 1 ? cache_error_corrupt(path, "no format version", err) : CUGEN_OK;
}

/* Refuses a file that ends within a page, which SQLite would fill up with zeros. A killed writer
   may also leave such a file, but then with a log beside it. */
static int file_check_size(const unsigned char *header, sqlite3_int64 size, const char *path,
                           cugen_error *err) {
  int page = header[16] << 8 | header[17]; /* 1: 65536 */
  if (size % (page == 1 ? 65536 : page ? page : 1) == 0 || cache_has_log(path)) return CUGEN_OK;
  return cache_error_corrupt(path, "it is cut off", err);
}

/* Whether a rollback journal names another file at its end, as in a transaction over several
   files: SQLite would remove that file, whatever it is, after rolling back (pager.c,
   readSuperJournal). cugen makes no such transactions. */
static bool names_another_file(const char *journal) {
  static const unsigned char magic[8] = {0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7};
  unsigned char end[sizeof magic];
  int fd = open(journal, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  struct stat info;
  bool names =
      fd >= 0 && fstat(fd, &info) == 0 && info.st_size >= (off_t)sizeof magic &&
      pread(fd, end, sizeof end, info.st_size - (off_t)sizeof end) == (ssize_t)sizeof end &&
      memcmp(end, magic, sizeof magic) == 0;
  if (fd >= 0) close(fd);
  return names;
}

/* Refuses a link or a pipe in the place of a log, because SQLite would open it, and a journal that
   names another file. */
static int check_beside(const char *path, cugen_error *err) {
  enum { JOURNALS = 2 };
  static const char *const suffixes[] = {"-journal", "-import-journal", "-wal",
                                         "-shm",     "-import-wal",     "-import-shm"};
  struct text name = {0};
  int status = CUGEN_OK;
  for (size_t i = 0; !status && i < sizeof suffixes / sizeof *suffixes; i++) {
    struct stat info;
    text_clear(&name);
    text_addf(&name, "%s%s", path, suffixes[i]);
    if (name.failed)
      status = error_memory(err);
    else if (lstat(text_get(&name), &info) == 0 && !S_ISREG(info.st_mode))
      status =
          error_set(err, CUGEN_ERROR_CACHE,
                    "%s: is not a file, and no log of a cugen cache; " WAY_OUT, text_get(&name));
    else if (i < JOURNALS && names_another_file(text_get(&name)))
      status = error_set(err, CUGEN_ERROR_CACHE,
                         "%s: names another file, and so is no journal of cugen's; " WAY_OUT,
                         text_get(&name));
  }
  text_free(&name);
  return status;
}

int cache_probe(const char *path, bool *fresh, cugen_error *err) {
  struct stat info;
  int beside = check_beside(path, err);
  *fresh = file_missing(path);
  if (beside || *fresh) return beside;
  if (stat(path, &info) == 0 && !S_ISREG(info.st_mode) && !S_ISDIR(info.st_mode))
    return error_set(err, CUGEN_ERROR_IO,
                     "%s: is a device or a pipe, and a cache is a file; name another file, or "
                     "none, with cugen_options.cache",
                     path);
  sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
  sqlite3_file *file = vfs ? calloc(1, (size_t)vfs->szOsFile) : NULL;
  sqlite3_filename name = file ? sqlite3_create_filename(path, "", "", 0, NULL) : NULL;
  unsigned char header[HEADER_BYTES] = {0};
  sqlite3_int64 size = 0;
  int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_MAIN_DB, status = CUGEN_OK, code = SQLITE_NOMEM;
  if (name) code = vfs->xOpen(vfs, name, file, flags, &flags);
  /* xFileSize takes a file of one byte for an empty one */
  if (code == SQLITE_OK && stat(path, &info)) code = SQLITE_IOERR;
  if (code == SQLITE_OK) size = info.st_size;
  if (code == SQLITE_OK && size > 0) {
    code = file->pMethods->xRead(file, header, HEADER_BYTES, 0);
    if (code == SQLITE_IOERR_SHORT_READ) code = SQLITE_OK; /* the rest of the buffer is zero */
  }
  *fresh = size == 0;
  if (code == SQLITE_NOMEM)
    status = error_memory(err);
  else if (code != SQLITE_OK)
    status = error_set(err, CUGEN_ERROR_IO,
                       "%s: cannot read: %s; name another place with cugen_options.cache", path,
                       strerror(errno));
  else if (!*fresh)
    status = check_header(header, path, err);
  if (!status && !*fresh) status = file_check_size(header, size, path, err);
  if (file && file->pMethods) file->pMethods->xClose(file);
  sqlite3_free_filename(name);
  free(file);
  return status;
}

/* Magic numbers from linux/magic.h and the file systems' own sources. */
bool cache_on_network(const char *folder) {
  static const uint32_t network[] = {
      0x00006969 /* NFS */,      0x0000517b /* SMB */,  0xfe534d42 /* SMB2 */,
      0xff534d42 /* CIFS */,     0x65735546 /* FUSE */, 0x5346414f /* AFS */,
      0x6b414653 /* kAFS */,     0x73757245 /* Coda */, 0x01021997 /* 9P */,
      0x0bd00bd0 /* Lustre */,   0x47504653 /* GPFS */, 0x00c36400 /* Ceph */,
      0x19830326 /* BeeGFS */,   0x01161970 /* GFS2 */, 0x7461636f /* OCFS2 */,
      0xaad7aaea /* PanFS */,    0x564c /* NCP */,      0x786f4256 /* vboxsf */,
      0x20030528 /* OrangeFS */,
  };
  struct statfs info;
  /* a folder that cannot be examined gets the way that works on every file system */
  if (statfs(folder, &info)) return true;
  for (size_t i = 0; i < sizeof network / sizeof *network; i++)
    if (network[i] == (uint32_t)info.f_type) return true;
  return false;
}

static bool has_beside(const char *path, const char *suffix) {
  struct text log = {0};
  struct stat info;
  text_addf(&log, "%s%s", path, suffix);
  bool has = log.failed || (stat(text_get(&log), &info) == 0 && info.st_size > 0);
  text_free(&log);
  return has;
}

bool cache_has_log(const char *path) {
  return has_beside(path, "-wal") || has_beside(path, "-journal");
}

int cache_why_not_writable(const char *path, const char *folder) {
  if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS)) return errno;
  return file_exists(path) && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) ? errno : 0;
}
