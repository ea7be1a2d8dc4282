/* The CUDA driver, libcuda.so.1, opened at run time. Only types and constants come from cuda.h. */
#ifndef RUNTIME_CUDA_DRIVER_H
#define RUNTIME_CUDA_DRIVER_H

#include <cuda.h>

#include "runtime/compile/toolkit.h"

/* member, exact symbol, required, parameters. The parameters are those of the exact symbol, because
   a macro of cuda.h may map the name to another version. Symbols that are not required came with
   CUDA 11.4 (graphs), 11.8 (clusters) and 12.0 (context-independent loading, tensor maps), or are
   missing in some drivers (the rest). */
#define DRIVER_FUNCTIONS(X)                                                                        \
  X(init, cuInit, true, (unsigned))                                                                \
  X(driver_version, cuDriverGetVersion, true, (int *))                                             \
  X(error_name, cuGetErrorName, true, (CUresult, const char **))                                   \
  X(error_string, cuGetErrorString, true, (CUresult, const char **))                               \
  X(device_count, cuDeviceGetCount, true, (int *))                                                 \
  X(device_get, cuDeviceGet, true, (CUdevice *, int))                                              \
  X(device_name, cuDeviceGetName, true, (char *, int, CUdevice))                                   \
  X(device_uuid, cuDeviceGetUuid_v2, true, (CUuuid *, CUdevice))                                   \
  X(device_memory, cuDeviceTotalMem_v2, true, (size_t *, CUdevice))                                \
  X(device_attribute, cuDeviceGetAttribute, true, (int *, CUdevice_attribute, CUdevice))           \
  X(context_retain, cuDevicePrimaryCtxRetain, true, (CUcontext *, CUdevice))                       \
  X(context_release, cuDevicePrimaryCtxRelease_v2, true, (CUdevice))                               \
  X(context_push, cuCtxPushCurrent_v2, true, (CUcontext))                                          \
  X(context_pop, cuCtxPopCurrent_v2, true, (CUcontext *))                                          \
  X(context_sync, cuCtxSynchronize, true, (void))                                                  \
  X(context_current, cuCtxGetCurrent, true, (CUcontext *))                                         \
  X(context_device, cuCtxGetDevice, true, (CUdevice *))                                            \
  X(stream_create, cuStreamCreate, true, (CUstream *, unsigned))                                   \
  X(stream_destroy, cuStreamDestroy_v2, true, (CUstream))                                          \
  X(stream_sync, cuStreamSynchronize, true, (CUstream))                                            \
  X(event_create, cuEventCreate, true, (CUevent *, unsigned))                                      \
  X(event_destroy, cuEventDestroy_v2, true, (CUevent))                                             \
  X(event_record, cuEventRecord, true, (CUevent, CUstream))                                        \
  X(event_elapsed, cuEventElapsedTime, true, (float *, CUevent, CUevent))                          \
  X(event_query, cuEventQuery, false, (CUevent))                                                   \
  X(stream_capturing, cuStreamIsCapturing, false, (CUstream, CUstreamCaptureStatus *))             \
  X(capture_mode, cuThreadExchangeStreamCaptureMode, false, (CUstreamCaptureMode *))               \
  X(mem_alloc, cuMemAlloc_v2, true, (CUdeviceptr *, size_t))                                       \
  X(mem_alloc_pitch, cuMemAllocPitch_v2, true,                                                     \
    (CUdeviceptr *, size_t *, size_t, size_t, unsigned))                                           \
  X(mem_alloc_managed, cuMemAllocManaged, true, (CUdeviceptr *, size_t, unsigned))                 \
  X(mem_free, cuMemFree_v2, true, (CUdeviceptr))                                                   \
  X(host_alloc, cuMemHostAlloc, true, (void **, size_t, unsigned))                                 \
  X(host_free, cuMemFreeHost, true, (void *))                                                      \
  X(host_register, cuMemHostRegister_v2, true, (void *, size_t, unsigned))                         \
  X(host_unregister, cuMemHostUnregister, true, (void *))                                          \
  X(host_device_pointer, cuMemHostGetDevicePointer_v2, true, (CUdeviceptr *, void *, unsigned))    \
  X(pointer_attribute, cuPointerGetAttribute, true, (void *, CUpointer_attribute, CUdeviceptr))    \
  X(copy, cuMemcpyAsync, true, (CUdeviceptr, CUdeviceptr, size_t, CUstream))                       \
  X(copy_to_device, cuMemcpyHtoDAsync_v2, true, (CUdeviceptr, const void *, size_t, CUstream))     \
  X(copy_to_host, cuMemcpyDtoHAsync_v2, true, (void *, CUdeviceptr, size_t, CUstream))             \
  X(copy_2d, cuMemcpy2DUnaligned_v2, true, (const CUDA_MEMCPY2D *))                                \
  X(copy_2d_async, cuMemcpy2DAsync_v2, true, (const CUDA_MEMCPY2D *, CUstream))                    \
  X(prefetch, cuMemPrefetchAsync, false, (CUdeviceptr, size_t, CUdevice, CUstream))                \
  X(copy_3d, cuMemcpy3DAsync_v2, true, (const CUDA_MEMCPY3D *, CUstream))                          \
  X(array_create, cuArray3DCreate_v2, true, (CUarray *, const CUDA_ARRAY3D_DESCRIPTOR *))          \
  X(array_destroy, cuArrayDestroy, true, (CUarray))                                                \
  X(texture_create, cuTexObjectCreate, true,                                                       \
    (CUtexObject *, const CUDA_RESOURCE_DESC *, const CUDA_TEXTURE_DESC *,                         \
     const CUDA_RESOURCE_VIEW_DESC *))                                                             \
  X(texture_destroy, cuTexObjectDestroy, true, (CUtexObject))                                      \
  X(tensor_encode, cuTensorMapEncodeTiled, false,                                                  \
    (CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,                   \
     const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,            \
     CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill))                         \
  X(set_8, cuMemsetD8Async, true, (CUdeviceptr, unsigned char, size_t, CUstream))                  \
  X(set_16, cuMemsetD16Async, true, (CUdeviceptr, unsigned short, size_t, CUstream))               \
  X(module_load, cuModuleLoadData, true, (CUmodule *, const void *))                               \
  X(module_unload, cuModuleUnload, true, (CUmodule))                                               \
  X(module_function, cuModuleGetFunction, true, (CUfunction *, CUmodule, const char *))            \
  X(module_global, cuModuleGetGlobal_v2, true, (CUdeviceptr *, size_t *, CUmodule, const char *))  \
  X(library_load, cuLibraryLoadData, false,                                                        \
    (CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *, void **,     \
     unsigned))                                                                                    \
  X(library_unload, cuLibraryUnload, false, (CUlibrary))                                           \
  X(library_kernel, cuLibraryGetKernel, false, (CUkernel *, CUlibrary, const char *))              \
  X(library_global, cuLibraryGetGlobal, false, (CUdeviceptr *, size_t *, CUlibrary, const char *)) \
  X(kernel_function, cuKernelGetFunction, false, (CUfunction *, CUkernel))                         \
  X(function_get, cuFuncGetAttribute, true, (int *, CUfunction_attribute, CUfunction))             \
  X(function_set, cuFuncSetAttribute, true, (CUfunction, CUfunction_attribute, int))               \
  X(active_blocks, cuOccupancyMaxActiveBlocksPerMultiprocessor, true,                              \
    (int *, CUfunction, int, size_t))                                                              \
  X(active_clusters, cuOccupancyMaxActiveClusters, false,                                          \
    (int *, CUfunction, const CUlaunchConfig *))                                                   \
  X(launch, cuLaunchKernel, true,                                                                  \
    (CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,   \
     void **, void **))                                                                            \
  X(launch_ex, cuLaunchKernelEx, false, (const CUlaunchConfig *, CUfunction, void **, void **))    \
  X(capture_begin, cuStreamBeginCapture_v2, false, (CUstream, CUstreamCaptureMode))                \
  X(capture_end, cuStreamEndCapture, false, (CUstream, CUgraph *))                                 \
  X(graph_instantiate, cuGraphInstantiateWithFlags, false,                                         \
    (CUgraphExec *, CUgraph, unsigned long long))                                                  \
  X(graph_launch, cuGraphLaunch, false, (CUgraphExec, CUstream))                                   \
  X(graph_exec_destroy, cuGraphExecDestroy, false, (CUgraphExec))                                  \
  X(graph_destroy, cuGraphDestroy, false, (CUgraph))                                               \
  X(profiler_start, cuProfilerStart, false, (void))                                                \
  X(profiler_stop, cuProfilerStop, false, (void))

