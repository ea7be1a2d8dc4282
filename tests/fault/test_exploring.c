/* Plans that explore while they serve, over the fake driver: what is launched, how often, and
   which variant serves in the end. By the records, whose times are made up, the first variant is
   the fastest; by the application's launches another one is. */

#include <cuda.h>
#include <pthread.h>
#include <stdatomic.h>

#include "api/api.h"
#include "api/tuning.h"
#include "base/hash.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "runtime/cuda/driver.h"
#include "tests/opening.h"

enum { N = 4096, VARIANTS = 4, LAUNCHES = 6000 };

/* The variants, known by their grid. */
static const struct {
  const char *variant;
  unsigned grid;
  double recorded; /* microseconds */
} all[VARIANTS] = {{"wild BLOCK_SIZE=128 ITEMS=1", 32, 10},
                   {"wild BLOCK_SIZE=128 ITEMS=4", 8, 11},
                   {"wild BLOCK_SIZE=256 ITEMS=1", 16, 12},
                   {"wild BLOCK_SIZE=256 ITEMS=4", 4, 30}};
/* Times in the application; in `tied` the first and the third differ by a tenth of a percent. */
static const double usual[VARIANTS] = {13, 14, 11, 5}, tied[VARIANTS] = {13, 14, 12.99, 5},
                    *served = usual;

/* last: variant that was launched last; timed: variant launched before the last event */
static atomic_size_t launched[VARIANTS], last, timed;
static atomic_uint_fast64_t noise;
static double spread; /* spread of the times */
static float *data[3];

FIXTURE(make_data) {
  for (size_t i = 0; i < 3; i++)
    if (posix_memalign((void **)&data[i], 512, (N + 1) * sizeof **data)) return -1;
  return find_fake(state);
}

static void run_kernel(const struct fake_launch *launch) {
  for (size_t i = 0; i < VARIANTS && !fake_is_reference(launch); i++)
    if (all[i].grid == launch->grid[0]) {
      last = i;
      launched[i]++;
    }
  fake_run_wild(launch);
}

/* The time is log-normal. */
static float elapsed(void) {
  uint64_t seed = noise++ * 0x9e3779b97f4a7c15u;
  const double random = (double)(random_next(&seed) >> 11) * 0x1p-53;
  return (float)(1e-3 * served[timed] * (1 + spread * (2 * random - 1)));
}

static void recorded(void) {
  const size_t before = last;
  timed = before;
}

static bool never(void) {
  return true;
}

struct fixture {
  cugen *lib;
  cugen_kernel *kernel;
};

/* Measures all four variants, then stores the times of the table. */
static void remember_all(struct fixture *f) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  struct cache *cache;
  struct cache_record *records;
  size_t count;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.budget_seconds = -1;
  options.threads = 1; /* the fake NVRTC counts its calls */
  WORKS(api_kernel_tune(f->kernel, &options, NULL, &err));
  const struct cache_key key = lookup_measured_key(&f->kernel->lookup);
  WORKS(api_cache(f->lib, &cache, &err));
  WORKS(cache_load(cache, &key, &records, &count, &err));
  assert_int_equal(count, VARIANTS);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < VARIANTS; k++)
      if (strcmp(records[i].variant, all[k].variant) == 0)
        records[i].seconds = 1e-6 * all[k].recorded;
    WORKS(cache_store(cache, &key, &records[i], &err));
    cache_record_free(&records[i]);
  }
  free(records);
}

static int set_up(void **state) {
  static struct fixture f;
  static const char size[] = "n=4096", *const settings[] = {size};
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = run_kernel};
  f.lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none",
                       .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"), .worker = "none");
  f.kernel = kernel_of(f.lib, "tests/configs/wild.lua", settings, 1);
  remember_all(&f);
  fake->elapsed = elapsed;
  fake->recorded = recorded;
  noise = 7;
  spread = 0.05;
  served = usual;
  *state = &f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  cugen_kernel_close(f->kernel);
  cugen_close(f->lib);
  assert_int_equal(fake->events, 0);
  assert_int_equal(fake->images, 0);
  return 0;
}

