/* The spaces of matmul on GPUs that are described here: how many variants each implementation
   has, and which, in which order. A record is found by its variant's text, and ties go to the
   variant that comes first, so that a change of these lines forgets measurements. Where it is
   meant, write what this test prints into tests/spaces/matmul.txt. */
#include "base/hash.h"
#include "base/system.h"
#include "gen/config/device_file.h"
#include "gen/space/space.h"
#include "tests/testing.h"

enum { MOST_SETTINGS = 6 };

static const char *const devices[] = {"h200", "a100", "rtx4090", "v100"};
static const char *const cases[][MOST_SETTINGS] = {
    {NULL},
    {"dtype=f64", "layout_b=col", "M=513", "N=1025", "K=129"},
    {"dtype=bf16"},
    {"dtype=bf16", "scaled=true", "biased=true", "activation=gelu"},
    {"dtype=bf16", "M=16", "N=8192", "K=8192"},
    {"dtype=f16", "layout_a=col", "layout_b=col", "layout_c=col", "pitched=true", "K=3000"},
    {"dtype=f16", "batch=8", "M=512", "N=512", "K=512"},
    {"dtype=tf32", "layout_b=col", "M=2048", "N=2304", "K=8192"},
    {"dtype=e4m3", "layout_b=col", "M=1024", "N=1024", "K=1024"},
    {"dtype=i8", "layout_b=col", "dtype_c=f32", "scaled=true"},
    {"M=4095", "N=4097", "K=4099", "biased=true"},
};

static void print_space(const struct space *space, struct text *out) {
  const uint64_t count = space_valid(space);
  struct value *values = calloc(space_max_tunables(space) + 1, sizeof *values);
  struct text variants = {0};
  size_t implementations;
  const struct space_implementation *all = space_implementations(space, &implementations);
  for (uint64_t i = 0; i < count; i++) {
    struct variant variant;
    space_variant(space, i, &variant, values);
    variant_print(&variant, &variants);
    text_add_char(&variants, '\n');
  }
  for (size_t i = 0; i < implementations; i++)
    if (all[i].valid)
      text_addf(out, " %s %llu,", all[i].implementation->name, (unsigned long long)all[i].valid);
  text_addf(out, " %s\n", hash_bytes(text_get(&variants), variants.length).hex);
  text_free(&variants);
  free(values);
}

static void print_case(const struct config *config, const struct gpu_model *device,
                       const char *const *settings, struct text *out) {
  FREED(problem) problem;
  CLOSED(space) *space;
  size_t count = 0;
  for (; count < MOST_SETTINGS && settings[count]; count++) text_addf(out, " %s", settings[count]);
  text_add_char(out, ':');
  WORKS(problem_set(config, settings, count, false, &problem, &err));
  WORKS(space_open(config, &problem, &device->facts, &space, &err));
  print_space(space, out);
}

TEST(matmul_has_its_variants) {
  const struct sources shipped = {NULL, NULL, NULL};
  FREED(text) got = {0}, want = {0};
  CLOSED(config) *config;
  WORKS(config_open(&shipped, "configs/matmul.lua", &config, &err));
  for (size_t d = 0; d < sizeof devices / sizeof *devices; d++)
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
      struct gpu_model device;
      WORKS(device_file_open(NULL, devices[d], &device, &err));
      text_add(&got, devices[d]);
      print_case(config, &device, cases[i], &got);
    }
  WORKS(file_read("tests/spaces/matmul.txt", &want, &err));
  if (strcmp(text_get(&got), text_get(&want)) != 0) printf("%s", text_get(&got));
  assert_string_equal(text_get(&got), text_get(&want));
}
