/* The advice that follows a compiler's diagnostic, for sources that were written for nvcc. */
#include "base/system.h"
#include "runtime/compile/advice.h"
#include "runtime/compile/toolkit.h"
#include "tests/testing.h"

static struct toolkit toolkit;

static void assert_advice(const char *source, bool cpu, const char *from, const char *line,
                          const char *expected) {
  const struct compile_request request = {.toolkit = &toolkit, .name = "t BS=4", .source = source};
  struct advice advice = {.request = &request, .cpu = cpu};
  FREED(text) out = {0};
  advice_add(&advice, line, strlen(line), from, &out);
  assert_string_equal(text_get(&out), expected);
}

/* ---- Functions of the host ------------------------------------------------------------------ */

#define PUT                                                                                        \
  " Put host code between '#ifndef __CUDACC_RTC__' and '#endif', or the kernel into a file of "    \
  "its own"
#define UNMARKED(name)                                                                             \
  ": '" name "' is neither __global__ nor __device__, and so host code perhaps." PUT

static const char functions[] =
    "#define N 4\n\n#line 1 \"k.cu\"\n"
    "__device__ float twice(float x) { return 2 * x; }\n" /* line 1 */
    "struct pair { float sum() { return a + b; } float a, b; };\n"
    "namespace deep { extern \"C\" {\n" /* line 3 */
    "// a comment's \" and its {\n"
    "template <class T = pair>\n" /* line 5 */
    "static inline void\n"
    "launch(const T *x)\n"
    "{\n" /* line 8 */
    "  char brace = '}';\n"
    "  add<<<1, 2>>>(x);\n" /* line 10 */
    "}\n"
    "} }\n"
    /* line 13 */
    "__host__ int check(int e) { return e; } __device__ int x[] = {f(1)};\n"
    "#if OTHER\n"
    "__global__ void k(int a) {\n" /* line 15 */
    "#else\n"
    "__global__ void k(long a) {\n"
    "#endif\n"
    "  a = b;\n" /* line 19 */
    "}\n"
    "#line 5 \"inc/h.h\"\n"
    "void prototype(cudaStream_t s);\n"
    "int main(void) { return 0; }\n" /* line 6 */
    "__global__ void last(int *a) { *a = c; }\n";

static void assert_function(const char *place, const char *advice) {
  const char *line = formed("%s: error: what", place);
  assert_advice(functions, false, NULL, line, formed("%s%s", line, advice));
}

TEST(test_host_functions) {
  assert_function("k.cu:6", UNMARKED("launch"));
  assert_function("k.cu:7:8", UNMARKED("launch"));
  assert_function("k.cu:10", UNMARKED("launch"));
  assert_function("k.cu:13", ": 'check' is a __host__ function." PUT);
  assert_function("inc/h.h:5", UNMARKED("prototype"));
  assert_function("inc/h.h:6", UNMARKED("main"));
}

TEST(test_functions_of_the_device) {
  assert_function("k.cu:1", "");
  assert_function("k.cu:2", "");
  assert_function("k.cu:19", "");
  assert_function("inc/h.h:7", "");
  assert_function("inc/h.h:9", "");
  assert_advice(functions, false, NULL, "k.cu:10: warning: what", "k.cu:10: warning: what");
  assert_advice("__global__ void k() {\n  {", false, NULL, "t BS=4:2: error: what",
                "t BS=4:2: error: what");
}

/* ---- Kernels to launch ---------------------------------------------------------------------- */

/* An error of the compiler in an entry is in no file of the user's. */
TEST(test_entries) {
  static const char source[] =
      "#line 1 \"k.cu\"\n// __global__ void add(int)\ntemplate <class T>\n__global__ void\n"
      "__launch_bounds__(64) add(T *x) { other(x); }\n#line 9 \"h.h\"\n"
      "template <class T, int N> __global__ void add (T *x) {}\n"
      "__global__ void other(int *x) { add(x); }\n";
  static const char *const entries[] = {"deep::other", "add<float>"};
  const struct {
    bool cpu;
    const char *line, *expected;
  } rows[] = {
      {false, "__nv_name_map:3: error: which",
       "k.cu:3: entry \"add<float>\": error: which. Several kernels have this "
       "name (k.cu:3, h.h:9): rename all but one"},
      {false, "__nv_name_map:2: error: which", "h.h:10: entry \"deep::other\": error: which"},
      {false, "__nv_name_map:9: error: which", "__nv_name_map:9: error: which"},
      {true, "cugen entries:1:7: error: which", "h.h:10: entry \"deep::other\": error: which"},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const struct compile_request request = {
        .toolkit = &toolkit, .name = "t", .source = source, .entries = entries, .entry_count = 2};
    struct advice advice = {.request = &request, .cpu = rows[i].cpu};
    FREED(text) out = {0};
    advice_add(&advice, rows[i].line, strlen(rows[i].line), NULL, &out);
    assert_string_equal(text_get(&out), rows[i].expected);
  }
}

