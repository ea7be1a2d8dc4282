/* ---- The part of the CUDA driver API that is used -------------------------------------------- */

typedef unsigned long long address;

#define DRIVER_FUNCTIONS(X)                                                                        \
  X(init, "cuInit", (unsigned))                                                                    \
  X(error_name, "cuGetErrorName", (int, const char **))                                            \
  X(error_text, "cuGetErrorString", (int, const char **))                                          \
  X(device_get, "cuDeviceGet", (int *, int))                                                       \
  X(device_name, "cuDeviceGetName", (char *, int, int))                                            \
  X(device_attribute, "cuDeviceGetAttribute", (int *, int, int))                                   \
  X(context_retain, "cuDevicePrimaryCtxRetain", (void **, int))                                    \
  X(context_give_back, "cuDevicePrimaryCtxRelease_v2", (int))                                      \
  X(context_current, "cuCtxGetCurrent", (void **))                                                 \
  X(context_device, "cuCtxGetDevice", (int *))                                                     \
  X(context_push, "cuCtxPushCurrent_v2", (void *))                                                 \
  X(context_pop, "cuCtxPopCurrent_v2", (void **))                                                  \
  X(synchronize, "cuCtxSynchronize", (void))                                                       \
  X(module_load, "cuModuleLoadData", (void **, const void *))                                      \
  X(module_unload, "cuModuleUnload", (void *))                                                     \
  X(module_function, "cuModuleGetFunction", (void **, void *, const char *))                       \
  X(module_global, "cuModuleGetGlobal_v2", (address *, size_t *, void *, const char *))            \
  X(function_get, "cuFuncGetAttribute", (int *, int, void *))                                      \
  X(function_set, "cuFuncSetAttribute", (void *, int, int))                                        \
  X(active_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor", (int *, void *, int, size_t))    \
  X(launch, "cuLaunchKernel",                                                                      \
    (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *,         \
     void **, void **))                                                                            \
  X(allocate, "cuMemAlloc_v2", (address *, size_t))                                                \
  X(allocate_managed, "cuMemAllocManaged", (address *, size_t, unsigned))                          \
  X(free, "cuMemFree_v2", (address))                                                               \
  X(host_allocate, "cuMemHostAlloc", (void **, size_t, unsigned))                                  \
  X(host_address, "cuMemHostGetDevicePointer_v2", (address *, void *, unsigned))                   \
  X(host_free, "cuMemFreeHost", (void *))                                                          \
  X(fill, "cuMemsetD8Async", (address, unsigned char, size_t, void *))                             \
  X(copy, "cuMemcpyAsync", (address, address, size_t, void *))                                     \
  /* cuLaunchKernelEx came with CUDA 11.8, cuTensorMapEncodeTiled with 12.0 */                     \
  X(launch_with, "cuLaunchKernelEx", (const struct launch_config *, void *, void **, void **))     \
  X(tensor_encode, "cuTensorMapEncodeTiled",                                                       \
    (struct tensor_map *, int, unsigned, void *, const unsigned long long *,                       \
     const unsigned long long *, const unsigned *, const unsigned *, int, int, int, int))

/* CUtensorMap, CUlaunchAttribute and CUlaunchConfig. */
struct tensor_map {
  _Alignas(64) unsigned long long opaque[16];
};

struct launch_attribute {
  int id;
  _Alignas(8) int value;
  char rest[60];
};

struct launch_config {
  unsigned grid[3], block[3], shared;
  void *stream;
  const struct launch_attribute *attributes;
  unsigned attribute_count;
};

/* CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION, CU_LAUNCH_ATTRIBUTE_COOPERATIVE */
enum { LAUNCH_ATTRIBUTE_EARLY = 6, LAUNCH_ATTRIBUTE_COOPERATIVE = 2, LAUNCH_ATTRIBUTES = 2 };

struct driver {
  void *handle;
#define X(member, symbol, parameters) int(*member) parameters;
  DRIVER_FUNCTIONS(X)
#undef X
};

enum {
  ATTRIBUTE_MULTIPROCESSORS = 16,
  ATTRIBUTE_MAJOR = 75,
  ATTRIBUTE_MINOR = 76,
  FUNCTION_DYNAMIC_SHARED = 8
};
enum {
  FUNCTION_CARVEOUT = 9,
  FUNCTION_CLUSTER = 11,
  FUNCTION_LARGE_CLUSTER = 14,
  PORTABLE_CLUSTER = 8
};

enum {
#define X(member, symbol, parameters) DRIVER_##member,
  DRIVER_FUNCTIONS(X)
#undef X
      DRIVER_COUNT,
  DRIVER_NEWER = DRIVER_launch_with /* functions from here on may be missing */
};

static const char *const symbols[DRIVER_COUNT] = {
#define X(member, symbol, parameters) symbol,
    DRIVER_FUNCTIONS(X)
#undef X
};

static int driver_open(struct driver *driver, bundle_error *error) {
  void **const places[] = {
#define X(member, symbol, parameters) (void **)(void *)&driver->member,
      DRIVER_FUNCTIONS(X)
#undef X
  };
  driver->handle = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!driver->handle) {
    const char *why = dlerror();
    return fail(error, BUNDLE_ERROR_MISSING, "@name: there is no CUDA driver: %s", why ? why : "");
  }
  for (size_t i = 0; i < DRIVER_COUNT; i++) {
    void *function = dlsym(driver->handle, symbols[i]);
    if (!function && i < DRIVER_NEWER)
      return fail(error, BUNDLE_ERROR_MISSING, "@name: this CUDA driver is too old: it has no %s",
                  symbols[i]);
    /* a data pointer may not be cast to a function's */
    memcpy(places[i], &function, sizeof function);
  }
  return BUNDLE_OK;
}

/* Turns the result of a call of the driver into a status. */
static int check(const struct driver *driver, int result, const char *call, bundle_error *error) {
  const char *name = NULL, *text = NULL;
  if (result == 0) return BUNDLE_OK;
  driver->error_name(result, &name);
  driver->error_text(result, &text);
  return fail(error, BUNDLE_ERROR_DEVICE, "@name: %s: %s (%d): %s", call,
              name ? name : "unknown error", result, text ? text : "");
}

#define CALL(driver, member, arguments, error)                                                     \
  check(driver, (driver)->member arguments, symbols[DRIVER_##member], error)
