/* Datasets of a bench: reference results are kept up to a limit, the least recently used ones
   are dropped and computed again, and buffers that differ only in their reference are not filled
   again. */
#include "opened.h"
#include "tests/testing.h"

/* A tunable of four values that the reference and the kernel see, and on which no shape depends. */
static const char config_text[] =
    "kernel 'scaled' {\n"
    "  problem 'n' (1000), tunable 's' { 1, 2, 3, 4 },\n"
    "  input 'x' { dtype = 'f32', shape = { 'n' } },\n"
    "  output 'y' { dtype = 'f32', shape = { 'n' }, tolerance = 1e-6 },\n"
    "  inout 'z' { dtype = 'f32', shape = { 'n' } }, scalar 'n' { dtype = 'i32' },\n"
    "  reference 'scaled_reference.cu',\n"
    "  implementation 'a' { template 'scaled.cu', grid { 'ceil_div(n, 128)' }, block { 128 } },\n"
    "}\n";
static const char template_text[] = "__global__ void scaled(${params}) {\n"
                                    "  const int i = blockIdx.x * 128 + threadIdx.x;\n"
                                    "  if (i < n) y[i] = s * x[i], z[i] = 2 * z[i];\n}\n";
static const char reference_text[] =
    "__global__ void scaled_reference(${params}) {\n"
    "  const long long t = blockIdx.x * 256ll + threadIdx.x;\n"
    "  if (t < sample_count) y[t] = double(s) * x[t], z[t] = 2 * z[t];\n}\n";

struct fixture {
  struct opened opened;
  struct bench bench;
};

static void add(struct fixture *f, const char *name, const char *text) {
  WORKS(sources_add(&f->opened.files, name, text, strlen(text), &err));
}

static const struct bench_options options = {.seed = 1, .threads = 1, .timeout = 60};

static int set_up(void **state) {
  static struct fixture fixture;
  struct fixture *f = &fixture;
  add(f, "scaled.lua", config_text);
  add(f, "scaled.cu", template_text);
  add(f, "scaled_reference.cu", reference_text);
  opened_open(&f->opened, "scaled.lua", false);
  f->opened.target.problem_is_check = true; /* the check problem alone is enough here */
  WORKS(bench_open(&f->opened.target, &options, &f->bench, &err));
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  bench_close(&f->bench);
  opened_close(&f->opened);
  return 0;
}

/* Returns the id of the dataset for the variant. */
static int64_t dataset_of(struct fixture *f, uint64_t index) {
  const struct dataset_request *request;
  FREED(kernel_spec) spec;
  struct value values[8];
  struct variant variant;
  space_variant(f->opened.space, index, &variant, values);
  WORKS(expand_variant(f->bench.expander, f->opened.config, &f->opened.problem,
                       &f->opened.device.facts, &variant, &spec, &err));
  WORKS(bench_dataset(&f->bench, &spec, &f->opened.problem, true, &variant, &request, &err));
  return request->id;
}

TEST(results_are_shared_within_the_limit) {
  struct fixture *f = *state;
  int64_t first = dataset_of(f, 0), second = dataset_of(f, 1), third = dataset_of(f, 2);
  assert_true(first != second && second != third);
  assert_true(dataset_of(f, 0) == first && dataset_of(f, 1) == second && dataset_of(f, 2) == third);
  f->bench.data_most = 0;
  int64_t fourth = dataset_of(f, 3); /* keeps the two datasets asked for last */
  assert_true(dataset_of(f, 2) == third && dataset_of(f, 3) == fourth);
  assert_true(dataset_of(f, 0) != first);
}

static void run(struct fixture *f, uint64_t index) {
  const struct measure_options measure = {.seconds = 0.001, .samples = 1};
  struct candidate *c;
  struct cache_record record;
  double busy;
  WORKS(candidate_open(&f->bench, index, &c, &err));
  WORKS(candidate_build(&f->bench, c, &err));
  while (!candidate_ready(&f->bench, c)) compile_pool_wait(f->bench.pool, 0.05);
  WORKS(candidate_run(&f->bench, c, true, &measure, 60, &record, &busy, &err));
  if (record.outcome != CUGEN_OUTCOME_OK) fail_msg("%s: %s", record.variant, record.reason);
  cache_record_free(&record);
  candidate_close(&f->bench, c);
}

/* Alternates between references on the same buffers. Every run changes one buffer in place. */
TEST(results_that_were_given_up_are_computed_again) {
  struct fixture *f = *state;
  static const size_t limits[] = {0, 1 << 20};
  for (size_t l = 0; l < 2; l++) {
    f->bench.data_most = limits[l];
    for (int round = 0; round < 2; round++)
      for (uint64_t i = 0; i < 4; i++) run(f, i);
  }
}

/* Returns how many compiles a run of the variant takes in a new bench. */
static size_t compiles_of(struct fixture *f, uint64_t index) {
  struct fixture other = {.opened = f->opened};
  WORKS(bench_open(&other.opened.target, &options, &other.bench, &err));
  run(&other, index);
  size_t count = compile_pool_count(other.bench.pool);
  bench_close(&other.bench);
  return count;
}

/* If the device compiles images, the reference is compiled once for each value that it sees. The
   variant's own compile is not counted here. */
TEST(references_are_compiled_once) {
  struct fixture *f = *state;
  assert_int_equal(compiles_of(f, 0), 2);
  assert_int_equal(compiles_of(f, 0), 2);
  WORKS(cache_open("none", &f->opened.target.images, NULL, &err));
  assert_int_equal(compiles_of(f, 0), 2);
  assert_int_equal(compiles_of(f, 0), 1);
  assert_int_equal(compiles_of(f, 1), 2);
  cache_close(f->opened.target.images);
  f->opened.target.images = NULL;
}

ALL_TESTS_WITH(set_up, tear_down);
