/* Functions shared by all backends; see device.h. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

const char *device_target(const struct device_description *device, const char *arch) {
  return device->facts.is_gpu ? arch : device->fingerprint;
}

void compiled_free(struct compiled *compiled) {
  free(compiled->image);
  for (size_t i = 0; i < KERNEL_MAX_ENTRIES; i++) free(compiled->entries[i]);
  free(compiled->log);
  free(compiled->ptx);
  *compiled = (struct compiled){0};
}

/* A NULL text gives NULL; without memory *whole becomes false. */
static char *runtime_device_copy_text(const char *text, bool *whole) {
  char *copy = text ? strdup(text) : NULL;
  *whole &= !text || copy;
  return copy;
}

bool compiled_copy(const struct compiled *from, struct compiled *to) {
  bool whole = true;
  *to = *from;
  to->image = malloc(from->image_length ? from->image_length : 1);
  if (to->image && from->image_length) memcpy(to->image, from->image, from->image_length);
  for (size_t i = 0; i < KERNEL_MAX_ENTRIES; i++)
    to->entries[i] = runtime_device_copy_text(from->entries[i], &whole);
  to->log = runtime_device_copy_text(from->log, &whole);
  to->ptx = runtime_device_copy_text(from->ptx, &whole);
  if (to->image && whole) return true;
  compiled_free(to);
  return false;
}

struct texture_extent texture_extent(const struct kernel_argument *argument) {
  int64_t extent[3] = {1, 1, 1}, stride[3] = {1, 0, 0};
  int rank = argument->rank < 3 ? argument->rank : 3;
  for (int i = 0; i < rank; i++) {
    const int at = kernel_argument_dimension(argument, i);
    extent[i] = argument->shape[at];
    stride[i] = argument->stride[at];
  }
  if (!stride[1]) stride[1] = extent[0];
  if (!stride[2]) stride[2] = stride[1] * extent[1];
  return (struct texture_extent){extent[0], extent[1], extent[2], stride[1], stride[2]};
}
