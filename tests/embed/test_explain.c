/* Devices that are not present, as an application sees them: what they could run, their
   ceilings, occupancy on them. */

#include <math.h>

#include "api/explain.h"
#include "api/kernel.h"
#include "api/machine.h"
#include "api/records.h"
#include "api/source.h"
#include "api/tuning.h"
#include "tests/opening.h"

static cugen *open_on(const char *device) {
  return OPEN_LIBRARY(.device = device, .cache = "none");
}

TEST(test_models) {
  const char *got[16];
  CLOSED(cugen) *lib = open_on("cpu");
  assert_int_equal(api_models(lib, got, 16), 11);
  assert_string_equal(got[0], "model:K40");
  assert_string_equal(got[10], "model:B200");
  assert_int_equal(api_models(lib, NULL, 0), 11);
}

/* Tuning needs no error to fill, here where predictions cannot be verified. */
TEST(test_no_error) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  CLOSED(cugen) *lib = OPEN_LIBRARY(.device = "model:T4", .cache = "none", .compiler = "/none/g++",
                                    .worker = getenv("CUGEN_WORKER"));
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "tests/configs/wild.lua", NULL, 0);
  options.budget_count = 1;
  assert_int_equal(cugen_kernel_tune(kernel, &options, NULL, NULL), CUGEN_OK);
  assert_int_equal(cugen_kernels_tune(&kernel, 1, &options, NULL, NULL), CUGEN_OK);
}

/* A100: 164 KB for 2048 threads are 82 B a thread, of which the driver keeps 1 KB for each
   block. */
TEST(test_occupancy) {
  CLOSED(cugen) *lib = open_on("cpu");
  cugen_occupancy got;
  cugen_resources resources = {.registers = 32, .threads = 256, .shared_bytes = 82 * 256 - 1024};
  WORKS(api_device_occupancy(lib, "model:A100", &resources, &got, &err));
  assert_int_equal(got.blocks, 8);
  assert_int_equal(got.max_threads, 2048);
  assert_true(got.fraction == 1.0 && got.best_fraction == 1.0);
  assert_string_equal(got.device, "NVIDIA A100-SXM4-40GB");
  assert_string_equal(got.arch, "sm_80");
  resources.shared_bytes = 83 * 256 - 1024;
  WORKS(api_device_occupancy(lib, "NVIDIA A100-SXM4-40GB sm_80 108 SMs", &resources, &got, &err));
  assert_int_equal(got.blocks, 7);
  assert_string_equal(got.limiter, "shared memory");
  assert_int_equal(got.warps, 8);
  assert_int_equal(got.idle_lanes, 0);
  assert_true(got.shared_bytes == 83 * 256 - 1024);
  /* 128 B a thread: 164 KB hold at most 1280 threads in blocks for each of which the driver
     keeps 1 KB. */
  const cugen_resources grows = {.registers = 32, .threads = 100, .dynamic_shared = "128 * block"};
  WORKS(api_device_occupancy(lib, "model:A100", &grows, &got, &err));
  assert_int_equal(got.warps, 4);
  assert_int_equal(got.idle_lanes, 28);
  assert_true(got.shared_bytes == 12800 && got.best_shared_bytes == 128 * got.best_threads);
  assert_string_equal(got.limiter, "shared memory");
  /* With a carveout of half of 164 KiB shared memory has 100 KiB, which hold three blocks of 33
     KiB. */
  cugen_resources carved = {.registers = 32, .threads = 512, .shared_bytes = 32 << 10};
  WORKS(api_device_occupancy(lib, "model:A100", &carved, &got, &err));
  assert_int_equal(got.blocks, 4);
  carved.has_carveout = 1, carved.carveout = 50;
  WORKS(api_device_occupancy(lib, "model:A100", &carved, &got, &err));
  assert_int_equal(got.blocks, 3);
  carved.carveout = 101;
  FAILS(api_device_occupancy(lib, "model:A100", &carved, &got, &err), CUGEN_ERROR_USAGE);
  resources.shared_bytes = 1 << 20;
  WORKS(api_device_occupancy(lib, "model:A100", &resources, &got, &err));
  assert_int_equal(got.blocks + got.best_threads, 0);
  assert_string_equal(got.limiter, "none");
}

static void refuse(cugen *lib, const char *device, int registers, int threads, int64_t shared,
                   const char *words) {
  const cugen_resources resources = {
      .registers = registers, .threads = threads, .shared_bytes = shared};
  cugen_occupancy got;
  FAILS(api_device_occupancy(lib, device, &resources, &got, &err), CUGEN_ERROR_USAGE, words);
  assert_string_equal(got.limiter, "none");
}

static void refuse_shared(cugen *lib, const char *expression, const char *words) {
  const cugen_resources resources = {.registers = 32, .threads = 256, .dynamic_shared = expression};
  cugen_occupancy got;
  FAILS(api_device_occupancy(lib, "model:H100", &resources, &got, &err), CUGEN_ERROR_USAGE, words);
}

