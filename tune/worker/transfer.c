/* The kinds of host memory as rows of one table; see transfer.h. Times are taken by the host's
   clock. */
#include "transfer.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/system.h"
#include "gpu_lock.h"
#include "runtime/cuda/driver.h"
#include "runtime/devices.h"

enum { MOST_SAMPLES = 21, LEAST_SAMPLES = 3, PAGE = 4096, THREADS = 256, BLOCKS_A_SM = 8 };
/* 2-D copies have 255 floats in a row. 3-D copies have 15 rows in a slice of 16, as for an array
   with a border. */
enum {
  ROW_BYTES = 255 * 4,
  SLICE_ROWS = 15,
  SLICE_PITCH = 16,
  SLICE_BYTES = SLICE_ROWS * ROW_BYTES
};

/* Least seconds of a batch. */
static const double shortest_batch = 1e-3;
static const size_t most_compared = (size_t)16 << 20;

const char *const transfer_kind_names[TRANSFER_KIND_COUNT + 1] = {
    "pageable", "registered", "pinned",  "combined", "pitched", "pitched3d",
    "default",  "mapped",     "managed", "prefetch", NULL};

struct transfer {
  const struct driver *driver;
  const struct transfer_options *options;
  CUdevice handle;
  int sm_count;
  CUstream stream;
  CUfunction copier;
  CUdeviceptr device;
  size_t pitch;     /* row pitch of a 2-D or 3-D copy; 0 for other copies */
  bool boxes;       /* the copy is 3-D */
  bool to_host;     /* the direction that is measured */
  void *host;       /* memory of the kind that is measured */
  CUdeviceptr seen; /* address of `host` for kernels, if they can reach it */
  unsigned char *compared;
  size_t bytes; /* bytes of one transfer */
};

#define CHECK(t, err, member, arguments) DRIVER_CALL((t)->driver, err, member, arguments)

typedef int transfer_step(struct transfer *t, cugen_error *err);

static int transfer_wait_for_all(struct transfer *t, cugen_error *err) {
  return CHECK(t, err, stream_sync, (t->stream));
}

/* ---- Moving: what is timed, and what goes before it ----------------------------------------- */

/* Copies with cuMemcpyHtoDAsync or cuMemcpyDtoHAsync. */
static int copy_by_direction(struct transfer *t, cugen_error *err) {
  return t->to_host ? CHECK(t, err, copy_to_host, (t->host, t->device, t->bytes, t->stream))
                    : CHECK(t, err, copy_to_device, (t->device, t->host, t->bytes, t->stream));
}

/* With unified addressing, the driver tells host from device by the address. */
static int copy_by_address(struct transfer *t, cugen_error *err) {
  const CUdeviceptr host = (CUdeviceptr)(uintptr_t)t->host;
  return CHECK(t, err, copy,
               (t->to_host ? host : t->device, t->to_host ? t->device : host, t->bytes, t->stream));
}

struct box {
  size_t width, height, depth; /* in bytes, rows and slices */
};

static struct box whole_rows(const struct transfer *t) {
  size_t width = t->bytes < ROW_BYTES ? t->bytes : ROW_BYTES;
  return (struct box){width, t->bytes / width, 1};
}

static struct box whole_slices(const struct transfer *t) {
  struct box rows = whole_rows(t);
  size_t height = rows.height < SLICE_ROWS ? rows.height : SLICE_ROWS;
  return (struct box){rows.width, height, rows.height / height};
}

