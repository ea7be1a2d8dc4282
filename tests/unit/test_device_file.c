/* Descriptions of GPUs: the shipped ones, and mistakes, which are refused with file and line. */

#include <math.h>

#include "gen/config/device_file.h"
#include "tests/testing.h"

static struct gpu_model open_model(const char *name) {
  struct gpu_model model;
  WORKS(device_file_open(NULL, name, &model, &err));
  return model;
}

TEST(test_shipped) {
  static const char *const want[] = {"model:K40",  "model:GTX970", "model:GTX1080", "model:V100",
                                     "model:T4",   "model:A100",   "model:RTX3090", "model:RTX4090",
                                     "model:H100", "model:H200",   "model:B200"};
  struct gpu_model all[16];
  size_t count = device_files(NULL, all, 16), files = 0;
  for (const struct embedded_file *file = embedded_files; file->path; file++)
    files += strncmp(file->path, "configs/devices/", 16) == 0;
  assert_int_equal(count, files); /* each file parses */
  assert_int_equal(count, sizeof want / sizeof *want);
  for (size_t i = 0; i < count; i++) assert_string_equal(all[i].id, want[i]);
  assert_int_equal(device_files(NULL, all, 2), count);
}

/* Clock and bus width give the published bandwidth, lanes and clock the published arithmetic. */
TEST(test_figures_agree) {
  static const struct {
    const char *name;
    double f32_tflops;
  } rows[] = {{"k40", 5.04},  {"gtx970", 3.92}, {"gtx1080", 8.87}, {"v100", 15.7},
              {"t4", 8.1},    {"a100", 19.5},   {"rtx3090", 35.6}, {"rtx4090", 82.6},
              {"h100", 66.9}, {"h200", 66.9},   {"b200", 75}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct gpu_model m = open_model(rows[i].name);
    double bandwidth =
        2e3 * (double)m.facts.memory_clock_khz * (double)m.facts.memory_bus_bits / 8 / 1e9;
    double flops =
        2e3 * m.rates.fp32_lanes * (double)m.facts.sm_count * (double)m.facts.clock_khz / 1e12;
    if (fabs(bandwidth / m.rates.memory_gb_per_second - 1) > 0.01)
      fail_msg("%s: %g GB/s, published are %g", m.id, bandwidth, m.rates.memory_gb_per_second);
    if (fabs(flops / rows[i].f32_tflops - 1) > 0.01)
      fail_msg("%s: %g TFLOP/s, published are %g", m.id, flops, rows[i].f32_tflops);
  }
}

TEST(test_one) {
  struct gpu_model m = open_model("A100");
  assert_string_equal(m.id, "model:A100");
  assert_string_equal(m.name, "NVIDIA A100-SXM4-40GB");
  assert_int_equal(m.facts.compute_capability, 80);
  assert_int_equal(m.facts.shared_per_sm, 167936);
  assert_int_equal(m.facts.shared_reserved_per_block, 1024);
  assert_int_equal(m.facts.l2_bytes, 41943040);
  assert_true(m.facts.is_gpu == 1 && m.facts.warp_size == 32);
  assert_true(m.rates.l2_latency > m.rates.l1_latency);
}

static void refuse(const char *content, const char *want) {
  struct gpu_model model;
  cugen_error err;
  assert_int_equal(device_file_parse("my.lua", content, strlen(content), &model, &err),
                   CUGEN_ERROR_CONFIG);
  if (!strstr(err.message, want)) fail_msg("expected '%s' in: %s", want, err.message);
}

TEST(test_refusals) {
  refuse("gpu \"X\"\nsm_cout (4)\n", "my.lua:2: unknown figure 'sm_cout' (nearest 'sm_count')");
  refuse("sm_count (4)\n\nsm_count (5)\n",
         "my.lua:3: sm_count stands here twice: it is at line 1 already");
  refuse("sm_count \"4\"\n", "my.lua:1: sm_count takes a number, not a string");
  refuse("sm_count (0)\n", "my.lua:1: sm_count is 0.0, should be 1 to 1024");
  refuse("gpu \"X\"\nsm_count (1000000)\n", "my.lua:2: sm_count is 1000000.0, should be 1 to 1024");
  refuse("compute_capability (999)\n",
         "my.lua:1: compute_capability is 999.0, should be 30 to 199");
  /* the value was given in MHz */
  refuse("clock_khz (1410)\n", "my.lua:1: clock_khz is 1410.0, should be 100000 to 10000000");
  refuse("l2_bytes (-1)\n", "my.lua:1: l2_bytes is -1.0, should be 16384 to ");
  refuse("memory_latency (1 / 0)\n", "my.lua:1: memory_latency is ");
  refuse("tensor_flops (1e9)\n", "my.lua:1: tensor_flops is ");
  refuse("sm_count (0 / 0)\n", "my.lua:1: sm_count is ");
  refuse("sm_count (1.5)\n", "my.lua:1: sm_count is a whole number, not 1.5");
  refuse("sm_count (1, 2)\n", "my.lua:1: sm_count takes one value");
  refuse("\ngpu (7)\n", "my.lua:2: gpu takes a text, not a number");
  refuse("gpu \"\"\n", "my.lua:1: gpu has 1 to ");
  refuse("gpu \"a b\"\n", "my.lua:1: gpu has a character that is not printable or is a space");
  refuse("name \"a\\nb\"\n", "my.lua:1: name has a character that is not printable");
  refuse("gpu \"X\"\n", "my.lua: 'name' is missing");
  refuse("gpu \"X\n", "my.lua:1:");
  refuse("os.exit()\n", "my.lua:1: unknown figure 'os'");
  refuse("while true do end\n", "my.lua:1:");
}

TEST(test_unknown) {
  struct gpu_model model;
  FAILS(device_file_open(NULL, "h2000", &model, &err), CUGEN_ERROR_USAGE,
        "no device 'model:h2000' (nearest 'H200'); described are model:K40, ");
  FAILS(device_file_open(NULL, "./nothing.lua", &model, &err), CUGEN_ERROR_MISSING);
  WORKS(device_file_open("configs/devices", "t4", &model, &err));
  WORKS(device_file_open(NULL, "configs/devices/t4.lua", &model, &err));
  assert_string_equal(model.id, "model:T4");
}
