/* The shipped templates, and those of tests/configs, through the whole of gen and the real
   NVRTC: a fixed sample in which every branch of every template is taken, for three generations
   of GPUs. No GPU is needed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/kernel.h"
#include "gen/template/expand.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/nvrtc.h"

enum { SETTINGS = 10, VALUES = 32 };

struct fixture {
  struct sources sources;
  struct toolkit *toolkit;
  const struct nvrtc *nvrtc;
  struct expander *expander;
};

struct target {
  const char *arch;
  struct device_facts facts;
};

#define COMMON_FACTS                                                                               \
  .warp_size = 32, .max_threads_per_block = 1024, .registers_per_block = 65536,                    \
  .registers_per_sm = 65536, .shared_per_block = 49152, .shared_reserved_per_block = 1024,         \
  .constant_bytes = 65536, .l2_bytes = 50 << 20, .memory_bytes = (int64_t)80 << 30,                \
  .memory_clock_khz = 1593000, .memory_bus_bits = 5120, .clock_khz = 1410000,                      \
  .pitch_alignment = 512, .is_gpu = 1

/* From the CUDA C++ Programming Guide, "Compute Capabilities", technical specifications per
   compute capability. */
static const struct target targets[] = {
    {"sm_80",
     {COMMON_FACTS, .compute_capability = 80, .sm_count = 108, .max_threads_per_sm = 2048,
      .max_blocks_per_sm = 32, .shared_per_block_optin = 166912, .shared_per_sm = 167936}},
    {"sm_90a",
     {COMMON_FACTS, .compute_capability = 90, .architecture_specific = 1, .sm_count = 132,
      .max_threads_per_sm = 2048, .max_blocks_per_sm = 32, .shared_per_block_optin = 232448,
      .shared_per_sm = 233472}},
    {"sm_120",
     {COMMON_FACTS, .compute_capability = 120, .sm_count = 170, .max_threads_per_sm = 1536,
      .max_blocks_per_sm = 24, .shared_per_block_optin = 101376, .shared_per_sm = 102400}},
};
enum { TARGETS = sizeof targets / sizeof targets[0] };

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

static int set_up(void **state) {
  static struct fixture fixture;
  cugen_error err;
  check(toolkit_open(&(struct toolkit_options){0}, &fixture.toolkit, &err), &err);
  int status = nvrtc_open(fixture.toolkit, &fixture.nvrtc, &err);
  if (status == CUGEN_ERROR_MISSING) {
    printf("skipped: %s\n", err.message);
    exit(77);
  }
  check(status, &err);
  check(expander_open(&fixture.sources, &fixture.expander, &err), &err);
  *state = &fixture;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *fixture = *state;
  expander_close(fixture->expander);
  toolkit_close(fixture->toolkit);
  return 0;
}

/* ---- One config for one problem on one target ----------------------------------------------- */

struct bench {
  const struct fixture *fixture;
  const struct target *target;
  struct config *config;
  struct problem problem;
  struct space *space;
  bool optimised; /* optimise as tuning does, because registers, spills and time are tested */
};

static void bench_open(const struct fixture *fixture, const char *config,
                       const char *const *settings, size_t count, const struct target *target,
                       struct bench *out) {
  cugen_error err;
  *out = (struct bench){.fixture = fixture, .target = target};
  check(config_open(&fixture->sources, config, &out->config, &err), &err);
  check(problem_set(out->config, settings, count, false, &out->problem, &err), &err);
  check(space_open(out->config, &out->problem, &target->facts, &out->space, &err), &err);
}

static void bench_close(struct bench *bench) {
  space_close(bench->space);
  problem_free(&bench->problem);
  config_close(bench->config);
}

static size_t distinct_entries(const struct kernel_spec *spec, const char **out) {
  size_t count = 0;
  for (size_t i = 0; i < spec->launch_count; i++) {
    size_t known = 0;
    while (known < count && strcmp(out[known], spec->launches[i].entry) != 0) known++;
    if (known == count) out[count++] = spec->launches[i].entry;
  }
  return count;
}

/* Options that compile a large kernel in a quarter of the time, with all of its errors and
   warnings. */
