/* The cuda device over a driver that fails: whichever call fails, the error names it and nothing
   is left behind. */
#include <math.h>

#include <cuda.h>

#include "failing_memory.h"
#include "find_fake.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/driver.h"
#include "runtime/devices.h"
#include "runtime/plan.h"
#include "tests/testing.h"
#include "tune/worker/measure.h"

FIXTURE(reset_fake) {
  *fake = (struct fake_cuda){.version = 13000, .devices = 1};
  return 0;
}

/* Opens a toolkit that has the fake driver and, whatever this machine has, an NVRTC of CUDA 13. */
static struct toolkit *open_toolkit(void) {
  struct toolkit *toolkit;
  assert_int_equal(toolkit_open(NULL, &toolkit, NULL), CUGEN_OK);
  text_clear(&toolkit->driver);
  const char *folder = getenv("CUGEN_TEST_FAKE_CUDA");
  text_addf(&toolkit->driver, "%s/libcuda.so.1", folder ? folder : ".");
  text_clear(&toolkit->nvrtc);
  text_add(&toolkit->nvrtc, "libnvrtc.so.13");
  return toolkit;
}

/* ---- Everything a device does, once --------------------------------------------------------- */

static struct kernel_argument arguments[] = {
    {.name = "A", .kind = CUGEN_ARGUMENT_INPUT, .rank = 1, .shape = {8}, .elements = 8},
    {.name = "n", .kind = CUGEN_ARGUMENT_SCALAR, .value = {.type = VALUE_INT, .integer = 8}},
    {.name = "factors",
     .kind = CUGEN_ARGUMENT_CONSTANT,
     .access = ACCESS_CONSTANT,
     .rank = 1,
     .shape = {4},
     .elements = 4},
    {.name = "more", .kind = CUGEN_ARGUMENT_CONSTANT, .rank = 1, .shape = {4}, .elements = 4},
    {.name = "texture",
     .access = ACCESS_TEXTURE,
     .rank = 2,
     .shape = {2, 5},
     .stride = {8, 1},
     .elements = 16},
    {.name = "array",
     .access = ACCESS_ARRAY,
     .rank = 3,
     .shape = {2, 2, 3},
     .stride = {8, 4, 1},
     .elements = 16},
};
static struct kernel_launch launches[] = {{.entry = "work",
                                           .grid = {4, 1, 1},
                                           .block = {256, 1, 1},
                                           .shared_bytes = 100000,
                                           .has_carveout = true,
                                           .carveout = 40}};
static struct kernel_spec spec = {
    .arguments = arguments, .argument_count = 6, .launches = launches, .launch_count = 1};
static char work_name[] = "work";
static struct compiled compiled = {
    .image = (void *)"no cubin", .image_length = 8, .entry_count = 1, .entries = {work_name}};

struct work {
  const struct device_ops *ops;
  const struct toolkit *toolkit;
  struct device *device;
  struct memory memory[MEMORY_KIND_COUNT], pitched;
  struct plan *plan;
  struct call *call;
  struct graph *graph;
};

static int work_alloc(struct work *work, cugen_error *err) {
  size_t pitch;
  int status = CUGEN_OK;
  for (int kind = 0; kind < MEMORY_KIND_COUNT && !status; kind++)
    status =
        work->ops->alloc(work->device, (enum memory_kind)kind, 64, true, &work->memory[kind], err);
  if (!status) status = work->ops->alloc_pitched(work->device, 60, 3, &pitch, &work->pitched, err);
  return status;
}

static int work_copy(struct work *work, cugen_error *err) {
  double data[8] = {1, 2, 3, 4, 5, 6, 7, 8}, back[8] = {0};
  int status = work->ops->fill(work->device, work->memory[0].device, 0xff, 64, err);
  if (!status)
    status = work->ops->upload(work->device, work->memory[0].device, data, sizeof data, err);
  if (!status)
    status = work->ops->copy_2d(work->device, work->pitched.device, 512, data, 16, 16, 3, err);
  if (!status)
    status = work->ops->copy(work->device, work->memory[1].device, work->memory[0].device,
                             sizeof data, NULL, err);
  if (!status)
    status = work->ops->download(work->device, back, work->memory[1].device, sizeof back, err);
  if (!status) assert_memory_equal(data, back, sizeof data);
  return status;
}

static int work_launch(void *context, cugen_error *err) {
  return call_launch(((struct work *)context)->call, err);
}

static int work_run(struct work *work, cugen_error *err) {
  struct memory memory[] = {work->memory[0], {0}, work->memory[1], work->memory[1], work->memory[0],
                            work->memory[1]};
  double seconds;
  int status = plan_open(work->device, &spec, &compiled, &work->plan, err);
  if (!status) status = call_bind(work->plan, memory, NULL, 0, &work->call, err);
  if (!status) status = work_launch(work, err);
  if (!status) status = work->ops->graphs(work->toolkit, err);
  if (!status) status = work->ops->graph_make(work->device, work_launch, work, &work->graph, err);
  if (!status) status = work->ops->graph_launch(work->device, work->graph, err);
  if (!status) status = work->ops->flush(work->device, &work->memory[0], err);
  if (!status) status = work->ops->sync(work->device, err);
  if (!status) status = work->ops->time(work->device, false, work_launch, work, &seconds, err);
  for (int kind = 0; kind < MEMORY_KIND_COUNT && !status; kind++)
    status = work->ops->memory_check(work->device, &work->memory[kind], err);
  return status;
}

