/* The cuda row of the device table: a GPU through its driver's primary context or one that an application gave, on
   a stream of its own. Every function makes that context current for its own duration only, so that an embedding application keeps its own. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "driver.h"
#include "nvml.h"
#include "nvrtc.h"
#include "tensor.h"
#include "texture.h"

struct cuda_device {
  struct device base;
  const struct toolkit *toolkit;
  const struct driver *driver;
  CUdevice handle;
  CUcontext context;
  bool primary; /* context is the primary one, retained */
  CUstream stream;
  CUevent start, stop;
  const struct nvml *nvml;
  struct nvml_device *nvml_device;
  bool nvml_tried;
};

static struct cuda_device *cuda_of(struct device *device) {
  return (struct cuda_device *)device;
}

/* The status of one driver call. */
#define CHECK(cuda, err, member, arguments) DRIVER_CALL((cuda)->driver, err, member, arguments)

/* Makes the device's context current; every success is paired with leave. */
static int enter(struct cuda_device *cuda, cugen_error *err) {
  return CHECK(cuda, err, context_push, (cuda->context));
}

static int leave(struct cuda_device *cuda, int status) {
  CUcontext popped = NULL;
  cuda->driver->context_pop(&popped);
  return status;
}

/* ---- What there is ------------------------------------------------------------------------------------------- */

static int cuda_count(const struct toolkit *toolkit, cugen_error *err) {
  const struct driver *driver;
  int count = 0;
  if (driver_open(toolkit, &driver, err) || driver_check_version(driver, toolkit, err)) return 0;
  if (DRIVER_CALL(driver, err, device_count, (&count))) return 0;
  if (!count) error_set(err, CUGEN_ERROR_DEVICE, "the CUDA driver is there but sees no GPU: look at nvidia-smi");
  return count;
}