/* Copies one slice of the box; all rows of a 2-D box are slice 0. */
static int copy_slice(struct transfer *t, const struct box *box, size_t slice, cugen_error *err) {
  const bool to_host = t->to_host;
  unsigned char *host = (unsigned char *)t->host + slice * box->height * box->width;
  CUdeviceptr device = t->device + slice * SLICE_PITCH * t->pitch;
  CUDA_MEMCPY2D copy = {.srcMemoryType = to_host ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                        .srcHost = host,
                        .srcDevice = device,
                        .srcPitch = to_host ? t->pitch : box->width,
                        .dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                        .dstHost = host,
                        .dstDevice = device,
                        .dstPitch = to_host ? box->width : t->pitch,
                        .WidthInBytes = box->width,
                        .Height = box->height};
  return CHECK(t, err, copy_2d_async, (&copy, t->stream));
}

static int transfer_copy_rows(struct transfer *t, cugen_error *err) {
  struct box box = whole_rows(t);
  return copy_slice(t, &box, 0, err);
}

static int copy_box(struct transfer *t, cugen_error *err) {
  const bool to_host = t->to_host;
  struct box box = whole_slices(t);
  CUDA_MEMCPY3D copy = {.srcMemoryType = to_host ? CU_MEMORYTYPE_DEVICE : CU_MEMORYTYPE_HOST,
                        .srcHost = t->host,
                        .srcDevice = t->device,
                        .srcPitch = to_host ? t->pitch : box.width,
                        .srcHeight = to_host ? SLICE_PITCH : box.height,
                        .dstMemoryType = to_host ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE,
                        .dstHost = t->host,
                        .dstDevice = t->device,
                        .dstPitch = to_host ? box.width : t->pitch,
                        .dstHeight = to_host ? box.height : SLICE_PITCH,
                        .WidthInBytes = box.width,
                        .Height = box.height,
                        .Depth = box.depth};
  return CHECK(t, err, copy_3d, (&copy, t->stream));
}

/* A kernel reads or writes the host's memory. */
static int run_copier(struct transfer *t, cugen_error *err) {
  CUdeviceptr to = t->to_host ? t->seen : t->device, from = t->to_host ? t->device : t->seen;
  long long bytes = (long long)t->bytes;
  void *parameters[] = {&to, &from, &bytes};
  size_t wanted = t->bytes / 64 / THREADS + 1, most = (size_t)t->sm_count * BLOCKS_A_SM;
  unsigned blocks = (unsigned)(wanted < most ? wanted : most);
  return CHECK(t, err, launch,
               (t->copier, blocks, 1, 1, THREADS, 1, 1, 0, t->stream, parameters, NULL));
}

/* Has the driver move the pages to the target of the transfer. */
static int transfer_fetch(struct transfer *t, cugen_error *err) {
  return CHECK(t, err, prefetch,
               (t->seen, t->bytes, t->to_host ? CU_DEVICE_CPU : t->handle, t->stream));
}

/* The host reads a byte of each page, which brings the page to the host. If the data move to the
   device, the host writes the byte back, so that the host's copy is the only one. */
static int touch(struct transfer *t, cugen_error *err) {
  int status = transfer_wait_for_all(t, err);
  volatile unsigned char *bytes = t->host;
  for (size_t at = 0; at < t->bytes && !status; at += PAGE) {
    unsigned char byte = bytes[at];
    if (!t->to_host) bytes[at] = byte;
  }
  return status;
}

/* ---- Memory --------------------------------------------------------------------------------- */

/* Allocates and writes the memory, so that its pages exist. */
static int make_pageable(struct transfer *t, size_t bytes, cugen_error *err) {
  t->host = aligned_alloc(PAGE, (bytes + PAGE - 1) / PAGE * PAGE);
  if (!t->host) return error_memory(err);
  memset(t->host, 1, bytes);
  return CUGEN_OK;
}

/* Allocates pageable memory, and registers it as an application does with memory that it has. The
   driver locks whole pages. */
static int transfer_make_registered(struct transfer *t, size_t bytes, cugen_error *err) {
  int status = make_pageable(t, bytes, err);
  if (!status) status = CHECK(t, err, host_register, (t->host, bytes, CU_MEMHOSTREGISTER_PORTABLE));
  if (!status) return CUGEN_OK;
  free(t->host);
  t->host = NULL;
  return status;
}

