/* The format of the cache's tables, and older formats that are migrated. */

#include <sqlite3.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "caches.h"
#include "tests/old_formats.h"
#include "tests/testing.h"

/* ---- The format: a change here needs a higher FORMAT_VERSION and docs/cache.md -------------- */

TEST_WITH(the_format_is_pinned, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  assert_sql(fixture, "PRAGMA application_id", "1668638574");
  assert_sql(fixture, "PRAGMA user_version", "12");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('space')",
             "id,device,config,problem,options");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('record')",
             "id,space_id,superseded,variant,hash,outcome,reason,samples,seconds,seconds_min,"
             "seconds_p20,seconds_p80,"
             "error,threads,registers,max_threads,static_shared,dynamic_shared,local_bytes,spill_"
             "bytes,constant_bytes,"
             "occupancy,limiter,flops,bytes,clock_mhz,power_watts,throttle,driver_version,nvrtc_"
             "version,measured_at,"
             "source_hash,launches_hash,arguments_hash,proof_hash,cluster_blocks,active_clusters,"
             "verdict,unverified,origin,"
             "compile_seconds,measure_seconds,requested,run_began,run_seconds,energy,energy_"
             "resolution,outputs");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('image')",
             "id,key,checksum,hash,made_at,log,data,seal");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('image_entry')",
             "key,position,name,registers,max_threads,static_shared,local_bytes,spill_bytes,"
             "constant_bytes");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('portfolio')",
             "id,device,config,class,options,origin,objective,learnt_at,body");
  assert_sql(fixture,
             "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'index' "
             "AND sql <> '' "
             "ORDER BY name)",
             "record_current,record_fastest,record_variant");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_index_info('record_current')",
             "space_id,variant,origin");
}

/* ---- Format 1, as cugen 0.1.0's first builds made it ---------------------------------------- */

static const char format_1_sql[] =
    "PRAGMA application_id = 1668638574; PRAGMA user_version = 1;"
    "CREATE TABLE space (\n"
    "  id INTEGER PRIMARY KEY, device TEXT NOT NULL, config TEXT NOT NULL, problem TEXT NOT NULL,\n"
    "  options TEXT NOT NULL, UNIQUE (device, config, problem, options)) STRICT;\n"
    "CREATE TABLE record (\n"
    "  id INTEGER PRIMARY KEY, space_id INTEGER NOT NULL REFERENCES space, superseded INTEGER NOT "
    "NULL,\n"
    "  variant TEXT NOT NULL, hash TEXT NOT NULL, outcome INTEGER NOT NULL, reason TEXT NOT NULL, "
    "samples INTEGER "
    "NOT "
    "NULL, seconds REAL, seconds_min REAL, seconds_p20 REAL, seconds_p80 REAL, error REAL, threads "
    "INTEGER NOT NULL, "
    "registers INTEGER NOT NULL, max_threads INTEGER NOT NULL, static_shared INTEGER NOT NULL, "
    "dynamic_shared "
    "INTEGER "
    "NOT NULL, local_bytes INTEGER NOT NULL, spill_bytes INTEGER NOT NULL, constant_bytes INTEGER "
    "NOT NULL, "
    "occupancy "
    "REAL, limiter TEXT NOT NULL, flops REAL, bytes REAL, clock_mhz INTEGER NOT NULL, power_watts "
    "INTEGER NOT NULL, "
    "throttle TEXT NOT NULL, driver_version INTEGER NOT NULL, nvrtc_version INTEGER NOT NULL, "
    "measured_at INTEGER "
    "NOT "
    "NULL) STRICT;\n"
    "CREATE UNIQUE INDEX record_current ON record (space_id, variant) WHERE superseded = 0;\n"
    "CREATE TABLE image (\n"
    "  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, checksum TEXT NOT NULL, hash TEXT NOT "
    "NULL,\n"
    "  made_at INTEGER NOT NULL, log TEXT NOT NULL, data BLOB NOT NULL) STRICT;\n"
    "CREATE TABLE image_entry (\n"
    "  key TEXT NOT NULL REFERENCES image (key) ON DELETE CASCADE, position INTEGER NOT NULL, name "
    "TEXT NOT NULL,\n"
    "  registers INTEGER NOT NULL, max_threads INTEGER NOT NULL, static_shared INTEGER NOT NULL,\n"
    "  local_bytes INTEGER NOT NULL, spill_bytes INTEGER NOT NULL, constant_bytes INTEGER NOT "
    "NULL,\n"
    "  PRIMARY KEY (key, position)) STRICT, WITHOUT ROWID;\n"
    "INSERT INTO space VALUES (1, 'NVIDIA H200 sm_90 132 SMs', 'matmul', 'M=64 N=64', "
    "'-arch=sm_90a');"
    "INSERT INTO record VALUES (1, 1, 1, 'v', 'old hash', 0, '', 9, 4.0, 1.0, 2.0, 3.0, 0.25, 1, "
    "2, 3, 4, 5, 6, 7, "
    "8, "
    "0.5, 'threads', 10.0, 11.0, 12, 13, '', 14, 15, 16);"
    "INSERT INTO record VALUES (2, 1, 0, 'v', '0123456789abcdef0123456789abcdef', 0, 'why', 9, "
    "3.0, 1.0, 2.0, 3.0, "
    "0.25, 1, 2, 3, 4, 5, 6, 7, 8, 0.5, 'threads', 10.0, 11.0, 12, 13, 'heat', 14, 15, 16);"
    "INSERT INTO image VALUES (1, 'key', 'ignored', 'hash', 0, 'log', x'00');";

