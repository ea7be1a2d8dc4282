/* A connection to the server that is renewed when it is lost, statements with parameters, and
   the meaning of their failures. */
#ifndef RUNTIME_STORE_POSTGRES_CONNECTION_H
#define RUNTIME_STORE_POSTGRES_CONNECTION_H

#include <stdint.h>

#include "base/results.h"
#include "base/system.h"
#include "libpq.h"
#include "runtime/store/engine.h"

struct pg_cache {
  struct cache base;
  struct libpq pq;
  struct pg_conn *conn;
  char *address;            /* the connection string for libpq */
  bool within;              /* a transaction is open: a statement that fails is not repeated */
  bool lost;                /* the last attempt to renew the connection failed */
  struct process_stop stop; /* `asked` is called while cugen waits for the server */
  /* a stop was requested and the server did not answer; the server is not asked again */
  bool given_up;
  /* if `lost`: no reconnection before this time, by clock_seconds, unless a caller waits */
  double again_at;
  struct text memo;   /* the last key that pg_space found, by cache_key_write */
  int64_t memo_space; /* the id of memo's set; 0: none */
};

static inline struct pg_cache *pg_cache_of(struct cache *base) {
  return (struct pg_cache *)base;
}

/* ---- Parameters ----------------------------------------------------------------------------- */

enum { PG_MOST_PARAMETERS = 64, PG_NUMBER = OUTPUTS_TEXT };

/* The values of $1, $2, and so on. Texts are borrowed until the statement has run. */
struct pg_parameters {
  int count;
  const char *values[PG_MOST_PARAMETERS];
  /* lengths: bytes of a binary parameter; formats: 1 for a binary parameter, 0 for text */
  int lengths[PG_MOST_PARAMETERS], formats[PG_MOST_PARAMETERS];
  char numbers[PG_MOST_PARAMETERS][PG_NUMBER];
};

void pg_add_text(struct pg_parameters *to, const char *text); /* NULL becomes "" */
void pg_add_integer(struct pg_parameters *to, int64_t value);
void pg_add_real(struct pg_parameters *to, double value); /* NaN becomes NULL */
void pg_add_null(struct pg_parameters *to);
void pg_add_bytes(struct pg_parameters *to, const void *data, size_t length);

void pg_add_key(struct pg_parameters *to, const struct cache_key *key);
/* Adds the columns of a record as the parameters of "%v". */
void pg_add_record(struct pg_parameters *to, const struct cache_record *record);
/* Appends the values as a line for COPY. */
void pg_write_line(const struct pg_parameters *all, struct text *out);

/* The decimal point of the locale that the application may have set. */
char pg_decimal_point(void);

/* Append to an array literal that becomes one parameter: "{1,2}", "{\"a\",\"b\"}". */
void pg_array_integer(struct text *array, int64_t value);
void pg_array_text(struct text *array, const char *value);
void pg_array_end(struct text *array);

/* ---- Running statements --------------------------------------------------------------------- */

enum pg_way {
  /* Outside of a transaction the statement may run twice: after a lost connection, or after a
     conflict with another statement. */
  PG_ALONE,
  PG_STORE, /* like PG_ALONE, but a lost connection is retried for CACHE_STORE_SECONDS */
  PG_BINARY /* like PG_ALONE, but the answer's columns come as bytes */
};

/* Appends the statement, with "%s" replaced by the names of a record's columns, "%v" by the
   parameters from $5 on with types, and "%t" by names and types. */
void pg_write_sql(const char *sql, struct text *out);
/* Appends the statement that adds a column to the table of records. */
void pg_write_added(const struct cache_column *column, struct text *out);

/* Runs one statement. *result is to be cleared by pg_clear, also after a failure; result NULL:
   no result is wanted. */
int pg_run(struct pg_cache *cache, enum pg_way way, const char *sql,
           const struct pg_parameters *parameters, const char *doing, struct pg_result **result,
           cugen_error *err);
/* Runs a text of one or several statements once and as written, without "%s" and parameters. */
int pg_run_script(struct pg_cache *cache, const char *sql, const char *doing, cugen_error *err);
/* Runs COPY ... FROM STDIN with these lines. */
int pg_copy(struct pg_cache *cache, const char *sql, const struct text *lines, const char *doing,
            cugen_error *err);
void pg_clear(struct pg_cache *cache, struct pg_result *result);
/* Runs a statement and visits the rows of its answer until the visitor's status is not CUGEN_OK,
   and returns that status. *rows (may be NULL) becomes the number of the answer's rows. */
int pg_visit(struct pg_cache *cache, enum pg_way way, const char *sql,
             const struct pg_parameters *parameters, const char *doing, cache_row_visitor *visit,
             void *context, int *rows, cugen_error *err);
/* Runs a statement that answers with `count` numbers, which are 0 if it fails or gives no row. */
int pg_numbers(struct pg_cache *cache, enum pg_way way, const char *sql,
               const struct pg_parameters *parameters, const char *doing, int64_t *numbers,
               int count, cugen_error *err);
/* begin: "BEGIN", or "BEGIN ISOLATION LEVEL ...". */
int pg_begin(struct pg_cache *cache, const char *begin, const char *doing, cugen_error *err);
int pg_commit(struct pg_cache *cache, const char *doing, cugen_error *err);
void pg_rollback(struct pg_cache *cache);
/* Whether an error of pg_run within a transaction may go away when the whole transaction is
   repeated. */
bool pg_is_passing(const cugen_error *err);

int pg_connect(struct pg_cache *cache, cugen_error *err);
void pg_disconnect(struct pg_cache *cache);

/* ---- Results -------------------------------------------------------------------------------- */

int pg_rows(struct pg_cache *cache, const struct pg_result *result);
const char *pg_text(struct pg_cache *cache, const struct pg_result *result, int row, int column);
int64_t pg_integer(struct pg_cache *cache, const struct pg_result *result, int row, int column);

#endif
