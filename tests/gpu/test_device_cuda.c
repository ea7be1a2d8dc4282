/* The cuda device on a real GPU; skipped, with the reason, if there is none. The last test
   breaks the device's context, as a kernel that traps does. */

#include <dlfcn.h>

#include "runtime/compile/toolkit.h"
#include "runtime/cuda/driver.h"
#include "runtime/cuda/nvml.h"
#include "runtime/devices.h"
#include "runtime/model/occupancy.h"
#include "runtime/plan.h"
#include "tests/testing.h"

static const struct device_ops *const ops = &cuda_device_ops;
static struct toolkit *toolkit;
static struct device *device;

static const char kernels[] =
    "__constant__ float factors[4];\n"
    "extern \"C\" __global__ void scale(float *x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] *= factors[i % 4];\n"
    "}\n"
    "template <int STEP> __global__ void add(float *x, int n) {\n"
    "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "  if (i < n) x[i] += STEP;\n"
    "}\n"
    "__global__ void poke(float *x, long long at) { x[at] = 7; }\n"
    "__global__ void spin(float *x, int microseconds) {\n"
    "  unsigned long long start, now;\n"
    "  asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(start));\n"
    "  do asm volatile(\"mov.u64 %0, %globaltimer;\" : \"=l\"(now));\n"
    "  while (now - start < 1000ull * microseconds);\n"
    "  x[0] = now;\n"
    "}\n"
    "extern __shared__ float dynamic[];\n"
    "__global__ void __launch_bounds__(256) reverse(float *x, int n) {\n"
    "  __shared__ float fixed[256];\n"
    "  for (int i = threadIdx.x; i < n; i += blockDim.x) dynamic[i] = x[i];\n"
    "  fixed[threadIdx.x] = 0;\n"
    "  __syncthreads();\n"
    "  for (int i = threadIdx.x; i < n; i += blockDim.x) x[i] = dynamic[n - 1 - i] + fixed[255 - "
    "threadIdx.x];\n"
    "}\n";
static const char *const entries[] = {"scale", "add<3>", "poke", "spin", "reverse"};
enum { SCALE, ADD, POKE, SPIN, REVERSE, ENTRY_COUNT };

static struct compiled compiled;

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

FIXTURE(open_device) {
  cugen_error err;
  struct device_options options = {.toolkit = toolkit};
  int status = ops->open(&options, &device, &err);
  struct compile_request request = {.toolkit = toolkit,
                                    .name = "gpu.cu",
                                    .source = kernels,
                                    .arch = status ? "" : device->description.arch,
                                    .entries = entries,
                                    .entry_count = ENTRY_COUNT};
  if (!status) status = ops->compile(&request, &compiled, &err);
  if (status) fprintf(stderr, "%s\n", err.message);
  return status;
}

FIXTURE(close_device) {
  compiled_free(&compiled);
  ops->close(device);
  return 0;
}

/* ---- Running one of the kernels ------------------------------------------------------------- */

/* A plan of one launch over a buffer and a number, with its arguments. */
struct run {
  struct kernel_argument arguments[3];
  struct kernel_launch launch;
  struct kernel_spec spec;
  struct plan *plan;
  struct call *call;
};

static void run_open(struct run *run, int kernel, unsigned grid, unsigned block, int64_t shared,
                     const struct memory *buffer, int64_t number) {
  cugen_error err;
  struct memory memory[2] = {*buffer};
  *run = (struct run){0};
  run->arguments[0] = (struct kernel_argument){
      .name = "x", .kind = CUGEN_ARGUMENT_INOUT, .dtype = dtype_find("f32"), .rank = 1};
  run->arguments[1] = (struct kernel_argument){.name = "n",
                                               .kind = CUGEN_ARGUMENT_SCALAR,
                                               .dtype = dtype_find(kernel == POKE ? "i64" : "i32"),
                                               .value = value_int(number)};
  run->launch = (struct kernel_launch){.entry = entries[kernel],
                                       .grid = {grid, 1, 1},
                                       .block = {block, 1, 1},
                                       .shared_bytes = shared};
  run->spec = (struct kernel_spec){.arguments = run->arguments,
                                   .argument_count = 2,
                                   .launches = &run->launch,
                                   .launch_count = 1};
  /* The plan finds entries by their place in the image: this image has the kernel first. */
  struct compiled *first = &compiled;
  char *name = first->entries[0];
  first->entries[0] = first->entries[kernel];
  int status = plan_open(device, &run->spec, first, &run->plan, &err);
  first->entries[0] = name;
  check(status, &err);
  check(call_bind(run->plan, memory, NULL, 0, &run->call, &err), &err);
}

