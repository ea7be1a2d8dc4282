/* Machine code, read just far enough to see what ptxas made of the PTX: how many global loads a warp keeps under way, and
   how many instructions there are. */
#ifndef RUNTIME_MODEL_SASS_H
#define RUNTIME_MODEL_SASS_H

#include "runtime/device.h"

/* The code of one kernel, of compute capability 7.0 or newer: what cubin_code gives. */
struct sass_facts sass_read(const void *code, size_t length);

#endif
