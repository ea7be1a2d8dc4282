/* What a cubin says of its kernels, read from its ELF, and what ptxas says in its log. */
#ifndef RUNTIME_MODEL_CUBIN_H
#define RUNTIME_MODEL_CUBIN_H

#include "runtime/device.h"

/* Resources of a kernel (lowered name) from a cubin's ELF. */
int cubin_resources(const void *image, size_t length, const char *entry, struct kernel_resources *out,
                    cugen_error *err);
/* What its machine code says; nothing: there is none that is understood. */
struct sass_facts cubin_code(const void *image, size_t length, const char *entry);
/* Blocks of the clusters that the kernel demands; 1: it has none; 0: the image does not say. */
int cubin_cluster(const void *image, size_t length, const char *entry);
/* What a launch of the index-th kernel takes. */
void cubin_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out);
/* How many parameters the kernel takes, and into sizes[0 .. capacity) their bytes; -1: the image does not say. */
int cubin_parameters(const void *image, size_t length, const char *entry, int *sizes, int capacity);
/* The bytes of a __device__ or __constant__ variable, also of a static one, by its name in the image; 0: there is none, -1: the
   image is no cubin. */
int64_t cubin_variable(const void *image, size_t length, const char *name);
/* Spill stores + loads in bytes for an entry, from a --ptxas-options=-v log; 0 when it has none. */
int64_t ptxas_log_spills(const char *log, const char *entry);
/* The line of the log, and its length, that says that the code is not what was written: wgmma made serial, setmaxnreg
   ignored (C7508 to C7515); NULL: none. */
const char *ptxas_log_loss(const char *log, size_t *length);

#endif
