/* Expands a variant and a reference while memory runs out, at each allocation in turn: the
   status says so, nothing crashes, everything is freed, and the same expander works once there
   is memory again. */
#include "failing_memory.h"
#include "gen/template/expand.h"
#include "tests/testing.h"

#if SANITIZED
SKIP_ALL_TESTS("sanitizers bring their own malloc");
#endif

/* ---- What is expanded ----------------------------------------------------------------------- */

static const struct device_facts facts = {.compute_capability = 90,
                                          .sm_count = 132,
                                          .warp_size = 32,
                                          .max_threads_per_block = 1024,
                                          .registers_per_sm = 65536,
                                          .shared_per_block = 49152,
                                          .shared_per_sm = 233472,
                                          .pitch_alignment = 512,
                                          .is_gpu = 1};

struct bench {
  struct sources sources;
  struct config *config;
  struct problem problem;
  struct space *space;
  struct value values[32];
  struct variant variant;
};

static void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

static void open_bench(struct bench *bench, const char *config, const char *setting,
                       const char *variant) {
  uint64_t index;
  WORKS(config_open(&bench->sources, config, &bench->config, &err));
  WORKS(problem_set(bench->config, &setting, 1, false, &bench->problem, &err));
  WORKS(space_open(bench->config, &bench->problem, &facts, &bench->space, &err));
  WORKS(space_find(bench->space, variant, &index, &err));
  assert_true(space_max_tunables(bench->space) <= 32);
  space_variant(bench->space, index, &bench->variant, bench->values);
}

static void close_bench(struct bench *bench) {
  space_close(bench->space);
  problem_free(&bench->problem);
  config_close(bench->config);
}

/* Sizes are known at launch, so that strides are expressions; the template has includes and Lua
   lines. */
static int set_up(void **state) {
  static struct bench bench;
  open_bench(&bench, "configs/matmul.lua", "pitched=true", "blocked");
  *state = &bench;
  return 0;
}

static int tear_down(void **state) {
  close_bench(*state);
  return 0;
}

enum what { VARIANT, REFERENCE, VERIFY };

static int expand(const struct bench *bench, struct expander *expander, enum what what,
                  struct kernel_spec *spec, cugen_error *err) {
  const struct config *config = bench->config;
  if (what == REFERENCE)
    return expand_reference(expander, config, &bench->problem, &facts, &bench->variant, 0, spec,
                            err);
  if (what == VERIFY)
    return expand_verify(expander, config, &bench->problem, &facts, &bench->variant, spec, err);
  return expand_variant(expander, config, &bench->problem, &facts, &bench->variant, spec, err);
}

/* Opens an expander, uses and closes it. Returns the status of the first step that fails. */
static int use_expander(const struct bench *bench, enum what what, cugen_error *err) {
  struct expander *expander;
  struct kernel_spec spec;
  int status = expander_open(&bench->sources, &expander, err);
  if (status) {
    assert_null(expander);
    return status;
  }
  status = expand(bench, expander, what, &spec, err);
  if (status) {
    assert_null(spec.source);
    heap.left = -1;
    cugen_error again;
    check(expand(bench, expander, what, &spec, &again), &again);
  }
  kernel_spec_free(&spec);
  expander_close(expander);
  return status;
}

static void fail_each(const struct bench *bench, enum what what, bool for_good) {
  long failures = 0;
  for (long n = 0;; n++) {
    cugen_error err = {0};
    long before = heap.held;
    heap.failed = false;
    heap.for_good = for_good;
    heap.left = n;
    int status = use_expander(bench, what, &err);
    heap.left = -1;
    assert_int_equal(heap.held, before);
    if (status) assert_int_equal(status, CUGEN_ERROR_MEMORY);
    failures += status != CUGEN_OK;
    if (!heap.failed) break;
    /* Lua may survive a single failure by collecting its garbage. */
    if (for_good) assert_int_not_equal(status, CUGEN_OK);
  }
  assert_true(failures > 50);
}

TEST(test_variant) {
  fail_each(*state, VARIANT, false);
  fail_each(*state, VARIANT, true);
}

TEST(test_reference) {
  fail_each(*state, REFERENCE, false);
  fail_each(*state, REFERENCE, true);
}

static void add(struct source_file **files, const char *name, const char *content) {
  WORKS(sources_add(files, name, content, strlen(content), &err));
}

/* Also a variant that has a verify kernel. */
TEST(test_verify) {
  struct source_file *files = NULL;
  add(&files, "k.lua",
      "kernel 'k' { problem 'n' (9), inout 'x' { dtype = 'f32', shape = { 'n' } }, verify 'v.cu',"
      "implementation 'a' { template 't.cu', grid { 1 }, block { 32 } } }");
  add(&files, "t.cu", "__global__ void t(${params}) { x[0] = n; }\n");
  add(&files, "v.cu", "__global__ void v(${params}) { error[0] = x[0] - x_before[0] - n; }\n");
  struct bench bench = {.sources = {.files = files}};
  open_bench(&bench, "k.lua", "n=9", "a");
  fail_each(&bench, VERIFY, false);
  fail_each(&bench, VERIFY, true);
  fail_each(&bench, VARIANT, true);
  close_bench(&bench);
  sources_forget(files);
}

ALL_TESTS_WITH(set_up, tear_down);
