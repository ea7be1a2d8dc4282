/* Parts of tuning that need no device: elements and fills, verification, strategies, messages,
   the roofline. */
#include <math.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/model/roofline.h"
#include "runtime/wire.h"
#include "tests/testing.h"
#include "tune/data/elements.h"
#include "tune/data/verify.h"
#include "tune/search/strategy.h"
#include "tune/worker/measure.h"

/* ---- Elements ------------------------------------------------------------------------------- */

static struct kernel_argument matrix(const char *dtype, int64_t rows, int64_t columns,
                                     int64_t pitch) {
  return (struct kernel_argument){.name = "C",
                                  .kind = CUGEN_ARGUMENT_OUTPUT,
                                  .dtype = dtype_find(dtype),
                                  .rank = 2,
                                  .shape = {rows, columns},
                                  .stride = {pitch, 1},
                                  .elements = rows * pitch,
                                  .tolerance = 1e-6};
}

TEST(small_formats_round_to_nearest_even) {
  const struct {
    const char *dtype;
    double value;
    uint16_t bits;
  } rows[] = {{"f16", 1.0, 0x3c00},     {"f16", -2.0, 0xc000},      {"f16", 65504.0, 0x7bff},
              {"f16", 65520.0, 0x7c00}, {"f16", 0x1p-24, 0x0001},   {"f16", 0x1p-14, 0x0400},
              {"f16", 0.0, 0x0000},     {"f16", 2049.0, 0x6800},    {"f16", 2051.0, 0x6802},
              {"bf16", 1.0, 0x3f80},    {"bf16", -0.0, 0x8000},     {"bf16", 257.0, 0x4380},
              {"bf16", 259.0, 0x4382},  {"bf16", INFINITY, 0x7f80}, {"e4m3", 1.0, 0x38},
              {"e4m3", -1.0625, 0xb8},  {"e4m3", 1.1875, 0x3a},     {"e4m3", 448.0, 0x7e},
              {"e4m3", 464.0, 0x7e},    {"e4m3", INFINITY, 0x7e},   {"e4m3", 0x1p-9, 0x01},
              {"e4m3", 0x1p-10, 0x00},  {"e4m3", 0x1.8p-9, 0x02},   {"e4m3", 0x1.ep-7, 0x08},
              {"e4m3", -0.0, 0x80},     {"e5m2", 1.0, 0x3c},        {"e5m2", 57344.0, 0x7b},
              {"e5m2", -61440.0, 0xfc}, {"e5m2", 0x1p-16, 0x01},    {"e5m2", 1.125, 0x3c},
              {"e5m2", 1.375, 0x3e},    {"e5m2", INFINITY, 0x7c}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint16_t got = 0;
    element_store(dtype_find(rows[i].dtype), &got, 0, rows[i].value);
    assert_int_equal(got, rows[i].bits);
  }
}

TEST(every_small_number_reads_back) {
  const char *const names[] = {"e4m3", "e5m2", "f16", "bf16"};
  for (int d = 0; d < 4; d++) {
    const struct dtype *dtype = dtype_find(names[d]);
    for (int bits = 0; bits < 1 << 8 * dtype->bytes; bits++) {
      uint16_t in = (uint16_t)bits, out = 0;
      double value = element_load(dtype, &in, 0);
      element_store(dtype, &out, 0, value);
      if (isnan(value))
        assert_true(isnan(element_load(dtype, &out, 0)));
      else
        assert_int_equal(out, in);
    }
  }
}

TEST(every_dtype_stores_and_loads) {
  for (const char *const *name = dtype_names; *name; name++) {
    unsigned char place[16];
    memset(place, 0xaa, sizeof place);
    element_store(dtype_find(*name), place, 0, 4.0);
    assert_true(element_load(dtype_find(*name), place, 0) == 4.0);
    /* nothing is written beyond the type's own width */
    assert_int_equal(place[dtype_find(*name)->bytes], 0xaa);
  }
}

TEST(integers_saturate) {
  int8_t i;
  uint16_t u;
  element_store(dtype_find("i8"), &i, 0, 1000.0);
  element_store(dtype_find("u16"), &u, 0, -3.0);
  assert_int_equal(i, 127);
  assert_int_equal(u, 0);
  element_store(dtype_find("i8"), &i, 0, (double)NAN);
  element_store(dtype_find("u16"), &u, 0, (double)NAN);
  assert_int_equal(i, -128);
  assert_int_equal(u, 0);
}

TEST(fills_are_repeatable_and_poison_the_padding) {
  struct kernel_argument a = matrix("f32", 3, 5, 8);
  float x[24], y[24];
  element_fill(&a, 7, 0, x);
  element_fill(&a, 7, 0, y);
  assert_memory_equal(x, y, sizeof x);
  element_fill(&a, 8, 0, y);
  assert_memory_not_equal(x, y, sizeof x);
  assert_true(isnan(x[5]) && isnan(x[7]) && !isnan(x[4]) && !isnan(x[8]));
  for (int i = 0; i < 5; i++) assert_true(x[i] >= -1.0f && x[i] < 1.0f);
}

