/* What the tests of the cache share: a cache in a folder of its own, records and images to store, what is then expected. */
#ifndef TESTS_UNIT_CACHES_H
#define TESTS_UNIT_CACHES_H

#include "runtime/store/cache.h"

extern const struct cache_key key;
/* Every field of it has a value. */
extern const struct cache_record full;

struct fixture {
  struct text folder, path;
  struct cache *cache;
};

int cache_set_up(void **state);
int cache_tear_down(void **state);
#define WITH_CACHE(test) cmocka_unit_test_setup_teardown(test, cache_set_up, cache_tear_down)
struct cache *reopen(struct fixture *fixture);

struct cache_record record_of(const char *variant, double seconds);
void store(struct cache *cache, const struct cache_key *where, struct cache_record record);
void assert_record(const struct cache_record *got, const struct cache_record *want);
/* Variant texts of what is remembered, with spaces between. */
void assert_variants(struct cache *cache, const struct cache_key *where, const char *want);
/* What the sqlite3 program would print. */
void assert_sql(struct fixture *fixture, const char *sql, const char *want);

struct compiled image_of(const char *content);
/* want NULL: none is found. */
void assert_image(struct cache *cache, const char *image_key, const char *want);

/* What cache_verify finds has this in it; "": it finds nothing. */
void assert_verified(struct fixture *fixture, const char *wrong);

#endif