static int work_do(struct work *work, cugen_error *err) {
  struct device_options options = {.toolkit = work->toolkit};
  struct device_description description;
  if (work->ops->count(work->toolkit, err) != 1) return err->status;
  int status = work->ops->describe(work->toolkit, 0, &description, err);
  if (!status) status = work->ops->open(&options, &work->device, err);
  if (!status) status = work_alloc(work, err);
  if (!status) status = work_copy(work, err);
  return status ? status : work_run(work, err);
}

static void work_undo(struct work *work) {
  if (work->graph) work->ops->graph_free(work->device, work->graph);
  call_free(work->call);
  plan_close(work->plan);
  for (int kind = 0; kind < MEMORY_KIND_COUNT; kind++)
    if (work->device) work->ops->free(work->device, &work->memory[kind]);
  if (work->device) work->ops->free(work->device, &work->pitched);
  work->ops->close(work->device);
}

/* Works with the device once; `modules`: by the calls of CUDA 11's driver. Returns the status,
   and the error if there is one. */
static int work_once(bool modules, cugen_error *err) {
  CLOSED(toolkit) *toolkit = open_toolkit();
  struct work work = {.ops = &cuda_device_ops, .toolkit = toolkit};
  arguments[0].dtype = arguments[2].dtype = arguments[3].dtype = dtype_find("f64");
  arguments[4].dtype = arguments[5].dtype = dtype_find("f32");
  arguments[1].dtype = dtype_find("i32");
  const struct driver *driver;
  *err = (cugen_error){0};
  int status = driver_open(toolkit, &driver, err);
  if (!status && modules) ((struct driver *)(uintptr_t)driver)->library_load = NULL;
  if (!status) status = work_do(&work, err);
  work_undo(&work);
  return status;
}

static void assert_nothing_left(void) {
  assert_int_equal(fake->memory, 0);
  assert_int_equal(fake->streams, 0);
  assert_int_equal(fake->events, 0);
  assert_int_equal(fake->images, 0);
  assert_int_equal(fake->graphs, 0);
  assert_int_equal(fake->textures, 0);
  assert_int_equal(fake->registered, 0);
  assert_int_equal(fake->contexts, 0);
  assert_int_equal(fake->current, 0);
}

/* ---- Every call in turn --------------------------------------------------------------------- */

/* Returns whether a failure of the call changes nothing: giving back, waiting before that, and
   asking for the place of memory. */
static bool may_be_ignored(const char *call) {
  static const char *const calls[] = {
      "cuCtxPopCurrent_v2",    "cuGraphDestroy",      "cuGraphExecDestroy",
      "cuMemFree_v2",          "cuMemFreeHost",       "cuMemHostUnregister",
      "cuStreamDestroy_v2",    "cuEventDestroy_v2",   "cuLibraryUnload",
      "cuModuleUnload",        "cuCtxPushCurrent_v2", "cuDevicePrimaryCtxRelease_v2",
      "cuPointerGetAttribute", "cuTexObjectDestroy",  "cuArrayDestroy",
      "cuCtxSynchronize"};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    if (!strcmp(call, calls[i])) return true;
  return false;
}

static void check_failure(int status, int expected, const cugen_error *err) {
  assert_non_null(fake->failed_call);
  if (!status) {
    if (!may_be_ignored(fake->failed_call))
      fail_msg("%s failed and nobody noticed", fake->failed_call);
    return;
  }
  assert_int_equal(status, expected);
  assert_int_equal(err->status, expected);
  if (err->cause != (expected == CUGEN_ERROR_DEVICE ? CUGEN_CAUSE_BOUNDS : CUGEN_CAUSE_NONE))
    fail_msg("%s failed, but the cause is %d", fake->failed_call, (int)err->cause);
  if (!strstr(err->message, fake->failed_call))
    fail_msg("%s failed, but the message is: %s", fake->failed_call, err->message);
}

static void fail_each_call(bool modules, CUresult result, int expected) {
  cugen_error err;
  assert_int_equal(work_once(modules, &err), CUGEN_OK);
  assert_nothing_left();
  long calls = fake->calls;
  assert_true(calls > 100);
  for (long n = 1; n <= calls; n++) {
    *fake =
        (struct fake_cuda){.version = 13000, .devices = 1, .fail_at = n, .fail_with = (int)result};
    int status = work_once(modules, &err);
    check_failure(status, expected, &err);
    assert_nothing_left();
  }
}

TEST_WITH(test_each_call_fails, reset_fake, NULL) {
  fail_each_call(false, CUDA_ERROR_ILLEGAL_ADDRESS, CUGEN_ERROR_DEVICE);
}

TEST_WITH(test_each_call_fails_with_modules, reset_fake, NULL) {
  fail_each_call(true, CUDA_ERROR_ILLEGAL_ADDRESS, CUGEN_ERROR_DEVICE);
}

TEST_WITH(test_each_call_out_of_memory, reset_fake, NULL) {
  fail_each_call(false, CUDA_ERROR_OUT_OF_MEMORY, CUGEN_ERROR_MEMORY);
}

/* ---- Every allocation in turn --------------------------------------------------------------- */

static long fatal; /* this many allocations succeed before one fails */

