/* The inside of the cuda backend, shared by its files. */
#ifndef RUNTIME_CUDA_CUDA_DEVICE_H
#define RUNTIME_CUDA_CUDA_DEVICE_H

#include "driver.h"
#include "nvml.h"
#include "runtime/compile/toolkit.h"
#include "runtime/device.h"

/* The state of holding the stream back (hold.c). */
struct hold {
  CUmodule module;
  CUfunction function;
  volatile unsigned *turn; /* pinned; NULL: the stream is not held back */
  CUdeviceptr seen;        /* where the device sees `turn` */
  bool tried;
};

struct cuda_device {
  struct device base;
  const struct toolkit *toolkit;
  const struct driver *driver;
  CUdevice handle;
  CUcontext context;
  bool primary; /* context is the device's primary context, which was retained */
  CUstream stream;
  CUevent start, stop;
  const struct nvml *nvml;
  struct nvml_device *nvml_device;
  bool nvml_tried;
  struct hold hold;
  void *cublaslt; /* cuBLASLt's handle; NULL: no kernel of cuBLASLt was opened yet; see library.h */
};

static inline struct cuda_device *cuda_of(struct device *device) {
  return (struct cuda_device *)device;
}

/* Makes a driver call; the value is the call's status. */
#define CHECK(cuda, err, member, arguments) DRIVER_CALL((cuda)->driver, err, member, arguments)

/* Makes the device's context current; a successful call must be paired with leave. */
static inline int enter(struct cuda_device *cuda, cugen_error *err) {
  return CHECK(cuda, err, context_push, (cuda->context));
}

static inline int leave(struct cuda_device *cuda, int status) {
  CUcontext popped = NULL;
  cuda->driver->context_pop(&popped);
  return status;
}

static inline int sync_stream(struct cuda_device *cuda, cugen_error *err) {
  return CHECK(cuda, err, stream_sync, (cuda->stream));
}

static inline CUdeviceptr address(const void *pointer) {
  return (CUdeviceptr)(uintptr_t)pointer;
}

/* Launches that are queued on the device's stream between cuda_hold and cuda_release start at
   cuda_release, or after a time limit; or at once, if the device cannot hold a stream back. Called
   with the context current. See hold.c. */
void cuda_hold(struct cuda_device *cuda);
void cuda_release(struct cuda_device *cuda);
void cuda_hold_close(struct cuda_device *cuda);

/* The functions in cuda_device_ops, by file, except those of device.c. */
/* clang-format off */
#define CUDA_TIMER(X) X(timer_make) X(timer_free) X(timer_start) X(timer_stop) X(timer_read)
#define CUDA_MEMORY(X)                                                                             \
  X(alloc) X(free) X(alloc_pitched) X(memory_check) X(guards) X(upload) X(download) X(copy)        \
  X(copy_2d) X(fill) X(cache_bytes) X(flush)
#define CUDA_KERNEL(X)                                                                             \
  X(load) X(unload) X(entry) X(carve) X(symbol) X(active_blocks) X(active_clusters) X(parameters)  \
  X(prepare) X(unprepare) X(launch_on) X(launch)
#define CUDA_GRAPH(X) X(graphs) X(graph_make) X(graph_launch) X(graph_free)
#define CUDA_TEXTURE(X) X(texture_make) X(texture_free) X(texture_update) X(tensor_make)
#define CUDA_FUNCTIONS(X)                                                                          \
  CUDA_TIMER(X) CUDA_MEMORY(X) CUDA_KERNEL(X) CUDA_GRAPH(X) CUDA_TEXTURE(X)
/* clang-format on */
#define CUDA_DECLARE(member) DEVICE_DECLARE(cuda, member)
CUDA_FUNCTIONS(CUDA_DECLARE)

#endif
