/* Looking through the cache, removing from it, verifying it. */

#include <sqlite3.h>

#include "base/hash.h"
#include "caches.h"
#include "runtime/store/sqlite/database.h"
#include "tests/testing.h"

/* ---- Looking through, removing, checking ---------------------------------------------------- */

/* Expects "config problem: records failed history best;" for each set, in order. */
static void assert_spaces(struct cache *cache, const char *want) {
  struct cache_space *spaces;
  size_t count;
  FREED(text) got = {0};
  assert_int_equal(cache_spaces(cache, &spaces, &count, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++)
    text_addf(&got, "%s %s: %zu %zu %zu %s;", spaces[i].config, spaces[i].problem,
              spaces[i].records, spaces[i].failed, spaces[i].history, spaces[i].best);
  cache_spaces_free(spaces, count);
  assert_string_equal(text_get(&got), want);
}

/* Two problems of matmul and one of reduce, measured at EPOCH + 100, 200, ... */
enum { EPOCH = 1700000000 };

static void store_some(struct cache *cache) {
  static const struct cache_key keys[] = {
      {"H200", "matmul", "M=64 N=64", "arch sm_90a", NULL, NULL, 0},
      {"H200", "matmul", "M=128 N=64", "arch sm_90a", NULL, NULL, 0},
      {"A100", "reduce", "n=64", "arch sm_80", NULL, NULL, 0}};
  for (int i = 0; i < 3; i++) {
    for (int variant = 0; variant < 3; variant++) {
      struct cache_record record = record_of(formed("v%d", variant), 3 - variant);
      if (variant == 2) record.outcome = CUGEN_OUTCOME_WRONG;
      record.hash = hash_bytes(&i, sizeof i);
      record.source_hash = hash_bytes(&variant, sizeof variant);
      record.measured_at = EPOCH + 100 * (variant + 1);
      store(cache, &keys[i], record);
    }
  }
  struct cache_record again = record_of("v0", 1.5);
  again.hash = again.source_hash = hash_bytes("", 0);
  again.measured_at = EPOCH + 400;
  store(cache, &keys[0], again);
}

TEST_WITH(sets_are_listed, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  assert_spaces(fixture->cache, "");
  store_some(fixture->cache);
  assert_spaces(fixture->cache,
                "matmul M=128 N=64: 3 1 0 v1;matmul M=64 N=64: 3 1 1 v0;reduce n=64: 3 1 0 v1;");
  const struct cache_key first = {"H200", "matmul", "M=64 N=64", "arch sm_90a", NULL, NULL, 0};
  struct cache_record *records;
  size_t count;
  assert_int_equal(cache_history(fixture->cache, &first, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_true(records->seconds == 3);
  cache_record_free(records);
  free(records);
}

static int note_device(void *context, const char *device, const char *options, cugen_error *err) {
  text_addf(context, "%s, %s; ", device, options);
  return CUGEN_OK;
}

/* Only devices that have a right record of this config and problem. */
TEST_WITH(devices_are_found_by_config_and_problem, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  const struct cache_key keys[] = {{"A100", "matmul", "M=64", "arch sm_80", NULL, NULL, 0},
                                   {"H200", "matmul", "M=64", "arch sm_90a", NULL, NULL, 0},
                                   {"H200", "matmul", "M=65", "arch sm_90a", NULL, NULL, 0},
                                   {"B200", "reduce", "M=64", "arch sm_100a", NULL, NULL, 0}};
  const struct cache_key failed = {"V100", "matmul", "M=64", "arch sm_70", NULL, NULL, 0};
  FREED(text) found = {0};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    store(fixture->cache, &keys[i], record_of("v", 1));
  struct cache_record wrong = record_of("v", 1);
  wrong.outcome = CUGEN_OUTCOME_WRONG;
  store(fixture->cache, &failed, wrong);
  assert_int_equal(cache_devices(fixture->cache, &keys[0], note_device, &found, NULL), CUGEN_OK);
  assert_string_equal(text_get(&found), "A100, arch sm_80; H200, arch sm_90a; ");
}

static void assert_removed(struct fixture *fixture, struct cache_filter filter, size_t spaces,
                           size_t records, size_t history, const char *left) {
  cugen_cache_counts counted, removed;
  assert_int_equal(cache_remove(fixture->cache, &filter, false, &counted, NULL), CUGEN_OK);
  assert_int_equal(cache_remove(fixture->cache, &filter, true, &removed, NULL), CUGEN_OK);
  assert_memory_equal(&counted, &removed, sizeof removed);
  assert_int_equal(removed.sets, spaces);
  assert_int_equal(removed.records, records);
  assert_int_equal(removed.history, history);
  assert_spaces(reopen(fixture), left);
}

TEST_WITH(records_are_removed_by_what_they_are, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  store_some(fixture->cache);
  assert_removed(fixture, (struct cache_filter){.config = "matmu"}, 0, 0, 0,
                 "matmul M=128 N=64: 3 1 0 v1;matmul M=64 N=64: 3 1 1 v0;reduce n=64: 3 1 0 v1;");
  assert_removed(fixture, (struct cache_filter){.problem = "M=6"}, 0, 0, 0,
                 "matmul M=128 N=64: 3 1 0 v1;matmul M=64 N=64: 3 1 1 v0;reduce n=64: 3 1 0 v1;");
  assert_removed(fixture, (struct cache_filter){.before = EPOCH + 200}, 0, 2, 1,
                 "matmul M=128 N=64: 2 1 0 v1;matmul M=64 N=64: 3 1 0 v0;reduce n=64: 2 1 0 v1;");
  assert_removed(fixture, (struct cache_filter){.config = "matmul", .failed = true}, 0, 2, 0,
                 "matmul M=128 N=64: 1 0 0 v1;matmul M=64 N=64: 2 0 0 v0;reduce n=64: 2 1 0 v1;");
  assert_removed(fixture, (struct cache_filter){.problem = " N=64  M=64 "}, 1, 2, 0,
                 "matmul M=128 N=64: 1 0 0 v1;reduce n=64: 2 1 0 v1;");
  assert_removed(fixture, (struct cache_filter){.device = "A1"}, 1, 2, 0,
                 "matmul M=128 N=64: 1 0 0 v1;");
  assert_removed(fixture, (struct cache_filter){0}, 1, 1, 0, "");
}

/* A reader who has loaded the records goes on; removed images are compiled again. */
TEST_WITH(a_reader_outlives_removal, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  CLOSED(cache) *reader;
  cugen_cache_counts removed;
  const struct cache_filter all = {0};
  store_some(fixture->cache);
  assert_int_equal(cache_open(text_get(&fixture->path), &reader, NULL, NULL), CUGEN_OK);
  assert_spaces(reader,
                "matmul M=128 N=64: 3 1 0 v1;matmul M=64 N=64: 3 1 1 v0;reduce n=64: 3 1 0 v1;");
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_OK);
  assert_spaces(reader, "");
  store(reader, &key, record_of("v", 1));
  assert_variants(fixture->cache, &key, "v");
}

/* A writer blocks a removal, but not the counting of what would be removed. */
TEST_WITH(counting_waits_for_nobody, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  cugen_cache_counts removed;
  const struct cache_filter all = {0};
  sqlite3 *writer;
  only_of_a_file();
  store_some(fixture->cache);
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &writer), SQLITE_OK);
  assert_int_equal(sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  sqlite_cache_of(fixture->cache)->patience = 0;
  assert_int_equal(cache_remove(fixture->cache, &all, false, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.records, 9);
  assert_int_equal(removed.sets, 3);
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_ERROR_IO);
  sqlite3_close(writer);
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.records, 9);
  assert_spaces(fixture->cache, "");
}

