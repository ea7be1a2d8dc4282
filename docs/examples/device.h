/* What the examples need of a device: a context, streams and memory of a CUDA GPU, or the host's
   memory if a kernel runs on the cpu device. A CUDA application has these already and calls the
   driver (or run-time) directly; here the driver is opened by name, so that the examples build and
   start without one. Any failure ends the program. */
#ifndef EXAMPLES_DEVICE_H
#define EXAMPLES_DEVICE_H

#include <cuda.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device {
  int gpu; /* 0: the cpu device, with memory of the host and streams that are NULL */
  CUdevice number;
  CUcontext context;
};

typedef void (*device_function)(void); /* cast to the function's own type before it is called */

static inline device_function device_find(const char *name) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW),
       *address = library ? dlsym(library, name) : NULL;
  device_function function;
  if (!address) {
    fprintf(stderr, "the CUDA driver has no %s\n", name);
    exit(1);
  }
  memcpy(&function, &address, sizeof function);
  return function;
}

static inline void device_check(CUresult result, const char *call) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: CUDA error %d\n", call, (int)result);
  exit(1);
}

/* Use: DEVICE_CALL(cuCtxSetCurrent, (CUcontext), (context)); the names are those that the driver
   exports. */
#define DEVICE_CALL(name, types, values)                                                           \
  device_check(((CUresult(*) types)device_find(#name))values, #name)

/* Opens "cuda:0" or "cpu". The primary context of a GPU is then current in the calling thread. */
static inline struct device device_open(const char *id) {
  struct device d = {strncmp(id, "cuda:", 5) == 0, 0, NULL};
  if (!d.gpu) return d;
  DEVICE_CALL(cuInit, (unsigned), (0));
  DEVICE_CALL(cuDeviceGet, (CUdevice *, int), (&d.number, atoi(id + 5)));
  DEVICE_CALL(cuDevicePrimaryCtxRetain, (CUcontext *, CUdevice), (&d.context, d.number));
  DEVICE_CALL(cuCtxSetCurrent, (CUcontext), (d.context));
  return d;
}

static inline void device_close(const struct device *d) {
  if (d->gpu) DEVICE_CALL(cuDevicePrimaryCtxRelease_v2, (CUdevice), (d->number));
}

/* Makes the context current in the calling thread. */
static inline void device_enter(const struct device *d) {
  if (d->gpu) DEVICE_CALL(cuCtxSetCurrent, (CUcontext), (d->context));
}

/* ---- Streams -------------------------------------------------------------------------------- */

static inline CUstream device_stream(const struct device *d) {
  CUstream stream = NULL;
  if (d->gpu)
    DEVICE_CALL(cuStreamCreate, (CUstream *, unsigned), (&stream, CU_STREAM_NON_BLOCKING));
  return stream;
}

static inline void device_wait(const struct device *d, CUstream stream) {
  if (d->gpu) DEVICE_CALL(cuStreamSynchronize, (CUstream), (stream));
}

static inline void device_end_stream(const struct device *d, CUstream stream) {
  if (d->gpu) DEVICE_CALL(cuStreamDestroy_v2, (CUstream), (stream));
}

/* ---- Memory --------------------------------------------------------------------------------- */

static inline void *device_alloc(const struct device *d, size_t bytes) {
  CUdeviceptr address = 0;
  void *memory = d->gpu ? NULL : malloc(bytes);
  if (d->gpu) {
    DEVICE_CALL(cuMemAlloc_v2, (CUdeviceptr *, size_t), (&address, bytes));
    memory = (void *)(size_t)address;
  }
  if (!memory) exit(1);
  return memory;
}

static inline void device_free(const struct device *d, void *memory) {
  if (d->gpu)
    DEVICE_CALL(cuMemFree_v2, (CUdeviceptr), ((CUdeviceptr)(size_t)memory));
  else
    free(memory);
}

static inline void device_upload(const struct device *d, void *to, const void *from, size_t bytes,
                                 CUstream stream) {
  if (d->gpu)
    DEVICE_CALL(cuMemcpyHtoDAsync_v2, (CUdeviceptr, const void *, size_t, CUstream),
                ((CUdeviceptr)(size_t)to, from, bytes, stream));
  else
    memcpy(to, from, bytes);
}

static inline void device_download(const struct device *d, void *to, const void *from, size_t bytes,
                                   CUstream stream) {
  if (d->gpu)
    DEVICE_CALL(cuMemcpyDtoHAsync_v2, (void *, CUdeviceptr, size_t, CUstream),
                (to, (CUdeviceptr)(size_t)from, bytes, stream));
  else
    memcpy(to, from, bytes);
}

#endif