static cugen_plan *open_plan(struct fixture *f, unsigned flags, double share) {
  cugen_plan *plan = OPEN_PLAN(f->kernel, .flags = flags, .explore_share = share);
  for (size_t i = 0; i < VARIANTS; i++) launched[i] = 0;
  return plan;
}

static cugen_call *bind(cugen_plan *plan, size_t shift, int *n) {
  float alpha = 2;
  void *arguments[] = {data[0] + shift, data[1], data[2], &alpha, n};
  cugen_call *call = call_of(plan, arguments, 5);
  return call;
}

static void launch(cugen_call *call, size_t count) {
  for (size_t i = 0; i < count; i++) WORKS(cugen_call_launch(call, NULL, &err));
}

static cugen_plan_exploration explored(const cugen_plan *plan) {
  cugen_plan_exploration out;
  assert_int_equal(cugen_plan_explored(plan, &out, NULL), CUGEN_OK);
  return out;
}

/* A variant that is more than twice as slow by its record is not explored, however fast it is
   here. */
TEST_WITH(the_fastest_here_serves_in_the_end, set_up, tear_down) {
  CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.1);
  CLOSED(cugen_call) *call = bind(plan, 0, NULL);
  assert_string_equal(cugen_plan_about(plan)->variant, all[0].variant);
  assert_int_equal(explored(plan).variants, 3);
  for (size_t i = 1; i <= LAUNCHES; i++) {
    launch(call, 1);
    /* each launch of the call is one launch */
    assert_int_equal(launched[0] + launched[1] + launched[2], i);
    const cugen_plan_exploration now = explored(plan);
    assert_true((double)now.explored <= 0.1 * (double)i);
    if (!now.settled && strcmp(now.variant, all[0].variant) == 0)
      assert_int_equal(launched[1] + launched[2], now.explored);
  }
  const cugen_plan_exploration end = explored(plan);
  assert_true(end.settled);
  assert_string_equal(end.variant, all[2].variant);
  assert_true(end.explored <= 2 * 24);
  assert_int_equal(launched[3], 0);
  assert_true(launched[2] > LAUNCHES / 2);
}

/* Launches until it is settled that the winner serves. */
static void serve(struct fixture *f, size_t winner) {
  CLOSED(cugen_plan) *plan = open_plan(f, CUGEN_PLAN_EXPLORE, 0.5);
  CLOSED(cugen_call) *call = bind(plan, 0, NULL);
  launch(call, LAUNCHES);
  const cugen_plan_exploration end = explored(plan);
  assert_true(end.settled);
  assert_string_equal(end.variant, all[winner].variant);
}

TEST_WITH(the_next_plan_begins_with_it, set_up, tear_down) {
  serve(*state, 2);
  cugen_plan *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0);
  const cugen_plan_info *info = cugen_plan_about(plan);
  assert_string_equal(info->variant, all[2].variant);
  assert_int_equal(info->choice, CUGEN_PLAN_EXACT);
  assert_true(info->seconds > 10e-6 && info->seconds < 12e-6);
  assert_int_equal(explored(plan).variants, 1);
  assert_true(explored(plan).settled);
  cugen_plan_close(plan);
  plan = open_plan(*state, 0, 0); /* a plan without exploring has the tuned variant */
  assert_string_equal(cugen_plan_about(plan)->variant, all[0].variant);
  assert_int_equal(explored(plan).variants, 1);
  cugen_plan_close(plan);
}

/* A variant that is faster by less than the margin of a tie is no reason to change. */
TEST_WITH(nothing_changes_without_a_verdict, set_up, tear_down) {
  served = tied;
  serve(*state, 0);
}

