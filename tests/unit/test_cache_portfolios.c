/* Portfolios in the cache and in wisdom: stored, replaced, removed, exchanged, and refused if
   they are not valid. */
#include "base/hash.h"
#include "caches.h"
#include "runtime/store/wisdom.h"
#include "tests/testing.h"

#define HASH "0123456789abcdef0123456789abcdef"
#define BODY                                                                                       \
  "rule select(M <= 64, 1, 0)\nproblems 5\ntuned 1.010000 1.020000\nheld 0.000000 0.000000\n"      \
  "alone 1.015000 1.080000\nkernels 1\n"                                                           \
  "variant 3 " HASH " tiled tile=16\ntime 1.5 + 0.25 * M\nat M=64 N=64\nvariant 2 " HASH           \
  " naive\nat M=8 N=8\n"

static struct cache_portfolio portfolio(const char *class, const char *origin, int64_t learnt_at) {
  return (struct cache_portfolio){.device = (char *)(uintptr_t) "GPU sm_90",
                                  .config = (char *)(uintptr_t) "matmul",
                                  .class = (char *)(uintptr_t) class,
                                  .options = (char *)(uintptr_t) "arch sm_90a",
                                  .origin = (char *)(uintptr_t)origin,
                                  .objective = (char *)(uintptr_t) "time",
                                  .body = (char *)(uintptr_t)BODY,
                                  .learnt_at = learnt_at};
}

enum { EARLY = 1700000000, LATE = 1700000100 };

static void put(struct cache *cache, struct cache_portfolio p) {
  assert_int_equal(cache_portfolios_store(cache, &p, 1, NULL), CUGEN_OK);
}

/* Expects "class origin learnt_at" of each portfolio, in brackets. */
static void assert_kept(struct cache *cache, const struct cache_key *of, const char *want) {
  struct cache_portfolio *all;
  struct text got = {0};
  size_t count;
  assert_int_equal(cache_portfolios(cache, of, &all, &count, NULL), CUGEN_OK);
  for (size_t i = 0; i < count; i++) {
    text_addf(&got, "[%s %s %d]", all[i].class, all[i].origin, (int)(all[i].learnt_at - EARLY));
    assert_string_equal(all[i].body, BODY);
  }
  assert_string_equal(text_get(&got), want);
  text_free(&got);
  cache_portfolios_free(all, count);
}

/* ---- In the database ------------------------------------------------------------------------ */

TEST_WITH(the_later_one_stays, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  const struct cache_key of = {.device = "GPU sm_90", .config = "matmul", .options = "arch sm_90a"},
                         other = {
                             .device = "GPU sm_80", .config = "matmul", .options = "arch sm_90a"};
  put(fixture->cache, portfolio("dtype=f32", "/a.lua", LATE));
  /* an earlier portfolio is not taken */
  put(fixture->cache, portfolio("dtype=f32", "/a.lua", EARLY));
  put(fixture->cache, portfolio("dtype=f32", "", EARLY));
  put(fixture->cache, portfolio("dtype=f64", "", LATE));
  assert_kept(fixture->cache, NULL, "[dtype=f32  0][dtype=f32 /a.lua 100][dtype=f64  100]");
  assert_kept(reopen(fixture), &of, "[dtype=f32 /a.lua 100][dtype=f64  100][dtype=f32  0]");
  assert_kept(fixture->cache, &other, "");
  put(fixture->cache, portfolio("dtype=f32", "", LATE));
  assert_kept(fixture->cache, NULL, "[dtype=f32  100][dtype=f32 /a.lua 100][dtype=f64  100]");
  assert_verified(fixture, "");
}

static void assert_removed(struct cache *cache, struct cache_filter filter, size_t want) {
  size_t counted, removed;
  assert_int_equal(cache_portfolios_remove(cache, &filter, false, &counted, NULL), CUGEN_OK);
  assert_int_equal(cache_portfolios_remove(cache, &filter, true, &removed, NULL), CUGEN_OK);
  assert_int_equal(counted, want);
  assert_int_equal(removed, want);
}

