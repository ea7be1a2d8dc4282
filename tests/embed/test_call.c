/* Plans and calls through cugen.h over the fake driver, whose kernels run here: which variant is
   chosen, where it is loaded, and that a launch makes exactly one call of the driver. Images
   come from the cache. */

#include <math.h>
#include <pthread.h>

#include "api/api.h"
#include "api/kernel.h"
#include "api/priors.h"
#include "api/records.h"
#include "base/system.h"
#include "runtime/compile/toolkit.h"
#include "tests/opening.h"
#include "with_fake.h"

/* ---- Counting allocations and locks ---------------------------------------------------------- */

/* The linker puts these functions in place of the ones that cugen calls (--wrap). */
static long allocations, locks;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t count, size_t bytes);
void *__real_realloc(void *memory, size_t bytes);
int __real_pthread_mutex_lock(pthread_mutex_t *mutex);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t count, size_t bytes);
void *__wrap_realloc(void *memory, size_t bytes);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);

void *__wrap_malloc(size_t bytes) {
  allocations++;
  return __real_malloc(bytes);
}

void *__wrap_calloc(size_t count, size_t bytes) {
  allocations++;
  return __real_calloc(count, bytes);
}

void *__wrap_realloc(void *memory, size_t bytes) {
  allocations++;
  return __real_realloc(memory, bytes);
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex) {
  locks++;
  return __real_pthread_mutex_lock(mutex);
}

/* ---- The fake driver ------------------------------------------------------------------------ */

static cugen *lib;
static struct fake_launch seen; /* the last launch */
static int application_context, other_stream;
static const char *config; /* the config from which kernels are opened */

enum { COUNT = 1000 };

/* Runs wild.cu's kernel: out, x, y, alpha, n. */
static void run_kernel(const struct fake_launch *launch) {
  float *out, *x, *y, alpha;
  int n;
  memcpy(&out, launch->parameters[0], sizeof out);
  memcpy(&x, launch->parameters[1], sizeof x);
  memcpy(&y, launch->parameters[2], sizeof y);
  memcpy(&alpha, launch->parameters[3], sizeof alpha);
  memcpy(&n, launch->parameters[4], sizeof n);
  for (int i = 0; i < n; i++) out[i] = alpha * x[i] + y[i];
  seen = *launch;
}

FIXTURE(open_library) {
  config = "tests/configs/wild.lua";
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = run_kernel};
  lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none");
  return 0;
}

FIXTURE(close_library) {
  cugen_close(lib);
  return 0;
}

/* ---- Kernels, their images, and records ----------------------------------------------------- */

static const char *elsewhere; /* the GPU for which `store` stores; NULL: the kernel's own */

/* Opens a kernel and stores images of its first variants in the cache, so that no compiler is
   needed. */
static cugen_kernel *open_any(const char *name, const char *const *settings, size_t count) {
  cugen_kernel *kernel = kernel_of(lib, name, settings, count);
  fake_keep_images(kernel);
  return kernel;
}

static cugen_kernel *open_kernel(const char *size) {
  return open_any(config, &size, 1);
}

/* Stores a record of the variant, as if the device had measured it or the model had predicted
   it. stale: the record is of another source. */
static void store(const char *size, const char *text, double seconds, bool stale, bool predicted) {
  CLOSED(cugen_kernel) *k = open_kernel(size);
  struct lookup *l = &k->lookup;
  struct device_description model = l->device;
  struct prediction_key predictions;
  FREED(kernel_spec) spec;
  struct cache *cache;
  uint64_t index;
  assert_int_equal(api_find_variant(k, text, &index, NULL), CUGEN_OK);
  assert_int_equal(lookup_expander(l, NULL), CUGEN_OK);
  assert_int_equal(lookup_expand(l, index, &spec, NULL), 0);
  struct cache_record record = {.variant = spec.variant,
                                .hash = stale ? hash_bytes("other", 5) : spec.hash,
                                .reason = (char *)(uintptr_t) "",
                                .seconds = seconds,
                                .samples = 3,
                                .driver_version = 12080,
                                .nvrtc_version = 12090,
                                .measured_at = 1700000000};
  /* a user's own description of the GPU, not a shipped one */
  strcpy(model.id, "model:MINE");
  assert_int_equal(api_key_predictions(lib, &model, l->arch, &predictions, NULL), CUGEN_OK);
  struct cache_key key = predicted ? lookup_predicted_key(l, &predictions) : lookup_measured_key(l);
  if (elsewhere) key.device = elsewhere;
  assert_int_equal(api_cache(lib, &cache, NULL), CUGEN_OK);
  assert_int_equal(cache_store(cache, &key, &record, NULL), CUGEN_OK);
  api_prediction_key_free(&predictions);
}