static void run_close(struct run *run) {
  call_free(run->call);
  plan_close(run->plan);
}

static int run_launch(void *context, cugen_error *err) {
  return call_launch(((struct run *)context)->call, err);
}

static int run_sync(struct run *run, cugen_error *err) {
  int status = run_launch(run, err);
  return status ? status : ops->sync(device, err);
}

/* ---- What it is ----------------------------------------------------------------------------- */

TEST(test_description) {
  struct device_description description;
  cugen_error err;
  assert_true(ops->count(toolkit, &err) >= 1);
  check(ops->describe(toolkit, 0, &description, &err), &err);
  printf("%s | %s | %s | driver %d\n", description.id, description.fingerprint, description.uuid,
         description.driver_version);
  for (int fact = 0; fact < DEVICE_FACT_COUNT; fact++)
    printf("%s = %lld\n", device_fact_names[fact],
           (long long)device_fact_get(&description.facts, (enum device_fact)fact));
  assert_memory_equal(description.uuid, "GPU-", 4);
  assert_int_equal(strlen(description.uuid), 40);
  assert_memory_equal(description.arch, "sm_", 3);
  assert_int_equal(description.facts.warp_size, 32);
  assert_int_equal(description.facts.shared_per_block, 49152);
  assert_true(description.facts.shared_per_block_optin >= 49152);
  assert_true(description.facts.clock_khz > 0 && description.facts.memory_clock_khz > 0);
  assert_true(description.driver_version >= 12000);
}

TEST(test_clock) {
  const struct nvml *nvml;
  cugen_error err;
  struct device_clock clock;
  ops->clock(device, &clock);
  int mhz = clock.sm_mhz;
  if (nvml_open(toolkit, &nvml, &err)) {
    printf("no NVML: %s\n", err.message);
    assert_int_equal(mhz, 0);
    return;
  }
  struct nvml_device *handle;
  struct device_clock now;
  check(nvml_find(nvml, device->description.uuid, &handle, &err), &err);
  nvml_read(nvml, handle, &now);
  printf("SM %d MHz, %d W, throttle %s\n", now.sm_mhz, now.power_watts, now.throttle);
  assert_true(mhz > 0 && mhz <= (int)(device->description.facts.clock_khz / 1000));
}

/* ---- Memory --------------------------------------------------------------------------------- */

enum { COUNT = 10001 };

static void fill_numbers(float *out) {
  for (int i = 0; i < COUNT; i++) out[i] = (float)i;
}

static void check_kind(enum memory_kind kind, bool guard) {
  static float numbers[COUNT], back[COUNT];
  struct memory memory;
  struct run run;
  fill_numbers(numbers);
  WORKS(ops->alloc(device, kind, sizeof numbers, guard, &memory, &err));
  assert_true((kind == MEMORY_DEVICE) == !memory.host);
  WORKS(ops->upload(device, memory.device, numbers, sizeof numbers, &err));
  run_open(&run, ADD, 40, 256, 0, &memory, COUNT);
  WORKS(run_sync(&run, &err));
  WORKS(ops->memory_check(device, &memory, &err));
  WORKS(ops->download(device, back, memory.device, sizeof back, &err));
  for (int i = 0; i < COUNT; i++) assert_true(back[i] == (float)i + 3);
  if (memory.host) assert_memory_equal(memory.host, back, sizeof back);
  WORKS(ops->fill(device, memory.device, 0x40, sizeof numbers, &err));
  WORKS(ops->download(device, back, memory.device, sizeof back, &err));
  for (size_t i = 0; i < sizeof back; i++) assert_int_equal(((unsigned char *)back)[i], 0x40);
  WORKS(ops->memory_check(device, &memory, &err));
  run_close(&run);
  ops->free(device, &memory);
  assert_null(memory.base);
}

