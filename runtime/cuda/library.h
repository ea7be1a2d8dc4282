/* Libraries' kernels as variants, behind the cuda backend's compile, load and launch. The "image"
   is the text of a library_call (base/library.h), so compiling only checks the call. library.c has
   what all libraries share; each library is a file with a struct library_ops, and a row in
   library.c. */
#ifndef RUNTIME_CUDA_LIBRARY_H
#define RUNTIME_CUDA_LIBRARY_H

#include "cuda_device.h"

/* The first member of what a library's open makes. */
struct library_kernel {
  const struct library_ops *ops;
  size_t workspace;  /* bytes of device memory that each call of the kernel needs */
  size_t parameters; /* how many parameters a launch passes; what prepare made is behind them */
};

/* What a call needs beside its parameters, the first member of what a library's prepare makes. */
struct library_prepared {
  struct memory workspace;
};

/* All but check run with the device's context current. */
struct library_ops {
  /* CUGEN_ERROR_CONFIG: the library has no such function, or the arguments do not agree. */
  int (*check)(const struct library_call *call, cugen_error *err);
  /* Makes the handle at the first call, in cuda->libraries. */
  int (*open)(struct cuda_device *cuda, const struct library_call *call,
              struct library_kernel **out, cugen_error *err);
  void (*close)(struct library_kernel *kernel);
  int (*prepare)(struct library_kernel *kernel, void *const *parameters,
                 struct library_prepared **out, cugen_error *err);
  void (*unprepare)(struct library_kernel *kernel, struct library_prepared *prepared);
  /* Allocates and locks nothing of cugen's. */
  int (*launch)(const struct library_kernel *kernel, const struct library_prepared *prepared,
                void **parameters, void *stream, cugen_error *err);
  /* Closes the handle that open made. */
  void (*shut)(struct cuda_device *cuda, void *handle);
};

extern const struct library_ops cublaslt_ops;

/* Each is the step of the same name of device_ops, for a library's kernel. */
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
/* Closes the handles of a device. */
void cuda_library_shut(struct cuda_device *cuda);

#endif
