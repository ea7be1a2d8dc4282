/* Benchmark: plans that explore while they serve.

     bench_explore simulate LAUNCHES SHARE CHANGE NOISE <sets
        A line of stdin has the recorded times of a set of variants, the fastest first. In the
        application the time of each variant is another: the recorded one times
        exp(CHANGE * a normal number) in all its launches, and exp(NOISE * a normal number) in each
        launch. Prints the total time of all launches relative to launching only the variant that
        is the fastest in the application: geometric mean and worst over the sets.
     bench_explore run LAUNCHES SHARE CONFIG [NAME=VALUE...]
        Times LAUNCHES launches on $CUGEN_DEVICE of the tuned plan, of the exploring plan, and of
        the plan of an empty cache. Tune before. */
#include <math.h>

#include "fake.h"
#include "tune/tuner/explore.h"

/* ---- Simulation ----------------------------------------------------------------------------- */

static double normal(uint64_t *seed) {
  const double u = ((double)(random_next(seed) >> 11) + 1) * 0x1p-53,
               v = (double)(random_next(seed) >> 11) * 0x1p-53;
  return sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v);
}

struct scene {
  uint64_t launches;
  double share, change, noise;
};

struct total {
  double sum, worst; /* sum and maximum of the logarithms */
};

static void add_to(struct total *total, double ratio) {
  total->sum += log(ratio);
  total->worst = fmax(total->worst, log(ratio));
}

struct outcome {
  struct total tuned, explored, settled_on;
  double settled, used; /* launches until it settled, and explored launches, of all sets */
  size_t sets, switched, unsettled, skipped;
};

/* times: those of the variants in the application, at most RACE_MOST. */
static double serve(const struct scene *scene, struct explore *e, const double *times,
                    uint64_t *settled, uint64_t *seed) {
  double seconds = 0;
  for (uint64_t i = 0; i < scene->launches; i++) {
    const bool timed = !e->settled && i >= explore_due(e);
    const size_t runner = timed ? explore_runner(e) : e->current;
    const double took = times[runner] * exp(scene->noise * normal(seed));
    if (timed) explore_launched(e, runner), explore_note(e, runner, took);
    if (e->settled && !*settled) *settled = i + 1;
    seconds += took;
  }
  return seconds;
}

static void simulate_set(const struct scene *scene, const double *recorded, size_t count,
                         uint64_t seed, struct outcome *out) {
  double times[RACE_MOST], best = INFINITY;
  uint64_t settled = 0;
  struct explore e;
  if (count < 2) {
    out->skipped++;
    return;
  }
  for (size_t i = 0; i < count; i++) {
    times[i] = recorded[i] * exp(scene->change * normal(&seed));
    best = fmin(best, times[i]);
  }
  explore_begin(&e, count, scene->share);
  const double seconds = serve(scene, &e, times, &settled, &seed),
               all = best * (double)scene->launches;
  add_to(&out->tuned, times[0] / best);
  add_to(&out->explored, seconds / (all * exp(scene->noise * scene->noise / 2)));
  add_to(&out->settled_on, times[e.current] / best);
  out->sets++;
  out->switched += e.current != 0;
  out->unsettled += !e.settled;
  out->settled += (double)(settled ? settled : scene->launches);
  out->used += (double)e.explored;
}

/* Reads the variants within twice the first one's time, as a plan takes them. */
static size_t read_set(char *line, double *times) {
  size_t count = 0;
  for (char *at = line, *end; count < RACE_MOST; at = end) {
    const double time = strtod(at, &end);
    if (end == at) break;
    if (!count || time <= 2 * times[0]) times[count++] = time;
  }
  return count;
}

static int simulate(const struct scene *scene) {
  enum { DRAWS = 20 };
  static char line[1 << 20];
  struct outcome out = {.sets = 0};
  uint64_t seed = 1;
  while (fgets(line, sizeof line, stdin)) {
    double times[RACE_MOST];
    const size_t count = read_set(line, times);
    for (int draw = 0; draw < DRAWS; draw++)
      simulate_set(scene, times, count, seed++ * 0x9e3779b97f4a7c15u, &out);
  }
  const double n = (double)out.sets;
  if (!out.sets) return 1;
  printf("%6.2f %5.1f %5.1f  %6.2f %6.1f  %6.2f %6.1f  %6.2f  %5.1f %7.0f %6.0f %5.2f\n",
         100 * scene->share, 100 * scene->change, 100 * scene->noise,
         100 * expm1(out.tuned.sum / n), 100 * expm1(out.tuned.worst),
         100 * expm1(out.explored.sum / n), 100 * expm1(out.explored.worst),
         100 * expm1(out.settled_on.sum / n), 100 * (double)out.switched / n, out.settled / n,
         out.used / n, 100 * (double)out.unsettled / n);
  return 0;
}

/* ---- A loop on a device --------------------------------------------------------------------- */

