/* Connections and statements; see connection.h.

   A lost connection is renewed at once, then again after a tenth of a second, and after twice as
   long each time, up to five seconds. Outside a transaction, the statement is repeated on the new
   connection; all such statements have the same effect if they run twice. Retries go on for the
   time that patience_of gives: longer with PG_STORE, because a measurement must not be lost. */
#include "connection.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/error.h"
#include "base/system.h"

/* ---- Failures ------------------------------------------------------------------------------- */

/* Appends the first line of a message of libpq or of the server, which may be a stranger's: with
   control characters escaped (text_add_clean), and "***" for the password. */
static void take_words(struct pg_cache *cache, const char *words, struct text *out) {
  const char *password = cache->conn ? cache->pq.password(cache->conn) : NULL;
  const size_t length = strcspn(words, "\n"), secret = password ? strlen(password) : 0;
  struct text open = {0};
  for (size_t i = 0; i < length;) {
    const bool hide = secret && i + secret <= length && memcmp(words + i, password, secret) == 0;
    text_add_n(&open, hide ? "***" : words + i, hide ? 3 : 1);
    i += hide ? secret : 1;
  }
  text_add_clean(out, text_get(&open), open.length);
  text_free(&open);
}

static const struct meaning {
  const char *state; /* SQLSTATE, or its class: PostgreSQL's documentation, appendix A */
  int status;
  const char *way_out;
  cugen_cause cause; /* CUGEN_CAUSE_BUSY: a repetition may succeed */
} meanings[] = {
    {"42501", CUGEN_ERROR_IO,
     "ask the owner of schema cugen for GRANT USAGE ON SCHEMA cugen and GRANT SELECT, INSERT, "
     "UPDATE, DELETE ON ALL TABLES IN SCHEMA cugen, or of the database for GRANT CREATE ON "
     "DATABASE; or name a file with cugen_options.cache",
     CUGEN_CAUSE_NONE},
    {"25006", CUGEN_ERROR_IO,
     "name the primary server, or add ?target_session_attrs=read-write to the connection string",
     CUGEN_CAUSE_NONE},
    {"53100", CUGEN_ERROR_IO,
     "make room on the server's disk, or name a file with cugen_options.cache", CUGEN_CAUSE_NONE},
    {"53300", CUGEN_ERROR_IO, "raise the server's max_connections, or start fewer tuners",
     CUGEN_CAUSE_NONE},
    {"22021", CUGEN_ERROR_CACHE,
     "the text is not UTF-8: rename the kernel, setting or file that it names", CUGEN_CAUSE_NONE},
    {"22P05", CUGEN_ERROR_CACHE, "make the database with ENCODING 'UTF8'", CUGEN_CAUSE_NONE},
    {"53", CUGEN_ERROR_IO, "free what the server lacks, or name a file with cugen_options.cache",
     CUGEN_CAUSE_NONE},
    {"57", CUGEN_ERROR_IO, "try again, or name a file with cugen_options.cache", CUGEN_CAUSE_BUSY},
    {"08", CUGEN_ERROR_IO, "try again, or name a file with cugen_options.cache", CUGEN_CAUSE_BUSY},
    {"40", CUGEN_ERROR_IO, "try again", CUGEN_CAUSE_BUSY},
    {"23", CUGEN_ERROR_IO, "try again", CUGEN_CAUSE_BUSY},
    {"", CUGEN_ERROR_CACHE,
     "'cugen cache verify' checks the tables; name another database with cugen_options.cache",
     CUGEN_CAUSE_NONE},
};

static const char *connection_state_of(struct pg_cache *cache, const struct pg_result *result) {
  const char *state = result ? cache->pq.result_field(result, PQ_DIAG_SQLSTATE) : NULL;
  return state ? state : "08";
}

static int given_up(const struct pg_cache *cache, cugen_error *err) {
  return error_set_cause(err, CUGEN_ERROR_INTERRUPTED, CUGEN_CAUSE_BUSY,
                         "%s: stopped on request while the server was waited for: what it has not "
                         "answered may not be kept",
                         text_get(&cache->base.path));
}

