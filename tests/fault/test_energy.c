/* Objectives on a GPU whose times and energies are scripted, over the fake driver and the fake
   NVML: the objective decides which variant wins, the records keep both measures, and a GPU
   without a counter is refused. */

#include <dlfcn.h>
#include <math.h>
#include <unistd.h>

#include "api/records.h"
#include "api/tuning.h"
#include "fake_nvml.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "runtime/compile/toolkit.h"
#include "runtime/devices.h"
#include "tests/opening.h"

static struct fake_nvml *nvml;
static char cache[] = "/tmp/cugen-energy-XXXXXX";

/* The four variants of wild.lua for n = 1003, known by their launch. The second takes more time
   and less energy than the first; the third takes more of both; the last takes the least energy,
   but is too slow for its energy to be measured. */
static const struct scripted {
  const char *variant;
  unsigned block, grid;
  float milliseconds;
  double joules;
} script[] = {{"wild BLOCK_SIZE=128 ITEMS=1", 128, 8, 2.0f, 0.9},
              {"wild BLOCK_SIZE=128 ITEMS=4", 128, 2, 2.2f, 0.5},
              {"wild BLOCK_SIZE=256 ITEMS=1", 256, 4, 2.4f, 0.6},
              {"wild BLOCK_SIZE=256 ITEMS=4", 256, 1, 5.0f, 0.1}};
enum { VARIANTS = sizeof script / sizeof *script };
static const struct scripted *last = script;

static void run_kernel(const struct fake_launch *launch) {
  fake_run_wild(launch);
  if (fake_is_reference(launch)) return;
  for (int i = 0; i < VARIANTS; i++)
    if (script[i].block == launch->block[0] && script[i].grid == launch->grid[0]) last = &script[i];
  if (nvml) nvml->joules += last->joules;
}

static long replayed_before; /* value at the event before */

/* In a graph each launch takes a fifth less time. */
static float elapsed(void) {
  const long replayed = fake->replayed - replayed_before;
  replayed_before = fake->replayed;
  return replayed > 0 ? 0.8f * last->milliseconds * (float)replayed : last->milliseconds;
}

FIXTURE(find_fakes) {
  return find_fake(NULL) || mkstemp(cache) < 0 ? -1 : 0;
}

FIXTURE(remove_cache) {
  return unlink(cache);
}

/* Loads the fake, so that the library finds it under NVML's name. */
static void load_nvml(void) {
  const char *folder = getenv("CUGEN_TEST_FAKE_NVML");
  const char *path = formed("%s/libnvidia-ml.so.1", folder ? folder : ".");
  void *handle = dlopen(path, RTLD_NOW);
  nvml = handle ? dlsym(handle, "fake_nvml") : NULL;
  if (!nvml) fail_msg("%s is not the fake NVML", path);
}

static const char *measure; /* how variants are timed; NULL: as the config says */

static cugen_kernel *open_kernel(const char *objective, cugen **lib) {
  const char *size = "n=1003";
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = run_kernel, .elapsed = elapsed};
  replayed_before = 0;
  *lib =
      OPEN_LIBRARY(.device = "cuda:0", .cache = cache, .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"),
                   .objective = objective, .measure = measure);
  return kernel_of(*lib, "tests/configs/wild.lua", &size, 1);
}

static int tune(cugen_kernel *kernel, int again, cugen_tune_result *result, cugen_error *err) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.budget_seconds = -1;
  options.strategy = "exhaustive";
  options.again = again;
  return api_kernel_tune(kernel, &options, result, err);
}

static void close_all(cugen_kernel *kernel, cugen *lib) {
  cugen_kernel_close(kernel);
  cugen_close(lib);
}

static void expect_refusal(const char *objective, const char *what) {
  cugen *lib;
  cugen_error err;
  cugen_tune_result result;
  cugen_kernel *kernel = open_kernel(objective, &lib);
  int status = tune(kernel, 0, &result, &err);
  if (!status || !strstr(err.message, what))
    fail_msg("%d: %s\n  instead of %s", status, err.message, what);
  close_all(kernel, lib);
}