TEST(test_each_kind_of_memory) {
  for (int kind = 0; kind < MEMORY_KIND_COUNT; kind++) {
    check_kind((enum memory_kind)kind, false);
    check_kind((enum memory_kind)kind, true);
  }
}

static void check_poke(enum memory_kind kind, long long at, const char *words) {
  struct memory memory;
  struct run run;
  cugen_error err;
  check(ops->alloc(device, kind, 4000, true, &memory, &err), &err);
  run_open(&run, POKE, 1, 1, 0, &memory, at);
  check(run_sync(&run, &err), &err);
  int status = ops->memory_check(device, &memory, &err);
  run_close(&run);
  ops->free(device, &memory);
  assert_int_equal(status, words ? CUGEN_ERROR_WRONG : CUGEN_OK);
  if (words && !strstr(err.message, words)) fail_msg("expected '%s' in: %s", words, err.message);
}

TEST(test_writes_out_of_bounds_are_found) {
  for (int kind = 0; kind < MEMORY_KIND_COUNT; kind++) {
    check_poke((enum memory_kind)kind, 0, NULL);
    check_poke((enum memory_kind)kind, 999, NULL);
    check_poke((enum memory_kind)kind, 1000, "past the end of a buffer of 4000 bytes");
    check_poke((enum memory_kind)kind, 1100, "byte 400 past the end");
    check_poke((enum memory_kind)kind, -1, "before the start");
  }
}

/* The pitches that NVIDIA published: rows of 15 floats take 512 bytes, 128 take 512, 255 take
   1024. */
TEST(test_pitch) {
  static const size_t floats[] = {15, 128, 255}, want[] = {512, 512, 1024};
  for (int i = 0; i < 3; i++) {
    struct memory memory;
    size_t pitch;
    WORKS(ops->alloc_pitched(device, floats[i] * 4, 9, &pitch, &memory, &err));
    assert_int_equal(pitch, want[i]);
    assert_int_equal(pitch % (size_t)device->description.facts.pitch_alignment, 0);
    assert_int_equal(memory.bytes, pitch * 9);
    ops->free(device, &memory);
  }
}

TEST(test_copies_between_pitches) {
  enum { WIDTH = 37, ROWS = 11 };
  unsigned char packed[ROWS][WIDTH], back[ROWS][WIDTH];
  for (int r = 0; r < ROWS; r++)
    for (int c = 0; c < WIDTH; c++) packed[r][c] = (unsigned char)(31 * r + c);
  struct memory pitched, odd, pinned;
  size_t pitch;
  WORKS(ops->alloc_pitched(device, WIDTH, ROWS, &pitch, &pitched, &err));
  WORKS(ops->alloc(device, MEMORY_DEVICE, 41 * ROWS, true, &odd, &err));
  WORKS(ops->alloc(device, MEMORY_PINNED, 64 * ROWS, true, &pinned, &err));
  WORKS(ops->copy_2d(device, pitched.device, pitch, packed, WIDTH, WIDTH, ROWS, &err));
  WORKS(ops->copy_2d(device, odd.device, 41, pitched.device, pitch, WIDTH, ROWS, &err));
  WORKS(ops->copy_2d(device, pinned.device, 64, odd.device, 41, WIDTH, ROWS, &err));
  for (int r = 0; r < ROWS; r++)
    assert_memory_equal((char *)pinned.host + 64 * r, packed[r], WIDTH);
  WORKS(ops->copy_2d(device, back, WIDTH, odd.device, 41, WIDTH, ROWS, &err));
  assert_memory_equal(back, packed, sizeof packed);
  WORKS(ops->memory_check(device, &odd, &err));
  WORKS(ops->memory_check(device, &pinned, &err));
  ops->free(device, &pitched);
  ops->free(device, &odd);
  ops->free(device, &pinned);
}

