/* cugen_plan_for: one kernel serves arrays of all sizes, types, layouts and pitches. */
#include "cugen.h"
#include "tests/opening.h"

CPU_LIBRARY;

static cugen_array matrix(const char *dtype, int64_t rows, int64_t cols, int64_t down,
                          int64_t along) {
  return (cugen_array){dtype, 2, {rows, cols}, {down, along}};
}

static cugen_plan *find(cugen_kernel *kernel, const cugen_array *arrays, size_t count) {
  cugen_plan *plan;
  WORKS(cugen_plan_for(kernel, arrays, count, NULL, &plan, &err));
  return plan;
}

static void expect_problem(cugen_kernel *kernel, const cugen_array *arrays, size_t count,
                           const char *settings) {
  const char *problem = cugen_plan_about(find(kernel, arrays, count))->problem;
  if (!strstr(problem, settings)) fail_msg("%s: not in '%s'", settings, problem);
}

static void expect_refusal(cugen_kernel *kernel, const cugen_array *arrays, size_t count,
                           const char *message) {
  cugen_plan *plan = (cugen_plan *)lib;
  cugen_error err;
  assert_int_equal(cugen_plan_for(kernel, arrays, count, NULL, &plan, &err), CUGEN_ERROR_USAGE);
  assert_null(plan);
  if (!strstr(err.message, message)) fail_msg("%s: not in '%s'", message, err.message);
}

TEST(sizes_follow_from_shapes) {
  CLOSED(cugen_kernel) *k = kernel_of(lib, "matmul", NULL, 0);
  const cugen_array first[] = {matrix("f32", 6, 4, 4, 1), matrix("f32", 4, 8, 8, 1)};
  const cugen_array other[] = {matrix("f32", 5, 4, 4, 1), matrix("f32", 4, 8, 8, 1)};
  cugen_plan *plan = find(k, first, 2);
  expect_problem(k, first, 2, "M=6 N=8 K=4 dtype=f32");
  expect_problem(k, other, 2, "M=5 N=8 K=4 dtype=f32");
  assert_ptr_equal(find(k, first, 2), plan);
  assert_ptr_not_equal(find(k, other, 2), plan);
  /* arrays of other strides may be of the same problem */
  const cugen_array row[] = {matrix("f32", 6, 4, 4, 1), matrix("f32", 4, 8, 8, 1),
                             matrix("f32", 6, 8, 8, 1)};
  assert_ptr_equal(find(k, row, 3), plan);
  /* none: the kernel's own problem */
  assert_string_equal(cugen_plan_about(find(k, NULL, 0))->problem, cugen_kernel_problem(k));
}

TEST(the_plan_launches) {
  CLOSED(cugen_kernel) *k = kernel_of(lib, "matmul", NULL, 0);
  const float a[2][3] = {{1, 2, 3}, {4, 5, 6}}, b[2][3] = {{1, 0, 1}, {0, 1, 0}};
  float c[2][2] = {{0}};
  /* B = b transposed, as it lies */
  const cugen_array arrays[] = {matrix("f32", 2, 3, 3, 1), matrix("f32", 3, 2, 1, 3)};
  cugen_plan *plan = find(k, arrays, 2);
  void *arguments[] = {(void *)(uintptr_t)a, (void *)(uintptr_t)b, c, NULL, NULL, NULL};
  CLOSED(cugen_call) *call = call_of(plan, arguments, 6);
  WORKS(cugen_call_launch(call, NULL, &err));
  const float wanted[2][2] = {{4, 2}, {10, 5}};
  assert_memory_equal(c, wanted, sizeof wanted);
  float d[2][2];
  arguments[2] = d;
  WORKS(cugen_call_rebind(call, arguments, 6, &err));
  arguments[2] = (char *)d + 1; /* refused: the call keeps its arguments */
  FAILS(cugen_call_rebind(call, arguments, 6, &err), CUGEN_ERROR_USAGE);
  WORKS(cugen_call_launch(call, NULL, &err));
  assert_memory_equal(d, wanted, sizeof wanted);
}

TEST(types_layouts_and_pitches_follow) {
  CLOSED(cugen_kernel) *k = kernel_of(lib, "matmul", NULL, 0),
                       *copy = kernel_of(lib, "copy", NULL, 0);
  const cugen_array turned[] = {matrix("bf16", 6, 4, 1, 6), matrix("bf16", 4, 8, 1, 4),
                                matrix("f32", 6, 8, 8, 1)};
  expect_problem(k, turned, 3, "dtype=bf16 dtype_c=f32 layout_a=col layout_b=col layout_c=row");
  /* of one row any distance to the next is right */
  const cugen_array thin[] = {matrix("f16", 1, 4, 77, 1), matrix("f16", 4, 8, 8, 1)};
  expect_problem(k, thin, 2, "M=1 N=8 K=4 dtype=f16 dtype_c=default layout_a=row");
  const cugen_array any[] = {matrix(NULL, 3, 4, 4, 1), matrix(NULL, 4, 8, 8, 1)};
  expect_problem(k, any, 2, "M=3 N=8 K=4 dtype=f32");
  const cugen_array pitched[] = {{"i16", 3, {1, 3, 10}, {60, 20, 1}},
                                 {"i16", 3, {1, 3, 10}, {33, 11, 1}}};
  expect_problem(copy, pitched, 2, "width=10 height=3 depth=1 dtype=i16");
  expect_problem(copy, pitched, 2, "pitch_x=20 pitch_y=11");
}

