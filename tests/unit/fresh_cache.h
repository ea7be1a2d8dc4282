/* An empty cache for a test: in memory, or where $CUGEN_TEST_CACHE names a server, there. */
#ifndef TESTS_UNIT_FRESH_CACHE_H
#define TESTS_UNIT_FRESH_CACHE_H

#include "runtime/store/cache.h"

int cache_open_fresh(struct cache **out);

#endif
