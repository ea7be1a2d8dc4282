/* Plans in an application's own contexts, launched on its own streams of a real GPU from one
   thread and from several, and tuning in the application's process. Skipped without a GPU. */

#include <cuda.h>
#include <dlfcn.h>
#include <pthread.h>

#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"

enum { COUNT = 100003, LAUNCHES = 20, THREADS = 8 };

static struct {
  CUresult (*init)(unsigned);
  CUresult (*create)(CUcontext *, unsigned, CUdevice);
  CUresult (*destroy)(CUcontext);
  CUresult (*current)(CUcontext *);
  CUresult (*make_current)(CUcontext);
  CUresult (*synchronize)(void);
  CUresult (*retain)(CUcontext *, CUdevice);
  CUresult (*release)(CUdevice);
  CUresult (*state)(CUdevice, unsigned *, int *);
  CUresult (*stream)(CUstream *, unsigned);
  CUresult (*end_stream)(CUstream);
  CUresult (*wait)(CUstream);
  CUresult (*alloc)(CUdeviceptr *, size_t);
  CUresult (*free)(CUdeviceptr);
  CUresult (*download)(void *, CUdeviceptr, size_t);
  CUresult (*upload)(CUdeviceptr, const void *, size_t);
} cu;

static const struct {
  const char *name;
  void *place;
} functions[] = {{"cuInit", &cu.init},
                 {"cuCtxCreate_v2", &cu.create},
                 {"cuCtxDestroy_v2", &cu.destroy},
                 {"cuCtxGetCurrent", &cu.current},
                 {"cuCtxSetCurrent", &cu.make_current},
                 {"cuCtxSynchronize", &cu.synchronize},
                 {"cuDevicePrimaryCtxRetain", &cu.retain},
                 {"cuDevicePrimaryCtxRelease_v2", &cu.release},
                 {"cuDevicePrimaryCtxGetState", &cu.state},
                 {"cuStreamCreate", &cu.stream},
                 {"cuStreamDestroy_v2", &cu.end_stream},
                 {"cuStreamSynchronize", &cu.wait},
                 {"cuMemAlloc_v2", &cu.alloc},
                 {"cuMemFree_v2", &cu.free},
                 {"cuMemcpyDtoH_v2", &cu.download},
                 {"cuMemcpyHtoD_v2", &cu.upload}};

static const char *open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return "there is no CUDA driver";
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!(*(void **)functions[i].place = dlsym(library, functions[i].name)))
      return functions[i].name;
  return cu.init(0) ? "the driver sees no GPU" : NULL;
}

static cugen *lib;

FIXTURE(open_library) {
  lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none");
  return 0;
}

FIXTURE(close_library) {
  cugen_close(lib);
  return 0;
}

static cugen_kernel *open_kernel(const char *config, const char *setting) {
  return kernel_of(lib, config, &setting, 1);
}

static cugen_plan *open_plan(unsigned flags, void *context) {
  CLOSED(cugen_kernel) *kernel = open_kernel("tests/configs/wild.lua", "n=100003");
  return OPEN_PLAN(kernel, .flags = flags, .context = context);
}

static CUcontext make_context(void) {
  CUcontext context;
  assert_int_equal(cu.create(&context, 0, 0), CUDA_SUCCESS);
  return context;
}

static bool is_current(CUcontext context) {
  CUcontext now = NULL;
  return cu.current(&now) == CUDA_SUCCESS && now == context;
}

/* ---- One thread's work ---------------------------------------------------------------------- */

struct work {
  CUcontext context;
  cugen_plan *plan;
  float alpha;
  const char *failed; /* the step that failed; NULL: none */
  float x[COUNT], y[COUNT], out[COUNT];
};

#define MUST(condition)                                                                            \
  do {                                                                                             \
    if (!(condition)) return #condition;                                                           \
  } while (0)

static const char *launch(struct work *w, const CUdeviceptr memory[3], CUstream stream) {
  void *arguments[5] = {NULL, NULL, NULL, &w->alpha, NULL};
  cugen_call *call;
  for (int i = 0; i < 3; i++) arguments[i] = (void *)(uintptr_t)memory[i];
  MUST(cugen_call_bind(w->plan, arguments, 5, &call, NULL) == CUGEN_OK);
  for (int i = 0; i < LAUNCHES; i++) MUST(cugen_call_launch(call, stream, NULL) == CUGEN_OK);
  MUST(cu.wait(stream) == CUDA_SUCCESS);
  cugen_call_close(call);
  MUST(cu.download(w->out, memory[0], sizeof w->out) == CUDA_SUCCESS);
  for (int i = 0; i < COUNT; i++) MUST(w->out[i] == w->alpha * w->x[i] + w->y[i]);
  return NULL;
}

