/* What can go wrong with a cache: files that are damaged, somebody else's or newer; places that cannot be written;
   full disks; other processes; being killed; no memory. Nothing that was stored may be lost, nothing that is not
   ours may be touched. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "runtime/cache.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED 1
#endif
#endif

static const struct cache_key key = {"device", "config", "problem", "options"};

struct fixture {
  struct text folder, path;
};

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  if (!fixture || folder_temporary(&fixture->folder, NULL)) return -1;
  text_addf(&fixture->path, "%s/cache.db", text_get(&fixture->folder));
  *state = fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  chmod(text_get(&fixture->folder), 0700);
  int status = folder_remove(text_get(&fixture->folder));
  text_free(&fixture->folder);
  text_free(&fixture->path);
  free(fixture);
  return status;
}

static int store_number(struct cache *cache, const char *prefix, int number, cugen_error *err) {
  struct text variant = {0};
  text_addf(&variant, "%s%d", prefix, number);
  struct cache_record record = {.variant = variant.data, .seconds = number};
  int status = cache_store(cache, &key, &record, err);
  text_free(&variant);
  return status;
}

static size_t count_records(struct cache *cache) {
  struct cache_record *records;
  size_t count;
  assert_int_equal(cache_load(cache, &key, &records, &count, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
  return count;
}

static int store_image(struct cache *cache, size_t length, cugen_error *err) {
  struct compiled image = {.image = calloc(1, length),
                           .image_length = length,
                           .entry_count = 1,
                           .entries = {strdup("kernel")},
                           .log = strdup("")};
  int status = cache_image_store(cache, "image", &image, err);
  compiled_free(&image);
  return status;
}

/* A closed cache with some hundred records and an image. */
static void make_cache(struct fixture *fixture) {
  struct cache *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  for (int i = 0; i < 100; i++) assert_int_equal(store_number(cache, "variant ", i, NULL), CUGEN_OK);
  assert_int_equal(store_image(cache, 20000, NULL), CUGEN_OK);
  cache_close(cache);
}

static struct hash file_hash(const char *path) {
  struct text content = {0};
  assert_int_equal(file_read(path, &content, NULL), CUGEN_OK);
  struct hash hash = hash_bytes(content.data, content.length);
  text_free(&content);
  return hash;
}

static bool is_alone(struct fixture *fixture) {
  static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
  bool alone = true;
  for (int i = 0; i < 3; i++) {
    struct text path = {0};
    text_addf(&path, "%s%s", text_get(&fixture->path), suffixes[i]);
    alone = alone && !file_exists(text_get(&path));
    text_free(&path);
  }
  return alone;
}

/* Refused with the path, what it is and the way out; the file is as it was and nothing lies beside it. */
static void assert_refused(struct fixture *fixture, const char *what) {
  const char *path = text_get(&fixture->path);
  struct hash before = file_hash(path);
  struct cache *cache = (struct cache *)1;
  cugen_error err = {0};
  assert_int_equal(cache_open(path, &cache, NULL, &err), CUGEN_ERROR_CACHE);
  assert_null(cache);
  assert_non_null(strstr(err.message, path));
  assert_non_null(strstr(err.message, what));
  assert_non_null(strstr(err.message, "--cache FILE"));
  assert_string_equal(file_hash(path).hex, before.hex);
  assert_true(is_alone(fixture));
}

static void run_sql(struct fixture *fixture, const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

/* ---- Files that are not a cache (any more) ---- */

static void some_other_file(void **state) {
  struct fixture *fixture = *state;
  assert_int_equal(file_write(text_get(&fixture->path), "kernel \"x\" {}\n", 14, NULL), CUGEN_OK);
  assert_refused(fixture, "is not a cugen cache");
}

static void somebody_elses_database(void **state) {
  struct fixture *fixture = *state;
  run_sql(fixture, "CREATE TABLE photos (name)");
  assert_refused(fixture, "an SQLite database but not a cugen cache");
  run_sql(fixture, "PRAGMA journal_mode = WAL; INSERT INTO photos VALUES ('x')");
  assert_refused(fixture, "an SQLite database but not a cugen cache");
}

static void a_newer_format(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  run_sql(fixture, "PRAGMA user_version = 4");
  assert_refused(fixture, "newer cugen (format 4, this one reads up to 3)");
}

static void other_tables_under_our_number(void **state) {
  struct fixture *fixture = *state;
  run_sql(fixture, "PRAGMA application_id = 1668638574; PRAGMA user_version = 1; CREATE TABLE photos (name)");
  struct cache *cache;
  cugen_error err = {0};
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, &err), CUGEN_ERROR_CACHE);
  assert_non_null(strstr(err.message, text_get(&fixture->path)));
}

