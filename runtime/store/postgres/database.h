/* The cache as tables of a PostgreSQL server, shared by the files of this folder. From the lowest
   layer up:
   address.c       connection strings as messages show them
   connection.c    a connection that is renewed, statements, the meaning of failures
   parameters.c    the values of statements, and lines for COPY
   tables.c        making, checking and migrating the tables; sets of records
   records.c, manage.c, image.c, claims.c    the functions of engine.h by subject
   stage.c         an import
   postgres.c      opening libpq and the cache; the table of functions

   Outside of pg_begin and pg_commit each statement is a transaction of its own. A commit, except of
   claims, is as durable as the server makes it: by default it is on disk. Texts from outside are
   passed only as parameters or lines for COPY; the text of a statement consists of constants,
   numbers and the names in cache_columns. */
#ifndef RUNTIME_STORE_POSTGRES_DATABASE_H
#define RUNTIME_STORE_POSTGRES_DATABASE_H

#include "connection.h"

CACHE_ENGINE_FUNCTIONS(CACHE_ENGINE_DECLARE, postgres)
CACHE_CLAIM_FUNCTIONS(CACHE_ENGINE_DECLARE, postgres)

/* tables.c: makes the tables if there is no schema cugen, and migrates older tables.
   CUGEN_ERROR_CACHE: the tables are not cugen's, a newer cugen made them, or the server is too
   old. */
int pg_open_tables(struct pg_cache *cache, cugen_error *err);
/* Checks that the tables are as cugen makes them. */
int pg_check_tables(struct pg_cache *cache, cugen_error *err);
/* The id of the key's set. A missing set is created if `make` is set; otherwise *id is 0. */
int pg_space(struct pg_cache *cache, const struct cache_key *key, bool make, int64_t *id,
             cugen_error *err);
void pg_forget_space(struct pg_cache *cache);

#endif
