/* Unusual input, for every family of kernels that ships: sizes, pitches, types and pointers that
   are refused, in which words; sizes of one element and primes; NaN and infinity where no
   arithmetic is expected to meet them. docs/kernels.md says what happens; other files of this
   folder have what concerns one family alone. */

#include <math.h>

#include "api/tuning.h"
#include "kernels.h"
#include "tests/testing.h"

enum { SETTINGS = 6 };

/* ---- What is refused ------------------------------------------------------------------------ */

struct refusal {
  const char *config, *setting, *message;
};

/* Expects a refusal at the setting, for lack of a valid variant, or when the arguments are
   evaluated. */
static void expect_refusal(cugen *lib, const struct refusal *row) {
  cugen_error error = {0};
  CLOSED(cugen_kernel) *kernel = NULL;
  cugen_record record = {.reason = ""};
  int status = cugen_kernel_open(lib, row->config, &row->setting, 1, &kernel, &error);
  if (!status) status = api_kernel_run(kernel, NULL, 60, &record, &error);
  if (!status) assert_int_equal(record.outcome, CUGEN_OUTCOME_LAUNCH);
  const char *said = status ? error.message : record.reason;
  if (!strstr(said, row->message)) fail_msg("%s %s: %s", row->config, row->setting, said);
}

static const struct refusal refusals[] = {
    /* no elements */
    {"copy", "width=0", "shape of \"x\" has the extent 0 (width): it must be 1 or more"},
    {"copy", "height=-1", "has the extent -1 (height): it must be 1 or more"},
    {"copy", "depth=0", "it must be 1 or more"},
    {"access", "n=0", "shape of \"x\" has the extent 0 (n + load_offset): it must be 1 or more"},
    {"transpose", "rows=0", "shape of \"A\" has the extent 0 (rows): it must be 1 or more"},
    {"transpose", "cols=0", "it must be 1 or more"},
    {"transpose", "batch=0", "it must be 1 or more"},
    {"reduce", "rows=0", "it must be 1 or more"},
    {"sum", "n=0", "shape of \"x\" has the extent 0 (n): it must be 1 or more"},
    {"reduce", "cols=0", "shape of \"x\" has the extent 0 (cols): it must be 1 or more"},
    {"matmul", "M=0", "shape of \"A\" has the extent 0"},
    {"matmul", "N=-5", "shape of \"B\" has the extent -5"},
    {"matmul", "K=0", "it must be 1 or more"},
    {"matmul", "batch=0", "it must be 1 or more"},
    {"filter", "rows=0", "grid y: 1 to 65535 rules out"},
    {"filter", "cols=-1", "grid x: 1 to 2147483647 rules out"},
    {"particles", "n=0", "grid x: 1 to 2147483647 rules out"},
    {"reader", "n=0", "grid x: 1 to 2147483647 rules out"},
    /* a pitch below a row */
    {"copy", "pitch_x=30010",
     "pitch of \"x\" is 30010, but the contiguous dimension has 30011 elements"},
    {"copy", "pitch_y=-1", "pitch of \"y\" is -1, but the contiguous dimension has 30011 elements"},
    {"access", "load_stride=0", "pitch of \"x\" is 0, but the contiguous dimension has 1 elements"},
    {"access", "store_stride=-1",
     "pitch of \"y\" is -1, but the contiguous dimension has 1 elements"},
    {"transpose", "pitch_a=390",
     "pitch of \"A\" is 390, but the contiguous dimension has 391 elements"},
    {"transpose", "pitch_b=267",
     "pitch of \"B\" is 267, but the contiguous dimension has 268 elements"},
    /* no such path */
    {"copy", "dtype=f8", "dtype is one of f32, f64, f16,"},
    {"access", "dtype=c64", "dtype is one of f32, f64, f16,"},
    {"transpose", "dtype=f128", "dtype is one of f32, f64, f16,"},
    {"reduce", "dtype=i8", "dtype is one of f32, f64, f16, bf16, i32"},
    {"reduce", "op=prod", "op is one of sum, min, max, largest"},
    {"matmul", "dtype=u64", "dtype is one of f32, f64"},
    {"matmul", "layout_a=cow", "layout_a is one of row, col; nearest 'row'"},
    {"matmul", "activation=gulu", "activation is one of none, relu, gelu; nearest 'gelu'"},
    {"filter", "dtype=bf16", "dtype is one of f32, f16, f64"},
    {"filter", "size=4", "size is one of 5, 3, 7, 9, 11, 13, 15"},
    {"filter", "boundary=periodic", "boundary is one of clamp, zero, mirror, wrap"},
    {"particles", "dtype=f16", "dtype is one of f32, f64"},
    {"reader", "dtype=i32", "dtype is one of f32, f64"},
    /* problems that a restriction of the config excludes */
    {"access", "load_offset=-1", "where \"load_offset >= 0 and store_offset >= 0\" rules out"},
    {"matmul", "batch=65536", "where \"batch <= 65535\" rules out"},
    {"matmul", "dtype_c=f32", "where \"dtype_c == 'default' or "},
    {"particles", "fields=6", "where \"fields >= 7\" rules out"},
    {"reader", "passes=0", "where \"passes >= 1\" rules out"},
    {"reader", "chunk=-4", "where \"chunk >= 1\" rules out"},
};