/* Not even the way it keeps its journal changes. */
static void a_column_under_another_name(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  run_sql(fixture, "PRAGMA journal_mode = DELETE; ALTER TABLE record RENAME COLUMN throttle TO brake");
  assert_refused(fixture, "no such column: throttle");
}

static void a_truncated_file(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  struct stat info;
  assert_int_equal(stat(text_get(&fixture->path), &info), 0);
  const off_t lengths[] = {info.st_size - 4096, info.st_size / 2, 4097, 4096, 1000, 99, 50};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    assert_int_equal(truncate(text_get(&fixture->path), lengths[i]), 0);
    assert_refused(fixture, lengths[i] < 72 ? "is" : "damaged");
  }
}

static void overwrite(struct fixture *fixture, off_t first, off_t end) {
  int fd = open(text_get(&fixture->path), O_WRONLY);
  char garbage[4096];
  memset(garbage, 0xaa, sizeof garbage);
  for (off_t page = first; page < end; page++)
    assert_int_equal(pwrite(fd, garbage, sizeof garbage, page * 4096), sizeof garbage);
  close(fd);
}

static void assert_damaged(struct fixture *fixture, int status, const cugen_error *err) {
  assert_int_equal(status, CUGEN_ERROR_CACHE);
  assert_non_null(strstr(err->message, text_get(&fixture->path)));
  assert_non_null(strstr(err->message, "damaged"));
  assert_non_null(strstr(err->message, "--cache FILE"));
}

/* What is read is checked when it is read, everything before the first write. Nothing is written. */
static void overwritten_pages(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  overwrite(fixture, 1, 6);
  struct hash before = file_hash(text_get(&fixture->path));
  struct cache *cache;
  struct cache_record *records;
  size_t count;
  cugen_error err = {0};
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, &err), CUGEN_OK);
  assert_damaged(fixture, cache_load(cache, &key, &records, &count, &err), &err);
  assert_null(records);
  for (int i = 0; i < 2; i++) {
    err = (cugen_error){0};
    assert_damaged(fixture, store_number(cache, "new ", i, &err), &err);
    err = (cugen_error){0};
    assert_damaged(fixture, store_image(cache, 100, &err), &err);
  }
  cache_close(cache);
  assert_string_equal(file_hash(text_get(&fixture->path)).hex, before.hex);
  assert_true(is_alone(fixture));
}

/* Damage in records that are not of the key asked for: they are right to read, and nothing is added to the file. */
static void damage_elsewhere(void **state) {
  struct fixture *fixture = *state;
  static const struct cache_key mine = {"mine", "config", "problem", "options"};
  struct cache *cache;
  struct cache_record record = {.variant = (char *)(uintptr_t) "alone", .seconds = 1}, *records;
  size_t count;
  cugen_error err = {0};
  make_cache(fixture);
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(cache_store(cache, &mine, &record, NULL), CUGEN_OK);
  cache_close(cache);
  struct stat info;
  assert_int_equal(stat(text_get(&fixture->path), &info), 0);
  bool told = false;
  for (off_t page = 2; page < info.st_size / 4096 && !told; page++) {
    struct text whole = {0};
    assert_int_equal(file_read(text_get(&fixture->path), &whole, NULL), CUGEN_OK);
    overwrite(fixture, page, page + 1);
    struct hash before = file_hash(text_get(&fixture->path));
    if (cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_OK) {
      if (cache_load(cache, &mine, &records, &count, &err) == CUGEN_OK && count == 1) {
        assert_string_equal(records[0].variant, "alone");
        cache_record_free(&records[0]);
        told = cache_store(cache, &mine, &record, &err) == CUGEN_ERROR_CACHE;
      }
      free(records);
      cache_close(cache);
    }
    if (told) assert_string_equal(file_hash(text_get(&fixture->path)).hex, before.hex);
    assert_int_equal(file_write(text_get(&fixture->path), whole.data, whole.length, NULL), CUGEN_OK);
    text_free(&whole);
  }
  assert_true(told);
}