/* Each kind of damage is made, found, and mended. */
TEST_WITH(what_is_wrong_is_found, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  static const char *const cases[][3] = {
      {"UPDATE record SET outcome = 8 WHERE id = 1", "outcome is out of range: '8'",
       "UPDATE record SET outcome = 0 WHERE id = 1"},
      {"UPDATE record SET seconds = -1 WHERE id = 1", "seconds is out of range",
       "UPDATE record SET seconds = 1 WHERE id = 1"},
      {"UPDATE record SET seconds = 0 WHERE id = 1", "seconds must be above 0",
       "UPDATE record SET seconds = 1 WHERE id = 1"},
      {"UPDATE record SET seconds_min = NULL WHERE id = 1", "seconds_min must be a number",
       "UPDATE record SET seconds_min = 1 WHERE id = 1"},
      {"UPDATE record SET limiter = char(1) WHERE id = 1", "limiter has a control character",
       "UPDATE record SET limiter = 'threads' WHERE id = 1"},
      {"UPDATE record SET occupancy = 1.5 WHERE id = 1", "occupancy is out of range",
       "UPDATE record SET occupancy = 0 WHERE id = 1"},
      {"UPDATE record SET registers = 3000000000 WHERE id = 1", "registers is out of range",
       "UPDATE record SET registers = 3 WHERE id = 1"},
      {"UPDATE record SET hash = 'x' WHERE id = 1", "hash must be 32 hexadecimal digits: 'x'",
       "UPDATE record SET hash = '0123456789abcdef0123456789abcdef' WHERE id = 1"},
      {"UPDATE record SET proof_hash = 'x' WHERE id = 1",
       "proof_hash must be 32 hexadecimal digits",
       "UPDATE record SET proof_hash = '' WHERE id = 1"},
      {"UPDATE record SET superseded = 2 WHERE id = 1", "superseded is neither 0 nor 1",
       "UPDATE record SET superseded = 1 WHERE id = 1"},
      {"UPDATE record SET space_id = 99 WHERE id = 1", "a row of record belongs to no row of space",
       "UPDATE record SET space_id = 1 WHERE id = 1"},
      {"UPDATE space SET options = char(27) WHERE id = 1", "options has a control character",
       "UPDATE space SET options = 'o' WHERE id = 1"},
      {"UPDATE image SET data = x'01'", "is not what was stored", "DELETE FROM image"},
      {"DROP INDEX record_current", "index 'record_current' is missing",
       "CREATE UNIQUE INDEX record_current ON record (space_id, variant) WHERE superseded = 0"},
  };
  struct compiled image = image_of("cubin");
  store_some(fixture->cache);
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_verified(fixture, "");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_sql(fixture, cases[i][0], "");
    assert_verified(fixture, cases[i][1]);
    assert_sql(fixture, cases[i][2], "");
    if (strncmp(cases[i][0], "UPDATE image", 12) == 0)
      assert_sql(fixture, "DELETE FROM image_entry", "");
    assert_verified(fixture, "");
  }
}