/* Large buffers are filled by several threads, each of which has a part of the memory. */
TEST(fills_do_not_depend_on_the_layout) {
  enum { ROWS = 1031, COLS = 1021, PITCH = 1040 };
  struct kernel_argument rows = matrix("bf16", ROWS, COLS, COLS),
                         cols = matrix("bf16", ROWS, COLS, 1);
  cols.stride[0] = 1, cols.stride[1] = PITCH, cols.elements = COLS * PITCH;
  uint16_t *x = malloc(sizeof *x * ROWS * COLS), *y = malloc(sizeof *y * COLS * PITCH);
  element_fill(&rows, 7, 0, x);
  element_fill(&cols, 7, 0, y);
  for (int64_t i = 0; i < ROWS * COLS; i++) assert_int_equal(x[i], y[element_offset(&cols, i)]);
  for (int64_t c = 0; c < COLS; c++) assert_int_equal(y[c * PITCH + ROWS], 0xffff);
  free(x);
  free(y);
}

TEST(numbers_end_at_the_largest) {
  struct kernel_argument half = matrix("f16", 300, 300, 300), single = matrix("f32", 300, 300, 300);
  static uint16_t halves[90000];
  static float singles[90000];
  half.fill = single.fill = FILL_INDEX;
  element_fill(&half, 7, 0, halves);
  element_fill(&single, 7, 0, singles);
  assert_true(element_load(half.dtype, halves, 7) == 7 &&
              element_load(half.dtype, halves, 89999) == 65504);
  assert_true(singles[89999] == 89999);
}

TEST(identity_is_ones_on_the_diagonal) {
  struct kernel_argument a = matrix("f64", 2, 3, 3);
  double x[6];
  a.fill = FILL_IDENTITY;
  element_fill(&a, 1, 0, x);
  const double want[] = {1, 0, 0, 0, 1, 0};
  assert_memory_equal(x, want, sizeof want);
}

TEST(column_major_offsets) {
  struct kernel_argument a = matrix("f32", 3, 5, 1);
  a.stride[0] = 1, a.stride[1] = 4;
  assert_int_equal(element_offset(&a, 0), 0);
  assert_int_equal(element_offset(&a, 5), 1);       /* row 1, column 0 */
  assert_int_equal(element_offset(&a, 14), 2 + 16); /* row 2, column 4 */
}

/* ---- Verification --------------------------------------------------------------------------- */

static int verify(const struct kernel_argument *a, const void *got, const void *want, double *error,
                  cugen_error *err) {
  struct samples all = {.count = element_count(a)};
  *error = 0;
  return verify_output(a, got, want, &all, error, err);
}

TEST(a_right_result_passes) {
  struct kernel_argument a = matrix("f32", 2, 2, 3);
  const float got[] = {1, 2, NAN, 3, 4.0000019f, NAN};
  const double want[] = {1, 2, 3, 4};
  double error;
  WORKS(verify(&a, got, want, &error, &err));
  assert_true(error > 0.1 && error < 1.0);
}

TEST(a_wrong_element_is_named) {
  struct kernel_argument a = matrix("f32", 2, 2, 2);
  const float got[] = {1, 2, 3, 4.5f};
  const double want[] = {1, 2, 3, 4};
  double error;
  FAILS(verify(&a, got, want, &error, &err), CUGEN_ERROR_WRONG, "C[1, 1] is 4.5, should be 4",
        "1 of 4");
}

TEST(nan_never_passes) {
  struct kernel_argument a = matrix("f32", 1, 2, 2);
  const float got[] = {1, NAN}, fine[] = {1, 2};
  const double want[] = {1, 2}, nan_wanted[] = {1, NAN};
  double error;
  a.tolerance = 1e30;
  FAILS(verify(&a, got, want, &error, &err), CUGEN_ERROR_WRONG);
  FAILS(verify(&a, fine, nan_wanted, &error, &err), CUGEN_ERROR_WRONG, ". NaN is never right");
  FAILS(verify(&a, got, nan_wanted, &error, &err), CUGEN_ERROR_WRONG, ". NaN is never right");
}

TEST(tolerance_zero_means_equal) {
  struct kernel_argument a = matrix("f32", 1, 2, 2);
  const float same[] = {1, 2}, near[] = {1, 2.0000002f};
  const double want[] = {1, 2};
  double error;
  a.tolerance = 0;
  WORKS(verify(&a, same, want, &error, &err));
  FAILS(verify(&a, near, want, &error, &err), CUGEN_ERROR_WRONG);
}

