/* Compiling CUDA C++ for the cpu device with the system's C++ compiler. */
#ifndef RUNTIME_CPU_COMPILE_H
#define RUNTIME_CPU_COMPILE_H

#include "runtime/device.h"

/* The row's compile: the image is a shared object, entry i is "cugen_entry_i". */
int cpu_compile(const struct compile_request *request, struct compiled *out, cugen_error *err);

/* The compiler's name and version, first line of --version, and the flags used. */
void cpu_compiler_identity(const struct toolkit *toolkit, struct text *out);

/* Appends C without comments, empty lines and the spaces at the ends of lines: what a compiler makes of it depends on none of them. */
void cpu_add_code(const char *text, struct text *out);

#endif
