/* Predictions of one launch: spilled registers take L1 passes, clusters leave multiprocessors
   idle. */

#include <math.h>

#include "gen/config/device_file.h"
#include "runtime/model/described.h"
#include "runtime/model/model.h"
#include "tests/testing.h"

static const char *const body = "\t.reg .f32 %f<9>;\n\t.reg .b32 %r<9>;\n\t.reg .b64 %rd<9>;\n"
                                "\tld.param.u64 %rd1, [k_param_0];\n\tmov.u32 %r1, %tid.x;\n"
                                "\tmul.wide.u32 %rd2, %r1, 4;\n\tadd.s64 %rd3, %rd1, %rd2;\n"
                                "\tld.global.f32 %f1, [%rd3];\n\tfma.rn.f32 %f1, %f1, %f1, %f1;\n"
                                "\tst.global.f32 [%rd3], %f1;\n\tret;\n";

/* Predicts a grid of 12,000 blocks of 256 threads on an H200. */
static struct model_launch predict(int cluster, int64_t spilled) {
  static struct model_prediction got;
  FREED(text) ptx = {0};
  struct gpu_model model;
  struct device_description device;
  struct kernel_argument argument = {.name = "x",
                                     .kind = CUGEN_ARGUMENT_INOUT,
                                     .dtype = dtype_find("f32"),
                                     .rank = 1,
                                     .shape = {1 << 20},
                                     .stride = {1}};
  struct kernel_launch launch = {.entry = "k", .grid = {12000, 1, 1}, .block = {256, 1, 1}};
  const struct kernel_spec spec = {.arguments = &argument,
                                   .argument_count = 1,
                                   .launches = &launch,
                                   .launch_count = 1,
                                   .bytes = 1 << 20};
  WORKS(device_file_open(NULL, "h200", &model, &err));
  described_model(&model, &device);
  text_addf(&ptx, ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(\n\t.param "
                  ".u64 k_param_0\n)\n");
  if (cluster > 1) text_addf(&ptx, ".explicitcluster\n.reqnctapercluster %d, 1, 1\n", cluster);
  text_addf(&ptx, "{\n%s}\n", body);
  const struct compiled compiled = {
      .entry_count = 1,
      .entries = {"k"},
      .resources = {{.registers = 32, .max_threads = 1024, .spill_bytes = spilled}},
      .ptx = (char *)(uintptr_t)text_get(&ptx)};
  WORKS(model_predict(&device, &spec, &compiled, 0, &got, &err));
  return got.launches[0];
}

/* Each spilled register of a warp takes a pass through L1, so passes are proportional to spilled
   bytes. */
TEST(spilled_registers_pass_through_l1) {
  const struct model_launch none = predict(1, 0), some = predict(1, 64), more = predict(1, 128);
  const double passes = some.parts[MODEL_L1] - none.parts[MODEL_L1];
  assert_true(passes > 2 * none.parts[MODEL_L1]);
  assert_true(more.parts[MODEL_L1] > some.parts[MODEL_L1] + 0.9 * passes);
  assert_true(some.parts[MODEL_L2] == none.parts[MODEL_L2] &&
              some.parts[MODEL_FETCH] == none.parts[MODEL_FETCH]);
}

static double arithmetic(int cluster) {
  return predict(cluster, 0).parts[MODEL_INSTRUCTIONS];
}

static void assert_near(double got, double want) {
  if (!(fabs(got / want - 1) < 1e-9)) fail_msg("%.17g, not %.17g", got, want);
}

/* A cluster lies within one group of 14, 16 or 18 multiprocessors. Clusters of 5 use 10, 15 and
   15 of them, clusters of 8 use 8, 16 and 16, so that the launch takes longer by 48 / 40. */
TEST(clusters_lie_in_groups) {
  const double whole = arithmetic(1);
  assert_near(arithmetic(2) / whole, 1);
  assert_near(arithmetic(5) / whole, 48 / 40.0);
  assert_near(arithmetic(8) / whole, 48 / 40.0);
  assert_near(arithmetic(3) / whole, 48 / 45.0);
}

/* A loop whose number of rounds is the second parameter. */
static const char loop[] =
    ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(\n\t.param .u64 "
    "k_param_0,\n\t.param .u32 k_param_1\n)\n{\n\t.reg .pred %p<2>;\n\t.reg .b32 %r<9>;\n"
    "\tld.param.u32 %r1, [k_param_1];\n\tmov.u32 %r2, 0;\n$again:\n\tadd.s32 %r2, %r2, 1;\n"
    "\tsetp.lt.s32 %p1, %r2, %r1;\n\t@%p1 bra $again;\n\tret;\n}\n";

/* Predicts so many equal launches; they pass `rounds` in place of the argument's value 1. */
static double seconds_of(size_t count, int64_t rounds) {
  enum { MOST = 128 };
  static struct model_prediction got;
  struct gpu_model model;
  struct device_description device;
  struct kernel_argument arguments[] = {{.name = "x",
                                         .kind = CUGEN_ARGUMENT_INOUT,
                                         .dtype = dtype_find("f32"),
                                         .rank = 1,
                                         .shape = {32},
                                         .stride = {1}},
                                        {.name = "n",
                                         .kind = CUGEN_ARGUMENT_SCALAR,
                                         .dtype = dtype_find("i32"),
                                         .value = value_int(1)}};
  struct kernel_parameter parameters[] = {{.argument = 0},
                                          {.argument = 1, .value = value_int(rounds)}};
  struct kernel_launch launches[MOST];
  for (size_t i = 0; i < count; i++)
    launches[i] = (struct kernel_launch){.entry = "k",
                                         .grid = {1320, 1, 1},
                                         .block = {256, 1, 1},
                                         .listed = true,
                                         .parameter_count = 2};
  const struct kernel_spec spec = {.arguments = arguments,
                                   .argument_count = 2,
                                   .launches = launches,
                                   .launch_count = count,
                                   .parameters = parameters,
                                   .parameter_count = 2,
                                   .bytes = -1};
  const struct compiled compiled = {.entry_count = 1,
                                    .entries = {"k"},
                                    .resources = {{.registers = 32, .max_threads = 1024}},
                                    .ptx = (char *)(uintptr_t)loop};
  WORKS(device_file_open(NULL, "h200", &model, &err));
  described_model(&model, &device);
  WORKS(model_predict(&device, &spec, &compiled, 0, &got, &err));
  return got.seconds;
}

TEST(a_launch_has_its_own_scalars) {
  assert_true(seconds_of(1, 10000) > 5 * seconds_of(1, 100));
}

/* Only some of many launches are walked; each stands for others, too. */
TEST(all_launches_count) {
  const double one = seconds_of(1, 20), some = seconds_of(MODEL_MOST_LAUNCHES, 20),
               all = seconds_of(2 * MODEL_MOST_LAUNCHES, 20);
  assert_near((all - some) / (some - one), MODEL_MOST_LAUNCHES / (MODEL_MOST_LAUNCHES - 1.0));
}

/* The bytes of a fetch follow from the elements of the textures and arrays if all have the same
   size. */
TEST(fetches_request_elements) {
  static const char fetch[] =
      ".version 9.0\n.target sm_90\n.address_size 64\n.visible .entry k(\n\t.param .u64 "
      "k_param_0,\n\t.param .u64 k_param_1\n)\n{\n\t.reg .f32 %f<5>;\n\t.reg .b32 %r<3>;\n"
      "\t.reg .b64 %rd<2>;\n\tld.param.u64 %rd1, [k_param_0];\n"
      "\ttex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1, %r2}];\n\tret;\n}\n";
  static const struct {
    enum access_kind access[2];
    int dtypes[2];
    double bytes; /* bytes of an element; 0: not known */
  } cases[] = {{{ACCESS_TEXTURE, ACCESS_GLOBAL}, {DTYPE_f32, DTYPE_u8}, 4},
               {{ACCESS_ARRAY, ACCESS_GLOBAL}, {DTYPE_f32, DTYPE_u8}, 4},
               {{ACCESS_TEXTURE, ACCESS_ARRAY}, {DTYPE_u8, DTYPE_i8}, 1},
               {{ACCESS_TEXTURE, ACCESS_ARRAY}, {DTYPE_f32, DTYPE_u8}, 0},
               {{ACCESS_GLOBAL, ACCESS_GLOBAL}, {DTYPE_f32, DTYPE_f32}, 0}};
  struct gpu_model model;
  struct device_description device;
  WORKS(device_file_open(NULL, "h200", &model, &err));
  described_model(&model, &device);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct kernel_argument arguments[2];
    struct kernel_launch launch = {.entry = "k", .grid = {3, 1, 1}, .block = {64, 1, 1}};
    for (int a = 0; a < 2; a++)
      arguments[a] = (struct kernel_argument){.name = a ? "y" : "x",
                                              .kind = CUGEN_ARGUMENT_INPUT,
                                              .dtype = &dtype_table[cases[i].dtypes[a]],
                                              .access = cases[i].access[a],
                                              .rank = 1,
                                              .shape = {64},
                                              .stride = {1}};
    const struct kernel_spec spec = {
        .arguments = arguments, .argument_count = 2, .launches = &launch, .launch_count = 1};
    const struct compiled compiled = {.entry_count = 1,
                                      .entries = {"k"},
                                      .resources = {{.registers = 32}},
                                      .ptx = (char *)(uintptr_t)fetch};
    assert_true(model_requested(&device, &spec, &compiled, NULL) == 3 * 64 * cases[i].bytes);
  }
}