/* Half a tolerance too much everywhere: no element is wrong, but all of them together are. */
/* Large results are compared by several threads, each of which has a part of the rows. */
TEST(wrong_elements_of_a_large_result_are_counted) {
  enum { ROWS = 1031, COLS = 1021, LAST = ROWS * COLS - 1, FIRST = 7 * COLS + 3 };
  struct kernel_argument a = matrix("f32", ROWS, COLS, COLS);
  float *got = malloc(sizeof *got * ROWS * COLS);
  double *want = malloc(sizeof *want * ROWS * COLS), error;
  element_fill(&a, 7, 0, got);
  for (int i = 0; i < ROWS * COLS; i++) want[i] = got[i];
  WORKS(verify(&a, got, want, &error, &err));
  want[LAST] = want[FIRST] = 2;
  FAILS(verify(&a, got, want, &error, &err), CUGEN_ERROR_WRONG, "C[7, 3] is",
        "2 of 1052651 elements are wrong");
  free(got);
  free(want);
}

TEST(a_norm_finds_what_no_element_shows) {
  const char *const dtypes[] = {"f64", "f32", "f16", "bf16", "i32"};
  for (size_t d = 0; d < sizeof dtypes / sizeof *dtypes; d++) {
    struct kernel_argument a = matrix(dtypes[d], 4, 8, 8);
    double got[32], want[32], error;
    int64_t want_integers[32];
    bool whole = !a.dtype->floating;
    for (int i = 0; i < 32; i++) {
      want[i] = (i % 2 ? -8.0 : 8.0) * (whole ? 100.0 : 1.0), want_integers[i] = (int64_t)want[i];
      element_store(a.dtype, got, i, want[i] * 1.25);
    }
    const void *wanted = whole ? (const void *)want_integers : want;
    a.tolerance = 0.5;
    WORKS(verify(&a, got, wanted, &error, &err));
    assert_true(error == 0.5);
    a.norm = 0.5;
    WORKS(verify(&a, got, wanted, &error, &err));
    assert_true(fabs(error - 0.5) < 1e-12);
    a.norm = 0.125;
    FAILS(verify(&a, got, wanted, &error, &err), CUGEN_ERROR_WRONG,
          "C is off as a whole: the norm of the error is 0.25 of that of the result");
    assert_true(fabs(error - 2.0) < 1e-12);
  }
}

/* Each thread adds the squares of its own part; here the error is in the first part only. */
TEST(a_norm_is_of_all_shares) {
  enum { ROWS = 1 << 10 };
  struct kernel_argument a = matrix("f32", ROWS, ROWS, ROWS);
  float *got = malloc(sizeof *got * ROWS * ROWS);
  double *want = malloc(sizeof *want * ROWS * ROWS), error;
  for (int i = 0; i < ROWS * ROWS; i++) want[i] = 1, got[i] = i < 1000 ? 1.25f : 1;
  a.tolerance = 0.5;
  a.norm = 1e-3;
  FAILS(verify(&a, got, want, &error, &err), CUGEN_ERROR_WRONG);
  free(got);
  free(want);
}

/* All wanted values are zero, and the tolerance allows the error, but the norm does not. */
TEST(a_norm_of_zero_allows_nothing_else) {
  struct kernel_argument a = matrix("f32", 1, 2, 2);
  const float zero[] = {0, -0.0f}, something[] = {0, 1e-30f};
  const double want[] = {0, 0};
  double error;
  a.norm = 1;
  WORKS(verify(&a, zero, want, &error, &err));
  FAILS(verify(&a, something, want, &error, &err), CUGEN_ERROR_WRONG);
  assert_true(isinf(error));
}

/* The fast loops over rows have their own way to read halves. */
TEST(rows_of_every_half_are_right) {
  const char *const dtypes[] = {"f16", "bf16"};
  static uint16_t got[65536];
  static double want[65536];
  for (int d = 0; d < 2; d++) {
    struct kernel_argument a = matrix(dtypes[d], 1, 65536, 65536);
    double error;
    for (int bits = 0; bits < 65536; bits++) {
      uint16_t half = (uint16_t)bits;
      want[bits] = element_load(a.dtype, &half, 0);
      got[bits] = isfinite(want[bits]) ? half : 0;
      if (!isfinite(want[bits])) want[bits] = 0;
    }
    a.tolerance = 1e-300;
    WORKS(verify(&a, got, want, &error, &err));
    got[7] = 0x7c00 | 0x7f80 | 1;
    FAILS(verify(&a, got, want, &error, &err), CUGEN_ERROR_WRONG);
  }
}

