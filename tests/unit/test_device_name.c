/* What the text of a device says: base/device_name.c. */

#include "base/device_name.h"
#include "tests/testing.h"

static const struct {
  const char *text;
  cugen_device_kind kind;
  int predicted;
  const char *name;
} cases[] = {
    {"cpu", CUGEN_DEVICE_CPU, 0, ""},
    {"cpu AMD EPYC, g++ 12.2", CUGEN_DEVICE_CPU, 0, "AMD EPYC, g++ 12.2"},
    {"cpus", CUGEN_DEVICE_NAMED, 0, "cpus"},
    {"cuda", CUGEN_DEVICE_CUDA, 0, ""},
    {"cuda:12", CUGEN_DEVICE_CUDA, 0, "12"},
    {"cudart", CUGEN_DEVICE_NAMED, 0, "cudart"},
    {"model:H200", CUGEN_DEVICE_MODEL, 0, "H200"},
    {"model:./mine.lua", CUGEN_DEVICE_MODEL, 0, "./mine.lua"},
    {"model", CUGEN_DEVICE_NAMED, 0, "model"},
    {"NVIDIA H200 sm_90 132 SMs", CUGEN_DEVICE_NAMED, 0, "NVIDIA H200 sm_90 132 SMs"},
    {"predicted NVIDIA H200 sm_90 132 SMs", CUGEN_DEVICE_NAMED, 1, "NVIDIA H200 sm_90 132 SMs"},
    {"predicted cpu", CUGEN_DEVICE_NAMED, 1, "cpu"}, /* only GPUs have predictions */
    {"all", CUGEN_DEVICE_LIST, 0, "all"},
    {"cuda:0,cuda:2", CUGEN_DEVICE_LIST, 0, "cuda:0,cuda:2"},
    {"cpu,cpu", CUGEN_DEVICE_LIST, 0, "cpu,cpu"},
    {"cuda:0,", CUGEN_DEVICE_LIST, 0, "cuda:0,"},
    {"model:H200,cuda", CUGEN_DEVICE_LIST, 0, "model:H200,cuda"},
    {"model:H200, model:A100", CUGEN_DEVICE_LIST, 0, "model:H200, model:A100"},
    {"model:H200, cuda:0", CUGEN_DEVICE_LIST, 0, "model:H200, cuda:0"},
    {"model:./a,b.lua", CUGEN_DEVICE_MODEL, 0, "./a,b.lua"},
    {"A100,H200", CUGEN_DEVICE_LIST, 0, "A100,H200"},
    {"model:./mine.lua,T4", CUGEN_DEVICE_LIST, 0, "model:./mine.lua,T4"},
    {"T4, cuda:0", CUGEN_DEVICE_LIST, 0, "T4, cuda:0"},
    {"EPYC, g++ 12.2", CUGEN_DEVICE_NAMED, 0, "EPYC, g++ 12.2"},
    {"cpu A, cpu, -O2", CUGEN_DEVICE_CPU, 0, "A, cpu, -O2"},
    {"", CUGEN_DEVICE_NAMED, 0, ""},
    {NULL, CUGEN_DEVICE_NAMED, 0, ""},
};

TEST(test_texts) {
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const cugen_device_name got = device_parse(cases[i].text);
    assert_int_equal(got.kind, cases[i].kind);
    assert_int_equal(got.predicted, cases[i].predicted);
    assert_string_equal(got.name, cases[i].name);
  }
}