static const char *quick_options(const struct bench *bench) {
  enum { QUICK = 13000 }; /* first version of NVRTC that has the option */
  return bench->optimised || nvrtc_version(bench->fixture->nvrtc) < QUICK ? NULL
                                                                          : "--Ofast-compile=max";
}

static int compile(const struct bench *bench, const struct kernel_spec *spec, struct compiled *out,
                   cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  struct compile_request request = {.toolkit = bench->fixture->toolkit,
                                    .name = spec->variant,
                                    .source = spec->source,
                                    .arch = bench->target->arch,
                                    .options = quick_options(bench),
                                    .entries = entries,
                                    .entry_count = distinct_entries(spec, entries),
                                    .keep_ptx = true,
                                    .timeout = 600};
  return nvrtc_compile(bench->fixture->nvrtc, &request, out, err);
}

/* Compiles without a warning, and no kernel needs more than the device has. Returns the bytes
   spilled over all kernels. A kernel on wgmma with some bytes in local memory may be refused, as
   in tuning. */
static int64_t compile_right(const struct bench *bench, const struct kernel_spec *spec) {
  cugen_error err;
  struct compiled compiled;
  int status = compile(bench, spec, &compiled, &err);
  if (status && strstr(err.message, "a kernel on wgmma has") &&
      strstr(err.message, "of local memory"))
    return 0;
  if (status)
    fail_msg("%s for %s: %s\n%s", spec->variant, bench->target->arch, err.message, spec->source);
  if (strstr(compiled.log, "warning")) fail_msg("%s: %s", spec->variant, compiled.log);
  int64_t spilled = 0;
  for (size_t i = 0; i < compiled.entry_count; i++) {
    const struct kernel_resources *resources = &compiled.resources[i];
    assert_in_range(resources->registers, 1, 255);
    assert_in_range(resources->static_shared, 0, bench->target->facts.shared_per_block);
    spilled += resources->spill_bytes;
  }
  compiled_free(&compiled);
  return spilled;
}

static void expand(const struct bench *bench, uint64_t index, struct kernel_spec *out) {
  cugen_error err;
  struct value values[VALUES];
  struct variant variant;
  assert_true(space_max_tunables(bench->space) <= VALUES);
  space_variant(bench->space, index, &variant, values);
  check(expand_variant(bench->fixture->expander, bench->config, &bench->problem,
                       &bench->target->facts, &variant, out, &err),
        &err);
}

static int64_t compile_variant(const struct bench *bench, uint64_t index) {
  struct kernel_spec spec;
  expand(bench, index, &spec);
  int64_t spilled = compile_right(bench, &spec);
  kernel_spec_free(&spec);
  return spilled;
}

static int64_t compile_named(const struct bench *bench, const char *variant) {
  cugen_error err;
  uint64_t index;
  check(space_find(bench->space, variant, &index, &err), &err);
  return compile_variant(bench, index);
}

static void compile_reference(const struct bench *bench) {
  cugen_error err;
  struct value values[VALUES];
  struct variant variant;
  struct kernel_spec spec;
  space_variant(bench->space, 0, &variant, values);
  check(expand_reference(bench->fixture->expander, bench->config, &bench->problem,
                         &bench->target->facts, &variant, 0, &spec, &err),
        &err);
  compile_right(bench, &spec);
  kernel_spec_free(&spec);
}

/* ---- matmul --------------------------------------------------------------------------------- */

/* splitmix64 (Steele, Lea, Flood 2014), so that the sample is the same everywhere. */
static uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

static const char *pick(uint64_t *state, const char *first, const char *second) {
  return next_random(state) % 2 ? first : second;
}

/* Bits of `number` choose the layouts; the rest is drawn. Large sizes need offsets of 64 bits. */
static size_t matmul_settings(uint64_t *state, unsigned number, const char *out[SETTINGS]) {
  size_t count = 0;
  out[count++] = number & 1 ? "layout_a=col" : "layout_a=row";
  out[count++] = number & 2 ? "layout_b=col" : "layout_b=row";
  out[count++] = number & 4 ? "layout_c=col" : "layout_c=row";
  out[count++] = pick(state, "dtype=f32", "dtype=f64");
  out[count++] = pick(state, "pitched=true", "pitched=false");
  out[count++] = pick(state, "specialize=true", "specialize=false");
  out[count++] = pick(state, "M=4800", "M=65537");
  out[count++] = pick(state, "N=3200", "N=65539");
  out[count++] = "K=6401";
  return count;
}