TEST(writing_into_the_padding_is_found) {
  for (int columns = 0; columns < 2; columns++) {
    struct kernel_argument a = matrix("f32", 2, 3, 4);
    float got[8] = {0};
    if (columns) a.shape[0] = 3, a.shape[1] = 2, a.stride[0] = 1, a.stride[1] = 4;
    memset(&got[3], 0xff, sizeof *got);
    memset(&got[7], 0xff, sizeof *got);
    WORKS(verify_padding(&a, got, 0xff, &err));
    got[7] = 0;
    FAILS(verify_padding(&a, got, 0xff, &err), CUGEN_ERROR_WRONG, "row 1");
  }
}

/* A small output beside a large one is compared completely, a medium one at its edges; samples
   beyond the end of an output are not due. */
TEST(samples_are_those_of_every_output) {
  struct kernel_argument large = matrix("f32", 1000, 900, 900),
                         middle = matrix("f32", 300, 400, 400), small = matrix("f32", 3, 7, 7);
  const struct kernel_argument *outputs[] = {&small, &large, &middle, &large};
  struct samples s;
  bool seen[21] = {false}, corner = false;
  int64_t due = 0;
  assert_int_equal(samples_choose(outputs, 4, 2 * VERIFY_FULL_FLOPS, 1, &s, NULL), CUGEN_OK);
  for (int64_t i = 0; i < s.count; i++) {
    assert_true(s.flat[i] >= 0 && s.flat[i] < 900000);
    if (s.flat[i] < 21) seen[s.flat[i]] = true;
    corner |= s.flat[i] == 300 * 400 - 1;
    due += samples_due(&s, i, &small);
  }
  for (int i = 0; i < 21; i++) assert_true(seen[i]);
  assert_true(corner && due >= 21 && due < s.count && s.count < 3 * (1 << 15));
  samples_free(&s);
  assert_int_equal(samples_choose(outputs, 4, 1.0, 1, &s, NULL), CUGEN_OK);
  assert_null(s.flat);
  assert_int_equal(s.count, 900000);
}

TEST(samples_hold_every_edge) {
  struct kernel_argument a = matrix("f32", 1000, 900, 900);
  const struct kernel_argument *outputs[] = {&a};
  struct samples s;
  assert_int_equal(samples_choose(outputs, 1, 2 * VERIFY_FULL_FLOPS, 1, &s, NULL), CUGEN_OK);
  assert_non_null(s.flat);
  bool corner = false, last_row = false, last_column = false;
  for (int64_t i = 0; i < s.count; i++) {
    assert_true(s.flat[i] >= 0 && s.flat[i] < 900000);
    corner |= s.flat[i] == 899999;
    last_row |= s.flat[i] == 999 * 900 + 450;
    last_column |= s.flat[i] == 500 * 900 + 899;
  }
  assert_true(corner && last_row && last_column);
  samples_free(&s);
  assert_int_equal(samples_choose(outputs, 1, 1.0, 1, &s, NULL), CUGEN_OK);
  assert_null(s.flat);
  assert_int_equal(s.count, 900000);
}

/* Each side of each dimension has samples, although the sides of the longest row alone have more
   elements than there are samples. */
TEST(samples_are_shared_by_all_sides) {
  for (int tall = 0; tall < 2; tall++) {
    const int64_t rows = tall ? 1 << 26 : 4, columns = tall ? 4 : 1 << 26, count = rows * columns;
    struct kernel_argument a = matrix("f32", rows, columns, columns);
    const struct kernel_argument *outputs[] = {&a};
    int64_t sides[4] = {0};
    struct samples s;
    assert_int_equal(samples_choose(outputs, 1, 1.0, 1, &s, NULL), CUGEN_OK);
    for (int64_t i = 0; i < s.count; i++) {
      const int64_t row = s.flat[i] / columns, column = s.flat[i] % columns;
      const bool on[4] = {row == 0, row == rows - 1, column == 0, column == columns - 1};
      for (int side = 0; side < 4; side++) sides[side] += on[side];
    }
    assert_true(s.flat[0] == 0 && s.flat[s.count - 1] == count - 1);
    for (int side = 0; side < 4; side++) {
      const int64_t elements = side < 2 ? columns : rows;
      assert_true(sides[side] >= (elements < 1 << 18 ? elements : 1 << 18));
    }
    samples_free(&s);
  }
}

/* ---- Strategies ----------------------------------------------------------------------------- */

/* A space of 40 by 25 variants of one implementation; neighbours lie along rows and columns. */
static size_t in_grid(const void *context, uint64_t index, uint64_t *out) {
  size_t count = 0;
  uint64_t row = index / 25, column = index % 25;
  for (uint64_t i = 0; i < 40; i++)
    if (i != row) out[count++] = 25 * i + column;
  for (uint64_t i = 0; i < 25; i++)
    if (i != column) out[count++] = 25 * row + i;
  return count;
}