static int connection_fail(struct pg_cache *cache, const struct pg_result *result,
                           const char *doing, cugen_error *err) {
  if (cache->given_up) return given_up(cache, err);
  const char *state = connection_state_of(cache, result);
  const struct meaning *meaning = meanings; /* the last row fits any state */
  while (strncmp(state, meaning->state, strlen(meaning->state)) != 0) meaning++;
  const char *message = result ? cache->pq.result_field(result, PQ_DIAG_MESSAGE) : NULL;
  struct text words = {0};
  take_words(cache, message ? message : cache->pq.error(cache->conn), &words);
  int status = error_set_cause(
      err, meaning->status, meaning->cause, "%s: cannot %s: %s; %s", text_get(&cache->base.path),
      doing, words.length ? text_get(&words) : "the connection was lost", meaning->way_out);
  text_free(&words);
  return status;
}

bool pg_is_passing(const cugen_error *err) {
  return err->cause == CUGEN_CAUSE_BUSY;
}

/* ---- Waiting -------------------------------------------------------------------------------- */

static bool connection_is_stopped(const struct pg_cache *cache) {
  return cache->stop.asked && cache->stop.asked(cache->stop.context);
}

/* Waits until the server's socket can be read (or written, as `events` says) or fails. Returns
   false if that has not happened by `until` (0: no limit), or if a stop was requested and the
   server was silent for `grace` seconds. */
static bool connection_await(struct pg_cache *cache, short events, double grace, double until) {
  enum { ASK_MS = 50 };
  double stopped = 0;
  while (!cache->given_up) {
    struct pollfd socket = {.fd = cache->pq.socket(cache->conn), .events = events};
    if (socket.fd < 0) return true; /* libpq reports the reason */
    const int ready = poll(&socket, 1, ASK_MS);
    const double now = clock_seconds();
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;
    if (stopped <= 0 && connection_is_stopped(cache)) stopped = now;
    if (stopped > 0 && now - stopped >= grace) cache->given_up = true;
    if (until > 0 && now > until) return false;
  }
  return false;
}

/* Seconds that the server has after a stop, so that a measurement is still stored. */
static const double grace = 1;

/* Sends what libpq has buffered, and reads the server's data meanwhile. */
static bool flush(struct pg_cache *cache) {
  int left;
  while ((left = cache->pq.flush(cache->conn)) > 0)
    if (!connection_await(cache, POLLIN | POLLOUT, grace, 0) || !cache->pq.consume(cache->conn))
      return false;
  return left == 0;
}

/* Like PQgetResult, but returns NULL when the server stays silent after a stop was requested. */
static struct pg_result *next_result(struct pg_cache *cache) {
  while (cache->pq.is_busy(cache->conn)) {
    if (!connection_await(cache, POLLIN, grace, 0)) return NULL;
    /* on a lost connection, the next result is the error */
    if (!cache->pq.consume(cache->conn)) break;
  }
  return cache->pq.next_result(cache->conn);
}

/* Like PQexec, returns the last result, or the result of a COPY. */
static struct pg_result *last_result(struct pg_cache *cache) {
  struct pg_result *last = NULL;
  flush(cache);
  for (struct pg_result *result; (result = next_result(cache));) {
    cache->pq.clear(last);
    last = result;
    if (cache->pq.result_status(last) == PQ_COPY_IN ||
        cache->pq.status(cache->conn) != PQ_CONNECTION_OK)
      break;
  }
  return last;
}

/* Returns NULL if the statement could not be sent or was given up. */
static struct pg_result *exec(struct pg_cache *cache, const char *sql) {
  return !cache->given_up && cache->pq.send(cache->conn, sql) ? last_result(cache) : NULL;
}