/* Uses an index beyond 2^31. */
TEST(test_large_buffer) {
  const long long last = (INT64_C(1) << 31) + 5;
  if (device->description.facts.memory_bytes < INT64_C(12) << 30) {
    print_message("skipped: this GPU has less than 12 GiB\n");
    skip();
  }
  struct memory memory;
  struct run run;
  float value = 0;
  WORKS(ops->alloc(device, MEMORY_DEVICE, (size_t)(last + 1) * 4, true, &memory, &err));
  run_open(&run, POKE, 1, 1, 0, &memory, last);
  WORKS(run_sync(&run, &err));
  WORKS(ops->memory_check(device, &memory, &err));
  WORKS(ops->download(device, &value, (float *)memory.device + last, 4, &err));
  assert_true(value == 7);
  run_close(&run);
  ops->free(device, &memory);
}

TEST(test_too_large_a_buffer) {
  struct memory memory;
  size_t bytes = (size_t)device->description.facts.memory_bytes + ((size_t)1 << 30);
  FAILS(ops->alloc(device, MEMORY_DEVICE, bytes, false, &memory, &err), CUGEN_ERROR_MEMORY,
        "of device memory: cuMemAlloc_v2: CUDA_ERROR_OUT_OF_MEMORY");
  assert_null(memory.base);
}

/* ---- Kernels -------------------------------------------------------------------------------- */

TEST(test_constant_argument) {
  float numbers[8] = {1, 1, 1, 1, 2, 2, 2, 2}, factors[4] = {2, 3, 5, 7}, back[8];
  struct kernel_argument arguments[] = {{.name = "factors",
                                         .kind = CUGEN_ARGUMENT_CONSTANT,
                                         .access = ACCESS_CONSTANT,
                                         .dtype = dtype_find("f32"),
                                         .rank = 1,
                                         .shape = {4},
                                         .elements = 4},
                                        {.name = "x",
                                         .kind = CUGEN_ARGUMENT_INOUT,
                                         .dtype = dtype_find("f32"),
                                         .rank = 1,
                                         .shape = {8},
                                         .elements = 8},
                                        {.name = "n",
                                         .kind = CUGEN_ARGUMENT_SCALAR,
                                         .dtype = dtype_find("i32"),
                                         .value = value_int(8)}};
  struct kernel_launch launch = {.entry = "scale", .grid = {1, 1, 1}, .block = {32, 1, 1}};
  struct kernel_spec spec = {
      .arguments = arguments, .argument_count = 3, .launches = &launch, .launch_count = 1};
  struct memory memory[3] = {{0}};
  struct plan *plan;
  struct call *call;
  WORKS(ops->alloc(device, MEMORY_DEVICE, sizeof factors, false, &memory[0], &err));
  WORKS(ops->alloc(device, MEMORY_DEVICE, sizeof numbers, false, &memory[1], &err));
  WORKS(ops->upload(device, memory[0].device, factors, sizeof factors, &err));
  WORKS(ops->upload(device, memory[1].device, numbers, sizeof numbers, &err));
  WORKS(plan_open(device, &spec, &compiled, &plan, &err));
  WORKS(call_bind(plan, memory, NULL, 0, &call, &err));
  WORKS(call_launch(call, &err));
  WORKS(ops->download(device, back, memory[1].device, sizeof back, &err));
  for (int i = 0; i < 8; i++) assert_true(back[i] == numbers[i] * factors[i % 4]);
  call_free(call);
  arguments[2].dtype = dtype_find("i64");
  FAILS(call_bind(plan, memory, NULL, 0, &call, &err), CUGEN_ERROR_CONFIG,
        "argument 'n' has 8 bytes, but its parameter in kernel ");
  plan_close(plan);
  ops->free(device, &memory[0]);
  ops->free(device, &memory[1]);
}

static void check_reverse(int count) {
  struct memory memory;
  struct run run;
  float *numbers = malloc((size_t)count * 4);
  assert_non_null(numbers);
  for (int i = 0; i < count; i++) numbers[i] = (float)i;
  WORKS(ops->alloc(device, MEMORY_DEVICE, (size_t)count * 4, true, &memory, &err));
  WORKS(ops->upload(device, memory.device, numbers, (size_t)count * 4, &err));
  run_open(&run, REVERSE, 1, 256, (int64_t)count * 4, &memory, count);
  WORKS(run_sync(&run, &err));
  WORKS(ops->download(device, numbers, memory.device, (size_t)count * 4, &err));
  for (int i = 0; i < count; i++) assert_true(numbers[i] == (float)(count - 1 - i));
  run_close(&run);
  ops->free(device, &memory);
  free(numbers);
}