static void remember(const char *size, const char *text, double seconds, bool stale) {
  store(size, text, seconds, stale, false);
}

/* Opens a plan and closes its kernel, which the plan does not need. */
static int open_plan(const char *size, unsigned flags, double distance, cugen_plan **out,
                     cugen_error *err) {
  CLOSED(cugen_kernel) *kernel = open_kernel(size);
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  options.flags = flags;
  options.distance = distance;
  int status = cugen_plan_open(kernel, &options, out, err);
  return status;
}

static cugen_plan *must_open(const char *size, double distance) {
  cugen_plan *plan;
  WORKS(open_plan(size, 0, distance, &plan, &err));
  return plan;
}

static void expect(const char *size, double distance, cugen_plan_choice choice, const char *variant,
                   const char *tuned_for) {
  CLOSED(cugen_plan) *plan = must_open(size, distance);
  const cugen_plan_info *info = cugen_plan_about(plan);
  assert_int_equal(info->choice, choice);
  assert_string_equal(info->variant, variant);
  if (tuned_for)
    assert_string_equal(info->tuned_for, tuned_for);
  else
    assert_null(info->tuned_for);
}

/* ---- Which variant -------------------------------------------------------------------------- */

static const char first[] = "wild BLOCK_SIZE=128 ITEMS=1", best[] = "wild BLOCK_SIZE=256 ITEMS=4",
                  other[] = "wild BLOCK_SIZE=256 ITEMS=1";

TEST_WITH(test_default, open_library, close_library) {
  CLOSED(cugen_plan) *plan = must_open("n=1000", 1);
  const cugen_plan_info *info = cugen_plan_about(plan);
  assert_int_equal(info->choice, CUGEN_PLAN_DEFAULT);
  assert_string_equal(info->kernel, "scale_add");
  assert_string_equal(info->problem, "n=1000");
  assert_string_equal(info->variant, first);
  assert_null(info->tuned_for);
  assert_true(info->seconds == 0 && info->bytes == 12000);
  assert_int_equal(info->launches, 1);
  assert_int_equal(info->arguments, 5);
  assert_int_equal(strlen(info->source_hash), 32);
}

TEST_WITH(test_tuned_only, open_library, close_library) {
  cugen_plan *plan;
  FAILS(open_plan("n=1000", CUGEN_PLAN_TUNED_ONLY, 0, &plan, &err), CUGEN_ERROR_USAGE,
        "no tuned problem serves scale_add n=1000 on NVIDIA Pretended",
        "(policy exact, by tests/configs/wild.lua)");
  assert_null(plan);
  FAILS(open_plan("n=1000", CUGEN_PLAN_TUNED_ONLY | CUGEN_PLAN_BY_PORTFOLIO, 0, &plan, &err),
        CUGEN_ERROR_USAGE, "(policy portfolio, and none is remembered)");
  assert_int_equal(fake->contexts, 0);
  remember("n=1000", best, 1e-3, false);
  WORKS(open_plan("n=1000", CUGEN_PLAN_TUNED_ONLY, 0, &plan, &err));
  cugen_plan_close(plan);
  WORKS(open_plan("n=2000", CUGEN_PLAN_TUNED_ONLY, 1, &plan, &err));
  cugen_plan_close(plan);
}

