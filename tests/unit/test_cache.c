/* The cache as its users see it: what is stored comes back, from the right key, in order, to everybody. What can go
   wrong with the file is in tests/fault/test_cache.c. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "runtime/store/cache.h"

/* Stands in front of the C library's, so that a test can say that a folder lies on another file system. */
static long pretended_type;
int statfs(const char *path, struct statfs *info) {
  int status = (int)syscall(SYS_statfs, path, info);
  if (pretended_type) info->f_type = pretended_type;
  return status;
}

static const struct cache_key key = {
    "NVIDIA H200 sm_90 132 SMs", "matmul", "M=64 N=64", "-arch=sm_90a", NULL, OBJECTIVE_TIME, NULL};

struct fixture {
  struct text folder, path;
  struct cache *cache;
};

static int set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  if (!fixture || folder_temporary(&fixture->folder, NULL)) return -1;
  text_addf(&fixture->path, "%s/cache.db", text_get(&fixture->folder));
  *state = fixture;
  return cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL);
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  cache_close(fixture->cache);
  int status = folder_remove(text_get(&fixture->folder));
  text_free(&fixture->folder);
  text_free(&fixture->path);
  free(fixture);
  return status;
}

static struct cache *reopen(struct fixture *fixture) {
  cache_close(fixture->cache);
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  return fixture->cache;
}

static struct cache_record record_of(const char *variant, double seconds) {
  struct cache_record record = {
      .variant = (char *)(uintptr_t)variant, .reason = (char *)(uintptr_t) "", .seconds = seconds};
  return record;
}

static void store(struct cache *cache, const struct cache_key *where, struct cache_record record) {
  assert_int_equal(cache_store(cache, where, &record, NULL), CUGEN_OK);
}

