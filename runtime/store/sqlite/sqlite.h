/* The store as an SQLite database; the engine of every path that no other engine takes. */
#ifndef RUNTIME_STORE_SQLITE_SQLITE_H
#define RUNTIME_STORE_SQLITE_SQLITE_H

struct cache_engine;
extern const struct cache_engine cache_sqlite;

#endif
