/* Kernels as plain data; see kernel.h. */
#include "kernel.h"

#include <stdlib.h>

const char *const memory_kind_names[MEMORY_KIND_COUNT] = {"device", "pinned", "mapped", "managed"};
const char *const access_kind_names[ACCESS_KIND_COUNT] = {"global", "constant", "texture", "array", "tensor"};
const char *const address_kind_names[ADDRESS_KIND_COUNT] = {"clamp", "border", "wrap", "mirror"};
const char *const fill_kind_names[FILL_KIND_COUNT] = {"uniform", "identity", "index", "ones", "zero"};

void kernel_spec_free(struct kernel_spec *spec) {
  free(spec->variant);
  free(spec->source);
  free(spec->arguments);
  free(spec->launches);
  text_free(&spec->strings);
  *spec = (struct kernel_spec){0};
}

struct tensor_extent kernel_argument_tensor(const struct kernel_argument *argument) {
  struct tensor_extent out = {.rank = argument->rank};
  for (int i = 0; i < argument->rank; i++) {
    int at = argument->column_major ? i : argument->rank - 1 - i;
    out.shape[i] = argument->shape[at];
    out.stride[i] = argument->stride[at] * argument->dtype->bytes;
    out.box[i] = argument->box[at];
  }
  if (argument->parts <= 1) return out;
  int last = out.rank++;
  out.shape[last - 1] /= argument->parts;
  out.shape[last] = argument->parts;
  out.stride[last] = out.stride[last - 1] * out.shape[last - 1];
  out.box[last] = 1;
  return out;
}

int64_t kernel_argument_bytes(const struct kernel_argument *argument) {
  return argument->rank ? argument->elements * argument->dtype->bytes : argument->dtype->bytes;
}

bool kernel_argument_passed(const struct kernel_argument *argument) {
  return argument->access != ACCESS_CONSTANT && !argument->compiled_in;
}

bool kernel_argument_textured(const struct kernel_argument *argument) {
  return argument->access == ACCESS_TEXTURE || argument->access == ACCESS_ARRAY;
}