/* Expects only the plan's own variant, and no event. */
static void assert_own_alone(cugen_plan *plan, cugen_call *call) {
  launch(call, 200);
  assert_int_equal(launched[0], 200);
  assert_int_equal(explored(plan).explored, 0);
}

TEST_WITH(what_was_not_verified_so_is_not_explored, set_up, tear_down) {
  CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.5);
  int fewer = N - 32, same = N;
  CLOSED(cugen_call) *shifted = bind(plan, 1, NULL), *smaller = bind(plan, 0, &fewer);
  assert_own_alone(plan, shifted);
  launched[0] = 0;
  assert_own_alone(plan, smaller);
  CLOSED(cugen_call) *aligned = bind(plan, 0, &same);
  launch(aligned, 100);
  assert_true(explored(plan).explored > 0);
}

/* A graph captures the variant that serves, and continues with it. */
TEST_WITH(a_captured_stream_is_left_alone, set_up, tear_down) {
  CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.5);
  CLOSED(cugen_call) *call = bind(plan, 0, NULL);
  CUgraph graph;
  struct fixture *f = *state;
  const struct driver *driver;
  assert_int_equal(driver_open(f->lib->toolkit, &driver, NULL), CUGEN_OK);
  assert_int_equal(driver->capture_begin(NULL, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_SUCCESS);
  launch(call, 200);
  assert_int_equal(driver->capture_end(NULL, &graph), CUDA_SUCCESS);
  assert_int_equal(explored(plan).explored, 0);
  assert_int_equal(fake->captured, 200);
  driver->graph_destroy(graph);
  launch(call, 100);
  assert_true(explored(plan).explored > 0);
}

/* The plan never waits for a launch that does not end. */
TEST_WITH(nothing_is_waited_for, set_up, tear_down) {
  CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.5);
  CLOSED(cugen_call) *call = bind(plan, 0, NULL);
  fake->pending = never;
  launch(call, 1000);
  assert_true(explored(plan).explored <= 1);
  fake->pending = NULL;
  launch(call, LAUNCHES);
  assert_true(explored(plan).settled);
}

/* An application's variables are those of the plan's own variant, so asking for them ends the
   exploration. */
TEST_WITH(who_asks_for_variables_ends_it, set_up, tear_down) {
  CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.5);
  CLOSED(cugen_call) *call = bind(plan, 0, NULL);
  cugen_plan_symbol(plan, "none", NULL, NULL, NULL);
  assert_own_alone(plan, call);
  assert_true(explored(plan).settled);
}

/* An alternative that cannot be launched is left out; the plan's own variant is launched
   instead. */
TEST_WITH(what_cannot_be_launched_is_left_out, set_up, tear_down) {
  CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.5);
  CLOSED(cugen_call) *call = bind(plan, 0, NULL);
  launch(call, 1); /* the own variant is timed first */
  fake->fail_only = "cuLaunchKernel";
  fake->fail_with = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  fake->fail_at = fake->calls + 1; /* the next launch is of an alternative */
  launch(call, 1);
  fake->fail_at = 0, fake->fail_only = NULL;
  assert_int_equal(launched[0], 2);
  launch(call, LAUNCHES);
  assert_true(explored(plan).settled);
}

/* A failure of the timing does not fail the launch. */
TEST_WITH(a_clock_that_fails_fails_no_launch, set_up, tear_down) {
  static const char *const functions[] = {"cuEventRecord", "cuEventQuery", "cuEventElapsedTime",
                                          "cuStreamIsCapturing"};
  spread = 0.5;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    for (long at = 1; at <= 3; at++) {
      CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.5);
      CLOSED(cugen_call) *call = bind(plan, 0, NULL);
      fake->failed_call = NULL;
      fake->fail_only = functions[i];
      fake->fail_with = CUDA_ERROR_UNKNOWN;
      fake->fail_at = fake->calls + at;
      launch(call, 30);
      fake->fail_at = 0, fake->fail_only = NULL;
      assert_string_equal(fake->failed_call, functions[i]);
      assert_int_equal(launched[0] + launched[1] + launched[2], 30);
      assert_true(explored(plan).explored > 0);
      assert_false(explored(plan).settled); /* the next plan begins anew */
    }
}