static double grid_seconds(uint64_t index) {
  double row = (double)(index / 25), column = (double)(index % 25);
  return 1 + fabs(row - 31) + fabs(column - 7);
}

static const struct strategy_span grid[] = {{0, 1000}};

static const struct strategy_ops *strategy(const char *name) {
  const struct strategy_ops *ops;
  assert_int_equal(strategy_find(name, &ops, NULL), CUGEN_OK);
  return ops;
}

TEST(every_strategy_gives_each_variant_once) {
  const char *const names[] = {"local", "random", "exhaustive"};
  const struct strategy_span spans[] = {{0, 4}, {4, 0}, {4, 996}, {2000, 77}};
  const uint64_t firsts[] = {700, 3, 1500, 700};
  for (int n = 0; n < 3; n++) {
    const struct strategy_space space = {.spans = spans,
                                         .span_count = 4,
                                         .seed = 42,
                                         .firsts = firsts,
                                         .first_count = 4,
                                         .neighbours = in_grid,
                                         .max_neighbours = 63};
    struct strategy *s = strategy(names[n])->open(&space);
    char seen[2077] = {0};
    uint64_t index, count = 0;
    while (strategy(names[n])->next(s, &index)) {
      assert_true(index < 1000 || (index >= 2000 && index < 2077));
      assert_int_equal(seen[index]++, 0);
      count++;
      if (index < 1000)
        strategy(names[n])->report(s, index, index % 10 ? grid_seconds(index) : (double)INFINITY,
                                   0);
    }
    assert_int_equal(count, 1077);
    strategy(names[n])->close(s);
  }
}

TEST(firsts_and_defaults_come_first_and_the_rest_is_seeded) {
  const struct strategy_span spans[] = {{0, 4}, {4, 100000}, {100004, 9}};
  const uint64_t firsts[] = {77, 100008, 1 << 30}, want[] = {77, 100008, 0, 4, 100004};
  const char *const names[] = {"local", "random"};
  for (int n = 0; n < 2; n++) {
    const struct strategy_ops *ops = strategy(names[n]);
    struct strategy_space space = {.spans = spans,
                                   .span_count = 3,
                                   .seed = 1,
                                   .firsts = firsts,
                                   .first_count = 3,
                                   .neighbours = in_grid,
                                   .max_neighbours = 63};
    struct strategy *a = ops->open(&space), *b = ops->open(&space), *c;
    uint64_t x, y, z;
    int differs = 0;
    space.seed = 2;
    c = ops->open(&space);
    for (size_t i = 0; i < 50; i++) {
      assert_true(ops->next(a, &x) && ops->next(b, &y) && ops->next(c, &z));
      assert_int_equal(x, y);
      differs += x != z;
      if (i < 5) assert_int_equal(x, want[i]);
    }
    assert_true(differs > 40);
    ops->close(a), ops->close(b), ops->close(c);
  }
}

/* Counts how many of the variants that random search gives first belong to each of two priors,
   whose variants have these costs; all other variants cost 10. */
static void count_priors(const double *costs, size_t *counts) {
  enum { EACH = 8, GIVEN = 40 };
  struct strategy_prior priors[2 * EACH];
  for (unsigned i = 0; i < 2 * EACH; i++) priors[i] = (struct strategy_prior){500 + i, i / EACH};
  const struct strategy_space space = {.spans = grid,
                                       .span_count = 1,
                                       .seed = 5,
                                       .priors = priors,
                                       .prior_count = sizeof priors / sizeof *priors};
  const struct strategy_ops *ops = strategy("random");
  struct strategy *s = ops->open(&space);
  uint64_t index;
  counts[0] = counts[1] = 0;
  for (size_t i = 0; i < GIVEN; i++) {
    assert_true(ops->next(s, &index));
    const bool prior = index >= 500 && index < 500 + 2 * EACH;
    if (i < 4) assert_int_equal(prior, i % 2 == 0); /* in turn with other variants */
    if (prior) counts[(index - 500) / EACH]++;
    ops->report(s, index, prior ? costs[(index - 500) / EACH] : 10, 0);
  }
  ops->close(s);
}

TEST(a_prior_is_dropped_once_results_contradict_it) {
  size_t counts[2];
  count_priors((const double[]){5, 5}, counts);
  assert_true(counts[0] == 8 && counts[1] == 8);
  count_priors((const double[]){20, 5}, counts);
  assert_true(counts[0] == 2 && counts[1] == 8);
  count_priors((const double[]){20, (double)INFINITY}, counts);
  assert_true(counts[0] == 2 && counts[1] == 2);
  /* within the difference that measurements of equal kernels may have */
  count_priors((const double[]){10.1, 20}, counts);
  assert_true(counts[0] == 8 && counts[1] == 2);
}

