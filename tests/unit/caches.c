/* See caches.h. */
#include "caches.h"

#include <sqlite3.h>

#include "base/system.h"
#include "runtime/store/engine.h"
#include "runtime/store/postgres/connection.h"
#include "tests/testing.h"

const struct cache_key key = {
    "NVIDIA H200 sm_90 132 SMs", "matmul", "M=64 N=64", "-arch=sm_90a", NULL, NULL, 0};

static const char *server(void) {
  return getenv("CUGEN_TEST_CACHE");
}

static int empty_server(void) {
  struct pg_cache cache = {.address = strdup(server())};
  cugen_error err = {0};
  int status = libpq_open(&cache.pq, &err);
  if (!status) status = pg_connect(&cache, &err);
  if (!status)
    status = pg_run_script(&cache, "DROP SCHEMA IF EXISTS cugen CASCADE", "empty it", &err);
  if (status) print_error("%s\n", err.message);
  pg_disconnect(&cache);
  free(cache.address);
  return status;
}

void only_of_a_file(void) {
  if (server()) skip();
}

int cache_open_fresh(struct cache **out) {
  if (server() && empty_server()) return -1;
  return cache_open(server() ? server() : "none", out, NULL, NULL);
}

int cache_set_up(void **state) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  if (!fixture || folder_temporary(&fixture->folder, NULL)) return -1;
  if (server() && empty_server()) return -1;
  if (server())
    text_add(&fixture->path, server());
  else
    text_addf(&fixture->path, "%s/cache.db", text_get(&fixture->folder));
  *state = fixture;
  return cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL);
}

int cache_tear_down(void **state) {
  struct fixture *fixture = *state;
  cache_close(fixture->cache);
  int status = folder_remove(text_get(&fixture->folder));
  text_free(&fixture->folder);
  text_free(&fixture->path);
  free(fixture);
  return status;
}

struct cache *reopen(struct fixture *fixture) {
  cache_close(fixture->cache);
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  return fixture->cache;
}

struct cache_record record_of(const char *variant, double seconds) {
  struct cache_record record = {
      .variant = (char *)(uintptr_t)variant, .reason = (char *)(uintptr_t) "", .seconds = seconds};
  strcpy(record.hash.hex, full.hash.hex);
  return record;
}

void store(struct cache *cache, const struct cache_key *where, struct cache_record record) {
  assert_int_equal(cache_store(cache, where, &record, NULL), CUGEN_OK);
}

/* Appends the variants of the cache's records, with blanks between them. */
void assert_variants(struct cache *cache, const struct cache_key *where, const char *want) {
  struct cache_record *records;
  size_t count;
  FREED(text) got = {0};
  assert_int_equal(cache_load(cache, where, &records, &count, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++) {
    text_addf(&got, "%s%s", i ? " " : "", records[i].variant);
    cache_record_free(&records[i]);
  }
  free(records);
  assert_string_equal(text_get(&got), want);
}

/* Compares with what the sqlite3 program would print. */
void assert_sql(struct fixture *fixture, const char *sql, const char *want) {
  sqlite3 *db;
  sqlite3_stmt *statement;
  FREED(text) got = {0};
  if (server() && strncmp(sql, "SELECT", 6) != 0) skip();
  if (server()) return;
  assert_int_equal(sqlite3_open(text_get(&fixture->path), &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, sql, -1, &statement, NULL), SQLITE_OK);
  while (sqlite3_step(statement) == SQLITE_ROW)
    for (int i = 0; i < sqlite3_column_count(statement); i++)
      text_addf(&got, "%s%s", got.length ? "|" : "",
                (const char *)sqlite3_column_text(statement, i));
  assert_int_equal(sqlite3_finalize(statement), SQLITE_OK);
  sqlite3_close(db);
  assert_string_equal(text_get(&got), want);
}

const struct cache_record full = {
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
    .resources = {8, 9, 10, 11, 12, 13, false},
    .dynamic_shared = INT64_MAX,
    .occupancy = 0.15,
    .limiter = "shared memory",
    .cluster_blocks = 23,
    .active_clusters = 24,
    .verdict = CACHE_NOT_VERIFIABLE,
    .unverified = "it does not compile there",
    .flops = 1e12,
    .bytes = 17,
    .requested = 25,
    .clock_mhz = 18,
    .power_watts = 22,
    .throttle = "power cap, thermal",
    .driver_version = 19,
    .nvrtc_version = 20,
    .measured_at = 1700000021,
    .run_began = 1700000020123456,
    .run_seconds = 26.5,
    .energy = 27.5,
    .energy_resolution = 28.5,
    .outputs = {.known = 1, .seed = 29, .digest = 0x0123456789abcdef},
};

void assert_record(const struct cache_record *got, const struct cache_record *want) {
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
  assert_true(got->error == want->error && got->requested == want->requested);
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
  assert_true(got->compile_seconds == want->compile_seconds &&
              got->measure_seconds == want->measure_seconds);
  assert_int_equal(got->clock_mhz, want->clock_mhz);
  assert_int_equal(got->power_watts, want->power_watts);
  assert_string_equal(got->throttle, want->throttle);
  assert_int_equal(got->driver_version, want->driver_version);
  assert_int_equal(got->nvrtc_version, want->nvrtc_version);
  assert_int_equal(got->measured_at, want->measured_at);
  assert_true(got->run_began == want->run_began && got->run_seconds == want->run_seconds);
  assert_true(got->energy == want->energy && got->energy_resolution == want->energy_resolution);
  assert_memory_equal(&got->outputs, &want->outputs, sizeof want->outputs);
}

/* ---- Images --------------------------------------------------------------------------------- */

struct compiled image_of(const char *content) {
  struct compiled compiled = {
      .image = (char *)(uintptr_t)content,
      .image_length = strlen(content) + 1,
      .image_hash = {"feedfeedfeedfeedfeedfeedfeedfeed"},
      .entry_count = 2,
      .entries = {(char *)(uintptr_t) "first", (char *)(uintptr_t) "second<4>"},
      .resources = {{1, 2, 3, 4, 5, 6, false}, {7, 8, 9, 10, 11, 12, false}},
      .log = (char *)(uintptr_t) "warning",
  };
  return compiled;
}

void assert_image(struct cache *cache, const char *image_key, const char *want) {
  FREED(compiled) got;
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
    for (size_t i = 0; i < 2; i++) {
      int64_t numbers[CACHE_RESOURCES], wanted[CACHE_RESOURCES];
      cache_resources_get(&got.resources[i], numbers);
      cache_resources_get(&compiled.resources[i], wanted);
      assert_memory_equal(numbers, wanted, sizeof numbers);
    }
    assert_string_equal(got.log, "warning");
  }
}

/* ---- Checking ------------------------------------------------------------------------------- */

void assert_verified(struct fixture *fixture, const char *wrong) {
  cugen_cache_counts checked;
  struct text got = {0}, foreign = {0};
  assert_int_equal(cache_verify(reopen(fixture), &checked, &got, &foreign, NULL), CUGEN_OK);
  assert_string_equal(text_get(&foreign), "");
  if (*wrong)
    assert_non_null(strstr(text_get(&got), wrong));
  else
    assert_string_equal(text_get(&got), "");
  text_free(&got);
}