/* Each change of the tables is refused with a message, and the database is accepted again when
   the change is undone. */
TEST_WITH(what_is_not_as_cugen_makes_it_is_refused, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  static const char *const cases[][3] = {
      {"CREATE TABLE photos (name)", "table 'photos'", "DROP TABLE photos"},
      {"CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM space; END", "trigger 't'",
       "DROP TRIGGER t"},
      {"CREATE VIEW v AS SELECT * FROM record", "view 'v'", "DROP VIEW v"},
      {"CREATE INDEX i ON record (upper(variant))", "index 'i'", "DROP INDEX i"},
      {"CREATE VIRTUAL TABLE f USING fts5(x)", "table 'f", "DROP TABLE f"},
      {"ANALYZE", "table 'sqlite_stat1'", "DROP TABLE sqlite_stat1"},
      {"ALTER TABLE record ADD COLUMN colour TEXT", "table 'record'",
       "ALTER TABLE record DROP COLUMN colour"},
      {"ALTER TABLE space ADD COLUMN g TEXT AS (upper(device))", "table 'space'",
       "ALTER TABLE space DROP COLUMN g"},
      {"ALTER TABLE space RENAME COLUMN options TO choices", "table 'space'",
       "ALTER TABLE space RENAME COLUMN choices TO options"},
  };
  only_of_a_file();
  store(fixture->cache, &key, record_of("v", 1));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cache_close(fixture->cache);
    assert_sql(fixture, cases[i][0], "");
    FAILS(cache_open(text_get(&fixture->path), &fixture->cache, NULL, &err), CUGEN_ERROR_CACHE,
          cases[i][1], "cugen cache export");
    assert_sql(fixture, cases[i][2], "");
    assert_variants(reopen(fixture), &key, "v");
  }
}