static uint64_t random_variant(const struct bench *bench, const char *implementation,
                               bool (*wanted)(struct variant), uint64_t *state) {
  size_t count;
  const struct space_implementation *list = space_implementations(bench->space, &count);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(list[i].implementation->name, implementation) != 0) continue;
    for (int attempt = 0; list[i].valid > 0 && attempt < 1000; attempt++) {
      struct value values[VALUES];
      struct variant variant;
      uint64_t index = list[i].first + next_random(state) % list[i].valid;
      space_variant(bench->space, index, &variant, values);
      if (!wanted || wanted(variant)) return index;
    }
  }
  fail_msg("no such variant of %s", implementation);
  return 0;
}

static bool has_variants(const struct bench *bench, const char *implementation) {
  size_t count;
  const struct space_implementation *list = space_implementations(bench->space, &count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(list[i].implementation->name, implementation) == 0) return list[i].valid > 0;
  return false;
}

static bool is_set(struct variant variant, const char *tunable) {
  for (size_t i = 0; i < variant.implementation->tunable_count; i++)
    if (strcmp(variant.implementation->tunables[i].name, tunable) == 0)
      return variant.values[i].boolean;
  fail_msg("no tunable %s", tunable);
  return false;
}

static bool double_buffered(struct variant variant) {
  return is_set(variant, "double_buffer");
}

static bool single_buffered(struct variant variant) {
  return !is_set(variant, "double_buffer");
}

/* Four of the eight layouts, in which each two matrices meet in all four ways, half of them with
   double buffering. Everything that is drawn comes up several times. */
static void test_matmul_sample(void **state) {
  static const unsigned layouts[] = {0, 3, 5, 6};
  uint64_t random = 1;
  for (unsigned number = 0; number < 4; number++) {
    const char *settings[SETTINGS];
    size_t count = matmul_settings(&random, layouts[number], settings);
    struct bench bench;
    bench_open(*state, "configs/matmul.lua", settings, count, &targets[number % TARGETS], &bench);
    compile_variant(
        &bench,
        random_variant(&bench, "blocked", number < 2 ? double_buffered : single_buffered, &random));
    compile_variant(&bench, random_variant(&bench, "pipelined", NULL, &random));
    if (has_variants(&bench, "packed"))
      compile_variant(&bench, random_variant(&bench, "packed", NULL, &random));
    compile_variant(&bench, random_variant(&bench, number % 2 ? "tiled" : "naive", NULL, &random));
    compile_reference(&bench);
    bench_close(&bench);
  }
}

/* Types whose sums have another type. */
static void test_matmul_types(void **state) {
  static const char *const settings[][2] = {{"dtype=f16", "dtype_c=default"},
                                            {"dtype=bf16", "dtype_c=default"},
                                            {"dtype=bf16", "dtype_c=f32"},
                                            {"dtype=tf32", "dtype_c=default"}};
  uint64_t random = 1;
  for (size_t i = 0; i < 4; i++) {
    struct bench bench;
    bench_open(*state, "configs/matmul.lua", settings[i], 2, &targets[i % TARGETS], &bench);
    compile_variant(&bench, random_variant(&bench, "naive", NULL, &random));
    compile_variant(&bench, random_variant(&bench, "tiled", NULL, &random));
    compile_reference(&bench);
    bench_close(&bench);
  }
}

/* Tensor cores: every type and layout on generations with different instructions. Every second
   kernel is optimised, which takes less than two seconds on an idle machine; the bound leaves
   room for a busy one. */
