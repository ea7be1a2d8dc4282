/* Several GPUs, handles, threads and contexts in one process, and tuning in the process, over a
   fake driver with two devices. */

#include <pthread.h>
#include <unistd.h>

#include "api/records.h"
#include "api/tuning.h"
#include "tests/opening.h"
#include "with_fake.h"

enum { COUNT = 1000, THREADS = 8, ROUNDS = 20, LAUNCHES = 10 };

static cugen *lib[2]; /* handles for cuda:0 and cuda:1, on one cache */
static char folder[] = "/tmp/cugen-devices-XXXXXX";
static struct text database;
static int application_context;
static _Thread_local int launched_on;

/* Runs hazards.cu's kernel: x, y, n, hazard. y gets x plus the device's number. */
static void run_kernel(const struct fake_launch *launch) {
  float *x, *y;
  int n;
  memcpy(&x, launch->parameters[0], sizeof x);
  memcpy(&y, launch->parameters[1], sizeof y);
  memcpy(&n, launch->parameters[2], sizeof n);
  for (int i = 0; i < n; i++) y[i] = x[i] + (float)launch->device;
  launched_on = launch->device;
}

static cugen *open_on(const char *device) {
  return OPEN_LIBRARY(.device = device, .cache = text_get(&database),
                      .worker = "/there/is/no/such/program");
}

FIXTURE(open_libraries) {
  *fake = (struct fake_cuda){.version = 13000, .devices = 2, .run = run_kernel};
  text_clear(&database);
  text_addf(&database, "%s/cache.db", folder);
  lib[0] = open_on("cuda:0");
  lib[1] = open_on("cuda:1");
  return 0;
}

FIXTURE(close_libraries) {
  cugen_close(lib[0]);
  cugen_close(lib[1]);
  unlink(text_get(&database));
  return fake->contexts + fake->current + fake->streams + fake->events + fake->images + fake->memory
             ? -1
             : 0;
}

static cugen_kernel *open_kernel(cugen *from) {
  cugen_kernel *kernel = kernel_of(from, "tests/configs/hazards.lua", NULL, 0);
  fake_keep_images(kernel);
  return kernel;
}

/* ---- Launching ------------------------------------------------------------------------------ */

struct work {
  cugen *lib;
  cugen_plan *plan; /* NULL: a plan of its own, from a kernel of its own */
  float x[COUNT], y[COUNT], first;
  int device, status, wrong;
};

static int launch(struct work *w, cugen_plan *plan) {
  static float weights[4];
  void *arguments[] = {w->x, w->y, weights, NULL, NULL};
  cugen_call *call;
  int status = cugen_call_bind(plan, arguments, 5, &call, NULL);
  for (int i = 0; i < COUNT; i++) w->x[i] = w->first + (float)i;
  for (int i = 0; i < LAUNCHES && !status; i++) status = cugen_call_launch(call, NULL, NULL);
  cugen_call_close(call);
  for (int i = 0; i < COUNT; i++) w->wrong += !(w->y[i] == w->x[i] + (float)w->device);
  w->wrong += launched_on != w->device;
  return status;
}

static int launch_own(struct work *w) {
  CLOSED(cugen_kernel) *kernel;
  CLOSED(cugen_plan) *plan = NULL;
  int status = cugen_kernel_open(w->lib, "tests/configs/hazards.lua", NULL, 0, &kernel, NULL);
  if (!status) status = cugen_plan_open(kernel, NULL, &plan, NULL);
  if (!status) status = launch(w, plan);
  return status;
}

static void *work(void *context) {
  struct work *w = context;
  for (int i = 0; i < ROUNDS && !w->status; i++)
    w->status = w->plan ? launch(w, w->plan) : launch_own(w);
  return NULL;
}

static void run_threads(struct work all[THREADS]) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, &all[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) assert_true(all[i].status == CUGEN_OK && all[i].wrong == 0);
}

static cugen_plan *open_plan(cugen *from) {
  CLOSED(cugen_kernel) *kernel = open_kernel(from);
  return plan_of(kernel, NULL);
}

TEST_WITH(test_two_devices, open_libraries, close_libraries) {
  static struct work works[2];
  cugen_plan *plans[2] = {open_plan(lib[0]), open_plan(lib[1])};
  assert_int_equal(fake->contexts, 2);
  for (int i = 0; i < 2; i++) {
    works[i] = (struct work){.first = 3, .device = i};
    assert_int_equal(launch(&works[i], plans[i]), CUGEN_OK);
    assert_int_equal(works[i].wrong, 0);
  }
  cugen_plan_close(plans[0]);
  assert_int_equal(launch(&works[1], plans[1]), CUGEN_OK);
  assert_int_equal(works[1].wrong, 0);
  cugen_plan_close(plans[1]);
}

TEST_WITH(test_wrong_context, open_libraries, close_libraries) {
  CLOSED(cugen_kernel) *kernel = open_kernel(lib[0]);
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  cugen_tune_options tuning = CUGEN_TUNE_OPTIONS_INIT;
  cugen_plan *plan;
  options.context = tuning.cuda_context = &application_context;
  tuning.flags = CUGEN_TUNE_IN_PROCESS;
  fake->context_device = 1;
  FAILS(cugen_plan_open(kernel, &options, &plan, &err), CUGEN_ERROR_USAGE,
        "the CUDA context is one of cuda:1, the kernel is for cuda:0");
  FAILS(api_kernel_tune(kernel, &tuning, NULL, &err), CUGEN_ERROR_USAGE,
        "the CUDA context is one of cuda:1, the kernel is for cuda:0");
}