TEST(test_dynamic_shared) {
  int64_t optin = device->description.facts.shared_per_block_optin;
  check_reverse(1000);
  check_reverse(12 * 1024);               /* 48 KB, and 1 KB static */
  check_reverse((int)(optin - 1024) / 4); /* all that a block may have */
}

/* The driver refuses the launch. launch_check, which would refuse it with more words, is not
   asked here. */
TEST(test_too_much_dynamic_shared) {
  struct loaded *loaded;
  struct entry *entry;
  int64_t optin = device->description.facts.shared_per_block_optin;
  WORKS(ops->load(device, &compiled, &loaded, &err));
  FAILS(ops->entry(device, loaded, REVERSE, optin - 1023, &entry, &err), CUGEN_ERROR_DEVICE,
        "CUDA_ERROR_INVALID_VALUE");
  ops->unload(device, loaded);
}

/* The driver's count of resident blocks equals the one that the calculator gives for the figures
   of the cubin. */
TEST(test_occupancy_agrees) {
  struct loaded *loaded;
  WORKS(ops->load(device, &compiled, &loaded, &err));
  for (size_t i = 0; i < ENTRY_COUNT; i++)
    for (int threads = 32; threads <= compiled.resources[i].max_threads; threads += 96)
      for (int64_t shared = 0; shared <= device->description.facts.shared_per_block_optin - 1024;
           shared += 7919) {
        struct entry *entry;
        struct occupancy occupancy;
        WORKS(ops->entry(device, loaded, i, shared, &entry, &err));
        WORKS(occupancy_get(&device->description.facts, &compiled.resources[i], threads, shared, -1,
                            &occupancy, &err));
        int blocks = ops->active_blocks(device, entry, threads, shared);
        if (blocks != occupancy.blocks)
          fail_msg("%s, %d threads, %lld bytes: the driver says %d blocks, the calculator %d",
                   entries[i], threads, (long long)shared, blocks, occupancy.blocks);
      }
  ops->unload(device, loaded);
}

/* The counts also agree with a preferred carveout. */
TEST(test_carved_occupancy_agrees) {
  for (int percent = 0; percent <= 100; percent += 10) {
    struct loaded *loaded;
    struct entry *entry;
    struct occupancy occupancy;
    WORKS(ops->load(device, &compiled, &loaded, &err));
    WORKS(ops->entry(device, loaded, 0, 20000, &entry, &err));
    WORKS(ops->carve(device, entry, percent, &err));
    WORKS(occupancy_get(&device->description.facts, &compiled.resources[0], 32, 20000, percent,
                        &occupancy, &err));
    int blocks = ops->active_blocks(device, entry, 32, 20000);
    if (blocks != occupancy.blocks)
      fail_msg("carveout %d: the driver says %d blocks, the calculator %d", percent, blocks,
               occupancy.blocks);
    ops->unload(device, loaded);
  }
}

TEST(test_a_launch_that_cannot_be) {
  struct memory memory;
  struct run run;
  cugen_error err;
  check(ops->alloc(device, MEMORY_DEVICE, 4096, false, &memory, &err), &err);
  run_open(&run, REVERSE, 1, 512, 0, &memory, 10);
  assert_int_equal(run_launch(&run, &err), CUGEN_ERROR_DEVICE);
  printf("%s\n", err.message);
  assert_non_null(strstr(err.message, "block 512x1x1 = 512 threads (it can have 256 with its "));
  run_close(&run);
  run_open(&run, ADD, 1, 32, 0, &memory, 10); /* the device still works */
  check(run_sync(&run, &err), &err);
  run_close(&run);
  ops->free(device, &memory);
}

