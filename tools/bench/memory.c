/* Benchmark: memory held by idle handles, each kind a hundred times: heap in use (mallinfo2) and
   resident memory a handle. The first of each kind, which also brings in what all share
   (libraries, Lua's and SQLite's own), stands apart. Runs over the fake driver, see fake.h;
   without one, plans are left out. bench_memory */
#include <malloc.h>
#include <unistd.h>

#include "api/kernel.h"
#include "fake.h"

enum { COUNT = 100 };

struct usage {
  double heap, resident; /* bytes */
};

static struct usage usage_now(void) {
  struct mallinfo2 info = mallinfo2();
  long pages = 0, resident = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%ld %ld", &pages, &resident) != 2) resident = 0;
  if (file) fclose(file);
  return (struct usage){(double)(info.uordblks + info.hblkhd),
                        (double)resident * (double)sysconf(_SC_PAGESIZE)};
}

struct handles {
  const char *cache;
  cugen *libs[COUNT];
  cugen_kernel *kernels[COUNT];
  cugen_plan *plans[COUNT];
  cugen_call *calls[COUNT];
};

typedef void make(struct handles *h, int i);

static void make_library(struct handles *h, int i) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  options.device = driver_is_fake() ? "cuda:0" : "cpu";
  options.cache = h->cache;
  require(cugen_open(&options, &h->libs[i], &err), &err);
}

static void open_cache(struct handles *h, int i) {
  struct cache *cache;
  cugen_error err;
  require(api_cache(h->libs[i], &cache, &err), &err);
}

static void make_kernel(struct handles *h, int i) {
  cugen_error err;
  require(cugen_kernel_open(h->libs[0], "matmul", NULL, 0, &h->kernels[i], &err), &err);
}

static void make_space(struct handles *h, int i) {
  cugen_space_info info;
  cugen_error err;
  require(api_kernel_space(h->kernels[i], &info, &err), &err);
}

static void make_plan(struct handles *h, int i) {
  cugen_error err;
  require(cugen_plan_open(h->kernels[0], NULL, &h->plans[i], &err), &err);
}

static void make_call(struct handles *h, int i) {
  void *arguments[] = {h, h, h, NULL, NULL, NULL};
  cugen_error err;
  require(cugen_call_bind(h->plans[0], arguments, 6, &h->calls[i], &err), &err);
}

static void measure(const char *what, make *make_one, struct handles *h) {
  struct usage before = usage_now();
  make_one(h, 0);
  struct usage first = usage_now();
  for (int i = 1; i < COUNT; i++) make_one(h, i);
  struct usage after = usage_now();
  printf("%-40s %12.1f %12.1f %14.1f %14.1f\n", what,
         (after.heap - first.heap) / (COUNT - 1) / 1024,
         (after.resident - first.resident) / (COUNT - 1) / 1024, (first.heap - before.heap) / 1024,
         (first.resident - before.resident) / 1024);
}

static void close_all(struct handles *h) {
  for (int i = 0; i < COUNT; i++) cugen_call_close(h->calls[i]);
  for (int i = 0; i < COUNT; i++) cugen_plan_close(h->plans[i]);
  for (int i = 0; i < COUNT; i++) cugen_kernel_close(h->kernels[i]);
  for (int i = 0; i < COUNT; i++) cugen_close(h->libs[i]);
}

int main(void) {
  static struct handles h;
  struct text folder = {0}, path = {0};
  cugen_error err;
  require(folder_temporary(&folder, &err), &err);
  text_addf(&path, "%s/cache.db", text_get(&folder));
  h.cache = text_get(&path);
  print_machine("Memory of idle handles, KiB");
  printf("%-40s %12s %12s %14s %14s\n", "", "heap each", "resident", "first: heap",
         "first: resident");
  measure("cugen_open", make_library, &h);
  measure("  its cache, once used", open_cache, &h);
  measure("cugen_kernel_open (matmul)", make_kernel, &h);
  measure("  its space (3,409 variants)", make_space, &h);
  if (driver_is_fake()) {
    remember(h.kernels[0], "blocked", 1e-3);
    measure("cugen_plan_open", make_plan, &h);
    measure("cugen_call_bind", make_call, &h);
  }
  close_all(&h);
  folder_remove(text_get(&folder));
  text_free(&folder);
  text_free(&path);
  return 0;
}
