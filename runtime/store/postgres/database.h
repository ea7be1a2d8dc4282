/* The cache as tables of a PostgreSQL server, shared by the files of this folder. From below:
   libpq.c         the library, opened at run time
   address.c       connection strings as messages show them
   connection.c    a connection that is renewed, statements, the meaning of failures
   row.c           records to parameters, and from rows
   tables.c        making, checking and migrating the tables; sets of records
   records.c, manage.c, image.c, portfolio.c, claims.c    the functions of engine.h by subject
   stage.c         an import
   postgres.c      opening and closing; the table of functions

   Each statement is a transaction of its own unless its comment says otherwise, so a commit is
   as durable as the server makes it: by default it is on disk. Values are passed only as
   parameters; the text of a statement consists of constants and of the names in cache_columns. */
#ifndef RUNTIME_STORE_POSTGRES_DATABASE_H
#define RUNTIME_STORE_POSTGRES_DATABASE_H

#include "connection.h"
#include "postgres.h"
#include "row.h"
#include "tables.h"

int postgres_open(const char *path, struct process_stop stop, struct cache **out,
                  struct text *warning, cugen_error *err);
void postgres_close(struct cache *base);
int postgres_sync(struct cache *base, cugen_error *err);
void postgres_set_patience(struct cache *base, double seconds);
int postgres_load(struct cache *base, const struct cache_key *key, struct cache_records *out,
                  cugen_error *err);
int postgres_fastest(struct cache *base, const struct cache_key *key, cache_visitor *visit,
                     void *context, cugen_error *err);
int postgres_history(struct cache *base, const struct cache_key *key, struct cache_records *out,
                     cugen_error *err);
int postgres_devices(struct cache *base, const struct cache_key *key, cache_device_visitor *visit,
                     void *context, cugen_error *err);
int postgres_problems(struct cache *base, const struct cache_key *key, cache_problem_visitor *visit,
                      void *context, cugen_error *err);
int postgres_shorter(struct cache *base, const struct cache_key *key, const char *from,
                     const char *to, cache_problem_visitor *visit, void *context, cugen_error *err);
int postgres_store(struct cache *base, const struct cache_key *key,
                   const struct cache_record *record, cugen_error *err);
int postgres_greatest_rate(struct cache *base, const char *device, const char *config,
                           const char *word, struct cache_rate *out, cugen_error *err);
int postgres_spaces(struct cache *base, struct cache_spaces *out, cugen_error *err);
int postgres_has_origin(struct cache *base, const char *origin, bool *has, cugen_error *err);
int postgres_remove(struct cache *base, const struct cache_filter *filter, bool really,
                    struct cache_removal *out, cugen_error *err);
int postgres_each(struct cache *base, const struct cache_filter *filter,
                  const struct cache_visit *visit, cugen_error *err);
int postgres_verify(struct cache *base, struct cache_checked *out, struct text *wrong,
                    struct text *foreign, cugen_error *err);
int postgres_stage_open(struct cache *base, size_t planned, const struct cache_watch *watch,
                        struct cache_stage **out, cugen_error *err);
int postgres_stage_add(struct cache_stage *base, const struct cache_entry *entry, size_t line,
                       size_t *twice, cugen_error *err);
int postgres_stage_merge(struct cache_stage *base, struct cache_merged *out, cugen_error *err);
void postgres_stage_close(struct cache_stage *base);
int postgres_portfolios(struct cache *base, const struct cache_key *key,
                        struct cache_portfolios *out, cugen_error *err);
int postgres_portfolios_change(struct cache *base, const struct cache_portfolio *portfolios,
                               size_t count, bool removed, cugen_error *err);
int postgres_image_load(struct cache *base, const char *name, struct cache_image_row *out,
                        bool *found, cugen_error *err);
int postgres_image_store(struct cache *base, const char *name, const struct compiled *compiled,
                         const unsigned char *mac, cugen_error *err);
int postgres_image_trim(struct cache *base, size_t most, cugen_error *err);
int postgres_images(struct cache *base, cache_image_visitor *visit, void *context,
                    cugen_error *err);

int postgres_claim(struct cache *base, const struct cache_key *key, const struct cache_lease *lease,
                   struct cache_claim *claims, size_t count, cugen_error *err);
int postgres_unclaim(struct cache *base, const char *owner, cugen_error *err);
int postgres_news(struct cache *base, const struct cache_key *key, struct cache_news *news,
                  cugen_error *err);

/* records.c: the records of the key with an id above news->since, and some with a lower id that
   were committed late. */
int pg_load_since(struct pg_cache *cache, const struct cache_key *key, struct cache_news *news,
                  cugen_error *err);

#endif
