/* Machine code, read just far enough to see how ptxas translated the PTX: how many instructions and
   global loads there are, how many of the loads a warp keeps under way, and which loads of shared
   memory are wide. */
#ifndef RUNTIME_MODEL_SASS_H
#define RUNTIME_MODEL_SASS_H

#include "runtime/device.h"

/* Returns the facts of one kernel's code, for compute capability 7.0 or newer. */
struct sass_facts sass_read(const void *code, size_t length);

#endif
