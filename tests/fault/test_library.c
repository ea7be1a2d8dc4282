/* A library's kernels as variants, over the fake driver and a fake cuBLASLt that computes: the
   layout of every product, tuning, plans, and machines without the library. */
#include <dlfcn.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "api/export/bundle.h"
#include "api/kernel.h"
#include "api/tuning.h"
#include "fake_cublaslt.h"
#include "find_fake.h"
#include "runtime/cuda/cublaslt.h"
#include "runtime/devices.h"
#include "runtime/plan.h"
#include "tests/opening.h"

static struct fake_cublaslt *lt;
static char cache_file[] = "/tmp/cugen-library-XXXXXX";

FIXTURE(find_fakes) {
  find_fake(state);
  void *handle =
      dlopen(formed("%s/lib64/libcublasLt.so.13", getenv("CUGEN_TEST_FAKE_TOOLKIT")), RTLD_NOW);
  lt = handle ? dlsym(handle, "fake_cublaslt") : NULL;
  const int file = mkstemp(cache_file);
  if (file >= 0) close(file), unlink(cache_file);
  return fake && lt ? 0 : -1;
}

FIXTURE(forget) {
  unlink(cache_file);
  return 0;
}

/* What the template's kernel computes, for products without more. */
static long last_products;
static bool last_is_plain;
static void run_plain(const struct fake_launch *launch) {
  const float *a, *b;
  float *c;
  memcpy(&a, launch->parameters[0], sizeof a);
  memcpy(&b, launch->parameters[1], sizeof b);
  memcpy(&c, launch->parameters[2], sizeof c);
  const unsigned count = launch->grid[0] * launch->block[0]; /* no thread is idle */
  for (unsigned i = 0; i < count; i++) c[i] = a[i / 16] * b[i % 16];
  last_is_plain = true;
}

/* The library is faster, and its last algorithm the fastest. */
static float elapsed(void) {
  return last_is_plain ? 1.5F : 0.5F - 0.1F * (float)lt->algorithm;
}

static void recorded(void) {
  if (lt->products != last_products) last_is_plain = false;
  last_products = lt->products;
}

static void reset(void) {
  *fake = (struct fake_cuda){
      .version = 13000, .devices = 1, .run = run_plain, .elapsed = elapsed, .recorded = recorded};
  *lt = (struct fake_cublaslt){.algorithms = 3};
  last_products = 0;
}

static cugen *open_library(const char *cache, const char *toolkit, int no_library) {
  return OPEN_LIBRARY(.device = "cuda:0", .cache = cache,
                      .toolkit = toolkit ? toolkit : getenv("CUGEN_TEST_FAKE_TOOLKIT"),
                      .worker = "none", .no_library = no_library);
}

static cugen_kernel *open_kernel(cugen *lib, const char *const *settings, size_t count) {
  return kernel_of(lib, "tests/configs/product.lua", settings, count);
}

/* ---- Every product -------------------------------------------------------------------------- */

enum { M = 6, N = 10, K = 5, ROOM = 4096 };
struct product {
  bool f64, by_rows[3], scaled, biased;
  int batch, pad, activation;
};

static const char *const activations[] = {"none", "relu", "gelu"};

/* An element of a matrix of the batch, as the config lays it out. */
static double *at(double *data, bool by_rows, int rows, int columns, int pitch_pad, int batch,
                  int r, int c) {
  const int lines = by_rows ? rows : columns, length = by_rows ? columns : rows;
  const int line = by_rows ? r : c, place = by_rows ? c : r;
  return &data[(batch * lines + line) * (length + pitch_pad) + place];
}

static double wanted(const struct product *p, double data[5][ROOM], int batch, int i, int j) {
  double sum = 0;
  for (int k = 0; k < K; k++)
    sum += *at(data[0], p->by_rows[0], M, K, p->pad, batch, i, k) *
           *at(data[1], p->by_rows[1], K, N, p->pad, batch, k, j);
  if (p->scaled)
    sum = 0.5 * sum + 0.25 * *at(data[3], p->by_rows[2], M, N, 2 * p->pad, batch, i, j);
  if (p->biased) sum += data[4][j];
  if (p->activation == 1) return sum > 0 ? sum : 0;
  return p->activation ? sum / (1 + exp(-1.5957691 * (sum + 0.044715 * sum * sum * sum))) : sum;
}

