/* Wisdom: an export is imported unchanged and merges as promised; a faulty file is refused with
   its line and changes nothing. */
#include <jansson.h>
#include <math.h>

#include "base/error.h"
#include "base/hash.h"
#include "fresh_cache.h"
#include "runtime/store/wisdom.h"
#include "tests/testing.h"

static const struct cache_key key = {
    "NVIDIA H200 sm_90 132 SMs", "matmul", "M=64 N=64", "arch sm_90a", NULL, NULL, 0};
static const struct cache_filter all = {0};

static int set_up(void **state) {
  return cache_open_fresh((struct cache **)state);
}

static int tear_down(void **state) {
  cache_close(*state);
  return 0;
}

enum { EPOCH = 1700000000 }; /* records are measured after this time */

static struct cache_record record_of(const char *variant, const char *kernel, cugen_outcome outcome,
                                     double seconds, int64_t measured_at) {
  return (struct cache_record){.variant = (char *)(uintptr_t)variant,
                               .reason = (char *)(uintptr_t) "",
                               .hash = hash_bytes(kernel, strlen(kernel)),
                               .outcome = outcome,
                               .seconds = seconds,
                               .measured_at = EPOCH + measured_at};
}

static void store(struct cache *cache, struct cache_record record) {
  assert_int_equal(cache_store(cache, &key, &record, NULL), CUGEN_OK);
}

static void export_all(struct cache *cache, struct text *out) {
  size_t count;
  WORKS(wisdom_export(cache, &all, out, &count, &err));
}

static cugen_cache_merged import(struct cache *cache, const struct text *wisdom) {
  cugen_cache_merged merged;
  WORKS(wisdom_import(cache, "file", text_get(wisdom), wisdom->length, &merged, &err));
  return merged;
}

/* Expects "variant seconds" of the current records, or of the history. */
static void assert_records(struct cache *cache, bool history, const char *want) {
  struct cache_record *records;
  size_t count;
  FREED(text) got = {0};
  assert_int_equal((history ? cache_history : cache_load)(cache, &key, &records, &count, NULL),
                   CUGEN_OK);
  for (size_t i = 0; i < count; i++) {
    text_addf(&got, "%s%s %g", i ? ", " : "", records[i].variant, records[i].seconds);
    cache_record_free(&records[i]);
  }
  free(records);
  assert_string_equal(text_get(&got), want);
}

/* The times of a database's records may lie in the future. */
TEST_WITH(what_is_of_no_time_wins_nothing, set_up, tear_down) {
  struct cache *other;
  FREED(text) wisdom = {0};
  struct cache_record late = record_of("v", "theirs", CUGEN_OUTCOME_OK, 0.001, 0);
  late.measured_at = INT64_MAX;
  store(*state, late);
  assert_int_equal(cache_open("none", &other, NULL, NULL), CUGEN_OK);
  store(other, record_of("v", "ours", CUGEN_OUTCOME_OK, 2, 1));
  export_all(other, &wisdom);
  cache_close(other);
  assert_int_equal(import(*state, &wisdom).better, 1);
  assert_records(*state, false, "v 2");
}

/* ---- There and back ------------------------------------------------------------------------- */

