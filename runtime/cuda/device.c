/* The cuda backend: a GPU, used through the driver's primary context or through a context of the
   application, on a stream of cugen's own.

   Nothing of CUDA is linked: driver.c and nvrtc.c each have a table of functions that are found at
   run time. kernel.c loads images and launches, memory.c allocates and copies, texture.c makes
   textures and tensor maps; this file describes a device, opens it, and measures time.

   Invariants:
   - A function makes the context current for its own duration only, or expects that its caller has
   done so: an embedding application keeps its own current context.
   - Compiling needs no context and no GPU; NVRTC runs in other processes (compilers.c) if the
   request has compilers.
   - After a sticky error every call in the context fails; the process is expected to end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/device_name.h"
#include "compilers.h"
#include "cuda_device.h"
#include "library.h"
#include "nvrtc.h"
#include "runtime/devices.h"
#include "runtime/model/cubin.h"

/* ---- Describing devices --------------------------------------------------------------------- */

static int cuda_count(const struct toolkit *toolkit, cugen_error *err) {
  const struct driver *driver;
  int count = 0;
  if (driver_open(toolkit, &driver, err) || driver_check_version(driver, toolkit, err)) return 0;
  if (DRIVER_CALL(driver, err, device_count, (&count))) return 0;
  if (!count)
    error_set(err, CUGEN_ERROR_DEVICE,
              "the CUDA driver is there but sees no GPU: look at nvidia-smi");
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

static int ask_attribute(const struct driver *driver, CUdevice handle, CUdevice_attribute attribute,
                         int64_t *out, cugen_error *err) {
  int value = 0;
  int status = DRIVER_CALL(driver, err, device_attribute, (&value, attribute, handle));
  *out = value;
  return status;
}

static int ask_facts(const struct driver *driver, CUdevice handle, struct device_facts *out,
                     cugen_error *err) {
  int64_t *facts = (int64_t *)out; /* DEVICE_FACT_COUNT integers in the enum's order */
  int64_t major = 0, minor = 0;
  size_t memory = 0;
  int status =
      ask_attribute(driver, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major, err);
  if (!status)
    status =
        ask_attribute(driver, handle, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor, err);
  if (!status) status = DRIVER_CALL(driver, err, device_memory, (&memory, handle));
  for (size_t i = 0; i < sizeof fact_sources / sizeof *fact_sources && !status; i++)
    status =
        ask_attribute(driver, handle, fact_sources[i].attribute, facts + fact_sources[i].fact, err);
  out->compute_capability = 10 * major + minor;
  out->architecture_specific = out->compute_capability >= 90; /* 'a' targets begin with sm_90a */
  out->memory_bytes = (int64_t)memory;
  out->is_gpu = 1;
  return status;
}

static int describe_handle(const struct driver *driver, CUdevice handle, int ordinal,
                           struct device_description *out, cugen_error *err) {
  CUuuid uuid = {{0}};
  int status = DRIVER_CALL(driver, err, device_name, (out->name, sizeof out->name, handle));
  if (!status) status = DRIVER_CALL(driver, err, device_uuid, (&uuid, handle));
  if (!status) status = ask_facts(driver, handle, &out->facts, err);
  if (status) return status;
  const struct device_facts *facts = &out->facts;
  /* "GPU-" and 8-4-4-4-12 digits, like NVML and nvidia-smi */
  int length = snprintf(out->uuid, sizeof out->uuid, "GPU");
  for (size_t i = 0; i < sizeof uuid.bytes; i++)
    length += snprintf(out->uuid + length, sizeof out->uuid - (size_t)length, "%s%02x",
                       i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned)(unsigned char)uuid.bytes[i]);
  snprintf(out->id, sizeof out->id, "cuda:%d", ordinal);
  snprintf(out->arch, sizeof out->arch, "sm_%d%s", (int)facts->compute_capability,
           facts->architecture_specific ? "a" : "");
  const struct device_gpu gpu = {out->name, (int)strlen(out->name), (int)facts->compute_capability,
                                 (int)facts->sm_count};
  device_gpu_print(&gpu, out->fingerprint, sizeof out->fingerprint);
  out->driver_version = driver->version;
  return CUGEN_OK;
}

