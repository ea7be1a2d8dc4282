/* What the benchmarks share: a description of the machine, medians, and caches filled with
   records. */
#ifndef BENCH_COMMON_H
#define BENCH_COMMON_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "base/system.h"

static inline void require(int status, const cugen_error *err) {
  if (!status) return;
  fprintf(stderr, "%s\n", err->message);
  exit(1);
}

static inline void *require_memory(void *memory) {
  if (memory) return memory;
  fprintf(stderr, "out of memory\n");
  exit(1);
}

/* ---- The machine ---------------------------------------------------------------------------- */

/* Prints the value of the first line of /proc/cpuinfo that begins with the name. */
static inline void print_processor(void) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[256] = "", *colon = NULL;
  while (file && !colon && fgets(line, sizeof line, file))
    if (strncmp(line, "model name", 10) == 0) colon = strchr(line, ':');
  if (file) fclose(file);
  if (colon) line[strcspn(line, "\n")] = '\0';
  printf("%s", colon ? colon + 2 : "unknown processor");
}

static inline void print_machine(const char *what) {
  printf("%s\n", what);
  print_processor();
  printf(", %d cores; cugen " CUGEN_VERSION ", %s\n", cpu_count(),
#ifdef __clang__
         "clang " __clang_version__
#else
         "gcc " __VERSION__
#endif
  );
}

static inline void print_version(const char *what, int version) {
  if (version) printf("%s %d.%d\n", what, version / 1000, version % 1000 / 10);
}

/* ---- Samples -------------------------------------------------------------------------------- */

static inline int compare_doubles(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline double quantile(double *samples, size_t count, double at) {
  qsort(samples, count, sizeof *samples, compare_doubles);
  return samples[(size_t)(at * (double)(count - 1) + 0.5)];
}

static inline double median(double *samples, size_t count) {
  return quantile(samples, count, 0.5);
}

static inline const char *verdict(double value, double bar) {
  return value <= bar ? "met" : "MISSED";
}

/* ---- Caches --------------------------------------------------------------------------------- */

/* Stores `count` right records in the library's cache, as tuning would: first for the variants
   of the kernel's space, then for the same variants of other problems. */
static inline void fill_cache(cugen_kernel *k, size_t count) {
  cugen_error err;
  struct cache *cache;
  struct lookup *l = &k->lookup;
  require(lookup_space(l, &err), &err);
  require(lookup_expander(l, &err), &err);
  require(api_cache(l->lib, &cache, &err), &err);
  size_t valid = (size_t)space_valid(l->space);
  for (size_t i = 0; i < count; i++) {
    struct kernel_spec spec;
    struct text problem = {0};
    require(lookup_expand(l, i % valid, &spec, &err), &err);
    struct cache_record record = {.variant = spec.variant,
                                  .reason = (char *)(uintptr_t) "",
                                  .samples = 11,
                                  .seconds = 1e-3 * (1 + (double)(i * 7919 % 1009) / 1009),
                                  .limiter = "registers",
                                  .driver_version = 13000,
                                  .nvrtc_version = 13000,
                                  .measured_at = 1795000000};
    cache_record_take_hashes(&record, &spec);
    text_add(&problem, text_get(&l->problem_text));
    if (i / valid) text_addf(&problem, " other=%zu", i / valid);
    struct cache_key key = lookup_measured_key(l);
    key.problem = text_get(&problem);
    require(cache_store(cache, &key, &record, &err), &err);
    kernel_spec_free(&spec);
    text_free(&problem);
  }
}

#endif
