/* What can happen to a cache in use: other processes, kills, lack of memory. Nothing that was
   stored may be lost. */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "cache_place.h"
#include "failing_memory.h"
#include "odd_moments.h"
#include "runtime/store/sqlite/database.h"
#include "tests/testing.h"

/* ---- Other processes ------------------------------------------------------------------------ */

/* Starts a process that locks the database for a time, and returns when it holds the lock.
   `tell` gives the time at which it will release the lock. */
static pid_t lock_for(struct place *fixture, double seconds, int *tells) {
  int tell[2];
  char byte;
  assert_int_equal(pipe(tell), 0);
  *tells = tell[0];
  pid_t pid = fork();
  if (pid == 0) {
    sqlite3 *db = NULL;
    sqlite3_open(text_get(&fixture->path), &db);
    sqlite3_busy_timeout(db, 1000);
    int code = sqlite3_exec(db, "BEGIN EXCLUSIVE; DELETE FROM record", NULL, NULL, NULL);
    if (write(tell[1], "", 1) != 1) code = 1;
    usleep((useconds_t)(seconds * 1e6));
    const double released = clock_seconds();
    if (write(tell[1], &released, sizeof released) != sizeof released) code = 1;
    sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
    _exit(code);
  }
  close(tell[1]);
  assert_int_equal(read(tell[0], &byte, 1), 1);
  return pid;
}

TEST_WITH(a_short_lock_is_waited_for, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  int tells;
  pid_t pid = lock_for(fixture, 0.7, &tells);
  struct cache *cache;
  double released;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(place_store(cache, "new ", 1, NULL), CUGEN_OK);
  double stored = clock_seconds();
  assert_int_equal(read(tells, &released, sizeof released), sizeof released);
  assert_true(stored > released);
  close(tells);
  assert_int_equal(place_count(cache), 101);
  cache_close(cache);
  int status = 1;
  waitpid(pid, &status, 0);
  assert_int_equal(status, 0);
}

TEST_WITH(a_long_lock_is_an_error, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  CLOSED(cache) *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  int tells;
  pid_t pid = lock_for(fixture, 100, &tells);
  sqlite_cache_of(cache)->patience = 0.5;
  FAILS(place_store(cache, "new ", 1, &err), CUGEN_ERROR_IO,
        "another process keeps the cache locked", text_get(&fixture->path));
  process_end(pid, NULL); /* the lock ends with the process */
  close(tells);
  WORKS(place_store(cache, "new ", 1, &err));
  assert_int_equal(place_count(cache), 101);
}

/* Opens a new cache at the same time as others do, and stores a hundred records. */
static int write_hundred(struct place *fixture) {
  const char *prefix = formed("%ld ", (long)getpid());
  CLOSED(cache) *cache;
  cugen_error err = {0};
  if (cache_open(text_get(&fixture->path), &cache, NULL, &err))
    fprintf(stderr, "%s\n", err.message);
  CHECK(err.status == CUGEN_OK);
  for (int i = 0; i < 100; i++) {
    if (place_store(cache, prefix, i, &err)) fprintf(stderr, "%s\n", err.message);
    CHECK(err.status == CUGEN_OK);
    if (i % 25 == 0) CHECK(place_store_image(cache, 10000, &err) == CUGEN_OK);
  }
  return 0;
}

TEST_WITH(processes_write_at_once, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  enum { WRITERS = 4 };
  for (int i = 0; i < WRITERS; i++)
    if (fork() == 0) _exit(write_hundred(fixture) != 0);
  for (int i = 0; i < WRITERS; i++) {
    int status = 1;
    wait(&status);
    assert_int_equal(status, 0);
  }
  CLOSED(cache) *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(place_count(cache), 100 * WRITERS);
}

/* ---- Being killed --------------------------------------------------------------------------- */

enum { NEWEST = 12 };

static int format_of(struct place *fixture) {
  sqlite3 *db;
  sqlite3_stmt *statement;
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(
      sqlite3_prepare_v2(db,
                         "SELECT user_version, (SELECT count(*) FROM pragma_table_info('record')) "
                         "FROM pragma_user_version",
                         -1, &statement, NULL),
      SQLITE_OK);
  assert_int_equal(sqlite3_step(statement), SQLITE_ROW);
  int version = sqlite3_column_int(statement, 0), columns = sqlite3_column_int(statement, 1);
  sqlite3_finalize(statement);
  sqlite3_close(db);
  static const int columns_of[] = {0, 31, 35, 37, 39, 40, 42, 42, 43, 45, 47, 47, 48};
  assert_in_range(version, 1, NEWEST);
  assert_int_equal(columns, columns_of[version]);
  return version;
}

