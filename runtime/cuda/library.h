/* Libraries' kernels as variants, behind the cuda backend's compile, load and launch. The "image"
   is the text of a library_call (base/library.h), so compiling only checks the call. cublaslt.c
   implements the functions for cuBLASLt. */
#ifndef RUNTIME_CUDA_LIBRARY_H
#define RUNTIME_CUDA_LIBRARY_H

#include "cuda_device.h"

struct library_kernel; /* a loaded call */

/* Each function does for a library's kernel what the function of that name in device_ops does; open
   and close stand for load and unload. All but compile run with the device's context current. A
   launch allocates nothing and locks nothing of cugen's. */
int cuda_library_compile(const struct compile_request *request, struct compiled *out,
                         cugen_error *err);
int cuda_library_open(struct cuda_device *cuda, const struct compiled *compiled,
                      struct library_kernel **out, cugen_error *err);
void cuda_library_close(struct library_kernel *kernel); /* takes NULL */
int cuda_library_prepare(struct cuda_device *cuda, struct library_kernel *kernel,
                         void *const *parameters, void *before, void **out, cugen_error *err);
void cuda_library_unprepare(struct cuda_device *cuda, struct library_kernel *kernel,
                            void *prepared);
int cuda_library_launch(const struct library_kernel *kernel, void **parameters, void *stream,
                        cugen_error *err);
/* Closes the handle that the first cuda_library_open of the device made. */
void cuda_library_shut(struct cuda_device *cuda);

#endif
