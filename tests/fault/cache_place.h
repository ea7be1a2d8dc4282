/* A cache in a folder of its own, for tests of what can go wrong with its file. */
#ifndef TESTS_CACHE_PLACE_H
#define TESTS_CACHE_PLACE_H

#include "base/system.h"
#include "runtime/store/cache.h"

extern const struct cache_key place_key;

struct place {
  struct text folder, path;
};

int place_set_up(void **state);
int place_tear_down(void **state);
int place_store(struct cache *cache, const char *prefix, int number, cugen_error *err);
size_t place_count(struct cache *cache);
int place_store_image(struct cache *cache, size_t length, cugen_error *err);
void place_fill(struct place *fixture);
void place_sql(struct place *fixture, const char *sql);
/* Turns the cache into one of an older format. */
void place_back_to(struct place *fixture, int format);

/* In a child process: returns the number of the line that failed. */
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) return __LINE__;                                                             \
  } while (0)

#endif
