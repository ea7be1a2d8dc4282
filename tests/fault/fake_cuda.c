/* A stand-in for libcuda.so.1: one pretended H200 whose memory is the host's, any call of which
   can be made to fail. Kernels do what the test says. In the environment FAKE_CUDA_DEVICES,
   FAKE_CUDA_VERSION and FAKE_CUDA_CAPABILITY (61) set what scripts need, and at the call with
   the number FAKE_CUDA_INTERRUPT the process is interrupted. With FAKE_CUDA_SLEEP each launch
   sleeps for so many microseconds, and the time between two events depends on the last launch's
   grid and block.

   Of several GPUs each can be another one, by lists with an entry a GPU:
   FAKE_CUDA_MODELS=H200,H200,A100 are their names, FAKE_CUDA_SMS=132,132,108 their
   multiprocessors, FAKE_CUDA_CAPABILITY=90,90,80 (or one for all) their capabilities, and
   FAKE_CUDA_PACE=100,105,98 per cent of the time that a launch takes. On the GPUs
   FAKE_CUDA_BAD=1,3 every launch fails. Of FAKE_CUDA_GONE="2 FILE" GPU 2 is gone as soon as that
   file is there. Into the folder FAKE_CUDA_USED goes a file for each GPU that launched
   something. */
#include "fake_cuda.h"

#include <cuda.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC diagnostic ignored "-Wunused-parameter" /* of functions of the interface */

struct fake_cuda fake_cuda = {.version = 13000, .devices = 1};

#define COUNT(counter, by) __atomic_add_fetch(&fake_cuda.counter, by, __ATOMIC_RELAXED)

/* Whether there are such settings. Looked for once: a search of the environment at each call
   took a quarter of the time of fault/energy. */
static bool has_settings;

static __attribute__((constructor)) void look_for_settings(void) {
  for (char **at = environ; at && *at && !has_settings; at++)
    has_settings = strncmp(*at, "FAKE_CUDA_", 10) == 0;
}

static const char *environment(const char *name) {
  return has_settings ? getenv(name) : NULL;
}

static int setting(const char *name, int otherwise) {
  const char *text = environment(name);
  return text ? atoi(text) : otherwise;
}

/* Copies the device's entry of a list to `out`; false: the list has none. */
static bool entry(const char *name, int device, char *out, size_t size) {
  const char *at = environment(name);
  for (; at && device > 0; device--) {
    at = strchr(at, ',');
    if (at) at++;
  }
  if (!at || !*at) return false;
  snprintf(out, size, "%.*s", (int)strcspn(at, ","), at);
  return true;
}

/* Returns the error of every call for a device that is gone. */
static CUresult gone(int device) {
  const char *text = environment("FAKE_CUDA_GONE"), *file = text ? strchr(text, ' ') : NULL;
  return file && atoi(text) == device && access(file + 1, F_OK) == 0 ? CUDA_ERROR_ECC_UNCORRECTABLE
                                                                     : CUDA_SUCCESS;
}

/* Counts the call, and returns its error if it is to fail. */
static CUresult fails(const char *call) {
  CUresult broken = (CUresult)__atomic_load_n(&fake_cuda.broken, __ATOMIC_RELAXED);
  if (fake_cuda.fail_only && strcmp(fake_cuda.fail_only, call) != 0) return broken;
  long number = COUNT(calls, 1);
  if (number == setting("FAKE_CUDA_INTERRUPT", 0)) raise(SIGINT);
  if (fake_cuda.fail_on && fake_cuda.fail_at && number > fake_cuda.fail_at)
    return (CUresult)fake_cuda.fail_with;
  if (number != fake_cuda.fail_at) return broken;
  fake_cuda.failed_call = call;
  return (CUresult)fake_cuda.fail_with;
}

#define MAY_FAIL                                                                                   \
  do {                                                                                             \
    CUresult failure = fails(__func__);                                                            \
    if (failure) return failure;                                                                   \
  } while (0)