/* Variant texts of what is remembered, with spaces between. */
static void assert_variants(struct cache *cache, const struct cache_key *where, const char *want) {
  struct cache_record *records;
  size_t count;
  struct text got = {0};
  assert_int_equal(cache_load(cache, where, &records, &count, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++) {
    text_addf(&got, "%s%s", i ? " " : "", records[i].variant);
    cache_record_free(&records[i]);
  }
  free(records);
  assert_string_equal(text_get(&got), want);
  text_free(&got);
}

/* What the sqlite3 program would print. */
static void assert_sql(struct fixture *fixture, const char *sql, const char *want) {
  sqlite3 *db;
  sqlite3_stmt *statement;
  struct text got = {0};
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
  while (sqlite3_step(statement) == SQLITE_ROW)
    for (int i = 0; i < sqlite3_column_count(statement); i++)
      text_addf(&got, "%s%s", got.length ? "|" : "", (const char *)sqlite3_column_text(statement, i));
  assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
  sqlite3_close(db);
  assert_string_equal(text_get(&got), want);
  text_free(&got);
}

struct fastest {
  struct text variants;
  int most;
};

static int take_fastest(void *context, struct cache_record *record, bool *stop, cugen_error *err) {
  struct fastest *fastest = context;
  (void)err;
  text_addf(&fastest->variants, " %s", record->variant);
  *stop = --fastest->most == 0;
  return CUGEN_OK;
}

/* ---- Records ---- */

static const struct cache_record full = {
    .variant = (char *)(uintptr_t) "tiled tile=16 pad=1",
    .hash = {"0123456789abcdef0123456789abcdef"},
    .source_hash = {"1123456789abcdef0123456789abcdef"},
    .launches_hash = {"2123456789abcdef0123456789abcdef"},
    .arguments_hash = {"3123456789abcdef0123456789abcdef"},
    .proof_hash = {"4123456789abcdef0123456789abcdef"},
    .outcome = CUGEN_OUTCOME_WRONG,
    .reason = (char *)(uintptr_t) "B[3, 4]: got 1, want 2 \xe2\x80\x94 'quoted'",
    .samples = 1,
    .seconds = 2.5e-6,
    .seconds_min = 3.5,
    .seconds_p20 = 4.5,
    .seconds_p80 = 5.5,
    .compile_seconds = 7.25,
    .measure_seconds = 8.25,
    .error = 6.5,
    .threads = 7,
    .resources = {8, 9, 10, 11, 12, 13},
    .dynamic_shared = INT64_MAX,
    .occupancy = 0.15,
    .limiter = "shared memory",
    .cluster_blocks = 23,
    .active_clusters = 24,
    .verdict = CACHE_NOT_VERIFIABLE,
    .unverified = "it does not compile there",
    .flops = 1e12,
    .bytes = 17,
    .clock_mhz = 18,
    .power_watts = 22,
    .throttle = "power cap, thermal",
    .driver_version = 19,
    .nvrtc_version = 20,
    .measured_at = 1700000021,
};

static void assert_record(const struct cache_record *got, const struct cache_record *want) {
  assert_string_equal(got->variant, want->variant);
  assert_string_equal(got->hash.hex, want->hash.hex);
  assert_string_equal(got->source_hash.hex, want->source_hash.hex);
  assert_string_equal(got->launches_hash.hex, want->launches_hash.hex);
  assert_string_equal(got->arguments_hash.hex, want->arguments_hash.hex);
  assert_string_equal(got->proof_hash.hex, want->proof_hash.hex);
  assert_int_equal(got->outcome, want->outcome);
  assert_string_equal(got->reason, want->reason);
  assert_int_equal(got->samples, want->samples);
  assert_true(got->seconds == want->seconds && got->seconds_min == want->seconds_min);
  assert_true(got->seconds_p20 == want->seconds_p20 && got->seconds_p80 == want->seconds_p80);
  assert_true(got->error == want->error);
  assert_int_equal(got->threads, want->threads);
  assert_int_equal(got->resources.registers, want->resources.registers);
  assert_int_equal(got->resources.max_threads, want->resources.max_threads);
  assert_int_equal(got->resources.static_shared, want->resources.static_shared);
  assert_int_equal(got->resources.local_bytes, want->resources.local_bytes);
  assert_int_equal(got->resources.spill_bytes, want->resources.spill_bytes);
  assert_int_equal(got->resources.constant_bytes, want->resources.constant_bytes);
  assert_int_equal(got->dynamic_shared, want->dynamic_shared);
  assert_true(got->occupancy == want->occupancy);
  assert_string_equal(got->limiter, want->limiter);
  assert_int_equal(got->cluster_blocks, want->cluster_blocks);
  assert_int_equal(got->active_clusters, want->active_clusters);
  assert_int_equal(got->verdict, want->verdict);
  assert_string_equal(got->unverified, want->unverified);
  assert_true(got->flops == want->flops && got->bytes == want->bytes);
  assert_true(got->compile_seconds == want->compile_seconds && got->measure_seconds == want->measure_seconds);
  assert_int_equal(got->clock_mhz, want->clock_mhz);
  assert_int_equal(got->power_watts, want->power_watts);
  assert_string_equal(got->throttle, want->throttle);
  assert_int_equal(got->driver_version, want->driver_version);
  assert_int_equal(got->nvrtc_version, want->nvrtc_version);
  assert_int_equal(got->measured_at, want->measured_at);
}

static void every_field_comes_back(void **state) {
  struct fixture *fixture = *state;
  store(fixture->cache, &key, full);
  struct cache_record *records;
  size_t count;
  assert_int_equal(cache_load(reopen(fixture), &key, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_record(records, &full);
  cache_record_free(records);
  assert_null(records->variant);
  free(records);
}

static void what_is_no_number_stays_none(void **state) {
  struct fixture *fixture = *state;
  struct cache_record record = record_of("v", 1);
  record.error = (double)NAN;
  record.seconds_min = (double)INFINITY;
  store(fixture->cache, &key, record);
  struct cache_record *records;
  size_t count;
  assert_int_equal(cache_load(fixture->cache, &key, &records, &count, NULL), CUGEN_OK);
  assert_true(isnan(records->error));
  assert_true(isinf(records->seconds_min));
  cache_record_free(records);
  free(records);
}

static void right_ones_come_first_by_time(void **state) {
  struct fixture *fixture = *state;
  struct cache_record failed = record_of("failed", 0);
  failed.outcome = CUGEN_OUTCOME_TIMEOUT;
  store(fixture->cache, &key, failed);
  store(fixture->cache, &key, record_of("slow", 3));
  store(fixture->cache, &key, record_of("fast", 1));
  store(fixture->cache, &key, record_of("middle", 2));
  assert_variants(fixture->cache, &key, "fast middle slow failed");
}

/* Records of work too are stored by whoever ranks by time: the key's objective is no part of what they belong to. */
static void cost_is_by_the_objective(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    const char *name;
    double seconds, flops, bytes;
  } rows[] = {{"short", 1, 1, 8}, {"long", 4, 16, 8}, {"middle", 2, 4, 32}, {"idle", 3, 0, 0}};
  struct cache_key by_flops = key, by_bytes = key;
  by_flops.objective = OBJECTIVE_FLOPS, by_bytes.objective = OBJECTIVE_BYTES;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct cache_record record = record_of(rows[i].name, rows[i].seconds);
    record.flops = rows[i].flops, record.bytes = rows[i].bytes;
    store(fixture->cache, i % 2 ? &by_flops : &key, record);
    assert_true(cache_record_cost(&record, OBJECTIVE_TIME) == rows[i].seconds);
    double rate = 1 / cache_record_cost(&record, OBJECTIVE_FLOPS);
    assert_true(rate == rows[i].flops / rows[i].seconds);
  }
  assert_variants(fixture->cache, &key, "short middle idle long");
  assert_variants(fixture->cache, &by_flops, "long middle short idle");
  assert_variants(fixture->cache, &by_bytes, "middle short long idle");
}

/* What was remembered before the config had p and dtype, each with a default. */
static void problems_may_lack_what_has_its_default(void **state) {
  struct fixture *fixture = *state;
  struct cache_key now = key, by_flops, other = key;
  uint64_t lacks;
  now.problem = "M=64 N=64 p=4 dtype=f32", now.settings = "M=64\nN=64\n?p=4\n?dtype=f32\n";
  by_flops = now, by_flops.objective = OBJECTIVE_FLOPS;
  static const struct {
    const char *problem, *variant, *source;
    double seconds, flops;
  } rows[] = {{"M=64 N=64", "oldest", "a", 2, 1},
              {"M=64 N=64", "renewed", "b", 1, 1},
              {"M=64 N=64", "changed", "c", 7, 70},
              {"M=64 N=64 dtype=f32", "typed", "d", 1.5, 30},
              {"M=64 N=64 p=4", "counted", "e", 4, 1},
              {"M=64 N=64 p=4 dtype=f32", "renewed", "b", 3, 1},
              {"M=64 N=64 p=4 dtype=f32", "changed", "f", 5, 1},
              {"M=64 N=64 p=8", "other", "g", 1, 1},
              {"M=64 dtype=f32", "other", "g", 1, 1},
              {"M=6 N=64 dtype=f32", "other", "g", 1, 1},
              {"M=64 N=64 dtype=f64", "other", "g", 1, 1},
              {"M=64 N=64 q=1", "other", "g", 1, 1}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct cache_record record = record_of(rows[i].variant, rows[i].seconds);
    record.flops = rows[i].flops;
    record.hash = record.source_hash = hash_bytes(rows[i].source, 1);
    other.problem = rows[i].problem;
    store(fixture->cache, &other, record);
  }
  struct cache_record failed = record_of("failed", 0.5);
  failed.outcome = CUGEN_OUTCOME_WRONG;
  other.problem = "M=64 N=64";
  store(fixture->cache, &other, failed);
  assert_variants(fixture->cache, &now, "typed oldest renewed counted changed changed failed");
  assert_variants(fixture->cache, &by_flops, "typed changed oldest renewed counted changed failed");
  assert_variants(fixture->cache, &other, "renewed oldest changed failed");
  struct fastest fastest = {.most = 3};
  assert_int_equal(cache_fastest(fixture->cache, &now, take_fastest, &fastest, NULL), CUGEN_OK);
  assert_string_equal(text_get(&fastest.variants), " typed oldest renewed");
  text_free(&fastest.variants);
  assert_true(cache_lacks(&now, "M=64 N=64 dtype=f32", &lacks) && lacks == 4);
  assert_true(cache_lacks(&now, "M=64 N=64", &lacks) && lacks == 12);
  assert_true(cache_lacks(&now, now.problem, &lacks) && lacks == 0);
  assert_false(cache_lacks(&now, "M=64 N=64 dtype=f321", &lacks));
  now.settings = "M=64\nN=64\np=4\n?dtype=f32\n"; /* p has another value than its default */
  assert_variants(fixture->cache, &now, "renewed counted changed");
  now.problem = "M=64 N=64 p=4 dtype=f32", now.settings = NULL;
  assert_variants(fixture->cache, &now, "renewed changed");
}

/* Its proof aside from what the record's problem lacked, a record is of the kernel that has all its parts. */
static void what_is_lacked_is_no_part_of_the_proof(void **state) {
  (void)state;
  static const char proof[] = "reference\ntolerance\nnil\n7", without[] = "reference\ntolerance\n7";
  struct kernel_spec spec = {.hash = hash_bytes("whole", 5),
                             .source_hash = hash_bytes("s", 1),
                             .proof_hash = hash_bytes(proof, sizeof proof - 1),
                             .proof = (char *)(uintptr_t)proof,
                             .proof_lines = 2};
  struct cache_record record = {.source_hash = spec.source_hash,
                                .proof_hash = hash_bytes(without, sizeof without - 1),
                                .hash = hash_bytes("short", 5),
                                .lacks = 1};
  assert_true(cache_record_is_same(&record, &spec));
  record.lacks = 2;
  assert_false(cache_record_is_same(&record, &spec));
  record.lacks = 0;
  assert_false(cache_record_is_same(&record, &spec));
  record.lacks = 1, record.source_hash = hash_bytes("t", 1);
  assert_false(cache_record_is_same(&record, &spec));
  record.source_hash = spec.source_hash, spec.launches_hash = hash_bytes("l", 1);
  assert_false(cache_record_is_same(&record, &spec));
}

/* A rate is of the work that the config declares now; a failure is one whatever the work. */
static void other_work_is_another_record(void **state) {
  (void)state;
  struct cache_record record = record_of("v", 1);
  record.flops = 100;
  struct kernel_spec spec = {.hash = record.hash, .flops = 100, .objective = OBJECTIVE_FLOPS};
  assert_true(cache_record_is_of(&record, &spec, false));
  spec.flops = 200;
  assert_false(cache_record_is_of(&record, &spec, false));
  record.outcome = CUGEN_OUTCOME_WRONG;
  assert_true(cache_record_is_of(&record, &spec, false));
  record.outcome = CUGEN_OUTCOME_OK;
  spec.objective = OBJECTIVE_TIME;
  assert_true(cache_record_is_of(&record, &spec, false));
}

static void keys_keep_records_apart(void **state) {
  struct fixture *fixture = *state;
  store(fixture->cache, &key, record_of("mine", 1));
  for (int field = 0; field < 4; field++) {
    struct cache_key other = key;
    *(field == 0   ? &other.device
      : field == 1 ? &other.config
      : field == 2 ? &other.problem
                   : &other.options) = "other";
    assert_variants(fixture->cache, &other, "");
    store(fixture->cache, &other, record_of("theirs", 1));
    assert_variants(fixture->cache, &other, "theirs");
  }
  assert_variants(fixture->cache, &key, "mine");
}

static void older_records_become_history(void **state) {
  struct fixture *fixture = *state;
  for (int i = 1; i <= 3; i++) store(fixture->cache, &key, record_of("v", i));
  store(fixture->cache, &key, record_of("w", 2));
  assert_variants(fixture->cache, &key, "w v");
  assert_sql(fixture, "SELECT seconds, superseded FROM record WHERE variant = 'v' ORDER BY id", "1.0|1|2.0|1|3.0|0");
}

static void nothing_known_is_no_error(void **state) {
  struct fixture *fixture = *state;
  assert_variants(fixture->cache, &key, "");
}

/* ---- Where it lies ---- */

static void without_a_path_nothing_is_written(void **state) {
  (void)state;
  static const char *const paths[] = {"", "none", NULL};
  for (int i = 0; i < 3; i++) {
    struct cache *cache;
    struct text warning = {0};
    assert_int_equal(cache_open(paths[i], &cache, &warning, NULL), CUGEN_OK);
    assert_string_equal(text_get(&warning), "");
    assert_string_equal(cache_path(cache), "none");
    store(cache, &key, record_of("v", 1));
    assert_variants(cache, &key, "v");
    cache_close(cache);
  }
  assert_false(file_exists("none"));
}

static void closing_nothing_is_allowed(void **state) {
  (void)state;
  cache_close(NULL);
}

static void folders_are_made_and_names_may_be_odd(void **state) {
  struct fixture *fixture = *state;
  struct text path = {0}, warning = {0};
  struct cache *cache;
  text_addf(&path, "%s/a b/c?d#e%%41/file: x.db", text_get(&fixture->folder));
  assert_int_equal(cache_open(text_get(&path), &cache, &warning, NULL), CUGEN_OK);
  assert_string_equal(text_get(&warning), "");
  assert_string_equal(cache_path(cache), text_get(&path));
  store(cache, &key, record_of("v", 1));
  cache_close(cache);
  assert_true(file_exists(text_get(&path)));
  text_free(&path);
}

static void an_empty_file_is_a_new_cache(void **state) {
  struct fixture *fixture = *state;
  cache_close(fixture->cache);
  assert_int_equal(file_write(text_get(&fixture->path), "", 0, NULL), CUGEN_OK);
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  store(fixture->cache, &key, record_of("v", 1));
}

/* Closing the second must not drop the first one's locks, nor hide what the other stores. */
static void two_handles_of_one_process_agree(void **state) {
  struct fixture *fixture = *state;
  struct cache *second;
  assert_int_equal(cache_open(text_get(&fixture->path), &second, NULL, NULL), CUGEN_OK);
  store(fixture->cache, &key, record_of("a", 1));
  store(second, &key, record_of("b", 2));
  assert_variants(fixture->cache, &key, "a b");
  assert_variants(second, &key, "a b");
  cache_close(second);
  store(fixture->cache, &key, record_of("c", 3));
  assert_variants(fixture->cache, &key, "a b c");
}

static void *store_fifty(void *cache) {
  for (int i = 0; i < 50; i++) {
    struct text variant = {0};
    text_addf(&variant, "%lu-%d", (unsigned long)pthread_self(), i);
    struct cache_record record = record_of(text_get(&variant), i);
    int status = cache_store(cache, &key, &record, NULL);
    text_free(&variant);
    if (status) return cache;
  }
  return NULL;
}

static void threads_may_share_one(void **state) {
  struct fixture *fixture = *state;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++) assert_int_equal(pthread_create(&threads[i], NULL, store_fifty, fixture->cache), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  assert_sql(fixture, "SELECT count(*) FROM record", "200");
}

/* ---- The format: a change here needs a higher FORMAT_VERSION and docs/cache.md ---- */

static void the_format_is_pinned(void **state) {
  struct fixture *fixture = *state;
  assert_sql(fixture, "PRAGMA application_id", "1668638574");
  assert_sql(fixture, "PRAGMA user_version", "7");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('space')",
             "id,device,config,problem,options");
  assert_sql(
      fixture, "SELECT group_concat(name) FROM pragma_table_info('record')",
      "id,space_id,superseded,variant,hash,outcome,reason,samples,seconds,seconds_min,seconds_p20,seconds_p80,"
      "error,threads,registers,max_threads,static_shared,dynamic_shared,local_bytes,spill_bytes,constant_bytes,"
      "occupancy,limiter,flops,bytes,clock_mhz,power_watts,throttle,driver_version,nvrtc_version,measured_at,"
      "source_hash,launches_hash,arguments_hash,proof_hash,cluster_blocks,active_clusters,verdict,unverified,origin,"
      "compile_seconds,measure_seconds");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('image')",
             "id,key,checksum,hash,made_at,log,data,seal");
  assert_sql(fixture, "SELECT group_concat(name) FROM pragma_table_info('image_entry')",
             "key,position,name,registers,max_threads,static_shared,local_bytes,spill_bytes,constant_bytes");
  assert_sql(fixture,
             "SELECT group_concat(name) FROM (SELECT name FROM sqlite_schema WHERE type = 'index' AND sql <> '' "
             "ORDER BY name)",
             "record_current,record_fastest,record_variant");
}

