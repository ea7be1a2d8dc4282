/* What the C++ compiler is given: the shim, the source as C++, an exported entry for each kernel; and beside it the headers of CUDA's
   that the source may include. */
#ifndef RUNTIME_CPU_UNIT_H
#define RUNTIME_CPU_UNIT_H

#include "runtime/device.h"

/* Writes all of it into the folder (runtime/compile/advice.h has the names). */
int unit_write(const struct compile_request *request, const char *folder, cugen_error *err);

/* Whether it may include headers of the toolkit that compile here as they are. */
bool unit_wants_toolkit(const char *source);

#endif