/* ---- Places --------------------------------------------------------------------------------- */

/* The prologue is no file, whether it begins the source or follows an include. */
TEST(test_places) {
  static const char source[] = "#line 1 \"k.cu\"\n#include <x.h>\n#line 1 \"prologue\"\n\n"
                               "using c_t = float;\n#line 1 \"k.cu\"\n\nint x;\n";
  const struct compile_request request = {.toolkit = &toolkit, .name = "t", .source = source};
  const struct {
    const char *line, *file;
  } rows[] = {
      {"t:1: error: what", ""}, {"prologue:2: error: what", ""}, {"k.cu:2: error: what", "k.cu"}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct advice advice = {.request = &request};
    FREED(text) out = {0};
    advice_add(&advice, rows[i].line, strlen(rows[i].line), NULL, &out);
    assert_string_equal(advice.where.file, rows[i].file);
  }
}

/* ---- Headers -------------------------------------------------------------------------------- */

#define HOST                                                                                       \
  ". If host code alone needs it, put '#ifndef __CUDACC_RTC__' and '#endif' around it and that "   \
  "code"

/* A value that is computed from a size passed at launch is not a constant. */
TEST(test_constants) {
  static const char source[] =
      "#define threads 64\n#define items ((index_t)((long long)cols / 64LL))\n\n#line 1 \"k.cu\"\n"
      "__global__ void k(float *x, index_t cols, int n) {\n  float v[items], w[threads];\n"
      "  float u[n /* items */];\n  int m = items, l = n; int q[m];\n#pragma unroll n\n}\n";
  static const char hint[] = "to compile it in, give the kernel's scalar specialize = true, or an "
                             "implementation's scalar another name";
  static const struct {
    const char *line, *advice;
  } rows[] = {{"k.cu:2: error: expression must have a constant value",
               ": items comes from cols, which is passed at launch; "},
              {"k.cu:2:9: error: variable length array 'v' is used",
               ": items comes from cols, which is passed at launch; "},
              {"k.cu:3: error: expression must have a constant value", ": n is passed at launch; "},
              {"k.cu:5: error: expression must have a constant value", ": n is passed at launch; "},
              {"k.cu:1: error: expression must have a constant value", NULL},
              {"k.cu:2: error: what", NULL}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    FREED(text) expected = {0};
    text_add(&expected, rows[i].line);
    if (rows[i].advice) text_addf(&expected, "%s%s", rows[i].advice, hint);
    assert_advice(source, false, NULL, rows[i].line, text_get(&expected));
  }
  assert_advice(source, true, NULL, "k.cu:1:3: error: variable length array 'v' is used",
                "k.cu:1:3: error: variable length array 'v' is used: CUDA needs a constant there");
}

TEST(test_constants_behind_includes) {
  static const char source[] =
      "#line 1 \"k.cu\"\n#include <x.h>\n#line 1 \"prologue\"\n\n#define items "
      "((index_t)((long long)cols / 64LL))\n\n#line 2 \"k.cu\"\n"
      "__global__ void k(float *x, index_t cols) {\n  float v[items];\n}\n";
  assert_advice(
      source, false, NULL, "k.cu:3: error: expression must have a constant value",
      "k.cu:3: error: expression must have a constant value: items comes from cols, which "
      "is passed at launch; to compile it in, give the kernel's scalar specialize = true, "
      "or an implementation's scalar another name");
}

/* Names that nvcc's headers declare and NVRTC's do not. */
TEST(test_names) {
  static const char source[] = "#line 1 \"k.cu\"\n__global__ void k(float *y) { *y = INFINITY; }\n";
  assert_advice(source, false, NULL, "k.cu:1: error: identifier \"INFINITY\" is undefined",
                "k.cu:1: error: identifier \"INFINITY\" is undefined: it is in <cmath>");
  assert_advice(source, false, NULL, "k.cu:1: error: identifier \"INT_MAX\" is undefined",
                "k.cu:1: error: identifier \"INT_MAX\" is undefined: it is in <climits>");
  assert_advice(source, false, NULL, "k.cu:1: error: identifier \"INFINITYS\" is undefined",
                "k.cu:1: error: identifier \"INFINITYS\" is undefined");
}