/* Checks the records: which comes first, each energy, and which records no other dominates. */
static void expect_records(const char *objective, int first, const double *joules,
                           const char *front) {
  cugen *lib;
  cugen_kernel *kernel = open_kernel(objective, &lib);
  assert_int_equal(record_count(kernel), VARIANTS);
  for (size_t i = 0; i < VARIANTS; i++) {
    cugen_record record;
    int which = 0;
    record = record_at(kernel, i);
    while (strcmp(script[which].variant, record.variant) != 0) which++;
    if (i == 0) assert_string_equal(record.variant, script[first].variant);
    if (fabs(record.energy - joules[which]) > 0.001)
      fail_msg("%s: %g J", record.variant, record.energy);
    assert_int_equal(record.non_dominated, front[which] == 'x');
    if (record.energy > 0)
      assert_true(record.energy_resolution > 0 && record.energy_resolution < 0.5 * record.energy);
  }
  close_all(kernel, lib);
}

TEST(what_cannot_be_measured_is_refused) {
  expect_refusal(
      "energy",
      "objective \"energy\" needs energy, which cannot be measured on NVIDIA Pretended: ");
  load_nvml();
  nvml->result = 3;
  expect_refusal("energy", "nvmlDeviceGetTotalEnergyConsumption: Not Supported");
  nvml->result = 0;
}

/* A device whose GPU NVML did not find reads the energy once NVML finds the GPU. */
TEST(a_gpu_is_found_later) {
  CLOSED(toolkit) *toolkit;
  struct device *device;
  double joules = -1;
  *fake = (struct fake_cuda){.version = 13000, .devices = 1};
  WORKS(toolkit_open(NULL, &toolkit, &err));
  WORKS(cuda_device_ops.open(&(struct device_options){.toolkit = toolkit}, &device, &err));
  nvml->lost = true;
  FAILS(device->ops->energy(device, &joules, &err), CUGEN_ERROR_DEVICE, "HandleByUUID");
  nvml->lost = false;
  WORKS(device->ops->energy(device, &joules, &err));
  assert_true(joules == nvml->joules);
  device->ops->close(device);
}

TEST(the_least_energy_wins) {
  static const double measured[VARIANTS] = {0.9, 0.5, 0.6, 0};
  cugen *lib;
  cugen_tune_result result;
  cugen_kernel *kernel = open_kernel("energy", &lib);
  WORKS(tune(kernel, 0, &result, &err));
  assert_int_equal(result.tried, VARIANTS);
  assert_int_equal(result.energies, 3);
  close_all(kernel, lib);
  expect_records("energy", 1, measured, "xx..");
  expect_records("energy_delay", 1, measured, "xx..");
  expect_records("power", 1, measured, "xx..");
  expect_records(NULL, 0, measured, "xx..");
  expect_records("time", 0, measured, "xx..");
  expect_records("time * time * time * time * time * time * time * energy", 0, measured, "xx..");
}

/* Measuring the time again keeps the energies; asking for the energy again measures no more of
   them. */
TEST(both_measures_stay) {
  static const double measured[VARIANTS] = {0.9, 0.5, 0.6, 0};
  cugen *lib;
  cugen_tune_result result;
  cugen_kernel *kernel = open_kernel("time", &lib);
  WORKS(tune(kernel, 1, &result, &err));
  assert_int_equal(result.tried, VARIANTS);
  assert_int_equal(result.energies, 0);
  close_all(kernel, lib);
  expect_records("energy", 1, measured, "xx..");
  kernel = open_kernel("energy", &lib);
  WORKS(tune(kernel, 0, &result, &err));
  assert_int_equal(result.tried + result.energies, 0);
  close_all(kernel, lib);
}

/* Measuring the energy times the variant again in the way under which its record is kept. */
TEST(the_way_of_timing_stays) {
  cugen *lib;
  cugen_tune_result result;
  measure = "graph";
  cugen_kernel *kernel = open_kernel("energy", &lib);
  WORKS(tune(kernel, 0, &result, &err));
  assert_int_equal(result.energies, 3);
  for (size_t i = 0; i < VARIANTS; i++) {
    cugen_record record;
    int which = 0;
    record = record_at(kernel, i);
    while (strcmp(script[which].variant, record.variant) != 0) which++;
    if (record.energy > 0 && record.seconds > 0.9e-3 * (double)script[which].milliseconds)
      fail_msg("%s: %g s, which is not the time in a graph", record.variant, record.seconds);
  }
  close_all(kernel, lib);
  measure = NULL;
}

TEST(a_counter_that_stands_still_is_told) {
  cugen *lib;
  cugen_tune_result result;
  nvml->frozen = true;
  cugen_kernel *kernel = open_kernel("energy", &lib);
  FAILS(tune(kernel, 1, &result, &err), CUGEN_ERROR_DEVICE, "stands still");
  close_all(kernel, lib);
}

ALL_TESTS_WITH(find_fakes, remove_cache);