static void fill(double data[5][ROOM], float narrow[5][ROOM]) {
  for (int a = 0; a < 5; a++)
    for (int i = 0; i < ROOM; i++) {
      narrow[a][i] = (float)((i * 37 + a * 11) % 17 - 8) / 8;
      data[a][i] = a == 2 ? NAN : narrow[a][i];
      if (a == 2) narrow[a][i] = NAN;
    }
}

/* refusal: what binding the buffers says; NULL: the variant runs. */
static void bind_variant(cugen_kernel *kernel, const char *variant, void *const *buffers,
                         const char *refusal) {
  struct lookup *l = &kernel->lookup;
  FREED(kernel_spec) spec;
  FREED(compiled) compiled;
  struct device *device;
  struct plan *plan;
  struct call *call;
  struct memory memory[KERNEL_MAX_ARGUMENTS] = {0};
  uint64_t index;
  WORKS(lookup_space(l, &err));
  WORKS(lookup_expander(l, &err));
  WORKS(space_find(l->space, variant, &index, &err));
  WORKS(lookup_expand(l, index, &spec, &err));
  WORKS(lookup_compile(l, &spec, true, &compiled, &err));
  const struct device_options options = {.toolkit = l->lib->toolkit};
  WORKS(cuda_device_ops.open(&options, &device, &err));
  WORKS(plan_open(device, &spec, &compiled, &plan, &err));
  for (int i = 0; i < 5; i++) memory[i].device = buffers[i];
  if (refusal) {
    FAILS(call_bind(plan, memory, NULL, 0, &call, &err), CUGEN_ERROR_CONFIG, refusal);
  } else {
    WORKS(call_bind(plan, memory, NULL, 0, &call, &err));
    WORKS(call_launch(call, &err));
    call_free(call);
  }
  plan_close(plan);
  device->ops->close(device);
}

static void run_variant(cugen_kernel *kernel, const char *variant, void *const *buffers) {
  bind_variant(kernel, variant, buffers, NULL);
}

static void check_product(cugen *lib, const struct product *p) {
  static double data[5][ROOM];
  static float narrow[5][ROOM];
  char sizes[4][24];
  void *buffers[5];
  snprintf(sizes[0], sizeof sizes[0], "batch=%d", p->batch);
  snprintf(sizes[1], sizeof sizes[1], "pad=%d", p->pad);
  snprintf(sizes[2], sizeof sizes[2], "activation=%s", activations[p->activation]);
  const char *const settings[] = {"M=6",
                                  "N=10",
                                  "K=5",
                                  p->f64 ? "dtype=f64" : "dtype=f32",
                                  p->by_rows[0] ? "layout_a=row" : "layout_a=col",
                                  p->by_rows[1] ? "layout_b=row" : "layout_b=col",
                                  p->by_rows[2] ? "layout_c=row" : "layout_c=col",
                                  p->scaled ? "scaled=true" : "scaled=false",
                                  p->biased ? "biased=true" : "biased=false",
                                  sizes[0],
                                  sizes[1],
                                  sizes[2]};
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, settings, sizeof settings / sizeof *settings);
  fill(data, narrow);
  for (int i = 0; i < 5; i++) buffers[i] = p->f64 ? (void *)data[i] : (void *)narrow[i];
  run_variant(kernel, "library algorithm=1", buffers);
  assert_int_equal(lt->algorithm, 1);
  for (int i = 0; i < ROOM && !p->f64; i++) data[2][i] = (double)narrow[2][i];
  for (int b = 0; b < p->batch; b++)
    for (int i = 0; i < M; i++)
      for (int j = 0; j < N; j++) {
        const double got = *at(data[2], p->by_rows[2], M, N, p->pad, b, i, j);
        const double want = wanted(p, data, b, i, j);
        if (!(fabs(got - want) <= 1e-5))
          fail_msg("C[%d, %d] of batch %d is %g, not %g: %s %s %s %s", i, j, b, got, want,
                   settings[3], settings[4], settings[5], settings[6]);
      }
}

TEST(products_of_every_layout) {
  reset();
  cugen *lib = open_library("none", NULL, 0);
  for (int bits = 0; bits < 128; bits++) {
    struct product p = {.f64 = bits & 1,
                        .by_rows = {bits & 2, bits & 4, bits & 8},
                        .scaled = bits & 16,
                        .batch = bits & 32 ? 3 : 1,
                        .pad = bits & 64 ? 3 : 0,
                        .activation = bits % 3};
    p.biased = p.by_rows[2] && bits & 16;
    check_product(lib, &p);
  }
  cugen_close(lib);
  assert_int_equal(lt->objects, 0);
}

