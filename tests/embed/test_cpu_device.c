/* Plans on the cpu device, which run in this process: right results for any problem, several
   plans and threads at once, and kernels that trap or deadlock, which give an error after which
   the program can continue. */
#include "tests/opening.h"

#include <cugen.h>
#include <dirent.h>
#include <pthread.h>
#include <signal.h>

enum { COUNT = 1000, THREADS = 8, ROUNDS = 1000 };

CPU_LIBRARY;

static cugen_plan *open_plan(const char *config, const char *const *settings, size_t count) {
  cugen_plan *plan;
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, config, settings, count);
  plan = plan_of(kernel, NULL);
  return plan;
}

static cugen_plan *open_hazards(void) {
  return open_plan("tests/configs/hazards.lua", NULL, 0);
}

static int open_descriptors(void) {
  int count = 0;
  DIR *folder = opendir("/proc/self/fd");
  while (folder && readdir(folder)) count++;
  if (folder) closedir(folder);
  return count;
}

/* ---- Results -------------------------------------------------------------------------------- */

struct work {
  cugen_plan *plan;
  float x[COUNT], y[COUNT], first; /* first: x[0]; the other elements count up from it */
  int wrong, status;
};

static float weights[4] = {1, 2, 3, 4};

static int bind(struct work *w, int hazard, cugen_call **call, cugen_error *err) {
  void *arguments[] = {w->x, w->y, weights, NULL, &hazard};
  for (int i = 0; i < COUNT; i++) w->x[i] = w->first + (float)i;
  memset(w->y, 0xff, sizeof w->y);
  return cugen_call_bind(w->plan, arguments, 5, call, err);
}

static int count_wrong(const struct work *w) {
  int wrong = 0;
  for (int i = 0; i < COUNT; i++) wrong += !(w->y[i] == weights[i % 4] * w->x[i]);
  return wrong;
}

static int run(struct work *w, int hazard, cugen_error *err) {
  CLOSED(cugen_call) *call;
  int status = bind(w, hazard, &call, err);
  if (!status) status = cugen_call_launch(call, NULL, err);
  return status;
}

static void must_be_right(struct work *w) {
  WORKS(run(w, 0, &err));
  assert_int_equal(count_wrong(w), 0);
}

/* The problem is that of the handle, not the check problem: matmul's has M = 131. */
TEST_WITH(test_matmul, open_library, close_library) {
  enum { M = 33, N = 20, K = 7 };
  static const char *const sizes[] = {"M=33", "N=20", "K=7"};
  static float a[M * K], b[K * N], c[M * N];
  for (int i = 0; i < M * K; i++) a[i] = (float)(i % 11);
  for (int i = 0; i < K * N; i++) b[i] = (float)(i % 13);
  CLOSED(cugen_plan) *plan = open_plan("matmul", sizes, 3);
  const cugen_plan_info *info = cugen_plan_about(plan);
  assert_non_null(strstr(info->problem, "M=33 N=20 K=7"));
  assert_int_equal(info->choice, CUGEN_PLAN_DEFAULT);
  void *arguments[6] = {a, b, c};
  CLOSED(cugen_call) *call = call_of(plan, arguments, 6);
  WORKS(cugen_call_launch(call, NULL, &err));
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += a[i * K + k] * b[k * N + j];
      assert_true(c[i * N + j] == sum);
    }
}

/* Two plans that are loaded at once have code and variables of their own. */
TEST_WITH(test_two_plans, open_library, close_library) {
  int before = open_descriptors();
  struct work work[2] = {{.plan = open_hazards(), .first = 1},
                         {.plan = open_hazards(), .first = 5}};
  cugen_plan *other = open_plan("tests/configs/wild.lua", (const char *const[]){"n=1000"}, 1);
  static float out[COUNT], ones[COUNT];
  for (int i = 0; i < COUNT; i++) ones[i] = 1;
  void *arguments[] = {out, ones, ones, NULL, NULL};
  must_be_right(&work[0]);
  cugen_call *call = call_of(other, arguments, 5);
  assert_int_equal(cugen_call_launch(call, NULL, NULL), CUGEN_OK);
  for (int i = 0; i < COUNT; i++) assert_true(out[i] == 3.5f);
  must_be_right(&work[1]);
  cugen_plan_close(work[0].plan);
  must_be_right(&work[1]);
  cugen_call_close(call);
  cugen_plan_close(other);
  cugen_plan_close(work[1].plan);
  assert_int_equal(open_descriptors(), before);
}

