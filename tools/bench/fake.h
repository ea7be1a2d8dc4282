/* Benchmarks that run over the fake driver too (tests/fault/fake_cuda.c as libcuda.so.1,
   LD_LIBRARY_PATH=build/tests/fake): it loads any image, so that one is put into the cache; a
   real driver gets what NVRTC compiles. */
#ifndef BENCH_FAKE_H
#define BENCH_FAKE_H

#include <cuda.h>
#include <dlfcn.h>

#include "common.h"
#include "runtime/cuda/driver.h"

static inline bool driver_is_fake(void) {
  void *handle = dlopen("libcuda.so.1", RTLD_NOW);
  return handle && dlsym(handle, "fake_cuda");
}

/* Expands a variant of the kernel, and makes the key of its image. */
static inline void expand_for(cugen_kernel *k, const char *variant, struct kernel_spec *spec,
                              struct text *key) {
  cugen_error err;
  uint64_t index;
  require(api_find_variant(k, variant, &index, &err), &err);
  require(lookup_expander(&k->lookup, &err), &err);
  require(lookup_expand(&k->lookup, index, spec, &err), &err);
  require(cache_image_key(spec, k->lookup.arch, text_get(&k->lookup.options),
                          k->lookup.nvrtc_version, key, &err),
          &err);
}

/* Stores a record of the variant and, for the fake driver, an image. */
static inline void remember(cugen_kernel *k, const char *variant, double seconds) {
  char name[] = "kernel", empty[] = "";
  struct compiled image = {
      .image = name, .image_length = 6, .entry_count = 1, .entries = {name}, .log = empty};
  struct kernel_spec spec;
  struct text key = {0};
  struct cache *cache;
  cugen_error err;
  expand_for(k, variant, &spec, &key);
  struct cache_record record = {.variant = spec.variant,
                                .reason = empty,
                                .seconds = seconds,
                                .samples = 11,
                                .measured_at = 1795000000};
  cache_record_take_hashes(&record, &spec);
  const struct cache_key records = {.device = k->lookup.device.fingerprint,
                                    .config = k->lookup.config->name,
                                    .problem = text_get(&k->lookup.problem_text),
                                    .options = text_get(&k->lookup.options)};
  require(api_cache(k->lookup.lib, &cache, &err), &err);
  require(cache_store(cache, &records, &record, &err), &err);
  if (driver_is_fake()) require(cache_image_store(cache, text_get(&key), &image, &err), &err);
  kernel_spec_free(&spec);
  text_free(&key);
}

static inline void print_device(const cugen_kernel *k, bool fake) {
  printf("%s", fake ? "the fake driver" : k->lookup.device.name);
  if (!fake)
    printf(", driver for CUDA %d.%d", k->lookup.device.driver_version / 1000,
           k->lookup.device.driver_version % 1000 / 10);
  if (k->lookup.nvrtc_version)
    printf(", NVRTC %d.%d", k->lookup.nvrtc_version / 1000, k->lookup.nvrtc_version % 1000 / 10);
  printf("\n");
}

static inline void check_driver(CUresult result, const char *what) {
  if (!result) return;
  fprintf(stderr, "%s: CUDA error %d\n", what, (int)result);
  exit(1);
}

#endif