/* batch * M shows neither: batch keeps its value, so that a wrong shape is no batch. */
TEST(a_batch_is_set) {
  static const char *const four[] = {"batch=4"};
  CLOSED(cugen_kernel) *one = kernel_of(lib, "matmul", NULL, 0),
                       *batch = kernel_of(lib, "matmul", four, 1);
  const cugen_array arrays[] = {matrix("f32", 24, 4, 4, 1), matrix("f32", 16, 8, 8, 1)};
  expect_refusal(one, arrays, 2,
                 "argument 'B': its shape is (16, 8), should be (4, 8) by the settings and the "
                 "other arguments");
  expect_problem(batch, arrays, 2, "M=6 N=8 K=4");
}

TEST(a_setting_holds) {
  static const char *const settings[] = {"K=4", "layout_b=row", "dtype=f32"};
  CLOSED(cugen_kernel) *k = kernel_of(lib, "matmul", settings, 3);
  const cugen_array short_k[] = {matrix("f32", 6, 3, 3, 1), matrix("f32", 3, 8, 8, 1)};
  const cugen_array turned[] = {matrix("f32", 6, 4, 4, 1), matrix("f32", 4, 8, 1, 4)};
  const cugen_array wide[] = {matrix("f64", 6, 4, 4, 1), matrix("f64", 4, 8, 8, 1)};
  expect_refusal(k, short_k, 2, "argument 'A': its shape is (6, 3), should be (6, 4)");
  expect_refusal(k, turned, 2, "argument 'B': its strides are (1, 4) elements, should be (8, 1)");
  expect_refusal(k, wide, 2, "argument 'A': its elements are f64, should be f32");
}

TEST(nonsense_is_refused) {
  CLOSED(cugen_kernel) *k = kernel_of(lib, "matmul", NULL, 0);
  cugen_plan *plan;
  cugen_error err;
  cugen_array arrays[40] = {matrix("f32", 6, 4, 4, 1), matrix("f32", 4, 8, 8, 1)};
  expect_refusal(k, arrays, 40, "has 15 arguments and was given 40 arrays");
  arrays[1].shape[0] = -4;
  expect_refusal(k, arrays, 2, "argument 'B': its shape is (-4, 8)");
  arrays[1] = matrix("f32", 4, 8, 0, 0); /* strides of 0: all elements are one */
  expect_refusal(k, arrays, 2, "argument 'B': its strides are (0, 0)");
  arrays[1] = matrix("f32", INT64_MAX, INT64_MIN, INT64_MIN, INT64_MAX);
  expect_refusal(k, arrays, 2, "argument 'B'");
  arrays[1] = matrix("f32", 4, 0, 0, 1);
  assert_int_not_equal(cugen_plan_for(k, arrays, 2, NULL, &plan, &err), CUGEN_OK);
  arrays[1] = matrix("quaternion", 4, 8, 8, 1);
  expect_refusal(k, arrays, 2, "argument 'B': its elements are quaternion");
  arrays[1] = (cugen_array){"f32", 3, {1, 4, 8}, {32, 8, 1}};
  expect_refusal(k, arrays, 2, "argument 'B': its shape is (1, 4, 8), should have 2 dimensions");
  arrays[1] = matrix("f32", 4, 8, 8, 1);
  arrays[1].rank = 5;
  expect_refusal(k, arrays, 2, "argument 'B': an array of 5 dimensions");
  arrays[1].rank = -1;
  expect_refusal(k, arrays, 2, "argument 'B': an array of -1 dimensions");
  arrays[1].rank = 2;
  arrays[3] = matrix("i32", 4, 8, 8, 1);
  expect_refusal(k, arrays, 4, "argument 'M' is a scalar");
  assert_int_equal(cugen_plan_for(NULL, arrays, 2, NULL, &plan, &err), CUGEN_ERROR_USAGE);
  assert_int_equal(cugen_plan_for(k, NULL, 2, NULL, &plan, &err), CUGEN_ERROR_USAGE);
  assert_int_equal(cugen_plan_for(k, arrays, 2, NULL, NULL, &err), CUGEN_ERROR_USAGE);
}

/* More than the table begins with, and than the cpu device has room for images: all are found. */
TEST(many_sizes) {
  enum { COUNT = 600 };
  CLOSED(cugen_kernel) *k = kernel_of(lib, "tests/configs/wild.lua", NULL, 0);
  cugen_plan *plans[COUNT];
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < COUNT; i++) {
      const cugen_array x[] = {{"f32", 1, {i + 1}, {1}}};
      cugen_plan *plan = find(k, x, 1);
      if (round) assert_ptr_equal(plan, plans[i]);
      plans[i] = plan;
    }
}

/* Tuning finds other variants: earlier plans stay open, new ones are opened. */
TEST(tuning_opens_anew) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  CLOSED(cugen_kernel) *k = kernel_of(lib, "tests/configs/wild.lua", NULL, 0);
  const cugen_array x[] = {{"f32", 1, {100}, {1}}};
  cugen_plan *before = find(k, x, 1);
  options.budget_count = 1;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  WORKS(cugen_kernel_tune(k, &options, NULL, &err));
  cugen_plan *after = find(k, x, 1);
  assert_ptr_not_equal(after, before);
  assert_string_equal(cugen_plan_about(before)->problem, cugen_plan_about(after)->problem);
}

ALL_TESTS_WITH(open_library, close_library);
