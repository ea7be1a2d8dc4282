/* What the tests of the cache share: a cache in a folder of its own, records and images to
   store, and checks of what is there. */
#ifndef TESTS_UNIT_CACHES_H
#define TESTS_UNIT_CACHES_H

#include "fresh_cache.h"

extern const struct cache_key key;
/* A record whose every field has a value. */
extern const struct cache_record full;

struct fixture {
  struct text folder, path;
  struct cache *cache;
};

/* Set-up of a test. If $CUGEN_TEST_CACHE names a server, the cache is there
   (tests/postgres/conformance.py) and is emptied before each test. */
int cache_set_up(void **state);

int cache_tear_down(void **state);
/* Skips a test that is about the file, if the cache is on a server. */
void only_of_a_file(void);
struct cache *reopen(struct fixture *fixture);

struct cache_record record_of(const char *variant, double seconds);
void store(struct cache *cache, const struct cache_key *where, struct cache_record record);
void assert_record(const struct cache_record *got, const struct cache_record *want);
/* Expects the variants of the cache's records, with blanks between them. */
void assert_variants(struct cache *cache, const struct cache_key *where, const char *want);
/* Expects what the sqlite3 program would print. On a server nothing is compared, and a test that
   would change tables by SQL is skipped. */
void assert_sql(struct fixture *fixture, const char *sql, const char *want);

struct compiled image_of(const char *content);
/* want NULL: no image is found. */
void assert_image(struct cache *cache, const char *image_key, const char *want);

/* Expects that cache_verify reports something with this text; "": that it reports nothing. */
void assert_verified(struct fixture *fixture, const char *wrong);

#endif