/* Returns the number of tries until the best variant of the grid. */
static int tries(const char *name, uint64_t seed) {
  const struct strategy_space space = {
      .spans = grid, .span_count = 1, .seed = seed, .neighbours = in_grid, .max_neighbours = 63};
  const struct strategy_ops *ops = strategy(name);
  struct strategy *s = ops->open(&space);
  uint64_t index;
  int count = 0;
  do {
    assert_true(ops->next(s, &index));
    ops->report(s, index, grid_seconds(index), 0);
    count++;
  } while (grid_seconds(index) > 1);
  ops->close(s);
  return count;
}

TEST(local_search_goes_on_from_the_best) {
  int local = 0, random = 0;
  for (uint64_t seed = 0; seed < 20; seed++) {
    local += tries("local", seed);
    random += tries("random", seed);
    assert_true(tries("local", seed) < 300);
  }
  assert_true(3 * local < random);
}

/* Variants that failed have no promising neighbours, so the order stays random. */
TEST(local_search_leaves_failures_alone) {
  const struct strategy_space space = {
      .spans = grid, .span_count = 1, .seed = 7, .neighbours = in_grid, .max_neighbours = 63};
  struct strategy *local = strategy("local")->open(&space),
                  *random = strategy("random")->open(&space);
  uint64_t x, y;
  for (int i = 0; i < 200; i++) {
    assert_true(strategy("local")->next(local, &x) && strategy("random")->next(random, &y));
    assert_int_equal(x, y);
    strategy("local")->report(local, x, (double)INFINITY, 0);
  }
  strategy("local")->close(local);
  strategy("random")->close(random);
}

TEST(an_unknown_strategy_lists_those_there_are) {
  const struct strategy_ops *ops;
  FAILS(strategy_find("annealing", &ops, &err), CUGEN_ERROR_USAGE, "'exhaustive'");
}

/* ---- Messages ------------------------------------------------------------------------------- */

TEST(messages_arrive_whole_with_their_descriptor) {
  int ends[2], pipe_ends[2], fd;
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  assert_int_equal(pipe(pipe_ends), 0);
  struct text out = {0}, in = {0};
  wire_put_int(&out, -5);
  wire_put_float(&out, 2.5);
  wire_put_string(&out, "tiled tile=16");
  wire_put_block(&out, "\0\1\2", 3);
  assert_int_equal(wire_send(ends[0], MESSAGE_VARIANT, &out, pipe_ends[1], NULL), CUGEN_OK);
  enum message_type type;
  assert_int_equal(wire_receive(ends[1], 1.0, &type, &in, &fd, NULL), CUGEN_OK);
  struct wire_reader reader = wire_read(&in);
  size_t length;
  assert_int_equal(type, MESSAGE_VARIANT);
  assert_int_equal(wire_get_int(&reader), -5);
  assert_true(wire_get_float(&reader) == 2.5);
  assert_string_equal(wire_get_string(&reader), "tiled tile=16");
  assert_memory_equal(wire_get_block(&reader, &length), "\0\1\2", 3);
  assert_false(reader.failed);
  wire_get_int(&reader);
  assert_true(reader.failed);
  assert_true(fd >= 0 && write(fd, "x", 1) == 1);
  assert_int_equal(wire_receive(ends[1], 0.01, &type, &in, &fd, NULL), CUGEN_ERROR_INTERRUPTED);
  close(ends[0]);
  assert_int_equal(wire_receive(ends[1], 1.0, &type, &in, &fd, NULL), CUGEN_ERROR_IO);
  text_free(&out), text_free(&in);
  close(ends[1]), close(pipe_ends[0]), close(pipe_ends[1]);
}

TEST(a_cut_spec_is_refused) {
  struct kernel_argument argument = matrix("f32", 2, 2, 2);
  struct kernel_spec spec = {.variant = (char *)(uintptr_t) "v",
                             .arguments = &argument,
                             .argument_count = 1},
                     got;
  FREED(text) out = {0};
  wire_put_spec(&out, &spec);
  for (size_t length = 0; length < out.length; length++) {
    struct wire_reader reader = {out.data, out.data + length, false};
    assert_int_equal(wire_get_spec(&reader, &got, NULL), CUGEN_ERROR_INTERNAL);
  }
}

/* ---- The roofline --------------------------------------------------------------------------- */

/* NVIDIA H200: 132 SMs at 1980 MHz give 66.9 TFLOP/s in f32 and 33.5 in f64; 6144 bits at 3201
   MHz. */
