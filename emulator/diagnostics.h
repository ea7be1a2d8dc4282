/* Turning a C++ compiler's diagnostics into CUGEN_ERROR_COMPILE. */
#ifndef EMULATOR_DIAGNOSTICS_H
#define EMULATOR_DIAGNOSTICS_H

#include "runtime/device.h"

/* Reports the compiler's crash, or else the first diagnostics of the log with advice, without the
   folder's name, context lines and quotes of other files. code: the compiler's exit status. */
int cpu_refuse(const struct compile_request *request, const char *log, const char *folder, int code,
               cugen_error *err);

#endif