static void *allocate(const struct driver *driver, size_t bytes) {
  CUdeviceptr memory = 0;
  void *host = NULL;
  bytes = (bytes + 511) / 512 * 512;
  if (driver) {
    check_driver(driver->mem_alloc(&memory, bytes), "cuMemAlloc");
    return (void *)(uintptr_t)memory; /* NOLINT(performance-no-int-to-ptr) */
  }
  if (posix_memalign(&host, 512, bytes)) exit(1);
  memset(host, 0, bytes);
  return host;
}

static cugen_call *bind_all(cugen_plan *plan, const struct driver *driver) {
  void *arguments[KERNEL_MAX_ARGUMENTS] = {NULL};
  cugen_argument_info info;
  cugen_error err;
  cugen_call *call;
  const size_t count = cugen_plan_about(plan)->arguments;
  for (size_t i = 0; i < count; i++) {
    require(cugen_plan_argument(plan, i, &info, &err), &err);
    if (!info.absent && info.kind != CUGEN_ARGUMENT_SCALAR && info.kind != CUGEN_ARGUMENT_SCRATCH &&
        info.bytes)
      arguments[i] = allocate(driver, (size_t)info.bytes);
  }
  require(cugen_call_bind(plan, arguments, count, &call, &err), &err);
  return call;
}

static void run_loop(cugen_kernel *kernel, const char *what, const cugen_plan_options *options,
                     size_t launches) {
  const struct driver *driver = NULL;
  cugen_plan_exploration explored;
  cugen_plan *plan;
  cugen_error err;
  require(cugen_plan_open(kernel, options, &plan, &err), &err);
  if (kernel->lookup.device.facts.is_gpu)
    require(driver_open(kernel->lookup.lib->toolkit, &driver, &err), &err);
  cugen_call *call = bind_all(plan, driver);
  const double begin = clock_seconds();
  for (size_t i = 0; i < launches; i++) {
    require(cugen_call_launch(call, NULL, &err), &err);
    /* synchronises as applications do */
    if (driver && i % 256 == 255) check_driver(driver->context_sync(), "cuCtxSynchronize");
  }
  if (driver) check_driver(driver->context_sync(), "cuCtxSynchronize");
  const double seconds = clock_seconds() - begin;
  require(cugen_plan_explored(plan, &explored, &err), &err);
  printf("%-10s %10.3f s  %9.2f us a launch  explored %6llu  %s  %s -> %s\n", what, seconds,
         1e6 * seconds / (double)launches, (unsigned long long)explored.explored,
         explored.settled ? "settled" : "not settled", cugen_plan_about(plan)->variant,
         explored.variant);
  cugen_call_close(call);
  cugen_plan_close(plan);
}

static void open_kernel(const char *cache, char **words, int count, cugen **lib,
                        cugen_kernel **kernel) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  options.device = getenv("CUGEN_DEVICE");
  options.cache = cache;
  require(cugen_open(&options, lib, &err), &err);
  require(cugen_kernel_open(*lib, words[0], (const char *const *)(words + 1), (size_t)(count - 1),
                            kernel, &err),
          &err);
}

/* Runs in the context in which the launches are made. */
static int run(size_t launches, double share, char **words, int count) {
  const struct driver *driver;
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  CUcontext context;
  cugen *lib, *empty;
  cugen_kernel *kernel, *untuned;
  cugen_error err;
  open_kernel(NULL, words, count, &lib, &kernel);
  open_kernel("none", words, count, &empty, &untuned);
  if (kernel->lookup.device.facts.is_gpu) {
    require(driver_open(lib->toolkit, &driver, &err), &err);
    check_driver(driver->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
    check_driver(driver->context_push(context), "cuCtxPushCurrent");
  }
  printf("%s %s on %s, %zu launches\n", cugen_kernel_name(kernel), cugen_kernel_problem(kernel),
         cugen_kernel_device(kernel)->name, launches);
  run_loop(kernel, "tuned", &options, launches);
  options.flags = CUGEN_PLAN_EXPLORE;
  options.explore_share = share;
  run_loop(kernel, "exploring", &options, launches);
  run_loop(kernel, "and then", &options, launches);
  options.flags = 0;
  run_loop(kernel, "tuned", &options, launches);
  run_loop(untuned, "untuned", &options, launches);
  cugen_kernel_close(untuned);
  cugen_kernel_close(kernel);
  cugen_close(empty);
  cugen_close(lib);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 6 && strcmp(argv[1], "simulate") == 0)
    return simulate(&(const struct scene){strtoull(argv[2], NULL, 10), atof(argv[3]), atof(argv[4]),
                                          atof(argv[5])});
  if (argc > 4 && strcmp(argv[1], "run") == 0)
    return run(strtoull(argv[2], NULL, 10), atof(argv[3]), argv + 4, argc - 4);
  fprintf(stderr,
          "usage: %s simulate LAUNCHES SHARE CHANGE NOISE | run LAUNCHES SHARE CONFIG "
          "[NAME=VALUE...]\n",
          argv[0]);
  return 2;
}
