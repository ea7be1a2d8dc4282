/* Facts about kernels from a cubin's ELF file and from the log of ptxas. */
#ifndef RUNTIME_MODEL_CUBIN_H
#define RUNTIME_MODEL_CUBIN_H

#include "runtime/device.h"

/* Gets a kernel's resources by its lowered name, without spill_bytes and grid_sync. */
int cubin_resources(const void *image, size_t length, const char *entry,
                    struct kernel_resources *out, cugen_error *err);
/* sass.c: reads the machine code of one kernel for compute capability 7.0 or newer, just far enough
   to count instructions, global loads, global loads under way at once, and wide loads of shared
   memory. */
struct sass_facts sass_read(const void *code, size_t length);
/* Facts from the kernel's machine code; all 0 if the code is missing or not understood. */
struct sass_facts cubin_code(const void *image, size_t length, const char *entry);
/* The number of blocks of the clusters that the kernel demands; 1: no clusters; 0: the image
   does not say. */
int cubin_cluster(const void *image, size_t length, const char *entry);
void cubin_needs(const struct compiled *compiled, size_t index, struct kernel_needs *out);
/* The number of parameters that the kernel takes; their sizes in bytes go into sizes[0 ..
   capacity). -1: the image does not say. */
int cubin_parameters(const void *image, size_t length, const char *entry, int *sizes, int capacity);
/* The size in bytes of a __device__ or __constant__ variable, also of a static one, by its name
   in the image; 0: there is no such variable, -1: the image is not a cubin. */
int64_t cubin_variable(const void *image, size_t length, const char *name);
/* Spill stores + loads of an entry in bytes, from a --ptxas-options=-v log; 0 when the log has
   none. */
int64_t ptxas_log_spills(const char *log, const char *entry);
/* Returns the line of the log that warns that ptxas made the code slower than the source: wgmma
   made serial, setmaxnreg ignored (C7508 to C7515); NULL: there is no such line. *length: of the
   line. */
const char *ptxas_log_loss(const char *log, size_t *length);

#endif
