/* Claims of variants. On a server (tests/postgres/conformance.py) one owner has a variant at a
   time, until the lease ends or there is a record. A cache in memory or in a file has no claims. */

#include <unistd.h>

#include "base/system.h"
#include "caches.h"
#include "tests/testing.h"

static const char hash[] = "0123456789abcdef0123456789abcdef",
                  other_hash[] = "1123456789abcdef0123456789abcdef";

static struct cache *cache_of(void **state) {
  struct fixture *fixture = *state;
  if (!cache_keeps_claims(fixture->cache)) skip();
  return fixture->cache;
}

/* Expects which of the variants "a", "b", "c" the owner is granted. */
static void assert_granted(struct cache *cache, const char *owner, const char *kernel,
                           double seconds, int64_t since, const char *want) {
  struct cache_claim claims[] = {{"a", kernel, 0}, {"b", kernel, 0}, {"c", kernel, 0}};
  const struct cache_lease lease = {owner, seconds, since, 0};
  char got[4] = "";
  assert_int_equal(cache_claim(cache, &key, &lease, claims, 3, NULL), CUGEN_OK);
  for (int i = 0; i < 3; i++)
    if (claims[i].state == CACHE_CLAIM_GRANTED) strcat(got, claims[i].variant);
  assert_string_equal(got, want);
}

static void claim_one(struct cache *cache, const char *owner, const char *variant, bool want) {
  struct cache_claim claim = {variant, hash, 0};
  const struct cache_lease lease = {owner, 30, 0, 0};
  assert_int_equal(cache_claim(cache, &key, &lease, &claim, 1, NULL), CUGEN_OK);
  assert_int_equal(claim.state == CACHE_CLAIM_GRANTED, want);
}

TEST(a_file_keeps_none) {
  CLOSED(cache) *cache;
  assert_int_equal(cache_open("none", &cache, NULL, NULL), CUGEN_OK);
  assert_false(cache_keeps_claims(cache));
}

TEST_WITH(one_owner_at_a_time, cache_set_up, cache_tear_down) {
  struct cache *cache = cache_of(state);
  claim_one(cache, "first", "b", true);
  assert_granted(cache, "second", hash, 30, 0, "ac");
  assert_granted(cache, "first", hash, 30, 0, "b");
  assert_granted(cache, "third", hash, 30, 0, "");
  assert_int_equal(cache_unclaim(cache, "second", NULL), CUGEN_OK);
  assert_granted(cache, "third", hash, 30, 0, "ac");
}

/* As many variants are granted as are wanted, and each refusal has a reason. */
TEST_WITH(as_many_as_are_wanted, cache_set_up, cache_tear_down) {
  struct cache *cache = cache_of(state);
  struct cache_claim claims[] = {
      {"a", hash, 0}, {"b", hash, 0}, {"c", hash, 0}, {"d", hash, 0}, {"e", hash, 0}};
  static const enum cache_claim_state want[] = {CACHE_CLAIM_RECORDED, CACHE_CLAIM_TAKEN,
                                                CACHE_CLAIM_GRANTED, CACHE_CLAIM_GRANTED,
                                                CACHE_CLAIM_LEFT};
  const struct cache_lease lease = {"first", 30, 0, 2};
  struct cache_record record = record_of("a", 1);
  record.measured_at = clock_unix();
  memcpy(record.hash.hex, hash, sizeof hash);
  store(cache, &key, record);
  claim_one(cache, "second", "b", true);
  assert_int_equal(cache_claim(cache, &key, &lease, claims, 5, NULL), CUGEN_OK);
  for (int i = 0; i < 5; i++) assert_int_equal(claims[i].state, want[i]);
}

static size_t tuners_of(struct cache *cache) {
  struct cache_news news = {.since = -1};
  assert_int_equal(cache_news(cache, &key, &news, NULL), CUGEN_OK);
  cache_records_free(&news.records);
  return news.tuners;
}