TEST_WITH(what_is_meant_is_removed, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  put(fixture->cache, portfolio("dtype=f32", "/a.lua", LATE));
  put(fixture->cache, portfolio("dtype=f32", "/b.lua", EARLY));
  put(fixture->cache, portfolio("dtype=f64", "", EARLY));
  assert_removed(fixture->cache, (struct cache_filter){.config = "reduce"}, 0);
  assert_removed(fixture->cache, (struct cache_filter){.failed = true}, 0);
  /* a portfolio belongs to no problem */
  assert_removed(fixture->cache, (struct cache_filter){.problem = "M=64"}, 0);
  assert_removed(fixture->cache, (struct cache_filter){.before = EARLY}, 0);
  assert_removed(fixture->cache,
                 (struct cache_filter){.config = "matmul", .origin = "/b.lua", .unknown = true}, 2);
  assert_kept(fixture->cache, NULL, "[dtype=f32 /a.lua 100]");
  assert_removed(fixture->cache, (struct cache_filter){.problem = "dtype=f32", .before = LATE + 1},
                 1);
  assert_kept(fixture->cache, NULL, "");
}

TEST_WITH(a_wrong_one_is_found, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  put(fixture->cache, portfolio("", "", LATE));
  assert_sql(fixture, "UPDATE portfolio SET body = 'rule 0'", "");
  assert_verified(fixture, "the portfolio of matmul : no portfolio: a line is not whole");
}

/* ---- Its text ------------------------------------------------------------------------------- */

TEST(what_is_printed_is_read) {
  FREED(portfolio_body) body;
  FREED(text) printed = {0};
  assert_int_equal(portfolio_body_parse(BODY, &body, NULL), CUGEN_OK);
  assert_string_equal(body.rule, "select(M <= 64, 1, 0)");
  assert_int_equal(body.problems, 5);
  assert_true(body.tuned_mean > 1.0099 && body.tuned_mean < 1.0101 && body.held_worst == 0);
  assert_true(body.alone_mean > 1.0149 && body.alone_worst > 1.0799);
  assert_int_equal(body.kernels, 1);
  assert_int_equal(body.count, 2);
  assert_string_equal(body.variants[1].variant, "naive");
  assert_string_equal(body.variants[0].time, "1.5 + 0.25 * M");
  assert_null(body.variants[1].time);
  assert_string_equal(body.variants[0].problem, "M=64 N=64");
  portfolio_body_print(&body, &printed);
  assert_string_equal(text_get(&printed), BODY);
}

/* A shipped portfolio has no exceptions, nor has one from before there were any. */
TEST(one_without_exceptions_is_read) {
  static const char text[] =
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nvariant 1 " HASH
      " naive\nat M=8\n";
  FREED(portfolio_body) body;
  FREED(text) printed = {0};
  assert_int_equal(portfolio_body_parse(text, &body, NULL), CUGEN_OK);
  assert_int_equal(body.kernels, 0);
  portfolio_body_print(&body, &printed);
  assert_string_equal(text_get(&printed), text);
}

/* A body that is cut anywhere is refused, and no changed byte makes the parser read past its
   end. */
TEST(what_is_none_is_refused) {
  static const char *const wrong[] = {
      "",
      "rule \nproblems 1\n",
      "rule 0\nproblems x\n",
      "rule 0\nproblems 1\ntuned 0.500000 1.000000\nheld 0.000000 0.000000\nvariant 1 " HASH
      " v\nat \n",
      "rule 0\nproblems 1\ntuned 1.0 1.0\nheld 1.0 1.0\nvariant 1 " HASH " v\nat \n",
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\n",
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nvariant 1 0123 v\nat "
      "\n",
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nvariant 1 " HASH
      " v\ntime \nat \n",
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nvariant 1 " HASH
      " v\ntime 1\ntime 2\nat \n",
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nvariant 1 " HASH
      " v\nat \ntime 1\n",
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nalone 1.0 1.0\nkernels "
      "1\nvariant 1 " HASH " v\nat \n",
      "rule 0\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nalone 1.000000 "
      "1.000000\nvariant 1 " HASH " v\nat \n",
      "rule 0\tx\nproblems 1\ntuned 1.000000 1.000000\nheld 0.000000 0.000000\nvariant 1 " HASH
      " v\nat \n",
  };
  struct portfolio_body body;
  cugen_error err;
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
    assert_int_equal(portfolio_body_parse(wrong[i], &body, &err), CUGEN_ERROR_CACHE);
  for (size_t length = 0; length < sizeof BODY - 1; length++) {
    char *cut = strndup(BODY, length);
    const int status = portfolio_body_parse(cut, &body, &err);
    if (status == CUGEN_OK) {
      assert_int_equal(body.count, 1); /* the second variant is cut off */
      portfolio_body_free(&body);
    }
    free(cut);
  }
}

/* ---- Wisdom --------------------------------------------------------------------------------- */