/* Sleeps; ends early when a stop is requested. */
static void connection_wait_for(struct pg_cache *cache, double seconds) {
  const double end = clock_seconds() + seconds;
  for (double left; (left = end - clock_seconds()) > 0 && !connection_is_stopped(cache);) {
    const struct timespec time = {0, (long)(fmin(left, 0.05) * 1e9)};
    nanosleep(&time, NULL);
  }
}

/* ---- Connecting ----------------------------------------------------------------------------- */

static void ignore_notice(void *context, const char *message) {
  (void)context, (void)message;
}

/* Names are looked up only in pg_catalog and pg_temp, because a function of another schema could
   run with this user's rights. */
static const char settings_sql[] =
    "SET search_path = pg_catalog, pg_temp; SET client_min_messages = error; SET datestyle = "
    "'ISO'; SET extra_float_digits = 1; SET default_transaction_isolation = 'read committed'; SET "
    "statement_timeout = 0";

static const char *connect_way_out(struct pg_cache *cache) {
  if (cache->pq.needs_password(cache->conn))
    return "the server asks for a password: put it into ~/.pgpass (mode 0600), or set PGPASSWORD";
  if (cache->pq.used_password(cache->conn))
    return "check user and password (~/.pgpass, PGPASSWORD)";
  return "check that the server runs (pg_isready) and that host, port, user and database are "
         "right, or name a file with cugen_options.cache";
}

/* Seconds that connecting may take, by the address's connect_timeout; 0: no limit. If one of
   several servers does not answer, the system's own limit (tcp_user_timeout) ends the attempt and
   libpq tries the next server. */
static double connect_seconds(struct pg_cache *cache) {
  enum { USUAL = 10, USER_TIMEOUT = 30 };
  struct pg_option *options = cache->pq.options(cache->conn);
  double seconds = USUAL;
  int hosts = 1;
  for (const struct pg_option *o = options; o && o->keyword; o++) {
    const char *value = o->value ? o->value : "";
    if (strcmp(o->keyword, "connect_timeout") == 0 && *value) seconds = strtod(value, NULL);
    if (strcmp(o->keyword, "host") == 0 || strcmp(o->keyword, "hostaddr") == 0)
      for (hosts = 1; (value = strchr(value, ',')); value++) hosts++;
  }
  cache->pq.free_options(options);
  return seconds <= 0 ? 0 : hosts > 1 ? hosts * fmax(seconds, USER_TIMEOUT + 1) : seconds;
}

static bool finish_connecting(struct pg_cache *cache, int (*step)(struct pg_conn *conn)) {
  const double seconds = connect_seconds(cache),
               until = seconds > 0 ? clock_seconds() + seconds : 0;
  int state = PQ_POLL_WRITING;
  while (state == PQ_POLL_WRITING || state == PQ_POLL_READING) {
    if (cache->pq.status(cache->conn) == PQ_CONNECTION_BAD) return false;
    if (!connection_await(cache, state == PQ_POLL_READING ? POLLIN : POLLOUT, 0, until))
      return false;
    state = step(cache->conn);
  }
  if (state != PQ_POLL_OK) return false;
  cache->pq.set_notices(cache->conn, ignore_notice, NULL);
  if (cache->pq.set_nonblocking(cache->conn, 1)) return false;
  struct pg_result *result = exec(cache, settings_sql);
  const bool good = result && cache->pq.result_status(result) == PQ_COMMAND_OK;
  cache->pq.clear(result);
  return good;
}

