/* Sources a second, on one core: every variant of one implementation of a config (default:
   matmul's register-blocked one), expanded to its complete kernel_spec with hashes, over and
   over for two seconds of the processor's time, so that what else runs does not count.
   bench_expand [CONFIG [IMPLEMENTATION]] */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gen/template/expand.h"

/* An H200 (CUDA's device properties of it). */
static const struct device_facts facts = {.compute_capability = 90,
                                          .architecture_specific = 1,
                                          .sm_count = 132,
                                          .warp_size = 32,
                                          .max_threads_per_block = 1024,
                                          .max_threads_per_sm = 2048,
                                          .max_blocks_per_sm = 32,
                                          .registers_per_block = 65536,
                                          .registers_per_sm = 65536,
                                          .shared_per_block = 49152,
                                          .shared_per_block_optin = 232448,
                                          .shared_per_sm = 233472,
                                          .shared_reserved_per_block = 1024,
                                          .constant_bytes = 65536,
                                          .l2_bytes = 62914560,
                                          .memory_bytes = 150754820096,
                                          .memory_clock_khz = 3201000,
                                          .memory_bus_bits = 6144,
                                          .clock_khz = 1980000,
                                          .pitch_alignment = 512,
                                          .is_gpu = 1};

struct bench {
  struct config *config;
  struct problem problem;
  struct space *space;
  struct expander *expander;
  uint64_t first, count; /* range of the implementation's variants */
};

static void require(int status, const cugen_error *err) {
  if (!status) return;
  fprintf(stderr, "bench_expand: %s\n", err->message);
  exit(1);
}

static void choose_implementation(struct bench *bench, const char *name) {
  size_t count;
  const struct space_implementation *list = space_implementations(bench->space, &count);
  for (size_t i = 0; i < count; i++) {
    if (strcmp(list[i].implementation->name, name) != 0) continue;
    bench->first = list[i].first;
    bench->count = list[i].valid;
  }
  if (bench->count) return;
  fprintf(stderr, "bench_expand: no variants of '%s'\n", name);
  exit(1);
}

static size_t expand_one(struct bench *bench, uint64_t index, struct value *values) {
  cugen_error err;
  struct variant variant;
  struct kernel_spec spec;
  space_variant(bench->space, bench->first + index % bench->count, &variant, values);
  require(expand_variant(bench->expander, bench->config, &bench->problem, &facts, &variant, &spec,
                         &err),
          &err);
  size_t length = strlen(spec.source);
  kernel_spec_free(&spec);
  return length;
}

static double processor_seconds(void) {
  return (double)clock() / CLOCKS_PER_SEC;
}

static void measure(struct bench *bench, struct value *values) {
  uint64_t done = 0, bytes = 0;
  expand_one(bench, 0, values); /* parses the templates */
  double start = processor_seconds(), elapsed = 0;
  while (elapsed < 2) {
    for (int i = 0; i < 100; i++) bytes += expand_one(bench, done++, values);
    elapsed = processor_seconds() - start;
  }
  printf("%.0f sources/s (%.1f us and %.0f bytes each, %llu variants)\n", (double)done / elapsed,
         1e6 * elapsed / (double)done, (double)bytes / (double)done,
         (unsigned long long)bench->count);
}

int main(int argc, char **argv) {
  const char *config = argc > 1 ? argv[1] : "configs/matmul.lua",
             *implementation = argc > 2 ? argv[2] : "blocked";
  struct sources sources = {NULL, NULL, NULL};
  struct bench bench = {0};
  cugen_error err;
  require(config_open(&sources, config, &bench.config, &err), &err);
  require(problem_set(bench.config, NULL, 0, false, &bench.problem, &err), &err);
  require(space_open(bench.config, &bench.problem, &facts, &bench.space, &err), &err);
  require(expander_open(&sources, &bench.expander, &err), &err);
  choose_implementation(&bench, implementation);
  struct value *values = calloc(space_max_tunables(bench.space) + 1, sizeof *values);
  if (!values) require(error_memory(&err), &err);
  measure(&bench, values);
  free(values);
  expander_close(bench.expander);
  space_close(bench.space);
  problem_free(&bench.problem);
  config_close(bench.config);
  return 0;
}