static int transfer_make_pinned(struct transfer *t, size_t bytes, cugen_error *err) {
  return CHECK(t, err, host_alloc, (&t->host, bytes, CU_MEMHOSTALLOC_PORTABLE));
}

static int make_combined(struct transfer *t, size_t bytes, cugen_error *err) {
  return CHECK(t, err, host_alloc, (&t->host, bytes, CU_MEMHOSTALLOC_WRITECOMBINED));
}

static int transfer_make_mapped(struct transfer *t, size_t bytes, cugen_error *err) {
  int status = CHECK(t, err, host_alloc, (&t->host, bytes, CU_MEMHOSTALLOC_DEVICEMAP));
  return status ? status : CHECK(t, err, host_device_pointer, (&t->seen, t->host, 0));
}

static int transfer_make_managed(struct transfer *t, size_t bytes, cugen_error *err) {
  int status = CHECK(t, err, mem_alloc_managed, (&t->seen, bytes, CU_MEM_ATTACH_GLOBAL));
  t->host = status ? NULL : (void *)(uintptr_t)t->seen;
  return status;
}

static void free_pageable(struct transfer *t) {
  free(t->host);
}

static void transfer_free_registered(struct transfer *t) {
  t->driver->host_unregister(t->host);
  free(t->host);
}

static void transfer_free_host(struct transfer *t) {
  t->driver->host_free(t->host);
}

static void free_managed(struct transfer *t) {
  t->driver->mem_free(t->seen);
}

/* ---- The kinds ------------------------------------------------------------------------------ */

/* One direction of a kind. */
struct way {
  /* Untimed step before each transfer; NULL: the transfer can be repeated without one. */
  transfer_step *prepare;
  transfer_step *move;
  /* Step that copies the moved data to device memory for comparison; NULL: the data is in place. */
  transfer_step *land;
};

static const struct kind {
  int (*make)(struct transfer *t, size_t bytes, cugen_error *err);
  void (*free)(struct transfer *t);
  CUdevice_attribute needs; /* attribute that the device needs; 0: none */
  const char *without;      /* reason given if the attribute is missing */
  bool kernel, prefetch;    /* moving needs options.copier; moving needs the driver's prefetch */
  struct way ways[2];       /* to the device, to the host */
} kinds[TRANSFER_KIND_COUNT] = {
    [TRANSFER_PAGEABLE] = {.make = make_pageable,
                           .free = free_pageable,
                           .ways = {{.move = copy_by_direction}, {.move = copy_by_direction}}},
    [TRANSFER_REGISTERED] = {.make = transfer_make_registered,
                             .free = transfer_free_registered,
                             .needs = CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED,
                             .without = "the driver does not register host memory",
                             .ways = {{.move = copy_by_direction}, {.move = copy_by_direction}}},
    [TRANSFER_PINNED] = {.make = transfer_make_pinned,
                         .free = transfer_free_host,
                         .ways = {{.move = copy_by_direction}, {.move = copy_by_direction}}},
    [TRANSFER_COMBINED] = {.make = make_combined,
                           .free = transfer_free_host,
                           .ways = {{.move = copy_by_direction}, {.move = copy_by_direction}}},
    [TRANSFER_PITCHED] = {.make = transfer_make_pinned,
                          .free = transfer_free_host,
                          .ways = {{.move = transfer_copy_rows}, {.move = transfer_copy_rows}}},
    [TRANSFER_PITCHED_3D] = {.make = transfer_make_pinned,
                             .free = transfer_free_host,
                             .ways = {{.move = copy_box}, {.move = copy_box}}},
    [TRANSFER_DEFAULT] = {.make = transfer_make_pinned,
                          .free = transfer_free_host,
                          .needs = CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING,
                          .without = "the device has no unified addressing",
                          .ways = {{.move = copy_by_address}, {.move = copy_by_address}}},
    [TRANSFER_MAPPED] = {.make = transfer_make_mapped,
                         .free = transfer_free_host,
                         .needs = CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY,
                         .without = "the device cannot map the host's memory",
                         .kernel = true,
                         .ways = {{.move = run_copier}, {.move = run_copier}}},
    [TRANSFER_MANAGED] = {.make = transfer_make_managed,
                          .free = free_managed,
                          .needs = CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY,
                          .without = "the device has no managed memory",
                          .kernel = true,
                          .ways = {{touch, run_copier, NULL}, {run_copier, touch, NULL}}},
    [TRANSFER_PREFETCH] = {.make = transfer_make_managed,
                           .free = free_managed,
                           .needs = CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS,
                           .without =
                               "this device and operating system do not prefetch managed memory",
                           .kernel = true,
                           .prefetch = true,
                           .ways = {{touch, transfer_fetch, run_copier},
                                    {run_copier, transfer_fetch, NULL}}},
};

