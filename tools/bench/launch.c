/* Benchmark: a bound call's launch against bare cuLaunchKernel of the same kernel with the same
   parameters, in alternating blocks of one process; nanoseconds a launch, medians over blocks.
   Then what a call costs whose arrays differ from the last call's: cugen_plan_for of arrays that
   were seen, among others, and cugen_call_rebind.
   Runs over the fake driver too, see fake.h. bench_launch [ROUNDS] (default: 201) */
#include "fake.h"

/* below the depth of a stream's queue */
enum { MOST_ROUNDS = 10000, GPU_BLOCK = 500, FAKE_BLOCK = 100000 };
static const double bar_ratio = 1.05, bar_fake = 60e-9, bar_seen = 1e-6;

struct bench {
  const struct driver *driver;
  cugen_call *call;
  CUstream stream;
  CUfunction function;
  struct kernel_launch launch;
  void **parameters;
  int block;
};

static double time_bare(const struct bench *b) {
  const struct kernel_launch *l = &b->launch;
  double start = clock_seconds();
  for (int i = 0; i < b->block; i++)
    check_driver(b->driver->launch(b->function, l->grid[0], l->grid[1], l->grid[2], l->block[0],
                                   l->block[1], l->block[2], (unsigned)l->shared_bytes, b->stream,
                                   b->parameters, NULL),
                 "cuLaunchKernel");
  double seconds = clock_seconds() - start;
  check_driver(b->driver->stream_sync(b->stream), "cuStreamSynchronize");
  return seconds / b->block;
}

static double time_cugen(const struct bench *b) {
  cugen_error err;
  double start = clock_seconds();
  for (int i = 0; i < b->block; i++) require(cugen_call_launch(b->call, b->stream, &err), &err);
  double seconds = clock_seconds() - start;
  check_driver(b->driver->stream_sync(b->stream), "cuStreamSynchronize");
  return seconds / b->block;
}

static void report(struct bench *b, bool fake, size_t rounds) {
  static double bare[MOST_ROUNDS], bound[MOST_ROUNDS];
  for (size_t i = 0; i < rounds; i++) { /* the two go first in turn */
    if (i % 2) bare[i] = time_bare(b);
    bound[i] = time_cugen(b);
    if (i % 2 == 0) bare[i] = time_bare(b);
  }
  double own = median(bound, rounds), other = median(bare, rounds);
  printf("%-26s %9s %9s %9s\n", "ns a launch", "median", "least", "p80");
  printf("%-26s %9.1f %9.1f %9.1f\n", "bare cuLaunchKernel", 1e9 * other, 1e9 * bare[0],
         1e9 * bare[rounds * 4 / 5]);
  printf("%-26s %9.1f %9.1f %9.1f\n", "cugen_call_launch", 1e9 * own, 1e9 * bound[0],
         1e9 * bound[rounds * 4 / 5]);
  if (fake)
    printf("cugen_call_launch: bar < 60 ns  %s\n", verdict(own, bar_fake));
  else
    printf("ratio %.3f: bar <= 1.05  %s\n", own / other, verdict(own / other, bar_ratio));
}

/* Looks up the plans of arrays of several sizes, in turn. */
static double time_seen(cugen_kernel *kernel, int sizes) {
  cugen_error err;
  cugen_plan *plan;
  double start = 0;
  for (int i = -sizes; i < FAKE_BLOCK; i++) { /* at first each is new */
    const int64_t n = 1 + (i + sizes) % sizes;
    const cugen_array x = {"f32", 1, {n}, {1}}, arrays[] = {x, x, x};
    if (i == 0) start = clock_seconds();
    require(cugen_plan_for(kernel, arrays, 3, NULL, &plan, &err), &err);
  }
  return (clock_seconds() - start) / FAKE_BLOCK;
}

static double time_rebind(const struct bench *b, void *const *arguments) {
  cugen_error err;
  const double start = clock_seconds();
  for (int i = 0; i < FAKE_BLOCK; i++)
    require(cugen_call_rebind(b->call, arguments, 5, &err), &err);
  return (clock_seconds() - start) / FAKE_BLOCK;
}

/* Loads the image of the plan's kernel once more, for the bare launches. */
static void load_bare(cugen_kernel *k, const char *variant, struct bench *b) {
  struct text key = {0};
  struct kernel_spec spec;
  struct compiled image;
  struct cache *cache;
  CUmodule module;
  cugen_error err;
  bool found;
  expand_for(k, variant, &spec, &key);
  require(api_cache(k->lookup.lib, &cache, &err), &err);
  require(cache_image_load(cache, text_get(&key), &image, &found, &err), &err);
  b->launch = spec.launches[0];
  check_driver(b->driver->module_load(&module, image.image), "cuModuleLoadData");
  check_driver(b->driver->module_function(&b->function, module, image.entries[0]),
               "cuModuleGetFunction");
  compiled_free(&image);
  kernel_spec_free(&spec);
  text_free(&key);
}

int main(int argc, char **argv) {
  static const char variant[] = "wild BLOCK_SIZE=128 ITEMS=1", *const settings[] = {"n=1"};
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  cugen *lib;
  cugen_kernel *kernel;
  cugen_plan *plan;
  CUcontext context;
  CUdeviceptr memory = 0;
  float alpha = 2.5f;
  int n = 1;
  struct bench b = {0};
  size_t rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 201;
  if (rounds < 1 || rounds > MOST_ROUNDS) rounds = 201;
  options.device = "cuda:0";
  options.cache = "none";
  require(cugen_open(&options, &lib, &err), &err);
  require(driver_open(lib->toolkit, &b.driver, &err), &err);
  check_driver(b.driver->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
  check_driver(b.driver->context_push(context), "cuCtxPushCurrent");
  check_driver(b.driver->stream_create(&b.stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  check_driver(b.driver->mem_alloc(&memory, 4096), "cuMemAlloc");
  require(cugen_kernel_open(lib, "tests/configs/wild.lua", settings, 1, &kernel, &err), &err);
  bool fake = driver_is_fake();
  b.block = fake ? FAKE_BLOCK : GPU_BLOCK;
  remember(kernel, variant, 1e-6);
  require(cugen_plan_open(kernel, NULL, &plan, &err), &err);
  load_bare(kernel, variant, &b);
  void *out = (void *)(uintptr_t)memory, *arguments[] = {out, out, out, NULL, NULL};
  void *parameters[] = {&out, &out, &out, &alpha, &n};
  b.parameters = parameters;
  require(cugen_call_bind(plan, arguments, 5, &b.call, &err), &err);
  print_machine("A bound call's launch");
  print_device(kernel, fake);
  time_bare(&b), time_cugen(&b);
  report(&b, fake, rounds);
  cugen_kernel *all;
  require(cugen_kernel_open(lib, "tests/configs/wild.lua", NULL, 0, &all, &err), &err);
  for (int sizes = 1; sizes <= 100; sizes *= 100) {
    const double seen = time_seen(all, sizes);
    printf("cugen_plan_for, %3d sizes seen %6.1f ns: bar < 1000 ns  %s\n", sizes, 1e9 * seen,
           verdict(seen, bar_seen));
  }
  printf("cugen_call_rebind %19.1f ns\n", 1e9 * time_rebind(&b, arguments));
  cugen_kernel_close(all);
  cugen_call_close(b.call);
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  return 0;
}
