/* Messages between coordinator and worker; see wire.h. */
#include "wire.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system.h"

/* ---- Identity ------------------------------------------------------------------------------- */

enum { PROTOCOL = 7 };

extern const char wire_layout[]; /* written by tools/cmake/EmbedFiles.cmake */

void wire_identity(struct text *out) {
  text_addf(out, "cugen %s, protocol %d, layout %s", CUGEN_VERSION, PROTOCOL, wire_layout);
}

/* ---- Payloads ------------------------------------------------------------------------------- */

void wire_put(struct text *out, const void *bytes, size_t length) {
  text_add_n(out, bytes, length);
}

void wire_put_int(struct text *out, int64_t value) {
  wire_put(out, &value, sizeof value);
}

void wire_put_float(struct text *out, double value) {
  wire_put(out, &value, sizeof value);
}

void wire_put_block(struct text *out, const void *bytes, size_t length) {
  wire_put_int(out, (int64_t)length);
  wire_put(out, bytes, length);
}

void wire_put_string(struct text *out, const char *string) {
  wire_put_block(out, string, strlen(string) + 1);
}

const void *wire_get(struct wire_reader *reader, size_t length) {
  if (reader->failed || length > (size_t)(reader->end - reader->at)) {
    reader->failed = true;
    return NULL;
  }
  const void *at = reader->at;
  reader->at += length;
  return at;
}

/* Copies the next bytes to `to`, which stays unchanged if the reader fails. */
static void get_into(struct wire_reader *reader, void *to, size_t length) {
  const void *at = wire_get(reader, length);
  if (at && length) memcpy(to, at, length);
}

int64_t wire_get_int(struct wire_reader *reader) {
  int64_t value = 0;
  get_into(reader, &value, sizeof value);
  return value;
}

double wire_get_float(struct wire_reader *reader) {
  double value = 0;
  get_into(reader, &value, sizeof value);
  return value;
}

const void *wire_get_block(struct wire_reader *reader, size_t *length) {
  int64_t n = wire_get_int(reader);
  if (n < 0) reader->failed = true;
  const void *at = wire_get(reader, (size_t)n);
  *length = at ? (size_t)n : 0;
  return at;
}

const char *wire_get_string(struct wire_reader *reader) {
  size_t length;
  const char *at = wire_get_block(reader, &length);
  if (!at || !length || at[length - 1]) {
    reader->failed = true;
    return "";
  }
  return at;
}

static int broken(cugen_error *err) {
  return error_set(err, CUGEN_ERROR_INTERNAL,
                   "a message between cugen and its worker makes no sense");
}

void wire_put_error(struct text *out, const cugen_error *why) {
  wire_put_int(out, why->status);
  wire_put_int(out, why->cause);
  wire_put_string(out, why->message);
  wire_put_string(out, why->file);
  wire_put_int(out, why->line);
}

int wire_get_error(struct wire_reader *reader, cugen_error *err) {
  const int64_t status = wire_get_int(reader);
  const cugen_cause cause = (cugen_cause)wire_get_int(reader);
  const char *message = wire_get_string(reader), *file = wire_get_string(reader);
  const int64_t line = wire_get_int(reader);
  if (reader->failed || status >= CUGEN_OK || status < CUGEN_ERROR_INTERRUPTED) return CUGEN_OK;
  error_set_cause(err, (int)status, cause, "%s", message);
  error_place(err, file, line > 0 && line < INT32_MAX ? (int)line : 0);
  return (int)status;
}

/* ---- Specs ---------------------------------------------------------------------------------- */

/* Plain fields travel in their memory layout; pointers are set afterwards. */
static void get_argument(struct wire_reader *reader, struct kernel_argument *a) {
  const char *name = wire_get_string(reader), *file = wire_get_string(reader);
  const char *dtype = wire_get_string(reader), *string = wire_get_string(reader);
  const void *plain = wire_get(reader, sizeof *a);
  if (!plain) return;
  memcpy(a, plain, sizeof *a);
  a->name = name;
  a->file = file;
  a->dtype = strcmp(dtype, kernel_struct_dtype.name) ? dtype_find(dtype) : &kernel_struct_dtype;
  a->struct_name = NULL;
  if (a->struct_bytes < 0 || a->struct_bytes > KERNEL_STRUCT_BYTES || a->offset < 0 ||
      a->offset > KERNEL_STRUCT_BYTES - (int)sizeof(void *))
    reader->failed = true;
  if (a->value.type == VALUE_STRING) a->value.string = string;
  if (!a->dtype) reader->failed = true;
}

