/* The engine for postgresql:// and postgres:// paths: the store as tables of a PostgreSQL
   server. */
#ifndef RUNTIME_STORE_POSTGRES_POSTGRES_H
#define RUNTIME_STORE_POSTGRES_POSTGRES_H

struct cache_engine;
extern const struct cache_engine cache_postgres;

#endif
