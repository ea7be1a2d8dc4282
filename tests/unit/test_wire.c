/* A message whose header is impossible is refused before anything of the message is awaited or
   stored. */
#include "tests/testing.h"

#define _GNU_SOURCE /* pipe2 */

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/error.h"
#include "runtime/wire.h"

struct said {
  uint64_t type, length;
};

/* Receives a message of which only this header arrives before the end. */
static int receive(struct said header, const char **message) {
  static cugen_error err;
  int ends[2];
  enum message_type type;
  struct text payload = {0};
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  assert_int_equal(write(ends[0], &header, sizeof header), sizeof header);
  close(ends[0]);
  const int status = wire_receive(ends[1], -1, &type, &payload, NULL, &err);
  assert_int_equal(payload.length, 0);
  text_free(&payload);
  close(ends[1]);
  *message = err.message;
  return status;
}

TEST(a_length_beyond_any_message) {
  static const uint64_t lengths[] = {((uint64_t)1 << 30) + 1, (uint64_t)1 << 31, (uint64_t)1 << 32,
                                     (uint64_t)1 << 63, UINT64_MAX};
  const char *message;
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    assert_int_equal(receive((struct said){MESSAGE_DONE, lengths[i]}, &message),
                     CUGEN_ERROR_INTERNAL);
    assert_non_null(strstr(message, "makes no sense"));
  }
}

/* The greatest length is accepted; its bytes are awaited, but do not arrive here. */
TEST(the_greatest_length) {
  const char *message;
  assert_int_equal(receive((struct said){MESSAGE_DONE, (uint64_t)1 << 30}, &message),
                   CUGEN_ERROR_IO);
}

TEST(a_type_that_there_is_not) {
  static const uint64_t types[] = {MESSAGE_COUNT, 77, UINT64_MAX};
  const char *message;
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    assert_int_equal(receive((struct said){types[i], 0}, &message), CUGEN_ERROR_INTERNAL);
}

/* Blocks and texts of a payload do not extend past its end. */
TEST(a_block_beyond_the_payload) {
  static const int64_t lengths[] = {9, -1, INT64_MAX, INT64_MIN};
  for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
    FREED(text) payload = {0};
    size_t length = 1;
    wire_put_int(&payload, lengths[i]);
    wire_put(&payload, "12345678", 8);
    struct wire_reader reader = wire_read(&payload);
    assert_null(wire_get_block(&reader, &length));
    assert_true(reader.failed && length == 0);
  }
}

/* A string without its terminating 0 makes the reader fail, because reading the string would go
   past the payload. */
TEST(a_text_without_its_end) {
  static const struct {
    const char *sent;
    size_t length;
    bool fails;
  } cases[] = {
      {"text", 5, false}, {"", 1, false}, {"text", 4, true}, {"text\0x", 6, true}, {"", 0, true}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    FREED(text) payload = {0};
    wire_put_block(&payload, cases[i].sent, cases[i].length);
    wire_put(&payload, "behind", 7);
    struct wire_reader reader = wire_read(&payload);
    assert_string_equal(wire_get_string(&reader), cases[i].fails ? "" : cases[i].sent);
    assert_int_equal(reader.failed, cases[i].fails);
  }
}

enum { LARGE = 8 << 20 };

static void *send_large(void *socket) {
  FREED(text) payload = {0};
  for (int64_t i = 0; i < LARGE / 8; i++) wire_put_int(&payload, i);
  const int status = wire_send(*(const int *)socket, MESSAGE_DONE, &payload, -1, NULL);
  return status ? socket : NULL;
}

/* A message of 8 MiB arrives in pieces. */
TEST(a_message_in_pieces) {
  int ends[2];
  enum message_type type;
  struct text payload = {0};
  pthread_t thread;
  void *failed;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  assert_int_equal(pthread_create(&thread, NULL, send_large, &ends[0]), 0);
  assert_int_equal(wire_receive(ends[1], -1, &type, &payload, NULL, NULL), CUGEN_OK);
  assert_int_equal(pthread_join(thread, &failed), 0);
  assert_null(failed);
  assert_int_equal(payload.length, LARGE);
  struct wire_reader reader = wire_read(&payload);
  for (int64_t i = 0; i < LARGE / 8; i++) assert_true(wire_get_int(&reader) == i);
  text_free(&payload);
  close(ends[0]);
  close(ends[1]);
}

/* A descriptor that the receiver does not ask for is closed, so the pipe ends. */
TEST(a_descriptor_that_nobody_wants) {
  int ends[2], pipes[2];
  enum message_type type;
  struct text payload = {0};
  char byte;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  assert_int_equal(pipe2(pipes, O_NONBLOCK), 0);
  assert_int_equal(wire_send(ends[0], MESSAGE_DONE, &payload, pipes[1], NULL), CUGEN_OK);
  assert_int_equal(wire_receive(ends[1], -1, &type, &payload, NULL, NULL), CUGEN_OK);
  close(pipes[1]);
  assert_int_equal(read(pipes[0], &byte, 1), 0);
  text_free(&payload);
  close(pipes[0]);
  close(ends[0]);
  close(ends[1]);
}

/* ---- Specs ---------------------------------------------------------------------------------- */

/* Longer than any buffer that was made for other names. */
static char place[1 << 18];