int pg_connect(struct pg_cache *cache, cugen_error *err) {
  /* The address may override the options before dbname. By keepalives_* and tcp_user_timeout, a
     vanished server is noticed within half a minute. */
  const char *const names[] = {"connect_timeout",
                               "fallback_application_name",
                               "keepalives_idle",
                               "keepalives_interval",
                               "keepalives_count",
                               "tcp_user_timeout",
                               "dbname",
                               "client_encoding",
                               NULL};
  const char *const values[] = {"10",    "cugen",        "10",   "5", "4",
                                "30000", cache->address, "UTF8", NULL};
  struct text words = {0};
  cache->conn = cache->pq.connect_start(names, values, 1);
  if (!cache->conn) return error_memory(err);
  if (finish_connecting(cache, cache->pq.connect_poll)) return CUGEN_OK;
  if (cache->given_up) return given_up(cache, err);
  take_words(cache, cache->pq.error(cache->conn), &words);
  if (!words.length) text_add(&words, "the server does not answer");
  int status = error_set(err, CUGEN_ERROR_IO, "%s: cannot connect: %s; %s",
                         text_get(&cache->base.path), text_get(&words), connect_way_out(cache));
  text_free(&words);
  return status;
}

void pg_disconnect(struct pg_cache *cache) {
  if (cache->conn) cache->pq.finish(cache->conn);
  cache->conn = NULL;
}

enum { LONGEST_PAUSE = 5 };

/* Returns false if there is no connection by `until`, or after a stop. */
static bool reconnect(struct pg_cache *cache, double until) {
  double pause = 0.1;
  if (cache->lost && until <= clock_seconds() && clock_seconds() < cache->again_at) return false;
  for (;;) {
    const double begun = clock_seconds();
    const bool connected =
        cache->pq.reset_start(cache->conn) && finish_connecting(cache, cache->pq.reset_poll);
    /* An attempt on a server that does not answer takes long. So the attempts of callers that do
       not wait are spaced to use at most a tenth of the time. */
    cache->again_at = clock_seconds() + fmax(1, 10 * (clock_seconds() - begun));
    cache->lost = !connected;
    const double left = until - clock_seconds();
    if (!cache->lost || left <= 0 || cache->given_up) return !cache->lost;
    connection_wait_for(cache, fmin(pause, left));
    if (connection_is_stopped(cache)) cache->given_up = true;
    pause = fmin(2 * pause, LONGEST_PAUSE);
  }
}

/* The seconds for which a lost connection is retried. After a failed wait the next calls wait only
   to store, since an application opens one plan after the other. */
static double patience_of(const struct pg_cache *cache, bool store) {
  return store ? CACHE_STORE_SECONDS : cache->lost ? 0 : CACHE_BUSY_SECONDS;
}

/* ---- Statements ----------------------------------------------------------------------------- */

static const char *const column_sql[] = {
    [COLUMN_TEXT] = "text",    [COLUMN_CHARS] = "text",           [COLUMN_HASH] = "text",
    [COLUMN_OUTPUTS] = "text", [COLUMN_INT] = "integer",          [COLUMN_INT64] = "bigint",
    [COLUMN_TIME] = "bigint",  [COLUMN_REAL] = "double precision"};

/* Writes a column's type for making or changing a table. Only a real number may be NULL, which
   stands for NaN. */
static void write_type(const struct cache_column *column, struct text *out) {
  const bool text = column->type < COLUMN_INT;
  text_addf(out, " %s%s%s", column_sql[column->type], text ? " COLLATE \"C\"" : "",
            column->type == COLUMN_REAL ? "" : " NOT NULL");
  if (column->format > 1) text_add(out, text ? " DEFAULT ''" : " DEFAULT 0");
}

static void connection_write_columns(char how, struct text *out) {
  for (int i = 0; i < CACHE_COLUMNS; i++) {
    if (i) text_add(out, ", ");
    if (how == 'v')
      text_addf(out, "$%d::%s", 5 + i, column_sql[cache_columns[i].type]);
    else
      text_add(out, cache_columns[i].name);
    if (how == 't') write_type(&cache_columns[i], out);
  }
}

void pg_write_sql(const char *sql, struct text *out) {
  for (const char *mark; (mark = strchr(sql, '%')); sql = mark + 2) {
    text_add_n(out, sql, (size_t)(mark - sql));
    connection_write_columns(mark[1], out);
  }
  text_add(out, sql);
}

