/* Finding all places in a watched image that report an access to memory, executed or not. */
#ifndef EMULATOR_SITES_H
#define EMULATOR_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Returns the return addresses of the calls, from the image's first byte, in rising order; the
   caller frees *out. Only x86-64 and aarch64 are supported; other processors give none. */
int sites_find(const void *image, size_t length, uint64_t **out, size_t *count, cugen_error *err);

#endif