/* Sends a spec and reads it back. */
static int pass(const struct kernel_spec *spec, struct kernel_spec *out) {
  FREED(text) payload = {0};
  cugen_error err;
  wire_put_spec(&payload, spec);
  struct wire_reader reader = wire_read(&payload);
  const int status = wire_get_spec(&reader, out, &err);
  memset(payload.data, 0xff, payload.length); /* nothing of the sent spec is left */
  return status;
}

/* Passes a spec of two launches, which are made in the order of `sequence`. */
static int pass_spec(size_t arguments, size_t own, uint32_t (*sequence)[2],
                     struct kernel_spec *out) {
  char variant[] = "v";
  struct kernel_argument all[KERNEL_MAX_ARGUMENTS + 1];
  struct kernel_launch launches[] = {{.entry = "first", .place = place}, {.entry = "second"}};
  memset(place, 'k', sizeof place - 1);
  for (size_t i = 0; i < arguments + own; i++)
    all[i] = (struct kernel_argument){
        .name = "x", .dtype = &dtype_table[DTYPE_f32], .value = value_string("word")};
  const struct kernel_spec spec = {.variant = variant,
                                   .arguments = all,
                                   .argument_count = arguments,
                                   .own_count = own,
                                   .launches = launches,
                                   .launch_count = 2,
                                   .sequence = *sequence,
                                   .sequence_count = 2};
  return pass(&spec, out);
}

TEST(a_spec_comes_back) {
  uint32_t sequence[] = {1, 0};
  FREED(kernel_spec) spec;
  assert_int_equal(pass_spec(KERNEL_MAX_ARGUMENTS - 1, 1, &sequence, &spec), CUGEN_OK);
  assert_string_equal(spec.launches[0].entry, "first");
  assert_string_equal(spec.launches[0].place, place);
  for (size_t i = 0; i < KERNEL_MAX_ARGUMENTS; i++) {
    assert_string_equal(spec.arguments[i].name, "x");
    assert_string_equal(spec.arguments[i].value.string, "word");
  }
  assert_string_equal(spec.launches[1].place, "");
  assert_int_equal(spec.sequence[0], 1);
}

TEST(a_spec_beyond_its_limits) {
  uint32_t right[] = {0, 1}, beyond[] = {0, 2};
  struct kernel_spec spec;
  assert_int_equal(pass_spec(KERNEL_MAX_ARGUMENTS, 1, &right, &spec), CUGEN_ERROR_INTERNAL);
  assert_int_equal(pass_spec(1, 0, &beyond, &spec), CUGEN_ERROR_INTERNAL);
}

enum { PASSED = KERNEL_MAX_ARGUMENTS + 1 };
static const struct kernel_parameter passed[PASSED] = {
    {.argument = 0}, {.argument = 2, .value = {VALUE_INT, .integer = 7}}, {.argument = 1}};

/* Passes a spec of three arguments, the last an own scalar of the implementation, and of a launch
   that lists `count` parameters from `first` on. */
static int pass_parameters(const struct kernel_parameter *parameters, size_t first, size_t count,
                           struct kernel_spec *out) {
  char variant[] = "v";
  struct kernel_argument all[3];
  struct kernel_parameter copies[PASSED];
  struct kernel_launch launch = {
      .entry = "f", .listed = true, .first_parameter = first, .parameter_count = count};
  for (size_t i = 0; i < 3; i++)
    all[i] = (struct kernel_argument){.name = "x", .dtype = &dtype_table[DTYPE_f32]};
  memcpy(copies, parameters, sizeof copies);
  const struct kernel_spec spec = {.variant = variant,
                                   .arguments = all,
                                   .argument_count = 2,
                                   .own_count = 1,
                                   .launches = &launch,
                                   .launch_count = 1,
                                   .parameters = copies,
                                   .parameter_count = PASSED};
  return pass(&spec, out);
}

TEST(parameters_come_back) {
  FREED(kernel_spec) spec;
  assert_int_equal(pass_parameters(passed, 1, 2, &spec), CUGEN_OK);
  assert_int_equal(spec.launches[0].first_parameter, 1);
  assert_int_equal(spec.parameters[1].value.integer, 7);
}

TEST(parameters_beyond_their_limits) {
  struct kernel_parameter absent[PASSED], text[PASSED];
  struct kernel_spec spec;
  memcpy(absent, passed, sizeof absent), memcpy(text, passed, sizeof text);
  absent[2].argument = 3;
  text[1].value = value_string("7");
  assert_int_equal(pass_parameters(passed, PASSED - 1, 2, &spec), CUGEN_ERROR_INTERNAL);
  assert_int_equal(pass_parameters(passed, 0, PASSED, &spec), CUGEN_ERROR_INTERNAL);
  assert_int_equal(pass_parameters(passed, SIZE_MAX, 2, &spec), CUGEN_ERROR_INTERNAL);
  assert_int_equal(pass_parameters(passed, 1, SIZE_MAX, &spec), CUGEN_ERROR_INTERNAL);
  assert_int_equal(pass_parameters(absent, 0, 3, &spec), CUGEN_ERROR_INTERNAL);
  assert_int_equal(pass_parameters(text, 0, 3, &spec), CUGEN_ERROR_INTERNAL);
}
