/* Finding all places in a watched kernel's image that report an access to memory, whether executed
   or not. */
#ifndef EMULATOR_SITES_H
#define EMULATOR_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Sets *out to the return addresses of the calls, counted from the image's first byte and rising
   within each section. The caller frees *out, also after a failure. Images for processors other
   than x86-64 and aarch64 give none. */
int sites_find(const void *image, size_t length, uint64_t **out, size_t *count, cugen_error *err);

#endif