TEST(test_refusals) {
  static const char *const scattered[] = {"scattered=true", "n=1000"};
  for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++)
    expect_refusal(*state, &refusals[i]);
  CLOSED(cugen_kernel) *kernel = open_kernel(*state, "access", scattered, 2);
  FAILS(cugen_plan_open(kernel, NULL, &(cugen_plan *){NULL}, &err), CUGEN_ERROR_EMPTY,
        "where \"not scattered or is_pow2(n)\" rules out");
}

/* ---- Pointers that lie between elements ----------------------------------------------------- */

TEST(test_between_elements) {
  static const char *const settings[] = {"width=8", "height=1", "depth=1"};
  static _Alignas(16) float x[12], y[12];
  const struct choice choice = {"configs/copy.lua", "vector", NULL};
  CLOSED(cugen_plan) *plan = open_choice(*state, &choice, settings, 3);
  cugen_call *call;
  void *arguments[] = {x, (char *)y + 2, NULL, NULL, NULL};
  FAILS(cugen_call_bind(plan, arguments, 5, &call, &err), CUGEN_ERROR_USAGE,
        "argument 'y' was given 0x", "which is 2 bytes past a multiple of 4: its elements are f32");
  assert_null(call);
}

/* ---- One element, primes -------------------------------------------------------------------- */

static const struct {
  const char *config, *settings[SETTINGS], *variants[7];
} sizes[] = {
    {"matmul", {"M=1", "N=1", "K=1"}, {"naive", "tiled", "blocked", "pipelined"}},
    {"matmul", {"M=1", "N=1", "K=1009"}, {"naive", "pipelined"}},
    {"matmul", {"M=211", "N=1", "K=13", "layout_a=col"}, {"tiled", "blocked"}},
    {"matmul", {"M=17", "N=101", "K=37", "scaled=true", "biased=true"}, {"tiled", "pipelined"}},
    {"reduce", {"rows=1", "cols=1"}, {"global", "static", "dynamic", "vector"}},
    {"sum", {"n=1"}, {"global", "static", "dynamic"}},
    {"sum", {"n=128"}, {"global", "static", "dynamic threads=1024"}},
    {"sum", {"n=70001", "dtype=i32"}, {"global threads=64", "static threads=256", "dynamic"}},
    {"sum", {"n=70001", "dtype=f64"}, {"global", "static", "dynamic threads=64"}},
    {"filter", {"rows=1", "cols=1", "size=3", "boundary=mirror"}, {"naive", "tiled", "strips"}},
    {"filter", {"rows=53", "cols=37", "size=3"}, {"naive", "tiled", "strips"}},
    {"reader", {"n=1", "passes=1"}, {"stream"}},
    {"reader", {"n=7919", "passes=7", "chunk=13"}, {"stream", "stream loads=1"}},
};

