/* Benchmark: the cache by its size: opening it, finding the best of one problem, loading an
   image, and the first store of a process, which checks every record. Medians over fresh
   handles, in a warm file cache. bench_cache */
#include <sys/stat.h>

#include "api/kernel.h"
#include "common.h"

enum { RUNS = 21, IMAGE_BYTES = 100000 };

static void store_images(struct cache *cache, size_t count) {
  char name[] = "kernel", empty[] = "";
  unsigned char *bytes = require_memory(malloc(IMAGE_BYTES));
  for (size_t i = 0; i < IMAGE_BYTES; i++) bytes[i] = (unsigned char)(i * 2654435761u >> 13);
  struct compiled image = {.image = bytes,
                           .image_length = IMAGE_BYTES,
                           .entry_count = 1,
                           .entries = {name},
                           .log = empty};
  for (size_t i = 0; i < count; i++) {
    struct text key = {0};
    cugen_error err;
    text_addf(&key, "image %zu", i);
    require(cache_image_store(cache, text_get(&key), &image, &err), &err);
    text_free(&key);
  }
  free(bytes);
}

struct times {
  double open[RUNS], best[RUNS], image[RUNS], store[RUNS];
};

static double since(double *mark) {
  double now = clock_seconds(), seconds = now - *mark;
  *mark = now;
  return seconds;
}

/* Uses the cache through a new handle; the kernel gives the key and the space. */
static void use(cugen_kernel *k, const char *path, bool image, struct times *times, int run) {
  cugen_error err;
  struct best_record best;
  struct compiled compiled = {0};
  bool found;
  cache_close(k->lookup.lib->cache);
  k->lookup.lib->cache = NULL;
  double mark = clock_seconds();
  require(cache_open(path, &k->lookup.lib->cache, NULL, &err), &err);
  times->open[run] = since(&mark);
  require(api_best(&k->lookup, &best, &err), &err);
  times->best[run] = since(&mark);
  if (image)
    require(cache_image_load(k->lookup.lib->cache, "image 7", &compiled, &found, &err), &err);
  times->image[run] = since(&mark);
  const struct cache_key key = {
      .device = "bench", .config = "bench", .problem = "bench", .options = "bench"};
  require(cache_store(k->lookup.lib->cache, &key, &best.record, &err), &err);
  times->store[run] = since(&mark);
  api_best_free(&best);
  compiled_free(&compiled);
}

static void measure(const char *folder, size_t records, size_t images) {
  struct text path = {0};
  struct stat info = {0};
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  cugen *lib;
  cugen_kernel *k;
  text_addf(&path, "%s/%zu-%zu.db", folder, records, images);
  options.device = "cpu";
  options.cache = text_get(&path);
  require(cugen_open(&options, &lib, &err), &err);
  require(cugen_kernel_open(lib, "matmul", NULL, 0, &k, &err), &err);
  require(api_kernel_use_check(k, &err), &err);
  fill_cache(k, records);
  store_images(lib->cache, images);
  struct times *times = require_memory(calloc(1, sizeof *times));
  for (int i = 0; i < RUNS; i++) use(k, text_get(&path), images > 0, times, i);
  stat(text_get(&path), &info);
  printf("%8zu %7zu %9.1f %9.2f %9.2f %9.2f %12.2f\n", records, images, (double)info.st_size / 1e6,
         1e3 * median(times->open, RUNS), 1e3 * median(times->best, RUNS),
         1e3 * median(times->image, RUNS), 1e3 * median(times->store, RUNS));
  free(times);
  cugen_kernel_close(k);
  cugen_close(lib);
  text_free(&path);
}

int main(void) {
  static const size_t sizes[][2] = {{10, 10}, {1000, 0}, {5000, 0}, {50000, 0}, {50000, 2000}};
  struct text folder = {0};
  cugen_error err;
  require(folder_temporary(&folder, &err), &err);
  print_machine("The cache by its size, medians of 21 fresh handles, times in ms");
  printf("%8s %7s %9s %9s %9s %9s %12s\n", "records", "images", "MB", "open", "best", "image",
         "first store");
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
    measure(text_get(&folder), sizes[i][0], sizes[i][1]);
  folder_remove(text_get(&folder));
  text_free(&folder);
  return 0;
}
