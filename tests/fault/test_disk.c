/* The cache over a file system that fails: each of SQLite's calls to it fails in turn, with
   every error that matters. The cache reports it, and everything stored before is there. */

#include <sqlite3.h>
#include <unistd.h>

#include "base/hash.h"
#include "cache_place.h"
#include "runtime/store/wisdom.h"
#include "tests/testing.h"

/* ---- A file layer between SQLite and its own ------------------------------------------------ */

static struct {
  sqlite3_vfs *real;
  long calls, fail_at; /* 0: none */
  long syncs;
  int fail_with;
  bool fail_on; /* all later calls fail, too */
  bool failed;
  bool full; /* calls that need room fail, and no others */
} disk;

struct file {
  sqlite3_file base; /* first, because SQLite sees this part */
  sqlite3_file *real;
};

/* Returns SQLITE_OK, or the error with which this call is to fail. */
static int fails(void) {
  disk.calls++;
  if (!disk.fail_at || (disk.fail_on ? disk.calls < disk.fail_at : disk.calls != disk.fail_at))
    return SQLITE_OK;
  disk.failed = true;
  return disk.fail_with;
}

static sqlite3_file *real(sqlite3_file *file) {
  return ((struct file *)(void *)file)->real;
}

static int close_file(sqlite3_file *file) {
  sqlite3_file *below = real(file);
  int code = below->pMethods ? below->pMethods->xClose(below) : SQLITE_OK;
  free(below);
  return code;
}

#define FAILING(name, member, parameters, arguments)                                               \
  static int name parameters {                                                                     \
    int code = fails();                                                                            \
    return code ? code : real(file)->pMethods->member arguments;                                   \
  }
#define NEEDING_ROOM(name, member, parameters, arguments)                                          \
  static int name parameters {                                                                     \
    int code = disk.full ? SQLITE_FULL : fails();                                                  \
    return code ? code : real(file)->pMethods->member arguments;                                   \
  }
FAILING(read_file, xRead, (sqlite3_file * file, void *to, int n, sqlite3_int64 at),
        (real(file), to, n, at))
NEEDING_ROOM(write_file, xWrite, (sqlite3_file * file, const void *from, int n, sqlite3_int64 at),
             (real(file), from, n, at))
FAILING(truncate_file, xTruncate, (sqlite3_file * file, sqlite3_int64 size), (real(file), size))
FAILING(really_sync, xSync, (sqlite3_file * file, int flags), (real(file), flags))
FAILING(size_of_file, xFileSize, (sqlite3_file * file, sqlite3_int64 *size), (real(file), size))
FAILING(lock_file, xLock, (sqlite3_file * file, int kind), (real(file), kind))
NEEDING_ROOM(map_shared, xShmMap,
             (sqlite3_file * file, int page, int size, int extend, void volatile **out),
             (real(file), page, size, extend, out))

static int sync_file(sqlite3_file *file, int flags) {
  disk.syncs++;
  return really_sync(file, flags);
}

/* Locks in memory. SQLite tries again for ten seconds if this fails. */
static int lock_shared(sqlite3_file *file, int offset, int n, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, n, flags);
}

static int unlock_file(sqlite3_file *file, int kind) {
  return real(file)->pMethods->xUnlock(real(file), kind);
}

static int check_reserved(sqlite3_file *file, int *out) {
  return real(file)->pMethods->xCheckReservedLock(real(file), out);
}

static int control(sqlite3_file *file, int what, void *argument) {
  return real(file)->pMethods->xFileControl(real(file), what, argument);
}

static int sector_size(sqlite3_file *file) {
  return real(file)->pMethods->xSectorSize(real(file));
}