/* Runs in a context, on memory and on a stream of its own. Returns what was wrong. */
static const char *run(struct work *w) {
  CUdeviceptr memory[3] = {0};
  CUstream stream;
  for (int i = 0; i < COUNT; i++) w->x[i] = (float)(i % 1000), w->y[i] = 3;
  MUST(cu.make_current(w->context) == CUDA_SUCCESS);
  MUST(cu.stream(&stream, CU_STREAM_NON_BLOCKING) == CUDA_SUCCESS);
  for (int i = 0; i < 3; i++) MUST(cu.alloc(&memory[i], sizeof w->x) == CUDA_SUCCESS);
  MUST(cu.upload(memory[1], w->x, sizeof w->x) == CUDA_SUCCESS);
  MUST(cu.upload(memory[2], w->y, sizeof w->y) == CUDA_SUCCESS);
  const char *failed = launch(w, memory, stream);
  MUST(is_current(w->context));
  for (int i = 0; i < 3; i++) cu.free(memory[i]);
  cu.end_stream(stream);
  return failed;
}

static void must_run(CUcontext context, cugen_plan *plan) {
  static struct work work;
  work = (struct work){.context = context, .plan = plan, .alpha = 2.5f};
  const char *failed = run(&work);
  if (failed) fail_msg("%s", failed);
}

/* ---- Contexts ------------------------------------------------------------------------------- */

/* A plan is loaded into the current context if none is named. */
TEST_WITH(test_own_context, open_library, close_library) {
  CUcontext context = make_context();
  cugen_plan *plan = open_plan(0, NULL);
  must_run(context, plan);
  cugen_plan_close(plan);
  assert_true(is_current(context));
  assert_int_equal(cu.destroy(context), CUDA_SUCCESS);
}

/* Two contexts of one GPU, each with a plan; the second is named while the first is current. */
TEST_WITH(test_two_contexts, open_library, close_library) {
  CUcontext second = make_context(), first = make_context();
  cugen_plan *plans[2] = {open_plan(0, NULL), open_plan(0, second)};
  assert_true(is_current(first));
  must_run(first, plans[0]);
  must_run(second, plans[1]);
  cugen_plan_close(plans[0]);
  assert_int_equal(cu.destroy(first), CUDA_SUCCESS);
  must_run(second, plans[1]);
  cugen_plan_close(plans[1]);
  assert_int_equal(cu.destroy(second), CUDA_SUCCESS);
}