/* A vector, and matrices of one element: a layout by columns and one by rows look the same. */
TEST(narrow_products) {
  static const struct {
    const char *m, *n, *k, *batch, *order;
  } rows[] = {{"M=1", "N=10", "K=5", "batch=3", "layout_c=col"},
              {"M=6", "N=1", "K=5", "batch=3", "layout_c=row"},
              {"M=1", "N=1", "K=1", "batch=2", "layout_c=col"},
              {"M=6", "N=10", "K=1", "batch=1", "layout_c=row"}};
  static double buffers[5][ROOM];
  void *all[5];
  reset();
  CLOSED(cugen) *lib = open_library("none", NULL, 0);
  for (int i = 0; i < 5; i++) all[i] = buffers[i];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    for (int a = 0; a < 2; a++) {
      const char *const settings[] = {rows[i].m,     rows[i].n,     rows[i].k,
                                      rows[i].batch, rows[i].order, a ? "layout_a=col" : "pad=0",
                                      "dtype=f64",   "layout_b=col"};
      CLOSED(cugen_kernel) *kernel = open_kernel(lib, settings, 8);
      run_variant(kernel, "library algorithm=0", all);
    }
}

TEST(types) {
  static const struct {
    const char *dtype;
    int compute, scale, operand, result, fast;
  } rows[] = {{"dtype=f16", LT_COMPUTE_32F, LT_R_32F, LT_R_16F, LT_R_16F, 0},
              {"dtype=tf32", LT_COMPUTE_32F_FAST_TF32, LT_R_32F, LT_R_32F, LT_R_32F, 0},
              {"dtype=f64", LT_COMPUTE_64F, LT_R_64F, LT_R_64F, LT_R_64F, 0},
              {"dtype=e4m3", LT_COMPUTE_32F, LT_R_32F, LT_R_8F_E4M3, LT_R_16F, 1},
              {"dtype=i8", LT_COMPUTE_32I, LT_R_32I, LT_R_8I, LT_R_32I, 0}};
  static double buffers[5][ROOM];
  void *all[5];
  reset();
  CLOSED(cugen) *lib = open_library("none", NULL, 0);
  for (int i = 0; i < 5; i++) all[i] = buffers[i];
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const char *const settings[] = {rows[i].dtype, "layout_b=col"};
    CLOSED(cugen_kernel) *kernel = open_kernel(lib, settings, 2);
    run_variant(kernel, "library algorithm=0", all);
    assert_int_equal(lt->compute, rows[i].compute);
    assert_int_equal(lt->scale, rows[i].scale);
    assert_int_equal(lt->fast, rows[i].fast);
    assert_int_equal(lt->types[0], rows[i].operand);
    assert_int_equal(lt->types[3], rows[i].result);
    assert_int_equal(lt->transposed[0], LT_OP_T); /* B by columns, the first factor of C' */
    assert_int_equal(lt->transposed[1], LT_OP_N);
  }
}

/* A variant's algorithm that does not take the call's buffers gives way to the first that does. */
TEST(alignment) {
  static _Alignas(256) double buffers[5][ROOM];
  void *all[5];
  reset();
  lt->aligned_only = 1;
  CLOSED(cugen) *lib = open_library("none", NULL, 0);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, NULL, 0);
  for (int moved = 0; moved < 4; moved++)
    for (int algorithm = 0; algorithm < 3; algorithm++) {
      char variant[32];
      snprintf(variant, sizeof variant, "library algorithm=%d", algorithm);
      for (int i = 0; i < 5; i++) all[i] = &buffers[i][i + 1 == moved ? 2 : 0];
      run_variant(kernel, variant, all);
      assert_int_equal(lt->algorithm, moved && algorithm == 2 ? 0 : algorithm);
    }
  lt->aligned_only = 3; /* all algorithms */
  bind_variant(kernel, "library algorithm=0", all,
               "with buffers that are aligned to 16 bytes; align all of its buffers to 256 bytes");
  lt->aligned_only = 0;
}

/* ---- Tuning and plans ----------------------------------------------------------------------- */

static void tune(cugen_kernel *kernel) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.budget_seconds = -1;
  options.threads = 1; /* the fake NVRTC counts its calls */
  WORKS(api_kernel_tune(kernel, &options, NULL, &err));
}

