/* Machine code, read just far enough to count instructions, global loads, global loads under way at
   once, and wide loads of shared memory. */
#ifndef RUNTIME_MODEL_SASS_H
#define RUNTIME_MODEL_SASS_H

#include "runtime/device.h"

/* Returns the facts of one kernel's code, for compute capability 7.0 or newer. */
struct sass_facts sass_read(const void *code, size_t length);

#endif
