/* The places in a watched image at which it reports an access to memory, whether or not they have run. */
#ifndef RUNTIME_CPU_SITES_H
#define RUNTIME_CPU_SITES_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Return addresses, from the image's first byte, in rising order; *out is to be freed. Of other processors than x86-64 and aarch64
   none are known. */
int sites_find(const void *image, size_t length, uint64_t **out, size_t *count, cugen_error *err);

#endif