TEST(test_gone_names) {
  static const char source[] =
      "#line 1 \"k.cu\"\n__global__ void k(float *y) { *y = __shfl(*y, 0); }\n";
  assert_advice(source, false, NULL, "k.cu:1: error: identifier \"__shfl\" is undefined",
                "k.cu:1: error: identifier \"__shfl\" is undefined: it is gone since sm_70; "
                "__shfl_sync names the lanes");
  assert_advice(
      source, true, NULL,
      "k.cu:1:5: error: '__shfl' was not declared in this scope; did you mean '__shfl_sync'?",
      "k.cu:1:5: error: '__shfl' was not declared in this scope; did you mean '__shfl_sync'?: it "
      "is gone since "
      "sm_70; __shfl_sync names the lanes");
  assert_advice(source, true, NULL, "k.cu:1:1: error: 'texture' does not name a type",
                "k.cu:1:1: error: 'texture' does not name a type: texture references are gone "
                "since CUDA 12; give the "
                "kernel a texture object");
}

TEST(test_missing_headers) {
  static const char source[] =
      "#line 3 \"k.cu\"\n#include <chrono>\n#line 4 \"k.cu\"\n#include <helper_cuda.h>\n";
  assert_advice(source, false, NULL,
                "k.cu:4: catastrophic error: cannot open source file \"helper_cuda.h\"",
                "k.cu:4: catastrophic error: cannot open source file \"helper_cuda.h\": it is "
                "neither beside its "
                "file nor in a folder of include_dirs, nor with CUDA" HOST);
#define CPU                                                                                        \
  ": it is neither beside its file nor in a folder of include_dirs, and the cpu device has few "   \
  "of CUDA's headers. "                                                                            \
  "Use a GPU, or a described one such as model:H200" HOST
  assert_advice(source, true, NULL,
                "k.cu:4:10: fatal error: helper_cuda.h: No such file or directory",
                "k.cu:4:10: fatal error: helper_cuda.h: No such file or directory" CPU);
  assert_advice(source, true, NULL, "k.cu:4:10: fatal error: 'helper_cuda.h' file not found",
                "k.cu:4:10: fatal error: 'helper_cuda.h' file not found" CPU);
#define GPUS                                                                                       \
  ">. Use a GPU, or predict for a described one such as model:H200. Or write a branch without "    \
  "it, by "                                                                                        \
  "'#ifdef __CUGEN_CPU__'"
  assert_advice(source, true, NULL,
                "k.cu:4:10: fatal error: cub/cub.cuh: No such file or directory",
                "k.cu:4: error: the cpu device does not have <cub/cub.cuh" GPUS);
  assert_advice("#line 1 \"k.cu\"\n#include <cooperative_groups.h>\n", true, "k.cu:1:",
                "/usr/x/info.h:7:1: fatal error: cuda/std/array: No such file or directory",
                "k.cu:1: error: the cpu device does not have <cooperative_groups.h" GPUS);
  assert_advice("#line 1 \"k.cu\"\n#include <cooperative_groups.h>\n", true,
                "k.cu:1:", "cooperative_groups.h:7:1: error: broken",
                "k.cu:1: #include <cooperative_groups.h>: cooperative_groups.h:7:1: error: broken: "
                "the cpu device has a "
                "part of this header. Use a GPU, or a described one such as model:H200" HOST);
}

static void put(const char *folder, const char *name, const char *content) {
  assert_int_equal(file_put(formed("%s/%s", folder, name), content, strlen(content), NULL),
                   CUGEN_OK);
}

