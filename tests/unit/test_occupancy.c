/* Occupancy against published examples: those of the CUDA C++ Best Practices Guide and of
   courses for V100, K40 and A100, each with its limiter. */

#include <cuda_occupancy.h>

#include "gen/config/device_file.h"
#include "runtime/model/described.h"
#include "runtime/model/occupancy.h"
#include "tests/testing.h"

/* The described GPUs, whose figures the published examples assume. */
static struct device_facts k40, v100, a100;

static struct device_description described(const char *name) {
  struct gpu_model model;
  struct device_description got;
  WORKS(device_file_open(NULL, name, &model, &err));
  described_model(&model, &got);
  return got;
}

FIXTURE(read_facts) {
  k40 = described("K40").facts, v100 = described("v100").facts, a100 = described("A100").facts;
  return 0;
}

struct row {
  const struct device_facts *facts;
  int registers, threads;
  int64_t static_shared, dynamic_shared;
  int blocks;
  double fraction;
  const char *limiter;
};

static void check_row(const struct row *row) {
  struct kernel_resources resources = {
      .registers = row->registers, .static_shared = row->static_shared, .max_threads = 1024};
  struct occupancy got;
  cugen_error err = {0};
  int status =
      occupancy_get(row->facts, &resources, row->threads, row->dynamic_shared, -1, &got, &err);
  if (status) fail_msg("%s", err.message);
  if (got.blocks != row->blocks || got.fraction != row->fraction ||
      strcmp(got.limiter, row->limiter) != 0)
    fail_msg("%d registers, %d threads, %d + %d bytes: %d blocks, %g, %s; expected %d, %g, %s",
             row->registers, row->threads, (int)row->static_shared, (int)row->dynamic_shared,
             got.blocks, got.fraction, got.limiter, row->blocks, row->fraction, row->limiter);
}