/* Returns the reason why the kind cannot be measured here, or NULL. */
static const char *why_not(const struct transfer *t, const struct kind *kind) {
  int able = 1;
  if (kind->kernel && !t->copier)
    return t->options->why ? t->options->why : "there is no kernel to move it with";
  if (kind->prefetch && !t->driver->prefetch) return "the driver does not prefetch";
  if (kind->needs && (t->driver->device_attribute(&able, kind->needs, t->handle) || !able))
    return kind->without;
  return NULL;
}

/* ---- Comparing what arrives ----------------------------------------------------------------- */

/* Different seeds give different values in every byte. */
static void write_pattern(unsigned char *to, size_t count, unsigned seed) {
  for (size_t i = 0; i < count; i++) to[i] = (unsigned char)(i * 2654435761u >> 11 ^ seed);
}

/* Copies a box slice by slice, so that other calls than copy_box check what copy_box moves. */
static int copy_pitched(struct transfer *t, cugen_error *err) {
  struct box box = t->boxes ? whole_slices(t) : whole_rows(t);
  int status = CUGEN_OK;
  for (size_t slice = 0; slice < box.depth && !status; slice++)
    status = copy_slice(t, &box, slice, err);
  return status;
}

/* Copies the first bytes between device memory, pitched or not, and `compared`. */
static int copy_compared(struct transfer *t, size_t count, bool to_host, cugen_error *err) {
  struct transfer other = *t;
  other.bytes = count;
  other.host = t->compared;
  other.to_host = to_host;
  int status = t->pitch ? copy_pitched(&other, err) : copy_by_direction(&other, err);
  return status ? status : transfer_wait_for_all(t, err);
}

static int move_once(struct transfer *t, const struct way *way, cugen_error *err) {
  int status = way->prepare ? way->prepare(t, err) : CUGEN_OK;
  if (!status) status = way->move(t, err);
  if (!status && way->land) status = way->land(t, err);
  return status ? status : transfer_wait_for_all(t, err);
}

static bool is_pitched(enum transfer_kind kind) {
  return kind == TRANSFER_PITCHED || kind == TRANSFER_PITCHED_3D;
}

/* Rounds the size down to whole slices or rows, if it is large enough for one of them. */
static size_t moved_bytes(enum transfer_kind kind, size_t size) {
  if (kind == TRANSFER_PITCHED_3D && size > SLICE_BYTES) return size / SLICE_BYTES * SLICE_BYTES;
  return is_pitched(kind) && size > ROW_BYTES ? size / ROW_BYTES * ROW_BYTES : size;
}

/* Fills source and target with different patterns, transfers, and compares. Of a transfer of more
   than most_compared bytes, the beginning is compared. */
