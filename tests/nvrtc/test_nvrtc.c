/* The real NVRTC: kernels compile for several architectures, their resources read from the cubin
   are those that ptxas prints, errors name the template's line, and threads compile side by
   side. */
#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>
#include <unistd.h>

#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/model/cubin.h"
#include "tests/fault/find_fake.h"
#include "tests/testing.h"

static struct toolkit *toolkit;
static const struct nvrtc *nvrtc;

static const char kernels[] =
    "__constant__ float factors[25];\n"
    "extern \"C\" __global__ void plain(float *a) {\n"
    "  extern __shared__ float dynamic[];\n"
    "  __shared__ float fixed[100];\n"
    "  dynamic[threadIdx.x] = a[threadIdx.x];\n"
    "  fixed[threadIdx.x] = a[3];\n"
    "  __syncthreads();\n"
    "  a[threadIdx.x] = dynamic[8 - threadIdx.x] + fixed[threadIdx.x ^ 5];\n"
    "}\n"
    "template <int R> __global__ __launch_bounds__(128, 4) void filter(float *a, int n) {\n"
    "  float x[R], sum = 0;\n"
    "  for (int i = 0; i < R; i++) x[i] = a[i * n + threadIdx.x];\n"
    "  for (int i = 0; i < R; i++) sum += x[(i * n) % R] * factors[i % 25];\n"
    "  a[threadIdx.x] = sum;\n"
    "}\n"
    "__global__ __launch_bounds__(1024) void spilling(const float *a, float *b, int n, char c, "
    "double d) {\n"
    "  float x[96], sum = d;\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 96; i++) x[i] = a[i * n];\n"
    "  __syncthreads();\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 96; i++) sum = sum * x[i] + c;\n"
    "  b[0] = sum;\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 96; i++) b[i * 7 + n] = x[i] * sum;\n"
    "}\n";
static const char *const kernel_entries[] = {"plain", "filter<16>", "spilling"};

static const char *const archs[] = {"sm_75",  "sm_80",   "sm_86",  "sm_89",  "sm_90",
                                    "sm_90a", "sm_100a", "sm_120", "sm_120a"};
enum { ARCH_COUNT = sizeof archs / sizeof *archs };

static struct compile_request request_for(const char *source, const char *arch,
                                          const char *const *entries, size_t count) {
  return (struct compile_request){.toolkit = toolkit,
                                  .name = "test.cu",
                                  .source = source,
                                  .arch = arch,
                                  .entries = entries,
                                  .entry_count = count};
}

static void compile_or_fail(const struct compile_request *request, struct compiled *out) {
  cugen_error err = {0};
  if (nvrtc_compile(nvrtc, request, out, &err)) fail_msg("%s: %s", request->arch, err.message);
}

/* For sources with one kernel, k. */
static const char *const only_k[] = {"k"};

static void compile_k(const char *source, struct compiled *out) {
  struct compile_request request = request_for(source, "sm_90a", only_k, 1);
  compile_or_fail(&request, out);
}

static void compile_kernels(const char *arch, struct compiled *out) {
  struct compile_request request = request_for(kernels, arch, kernel_entries, 3);
  compile_or_fail(&request, out);
}

/* ---- What ptxas says, asked of NVRTC directly ----------------------------------------------- */

static void *function(void *library, const char *name) {
  void *found = dlsym(library, name);
  assert_non_null(found);
  return found;
}