TEST(test_published) {
  static const struct row rows[] = {
      /* K40: 48 KB of shared memory; blocks of 128 threads. */
      {&k40, 32, 128, 3 * 1024, 0, 16, 1.0, "threads"},
      {&k40, 32, 128, 6 * 1024, 0, 8, 0.5, "shared memory"},
      {&k40, 32, 128, 12 * 1024, 0, 4, 0.25, "shared memory"},
      {&k40, 32, 128, 0, 12 * 1024, 4, 0.25, "shared memory"},
      /* V100: 65536 registers; 32 a thread are free, 64 leave half, 128 a quarter. */
      {&v100, 32, 256, 0, 0, 8, 1.0, "threads"},
      {&v100, 64, 256, 0, 0, 4, 0.5, "registers"},
      {&v100, 128, 256, 0, 0, 2, 0.25, "registers"},
      /* Best Practices Guide, 10.1.1: 37 registers and 128 threads: 12 blocks, 75 %; 320
         threads: 4 blocks, 63 %. */
      {&v100, 37, 128, 0, 0, 12, 0.75, "registers"},
      {&v100, 37, 320, 0, 0, 4, 0.625, "registers"},
      {&v100, 32, 32, 0, 0, 32, 0.5, "blocks"},
      /* A100: 164 KB for 2048 threads are 82 B a thread, including what the driver keeps. */
      {&a100, 32, 256, 82 * 256 - 1024, 0, 8, 1.0, "threads"},
      {&a100, 32, 256, 83 * 256 - 1024, 0, 7, 0.875, "shared memory"},
      {&a100, 32, 256, 8 * 256, 0, 8, 1.0, "threads"},
      /* More than 48 KB, with the opt-in. */
      {&a100, 32, 256, 0, 100 * 1024, 1, 0.125, "shared memory"},
      {&a100, 32, 256, 0, 81 * 1024, 2, 0.25, "shared memory"},
      /* More shared memory than a block may have. */
      {&a100, 32, 256, 0, 166912, 1, 0.125, "shared memory"},
      {&a100, 32, 256, 0, 166913, 0, 0.0, "none"},
      {&a100, 255, 1024, 0, 0, 0, 0.0, "none"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) check_row(&rows[i]);
}

static double fraction_of(const struct device_facts *facts, int registers, int threads) {
  struct kernel_resources resources = {.registers = registers, .max_threads = 1024};
  struct occupancy got;
  assert_int_equal(occupancy_get(facts, &resources, threads, 0, -1, &got, NULL), CUGEN_OK);
  return got.fraction;
}

/* V100: with more than 64 registers a thread at most half of the threads fit, with more than 128
   a quarter, whatever the block. */
TEST(test_registers_bound_every_block) {
  for (int threads = 32; threads <= 1024; threads += 32) {
    assert_true(fraction_of(&v100, 65, threads) < 0.5);
    assert_true(fraction_of(&v100, 129, threads) < 0.25);
  }
}

/* A block that is no multiple of 32 threads occupies its last warp completely. */
TEST(test_partial_warps_count_whole) {
  assert_true(fraction_of(&v100, 32, 65) == fraction_of(&v100, 32, 96));
}

TEST(test_launch_bounds) {
  struct kernel_resources resources = {.registers = 32, .max_threads = 128};
  struct occupancy got;
  assert_int_equal(occupancy_get(&v100, &resources, 256, 0, -1, &got, NULL), CUGEN_OK);
  assert_int_equal(got.blocks, 0);
  assert_string_equal(got.limiter, "none");
  resources.max_threads = 0; /* 0: not known */
  assert_int_equal(occupancy_get(&v100, &resources, 256, 0, -1, &got, NULL), CUGEN_OK);
  assert_int_equal(got.blocks, 8);
}

/* With a carveout of little shared memory fewer blocks fit; the driver chooses the split that
   holds most. */
TEST(test_carveout) {
  struct kernel_resources resources = {
      .registers = 32, .static_shared = 16384, .max_threads = 1024};
  struct occupancy free_choice, most, half, least;
  assert_int_equal(occupancy_get(&v100, &resources, 128, 0, -1, &free_choice, NULL), CUGEN_OK);
  assert_int_equal(occupancy_get(&v100, &resources, 128, 0, 100, &most, NULL), CUGEN_OK);
  assert_int_equal(occupancy_get(&v100, &resources, 128, 0, 50, &half, NULL), CUGEN_OK);
  assert_int_equal(occupancy_get(&v100, &resources, 128, 0, 0, &least, NULL), CUGEN_OK);
  assert_int_equal(free_choice.blocks, 6); /* 96 KiB */
  assert_int_equal(most.blocks, 6);
  assert_int_equal(half.blocks, 4); /* 48 KiB is not a size of the V100; the next larger is 64 */
  assert_int_equal(least.blocks, 1);
}

/* Shared memory that depends on the block's threads, in the form of the toolkit's function,
   which has no context, and in ours. */
static size_t toolkit_fixed(int threads) {
  return 3 * 1024;
}
static size_t toolkit_grows(int threads) {
  return 40 * (size_t)threads;
}
static size_t toolkit_tree(int threads) {
  return threads > 256 ? 64 * (size_t)threads : 8192;
}

typedef size_t toolkit_shared(int threads);
struct shared {
  toolkit_shared *of;
};

static int shared_of(void *context, int threads, int64_t *bytes, cugen_error *err) {
  const struct shared *shared = context;
  *bytes = (int64_t)shared->of(threads);
  return CUGEN_OK;
}

/* Returns the answer of cudaOccMaxPotentialOccupancyBlockSize of cuda_occupancy.h. */
static int best_by_toolkit(const struct device_facts *facts, int registers,
                           toolkit_shared *shared) {
  const cudaOccDeviceProp properties = {
      .computeMajor = (int)facts->compute_capability / 10,
      .computeMinor = (int)facts->compute_capability % 10,
      .maxThreadsPerBlock = (int)facts->max_threads_per_block,
      .maxThreadsPerMultiprocessor = (int)facts->max_threads_per_sm,
      .regsPerBlock = (int)facts->registers_per_block,
      .regsPerMultiprocessor = (int)facts->registers_per_sm,
      .warpSize = (int)facts->warp_size,
      .sharedMemPerBlock = (size_t)facts->shared_per_block,
      .sharedMemPerMultiprocessor = (size_t)facts->shared_per_sm,
      .numSms = (int)facts->sm_count,
      .sharedMemPerBlockOptin = (size_t)facts->shared_per_block_optin,
      .reservedSharedMemPerBlock = (size_t)facts->shared_reserved_per_block};
  const cudaOccFuncAttributes attributes = {.maxThreadsPerBlock = 1024,
                                            .numRegs = registers,
                                            .shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
                                            .maxDynamicSharedSizeBytes =
                                                (size_t)facts->shared_per_block_optin,
                                            .numBlockBarriers = 1};
  const cudaOccDeviceState device_state = {.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
  int grid, threads;
  assert_int_equal(cudaOccMaxPotentialOccupancyBlockSize(&grid, &threads, &properties, &attributes,
                                                         &device_state, shared, 0),
                   CUDA_OCC_SUCCESS);
  return threads;
}

TEST(test_best_block_of_the_toolkit) {
  static const struct device_facts *const devices[] = {&v100, &a100};
  static const int registers[] = {16, 32, 37, 65, 129, 255};
  static toolkit_shared *const functions[] = {toolkit_fixed, toolkit_grows, toolkit_tree};
  for (int d = 0; d < 2; d++)
    for (int r = 0; r < 6; r++)
      for (int s = 0; s < 3; s++) {
        struct kernel_resources resources = {.registers = registers[r], .max_threads = 1024};
        struct shared shared = {functions[s]};
        int threads;
        assert_int_equal(
            occupancy_best_block(devices[d], &resources, -1, shared_of, &shared, &threads, NULL),
            CUGEN_OK);
        assert_int_equal(threads, best_by_toolkit(devices[d], registers[r], functions[s]));
      }
}

static int same_bytes(void *context, int threads, int64_t *bytes, cugen_error *err) {
  *bytes = *(const int64_t *)context;
  return CUGEN_OK;
}

/* Finds the block that holds most by trying all sizes. Of equal ones the toolkit's function
   takes the largest. */
static int best_by_trying(const struct device_facts *facts,
                          const struct kernel_resources *resources, int64_t shared) {
  struct occupancy got;
  double most = 0;
  int best = 0;
  for (int threads = 1024; threads >= 32; threads -= 32) {
    assert_int_equal(occupancy_get(facts, resources, threads, shared, -1, &got, NULL), CUGEN_OK);
    if (got.fraction > most) most = got.fraction, best = threads;
  }
  return best;
}

TEST(test_best_block) {
  static const struct device_facts *const devices[] = {&k40, &v100, &a100};
  static const int registers[] = {16, 32, 37, 65, 129, 255};
  static int64_t shared[] = {0, 3 * 1024, 12 * 1024, 48 * 1024};
  for (int d = 0; d < 3; d++)
    for (int r = 0; r < 6; r++)
      for (int s = 0; s < 4; s++) {
        struct kernel_resources resources = {.registers = registers[r], .max_threads = 1024};
        int threads;
        assert_int_equal(occupancy_best_block(devices[d], &resources, -1, same_bytes, &shared[s],
                                              &threads, NULL),
                         CUGEN_OK);
        assert_int_equal(threads, best_by_trying(devices[d], &resources, shared[s]));
      }
}

TEST(test_best_block_refusals) {
  struct kernel_resources resources = {.registers = 32, .max_threads = 1024};
  int64_t most = 200 * 1024, none = -1;
  int threads = 7;
  assert_int_equal(occupancy_best_block(&a100, &resources, -1, same_bytes, &most, &threads, NULL),
                   CUGEN_OK);
  assert_int_equal(threads, 0); /* no block may have so much shared memory */
  assert_int_equal(occupancy_best_block(&a100, &resources, -1, same_bytes, &none, &threads, NULL),
                   CUGEN_ERROR_USAGE);
}

TEST(test_models) {
  struct device_description got = described("A100");
  assert_true(k40.sm_count == 15 && v100.sm_count == 80 && a100.sm_count == 108);
  assert_true(k40.max_blocks_per_sm == 16 && a100.max_blocks_per_sm == 32);
  assert_true(described_knows(&got, DEVICE_FACT_clock_khz));
  assert_true(described_device("NVIDIA H200 sm_90 132 SMs", &got));
  assert_string_equal(got.name, "NVIDIA H200");
  assert_true(described_device("Some GPU sm_90 7 SMs", &got));
  assert_string_equal(got.id, "");
  assert_false(described_knows(&got, DEVICE_FACT_clock_khz));
  /* predictions belong to no device */
  assert_false(described_device("predicted NVIDIA H200 sm_90 132 SMs", &got));
  assert_false(described_device("sm_35", &got)); /* neither NVRTC 12 nor 13 compiles for sm_35 */
  assert_true(described_device("sm_61", &got) && got.facts.shared_per_sm == 96 * 1024);
}

/* Descriptions of one name differ by any figure, but not by the architecture that is compiled
   for. */
TEST(test_figures) {
  struct device_description mine = described("A100"), other;
  const uint64_t figures = described_figures(&mine);
  other = mine, other.facts.clock_khz++;
  assert_true(described_figures(&other) != figures);
  other = mine, other.rates.memory_latency += 1;
  assert_true(described_figures(&other) != figures);
  other = mine, other.facts.compute_capability = 90, other.facts.architecture_specific = 1;
  assert_true(described_figures(&other) == figures);
}

TEST(test_refusals) {
  struct kernel_resources resources = {.registers = 32};
  struct occupancy got;
  struct device_facts unknown = v100, empty = {0};
  unknown.compute_capability = 990;
  FAILS_WITH(occupancy_get(&unknown, &resources, 256, 0, -1, &got, &err), CUGEN_ERROR_DEVICE,
             "the occupancy of compute capability 99.0 is not known");
  FAILS(occupancy_get(&empty, &resources, 256, 0, -1, &got, &err), CUGEN_ERROR_USAGE);
  FAILS(occupancy_get(&v100, &resources, 0, 0, -1, &got, &err), CUGEN_ERROR_USAGE);
  FAILS(occupancy_get(&v100, &resources, 32, -1, -1, &got, &err), CUGEN_ERROR_USAGE);
  assert_string_equal(got.limiter, "none");
}

/* A block's threads are the product of its three sizes. The number of resident blocks matters
   for cooperative launches only. */
TEST(test_resident) {
  const struct kernel_resources resources = {.registers = 32, .max_threads = 1024};
  struct kernel_launch launch = {.block = {8, 8, 4}, .grid = {1, 1, 1}, .cooperative = true};
  assert_int_equal(occupancy_resident(&a100, &resources, &launch), 8); /* of 2,048 threads */
  launch.shared_bytes = 81 * 1024;
  assert_int_equal(occupancy_resident(&a100, &resources, &launch), 2);
  launch.shared_bytes = 0;
  launch.block[2] = 16;
  assert_int_equal(occupancy_resident(&a100, &resources, &launch), 2);
  launch.cooperative = false;
  assert_int_equal(occupancy_resident(&a100, &resources, &launch), -1);
}

/* Predictions are kept under the figures of the description, which include each rate. */
TEST(test_figures_of_a_description) {
  const struct device_description before = {.facts = a100, .rates = {.fp32_lanes = 64}};
  struct device_description after = before;
  const uint64_t was = described_figures(&before);
#define X(name, what)                                                                              \
  after = before;                                                                                  \
  after.rates.name += 1;                                                                           \
  if (described_figures(&after) == was) fail_msg("another " #name ": " what);
  GPU_RATES(X)
#undef X
  after = before;
  after.facts.l2_bytes += 1;
  assert_true(described_figures(&after) != was);
}

ALL_TESTS_WITH(read_facts, NULL);