TEST_WITH(test_exact, open_library, close_library) {
  remember("n=1000", other, 2e-3, false);
  remember("n=1000", best, 1e-3, false);
  remember("n=1000", "wild BLOCK_SIZE=128 ITEMS=4", 1e-4, true);
  CLOSED(cugen_plan) *plan = must_open("n=1000", 0);
  const cugen_plan_info *info = cugen_plan_about(plan);
  assert_int_equal(info->choice, CUGEN_PLAN_EXACT);
  assert_string_equal(info->variant, best);
  assert_string_equal(info->tuned_for, "n=1000");
  assert_true(info->distance == 0 && info->seconds == 1e-3 && !info->predicted);
  assert_int_equal(info->measured_at, 1700000000);
  assert_int_equal(info->driver_version, 12080);
  assert_int_equal(info->nvrtc_version, 12090);
}

/* As in the list of records, times within half a percent are a tie, which the config's order
   decides. */
TEST_WITH(test_tie, open_library, close_library) {
  remember("n=1000", best, 1.000e-3, false);
  remember("n=1000", other, 1.004e-3, false);
  remember("n=1000", first, 1.010e-3, false);
  expect("n=1000", 0, CUGEN_PLAN_EXACT, other, "n=1000");
}

static void remember_on(const char *gpu, const char *text, bool stale) {
  elsewhere = gpu;
  remember("n=1000", text, 1e-3, stale);
  elsewhere = NULL;
}

/* The order of other GPUs: first the same model, then the same compute capability, the nearest
   first, then predictions. Records of another problem or source do not count. */
TEST_WITH(test_other_gpu, open_library, close_library) {
  cugen_plan *plan;
  store("n=1000", other, 1e-5, false, true);
  remember_on("NVIDIA Older sm_80 132 SMs", best, false);
  remember_on("NVIDIA Pretended sm_90 16 SMs", best, true);
  expect("n=1000", 0, CUGEN_PLAN_DEFAULT, other, NULL);
  remember_on("NVIDIA Small sm_90 16 SMs", other, false);
  expect("n=1000", 0, CUGEN_PLAN_OTHER_GPU, other, "n=1000");
  remember_on("NVIDIA Near sm_90 130 SMs", best, false);
  plan = must_open("n=1000", 0);
  assert_string_equal(cugen_plan_about(plan)->tuned_on, "NVIDIA Near sm_90 130 SMs");
  assert_string_equal(cugen_plan_about(plan)->variant, best);
  assert_true(cugen_plan_about(plan)->seconds == 1e-3);
  cugen_plan_close(plan);
  remember_on("NVIDIA Pretended sm_90 60 SMs", first, false);
  expect("n=1000", 0, CUGEN_PLAN_OTHER_GPU, first, "n=1000");
  expect("n=1000", -1, CUGEN_PLAN_DEFAULT, other, NULL);
  expect("n=2000", 0, CUGEN_PLAN_DEFAULT, first, NULL);
  FAILS(open_plan("n=1000", CUGEN_PLAN_TUNED_ONLY, 0, &plan, &err), CUGEN_ERROR_USAGE);
  remember("n=1000", other, 1e-3, false);
  plan = must_open("n=1000", 0);
  assert_null(cugen_plan_about(plan)->tuned_on);
  assert_int_equal(cugen_plan_about(plan)->choice, CUGEN_PLAN_EXACT);
  cugen_plan_close(plan);
}

/* A problem that was never measured starts from the model's choice for this GPU, not from the
   first variant. A prediction never precedes a measurement, of this problem or a near one, and a
   prediction of another source is ignored. */
TEST_WITH(test_predicted, open_library, close_library) {
  cugen_plan *plan;
  store("n=1000", other, 1e-5, true, true);
  expect("n=1000", 0, CUGEN_PLAN_DEFAULT, first, NULL);
  store("n=1000", first, 2e-5, false, true);
  store("n=1000", best, 1e-5, false, true);
  expect("n=1000", 0, CUGEN_PLAN_DEFAULT, best, NULL);
  plan = must_open("n=1000", 0);
  assert_true(cugen_plan_about(plan)->predicted && cugen_plan_about(plan)->seconds == 0);
  cugen_plan_close(plan);
  plan = must_open("n=2000", 0);
  assert_false(cugen_plan_about(plan)->predicted);
  cugen_plan_close(plan);
  FAILS(open_plan("n=1000", CUGEN_PLAN_TUNED_ONLY, 0, &plan, &err), CUGEN_ERROR_USAGE);
  expect("n=2000", 0, CUGEN_PLAN_DEFAULT, first, NULL);
  remember("n=2000", first, 1e-3, false);
  expect("n=1000", 1, CUGEN_PLAN_NEAR, first, "n=2000");
  remember("n=1000", other, 1e-3, false);
  expect("n=1000", 0, CUGEN_PLAN_EXACT, other, "n=1000");
}