static void test_matmul_mma(void **state) {
  static const struct target generations[] = {
      {"sm_86",
       {COMMON_FACTS, .compute_capability = 86, .sm_count = 84, .max_threads_per_sm = 1536,
        .max_blocks_per_sm = 16, .shared_per_block_optin = 101376, .shared_per_sm = 102400}},
      {"sm_89",
       {COMMON_FACTS, .compute_capability = 89, .sm_count = 128, .max_threads_per_sm = 1536,
        .max_blocks_per_sm = 24, .shared_per_block_optin = 101376, .shared_per_sm = 102400}},
      {"sm_100",
       {COMMON_FACTS, .compute_capability = 100, .sm_count = 148, .max_threads_per_sm = 2048,
        .max_blocks_per_sm = 32, .shared_per_block_optin = 232448, .shared_per_sm = 233472}},
  };
  static const char *const dtypes[] = {"dtype=bf16", "dtype=tf32", "dtype=f64", "dtype=f16",
                                       "dtype=i8",   "dtype=e4m3", "dtype=e5m2"};
  uint64_t random = 1;
  for (unsigned number = 0; number < 15; number++) {
    const unsigned turn = (number / 2 + number / 12) % TARGETS;
    const struct target *target = number % 2 ? &generations[turn] : &targets[turn];
    const char *settings[SETTINGS];
    struct bench bench;
    size_t count = matmul_settings(&random, number, settings);
    /* 8-bit types only along k, floats of 8 bits since 8.9; the other types in three layouts
       each. */
    size_t type = number < 12 ? (number + number / 4) % 4 : number - 8;
    settings[3] = dtypes[type];
    if (type >= 4) settings[0] = "layout_a=row", settings[1] = "layout_b=col";
    settings[count - 1] = number % 5 == 0 ? "K=6401" : "K=6400";
    bench_open(*state, "configs/matmul.lua", settings, count, target, &bench);
    bench.optimised = number % 2 != 0;
    clock_t start = clock();
    compile_variant(&bench, random_variant(&bench, "mma", NULL, &random));
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    if (seconds > 5) fail_msg("%s for %s took %.2f s", settings[3], target->arch, seconds);
    bench_close(&bench);
  }
}

/* All types, with drawn ways of sharing the work, and the layouts that are narrow in each way. A
   kernel that the compiler made serial or put into local memory is refused, so no compiled
   kernel spills. */
static void test_matmul_wgmma(void **state) {
  static const char *const types[][2] = {
      {"dtype=bf16", "dtype_c=default"}, {"dtype=f16", "dtype_c=default"},
      {"dtype=bf16", "dtype_c=f32"},     {"dtype=tf32", "dtype_c=default"},
      {"dtype=e4m3", "dtype_c=default"}, {"dtype=e5m2", "dtype_c=f32"},
      {"dtype=i8", "dtype_c=default"}};
  uint64_t random = 7;
  for (unsigned number = 0; number < 9; number++) {
    bool narrow = number % 7 <
                  3; /* only types of 2 bytes have other layouts than A by rows and B by columns */
    const char *settings[] = {types[number % 7][0],
                              types[number % 7][1],
                              narrow && number & 4 ? "layout_a=col" : "layout_a=row",
                              narrow && !(number & 8) ? "layout_b=row" : "layout_b=col",
                              pick(&random, "layout_c=row", "layout_c=col"),
                              pick(&random, "M=128", "M=4096"),
                              number % 5 == 3 ? "N=4095" : "N=4096",
                              number % 5 == 2 ? "K=4095" : "K=4096",
                              number % 3 == 1 && number % 7 < 6 ? "biased=true" : "biased=false",
                              number % 3 == 1 && number % 7 < 6 ? "activation=gelu"
                                                                : "activation=none",
                              number % 4 == 2 ? "batch=3" : "batch=1"};
    struct bench bench;
    bench_open(*state, "configs/matmul.lua", settings, sizeof settings / sizeof *settings,
               &targets[1], &bench);
    bench.optimised = true; /* otherwise the registers that it asks for do not suffice */
    compile_variant(&bench, random_variant(&bench, "wgmma", NULL, &random));
    if (has_variants(&bench, "wgmma_stream")) /* i8 has none */
      compile_variant(&bench, random_variant(&bench, "wgmma_stream", NULL, &random));
    bench_close(&bench);
  }
}

