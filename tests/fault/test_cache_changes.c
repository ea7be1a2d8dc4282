/* Removing from the cache and merging wisdom into it, while others use it, while the process is
   killed, the disk fills or memory runs out: an import is there whole or not at all, of a
   removal what is removed stays removed, and nobody is disturbed. */
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "failing_memory.h"
#include "odd_moments.h"
#include "runtime/store/wisdom.h"
#include "tests/testing.h"

static const struct cache_filter all = {0};
enum { MANY = 400 };

struct fixture {
  struct text folder, path, wisdom; /* wisdom: MANY records of four problems */
};

static int store(struct cache *cache, const char *problem, int number, cugen_error *err) {
  const struct cache_key key = {"device", "config", problem, "arch sm_90a", NULL, NULL, 0};
  FREED(text) variant = {0};
  text_addf(&variant, "v n=%d", number);
  struct cache_record record = {.variant = variant.data,
                                .reason = (char *)(uintptr_t) "",
                                .hash = hash_bytes(&number, sizeof number),
                                .source_hash = hash_bytes(&number, sizeof number),
                                .seconds = number + 1,
                                .measured_at = 1700000000 + number};
  int status = cache_store(cache, &key, &record, err);
  return status;
}

static int set_up(void **state) {
  static const char *const problems[] = {"M=1", "M=2", "M=3", "M=4"};
  struct fixture *fixture = calloc(1, sizeof *fixture);
  struct cache *cache;
  size_t count;
  if (!fixture || folder_temporary(&fixture->folder, NULL) ||
      cache_open("none", &cache, NULL, NULL))
    return -1;
  text_addf(&fixture->path, "%s/cache.db", text_get(&fixture->folder));
  for (int i = 0; i < MANY; i++)
    if (store(cache, problems[i % 4], i, NULL)) return -1;
  int status = wisdom_export(cache, &all, &fixture->wisdom, &count, NULL);
  cache_close(cache);
  *state = fixture;
  return status;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  int status = folder_remove(text_get(&fixture->folder));
  text_free(&fixture->folder);
  text_free(&fixture->path);
  text_free(&fixture->wisdom);
  free(fixture);
  return status;
}

static int import(struct fixture *fixture, struct cache *cache, cugen_error *err) {
  cugen_cache_merged merged;
  return wisdom_import(cache, "wisdom", text_get(&fixture->wisdom), fixture->wisdom.length, &merged,
                       err);
}

/* Returns the number of records; everything else must be as it should be. */
static size_t count_records(struct fixture *fixture) {
  CLOSED(cache) *cache;
  cugen_cache_counts checked;
  FREED(text) wrong = {0};
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(cache_verify(cache, &checked, &wrong, &wrong, NULL), CUGEN_OK);
  assert_string_equal(text_get(&wrong), "");
  return checked.records;
}

/* ---- Many at once --------------------------------------------------------------------------- */

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (condition) break;                                                                          \
    fprintf(stderr, "%s:%d: not so in the child: %s\n", __FILE__, __LINE__, err.message);          \
    return 1;                                                                                      \
  } while (0)

static int read_and_store(struct fixture *fixture, struct cache *cache, int round) {
  const struct cache_key key = {"device", "config", "M=1", "arch sm_90a", NULL, NULL, 0};
  struct cache_record *records;
  size_t count;
  cugen_error err = {0};
  CHECK(cache_load(cache, &key, &records, &count, &err) == CUGEN_OK);
  CHECK(count <= MANY / 4 + 100);
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
  CHECK(store(cache, "M=1", MANY + round, &err) == CUGEN_OK);
  return 0;
}

static int remove_all(struct fixture *fixture, struct cache *cache, int round) {
  cugen_cache_counts removed;
  cugen_error err = {0};
  CHECK(cache_remove(cache, &all, round % 2 == 0, &removed, &err) == CUGEN_OK);
  return 0;
}

static int import_all(struct fixture *fixture, struct cache *cache, int round) {
  cugen_error err = {0};
  CHECK(import(fixture, cache, &err) == CUGEN_OK);
  return 0;
}

static int list_all(struct fixture *fixture, struct cache *cache, int round) {
  struct cache_space *spaces;
  FREED(text) out = {0};
  size_t count;
  cugen_error err = {0};
  CHECK(cache_spaces(cache, &spaces, &count, &err) == CUGEN_OK);
  cache_spaces_free(spaces, count);
  CHECK(wisdom_export(cache, &all, &out, &count, &err) == CUGEN_OK);
  return 0;
}