TEST(test_sizes) {
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    CLOSED(cugen_kernel) *kernel =
        open_kernel(*state, sizes[i].config, sizes[i].settings, SETTINGS);
    for (size_t v = 0; sizes[i].variants[v]; v++) run_variant(kernel, sizes[i].variants[v]);
  }
}

/* ---- NaN and infinity, and wide loads from anywhere ----------------------------------------- */

enum { FIELDS = 16, PARTICLES = 61 };

/* A NaN or infinity in one particle reaches that particle and no other, in every layout. */
TEST(test_particles_apart) {
  static const struct choice choices[] = {
      {"configs/particles.lua", "plain", "group = 1"},
      {"configs/particles.lua", "wide", "group = 1"},
      {"configs/particles.lua", "wide", "group = 32"},
      {"configs/particles.lua", "plain", "group = 0"},
  };
  static const char *const settings[] = {"n=61"};
  static _Alignas(64) float in[FIELDS * 96], out[6 * 96];
  for (size_t i = 0; i < sizeof choices / sizeof *choices; i++) {
    const int group = atoi(choices[i].tunables + strlen("group = "));
    const int lanes = group ? group : PARTICLES; /* of a group */
    CLOSED(cugen_plan) *plan = open_choice(*state, &choices[i], settings, 1);
    for (int k = 0; k < FIELDS * 96; k++) in[k] = (float)(k % 64) / 64;
    in[(17 / lanes * FIELDS + 1) * lanes + 17 % lanes] = NAN; /* y of particle 17 */
    /* velocity along x of particle 40 */
    in[(40 / lanes * FIELDS + 3) * lanes + 40 % lanes] = INFINITY;
    void *arguments[] = {in, out, NULL, NULL};
    launch_once(plan, arguments, 4);
    for (int p = 0; p < PARTICLES; p++)
      for (int f = 0; f < 6; f++) {
        float got = out[(p / lanes * 6 + f) * lanes + p % lanes];
        bool nan = p == 17 && f % 3 == 1, infinite = p == 40 && f % 3 == 0;
        if (nan ? !isnan(got) : infinite ? isfinite(got) : !isfinite(got))
          fail_msg("%s: number %d of particle %d is %g", choices[i].tunables, f, p, (double)got);
      }
  }
}

enum { COUNT = 1003, CHUNK = 100, CHUNKS = 11 };

/* A NaN reaches its chunk's sum, and sums are right wherever the first element lies. */
TEST(test_reader_from_anywhere) {
  static const char *const settings[] = {"n=1003", "passes=1", "chunk=100"};
  static const char *const tunables[] = {"vec = 4", "vec = 4, loads = 1, memory_kind = 'mapped'",
                                         "vec = 1"};
  static _Alignas(64) float x[COUNT + 8], sums[CHUNKS];
  for (size_t i = 0; i < 3; i++) {
    const struct choice choice = {"configs/reader.lua", "stream", tunables[i]};
    CLOSED(cugen_plan) *plan = open_choice(*state, &choice, settings, 3);
    for (int shift = 0; shift < 4; shift++) {
      float *from = x + shift;
      for (int k = 0; k < COUNT; k++) from[k] = (float)(k % 7);
      from[CHUNK * 3 + 99] = NAN;
      from[CHUNK * 5] = -INFINITY;
      void *arguments[] = {from, sums, NULL, NULL};
      launch_once(plan, arguments, 4);
      for (int c = 0; c < CHUNKS; c++) {
        float want = 0;
        for (int k = c * CHUNK; k < (c + 1) * CHUNK && k < COUNT; k++) want += from[k];
        if (isnan(want) ? !isnan(sums[c]) : sums[c] != want)
          fail_msg("%s, shift %d: sum %d is %g, should be %g", tunables[i], shift, c,
                   (double)sums[c], (double)want);
      }
    }
  }
}

ALL_TESTS_WITH(open_library, close_library);