/* The driver reports other figures than the description has; on the GPU itself the same
   predictions are found. */
TEST_WITH(test_predicted_here, open_library, close_library) {
  struct device_description described, here;
  struct prediction_key of_described, of_here;
  assert_int_equal(api_model(lib, "H200", &described, NULL), CUGEN_OK);
  here = described;
  strcpy(here.id, "cuda:0");
  here.facts.clock_khz++;
  here.rates = (struct gpu_rates){0};
  assert_int_equal(api_key_predictions(lib, &described, "sm_90a", &of_described, NULL), CUGEN_OK);
  assert_int_equal(api_key_predictions(lib, &here, "sm_90a", &of_here, NULL), CUGEN_OK);
  assert_string_equal(text_get(&of_here.options), text_get(&of_described.options));
  api_prediction_key_free(&of_described), api_prediction_key_free(&of_here);
}

/* Tuning begins with the model's choices if nothing near was measured. */
TEST_WITH(test_predicted_leaders, open_library, close_library) {
  struct cache *cache;
  FREED(priors) priors;
  uint64_t wanted[2];
  store("n=1000", first, 2e-5, false, true);
  store("n=1000", best, 1e-5, false, true);
  CLOSED(cugen_kernel) *k = open_kernel("n=1000");
  assert_int_equal(api_find_variant(k, best, &wanted[0], NULL), CUGEN_OK);
  assert_int_equal(api_find_variant(k, first, &wanted[1], NULL), CUGEN_OK);
  assert_int_equal(api_cache(lib, &cache, NULL), CUGEN_OK);
  assert_int_equal(priors_gather(&k->lookup, cache, &priors, NULL), CUGEN_OK);
  assert_int_equal(priors.count, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_int_equal(priors.all[i].index, wanted[i]);
    assert_int_equal(priors.all[i].source, PRIOR_MODEL);
  }
}

TEST_WITH(test_near, open_library, close_library) {
  remember("n=1000", best, 1e-3, false);
  remember("n=4000", other, 1e-3, false);
  remember("n=1500", other, 1e-3, true);
  expect("n=1500", 0, CUGEN_PLAN_DEFAULT, first, NULL);
  expect("n=1500", 0.5, CUGEN_PLAN_DEFAULT, first, NULL);
  expect("n=1500", 0.6, CUGEN_PLAN_NEAR, best, "n=1000");
  expect("n=1500", 10, CUGEN_PLAN_NEAR, best, "n=1000");
  expect("n=3000", 1, CUGEN_PLAN_NEAR, other, "n=4000");
  /* equally far from both: the one tuned first */
  expect("n=2000", 1, CUGEN_PLAN_NEAR, best, "n=1000");
  expect("n=4000", 10, CUGEN_PLAN_EXACT, other, "n=4000");
  CLOSED(cugen_plan) *plan = must_open("n=2000", 1);
  assert_true(cugen_plan_about(plan)->distance == 1);
}

/* ---- Policies ------------------------------------------------------------------------------- */

static void add_file(const char *name, const struct text *text) {
  WORKS(cugen_add_file(lib, name, text_get(text), text->length, &err));
}

/* Holds the same kernel in memory, with that policy and another restriction. */
static void use_policy(const char *policy, const char *where) {
  static const char *const marks[] = {"kernel \"scale_add\" {", "template \"wild.cu\","};
  const char *const inserted[] = {policy, where};
  FREED(text) file = {0}, config_text = {0}, template_text = {0};
  assert_int_equal(file_read("tests/configs/wild.lua", &file, NULL), CUGEN_OK);
  assert_int_equal(file_read("tests/configs/wild.cu", &template_text, NULL), CUGEN_OK);
  const char *at = text_get(&file);
  for (int i = 0; i < 2; i++) {
    const char *mark = strstr(at, marks[i]);
    assert_non_null(mark);
    mark += strlen(marks[i]);
    text_add_n(&config_text, at, (size_t)(mark - at));
    text_add(&config_text, inserted[i]);
    at = mark;
  }
  text_add(&config_text, at);
  add_file("policy.lua", &config_text);
  add_file("wild.cu", &template_text);
  config = "policy.lua";
}

