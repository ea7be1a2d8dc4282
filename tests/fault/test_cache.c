/* What can go wrong with the file of a cache: it is damaged, somebody else's or newer; its place
   cannot be written; the disk is full. Nothing that was stored may be lost, and no foreign file
   may be changed. */

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
#include "tests/testing.h"

static struct hash file_hash(const char *path) {
  FREED(text) content = {0};
  assert_int_equal(file_read(path, &content, NULL), CUGEN_OK);
  struct hash hash = hash_bytes(content.data, content.length);
  return hash;
}

static bool is_alone(struct place *fixture) {
  static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
  bool alone = true;
  for (int i = 0; i < 3; i++) {
    FREED(text) path = {0};
    text_addf(&path, "%s%s", text_get(&fixture->path), suffixes[i]);
    alone = alone && !file_exists(text_get(&path));
  }
  return alone;
}

/* Expects a refusal with the path, the reason and the way out. The file stays as it was, and no
   file lies beside it. */
static void assert_refused(struct place *fixture, const char *what) {
  const char *path = text_get(&fixture->path);
  struct hash before = file_hash(path);
  struct cache *cache = (struct cache *)1;
  FAILS(cache_open(path, &cache, NULL, &err), CUGEN_ERROR_CACHE, path, what, "cugen_options.cache");
  assert_null(cache);
  assert_string_equal(file_hash(path).hex, before.hex);
  assert_true(is_alone(fixture));
}

/* ---- Files that are not a cache (any more) -------------------------------------------------- */

TEST_WITH(some_other_file, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  assert_int_equal(file_write(text_get(&fixture->path), "kernel \"x\" {}\n", 14, NULL), CUGEN_OK);
  assert_refused(fixture, "is not a cugen cache");
}

TEST_WITH(somebody_elses_database, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_sql(fixture, "CREATE TABLE photos (name)");
  assert_refused(fixture, "an SQLite database but not a cugen cache");
  place_sql(fixture, "PRAGMA journal_mode = WAL; INSERT INTO photos VALUES ('x')");
  assert_refused(fixture, "an SQLite database but not a cugen cache");
}

TEST_WITH(a_newer_format, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  place_sql(fixture, "PRAGMA user_version = 13");
  assert_refused(fixture, "newer cugen (format 13, this one reads up to 12)");
}

TEST_WITH(other_tables_under_our_number, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_sql(
      fixture,
      "PRAGMA application_id = 1668638574; PRAGMA user_version = 1; CREATE TABLE photos (name)");
  struct cache *cache;
  FAILS(cache_open(text_get(&fixture->path), &cache, NULL, &err), CUGEN_ERROR_CACHE,
        text_get(&fixture->path));
}

/* Not even the journal mode of a foreign file changes. */
TEST_WITH(a_column_under_another_name, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  place_sql(fixture,
            "PRAGMA journal_mode = DELETE; ALTER TABLE record RENAME COLUMN throttle TO brake");
  assert_refused(fixture, "table 'record' is not as cugen makes it");
}

TEST_WITH(a_truncated_file, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  struct stat info;
  assert_int_equal(stat(text_get(&fixture->path), &info), 0);
  const off_t lengths[] = {info.st_size - 4096, info.st_size / 2, 4097, 4096, 1000, 99, 50};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    assert_int_equal(truncate(text_get(&fixture->path), lengths[i]), 0);
    assert_refused(fixture, lengths[i] < 72 ? "is" : "damaged");
  }
}

static void overwrite(struct place *fixture, off_t first, off_t end) {
  int fd = open(text_get(&fixture->path), O_WRONLY);
  char garbage[4096];
  memset(garbage, 0xaa, sizeof garbage);
  for (off_t page = first; page < end; page++)
    assert_int_equal(pwrite(fd, garbage, sizeof garbage, page * 4096), sizeof garbage);
  close(fd);
}

static void assert_damaged(struct place *fixture, int status, const cugen_error *err) {
  assert_int_equal(status, CUGEN_ERROR_CACHE);
  assert_non_null(strstr(err->message, text_get(&fixture->path)));
  assert_non_null(strstr(err->message, "damaged"));
  assert_non_null(strstr(err->message, "cugen_options.cache"));
}

/* What a reader reads is checked then; before the first write the whole file is checked. Nothing
   is written. */
TEST_WITH(overwritten_pages, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  overwrite(fixture, 1, 6);
  struct hash before = file_hash(text_get(&fixture->path));
  struct cache *cache;
  struct cache_record *records;
  size_t count;
  cugen_error err = {0};
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, &err), CUGEN_OK);
  assert_damaged(fixture, cache_load(cache, &place_key, &records, &count, &err), &err);
  assert_null(records);
  for (int i = 0; i < 2; i++) {
    err = (cugen_error){0};
    assert_damaged(fixture, place_store(cache, "new ", i, &err), &err);
    err = (cugen_error){0};
    assert_damaged(fixture, place_store_image(cache, 100, &err), &err);
  }
  cache_close(cache);
  assert_string_equal(file_hash(text_get(&fixture->path)).hex, before.hex);
  assert_true(is_alone(fixture));
}