/* Launches from several threads, each with its own call. The times are those of any thread; only
   the share is tested. */
static void *launch_many(void *call) {
  cugen_error err;
  int status = CUGEN_OK;
  for (int i = 0; i < LAUNCHES && !status; i++) status = cugen_call_launch(call, NULL, &err);
  return (void *)(uintptr_t)(status != CUGEN_OK); /* NOLINT(performance-no-int-to-ptr) */
}

TEST_WITH(threads_share_one_race, set_up, tear_down) {
  enum { THREADS = 4 };
  CLOSED(cugen_plan) *plan = open_plan(*state, CUGEN_PLAN_EXPLORE, 0.1);
  pthread_t threads[THREADS];
  cugen_call *calls[THREADS];
  float *outs[THREADS];
  for (size_t i = 0; i < THREADS; i++) {
    assert_int_equal(posix_memalign((void **)&outs[i], 512, N * sizeof **outs), 0);
    void *arguments[] = {outs[i], data[1], data[2], NULL, NULL};
    calls[i] = call_of(plan, arguments, 5);
  }
  for (size_t i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, launch_many, calls[i]), 0);
  for (size_t i = 0; i < THREADS; i++) {
    void *failed;
    assert_int_equal(pthread_join(threads[i], &failed), 0);
    assert_null(failed);
    cugen_call_close(calls[i]);
    free(outs[i]);
  }
  const cugen_plan_exploration end = explored(plan);
  assert_true(end.settled);
  assert_true((double)end.explored <= 0.1 * (double)end.launches);
  assert_int_equal(launched[0] + launched[1] + launched[2], THREADS * LAUNCHES);
}

TEST_WITH(wrong_options_are_refused, set_up, tear_down) {
  struct fixture *f = *state;
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  cugen_plan *plan;
  options.flags = CUGEN_PLAN_EXPLORE;
  options.explore_share = 0.6;
  FAILS(cugen_plan_open(f->kernel, &options, &plan, &err), CUGEN_ERROR_USAGE);
  options.explore_share = 0;
  options.choice = "x", options.choice_size = 1;
  FAILS(cugen_plan_open(f->kernel, &options, &plan, &err), CUGEN_ERROR_USAGE, "CUGEN_PLAN_EXPLORE");
}

/* A later record is not of the best variant, but of one that may have become the best. */
TEST_WITH(what_was_tuned_later_is_explored_again, set_up, tear_down) {
  struct fixture *f = *state;
  struct cache *cache;
  struct cache_record *records;
  size_t count;
  cugen_error err;
  serve(f, 2);
  cugen_plan *plan = open_plan(f, CUGEN_PLAN_EXPLORE, 0.5);
  assert_int_equal(explored(plan).variants, 1);
  cugen_plan_close(plan);
  const struct cache_key key = lookup_measured_key(&f->kernel->lookup);
  assert_int_equal(api_cache(f->lib, &cache, &err), CUGEN_OK);
  assert_int_equal(cache_load(cache, &key, &records, &count, &err), CUGEN_OK);
  for (size_t i = 0; i < count; i++) {
    records[i].measured_at += 3600;
    if (strcmp(records[i].variant, all[1].variant) == 0)
      assert_int_equal(cache_store(cache, &key, &records[i], &err), CUGEN_OK);
    cache_record_free(&records[i]);
  }
  free(records);
  plan = open_plan(f, CUGEN_PLAN_EXPLORE, 0.5);
  assert_string_equal(cugen_plan_about(plan)->variant, all[0].variant);
  assert_int_equal(explored(plan).variants, 3);
  cugen_plan_close(plan);
}

ALL_TESTS_WITH(make_data, NULL);