/* Wherever bits fall over: an error or records, never a crash. */
static void random_damage(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  struct text good = {0};
  assert_int_equal(file_read(text_get(&fixture->path), &good, NULL), CUGEN_OK);
  uint64_t seed = 1;
  int refused = 0;
  for (int round = 0; round < 100; round++) {
    struct text bad = {0};
    text_add_n(&bad, good.data, good.length);
    for (int i = 0; i < 8; i++) bad.data[random_next(&seed) % bad.length] ^= (char)(1 << random_next(&seed) % 8);
    FILE *file = fopen(text_get(&fixture->path), "wb");
    assert_int_equal(fwrite(bad.data, 1, bad.length, file), bad.length);
    fclose(file);
    text_free(&bad);
    struct cache *cache;
    cugen_error err = {0};
    int status = cache_open(text_get(&fixture->path), &cache, NULL, &err);
    refused += status != CUGEN_OK;
    if (status != CUGEN_OK) {
      assert_int_equal(status, CUGEN_ERROR_CACHE);
      continue;
    }
    struct cache_record *records;
    size_t count;
    if (cache_load(cache, &key, &records, &count, NULL) == CUGEN_OK)
      for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
    free(records);
    struct compiled image;
    bool found;
    cache_image_load(cache, "image", &image, &found, NULL);
    compiled_free(&image);
    store_number(cache, "new ", round, NULL);
    cache_close(cache);
  }
  assert_in_range(refused, 10, 100);
  text_free(&good);
}

static void a_folder_in_its_place(void **state) {
  struct fixture *fixture = *state;
  struct cache *cache;
  cugen_error err = {0};
  assert_int_equal(cache_open(text_get(&fixture->folder), &cache, NULL, &err), CUGEN_ERROR_IO);
  assert_non_null(strstr(err.message, text_get(&fixture->folder)));
}

/* ---- In a child: what needs other rights or limits than the test's own. It exits with the line that failed ---- */

#define CHECK(condition)                                                                                             \
  do {                                                                                                               \
    if (!(condition)) return __LINE__;                                                                               \
  } while (0)

static void in_child(int (*run)(struct fixture *fixture), struct fixture *fixture) {
  pid_t pid = fork();
  if (pid == 0) {
    int line = run(fixture);
    if (line) fprintf(stderr, "%s:%d: not so in the child\n", __FILE__, line);
    _exit(line != 0);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  assert_int_equal(status, 0);
}

/* Root may write anywhere. */
static bool become_nobody(void) {
  return geteuid() != 0 || (setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
}

static int use_read_only(struct fixture *fixture) {
  CHECK(become_nobody());
  struct hash before = file_hash(text_get(&fixture->path));
  struct cache *cache;
  struct text warning = {0};
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, &warning, &err) == CUGEN_OK);
  CHECK(strstr(text_get(&warning), text_get(&fixture->path)));
  CHECK(strstr(text_get(&warning), "Permission denied"));
  CHECK(strstr(text_get(&warning), "--cache FILE"));
  CHECK(count_records(cache) == 100);
  CHECK(store_number(cache, "variant ", 7, &err) == CUGEN_OK);
  CHECK(count_records(cache) == 100);
  CHECK(store_number(cache, "another ", 7, &err) == CUGEN_OK);
  CHECK(count_records(cache) == 101);
  struct compiled image;
  bool found;
  CHECK(cache_image_load(cache, "image", &image, &found, &err) == CUGEN_OK);
  CHECK(found && image.image_length == 20000 && image.entry_count == 1);
  compiled_free(&image);
  CHECK(store_image(cache, 30000, &err) == CUGEN_OK);
  CHECK(cache_image_load(cache, "image", &image, &found, &err) == CUGEN_OK);
  CHECK(found && image.image_length == 30000 && image.entry_count == 1);
  compiled_free(&image);
  cache_close(cache);
  text_free(&warning);
  CHECK(strcmp(file_hash(text_get(&fixture->path)).hex, before.hex) == 0);
  return 0;
}