void wire_put_spec(struct text *out, const struct kernel_spec *spec) {
  wire_put_string(out, spec->variant);
  wire_put_int(out, (int64_t)spec->argument_count);
  wire_put_int(out, (int64_t)spec->own_count);
  for (size_t i = 0; i < spec->argument_count + spec->own_count; i++) {
    const struct kernel_argument *a = &spec->arguments[i];
    wire_put_string(out, a->name);
    wire_put_string(out, a->file ? a->file : "");
    wire_put_string(out, a->dtype->name);
    wire_put_string(out, a->value.type == VALUE_STRING ? a->value.string : "");
    wire_put(out, a, sizeof *a);
  }
  wire_put_int(out, (int64_t)spec->launch_count);
  for (size_t i = 0; i < spec->launch_count; i++) {
    wire_put_string(out, spec->launches[i].entry);
    wire_put_string(out, spec->launches[i].place ? spec->launches[i].place : "");
    wire_put(out, &spec->launches[i], sizeof spec->launches[i]);
  }
  wire_put_int(out, (int64_t)spec->sequence_count);
  if (spec->sequence) wire_put(out, spec->sequence, spec->sequence_count * sizeof *spec->sequence);
  wire_put_int(out, (int64_t)spec->parameter_count);
  if (spec->parameter_count)
    wire_put(out, spec->parameters, spec->parameter_count * sizeof *spec->parameters);
}

static size_t get_count(struct wire_reader *reader, size_t limit) {
  int64_t count = wire_get_int(reader);
  if (count < 0 || (size_t)count > limit) reader->failed = true;
  return reader->failed ? 0 : (size_t)count;
}

/* Whether each launch's parameters are a range of the spec's, and each parameter has an existing
   argument and a number as value: a string would be a pointer. */
static bool right_parameters(const struct kernel_spec *spec) {
  for (size_t i = 0; i < spec->launch_count; i++) {
    const struct kernel_launch *launch = &spec->launches[i];
    if (launch->parameter_count > KERNEL_MAX_ARGUMENTS ||
        launch->first_parameter > spec->parameter_count ||
        launch->parameter_count > spec->parameter_count - launch->first_parameter)
      return false;
  }
  for (size_t i = 0; i < spec->parameter_count; i++)
    if (spec->parameters[i].argument >= spec->argument_count + spec->own_count ||
        spec->parameters[i].value.type > VALUE_FLOAT)
      return false;
  return true;
}

static int get_parts(struct wire_reader *reader, struct kernel_spec *out, cugen_error *err) {
  out->variant = strdup(wire_get_string(reader));
  out->argument_count = get_count(reader, KERNEL_MAX_ARGUMENTS);
  out->own_count = get_count(reader, KERNEL_MAX_ARGUMENTS - out->argument_count);
  const size_t arguments = out->argument_count + out->own_count;
  out->arguments = calloc(arguments + 1, sizeof *out->arguments);
  if (!out->variant || !out->arguments) return error_memory(err);
  for (size_t i = 0; i < arguments; i++) get_argument(reader, &out->arguments[i]);
  out->launch_count = get_count(reader, KERNEL_MAX_LAUNCHES);
  out->launches = calloc(out->launch_count + 1, sizeof *out->launches);
  if (!out->launches) return error_memory(err);
  for (size_t i = 0; i < out->launch_count; i++) {
    const char *entry = wire_get_string(reader), *place = wire_get_string(reader);
    get_into(reader, &out->launches[i], sizeof *out->launches);
    out->launches[i].entry = entry;
    out->launches[i].place = place;
  }
  out->sequence_count = get_count(reader, KERNEL_MAX_SEQUENCE);
  if (out->sequence_count) {
    out->sequence = calloc(out->sequence_count, sizeof *out->sequence);
    if (!out->sequence) return error_memory(err);
    get_into(reader, out->sequence, out->sequence_count * sizeof *out->sequence);
    for (size_t i = 0; i < out->sequence_count; i++) /* an index of `launches` */
      reader->failed |= out->sequence[i] >= out->launch_count;
    if (reader->failed) return broken(err);
  }
  out->parameter_count = get_count(reader, KERNEL_MAX_LAUNCHES * KERNEL_MAX_ARGUMENTS);
  out->parameters = calloc(out->parameter_count + 1, sizeof *out->parameters);
  if (!out->parameters) return error_memory(err);
  get_into(reader, out->parameters, out->parameter_count * sizeof *out->parameters);
  return reader->failed || !right_parameters(out) ? broken(err) : CUGEN_OK;
}

/* Replaces a name by its copy in the spec's own strings. */
static void own_name(struct kernel_spec *spec, const char **name) {
  const size_t at = spec->strings.length;
  text_add_n(&spec->strings, *name, strlen(*name) + 1);
  *name = text_get(&spec->strings) + at;
}