static const struct fact_source {
  enum device_fact fact;
  CUdevice_attribute attribute;
} fact_sources[] = {
    {DEVICE_FACT_sm_count, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT},
    {DEVICE_FACT_warp_size, CU_DEVICE_ATTRIBUTE_WARP_SIZE},
    {DEVICE_FACT_max_threads_per_block, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK},
    {DEVICE_FACT_max_threads_per_sm, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR},
    {DEVICE_FACT_max_blocks_per_sm, CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR},
    {DEVICE_FACT_registers_per_block, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK},
    {DEVICE_FACT_registers_per_sm, CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR},
    {DEVICE_FACT_shared_per_block, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK},
    {DEVICE_FACT_shared_per_block_optin, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
    {DEVICE_FACT_shared_per_sm, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR},
    {DEVICE_FACT_shared_reserved_per_block, CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK},
    {DEVICE_FACT_constant_bytes, CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY},
    {DEVICE_FACT_l2_bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE},
    {DEVICE_FACT_memory_clock_khz, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE},
    {DEVICE_FACT_memory_bus_bits, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH},
    {DEVICE_FACT_clock_khz, CU_DEVICE_ATTRIBUTE_CLOCK_RATE},
    /* cuMemAllocPitch rounds to the alignment that a texture's base address needs (512), not to
       TEXTURE_PITCH_ALIGNMENT (32). */
    {DEVICE_FACT_pitch_alignment, CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT},
};

static int ask_attribute(const struct driver *driver, CUdevice handle, CUdevice_attribute attribute, int64_t *out,
                         cugen_error *err) {
  int value = 0;
  int status = DRIVER_CALL(driver, err, device_attribute, (&value, attribute, handle));
  *out = value;
  return status;
}

static int64_t *fact_place(struct device_facts *facts, enum device_fact fact) {
  return (int64_t *)facts + fact; /* device_facts is DEVICE_FACT_COUNT integers in the enum's order */
}

static int ask_facts(const struct driver *driver, CUdevice handle, struct device_facts *out, cugen_error *err) {
  int64_t major = 0, minor = 0;
  size_t memory = 0;
  int status = ask_attribute(driver, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major, err);
  if (!status) status = ask_attribute(driver, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor, err);
  if (!status) status = DRIVER_CALL(driver, err, device_memory, (&memory, handle));
  for (size_t i = 0; i < sizeof fact_sources / sizeof *fact_sources && !status; i++)
    status = ask_attribute(driver, handle, fact_sources[i].attribute, fact_place(out, fact_sources[i].fact), err);
  out->compute_capability = 10 * major + minor;
  out->architecture_specific = out->compute_capability >= 90; /* 'a' targets begin with sm_90a */
  out->memory_bytes = (int64_t)memory;
  out->is_gpu = 1;
  return status;
}

/* "GPU-" and 8-4-4-4-12 digits, as NVML and nvidia-smi print it. */
static void print_uuid(const CUuuid *uuid, char *out, size_t size) {
  int length = snprintf(out, size, "GPU");
  for (size_t i = 0; i < sizeof uuid->bytes; i++)
    length +=
        snprintf(out + length, size - (size_t)length, "%s%02x",
                 i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", (unsigned)(unsigned char)uuid->bytes[i]);
}

static int describe_handle(const struct driver *driver, CUdevice handle, int ordinal, struct device_description *out,
                           cugen_error *err) {
  CUuuid uuid = {{0}};
  int status = DRIVER_CALL(driver, err, device_name, (out->name, sizeof out->name, handle));
  if (!status) status = DRIVER_CALL(driver, err, device_uuid, (&uuid, handle));
  if (!status) status = ask_facts(driver, handle, &out->facts, err);
  if (status) return status;
  const struct device_facts *facts = &out->facts;
  print_uuid(&uuid, out->uuid, sizeof out->uuid);
  snprintf(out->id, sizeof out->id, "cuda:%d", ordinal);
  snprintf(out->arch, sizeof out->arch, "sm_%d%s", (int)facts->compute_capability,
           facts->architecture_specific ? "a" : "");
  snprintf(out->fingerprint, sizeof out->fingerprint, "%s sm_%d %d SMs", out->name, (int)facts->compute_capability,
           (int)facts->sm_count);
  out->driver_version = driver->version;
  return CUGEN_OK;
}

static int get_handle(const struct driver *driver, int ordinal, CUdevice *out, cugen_error *err) {
  int count = 0;
  int status = DRIVER_CALL(driver, err, device_count, (&count));
  if (status) return status;
  if (ordinal < 0 || ordinal >= count)
    return error_set(err, CUGEN_ERROR_USAGE, "no device 'cuda:%d': the driver sees %d GPU%s, from cuda:0 on", ordinal,
                     count, count == 1 ? "" : "s");
  return DRIVER_CALL(driver, err, device_get, (out, ordinal));
}

static int cuda_describe(const struct toolkit *toolkit, int ordinal, struct device_description *out,
                         cugen_error *err) {
  const struct driver *driver;
  CUdevice handle = 0;
  *out = (struct device_description){0};
  int status = driver_open(toolkit, &driver, err);
  if (!status) status = get_handle(driver, ordinal, &handle, err);
  return status ? status : describe_handle(driver, handle, ordinal, out, err);
}

static int cuda_compile(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  const struct nvrtc *nvrtc;
  *out = (struct compiled){0};
  int status = nvrtc_open(request->toolkit, &nvrtc, err);
  return status ? status : nvrtc_compile(nvrtc, request, out, err);
}

/* ---- Opening and closing ------------------------------------------------------------------------------------- */

static int make_stream(struct cuda_device *cuda, cugen_error *err) {
  int status = CHECK(cuda, err, stream_create, (&cuda->stream, CU_STREAM_NON_BLOCKING));
  if (!status) status = CHECK(cuda, err, event_create, (&cuda->start, CU_EVENT_DEFAULT));
  if (!status) status = CHECK(cuda, err, event_create, (&cuda->stop, CU_EVENT_DEFAULT));
  return status;
}

static int retain_primary(struct cuda_device *cuda, cugen_error *err) {
  int status = CHECK(cuda, err, context_retain, (&cuda->context, cuda->handle));
  if (status) cuda->context = NULL;
  cuda->primary = !status;
  return status;
}

/* The current context, an application's own, belongs to this device. */
static int check_context(struct cuda_device *cuda, cugen_error *err) {
  CUdevice handle = 0;
  int status = CHECK(cuda, err, context_device, (&handle));
  if (status || handle == cuda->handle) return status;
  return error_set(
      err, CUGEN_ERROR_USAGE,
      "the CUDA context is one of cuda:%d, the kernel is for %s: make a context of that device current, or "
      "open cugen for the device \"cuda:%d\"",
      (int)handle, cuda->base.description.id, (int)handle);
}

static int start(struct cuda_device *cuda, const struct device_options *options, cugen_error *err) {
  int ordinal = options->ordinal;
  int status = get_handle(cuda->driver, ordinal, &cuda->handle, err);
  if (!status) status = describe_handle(cuda->driver, cuda->handle, ordinal, &cuda->base.description, err);
  cuda->context = options->context;
  if (!status && !cuda->context) status = retain_primary(cuda, err);
  if (!status) status = enter(cuda, err);
  if (status) return status;
  if (!cuda->primary) status = check_context(cuda, err);
  return leave(cuda, status ? status : make_stream(cuda, err));
}

static void cuda_close(struct device *device) {
  struct cuda_device *cuda = cuda_of(device);
  if (!cuda) return;
  const struct driver *driver = cuda->driver;
  if (cuda->context) {
    bool entered = enter(cuda, NULL) == CUGEN_OK;
    if (cuda->start) driver->event_destroy(cuda->start);
    if (cuda->stop) driver->event_destroy(cuda->stop);
    if (cuda->stream) driver->stream_destroy(cuda->stream);
    if (entered) leave(cuda, CUGEN_OK);
    if (cuda->primary) driver->context_release(cuda->handle);
  }
  free(cuda);
}

static int cuda_open(const struct device_options *options, struct device **out, cugen_error *err) {
  *out = NULL;
  const struct driver *driver;
  int status = driver_open(options->toolkit, &driver, err);
  if (!status) status = driver_check_version(driver, options->toolkit, err);
  if (status) return status;
  struct cuda_device *cuda = calloc(1, sizeof *cuda);
  if (!cuda) return error_memory(err);
  cuda->base.ops = &cuda_device_ops;
  cuda->toolkit = options->toolkit;
  cuda->driver = driver;
  if ((status = start(cuda, options, err))) {
    cuda_close(&cuda->base);
    return status;
  }
  *out = &cuda->base;
  return CUGEN_OK;
}

/* ---- Memory: what each kind is made of ----------------------------------------------------------------------- */

/* The device's and the host's address of `bytes` fresh bytes; *host stays NULL when the host has none. */
typedef int memory_maker(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device, void **host, cugen_error *err);

static int make_device(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device, void **host, cugen_error *err) {
  (void)host;
  return CHECK(cuda, err, mem_alloc, (device, bytes));
}

/* With unified addressing (every 64-bit Linux) the device knows pinned memory by the host's own address. */
static int make_pinned(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device, void **host, cugen_error *err) {
  int status = CHECK(cuda, err, host_alloc, (host, bytes, CU_MEMHOSTALLOC_PORTABLE));
  *device = (CUdeviceptr)(uintptr_t)*host;
  return status;
}

static int make_mapped(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device, void **host, cugen_error *err) {
  int status = CHECK(cuda, err, host_alloc, (host, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
  if (status) return status;
  status = CHECK(cuda, err, host_device_pointer, (device, *host, 0));
  if (status) cuda->driver->host_free(*host);
  return status;
}

static int make_managed(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device, void **host, cugen_error *err) {
  int status = CHECK(cuda, err, mem_alloc_managed, (device, bytes, CU_MEM_ATTACH_GLOBAL));
  *host = status ? NULL : (void *)(uintptr_t)*device;
  return status;
}

static const struct {
  memory_maker *make;
  bool host; /* freed as host memory */
} memory_kinds[MEMORY_KIND_COUNT] = {[MEMORY_DEVICE] = {make_device, false},
                                     [MEMORY_PINNED] = {make_pinned, true},
                                     [MEMORY_MAPPED] = {make_mapped, true},
                                     [MEMORY_MANAGED] = {make_managed, false}};

/* ---- Memory: guards ------------------------------------------------------------------------------------------ */

/* Zones before and after a guarded buffer. Their 16-bit pattern makes a NaN of every float type, so that a read past
   a buffer shows in the result too; a write of anything else shows in memory_check. */
enum { GUARD_BYTES = 64 * 1024, GUARD_PATTERN = 0x7fff };

static unsigned char guard_byte(size_t offset) {
  return (unsigned char)(offset % 2 ? GUARD_PATTERN >> 8 : GUARD_PATTERN & 0xff);
}

static int sync_stream(struct cuda_device *cuda, cugen_error *err) {
  return CHECK(cuda, err, stream_sync, (cuda->stream));
}

static CUdeviceptr address(const void *pointer) {
  return (CUdeviceptr)(uintptr_t)pointer;
}

/* Where, in the whole allocation, the zone behind the buffer begins; an odd size begins it one byte early. */
static size_t tail_offset(const struct memory *memory) {
  return GUARD_BYTES + memory->bytes;
}

static int write_guards(struct cuda_device *cuda, const struct memory *memory, cugen_error *err) {
  CUdeviceptr base = address(memory->device) - GUARD_BYTES;
  size_t tail = tail_offset(memory) & ~(size_t)1;
  int status = CHECK(cuda, err, set_16, (base, GUARD_PATTERN, GUARD_BYTES / 2, cuda->stream));
  if (!status)
    status = CHECK(cuda, err, set_16, (base + tail, GUARD_PATTERN, (memory->base_bytes - tail) / 2, cuda->stream));
  return status ? status : sync_stream(cuda, err);
}

/* How many bytes of the zone (read from `offset` of the allocation) are damaged, and the one nearest to the buffer,
   as a distance from the zone's edge there. */
static size_t count_damage(const unsigned char *zone, size_t length, size_t offset, bool before, size_t *nearest) {
  size_t damaged = 0;
  for (size_t i = 0; i < length; i++) {
    size_t at = before ? length - 1 - i : i;
    if (zone[at] == guard_byte(offset + at)) continue;
    if (!damaged++) *nearest = i;
  }
  return damaged;
}

static int check_zone(struct cuda_device *cuda, const struct memory *memory, bool before, unsigned char *zone,
                      cugen_error *err) {
  size_t offset = before ? 0 : tail_offset(memory);
  size_t length = before ? GUARD_BYTES : memory->base_bytes - offset, nearest = 0;
  CUdeviceptr from = address(memory->device) - GUARD_BYTES + offset;
  int status = CHECK(cuda, err, copy, (address(zone), from, length, cuda->stream));
  if (!status) status = sync_stream(cuda, err);
  if (status) return status;
  size_t damaged = count_damage(zone, length, offset, before, &nearest);
  if (!damaged) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_WRONG,
                   "written out of bounds: byte %zu %s of a buffer of %zu bytes (%zu of the guard's bytes changed)",
                   before ? nearest + 1 : nearest, before ? "before the start" : "past the end", memory->bytes,
                   damaged);
}

static bool is_guarded(const struct memory *memory) {
  return memory->base_bytes > memory->bytes && memory->base_bytes >= 2 * (size_t)GUARD_BYTES;
}

static int cuda_memory_check(struct device *device, const struct memory *memory, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  if (!is_guarded(memory)) return CUGEN_OK;
  unsigned char *zone = malloc(memory->base_bytes - memory->bytes);
  if (!zone) return error_memory(err);
  int status = enter(cuda, err);
  if (!status) {
    status = check_zone(cuda, memory, true, zone, err);
    if (!status) status = check_zone(cuda, memory, false, zone, err);
    leave(cuda, status);
  }
  free(zone);
  return status;
}

/* ---- Memory: making and freeing ------------------------------------------------------------------------------ */

static void free_base(struct cuda_device *cuda, enum memory_kind kind, void *base) {
  if (memory_kinds[kind].host)
    cuda->driver->host_free(base);
  else
    cuda->driver->mem_free(address(base));
}

static int allocate(struct cuda_device *cuda, enum memory_kind kind, size_t bytes, bool guard, struct memory *out,
                    cugen_error *err) {
  CUdeviceptr device = 0;
  void *host = NULL;
  size_t wanted = bytes ? bytes : 1; /* the driver refuses nothing at all */
  size_t total = guard ? wanted + wanted % 2 + 2 * (size_t)GUARD_BYTES : wanted;
  size_t front = guard ? GUARD_BYTES : 0;
  int status = memory_kinds[kind].make(cuda, total, &device, &host, err);
  if (status) {
    error_prefix(err, "%s: cannot allocate %zu bytes of %s memory", cuda->base.description.id, total,
                 memory_kind_names[kind]);
    return status;
  }
  *out = (struct memory){.kind = kind,
                         .device = (void *)(uintptr_t)(device + front),
                         .host = host ? (char *)host + front : NULL,
                         .bytes = bytes,
                         .base = memory_kinds[kind].host ? host : (void *)(uintptr_t)device,
                         .base_bytes = total};
  if (guard && (status = write_guards(cuda, out, err))) {
    free_base(cuda, kind, out->base);
    *out = (struct memory){0};
  }
  return status;
}

static int cuda_alloc(struct device *device, enum memory_kind kind, size_t bytes, bool guard, struct memory *out,
                      cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = (struct memory){0};
  if (bytes > SIZE_MAX / 2) return error_set(err, CUGEN_ERROR_MEMORY, "cannot allocate %zu bytes", bytes);
  int status = enter(cuda, err);
  return status ? status : leave(cuda, allocate(cuda, kind, bytes, guard, out, err));
}

static void cuda_free(struct device *device, struct memory *memory) {
  struct cuda_device *cuda = cuda_of(device);
  if (memory->base) {
    bool entered =
        enter(cuda, NULL) == CUGEN_OK; /* most calls of a failed device fail; giving back is tried anyway */
    free_base(cuda, memory->kind, memory->base);
    if (entered) leave(cuda, CUGEN_OK);
  }
  *memory = (struct memory){0};
}

enum { PITCH_ELEMENT = 16 }; /* the widest access that a kernel will make: a row is aligned for it */

static int cuda_alloc_pitched(struct device *device, size_t width, size_t rows, size_t *pitch, struct memory *out,
                              cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  CUdeviceptr base = 0;
  *out = (struct memory){0};
  *pitch = 0;
  int status = enter(cuda, err);
  if (status) return status;
  status = leave(cuda, CHECK(cuda, err, mem_alloc_pitch, (&base, pitch, width, rows, PITCH_ELEMENT)));
  if (status) return status;
  void *address_of = (void *)(uintptr_t)base;
  *out = (struct memory){.kind = MEMORY_DEVICE, .device = address_of, .base = address_of};
  out->bytes = out->base_bytes = *pitch * rows;
  return CUGEN_OK;
}

/* ---- Memory: copying ----------------------------------------------------------------------------------------- */

/* The driver tells host from device by the addresses. Ordered after what the stream holds; done at return. */
static int copy_now(struct device *device, void *to, const void *from, size_t bytes, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = bytes ? enter(cuda, err) : CUGEN_OK;
  if (status || !bytes) return status;
  status = CHECK(cuda, err, copy, (address(to), address(from), bytes, cuda->stream));
  if (!status) status = sync_stream(cuda, err);
  return leave(cuda, status);
}

static int cuda_upload(struct device *device, void *to_device, const void *from_host, size_t bytes,
                       cugen_error *err) {
  return copy_now(device, to_device, from_host, bytes, err);
}

static int cuda_download(struct device *device, void *to_host, const void *from_device, size_t bytes,
                         cugen_error *err) {
  return copy_now(device, to_host, from_device, bytes, err);
}

static int cuda_fill(struct device *device, void *to_device, unsigned char byte, size_t bytes, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = bytes ? enter(cuda, err) : CUGEN_OK;
  if (status || !bytes) return status;
  status = CHECK(cuda, err, set_8, (address(to_device), byte, bytes, cuda->stream));
  if (!status) status = sync_stream(cuda, err);
  return leave(cuda, status);
}

/* Memory that the driver has not seen is the host's own. */
static CUmemorytype type_of(struct cuda_device *cuda, const void *pointer) {
  unsigned type = 0;
  CUresult result = cuda->driver->pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(pointer));
  return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST;
}

static int copy_rows(struct cuda_device *cuda, const CUDA_MEMCPY2D *copy, cugen_error *err) {
  int status = sync_stream(cuda, err); /* the copy is on the default stream */
  if (!status) status = CHECK(cuda, err, copy_2d, (copy));
  if (!status) status = CHECK(cuda, err, context_sync, ());
  return status;
}

static int cuda_copy_2d(struct device *device, void *to, size_t to_pitch, const void *from, size_t from_pitch,
                        size_t width, size_t rows, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  if (!width || !rows) return CUGEN_OK;
  int status = enter(cuda, err);
  if (status) return status;
  CUDA_MEMCPY2D copy = {.srcMemoryType = type_of(cuda, from),
                        .srcHost = from,
                        .srcDevice = address(from),
                        .srcPitch = from_pitch,
                        .dstMemoryType = type_of(cuda, to),
                        .dstHost = to,
                        .dstDevice = address(to),
                        .dstPitch = to_pitch,
                        .WidthInBytes = width,
                        .Height = rows};
  return leave(cuda, copy_rows(cuda, &copy, err));
}

/* ---- Textures ------------------------------------------------------------------------------------------------ */

static int cuda_texture_make(struct device *device, const struct kernel_argument *argument, void *buffer,
                             struct texture *out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = (struct texture){0};
  int status = enter(cuda, err);
  return status ? status : leave(cuda, texture_open(cuda->driver, cuda->handle, argument, buffer, out, err));
}

static void cuda_texture_free(struct device *device, struct texture *texture) {
  struct cuda_device *cuda = cuda_of(device);
  bool entered = enter(cuda, NULL) == CUGEN_OK;
  texture_close(cuda->driver, texture);
  if (entered) leave(cuda, CUGEN_OK);
}

static int cuda_texture_update(struct device *device, const struct texture *texture, void *const *stream,
                               cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = enter(cuda, err);
  return status ? status : leave(cuda, texture_copy(cuda->driver, texture, stream ? *stream : cuda->stream, err));
}

static int cuda_tensor_make(struct device *device, const struct kernel_argument *argument, void *buffer,
                            struct tensor_map *out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = enter(cuda, err);
  return status ? status : leave(cuda, tensor_encode(cuda->driver, argument, buffer, out, err));
}

/* ---- Images and kernels -------------------------------------------------------------------------------------- */

struct entry {
  char *name;
  CUfunction function;
  int static_shared, max_threads, registers;
  int cluster[3];      /* blocks, as the source demands with __cluster_dims__; 0: it does not */
  int64_t allowed;     /* dynamic shared bytes so far */
  int parameter_count; /* -1: not known */
  int parameter_sizes[2 * KERNEL_MAX_ARGUMENTS];
};

/* Loaded context-independently where the driver can (library), else into the context (module). */
struct loaded {
  CUlibrary library;
  CUmodule module;
  size_t count;
  struct entry entries[KERNEL_MAX_LAUNCHES];
};

static int load_image(struct cuda_device *cuda, struct loaded *loaded, const void *image, cugen_error *err) {
  if (cuda->driver->library_load)
    return CHECK(cuda, err, library_load, (&loaded->library, image, NULL, NULL, 0, NULL, NULL, 0));
  return CHECK(cuda, err, module_load, (&loaded->module, image));
}

static void unload(struct cuda_device *cuda, struct loaded *loaded) {
  if (loaded->library) cuda->driver->library_unload(loaded->library);
  if (loaded->module) cuda->driver->module_unload(loaded->module);
  for (size_t i = 0; i < KERNEL_MAX_LAUNCHES; i++) free(loaded->entries[i].name);
  free(loaded);
}

/* A library's kernel is asked for its function in this context, which also loads its code now instead of at the
   first launch. */
static int find_function(struct cuda_device *cuda, struct loaded *loaded, const char *name, CUfunction *out,
                         cugen_error *err) {
  CUkernel kernel = NULL;
  if (!loaded->library) return CHECK(cuda, err, module_function, (out, loaded->module, name));
  int status = CHECK(cuda, err, library_kernel, (&kernel, loaded->library, name));
  return status ? status : CHECK(cuda, err, kernel_function, (out, kernel));
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
  size_t count = cuda->driver->active_clusters ? QUESTIONS : WITHOUT_CLUSTERS; /* drivers of one age know both */
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = CHECK(cuda, err, function_get, (questions[i].out, questions[i].attribute, entry->function));
  return status;
}

static int load_entry(struct cuda_device *cuda, struct loaded *loaded, const struct compiled *compiled, size_t index,
                      cugen_error *err) {
  enum { CAPACITY = sizeof loaded->entries->parameter_sizes / sizeof *loaded->entries->parameter_sizes };
  struct entry *entry = &loaded->entries[index];
  const char *name = compiled->entries[index];
  if (!(entry->name = strdup(name))) return error_memory(err);
  int status = find_function(cuda, loaded, name, &entry->function, err);
  if (!status) status = ask_function(cuda, entry, err);
  if (status) {
    error_prefix(err, "kernel '%s'", name);
    return status;
  }
  entry->parameter_count =
      cubin_parameters(compiled->image, compiled->image_length, name, entry->parameter_sizes, CAPACITY);
  loaded->count = index + 1;
  return CUGEN_OK;
}

static int load_all(struct cuda_device *cuda, struct loaded *loaded, const struct compiled *compiled,
                    cugen_error *err) {
  int status = load_image(cuda, loaded, compiled->image, err);
  for (size_t i = 0; i < compiled->entry_count && !status; i++) status = load_entry(cuda, loaded, compiled, i, err);
  if (status == CUGEN_ERROR_DEVICE) /* a library's code is looked at only with its first kernel */
    error_append(err,
                 "\nAn image for another GPU or a newer CUDA does not load: this is an %s, its driver supports "
                 "CUDA %d.%d.",
                 cuda->base.description.arch, cuda->driver->version / 1000, cuda->driver->version % 1000 / 10);
  return status;
}

static int cuda_load(struct device *device, const struct compiled *compiled, struct loaded **out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = NULL;
  struct loaded *loaded = calloc(1, sizeof *loaded);
  if (!loaded) return error_memory(err);
  int status = enter(cuda, err);
  if (status) {
    free(loaded);
    return status;
  }
  status = load_all(cuda, loaded, compiled, err);
  if (status)
    unload(cuda, loaded);
  else
    *out = loaded;
  return leave(cuda, status);
}

static void cuda_unload(struct device *device, struct loaded *loaded) {
  struct cuda_device *cuda = cuda_of(device);
  if (!loaded) return;
  bool entered = enter(cuda, NULL) == CUGEN_OK;
  unload(cuda, loaded);
  if (entered) leave(cuda, CUGEN_OK);
}

/* Past what a block gets without asking, a kernel must be allowed its dynamic shared memory once. */
static int allow_shared(struct cuda_device *cuda, struct entry *entry, int64_t dynamic_shared, cugen_error *err) {
  const struct device_facts *facts = &cuda->base.description.facts;
  int64_t total = entry->static_shared + dynamic_shared;
  if (total > facts->shared_per_block_optin)
    return error_set(err, CUGEN_ERROR_DEVICE,
                     "kernel '%s' needs %lld bytes of shared memory a block (%d static, %lld dynamic), the device "
                     "gives at most %lld",
                     entry->name, (long long)total, entry->static_shared, (long long)dynamic_shared,
                     (long long)facts->shared_per_block_optin);
  if (total <= facts->shared_per_block || dynamic_shared <= entry->allowed) return CUGEN_OK;
  int status = enter(cuda, err);
  if (status) return status;
  status =
      leave(cuda, CHECK(cuda, err, function_set,
                        (entry->function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)dynamic_shared)));
  if (!status) entry->allowed = dynamic_shared;
  return status;
}

static int cuda_entry(struct device *device, struct loaded *loaded, size_t index, int64_t dynamic_shared,
                      struct entry **out, cugen_error *err) {
  *out = NULL;
  if (index >= loaded->count)
    return error_set(err, CUGEN_ERROR_INTERNAL, "the image has %zu kernels, none with index %zu", loaded->count,
                     index);
  int status = allow_shared(cuda_of(device), &loaded->entries[index], dynamic_shared, err);
  if (!status) *out = &loaded->entries[index];
  return status;
}

static int cuda_carve(struct device *device, struct entry *entry, int percent, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = enter(cuda, err);
  if (status) return status;
  return leave(cuda, CHECK(cuda, err, function_set,
                           (entry->function, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, percent)));
}

static int find_global(struct cuda_device *cuda, struct loaded *loaded, const char *name, CUdeviceptr *at,
                       size_t *bytes, cugen_error *err) {
  CUresult result = loaded->library ? cuda->driver->library_global(at, bytes, loaded->library, name)
                                    : cuda->driver->module_global(at, bytes, loaded->module, name);
  if (result == CUDA_ERROR_NOT_FOUND)
    return error_set(err, CUGEN_ERROR_DEVICE, "the kernel has no __constant__ or __device__ variable '%s'", name);
  return driver_check(cuda->driver, result, loaded->library ? DRIVER_library_global : DRIVER_module_global, err);
}

static int cuda_symbol(struct device *device, struct loaded *loaded, const char *name, void **at, size_t *bytes,
                       cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  CUdeviceptr found = 0;
  *at = NULL;
  *bytes = 0;
  int status = enter(cuda, err);
  if (status) return status;
  status = leave(cuda, find_global(cuda, loaded, name, &found, bytes, err));
  if (!status) *at = (void *)(uintptr_t)found;
  return status;
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

static int cuda_active_blocks(struct device *device, struct entry *entry, int threads, int64_t dynamic_shared) {
  struct cuda_device *cuda = cuda_of(device);
  int blocks = 0;
  if (dynamic_shared < 0 || enter(cuda, NULL)) return 0;
  if (cuda->driver->active_blocks(&blocks, entry->function, threads, (size_t)dynamic_shared)) blocks = 0;
  return leave(cuda, blocks);
}

static int cuda_active_clusters(struct device *device, struct entry *entry, const struct kernel_launch *launch) {
  struct cuda_device *cuda = cuda_of(device);
  const CUlaunchConfig config = launch_config(launch, NULL); /* the size that the kernel demands stands */
  int clusters = 0;
  if (entry->cluster[0] * entry->cluster[1] * entry->cluster[2] < 2 || enter(cuda, NULL)) return 0;
  if (cuda->driver->active_clusters(&clusters, entry->function, &config)) clusters = 0;
  return leave(cuda, clusters);
}

static int cuda_parameters(struct entry *entry, int *sizes, int capacity) {
  for (int i = 0; i < capacity && i < entry->parameter_count; i++) sizes[i] = entry->parameter_sizes[i];
  return entry->parameter_count;
}

/* ---- Launching ----------------------------------------------------------------------------------------------- */

static int explain_launch(const struct entry *entry, const struct kernel_launch *launch, int status,
                          cugen_error *err) {
  error_append(err,
               "\nkernel '%s', grid %ux%ux%u, block %ux%ux%u = %llu threads (it can have %d with its %d "
               "registers), %d + %lld bytes of shared memory",
               launch->entry, launch->grid[0], launch->grid[1], launch->grid[2], launch->block[0], launch->block[1],
               launch->block[2], (unsigned long long)launch->block[0] * launch->block[1] * launch->block[2],
               entry->max_threads, entry->registers, entry->static_shared, (long long)launch->shared_bytes);
  return status;
}

/* Before CUDA 12.0 a driver has no such launches: then nothing overlaps, and the kernel's wait is over at once. */
static CUresult launch_early(const struct driver *driver, const struct entry *entry,
                             const struct kernel_launch *launch, void **parameters, void *stream) {
  CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                 .value = {.programmaticStreamSerializationAllowed = 1}};
  CUlaunchConfig config = launch_config(launch, stream);
  config.attrs = &attribute;
  config.numAttrs = 1;
  return driver->launch_ex(&config, entry->function, parameters, NULL);
}

/* The stream says which context: nothing has to be made current for a launch. */
static int cuda_launch_on(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                          void **parameters, void *stream, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  CUresult result = launch->overlap && cuda->driver->launch_ex
                        ? launch_early(cuda->driver, entry, launch, parameters, stream)
                        : cuda->driver->launch(entry->function, launch->grid[0], launch->grid[1], launch->grid[2],
                                               launch->block[0], launch->block[1], launch->block[2],
                                               (unsigned)launch->shared_bytes, stream, parameters, NULL);
  if (result == CUDA_SUCCESS) return CUGEN_OK;
  return explain_launch(entry, launch, driver_check(cuda->driver, result, DRIVER_launch, err), err);
}

static int cuda_launch(struct device *device, struct entry *entry, const struct kernel_launch *launch,
                       void **parameters, cugen_error *err) {
  return cuda_launch_on(device, entry, launch, parameters, cuda_of(device)->stream, err);
}

static int cuda_current_context(const struct toolkit *toolkit, void **out, cugen_error *err) {
  const struct driver *driver;
  CUcontext context = NULL;
  int status = driver_open(toolkit, &driver, err);
  if (!status) status = DRIVER_CALL(driver, err, context_current, (&context));
  *out = context;
  return status;
}

static int cuda_sync(struct device *device, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = enter(cuda, err);
  return status ? status : leave(cuda, sync_stream(cuda, err));
}

static int time_on_stream(struct cuda_device *cuda, int (*run)(void *context, cugen_error *err), void *context,
                          double *seconds, cugen_error *err) {
  float milliseconds = 0;
  int status = CHECK(cuda, err, event_record, (cuda->start, cuda->stream));
  if (!status) status = run(context, err);
  if (!status) status = CHECK(cuda, err, event_record, (cuda->stop, cuda->stream));
  if (!status) status = CHECK(cuda, err, event_sync, (cuda->stop));
  if (!status) status = CHECK(cuda, err, event_elapsed, (&milliseconds, cuda->start, cuda->stop));
  *seconds = (double)milliseconds / 1000;
  return status;
}

static int cuda_time(struct device *device, int (*run)(void *context, cugen_error *err), void *context,
                     double *seconds, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *seconds = 0;
  int status = enter(cuda, err);
  return status ? status : leave(cuda, time_on_stream(cuda, run, context, seconds, err));
}

static void cuda_clock(struct device *device, struct device_clock *out) {
  struct cuda_device *cuda = cuda_of(device);
  *out = (struct device_clock){0};
  if (!cuda->nvml_tried) {
    cuda->nvml_tried = true;
    if (nvml_open(cuda->toolkit, &cuda->nvml, NULL) == CUGEN_OK)
      nvml_find(cuda->nvml, device->description.uuid, &cuda->nvml_device, NULL);
  }
  if (!cuda->nvml_device) return;
  struct nvml_state state;
  struct text why = {0};
  nvml_read(cuda->nvml, cuda->nvml_device, &state);
  nvml_throttle_text(state.throttle, &why);
  out->sm_mhz = state.sm_mhz;
  out->power_watts = state.power_milliwatts / 1000;
  size_t length = why.length < sizeof out->throttle ? why.length : sizeof out->throttle - 1;
  memcpy(out->throttle, text_get(&why), length);
  text_free(&why);
}

const struct device_ops cuda_device_ops = {
    .kind = "cuda",
    .capabilities = DEVICE_EXECUTES_ON_GPU | DEVICE_OCCUPANCY | DEVICE_CONCURRENT,
    .count = cuda_count,
    .describe = cuda_describe,
    .compile = cuda_compile,
    .open = cuda_open,
    .close = cuda_close,
    .alloc = cuda_alloc,
    .free = cuda_free,
    .alloc_pitched = cuda_alloc_pitched,
    .memory_check = cuda_memory_check,
    .upload = cuda_upload,
    .download = cuda_download,
    .copy_2d = cuda_copy_2d,
    .fill = cuda_fill,
    .load = cuda_load,
    .unload = cuda_unload,
    .entry = cuda_entry,
    .carve = cuda_carve,
    .symbol = cuda_symbol,
    .texture_make = cuda_texture_make,
    .texture_free = cuda_texture_free,
    .texture_update = cuda_texture_update,
    .tensor_make = cuda_tensor_make,
    .active_blocks = cuda_active_blocks,
    .active_clusters = cuda_active_clusters,
    .launch = cuda_launch,
    .launch_on = cuda_launch_on,
    .current_context = cuda_current_context,
    .sync = cuda_sync,
    .time = cuda_time,
    .clock = cuda_clock,
    .parameters = cuda_parameters,
};