/* The primary context is asked for while another one is current, and is released. */
TEST_WITH(test_primary, open_library, close_library) {
  CUcontext own = make_context(), primary;
  unsigned flags;
  int active = -1;
  cugen_plan *plan = open_plan(CUGEN_PLAN_PRIMARY, NULL);
  assert_true(is_current(own));
  assert_int_equal(cu.retain(&primary, 0), CUDA_SUCCESS);
  must_run(primary, plan);
  cugen_plan_close(plan);
  assert_int_equal(cu.release(0), CUDA_SUCCESS);
  assert_int_equal(cu.state(0, &flags, &active), CUDA_SUCCESS);
  assert_int_equal(active, 0);
  assert_int_equal(cu.destroy(own), CUDA_SUCCESS);
  assert_int_equal(cu.make_current(NULL), CUDA_SUCCESS);
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void *work_along(void *context) {
  struct work *w = context;
  w->failed = run(w);
  return NULL;
}

/* Four threads share a plan in one context, four others a plan in another. */
TEST_WITH(test_threads, open_library, close_library) {
  static struct work all[THREADS];
  pthread_t threads[THREADS];
  CUcontext contexts[2] = {make_context(), make_context()};
  cugen_plan *plans[2] = {open_plan(0, contexts[0]), open_plan(0, contexts[1])};
  for (int i = 0; i < THREADS; i++) {
    all[i] =
        (struct work){.context = contexts[i % 2], .plan = plans[i % 2], .alpha = (float)(i + 1)};
    assert_int_equal(pthread_create(&threads[i], NULL, work_along, &all[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++)
    if (all[i].failed) fail_msg("thread %d: %s", i, all[i].failed);
  for (int i = 0; i < 2; i++) {
    cugen_plan_close(plans[i]);
    assert_int_equal(cu.destroy(contexts[i]), CUDA_SUCCESS);
  }
}

/* ---- Tuning in this process ----------------------------------------------------------------- */

static void tune(cugen_kernel *kernel, CUcontext context, size_t tried) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  cugen_record record;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.cuda_context = context;
  options.strategy = "exhaustive";
  options.again = 1;
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_true(result.tried == tried && result.failed == 0);
  record = record_at(kernel, 0);
  assert_true(record.outcome == CUGEN_OUTCOME_OK && record.seconds > 0);
  printf("  %s: %.3g us\n", record.variant, record.seconds * 1e6);
}

TEST_WITH(test_tune, open_library, close_library) {
  CUcontext given = make_context(), current = make_context();
  CLOSED(cugen_kernel) *kernel = open_kernel("tests/configs/wild.lua", "n=100003");
  tune(kernel, given, 4);
  assert_true(is_current(current));
  tune(kernel, NULL, 4);
  assert_true(is_current(current));
  cugen_plan *plan = open_plan(0, given);
  assert_int_equal(cugen_plan_about(plan)->choice, CUGEN_PLAN_EXACT);
  must_run(given, plan);
  cugen_plan_close(plan);
  assert_int_equal(cu.destroy(current), CUDA_SUCCESS);
  assert_int_equal(cu.destroy(given), CUDA_SUCCESS);
  /* Making no context current pops one from the thread's stack, onto which cuCtxCreate pushed
     all that the tests made. */
  while (!is_current(NULL)) assert_int_equal(cu.make_current(NULL), CUDA_SUCCESS);
  tune(kernel, NULL, 4); /* the primary context */
}

/* ---- Addresses in symbols and structs ------------------------------------------------------- */

enum { NUMBERS = 1000, TABLE = 16 };

/* Two calls of one plan, in turn on one stream, each on its own numbers. */
static void use_pointers(cugen_kernel *kernel, CUcontext context) {
  static float numbers[NUMBERS];
  const float table[TABLE] = {8, 7, 6, 5};
  CUdeviceptr memory[3];
  CUstream stream;
  cugen_call *calls[2];
  CLOSED(cugen_plan) *plan = OPEN_PLAN(kernel, .context = context);
  assert_string_equal(cugen_plan_about(plan)->variant, "i lie_in=symbols"); /* the first */
  assert_int_equal(cu.stream(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  for (int i = 0; i < 3; i++) assert_int_equal(cu.alloc(&memory[i], sizeof numbers), CUDA_SUCCESS);
  assert_int_equal(cu.upload(memory[2], table, sizeof table), CUDA_SUCCESS);
  for (int k = 0; k < 2; k++) {
    for (int i = 0; i < NUMBERS; i++) numbers[i] = (float)(i * (k + 1));
    assert_int_equal(cu.upload(memory[k], numbers, sizeof numbers), CUDA_SUCCESS);
    void *arguments[] = {(void *)(uintptr_t)memory[2], (void *)(uintptr_t)memory[k], NULL, NULL};
    calls[k] = call_of(plan, arguments, 4);
  }
  for (int i = 0; i < 4; i++) WORKS(cugen_call_launch(calls[i % 2], stream, &err));
  assert_int_equal(cu.wait(stream), CUDA_SUCCESS);
  for (int k = 0; k < 2; k++) {
    assert_int_equal(cu.download(numbers, memory[k], sizeof numbers), CUDA_SUCCESS);
    for (int i = 0; i < NUMBERS; i++)
      assert_true(numbers[i] == (float)(i * (k + 1)) / 4 + table[i % TABLE] / 2 + table[i % TABLE]);
    cugen_call_close(calls[k]);
  }
  for (int i = 0; i < 3; i++) cu.free(memory[i]);
  cu.end_stream(stream);
}

/* All variants are verified as they are tuned. */
TEST_WITH(test_pointers, open_library, close_library) {
  CUcontext context = make_context();
  cugen_kernel *pointers = open_kernel("tests/configs/pointers.lua", "n=1000"),
               *matrices = open_kernel("docs/examples/cookbook/matrices.lua", "K=512");
  use_pointers(pointers, context);
  tune(pointers, context, 3);
  tune(matrices, context, 3);
  cugen_kernel_close(matrices);
  cugen_kernel_close(pointers);
  assert_int_equal(cu.destroy(context), CUDA_SUCCESS);
}

static const cugen_record *find_record(cugen_kernel *kernel, const char *implementation) {
  static cugen_record record;
  for (size_t i = 0; i < record_count(kernel); i++) {
    record = record_at(kernel, i);
    if (strncmp(record.variant, implementation, strlen(implementation)) == 0) return &record;
  }
  fail_msg("no record of %s", implementation);
  return NULL;
}

/* A trap ends the tuning and breaks the context. The records of the right variant and of the
   trap are kept. This test is last, because a trap may break all contexts of a process. */
TEST_WITH(test_tune_breaks, open_library, close_library) {
  CUcontext context = make_context();
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_kernel *kernel = open_kernel("tests/configs/planted.lua", "n=1000");
  cugen_error error;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.cuda_context = context;
  options.implementation = "right";
  assert_int_equal(api_kernel_tune(kernel, &options, NULL, NULL), CUGEN_OK);
  options.implementation = "trap";
  assert_int_equal(api_kernel_tune(kernel, &options, NULL, &error), CUGEN_ERROR_DEVICE);
  printf("  %s\n", error.message);
  assert_non_null(strstr(error.message, "tuning in this process ended at 'trap threads=64"));
  assert_int_equal(find_record(kernel, "right ")->outcome, CUGEN_OUTCOME_OK);
  assert_int_equal(find_record(kernel, "trap ")->outcome, CUGEN_OUTCOME_TRAP);
  assert_int_not_equal(cu.synchronize(), CUDA_SUCCESS);
  cugen_kernel_close(kernel);
  cu.destroy(context);
}

int main(void) {
  const char *missing = open_driver();
  if (missing) {
    printf("skipped: %s\n", missing);
    return 77;
  }
  return tests_run();
}
