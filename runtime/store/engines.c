/* The table of the store's engines, the places where a cache can be kept. See engine.h. */
#include <stddef.h>

#include "runtime/store/postgres/postgres.h"
#include "runtime/store/sqlite/sqlite.h"

const struct cache_engine *const cache_engines[] = {&cache_postgres, &cache_sqlite, NULL};