static void expect_records(cugen_kernel *kernel) {
  struct cache *cache;
  struct cache_record *records;
  size_t count, right = 0;
  const struct cache_key key = lookup_measured_key(&kernel->lookup);
  assert_int_equal(api_cache(kernel->lookup.lib, &cache, NULL), CUGEN_OK);
  assert_int_equal(cache_load(cache, &key, &records, &count, NULL), CUGEN_OK);
  assert_int_equal(count, 10);
  for (size_t i = 0; i < count; i++) {
    const bool ok = records[i].outcome == CUGEN_OUTCOME_OK;
    right += ok;
    if (!ok && !strstr(records[i].reason, "cublasLt has 3 algorithms for this product, so none is "
                                          "number"))
      fail_msg("%s: %s", records[i].variant, records[i].reason);
    cache_record_free(&records[i]);
  }
  assert_int_equal(right, 5);
  free(records);
}

static cugen_plan *open_plan(cugen_kernel *kernel, const char *variant) {
  cugen_plan *plan = plan_of(kernel, NULL);
  const char *got = cugen_plan_about(plan)->variant;
  if (strncmp(got, variant, strlen(variant)) != 0) fail_msg("%s, not %s", got, variant);
  return plan;
}

static void launch_plan(cugen_plan *plan) {
  float a[24], b[16], c[24 * 16] = {0};
  void *const arguments[] = {a, b, c};
  static char stream;
  cugen_call *calls[2];
  const void *workspaces[2];
  for (int i = 0; i < 24; i++) a[i] = (float)i, b[i % 16] = (float)(i % 16);
  for (int i = 0; i < 2; i++) {
    calls[i] = call_of(plan, arguments, 3);
    WORKS(cugen_call_launch(calls[i], &stream, &err));
    assert_ptr_equal(lt->stream, &stream);
    workspaces[i] = lt->workspace_at;
  }
  for (int i = 0; i < 24 * 16; i++) assert_true(c[i] == a[i / 16] * b[i % 16]);
  assert_non_null(workspaces[0]);
  assert_ptr_not_equal(workspaces[0], workspaces[1]);
  const long memory = fake->memory, objects = lt->objects;
  WORKS(cugen_call_rebind(calls[0], arguments, 3, &err));
  WORKS(cugen_call_launch(calls[0], NULL, &err));
  assert_ptr_equal(lt->workspace_at, workspaces[0]);
  assert_int_equal(fake->memory, memory);
  assert_int_equal(lt->objects, objects);
  for (int i = 0; i < 2; i++) cugen_call_close(calls[i]);
}

TEST(tuned_and_launched) {
  reset();
  lt->workspace = 1024;
  cugen *lib = open_library(cache_file, NULL, 0);
  cugen_kernel *kernel = open_kernel(lib, NULL, 0);
  tune(kernel);
  expect_records(kernel);
  assert_int_equal(lt->least, 24 * 16); /* the check problem, another kernel, was not run */
  cugen_plan *plan = open_plan(kernel, "library algorithm=2");
  launch_plan(plan);
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  assert_int_equal(lt->objects, 0);
  assert_int_equal(fake->memory, 0);
}

/* The next tests use what the one above has remembered. */
TEST(excluded_on_request) {
  reset();
  cugen *lib = open_library(cache_file, NULL, 1);
  cugen_kernel *kernel = open_kernel(lib, NULL, 0);
  cugen_plan *plan = open_plan(kernel, "plain threads=");
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  assert_int_equal(lt->products, 0);
}

TEST(a_library_that_fails_does_no_harm) {
  static const char *const functions[] = {"Create", "MatmulDescCreate", "MatmulAlgoGetHeuristic",
                                          "MatmulPreferenceSetAttribute", "MatrixLayoutCreate"};
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    reset();
    lt->fail = functions[i];
    cugen *lib = open_library(cache_file, NULL, 0);
    cugen_kernel *kernel = open_kernel(lib, NULL, 0);
    cugen_plan_close(open_plan(kernel, "plain threads="));
    cugen_kernel_close(kernel);
    cugen_close(lib);
    assert_int_equal(lt->objects, 0);
  }
}

TEST(a_launch_that_fails) {
  float buffers[3][24 * 16];
  void *const arguments[] = {buffers[0], buffers[1], buffers[2]};
  reset();
  CLOSED(cugen) *lib = open_library(cache_file, NULL, 0);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, NULL, 0);
  CLOSED(cugen_plan) *plan = open_plan(kernel, "library algorithm=");
  CLOSED(cugen_call) *call = call_of(plan, arguments, 3);
  lt->fail = "Matmul";
  FAILS(cugen_call_launch(call, NULL, &err), CUGEN_ERROR_DEVICE,
        "cublasLtMatmul: CUBLAS_STATUS_PRETENDED");
}

