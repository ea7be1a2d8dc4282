/* Fuzz target: any bytes as a message between coordinator and worker. A message that can be read
   reads the same after it was written again. */
#include <string.h>

#include "fuzz.h"
#include "runtime/wire.h"

static void check_spec(struct wire_reader *reader) {
  struct kernel_spec spec, again;
  struct text copy = {0};
  cugen_error err = {0};
  int status = wire_get_spec(reader, &spec, &err);
  require(status == CUGEN_OK || (err.status == status && !spec.variant));
  if (status) return;
  wire_put_spec(&copy, &spec);
  struct wire_reader second = wire_read(&copy);
  require(wire_get_spec(&second, &again, &err) == CUGEN_OK);
  require(strcmp(spec.variant, again.variant) == 0 && spec.argument_count == again.argument_count);
  for (size_t i = 0; i < spec.argument_count; i++)
    require(strcmp(spec.arguments[i].name, again.arguments[i].name) == 0);
  kernel_spec_free(&spec);
  kernel_spec_free(&again);
  text_free(&copy);
}

static void check_compiled(struct wire_reader *reader) {
  struct compiled compiled, again;
  struct text copy = {0};
  cugen_error err = {0};
  int status = wire_get_compiled(reader, &compiled, &err);
  require(status == CUGEN_OK || err.status == status);
  if (status) return;
  wire_put_compiled(&copy, &compiled);
  struct wire_reader second = wire_read(&copy);
  require(wire_get_compiled(&second, &again, &err) == CUGEN_OK);
  require(compiled.image_length == again.image_length && compiled.entry_count == again.entry_count);
  compiled_free(&compiled);
  compiled_free(&again);
  text_free(&copy);
}

/* The first byte chooses the kind of message. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct text message = {0};
  if (size < 2) return 0;
  text_add_n(&message, (const char *)data + 1, size - 1);
  require(!message.failed);
  struct wire_reader reader = wire_read(&message);
  if (data[0] % 2)
    check_spec(&reader);
  else
    check_compiled(&reader);
  text_free(&message);
  return 0;
}