/* The variants that are expected to be fast keep everything in registers. */
static void test_matmul_does_not_spill(void **state) {
  static const struct {
    const char *setting, *variant;
  } rows[] = {
      {"dtype=f32",
       "blocked BM=128 BN=128 BK=8 TM=8 TN=8 vec=4 pad=4 double_buffer=true group=8 min_blocks=1"},
      {"dtype=f32",
       "blocked BM=128 BN=128 BK=8 TM=8 TN=8 vec=4 pad=4 double_buffer=true group=1 min_blocks=2"},
      {"dtype=f32",
       "blocked BM=128 BN=128 BK=16 TM=8 TN=8 vec=4 pad=4 double_buffer=true group=8 min_blocks=1"},
      {"dtype=f32",
       "blocked BM=128 BN=64 BK=16 TM=8 TN=8 vec=4 pad=4 double_buffer=true group=8 min_blocks=1"},
      {"dtype=f32",
       "blocked BM=128 BN=128 BK=8 TM=8 TN=8 vec=4 pad=4 double_buffer=false group=1 min_blocks=2"},
      {"dtype=f32",
       "pipelined BM=128 BN=256 BK=8 TM=16 TN=8 lanes_m=4 order=rows bursts=7 stages=4"},
      {"dtype=f32",
       "pipelined BM=128 BN=256 BK=16 TM=16 TN=8 lanes_m=4 order=rows bursts=7 stages=4"},
      {"dtype=f32",
       "pipelined BM=64 BN=128 BK=16 TM=8 TN=8 lanes_m=4 order=cols bursts=1 stages=4"},
      {"M=64",
       "pipelined BM=64 BN=128 BK=16 TM=8 TN=8 lanes_m=4 order=cols bursts=7 stages=4 split=2"},
      {"K=4099", "packed BM=256 BN=128 BK=16 TM=16 TN=8 lanes_m=4 order=rows bursts=1 stages=3"},
      {"dtype=f64", "pipelined BM=64 BN=128 BK=8 TM=8 TN=8 lanes_m=4 order=rows bursts=1 stages=3"},
      {"dtype=bf16", "mma BM=128 BN=256 WM=64 WN=64 k_bytes=64 stages=4 min_blocks=1"},
      {"dtype=bf16", "mma BM=128 BN=128 WM=64 WN=32 k_bytes=64 stages=4 min_blocks=1"},
      {"dtype=tf32", "mma BM=128 BN=128 WM=64 WN=32 k_bytes=128 stages=4 min_blocks=1"},
      {"dtype=f64",
       "mma BM=128 BN=128 WM=32 WN=64 k_bytes=64 stages=4 min_blocks=1 f64_rows=16 f64_k=4"},
      {"dtype=f64",
       "mma BM=64 BN=128 WM=32 WN=32 k_bytes=128 stages=4 min_blocks=1 f64_rows=16 f64_k=8"},
      {"dtype=f64",
       "blocked BM=64 BN=128 BK=8 TM=8 TN=4 vec=2 pad=4 double_buffer=true group=1 min_blocks=1"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bench bench;
    bench_open(*state, "configs/matmul.lua", &rows[i].setting, 1, &targets[1], &bench);
    bench.optimised = true;
    int64_t spilled = compile_named(&bench, rows[i].variant);
    if (spilled) fail_msg("%s spills %lld bytes", rows[i].variant, (long long)spilled);
    bench_close(&bench);
  }
}

/* ---- peak_copy, peak_fma -------------------------------------------------------------------- */

/* The peak kernels must not spill, since spills would be measured instead. */
static void test_peaks(void **state) {
  static const char *const dtypes[] = {NULL, "dtype=f32", "dtype=f64", "dtype=f16", "dtype=bf16"};
  for (size_t i = 0; i < 5; i++) {
    struct bench bench;
    bench_open(*state, i ? "configs/peak_fma.lua" : "configs/peak_copy.lua", &dtypes[i], i > 0,
               &targets[i % TARGETS], &bench);
    bench.optimised = true;
    for (uint64_t v = 0; v < space_valid(bench.space); v++)
      assert_int_equal(compile_variant(&bench, v), 0);
    compile_reference(&bench);
    bench_close(&bench);
  }
}

/* ---- reader --------------------------------------------------------------------------------- */

/* Each way to load, with offsets of 32 and of 64 bits. */
static void test_reader(void **state) {
  static const char *const settings[][2] = {{"n=67108864", "dtype=f32"},
                                            {"n=4294967296", "dtype=f64"}};
  for (size_t i = 0; i < 6; i++) {
    struct bench bench;
    bench_open(*state, "configs/reader.lua", settings[i % 2], 2, &targets[i % TARGETS], &bench);
    compile_named(&bench, i < 3 ? "stream vec=2 loads=4" : "stream vec=1 loads=1");
    compile_named(&bench, i % 2 ? "stream vec=2" : "stream vec=4");
    compile_reference(&bench);
    bench_close(&bench);
  }
}

/* ---- copy, access, transpose ---------------------------------------------------------------- */

/* Compiles one drawn variant of each implementation that has variants, and the reference. */
static void compile_sample(struct bench *bench, uint64_t *state) {
  size_t count;
  const struct space_implementation *list = space_implementations(bench->space, &count);
  for (size_t i = 0; i < count; i++)
    if (list[i].valid > 0)
      compile_variant(bench, random_variant(bench, list[i].implementation->name, NULL, state));
  compile_reference(bench);
}

/* Every size of an element, packed and pitched, offsets of 32 and 64 bits. */
static void test_moves(void **state) {
  static const struct {
    const char *config, *settings[4];
  } rows[] = {
      {"configs/copy.lua", {"dtype=f32", "width=100003"}},
      {"configs/copy.lua", {"dtype=u8", "width=4294967311", "pitched=false"}},
      {"configs/copy.lua", {"dtype=f16", "pitched=true", "width=1001", "height=77"}},
      {"configs/copy.lua", {"dtype=f64", "pitch_x=1002", "width=1001", "height=4000000"}},
      {"configs/access.lua", {"dtype=f32", "load_offset=1"}},
      {"configs/access.lua", {"dtype=i8", "active_lanes=8", "broadcast=true"}},
      {"configs/access.lua", {"dtype=bf16", "scattered=true", "store_offset=3", "store_stride=2"}},
      {"configs/transpose.lua", {"dtype=f32"}},
      {"configs/transpose.lua", {"dtype=u8", "rows=65537", "cols=65539"}},
      {"configs/transpose.lua", {"dtype=f16", "rows=1000", "cols=1001", "pitched=true"}},
      {"configs/transpose.lua", {"dtype=f64", "batch=1000", "rows=2000", "cols=2000"}},
  };
  uint64_t random = 1;
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bench bench;
    size_t count = 0;
    while (count < 4 && rows[i].settings[count]) count++;
    bench_open(*state, rows[i].config, rows[i].settings, count, &targets[i % TARGETS], &bench);
    compile_sample(&bench, &random);
    bench_close(&bench);
  }
}