/* Protects what several threads may change at once. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Handles that refer to nothing have the address of this variable. */
static int something;

/* The addresses are the primary contexts of the devices. */
enum { MOST_DEVICES = 8 };
static char primaries[MOST_DEVICES];

/* ---- The driver and its device -------------------------------------------------------------- */

CUresult cuInit(unsigned flags) {
  MAY_FAIL;
  return setting("FAKE_CUDA_DEVICES", fake_cuda.devices) ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE;
}

CUresult cuDriverGetVersion(int *version) {
  MAY_FAIL;
  *version = setting("FAKE_CUDA_VERSION", fake_cuda.version);
  return CUDA_SUCCESS;
}

static const struct {
  CUresult result;
  const char *name, *text;
} errors[] = {
    {CUDA_ERROR_OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {CUDA_ERROR_DEVICE_UNAVAILABLE, "CUDA_ERROR_DEVICE_UNAVAILABLE",
     "CUDA-capable device(s) is/are busy or unavailable"},
    {CUDA_ERROR_ECC_UNCORRECTABLE, "CUDA_ERROR_ECC_UNCORRECTABLE",
     "uncorrectable ECC error encountered"},
    {CUDA_ERROR_CONTEXT_IS_DESTROYED, "CUDA_ERROR_CONTEXT_IS_DESTROYED", "context is destroyed"},
    {CUDA_ERROR_LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED", "unspecified launch failure"},
    {CUDA_SUCCESS, "CUDA_ERROR_PRETENDED", "a pretended error"}, /* any other error */
};

static size_t error_row(CUresult result) {
  size_t row = 0;
  while (errors[row].result != result && errors[row].result != CUDA_SUCCESS) row++;
  return row;
}

CUresult cuGetErrorName(CUresult result, const char **name) {
  *name = errors[error_row(result)].name;
  return CUDA_SUCCESS;
}

CUresult cuGetErrorString(CUresult result, const char **text) {
  *text = errors[error_row(result)].text;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetCount(int *count) {
  MAY_FAIL;
  *count = setting("FAKE_CUDA_DEVICES", fake_cuda.devices);
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  MAY_FAIL;
  *device = ordinal;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  char model[64];
  MAY_FAIL;
  const bool named = entry("FAKE_CUDA_MODELS", device, model, sizeof model);
  snprintf(name, (size_t)length, "NVIDIA %s", named ? model : "Pretended");
  return CUDA_SUCCESS;
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  MAY_FAIL;
  for (size_t i = 0; i < sizeof uuid->bytes; i++) uuid->bytes[i] = (char)(i + (size_t)device);
  return CUDA_SUCCESS;
}

CUresult cuDeviceTotalMem_v2(size_t *bytes, CUdevice device) {
  MAY_FAIL;
  *bytes = (size_t)141 << 30;
  return CUDA_SUCCESS;
}

/* The attributes of an H200. */
static const struct {
  CUdevice_attribute attribute;
  int value;
} attributes[] = {{CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
                  {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
                  {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
                  {CU_DEVICE_ATTRIBUTE_WARP_SIZE, 32},
                  {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024},
                  {CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, 2048},
                  {CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR, 32},
                  {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK, 65536},
                  {CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR, 65536},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK, 49152},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
                  {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
                  {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
                  {CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY, 65536},
                  {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
                  {CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE, 3201000},
                  {CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH, 6144},
                  {CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 1980000},
                  {CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, 512},
                  {CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT, 32},
                  {CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED, 1},
                  {CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING, 1},
                  {CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY, 1},
                  {CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY, 1},
                  {CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, 1}};

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  MAY_FAIL;
  char sms[16], own[16];
  int capability = setting("FAKE_CUDA_CAPABILITY", 0);
  if (entry("FAKE_CUDA_CAPABILITY", device, own, sizeof own)) capability = atoi(own);
  if (attribute == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT &&
      entry("FAKE_CUDA_SMS", device, sms, sizeof sms)) {
    *value = atoi(sms);
    return CUDA_SUCCESS;
  }
  const bool major = attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR;
  if (capability && (major || attribute == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)) {
    *value = major ? capability / 10 : capability % 10;
    return CUDA_SUCCESS;
  }
  for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++)
    if (attributes[i].attribute == attribute) {
      *value = attributes[i].value;
      return CUDA_SUCCESS;
    }
  return CUDA_ERROR_INVALID_VALUE;
}

/* ---- Contexts, streams, events -------------------------------------------------------------- */

/* An object is counted only if making it succeeds. Giving it back is counted even if the call
   fails, because nobody can try again. */
#define MAKE(count, place, made)                                                                   \
  MAY_FAIL;                                                                                        \
  COUNT(count, 1);                                                                                 \
  *(place) = (void *)(made);                                                                       \
  return CUDA_SUCCESS
#define GIVE_BACK(count)                                                                           \
  COUNT(count, -1);                                                                                \
  MAY_FAIL;                                                                                        \
  return CUDA_SUCCESS

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  if (gone(device)) return gone(device);
  MAKE(contexts, context, &primaries[device]);
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  GIVE_BACK(contexts);
}

/* The contexts that this thread has pushed. */
enum { DEPTH = 8 };
static _Thread_local CUcontext pushed[DEPTH];
static _Thread_local int depth;

static CUcontext current_context(void) {
  return depth ? pushed[depth - 1] : fake_cuda.application_context;
}

static int current_device(void) {
  uintptr_t at = (uintptr_t)(void *)current_context() - (uintptr_t)primaries;
  return at < MOST_DEVICES ? (int)at : fake_cuda.context_device;
}

CUresult cuCtxPushCurrent_v2(CUcontext context) {
  MAY_FAIL;
  if (depth == DEPTH) return CUDA_ERROR_INVALID_VALUE;
  pushed[depth++] = context;
  COUNT(current, 1);
  return CUDA_SUCCESS;
}

CUresult cuCtxPopCurrent_v2(CUcontext *context) {
  *context = current_context();
  depth -= depth > 0;
  GIVE_BACK(current);
}

CUresult cuCtxSynchronize(void) {
  MAY_FAIL;
  return CUDA_SUCCESS;
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  MAY_FAIL;
  *context = current_context();
  return CUDA_SUCCESS;
}

#undef cuCtxGetDevice
CUresult cuCtxGetDevice(CUdevice *device);
CUresult cuCtxGetDevice(CUdevice *device) {
  MAY_FAIL;
  *device = current_device();
  return CUDA_SUCCESS;
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  MAKE(streams, stream, &something);
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  GIVE_BACK(streams);
}

CUresult cuStreamSynchronize(CUstream stream) {
  MAY_FAIL;
  return CUDA_SUCCESS;
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  MAKE(events, event, &something);
}

CUresult cuEventDestroy_v2(CUevent event) {
  GIVE_BACK(events);
}

CUresult cuEventRecord(CUevent event, CUstream stream) {
  MAY_FAIL;
  if (fake_cuda.recorded) fake_cuda.recorded();
  return CUDA_SUCCESS;
}

/* Answers by fake_cuda.pending; without that function all work has ended. */
CUresult cuEventQuery(CUevent event) {
  MAY_FAIL;
  return fake_cuda.pending && fake_cuda.pending() ? CUDA_ERROR_NOT_READY : CUDA_SUCCESS;
}

static float scripted; /* milliseconds of the last launch that slept */

#undef cuEventElapsedTime
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop);
CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent stop) {
  MAY_FAIL;
  *milliseconds = fake_cuda.elapsed               ? fake_cuda.elapsed()
                  : setting("FAKE_CUDA_SLEEP", 0) ? scripted
                                                  : 1.5f;
  return CUDA_SUCCESS;
}

/* ---- Memory --------------------------------------------------------------------------------- */

static CUresult make_memory(size_t bytes, void **out) {
  /* as the driver aligns it */
  if (posix_memalign(out, 512, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  COUNT(memory, 1);
  return CUDA_SUCCESS;
}

static CUresult make_address(size_t bytes, CUdeviceptr *out) {
  void *memory;
  CUresult result = make_memory(bytes, &memory);
  *out = (CUdeviceptr)(uintptr_t)memory;
  return result;
}

static void *pointer(CUdeviceptr address) {
  return (void *)(uintptr_t)address;
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t bytes) {
  MAY_FAIL;
  return make_address(bytes, address);
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t bytes, unsigned flags) {
  MAY_FAIL;
  return make_address(bytes, address);
}

CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element) {
  MAY_FAIL;
  *pitch = (width + 511) / 512 * 512;
  return make_address(*pitch * height, address);
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  free(pointer(address));
  GIVE_BACK(memory);
}

CUresult cuMemHostAlloc(void **memory, size_t bytes, unsigned flags) {
  MAY_FAIL;
  return make_memory(bytes, memory);
}

CUresult cuMemFreeHost(void *memory) {
  free(memory);
  GIVE_BACK(memory);
}

CUresult cuMemHostRegister_v2(void *memory, size_t bytes, unsigned flags) {
  MAY_FAIL;
  COUNT(registered, 1);
  return CUDA_SUCCESS;
}

CUresult cuMemHostUnregister(void *memory) {
  GIVE_BACK(registered);
}

CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *memory, unsigned flags) {
  MAY_FAIL;
  *address = (CUdeviceptr)(uintptr_t)memory;
  return CUDA_SUCCESS;
}

CUresult cuPointerGetAttribute(void *out, CUpointer_attribute attribute, CUdeviceptr address) {
  MAY_FAIL;
  *(unsigned *)out = CU_MEMORYTYPE_HOST;
  return CUDA_SUCCESS;
}

CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  MAY_FAIL;
  memcpy(pointer(to), pointer(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
  MAY_FAIL;
  memcpy(pointer(to), from, bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
  MAY_FAIL;
  memcpy(to, pointer(from), bytes);
  return CUDA_SUCCESS;
}

CUresult cuMemcpy2DUnaligned_v2(const CUDA_MEMCPY2D *copy) {
  MAY_FAIL;
  pthread_mutex_lock(&lock);
  for (size_t row = 0; row < copy->Height; row++)
    memcpy((char *)copy->dstHost + row * copy->dstPitch,
           (const char *)copy->srcHost + row * copy->srcPitch, copy->WidthInBytes);
  pthread_mutex_unlock(&lock);
  return CUDA_SUCCESS;
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *copy, CUstream stream) {
  MAY_FAIL;
  const char *from =
      copy->srcMemoryType == CU_MEMORYTYPE_DEVICE ? pointer(copy->srcDevice) : copy->srcHost;
  char *to = copy->dstMemoryType == CU_MEMORYTYPE_DEVICE ? pointer(copy->dstDevice) : copy->dstHost;
  for (size_t row = 0; row < copy->Height; row++)
    memcpy(to + row * copy->dstPitch, from + row * copy->srcPitch, copy->WidthInBytes);
  return CUDA_SUCCESS;
}

/* There is only one memory, so nothing moves. */
#undef cuMemPrefetchAsync
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream);
CUresult cuMemPrefetchAsync(CUdeviceptr address, size_t bytes, CUdevice device, CUstream stream) {
  MAY_FAIL;
  COUNT(fetched[device == CU_DEVICE_CPU], 1);
  return CUDA_SUCCESS;
}

CUresult cuMemsetD8Async(CUdeviceptr address, unsigned char byte, size_t count, CUstream stream) {
  MAY_FAIL;
  memset(pointer(address), byte, count);
  COUNT(filled, (long)count);
  return CUDA_SUCCESS;
}

CUresult cuMemsetD16Async(CUdeviceptr address, unsigned short word, size_t count, CUstream stream) {
  MAY_FAIL;
  for (size_t i = 0; i < count; i++) memcpy((char *)pointer(address) + 2 * i, &word, sizeof word);
  return CUDA_SUCCESS;
}

/* ---- Textures ------------------------------------------------------------------------------- */

/* A texture object is the address of its struct fake_texture, an array that of packed elements. */
struct fake_array {
  CUDA_ARRAY3D_DESCRIPTOR description;
  char *elements;
};

CUresult cuArray3DCreate_v2(CUarray *array, const CUDA_ARRAY3D_DESCRIPTOR *description) {
  MAY_FAIL;
  if (description->Width > 131072 || description->Height > 65536) return CUDA_ERROR_INVALID_VALUE;
  size_t rows = description->Height ? description->Height : 1,
         slices = description->Depth ? description->Depth : 1;
  struct fake_array *made = calloc(1, sizeof *made + 4 * description->Width * rows * slices);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->description = *description;
  made->elements = (char *)(made + 1);
  COUNT(memory, 1);
  *array = (void *)made;
  return CUDA_SUCCESS;
}

CUresult cuArrayDestroy(CUarray array) {
  free(array);
  GIVE_BACK(memory);
}

/* An array holds its rows one after the other. */
CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *copy, CUstream stream) {
  MAY_FAIL;
  struct fake_array *array = (void *)copy->dstArray;
  const char *from =
      copy->srcMemoryType == CU_MEMORYTYPE_HOST ? copy->srcHost : pointer(copy->srcDevice);
  char *to = copy->dstMemoryType == CU_MEMORYTYPE_HOST    ? copy->dstHost
             : copy->dstMemoryType == CU_MEMORYTYPE_ARRAY ? (char *)array->elements
                                                          : pointer(copy->dstDevice);
  bool packed = copy->dstMemoryType == CU_MEMORYTYPE_ARRAY;
  size_t height = packed ? copy->Height : copy->dstHeight,
         pitch = packed ? copy->WidthInBytes : copy->dstPitch;
  fake_cuda.copy_stream = stream;
  for (size_t slice = 0; slice < copy->Depth; slice++)
    for (size_t row = 0; row < copy->Height; row++)
      memcpy(to + (slice * height + row) * pitch,
             from + (slice * copy->srcHeight + row) * copy->srcPitch, copy->WidthInBytes);
  return CUDA_SUCCESS;
}

CUresult cuTexObjectCreate(CUtexObject *object, const CUDA_RESOURCE_DESC *resource,
                           const CUDA_TEXTURE_DESC *texture, const CUDA_RESOURCE_VIEW_DESC *view) {
  MAY_FAIL;
  bool pitched = resource->resType == CU_RESOURCE_TYPE_PITCH2D;
  if (pitched && (resource->res.pitch2D.devPtr % 512 || resource->res.pitch2D.pitchInBytes % 32))
    return CUDA_ERROR_INVALID_VALUE;
  struct fake_texture *made = calloc(1, sizeof *made);
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  const struct fake_array *array = pitched ? NULL : (void *)resource->res.array.hArray;
  made->base = array ? array->elements : pointer(resource->res.pitch2D.devPtr);
  made->width = array ? array->description.Width : resource->res.pitch2D.width;
  made->height = array ? array->description.Height : resource->res.pitch2D.height;
  made->address = (int)texture->addressMode[0];
  made->flags = texture->flags;
  COUNT(textures, 1);
  *object = (CUtexObject)(uintptr_t)made;
  return CUDA_SUCCESS;
}

CUresult cuTexObjectDestroy(CUtexObject object) {
  free((void *)(uintptr_t)object);
  GIVE_BACK(textures);
}

/* ---- Tensor maps: what was asked for, in the map's 128 bytes -------------------------------- */

CUresult cuTensorMapEncodeTiled(CUtensorMap *map, CUtensorMapDataType type, cuuint32_t rank,
                                void *address, const cuuint64_t *shape, const cuuint64_t *stride,
                                const cuuint32_t *box, const cuuint32_t *step,
                                CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion promotion,
                                CUtensorMapFloatOOBfill out_of_bounds) {
  MAY_FAIL;
  if ((uintptr_t)map % 64 || (uintptr_t)address % 16 || rank < 1 || rank > 5 || interleave ||
      out_of_bounds)
    return CUDA_ERROR_INVALID_VALUE;
  struct fake_tensor made = {
      .address = address, .rank = (int)rank, .type = (int)type, .swizzle = (int)swizzle};
  for (cuuint32_t i = 0; i < rank && i < 4; i++) {
    if (step[i] != 1 || box[i] > 256 || (i && stride[i - 1] % 16)) return CUDA_ERROR_INVALID_VALUE;
    made.shape[i] = (long)shape[i];
    made.box[i] = (int)box[i];
    if (i) made.stride[i - 1] = (long)stride[i - 1];
  }
  memcpy(map, &made, sizeof made);
  return CUDA_SUCCESS;
}

/* ---- Images, kernels, launches -------------------------------------------------------------- */

/* A function handle is the address of a row: a kernel's name on a device. Each row is made once. */
enum { MOST_FUNCTIONS = 256 };
static struct function {
  const char *name;
  int device;
} functions[MOST_FUNCTIONS];

static CUfunction find_function(const char *name) {
  static int count;
  int at = 0, device = current_device();
  pthread_mutex_lock(&lock);
  while (at < count && (functions[at].name != name || functions[at].device != device)) at++;
  if (at == count && count < MOST_FUNCTIONS) functions[count++] = (struct function){name, device};
  pthread_mutex_unlock(&lock);
  return at < MOST_FUNCTIONS ? (void *)&functions[at] : NULL;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image) {
  const bool ptx = strncmp(image, ".version", 8) == 0;
  if (ptx && !fake_cuda.holds) return CUDA_ERROR_INVALID_PTX;
  MAKE(images, module, &something);
}

CUresult cuModuleUnload(CUmodule module) {
  GIVE_BACK(images);
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  MAY_FAIL;
  *function = find_function(NULL);
  return CUDA_SUCCESS;
}

static double constant[4];

static CUresult find_constant(CUdeviceptr *address, size_t *bytes, const char *name) {
  if (strcmp(name, "factors") && strcmp(name, "weights")) return CUDA_ERROR_NOT_FOUND;
  *address = (CUdeviceptr)(uintptr_t)constant;
  *bytes = sizeof constant;
  return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                              const char *name) {
  MAY_FAIL;
  return find_constant(address, bytes, name);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *image, CUjit_option *jit,
                           void **jit_values, unsigned jits, CUlibraryOption *options,
                           void **values, unsigned count) {
  MAKE(images, library, &something);
}

CUresult cuLibraryUnload(CUlibrary library) {
  GIVE_BACK(images);
}

/* A kernel handle is the address of its name, which is kept here. */
static char kernel_names[16][64];

CUresult cuLibraryGetKernel(CUkernel *kernel, CUlibrary library, const char *name) {
  MAY_FAIL;
  size_t at = 0, most = sizeof kernel_names / sizeof *kernel_names - 1;
  pthread_mutex_lock(&lock);
  while (at < most && kernel_names[at][0] && strcmp(kernel_names[at], name) != 0) at++;
  strncpy(kernel_names[at], name, sizeof kernel_names[at] - 1);
  pthread_mutex_unlock(&lock);
  *kernel = (void *)kernel_names[at];
  return CUDA_SUCCESS;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *address, size_t *bytes, CUlibrary library,
                            const char *name) {
  MAY_FAIL;
  return find_constant(address, bytes, name);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel) {
  MAY_FAIL;
  *function = find_function((const char *)(void *)kernel);
  return CUDA_SUCCESS;
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  MAY_FAIL;
  int side = (int)attribute - (int)CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH;
  *value = side >= 0 && side < 3                                  ? fake_cuda.cluster[side]
           : attribute == CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK ? 512
           : attribute == CU_FUNC_ATTRIBUTE_NUM_REGS              ? 40
                                                                  : 400;
  return CUDA_SUCCESS;
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  MAY_FAIL;
  if (attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)
    __atomic_store_n(&fake_cuda.allowed_shared, value, __ATOMIC_RELAXED);
  if (attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT)
    __atomic_store_n(&fake_cuda.carveout, value, __ATOMIC_RELAXED);
  if (attribute == CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)
    __atomic_store_n(&fake_cuda.large_cluster, value, __ATOMIC_RELAXED);
  return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared) {
  MAY_FAIL;
  *blocks = 2048 / threads;
  return CUDA_SUCCESS;
}

/* A pretended device: 16 groups of 8 multiprocessors with one block each. The cluster size that
   the kernel demands may be left out. */
CUresult cuOccupancyMaxActiveClusters(int *clusters, CUfunction function,
                                      const CUlaunchConfig *config) {
  MAY_FAIL;
  const int *cluster = fake_cuda.cluster;
  const unsigned grid[] = {config->gridDimX, config->gridDimY, config->gridDimZ};
  for (int i = 0; i < 3; i++)
    if (cluster[i] < 1 || grid[i] % (unsigned)cluster[i]) return CUDA_ERROR_INVALID_VALUE;
  *clusters = 16 * (8 / (cluster[0] * cluster[1] * cluster[2]));
  return CUDA_SUCCESS;
}

/* The data kernels of a worker do nothing here. The worker notices that, and the host does their
   work. */
static void run(const struct fake_launch *launch) {
  const bool own = launch->kernel && strncmp(launch->kernel, "cugen_data_", 11) == 0;
  if (fake_cuda.run && !own) fake_cuda.run(launch);
}

struct fake_graph {
  struct fake_launch *launches;
  size_t count;
};
static struct fake_graph *capturing; /* NULL: no capture is under way */

static void sleep_for(const struct fake_launch *launch) {
  const int time = setting("FAKE_CUDA_SLEEP", 0);
  const unsigned mixed = (launch->grid[0] * 31 + launch->block[0]) % 97;
  char pace[16];
  if (!time) return;
  scripted = 2 + (float)mixed / 10;
  if (entry("FAKE_CUDA_PACE", launch->device, pace, sizeof pace))
    scripted *= (float)atof(pace) / 100;
  usleep((useconds_t)time);
}

/* Returns whether the device is one on which nothing runs. */
static CUresult refuses(const struct fake_launch *launch) {
  if (gone(launch->device)) return gone(launch->device);
  for (const char *bad = environment("FAKE_CUDA_BAD"); bad && *bad;
       bad += strcspn(bad, ","), bad += *bad == ',')
    if (atoi(bad) == launch->device) return CUDA_ERROR_LAUNCH_FAILED;
  return CUDA_SUCCESS;
}

static void note_use(int device) {
  const char *folder = environment("FAKE_CUDA_USED");
  char path[4096];
  if (!folder || snprintf(path, sizeof path, "%s/%d", folder, device) >= (int)sizeof path) return;
  FILE *file = fopen(path, "a");
  if (file) fclose(file);
}

static void run_or_capture(const struct fake_launch *launch) {
  note_use(launch->device);
  if (!capturing) {
    run(launch);
    sleep_for(launch);
    return;
  }
  struct fake_launch *more = realloc(capturing->launches, (capturing->count + 1) * sizeof *more);
  if (!more) return;
  capturing->launches = more;
  more[capturing->count++] = *launch;
  COUNT(captured, 1);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
  MAY_FAIL;
  const struct function *kernel = (const void *)function;
  struct fake_launch launch = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                               {config->blockDimX, config->blockDimY, config->blockDimZ},
                               config->sharedMemBytes,
                               parameters,
                               config->hStream,
                               kernel->name,
                               kernel->device,
                               false,
                               false};
  for (unsigned i = 0; i < config->numAttrs; i++) {
    const CUlaunchAttribute *a = &config->attrs[i];
    if (a->id == CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION)
      launch.early = a->value.programmaticStreamSerializationAllowed;
    if (a->id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE) launch.cooperative = a->value.cooperative;
  }
  if (refuses(&launch)) return refuses(&launch);
  run_or_capture(&launch);
  return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                        unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared,
                        CUstream stream, void **parameters, void **extra) {
  MAY_FAIL;
  const struct function *kernel = (const void *)function;
  struct fake_launch launch = {{grid_x, grid_y, grid_z},
                               {block_x, block_y, block_z},
                               shared,
                               parameters,
                               stream,
                               kernel->name,
                               kernel->device,
                               false,
                               false};
  if (refuses(&launch)) return refuses(&launch);
  run_or_capture(&launch);
  return CUDA_SUCCESS;
}

/* ---- Graphs: launches that were kept instead of run. One is under way at a time. ------------ */

static struct fake_graph *open_graph(void) {
  struct fake_graph *graph = calloc(1, sizeof *graph);
  if (graph) COUNT(graphs, 1);
  return graph;
}

static void close_graph(struct fake_graph *graph) {
  free(graph->launches);
  free(graph);
  COUNT(graphs, -1);
}

CUresult cuStreamIsCapturing(CUstream stream, CUstreamCaptureStatus *out) {
  MAY_FAIL;
  *out = capturing ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE;
  return CUDA_SUCCESS;
}

CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) {
  static _Thread_local CUstreamCaptureMode own = CU_STREAM_CAPTURE_MODE_GLOBAL;
  const CUstreamCaptureMode before = own;
  own = *mode;
  *mode = before;
  return CUDA_SUCCESS;
}

CUresult cuStreamBeginCapture_v2(CUstream stream, CUstreamCaptureMode mode) {
  MAY_FAIL;
  if (fake_cuda.no_graphs || capturing) return CUDA_ERROR_NOT_SUPPORTED;
  capturing = open_graph();
  return capturing ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

/* A capture ends even if this call fails. */
CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph) {
  struct fake_graph *made = capturing;
  capturing = NULL;
  CUresult failure = fails(__func__);
  if (failure && made) close_graph(made);
  *graph = failure ? NULL : (void *)made;
  return failure;
}

CUresult cuGraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph, unsigned long long flags) {
  const struct fake_graph *from = (const void *)graph;
  MAY_FAIL;
  struct fake_graph *made = open_graph();
  if (!made) return CUDA_ERROR_OUT_OF_MEMORY;
  made->launches = malloc((from->count + 1) * sizeof *made->launches);
  for (size_t i = 0; made->launches && i < from->count; i++)
    made->launches[made->count++] = from->launches[i];
  *exec = (void *)made;
  return CUDA_SUCCESS;
}