/* What the older formats lacked goes; SQLite then writes the tables as they were. */
static void back_to_format_2(struct fixture *fixture) {
  run_sql(fixture, "ALTER TABLE record DROP COLUMN cluster_blocks; ALTER TABLE record DROP COLUMN active_clusters;"
                   "PRAGMA user_version = 2");
}

static void back_to_format_1(struct fixture *fixture) {
  back_to_format_2(fixture);
  run_sql(fixture, "ALTER TABLE record DROP COLUMN source_hash; ALTER TABLE record DROP COLUMN launches_hash;"
                   "ALTER TABLE record DROP COLUMN arguments_hash; ALTER TABLE record DROP COLUMN proof_hash;"
                   "PRAGMA user_version = 1");
}

static void a_read_only_file_of_format_1(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  back_to_format_1(fixture);
  assert_int_equal(chmod(text_get(&fixture->folder), 0555), 0);
  in_child(use_read_only, fixture);
}

static void a_read_only_file_of_format_2(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  back_to_format_2(fixture);
  assert_int_equal(chmod(text_get(&fixture->folder), 0555), 0);
  in_child(use_read_only, fixture);
}

static void a_folder_that_cannot_be_written(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  assert_int_equal(chmod(text_get(&fixture->folder), 0555), 0);
  in_child(use_read_only, fixture);
}

static void a_file_that_cannot_be_written(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  assert_int_equal(chmod(text_get(&fixture->path), 0444), 0);
  assert_int_equal(chmod(text_get(&fixture->folder), 0777), 0);
  in_child(use_read_only, fixture);
}

static int use_new_read_only(struct fixture *fixture) {
  CHECK(become_nobody());
  struct cache *cache;
  struct text warning = {0}, deeper = {0};
  text_addf(&deeper, "%s/a/b/cache.db", text_get(&fixture->folder));
  const char *const paths[] = {text_get(&fixture->path), text_get(&deeper)};
  for (int i = 0; i < 2; i++) {
    text_clear(&warning);
    CHECK(cache_open(paths[i], &cache, &warning, NULL) == CUGEN_OK);
    CHECK(strstr(text_get(&warning), paths[i]));
    CHECK(strcmp(cache_path(cache), "none") == 0);
    CHECK(store_number(cache, "variant ", 7, NULL) == CUGEN_OK);
    CHECK(count_records(cache) == 1);
    cache_close(cache);
  }
  text_free(&warning);
  text_free(&deeper);
  return 0;
}

static void no_cache_and_no_right_to_make_one(void **state) {
  struct fixture *fixture = *state;
  assert_int_equal(chmod(text_get(&fixture->folder), 0555), 0);
  in_child(use_new_read_only, fixture);
}

static int use_unreadable(struct fixture *fixture) {
  CHECK(become_nobody());
  struct cache *cache;
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_ERROR_IO);
  CHECK(strstr(err.message, text_get(&fixture->path)));
  CHECK(strstr(err.message, "Permission denied"));
  return 0;
}

static void a_file_that_cannot_be_read(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  assert_int_equal(chmod(text_get(&fixture->path), 0), 0);
  assert_int_equal(chmod(text_get(&fixture->folder), 0755), 0);
  in_child(use_unreadable, fixture);
}

/* ---- Full disks ---- */

/* Stores until there is no more room; then all stored before is there, and the next open is fine. */
static int fill(struct fixture *fixture) {
  struct cache *cache;
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_OK);
  size_t stored = 0;
  while (store_number(cache, "a variant with a rather long name to get there sooner ", (int)stored, &err) == CUGEN_OK)
    CHECK(++stored < 100000);
  CHECK(stored > 10);
  CHECK(err.status == CUGEN_ERROR_IO);
  CHECK(strstr(err.message, text_get(&fixture->path)));
  CHECK(strstr(err.message, "--cache FILE"));
  CHECK(count_records(cache) == stored);
  cache_close(cache);
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_OK);
  CHECK(count_records(cache) == stored);
  cache_close(cache);
  return 0;
}

