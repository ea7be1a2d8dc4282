/* The public path from cugen_open to a launch while memory runs out, at one allocation after the
   other, Lua's and SQLite's among them: CUGEN_ERROR_MEMORY or success, nothing stays behind, and
   the same call then works. Over the fake driver, with images from the cache. */
#include <dlfcn.h>
#include <unistd.h>

#include "api/api.h"
#include "api/kernel.h"
#include "api/records.h"
#include "api/source.h"
#include "base/system.h"
#include "failing_memory.h"
#include "find_fake.h"
#include "tests/testing.h"

#if SANITIZED
SKIP_ALL_TESTS("sanitizers bring their own malloc");
#endif

/* ---- The path ------------------------------------------------------------------------------- */

static struct text folder, database;

struct path {
  const char *config, *const *settings;
  size_t count, arguments;
  cugen *lib;
  cugen_kernel *kernel;
  cugen_plan *plan;
  cugen_call *call;
  char place[64]; /* place of every argument's value */
};

static int open_library(struct path *p, cugen_error *err) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  options.device = "cuda:0";
  options.cache = text_get(&database);
  options.toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"); /* the real NVRTC keeps memory of its own */
  return cugen_open(&options, &p->lib, err);
}

static int open_kernel(struct path *p, cugen_error *err) {
  return cugen_kernel_open(p->lib, p->config, p->settings, p->count, &p->kernel, err);
}

static int look_at_space(struct path *p, cugen_error *err) {
  cugen_space_info space;
  cugen_argument_info argument;
  const char *variant;
  int status = api_kernel_space(p->kernel, &space, err);
  if (!status) status = api_kernel_variant(p->kernel, 1, &variant, err);
  if (!status) status = cugen_kernel_argument(p->kernel, 0, &argument, err);
  return status;
}

static int expand(struct path *p, cugen_error *err) {
  const char *source, *name;
  const cugen_launch_info *launches;
  size_t count;
  int status = cugen_kernel_source(p->kernel, NULL, &source, &name, err);
  if (!status) status = api_kernel_complete(p->kernel, NULL, err);
  return status ? status : api_kernel_launches(p->kernel, NULL, &launches, &count, &name, err);
}

static int read_records(struct path *p, cugen_error *err) {
  return api_load_records(p->kernel, err);
}

static int open_plan(struct path *p, cugen_error *err) {
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  return cugen_plan_open(p->kernel, &options, &p->plan, err);
}

/* Finds the plan for arrays of the kernel's own problem, which belongs to the kernel. */
static int find_plan(struct path *p, cugen_error *err) {
  cugen_array arrays[16] = {{0}};
  cugen_plan *plan;
  for (size_t i = 0; i < p->arguments; i++) {
    cugen_argument_info info;
    int status = cugen_kernel_argument(p->kernel, i, &info, err);
    if (status) return status;
    if (info.kind == CUGEN_ARGUMENT_SCALAR) continue;
    arrays[i].rank = info.rank;
    memcpy(arrays[i].shape, info.shape, sizeof info.shape);
    memcpy(arrays[i].stride, info.stride, sizeof info.stride);
  }
  return cugen_plan_for(p->kernel, arrays, p->arguments, NULL, &plan, err);
}

static int launch(struct path *p, cugen_error *err) {
  void *arguments[16];
  for (size_t i = 0; i < p->arguments; i++) {
    cugen_argument_info info;
    int status = cugen_plan_argument(p->plan, i, &info, err);
    if (status) return status;
    arguments[i] = info.kind == CUGEN_ARGUMENT_SCALAR ? NULL : p->place;
  }
  int status = cugen_call_bind(p->plan, arguments, p->arguments, &p->call, err);
  return status ? status : cugen_call_launch(p->call, NULL, err);
}

static int (*const steps[])(struct path *, cugen_error *) = {
    open_library, open_kernel, look_at_space, expand, read_records, open_plan, find_plan, launch};
enum { STEPS = sizeof steps / sizeof *steps };

static void close_path(struct path *p) {
  cugen_call_close(p->call);
  cugen_plan_close(p->plan);
  cugen_kernel_close(p->kernel);
  cugen_close(p->lib);
  p->call = NULL, p->plan = NULL, p->kernel = NULL, p->lib = NULL;
  assert_int_equal(fake->contexts + fake->current + fake->streams + fake->events + fake->images +
                       fake->memory,
                   0);
}

/* Takes the steps up to `faulty`, in which allocation n fails. That step is repeated, and the
   remaining steps follow. */
