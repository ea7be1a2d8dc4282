/* NVRTC, opened at run time through a table of functions. Several threads may compile at once. */
#ifndef RUNTIME_CUDA_NVRTC_H
#define RUNTIME_CUDA_NVRTC_H

#include "runtime/device.h"

struct nvrtc; /* the functions of the loaded library; the toolkit owns the table */

int nvrtc_open(const struct toolkit *toolkit, const struct nvrtc **out, cugen_error *err);
/* 13000 for 13.0. */
int nvrtc_version(const struct nvrtc *nvrtc);
/* CUGEN_ERROR_COMPILE: NVRTC has no target for the architecture, nor for an earlier one whose code
   runs there; the first line of the message lists NVRTC's targets. */
int nvrtc_check_arch(const struct toolkit *toolkit, const char *arch, cugen_error *err);

/* Compiles to a cubin for request->arch and reads the cubin's resources; for "compute_75"
   compiles to PTX, whose resources stay 0. A refused source is CUGEN_ERROR_COMPILE with the
   first diagnostics; a compile that exceeds request->timeout is CUGEN_ERROR_COMPILE, too. */
int nvrtc_compile(const struct nvrtc *nvrtc, const struct compile_request *request,
                  struct compiled *out, cugen_error *err);

#endif
