/* Records to parameters, and from rows. */
#ifndef RUNTIME_STORE_POSTGRES_ROW_H
#define RUNTIME_STORE_POSTGRES_ROW_H

#include "connection.h"

/* The columns of a record, "%v". */
void pg_add_record(struct pg_parameters *to, const struct cache_record *record);
/* A line for COPY, without its end. */
void pg_write_record(const struct cache_record *record, struct text *out);
void pg_write_text(const char *value, struct text *out);
/* A record's columns stand first in the row. False: out of memory. */
bool pg_read_record(struct pg_cache *cache, const struct pg_result *result, int row, struct cache_record *out);

#endif