TEST_WITH(everything_comes_back, set_up, tear_down) {
  CLOSED(cache) *other;
  FREED(text) first = {0}, second = {0};
  struct cache_record record = record_of("tiled tile=16", "a", CUGEN_OUTCOME_OK, 0.1, 9);
  record.source_hash = record.launches_hash = hash_bytes("x", 1);
  record.seconds_min = 5e-324;
  record.seconds_p20 = 1.0 / 30;
  record.seconds_p80 = 1.7976931348623157e308;
  record.dynamic_shared = INT64_MAX;
  record.cluster_blocks = 2, record.active_clusters = 66;
  record.verdict = CACHE_NOT_VERIFIABLE, strcpy(record.unverified, "no");
  record.threads = INT32_MAX;
  record.compile_seconds = 1.5, record.measure_seconds = 0.1;
  record.reason = (char *)(uintptr_t) "\xe2\x80\x94 'quoted' \"twice\"\n\tand \\ more";
  strcpy(record.throttle, "power cap");
  store(*state, record);
  struct cache_record wrong = record_of("v", "b", CUGEN_OUTCOME_WRONG, 0, 3);
  wrong.error = (double)INFINITY;
  wrong.occupancy = (double)NAN;
  wrong.reason = (char *)(uintptr_t) "no \xff UTF-8 \x1b[31mred";
  store(*state, wrong);
  export_all(*state, &first);
  assert_int_equal(cache_open("none", &other, NULL, NULL), CUGEN_OK);
  assert_int_equal(import(other, &first).added, 2);
  export_all(other, &second);
  assert_string_equal(text_get(&first), text_get(&second));

  struct cache_record *records;
  size_t count;
  assert_int_equal(cache_load(other, &key, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 2);
  assert_true(records[0].seconds == record.seconds && records[0].seconds_min == record.seconds_min);
  assert_true(records[0].seconds_p20 == record.seconds_p20 &&
              records[0].seconds_p80 == record.seconds_p80);
  assert_true(records[0].dynamic_shared == INT64_MAX && records[0].measured_at == EPOCH + 9);
  assert_int_equal(records[0].threads, INT32_MAX);
  assert_true(records[0].compile_seconds == 1.5 && records[0].measure_seconds == 0.1);
  assert_int_equal(records[0].cluster_blocks, 2);
  assert_int_equal(records[0].active_clusters, 66);
  assert_int_equal(records[0].verdict, CACHE_NOT_VERIFIABLE);
  assert_string_equal(records[0].unverified, "no");
  assert_string_equal(records[0].reason, record.reason);
  assert_string_equal(records[0].source_hash.hex, record.source_hash.hex);
  assert_string_equal(records[0].proof_hash.hex, "");
  assert_string_equal(records[0].throttle, "power cap");
  assert_true(isinf(records[1].error) && isnan(records[1].occupancy));
  assert_string_equal(records[1].reason, "no ? UTF-8 ?[31mred");
  for (size_t i = 0; i < count; i++) cache_record_free(&records[i]);
  free(records);
  /* The reason was changed in the file; the record still counts as known. */
  assert_int_equal(import(*state, &first).known, 2);
}

/* The number of allocations that succeed before one fails. */
static long allocations_left;

static void *allocate_all_but_one(size_t size) {
  return allocations_left-- ? malloc(size) : NULL;
}

/* If memory runs out while JSON is made, nothing is exported that lacks a field. */
TEST_WITH(an_export_is_whole_or_fails, set_up, tear_down) {
  FREED(text) whole = {0};
  store(*state, record_of("v", "a", CUGEN_OUTCOME_OK, 1, 0));
  export_all(*state, &whole);
  allocations_left = -1;
  for (long before = 0; allocations_left < 0; before++) {
    FREED(text) part = {0};
    size_t count;
    allocations_left = before;
    json_set_alloc_funcs(allocate_all_but_one, free);
    const int status = wisdom_export(*state, &all, &part, &count, NULL);
    json_set_alloc_funcs(malloc, free);
    if (status) assert_int_equal(status, CUGEN_ERROR_MEMORY);
    if (!status) assert_string_equal(text_get(&part), text_get(&whole));
  }
}

/* Two config files have kernels of this name: both records of the variant are exported, and
   neither replaces the other or a local one. */
TEST_WITH(config_files_stay_apart, set_up, tear_down) {
  struct cache_key a = key, b = key;
  CLOSED(cache) *other;
  FREED(text) wisdom = {0};
  struct cache_record mine = record_of("v", "a", CUGEN_OUTCOME_OK, 1, 1);
  struct cache_record another = record_of("v", "b", CUGEN_OUTCOME_OK, 2, 2);
  a.origin = "/a/k.lua", b.origin = "/b/k.lua";
  assert_int_equal(cache_store(*state, &a, &mine, NULL), CUGEN_OK);
  assert_int_equal(cache_store(*state, &b, &another, NULL), CUGEN_OK);
  export_all(*state, &wisdom);
  assert_null(strstr(text_get(&wisdom), "k.lua")); /* wisdom says nothing about this machine */
  assert_int_equal(cache_open("none", &other, NULL, NULL), CUGEN_OK);
  store(other, record_of("v", "c", CUGEN_OUTCOME_OK, 3, 3));
  assert_int_equal(import(other, &wisdom).added, 2);
  assert_records(other, false, "v 1, v 2, v 3");
  assert_int_equal(import(other, &wisdom).known, 2);
  assert_int_equal(import(*state, &wisdom).known, 2);
  another.seconds = 1.5; /* measured again from its own file */
  assert_int_equal(cache_store(other, &b, &another, NULL), CUGEN_OK);
  assert_records(other, false, "v 1, v 1.5");
}

TEST_WITH(only_what_is_meant_is_exported, set_up, tear_down) {
  const struct cache_key reduce = {"A100", "reduce", "n=4", "arch sm_80", NULL, NULL, 0};
  struct cache_record record = record_of("v", "a", CUGEN_OUTCOME_OK, 1, 1);
  const struct cache_filter filter = {.config = "reduce"};
  FREED(text) wisdom = {0};
  size_t count;
  store(*state, record);
  store(*state, record_of("v", "a", CUGEN_OUTCOME_OK, 2, 2)); /* the first record becomes history */
  assert_int_equal(cache_store(*state, &reduce, &record, NULL), CUGEN_OK);
  assert_int_equal(wisdom_export(*state, &filter, &wisdom, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 1);
  assert_non_null(
      strstr(text_get(&wisdom), "{\"device\":\"A100\",\"config\":\"reduce\",\"problem\":\"n=4\""));
  assert_null(strstr(text_get(&wisdom), "matmul"));
  text_clear(&wisdom);
  assert_int_equal(wisdom_export(*state, &all, &wisdom, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 2);
}

struct pieces {
  struct text all;
  size_t count, longest, stop; /* stop: after so many lines */
};

static int take_piece(void *context, const cugen_export_progress *piece, cugen_error *err) {
  struct pieces *pieces = context;
  assert_int_equal(piece->text[piece->length - 1], '\n');
  assert_true(piece->written <= piece->records);
  text_add_n(&pieces->all, piece->text, piece->length);
  if (piece->length > pieces->longest) pieces->longest = piece->length;
  return ++pieces->count == pieces->stop ? error_set(err, CUGEN_ERROR_INTERRUPTED, "enough")
                                         : CUGEN_OK;
}

TEST_WITH(an_export_comes_in_pieces, set_up, tear_down) {
  struct pieces pieces = {0};
  const struct wisdom_sink sink = {take_piece, &pieces};
  FREED(text) whole = {0};
  size_t count;
  for (int i = 0; i < 500; i++) {
    const char *variant = formed("v n=%d", i);
    store(*state, record_of(variant, variant, CUGEN_OUTCOME_OK, i + 1, i));
  }
  assert_int_equal(wisdom_write(*state, &all, &sink, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 500);
  assert_true(pieces.count > 5 && pieces.longest < 100000);
  export_all(*state, &whole);
  assert_string_equal(text_get(&pieces.all), text_get(&whole));
  pieces.count = 0, pieces.stop = 2;
  FAILS_WITH(wisdom_write(*state, &all, &sink, &count, &err), CUGEN_ERROR_INTERRUPTED, "enough");
  assert_int_equal(pieces.count, 2);
  /* the transaction is over */
  store(*state, record_of("v", "later", CUGEN_OUTCOME_OK, 1, 1));
  text_free(&pieces.all);
}

/* Expects "config device options problem variant;" for each line. */
static void assert_order(const struct text *wisdom, const char *want) {
  static const char *const names[] = {"\"config\":\"", "\"device\":\"", "\"options\":\"",
                                      "\"problem\":\"", "\"variant\":\""};
  FREED(text) got = {0};
  for (const char *line = strchr(text_get(wisdom), '\n') + 1; *line; line = strchr(line, '\n') + 1)
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
      const char *value = strstr(line, names[i]) + strlen(names[i]);
      text_add_n(&got, value, strcspn(value, "\""));
      text_add_char(&got, i < 4 ? ' ' : ';');
    }
  assert_string_equal(text_get(&got), want);
}

TEST_WITH(an_export_is_in_the_order_of_its_texts, set_up, tear_down) {
  static const char *const sets[][4] = {{"b", "y", "n=2", "o"},  {"b", "x", "n=10", "p"},
                                        {"b", "x", "n=10", "o"}, {"a", "y", "n=1", "p"},
                                        {"b", "x", "n=1", "p"},  {"a", "y", "n=2", "o"}};
  FREED(text) wisdom = {0};
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    const struct cache_key set = {sets[i][1], sets[i][0], sets[i][2], sets[i][3], NULL, NULL, 0};
    for (const char *variant = "wvu"; *variant; variant++) {
      const char name[] = {*variant, '\0'};
      struct cache_record record = record_of(name, name, CUGEN_OUTCOME_OK, 1, 1);
      assert_int_equal(cache_store(*state, &set, &record, NULL), CUGEN_OK);
    }
  }
  export_all(*state, &wisdom);
  assert_order(&wisdom,
               "a y o n=2 u;a y o n=2 v;a y o n=2 w;a y p n=1 u;a y p n=1 v;a y p n=1 w;"
               "b x o n=10 u;b x o n=10 v;b x o n=10 w;b x p n=1 u;b x p n=1 v;b x p n=1 w;"
               "b x p n=10 u;b x p n=10 v;b x p n=10 w;b y o n=2 u;b y o n=2 v;b y o n=2 w;");
}

/* What an export or a verification would refuse is not stored. */
TEST_WITH(what_is_not_as_it_should_be_is_not_stored, set_up, tear_down) {
  struct cache_record good = record_of("v", "a", CUGEN_OUTCOME_OK, 1, 1);
  struct {
    struct cache_record record;
    const char *what;
  } cases[] = {{good, "seconds is out of range"},          {good, "seconds_min must be a number"},
               {good, "seconds must be above 0"},          {good, "seconds_p80 is out of range"},
               {good, "variant has a control character"},  {good, "variant is not UTF-8"},
               {good, "throttle has a control character"}, {good, "samples is out of range"},
               {good, "outcome is out of range"}};
  cugen_error err;
  cases[0].record.seconds = -1;
  cases[1].record.seconds_min = (double)NAN;
  cases[2].record.seconds = 0;
  cases[3].record.seconds_p80 = -0.5;
  cases[4].record.variant = (char *)(uintptr_t) "v\x1b[31m";
  cases[5].record.variant = (char *)(uintptr_t) "v\xff";
  cases[6].record.throttle[0] = '\x1b';
  cases[7].record.samples = -7;
  cases[8].record.outcome = (cugen_outcome)99;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(cache_store(*state, &key, &cases[i].record, &err), CUGEN_ERROR_CACHE);
    if (!strstr(err.message, cases[i].what)) fail_msg("no '%s' in: %s", cases[i].what, err.message);
  }
  const struct cache_key keys[] = {
      {.device = "", .config = "c", .problem = "", .options = "o"},
      {.device = "d", .config = "c\n", .problem = "", .options = "o"},
      {.device = "d", .config = "c", .problem = "\xc3", .options = "o"}};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    assert_int_equal(cache_store(*state, &keys[i], &good, &err), CUGEN_ERROR_CACHE);
  assert_records(*state, false, "");
}

/* A wrong clock costs a record its time, wherever the record arrives. */
TEST_WITH(a_time_that_cannot_be_is_not_known, set_up, tear_down) {
  const int64_t in_two_days = clock_unix() + 2 * 86400;
  const int64_t times[] = {-5, 0, 5, 1577836799, in_two_days, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    struct cache_record record = record_of("v", "a", CUGEN_OUTCOME_OK, 1, 1), *records;
    FREED(text) wisdom = {0}, wrong = {0};
    cugen_cache_counts checked;
    CLOSED(cache) *other;
    size_t count;
    record.measured_at = record.run_began = times[i];
    assert_int_equal(cache_open("none", &other, NULL, NULL), CUGEN_OK);
    store(*state, record);
    export_all(*state, &wisdom);
    assert_non_null(strstr(text_get(&wisdom), "\"measured_at\":0,"));
    assert_non_null(strstr(text_get(&wisdom), "\"run_began\":0,"));
    assert_int_equal(import(other, &wisdom).added, 1);
    assert_int_equal(cache_verify(other, &checked, &wrong, &wrong, NULL), CUGEN_OK);
    assert_string_equal(text_get(&wrong), "");
    assert_int_equal(cache_load(other, &key, &records, &count, NULL), CUGEN_OK);
    assert_int_equal(count, 1);
    assert_true(records[0].measured_at == 0 && records[0].run_began == 0);
    cache_record_free(&records[0]);
    free(records);
  }
}

/* ---- Merging -------------------------------------------------------------------------------- */

/* `mine` is in the cache when `theirs` arrives. Checks which one is current and which is
   history, and that a second import changes nothing. */
static void assert_merge(struct cache_record mine, struct cache_record theirs, const char *current,
                         const char *history) {
  CLOSED(cache) *here, *there;
  FREED(text) wisdom = {0};
  assert_int_equal(cache_open("none", &here, NULL, NULL), CUGEN_OK);
  assert_int_equal(cache_open("none", &there, NULL, NULL), CUGEN_OK);
  store(here, mine);
  store(there, theirs);
  export_all(there, &wisdom);
  for (int round = 0; round < 3; round++) {
    cugen_cache_merged merged = import(here, &wisdom);
    assert_int_equal(merged.known, round > 0);
    assert_int_equal(merged.added + merged.better + merged.worse, round == 0);
    assert_records(here, false, current);
    assert_records(here, true, history);
  }
}

TEST(the_better_one_is_taken_and_both_are_kept) {
  const cugen_outcome ok = CUGEN_OUTCOME_OK, wrong = CUGEN_OUTCOME_WRONG,
                      late = CUGEN_OUTCOME_TIMEOUT;
  /* one kernel: the faster record */
  assert_merge(record_of("v", "a", ok, 2, 9), record_of("v", "a", ok, 1, 1), "v 1", "v 2");
  assert_merge(record_of("v", "a", ok, 1, 1), record_of("v", "a", ok, 2, 9), "v 1", "v 2");
  assert_merge(record_of("v", "a", ok, 1, 1), record_of("v", "a", ok, 1, 2), "v 1", "v 1");
  /* A record of a wrong result goes before a right one; a record of a timeout does not. */
  assert_merge(record_of("v", "a", ok, 2, 9), record_of("v", "a", wrong, 1, 1), "v 1", "v 2");
  assert_merge(record_of("v", "a", wrong, 2, 1), record_of("v", "a", ok, 1, 9), "v 2", "v 1");
  assert_merge(record_of("v", "a", late, 2, 9), record_of("v", "a", ok, 1, 1), "v 1", "v 2");
  assert_merge(record_of("v", "a", late, 2, 1), record_of("v", "a", late, 1, 9), "v 1", "v 2");
  /* another kernel of that name: the later record */
  assert_merge(record_of("v", "a", ok, 1, 1), record_of("v", "b", ok, 2, 2), "v 2", "v 1");
  assert_merge(record_of("v", "a", ok, 2, 2), record_of("v", "b", ok, 1, 1), "v 2", "v 1");
  /* another variant */
  assert_merge(record_of("v", "a", ok, 2, 2), record_of("w", "a", ok, 1, 1), "w 1, v 2", "");
}

TEST_WITH(what_is_history_here_is_known, set_up, tear_down) {
  FREED(text) wisdom = {0};
  store(*state, record_of("v", "a", CUGEN_OUTCOME_OK, 1, 1));
  export_all(*state, &wisdom);
  store(*state, record_of("v", "a", CUGEN_OUTCOME_OK, 2, 2));
  assert_int_equal(import(*state, &wisdom).known, 1);
  assert_records(*state, false, "v 2");
  assert_records(*state, true, "v 1");
}

/* ---- Refusing ------------------------------------------------------------------------------- */

static const char checksum_mark[] = ",\"checksum\":\"";

/* Completes the lines, which end where their checksum begins. */
static struct text seal(const char *const *lines, size_t count) {
  struct text text = {0};
  for (size_t i = 0; i < count; i++)
    text_addf(&text, "%s%s%s\"}\n", lines[i], checksum_mark,
              hash_bytes(lines[i], strlen(lines[i])).hex);
  return text;
}

#define HEADER(n) "{\"format\":\"cugen wisdom\",\"version\":7,\"cugen\":\"0.1.0\",\"records\":" n
#define HASH      "\"0123456789abcdef0123456789abcdef\""

/* Returns a record in which `from` is replaced by `to`; NULL: unchanged. */
static const char *record_with(const char *from, const char *to) {
  static const char good[] =
      "{\"device\":\"d\",\"config\":\"c\",\"problem\":\"\",\"options\":\"o\",\"variant\":\"v\","
      "\"hash\":" HASH ",\"outcome\":0,\"reason\":\"\",\"samples\":3,\"seconds\":1.5,\"seconds_"
      "min\":1,\"seconds_p20\":1.0,"
      "\"seconds_p80\":2.0,\"error\":0.0,\"threads\":64,\"registers\":8,\"max_threads\":1024,"
      "\"static_shared\":0,"
      "\"dynamic_shared\":0,\"local_bytes\":0,\"spill_bytes\":0,\"constant_bytes\":0,\"occupancy\":"
      "0.5,"
      "\"limiter\":\"threads\",\"flops\":0.0,\"bytes\":800.0,\"clock_mhz\":0,\"power_watts\":0,"
      "\"throttle\":\"\","
      "\"driver_version\":0,\"nvrtc_version\":0,\"measured_at\":1700000005,\"source_hash\":\"\","
      "\"launches_hash\":"
      "\"\","
      "\"arguments_hash\":\"\",\"proof_hash\":\"\",\"cluster_blocks\":2,\"active_clusters\":66,"
      "\"verdict\":2,"
      "\"unverified\":\"no\",\"compile_seconds\":0.5,\"measure_seconds\":0.25,\"requested\":16.0,"
      "\"run_began\":1700000004123456,\"run_seconds\":1.5,\"energy\":0.5,\"energy_resolution\":0."
      "01";
  const char *at = from ? strstr(good, from) : NULL;
  assert_true(!from || at);
  return at ? formed("%.*s%s%s", (int)(at - good), good, to, at + strlen(from)) : good;
}

static void assert_refused(struct cache *cache, const struct text *wisdom, int line,
                           const char *what) {
  cugen_cache_merged merged;
  struct text where = {0};
  cugen_error err = {0};
  text_addf(&where, "file:%d: ", line);
  assert_int_equal(wisdom_import(cache, "file", text_get(wisdom), wisdom->length, &merged, &err),
                   CUGEN_ERROR_CACHE);
  if (!strstr(err.message, what) || strncmp(err.message, text_get(&where), where.length) != 0)
    fail_msg("%s\n  instead of %s %s", err.message, text_get(&where), what);
  assert_non_null(strstr(err.message, "nothing was imported"));
  assert_int_equal(merged.added + merged.better + merged.worse + merged.known, 0);
  text_free(&where);
  struct cache_space *spaces;
  size_t count;
  assert_int_equal(cache_spaces(cache, &spaces, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 0);
  cache_spaces_free(spaces, count);
}

/* A valid record, followed by one with a fault. */
TEST_WITH(wrong_records_are_refused, set_up, tear_down) {
  static const struct {
    const char *from, *to, *what;
  } cases[] = {
      {"\"device\":\"d\"", "\"device\":\"\"", "'device' is empty"},
      {"\"config\":\"c\",", "", "'config' is missing"},
      {"\"config\":\"c\"", "\"config\":7", "'config' must be a string"},
      {"\"problem\":\"\"", "\"problem\":\"\\u001b[2J\"", "'problem' has a control character"},
      {"\"problem\":\"\"", "\"problem\":\"a\\u007fb\"", "'problem' has a control character"},
      {"\"problem\":\"\"", "\"problem\":\"a\\u0000b\"", "no JSON object"},
      {"\"variant\":\"v\"", "\"variant\":\"\"", "'variant' is empty"},
      {HASH, "\"0123\"", "'hash' must be 32 hexadecimal digits"},
      {HASH, "\"0123456789ABCDEF0123456789abcdef\"", "'hash' must be 32 hexadecimal digits"},
      {HASH, "\"0123456789abcdef0123456789abcdef0\"", "'hash' must be 32 hexadecimal digits"},
      {HASH, "\"\"", "'hash' must be 32 hexadecimal digits"},
      {"\"proof_hash\":\"\"", "\"proof_hash\":\"x\"", "'proof_hash' must be 32 hexadecimal digits"},
      {"\"outcome\":0", "\"outcome\":8", "'outcome' is out of range"},
      {"\"outcome\":0", "\"outcome\":-1", "'outcome' is out of range"},
      {"\"outcome\":0", "\"outcome\":0.0", "'outcome' must be a whole number"},
      {"\"samples\":3", "\"samples\":3000000000", "'samples' is out of range"},
      {"\"samples\":3", "\"samples\":99999999999999999999", "no JSON object"},
      {"\"seconds\":1.5", "\"seconds\":-1.5", "'seconds' is out of range"},
      {"\"seconds\":1.5", "\"seconds\":0", "'seconds' must be above 0"},
      {"\"seconds\":1.5", "\"seconds\":NaN", "no JSON object"},
      {"\"seconds\":1.5", "\"seconds\":1e999", "no JSON object"},
      {"\"seconds\":1.5", "\"seconds\":null", "'seconds' must be a number, since the outcome is 0"},
      {"\"seconds\":1.5", "\"seconds\":\"inf\"",
       "'seconds' must be a number, since the outcome is 0"},
      {"\"seconds\":1.5", "\"seconds\":\"1.5\"", "'seconds' must be a number, null or \"inf\""},
      {"\"occupancy\":0.5", "\"occupancy\":1.5", "'occupancy' is out of range"},
      {"\"limiter\":\"threads\"", "\"limiter\":\"far more than there is place for\"",
       "'limiter' is too long"},
      {",\"active_clusters\":66", "", "'active_clusters' is missing"},
      {"\"verdict\":2", "\"verdict\":3", "'verdict' is out of range"},
      {"\"active_clusters\":66", "\"active_clusters\":-1", "'active_clusters' is out of range"},
      {"\"measured_at\":1700000005,", "\"measured_at\":1700000005,\"colour\":1,",
       "'colour' is not known"},
      {"\"measured_at\":1700000005,", "\"measured_at\":1700000005,\"measured_at\":1700000005,",
       "no JSON object"},
      {"\"measured_at\":1700000005,", "", "'measured_at' is missing"},
      {"{\"device\"", "[\"device\"", "no JSON object"},
      {"{\"device\"", "\"device\"", "no JSON object"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *good = record_with("\"variant\":\"v\"", "\"variant\":\"good\""),
               *bad = record_with(cases[i].from, cases[i].to);
    const char *const lines[] = {HEADER("2"), good, bad};
    FREED(text) wisdom = seal(lines, 3);
    assert_refused(*state, &wisdom, 3, cases[i].what);
  }
}

TEST_WITH(wisdom_of_a_wrong_clock_is_taken, set_up, tear_down) {
  static const char *const times[] = {"-5", "1577836799", "9223372036854775807"};
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    const char *record =
        record_with("\"measured_at\":1700000005", formed("\"measured_at\":%s", times[i]));
    const char *const lines[] = {HEADER("1"), record};
    FREED(text) wisdom = seal(lines, 2);
    FREED(text) out = {0};
    struct cache *cache;
    assert_int_equal(cache_open("none", &cache, NULL, NULL), CUGEN_OK);
    assert_int_equal(import(cache, &wisdom).added, 1);
    export_all(cache, &out);
    assert_non_null(strstr(text_get(&out), "\"measured_at\":0,"));
    cache_close(cache);
  }
}

TEST_WITH(other_outputs_are_refused, set_up, tear_down) {
  static const char *const others[][2] = {
      {"\"1 vary\"", "must be 'SEED DIGEST' or 'SEED varies'"},
      {"\"-1 0123456789abcdef\"", "must be 'SEED DIGEST' or 'SEED varies'"},
      {"1", "must be a string"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const char *record =
        record_with("\"energy_resolution\":0.01",
                    formed("\"energy_resolution\":0.01,\"outputs\":%s", others[i][0]));
    const char *const lines[] = {
        "{\"format\":\"cugen "
        "wisdom\",\"version\":9,\"cugen\":\"0.1.0\",\"records\":1,\"portfolios\":0",
        record};
    FREED(text) wisdom = seal(lines, 2);
    assert_refused(*state, &wisdom, 2, others[i][1]);
  }
}

/* Version 1 had no clusters, 2 no verdicts, 3 no costs, 4 no requests, 5 no runs, 6 no energy:
   such a file is accepted, and must not have the missing fields. */
TEST_WITH(older_versions_are_read, set_up, tear_down) {
  static const struct {
    const char *header, *unknown, *wrong;
  } cases[] = {
#define ENERGY   ",\"energy\":0.5,\"energy_resolution\":0.01"
#define RUN      ",\"run_began\":1700000004123456,\"run_seconds\":1.5" ENERGY
#define REQUESTS ",\"requested\":16.0" RUN
#define COST     ",\"compile_seconds\":0.5,\"measure_seconds\":0.25" REQUESTS
#define HEADER_OF(version)                                                                         \
  "{\"format\":\"cugen wisdom\",\"version\":" version ",\"cugen\":\"0.1.0\",\"records\":1"
      {HEADER_OF("1"),
       ",\"cluster_blocks\":2,\"active_clusters\":66,\"verdict\":2,\"unverified\":\"no\"" COST,
       "'cluster_blocks' is not known"},
      {HEADER_OF("2"), ",\"verdict\":2,\"unverified\":\"no\"" COST, "'verdict' is not known"},
      {HEADER_OF("3"), COST, "'compile_seconds' is not known"},
      {HEADER_OF("4"), REQUESTS, "'requested' is not known"},
      {HEADER_OF("5"), RUN, "'run_began' is not known"},
      {HEADER_OF("6"), ENERGY, "'energy' is not known"},
  };
  enum { CASES = sizeof cases / sizeof *cases };
  for (size_t i = 0; i < 2 * CASES; i++) {
    bool takes = i >= CASES;
    const char *record =
        takes ? record_with(cases[i % CASES].unknown, "") : record_with(NULL, NULL);
    const char *const lines[] = {cases[i % CASES].header, record};
    FREED(text) wisdom = seal(lines, 2);
    if (takes) {
      cugen_cache_merged merged = import(*state, &wisdom);
      assert_int_equal(merged.added + merged.worse, 1);
    } else {
      assert_refused(*state, &wisdom, 2, cases[i].wrong);
    }
  }
}

/* Since version 8 the header counts the portfolios; outputs came with version 9. */
TEST_WITH(version_8_counts_portfolios, set_up, tear_down) {
  const char *record = record_with(NULL, NULL);
  const char *const good[] = {HEADER_OF("8") ",\"portfolios\":0", record},
                    *const without[] = {HEADER_OF("8"), record},
                    *const early[] = {HEADER_OF("7") ",\"portfolios\":0", record};
  struct text lines = seal(without, 2);
  assert_refused(*state, &lines, 1, "'portfolios' is missing");
  text_free(&lines);
  lines = seal(early, 2);
  assert_refused(*state, &lines, 1, "field that is not known");
  text_free(&lines);
  lines = seal(good, 2);
  assert_int_equal(import(*state, &lines).added, 1);
  text_free(&lines);
}

TEST_WITH(wrong_files_are_refused, set_up, tear_down) {
  const char *good = record_with(NULL, NULL),
             *other = record_with("\"variant\":\"v\"", "\"variant\":\"w\""),
             *later = record_with("\"energy_resolution\":0.01",
                                  "\"energy_resolution\":0.01,\"outputs\":\"1 00\"");
  const struct {
    const char *lines[4];
    size_t count;
    int line;
    const char *what;
  } cases[] = {
      {{NULL}, 0, 1, "the file is empty"},
      {{"{\"a\":1"}, 1, 1, "no wisdom"},
      {{"{\"format\":\"photos\",\"version\":1"}, 1, 1, "no wisdom"},
      {{"{\"format\":\"cugen wisdom\",\"version\":10"},
       1,
       1,
       "wisdom of version 10; this cugen reads versions up to 9"},
      {{"{\"format\":\"cugen wisdom\",\"version\":0"},
       1,
       1,
       "wisdom of version 0; this cugen reads versions up to 9"},
      {{"{\"format\":\"cugen wisdom\",\"version\":1,\"cugen\":\"1\""},
       1,
       1,
       "'records' is missing"},
      {{"{\"format\":\"cugen wisdom\",\"version\":1,\"cugen\":1,\"records\":0"},
       1,
       1,
       "'cugen' must be a string"},
      {{HEADER("-1")}, 1, 1, "'records' must be a whole number"},
      {{HEADER("0,\"more\":1")}, 1, 1, "a field that is not known"},
      {{HEADER("2"), good}, 2, 2, "ends after 1 of the 2 records"},
      {{HEADER("1"), good, other}, 3, 3, "more than the 1 records"},
      {{HEADER("1"), later}, 2, 2, "'outputs' is not known"},
      {{HEADER("3"), good, other, good}, 4, 4, "a second record of 'v', which line 2 has"},
      {{good}, 1, 1, "no wisdom"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) wisdom = seal(cases[i].lines, cases[i].count);
    assert_refused(*state, &wisdom, cases[i].line, cases[i].what);
  }
}

/* A file that is cut anywhere, or has any one byte changed, is never accepted. */
TEST_WITH(no_damage_passes, set_up, tear_down) {
  const char *good = record_with(NULL, NULL);
  const char *const lines[] = {HEADER("1"), good};
  FREED(text) wisdom = seal(lines, 2);
  cugen_cache_merged merged;
  for (size_t length = 0; length + 1 < wisdom.length; length++)
    assert_int_equal(wisdom_import(*state, "file", wisdom.data, length, &merged, NULL),
                     CUGEN_ERROR_CACHE);
  for (size_t i = 0; i < wisdom.length; i++) {
    char was = wisdom.data[i];
    for (int bit = 0; bit < 8; bit++) {
      wisdom.data[i] = (char)(was ^ (1 << bit));
      int status = wisdom_import(*state, "file", wisdom.data, wisdom.length, &merged, NULL);
      if (status != CUGEN_ERROR_CACHE) fail_msg("byte %zu, bit %d passed", i, bit);
    }
    wisdom.data[i] = was;
  }
  assert_int_equal(import(*state, &wisdom).added, 1);
  wisdom.length--; /* a missing end of the last line does no harm */
  assert_int_equal(import(*state, &wisdom).known, 1);
}

TEST_WITH(a_line_too_long_is_refused, set_up, tear_down) {
  FREED(text) wisdom = {0};
  const char *const lines[] = {HEADER("1")};
  wisdom = seal(lines, 1);
  for (int i = 0; i <= WISDOM_MAX_LINE; i++) text_add_char(&wisdom, ' ');
  assert_refused(*state, &wisdom, 2, "a line of more than 1048576 bytes");
}

/* Five thousand records of one set, and one record each of five thousand sets. */
enum { MANY = 5000 };
static struct text many(void) {
  const char *const lines[] = {HEADER("10000")};
  struct text out = seal(lines, 1);
  for (int i = 0; i < 2 * MANY; i++) {
    const char *name = formed(i < MANY ? "\"variant\":\"v%d\"" : "\"problem\":\"n=%d\"", i);
    const char *record =
        i < MANY ? record_with("\"variant\":\"v\"", name) : record_with("\"problem\":\"\"", name);
    text_addf(&out, "%s%s%s\"}\n", record, checksum_mark, hash_bytes(record, strlen(record)).hex);
  }
  return out;
}

TEST_WITH(many_are_merged_at_once, set_up, tear_down) {
  FREED(text) wisdom = many();
  assert_int_equal(import(*state, &wisdom).added, 2 * MANY);
}

static int never_back(const cugen_import_progress *progress, void *context) {
  size_t *before = context;
  assert_true(progress->read >= *before);
  *before = progress->read;
  return 0;
}

/* The wait for more of a file is progress, too, and does not report the numbers of the beginning. */
TEST_WITH(progress_never_goes_back, set_up, tear_down) {
  FREED(text) wisdom = many(), folder = {0}, path = {0};
  size_t before = 0;
  const struct cache_watch watch = {never_back, &before};
  cugen_cache_merged merged;
  WORKS(folder_temporary(&folder, &err));
  text_addf(&path, "%s/many.wisdom", text_get(&folder));
  WORKS(file_put(text_get(&path), wisdom.data, wisdom.length, &err));
  WORKS(wisdom_import_file(*state, text_get(&path), &watch, &merged, &err));
  assert_int_equal(before, 2 * MANY);
  folder_remove(text_get(&folder));
}
