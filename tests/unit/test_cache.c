/* Records as users of the cache see them: a stored record comes back, under the right key, in
   order, for everybody. Other subjects are in test_cache_NAME.c; what can go wrong with the file
   is in tests/fault/test_cache.c. */

#include <math.h>
#include <pthread.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/system.h"
#include "caches.h"
#include "tests/testing.h"

CLOSABLE(objective, objective_close);

/* Replaces the C library's function, so that a test can pretend that a folder is on another file
   system. */
static long pretended_type;
int statfs(const char *path, struct statfs *info) {
  int status = (int)syscall(SYS_statfs, path, info);
  if (pretended_type) info->f_type = pretended_type;
  return status;
}

struct fastest {
  struct text variants;
  int most;
};

static int take_fastest(void *context, struct cache_record *record, bool *stop, cugen_error *err) {
  struct fastest *fastest = context;
  text_addf(&fastest->variants, " %s", record->variant);
  *stop = --fastest->most == 0;
  return CUGEN_OK;
}

/* ---- Records -------------------------------------------------------------------------------- */

TEST_WITH(every_field_comes_back, cache_set_up, cache_tear_down) {
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

TEST_WITH(what_is_no_number_stays_none, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct cache_record record = record_of("v", 1);
  record.outcome = CUGEN_OUTCOME_WRONG; /* a right record needs numbers */
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

TEST_WITH(right_ones_come_first_by_time, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct cache_record failed = record_of("failed", 0);
  failed.outcome = CUGEN_OUTCOME_TIMEOUT;
  store(fixture->cache, &key, failed);
  store(fixture->cache, &key, record_of("slow", 3));
  store(fixture->cache, &key, record_of("fast", 1));
  store(fixture->cache, &key, record_of("middle", 2));
  assert_variants(fixture->cache, &key, "fast middle slow failed");
}

/* A record with declared work may be stored by a tuner that ranks by time, because the objective
   is not part of the key. */
TEST_WITH(cost_is_by_the_objective, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  static const struct {
    const char *name;
    double seconds, flops, bytes;
  } rows[] = {{"short", 1, 1, 8}, {"long", 4, 16, 8}, {"middle", 2, 4, 32}, {"idle", 3, 0, 0}};
  struct cache_key by_flops = key, by_bytes = key;
  CLOSED(objective) *flops, *bytes;
  assert_int_equal(objective_open("flops", &flops, NULL), CUGEN_OK);
  assert_int_equal(objective_open("bytes", &bytes, NULL), CUGEN_OK);
  by_flops.objective = flops, by_bytes.objective = bytes;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct cache_record record = record_of(rows[i].name, rows[i].seconds);
    record.flops = rows[i].flops, record.bytes = rows[i].bytes;
    store(fixture->cache, i % 2 ? &by_flops : &key, record);
    assert_true(cache_record_cost(&record, NULL) == rows[i].seconds);
    double rate = 1 / cache_record_cost(&record, flops);
    assert_true(rate == rows[i].flops / rows[i].seconds);
  }
  assert_variants(fixture->cache, &key, "short middle idle long");
  assert_variants(fixture->cache, &by_flops, "long middle short idle");
  assert_variants(fixture->cache, &by_bytes, "middle short long idle");
}

/* Records from before the config had p and dtype, each of which has a default. */
TEST_WITH(problems_may_lack_what_has_its_default, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct cache_key now = key, by_flops, other = key;
  uint64_t lacks;
  now.problem = "M=64 N=64 p=4 dtype=f32", now.may_lack = 12;
  struct objective *flops;
  assert_int_equal(objective_open("flops", &flops, NULL), CUGEN_OK);
  by_flops = now, by_flops.objective = flops;
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
              {"M=64 N=64 p=4 dtype=f32", "late", "h", 9, 1},
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
  assert_variants(fixture->cache, &now, "typed oldest renewed counted changed changed late failed");
  assert_variants(fixture->cache, &by_flops,
                  "typed changed oldest renewed counted changed late failed");
  objective_close(flops);
  assert_variants(fixture->cache, &other, "renewed oldest changed failed");
  struct fastest fastest = {.most = 3};
  assert_int_equal(cache_fastest(fixture->cache, &now, take_fastest, &fastest, NULL), CUGEN_OK);
  assert_string_equal(text_get(&fastest.variants), " typed oldest renewed");
  text_free(&fastest.variants);
  assert_true(cache_lacks(&now, "M=64 N=64 dtype=f32", &lacks) && lacks == 4);
  assert_true(cache_lacks(&now, "M=64 N=64", &lacks) && lacks == 12);
  assert_true(cache_lacks(&now, now.problem, &lacks) && lacks == 0);
  assert_false(cache_lacks(&now, "M=64 N=64 dtype=f321", &lacks));
  now.may_lack = 8; /* p has another value than its default */
  assert_variants(fixture->cache, &now, "renewed counted changed late");
  now.may_lack = 4; /* dtype has another value than its default */
  assert_true(cache_lacks(&now, "M=64 N=64 dtype=f32", &lacks) && lacks == 4);
  assert_false(cache_lacks(&now, "M=64 N=64 p=4", &lacks));
  now.problem = "M=64 N=64 p=4 dtype=f32", now.may_lack = 0;
  assert_variants(fixture->cache, &now, "renewed changed late");
}

/* A record of the shorter problem is dropped only if its source, launches and arguments are
   those of the later record. */
TEST_WITH(only_the_same_kernel_is_renewed, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct cache_key older = key, now = key;
  older.problem = "M=64";
  now.problem = "M=64 p=4", now.may_lack = 2;
  static const char *const names[] = {"same", "source", "launches", "arguments"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    struct cache_record record = record_of(names[i], (double)(i + 1));
    store(fixture->cache, &older, record);
    record.seconds += 10;
    if (i == 1) record.source_hash = hash_bytes("x", 1);
    if (i == 2) record.launches_hash = hash_bytes("x", 1);
    if (i == 3) record.arguments_hash = hash_bytes("x", 1);
    record.hash = hash_bytes(names[i], strlen(names[i]));
    store(fixture->cache, &now, record);
  }
  assert_variants(fixture->cache, &now, "source launches arguments same source launches arguments");
}

/* A record that takes as much energy as a faster one is dominated; one that is equal in both is
   not. */
TEST(dominated_records_are_told) {
  static const struct {
    double seconds, energy;
    bool non_dominated;
  } rows[] = {{1, 5, true}, {2, 5, false},   {3, 4, true},
              {3, 4, true}, {4, 4.5, false}, {0.5, 0, false}};
  enum { COUNT = sizeof rows / sizeof *rows };
  struct cache_record records[COUNT];
  for (size_t i = 0; i < COUNT; i++) {
    records[i] = record_of("v", rows[i].seconds);
    records[i].energy = rows[i].energy;
  }
  assert_int_equal(cache_records_mark(records, COUNT, NULL), CUGEN_OK);
  for (size_t i = 0; i < COUNT; i++)
    assert_int_equal(records[i].non_dominated, rows[i].non_dominated);
}

/* A record whose problem lacked parameters is of the same kernel if all parts of its hash agree,
   except for the lines of the proof that it lacked. */
TEST(what_is_lacked_is_no_part_of_the_proof) {
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

/* Records of versions that did not hash the kernel on the check problem are of the same kernel; a
   record with another kernel there is not. */
TEST(what_earlier_versions_did_not_hash_is_left_out) {
  struct kernel_spec spec = {.hash = hash_bytes("k", 1), .proof = strdup("p")};
  const struct kernel_compared one = {.source = hash_bytes("one", 3)},
                               two = {.source = hash_bytes("two", 3)};
  struct kernel_spec changed = {.hash = spec.hash, .proof = strdup("p")};
  struct cache_record old = {0}, now = {0};
  cache_record_take_hashes(&old, &spec);
  assert_int_equal(kernel_spec_add_check(&spec, &one, 1, NULL), CUGEN_OK);
  assert_int_equal(kernel_spec_add_check(&changed, &two, 1, NULL), CUGEN_OK);
  cache_record_take_hashes(&now, &spec);
  assert_true(cache_record_is_same(&old, &spec));
  assert_true(cache_record_is_same(&old, &changed));
  assert_true(cache_record_is_same(&now, &spec));
  assert_false(cache_record_is_same(&now, &changed));
  kernel_spec_free(&spec);
  kernel_spec_free(&changed);
}

/* A rate refers to the work that the config declares now; a failure is a failure whatever the
   work. */
TEST_WITH(other_work_is_another_record, cache_set_up, cache_tear_down) {
  struct cache_record record = record_of("v", 1);
  record.flops = 100;
  struct kernel_spec spec = {.hash = record.hash, .flops = 100};
  CLOSED(objective) *flops;
  assert_int_equal(objective_open("flops", &flops, NULL), CUGEN_OK);
  assert_true(cache_record_is_of(&record, &spec, flops, false));
  spec.flops = 200;
  assert_false(cache_record_is_of(&record, &spec, flops, false));
  record.outcome = CUGEN_OUTCOME_WRONG;
  assert_true(cache_record_is_of(&record, &spec, flops, false));
  record.outcome = CUGEN_OUTCOME_OK;
  assert_true(cache_record_is_of(&record, &spec, NULL, false));
}

TEST_WITH(keys_keep_records_apart, cache_set_up, cache_tear_down) {
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

TEST_WITH(older_records_become_history, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  for (int i = 1; i <= 3; i++) store(fixture->cache, &key, record_of("v", i));
  store(fixture->cache, &key, record_of("w", 2));
  assert_variants(fixture->cache, &key, "w v");
  assert_sql(fixture, "SELECT seconds, superseded FROM record WHERE variant = 'v' ORDER BY id",
             "1.0|1|2.0|1|3.0|0");
}

TEST_WITH(nothing_known_is_no_error, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  assert_variants(fixture->cache, &key, "");
}

/* ---- Where it lies -------------------------------------------------------------------------- */

TEST(without_a_path_nothing_is_written) {
  static const char *const paths[] = {"", "none", NULL};
  for (int i = 0; i < 3; i++) {
    CLOSED(cache) *cache;
    struct text warning = {0};
    assert_int_equal(cache_open(paths[i], &cache, &warning, NULL), CUGEN_OK);
    assert_string_equal(text_get(&warning), "");
    assert_string_equal(cache_path(cache), "none");
    store(cache, &key, record_of("v", 1));
    assert_variants(cache, &key, "v");
  }
  assert_false(file_exists("none"));
}

TEST(closing_nothing_is_allowed) {
  cache_close(NULL);
}

TEST_WITH(folders_are_made_and_names_may_be_odd, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct text warning = {0};
  struct cache *cache;
  const char *path = formed("%s/a b/c?d#e%%41/file: x.db", text_get(&fixture->folder));
  assert_int_equal(cache_open(path, &cache, &warning, NULL), CUGEN_OK);
  assert_string_equal(text_get(&warning), "");
  assert_string_equal(cache_path(cache), path);
  store(cache, &key, record_of("v", 1));
  cache_close(cache);
  assert_true(file_exists(path));
}

TEST_WITH(an_empty_file_is_a_new_cache, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  only_of_a_file();
  cache_close(fixture->cache);
  assert_int_equal(file_write(text_get(&fixture->path), "", 0, NULL), CUGEN_OK);
  assert_int_equal(cache_open(text_get(&fixture->path), &fixture->cache, NULL, NULL), CUGEN_OK);
  store(fixture->cache, &key, record_of("v", 1));
}

/* Closing the second handle must not drop the locks of the first, nor hide what the other one
   stores. */
TEST_WITH(two_handles_of_one_process_agree, cache_set_up, cache_tear_down) {
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
    struct cache_record record =
        record_of(formed("%lu-%d", (unsigned long)pthread_self(), i), i + 1);
    int status = cache_store(cache, &key, &record, NULL);
    if (status) return cache;
  }
  return NULL;
}

TEST_WITH(threads_may_share_one, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  pthread_t threads[4];
  for (int i = 0; i < 4; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, store_fifty, fixture->cache), 0);
  for (int i = 0; i < 4; i++) {
    void *failed;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
  }
  assert_sql(fixture, "SELECT count(*) FROM record", "200");
}

TEST_WITH(config_files_keep_their_records_apart, cache_set_up, cache_tear_down) {
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
  /* The variant is measured again from the first file; the record of the second file stays. */
  store(cache, &a, record_of("v", 3));
  assert_sql(*state,
             "SELECT group_concat(origin || ' ' || seconds, '|') FROM (SELECT * FROM record WHERE "
             "superseded = 0 "
             "ORDER BY origin)",
             "/a/k.lua 3.0|/b/k.lua 2.0");
  /* The file was moved, or the record was imported: one kernel has one current record, whatever
     its file. */
  store(cache, &key, other);
  store(cache, &a, record_of("v", 4));
  assert_sql(*state,
             "SELECT group_concat(origin || ' ' || seconds, '|') FROM record WHERE superseded = 0",
             "/a/k.lua 4.0");
}

/* NFS, SMB2 and FUSE: the cache has no write-ahead log there, and an existing log is given up. */
TEST_WITH(network_file_systems_get_no_log, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  static const long types[] = {0x6969, (long)0xfe534d42, 0x65735546};
  store(fixture->cache, &key, record_of("v", 1));
  for (int i = 0; i < 3; i++) {
    pretended_type = 0;
    store(reopen(fixture), &key, record_of("v", 1)); /* the first write changes the journal mode */
    assert_sql(fixture, "PRAGMA journal_mode", "wal");
    pretended_type = types[i];
    struct cache *cache = reopen(fixture);
    assert_sql(fixture, "PRAGMA journal_mode", "delete");
    assert_variants(cache, &key, "v");
    store(cache, &key, record_of("v", 2));
    struct cache *second; /* the exclusive lock that the change took is released */
    assert_int_equal(cache_open(text_get(&fixture->path), &second, NULL, NULL), CUGEN_OK);
    store(second, &key, record_of("v", 3));
    cache_close(second);
    pretended_type = 0;
  }
}

/* A failed store leaves no transaction open: other handles may write, and so may this one. */
TEST_WITH(a_failed_store_is_rolled_back, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  struct cache_record other = record_of("w", 1);
  only_of_a_file();
  store(fixture->cache, &key, record_of("v", 1));
  assert_sql(fixture, "CREATE UNIQUE INDEX obstacle ON record (seconds)", "");
  assert_int_not_equal(cache_store(fixture->cache, &key, &other, NULL), CUGEN_OK);
  assert_sql(fixture, "DROP INDEX obstacle", "");
  store(fixture->cache, &key, record_of("w", 1));
  assert_variants(fixture->cache, &key, "v w");
}
