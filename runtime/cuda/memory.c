/* Memory of the cuda backend: allocating, guarding, copying and filling. */
#include <stdlib.h>

#include "cuda_device.h"

/* ---- Memory: allocating each kind ----------------------------------------------------------- */

/* Allocates `bytes` bytes and gives the addresses for the device and for the host; *host stays
   NULL if the host has no access. */
typedef int memory_maker(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device, void **host,
                         cugen_error *err);

static int memory_make_device(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device,
                              void **host, cugen_error *err) {
  (void)host;
  return CHECK(cuda, err, mem_alloc, (device, bytes));
}

/* With unified addressing (every 64-bit Linux) kernels use pinned memory by its host address. */
static int memory_make_pinned(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device,
                              void **host, cugen_error *err) {
  int status = CHECK(cuda, err, host_alloc, (host, bytes, CU_MEMHOSTALLOC_PORTABLE));
  *device = (CUdeviceptr)(uintptr_t)*host;
  return status;
}

static int memory_make_mapped(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device,
                              void **host, cugen_error *err) {
  int status = CHECK(cuda, err, host_alloc, (host, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
  if (status) return status;
  status = CHECK(cuda, err, host_device_pointer, (device, *host, 0));
  if (status) cuda->driver->host_free(*host);
  return status;
}

static int memory_make_managed(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device,
                               void **host, cugen_error *err) {
  int status = CHECK(cuda, err, mem_alloc_managed, (device, bytes, CU_MEM_ATTACH_GLOBAL));
  *host = status ? NULL : (void *)(uintptr_t)*device;
  return status;
}

enum { PAGE = 4096 };

static int memory_make_registered(struct cuda_device *cuda, size_t bytes, CUdeviceptr *device,
                                  void **host, cugen_error *err) {
  const size_t whole = (bytes + PAGE - 1) / PAGE * PAGE;
  void *memory = aligned_alloc(PAGE, whole);
  if (!memory) return error_memory(err);
  int status = CHECK(cuda, err, host_register,
                     (memory, whole, CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP));
  if (!status) {
    status = CHECK(cuda, err, host_device_pointer, (device, memory, 0));
    if (status) cuda->driver->host_unregister(memory);
  }
  if (status)
    free(memory);
  else
    *host = memory;
  return status;
}

static void free_device(const struct driver *driver, void *base) {
  driver->mem_free(address(base));
}

static void memory_free_host(const struct driver *driver, void *base) {
  driver->host_free(base);
}

static void memory_free_registered(const struct driver *driver, void *base) {
  driver->host_unregister(base);
  free(base);
}

static const struct {
  memory_maker *make;
  void (*free)(const struct driver *driver, void *base);
  bool host; /* base is a host address */
} memory_kinds[MEMORY_KIND_COUNT] = {
    [MEMORY_DEVICE] = {memory_make_device, free_device, false},
    [MEMORY_PINNED] = {memory_make_pinned, memory_free_host, true},
    [MEMORY_MAPPED] = {memory_make_mapped, memory_free_host, true},
    [MEMORY_MANAGED] = {memory_make_managed, free_device, false},
    [MEMORY_REGISTERED] = {memory_make_registered, memory_free_registered, true}};

/* ---- Memory: guards ------------------------------------------------------------------------- */

/* Guard zones before and after a buffer. Their 16-bit pattern is a NaN of every float type, so that
   a read past a float buffer can show in the result; memory_check detects a write of any other
   value. */
enum { GUARD_BYTES = 64 * 1024, GUARD_PATTERN = 0x7fff };

/* Returns the offset of the zone behind the buffer in the whole allocation. The pattern of that
   zone begins at an even offset: for a buffer of odd size, at the buffer's last byte. */
static size_t tail_offset(const struct memory *memory) {
  return GUARD_BYTES + memory->bytes;
}

static int write_guards(struct cuda_device *cuda, const struct memory *memory, cugen_error *err) {
  CUdeviceptr base = address(memory->device) - GUARD_BYTES;
  size_t tail = tail_offset(memory) & ~(size_t)1;
  int status = CHECK(cuda, err, set_16, (base, GUARD_PATTERN, GUARD_BYTES / 2, cuda->stream));
  if (!status)
    status = CHECK(cuda, err, set_16,
                   (base + tail, GUARD_PATTERN, (memory->base_bytes - tail) / 2, cuda->stream));
  return status ? status : sync_stream(cuda, err);
}

static int check_zone(struct cuda_device *cuda, const struct memory *memory, bool before,
                      unsigned char *zone, cugen_error *err) {
  size_t offset = before ? 0 : tail_offset(memory);
  size_t length = before ? GUARD_BYTES : memory->base_bytes - offset, nearest = 0;
  CUdeviceptr from = address(memory->device) - GUARD_BYTES + offset;
  int status = CHECK(cuda, err, copy, (address(zone), from, length, cuda->stream));
  if (!status) status = sync_stream(cuda, err);
  if (status) return status;
  static const unsigned char pattern[] = {GUARD_PATTERN & 0xff, GUARD_PATTERN >> 8};
  size_t damaged = 0;
  for (size_t i = 0; i < length; i++) { /* from the byte nearest to the buffer on */
    size_t at = before ? length - 1 - i : i;
    if (zone[at] == pattern[(offset + at) % 2]) continue;
    if (!damaged++) nearest = i;
  }
  if (!damaged) return CUGEN_OK;
  return error_set_cause(err, CUGEN_ERROR_WRONG, CUGEN_CAUSE_BOUNDS,
                         "written out of bounds: byte %zu %s of a buffer of %zu bytes (%zu of the "
                         "guard's bytes changed)",
                         before ? nearest + 1 : nearest,
                         before ? "before the start" : "past the end", memory->bytes, damaged);
}

static bool is_guarded(const struct memory *memory) {
  return memory->base_bytes > memory->bytes && memory->base_bytes >= 2 * (size_t)GUARD_BYTES;
}

/* The pattern needs no rotation, because allocations begin at addresses divisible by 8. */
bool cuda_guards(const struct memory *memory, struct memory_guards *out) {
  char *const at = memory->device;
  *out = (struct memory_guards){.before = at - GUARD_BYTES,
                                .after = at + memory->bytes,
                                .before_bytes = GUARD_BYTES,
                                .pattern = GUARD_PATTERN * UINT64_C(0x0001000100010001)};
  if (!is_guarded(memory)) return false;
  out->after_bytes = memory->base_bytes - tail_offset(memory);
  return true;
}

int cuda_memory_check(struct device *device, const struct memory *memory, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  if (!is_guarded(memory)) return CUGEN_OK;
  unsigned char *zone = malloc(memory->base_bytes - memory->bytes);
  if (!zone) return error_memory(err);
  int status = enter(cuda, err);
  if (!status) {
    status = check_zone(cuda, memory, true, zone, err);
    if (!status) status = check_zone(cuda, memory, false, zone, err);
    cugen_error other;
    if (status == CUGEN_ERROR_WRONG && write_guards(cuda, memory, &other))
      status = error_copy(err, &other);
    leave(cuda, status);
  }
  free(zone);
  return status;
}

/* ---- Memory: allocating and freeing --------------------------------------------------------- */

int cuda_alloc(struct device *device, enum memory_kind kind, size_t bytes, bool guard,
               struct memory *out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  *out = (struct memory){0};
  if (bytes > SIZE_MAX / 2)
    return error_set(err, CUGEN_ERROR_MEMORY, "cannot allocate %zu bytes", bytes);
  CUdeviceptr at = 0;
  void *host = NULL;
  size_t wanted = bytes ? bytes : 1; /* the driver refuses to allocate 0 bytes */
  size_t total = guard ? wanted + wanted % 2 + 2 * (size_t)GUARD_BYTES : wanted;
  size_t front = guard ? GUARD_BYTES : 0;
  int status = enter(cuda, err);
  if (status) return status;
  if ((status = memory_kinds[kind].make(cuda, total, &at, &host, err))) {
    error_prefix(err, "%s: cannot allocate %zu bytes of %s memory", device->description.id, total,
                 memory_kind_names[kind]);
    return leave(cuda, status);
  }
  *out = (struct memory){.kind = kind,
                         .device = (void *)(uintptr_t)(at + front),
                         .host = host ? (char *)host + front : NULL,
                         .bytes = bytes,
                         .base = memory_kinds[kind].host ? host : (void *)(uintptr_t)at,
                         .base_bytes = total};
  if (guard && (status = write_guards(cuda, out, err))) {
    memory_kinds[kind].free(cuda->driver, out->base);
    *out = (struct memory){0};
  }
  return leave(cuda, status);
}

void cuda_free(struct device *device, struct memory *memory) {
  struct cuda_device *cuda = cuda_of(device);
  if (memory->base) {
    /* frees even if the context cannot be entered */
    const bool entered = enter(cuda, NULL) == CUGEN_OK;
    memory_kinds[memory->kind].free(cuda->driver, memory->base);
    if (entered) leave(cuda, CUGEN_OK);
  }
  *memory = (struct memory){0};
}

enum { PITCH_ELEMENT = 16 }; /* bytes of a kernel's widest access, for which rows are aligned */

int cuda_alloc_pitched(struct device *device, size_t width, size_t rows, size_t *pitch,
                       struct memory *out, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  CUdeviceptr base = 0;
  *out = (struct memory){0};
  *pitch = 0;
  int status = enter(cuda, err);
  if (status) return status;
  status =
      leave(cuda, CHECK(cuda, err, mem_alloc_pitch, (&base, pitch, width, rows, PITCH_ELEMENT)));
  if (status) return status;
  void *address_of = (void *)(uintptr_t)base;
  *out = (struct memory){.kind = MEMORY_DEVICE, .device = address_of, .base = address_of};
  out->bytes = out->base_bytes = *pitch * rows;
  return CUGEN_OK;
}

/* ---- Memory: copying ------------------------------------------------------------------------ */

/* Copies in the order of the stream. The driver tells host from device memory by the addresses. */
static int copy_bytes(struct device *device, void *to, const void *from, size_t bytes,
                      void *const *stream, bool wait, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = bytes ? enter(cuda, err) : CUGEN_OK;
  if (status || !bytes) return status;
  status =
      CHECK(cuda, err, copy, (address(to), address(from), bytes, stream ? *stream : cuda->stream));
  if (!status && wait) status = sync_stream(cuda, err);
  return leave(cuda, status);
}

int cuda_copy(struct device *device, void *to, const void *from, size_t bytes, void *const *stream,
              cugen_error *err) {
  return copy_bytes(device, to, from, bytes, stream, false, err);
}

int cuda_upload(struct device *device, void *to_device, const void *from_host, size_t bytes,
                cugen_error *err) {
  return copy_bytes(device, to_device, from_host, bytes, NULL, true, err);
}

int cuda_download(struct device *device, void *to_host, const void *from_device, size_t bytes,
                  cugen_error *err) {
  return copy_bytes(device, to_host, from_device, bytes, NULL, true, err);
}

static int fill_bytes(struct cuda_device *cuda, void *to_device, unsigned char byte, size_t bytes,
                      bool wait, cugen_error *err) {
  int status = bytes ? enter(cuda, err) : CUGEN_OK;
  if (status || !bytes) return status;
  status = CHECK(cuda, err, set_8, (address(to_device), byte, bytes, cuda->stream));
  if (!status && wait) status = sync_stream(cuda, err);
  return leave(cuda, status);
}

int cuda_fill(struct device *device, void *to_device, unsigned char byte, size_t bytes,
              cugen_error *err) {
  return fill_bytes(cuda_of(device), to_device, byte, bytes, true, err);
}

size_t cuda_cache_bytes(const struct device *device) {
  return (size_t)device->description.facts.l2_bytes;
}

int cuda_flush(struct device *device, const struct memory *memory, cugen_error *err) {
  return fill_bytes(cuda_of(device), memory->device, 0, memory->bytes, false, err);
}

/* Memory that the driver does not know is ordinary host memory. */
static CUmemorytype cuda_memory_type_of(struct cuda_device *cuda, const void *pointer) {
  unsigned type = 0;
  CUresult result =
      cuda->driver->pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address(pointer));
  return result == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE ? CU_MEMORYTYPE_DEVICE
                                                                : CU_MEMORYTYPE_HOST;
}

int cuda_copy_2d(struct device *device, void *to, size_t to_pitch, const void *from,
                 size_t from_pitch, size_t width, size_t rows, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  if (!width || !rows) return CUGEN_OK;
  int status = enter(cuda, err);
  if (status) return status;
  CUDA_MEMCPY2D copy = {.srcMemoryType = cuda_memory_type_of(cuda, from),
                        .srcHost = from,
                        .srcDevice = address(from),
                        .srcPitch = from_pitch,
                        .dstMemoryType = cuda_memory_type_of(cuda, to),
                        .dstHost = to,
                        .dstDevice = address(to),
                        .dstPitch = to_pitch,
                        .WidthInBytes = width,
                        .Height = rows};
  status = sync_stream(cuda, err); /* the copy runs on the default stream */
  if (!status) status = CHECK(cuda, err, copy_2d, (&copy));
  if (!status) status = CHECK(cuda, err, context_sync, ());
  return leave(cuda, status);
}
