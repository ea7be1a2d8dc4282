/* The tables in the server's schema cugen: they are made, migrated, and checked before anything
   in them is used. */
#ifndef RUNTIME_STORE_POSTGRES_TABLES_H
#define RUNTIME_STORE_POSTGRES_TABLES_H

#include "connection.h"

/* Makes the tables if there is no schema cugen, and migrates older ones. CUGEN_ERROR_CACHE: the
   tables are not cugen's, or a newer cugen made them. */
int pg_open_tables(struct pg_cache *cache, cugen_error *err);
/* Checks that the tables are as cugen makes them. */
int pg_check_tables(struct pg_cache *cache, cugen_error *err);
/* The id of the key's set. A missing set is created if `make` is set; otherwise *id is 0. */
int pg_space(struct pg_cache *cache, const struct cache_key *key, bool make, int64_t *id,
             cugen_error *err);
void pg_forget_space(struct pg_cache *cache);
void pg_add_key(struct pg_parameters *to, const struct cache_key *key);

#endif