static struct text export_all(struct cache *cache, const char *problem) {
  const struct cache_filter filter = {.problem = problem};
  struct text out = {0};
  size_t count;
  assert_int_equal(wisdom_export(cache, &filter, &out, &count, NULL), CUGEN_OK);
  return out;
}

TEST_WITH(wisdom_carries_them, cache_set_up, cache_tear_down) {
  struct fixture *fixture = *state;
  CLOSED(cache) *other;
  cugen_cache_merged merged;
  store(fixture->cache, &key, full);
  put(fixture->cache, portfolio("dtype=f32", "/a.lua", LATE));
  put(fixture->cache, portfolio("dtype=f64", "", EARLY));
  FREED(text) all = export_all(fixture->cache, NULL), one = export_all(fixture->cache, "dtype=f64");
  assert_int_equal(cache_open("none", &other, NULL, NULL), CUGEN_OK);
  assert_int_equal(wisdom_import(other, "file", text_get(&one), one.length, &merged, NULL),
                   CUGEN_OK);
  assert_int_equal(merged.portfolios, 1);
  assert_int_equal(merged.added, 0);
  assert_kept(other, NULL, "[dtype=f64  0]");
  for (int i = 0; i < 2; i++) {
    assert_int_equal(wisdom_import(other, "file", text_get(&all), all.length, &merged, NULL),
                     CUGEN_OK);
    assert_int_equal(merged.portfolios, 2);
    /* this machine does not have the config file */
    assert_kept(other, NULL, "[dtype=f32  100][dtype=f64  0]");
  }
  FREED(text) again = export_all(other, NULL);
  assert_string_equal(text_get(&again), text_get(&all));
}

static const char checksum_mark[] = ",\"checksum\":\"";
static struct text seal(const char *const *lines, size_t count) {
  struct text text = {0};
  for (size_t i = 0; i < count; i++)
    text_addf(&text, "%s%s%s\"}\n", lines[i], checksum_mark,
              hash_bytes(lines[i], strlen(lines[i])).hex);
  return text;
}

#define HEADER(records, portfolios)                                                                \
  "{\"format\":\"cugen wisdom\",\"version\":8,\"cugen\":\"0.1.0\",\"records\":" records            \
  ",\"portfolios\""                                                                                \
  ":" portfolios
#define GOOD(at, body, more)                                                                       \
  "{\"device\":\"d\",\"config\":\"c\",\"class\":\"\",\"options\":\"o\",\"objective\":\"time\","    \
  "\"learnt_at\":" at ",\"portfolio\":\"" body "\"" more
#define TEXT                                                                                       \
  "rule 0\\nproblems 1\\ntuned 1.000000 1.000000\\nheld 0.000000 0.000000\\nvariant 1 " HASH       \
  " v\\nat M=1\\n"

TEST_WITH(wrong_wisdom_is_refused, cache_set_up, cache_tear_down) {
  static const struct {
    const char *lines[3];
    size_t count;
    const char *what;
  } cases[] = {
      {{HEADER("0", "1")}, 1, "file:1: the file ends after 0 of the 1 portfolios"},
      {{HEADER("0", "-1")}, 1, "file:1: 'portfolios' must be a whole number"},
      {{HEADER("0", "1"), GOOD("1700000000", TEXT, ""), GOOD("1700000000", TEXT, "")},
       3,
       "file:3: the file has more"},
      {{HEADER("0", "1"), GOOD("\"x\"", TEXT, "")},
       2,
       "file:2: 'learnt_at' must be a whole number"},
      {{HEADER("0", "1"), GOOD("1700000000", "rule", "")},
       2,
       "file:2: no portfolio: its first line is to be the rule"},
      {{HEADER("0", "1"), GOOD("1700000000", TEXT, ",\"more\":1")},
       2,
       "file:2: a portfolio has a field"},
      {{HEADER("0", "1"), "{\"device\":\"d\""}, 2, "file:2: 'config' is missing"},
  };
  struct fixture *fixture = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) wisdom = seal(cases[i].lines, cases[i].count);
    cugen_cache_merged merged;
    cugen_error err = {0};
    assert_int_equal(
        wisdom_import(fixture->cache, "file", text_get(&wisdom), wisdom.length, &merged, &err),
        CUGEN_ERROR_CACHE);
    if (!strstr(err.message, cases[i].what)) fail_msg("%s: %s", cases[i].what, err.message);
  }
  assert_kept(fixture->cache, NULL, "");
}
