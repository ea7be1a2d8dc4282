/* Images of the cuda backend, their kernels, and launches. */
#include <stdlib.h>
#include <string.h>

#include "cuda_device.h"
#include "library.h"
#include "nvrtc.h"
#include "runtime/model/cubin.h"

/* ---- Images and kernels --------------------------------------------------------------------- */

struct entry {
  char *name;
  CUfunction function;
  int static_shared, max_threads, registers;
  /* blocks a cluster, as the source demands with __cluster_dims__; 0: no demand */
  int cluster[3];
  int64_t allowed;                /* dynamic shared bytes that the kernel has been allowed so far */
  struct library_kernel *library; /* a library's kernel, which has no function; NULL: a function */
  int parameter_count;            /* -1: not known */
  int parameter_sizes[2 * KERNEL_MAX_ARGUMENTS];
};

/* An image, loaded context-independently if the driver can (library), else into the context
   (module). */
struct loaded {
  CUlibrary library;
  CUmodule module;
  size_t count;
  struct entry entries[KERNEL_MAX_ENTRIES];
};

static void unload(struct cuda_device *cuda, struct loaded *loaded) {
  if (loaded->library) cuda->driver->library_unload(loaded->library);
  if (loaded->module) cuda->driver->module_unload(loaded->module);
  for (size_t i = 0; i < KERNEL_MAX_ENTRIES; i++) {
    cuda_library_close(loaded->entries[i].library);
    free(loaded->entries[i].name);
  }
  free(loaded);
}

/* Returns the number of blocks in a cluster that the source demands; 0: no demand. */
static int cluster_blocks(const struct entry *entry) {
  return entry->cluster[0] * entry->cluster[1] * entry->cluster[2];
}

static int ask_function(struct cuda_device *cuda, struct entry *entry, cugen_error *err) {
  const struct {
    CUfunction_attribute attribute;
    int *out;
  } questions[] = {{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &entry->static_shared},
                   {CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &entry->max_threads},
                   {CU_FUNC_ATTRIBUTE_NUM_REGS, &entry->registers},
                   {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &entry->cluster[0]},
                   {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &entry->cluster[1]},
                   {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &entry->cluster[2]}};
  enum { QUESTIONS = sizeof questions / sizeof *questions, WITHOUT_CLUSTERS = 3 };
  /* a driver without active_clusters does not know the attributes of clusters */
  size_t count = cuda->driver->active_clusters ? QUESTIONS : WITHOUT_CLUSTERS;
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    status =
        CHECK(cuda, err, function_get, (questions[i].out, questions[i].attribute, entry->function));
  return status;
}

/* Gets the kernel's function in this context. For a CUlibrary the call also loads the code. */
static int find_function(struct cuda_device *cuda, struct loaded *loaded, const char *name,
                         CUfunction *out, cugen_error *err) {
  CUkernel kernel = NULL;
  if (!loaded->library) return CHECK(cuda, err, module_function, (out, loaded->module, name));
  int status = CHECK(cuda, err, library_kernel, (&kernel, loaded->library, name));
  return status ? status : CHECK(cuda, err, kernel_function, (out, kernel));
}

static int load_entry(struct cuda_device *cuda, struct loaded *loaded,
                      const struct compiled *compiled, size_t index, cugen_error *err) {
  enum {
    CAPACITY = sizeof loaded->entries->parameter_sizes / sizeof *loaded->entries->parameter_sizes
  };
  struct entry *entry = &loaded->entries[index];
  const char *name = compiled->entries[index];
  if (!(entry->name = strdup(name))) return error_memory(err);
  int status = find_function(cuda, loaded, name, &entry->function, err);
  if (!status) status = ask_function(cuda, entry, err);
  if (!status && cluster_blocks(entry) > LAUNCH_CLUSTER_PORTABLE) /* needs permission */
    status = CHECK(cuda, err, function_set,
                   (entry->function, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED, 1));
  if (status) {
    error_prefix(err, "kernel '%s'", name);
    return status;
  }
  entry->parameter_count = cubin_parameters(compiled->image, compiled->image_length, name,
                                            entry->parameter_sizes, CAPACITY);
  loaded->count = index + 1;
  return CUGEN_OK;
}