static int open_and_close_toolkit(cugen_error *err) {
  CLOSED(toolkit) *toolkit;
  heap.left = fatal;
  int status = toolkit_open(NULL, &toolkit, err);
  heap.left = -1;
  assert_true(!status == !!toolkit);
  return status;
}

static int work_without_an_allocation(cugen_error *err) {
  struct toolkit *toolkit = open_toolkit();
  struct work work = {.ops = &cuda_device_ops, .toolkit = toolkit};
  heap.left = fatal;
  int status = work_do(&work, err);
  heap.left = -1;
  work_undo(&work);
  toolkit_close(toolkit);
  assert_nothing_left();
  return status;
}

static void fail_each_allocation(int (*scene)(cugen_error *err)) {
  for (fatal = 0;; fatal++) {
    cugen_error err = {0};
    heap.failed = false;
    int status = scene(&err);
    if (status) assert_true(err.status == status && err.message[0]);
    if (!heap.failed) {
      assert_int_equal(status, CUGEN_OK);
      assert_true(fatal >= 10);
      return;
    }
  }
}

TEST_WITH(test_each_allocation_fails, reset_fake, NULL) {
  if (SANITIZED) skip();
  fail_each_allocation(work_without_an_allocation);
  fail_each_allocation(open_and_close_toolkit);
}

/* ---- What is missing, old or empty ---------------------------------------------------------- */

static void assert_no_devices(struct toolkit *toolkit, int status, const char *words) {
  cugen_error err = {0};
  assert_int_equal(cuda_device_ops.count(toolkit, &err), 0);
  assert_int_equal(err.status, status);
  if (!strstr(err.message, words)) fail_msg("expected '%s' in: %s", words, err.message);
  struct device *device;
  assert_int_equal(
      cuda_device_ops.open(&(struct device_options){.toolkit = toolkit}, &device, &err), status);
  assert_null(device);
  toolkit_close(toolkit);
}

TEST_WITH(test_no_driver, reset_fake, NULL) {
  struct toolkit *toolkit = open_toolkit();
  text_add(&toolkit->driver, ".not.there");
  assert_no_devices(toolkit, CUGEN_ERROR_MISSING, "libcuda.so.1.not.there was not found; GPU work");
  toolkit = open_toolkit();
  text_add(&toolkit->driver, ".not.there");
  assert_no_devices(toolkit, CUGEN_ERROR_MISSING,
                    "needs an NVIDIA driver 580 or newer for CUDA 13");
}

TEST_WITH(test_no_device, reset_fake, NULL) {
  fake->devices = 0;
  assert_no_devices(open_toolkit(), CUGEN_ERROR_DEVICE,
                    "the CUDA driver is there (CUDA 13.0) but sees no GPU");
}

TEST_WITH(test_old_driver, reset_fake, NULL) {
  fake->version = 12020;
  assert_no_devices(open_toolkit(), CUGEN_ERROR_DEVICE,
                    "too old: it supports CUDA 12.2, but NVRTC is of CUDA 13");
  assert_no_devices(open_toolkit(), CUGEN_ERROR_DEVICE, "cuda-toolkit[cccl,cudart,nvrtc]==12.*'");
}

TEST_WITH(test_newer_driver, reset_fake, NULL) {
  fake->version = 14010;
  CLOSED(toolkit) *toolkit = open_toolkit();
  assert_int_equal(cuda_device_ops.count(toolkit, NULL), 1);
}

TEST_WITH(test_no_such_ordinal, reset_fake, NULL) {
  CLOSED(toolkit) *toolkit = open_toolkit();
  struct device_description description;
  FAILS_WITH(cuda_device_ops.describe(toolkit, 1, &description, &err), CUGEN_ERROR_USAGE,
             "no device 'cuda:1': the driver sees 1 GPU, from cuda:0 on");
}

/* ---- What it says and finds ----------------------------------------------------------------- */

TEST_WITH(test_description, reset_fake, NULL) {
  CLOSED(toolkit) *toolkit = open_toolkit();
  struct device_description description;
  assert_int_equal(cuda_device_ops.describe(toolkit, 0, &description, NULL), CUGEN_OK);
  assert_string_equal(description.id, "cuda:0");
  assert_string_equal(description.arch, "sm_90a");
  assert_string_equal(description.fingerprint, "NVIDIA Pretended sm_90 132 SMs");
  assert_string_equal(description.uuid, "GPU-00010203-0405-0607-0809-0a0b0c0d0e0f");
  assert_int_equal(description.driver_version, 13000);
  for (int fact = 0; fact < DEVICE_FACT_COUNT; fact++)
    if (!device_fact_get(&description.facts, (enum device_fact)fact))
      fail_msg("%s was not filled", device_fact_names[fact]);
  assert_int_equal(description.facts.shared_per_block_optin, 232448);
  assert_int_equal(description.facts.pitch_alignment, 512);
}

struct opened {
  struct toolkit *toolkit;
  struct device *device;
};

static int open_device(void **state) {
  static struct opened opened;
  reset_fake(NULL);
  opened.toolkit = open_toolkit();
  *state = &opened;
  return cuda_device_ops.open(&(struct device_options){.toolkit = opened.toolkit}, &opened.device,
                              NULL);
}

static int close_device(void **state) {
  struct opened *opened = *state;
  cuda_device_ops.close(opened->device);
  toolkit_close(opened->toolkit);
  assert_nothing_left();
  return 0;
}

