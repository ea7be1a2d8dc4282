/* Compiling CUDA C++ for the cpu device with the system's C++ compiler. */
#ifndef EMULATOR_COMPILE_H
#define EMULATOR_COMPILE_H

#include "runtime/device.h"

/* The compile function of the cpu backend: the image is a shared object, entry i is
   "cugen_entry_i". */
int cpu_compile(const struct compile_request *request, struct compiled *out, cugen_error *err);

/* Appends the first line of the compiler's --version or "no C++ compiler", the flags for kernels
   that are not watched, and a hash of the shim. */
void cpu_compiler_identity(const struct toolkit *toolkit, struct text *out);

#endif