/* How a transpose loads: a `const` and __restrict__ parameter by the read-only path, because the
   compiler sees that nobody writes there; without __restrict__ only where the source says __ldg. */
static void test_read_only_loads(void **state) {
  static const struct {
    const char *variant, *load, *other; /* instructions that the PTX has, and does not have */
  } rows[] = {
      {"coalesced_read block_x=32 block_y=32", "ld.global.nc", "ld.global.f32"},
      {"coalesced_read_ldg", "ld.global.nc", "ld.global.f32"},
      {"coalesced_read_plain", "ld.global.f32", "ld.global.nc"},
      {"coalesced_write block_x=32 block_y=32", "ld.global.nc", "ld.global.f32"},
      {"coalesced_write_ldg", "ld.global.nc", "ld.global.f32"},
      {"coalesced_write_plain", "ld.global.f32", "ld.global.nc"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0] * TARGETS; i++) {
    const size_t row = i / TARGETS;
    struct bench bench;
    struct kernel_spec spec;
    struct compiled compiled;
    uint64_t index;
    cugen_error err;
    bench_open(*state, "configs/transpose.lua", NULL, 0, &targets[i % TARGETS], &bench);
    bench.optimised = true;
    check(space_find(bench.space, rows[row].variant, &index, &err), &err);
    expand(&bench, index, &spec);
    check(compile(&bench, &spec, &compiled, &err), &err);
    if (!strstr(compiled.ptx, rows[row].load) || strstr(compiled.ptx, rows[row].other))
      fail_msg("%s for %s: %s", rows[row].variant, bench.target->arch, compiled.ptx);
    compiled_free(&compiled);
    kernel_spec_free(&spec);
    bench_close(&bench);
  }
}