/* Processes are killed at odd moments of a migration: the tables are of one format or of the
   other. */
TEST_WITH(killed_migrations, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  struct moments moments = {.seed = 7, .longest = 12000};
  int of_format[NEWEST + 1] = {0};
  for (int round = 0; round < 60; round++) {
    if (format_of(fixture) == NEWEST) place_back_to(fixture, 1);
    pid_t pid = fork();
    struct cache *cache;
    if (pid == 0) _exit(cache_open(text_get(&fixture->path), &cache, NULL, NULL) != CUGEN_OK);
    moments_wait(&moments);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    const int format = format_of(fixture);
    of_format[format]++;
    moments_learn(&moments, format == NEWEST);
  }
  assert_true(of_format[1] > 0 && of_format[NEWEST] > 0);
  CLOSED(cache) *cache;
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(place_count(cache), 100);
}

/* Stores from `first` on, and reports each record after it is stored. */
static void store_and_tell(struct place *fixture, int first, int tell) {
  struct cache *cache;
  if (cache_open(text_get(&fixture->path), &cache, NULL, NULL)) _exit(1);
  for (int i = first;; i++)
    if (place_store(cache, "variant ", i, NULL) || write(tell, &i, sizeof i) != sizeof i) _exit(2);
}

/* Writers are killed at odd moments, also while they make the file. Every reported record is
   there, and at most one more. */
TEST_WITH(killed_writers, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  size_t known = 0;
  struct moments moments = {.seed = 42, .longest = 60000};
  for (int round = 0; round < 40; round++) {
    int tell[2], last = (int)known - 1, got;
    assert_int_equal(pipe(tell), 0);
    pid_t pid = fork();
    if (pid == 0) store_and_tell(fixture, (int)known, tell[1]);
    close(tell[1]);
    moments_wait(&moments);
    struct text how = {0};
    process_end(pid, &how);
    assert_string_equal(text_get(&how), "signal 9 (Killed)");
    text_free(&how);
    while (read(tell[0], &got, sizeof got) == sizeof got) last = got;
    close(tell[0]);
    struct cache *cache;
    WORKS(cache_open(text_get(&fixture->path), &cache, NULL, &err));
    size_t count = place_count(cache);
    cache_close(cache);
    assert_in_range(count, last + 1, last + 2);
    moments_learn(&moments, count >= known + 5);
    known = count;
  }
  assert_true(known > 10); /* some hundreds on an idle machine */
}

/* ---- No memory ------------------------------------------------------------------------------ */

/* Uses every function once. Returns the first status that is not CUGEN_OK. */
static int use_all(const char *path, cugen_error *err) {
  struct cache *cache;
  struct cache_record *records,
      record = {.variant = (char *)(uintptr_t) "v", .hash = hash_bytes("", 0), .seconds = 1};
  size_t count;
  struct compiled loaded, image = {.image = (char *)(uintptr_t) "cubin",
                                   .image_length = 5,
                                   .entry_count = 1,
                                   .entries = {(char *)(uintptr_t) "kernel"},
                                   .log = (char *)(uintptr_t) "log"};
  bool found;
  int status = cache_open(path, &cache, NULL, err);
  if (status) return status;
  status = cache_store(cache, &place_key, &record, err);
  if (!status) status = cache_image_store(cache, "image", &image, err);
  if (!status) status = cache_load(cache, &place_key, &records, &count, err);
  if (!status) {
    for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
    free(records);
    status = cache_image_load(cache, "image", &loaded, &found, err);
    compiled_free(&loaded);
  }
  cache_close(cache);
  return status;
}

/* Allocation n and all later ones fail, for n from 0 until none fails. SQLite survives some
   failures by itself. The result is success or "out of memory", and the cache stays whole. */
TEST_WITH(allocations_fail, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  if (SANITIZED) skip();
  place_fill(fixture);
  int failed = 0;
  for (long n = 0;; n += n < 300 ? 1 : 7) {
    cugen_error err = {0};
    heap.left = n, heap.for_good = true, heap.failed = false;
    int status = use_all(text_get(&fixture->path), &err);
    heap.left = -1;
    if (status != CUGEN_OK && status != CUGEN_ERROR_MEMORY)
      fail_msg("allocation %ld: %s", n, err.message);
    failed += status != CUGEN_OK;
    if (!heap.failed) break;
  }
  assert_true(failed > 50);
  cugen_error err = {0};
  assert_int_equal(use_all(text_get(&fixture->path), &err), CUGEN_OK);
}
