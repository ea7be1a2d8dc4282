/* The store as tables of a PostgreSQL server; the engine of postgresql:// and postgres://. */
#ifndef RUNTIME_STORE_POSTGRES_POSTGRES_H
#define RUNTIME_STORE_POSTGRES_POSTGRES_H

struct cache_engine;
extern const struct cache_engine cache_postgres;

#endif