/* ---- filter and particles ------------------------------------------------------------------- */

/* Every boundary, type and way to read image and weights, for small images and for images that
   need offsets of 64 bits; one drawn variant of each implementation that the settings allow. */
static void test_filter_sample(void **state) {
  static const char *const implementations[] = {"naive", "tiled", "strips"};
  static const char *const rows[][5] = {
      {"boundary=clamp", "dtype=f32", "size=5", "rows=8192", "cols=8192"},
      {"boundary=zero", "dtype=f16", "size=3", "rows=1021", "cols=1009"},
      {"boundary=mirror", "dtype=f64", "size=7", "rows=8191", "pitched=true"},
      {"boundary=wrap", "dtype=f32", "size=15", "rows=4096", "pitched=true"},
      {"boundary=zero", "dtype=f32", "size=9", "rows=65000", "cols=65536"},
      {"boundary=mirror", "dtype=f16", "size=11", "rows=50000", "cols=50001"},
  };
  uint64_t random = 7;
  for (unsigned number = 0; number < sizeof rows / sizeof rows[0]; number++) {
    struct bench bench;
    bench_open(*state, "configs/filter.lua", rows[number], 5, &targets[number % TARGETS], &bench);
    for (size_t i = 0; i < 3; i++)
      compile_variant(&bench, random_variant(&bench, implementations[i], NULL, &random));
    compile_variant(&bench, random_variant(&bench, "strips", NULL, &random));
    compile_reference(&bench);
    bench_close(&bench);
  }
}

