/* NVRTC, opened at run time through one table. Several threads may compile at once. */
#ifndef RUNTIME_NVRTC_H
#define RUNTIME_NVRTC_H

#include "device.h"

struct nvrtc; /* the loaded library, shared by the process, never unloaded */

int nvrtc_open(const struct toolkit *toolkit, const struct nvrtc **out, cugen_error *err);
/* 13000 for 13.0 */
int nvrtc_version(const struct nvrtc *nvrtc);

/* Compiles to a cubin for request->arch and reads its resources; for "compute_75" to PTX, whose resources stay 0. A refusal is CUGEN_ERROR_COMPILE with the first
   diagnostics; past request->timeout likewise. */
int nvrtc_compile(const struct nvrtc *nvrtc, const struct compile_request *request, struct compiled *out,
                  cugen_error *err);

/* Resources of a kernel (lowered name) from a cubin's ELF. */
int cubin_resources(const void *image, size_t length, const char *entry, struct kernel_resources *out,
                    cugen_error *err);
/* What its machine code says; nothing: there is none that is understood. */
struct sass_facts cubin_code(const void *image, size_t length, const char *entry);
/* Blocks of the clusters that the kernel demands; 1: it has none; 0: the image does not say. */
int cubin_cluster(const void *image, size_t length, const char *entry);
/* How many parameters the kernel takes, and into sizes[0 .. capacity) their bytes; -1: the image does not say. */
int cubin_parameters(const void *image, size_t length, const char *entry, int *sizes, int capacity);
/* Spill stores + loads in bytes for an entry, from a --ptxas-options=-v log; 0 when it has none. */
int64_t ptxas_log_spills(const char *log, const char *entry);
/* The line of the log, and its length, that says that the code is not what was written: wgmma made serial, setmaxnreg
   ignored (C7508 to C7515); NULL: none. */
const char *ptxas_log_loss(const char *log, size_t *length);

#endif