static void check_guard(struct device *device, size_t bytes, long offset, const char *words) {
  struct memory memory;
  cugen_error err;
  assert_int_equal(device->ops->alloc(device, MEMORY_DEVICE, bytes, true, &memory, &err), CUGEN_OK);
  memset(memory.device, 0, bytes);
  assert_int_equal(device->ops->memory_check(device, &memory, &err), CUGEN_OK);
  ((char *)memory.device)[offset] = 0x11;
  int status = device->ops->memory_check(device, &memory, &err);
  device->ops->free(device, &memory);
  if (!words) {
    assert_int_equal(status, CUGEN_OK);
    return;
  }
  assert_int_equal(status, CUGEN_ERROR_WRONG);
  if (!strstr(err.message, words)) fail_msg("expected '%s' in: %s", words, err.message);
}

TEST_WITH(test_guards, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  check_guard(device, 1000, 0, NULL);
  check_guard(device, 1000, 999, NULL);
  check_guard(device, 1000, 1000, "byte 0 past the end of a buffer of 1000 bytes (1 of");
  check_guard(device, 1001, 1001, "byte 0 past the end");
  check_guard(device, 1001, 1002 + 64 * 1024 - 1, "byte 65536 past the end");
  check_guard(device, 1000, -1, "byte 1 before the start");
  check_guard(device, 1000, -65536, "byte 65536 before the start");
}

/* The message names the damaged zone that is nearest to the buffer, and how many bytes were
   written. */
TEST_WITH(test_guards_name_the_nearest, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct memory memory;
  WORKS(device->ops->alloc(device, MEMORY_MANAGED, 64, true, &memory, &err));
  memset((char *)memory.device + 64 + 12, 0, 8);
  FAILS(device->ops->memory_check(device, &memory, &err), CUGEN_ERROR_WRONG,
        "byte 12 past the end of a buffer of 64 bytes (8 of");
  device->ops->free(device, &memory);
}

/* One variant's damage is not reported for another: both zones are restored after the check. */
TEST_WITH(test_guards_are_restored, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  enum { BYTES = 1001, ZONE = 65536 };
  struct memory memory;
  WORKS(device->ops->alloc(device, MEMORY_DEVICE, BYTES, true, &memory, &err));
  memset((char *)memory.device - ZONE, 0, ZONE);
  memset((char *)memory.device + BYTES, 0, ZONE);
  FAILS(device->ops->memory_check(device, &memory, &err), CUGEN_ERROR_WRONG);
  WORKS(device->ops->memory_check(device, &memory, &err));
  device->ops->free(device, &memory);
}

TEST_WITH(test_unguarded, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct memory memory;
  assert_int_equal(device->ops->alloc(device, MEMORY_DEVICE, 200000, false, &memory, NULL),
                   CUGEN_OK);
  assert_int_equal(memory.base_bytes, 200000);
  assert_int_equal(device->ops->memory_check(device, &memory, NULL), CUGEN_OK);
  device->ops->free(device, &memory);
  assert_null(memory.device);
}

TEST_WITH(test_no_memory, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct memory memory;
  fake->fail_at = fake->calls + 2;
  fake->fail_with = CUDA_ERROR_OUT_OF_MEMORY;
  FAILS(device->ops->alloc(device, MEMORY_PINNED, 1000, false, &memory, &err), CUGEN_ERROR_MEMORY,
        "cuda:0: cannot allocate 1000 bytes of pinned memory: cuMemHostAlloc");
  FAILS(device->ops->alloc(device, MEMORY_DEVICE, SIZE_MAX - 5, true, &memory, &err),
        CUGEN_ERROR_MEMORY);
}

static struct loaded *load_work(struct device *device) {
  struct loaded *loaded;
  assert_int_equal(device->ops->load(device, &compiled, &loaded, NULL), CUGEN_OK);
  return loaded;
}

TEST_WITH(test_dynamic_shared, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct loaded *loaded = load_work(device);
  struct entry *entry;
  WORKS(device->ops->entry(device, loaded, 0, 48000, &entry, &err));
  assert_int_equal(fake->allowed_shared, 0); /* with 400 bytes static still within 48 KB */
  WORKS(device->ops->entry(device, loaded, 0, 100000, &entry, &err));
  assert_int_equal(fake->allowed_shared, 100000);
  WORKS(device->ops->entry(device, loaded, 0, 50000, &entry, &err));
  assert_int_equal(fake->allowed_shared, 100000); /* the larger share of the other launch stays */
  WORKS(device->ops->entry(device, loaded, 0, 232448 - 400, &entry, &err));
  FAILS(device->ops->entry(device, loaded, 1, 0, &entry, &err), CUGEN_ERROR_INTERNAL);
  device->ops->unload(device, loaded);
}

/* A launch may set the split of L1 and shared memory; a launch that does not leaves it to the
   driver. */
TEST_WITH(test_carveout, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_launch launch = launches[0];
  struct kernel_spec one = {.launches = &launch, .launch_count = 1};
  struct plan *plan;
  fake->carveout = -7;
  launch.has_carveout = false;
  assert_int_equal(plan_open(device, &one, &compiled, &plan, NULL), CUGEN_OK);
  plan_close(plan);
  assert_int_equal(fake->carveout, -7);
  launch.has_carveout = true;
  assert_int_equal(plan_open(device, &one, &compiled, &plan, NULL), CUGEN_OK);
  plan_close(plan);
  assert_int_equal(fake->carveout, 40);
}