TEST(test_time) {
  struct memory memory;
  struct run run;
  double seconds;
  WORKS(ops->alloc(device, MEMORY_DEVICE, 4, false, &memory, &err));
  run_open(&run, SPIN, 1, 1, 0, &memory, 20000);
  WORKS(run_sync(&run, &err));
  WORKS(ops->time(device, false, run_launch, &run, &seconds, &err));
  printf("a kernel of 20 ms takes %g ms\n", seconds * 1000);
  assert_true(seconds > 0.019 && seconds < 0.024);
  run_close(&run);
  ops->free(device, &memory);
}

static int launch_and_pause(void *context, cugen_error *err) {
  const struct timespec pause = {.tv_nsec = 5000000};
  int status = CUGEN_OK;
  for (int i = 0; i < DEVICE_HELD && !status; i++) {
    status = run_launch(context, err);
    if (i == DEVICE_HELD / 2) nanosleep(&pause, NULL);
  }
  return status;
}

/* A pause of 5 ms between launches is timed, unless they are held back. A stream queues as many as
   DEVICE_HELD promises: the holding kernel would otherwise give up after 20 ms. */
TEST(test_time_held) {
  struct memory memory;
  struct run run;
  double paused, held;
  WORKS(ops->alloc(device, MEMORY_DEVICE, 4096, false, &memory, &err));
  run_open(&run, ADD, 1, 32, 0, &memory, 10);
  WORKS(run_sync(&run, &err));
  WORKS(ops->time(device, false, launch_and_pause, &run, &paused, &err));
  WORKS(ops->time(device, true, launch_and_pause, &run, &held, &err));
  const double begin = clock_seconds();
  WORKS(ops->time(device, true, launch_and_pause, &run, &held, &err));
  const double whole = clock_seconds() - begin;
  printf("%d launches and a pause: %g ms, held back: %g ms, in all %g ms\n", DEVICE_HELD,
         paused * 1000, held * 1000, whole * 1000);
  assert_true(paused > 5e-3);
  assert_true(held < 2e-3);
  assert_true(whole < 15e-3);
  run_close(&run);
  ops->free(device, &memory);
}

/* An image for another GPU does not load, and the message says which GPU this is. */
TEST(test_foreign_image) {
  const char *other = device->description.facts.compute_capability >= 120 ? "sm_80" : "sm_120";
  struct compile_request request = {.toolkit = toolkit,
                                    .name = "gpu.cu",
                                    .source = kernels,
                                    .arch = other,
                                    .entries = entries,
                                    .entry_count = 1};
  FREED(compiled) foreign;
  struct loaded *loaded;
  cugen_error err;
  check(ops->compile(&request, &foreign, &err), &err);
  assert_int_equal(ops->load(device, &foreign, &loaded, &err), CUGEN_ERROR_DEVICE);
  printf("%s\n", err.message);
  assert_non_null(strstr(err.message, device->description.arch));
  assert_null(loaded);
}

/* ---- The application's own context ---------------------------------------------------------- */

static void *driver_symbol(const char *name) {
  static void *library;
  if (!library) library = dlopen("libcuda.so.1", RTLD_NOW);
  return library ? dlsym(library, name) : NULL;
}

#define DRIVER(result, name, types, arguments)                                                     \
  do {                                                                                             \
    CUresult(*call_of) types;                                                                      \
    void *symbol_of = driver_symbol(name);                                                         \
    assert_non_null(symbol_of);                                                                    \
    memcpy(&call_of, &symbol_of, sizeof call_of);                                                  \
    result = call_of arguments;                                                                    \
  } while (0)

static CUcontext current_context(void) {
  CUcontext current = NULL;
  CUresult result;
  DRIVER(result, "cuCtxGetCurrent", (CUcontext *), (&current));
  assert_int_equal(result, CUDA_SUCCESS);
  return current;
}

TEST(test_the_current_context_is_left_alone) {
  CUcontext foreign = NULL;
  CUresult result;
  assert_null(current_context());
  check_kind(MEMORY_DEVICE, true);
  assert_null(current_context());
  DRIVER(result, "cuCtxCreate_v2", (CUcontext *, unsigned, CUdevice), (&foreign, 0, 0));
  assert_int_equal(result, CUDA_SUCCESS);
  assert_ptr_equal(current_context(), foreign);
  check_kind(MEMORY_DEVICE, true);
  test_time(NULL);
  assert_ptr_equal(current_context(), foreign);
  DRIVER(result, "cuCtxDestroy_v2", (CUcontext), (foreign));
  assert_int_equal(result, CUDA_SUCCESS);
}