/* Copies all names into the spec's own strings, so that the message may be freed. room: bytes of
   the whole spec in the message, reserved at once so that no copied name moves. */
static int own_names(struct kernel_spec *spec, size_t room, cugen_error *err) {
  char *at = malloc(room);
  if (!at) return error_memory(err);
  spec->strings = (struct text){.data = at, .capacity = room};
  *at = '\0';
  for (size_t i = 0; i < spec->argument_count + spec->own_count; i++) {
    struct kernel_argument *a = &spec->arguments[i];
    own_name(spec, &a->name);
    own_name(spec, &a->file);
    if (a->value.type == VALUE_STRING) own_name(spec, &a->value.string);
  }
  for (size_t i = 0; i < spec->launch_count; i++) {
    own_name(spec, &spec->launches[i].entry);
    own_name(spec, &spec->launches[i].place);
  }
  return CUGEN_OK;
}

int wire_get_spec(struct wire_reader *reader, struct kernel_spec *out, cugen_error *err) {
  const char *begin = reader->at;
  *out = (struct kernel_spec){0};
  int status = get_parts(reader, out, err);
  if (!status) status = own_names(out, (size_t)(reader->at - begin), err);
  if (status) kernel_spec_free(out);
  return status;
}

void wire_put_compiled(struct text *out, const struct compiled *compiled) {
  wire_put_block(out, compiled->image, compiled->image_length);
  wire_put(out, &compiled->image_hash, sizeof compiled->image_hash);
  wire_put_int(out, (int64_t)compiled->entry_count);
  for (size_t i = 0; i < compiled->entry_count; i++) {
    wire_put_string(out, compiled->entries[i]);
    wire_put(out, &compiled->resources[i], sizeof compiled->resources[i]);
    wire_put(out, &compiled->code[i], sizeof compiled->code[i]);
  }
  wire_put_string(out, compiled->log ? compiled->log : "");
  wire_put_int(out, compiled->ptx != NULL);
  if (compiled->ptx) wire_put_string(out, compiled->ptx);
}

static int wire_get_image(struct wire_reader *reader, struct compiled *out, cugen_error *err) {
  const void *image = wire_get_block(reader, &out->image_length);
  get_into(reader, &out->image_hash, sizeof out->image_hash);
  if (!image || reader->failed) return broken(err);
  out->image = malloc(out->image_length + 1);
  if (!out->image) return error_memory(err);
  memcpy(out->image, image, out->image_length);
  size_t count = get_count(reader, KERNEL_MAX_ENTRIES);
  for (size_t i = 0; i < count; i++) {
    out->entries[i] = strdup(wire_get_string(reader));
    if (!out->entries[i]) return error_memory(err);
    out->entry_count = i + 1;
    get_into(reader, &out->resources[i], sizeof out->resources[i]);
    get_into(reader, &out->code[i], sizeof out->code[i]);
  }
  out->log = strdup(wire_get_string(reader));
  const bool has_ptx = wire_get_int(reader) != 0;
  if (has_ptx) out->ptx = strdup(wire_get_string(reader));
  if (!out->log || (has_ptx && !out->ptx)) return error_memory(err);
  return reader->failed ? broken(err) : CUGEN_OK;
}

int wire_get_compiled(struct wire_reader *reader, struct compiled *out, cugen_error *err) {
  *out = (struct compiled){0};
  int status = wire_get_image(reader, out, err);
  if (status) compiled_free(out);
  return status;
}

/* ---- Messages ------------------------------------------------------------------------------- */

struct header {
  uint64_t type, length;
};

/* The longest payload, far more than any cubin has. */
static const uint64_t most_bytes = (uint64_t)1 << 30;

static int gone(cugen_error *err) {
  return error_set(err, CUGEN_ERROR_IO, "the worker process is gone");
}

static int stuck(cugen_error *err) {
  return error_set(err, CUGEN_ERROR_INTERNAL,
                   "cugen or its worker did not read the other's message for %d s", WIRE_PATIENCE);
}

/* A socket limited by wire_limit fails with EAGAIN when its time is up. */
static int send_failed(cugen_error *err) {
  return errno == EAGAIN ? stuck(err) : gone(err);
}

int wire_limit(int socket, cugen_error *err) {
  const struct timeval limit = {.tv_sec = WIRE_PATIENCE};
  if (setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) == 0) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_IO, "limiting the worker's socket: %s", strerror(errno));
}

