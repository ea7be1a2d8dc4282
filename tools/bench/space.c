/* Benchmark: the spaces of tests/spaces (or of the configs named), built from their configs on
   one core. Prints the time of the best of five builds for each, and the total, with the steps
   that the limit of a walk counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "gen/space/walk.h"

static const struct space_file {
  const char *path, *before; /* before: text that stands in front of the file's */
} published[] = {
    {"tests/spaces/dedispersion.lua", ""},     {"tests/spaces/expdist.lua", ""},
    {"tests/spaces/hotspot.lua", ""},          {"tests/spaces/gemm.lua", ""},
    {"tests/spaces/microhh.lua", ""},          {"tests/spaces/atf_prl.lua", "SIZE = 2 "},
    {"tests/spaces/atf_prl.lua", "SIZE = 4 "}, {"tests/spaces/atf_prl.lua", "SIZE = 8 "},
};

/* A GPU of compute capability 9.0, as far as configs ask. */
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
                                          .l2_bytes = 52428800,
                                          .pitch_alignment = 512,
                                          .is_gpu = 1};

/* Builds the space once, without reading the config. */
static int build(const struct config *config, const struct problem *problem, double *seconds,
                 struct space *counts, cugen_error *err) {
  struct space *space;
  double start = clock_seconds();
  int status = space_open(config, problem, &facts, &space, err);
  *seconds = clock_seconds() - start;
  if (status) return status;
  *counts = *space;
  space_close(space);
  return CUGEN_OK;
}

static int best_of_five(const struct space_file *file, double *best, cugen_error *err) {
  struct text content = {0}, code = {0};
  struct config *config = NULL;
  struct problem problem = {0};
  struct space counts = {0};
  int status = file_read(file->path, &content, err);
  text_addf(&code, "%s%s", file->before, text_get(&content));
  if (!status && code.failed) status = error_memory(err);
  if (!status) status = config_parse(file->path, text_get(&code), code.length, &config, err);
  if (!status) status = problem_set(config, NULL, 0, false, &problem, err);
  for (int i = 0; i < 5 && !status; i++) {
    double seconds;
    status = build(config, &problem, &seconds, &counts, err);
    if (i == 0 || seconds < *best) *best = seconds;
  }
  if (!status)
    printf("%s%-*s %20llu %10llu %12llu %9.3f ms\n", file->before, 32 - (int)strlen(file->before),
           file->path, (unsigned long long)counts.cartesian, (unsigned long long)counts.valid,
           (unsigned long long)counts.effort.steps, 1e3 * *best);
  problem_free(&problem);
  config_close(config);
  text_free(&content);
  text_free(&code);
  return status;
}

int main(int argc, char **argv) {
  const size_t count = argc > 1 ? (size_t)argc - 1 : sizeof published / sizeof *published;
  double total = 0;
  printf("%-32s %20s %10s %12s %12s\n", "space", "combinations", "valid", "steps", "time");
  for (size_t i = 0; i < count; i++) {
    double seconds = 0;
    cugen_error err = {0};
    const struct space_file given = {argc > 1 ? argv[1 + i] : "", ""};
    if (best_of_five(argc > 1 ? &given : &published[i], &seconds, &err)) {
      fprintf(stderr, "%s\n", err.message);
      return -err.status;
    }
    total += seconds;
  }
  printf("%-77s %9.3f ms\n", "total", 1e3 * total);
  return EXIT_SUCCESS;
}