/* The driver's number of clusters; 0 if the kernel demands none, or the driver does not know. */
TEST_WITH(test_clusters, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_launch launch = launches[0];
  struct kernel_spec one = {.launches = &launch, .launch_count = 1};
  static const struct {
    int cluster[3], want;
    const char *fails;
  } rows[] = {{{2, 2, 1}, 32, NULL},
              {{1, 1, 1}, 0, NULL},
              {{0, 0, 0}, 0, NULL},
              {{8, 1, 1}, 0, NULL}, /* a grid of 4 blocks is no multiple of the cluster */
              {{2, 2, 1}, 0, "cuOccupancyMaxActiveClusters"}};
  launch.grid[1] = 2;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct plan *plan;
    memcpy(fake->cluster, rows[i].cluster, sizeof fake->cluster);
    assert_int_equal(plan_open(device, &one, &compiled, &plan, NULL), CUGEN_OK);
    fake->fail_only = rows[i].fails;
    fake->fail_at = rows[i].fails ? fake->calls + 1 : 0;
    fake->fail_with = CUDA_ERROR_INVALID_VALUE;
    assert_int_equal(plan_active_clusters(plan, 0), rows[i].want);
    assert_int_equal(fake->current, 0);
    plan_close(plan);
  }
}

static bool launched_early;

static void note_early(const struct fake_launch *launch) {
  launched_early = launch->early;
}

TEST_WITH(test_overlap, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_launch launch = launches[0];
  struct kernel_spec one = {.launches = &launch, .launch_count = 1};
  struct plan *plan;
  struct call *call;
  fake->run = note_early;
  for (int overlap = 0; overlap < 2; overlap++) {
    launch.overlap = overlap;
    launched_early = !overlap;
    assert_int_equal(plan_open(device, &one, &compiled, &plan, NULL), CUGEN_OK);
    assert_int_equal(call_bind(plan, NULL, NULL, 0, &call, NULL), CUGEN_OK);
    assert_int_equal(call_launch(call, NULL), CUGEN_OK);
    assert_int_equal(launched_early, overlap);
    call_free(call);
    plan_close(plan);
  }
  fake->run = NULL;
}

static bool launched_together;

static void note_together(const struct fake_launch *launch) {
  launched_together = launch->cooperative;
}

/* A grid of 4 x 5 blocks; the driver says how many blocks the device holds. */
TEST_WITH(test_cooperative, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  const int64_t multiprocessors = device->description.facts.sm_count;
  struct kernel_launch launch = launches[0];
  struct kernel_spec one = {.launches = &launch, .launch_count = 1};
  struct plan *plan;
  struct call *call;
  cugen_error err = {0};
  launch.cooperative = true;
  fake->run = note_together;
  assert_int_equal(plan_open(device, &one, &compiled, &plan, NULL), CUGEN_OK);
  assert_int_equal(call_bind(plan, NULL, NULL, 0, &call, NULL), CUGEN_OK);
  assert_int_equal(call_launch(call, NULL), CUGEN_OK);
  assert_true(launched_together);
  call_free(call);
  plan_close(plan);
  fake->run = NULL;
  const uint32_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  launch.grid[0] = (uint32_t)(multiprocessors * (2048 / threads)) + 1;
  launch.grid[1] = launch.grid[2] = 1;
  assert_int_equal(plan_open(device, &one, &compiled, &plan, &err), CUGEN_ERROR_CONFIG);
  assert_int_equal(err.cause, CUGEN_CAUSE_RESOURCES);
  assert_non_null(
      strstr(err.message,
             "blocks of a cooperative launch must all be there at once, and the device holds"));
  launch.grid[0]--;
  assert_int_equal(plan_open(device, &one, &compiled, &plan, &err), CUGEN_OK);
  plan_close(plan);
}

/* Clusters of more than 8 blocks need an attribute, smaller ones do not. */
TEST_WITH(test_large_clusters, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_launch launch = launches[0];
  struct kernel_spec one = {.launches = &launch, .launch_count = 1};
  for (int blocks = 8; blocks <= 16; blocks += 8) {
    struct plan *plan;
    fake->large_cluster = 0;
    memcpy(fake->cluster, (int[3]){blocks, 1, 1}, sizeof fake->cluster);
    assert_int_equal(plan_open(device, &one, &compiled, &plan, NULL), CUGEN_OK);
    assert_int_equal(fake->large_cluster, blocks > 8);
    plan_close(plan);
  }
  memset(fake->cluster, 0, sizeof fake->cluster);
}

TEST_WITH(test_symbols, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct loaded *loaded = load_work(device);
  void *address;
  size_t bytes;
  WORKS(device->ops->symbol(device, loaded, "factors", true, &address, &bytes, &err));
  assert_int_equal(bytes, 32);
  assert_non_null(address);
  FAILS(device->ops->symbol(device, loaded, "factor", true, &address, &bytes, &err),
        CUGEN_ERROR_CONFIG, "there is no __constant__ or __device__ variable 'factor'");
  device->ops->unload(device, loaded);
}

/* ---- Textures ------------------------------------------------------------------------------- */

static const float elements[64] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static const struct fake_texture *seen(const struct texture *texture) {
  return (const struct fake_texture *)(uintptr_t)texture->object;
}

