/* The cache's work on many problems grows in proportion to their number. It is counted in steps
   of SQLite's machine, not in time. No transaction removes so much that others wait for long. */

#include <sqlite3.h>

#include "base/hash.h"
#include "base/system.h"
#include "runtime/store/wisdom.h"
#include "tests/testing.h"

static const struct cache_filter all = {0};
enum { GRAIN = 100, FEW = 300, MANY = 4 * FEW };

static long steps; /* in units of GRAIN, over all databases */
/* rows removed by the current transaction, and the most by any */
static long removed_now, removed_most;

static int count_steps(void *context) {
  steps++;
  return 0;
}

static void note_change(void *context, int what, const char *schema, const char *table,
                        sqlite3_int64 id) {
  removed_now += what == SQLITE_DELETE && strcmp(schema, "main") == 0;
}

static int note_commit(void *context) {
  if (removed_now > removed_most) removed_most = removed_now;
  return (int)(removed_now = 0);
}

/* sqlite3_auto_extension calls this for each database that is opened. */
static int watch(sqlite3 *db, char **message, const void *api) {
  sqlite3_progress_handler(db, GRAIN, count_steps, NULL);
  sqlite3_update_hook(db, note_change, NULL);
  sqlite3_commit_hook(db, note_commit, NULL);
  return SQLITE_OK;
}

/* Makes so many records: one for each of as many problems, or all of one variant of one problem. */
static void make_wisdom(int count, bool one, struct text *out) {
  CLOSED(cache) *cache;
  size_t written;
  assert_int_equal(cache_open("none", &cache, NULL, NULL), CUGEN_OK);
  for (int i = 0; i < count; i++) {
    const char *problem = formed("n=%d", one ? 1 : i);
    const struct hash hash = hash_bytes(&i, sizeof i);
    const struct cache_key key = {"device", "config", problem, "arch", hash.hex, NULL, 0};
    const struct cache_record record = {.variant = (char *)(uintptr_t) "v",
                                        .reason = (char *)(uintptr_t) "",
                                        .hash = hash,
                                        .source_hash = hash,
                                        .seconds = i + 1,
                                        .measured_at = 1600000000 + i};
    assert_int_equal(cache_store(cache, &key, &record, NULL), CUGEN_OK);
  }
  WORKS(wisdom_export(cache, &all, out, &written, &err));
}

enum { IMPORTED, AGAIN, LISTED, EXPORTED, REMOVED, WORKS };

static void use(int count, bool one, long counts[WORKS]) {
  FREED(text) folder = {0}, wisdom = {0}, out = {0};
  struct cache *cache;
  cugen_cache_merged merged;
  struct cache_space *spaces;
  cugen_cache_counts removed;
  size_t number;
  make_wisdom(count, one, &wisdom);
  assert_int_equal(folder_temporary(&folder, NULL), CUGEN_OK);
  assert_int_equal(cache_open(formed("%s/c.db", text_get(&folder)), &cache, NULL, NULL), CUGEN_OK);
  for (int work = 0; work < WORKS; work++) {
    steps = 0;
    if (work == IMPORTED || work == AGAIN)
      assert_int_equal(wisdom_import(cache, "w", wisdom.data, wisdom.length, &merged, NULL),
                       CUGEN_OK);
    if (work == IMPORTED) assert_int_equal(merged.added, count);
    if (work == AGAIN) assert_int_equal(merged.known, count);
    if (work == LISTED) {
      assert_int_equal(cache_spaces(cache, &spaces, &number, NULL), CUGEN_OK);
      cache_spaces_free(spaces, number);
    }
    if (work == EXPORTED)
      assert_int_equal(wisdom_export(cache, &all, &out, &number, NULL), CUGEN_OK);
    if (work == REMOVED)
      assert_int_equal(cache_remove(cache, &all, true, &removed, NULL), CUGEN_OK);
    counts[work] = steps;
  }
  cache_close(cache);
  folder_remove(text_get(&folder));
}

static void assert_linear(bool one) {
  static const char *const names[WORKS] = {"import", "import again", "list", "export", "remove"};
  long few[WORKS], many[WORKS];
  use(FEW, one, few);
  use(MANY, one, many);
  for (int work = 0; work < WORKS; work++)
    /* the factor is 4 if the work is linear, 16 if it is quadratic */
    if (many[work] > 6 * few[work] + 10)
      fail_msg("%s: %ld steps for %d records, %ld for %d", names[work], few[work] * GRAIN, FEW,
               many[work] * GRAIN, MANY);
}

TEST(many_problems) {
  assert_linear(false);
}

TEST(many_kernels_of_one_variant) {
  assert_linear(true);
}

/* A tuner's store waits for one transaction, not for the whole removal. */
TEST(a_removal_is_of_short_transactions) {
  enum { RECORDS = 10000, MOST = 4096 };
  long counts[WORKS];
  removed_now = removed_most = 0;
  use(RECORDS, false, counts);
  assert_in_range(removed_most, 1, MOST);
}

int main(void) {
  sqlite3_auto_extension((void (*)(void))watch);
  return tests_run();
}