TEST_WITH(test_policy_nearest, open_library, close_library) {
  use_policy("policy \"nearest\" { distance = 1 },", "");
  remember("n=1000", best, 1e-3, false);
  expect("n=1000", 0, CUGEN_PLAN_EXACT, best, "n=1000");
  expect("n=1500", 0, CUGEN_PLAN_NEAR, best, "n=1000");
  expect("n=2000", 0, CUGEN_PLAN_NEAR, best, "n=1000");
  expect("n=2001", 0, CUGEN_PLAN_DEFAULT, first, NULL);
  /* the distance of the application's options */
  expect("n=2001", 1.1, CUGEN_PLAN_NEAR, best, "n=1000");
  expect("n=1500", 0.1, CUGEN_PLAN_DEFAULT, first, NULL);
  expect("n=1500", -1, CUGEN_PLAN_DEFAULT, first, NULL);
  expect("n=1000", -1, CUGEN_PLAN_EXACT, best, "n=1000");
}

TEST_WITH(test_policy_buckets, open_library, close_library) {
  use_policy("policy \"buckets\" { n = { 1024, 4096, 65536 } },", "");
  expect("n=1000", 0, CUGEN_PLAN_DEFAULT, first, NULL);
  remember("n=1024", best, 1e-3, false);
  remember("n=4096", other, 1e-3, false);
  remember("n=1100", best, 1e-3, false);
  expect("n=1", 0, CUGEN_PLAN_NEAR, best, "n=1024");
  expect("n=1024", 0, CUGEN_PLAN_EXACT, best, "n=1024");
  expect("n=1025", 0, CUGEN_PLAN_NEAR, other, "n=4096");
  /* its own record precedes the record of its bucket */
  expect("n=1100", 0, CUGEN_PLAN_EXACT, best, "n=1100");
  expect("n=4097", 0, CUGEN_PLAN_DEFAULT, first, NULL); /* nothing of this bucket was tuned */
  expect("n=65537", 0, CUGEN_PLAN_DEFAULT, first, NULL);
  expect("n=1025", 0.01, CUGEN_PLAN_NEAR, best, "n=1024");
  expect("n=1025", -1, CUGEN_PLAN_DEFAULT, first, NULL);
  remember("n=65536", best, 1e-3, false);
  expect("n=100000", 0, CUGEN_PLAN_NEAR, best, "n=65536"); /* above the last bound */
  CLOSED(cugen_plan) *plan = must_open("n=2048", 0);
  assert_true(cugen_plan_about(plan)->distance == 1);
}

TEST_WITH(test_lent_variants, open_library, close_library) {
  use_policy("policy \"buckets\" { n = { 1024, 4096 } },", "where \"ITEMS == 1 or n > 2000\",");
  remember("n=4096", best, 1.0e-3, false);
  remember("n=4096", other, 2.0e-3, false);
  expect("n=3000", 0, CUGEN_PLAN_NEAR, best, "n=4096");
  /* the best is not valid here: the next one */
  expect("n=1500", 0, CUGEN_PLAN_NEAR, other, "n=4096");
  use_policy("policy \"nearest\" { distance = 2 },", "");
  remember("n=1000", best, 1.000e-3, true);
  remember("n=1000", "wild BLOCK_SIZE=128 ITEMS=4", 1.004e-3, false);
  remember("n=1000", other, 1.006e-3, false);
  /* the best is stale; the next two tie */
  expect("n=900", 0, CUGEN_PLAN_NEAR, "wild BLOCK_SIZE=128 ITEMS=4", "n=1000");
  remember("n=1000", "wild BLOCK_SIZE=128 ITEMS=4", 1e-3, true);
  remember("n=1000", other, 1e-3, true);
  /* no record is of the present source */
  expect("n=1010", 0, CUGEN_PLAN_DEFAULT, first, NULL);
}

