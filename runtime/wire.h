/* Messages between the coordinator and its worker and compiler processes: a type, a length and a flat payload over a socket pair.
   Both ends are of one build (wire_identity), so numbers travel as they lie in memory; every read is bounds-checked all the
   same. A message may carry one file descriptor. */
#ifndef RUNTIME_WIRE_H
#define RUNTIME_WIRE_H

#include "device.h"

enum message_type {
  MESSAGE_OPEN,    /* coordinator: toolkit places, device id; carries the fault memory */
  MESSAGE_DATASET, /* coordinator: arguments, reference, samples; carries the reference's results */
  MESSAGE_VARIANT, /* coordinator: one variant to verify and time */
  MESSAGE_DONE,    /* worker: the last message was carried out; its answer */
  MESSAGE_ERROR,   /* worker: it was not; status and text */
  MESSAGE_HELLO,   /* coordinator: the first message; wire_identity of each end, the worker's as its answer */
  MESSAGE_COMPILE, /* coordinator: a source for NVRTC, see compilers.h; the compiled as its answer */
  MESSAGE_PREPARE, /* coordinator: what MESSAGE_COMPILE begins with; loads NVRTC */
  MESSAGE_GPUS,    /* coordinator: toolkit places, before MESSAGE_OPEN; a description of each GPU as the answer */
  MESSAGE_COUNT
};

/* "cugen 0.1.0, protocol 1, layout 0123456789abcdef". Structs travel as they lie in memory, so both ends must say the same.
   The layout is a hash of the headers that declare them; the protocol counts other changes of the messages. */
void wire_identity(struct text *out);

/* ---- Payloads ---- */

struct wire_reader {
  const char *at, *end;
  bool failed; /* sticky: reads past the end give zeros */
};

void wire_put(struct text *out, const void *bytes, size_t length);
void wire_put_int(struct text *out, int64_t value);
void wire_put_float(struct text *out, double value);
void wire_put_string(struct text *out, const char *string);
void wire_put_block(struct text *out, const void *bytes, size_t length); /* length first */

const void *wire_get(struct wire_reader *reader, size_t length); /* NULL when failed */
int64_t wire_get_int(struct wire_reader *reader);
double wire_get_float(struct wire_reader *reader);
/* Point into the message; "" when failed. */
const char *wire_get_string(struct wire_reader *reader);
const void *wire_get_block(struct wire_reader *reader, size_t *length);

void wire_put_error(struct text *out, const cugen_error *why);
/* Returns its status; CUGEN_OK, with nothing filled in, where what was read is no error. err may be NULL. */
int wire_get_error(struct wire_reader *reader, cugen_error *err);

/* What a worker needs of a spec (its source stays behind). */
void wire_put_spec(struct text *out, const struct kernel_spec *spec);
int wire_get_spec(struct wire_reader *reader, struct kernel_spec *out, cugen_error *err);
void wire_put_compiled(struct text *out, const struct compiled *compiled);
int wire_get_compiled(struct wire_reader *reader, struct compiled *out, cugen_error *err);

/* ---- Messages ---- */

/* How long a message may stand still once it has begun, in seconds. */
enum { WIRE_PATIENCE = 5 };

/* Sending on this socket gives up when the other end does not read. */
int wire_limit(int socket, cugen_error *err);

/* fd < 0: none. CUGEN_ERROR_IO: the other end is gone; CUGEN_ERROR_INTERNAL: it does not read. */
int wire_send(int socket, enum message_type type, const struct text *payload, int fd, cugen_error *err);

/* Waits at most `timeout` seconds (< 0: for ever, and with any patience). CUGEN_ERROR_INTERRUPTED: nothing came in that
   time; CUGEN_ERROR_IO: the other end is gone; CUGEN_ERROR_INTERNAL: what came is no message. *fd (may be NULL) gets a
   descriptor that came along, else -1. */
int wire_receive(int socket, double timeout, enum message_type *type, struct text *payload, int *fd,
                 cugen_error *err);

/* When nothing comes in that time nothing more is taken: the other end cannot send, and wire_receive gives what it had sent
   by then, at last CUGEN_ERROR_IO. */
void wire_end_when_idle(int socket, double seconds);

struct wire_reader wire_read(const struct text *payload);

#endif