/* The file descriptor is sent together with the header. */
static int send_header(int socket, const struct header *header, int fd, cugen_error *err) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {.iov_base = (void *)(uintptr_t)header, .iov_len = sizeof *header};
  struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
  if (fd >= 0) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  ssize_t sent;
  do sent = sendmsg(socket, &message, MSG_NOSIGNAL);
  while (sent < 0 && errno == EINTR);
  return sent == sizeof *header ? CUGEN_OK : send_failed(err);
}

int wire_send(int socket, enum message_type type, const struct text *payload, int fd,
              cugen_error *err) {
  if (payload->failed) return error_memory(err);
  struct header header = {(uint64_t)type, payload->length};
  int status = send_header(socket, &header, fd, err);
  for (size_t done = 0; !status && done < payload->length;) {
    ssize_t sent = send(socket, payload->data + done, payload->length - done, MSG_NOSIGNAL);
    if (sent > 0)
      done += (size_t)sent;
    else if (errno != EINTR)
      status = send_failed(err);
  }
  return status;
}

static int wait_readable(int socket, double timeout, cugen_error *err) {
  struct pollfd item = {.fd = socket, .events = POLLIN};
  int ready;
  do ready = poll(&item, 1, timeout < 0 ? -1 : (int)(timeout * 1000));
  while (ready < 0 && errno == EINTR && timeout < 0);
  if (ready > 0) return CUGEN_OK;
  if (ready < 0 && errno != EINTR) return gone(err);
  return error_set(err, CUGEN_ERROR_INTERRUPTED, "nothing came within %g s", timeout);
}

void wire_end_when_idle(int socket, double seconds) {
  const double end = clock_seconds() + seconds;
  double left = seconds;
  while (left > 0) {
    if (wait_readable(socket, left, NULL) != CUGEN_ERROR_INTERRUPTED) return;
    left = end - clock_seconds();
  }
  shutdown(socket, SHUT_RD);
}

/* Receives 1 to `length` bytes of a message that has begun; the bytes must come before `end` (0: no
   deadline). */
static int receive_some(int socket, void *to, size_t length, double end, size_t *got,
                        cugen_error *err) {
  *got = 0;
  while (!*got) {
    double left = end > 0 ? end - clock_seconds() : -1;
    int status = end > 0 && left <= 0 ? stuck(err) : wait_readable(socket, left, err);
    if (status == CUGEN_ERROR_INTERRUPTED) continue;
    if (status) return status;
    ssize_t received = recv(socket, to, length, 0);
    if (received == 0 || (received < 0 && errno != EINTR)) return gone(err);
    if (received > 0) *got = (size_t)received;
  }
  return CUGEN_OK;
}

static int receive_header(int socket, struct header *header, double end, int *fd,
                          cugen_error *err) {
  union {
    struct cmsghdr align;
    char bytes[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct iovec part = {.iov_base = header, .iov_len = sizeof *header};
  struct msghdr message = {.msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.bytes,
                           .msg_controllen = sizeof control.bytes};
  ssize_t got;
  do got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  while (got < 0 && errno == EINTR);
  if (got <= 0) return gone(err);
  const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
  if (head && head->cmsg_type == SCM_RIGHTS) {
    int received;
    memcpy(&received, CMSG_DATA(head), sizeof received);
    if (fd)
      *fd = received;
    else
      close(received);
  }
  int status = CUGEN_OK;
  for (size_t done = (size_t)got, more; !status && done < sizeof *header; done += more)
    status = receive_some(socket, (char *)header + done, sizeof *header - done, end, &more, err);
  return status;
}

int wire_receive(int socket, double timeout, enum message_type *type, struct text *payload, int *fd,
                 cugen_error *err) {
  struct header header = {0};
  if (fd) *fd = -1;
  int status = wait_readable(socket, timeout, err);
  double end = timeout < 0 ? 0 : clock_seconds() + WIRE_PATIENCE;
  if (!status) status = receive_header(socket, &header, end, fd, err);
  if (status) return status;
  if (header.type >= MESSAGE_COUNT || header.length > most_bytes) return broken(err);
  *type = (enum message_type)header.type;
  text_restart(payload);
  while (payload->length < header.length) {
    char buffer[65536];
    size_t want = (size_t)header.length - payload->length, got;
    status =
        receive_some(socket, buffer, want < sizeof buffer ? want : sizeof buffer, end, &got, err);
    if (status) return status;
    text_add_n(payload, buffer, got);
    if (payload->failed) return error_memory(err);
  }
  return CUGEN_OK;
}

struct wire_reader wire_read(const struct text *payload) {
  const char *data = text_get(payload);
  return (struct wire_reader){.at = data, .end = data + payload->length};
}