static int fail_in(struct path *p, size_t faulty, long n, bool for_good, cugen_error *err) {
  cugen_error again;
  int result = CUGEN_OK;
  for (size_t i = 0; i < STEPS; i++) {
    if (i == faulty) {
      heap.failed = false;
      heap.for_good = for_good;
      heap.left = n;
      result = steps[i](p, err);
      heap.left = -1;
      if (!result) continue;
    }
    if (steps[i](p, &again))
      fail_msg("step %zu, after its allocation %ld had failed: %s", i, n, again.message);
  }
  close_path(p);
  return result;
}

/* Returns the next allocation to fail: each one at first, then fewer, because a step makes
   thousands. */
static long next(long n) {
  return n + 1 + (n > 100 ? n / 15 : 0);
}

/* A message about a missing library is kept unless there was no memory for it. It is told once
   and then freed. */
static long held_now(void) {
  dlerror();
  dlerror();
  return heap.held;
}

static void fail_each(struct path *p, size_t step, bool for_good) {
  long failures = 0, tries = 0;
  for (long n = 0;; n = next(n)) {
    cugen_error err = {0};
    const long before = held_now();
    int status = fail_in(p, step, n, for_good, n % 2 ? &err : NULL);
    assert_int_equal(held_now(), before);
    if (!heap.failed) break;
    if (status && status != CUGEN_ERROR_MEMORY)
      fail_msg("step %zu, allocation %ld: %d: %s", step, n, status, err.message);
    if (status && n % 2 && !strstr(err.message, "memory"))
      fail_msg("step %zu, allocation %ld: %s", step, n, err.message);
    failures += status != CUGEN_OK;
    tries++;
  }
  /* Lua and SQLite may survive a single failure, and a warning may lack its text. */
  if (tries > 3 && failures * 4 < tries)
    fail_msg("step %zu: %ld of %ld failures were noticed", step, failures, tries);
}

/* ---- Images and a record, so that nothing is compiled --------------------------------------- */

static void remember_first(struct path *p) {
  char name[] = "kernel", empty[] = "";
  struct compiled image = {
      .image = name, .image_length = 6, .entry_count = 1, .entries = {name}, .log = empty};
  FREED(kernel_spec) spec;
  struct cache *cache;
  FREED(text) key = {0};
  struct lookup *l = &p->kernel->lookup;
  assert_int_equal(lookup_space(l, NULL), CUGEN_OK);
  assert_int_equal(lookup_expander(l, NULL), CUGEN_OK);
  assert_int_equal(api_cache(p->lib, &cache, NULL), CUGEN_OK);
  assert_int_equal(lookup_expand(l, 0, &spec, NULL), 0);
  assert_int_equal(
      cache_image_key(&spec, l->arch, text_get(&l->options), l->nvrtc_version, &key, NULL), 0);
  assert_int_equal(cache_image_store(cache, text_get(&key), &image, NULL), CUGEN_OK);
  struct cache_record record = {
      .variant = spec.variant, .reason = empty, .seconds = 1e-3, .samples = 3};
  const struct cache_key place = lookup_measured_key(l);
  cache_record_take_hashes(&record, &spec);
  assert_int_equal(cache_store(cache, &place, &record, NULL), CUGEN_OK);
}

/* modes: 1: each allocation fails once; 2: those after it fail, too. */
static void fail_everywhere(const char *config, const char *const *settings, size_t count,
                            size_t arguments, int modes) {
  struct path path = {
      .config = config, .settings = settings, .count = count, .arguments = arguments};
  cugen_error err;
  if (open_library(&path, &err) || open_kernel(&path, &err)) fail_msg("%s", err.message);
  remember_first(&path);
  close_path(&path);
  /* what a process makes once exists now */
  assert_int_equal(fail_in(&path, STEPS, 0, false, &err), CUGEN_OK);
  for (size_t step = 0; step < STEPS; step++)
    for (int for_good = 0; for_good < modes; for_good++) fail_each(&path, step, for_good);
}

TEST(a_shipped_config) {
  static const char *const settings[] = {"rows=3", "cols=2111"};
  fail_everywhere("reduce", settings, 2, 6, 1);
}

TEST(a_config_of_the_users) {
  static const char *const settings[] = {"n=1000"};
  fail_everywhere("tests/configs/wild.lua", settings, 1, 5, 2);
}

FIXTURE(set_up) {
  if (find_fake(state) || folder_temporary(&folder, NULL)) return -1;
  *fake = (struct fake_cuda){.version = 13000, .devices = 1};
  text_addf(&database, "%s/cache.db", text_get(&folder));
  return 0;
}

FIXTURE(tear_down) {
  int status = folder_remove(text_get(&folder));
  text_free(&folder);
  text_free(&database);
  return status;
}

ALL_TESTS_WITH(set_up, tear_down);
