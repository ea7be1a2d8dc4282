/* Converting records to parameters, and rows to records. */
#ifndef RUNTIME_STORE_POSTGRES_ROW_H
#define RUNTIME_STORE_POSTGRES_ROW_H

#include "connection.h"

/* Adds the columns of a record as the parameters of "%v". */
void pg_add_record(struct pg_parameters *to, const struct cache_record *record);
/* Appends a record as a line for COPY, without the line's end. */
void pg_write_record(const struct cache_record *record, struct text *out);
void pg_write_text(const char *value, struct text *out);
#endif