#define ASK(library, name, arguments)                                                              \
  do {                                                                                             \
    __typeof__(name) *asked;                                                                       \
    void *found = function(library, #name);                                                        \
    memcpy(&asked, &found, sizeof asked);                                                          \
    assert_int_equal(asked arguments, NVRTC_SUCCESS);                                              \
  } while (0)

/* Returns the log of --ptxas-options=-v for the kernels, which the caller frees. */
static char *ptxas_log(const char *arch) {
  void *library = dlopen(text_get(&toolkit->nvrtc), RTLD_NOW);
  assert_non_null(library);
  nvrtcProgram program;
  const char *options[] = {formed("--gpu-architecture=%s", arch), "--std=c++17", "-default-device",
                           "--ptxas-options=-v", "--no-cache"};
  size_t size;
  ASK(library, nvrtcCreateProgram, (&program, kernels, "log.cu", 0, NULL, NULL));
  for (int i = 0; i < 3; i++) ASK(library, nvrtcAddNameExpression, (program, kernel_entries[i]));
  ASK(library, nvrtcCompileProgram, (program, nvrtc_version(nvrtc) >= 12090 ? 5 : 4, options));
  ASK(library, nvrtcGetProgramLogSize, (program, &size));
  char *log = calloc(1, size + 1);
  assert_non_null(log);
  ASK(library, nvrtcGetProgramLog, (program, log));
  ASK(library, nvrtcDestroyProgram, (&program));
  return log;
}

/* Returns the number before `unit` in the entry's part of the log; 0: the log does not have it. */
static long said(const char *log, const char *entry, const char *unit) {
  const char *part = strstr(log, formed("Function properties for %s\n", entry));
  if (!part) fail_msg("ptxas did not mention %s:\n%s", entry, log);
  const char *end = strstr(part, "Compile time"), *found = strstr(part, unit);
  if (!found || (end && found > end)) return 0;
  while (found > part && (found[-1] == ' ' || (found[-1] >= '0' && found[-1] <= '9'))) found--;
  return strtol(found, NULL, 10);
}

static void check_parameters(const struct compiled *compiled) {
  static const int want[] = {8, 8, 4, 1, 8};
  int sizes[8] = {0};
  assert_int_equal(
      cubin_parameters(compiled->image, compiled->image_length, compiled->entries[2], sizes, 8), 5);
  assert_memory_equal(sizes, want, sizeof want);
  assert_int_equal(
      cubin_parameters(compiled->image, compiled->image_length, compiled->entries[0], sizes, 0), 1);
  assert_int_equal(cubin_parameters(compiled->image, compiled->image_length, "absent", sizes, 8),
                   -1);
}

static void check_arch(const char *arch) {
  FREED(compiled) compiled;
  compile_kernels(arch, &compiled);
  check_parameters(&compiled);
  char *log = ptxas_log(arch);
  for (size_t i = 0; i < 3; i++) {
    const char *entry = compiled.entries[i];
    const struct kernel_resources *got = &compiled.resources[i];
    assert_int_equal(got->registers, said(log, entry, " registers"));
    assert_int_equal(got->static_shared, said(log, entry, " bytes smem"));
    assert_int_equal(got->local_bytes, said(log, entry, " bytes stack frame"));
    assert_int_equal(got->spill_bytes, said(log, entry, " bytes spill stores") +
                                           said(log, entry, " bytes spill loads"));
    assert_int_equal(got->constant_bytes, 100);
    assert_true(got->registers > 0);
  }
  assert_int_equal(compiled.resources[0].static_shared, 400);
  assert_int_equal(compiled.resources[0].max_threads, 1024);
  assert_int_equal(compiled.resources[1].max_threads, 128);
  assert_true(compiled.resources[1].local_bytes >= 64);
  assert_true(compiled.resources[2].spill_bytes > 0);
  free(log);
}

/* NVRTC's own cache is off: it would load the driver and take images from below the user's home. NVRTC
   reads the setting once, at its first compile, so this test is the first. */
TEST(test_the_driver_is_left_alone) {
  FREED(compiled) compiled;
  assert_int_equal(find_fake(NULL), 0);
  compile_kernels("sm_90a", &compiled);
  assert_int_equal(fake->calls, 0);
}

TEST(test_resources_are_what_ptxas_says) {
  for (size_t i = 0; i < ARCH_COUNT; i += 2) check_arch(archs[i]);
}

/* The block may also have a fixed size instead of a bound. */
TEST(test_fixed_block) {
  static const char source[] = "__global__ void __block_size__((48, 2, 1)) k(int *a) { *a = 1; }\n";
  struct compile_request request = request_for(source, "sm_90", only_k, 1);
  FREED(compiled) compiled;
  compile_or_fail(&request, &compiled);
  assert_int_equal(compiled.resources[0].max_threads, 96);
}

/* The image has the sizes of __cluster_dims__; architectures before sm_90 have no clusters. */
TEST(test_clusters) {
  static const char source[] = "__global__ void __cluster_dims__(2, 3, 1) six(int *x) { *x = 1; }\n"
                               "__global__ void alone(int *x) { *x = 1; }\n";
  static const char *const entries[] = {"six", "alone"};
  const struct compile_request request = request_for(source, "sm_90a", entries, 2);
  FREED(compiled) compiled;
  compile_or_fail(&request, &compiled);
  assert_int_equal(cubin_cluster(compiled.image, compiled.image_length, compiled.entries[0]), 6);
  assert_int_equal(cubin_cluster(compiled.image, compiled.image_length, compiled.entries[1]), 1);
  assert_int_equal(cubin_cluster(compiled.image, compiled.image_length, "absent"), 0);
  assert_int_equal(cubin_cluster("no cubin", 8, "six"), 0);
}

/* ---- Names ---------------------------------------------------------------------------------- */

TEST(test_entries_are_lowered) {
  struct compiled compiled;
  compile_kernels("sm_90a", &compiled);
  assert_int_equal(compiled.entry_count, 3);
  assert_string_equal(compiled.entries[0], "plain");
  assert_string_equal(compiled.entries[1], "_Z6filterILi16EEvPfi");
  assert_string_equal(compiled.entries[2], "_Z8spillingPKfPficd");
  assert_string_equal(compiled.log, "");
  compiled_free(&compiled);
  assert_null(compiled.image);
}

static void assert_refused(const struct compile_request *request, const char *words) {
  struct compiled compiled;
  cugen_error err = {0};
  assert_int_equal(nvrtc_compile(nvrtc, request, &compiled, &err), CUGEN_ERROR_COMPILE);
  assert_int_equal(err.status, CUGEN_ERROR_COMPILE);
  assert_null(compiled.image);
  if (!strstr(err.message, words)) fail_msg("expected '%s' in: %s", words, err.message);
}

TEST(test_unknown_entry) {
  static const char *const entry[] = {"plane"};
  struct compile_request request = request_for(kernels, "sm_80", entry, 1);
  assert_refused(&request, "plane");
}

/* ---- Errors and warnings -------------------------------------------------------------------- */

TEST(test_errors_name_the_template_line) {
  static const char source[] = "#define tile 16\n"
                               "#line 40 \"folder (new)/matmul.cu\"\n"
                               "extern \"C\" __global__ void matmul(float *C) {\n"
                               "  C[0] = missing_name;\n"
                               "}\n";
  static const char *const entry[] = {"matmul"};
  struct compile_request request = request_for(source, "sm_90a", entry, 1);
  assert_refused(&request,
                 "NVRTC refused the source:\n"
                 "folder (new)/matmul.cu:41: error: identifier \"missing_name\" is undefined\n"
                 "    C[0] = missing_name;");
}

/* Errors that only ptxas finds: with --ptxas-options=-v NVRTC's log does not have them. */
TEST(test_reasons_of_ptxas) {
  static const char constants[] =
      "#line 1 \"k.cu\"\n"
      "#define unused 1\n"
      "__constant__ float w[20000];\n"
      "extern \"C\" __global__ void k(float *a, int n) { a[n] = w[n]; }\n";
  static const char shared[] = "#line 7 \"k.cu\"\n"
                               "#pragma nv_diag_warning 177\n"
                               "extern \"C\" __global__ void k(float *a, int n) {\n"
                               "  int m = 1;\n"
                               "  __shared__ float s[16384];\n"
                               "  s[n] = a[n];\n"
                               "  __syncthreads();\n"
                               "  a[n] = s[n + threadIdx.x];\n"
                               "}\n";
  struct compile_request request = request_for(constants, "sm_90a", only_k, 1);
  assert_refused(
      &request,
      "k.cu:2: ptxas error   : File uses too much global constant data (0x13880 bytes, 0x10000 "
      "max): give the kernel what is large by its address");
  request = request_for(shared, "sm_90", only_k, 1);
  assert_refused(
      &request,
      "k.cu:10: ptxas error   : Entry function 'k' uses too much shared data (0x10000 bytes, "
      "0xc000 max): give the array to dynamic shared memory");
  FREED(compiled) compiled;
  request = request_for(shared, "sm_90a", only_k, 1);
  assert_int_equal(nvrtc_compile(nvrtc, &request, &compiled, NULL), CUGEN_OK);
  assert_int_equal(compiled.resources[0].static_shared, 65536);
}

/* A kernel as grid.sync() is compiled: it asks whether the launch is cooperative, and traps if
   it is not. */
TEST(test_waiting_for_the_grid) {
  static const char source[] =
      "// this_grid()\n"
      "#define ASK(to) asm volatile(\"mov.u32 %0, %%envreg2;\" : \"=r\"(to))\n"
      "extern \"C\" __global__ void waits(unsigned *o) { unsigned a; ASK(a); if (!a) __trap(); "
      "o[0] = a; }\n"
      "extern \"C\" __global__ void asks(unsigned *o) { unsigned a; ASK(a); o[0] = a; }\n"
      "extern \"C\" __global__ void traps(unsigned *o) { if (o[0]) __trap(); }\n"
      "extern \"C\" __global__ void __cluster_dims__(2, 3, 1) __launch_bounds__(96) group(unsigned "
      "*o) { o[0] = 1; "
      "}\n";
  static const char *const entries[] = {"waits", "asks", "traps", "group"};
  const struct compile_request request = request_for(source, "sm_90a", entries, 4);
  FREED(compiled) compiled;
  struct kernel_needs needs[4];
  assert_int_equal(nvrtc_compile(nvrtc, &request, &compiled, NULL), CUGEN_OK);
  for (size_t i = 0; i < 4; i++) {
    cubin_needs(&compiled, i, &needs[i]);
    assert_int_equal(needs[i].grid_sync, i == 0);
    assert_true(needs[i].registers > 0);
    assert_int_equal(needs[i].max_threads, i == 3 ? 96 : 1024);
    assert_int_equal(needs[i].cluster[0], i == 3 ? 2 : 1);
    assert_int_equal(needs[i].cluster[1], i == 3 ? 3 : 1);
  }
  assert_null(compiled.ptx);
}

/* A very long message is cut after its first lines. */
TEST(test_only_the_first_errors) {
  FREED(text) source = {0};
  text_add(&source, "__global__ void k(float *a) {\n");
  for (int i = 0; i < 90; i++) text_addf(&source, "  a[%d] = name_%d;\n", i, i);
  text_add(&source, "}\n");
  struct compile_request request = request_for(text_get(&source), "sm_90a", only_k, 1);
  struct compiled compiled;
  cugen_error err;
  assert_int_equal(nvrtc_compile(nvrtc, &request, &compiled, &err), CUGEN_ERROR_COMPILE);
  assert_non_null(strstr(err.message, "test.cu:2: error: identifier \"name_0\" is undefined"));
  assert_null(strstr(err.message, "name_60"));
}

TEST(test_warnings_are_kept_without_figures) {
  static const char source[] = "__global__ void k(int *a) {\n  int unused_name;\n  *a = 1;\n}\n";
  FREED(compiled) compiled;
  compile_k(source, &compiled);
  assert_non_null(strstr(compiled.log, "test.cu:2: warning"));
  assert_null(strstr(compiled.log, "ptxas info"));
  assert_null(strstr(compiled.log, "bytes stack frame"));
}

/* ---- Architectures -------------------------------------------------------------------------- */

TEST(test_unknown_architectures) {
  static const char *const bad[] = {"",        "90",          "sm_",   "sm_9x",
                                    "sm_90ax", "computer_90", "sm_20", "sm_990"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    struct compile_request request = request_for(kernels, bad[i], kernel_entries, 3);
    assert_refused(&request, "sm_80");
    assert_refused(&request, "cugen_options.arch");
  }
  struct compile_request request = request_for(kernels, NULL, kernel_entries, 3);
  assert_refused(&request, "cannot compile for ''");
}

/* For a virtual architecture the result is PTX, which a driver compiles for its GPU. */
TEST(test_virtual_architecture) {
  struct compile_request request = request_for(kernels, "compute_80", kernel_entries, 3);
  struct compiled compiled;
  compile_or_fail(&request, &compiled);
  assert_non_null(memmem(compiled.image, compiled.image_length, ".target sm_80", 13));
  assert_string_equal(compiled.entries[0], "plain");
  compiled_free(&compiled);
  request.arch = "compute_9x";
  assert_refused(&request, "compute_9x");
}

/* For a minor version that NVRTC does not know, code of a lower version is made. */
TEST(test_nearest_lower_architecture) {
  FREED(compiled) nearest, exact;
  compile_kernels("sm_94a", &nearest);
  compile_kernels("sm_90", &exact);
  assert_string_equal(nearest.log, "compiled for sm_90: this NVRTC does not know sm_94a\n");
  assert_string_equal(nearest.image_hash.hex, exact.image_hash.hex);
}

/* ---- Sameness ------------------------------------------------------------------------------- */

/* The cache relies on this: comments, lines and the source's name do not change a cubin. */
TEST(test_comments_change_nothing) {
  struct compile_request request =
      request_for(formed("// a comment\n#line 77 \"elsewhere.cu\"\n%s// the end\n", kernels),
                  "sm_90a", kernel_entries, 3);
  request.name = "another.cu";
  FREED(compiled) first, second;
  compile_kernels("sm_90a", &first);
  compile_or_fail(&request, &second);
  assert_string_equal(first.image_hash.hex, second.image_hash.hex);
}

TEST(test_half_header) {
  static const char source[] =
      "#include <cuda_fp16.h>\n__global__ void k(__half *a) { a[0] = __hadd(a[1], a[2]); }\n";
  FREED(compiled) compiled;
  assert_true(toolkit->include.length > 0);
  compile_k(source, &compiled);
}

/* ---- Headers of a library that NVRTC has not ------------------------------------------------ */

static void compile_text(const char *source) {
  FREED(compiled) compiled;
  compile_k(source, &compiled);
  assert_string_equal(compiled.log, "");
}

TEST(test_standard_headers) {
  /* The body includes two headers by their C names; the source includes these by their C++ names,
     too. */
  static const char body[] =
      "#include <stdint.h>\n#include <math.h>\n"
      "__global__ void k(float *a, int64_t *b, std::uint8_t c, std::size_t n, size_t m) {\n"
      "  static_assert(sizeof(uint16_t) == 2 && UINT32_MAX == 0xffffffffu && INT64_MIN < "
      "INT32_MIN && SIZE_MAX > 9);\n"
      "  static_assert(INT_MAX == INT32_MAX && CHAR_BIT == 8 && LONG_MAX > INT_MAX && FLT_MAX "
      "> 1e38f && DBL_DIG == 15);\n"
      "  static_assert(offsetof(int4, y) == 4);\n"
      "  constexpr float most = INFINITY;\n"
      "  std::nullptr_t none = nullptr;\n"
      "  assert(a != none);\n"
      "  a[0] = std::sqrt(a[1]) + sqrtf(a[2]) + std::fmax(a[3], most) + std::abs(a[4]) + "
      "std::isnan(a[5]) + isinf(a[6]) + (float)M_PI;\n"
      "  static_assert(sizeof(std::sqrt(a[0])) == 4 && sizeof(std::abs(a[0])) == 4);\n"
      "  memset(b, 0, n + m); std::memcpy(b, a, 8);\n"
      "  printf(\"%f\", NAN);\n"
      "  printf(\"%\" PRId64 \" %08\" PRIx32 \" %\" PRIuPTR, INT64_C(-1), c, (uintptr_t)a);\n"
      "  b[1] = UINT64_C(3) + c;\n"
      "}\n";
  struct text source = {0};
  text_add(&source,
           "#include <cstdint>\n#include <climits>\n#include <cfloat>\n#include <cmath>\n#include "
           "<cstddef>\n"
           "#include <cstdio>\n#include <cassert>\n#include <cstdlib>\n#include <cstring>\n"
           "#include <ctime>\n#include <stdbool.h>\n#include <inttypes.h>\n");
  text_add(&source, body);
  compile_text(text_get(&source));
  text_free(&source);
  compile_text("#include <cstdint>\n#include <cuda/std/cstdint>\n__global__ void "
               "k(cuda::std::uint64_t *a, uint8_t) "
               "{ *a = INT8_MAX; }\n");
  compile_text("#include <sys/types.h>\n__global__ void k(ulong *a, ushort b) { *a = (uint)b + "
               "(uint32_t)b; }\n");
  compile_text("#include <cuda/std/cstdint>\n#include <cstdint>\n__global__ void k(std::uint64_t "
               "*a, uint8_t) "
               "{ *a = INT8_MAX; }\n");
}

TEST(test_core_libraries) {
  if (!toolkit->core.length && toolkit_nvrtc_major(toolkit) >= 13) skip();
  compile_text(
      "#include <cooperative_groups.h>\n#include <cstdint>\n__global__ void k(uint32_t *a) {\n"
      "  auto block = cooperative_groups::this_thread_block();\n  block.sync();\n"
      "  a[0] = block.thread_rank();\n}\n");
}

/* Options reach ptxas and the front end. */
TEST(test_options) {
  static const char source[] =
      "__global__ void k(float *y, int n) {\n  float a[64];\n"
      "  for (int i = 0; i < 64; i++) a[i] = y[i * n];\n  for (int r = 0; r < n; r++)\n#pragma "
      "unroll\n"
      "    for (int i = 0; i < 64; i++) a[i] = a[i] * a[(i + 7) % 64] + a[(i + 3) % 64] / a[i];\n"
      "  for (int i = 0; i < 64; i++) y[i] = a[i] + __cplusplus;\n}\n";
  static const char *const options[] = {NULL, "--maxrregcount=32", "--use_fast_math",
                                        "--std=c++20"};
  struct compiled compiled[4];
  for (int i = 0; i < 4; i++) {
    struct compile_request request = request_for(source, "sm_90a", only_k, 1);
    request.options = options[i];
    compile_or_fail(&request, &compiled[i]);
  }
  assert_true(compiled[0].resources[0].registers > 32);
  assert_true(compiled[1].resources[0].registers <= 32);
  for (int i = 1; i < 4; i++)
    assert_string_not_equal(compiled[0].image_hash.hex, compiled[i].image_hash.hex);
  for (int i = 0; i < 4; i++) compiled_free(&compiled[i]);
  struct compile_request request = request_for(source, "sm_90a", only_k, 1);
  request.options = "--maxrregcount=no";
  assert_refused(&request, "");
}

TEST(test_headers_that_are_not_there) {
  struct compile_request request = request_for(
      "#line 7 \"mine/t.cu\"\n#include <limits>\n__global__ void k() {}\n", "sm_90a", only_k, 1);
  assert_refused(
      &request, "mine/t.cu:7: catastrophic error: cannot open source file \"limits\": NVRTC has no "
                "C++ library; "
                "use <cuda/std/limits>, whose names are in cuda::std. If host code alone needs it");
  request.source = "#include <iostream>\n__global__ void k() {}\n";
  assert_refused(&request,
                 "NVRTC has no C++ library, only these (each as <NAME.h> too): <cassert>");
  request.source = "#line 3 \"k.cu\"\n#include <helper_of_hosts.h>\n__global__ void k() {}\n";
  assert_refused(&request, ". If host code alone needs it, put '#ifndef __CUDACC_RTC__'");
  if (toolkit->core.length) {
    request.source = "#include <cub/device/device_reduce.cuh>\n__global__ void k() {}\n";
    assert_refused(&request, "such as <cub/block/block_reduce.cuh>.");
  }
  if (toolkit->core.length) {
    FREED(compiled) compiled;
    request.source =
        "#include <cub/cub.cuh>\n__global__ void k(int *y) {\n  using reduce = "
        "cub::BlockReduce<int, 64>;\n"
        "  __shared__ reduce::TempStorage temp;\n  y[0] = reduce(temp).Sum(y[threadIdx.x]);\n}\n";
    compile_or_fail(&request, &compiled);
  }
  struct toolkit bare = *toolkit;
  bare.core = (struct text){0};
  request.toolkit = &bare;
  request.source = "#include <cuda/std/nothing>\n__global__ void k() {}\n";
  assert_refused(&request, ": CUDA's core libraries");
}

/* A file for nvcc also has host code. */
TEST(test_host_code) {
  struct compile_request request =
      request_for("#line 1 \"k.cu\"\n__global__ void k() {}\nvoid go() { k<<<1, 1>>>(); }\n",
                  "sm_90a", only_k, 1);
  assert_refused(&request,
                 ": 'go' is neither __global__ nor __device__, and so host code perhaps.");
  request.source = "#line 1 \"k.cu\"\n__global__ void k() {}\n__host__ void go() {}\n";
  assert_refused(&request, ": 'go' is a __host__ function.");
  static const char *const overloaded[] = {"k<int>"};
  request.source = "#line 1 \"k.cu\"\ntemplate <class T> __global__ void k(int) {}\n"
                   "template <class T> __global__ void k(long) {}\n";
  request.entries = overloaded;
  assert_refused(&request, "k.cu:1: entry \"k<int>\": error: ");
  assert_refused(&request, ". Several kernels have this name (k.cu:1, k.cu:2): rename all but one");
  compile_text("__global__ void k() {}\n#ifndef __CUDACC_RTC__\n#include <vector>\n"
               "int main() { std::vector<int> v; k<<<1, 1>>>(); }\n#endif\n");
}

/* ---- Time and threads ----------------------------------------------------------------------- */

TEST(test_time_limit) {
  FREED(text) source = {0};
  text_add(&source, "__global__ void k(float *a) {\n  float x = a[0];\n");
  for (int i = 0; i < 6000; i++) text_addf(&source, "  x = x * a[%d] + sinf(x);\n", i);
  text_add(&source, "  a[1] = x;\n}\n");
  struct compile_request request = request_for(text_get(&source), "sm_90a", only_k, 1);
  request.timeout = 0.2;
  assert_refused(&request, "test.cu: compiling was stopped after 0.2 s");
}

enum { THREADS = 4, ROUNDS = 2 };

struct outcome {
  struct hash hashes[ROUNDS];
  int failures;
};

static void *compile_rounds(void *context) {
  struct outcome *outcome = context;
  for (int i = 0; i < ROUNDS; i++) {
    struct compile_request request = request_for(kernels, archs[i], kernel_entries, 3);
    FREED(compiled) compiled;
    cugen_error err;
    if (nvrtc_compile(nvrtc, &request, &compiled, &err)) outcome->failures++;
    outcome->hashes[i] = compiled.image_hash;
  }
  return NULL;
}

TEST(test_threads_compile_side_by_side) {
  struct outcome outcomes[THREADS] = {0}, alone = {0};
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, compile_rounds, &outcomes[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  compile_rounds(&alone);
  assert_int_equal(alone.failures, 0);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(outcomes[i].failures, 0);
    for (int round = 0; round < ROUNDS; round++)
      assert_string_equal(outcomes[i].hashes[round].hex, alone.hashes[round].hex);
  }
}

/* ---- Cubins that are none ------------------------------------------------------------------- */

static void read_copy(const void *image, size_t length, const char *entry) {
  /* exactly this size, so that a sanitizer sees a read past its end */
  void *copy = malloc(length ? length : 1);
  assert_non_null(copy);
  memcpy(copy, image, length);
  struct kernel_resources resources;
  int sizes[4];
  cugen_error err;
  int status = cubin_resources(copy, length, entry, &resources, &err);
  assert_true(status == CUGEN_OK || status == CUGEN_ERROR_COMPILE);
  cubin_parameters(copy, length, entry, sizes, 4);
  cubin_cluster(copy, length, entry);
  free(copy);
}

TEST(test_cut_cubins) {
  FREED(compiled) compiled;
  compile_kernels("sm_90a", &compiled);
  for (size_t length = 0; length < compiled.image_length; length += 61)
    read_copy(compiled.image, length, compiled.entries[1]);
}

TEST(test_damaged_cubins) {
  FREED(compiled) compiled;
  compile_kernels("sm_90a", &compiled);
  unsigned char *image = compiled.image;
  uint64_t seed = 1;
  for (int round = 0; round < 3000; round++) {
    /* Mostly damages what describes the rest: the header, and the section headers at the end. */
    size_t span = round % 2 ? 64 : compiled.image_length, at = random_next(&seed) % span;
    unsigned char before = image[at];
    image[at] = (unsigned char)random_next(&seed);
    read_copy(image, compiled.image_length, compiled.entries[1]);
    image[at] = before;
  }
}

TEST(test_absent_kernel) {
  FREED(compiled) compiled;
  struct kernel_resources resources;
  compile_kernels("sm_90a", &compiled);
  FAILS_WITH(cubin_resources(compiled.image, compiled.image_length, "filter", &resources, &err),
             CUGEN_ERROR_COMPILE, "the cubin holds no kernel 'filter'");
}

TEST(test_spills_in_a_log) {
  static const char log[] =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Function properties for kernel_b\n"
      "ptxas         .     64 bytes stack frame, 16 bytes spill stores, 20 bytes spill loads\n"
      "ptxas info    : Function properties for kernel\n"
      "ptxas         .     0 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n";
  assert_int_equal(ptxas_log_spills(log, "kernel_b"), 36);
  assert_int_equal(ptxas_log_spills(log, "kernel"), 12);
  assert_int_equal(ptxas_log_spills(log, "kern"), 0);
  assert_int_equal(ptxas_log_spills("", "kernel"), 0);
  assert_int_equal(
      ptxas_log_spills("Function properties for k\n 99999999999999999999 bytes spill stores, "
                       "99999999999999999999 bytes spill loads",
                       "k"),
      2LL * INT32_MAX);
  assert_int_equal(ptxas_log_spills("ptxas info    : Function properties for kernel", "kernel"), 0);
}

/* ---- wgmma that is not what it seems -------------------------------------------------------- */

#define WGMMA                                                                                      \
  "asm volatile(\"wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {%0, %1, %2, %3}, %4, %4, "  \
  "1, 1, 1, 0, 0;\""                                                                               \
  " : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"l\"(a));\n"
#define WGMMA_KERNEL(call, more)                                                                   \
  "__global__ void work(float *out, unsigned long long a) {\n  float d[4] = {0, 0, 0, 0};\n"       \
  "  asm volatile(\"wgmma.fence.sync.aligned;\");\n" call                                          \
  "  asm volatile(\"wgmma.commit_group.sync.aligned;\\nwgmma.wait_group.sync.aligned "             \
  "0;\");\n" more "  out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];\n}\n"

static void expect_loss(const char *source, const char *message) {
  static const char *const entries[] = {"work"};
  struct compile_request request = {.toolkit = toolkit,
                                    .name = "loss.cu",
                                    .source = source,
                                    .arch = "sm_90a",
                                    .entries = entries,
                                    .entry_count = 1};
  FREED(compiled) compiled;
  cugen_error err = {0};
  int status = nvrtc_compile(nvrtc, &request, &compiled, &err);
  if (!message) assert_int_equal(status, CUGEN_OK);
  if (message && (status != CUGEN_ERROR_COMPILE || !strstr(err.message, message)))
    fail_msg("%s\nwanted: %s", err.message, message);
}

TEST(test_wgmma_losses) {
  expect_loss(WGMMA_KERNEL(WGMMA, ""), NULL);
  expect_loss("__device__ __noinline__ void step(float (&d)[4], unsigned long long a) {" WGMMA
              "}\n" WGMMA_KERNEL("step(d, a);\n", ""),
              "wgmma.mma_async instructions are serialized due to");
  expect_loss("__global__ void work(float *out) {\n  asm "
              "volatile(\"setmaxnreg.inc.sync.aligned.u32 240;\");\n"
              "  out[threadIdx.x] = 1;\n}\n",
              "(C7508) Potential Performance Loss: 'setmaxnreg' ignored");
  expect_loss(
      WGMMA_KERNEL(
          WGMMA, "  volatile float array[64];\n  array[a % 64] = d[0];\n  d[1] = array[a % 63];\n"),
      "a kernel on wgmma has 256 bytes of local memory a thread");
}

/* ---- Without NVRTC -------------------------------------------------------------------------- */

TEST(test_without_nvrtc) {
  struct toolkit_options options = {"/usr/share", NULL};
  CLOSED(toolkit) *none;
  const struct nvrtc *table;
  assert_int_equal(toolkit_open(&options, &none, NULL), CUGEN_OK);
  FAILS(nvrtc_open(none, &table, &err), CUGEN_ERROR_MISSING, "looked at: /usr/share: not there");
  assert_null(table);
}

/* The images of mixed toolkits would be looked up as another toolkit's. */
TEST(test_mixed_toolkits) {
  FREED(text) folder = {0}, path = {0};
  const struct toolkit_options options = {NULL, NULL};
  struct toolkit *mixed;
  const struct nvrtc *table;
  if (!toolkit_nvrtc_version(toolkit)) skip();
  int wrong = nvrtc_version(nvrtc) % 1000 / 10 ? 0 : 9;
  assert_int_equal(folder_temporary(&folder, NULL), CUGEN_OK);
  assert_int_equal(toolkit_nvrtc_version(toolkit), nvrtc_version(nvrtc));
  assert_int_equal(toolkit_open(&options, &mixed, NULL), CUGEN_OK);
  text_addf(&path, "%s/%s", text_get(&folder), path_base(text_get(&mixed->nvrtc)));
  assert_int_equal(symlink(text_get(&mixed->nvrtc), text_get(&path)), 0);
  text_clear(&mixed->nvrtc);
  text_add(&mixed->nvrtc, text_get(&path));
  text_clear(&path);
  text_addf(&path, "%s/libnvrtc-builtins.so.%d.%d", text_get(&folder), nvrtc_version(nvrtc) / 1000,
            wrong);
  assert_int_equal(file_write(text_get(&path), "", 0, NULL), CUGEN_OK);
  FAILS(nvrtc_open(mixed, &table, &err), CUGEN_ERROR_MISSING, "two toolkits are mixed there");
  toolkit_close(mixed);
  folder_remove(text_get(&folder));
}

int main(void) {
  cugen_error err;
  if (toolkit_open(NULL, &toolkit, &err) || nvrtc_open(toolkit, &nvrtc, &err)) {
    printf("skipped: %s\n", err.message);
    return 77;
  }
  int failed = tests_run();
  toolkit_close(toolkit);
  return failed;
}