static int same_bytes(void *context, int threads, int64_t *bytes, cugen_error *err) {
  *bytes = *(const int64_t *)context;
  return CUGEN_OK;
}

/* The block size that the calculator proposes is the driver's. */
static void check_best_block(CUmodule module, size_t entry, int64_t shared) {
  CUfunction function;
  CUresult result;
  int grid, want, got;
  DRIVER(result, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *),
         (&function, module, compiled.entries[entry]));
  assert_int_equal(result, CUDA_SUCCESS);
  DRIVER(result, "cuOccupancyMaxPotentialBlockSize",
         (int *, int *, CUfunction, CUoccupancyB2DSize, size_t, int),
         (&grid, &want, function, NULL, (size_t)shared, 0));
  assert_int_equal(result, CUDA_SUCCESS);
  WORKS(occupancy_best_block(&device->description.facts, &compiled.resources[entry], -1, same_bytes,
                             &shared, &got, &err));
  if (got != want)
    fail_msg("%s, %lld bytes: the driver proposes %d threads, the calculator %d", entries[entry],
             (long long)shared, want, got);
}

TEST(test_best_block_agrees) {
  CUcontext context = NULL;
  CUmodule module;
  CUresult result;
  DRIVER(result, "cuCtxCreate_v2", (CUcontext *, unsigned, CUdevice), (&context, 0, 0));
  assert_int_equal(result, CUDA_SUCCESS);
  DRIVER(result, "cuModuleLoadData", (CUmodule *, const void *), (&module, compiled.image));
  assert_int_equal(result, CUDA_SUCCESS);
  for (size_t i = 0; i < ENTRY_COUNT; i++)
    for (int64_t shared = 0; shared <= 48000 - 1024; shared += 4999)
      check_best_block(module, i, shared);
  DRIVER(result, "cuCtxDestroy_v2", (CUcontext), (context));
  assert_int_equal(result, CUDA_SUCCESS);
}

/* Drivers before CUDA 12.0 load images into the context. */
TEST(test_with_modules) {
  const struct driver *driver;
  WORKS(driver_open(toolkit, &driver, &err));
  struct driver *changed = (struct driver *)(uintptr_t)driver;
  __typeof__(changed->library_load) load = changed->library_load;
  assert_non_null(load);
  changed->library_load = NULL;
  check_kind(MEMORY_DEVICE, true);
  check_reverse(20000);
  test_constant_argument(NULL);
  changed->library_load = load;
}

/* ---- The end -------------------------------------------------------------------------------- */

TEST(test_an_illegal_address_sticks) {
  struct memory memory, more;
  struct run run;
  cugen_error err;
  check(ops->alloc(device, MEMORY_DEVICE, 4096, true, &memory, &err), &err);
  run_open(&run, POKE, 1, 1, 0, &memory, INT64_C(1) << 44);
  assert_int_equal(run_sync(&run, &err), CUGEN_ERROR_DEVICE);
  printf("%s\n", err.message);
  assert_non_null(strstr(err.message, "CUDA_ERROR_ILLEGAL_ADDRESS"));
  assert_int_equal(ops->memory_check(device, &memory, &err), CUGEN_ERROR_DEVICE);
  assert_int_equal(ops->alloc(device, MEMORY_DEVICE, 4096, true, &more, &err), CUGEN_ERROR_DEVICE);
  run_close(&run);
  ops->free(device, &memory);
}

ALL_TESTS_WITH(open_device, close_device);

int main(void) {
  cugen_error err;
  if (toolkit_open(NULL, &toolkit, &err) || !ops->count(toolkit, &err)) {
    printf("skipped: %s\n", err.message);
    toolkit_close(toolkit);
    return 77;
  }
  int failed = tests_run();
  toolkit_close(toolkit);
  return failed;
}