static int traits(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

static void shared_barrier(sqlite3_file *file) {
  real(file)->pMethods->xShmBarrier(real(file));
}

static int unmap_shared(sqlite3_file *file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

static const sqlite3_io_methods methods = {.iVersion = 2,
                                           .xClose = close_file,
                                           .xRead = read_file,
                                           .xWrite = write_file,
                                           .xTruncate = truncate_file,
                                           .xSync = sync_file,
                                           .xFileSize = size_of_file,
                                           .xLock = lock_file,
                                           .xUnlock = unlock_file,
                                           .xCheckReservedLock = check_reserved,
                                           .xFileControl = control,
                                           .xSectorSize = sector_size,
                                           .xDeviceCharacteristics = traits,
                                           .xShmMap = map_shared,
                                           .xShmLock = lock_shared,
                                           .xShmBarrier = shared_barrier,
                                           .xShmUnmap = unmap_shared};

static int open_file(sqlite3_vfs *vfs, const char *name, sqlite3_file *out, int flags, int *given) {
  struct file *file = (struct file *)(void *)out;
  *file = (struct file){0};
  int code = fails();
  if (code) return code == SQLITE_IOERR ? SQLITE_CANTOPEN : code;
  file->real = calloc(1, (size_t)disk.real->szOsFile);
  if (!file->real) return SQLITE_NOMEM;
  code = disk.real->xOpen(disk.real, name, file->real, flags, given);
  if (code == SQLITE_OK)
    file->base.pMethods = &methods;
  else
    free(file->real);
  return code;
}

static int delete_file(sqlite3_vfs *vfs, const char *name, int sync) {
  int code = fails();
  return code ? code : disk.real->xDelete(disk.real, name, sync);
}

static bool install(void) {
  static sqlite3_vfs vfs;
  disk.real = sqlite3_vfs_find(NULL);
  if (!disk.real) return false;
  /* names, time and randomness stay as they are, because their functions take no file */
  vfs = *disk.real;
  vfs.zName = "failing";
  vfs.szOsFile = sizeof(struct file);
  vfs.xOpen = open_file;
  vfs.xDelete = delete_file;
  return sqlite3_vfs_register(&vfs, 1) == SQLITE_OK;
}

/* ---- What is done to a cache ---------------------------------------------------------------- */

static const struct cache_key key = {"device", "config", "problem", "options", NULL, NULL, 0};
static struct place place;

static int store(struct cache *cache, const char *variant, cugen_error *err) {
  char none[] = "";
  struct cache_record record = {.variant = (char *)(uintptr_t)variant,
                                .hash = hash_bytes(variant, strlen(variant)),
                                .reason = none,
                                .seconds = 1};
  return cache_store(cache, &key, &record, err);
}

static int store_image(struct cache *cache, char fill, cugen_error *err) {
  char name[] = "kernel", log[] = "", data[9000];
  memset(data, fill, sizeof data);
  struct compiled image = {
      .image = data, .image_length = sizeof data, .entry_count = 1, .entries = {name}, .log = log};
  return cache_image_store(cache, "image", &image, err);
}

/* Returns the number of records; -1: an error. *has gets a bit for each record of the given
   names. */
static long load(struct cache *cache, unsigned *has, cugen_error *err) {
  static const char *const names[] = {"old", "new"};
  struct cache_record *records;
  size_t count;
  *has = 0;
  if (cache_load(cache, &key, &records, &count, err)) return -1;
  for (size_t i = 0; i < count; i++) {
    for (unsigned n = 0; n < 2; n++)
      if (strcmp(records[i].variant, names[n]) == 0) *has |= 1u << n;
    cache_record_free(&records[i]);
  }
  free(records);
  return (long)count;
}

enum { OLD = 1, NEW = 2 };

/* Returns 'a' or 'b', or 0 if there is none; an image that is half of each fails the test. */
static char image_fill(struct cache *cache) {
  FREED(compiled) image;
  bool found;
  assert_int_equal(cache_image_load(cache, "image", &image, &found, NULL), CUGEN_OK);
  char fill = 0;
  if (found) {
    assert_int_equal(image.image_length, 9000);
    assert_int_equal(image.entry_count, 1);
    fill = *(char *)image.image;
    for (size_t i = 0; i < image.image_length; i++)
      assert_int_equal(((char *)image.image)[i], fill);
  }
  return fill;
}

static void make_cache(bool old_format) {
  struct cache *cache;
  assert_int_equal(cache_open(text_get(&place.path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(store(cache, "old", NULL), CUGEN_OK);
  assert_int_equal(store_image(cache, 'a', NULL), CUGEN_OK);
  cache_close(cache);
  if (old_format) place_sql(&place, "PRAGMA journal_mode = DELETE"), place_back_to(&place, 1);
}

static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
enum { SUFFIXES = sizeof suffixes / sizeof *suffixes };

static void remove_cache(void) {
  for (size_t i = 0; i < SUFFIXES; i++) {
    remove(formed("%s%s", text_get(&place.path), suffixes[i]));
  }
}

/* Returns the cache with which each attempt begins. It is made once and then copied; it consists
   of its file alone. */
static struct text take_cache(void) {
  struct text file = {0};
  for (size_t i = 1; i < SUFFIXES; i++) {
    assert_false(file_exists(formed("%s%s", text_get(&place.path), suffixes[i])));
  }
  assert_int_equal(file_read(text_get(&place.path), &file, NULL), CUGEN_OK);
  return file;
}

static void put_cache(const struct text *file) {
  remove_cache();
  if (file->length)
    assert_int_equal(file_put(text_get(&place.path), file->data, file->length, NULL), CUGEN_OK);
}

struct done {
  bool record, image; /* what was reported as stored */
};

/* A warning says that the record is kept in memory. */
static int use(struct done *done, cugen_error *err) {
  struct cache *cache;
  struct text warning = {0};
  unsigned has;
  *done = (struct done){0};
  int status = cache_open(text_get(&place.path), &cache, &warning, err);
  const bool lasts = !warning.length;
  text_free(&warning);
  assert_true((status == CUGEN_OK) == (cache != NULL));
  if (status) return status;
  status = store(cache, "new", err);
  done->record = lasts && !status;
  if (!status) status = store_image(cache, 'b', err);
  done->image = done->record && !status;
  if (!status && load(cache, &has, err) < 0) status = err->status;
  cache_close(cache);
  return status;
}

enum start { FRESH, CURRENT, OLD_FORMAT };

/* Opens the cache again on a disk that works: what was there is there, what was reported as
   stored is there, and nothing is there in part. */
static void check_after(const struct done *done, enum start start) {
  CLOSED(cache) *cache;
  cugen_error err = {0};
  unsigned has;
  if (cache_open(text_get(&place.path), &cache, NULL, &err))
    fail_msg("afterwards: %s", err.message);
  long count = load(cache, &has, &err);
  if (count < 0) fail_msg("afterwards: %s", err.message);
  if (start != FRESH) assert_true(has & OLD);
  if (done->record) assert_true(has & NEW);
  assert_int_equal(count, !!(has & OLD) + !!(has & NEW));
  char fill = image_fill(cache);
  if (done->image) assert_int_equal(fill, 'b');
  /* images of older formats have no seal */
  if (start == CURRENT) assert_true(fill == 'a' || fill == 'b');
  assert_int_equal(store(cache, "new", NULL), CUGEN_OK);
}

static bool is_clean(int status, const cugen_error *err) {
  bool expected =
      status == CUGEN_ERROR_IO || status == CUGEN_ERROR_CACHE || status == CUGEN_ERROR_MEMORY;
  bool says = status == CUGEN_ERROR_MEMORY || strstr(err->message, text_get(&place.path));
  return !status || (expected && err->status == status && says);
}

static void fail_each(enum start start, int code, bool fail_on) {
  long failures = 0;
  struct text before = {0};
  remove_cache();
  if (start != FRESH) make_cache(start == OLD_FORMAT), before = take_cache();
  for (long n = 1;; n++) {
    struct done done;
    cugen_error err = {0};
    put_cache(&before);
    disk.calls = 0, disk.failed = false;
    disk.fail_at = n, disk.fail_with = code, disk.fail_on = fail_on;
    int status = use(&done, &err);
    disk.fail_at = 0;
    if (!is_clean(status, &err))
      fail_msg("call %ld, code %d: %d: %s", n, code, status, err.message);
    check_after(&done, start);
    failures += status != CUGEN_OK;
    if (!disk.failed) break;
  }
  remove_cache();
  text_free(&before);
  assert_true(failures > 5);
}

/* Measurements in quick succession do not wait for the disk each; a later one, and the end,
   write them too. */
TEST(quick_stores_wait_together) {
  enum { MANY = 50 };
  struct cache *cache, *other;
  remove_cache();
  make_cache(false);
  assert_int_equal(cache_open(text_get(&place.path), &cache, NULL, NULL), CUGEN_OK);
  /* the other handle keeps the log open after closing */
  assert_int_equal(cache_open(text_get(&place.path), &other, NULL, NULL), CUGEN_OK);
  assert_int_equal(store(cache, "first", NULL), CUGEN_OK);
  long before = disk.syncs;
  double begin = clock_seconds();
  for (int i = 0; i < MANY; i++) assert_int_equal(store(cache, "again", NULL), CUGEN_OK);
  double waits = (clock_seconds() - begin) / 0.2 + 1;
  if ((double)(disk.syncs - before) > 2 * waits)
    fail_msg("%ld waits for the disk", disk.syncs - before);
  usleep(210000);
  before = disk.syncs;
  assert_int_equal(store(cache, "later", NULL), CUGEN_OK);
  assert_true(disk.syncs > before);
  before = disk.syncs;
  /* it waits itself if the machine has been slow */
  assert_int_equal(store(cache, "last", NULL), CUGEN_OK);
  cache_sync(cache, NULL);
  assert_true(disk.syncs > before);
  before = disk.syncs;
  cache_sync(cache, NULL);
  assert_int_equal(disk.syncs, before);
  cache_close(cache);
  cache_close(other);
  remove_cache();
}

/* The error changes nothing in what is done about it, so that each beginning meets two. */
TEST(each_call_fails) {
  static const int codes[] = {SQLITE_IOERR, SQLITE_FULL, SQLITE_CORRUPT, SQLITE_NOMEM};
  for (int start = FRESH; start <= OLD_FORMAT; start++)
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
      if ((start + (int)i) % 2 == 0) fail_each((enum start)start, codes[i], false);
}

TEST(the_disk_goes_away) {
  for (int start = FRESH; start <= OLD_FORMAT; start++)
    fail_each((enum start)start, SQLITE_IOERR, true);
}

/* ---- Removing and importing ----------------------------------------------------------------- */

/* Six of twelve records are in the cache, nine are imported, three of them are known. */
enum { HELD = 6, IMPORTED = 9, TOGETHER = 12 };
static const struct cache_filter all = {0};
static struct text held_wisdom, other_wisdom;

static int store_numbered(struct cache *cache, int number) {
  FREED(text) variant = {0};
  struct hash hash = hash_bytes(&number, sizeof number);
  text_addf(&variant, "v n=%02d", number);
  struct cache_record record = {.variant = variant.data,
                                .reason = (char *)(uintptr_t) "",
                                .hash = hash,
                                .source_hash = hash,
                                .seconds = number + 1,
                                .measured_at = 1700000000 + number};
  int status = cache_store(cache, &key, &record, NULL);
  return status;
}

static int write_wisdom(int from, int count, struct text *out) {
  struct cache *cache;
  size_t written;
  if (cache_open("none", &cache, NULL, NULL)) return -1;
  int status = CUGEN_OK;
  for (int i = from; i < from + count && !status; i++) status = store_numbered(cache, i);
  if (!status) status = wisdom_export(cache, &all, out, &written, NULL);
  cache_close(cache);
  return status;
}

static int import(struct cache *cache, const struct text *wisdom, cugen_error *err) {
  cugen_cache_merged merged;
  return wisdom_import(cache, "wisdom", text_get(wisdom), wisdom->length, &merged, err);
}

static int import_other(struct cache *cache, cugen_error *err) {
  return import(cache, &other_wisdom, err);
}

/* The number that the last removal reported. */
static size_t told;

static int remove_all(struct cache *cache, cugen_error *err) {
  cugen_cache_counts removed;
  const int status = cache_remove(cache, &all, true, &removed, err);
  told = removed.records;
  return status;
}

static const struct change {
  int (*make)(struct cache *cache, cugen_error *err);
  size_t records, images; /* what is there afterwards */
} import_change = {import_other, TOGETHER, 1}, remove_change = {remove_all, 0, 0};

static void make_held(void) {
  CLOSED(cache) *cache;
  assert_int_equal(cache_open(text_get(&place.path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(import(cache, &held_wisdom, NULL), CUGEN_OK);
  assert_int_equal(store_image(cache, 'a', NULL), CUGEN_OK);
}

static int make_change(const struct change *change, bool *lasts, cugen_error *err) {
  CLOSED(cache) *cache;
  struct text warning = {0};
  int status = cache_open(text_get(&place.path), &cache, &warning, err);
  *lasts = !warning.length;
  text_free(&warning);
  if (!status) status = change->make(cache, err);
  return status;
}

/* A failed removal may leave a part; an import leaves all or nothing. */
static bool may_be_part(const struct change *change, const cugen_cache_counts *checked) {
  return change->records < HELD && checked->records <= HELD && checked->images <= 1;
}

/* The change is there completely, certainly if it was reported, or not at all. */
static void check_change(const struct change *change, bool said) {
  CLOSED(cache) *cache;
  cugen_cache_counts checked;
  FREED(text) wrong = {0};
  cugen_error err = {0};
  if (cache_open(text_get(&place.path), &cache, NULL, &err))
    fail_msg("afterwards: %s", err.message);
  assert_int_equal(cache_verify(cache, &checked, &wrong, &wrong, NULL), CUGEN_OK);
  assert_string_equal(text_get(&wrong), "");
  bool changed = checked.records == change->records && checked.images == change->images;
  bool as_before = checked.records == HELD && checked.images == 1;
  if (told > HELD - checked.records)
    fail_msg("%zu records are said to be removed, %zu are there", told, checked.records);
  if (!changed && (said || !(as_before || may_be_part(change, &checked))))
    fail_msg("%zu records, %zu images", checked.records, checked.images);
}

static void fail_each_of(const struct change *change, int code, bool fail_on) {
  long failures = 0;
  remove_cache();
  make_held();
  struct text held = take_cache();
  for (long n = 1;; n++) {
    cugen_error err = {0};
    put_cache(&held);
    disk.calls = 0, disk.failed = false;
    disk.fail_at = n, disk.fail_with = code, disk.fail_on = fail_on;
    bool lasts;
    told = 0;
    int status = make_change(change, &lasts, &err);
    if (!lasts) told = 0; /* the report was of a copy in memory */
    disk.fail_at = 0;
    if (!is_clean(status, &err))
      fail_msg("call %ld, code %d: %d: %s", n, code, status, err.message);
    check_change(change, lasts && !status);
    failures += status != CUGEN_OK;
    if (!disk.failed) break;
  }
  remove_cache();
  text_free(&held);
  assert_true(failures > 5);
}

TEST(each_change_is_whole) {
  static const int codes[] = {SQLITE_IOERR, SQLITE_FULL};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
    for (int fail_on = 0; fail_on < 2; fail_on++) {
      fail_each_of(&import_change, codes[i], fail_on);
      fail_each_of(&remove_change, codes[i], fail_on);
    }
}

/* On a full disk the records can be read; new measurements are kept in memory, as the warning
   says. */
TEST(a_full_disk_can_be_read) {
  struct cache *cache;
  FREED(text) warning = {0};
  unsigned has;
  cugen_error err;
  for (int start = CURRENT; start <= OLD_FORMAT; start++) {
    remove_cache();
    make_cache(start == OLD_FORMAT);
    disk.full = true;
    text_restart(&warning);
    if (cache_open(text_get(&place.path), &cache, &warning, &err)) fail_msg("%s", err.message);
    assert_non_null(strstr(text_get(&warning), "the disk is full"));
    assert_non_null(strstr(text_get(&warning), "Make room"));
    assert_string_equal(
        cache_why_unwritable(cache),
        "the disk is full; make room, or name another place with cugen_options.cache");
    assert_int_equal(load(cache, &has, &err), 1);
    assert_true(has & OLD);
    assert_int_equal(store(cache, "new", &err), CUGEN_OK);
    assert_int_equal(load(cache, &has, &err), 2);
    cache_close(cache);
    disk.full = false;
  }
  remove_cache();
}

FIXTURE(set_up) {
  /* Uses a folder in memory if there is one: every commit waits for the disk, and there are
     thousands. */
  if (access("/dev/shm", W_OK) == 0) setenv("TMPDIR", "/dev/shm", 1);
  if (!install() || folder_temporary(&place.folder, NULL)) return -1;
  text_addf(&place.path, "%s/cache.db", text_get(&place.folder));
  return write_wisdom(0, HELD, &held_wisdom) ||
         write_wisdom(TOGETHER - IMPORTED, IMPORTED, &other_wisdom);
}

FIXTURE(tear_down) {
  int status = folder_remove(text_get(&place.folder));
  text_free(&place.folder);
  text_free(&place.path);
  text_free(&held_wisdom);
  text_free(&other_wisdom);
  return status;
}

ALL_TESTS_WITH(set_up, tear_down);