TEST_WITH(test_texture_over_a_buffer, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_argument image = {.name = "image",
                                  .rank = 2,
                                  .shape = {3, 5},
                                  .stride = {8, 1},
                                  .elements = 24,
                                  .dtype = dtype_find("i32"),
                                  .access = ACCESS_TEXTURE,
                                  .address = ADDRESS_BORDER};
  struct memory memory;
  struct texture texture;
  assert_int_equal(device->ops->alloc(device, MEMORY_DEVICE, 1024, false, &memory, NULL), CUGEN_OK);
  assert_int_equal(device->ops->texture_make(device, &image, memory.device, &texture, NULL),
                   CUGEN_OK);
  assert_null(texture.array);
  assert_ptr_equal(seen(&texture)->base, memory.device);
  assert_int_equal(seen(&texture)->width, 5);
  assert_int_equal(seen(&texture)->height, 3);
  assert_int_equal(seen(&texture)->address, CU_TR_ADDRESS_MODE_BORDER);
  assert_int_equal(seen(&texture)->flags, CU_TRSF_READ_AS_INTEGER);
  device->ops->texture_free(device, &texture);
  FAILS(device->ops->texture_make(device, &image, (char *)memory.device + 256, &texture, &err),
        CUGEN_ERROR_USAGE,
        "argument 'image' is read as a texture: its address must be a multiple of 512");
  image.stride[0] = 5;
  FAILS(device->ops->texture_make(device, &image, memory.device, &texture, &err),
        CUGEN_ERROR_DEVICE, "its rows must be a multiple of 32 bytes apart, not 20");
  assert_int_equal(fake->textures, 0);
  assert_int_equal(fake->registered, 0);
  device->ops->free(device, &memory);
}