TEST(peak_ceilings) {
  const struct device_facts h200 = {.compute_capability = 90,
                                    .sm_count = 132,
                                    .clock_khz = 1980000,
                                    .is_gpu = 1,
                                    .memory_clock_khz = 3201000,
                                    .memory_bus_bits = 6144};
  struct device_description device = {.facts = h200};
  double f32 = roofline_peak(&device, dtype_find("f32")).flops_peak,
         bandwidth = roofline_peak(&device, dtype_find("f32")).bandwidth_peak;
  assert_true(fabs(f32 - 66.9e12) < 0.1e12);
  assert_true(fabs(roofline_peak(&device, dtype_find("f64")).flops_peak - 33.45e12) < 0.1e12);
  assert_true(fabs(bandwidth - 4.917e12) < 0.01e12);
  struct ceilings ceilings = roofline_peak(&device, dtype_find("f32"));
  bool measured = true;
  assert_true(ceilings.flops_peak == f32 && ceilings.bandwidth_peak == bandwidth);
  assert_true(fabs(roofline_fraction(&ceilings, f32, 0, 2.0, &measured) - 0.5) < 1e-12);
  assert_true(fabs(roofline_fraction(&ceilings, f32 / 100, bandwidth, 4.0, &measured) - 0.25) <
              1e-12);
  assert_false(measured);
  const struct device_description cpu = {.facts = {.compute_capability = 80, .clock_khz = 3000000}};
  ceilings = roofline_peak(&cpu, dtype_find("f32"));
  assert_true(roofline_fraction(&ceilings, 1e9, 1e9, 1.0, &measured) == 0.0);
}

/* A measured ceiling replaces the peak, each ceiling separately. */
TEST(measured_ceilings) {
  struct ceilings c = {.flops = 50, .flops_peak = 100, .bandwidth_peak = 10};
  bool measured = false;
  assert_true(roofline_fraction(&c, 50, 1, 2.0, &measured) == 0.5);
  assert_true(measured);
  assert_true(roofline_fraction(&c, 1, 10, 2.0, &measured) == 0.5);
  assert_false(measured);
  c.bandwidth = 8;
  assert_true(roofline_fraction(&c, 1, 8, 2.0, &measured) == 0.5);
  assert_true(measured);
  c = (struct ceilings){.bandwidth = 8};
  /* the peak of its arithmetic is not known */
  assert_true(roofline_fraction(&c, 1, 8, 2.0, NULL) == 0.0);
  assert_true(roofline_fraction(&c, 0, 8, 2.0, NULL) == 0.5);
}