/* NVRTC does not say which #include led to a file of the toolkit. */
TEST(test_headers_that_lead_astray) {
  static const char source[] =
      "#line 3 \"k.cu\"\n#include <good.h>\n#line 9 \"inc/h.h\"\n#include <blas.h>\n";
  struct text line = {0}, expected = {0};
  assert_int_equal(folder_temporary(&toolkit.include, NULL), CUGEN_OK);
  const char *folder = text_get(&toolkit.include);
  put(folder, "good.h", "#include <blas_none.h>\n");
  put(folder, "blas.h", "/* */\n#  include \"blas.h\"\n#include \"blas_api.h\"\n");
  put(folder, "blas_api.h", "broken\n");
  text_addf(&line, "%s/blas_api.h:1: error: broken", folder);
  text_addf(&expected, "inc/h.h:9: #include <blas.h>: %s: NVRTC takes device code only" HOST,
            text_get(&line));
  assert_advice(source, false, NULL, text_get(&line), text_get(&expected));
  text_clear(&line);
  text_addf(&line, "%s/other.h:1: error: broken", folder); /* no #include leads to this file */
  assert_advice(source, false, NULL, text_get(&line), text_get(&line));
  /* An #include that a macro names is not followed, as in Thrust. If no other include can be to
     blame, the one that leads there is. */
  static const char deep[] =
      "#line 3 \"k.cu\"\n#include <good.h>\n#include <thrust/deep.h>\n#include <blas.h>\n";
  text_clear(&expected);
  text_addf(&expected, "%s/thrust", folder);
  assert_int_equal(folder_make(text_get(&expected), NULL), CUGEN_OK);
  put(folder, "thrust/deep.h", "#  include DEEP_HEADER\n");
  text_clear(&expected);
  text_addf(
      &expected,
      "k.cu:4: #include <thrust/deep.h>: %s: NVRTC takes device code only, and Thrust's algorithms "
      "are called by "
      "the host; a kernel has <cub/block/...>, <cuda/std/functional> and <cuda/std/tuple>" HOST,
      text_get(&line));
  assert_advice(deep, false, NULL, text_get(&line), text_get(&expected));
  folder_remove(folder);
  text_free(&toolkit.include);
  text_free(&line);
  text_free(&expected);
  /* gcc names the including files */
  assert_advice(source, true, "k.cu:3:", "/usr/include/x.h:7:1: error: broken",
                "k.cu:3: #include <good.h>: /usr/include/x.h:7:1: error: broken: the cpu device "
                "has few of CUDA's "
                "headers. Use a GPU, or a described one such as model:H200" HOST);
}

/* CUDA 12 has its core libraries in the folder of the headers: then a name is misspelt. */
TEST(test_core_libraries_beside_the_headers) {
  static const char source[] = "#line 1 \"k.cu\"\n#include <cub/nope.cuh>\n",
                    line[] = "k.cu:1: catastrophic error: cannot open source file \"cub/nope.cuh\"";
  assert_int_equal(folder_temporary(&toolkit.include, NULL), CUGEN_OK);
  const char *folder = text_get(&toolkit.include);
  assert_advice(source, false, NULL, line,
                formed("%s: CUDA's core libraries (cccl: cub, libcu++, what "
                       "<cooperative_groups.h> needs) are not with the CUDA headers in '%s'; a "
                       "whole CUDA toolkit has them (cugen_options.toolkit, $CUGEN_TOOLKIT), and "
                       "the Python wheel nvidia-cuda-cccl" HOST,
                       line, folder));
  assert_int_equal(folder_make(formed("%s/cuda", folder), NULL), CUGEN_OK);
  assert_int_equal(folder_make(formed("%s/cuda/std", folder), NULL), CUGEN_OK);
  put(folder, "cuda/std/cstdint", "");
  assert_advice(source, false, NULL, line,
                formed("%s: it is neither beside its file nor in a folder of include_dirs, nor "
                       "with CUDA" HOST,
                       line));
  folder_remove(folder);
  text_free(&toolkit.include);
}

/* Flags that NVRTC or nvcc asks for. */
TEST(test_flags) {
  assert_advice("#line 1 \"k.cu\"\nint x;\n", false, NULL,
                "k.cu:1: error: 128-bit integer type needs the \"--device-int128\" flag in NVRTC",
                "k.cu:1: error: 128-bit integer type needs the \"--device-int128\" flag in NVRTC; "
                "say options { flags = { "
                "\"--device-int128\" } } in the config");
  assert_advice("#line 1 \"k.cu\"\nint x;\n", false, NULL,
                "k.cu:1: error: annotation on lambda requires --extended-lambda nvcc flag",
                "k.cu:1: error: annotation on lambda requires --extended-lambda nvcc flag; NVRTC "
                "has no such flag: a lambda "
                "of a kernel is device code without __device__, so leave that out");
}
