/* An empty cache for a test: in memory, or on the server that $CUGEN_TEST_CACHE names. */
#ifndef TESTS_UNIT_FRESH_CACHE_H
#define TESTS_UNIT_FRESH_CACHE_H

#include "runtime/store/cache.h"

int cache_open_fresh(struct cache **out);

#endif