static void test_filter_does_not_spill(void **state) {
  static const struct {
    const char *size, *variant;
  } rows[] = {
      {"size=3", "strips block_x=64 block_y=4 vec=4 strip=16 unrolled=true resident=1024"},
      {"size=5", "strips block_x=64 block_y=2 vec=4 strip=8 unrolled=true resident=1024"},
      {"size=9", "strips block_x=32 block_y=4 vec=4 strip=32 unrolled=false resident=512"},
      {"size=15",
       "strips block_x=32 block_y=1 vec=4 strip=64 unrolled=false ahead=true resident=0"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    struct bench bench;
    bench_open(*state, "configs/filter.lua", &rows[i].size, 1, &targets[1], &bench);
    bench.optimised = true;
    int64_t spilled = compile_named(&bench, rows[i].variant);
    if (spilled) fail_msg("%s spills %lld bytes", rows[i].variant, (long long)spilled);
    bench_close(&bench);
  }
}

/* More than 2^31 elements: the state of 2^28 particles. */
static void test_particles(void **state) {
  static const char *const variants[] = {"plain group=1",        "plain group=0 per_thread=4",
                                         "wide group=1 vec=2",   "wide group=0 vec=2",
                                         "wide group=32 vec=2",  "plain group=8",
                                         "wide group=128 vec=2", "wide group=4 per_thread=4 vec=2"};
  static const char *const settings[][2] = {{"n=16777216", "dtype=f32"},
                                            {"n=268435456", "dtype=f64"}};
  for (size_t i = 0; i < 2; i++) {
    struct bench bench;
    bench_open(*state, "configs/particles.lua", settings[i], 2, &targets[i + 1], &bench);
    for (size_t v = 0; v < sizeof variants / sizeof *variants; v++)
      compile_named(&bench, variants[v]);
    compile_reference(&bench);
    bench_close(&bench);
  }
}

/* ---- reduce --------------------------------------------------------------------------------- */

/* Each implementation in two or three types; operators and generations alternate. */
static void test_reduce(void **state) {
  static const char *const rungs[][2] = {
      {"axis=all", "global"},  {"axis=all", "static"},  {"axis=all", "dynamic"},
      {"axis=col", "shuffle"}, {"axis=all", "vector"},  {"axis=row", "onepass"},
      {"axis=row", "rows"},    {"axis=col", "columns"}, {"axis=all", "onepass loads=streaming"}};
  static const char *const dtypes[] = {"dtype=f32", "dtype=f64", "dtype=f16", "dtype=bf16",
                                       "dtype=i32"};
  static const char *const ops[] = {"op=sum", "op=min", "op=max", "op=largest"};
  for (size_t i = 0; i < sizeof rungs / sizeof *rungs * 5; i += 2) {
    const char *settings[] = {rungs[i / 5][0], dtypes[i % 5], ops[(i + i / 5) % 4], "rows=1024",
                              "cols=1024"};
    struct bench bench;
    bench_open(*state, "configs/reduce.lua", settings, 5, &targets[i % TARGETS], &bench);
    bench.optimised = true;
    int64_t spilled = compile_named(&bench, rungs[i / 5][1]);
    if (spilled)
      fail_msg("%s %s %s for %s spills %lld bytes", rungs[i / 5][1], settings[1], settings[2],
               bench.target->arch, (long long)spilled);
    if (i % 5 < 2) compile_reference(&bench);
    bench_close(&bench);
  }
}

/* ---- The configs of other tests ------------------------------------------------------------- */

static void test_features(void **state) {
  static const char *const dtypes[] = {"dtype=f32", "dtype=f64", "dtype=i32"};
  for (size_t i = 0; i < 3; i++) {
    struct bench bench;
    bench_open(*state, "tests/configs/features.lua", &dtypes[i], 1, &targets[i % TARGETS], &bench);
    compile_named(&bench, "tree");
    compile_named(&bench, "shuffle");
    compile_reference(&bench);
    bench_close(&bench);
  }
}

static void test_wild(void **state) {
  struct bench bench;
  bench_open(*state, "tests/configs/wild.lua", NULL, 0, &targets[0], &bench);
  for (uint64_t i = 0; i < space_valid(bench.space); i++) compile_variant(&bench, i);
  compile_reference(&bench);
  bench_close(&bench);
}

/* All variants compile but one, whose error names the template's line. */
static void test_planted(void **state) {
  struct bench bench;
  const char *n = "n=999"; /* odd_grid's grid is a whole number for this size */
  bench_open(*state, "tests/configs/planted.lua", &n, 1, &targets[2], &bench);
  size_t refused = 0;
  for (uint64_t i = 0; i < space_valid(bench.space); i++) {
    struct kernel_spec spec;
    expand(&bench, i, &spec);
    if (strncmp(spec.variant, "does_not_compile", 16) != 0) {
      compile_right(&bench, &spec);
    } else {
      cugen_error err;
      struct compiled compiled;
      assert_int_equal(compile(&bench, &spec, &compiled, &err), CUGEN_ERROR_COMPILE);
      assert_non_null(strstr(err.message, "tests/configs/planted.cu:25:"));
      assert_non_null(strstr(err.message, "no_such_name"));
      refused++;
    }
    kernel_spec_free(&spec);
  }
  assert_int_equal(refused, 1);
  bench_close(&bench);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_matmul_sample),
      cmocka_unit_test(test_matmul_types),
      cmocka_unit_test(test_matmul_mma),
      cmocka_unit_test(test_matmul_wgmma),
      cmocka_unit_test(test_matmul_does_not_spill),
      cmocka_unit_test(test_peaks),
      cmocka_unit_test(test_reader),
      cmocka_unit_test(test_moves),
      cmocka_unit_test(test_read_only_loads),
      cmocka_unit_test(test_filter_sample),
      cmocka_unit_test(test_filter_does_not_spill),
      cmocka_unit_test(test_particles),
      cmocka_unit_test(test_features),
      cmocka_unit_test(test_wild),
      cmocka_unit_test(test_reduce),
      cmocka_unit_test(test_planted),
  };
  return cmocka_run_group_tests(tests, set_up, tear_down);
}
