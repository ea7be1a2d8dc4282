/* Records to parameters, and from rows. */
#ifndef RUNTIME_STORE_POSTGRES_ROW_H
#define RUNTIME_STORE_POSTGRES_ROW_H

#include "connection.h"

/* A record's texts as the server takes them. */
struct pg_texts {
  struct text reason;
};

/* The columns of a record, "%v". *texts is to be freed when the statement has run. False: out of memory. */
bool pg_add_record(struct pg_parameters *to, const struct cache_record *record, struct pg_texts *texts);
void pg_texts_free(struct pg_texts *texts);
/* A line for COPY, without its end. */
void pg_write_record(const struct cache_record *record, struct text *out);
void pg_write_text(const char *value, struct text *out);
/* A record's columns stand first in the row. False: out of memory. */
bool pg_read_record(struct pg_cache *cache, const struct pg_result *result, int row, struct cache_record *out);

#endif