static int transfer_prove(struct transfer *t, const struct kind *kind, cugen_error *err) {
  const bool to_host = t->to_host;
  const size_t most = t->bytes < most_compared ? t->bytes : most_compared,
               count = moved_bytes((enum transfer_kind)(kind - kinds), most);
  write_pattern(t->compared, count, to_host ? 0xa5 : 0);
  int status = copy_compared(t, count, false, err);
  write_pattern(t->host, count, to_host ? 0 : 0xa5);
  if (!status) status = move_once(t, &kind->ways[to_host], err);
  if (!status && !to_host) status = copy_compared(t, count, true, err);
  if (status || memcmp(t->host, t->compared, count) == 0) return status;
  return error_set(
      err, CUGEN_ERROR_WRONG, "%s memory: what arrived %s is not what was sent (%zu bytes)",
      transfer_kind_names[kind - kinds], to_host ? "at the host" : "at the device", t->bytes);
}

/* ---- Timing --------------------------------------------------------------------------------- */

/* Times are of the moves alone, but preparing takes time as well. So the wall clock limits the
   number of samples. */
static int transfer_take_samples(struct transfer *t, const struct way *way, long repeats,
                                 struct measurement *out, cugen_error *err) {
  double times[MOST_SAMPLES], begin = clock_seconds();
  int taken = 0, status = CUGEN_OK;
  while (!status && taken < MOST_SAMPLES &&
         (taken < LEAST_SAMPLES || clock_seconds() - begin < t->options->seconds / 2)) {
    if (way->prepare) status = way->prepare(t, err);
    if (!status) status = transfer_wait_for_all(t, err);
    const double start = clock_seconds();
    for (long i = 0; i < repeats && !status; i++) status = way->move(t, err);
    if (!status) status = transfer_wait_for_all(t, err);
    times[taken++] = (clock_seconds() - start) / (double)repeats;
  }
  if (!status) measure_summarise(times, taken, out);
  return status;
}

/* Fills in the times of a row: row->alone is the time of single transfers, the other times are
   those of many transfers in a row, or of single ones if each needs preparing. */
static int measure_row(struct transfer *t, const struct kind *kind, cugen_transfer_row *row,
                       cugen_error *err) {
  const struct way *way = &kind->ways[row->to_host];
  struct measurement many = {0};
  int status = transfer_prove(t, kind, err);
  if (!status) status = move_once(t, way, err);
  if (!status) status = transfer_take_samples(t, way, 1, &many, err);
  row->alone = many.seconds;
  const long repeats = (long)ceil(shortest_batch / fmax(row->alone, 1e-7));
  if (!status && !way->prepare) status = transfer_take_samples(t, way, repeats, &many, err);
  row->seconds = many.seconds;
  row->seconds_min = many.minimum;
  row->seconds_p20 = many.p20;
  row->seconds_p80 = many.p80;
  row->samples = many.samples;
  return status;
}

static size_t largest_of(const struct transfer_options *options) {
  size_t largest = 0;
  for (size_t i = 0; i < options->size_count; i++)
    if (options->sizes[i] > largest) largest = options->sizes[i];
  return largest;
}

static int measure_sizes(struct transfer *t, enum transfer_kind kind, cugen_error *err) {
  const struct transfer_options *options = t->options;
  int status = CUGEN_OK;
  for (int to_host = 0; to_host < 2; to_host++)
    for (size_t i = 0; i < options->size_count && !status; i++) {
      t->to_host = to_host;
      t->bytes = moved_bytes(kind, options->sizes[i]);
      cugen_transfer_row row = {.memory = transfer_kind_names[kind],
                                .to_host = to_host,
                                .size = (int64_t)options->sizes[i],
                                .bytes = (int64_t)t->bytes};
      status = measure_row(t, &kinds[kind], &row, err);
      if (!status) status = options->done(&row, options->context);
    }
  return status;
}

/* ---- Setting up, and leaving nothing behind ------------------------------------------------- */