TEST_WITH(test_policy_refuses, open_library, close_library) {
  cugen_plan *plan;
  cugen_error err;
  use_policy("policy \"buckets\" { n = { 1024, 4096 } },", "");
  remember("n=1024", best, 1e-3, false);
  assert_int_equal(open_plan("n=1000", CUGEN_PLAN_TUNED_ONLY, 0, &plan, &err), CUGEN_OK);
  cugen_plan_close(plan);
  static const struct {
    double distance;
    const char *want;
  } rows[] = {{0, "(policy buckets { n = { 1024, 4096 } }, by policy.lua)"},
              {0.5, "(policy nearest { distance = 0.5 }, as asked)"},
              {-1, "(policy exact, as asked)"}};
  for (size_t i = 0; i < 3; i++) {
    assert_int_equal(open_plan("n=3000", CUGEN_PLAN_TUNED_ONLY, rows[i].distance, &plan, &err),
                     CUGEN_ERROR_USAGE);
    if (!strstr(err.message, rows[i].want))
      fail_msg(" got: %s\nwant: %s", err.message, rows[i].want);
  }
}

/* Like the tests above, with cugen_plan_choice looked up without a plan. */
TEST_WITH(test_choose, open_library, close_library) {
  cugen_choice choice;
  use_policy("policy \"nearest\" { distance = 1 },", "");
  remember("n=1000", best, 1e-3, false);
  CLOSED(cugen_kernel) *kernel = open_kernel("n=2000");
  assert_string_equal(api_kernel_policy(kernel), "nearest { distance = 1 }");
  for (int i = 0; i < 2; i++) {
    WORKS(api_kernel_choose(kernel, 0, &choice, &err));
    assert_int_equal(choice.how, CUGEN_PLAN_NEAR);
    assert_string_equal(choice.variant, best);
    assert_string_equal(choice.tuned_for, "n=1000");
    assert_true(choice.distance == 1);
    WORKS(api_kernel_choose(kernel, -1, &choice, &err));
    assert_int_equal(choice.how, CUGEN_PLAN_DEFAULT);
    assert_string_equal(choice.variant, first);
    assert_null(choice.tuned_for);
  }
  const char *source, *name;
  WORKS(cugen_kernel_source(kernel, NULL, &source, &name, &err));
  assert_string_equal(name, best);
  FAILS(cugen_kernel_source(kernel, "best", &source, &name, &err), CUGEN_ERROR_USAGE);
}

TEST_WITH(test_image, open_library, close_library) {
  cugen_plan *plan = must_open("n=1000", 0);
  assert_int_equal(cugen_plan_about(plan)->image_from_cache, 1);
  cugen_plan_close(plan);
  FREED(text) maps = {0}; /* an image in the cache needs no compiler */
  assert_int_equal(file_read("/proc/self/maps", &maps, NULL), CUGEN_OK);
  assert_non_null(strstr(text_get(&maps), "libcuda.so.1"));
  if (toolkit_nvrtc_version(lib->toolkit)) assert_null(strstr(text_get(&maps), "libnvrtc"));
}

/* ---- Refusals ------------------------------------------------------------------------------- */

TEST_WITH(test_options, open_library, close_library) {
  static const cugen_plan_options good = CUGEN_PLAN_OPTIONS_INIT;
  CLOSED(cugen_kernel) *kernel = open_kernel("n=1000");
  cugen_plan *plan;
  cugen_plan_options bad[4] = {good, good, good, good};
  bad[0].size--;
  bad[1].flags = 64;
  bad[2].distance = NAN;
  bad[3].flags = CUGEN_PLAN_PRIMARY, bad[3].context = &application_context;
  for (size_t i = 0; i < 4; i++) {
    FAILS(cugen_plan_open(kernel, &bad[i], &plan, &err), CUGEN_ERROR_USAGE);
    assert_null(plan);
  }
}

/* ---- Contexts ------------------------------------------------------------------------------- */