void pg_write_added(const struct cache_column *column, struct text *out) {
  text_addf(out, "ALTER TABLE cugen.record ADD COLUMN %s", column->name);
  write_type(column, out);
  text_add(out, "; ");
}

static bool is_good(struct pg_cache *cache, const struct pg_result *result) {
  const int status = result ? cache->pq.result_status(result) : -1;
  return status == PQ_COMMAND_OK || status == PQ_TUPLES_OK;
}

/* Whether the statement failed because another process wrote the same rows at the same time. */
static bool is_collision(struct pg_cache *cache, const struct pg_result *result) {
  const char *state = connection_state_of(cache, result);
  return strncmp(state, "40", 2) == 0 || strcmp(state, "23505") == 0;
}

static struct pg_result *connection_run_once(struct pg_cache *cache, const char *sql,
                                             const struct pg_parameters *parameters, bool binary) {
  static const struct pg_parameters none = {0};
  const struct pg_parameters *p = parameters ? parameters : &none;
  const bool sent =
      !cache->given_up && cache->pq.send_params(cache->conn, sql, p->count, NULL, p->values,
                                                p->lengths, p->formats, binary);
  return sent ? last_result(cache) : NULL;
}

/* Repeats a statement after a lost connection, until the time is over, and after a collision, until
   there were MOST_COLLISIONS. Any other result is returned. */
static struct pg_result *run_patiently(struct pg_cache *cache, const char *sql,
                                       const struct pg_parameters *parameters, bool binary,
                                       double seconds) {
  enum { MOST_COLLISIONS = 50 };
  const double until = clock_seconds() + seconds;
  for (int collisions = 0;;) {
    struct pg_result *result = connection_run_once(cache, sql, parameters, binary);
    if (is_good(cache, result) || cache->given_up) return result;
    const bool lost = cache->pq.status(cache->conn) != PQ_CONNECTION_OK;
    if (!lost && !(is_collision(cache, result) && ++collisions < MOST_COLLISIONS)) return result;
    if (lost && !reconnect(cache, until)) return result;
    if (!lost) connection_wait_for(cache, 0.001 * collisions);
    cache->pq.clear(result);
  }
}

int pg_run(struct pg_cache *cache, enum pg_way way, const char *sql,
           const struct pg_parameters *parameters, const char *doing, struct pg_result **result,
           cugen_error *err) {
  struct text text = {0};
  struct pg_result *got = NULL;
  pg_write_sql(sql, &text);
  if (result) *result = NULL;
  if (text.failed) return error_memory(err);
  if (cache->within)
    got = connection_run_once(cache, text_get(&text), parameters, way == PG_BINARY);
  else
    got = run_patiently(cache, text_get(&text), parameters, way == PG_BINARY,
                        patience_of(cache, way == PG_STORE));
  text_free(&text);
  int status = is_good(cache, got) ? CUGEN_OK : connection_fail(cache, got, doing, err);
  if (result)
    *result = got;
  else
    cache->pq.clear(got);
  return status;
}

int pg_run_script(struct pg_cache *cache, const char *sql, const char *doing, cugen_error *err) {
  struct pg_result *result = exec(cache, sql);
  int status = is_good(cache, result) ? CUGEN_OK : connection_fail(cache, result, doing, err);
  cache->pq.clear(result);
  return status;
}

/* Reads the remaining results after a COPY, and returns the error of the first bad one. */
static int end_copy(struct pg_cache *cache, const char *doing, cugen_error *err) {
  int status = CUGEN_OK;
  for (struct pg_result *result; (result = next_result(cache)); cache->pq.clear(result))
    if (!status && !is_good(cache, result)) status = connection_fail(cache, result, doing, err);
  if (!status && cache->given_up) status = given_up(cache, err);
  return status;
}