struct driver {
#define X(member, symbol, required, parameters) CUresult(*member) parameters;
  DRIVER_FUNCTIONS(X)
#undef X
  int version; /* CUDA version that the driver supports, 13000 for 13.0 */
};

/* Opens and initialises the driver at the first call. CUGEN_ERROR_MISSING: there is no driver, or
   one that is too old; CUGEN_ERROR_DEVICE: the driver refuses, or finds no GPU. No context is
   made. */
int driver_open(const struct toolkit *toolkit, const struct driver **out, cugen_error *err);

enum driver_call {
#define X(member, symbol, required, parameters) DRIVER_##member,
  DRIVER_FUNCTIONS(X)
#undef X
};

/* Returns CUGEN_OK for CUDA_SUCCESS. Otherwise fills err with the call, the error's name and the
   driver's description: CUGEN_ERROR_MEMORY when memory ran out, CUGEN_ERROR_DEVICE for any other
   error. */
int driver_check(const struct driver *driver, CUresult result, enum driver_call call,
                 cugen_error *err);

/* Makes a call; the value is the call's status: DRIVER_CALL(driver, err, mem_alloc, (&address,
   bytes)). */
#define DRIVER_CALL(driver, err, member, arguments)                                                \
  driver_check(driver, (driver)->member arguments, DRIVER_##member, err)

/* CUGEN_ERROR_DEVICE: this driver does not load the images that the toolkit's NVRTC makes. A driver
   accepts images of its own CUDA major version and of earlier ones (CUDA Compatibility, "Minor
   Version Compatibility"). */
int driver_check_version(const struct driver *driver, const struct toolkit *toolkit,
                         cugen_error *err);

#endif