CUresult cuGraphLaunch(CUgraphExec exec, CUstream stream) {
  const struct fake_graph *graph = (const void *)exec;
  MAY_FAIL;
  for (size_t i = 0; i < graph->count; i++) {
    struct fake_launch launch = graph->launches[i];
    launch.stream = stream;
    run(&launch);
  }
  COUNT(replayed, (long)graph->count);
  return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec exec) {
  close_graph((void *)exec);
  MAY_FAIL;
  return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph) {
  close_graph((void *)graph);
  MAY_FAIL;
  return CUDA_SUCCESS;
}

/* ---- Profilers ------------------------------------------------------------------------------ */

/* Declared here as in cudaProfiler.h, which the toolkit's wheels lack. */
CUresult CUDAAPI cuProfilerStart(void);
CUresult CUDAAPI cuProfilerStop(void);

CUresult cuProfilerStart(void) {
  fake_cuda.profiled = true;
  return CUDA_SUCCESS;
}

CUresult cuProfilerStop(void) {
  fake_cuda.profiled = false;
  return CUDA_SUCCESS;
}

/* ---- A user's function ---------------------------------------------------------------------- */

int fake_baseline(void *const *arguments, const void *about, void *stream);
int fake_baseline(void *const *arguments, const void *about, void *stream) {
  return fake_cuda.baseline(arguments, about, stream);
}