static int kernel_load_all(struct cuda_device *cuda, struct loaded *loaded,
                           const struct compiled *compiled, cugen_error *err) {
  int status = cuda->driver->library_load
                   ? CHECK(cuda, err, library_load,
                           (&loaded->library, compiled->image, NULL, NULL, 0, NULL, NULL, 0))
                   : CHECK(cuda, err, module_load, (&loaded->module, compiled->image));
  for (size_t i = 0; i < compiled->entry_count && !status; i++)
    status = load_entry(cuda, loaded, compiled, i, err);
  if (status == CUGEN_ERROR_DEVICE) /* a CUlibrary may be refused only with its first function */
    error_append(err,
                 "\nAn image for another GPU or a newer CUDA does not load: this is an %s, its "
                 "driver supports CUDA %d.%d.",
                 cuda->base.description.arch, cuda->driver->version / 1000,
                 cuda->driver->version % 1000 / 10);
  return status;
}

int cuda_load(struct device *device, const struct compiled *compiled, struct loaded **out,
              cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = NULL;
  struct loaded *loaded = calloc(1, sizeof *loaded);
  if (!loaded) return error_memory(err);
  int status = enter(cuda, err);
  if (status) {
    free(loaded);
    return status;
  }
  if (library_call_is(compiled->image, compiled->image_length)) {
    loaded->count = 1;
    loaded->entries[0].parameter_count = -1;
    status = cuda_library_open(cuda, compiled, &loaded->entries[0].library, err);
  } else {
    status = kernel_load_all(cuda, loaded, compiled, err);
  }
  if (status)
    unload(cuda, loaded);
  else
    *out = loaded;
  return leave(cuda, status);
}

void cuda_unload(struct device *device, struct loaded *loaded) {
  struct cuda_device *cuda = cuda_of(device);
  if (!loaded) return;
  bool entered = enter(cuda, NULL) == CUGEN_OK;
  unload(cuda, loaded);
  if (entered) leave(cuda, CUGEN_OK);
}

int cuda_entry(struct device *device, struct loaded *loaded, size_t index, int64_t dynamic_shared,
               struct entry **out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = NULL;
  if (index >= loaded->count)
    return error_set(err, CUGEN_ERROR_INTERNAL, "the image has %zu kernels, none with index %zu",
                     loaded->count, index);
  struct entry *entry = &loaded->entries[index];
  /* A kernel needs permission for more shared memory than a block gets by default. launch_check has
     checked the sum. */
  if (entry->static_shared + dynamic_shared > device->description.facts.shared_per_block &&
      dynamic_shared > entry->allowed) {
    int status = enter(cuda, err);
    if (status) return status;
    status = leave(cuda, CHECK(cuda, err, function_set,
                               (entry->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                (int)dynamic_shared)));
    if (status) return status;
    entry->allowed = dynamic_shared;
  }
  *out = entry;
  return CUGEN_OK;
}

int cuda_carve(struct device *device, struct entry *entry, int percent, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = enter(cuda, err);
  if (status) return status;
  return leave(
      cuda, CHECK(cuda, err, function_set,
                  (entry->function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent)));
}

/* Ignores `written`, because the driver does not tell which symbols are const. */
int cuda_symbol(struct device *device, struct loaded *loaded, const char *name, bool written,
                void **at, size_t *bytes, cugen_error *err) {
  (void)written;
  struct cuda_device *cuda = cuda_of(device);
  CUdeviceptr found = 0;
  *at = NULL;
  *bytes = 0;
  int status = enter(cuda, err);
  if (status) return status;
  CUresult result = loaded->library
                        ? cuda->driver->library_global(&found, bytes, loaded->library, name)
                        : cuda->driver->module_global(&found, bytes, loaded->module, name);
  if (result == CUDA_ERROR_NOT_FOUND)
    status = error_set(err, CUGEN_ERROR_CONFIG, DEVICE_NO_SYMBOL, name);
  else
    status = driver_check(cuda->driver, result,
                          loaded->library ? DRIVER_library_global : DRIVER_module_global, err);
  if (!status) *at = (void *)(uintptr_t)found;
  return leave(cuda, status);
}

static CUlaunchConfig launch_config(const struct kernel_launch *launch, void *stream) {
  return (CUlaunchConfig){.gridDimX = launch->grid[0],
                          .gridDimY = launch->grid[1],
                          .gridDimZ = launch->grid[2],
                          .blockDimX = launch->block[0],
                          .blockDimY = launch->block[1],
                          .blockDimZ = launch->block[2],
                          .sharedMemBytes = (unsigned)launch->shared_bytes,
                          .hStream = stream};
}