TEST_WITH(test_tensor_map, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_argument argument = {.name = "A",
                                     .rank = 2,
                                     .shape = {96, 40},
                                     .stride = {48, 1},
                                     .box = {64, 32},
                                     .swizzle = 64,
                                     .dtype = dtype_find("bf16"),
                                     .access = ACCESS_TENSOR};
  struct memory memory;
  struct tensor_map map;
  struct fake_tensor seen;
  assert_int_equal(device->ops->alloc(device, MEMORY_DEVICE, 16384, false, &memory, NULL),
                   CUGEN_OK);
  assert_int_equal(device->ops->tensor_make(device, &argument, memory.device, &map, NULL),
                   CUGEN_OK);
  memcpy(&seen, &map, sizeof seen);
  assert_ptr_equal(seen.address, memory.device);
  assert_int_equal(seen.type, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  assert_int_equal(seen.swizzle, CU_TENSOR_MAP_SWIZZLE_64B);
  const long by_rows[] = {40, 96, 96, 32, 64};
  const long got[] = {seen.shape[0], seen.shape[1], seen.stride[0], seen.box[0], seen.box[1]};
  assert_memory_equal(got, by_rows, sizeof got);
  argument.stride[0] = 1, argument.stride[1] = 112;
  argument.dtype = dtype_find("i8");
  argument.swizzle = 0;
  assert_int_equal(device->ops->tensor_make(device, &argument, memory.device, &map, NULL),
                   CUGEN_OK);
  memcpy(&seen, &map, sizeof seen);
  assert_int_equal(seen.type, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  assert_int_equal(seen.shape[0], 96);
  assert_int_equal(seen.box[0], 64);
  argument.stride[1] = 104;
  FAILS(device->ops->tensor_make(device, &argument, memory.device, &map, &err), CUGEN_ERROR_DEVICE,
        "tensor map of 'A': cuTensorMapEncodeTiled: ");
  FAILS(device->ops->tensor_make(device, &argument, (char *)memory.device + 8, &map, &err),
        CUGEN_ERROR_USAGE, "its address must be a multiple of 16 bytes");
  device->ops->free(device, &memory);
}

/* A column-major buffer with a pitch is copied into a packed array, on the given stream, at each
   request. */
TEST_WITH(test_texture_over_an_array, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_argument image = {.name = "image",
                                  .rank = 2,
                                  .shape = {3, 2},
                                  .stride = {1, 5},
                                  .elements = 10,
                                  .dtype = dtype_find("f32"),
                                  .access = ACCESS_ARRAY,
                                  .address = ADDRESS_WRAP};
  static const float packed[] = {0, 1, 2, 5, 6, 7};
  float from[64];
  int own;
  void *stream = &own;
  struct texture texture;
  memcpy(from, elements, sizeof from);
  /* unaligned */
  assert_int_equal(device->ops->texture_make(device, &image, from + 1, &texture, NULL), CUGEN_OK);
  texture.buffer = from;
  assert_int_equal(seen(&texture)->width, 3);
  assert_int_equal(seen(&texture)->height, 2);
  assert_int_equal(seen(&texture)->flags, CU_TRSF_NORMALIZED_COORDINATES);
  assert_int_equal(device->ops->texture_update(device, &texture, &stream, NULL), CUGEN_OK);
  assert_ptr_equal(fake->copy_stream, &own);
  assert_memory_equal(seen(&texture)->base, packed, sizeof packed);
  from[5] = 50;
  assert_int_equal(device->ops->texture_update(device, &texture, NULL, NULL), CUGEN_OK);
  assert_ptr_not_equal(fake->copy_stream, &own);
  assert_true(((const float *)seen(&texture)->base)[3] == 50);
  device->ops->texture_free(device, &texture);
  assert_int_equal(fake->memory, 0);
}

TEST_WITH(test_texture_too_large, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_argument image = {.name = "image",
                                  .rank = 1,
                                  .shape = {131073},
                                  .stride = {1},
                                  .elements = 131073,
                                  .dtype = dtype_find("u8"),
                                  .access = ACCESS_ARRAY};
  struct texture texture;
  FAILS(device->ops->texture_make(device, &image, NULL, &texture, &err), CUGEN_ERROR_DEVICE,
        "texture 'image': cuArray3DCreate_v2: ");
}

TEST_WITH(test_launch_failure_names_the_launch, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct loaded *loaded = load_work(device);
  struct kernel_launch launch = {
      .entry = "work", .grid = {4, 2, 1}, .block = {32, 32, 1}, .shared_bytes = 96};
  struct entry *entry;
  WORKS(device->ops->entry(device, loaded, 0, 96, &entry, &err));
  fake->fail_at = fake->calls + 1;
  fake->fail_with = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  FAILS_WITH(device->ops->launch(device, entry, &launch, NULL, &err), CUGEN_ERROR_DEVICE,
             "cuLaunchKernel: CUDA_ERROR_PRETENDED (701): a pretended error\n"
             "kernel 'work', grid 4x2x1, block 32x32x1 = 1024 threads (it can have 512 with "
             "its 40 registers), 400 + 96 bytes of shared memory");
  device->ops->unload(device, loaded);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

/* Buffer sets of a kernel that changes its arguments: a set is dirty after a launch. */
struct sets {
  struct call *calls[3];
  bool dirty[3];
  bool timing;
  long launches, renewals, stale, spans;
  size_t next; /* set of the next launch */
};

static struct sets sets;

static void dirty_set(const struct fake_launch *launch) {
  sets.launches++;
  sets.stale += sets.dirty[sets.next];
  sets.dirty[sets.next] = true;
  sets.next = (sets.next + 1) % 3;
}

static int clean_set(void *context, size_t set, cugen_error *err) {
  struct sets *s = context;
  assert_false(s->timing);
  s->dirty[set] = false;
  s->renewals++;
  return CUGEN_OK;
}

/* Pretends that each span takes a tenth of a millisecond. */
static int time_sets(struct device *device, bool held, int (*run)(void *context, cugen_error *err),
                     void *context, double *seconds, cugen_error *err) {
  sets.timing = true;
  int status = run(context, err);
  sets.timing = false;
  sets.spans++;
  *seconds = 1e-4;
  return status;
}

TEST_WITH(test_renewal, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct device_ops ops = *device->ops;
  struct kernel_spec plain = {.launches = launches, .launch_count = 1};
  const struct measure_renewal renewal = {clean_set, &sets};
  const struct measure_options options = {.samples = 2, .seconds = 1};
  struct measurement measured;
  struct plan *plan;
  WORKS(plan_open(device, &plain, &compiled, &plan, &err));
  sets = (struct sets){0};
  for (size_t i = 0; i < 3; i++) WORKS(call_bind(plan, NULL, NULL, 0, &sets.calls[i], &err));
  ops.time = time_sets;
  fake->run = dirty_set;
  const struct device_ops *const own = device->ops;
  device->ops = &ops;
  WORKS(measure_calls(device, sets.calls, 3, &renewal, &options, &measured, &err));
  /* Two launches to find out that 10 make a millisecond, 3 for a first look, two samples of 10,
     in groups of three sets. */
  assert_int_equal(sets.launches, 25);
  assert_int_equal(sets.renewals, 25);
  assert_int_equal(sets.stale, 0);
  assert_int_equal(sets.spans, 2 + 1 + 2 * 4);
  assert_true(measured.seconds > 3.9e-5 && measured.seconds < 4.1e-5);
  /* Without a renewal nothing comes between the launches of a sample. */
  sets.launches = sets.renewals = sets.spans = 0;
  WORKS(measure_calls(device, sets.calls, 3, NULL, &options, &measured, &err));
  assert_int_equal(sets.launches, 25);
  assert_int_equal(sets.renewals, 0);
  assert_int_equal(sets.spans, 5);
  assert_true(sets.stale > 0);
  device->ops = own;
  fake->run = NULL;
  for (size_t i = 0; i < 3; i++) call_free(sets.calls[i]);
  plan_close(plan);
}

/* What a held stream waits for, and what was launched meanwhile. */
static struct {
  const volatile unsigned *turns;
  unsigned turn;
  int waiting, running;
} held_back;

static void wait_or_run(const struct fake_launch *launch) {
  if (launch->kernel) {
    assert_true(*held_back.turns != held_back.turn);
    held_back.running++;
    return;
  }
  held_back.turns = *(const volatile unsigned **)launch->parameters[0];
  held_back.turn = *(const unsigned *)launch->parameters[1];
  held_back.waiting++;
}

/* The turn comes once all launches are queued, also when one of them fails. */
TEST_WITH(test_held_back, open_device, close_device) {
  struct device *device = ((struct opened *)*state)->device;
  struct kernel_spec plain = {.launches = launches, .launch_count = 1};
  struct plan *plan;
  struct call *call;
  double seconds;
  cugen_error err;
  assert_int_equal(plan_open(device, &plain, &compiled, &plan, &err), CUGEN_OK);
  assert_int_equal(call_bind(plan, NULL, NULL, 0, &call, &err), CUGEN_OK);
  struct work work = {.device = device, .ops = device->ops, .plan = plan, .call = call};
  fake->holds = true;
  assert_int_equal(device->ops->time(device, true, work_launch, &work, &seconds, &err), CUGEN_OK);
  fake->run = wait_or_run;
  fake->fail_only = "cuLaunchKernel";
  fake->fail_with = CUDA_ERROR_LAUNCH_FAILED;
  for (int i = 1; i <= 3; i++) {
    const bool fails = i == 2;
    fake->calls = 0;
    fake->fail_at = fails ? 2 : 0; /* after the launch that waits */
    const int status = device->ops->time(device, true, work_launch, &work, &seconds, &err);
    assert_int_equal(status != CUGEN_OK, fails);
    assert_int_equal(held_back.waiting, i);
    assert_int_equal(*held_back.turns, held_back.turn);
  }
  assert_int_equal(held_back.running, 2);
  fake->run = NULL, fake->fail_only = NULL;
  call_free(call);
  plan_close(plan);
}

/* Seconds of each launch. */
static double each;
static long stalls; /* number of the launch that waits for 5 ms; 0: none */

static int time_launches(struct device *device, bool held,
                         int (*run)(void *context, cugen_error *err), void *context,
                         double *seconds, cugen_error *err) {
  const long before = sets.launches;
  int status = run(context, err);
  *seconds = each * (double)(sets.launches - before);
  if (stalls && before < stalls && stalls <= sets.launches) *seconds += 5e-3;
  return status;
}

/* How often a variant is run that takes `each` seconds and took `seen` when it was verified, if
   the best variant takes `best`. */
TEST_WITH(test_runs_of_a_variant, open_device, close_device) {
  static const struct {
    double each, seen, best;
    int launches, samples;
    bool dropped;
    long stalls;
  } cases[] = {
      {5e-3, 0, 0, 2 + 11, 11, false, 0}, /* the first variant: nothing is known yet */
      /* as fast as the best; the verified run has warmed up */
      {5e-3, 5e-3, 5e-3, 11, 11, false, 0},
      {5e-3, 5.1e-3, 4.7e-3, 2, 2, true, 0},   /* 6 % slower, and both runs agree */
      {4.9e-3, 4.9e-3, 4.7e-3, 3, 3, true, 0}, /* shorter: it takes three runs to tell */
      {6e-3, 6e-3, 5e-3, 2, 2, true, 0},       /* 20 % slower */
      {7e-3, 7e-3, 5e-3, 2, 2, true, 0},       /* 40 % slower */
      /* 60 % slower: one run in addition to the verified one */
      {8e-3, 8e-3, 5e-3, 1, 1, true, 0},
      {50e-3, 50e-3, 5e-3, 0, 1, true, 0}, /* ten times slower: no run */
      /* longer than all samples may take: no run */
      {2, 2, 0, 0, 1, false, 0},
      /* short: ten launches make a batch, whatever the cold run took */
      {1e-4, 5e-4, 1e-4, 2 + 3 + 110, 11, false, 0},
      /* short: two looks show that it is twice as slow */
      {1e-4, 1e-4, 5e-5, 2 + 3 + 3, 1, true, 0},
      {4e-3, 4e-3, 1e-3, 1, 1, true, 0}, /* one run confirms the verified one, */
      /* or refutes it, if the launching process had to wait in the verified run, */
      {1e-4, 4e-3, 1e-4, 1 + 3 + 110, 11, false, 0},
      {1e-4, 1e-4, 1e-4, 2 + 3 + 3 + 110, 11, false, 4},     /* or in the first look, */
      {1e-4, 1e-4, 1e-4, 2 + 3 + 110, 11, false, 2},         /* or before it, */
      {1e-4, 1e-4, 1e-4, 2 + 3 + 110, 11, false, 2 + 3 + 1}, /* or in the first sample */
  };
  struct device *device = ((struct opened *)*state)->device;
  struct device_ops ops = *device->ops;
  struct kernel_spec plain = {.launches = launches, .launch_count = 1};
  struct plan *plan;
  WORKS(plan_open(device, &plain, &compiled, &plan, &err));
  WORKS(call_bind(plan, NULL, NULL, 0, &sets.calls[0], &err));
  ops.time = time_launches;
  fake->run = dirty_set;
  const struct device_ops *const own = device->ops;
  device->ops = &ops;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct measure_options options = {
        .samples = 11, .seconds = 1, .seen = cases[i].seen, .best = cases[i].best};
    struct measurement measured;
    sets.launches = 0;
    each = cases[i].each, stalls = cases[i].stalls;
    WORKS(measure_calls(device, sets.calls, 1, NULL, &options, &measured, &err));
    if (sets.launches != cases[i].launches || measured.samples != cases[i].samples ||
        measured.dropped != cases[i].dropped)
      fail_msg("case %zu: %ld launches, %d samples", i, (long)sets.launches, measured.samples);
    assert_true(fabs(measured.seconds - each) < 1e-9);
  }
  device->ops = own;
  fake->run = NULL;
  call_free(sets.calls[0]);
  plan_close(plan);
}

ALL_TESTS_WITH(find_fake, NULL);