/* ---- Format 1, as cugen 0.1.0's first builds made it ---- */

static const char format_1_sql[] =
    "PRAGMA application_id = 1668638574; PRAGMA user_version = 1;"
    "CREATE TABLE space (\n"
    "  id INTEGER PRIMARY KEY, device TEXT NOT NULL, config TEXT NOT NULL, problem TEXT NOT NULL,\n"
    "  options TEXT NOT NULL, UNIQUE (device, config, problem, options)) STRICT;\n"
    "CREATE TABLE record (\n"
    "  id INTEGER PRIMARY KEY, space_id INTEGER NOT NULL REFERENCES space, superseded INTEGER NOT NULL,\n"
    "  variant TEXT NOT NULL, hash TEXT NOT NULL, outcome INTEGER NOT NULL, reason TEXT NOT NULL, samples INTEGER "
    "NOT "
    "NULL, seconds REAL, seconds_min REAL, seconds_p20 REAL, seconds_p80 REAL, error REAL, threads INTEGER NOT NULL, "
    "registers INTEGER NOT NULL, max_threads INTEGER NOT NULL, static_shared INTEGER NOT NULL, dynamic_shared "
    "INTEGER "
    "NOT NULL, local_bytes INTEGER NOT NULL, spill_bytes INTEGER NOT NULL, constant_bytes INTEGER NOT NULL, "
    "occupancy "
    "REAL, limiter TEXT NOT NULL, flops REAL, bytes REAL, clock_mhz INTEGER NOT NULL, power_watts INTEGER NOT NULL, "
    "throttle TEXT NOT NULL, driver_version INTEGER NOT NULL, nvrtc_version INTEGER NOT NULL, measured_at INTEGER "
    "NOT "
    "NULL) STRICT;\n"
    "CREATE UNIQUE INDEX record_current ON record (space_id, variant) WHERE superseded = 0;\n"
    "CREATE TABLE image (\n"
    "  id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, checksum TEXT NOT NULL, hash TEXT NOT NULL,\n"
    "  made_at INTEGER NOT NULL, log TEXT NOT NULL, data BLOB NOT NULL) STRICT;\n"
    "CREATE TABLE image_entry (\n"
    "  key TEXT NOT NULL REFERENCES image (key) ON DELETE CASCADE, position INTEGER NOT NULL, name TEXT NOT NULL,\n"
    "  registers INTEGER NOT NULL, max_threads INTEGER NOT NULL, static_shared INTEGER NOT NULL,\n"
    "  local_bytes INTEGER NOT NULL, spill_bytes INTEGER NOT NULL, constant_bytes INTEGER NOT NULL,\n"
    "  PRIMARY KEY (key, position)) STRICT, WITHOUT ROWID;\n"
    "INSERT INTO space VALUES (1, 'NVIDIA H200 sm_90 132 SMs', 'matmul', 'M=64 N=64', '-arch=sm_90a');"
    "INSERT INTO record VALUES (1, 1, 1, 'v', 'old hash', 0, '', 9, 4.0, 1.0, 2.0, 3.0, NULL, 1, 2, 3, 4, 5, 6, 7, "
    "8, "
    "0.5, 'threads', 10.0, 11.0, 12, 13, '', 14, 15, 16);"
    "INSERT INTO record VALUES (2, 1, 0, 'v', '0123456789abcdef0123456789abcdef', 0, 'why', 9, 3.0, 1.0, 2.0, 3.0, "
    "NULL, 1, 2, 3, 4, 5, 6, 7, 8, 0.5, 'threads', 10.0, 11.0, 12, 13, 'heat', 14, 15, 16);"
    "INSERT INTO image VALUES (1, 'key', 'ignored', 'hash', 0, 'log', x'00');";