TEST_WITH(test_contexts, open_library, close_library) {
  cugen_plan *plan;
  plan = must_open("n=1000", 0); /* no context is current */
  assert_int_equal(fake->contexts, 1);
  cugen_plan_close(plan);
  assert_int_equal(fake->contexts, 0);
  fake->application_context = &application_context;
  plan = must_open("n=1000", 0);
  assert_int_equal(fake->contexts, 0);
  cugen_plan_close(plan);
  WORKS(open_plan("n=1000", CUGEN_PLAN_PRIMARY, 0, &plan, &err));
  assert_int_equal(fake->contexts, 1);
  cugen_plan_close(plan);
  fake->context_device = 1;
  FAILS(open_plan("n=1000", 0, 0, &plan, &err), CUGEN_ERROR_USAGE,
        "the CUDA context is one of cuda:1, the kernel is for cuda:0");
  assert_int_equal(fake->current, 0);
}

/* ---- Calls ---------------------------------------------------------------------------------- */

static float x[COUNT], y[COUNT], out[COUNT];

static void fill(void) {
  for (int i = 0; i < COUNT; i++) x[i] = (float)i, y[i] = 1, out[i] = -1;
}

TEST_WITH(test_launch, open_library, close_library) {
  cugen_plan *plan = must_open("n=1000", 0);
  void *arguments[] = {out, x, y, NULL, NULL};
  fill();
  cugen_call *call = call_of(plan, arguments, 5);
  long calls = fake->calls, allocated = allocations, locked = locks;
  for (int i = 0; i < 100; i++) WORKS(cugen_call_launch(call, &other_stream, &err));
  allocated = allocations - allocated, locked = locks - locked;
  assert_int_equal(fake->calls - calls, 100);
  assert_int_equal(allocated, 0);
  assert_int_equal(locked, 0);
  assert_true(allocations > 0 && locks > 0); /* both are really counted */
  assert_ptr_equal(seen.stream, &other_stream);
  assert_int_equal(seen.grid[0], 8);
  assert_int_equal(seen.block[0], 128);
  for (int i = 0; i < COUNT; i++) assert_true(out[i] == 2.5f * x[i] + 1);
  cugen_call_close(call);
  cugen_plan_close(plan);
  assert_int_equal(fake->images, 0);
  assert_int_equal(fake->streams, 0);
}

/* A call that is bound again launches with the new arguments. If the binding fails, the call
   keeps its arguments. */
TEST_WITH(test_rebind, open_library, close_library) {
  CLOSED(cugen_plan) *plan = must_open("n=1000", 0);
  float alpha = -2, second[COUNT];
  void *arguments[] = {out, x, y, NULL, NULL};
  void *changed[] = {second, x, y, &alpha, NULL};
  void *wrong[] = {out, NULL, y, NULL, NULL};
  fill();
  CLOSED(cugen_call) *call = call_of(plan, arguments, 5);
  assert_int_equal(cugen_call_rebind(call, changed, 5, NULL), CUGEN_OK);
  FAILS_WITH(cugen_call_rebind(call, wrong, 5, &err), CUGEN_ERROR_USAGE,
             "argument 'x' was given no memory");
  FAILS(cugen_call_rebind(call, wrong, 4, &err), CUGEN_ERROR_USAGE);
  assert_int_equal(cugen_call_launch(call, NULL, NULL), CUGEN_OK);
  for (int i = 0; i < COUNT; i++) assert_true(out[i] == -1 && second[i] == -2 * x[i] + 1);
}

/* Scratch that a call allocated serves all of its bindings. */
TEST_WITH(test_rebind_scratch, open_library, close_library) {
  config = "tests/configs/steps.lua";
  CLOSED(cugen_plan) *plan = must_open("size=1000", 0);
  void *arguments[] = {x, out, NULL, NULL, NULL}, *changed[] = {y, out, NULL, NULL, NULL};
  cugen_call *call = call_of(plan, arguments, 5);
  const long owned = fake->memory;
  assert_true(owned > 0);
  assert_int_equal(cugen_call_rebind(call, changed, 5, NULL), CUGEN_OK);
  assert_int_equal(fake->memory, owned);
  cugen_call_close(call);
  assert_int_equal(fake->memory, 0);
}

