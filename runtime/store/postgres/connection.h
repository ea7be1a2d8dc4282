/* A connection to the server that is renewed when it is lost, statements with parameters, and what their failures mean. */
#ifndef RUNTIME_STORE_POSTGRES_CONNECTION_H
#define RUNTIME_STORE_POSTGRES_CONNECTION_H

#include <stdint.h>

#include "base/outputs.h"
#include "base/system.h"
#include "libpq.h"
#include "runtime/store/engine.h"

struct pg_cache {
  struct cache base;
  struct libpq pq;
  struct pg_conn *conn;
  char *address;            /* as libpq takes it */
  double patience;          /* seconds that a lost connection is tried again; below 0: as usual */
  bool lost;                /* the server could not be reached */
  struct process_stop stop; /* asked while the server is waited for */
  bool given_up;            /* the stop came, and the server did not answer: it is not asked any more */
  double again_at;          /* and is not tried before, by clock_seconds, where nobody waits */
  struct text memo;   /* device, config, problem, options of the set that was asked for last, each with its zero */
  int64_t memo_space; /* its id; 0: none */
};

static inline struct pg_cache *pg_cache_of(struct cache *base) {
  return (struct pg_cache *)base;
}

/* ---- Parameters ---- */

enum { PG_MOST_PARAMETERS = 64, PG_NUMBER = OUTPUTS_TEXT };

/* The values of $1, $2, and so on. Texts are borrowed. */
struct pg_parameters {
  int count;
  const char *values[PG_MOST_PARAMETERS];
  int lengths[PG_MOST_PARAMETERS], formats[PG_MOST_PARAMETERS]; /* of those that are binary */
  char numbers[PG_MOST_PARAMETERS][PG_NUMBER];
};

void pg_add_text(struct pg_parameters *to, const char *text); /* NULL is "" */
void pg_add_integer(struct pg_parameters *to, int64_t value);
void pg_add_outputs(struct pg_parameters *to, const cugen_outputs *outputs);
void pg_add_real(struct pg_parameters *to, double value); /* NaN is NULL */
void pg_add_null(struct pg_parameters *to);
void pg_add_bytes(struct pg_parameters *to, const void *data, size_t length);

/* Literals of arrays, each to be a parameter: "{1,2}", "{\"a\",\"b\"}". */
void pg_array_integer(struct text *array, int64_t value);
void pg_array_text(struct text *array, const char *value);
void pg_array_end(struct text *array);

/* ---- Running statements ---- */

enum pg_way {
  PG_ALONE, /* a statement of its own, which may be run twice: after a lost connection, or when another one was in its way */
  PG_STORE,  /* as PG_ALONE, with the patience of what nobody may lose */
  PG_WITHIN, /* part of a transaction, or about a temporary table: a failure is final */
  PG_BINARY  /* as PG_ALONE; its columns come as bytes */
};

/* "%s": the names of a record's columns; "%v": the parameters from $5 on, with their types; "%t": names and types. */
void pg_write_sql(const char *sql, struct text *out);
/* A statement that adds a column of records to the table. */
void pg_write_added(const struct cache_column *column, struct text *out);

/* Runs one statement. *result (NULL: none is wanted) is to be cleared by pg_clear, also after a failure. */
int pg_run(struct pg_cache *cache, enum pg_way way, const char *sql, const struct pg_parameters *parameters,
           const char *doing, struct pg_result **result, cugen_error *err);
/* As it is written, without "%s" and parameters: may hold several statements. */
int pg_run_script(struct pg_cache *cache, const char *sql, const char *doing, cugen_error *err);
/* COPY ... FROM STDIN with these lines. */
int pg_copy(struct pg_cache *cache, const char *sql, const struct text *lines, const char *doing, cugen_error *err);
void pg_clear(struct pg_cache *cache, struct pg_result *result);
/* Ends a transaction without what it did. */
void pg_rollback(struct pg_cache *cache);
/* Whether the error that pg_run gave within a transaction goes away when all of it is done again. */
bool pg_is_passing(const cugen_error *err);

int pg_connect(struct pg_cache *cache, cugen_error *err);
void pg_disconnect(struct pg_cache *cache);

/* ---- Results ---- */

int pg_rows(struct pg_cache *cache, const struct pg_result *result);
const char *pg_text(struct pg_cache *cache, const struct pg_result *result, int row, int column);
int64_t pg_integer(struct pg_cache *cache, const struct pg_result *result, int row, int column);
double pg_real(struct pg_cache *cache, const struct pg_result *result, int row, int column);
/* How many rows the statement changed. */
int64_t pg_changed(struct pg_cache *cache, struct pg_result *result);

#endif
