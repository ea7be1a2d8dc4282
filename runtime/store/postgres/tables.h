/* The tables on the server, in the schema cugen: made, brought up to date, and looked at before anything in them is used. */
#ifndef RUNTIME_STORE_POSTGRES_TABLES_H
#define RUNTIME_STORE_POSTGRES_TABLES_H

#include "connection.h"

/* Makes them where there is no schema cugen, and brings older ones up to date. CUGEN_ERROR_CACHE: they are not cugen's, or of a
   newer one. */
int pg_open_tables(struct pg_cache *cache, cugen_error *err);
/* Whether they are as cugen makes them. */
int pg_check_tables(struct pg_cache *cache, cugen_error *err);
/* The id of the key's set; make: it is made where it is missing, else *id is 0. */
int pg_space(struct pg_cache *cache, const struct cache_key *key, bool make, int64_t *id, cugen_error *err);
void pg_forget_space(struct pg_cache *cache);
void pg_add_key(struct pg_parameters *to, const struct cache_key *key);

#endif