/* A near problem is served by its own first algorithm, whichever was the best. */
TEST(lent_to_a_near_problem) {
  static const char *const settings[] = {"M=32"};
  reset();
  lt->algorithms = 1;
  CLOSED(cugen) *lib = open_library(cache_file, NULL, 0);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib, settings, 1);
  CLOSED(cugen_plan) *plan = OPEN_PLAN(kernel, .distance = 1);
  assert_string_equal(cugen_plan_about(plan)->variant, "library algorithm=0");
}

/* A bundle has the best of the others, and the export says so. */
TEST(not_in_bundles) {
  char folder[] = "/tmp/cugen-bundle-XXXXXX";
  const cugen_export_options options = {0};
  cugen_export_result result;
  reset();
  assert_non_null(mkdtemp(folder));
  cugen *lib = open_library(cache_file, NULL, 0);
  cugen_kernel *kernel = open_kernel(lib, NULL, 0);
  WORKS(api_kernel_export(kernel, &options, folder, &result, &err));
  if (!strstr(result.notes, "the fastest is library algorithm=")) fail_msg("%s", result.notes);
  assert_int_equal(result.problems, 1);
  assert_true(result.variants > 0);
  assert_int_equal(result.stale, 0);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  assert_int_equal(system(formed("rm -r %s", folder)), 0);
}

/* ---- Other toolkits ------------------------------------------------------------------------- */

struct toolkit_folder {
  char folder[32];
  struct text lib64, nvrtc, cublaslt;
};

/* Makes a toolkit with NVRTC alone. */
static void make_toolkit(struct toolkit_folder *t) {
  *t = (struct toolkit_folder){.folder = "/tmp/cugen-toolkit-XXXXXX"};
  assert_non_null(mkdtemp(t->folder));
  const char *from = formed("%s/lib64/libnvrtc.so.13", getenv("CUGEN_TEST_FAKE_TOOLKIT"));
  text_addf(&t->lib64, "%s/lib64", t->folder);
  text_addf(&t->nvrtc, "%s/libnvrtc.so.13", text_get(&t->lib64));
  text_addf(&t->cublaslt, "%s/libcublasLt.so.13", text_get(&t->lib64));
  assert_int_equal(mkdir(text_get(&t->lib64), 0700), 0);
  assert_int_equal(symlink(from, text_get(&t->nvrtc)), 0);
}

static void remove_toolkit(struct toolkit_folder *t) {
  unlink(text_get(&t->nvrtc));
  unlink(text_get(&t->cublaslt));
  rmdir(text_get(&t->lib64));
  rmdir(t->folder);
  text_free(&t->lib64);
  text_free(&t->nvrtc);
  text_free(&t->cublaslt);
}

/* No variant, and no word of one. */
TEST(absent) {
  struct toolkit_folder toolkit;
  cugen_space_info space;
  uint64_t index;
  reset();
  make_toolkit(&toolkit);
  cugen *lib = open_library("none", toolkit.folder, 0);
  cugen_kernel *kernel = open_kernel(lib, NULL, 0);
  WORKS(api_kernel_space(kernel, &space, &err));
  assert_int_equal(space.implementations, 1);
  assert_int_equal(space.valid, 2);
  assert_int_equal(space.cartesian, 2);
  assert_null(strstr(cugen_where(lib), "cublasLt"));
  FAILS(space_find(kernel->lookup.space, "library algorithm=0", &index, &err), CUGEN_ERROR_USAGE,
        "product.lua:34: the library cublasLt is not installed");
  cugen_plan_close(open_plan(kernel, "plain threads="));
  cugen_kernel_close(kernel);
  cugen_close(lib);
  remove_toolkit(&toolkit);
}

/* What one build of the library was measured to do is not remembered of another. */
TEST(another_build) {
  struct toolkit_folder toolkit;
  reset();
  make_toolkit(&toolkit);
  const char *copy =
      formed("cp %s/lib64/libcublasLt.so.13 %s && printf x >>%s", getenv("CUGEN_TEST_FAKE_TOOLKIT"),
             text_get(&toolkit.cublaslt), text_get(&toolkit.cublaslt));
  assert_int_equal(system(copy), 0);
  cugen *lib = open_library(cache_file, toolkit.folder, 0);
  cugen_kernel *kernel = open_kernel(lib, NULL, 0);
  assert_non_null(strstr(cugen_where(lib), text_get(&toolkit.cublaslt)));
  cugen_plan_close(open_plan(kernel, "plain threads="));
  cugen_kernel_close(kernel);
  cugen_close(lib);
  remove_toolkit(&toolkit);
}

ALL_TESTS_WITH(find_fakes, forget);
