/* What the tests of the cache share: a cache in a folder of its own, records and images to
   store, what is then expected. */
#ifndef TESTS_UNIT_CACHES_H
#define TESTS_UNIT_CACHES_H

#include "fresh_cache.h"

extern const struct cache_key key;
/* Every field of it has a value. */
extern const struct cache_record full;

struct fixture {
  struct text folder, path;
  struct cache *cache;
};

/* Where $CUGEN_TEST_CACHE names a server, the cache is there (tests/postgres/conformance.py),
   emptied before each test. */
int cache_set_up(void **state);

int cache_tear_down(void **state);
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, cache_set_up, cache_tear_down)
/* Skips a test that is about the file. */
void only_of_a_file(void);
struct cache *reopen(struct fixture *fixture);

struct cache_record record_of(const char *variant, double seconds);
void store(struct cache *cache, const struct cache_key *where, struct cache_record record);
void assert_record(const struct cache_record *got, const struct cache_record *want);
/* Variant texts of what is remembered, with spaces between. */
void assert_variants(struct cache *cache, const struct cache_key *where, const char *want);
/* What the sqlite3 program would print. On a server it is not asked, and a test that would
   change tables with it is skipped. */
void assert_sql(struct fixture *fixture, const char *sql, const char *want);

struct compiled image_of(const char *content);
/* want NULL: none is found. */
void assert_image(struct cache *cache, const char *image_key, const char *want);

/* What cache_verify finds has this in it; "": it finds nothing. */
void assert_verified(struct fixture *fixture, const char *wrong);

#endif