int cuda_active_blocks(struct device *device, struct entry *entry, int threads,
                       int64_t dynamic_shared) {
  struct cuda_device *cuda = cuda_of(device);
  int blocks = 0;
  if (entry->library || dynamic_shared < 0 || enter(cuda, NULL)) return 0;
  if (cuda->driver->active_blocks(&blocks, entry->function, threads, (size_t)dynamic_shared))
    blocks = 0;
  return leave(cuda, blocks);
}

int cuda_active_clusters(struct device *device, struct entry *entry,
                         const struct kernel_launch *launch) {
  struct cuda_device *cuda = cuda_of(device);
  /* without a cluster size, because the kernel demands its own */
  const CUlaunchConfig config = launch_config(launch, NULL);
  int clusters = 0;
  if (cluster_blocks(entry) < 2 || enter(cuda, NULL)) return 0;
  if (cuda->driver->active_clusters(&clusters, entry->function, &config)) clusters = 0;
  return leave(cuda, clusters);
}

int cuda_parameters(struct entry *entry, int *sizes, int capacity) {
  for (int i = 0; i < capacity && i < entry->parameter_count; i++)
    sizes[i] = entry->parameter_sizes[i];
  return entry->parameter_count;
}

/* ---- Libraries ------------------------------------------------------------------------------ */

int cuda_prepare(struct device *device, struct entry *entry, void *const *parameters, void *before,
                 void **out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = NULL;
  if (!entry->library) return CUGEN_OK;
  int status = enter(cuda, err);
  return status ? status
                : leave(cuda,
                        cuda_library_prepare(cuda, entry->library, parameters, before, out, err));
}

void cuda_unprepare(struct device *device, struct entry *entry, void *prepared) {
  struct cuda_device *cuda = cuda_of(device);
  bool entered = enter(cuda, NULL) == CUGEN_OK;
  cuda_library_unprepare(cuda, entry->library, prepared);
  if (entered) leave(cuda, CUGEN_OK);
}

/* ---- Launching ------------------------------------------------------------------------------ */

enum { LAUNCH_ATTRIBUTES = 2 };

/* Launches with attributes; the driver must have launch_ex. */
static CUresult launch_with(const struct driver *driver, const struct entry *entry,
                            const struct kernel_launch *launch, void **parameters, void *stream) {
  CUlaunchAttribute attributes[LAUNCH_ATTRIBUTES];
  CUlaunchConfig config = launch_config(launch, stream);
  config.attrs = attributes;
  if (launch->overlap)
    attributes[config.numAttrs++] =
        (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                            .value = {.programmaticStreamSerializationAllowed = 1}};
  if (launch->cooperative)
    attributes[config.numAttrs++] =
        (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_COOPERATIVE, .value = {.cooperative = 1}};
  return driver->launch_ex(&config, entry->function, parameters, NULL);
}

/* A stream determines the context of a launch; for NULL it is the current context. A library's call
   needs a current context in any case. */
int cuda_launch_on(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                   void **parameters, void *stream, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  if (entry->library) {
    int status = enter(cuda, err);
    return status ? status
                  : leave(cuda, cuda_library_launch(entry->library, parameters, stream, err));
  }
  CUresult result =
      (launch->overlap || launch->cooperative) && cuda->driver->launch_ex
          ? launch_with(cuda->driver, entry, launch, parameters, stream)
          : cuda->driver->launch(entry->function, launch->grid[0], launch->grid[1], launch->grid[2],
                                 launch->block[0], launch->block[1], launch->block[2],
                                 (unsigned)launch->shared_bytes, stream, parameters, NULL);
  if (result == CUDA_SUCCESS) return CUGEN_OK;
  int status = driver_check(cuda->driver, result, DRIVER_launch, err);
  error_append(err,
               "\nkernel '%s', grid %ux%ux%u, block %ux%ux%u = %llu threads (it can have %d with "
               "its %d registers), %d + %lld bytes of shared memory",
               launch->entry, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0],
               launch->block[1], launch->block[2],
               (unsigned long long)launch->block[0] * launch->block[1] * launch->block[2],
               entry->max_threads, entry->registers, entry->static_shared,
               (long long)launch->shared_bytes);
  return status;
}

int cuda_launch(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                void **parameters, cugen_error *err) {
  return cuda_launch_on(device, entry, launch, parameters, cuda_of(device)->stream, err);
}