/* Damage in records of other keys: the requested records are read, and nothing is added to the
   file. */
TEST_WITH(damage_elsewhere, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  static const struct cache_key mine = {"mine", "config", "problem", "options", NULL, NULL, 0};
  struct cache *cache;
  struct cache_record record = {.variant = (char *)(uintptr_t) "alone",
                                .hash = hash_bytes("", 0),
                                .seconds = 1},
                      *records;
  size_t count;
  cugen_error err = {0};
  place_fill(fixture);
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(cache_store(cache, &mine, &record, NULL), CUGEN_OK);
  cache_close(cache);
  struct stat info;
  assert_int_equal(stat(text_get(&fixture->path), &info), 0);
  bool told = false;
  for (off_t page = 2; page < info.st_size / 4096 && !told; page++) {
    FREED(text) whole = {0};
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
    assert_int_equal(file_write(text_get(&fixture->path), whole.data, whole.length, NULL),
                     CUGEN_OK);
  }
  assert_true(told);
}

/* Flipped bits anywhere give an error or records, never a crash. */
TEST_WITH(random_damage, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  place_fill(fixture);
  FREED(text) good = {0};
  assert_int_equal(file_read(text_get(&fixture->path), &good, NULL), CUGEN_OK);
  uint64_t seed = 1;
  int refused = 0;
  for (int round = 0; round < 100; round++) {
    struct text bad = {0};
    text_add_n(&bad, good.data, good.length);
    for (int i = 0; i < 8; i++)
      bad.data[random_next(&seed) % bad.length] ^= (char)(1 << random_next(&seed) % 8);
    FILE *file = fopen(text_get(&fixture->path), "wb");
    assert_int_equal(fwrite(bad.data, 1, bad.length, file), bad.length);
    fclose(file);
    text_free(&bad);
    CLOSED(cache) *cache;
    cugen_error err = {0};
    int status = cache_open(text_get(&fixture->path), &cache, NULL, &err);
    refused += status != CUGEN_OK;
    if (status != CUGEN_OK) {
      assert_int_equal(status, CUGEN_ERROR_CACHE);
      continue;
    }
    struct cache_record *records;
    size_t count;
    if (cache_load(cache, &place_key, &records, &count, NULL) == CUGEN_OK)
      for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
    free(records);
    struct compiled image;
    bool found;
    cache_image_load(cache, "image", &image, &found, NULL);
    compiled_free(&image);
    place_store(cache, "new ", round, NULL);
  }
  assert_in_range(refused, 10, 100);
}

TEST_WITH(a_folder_in_its_place, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  struct cache *cache;
  FAILS(cache_open(text_get(&fixture->folder), &cache, NULL, &err), CUGEN_ERROR_IO,
        text_get(&fixture->folder));
}

/* ---- In child processes --------------------------------------------------------------------- */

/* Runs a case that needs other rights or limits than the test has. `run` returns the line that
   failed; 0: none. */
static void in_child(int (*run)(struct place *fixture), struct place *fixture) {
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

/* Changes to an ordinary user, because root may write anywhere. */
static bool become_nobody(void) {
  return geteuid() != 0 || (setgroups(0, NULL) == 0 && setgid(65534) == 0 && setuid(65534) == 0);
}

/* images: the file's images are of a user whose key this process has. */
static int use_with_images(struct place *fixture, bool images) {
  CHECK(become_nobody());
  struct hash before = file_hash(text_get(&fixture->path));
  struct cache *cache;
  struct text warning = {0};
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, &warning, &err) == CUGEN_OK);
  CHECK(strstr(text_get(&warning), text_get(&fixture->path)));
  CHECK(strstr(text_get(&warning), "Permission denied"));
  CHECK(strstr(text_get(&warning), "cugen_options.cache"));
  CHECK(place_count(cache) == 100);
  CHECK(place_store(cache, "variant ", 7, &err) == CUGEN_OK);
  CHECK(place_count(cache) == 100);
  CHECK(place_store(cache, "another ", 7, &err) == CUGEN_OK);
  CHECK(place_count(cache) == 101);
  struct compiled image;
  bool found;
  CHECK(cache_image_load(cache, "image", &image, &found, &err) == CUGEN_OK);
  CHECK(found == images && (!found || (image.image_length == 20000 && image.entry_count == 1)));
  compiled_free(&image);
  CHECK(place_store_image(cache, 30000, &err) == CUGEN_OK);
  CHECK(cache_image_load(cache, "image", &image, &found, &err) == CUGEN_OK);
  CHECK(found && image.image_length == 30000 && image.entry_count == 1);
  compiled_free(&image);
  cache_close(cache);
  text_free(&warning);
  CHECK(strcmp(file_hash(text_get(&fixture->path)).hex, before.hex) == 0);
  return 0;
}

/* The user "nobody" does not have root's key. */
static int use_read_only(struct place *fixture) {
  return use_with_images(fixture, geteuid() != 0);
}