/* A scalar that the application passes is copied at bind. */
TEST_WITH(test_scalars, open_library, close_library) {
  CLOSED(cugen_plan) *plan = must_open("n=1000", 0);
  cugen_argument_info info;
  float alpha = -2;
  int n = 10;
  void *arguments[] = {out, x, y, &alpha, &n};
  fill();
  assert_int_equal(cugen_plan_argument(plan, 4, &info, NULL), CUGEN_OK);
  assert_string_equal(info.dtype, "i32");
  assert_int_equal(cugen_plan_argument(plan, 5, &info, NULL), CUGEN_ERROR_USAGE);
  CLOSED(cugen_call) *call = call_of(plan, arguments, 5);
  alpha = 7, n = 0;
  assert_int_equal(cugen_call_launch(call, NULL, NULL), CUGEN_OK);
  assert_null(seen.stream);
  for (int i = 0; i < COUNT; i++) assert_true(out[i] == (i < 10 ? -2 * x[i] + 1 : -1));
}

TEST_WITH(test_bind_refuses, open_library, close_library) {
  CLOSED(cugen_plan) *plan = must_open("n=1000", 0);
  cugen_call *call;
  void *arguments[] = {out, NULL, y, NULL, NULL};
  FAILS_WITH(cugen_call_bind(plan, arguments, 4, &call, &err), CUGEN_ERROR_USAGE,
             "scale_add takes 5 arguments (out, x, y, alpha, n) and was "
             "given 4; NULL may stand for alpha, n");
  FAILS_WITH(cugen_call_bind(plan, arguments, 5, &call, &err), CUGEN_ERROR_USAGE,
             "argument 'x' was given no memory");
  assert_null(call);
  cugen_call_close(NULL);
  cugen_plan_close(NULL);
}

/* matmul's sizes are compiled in: the same value is accepted, another one is refused. */
TEST_WITH(test_compiled_in, open_library, close_library) {
  const char *settings[] = {"M=64", "N=64", "K=64", "specialize=true"};
  CLOSED(cugen_kernel) *kernel;
  cugen_call *call;
  int32_t same = 64, different = 65;
  void *arguments[] = {out, x, y, &same, NULL, NULL};
  kernel = open_any("matmul", settings, 4);
  CLOSED(cugen_plan) *plan = plan_of(kernel, NULL);
  call = call_of(plan, arguments, 6);
  cugen_call_close(call);
  arguments[3] = &different;
  FAILS(cugen_call_bind(plan, arguments, 6, &call, &err), CUGEN_ERROR_USAGE,
        "scalar 'M' is compiled in as 64");
}

/* ---- Faults --------------------------------------------------------------------------------- */

static int use(cugen_kernel *kernel) {
  CLOSED(cugen_plan) *plan;
  CLOSED(cugen_call) *call = NULL;
  cugen_error err = {0};
  void *arguments[] = {out, x, y, NULL, NULL};
  int status = cugen_plan_open(kernel, NULL, &plan, &err);
  assert_true((plan != NULL) == (status == CUGEN_OK));
  if (!status) status = cugen_call_bind(plan, arguments, 5, &call, &err);
  if (!status) status = cugen_call_launch(call, NULL, &err);
  if (status) assert_true(err.status == status && err.message[0]);
  return status;
}

/* Whichever call of the driver fails, the error names it, and nothing is left behind. */
TEST_WITH(test_faults, open_library, close_library) {
  CLOSED(cugen_kernel) *kernel = open_kernel("n=1000");
  assert_int_equal(use(kernel), CUGEN_OK);
  long failures = 0;
  for (long at = 1;; at++) {
    fake->calls = 0, fake->failed_call = NULL;
    fake->fail_at = at, fake->fail_with = 2; /* CUDA_ERROR_OUT_OF_MEMORY */
    int status = use(kernel);
    assert_int_equal(fake->contexts + fake->current + fake->streams + fake->events + fake->images +
                         fake->memory,
                     0);
    if (!fake->failed_call) break;
    failures += status != CUGEN_OK;
  }
  assert_true(failures > 20);
}

int main(void) {
  return find_fake(NULL) ? 1 : tests_run();
}