TEST(test_occupancy_refused) {
  CLOSED(cugen) *lib = open_on("cpu");
  refuse(lib, NULL, 32, 256, 0, "the cpu device has no occupancy");
  refuse(lib, "model:", 32, 256, 0, "described are model:K40");
  refuse(lib, "gpu", 32, 256, 0, "no device 'gpu'");
  refuse(lib, "model:H100", 0, 256, 0, "1 to 255 registers");
  refuse(lib, "model:H100", 32, 0, 0, "1 to 1024 threads");
  refuse(lib, "model:H100", 32, 1025, 0, "1 to 1024 threads");
  refuse(lib, "model:H100", 32, 32, -1, "shared memory");
  refuse_shared(lib, "4 * blok", "did you mean \"block\"?");
  refuse_shared(lib, "block < 4", "block");
  refuse_shared(lib, "64 - block", "a block of 256 threads has no -192 bytes");
  refuse_shared(lib, "", "shared memory \"\"");
}

static cugen_kernel *open_kernel(cugen *lib) {
  return kernel_of(lib, "matmul", NULL, 0);
}

/* From NVIDIA's data sheets: A100 19.5 TFLOP/s and 1555 GB/s, H200 67 TFLOP/s and 4.8 TB/s. */
TEST(test_ceilings) {
  static const struct {
    const char *device;
    double flops, bandwidth;
  } rows[] = {{"model:A100", 19.5e12, 1555e9},
              {"model:h200", 66.9e12, 4.81e12},
              {"cpu", 0, 0},
              {"Some GPU sm_90 7 SMs", 0, 0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    CLOSED(cugen) *lib = open_on(rows[i].device);
    CLOSED(cugen_kernel) *kernel = open_kernel(lib);
    cugen_ceilings got;
    assert_int_equal(api_kernel_ceilings(kernel, &got, NULL), CUGEN_OK);
    assert_string_equal(got.dtype, "f32");
    assert_true(fabs(got.flops_peak - rows[i].flops) <= 0.002 * rows[i].flops);
    assert_true(fabs(got.bandwidth_peak - rows[i].bandwidth) <= 0.002 * rows[i].bandwidth);
    assert_true(got.flops == 0 && got.bandwidth == 0 && got.flops_at == 0);
  }
}

/* The ceiling of matrix products is the tensor cores' if they support the type; that of chains
   of multiply-adds is not. */
TEST(test_tensor_ceilings) {
  static const struct {
    const char *config, *dtype, *type;
    double flops, tensor; /* rates of an H200 */
  } rows[] = {{"matmul", "dtype=bf16", "bf16", 133.8e12, 1070e12},
              {"matmul", "dtype=tf32", "tf32", 66.9e12, 535e12},
              {"matmul", "dtype=f64", "f64", 33.45e12, 66.9e12},
              {"matmul", "dtype=f32", "f32", 66.9e12, 0},
              {"peak_fma", "dtype=bf16", "bf16", 133.8e12, 0}};
  CLOSED(cugen) *lib = open_on("model:H200");
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cugen_ceilings got;
    CLOSED(cugen_kernel) *kernel = kernel_of(lib, rows[i].config, &rows[i].dtype, 1);
    assert_int_equal(api_kernel_ceilings(kernel, &got, NULL), CUGEN_OK);
    assert_string_equal(got.dtype, rows[i].type);
    assert_true(fabs(got.flops_peak - rows[i].flops) <= 0.002 * rows[i].flops);
    assert_true(fabs(got.tensor_flops_peak - rows[i].tensor) <= 0.002 * rows[i].tensor);
    assert_true(fabs(api_kernel_tensor_flops(kernel, "fp8") - 2141e12) < 1e12);
  }
}

/* A described device can be looked at in every way, but nothing runs on it. */
TEST(test_nothing_runs) {
  CLOSED(cugen) *lib = open_on("model:A100");
  CLOSED(cugen_kernel) *kernel = open_kernel(lib);
  cugen_record record;
  cugen_plan *plan;
  const char *source;
  cugen_space_info space;
  assert_string_equal(cugen_kernel_device(kernel)->id, "model:A100");
  WORKS(api_kernel_space(kernel, &space, &err));
  assert_true(space.valid > 0);
  WORKS(cugen_kernel_source(kernel, NULL, &source, NULL, &err));
  FAILS(api_kernel_run(kernel, NULL, 0, &record, &err), CUGEN_ERROR_DEVICE,
        "described and not here");
  FAILS(cugen_plan_open(kernel, NULL, &plan, &err), CUGEN_ERROR_DEVICE);
  assert_null(plan);
}

/* Tuning for a described device predicts, and marks every record as predicted; a device of which
   too little is known is refused. */
TEST(test_predictions) {
  CLOSED(cugen) *lib = open_on("model:A100"), *other = open_on("Some GPU sm_90 7 SMs");
  CLOSED(cugen_kernel) *kernel = open_kernel(lib), *unknown = open_kernel(other);
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  cugen_record record;
  options.budget_count = 2;
  assert_false(api_kernel_predicted(kernel));
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_true(api_kernel_predicted(kernel));
  assert_int_equal(result.tried, 2);
  assert_true(result.measuring == 0);
  assert_int_equal(record_count(kernel), 2);
  record = record_at(kernel, 0);
  assert_true(record.predicted && record.seconds > 0 && record.samples == 0 &&
              record.registers > 0);
  FAILS(api_kernel_tune(unknown, &options, &result, &err), CUGEN_ERROR_USAGE,
        "nothing is known of its speed");
}