static int fill_to_limit(struct fixture *fixture) {
  struct rlimit limit = {300000, 300000};
  signal(SIGXFSZ, SIG_IGN);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  return fill(fixture);
}

static void a_file_size_limit(void **state) {
  in_child(fill_to_limit, *state);
}

static int fill_and_free(struct fixture *fixture) {
  struct text ballast = {0};
  text_addf(&ballast, "%s/ballast", text_get(&fixture->folder));
  static char zeros[200000];
  CHECK(file_write(text_get(&ballast), zeros, sizeof zeros, NULL) == CUGEN_OK);
  int line = fill(fixture);
  if (line) return line;
  unlink(text_get(&ballast));
  struct cache *cache;
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, NULL) == CUGEN_OK);
  CHECK(store_number(cache, "after ", 1, NULL) == CUGEN_OK);
  cache_close(cache);
  text_free(&ballast);
  return 0;
}

static void a_full_disk(void **state) {
  struct fixture *fixture = *state;
  if (mount("tmpfs", text_get(&fixture->folder), "tmpfs", 0, "size=1m")) {
    print_message("skipped: no right to mount a small file system (%s)\n", strerror(errno));
    skip();
  }
  int line = fill_and_free(fixture);
  umount2(text_get(&fixture->folder), MNT_DETACH);
  assert_int_equal(line, 0);
}

static int create_on_full_disk(struct fixture *fixture) {
  struct rlimit limit = {2000, 2000};
  signal(SIGXFSZ, SIG_IGN);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  struct cache *cache;
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_ERROR_IO);
  CHECK(cache == NULL);
  CHECK(strstr(err.message, text_get(&fixture->path)));
  return 0;
}

/* What is left of the attempt must not be taken for a damaged cache when there is room again. */
static void a_disk_full_from_the_start(void **state) {
  struct fixture *fixture = *state;
  in_child(create_on_full_disk, fixture);
  make_cache(fixture);
}

/* ---- Other processes ---- */

/* A process that locks the database for a time; returns when it has. */
static pid_t lock_for(struct fixture *fixture, double seconds) {
  int tell[2];
  char byte;
  assert_int_equal(pipe(tell), 0);
  pid_t pid = fork();
  if (pid == 0) {
    sqlite3 *db = NULL;
    sqlite3_open(text_get(&fixture->path), &db);
    sqlite3_busy_timeout(db, 1000);
    int code = sqlite3_exec(db, "BEGIN EXCLUSIVE; DELETE FROM record", NULL, NULL, NULL);
    if (write(tell[1], "", 1) != 1) code = 1;
    usleep((useconds_t)(seconds * 1e6));
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    _exit(code);
  }
  close(tell[1]);
  assert_int_equal(read(tell[0], &byte, 1), 1);
  close(tell[0]);
  return pid;
}

static void a_short_lock_is_waited_for(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  pid_t pid = lock_for(fixture, 0.7);
  struct cache *cache;
  double start = clock_seconds();
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(store_number(cache, "new ", 1, NULL), CUGEN_OK);
  assert_true(clock_seconds() - start > 0.3);
  assert_int_equal(count_records(cache), 101);
  cache_close(cache);
  int status = 1;
  waitpid(pid, &status, 0);
  assert_int_equal(status, 0);
}

static void a_long_lock_is_an_error(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  struct cache *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  pid_t pid = lock_for(fixture, 100);
  cugen_error err = {0};
  assert_int_equal(store_number(cache, "new ", 1, &err), CUGEN_ERROR_IO);
  assert_non_null(strstr(err.message, "another process has kept the cache locked for 5 s"));
  assert_non_null(strstr(err.message, text_get(&fixture->path)));
  process_end(pid, NULL); /* and with it goes its lock */
  assert_int_equal(store_number(cache, "new ", 1, &err), CUGEN_OK);
  assert_int_equal(count_records(cache), 101);
  cache_close(cache);
}