/* Eight threads, each with a kernel of its own, four on either device. */
TEST_WITH(test_threads, open_libraries, close_libraries) {
  static struct work all[THREADS];
  cugen_kernel_close(open_kernel(lib[0]));
  cugen_close(lib[0]);
  lib[0] = open_on("cuda:0"); /* the threads are the first to use its cache */
  for (int i = 0; i < THREADS; i++)
    all[i] = (struct work){.lib = lib[i % 2], .device = i % 2, .first = (float)(100 * i)};
  run_threads(all);
}

TEST_WITH(test_shared_plan, open_libraries, close_libraries) {
  static struct work all[THREADS];
  CLOSED(cugen_plan) *plan = open_plan(lib[1]);
  for (int i = 0; i < THREADS; i++)
    all[i] = (struct work){.plan = plan, .device = 1, .first = (float)(100 * i)};
  run_threads(all);
}

/* ---- Tuning in this process ----------------------------------------------------------------- */

static int note_contexts(const cugen_progress *progress, void *context) {
  long *most = context;
  if (fake->contexts > *most) *most = fake->contexts;
  return 0;
}

static cugen_tune_options in_process(long *contexts) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.strategy = "exhaustive";
  options.progress = note_contexts;
  options.context = contexts;
  *contexts = 0;
  return options;
}

/* The record has the driver's answer about a kernel's clusters. The image here is not a cubin,
   which would say their size. */
TEST_WITH(test_tune_clusters, open_libraries, close_libraries) {
  long contexts;
  cugen_tune_options options = in_process(&contexts);
  cugen_record record;
  CLOSED(cugen_kernel) *kernel = open_kernel(lib[0]);
  fake->cluster[0] = 1, fake->cluster[1] = fake->cluster[2] = 1;
  options.budget_count = 1;
  assert_int_equal(api_kernel_tune(kernel, &options, NULL, NULL), CUGEN_OK);
  record = record_at(kernel, 0);
  assert_int_equal(record.active_clusters + record.cluster_blocks, 0);
  fake->cluster[0] = 2;
  options.again = 1;
  assert_int_equal(api_kernel_tune(kernel, &options, NULL, NULL), CUGEN_OK);
  record = record_at(kernel, 0);
  assert_int_equal(record.active_clusters, 64);
}

/* Tuning in a thread uses the primary context if no context is current, and another library's
   handle finds the records. */
TEST_WITH(test_tune, open_libraries, close_libraries) {
  long contexts;
  cugen_tune_options options = in_process(&contexts);
  cugen_tune_result result;
  cugen_kernel *kernel = open_kernel(lib[0]);
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.tried, 2);
  assert_int_equal(contexts, 1);
  cugen_kernel_close(kernel);
  CLOSED(cugen_plan) *plan = open_plan(lib[1]);
  assert_int_equal(cugen_plan_about(plan)->choice, CUGEN_PLAN_EXACT);
}

TEST_WITH(test_tune_in_context, open_libraries, close_libraries) {
  long contexts;
  cugen_tune_options options = in_process(&contexts);
  CLOSED(cugen_kernel) *kernel = open_kernel(lib[1]);
  fake->context_device = 1;
  options.cuda_context = &application_context;
  assert_int_equal(api_kernel_tune(kernel, &options, NULL, NULL), CUGEN_OK);
  assert_int_equal(contexts, 0);
  options.cuda_context = NULL, options.again = 1;
  fake->application_context = &application_context; /* the current one */
  assert_int_equal(api_kernel_tune(kernel, &options, NULL, NULL), CUGEN_OK);
  assert_int_equal(contexts, 0);
}

static void break_by_narrow(const struct fake_launch *launch) {
  run_kernel(launch);
  /* CUDA_ERROR_LAUNCH_FAILED */
  if (launch->block[0] == 32) __atomic_store_n(&fake->broken, 719, __ATOMIC_RELAXED);
}

TEST_WITH(test_tune_breaks, open_libraries, close_libraries) {
  long contexts;
  cugen_tune_options options = in_process(&contexts);
  cugen_record record;
  CLOSED(cugen_kernel) *kernel = open_kernel(lib[0]);
  fake->run = break_by_narrow;
  FAILS(api_kernel_tune(kernel, &options, NULL, &err), CUGEN_ERROR_DEVICE,
        "tuning in this process ended at 'one threads=32'", "the CUDA context is broken");
  fake->broken = 0;
  assert_int_equal(record_count(kernel), 2);
  record = record_at(kernel, 0);
  assert_string_equal(record.variant, "one threads=64");
  assert_int_equal(record.outcome, CUGEN_OUTCOME_OK);
  record = record_at(kernel, 1);
  assert_int_equal(record.outcome, CUGEN_OUTCOME_TRAP);
  assert_non_null(strstr(record.reason, "719"));
}

int main(void) {
  if (find_fake(NULL) || !mkdtemp(folder)) return 1;
  int failed = tests_run();
  rmdir(folder);
  text_free(&database);
  return failed;
}