static void make_format_1(struct fixture *fixture, const char *more) {
  sqlite3 *db;
  cache_close(fixture->cache);
  fixture->cache = NULL;
  assert_int_equal(unlink(text_get(&fixture->path)), 0);
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, format_1_sql, NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(sqlite3_exec(db, more, NULL, NULL, NULL), SQLITE_OK);
  sqlite3_close(db);
}

static const char everything_sql[] =
    "SELECT id, space_id, superseded, variant, hash, outcome, reason, samples, seconds, seconds_min, seconds_p20, "
    "seconds_p80, error IS NULL, threads, registers, max_threads, static_shared, dynamic_shared, local_bytes, "
    "spill_bytes, constant_bytes, occupancy, limiter, flops, bytes, clock_mhz, power_watts, throttle, "
    "driver_version, "
    "nvrtc_version, measured_at FROM record ORDER BY id";
static const char everything[] =
    "1|1|1|v|old hash|0||9|4.0|1.0|2.0|3.0|1|1|2|3|4|5|6|7|8|0.5|threads|10.0|11.0|12|13||14|15|16|"
    "2|1|0|v|0123456789abcdef0123456789abcdef|0|why|9|3.0|1.0|2.0|3.0|1|1|2|3|4|5|6|7|8|0.5|threads|10.0|11.0|12|13|"
    "heat|14|15|16";

static void format_1_is_brought_up_to_date(void **state) {
  struct fixture *fixture = *state;
  make_format_1(fixture, "");
  assert_sql(fixture, everything_sql, everything);
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  assert_sql(fixture, "PRAGMA user_version", "7");
  assert_sql(fixture, everything_sql, everything);
  assert_sql(fixture, "SELECT DISTINCT source_hash || launches_hash || arguments_hash || proof_hash FROM record", "");
  assert_sql(fixture, "SELECT count(*) FROM image", "0"); /* nobody sealed it */
  the_format_is_pinned(state);                            /* the same tables as new ones */
  assert_variants(fixture->cache, &key, "v");
  store(fixture->cache, &key, full);
  assert_variants(reopen(fixture), &key, "v tiled tile=16 pad=1");
}

