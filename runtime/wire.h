/* Messages between the coordinator and its worker and compiler processes: a type, a length and a
   flat payload over a socket pair. Both ends are the same build (see wire_identity), so that
   numbers travel in their memory layout; every read is bounds-checked nevertheless. A message
   may carry one file descriptor. */
#ifndef RUNTIME_WIRE_H
#define RUNTIME_WIRE_H

#include "device.h"

/* Each comment begins with the sender: the coordinator asks, and its worker or compiler process
   answers with MESSAGE_DONE or MESSAGE_ERROR. */
enum message_type {
  MESSAGE_OPEN,    /* coordinator: toolkit places, device id; carries memory that both share */
  MESSAGE_DATASET, /* coordinator: arguments, reference, samples; carries memory for the results */
  MESSAGE_VARIANT, /* coordinator: one variant to verify and time */
  MESSAGE_DONE,    /* worker: the message was carried out; the payload is the answer */
  MESSAGE_ERROR,   /* worker: carrying out the message failed; status and text */
  /* coordinator: the first message, its wire_identity; the answer is the worker's identity */
  MESSAGE_HELLO,
  /* coordinator: a source for NVRTC, see compilers.h; the answer is the compiled image */
  MESSAGE_COMPILE,
  /* coordinator: the fields that MESSAGE_COMPILE begins with, so that NVRTC is loaded ahead */
  MESSAGE_PREPARE,
  /* coordinator: toolkit places, before MESSAGE_OPEN; a description of each GPU as the answer */
  MESSAGE_GPUS,
  MESSAGE_COUNT
};

/* Appends the identity of the build, such as "cugen 0.1.0, protocol 1, layout 0123456789abcdef".
   The layout is a hash of the headers that declare the structs of messages; the protocol counts
   other changes of the messages. */
void wire_identity(struct text *out);

/* ---- Payloads ------------------------------------------------------------------------------- */

struct wire_reader {
  const char *at, *end;
  /* set by a read past the end or of a wrong value; later reads give zeros, NULL or "" */
  bool failed;
};

void wire_put(struct text *out, const void *bytes, size_t length);
void wire_put_int(struct text *out, int64_t value);
void wire_put_float(struct text *out, double value);
void wire_put_string(struct text *out, const char *string);
/* a length, then the bytes */
void wire_put_block(struct text *out, const void *bytes, size_t length);

const void *wire_get(struct wire_reader *reader, size_t length); /* NULL when failed */
int64_t wire_get_int(struct wire_reader *reader);
double wire_get_float(struct wire_reader *reader);
/* The string lies in the message; "" when the reader failed. */
const char *wire_get_string(struct wire_reader *reader);
const void *wire_get_block(struct wire_reader *reader, size_t *length);

void wire_put_error(struct text *out, const cugen_error *why);
/* Returns the status of the error that was read. If the message has no error, the result is
   CUGEN_OK and err is not filled in. err may be NULL. */
int wire_get_error(struct wire_reader *reader, cugen_error *err);

/* The fields of a spec that a worker needs; the source text is not among them. */
void wire_put_spec(struct text *out, const struct kernel_spec *spec);
int wire_get_spec(struct wire_reader *reader, struct kernel_spec *out, cugen_error *err);
void wire_put_compiled(struct text *out, const struct compiled *compiled);
int wire_get_compiled(struct wire_reader *reader, struct compiled *out, cugen_error *err);

/* ---- Messages ------------------------------------------------------------------------------- */

/* Seconds for which a send waits for room, and in which a message that has begun must arrive. */
enum { WIRE_PATIENCE = 5 };

/* Limits how long wire_send waits on this socket for an end that does not read: WIRE_PATIENCE. */
int wire_limit(int socket, cugen_error *err);

/* fd < 0: no descriptor. CUGEN_ERROR_IO: the other end is gone; CUGEN_ERROR_INTERNAL: the other
   end does not read. */
int wire_send(int socket, enum message_type type, const struct text *payload, int fd,
              cugen_error *err);

/* Waits at most `timeout` seconds for a message (< 0: for ever, even within a message).
   CUGEN_ERROR_INTERRUPTED: nothing came before the time or a signal; CUGEN_ERROR_IO: the other end
   is gone; CUGEN_ERROR_INTERNAL: the data are no whole message. *fd (fd may be NULL) is set to the
   descriptor that the message carried, or to -1. */
int wire_receive(int socket, double timeout, enum message_type *type, struct text *payload, int *fd,
                 cugen_error *err);

/* Waits at most `seconds` for data. If none come, closes this socket for reading: wire_receive
   still gives the messages that were sent by then, and after them CUGEN_ERROR_IO. */
void wire_end_when_idle(int socket, double seconds);

struct wire_reader wire_read(const struct text *payload);

#endif
