/* Compares the bank passes and sectors that cugen check counts with an H200's counters for the
   same variants: tools/bench/results/2026-11-21-h200-check.txt. */
#include <math.h>

#include "api/check.h"
#include "kernels.h"
#include "tests/testing.h"

enum { MOST_SETTINGS = 4 };

/* more: another setting; NULL: none. */
#define TRANSPOSE(variant, more, ...)                                                              \
  { "transpose", variant, {"rows=512", "cols=512", "batch=1", more}, __VA_ARGS__ }

static const struct {
  const char *config, *variant, *settings[MOST_SETTINGS];
  /* the GPU's counters; 0: the variant has no such access */
  double shared_read, shared_write, read, write;
} rows[] = {
    TRANSPOSE("coalesced_read block_x=32 block_y=8", NULL, 0, 0, 32768, 262144),
    TRANSPOSE("coalesced_write block_x=32 block_y=8", NULL, 0, 0, 262144, 32768),
    TRANSPOSE("conflicts tile=32 rows_per_thread=4", NULL, 262144, 8192, 32768, 32768),
    TRANSPOSE("padded pad=1 tile=32 rows_per_thread=4", NULL, 8192, 8192, 32768, 32768),
    TRANSPOSE("padded pad=1 tile=64 rows_per_thread=4", NULL, 8192, 8192, 32768, 32768),
    TRANSPOSE("swizzled tile=32 rows_per_thread=4", NULL, 8192, 8192, 32768, 32768),
    TRANSPOSE("vector access=16 tile_rows=64 tile_cols=64 bank=xor", NULL, 8192, 8192, 32768,
              32768),
    TRANSPOSE("vector access=16 tile_rows=64 tile_cols=64 bank=plain", NULL, 8192, 65536, 32768,
              32768),
    TRANSPOSE("vector access=8 bank=plain", NULL, 8192, 131072, 32768, 32768),
    TRANSPOSE("padded tile=32 pad=1", "dtype=f64", 16384, 16384, 65536, 65536),
    {"matmul", "tiled tile=16 pad=0", {"M=256", "N=256", "K=256"}, 786624, 65536, 262144, 8192},
    {"matmul",
     "tiled tile=16 pad=0",
     {"M=256", "N=256", "K=256", "layout_a=col"},
     786556,
     294954,
     262144,
     8192},
    {"matmul", "tiled tile=32 pad=0", {"M=256", "N=256", "K=256"}, 786432, 32768, 131072, 8192},
    {"filter", "tiled", {"rows=256", "cols=256"}, 51639, 4608, 15552, 8192},
    {"filter", "naive", {"rows=256", "cols=256"}, 0, 0, 240640, 8192},
    {"reduce", "static", {"rows=4", "cols=65536"}, 8704, 6144, 32768, 512},
};

static double counted(const cugen_check *check, cugen_memory memory, int write) {
  double sum = 0;
  for (size_t i = 0; i < check->traffic_count; i++)
    if (check->traffic[i].memory == memory && check->traffic[i].write == write)
      sum += check->traffic[i].needed;
  return sum;
}

/* The figures must agree within a hundredth, since the GPU's own figures differ between runs. */
static void expect(const char *variant, const char *what, double here, double there) {
  if (fabs(here - there) > there / 100)
    fail_msg("%s: %s: %.0f counted, an H200 says %.0f", variant, what, here, there);
}

TEST(test_row) {
  cugen *lib = *state;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    cugen_check_options options = {0};
    cugen_error error = {0};
    CLOSED(cugen_kernel) *kernel = NULL;
    cugen_check check = {0};
    size_t count = 0;
    while (count < MOST_SETTINGS && rows[i].settings[count]) count++;
    options.variant = rows[i].variant;
    if (cugen_kernel_open(lib, rows[i].config, rows[i].settings, count, &kernel, &error) ||
        api_kernel_check(kernel, &options, &check, &error))
      fail_msg("%s: %s", rows[i].variant, error.message);
    expect(rows[i].variant, "shared reads", counted(&check, CUGEN_MEMORY_SHARED, 0),
           rows[i].shared_read);
    expect(rows[i].variant, "shared writes", counted(&check, CUGEN_MEMORY_SHARED, 1),
           rows[i].shared_write);
    expect(rows[i].variant, "global reads", counted(&check, 0, 0), rows[i].read);
    expect(rows[i].variant, "global writes", counted(&check, 0, 1), rows[i].write);
  }
}

/* Without traffic the findings are the same and nothing is counted, also if findings and counts
   come from one image. */
TEST(test_without) {
  static const char *const variants[] = {"tiled tile=16 pad=0",
                                         "naive block_x=16 block_y=16 columns_along=x"};
  for (size_t i = 0; i < 2 * (sizeof variants / sizeof *variants); i++) {
    static const char *const settings[] = {"M=48", "N=48", "K=16"};
    cugen_check_options options = {0};
    cugen_error error = {0};
    CLOSED(cugen_kernel) *kernel = NULL;
    cugen_check check = {0};
    options.variant = variants[i / 2];
    options.no_traffic = i % 2 != 0;
    if (cugen_kernel_open(*state, "configs/matmul.lua", settings, 3, &kernel, &error) ||
        api_kernel_check(kernel, &options, &check, &error))
      fail_msg("%s: %s", options.variant, error.message);
    assert_int_equal(check.traffic_count == 0, options.no_traffic);
    assert_int_equal(check.runs, 1);
    assert_true(check.lines > 0 && check.lines_reached == check.lines);
  }
}

/* A loop of more than 512 rounds without a barrier is not counted in full, and the check says so. */
TEST(test_more_rounds_than_are_counted) {
  static const char *const settings[][3] = {{"M=16", "N=16", "K=512"}, {"M=16", "N=16", "K=513"}};
  for (size_t i = 0; i < 2; i++) {
    cugen_check_options options = {0};
    cugen_error error = {0};
    CLOSED(cugen_kernel) *kernel = NULL;
    cugen_check check = {0};
    options.variant = "naive block_x=16 block_y=16 columns_along=x";
    if (cugen_kernel_open(*state, "configs/matmul.lua", settings[i], 3, &kernel, &error) ||
        api_kernel_check(kernel, &options, &check, &error))
      fail_msg("%s: %s", settings[i][2], error.message);
    assert_int_equal(check.unwatched_count, i);
  }
}

ALL_TESTS_WITH(open_library, close_library);