/* Opens a new cache at the same moment as others do and stores a hundred. */
static int write_hundred(struct fixture *fixture) {
  struct text prefix = {0};
  text_addf(&prefix, "%ld ", (long)getpid());
  struct cache *cache;
  cugen_error err = {0};
  if (cache_open(text_get(&fixture->path), &cache, NULL, &err)) fprintf(stderr, "%s\n", err.message);
  CHECK(err.status == CUGEN_OK);
  for (int i = 0; i < 100; i++) {
    if (store_number(cache, text_get(&prefix), i, &err)) fprintf(stderr, "%s\n", err.message);
    CHECK(err.status == CUGEN_OK);
    if (i % 25 == 0) CHECK(store_image(cache, 10000, &err) == CUGEN_OK);
  }
  cache_close(cache);
  text_free(&prefix);
  return 0;
}

static void processes_write_at_once(void **state) {
  struct fixture *fixture = *state;
  enum { WRITERS = 4 };
  for (int i = 0; i < WRITERS; i++)
    if (fork() == 0) _exit(write_hundred(fixture) != 0);
  for (int i = 0; i < WRITERS; i++) {
    int status = 1;
    wait(&status);
    assert_int_equal(status, 0);
  }
  struct cache *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(count_records(cache), 100 * WRITERS);
  cache_close(cache);
}

/* ---- Being killed ---- */

static int format_of(struct fixture *fixture) {
  sqlite3 *db;
  sqlite3_stmt *statement;
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db,
                                      "SELECT user_version, (SELECT count(*) FROM pragma_table_info('record')) "
                                      "FROM pragma_user_version",
                                      -1, &statement, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  int version = sqlite3_column_int(statement, 0), columns = sqlite3_column_int(statement, 1);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  assert_int_equal(columns, version == 1 ? 31 : version == 2 ? 35 : 37);
  return version;
}

/* Killed at odd moments of the first open: the tables are of one format or of the other. */
static void killed_migrations(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  uint64_t seed = 7;
  int of_format[4] = {0};
  for (int round = 0; round < 60; round++) {
    if (format_of(fixture) == 3) back_to_format_1(fixture);
    pid_t pid = fork();
    struct cache *cache;
    if (pid == 0) _exit(cache_open(text_get(&fixture->path), &cache, NULL, NULL) != CUGEN_OK);
    usleep((useconds_t)(random_next(&seed) % 12000));
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    of_format[format_of(fixture)]++;
  }
  assert_true(of_format[1] > 0 && of_format[3] > 0);
  struct cache *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(count_records(cache), 100);
  cache_close(cache);
}

/* Stores from `first` on and says after each that it is stored. */
static void store_and_tell(struct fixture *fixture, int first, int tell) {
  struct cache *cache;
  if (cache_open(text_get(&fixture->path), &cache, NULL, NULL)) _exit(1);
  for (int i = first;; i++)
    if (store_number(cache, "variant ", i, NULL) || write(tell, &i, sizeof i) != sizeof i) _exit(2);
}

/* Killed at odd moments, also while making the file: everything told is there, and at most one more. */
static void killed_writers(void **state) {
  struct fixture *fixture = *state;
  size_t known = 0;
  uint64_t seed = 42;
  for (int round = 0; round < 40; round++) {
    int tell[2], last = (int)known - 1, got;
    assert_int_equal(pipe(tell), 0);
    pid_t pid = fork();
    if (pid == 0) store_and_tell(fixture, (int)known, tell[1]);
    close(tell[1]);
    usleep((useconds_t)(random_next(&seed) % (round % 2 ? 5000 : 60000)));
    struct text how = {0};
    process_end(pid, &how);
    assert_string_equal(text_get(&how), "signal 9 (Killed)");
    text_free(&how);
    while (read(tell[0], &got, sizeof got) == sizeof got) last = got;
    close(tell[0]);
    struct cache *cache;
    cugen_error err = {0};
    assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, &err), CUGEN_OK);
    size_t count = count_records(cache);
    cache_close(cache);
    assert_in_range(count, last + 1, last + 2);
    known = count;
  }
  assert_true(known > 10); /* some hundreds on an idle machine */
}

/* ---- No memory ---- */

