/* A C++ compiler's diagnostics as CUGEN_ERROR_COMPILE. */
#ifndef RUNTIME_CPU_DIAGNOSTICS_H
#define RUNTIME_CPU_DIAGNOSTICS_H

#include "runtime/device.h"

/* The first ones of its log, without the folder's name, context and quotes of other files, with advice. code: what it ended with. */
int cpu_refuse(const struct compile_request *request, const char *log, const char *folder, int code,
               cugen_error *err);

#endif