static int repeat(struct fixture *fixture, int (*work)(struct fixture *, struct cache *, int)) {
  struct cache *cache;
  cugen_error err = {0};
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_OK);
  for (int round = 0; round < 30; round++)
    if (work(fixture, cache, round)) return 1;
  cache_close(cache);
  return 0;
}

TEST_WITH(everybody_at_once, set_up, tear_down) {
  static int (*const works[])(struct fixture *, struct cache *, int) = {read_and_store, remove_all,
                                                                        import_all, list_all};
  for (size_t i = 0; i < sizeof works / sizeof *works; i++)
    if (fork() == 0) _exit(repeat(*state, works[i]));
  for (size_t i = 0; i < sizeof works / sizeof *works; i++) {
    int status = 1;
    wait(&status);
    assert_int_equal(status, 0);
  }
  count_records(*state);
}

/* ---- Killed --------------------------------------------------------------------------------- */

static pid_t change_in_child(struct fixture *fixture, bool removing) {
  pid_t pid = fork();
  if (pid) return pid;
  cugen_cache_counts removed;
  struct cache *cache;
  if (cache_open(text_get(&fixture->path), &cache, NULL, NULL)) _exit(1);
  _exit(removing ? cache_remove(cache, &all, true, &removed, NULL) != CUGEN_OK
                 : import(fixture, cache, NULL) != CUGEN_OK);
}

TEST_WITH(killed_imports_and_removals, set_up, tear_down) {
  struct fixture *fixture = *state;
  struct moments moments = {.seed = 5, .longest = 20000};
  size_t known = 0;
  int changed = 0;
  for (int round = 0; round < 40; round++) {
    const bool removing = known > 0;
    pid_t pid = change_in_child(fixture, removing);
    moments_wait(&moments);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    size_t now = file_exists(text_get(&fixture->path)) ? count_records(fixture) : 0;
    assert_true(removing ? now <= known : now == 0 || now == MANY);
    changed += now != known;
    moments_learn(&moments, now != known);
    known = now;
  }
  assert_in_range(changed, 1, 39);
}

/* ---- Full ----------------------------------------------------------------------------------- */

static int import_into_little(struct fixture *fixture) {
  struct rlimit limit = {100000, 100000};
  CLOSED(cache) *cache;
  cugen_error err = {0};
  signal(SIGXFSZ, SIG_IGN);
  CHECK(cache_open(text_get(&fixture->path), &cache, NULL, &err) == CUGEN_OK);
  CHECK(store(cache, "M=9", 1, &err) == CUGEN_OK);
  CHECK(setrlimit(RLIMIT_FSIZE, &limit) == 0);
  CHECK(import(fixture, cache, &err) == CUGEN_ERROR_IO);
  CHECK(strstr(err.message, text_get(&fixture->path)));
  return 0;
}

TEST_WITH(a_full_disk, set_up, tear_down) {
  int status = 1;
  if (fork() == 0) _exit(import_into_little(*state));
  wait(&status);
  assert_int_equal(status, 0);
  /* all of them, if the disk was full after some had been merged */
  size_t now = count_records(*state);
  assert_true(now == 1 || now == MANY + 1);
}

/* ---- Memory --------------------------------------------------------------------------------- */

static int use_all(struct fixture *fixture, struct cache *cache, cugen_error *err) {
  cugen_cache_counts removed;
  struct cache_space *spaces;
  cugen_cache_counts checked;
  FREED(text) out = {0}, wrong = {0};
  size_t count;
  int status = import(fixture, cache, err);
  if (!status) status = cache_spaces(cache, &spaces, &count, err);
  if (!status) cache_spaces_free(spaces, count);
  if (!status) status = wisdom_export(cache, &all, &out, &count, err);
  if (!status) status = cache_verify(cache, &checked, &wrong, &wrong, err);
  if (!status) status = cache_remove(cache, &all, true, &removed, err);
  return status;
}

/* Allocation n and all later ones fail. */
TEST_WITH(allocations_fail, set_up, tear_down) {
  struct fixture *fixture = *state;
  CLOSED(cache) *cache;
  int failed = 0;
  if (SANITIZED) skip();
  assert_int_equal(cache_open(text_get(&fixture->path), &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(store(cache, "M=9", 1, NULL), CUGEN_OK);
  for (long n = 0;; n += 1 + n / 8) {
    cugen_error err = {0};
    heap.left = n, heap.for_good = true, heap.failed = false;
    int status = use_all(fixture, cache, &err);
    heap.left = -1;
    if (status && status != CUGEN_ERROR_MEMORY) fail_msg("%ld: %s", n, err.message);
    failed += status != CUGEN_OK;
    if (!heap.failed) break;
    size_t now = count_records(fixture);
    assert_true(now <= MANY + 1);
  }
  assert_true(failed > 30);
}