/* ---- Threads -------------------------------------------------------------------------------- */

static void *work_along(void *context) {
  struct work *w = context;
  for (int i = 0; i < ROUNDS && !w->status; i++) {
    w->status = run(w, 0, NULL);
    w->wrong += count_wrong(w);
  }
  return NULL;
}

TEST_WITH(test_threads, open_library, close_library) {
  static struct work work[THREADS];
  pthread_t threads[THREADS];
  CLOSED(cugen_plan) *plan = open_hazards();
  for (int i = 0; i < THREADS; i++) {
    work[i] = (struct work){.plan = plan, .first = (float)(100 * i)};
    assert_int_equal(pthread_create(&threads[i], NULL, work_along, &work[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) assert_true(work[i].status == CUGEN_OK && work[i].wrong == 0);
}

/* ---- Faults --------------------------------------------------------------------------------- */

TEST_WITH(test_faults, open_library, close_library) {
  struct work work = {.plan = open_hazards()};
  struct sigaction before[2], after[2]; /* the handlers that cmocka installed */
  assert_int_equal(sigaction(SIGSEGV, NULL, &before[0]) + sigaction(SIGABRT, NULL, &before[1]), 0);
  for (int round = 0; round < 3; round++) {
    FAILS(run(&work, 1, &err), CUGEN_ERROR_DEVICE, "in block (1,0,0) thread (6,0,0)");
    must_be_right(&work);
    FAILS(run(&work, 2, &err), CUGEN_ERROR_DEVICE, "deadlock: in block (0,0,0) thread (16,0,0)");
    must_be_right(&work);
  }
  assert_int_equal(sigaction(SIGSEGV, NULL, &after[0]) + sigaction(SIGABRT, NULL, &after[1]), 0);
  assert_ptr_equal(after[0].sa_handler, before[0].sa_handler);
  assert_ptr_equal(after[1].sa_handler, before[1].sa_handler);
  cugen_plan_close(work.plan);
}

TEST_WITH(test_refusals, open_library, close_library) {
  static int anything;
  struct work work = {.plan = open_hazards()};
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  CLOSED(cugen_plan) *plan;
  cugen_call *call;
  assert_int_equal(bind(&work, 0, &call, NULL), CUGEN_OK);
  FAILS_WITH(cugen_call_launch(call, &anything, &err), CUGEN_ERROR_USAGE,
             "the cpu device has no streams: pass NULL; work has ended on return");
  cugen_call_close(call);
  cugen_plan_close(work.plan);
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "tests/configs/hazards.lua", NULL, 0);
  options.context = &anything;
  FAILS_WITH(cugen_plan_open(kernel, &options, &plan, &err), CUGEN_ERROR_USAGE,
             "a context was given, and this kernel is for the cpu device, which has none");
  options.context = NULL;
  options.flags = CUGEN_PLAN_PRIMARY;
  plan = plan_of(kernel, &options);
}

/* A kernel whose parameters differ from what would be passed never runs. */
TEST_WITH(test_parameters, open_library, close_library) {
  static const char config[] =
      "kernel 'few' { problem 'n' (10), check { n = 3 }, output 'y' { dtype = 'f32', shape = { 'n' "
      "} },\n"
      "  input 'x' { dtype = 'f32', shape = { 'n' } }, reference 'none',\n"
      "  implementation 'few' { template 'few.cu', grid { '1' }, block { '32' } } }\n";
  static const char *const templates[] = {
      "#define LIST float *y\n__global__ void few(LIST) { y[0] = 1; }",
      "typedef int number;\n__global__ void few(float *y, number x) { y[0] = x; }"};
  static const char *const said[] = {
      "kernel 'few' takes 1 parameters but is passed 2 (y, x)",
      "few.lua:2: argument 'x' has 8 bytes, but its parameter in kernel 'few' of few.cu:2 has 4"};
  static float memory[10];
  void *arguments[] = {memory, memory};
  hold_file(lib, "few.lua", config);
  for (int i = 0; i < 2; i++) {
    cugen_call *call;
    hold_file(lib, "few.cu", templates[i]);
    CLOSED(cugen_plan) *plan = open_plan("few.lua", NULL, 0);
    FAILS(cugen_call_bind(plan, arguments, 2, &call, &err), CUGEN_ERROR_CONFIG, said[i]);
  }
}