static int transfer_make_device(struct transfer *t, enum transfer_kind kind, size_t bytes,
                                cugen_error *err) {
  t->pitch = 0;
  t->boxes = kind == TRANSFER_PITCHED_3D;
  if (!is_pitched(kind)) return CHECK(t, err, mem_alloc, (&t->device, bytes));
  size_t width = bytes && bytes < ROW_BYTES ? bytes : ROW_BYTES, rows = (bytes + width - 1) / width;
  if (t->boxes) rows = (rows + SLICE_ROWS - 1) / SLICE_ROWS * SLICE_PITCH;
  return CHECK(t, err, mem_alloc_pitch, (&t->device, &t->pitch, width, rows, 4));
}

static int measure_kind(struct transfer *t, enum transfer_kind which, cugen_error *err) {
  const struct kind *kind = &kinds[which];
  const cugen_transfer_row absent = {.memory = transfer_kind_names[which],
                                     .unavailable = why_not(t, kind)};
  if (absent.unavailable) return t->options->done(&absent, t->options->context);
  size_t bytes = largest_of(t->options);
  t->host = NULL;
  t->seen = t->device = 0;
  int status = transfer_make_device(t, which, bytes, err);
  if (!status) status = kind->make(t, bytes, err);
  if (status == CUGEN_ERROR_MEMORY)
    error_append(err,
                 "\nfor %zu bytes of %s memory on the host, and as many on the device: leave out "
                 "the large sizes",
                 bytes, transfer_kind_names[which]);
  if (!status) status = measure_sizes(t, which, err);
  if (t->host) kind->free(t);
  if (t->device) t->driver->mem_free(t->device);
  return status;
}

static int measure_all(struct transfer *t, cugen_error *err) {
  const struct compiled *copier = t->options->copier;
  CUmodule module = NULL;
  int status = CHECK(t, err, stream_create, (&t->stream, CU_STREAM_NON_BLOCKING));
  if (!status && copier) status = CHECK(t, err, module_load, (&module, copier->image));
  if (!status && copier)
    status = CHECK(t, err, module_function, (&t->copier, module, copier->entries[0]));
  for (int kind = 0; kind < TRANSFER_KIND_COUNT && !status; kind++)
    if (t->options->kinds[kind]) status = measure_kind(t, (enum transfer_kind)kind, err);
  if (module) t->driver->module_unload(module);
  if (t->stream) t->driver->stream_destroy(t->stream);
  return status;
}

static int measure_locked(struct transfer *t, cugen_error *err) {
  CUcontext context, popped;
  int status = CHECK(t, err, context_retain, (&context, t->handle));
  if (status) return status;
  status = CHECK(t, err, context_push, (context));
  if (!status) {
    status = measure_all(t, err);
    t->driver->context_pop(&popped);
  }
  t->driver->context_release(t->handle);
  return status;
}

size_t transfer_count(const struct transfer_options *options) {
  size_t count = 0;
  for (int kind = 0; kind < TRANSFER_KIND_COUNT; kind++)
    if (options->kinds[kind]) count += 2 * options->size_count;
  return count;
}

int transfer_measure(const struct toolkit *toolkit, int ordinal,
                     const struct transfer_options *options, cugen_error *err) {
  struct transfer t = {.options = options};
  struct device_description description;
  size_t largest = largest_of(options);
  t.compared = malloc(1 + (largest < most_compared ? largest : most_compared));
  if (!t.compared) return error_memory(err);
  int status = cuda_device_ops.describe(toolkit, ordinal, &description, err);
  if (!status) status = driver_open(toolkit, &t.driver, err);
  if (!status) status = CHECK(&t, err, device_get, (&t.handle, ordinal));
  if (!status) {
    t.sm_count = (int)description.facts.sm_count;
    const int lock = gpu_lock_open(&description);
    gpu_lock_take(lock);
    status = measure_locked(&t, err);
    gpu_lock_give(lock);
    if (lock >= 0) close(lock);
  }
  free(t.compared);
  return status;
}