TEST_WITH(a_lease_ends, cache_set_up, cache_tear_down) {
  struct cache *cache = cache_of(state);
  assert_granted(cache, "killed", hash, 0.2, 0, "abc");
  assert_granted(cache, "alive", hash, 30, 0, "");
  usleep(300000);
  assert_int_equal(tuners_of(cache), 0);
  assert_granted(cache, "alive", hash, 30, 0, "abc");
  assert_granted(cache, "killed", hash, 30, 0, "");
}

/* A record of this kernel was measured meanwhile. */
TEST_WITH(what_has_a_record_is_not_granted, cache_set_up, cache_tear_down) {
  struct cache *cache = cache_of(state);
  struct cache_record record = record_of("b", 1);
  const int64_t now = clock_unix();
  record.measured_at = now;
  memcpy(record.hash.hex, hash, sizeof hash);
  store(cache, &key, record);
  assert_granted(cache, "first", hash, 30, 0, "ac");
  /* the variants are to be measured anew */
  assert_granted(cache, "first", hash, 30, now + 1, "abc");
  assert_int_equal(cache_unclaim(cache, "first", NULL), CUGEN_OK);
  assert_granted(cache, "second", other_hash, 30, 0, "abc");
}

static void assert_news(struct cache *cache, struct cache_news *news, const char *want,
                        size_t tuners) {
  FREED(text) got = {0};
  assert_int_equal(cache_news(cache, &key, news, NULL), CUGEN_OK);
  for (size_t i = 0; i < news->records.count; i++) text_add(&got, news->records.data[i].variant);
  assert_string_equal(text_get(&got), want);
  assert_int_equal(news->tuners, tuners);
  cache_records_free(&news->records);
  news->records = (struct cache_records){0};
}

TEST_WITH(news_are_what_came_since, cache_set_up, cache_tear_down) {
  struct cache *cache = cache_of(state);
  struct cache_key elsewhere = key;
  struct cache_news news = {.since = -1};
  store(cache, &key, record_of("a", 1));
  assert_news(cache, &news, "", 0);
  elsewhere.problem = "M=1";
  store(cache, &elsewhere, record_of("x", 1));
  store(cache, &key, record_of("b", 1));
  store(cache, &key, record_of("c", 1));
  claim_one(cache, "first", "d", true);
  claim_one(cache, "second", "e", true);
  assert_news(cache, &news, "abc", 2); /* together with some that came shortly before */
  assert_int_equal(cache_unclaim(cache, "second", NULL), CUGEN_OK);
  store(cache, &key, record_of("f", 1));
  assert_news(cache, &news, "abcf", 1);
  for (int i = 0; i < 40; i++) {
    char name[8] = {(char)('A' + i % 26), (char)('0' + i / 26)};
    store(cache, &elsewhere, record_of(name, 1));
  }
  store(cache, &key, record_of("g", 1));
  assert_news(cache, &news, "abcfg", 1);
  store(cache, &key, record_of("h", 1));
  assert_news(cache, &news, "gh", 1); /* a record that is older by 32 records is no news any more */
}

/* Claims are removed with their set, and possible again when the set is. */
TEST_WITH(a_removed_set_is_made_again, cache_set_up, cache_tear_down) {
  struct cache *cache = cache_of(state);
  const struct cache_filter all = {0};
  cugen_cache_counts removed;
  claim_one(cache, "first", "a", true);
  store(cache, &key, record_of("b", 1));
  assert_int_equal(cache_remove(cache, &all, true, &removed, NULL), CUGEN_OK);
  claim_one(cache, "second", "a", false); /* a set with claims is not removed */
  assert_int_equal(cache_unclaim(cache, "first", NULL), CUGEN_OK);
  assert_int_equal(cache_remove(cache, &all, true, &removed, NULL), CUGEN_OK);
  claim_one(cache, "second", "a", true);
  store(cache, &key, record_of("b", 1));
  assert_variants(cache, &key, "b");
}
