/* The inside of the cuda backend, shared by its files: device.c describes and opens devices and has
   the table, memory.c allocates and guards memory, kernel.c loads images and launches kernels,
   graph.c records graphs of launches, timer.c times launches, hold.c holds a stream back, library.c
   calls libraries. No other file includes this header. */
#ifndef RUNTIME_CUDA_CUDA_DEVICE_H
#define RUNTIME_CUDA_CUDA_DEVICE_H

#include "driver.h"
#include "nvml.h"
#include "runtime/compile/toolkit.h"
#include "runtime/device.h"

/* See hold.c. */
struct hold {
  CUmodule module;
  CUfunction function;
  volatile unsigned *turn; /* pinned; NULL: the stream cannot be held back */
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
  void *libraries[LIBRARY_COUNT]; /* handles of the libraries that were opened; see library.h */
};

static inline struct cuda_device *cuda_of(struct device *device) {
  return (struct cuda_device *)device;
}

/* Makes a driver call and gives its status. */
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

/* ---- timer.c -------------------------------------------------------------------------------- */

int cuda_timer_make(struct device *device, struct timer **out, cugen_error *err);
void cuda_timer_free(struct device *device, struct timer *timer);
bool cuda_timer_start(struct device *device, struct timer *timer, void *stream);
bool cuda_timer_stop(struct device *device, struct timer *timer, void *stream);
bool cuda_timer_read(struct device *device, struct timer *timer, double *seconds);

/* ---- hold.c --------------------------------------------------------------------------------- */

/* Between the two, what is queued on the device's stream does not start, if the device can. The
   context is current. */
void cuda_hold(struct cuda_device *cuda);
void cuda_release(struct cuda_device *cuda);
void cuda_hold_close(struct cuda_device *cuda);

/* ---- memory.c ------------------------------------------------------------------------------- */

int cuda_alloc(struct device *device, enum memory_kind kind, size_t bytes, bool guard,
               struct memory *out, cugen_error *err);
void cuda_free(struct device *device, struct memory *memory);
int cuda_alloc_pitched(struct device *device, size_t width, size_t rows, size_t *pitch,
                       struct memory *out, cugen_error *err);
bool cuda_guards(const struct memory *memory, struct memory_guards *out);
int cuda_memory_check(struct device *device, const struct memory *memory, cugen_error *err);
int cuda_upload(struct device *device, void *to_device, const void *from_host, size_t bytes,
                cugen_error *err);
int cuda_download(struct device *device, void *to_host, const void *from_device, size_t bytes,
                  cugen_error *err);
int cuda_copy(struct device *device, void *to, const void *from, size_t bytes, void *const *stream,
              cugen_error *err);
int cuda_copy_2d(struct device *device, void *to, size_t to_pitch, const void *from,
                 size_t from_pitch, size_t width, size_t rows, cugen_error *err);
int cuda_fill(struct device *device, void *to_device, unsigned char byte, size_t bytes,
              cugen_error *err);
size_t cuda_cache_bytes(const struct device *device);
int cuda_flush(struct device *device, const struct memory *memory, cugen_error *err);

/* ---- kernel.c ------------------------------------------------------------------------------- */

int cuda_load(struct device *device, const struct compiled *compiled, struct loaded **out,
              cugen_error *err);
void cuda_unload(struct device *device, struct loaded *loaded);
int cuda_entry(struct device *device, struct loaded *loaded, size_t index, int64_t dynamic_shared,
               struct entry **out, cugen_error *err);
int cuda_carve(struct device *device, struct entry *entry, int percent, cugen_error *err);
int cuda_symbol(struct device *device, struct loaded *loaded, const char *name, bool written,
                void **at, size_t *bytes, cugen_error *err);
int cuda_active_blocks(struct device *device, struct entry *entry, int threads,
                       int64_t dynamic_shared);
int cuda_active_clusters(struct device *device, struct entry *entry,
                         const struct kernel_launch *launch);
int cuda_parameters(struct entry *entry, int *sizes, int capacity);
int cuda_prepare(struct device *device, struct entry *entry, void *const *parameters, void *before,
                 void **out, cugen_error *err);
void cuda_unprepare(struct device *device, struct entry *entry, void *prepared);
int cuda_launch_on(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                   void **parameters, void *stream, cugen_error *err);
int cuda_launch(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                void **parameters, cugen_error *err);

/* ---- graph.c -------------------------------------------------------------------------------- */

int cuda_graphs(const struct toolkit *toolkit, cugen_error *err);
int cuda_graph_make(struct device *device, int (*run)(void *context, cugen_error *err),
                    void *context, struct graph **out, cugen_error *err);
int cuda_graph_launch(struct device *device, struct graph *graph, cugen_error *err);
void cuda_graph_free(struct device *device, struct graph *graph);

#endif