/* Stores a record that knows everything, takes away what came after the format, and opens the file again. */
static void bring_up_to_date(void **state, const char *const *drops, const struct cache_record *want) {
  struct fixture *fixture = *state;
  struct cache_record *records;
  size_t count;
  store(fixture->cache, &key, full);
  cache_close(fixture->cache);
  fixture->cache = NULL;
  while (*drops) assert_sql(fixture, *drops++, "");
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  the_format_is_pinned(state);
  assert_int_equal(cache_load(fixture->cache, &key, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_record(&records[0], want);
  cache_record_free(&records[0]);
  free(records);
}

#define DROP(column) "ALTER TABLE record DROP COLUMN " column
#define DROP_SEAL    "DROP INDEX record_variant", "ALTER TABLE image DROP COLUMN seal"
#define DROP_COST    DROP_SEAL, DROP("compile_seconds"), DROP("measure_seconds")
#define DROP_ORIGIN                                                                                                  \
  "DROP INDEX record_current", DROP("origin"),                                                                       \
      "CREATE UNIQUE INDEX record_current ON record (space_id, variant) WHERE superseded = 0"

/* Format 2 had the four hashes: here of a record that knows them. */
static void format_2_is_brought_up_to_date(void **state) {
  static const char *const drops[] = {DROP_COST,
                                      DROP_ORIGIN,
                                      DROP("verdict"),
                                      DROP("unverified"),
                                      DROP("cluster_blocks"),
                                      DROP("active_clusters"),
                                      "PRAGMA user_version = 2",
                                      NULL};
  struct cache_record want = full;
  want.compile_seconds = want.measure_seconds = 0;
  want.cluster_blocks = want.active_clusters = want.verdict = 0;
  want.unverified[0] = '\0';
  bring_up_to_date(state, drops, &want);
}

/* Format 3 had no verdicts. */
static void format_3_is_brought_up_to_date(void **state) {
  static const char *const drops[] = {
      DROP_COST, DROP_ORIGIN, DROP("verdict"), DROP("unverified"), "PRAGMA user_version = 3", NULL};
  struct cache_record want = full;
  want.compile_seconds = want.measure_seconds = 0;
  want.verdict = 0;
  want.unverified[0] = '\0';
  bring_up_to_date(state, drops, &want);
}

/* Format 4 did not know which config file a record is of. */
static void format_4_is_brought_up_to_date(void **state) {
  static const char *const drops[] = {DROP_COST, DROP_ORIGIN, "PRAGMA user_version = 4", NULL};
  struct cache_record want = full;
  want.compile_seconds = want.measure_seconds = 0;
  bring_up_to_date(state, drops, &want);
}

/* Format 5 did not know what a record cost. */
static void format_5_is_brought_up_to_date(void **state) {
  static const char *const drops[] = {DROP_COST, "PRAGMA user_version = 5", NULL};
  struct cache_record want = full;
  want.compile_seconds = want.measure_seconds = 0;
  bring_up_to_date(state, drops, &want);
}

/* Format 6 found a set's history by reading all records, and had images that anybody could have made: they are gone, the
   records are not. */
static void format_6_is_brought_up_to_date(void **state) {
  static const char *const drops[] = {
      DROP_SEAL, "INSERT INTO image VALUES (1, 'key', 'checksum', 'hash', 0, 'log', x'00')",
      "INSERT INTO image_entry VALUES ('key', 0, 'kernel', 1, 2, 3, 4, 5, 6)", "PRAGMA user_version = 6", NULL};
  bring_up_to_date(state, drops, &full);
  assert_sql(*state, "SELECT (SELECT count(*) FROM image) + (SELECT count(*) FROM image_entry)", "0");
}

/* Two config files that give their kernels one name: each has a current record of a variant, and the hash says whose it is. */
static void config_files_keep_their_records_apart(void **state) {
  struct cache *cache = ((struct fixture *)*state)->cache;
  struct cache_key a = key, b = key;
  struct cache_record mine = record_of("v", 1), other = record_of("v", 2), *records;
  size_t count;
  a.origin = "/a/k.lua";
  b.origin = "/b/k.lua";
  other.hash.hex[0] = mine.hash.hex[0] == 'a' ? 'b' : 'a';
  store(cache, &a, mine);
  store(cache, &b, other);
  assert_int_equal(cache_load(cache, &b, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 2);
  assert_true(records[0].elsewhere && !records[1].elsewhere);
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
  /* Measured again from the first file: the second's stays. */
  store(cache, &a, record_of("v", 3));
  assert_sql(*state,
             "SELECT group_concat(origin || ' ' || seconds, '|') FROM (SELECT * FROM record WHERE superseded = 0 "
             "ORDER BY origin)",
             "/a/k.lua 3.0|/b/k.lua 2.0");
  /* The file was moved, or a record was imported: the same kernel has one current record, whosever it is. */
  store(cache, &key, other);
  store(cache, &a, record_of("v", 4));
  assert_sql(*state, "SELECT group_concat(origin || ' ' || seconds, '|') FROM record WHERE superseded = 0",
             "/a/k.lua 4.0");
}

/* The third of four new columns is there already, so that the migration fails halfway. */
static void a_failed_migration_leaves_format_1(void **state) {
  struct fixture *fixture = *state;
  cugen_error err = {0};
  make_format_1(fixture, "ALTER TABLE record ADD COLUMN arguments_hash TEXT NOT NULL DEFAULT ''");
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, &err), CUGEN_ERROR_CACHE);
  assert_non_null(strstr(err.message, "cannot bring it up to date"));
  assert_non_null(strstr(err.message, text_get(&fixture->path)));
  assert_sql(fixture, "PRAGMA user_version", "1");
  assert_sql(fixture, "SELECT count(*) FROM pragma_table_info('record') WHERE name LIKE '%\\_hash' ESCAPE '\\'", "1");
  assert_sql(fixture, everything_sql, everything);
}

/* NFS, SMB2, FUSE: no write-ahead log there, and an existing one is given up. */
static void network_file_systems_get_no_log(void **state) {
  struct fixture *fixture = *state;
  static const long types[] = {0x6969, (long)0xfe534d42, 0x65735546};
  store(fixture->cache, &key, record_of("v", 1));
  for (int i = 0; i < 3; i++) {
    pretended_type = 0;
    store(reopen(fixture), &key, record_of("v", 1)); /* the first write changes it */
    assert_sql(fixture, "PRAGMA journal_mode", "wal");
    pretended_type = types[i];
    struct cache *cache = reopen(fixture);
    assert_sql(fixture, "PRAGMA journal_mode", "delete");
    assert_variants(cache, &key, "v");
    store(cache, &key, record_of("v", 2));
    struct cache *second; /* the exclusive lock of the change is gone */
    assert_int_equal(cache_open(text_get(&fixture->path), &second, NULL, NULL), CUGEN_OK);
    store(second, &key, record_of("v", 3));
    cache_close(second);
    pretended_type = 0;
  }
}

/* ---- Images ---- */

static struct compiled image_of(const char *content) {
  struct compiled compiled = {
      .image = (char *)(uintptr_t)content,
      .image_length = strlen(content) + 1,
      .image_hash = {"feedfeedfeedfeedfeedfeedfeedfeed"},
      .entry_count = 2,
      .entries = {(char *)(uintptr_t) "first", (char *)(uintptr_t) "second<4>"},
      .resources = {{1, 2, 3, 4, 5, 6}, {7, 8, 9, 10, 11, 12}},
      .log = (char *)(uintptr_t) "warning",
  };
  return compiled;
}

static void assert_image(struct cache *cache, const char *image_key, const char *want) {
  struct compiled got;
  bool found;
  assert_int_equal(cache_image_load(cache, image_key, &got, &found, NULL), CUGEN_OK);
  assert_int_equal(found, want != NULL);
  if (want) {
    struct compiled compiled = image_of(want);
    assert_int_equal(got.image_length, compiled.image_length);
    assert_string_equal(got.image, want);
    assert_string_equal(got.image_hash.hex, compiled.image_hash.hex);
    assert_int_equal(got.entry_count, 2);
    assert_string_equal(got.entries[0], "first");
    assert_string_equal(got.entries[1], "second<4>");
    assert_memory_equal(got.resources, compiled.resources, 2 * sizeof *got.resources);
    assert_string_equal(got.log, "warning");
  }
  compiled_free(&got);
}

static void images_come_back(void **state) {
  struct fixture *fixture = *state;
  struct compiled image = image_of("cubin");
  assert_image(fixture->cache, "key", NULL);
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_image(reopen(fixture), "key", "cubin");
  assert_image(fixture->cache, "other", NULL);
}

static void a_later_image_replaces_the_earlier(void **state) {
  struct fixture *fixture = *state;
  struct compiled old = image_of("old"), new = image_of("new");
  assert_int_equal(cache_image_store(fixture->cache, "key", &old, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, "key", &new, NULL), CUGEN_OK);
  assert_image(fixture->cache, "key", "new");
  assert_sql(fixture, "SELECT count(*) FROM image_entry", "2");
}

static void images_are_replaced_in_memory_too(void **state) {
  (void)state;
  struct cache *cache;
  struct compiled old = image_of("old"), new = image_of("new");
  assert_int_equal(cache_open("none", &cache, NULL, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(cache, "key", &old, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(cache, "key", &new, NULL), CUGEN_OK);
  assert_image(cache, "key", "new");
  cache_close(cache);
}

/* It would be loaded onto a device: damage that SQLite cannot see must not get that far. */
static void a_damaged_image_is_compiled_again(void **state) {
  struct fixture *fixture = *state;
  struct compiled image = image_of("cubin");
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_sql(fixture, "UPDATE image SET data = x'0102'", "");
  assert_image(fixture->cache, "key", NULL);
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_image(fixture->cache, "key", "cubin");
}

/* ---- Looking through, removing, checking ---- */

/* "config problem: records failed history best;" of each set, in order. */
static void assert_spaces(struct cache *cache, const char *want) {
  struct cache_space *spaces;
  size_t count;
  struct text got = {0};
  assert_int_equal(cache_spaces(cache, &spaces, &count, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++)
    text_addf(&got, "%s %s: %zu %zu %zu %s;", spaces[i].config, spaces[i].problem, spaces[i].records,
              spaces[i].failed, spaces[i].history, spaces[i].best);
  cache_spaces_free(spaces, count);
  assert_string_equal(text_get(&got), want);
  text_free(&got);
}

/* Two problems of matmul, one of reduce; measured at EPOCH + 100, 200, ... */
enum { EPOCH = 1700000000 };

static void store_some(struct cache *cache) {
  static const struct cache_key keys[] = {{"H200", "matmul", "M=64 N=64", "arch sm_90a", NULL, OBJECTIVE_TIME, NULL},
                                          {"H200", "matmul", "M=128 N=64", "arch sm_90a", NULL, OBJECTIVE_TIME, NULL},
                                          {"A100", "reduce", "n=64", "arch sm_80", NULL, OBJECTIVE_TIME, NULL}};
  for (int i = 0; i < 3; i++) {
    for (int variant = 0; variant < 3; variant++) {
      struct text name = {0};
      text_addf(&name, "v%d", variant);
      struct cache_record record = record_of(text_get(&name), 3 - variant);
      if (variant == 2) record.outcome = CUGEN_OUTCOME_WRONG;
      record.hash = hash_bytes(&i, sizeof i);
      record.source_hash = hash_bytes(&variant, sizeof variant);
      record.measured_at = EPOCH + 100 * (variant + 1);
      store(cache, &keys[i], record);
      text_free(&name);
    }
  }
  struct cache_record again = record_of("v0", 1.5);
  again.hash = again.source_hash = hash_bytes("", 0);
  again.measured_at = EPOCH + 400;
  store(cache, &keys[0], again);
}

static void sets_are_listed(void **state) {
  struct fixture *fixture = *state;
  assert_spaces(fixture->cache, "");
  store_some(fixture->cache);
  assert_spaces(fixture->cache, "matmul M=128 N=64: 3 1 0 v1;matmul M=64 N=64: 3 1 1 v0;reduce n=64: 3 1 0 v1;");
  const struct cache_key first = {"H200", "matmul", "M=64 N=64", "arch sm_90a", NULL, OBJECTIVE_TIME, NULL};
  struct cache_record *records;
  size_t count;
  assert_int_equal(cache_history(fixture->cache, &first, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_true(records->seconds == 3);
  cache_record_free(records);
  free(records);
}

static void assert_removed(struct fixture *fixture, struct cache_filter filter, size_t spaces, size_t records,
                           size_t history, const char *left) {
  struct cache_removal counted, removed;
  assert_int_equal(cache_remove(fixture->cache, &filter, false, &counted, NULL), CUGEN_OK);
  assert_int_equal(cache_remove(fixture->cache, &filter, true, &removed, NULL), CUGEN_OK);
  assert_memory_equal(&counted, &removed, sizeof removed);
  assert_int_equal(removed.spaces, spaces);
  assert_int_equal(removed.records, records);
  assert_int_equal(removed.history, history);
  assert_spaces(reopen(fixture), left);
}

static void records_are_removed_by_what_they_are(void **state) {
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
  assert_removed(fixture, (struct cache_filter){.device = "A1"}, 1, 2, 0, "matmul M=128 N=64: 1 0 0 v1;");
  assert_removed(fixture, (struct cache_filter){0}, 1, 1, 0, "");
}

/* An image stays while a record wants its source, or may want it. */
static void unwanted_images_go(void **state) {
  struct fixture *fixture = *state;
  static const struct cache_key keys[] = {{"H200", "a", "", "arch sm_90a", NULL, OBJECTIVE_TIME, NULL},
                                          {"H200", "old", "", "arch sm_90a", NULL, OBJECTIVE_TIME, NULL}};
  struct cache_record record = record_of("v", 1);
  struct compiled image = image_of("cubin");
  struct kernel_spec spec = {.source_hash = hash_bytes("a", 1)};
  struct text wanted = {0}, unwanted = {0};
  struct cache_removal removed;
  record.source_hash = spec.source_hash;
  store(fixture->cache, &keys[0], record);
  assert_int_equal(cache_image_key(&spec, "sm_90a", "arch sm_90a", 13000, &wanted, NULL), CUGEN_OK);
  spec.source_hash = hash_bytes("b", 1);
  assert_int_equal(cache_image_key(&spec, "sm_90a", "arch sm_90a", 13000, &unwanted, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, text_get(&wanted), &image, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, text_get(&unwanted), &image, NULL), CUGEN_OK);
  store(fixture->cache, &keys[1], record_of("of unknown source", 1));
  const struct cache_filter nothing = {.config = "nothing"}, old = {.config = "old"}, all = {0};
  assert_int_equal(cache_remove(fixture->cache, &nothing, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.images, 0); /* it might be of unknown source */
  assert_int_equal(cache_remove(fixture->cache, &old, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.images, 1);
  assert_int_equal(removed.image_bytes, 6);
  assert_image(fixture->cache, text_get(&wanted), "cubin");
  assert_image(fixture->cache, text_get(&unwanted), NULL);
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.images, 1);
  assert_sql(fixture, "SELECT (SELECT count(*) FROM image) + (SELECT count(*) FROM image_entry)", "0");
  text_free(&wanted);
  text_free(&unwanted);
}

/* Whoever has read the records goes on; the images that went are compiled again. */
static void a_reader_outlives_removal(void **state) {
  struct fixture *fixture = *state;
  struct cache *reader;
  struct cache_removal removed;
  const struct cache_filter all = {0};
  store_some(fixture->cache);
  assert_int_equal(cache_open(text_get(&fixture->path), &reader, NULL, NULL), CUGEN_OK);
  assert_spaces(reader, "matmul M=128 N=64: 3 1 0 v1;matmul M=64 N=64: 3 1 1 v0;reduce n=64: 3 1 0 v1;");
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_OK);
  assert_spaces(reader, "");
  store(reader, &key, record_of("v", 1));
  assert_variants(fixture->cache, &key, "v");
  cache_close(reader);
}

/* Somebody who writes is in the way of removing, and not of counting what would go. */
static void counting_waits_for_nobody(void **state) {
  struct fixture *fixture = *state;
  struct cache_removal removed;
  const struct cache_filter all = {0};
  sqlite3 *writer;
  store_some(fixture->cache);
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &writer), SQLITE_OK);
  assert_int_equal(sqlite3_exec(writer, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  cache_set_patience(fixture->cache, 0);
  assert_int_equal(cache_remove(fixture->cache, &all, false, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.records, 9);
  assert_int_equal(removed.spaces, 3);
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_ERROR_IO);
  sqlite3_close(writer);
  assert_int_equal(cache_remove(fixture->cache, &all, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(removed.records, 9);
  assert_spaces(fixture->cache, "");
}

static void assert_verified(struct fixture *fixture, const char *wrong) {
  struct cache_checked checked;
  struct text got = {0}, foreign = {0};
  assert_int_equal(cache_verify(reopen(fixture), &checked, &got, &foreign, NULL), CUGEN_OK);
  assert_string_equal(text_get(&foreign), "");
  if (*wrong)
    assert_non_null(strstr(text_get(&got), wrong));
  else
    assert_string_equal(text_get(&got), "");
  text_free(&got);
}

/* Each thing is put wrong, found, and put right again. */
static void what_is_wrong_is_found(void **state) {
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
      {"UPDATE record SET hash = 'x' WHERE id = 1", "hash is not a hash",
       "UPDATE record SET hash = '0123456789abcdef0123456789abcdef' WHERE id = 1"},
      {"UPDATE record SET proof_hash = 'x' WHERE id = 1", "proof_hash is not a hash",
       "UPDATE record SET proof_hash = '' WHERE id = 1"},
      {"UPDATE record SET superseded = 2 WHERE id = 1", "superseded is neither 0 nor 1",
       "UPDATE record SET superseded = 1 WHERE id = 1"},
      {"UPDATE record SET space_id = 99 WHERE id = 1", "a row of record belongs to no row of space",
       "UPDATE record SET space_id = 1 WHERE id = 1"},
      {"UPDATE record SET measured_at = 5 WHERE id = 1", "measured_at is out of range",
       "UPDATE record SET measured_at = 1700000000 WHERE id = 1"},
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
    if (strncmp(cases[i][0], "UPDATE image", 12) == 0) assert_sql(fixture, "DELETE FROM image_entry", "");
    assert_verified(fixture, "");
  }
}

/* Each is refused, says so, and is taken again when it is gone. */
static void what_is_not_as_cugen_makes_it_is_refused(void **state) {
  struct fixture *fixture = *state;
  static const char *const cases[][3] = {
      {"CREATE TABLE photos (name)", "table 'photos'", "DROP TABLE photos"},
      {"CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM space; END", "trigger 't'", "DROP TRIGGER t"},
      {"CREATE VIEW v AS SELECT * FROM record", "view 'v'", "DROP VIEW v"},
      {"CREATE INDEX i ON record (upper(variant))", "index 'i'", "DROP INDEX i"},
      {"CREATE VIRTUAL TABLE f USING fts5(x)", "table 'f", "DROP TABLE f"},
      {"ANALYZE", "table 'sqlite_stat1'", "DROP TABLE sqlite_stat1"},
      {"ALTER TABLE record ADD COLUMN colour TEXT", "table 'record'", "ALTER TABLE record DROP COLUMN colour"},
      {"ALTER TABLE space ADD COLUMN g TEXT AS (upper(device))", "table 'space'", "ALTER TABLE space DROP COLUMN g"},
      {"ALTER TABLE space RENAME COLUMN options TO choices", "table 'space'",
       "ALTER TABLE space RENAME COLUMN choices TO options"},
  };
  store(fixture->cache, &key, record_of("v", 1));
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cugen_error err = {0};
    cache_close(fixture->cache);
    assert_sql(fixture, cases[i][0], "");
    assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, &err), CUGEN_ERROR_CACHE);
    assert_non_null(strstr(err.message, cases[i][1]));
    assert_non_null(strstr(err.message, "cugen cache export"));
    assert_sql(fixture, cases[i][2], "");
    assert_variants(reopen(fixture), &key, "v");
  }
}

/* ---- Whose images ---- */

static struct compiled large_image(size_t length) {
  struct compiled image = image_of("cubin");
  image.image = calloc(1, length);
  image.image_length = length;
  assert_non_null(image.image);
  return image;
}

static void an_image_over_64_mb_is_not_kept(void **state) {
  struct fixture *fixture = *state;
  struct compiled image = large_image(CACHE_MAX_IMAGE + 1);
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_sql(fixture, "SELECT count(*) FROM image", "0");
  image.image_length--;
  assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
  assert_sql(fixture, "SELECT length(data) FROM image", "67108864");
  free(image.image);
  struct compiled got;
  bool found;
  assert_int_equal(cache_image_load(fixture->cache, "key", &got, &found, NULL), CUGEN_OK);
  assert_true(found && got.image_length == CACHE_MAX_IMAGE);
  compiled_free(&got);
  assert_sql(fixture, "UPDATE image SET data = zeroblob(300000000)", "");
  assert_image(fixture->cache, "key", NULL);
  assert_verified(fixture, "is not what was stored");
}

/* Every value that is believed of an image, changed by somebody who does not have the key. */
static void all_of_an_image_is_sealed(void **state) {
  struct fixture *fixture = *state;
  static const char *const changes[] = {
      "UPDATE image SET data = x'00'",
      "UPDATE image SET data = x''",
      "UPDATE image SET hash = 'beefbeefbeefbeefbeefbeefbeefbeef'",
      "UPDATE image SET log = 'other'",
      "UPDATE image SET seal = x''",
      "UPDATE image SET seal = zeroblob(32)",
      "UPDATE image_entry SET name = 'system' WHERE position = 0",
      "UPDATE image_entry SET position = 2 - position",
      "UPDATE image_entry SET registers = -1",
      "UPDATE image_entry SET max_threads = 1",
      "UPDATE image_entry SET static_shared = -9223372036854775808",
      "UPDATE image_entry SET local_bytes = 1",
      "UPDATE image_entry SET spill_bytes = 1",
      "UPDATE image_entry SET constant_bytes = 1",
      "DELETE FROM image_entry WHERE position = 1",
      "INSERT INTO image_entry SELECT key, 2, 'third', 1, 2, 3, 4, 5, 6 FROM image",
  };
  struct compiled image = image_of("cubin");
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    assert_int_equal(cache_image_store(fixture->cache, "key", &image, NULL), CUGEN_OK);
    assert_image(fixture->cache, "key", "cubin");
    assert_sql(fixture, changes[i], "");
    assert_image(fixture->cache, "key", NULL);
  }
}

/* The seal of another kernel's image is none of this one. */
static void a_seal_is_of_one_image(void **state) {
  struct fixture *fixture = *state;
  struct compiled image = image_of("cubin");
  assert_int_equal(cache_image_store(fixture->cache, "a", &image, NULL), CUGEN_OK);
  assert_int_equal(cache_image_store(fixture->cache, "b", &image, NULL), CUGEN_OK);
  assert_sql(fixture, "UPDATE image SET seal = (SELECT seal FROM image WHERE key LIKE 'b %') WHERE key LIKE 'a %'",
             "");
  assert_image(fixture->cache, "a", NULL);
  assert_image(fixture->cache, "b", "cubin");
  assert_sql(fixture, "UPDATE image SET key = 'c' || substr(key, 2) WHERE key LIKE 'b %'", "");
  assert_sql(fixture, "UPDATE image_entry SET key = 'c' || substr(key, 2) WHERE key LIKE 'b %'", "");
  assert_image(fixture->cache, "c", NULL);
  assert_sql(fixture, "DELETE FROM image WHERE key LIKE 'a %'", "");
  assert_int_equal(cache_image_store(fixture->cache, "a", &image, NULL), CUGEN_OK); /* whose entries are there */
  assert_image(fixture->cache, "a", "cubin");
}

/* Two users and one database: each has images of its own. */
static void users_keep_their_images_apart(void **state) {
  struct fixture *fixture = *state;
  struct compiled mine = image_of("mine"), other = image_of("other");
  struct cache_checked checked;
  struct text wrong = {0}, foreign = {0}, place = {0};
  char *before = getenv("XDG_STATE_HOME") ? strdup(getenv("XDG_STATE_HOME")) : NULL;
  assert_int_equal(cache_image_store(fixture->cache, "key", &mine, NULL), CUGEN_OK);
  text_addf(&place, "%s/state", text_get(&fixture->folder));
  assert_int_equal(setenv("XDG_STATE_HOME", text_get(&place), 1), 0);
  assert_image(reopen(fixture), "key", NULL);
  assert_int_equal(cache_image_store(fixture->cache, "key", &other, NULL), CUGEN_OK);
  assert_image(reopen(fixture), "key", "other");
  assert_int_equal(cache_verify(fixture->cache, &checked, &wrong, &foreign, NULL), CUGEN_OK);
  assert_string_equal(text_get(&wrong), "");
  assert_non_null(strstr(text_get(&foreign), "image 'key sealed by "));
  text_free(&foreign);
  assert_int_equal(checked.images, 2);
  assert_int_equal(checked.foreign_images, 1);
  before ? setenv("XDG_STATE_HOME", before, 1) : unsetenv("XDG_STATE_HOME");
  assert_image(reopen(fixture), "key", "mine");
  free(before);
  text_free(&place);
}

#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      WITH_CACHE(every_field_comes_back),
      WITH_CACHE(what_is_no_number_stays_none),
      WITH_CACHE(right_ones_come_first_by_time),
      WITH_CACHE(cost_is_by_the_objective),
      WITH_CACHE(problems_may_lack_what_has_its_default),
      cmocka_unit_test(what_is_lacked_is_no_part_of_the_proof),
      WITH_CACHE(other_work_is_another_record),
      WITH_CACHE(keys_keep_records_apart),
      WITH_CACHE(older_records_become_history),
      WITH_CACHE(nothing_known_is_no_error),
      cmocka_unit_test(without_a_path_nothing_is_written),
      cmocka_unit_test(closing_nothing_is_allowed),
      cmocka_unit_test(images_are_replaced_in_memory_too),
      WITH_CACHE(folders_are_made_and_names_may_be_odd),
      WITH_CACHE(an_empty_file_is_a_new_cache),
      WITH_CACHE(two_handles_of_one_process_agree),
      WITH_CACHE(threads_may_share_one),
      WITH_CACHE(the_format_is_pinned),
      WITH_CACHE(format_1_is_brought_up_to_date),
      WITH_CACHE(format_2_is_brought_up_to_date),
      WITH_CACHE(format_3_is_brought_up_to_date),
      WITH_CACHE(format_4_is_brought_up_to_date),
      WITH_CACHE(format_5_is_brought_up_to_date),
      WITH_CACHE(format_6_is_brought_up_to_date),
      WITH_CACHE(config_files_keep_their_records_apart),
      WITH_CACHE(a_failed_migration_leaves_format_1),
      WITH_CACHE(network_file_systems_get_no_log),
      WITH_CACHE(images_come_back),
      WITH_CACHE(a_later_image_replaces_the_earlier),
      WITH_CACHE(sets_are_listed),
      WITH_CACHE(records_are_removed_by_what_they_are),
      WITH_CACHE(unwanted_images_go),
      WITH_CACHE(a_reader_outlives_removal),
      WITH_CACHE(counting_waits_for_nobody),
      WITH_CACHE(what_is_wrong_is_found),
      WITH_CACHE(a_damaged_image_is_compiled_again),
      WITH_CACHE(what_is_not_as_cugen_makes_it_is_refused),
      WITH_CACHE(an_image_over_64_mb_is_not_kept),
      WITH_CACHE(all_of_an_image_is_sealed),
      WITH_CACHE(a_seal_is_of_one_image),
      WITH_CACHE(users_keep_their_images_apart),
  };
  return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