static int get_handle(const struct driver *driver, int ordinal, CUdevice *out, cugen_error *err) {
  int count = 0;
  int status = DRIVER_CALL(driver, err, device_count, (&count));
  if (status) return status;
  if (ordinal < 0 || ordinal >= count)
    return error_set(err, CUGEN_ERROR_USAGE,
                     "no device 'cuda:%d': the driver sees %d GPU%s, from cuda:0 on", ordinal,
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

static int cuda_compile(const struct compile_request *request, struct compiled *out,
                        cugen_error *err) {
  const struct nvrtc *nvrtc;
  *out = (struct compiled){0};
  if (library_call_is(request->source, strlen(request->source)))
    return cuda_library_compile(request, out, err);
  if (request->compilers) return compilers_compile(request->compilers, request, out, err);
  int status = nvrtc_open(request->toolkit, &nvrtc, err);
  return status ? status : nvrtc_compile(nvrtc, request, out, err);
}

/* ---- Opening and closing -------------------------------------------------------------------- */

/* Checks that the application's context, now current, belongs to this device. */
static int check_context(struct cuda_device *cuda, cugen_error *err) {
  CUdevice handle = 0;
  int status = CHECK(cuda, err, context_device, (&handle));
  if (status || handle == cuda->handle) return status;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "the CUDA context is one of cuda:%d, the kernel is for %s: make a context of "
                   "that device current, or open cugen for the device \"cuda:%d\"",
                   (int)handle, cuda->base.description.id, (int)handle);
}

static int device_start(struct cuda_device *cuda, const struct device_options *options,
                        cugen_error *err) {
  int status = get_handle(cuda->driver, options->ordinal, &cuda->handle, err);
  if (!status)
    status =
        describe_handle(cuda->driver, cuda->handle, options->ordinal, &cuda->base.description, err);
  if (status) return status;
  if (!options->context) {
    CUcontext primary = NULL;
    status = CHECK(cuda, err, context_retain, (&primary, cuda->handle));
    if (status) return status;
    cuda->context = primary;
    cuda->primary = true;
  } else {
    cuda->context = options->context;
  }
  if ((status = enter(cuda, err))) return status;
  if (!cuda->primary) status = check_context(cuda, err);
  if (!status) status = CHECK(cuda, err, stream_create, (&cuda->stream, CU_STREAM_NON_BLOCKING));
  if (!status) status = CHECK(cuda, err, event_create, (&cuda->start, CU_EVENT_DEFAULT));
  if (!status) status = CHECK(cuda, err, event_create, (&cuda->stop, CU_EVENT_DEFAULT));
  return leave(cuda, status);
}

static void cuda_close(struct device *device) {
  struct cuda_device *cuda = cuda_of(device);
  if (!cuda) return;
  const struct driver *driver = cuda->driver;
  if (cuda->context) {
    bool entered = enter(cuda, NULL) == CUGEN_OK;
    cuda_library_shut(cuda);
    cuda_hold_close(cuda);
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
  if ((status = device_start(cuda, options, err))) {
    cuda_close(&cuda->base);
    return status;
  }
  *out = &cuda->base;
  return CUGEN_OK;
}

/* ---- Running --------------------------------------------------------------------------------- */

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

static int cuda_call(struct device *device,
                     int (*run)(void *context, void *stream, cugen_error *err), void *context,
                     cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  int status = enter(cuda, err);
  return status ? status : leave(cuda, run(context, cuda->stream, err));
}

static int cuda_time(struct device *device, bool held, int (*run)(void *context, cugen_error *err),
                     void *context, double *seconds, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  float milliseconds = 0;
  *seconds = 0;
  int status = enter(cuda, err);
  if (status) return status;
  if (held) cuda_hold(cuda);
  status = CHECK(cuda, err, event_record, (cuda->start, cuda->stream));
  if (!status) status = run(context, err);
  if (!status) status = CHECK(cuda, err, event_record, (cuda->stop, cuda->stream));
  if (held) cuda_release(cuda);
  if (!status) status = sync_stream(cuda, err); /* reports a kernel's fault */
  if (!status) status = CHECK(cuda, err, event_elapsed, (&milliseconds, cuda->start, cuda->stop));
  *seconds = (double)milliseconds / 1000;
  return leave(cuda, status);
}

/* A missing profiler is not an error. */
static void cuda_profile(struct device *device, bool begin) {
  struct cuda_device *cuda = cuda_of(device);
  CUresult (*const mark)(void) = begin ? cuda->driver->profiler_start : cuda->driver->profiler_stop;
  if (!mark || enter(cuda, NULL) != CUGEN_OK) return;
  mark();
  leave(cuda, CUGEN_OK);
}

static bool find_nvml(struct cuda_device *cuda) {
  if (!cuda->nvml_tried) {
    cuda->nvml_tried = true;
    if (nvml_open(cuda->toolkit, &cuda->nvml, NULL) == CUGEN_OK)
      nvml_find(cuda->nvml, cuda->base.description.uuid, &cuda->nvml_device, NULL);
  }
  return cuda->nvml_device != NULL;
}

static int find_and_read_energy(const struct toolkit *toolkit,
                                const struct device_description *device, double *joules,
                                cugen_error *err) {
  const struct nvml *nvml;
  struct nvml_device *handle;
  int status = nvml_open(toolkit, &nvml, err);
  if (!status) status = nvml_find(nvml, device->uuid, &handle, err);
  return status ? status : nvml_energy(nvml, handle, joules, err);
}

static int cuda_energy_check(const struct toolkit *toolkit, const struct device_description *device,
                             cugen_error *err) {
  double joules;
  return find_and_read_energy(toolkit, device, &joules, err);
}

static int cuda_energy(struct device *device, double *joules, cugen_error *err) {
  struct cuda_device *cuda = cuda_of(device);
  if (find_nvml(cuda)) return nvml_energy(cuda->nvml, cuda->nvml_device, joules, err);
  /* fails with the reason why find_nvml failed, unless NVML works by now */
  return find_and_read_energy(cuda->toolkit, &device->description, joules, err);
}

static void cuda_clock(struct device *device, struct device_clock *out) {
  struct cuda_device *cuda = cuda_of(device);
  *out = (struct device_clock){0};
  if (find_nvml(cuda)) nvml_read(cuda->nvml, cuda->nvml_device, out);
}

/* clang-format off */
#define CUDA_DEVICE(X)                                                                             \
  X(count) X(describe) X(compile) X(open) X(close) X(current_context) X(sync) X(call) X(time)      \
  X(profile) X(energy) X(energy_check) X(clock)
/* clang-format on */
#define CUDA_MEMBER(member) DEVICE_MEMBER(cuda, member),
const struct device_ops cuda_device_ops = {
    CUDA_DEVICE(CUDA_MEMBER) CUDA_FUNCTIONS(CUDA_MEMBER).kind = "cuda",
    .capabilities = DEVICE_EXECUTES_ON_GPU | DEVICE_OCCUPANCY | DEVICE_CONCURRENT,
    .needs = cubin_needs};