/* NVIDIA's published dense rates in TFLOP/s, at the clocks for which NVIDIA gives them. */
TEST(tensor_cores) {
  static const struct {
    const char *name, *type;
    int capability, sm_count, clock_khz;
    double tera;
  } cases[] = {{"NVIDIA H200", "bf16", 90, 132, 1830000, 989},
               {"NVIDIA H200", "tf32", 90, 132, 1830000, 494.7},
               {"NVIDIA H200", "fp8", 90, 132, 1830000, 1979},
               {"NVIDIA H200", "e4m3", 90, 132, 1830000, 1979},
               {"NVIDIA H200", "e5m2", 90, 132, 1830000, 1979},
               {"NVIDIA H200", "f64", 90, 132, 1980000, 66.9},
               {"NVIDIA A100-SXM4-40GB", "f16", 80, 108, 1410000, 312},
               {"NVIDIA A100-SXM4-40GB", "u8", 80, 108, 1410000, 624},
               {"Tesla T4", "f16", 75, 40, 1590000, 65},
               {"Tesla T4", "bf16", 75, 40, 1590000, 0},
               {"NVIDIA GeForce RTX 3090", "f16", 86, 82, 1695000, 71},
               {"NVIDIA GeForce RTX 3090", "tf32", 86, 82, 1695000, 35.6},
               {"NVIDIA GeForce RTX 3090", "i8", 86, 82, 1695000, 285},
               {"NVIDIA GeForce RTX 4090", "bf16", 89, 128, 2520000, 165.2},
               {"NVIDIA L40S", "bf16", 89, 142, 2520000, 362},
               {"NVIDIA H200", "f32", 90, 132, 1980000, 0},
               {"Tesla K40m", "f16", 35, 15, 875000, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct device_description device = {.facts = {.compute_capability = cases[i].capability,
                                                  .sm_count = cases[i].sm_count,
                                                  .clock_khz = cases[i].clock_khz,
                                                  .is_gpu = 1}};
    snprintf(device.name, sizeof device.name, "%s", cases[i].name);
    double got = roofline_tensor_flops(&device, cases[i].type) / 1e12;
    if (fabs(got - cases[i].tera) > 0.015 * cases[i].tera)
      fail_msg("%s, %s: %g", cases[i].name, cases[i].type, got);
    device.facts.is_gpu = 0;
    assert_true(roofline_tensor_flops(&device, cases[i].type) == 0);
  }
}

/* NVIDIA's published rates without tensor cores, in TFLOP/s. */
TEST(multiply_adds) {
  static const struct {
    const char *dtype;
    int capability, sm_count, clock_khz;
    double tera;
  } cases[] = {{"f16", 80, 108, 1410000, 78},      {"bf16", 80, 108, 1410000, 39},
               {"f16", 90, 132, 1980000, 133.8},   {"bf16", 90, 132, 1980000, 133.8},
               {"bf16", 86, 82, 1695000, 35.6},    {"bf16", 89, 128, 2520000, 82.6},
               {"bf16", 120, 170, 2407000, 104.8}, {"f16", 70, 80, 1530000, 31.3},
               {"bf16", 70, 80, 1530000, 0},       {"bf16", 75, 40, 1590000, 0},
               {"bf16", 61, 20, 1733000, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct device_description device = {.facts = {.compute_capability = cases[i].capability,
                                                  .sm_count = cases[i].sm_count,
                                                  .clock_khz = cases[i].clock_khz,
                                                  .is_gpu = 1}};
    double got = roofline_peak(&device, dtype_find(cases[i].dtype)).flops_peak / 1e12;
    if (fabs(got - cases[i].tera) > 0.01 * cases[i].tera)
      fail_msg("%d, %s: %g", cases[i].capability, cases[i].dtype, got);
  }
}

/* The rates of a description, for a device that is in no table. */
TEST(described_rates) {
  struct device_description device = {
      .facts = {.compute_capability = 52, .sm_count = 10, .clock_khz = 1000000, .is_gpu = 1},
      .rates = {.fp32_lanes = 100,
                .fp64_lanes = 50,
                .fp16_lanes = 200,
                .bf16_lanes = 150,
                .int32_lanes = 25,
                .memory_gb_per_second = 300,
                .tensor_flops = 4000,
                .tensor_f64_flops = 500}};
  struct ceilings f32 = roofline_peak(&device, dtype_find("f32"));
  assert_true(f32.flops_peak == 2e12 && f32.bandwidth_peak == 300e9);
  assert_true(roofline_peak(&device, dtype_find("f64")).flops_peak == 1e12);
  assert_true(roofline_peak(&device, dtype_find("f16")).flops_peak == 4e12);
  assert_true(roofline_peak(&device, dtype_find("bf16")).flops_peak == 3e12);
  assert_true(roofline_peak(&device, dtype_find("i32")).flops_peak == 0.5e12);
  assert_true(roofline_tensor_flops(&device, "f16") == 40e12);
  assert_true(roofline_tensor_flops(&device, "f64") == 5e12);
  assert_true(roofline_tensor_flops(&device, "bf16") == 0);
}

/* If tensor cores do the work, their rate is the ceiling, whether the other rate was measured or
   not. */
TEST(the_higher_ceiling) {
  struct ceilings c = {.flops = 50, .flops_peak = 60, .tensor_flops_peak = 500, .bandwidth = 10};
  bool measured = true;
  assert_true(roofline_fraction(&c, 500, 1, 2.0, &measured) == 0.5);
  assert_false(measured);
  assert_true(roofline_fraction(&c, 1, 10, 2.0, &measured) == 0.5);
  assert_true(measured);
  c.tensor_flops_peak = 40;
  assert_true(roofline_fraction(&c, 50, 1, 2.0, &measured) == 0.5);
  assert_true(measured);
}

/* ---- Measuring ------------------------------------------------------------------------------ */

TEST(slow_variants_are_dropped_when_that_is_clear) {
  static const struct {
    int samples;
    double least, most;
    bool beaten;
  } cases[] = {{0, 1.9, 1.9, false},  {0, 2.1, 2.1, true},    {1, 1.4, 1.4, false},
               {1, 1.6, 1.6, true},   {2, 1.25, 1.5, false},  {2, 1.35, 1.35, true},
               {3, 1.1, 1.2, false},  {3, 1.2, 2, true},      {4, 1.1, 1.2, false},
               {4, 1.2, 1.3, true},   {5, 1.04, 1.2, false},  {5, 1.06, 1.2, true},
               {11, 1.0, 1.2, false}, {11, 1.06, 1.2, true},  {2, 1.1, 1.1, false},
               {3, 1.03, 1.03, true}, {3, 1.01, 1.01, false}, {3, 1.03, 1.04, false}};
  const double best = 3e-3;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    assert_int_equal(
        measure_is_beaten(cases[i].samples, best * cases[i].least, best * cases[i].most, best),
        cases[i].beaten);
    /* there is no best variant yet */
    assert_false(measure_is_beaten(cases[i].samples, cases[i].least, cases[i].most, 0));
  }
  /* For long launches two samples show how much they err. */
  assert_true(measure_is_beaten(2, 10.3e-3, 10.3e-3, 10e-3));
  assert_false(measure_is_beaten(2, 10.3e-3, 10.4e-3, 10e-3));
  assert_false(measure_is_beaten(1, 10.3e-3, 10.3e-3, 10e-3));
}