int pg_copy(struct pg_cache *cache, const char *sql, const struct text *lines, const char *doing,
            cugen_error *err) {
  struct pg_result *result = exec(cache, sql);
  const bool begun = result && cache->pq.result_status(result) == PQ_COPY_IN;
  int status = begun ? CUGEN_OK : connection_fail(cache, result, doing, err);
  cache->pq.clear(result);
  if (status) return status;
  int put, ended = -1; /* 0: libpq's buffer is full until some of it is sent */
  while ((put = cache->pq.put_copy(cache->conn, text_get(lines), (int)lines->length)) == 0 &&
         flush(cache))
    continue;
  while (put == 1 && (ended = cache->pq.end_copy(cache->conn, NULL)) == 0 && flush(cache)) continue;
  if (put != 1 || ended != 1 || !flush(cache)) return connection_fail(cache, NULL, doing, err);
  return end_copy(cache, doing, err);
}

void pg_clear(struct pg_cache *cache, struct pg_result *result) {
  cache->pq.clear(result); /* does nothing for NULL */
}

int pg_numbers(struct pg_cache *cache, enum pg_way way, const char *sql,
               const struct pg_parameters *parameters, const char *doing, int64_t *numbers,
               int count, cugen_error *err) {
  struct pg_result *result;
  int status = pg_run(cache, way, sql, parameters, doing, &result, err);
  const bool any = !status && pg_rows(cache, result);
  for (int i = 0; i < count; i++) numbers[i] = any ? pg_integer(cache, result, 0, i) : 0;
  pg_clear(cache, result);
  return status;
}

int pg_begin(struct pg_cache *cache, const char *begin, const char *doing, cugen_error *err) {
  int status = pg_run(cache, PG_ALONE, begin, NULL, doing, NULL, err);
  cache->within = !status;
  return status;
}

int pg_commit(struct pg_cache *cache, const char *doing, cugen_error *err) {
  int status = pg_run(cache, PG_ALONE, "COMMIT", NULL, doing, NULL, err);
  if (!status) cache->within = false;
  return status;
}

void pg_rollback(struct pg_cache *cache) {
  cache->within = false;
  cache->pq.clear(exec(cache, "ROLLBACK"));
}

/* ---- Results -------------------------------------------------------------------------------- */

int pg_rows(struct pg_cache *cache, const struct pg_result *result) {
  return result ? cache->pq.rows(result) : 0;
}

const char *pg_text(struct pg_cache *cache, const struct pg_result *result, int row, int column) {
  return cache->pq.value(result, row, column); /* "" for NULL */
}

int64_t pg_integer(struct pg_cache *cache, const struct pg_result *result, int row, int column) {
  return strtoll(cache->pq.value(result, row, column), NULL, 10);
}

static const char *row_text_of(const struct cache_row *row, int column) {
  return pg_text(pg_cache_of(row->cache), row->answer, row->number, column);
}

static int64_t row_integer_of(const struct cache_row *row, int column) {
  return pg_integer(pg_cache_of(row->cache), row->answer, row->number, column);
}

static double row_real_of(const struct cache_row *row, int column) {
  const struct libpq *pq = &pg_cache_of(row->cache)->pq;
  char digits[PG_NUMBER] = {0};
  if (pq->is_null(row->answer, row->number, column)) return (double)NAN;
  snprintf(digits, sizeof digits, "%s", pq->value(row->answer, row->number, column));
  char *point = strchr(digits, '.');
  if (point) *point = pg_decimal_point();
  return strtod(digits, NULL);
}

int pg_visit(struct pg_cache *cache, enum pg_way way, const char *sql,
             const struct pg_parameters *parameters, const char *doing, cache_row_visitor *visit,
             void *context, int *rows, cugen_error *err) {
  static const struct cache_columns_of columns = {row_text_of, row_integer_of, row_real_of};
  struct pg_result *result;
  int status = pg_run(cache, way, sql, parameters, doing, &result, err);
  struct cache_row row = {&columns, &cache->base, result, 0};
  for (; !status && row.number < pg_rows(cache, result); row.number++)
    status = visit(context, &row, err);
  if (rows) *rows = pg_rows(cache, result);
  pg_clear(cache, result);
  return status;
}