/* A file of a format before 7, whose images had no seal. */
static int use_old_read_only(struct place *fixture) {
  return use_with_images(fixture, false);
}

static void check_read_only(struct place *fixture, int format, mode_t file, mode_t folder,
                            int (*use)(struct place *)) {
  place_fill(fixture);
  if (format) place_back_to(fixture, format);
  assert_int_equal(chmod(text_get(&fixture->path), file), 0);
  assert_int_equal(chmod(text_get(&fixture->folder), folder), 0);
  in_child(use, fixture);
}

TEST_WITH(a_read_only_file_of_format_1, place_set_up, place_tear_down) {
  check_read_only(*state, 1, 0644, 0555, use_old_read_only);
}

TEST_WITH(a_read_only_file_of_format_2, place_set_up, place_tear_down) {
  check_read_only(*state, 2, 0644, 0555, use_old_read_only);
}

TEST_WITH(a_folder_that_cannot_be_written, place_set_up, place_tear_down) {
  check_read_only(*state, 0, 0644, 0555, use_read_only);
}

TEST_WITH(a_file_that_cannot_be_written, place_set_up, place_tear_down) {
  check_read_only(*state, 0, 0444, 0777, use_read_only);
}

static int use_new_read_only(struct place *fixture) {
  CHECK(become_nobody());
  struct cache *cache;
  FREED(text) warning = {0};
  const char *const paths[] = {text_get(&fixture->path),
                               formed("%s/a/b/cache.db", text_get(&fixture->folder))};
  for (int i = 0; i < 2; i++) {
    text_clear(&warning);
    CHECK(cache_open(paths[i], &cache, &warning, NULL) == CUGEN_OK);
    CHECK(strstr(text_get(&warning), paths[i]));
    CHECK(strcmp(cache_path(cache), "none") == 0);
    CHECK(place_store(cache, "variant ", 7, NULL) == CUGEN_OK);
    CHECK(place_count(cache) == 1);
    cache_close(cache);
  }
  return 0;
}

TEST_WITH(no_cache_and_no_right_to_make_one, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  assert_int_equal(chmod(text_get(&fixture->folder), 0555), 0);
  in_child(use_new_read_only, fixture);
}

static int use_unreadable(struct place *fixture) {
  CHECK(become_nobody());
  struct cache *cache;
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_ERROR_IO);
  CHECK(strstr(err.message, text_get(&fixture->path)));
  CHECK(strstr(err.message, "Permission denied"));
  return 0;
}

TEST_WITH(a_file_that_cannot_be_read, place_set_up, place_tear_down) {
  check_read_only(*state, 0, 0, 0755, use_unreadable);
}

/* ---- Full disks ----------------------------------------------------------------------------- */

/* Stores until the disk is full. All records stored before are then there, and the next open
   works. */
static int fill(struct place *fixture) {
  struct cache *cache;
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_OK);
  size_t stored = 0;
  while (place_store(cache, "a variant with a rather long name to get there sooner ", (int)stored,
                     &err) == CUGEN_OK)
    CHECK(++stored < 100000);
  CHECK(stored > 10);
  CHECK(err.status == CUGEN_ERROR_IO);
  CHECK(strstr(err.message, text_get(&fixture->path)));
  CHECK(strstr(err.message, "cugen_options.cache"));
  CHECK(place_count(cache) == stored);
  cache_close(cache);
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_OK);
  CHECK(place_count(cache) == stored);
  cache_close(cache);
  return 0;
}

static int fill_to_limit(struct place *fixture) {
  struct rlimit limit = {300000, 300000};
  signal(SIGXFSZ, SIG_IGN);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  return fill(fixture);
}

TEST_WITH(a_file_size_limit, place_set_up, place_tear_down) {
  in_child(fill_to_limit, *state);
}

static int fill_and_free(struct place *fixture) {
  const char *ballast = formed("%s/ballast", text_get(&fixture->folder));
  static char zeros[200000];
  CHECK(file_write(ballast, zeros, sizeof zeros, NULL) == CUGEN_OK);
  int line = fill(fixture);
  if (line) return line;
  unlink(ballast);
  CLOSED(cache) *cache;
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, NULL) == CUGEN_OK);
  CHECK(place_store(cache, "after ", 1, NULL) == CUGEN_OK);
  return 0;
}

TEST_WITH(a_full_disk, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  if (mount("tmpfs", text_get(&fixture->folder), "tmpfs", 0, "size=1m")) {
    print_message("skipped: no right to mount a small file system (%s)\n", strerror(errno));
    skip();
  }
  int line = fill_and_free(fixture);
  umount2(text_get(&fixture->folder), MNT_DETACH);
  assert_int_equal(line, 0);
}

static int create_on_full_disk(struct place *fixture) {
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

/* The remains of a failed start must not be taken for a damaged cache when there is room again. */
TEST_WITH(a_disk_full_from_the_start, place_set_up, place_tear_down) {
  struct place *fixture = *state;
  in_child(create_on_full_disk, fixture);
  place_fill(fixture);
}