#ifndef SANITIZED

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

static long allocations_left = -1; /* < 0: as many as you like */

static bool may_allocate(void) {
  if (allocations_left < 0) return true;
  if (allocations_left == 0) return false; /* and stays so */
  allocations_left--;
  return true;
}

void *malloc(size_t size) {
  return may_allocate() ? __libc_malloc(size) : NULL;
}

void *calloc(size_t count, size_t size) {
  return may_allocate() ? __libc_calloc(count, size) : NULL;
}

void *realloc(void *old, size_t size) {
  return may_allocate() ? __libc_realloc(old, size) : NULL;
}

/* Everything once; the first status that is not CUGEN_OK. */
static int use_all(const char *path, cugen_error *err) {
  struct cache *cache;
  struct cache_record *records, record = {.variant = (char *)(uintptr_t) "v"};
  size_t count;
  struct compiled loaded, image = {.image = (char *)(uintptr_t) "cubin",
                                   .image_length = 5,
                                   .entry_count = 1,
                                   .entries = {(char *)(uintptr_t) "kernel"},
                                   .log = (char *)(uintptr_t) "log"};
  bool found;
  int status = cache_open(path, &cache, NULL, err);
  if (status) return status;
  status = cache_store(cache, &key, &record, err);
  if (!status) status = cache_image_store(cache, "image", &image, err);
  if (!status) status = cache_load(cache, &key, &records, &count, err);
  if (!status) {
    for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
    free(records);
    status = cache_image_load(cache, "image", &loaded, &found, err);
    compiled_free(&loaded);
  }
  cache_close(cache);
  return status;
}

/* The n-th allocation and all after it fail, for n from 0 on until there are enough. SQLite finds a way around some
   failures by itself; what comes out is success or "out of memory", and the cache stays whole. */
static void allocations_fail(void **state) {
  struct fixture *fixture = *state;
  make_cache(fixture);
  int failed = 0;
  for (long n = 0;; n += n < 300 ? 1 : 7) {
    cugen_error err = {0};
    allocations_left = n;
    int status = use_all(text_get(&fixture->path), &err);
    bool enough = allocations_left > 0;
    allocations_left = -1;
    if (status != CUGEN_OK) assert_int_equal(status, CUGEN_ERROR_MEMORY);
    failed += status != CUGEN_OK;
    if (enough) break;
  }
  assert_true(failed > 50);
  cugen_error err = {0};
  assert_int_equal(use_all(text_get(&fixture->path), &err), CUGEN_OK);
}

#else

static void allocations_fail(void **state) {
  (void)state;
  print_message("skipped: the sanitizer has its own allocator\n");
  skip();
}

#endif

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_FOLDER(some_other_file),
      WITH_FOLDER(somebody_elses_database),
      WITH_FOLDER(a_newer_format),
      WITH_FOLDER(other_tables_under_our_number),
      WITH_FOLDER(a_column_under_another_name),
      WITH_FOLDER(a_truncated_file),
      WITH_FOLDER(overwritten_pages),
      WITH_FOLDER(damage_elsewhere),
      WITH_FOLDER(random_damage),
      WITH_FOLDER(a_folder_in_its_place),
      WITH_FOLDER(a_folder_that_cannot_be_written),
      WITH_FOLDER(a_file_that_cannot_be_written),
      WITH_FOLDER(a_read_only_file_of_format_1),
      WITH_FOLDER(a_read_only_file_of_format_2),
      WITH_FOLDER(no_cache_and_no_right_to_make_one),
      WITH_FOLDER(a_file_that_cannot_be_read),
      WITH_FOLDER(a_file_size_limit),
      WITH_FOLDER(a_full_disk),
      WITH_FOLDER(a_disk_full_from_the_start),
      WITH_FOLDER(a_short_lock_is_waited_for),
      WITH_FOLDER(a_long_lock_is_an_error),
      WITH_FOLDER(processes_write_at_once),
      WITH_FOLDER(killed_writers),
      WITH_FOLDER(killed_migrations),
      WITH_FOLDER(allocations_fail),
  };
  return cmocka_run_group_tests_name("cache faults", tests, NULL, NULL);
}
