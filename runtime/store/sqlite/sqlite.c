/* This engine's table of functions; see engine.h. */
#include "database.h"

const struct cache_engine cache_sqlite = {.kind = CUGEN_CACHE_FILE,
                                          CACHE_ENGINE_FUNCTIONS(CACHE_ENGINE_MEMBER, sqlite)};
