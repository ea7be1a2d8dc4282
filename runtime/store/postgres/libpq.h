/* The functions of libpq that cugen calls, opened at run time. The prototypes and constants are
   those of libpq-fe.h (PostgreSQL's documentation, chapter "libpq - C Library"), so that
   building needs neither the header nor the library. */
#ifndef RUNTIME_STORE_POSTGRES_LIBPQ_H
#define RUNTIME_STORE_POSTGRES_LIBPQ_H

#include "base/error.h"

struct pg_conn;
struct pg_result;
/* PQconninfoOption; the last option of a list has no keyword. */
struct pg_option {
  char *keyword, *environment, *compiled, *value, *label, *shown;
  int size;
};

/* ConnStatusType */
enum { PQ_CONNECTION_OK = 0, PQ_CONNECTION_BAD = 1 };
/* PostgresPollingStatusType */
enum { PQ_POLL_FAILED = 0, PQ_POLL_READING = 1, PQ_POLL_WRITING = 2, PQ_POLL_OK = 3 };
/* ExecStatusType */
enum { PQ_COMMAND_OK = 1, PQ_TUPLES_OK = 2, PQ_COPY_IN = 4 };
enum { PQ_DIAG_SQLSTATE = 'C', PQ_DIAG_MESSAGE = 'M' };

typedef void pq_notice_processor(void *context, const char *message);

#define PQ_FUNCTIONS(X)                                                                            \
  X(connect_start, PQconnectStartParams, struct pg_conn *,                                         \
    (const char *const *, const char *const *, int))                                               \
  X(connect_poll, PQconnectPoll, int, (struct pg_conn *))                                          \
  X(options, PQconninfo, struct pg_option *, (struct pg_conn *))                                   \
  X(free_options, PQconninfoFree, void, (struct pg_option *))                                      \
  X(finish, PQfinish, void, (struct pg_conn *))                                                    \
  X(reset_start, PQresetStart, int, (struct pg_conn *))                                            \
  X(reset_poll, PQresetPoll, int, (struct pg_conn *))                                              \
  X(socket, PQsocket, int, (const struct pg_conn *))                                               \
  X(set_nonblocking, PQsetnonblocking, int, (struct pg_conn *, int))                               \
  X(flush, PQflush, int, (struct pg_conn *))                                                       \
  X(consume, PQconsumeInput, int, (struct pg_conn *))                                              \
  X(is_busy, PQisBusy, int, (struct pg_conn *))                                                    \
  X(status, PQstatus, int, (const struct pg_conn *))                                               \
  X(error, PQerrorMessage, char *, (const struct pg_conn *))                                       \
  X(password, PQpass, char *, (const struct pg_conn *))                                            \
  X(needs_password, PQconnectionNeedsPassword, int, (const struct pg_conn *))                      \
  X(used_password, PQconnectionUsedPassword, int, (const struct pg_conn *))                        \
  X(set_notices, PQsetNoticeProcessor, pq_notice_processor *,                                      \
    (struct pg_conn *, pq_notice_processor *, void *))                                             \
  X(server_version, PQserverVersion, int, (const struct pg_conn *))                                \
  X(send, PQsendQuery, int, (struct pg_conn *, const char *))                                      \
  X(send_params, PQsendQueryParams, int,                                                           \
    (struct pg_conn *, const char *, int, const unsigned *, const char *const *, const int *,      \
     const int *, int))                                                                            \
  X(result_status, PQresultStatus, int, (const struct pg_result *))                                \
  X(result_field, PQresultErrorField, char *, (const struct pg_result *, int))                     \
  X(clear, PQclear, void, (struct pg_result *))                                                    \
  X(rows, PQntuples, int, (const struct pg_result *))                                              \
  X(value, PQgetvalue, char *, (const struct pg_result *, int, int))                               \
  X(length, PQgetlength, int, (const struct pg_result *, int, int))                                \
  X(is_null, PQgetisnull, int, (const struct pg_result *, int, int))                               \
  X(put_copy, PQputCopyData, int, (struct pg_conn *, const char *, int))                           \
  X(end_copy, PQputCopyEnd, int, (struct pg_conn *, const char *))                                 \
  X(next_result, PQgetResult, struct pg_result *, (struct pg_conn *))

struct libpq {
#define X(member, symbol, result, parameters) result(*member) parameters;
  PQ_FUNCTIONS(X)
#undef X
};

/* CUGEN_ERROR_MISSING: libpq was not found or cannot be used; the message says how to get it. */
int libpq_open(struct libpq *out, cugen_error *err);

#endif