static void run_sql(struct fixture *fixture, const char *sql) {
  sqlite3 *db;
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static void make_format_1(struct fixture *fixture, const char *more) {
  cache_close(fixture->cache);
  fixture->cache = NULL;
  assert_int_equal(unlink(text_get(&fixture->path)), 0);
  run_sql(fixture, format_1_sql);
  run_sql(fixture, more);
}

static const char everything_sql[] = "SELECT id, space_id, superseded, variant, hash, outcome, "
                                     "reason, samples, seconds, seconds_min, seconds_p20, "
                                     "seconds_p80, error IS NULL, threads, registers, max_threads, "
                                     "static_shared, dynamic_shared, local_bytes, "
                                     "spill_bytes, constant_bytes, occupancy, limiter, flops, "
                                     "bytes, clock_mhz, power_watts, throttle, "
                                     "driver_version, "
                                     "nvrtc_version, measured_at FROM record ORDER BY id";
static const char everything[] =
    "1|1|1|v|old hash|0||9|4.0|1.0|2.0|3.0|0|1|2|3|4|5|6|7|8|0.5|threads|10.0|11.0|12|13||14|15|16|"
    "2|1|0|v|0123456789abcdef0123456789abcdef|0|why|9|3.0|1.0|2.0|3.0|0|1|2|3|4|5|6|7|8|0.5|"
    "threads|10.0|11.0|12|13|"
    "heat|14|15|16";

TEST_WITH(format_1_is_brought_up_to_date, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  make_format_1(fixture, "");
  assert_sql(fixture, everything_sql, everything);
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  assert_sql(fixture, "PRAGMA user_version", "12");
  assert_sql(fixture, everything_sql, everything);
  assert_sql(
      fixture,
      "SELECT DISTINCT source_hash || launches_hash || arguments_hash || proof_hash FROM record",
      "");
  assert_sql(fixture, "SELECT count(*) FROM image", "0"); /* no image has a seal */
  the_format_is_pinned(state);                            /* the tables are those of a new cache */
  assert_variants(fixture->cache, &key, "v");
  store(fixture->cache, &key, full);
  assert_variants(reopen(fixture), &key, "v tiled tile=16 pad=1");
}

/* A record with all fields keeps those that the format had. The images of formats before 7 had no
   seal and are dropped. */
static void bring_up_to_date(void **state, int format) {
  struct fixture *fixture = *state;
  struct cache_record want = full, *records;
  FREED(text) sql = {0};
  size_t count;
  store(fixture->cache, &key, full);
  cache_close(fixture->cache);
  fixture->cache = NULL;
  old_format_sql(format, &sql, &want);
  run_sql(fixture, text_get(&sql));
  if (format <= 6)
    run_sql(fixture, "INSERT INTO image VALUES (1, 'key', 'checksum', 'hash', 0, 'log', x'00');"
                     "INSERT INTO image_entry VALUES ('key', 0, 'kernel', 1, 2, 3, 4, 5, 6)");
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  the_format_is_pinned(state);
  assert_int_equal(cache_load(fixture->cache, &key, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_record(&records[0], &want);
  assert_sql(fixture, "SELECT (SELECT count(*) FROM image) + (SELECT count(*) FROM image_entry)",
             "0");
  cache_record_free(&records[0]);
  free(records);
}

TEST(each_format_is_brought_up_to_date) {
  for (size_t i = 0; i < OLD_FORMATS; i++) {
    assert_int_equal(cache_set_up(state), 0);
    only_of_a_file();
    bring_up_to_date(state, old_formats[i].format);
    assert_int_equal(cache_tear_down(state), 0);
  }
}

/* The third of four new columns exists already, so the migration fails half way. */
TEST_WITH(a_failed_migration_leaves_format_1, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  make_format_1(fixture, "ALTER TABLE record ADD COLUMN arguments_hash TEXT NOT NULL DEFAULT ''");
  FAILS(cache_open(text_get(&fixture->path), &fixture->cache, NULL, &err), CUGEN_ERROR_CACHE,
        "cannot bring it up to date", text_get(&fixture->path));
  assert_sql(fixture, "PRAGMA user_version", "1");
  assert_sql(
      fixture,
      "SELECT count(*) FROM pragma_table_info('record') WHERE name LIKE '%\\_hash' ESCAPE '\\'",
      "1");
  assert_sql(fixture, everything_sql, everything);
}
