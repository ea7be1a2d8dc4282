/* Benchmark: a remembered kernel in a fresh process: its own CUDA context first, then cugen_open
   to the first launch of a bound call, step by step; medians over processes started one after
   the other. The image comes from the cache. Runs over the fake driver too, see fake.h.
   bench_remembered [PROCESSES [RECORDS]] (default: 31, with 5,000 records in the cache) */
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake.h"
#include "runtime/compile/toolkit.h"

extern char **environ;

enum { CONTEXT, OPEN, KERNEL, PLAN, BIND, LAUNCH, STEPS, MOST_PROCESSES = 1000 };
static const char *const names[STEPS] = {"the application's own cuInit and context",
                                         "cugen_open",
                                         "cugen_kernel_open",
                                         "cugen_plan_open",
                                         "cugen_call_bind",
                                         "first cugen_call_launch"};
static const double bar_seconds = 0.005;
static const char *const settings[] = {"M=1024", "N=1024", "K=1024"};
static const char variant[] = "blocked BM=64 BN=64 BK=16";

static void open_kernel(const char *path, cugen **lib, cugen_kernel **kernel, double *opened) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  options.device = "cuda:0";
  options.cache = path;
  require(cugen_open(&options, lib, &err), &err);
  if (opened) *opened = clock_seconds();
  require(cugen_kernel_open(*lib, "matmul", settings, 3, kernel, &err), &err);
}

/* ---- The process that is timed -------------------------------------------------------------- */

/* The driver's functions as an application that links libcuda calls them. */
struct application {
  CUresult (*init)(unsigned);
  CUresult (*retain)(CUcontext *, CUdevice);
  CUresult (*push)(CUcontext);
  CUresult (*alloc)(CUdeviceptr *, size_t);
  CUresult (*sync)(void);
};

static void make_context(struct application *app) {
  static const struct toolkit_symbol symbols[] = {
      {"cuInit", offsetof(struct application, init), true},
      {"cuDevicePrimaryCtxRetain", offsetof(struct application, retain), true},
      {"cuCtxPushCurrent_v2", offsetof(struct application, push), true},
      {"cuMemAlloc_v2", offsetof(struct application, alloc), true},
      {"cuCtxSynchronize", offsetof(struct application, sync), true}};
  cugen_error err;
  CUcontext context;
  require(toolkit_load("libcuda.so.1", symbols, sizeof symbols / sizeof *symbols, app, &err), &err);
  check_driver(app->init(0), "cuInit");
  check_driver(app->retain(&context, 0), "cuDevicePrimaryCtxRetain");
  check_driver(app->push(context), "cuCtxPushCurrent");
}

static int child(const char *path) {
  struct application app = {0};
  double marks[STEPS + 1], steps[STEPS];
  CUdeviceptr memory = 0;
  cugen *lib;
  cugen_kernel *kernel;
  cugen_plan *plan;
  cugen_call *call;
  cugen_error err;
  marks[CONTEXT] = clock_seconds();
  make_context(&app);
  check_driver(app.alloc(&memory, 3u << 22), "cuMemAlloc");
  char *at = (char *)(uintptr_t)memory;
  void *arguments[] = {at, at + (1 << 22), at + (2 << 22), NULL, NULL, NULL};
  marks[OPEN] = clock_seconds();
  open_kernel(path, &lib, &kernel, &marks[KERNEL]);
  marks[PLAN] = clock_seconds();
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  options.flags = CUGEN_PLAN_TUNED_ONLY;
  require(cugen_plan_open(kernel, &options, &plan, &err), &err);
  marks[BIND] = clock_seconds();
  require(cugen_call_bind(plan, arguments, 6, &call, &err), &err);
  marks[LAUNCH] = clock_seconds();
  require(cugen_call_launch(call, NULL, &err), &err);
  marks[STEPS] = clock_seconds();
  check_driver(app.sync(), "cuCtxSynchronize");
  if (!cugen_plan_about(plan)->image_from_cache) return 2;
  for (int i = 0; i < STEPS; i++) steps[i] = marks[i + 1] - marks[i];
  return write(STDOUT_FILENO, steps, sizeof steps) == sizeof steps ? 0 : 3;
}

/* ---- The process that asks ------------------------------------------------------------------ */

/* Runs in a process of its own, because what it loads must not be loaded here. */
static int prepare(const char *path, size_t records) {
  cugen *lib;
  cugen_kernel *kernel;
  cugen_plan *plan;
  cugen_error err;
  open_kernel(path, &lib, &kernel, NULL);
  bool fake = driver_is_fake();
  fill_cache(kernel, records);
  remember(kernel, variant, 1e-4);
  require(cugen_plan_open(kernel, NULL, &plan, &err), &err);
  print_device(kernel, fake);
  printf("matmul %s, %zu other records\n", cugen_plan_about(plan)->variant, records);
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  return 0;
}

static void run_self(char *const *argv, void *answer, size_t bytes) {
  int ends[2], status = 0;
  pid_t pid;
  posix_spawn_file_actions_t actions;
  if (pipe(ends)) exit(1);
  posix_spawn_file_actions_init(&actions);
  if (answer) posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  if (posix_spawn(&pid, "/proc/self/exe", &actions, NULL, argv, environ)) exit(1);
  close(ends[1]);
  ssize_t got = answer ? read(ends[0], answer, bytes) : 0;
  close(ends[0]);
  waitpid(pid, &status, 0);
  posix_spawn_file_actions_destroy(&actions);
  if (!status && got == (answer ? (ssize_t)bytes : 0)) return;
  fprintf(stderr, "bench_remembered: a process failed (%d)\n", status);
  exit(1);
}

static void report(double (*samples)[STEPS], size_t count) {
  double column[MOST_PROCESSES], sums[MOST_PROCESSES];
  printf("%-44s %9s %9s %9s\n", "", "ms", "least", "p80");
  for (size_t i = 0; i < count; i++) sums[i] = 0;
  for (int step = 0; step < STEPS; step++) {
    for (size_t i = 0; i < count; i++) {
      column[i] = samples[i][step];
      if (step != CONTEXT) sums[i] += column[i];
    }
    double middle = median(column, count);
    printf("%-44s %9.3f %9.3f %9.3f\n", names[step], 1e3 * middle, 1e3 * column[0],
           1e3 * column[count * 4 / 5]);
  }
  double total = median(sums, count);
  printf("%-44s %9.3f %9.3f %9.3f   < 5  %s\n", "cugen_open to the first launch", 1e3 * total,
         1e3 * sums[0], 1e3 * sums[count * 4 / 5], verdict(total, bar_seconds));
}

int main(int argc, char **argv) {
  if (argc > 2 && strcmp(argv[1], "child") == 0) return child(argv[2]);
  if (argc > 3 && strcmp(argv[1], "prepare") == 0)
    return prepare(argv[2], strtoul(argv[3], NULL, 10));
  size_t count = argc > 1 ? strtoul(argv[1], NULL, 10) : 31;
  static double samples[MOST_PROCESSES][STEPS];
  char *records = argc > 2 ? argv[2] : (char *)(uintptr_t) "5000";
  struct text folder = {0}, path = {0};
  cugen_error err;
  if (count < 1 || count > MOST_PROCESSES) count = 31;
  require(folder_temporary(&folder, &err), &err);
  text_addf(&path, "%s/cache.db", text_get(&folder));
  char *const to_prepare[] = {argv[0], (char *)(uintptr_t) "prepare", path.data, records, NULL};
  char *const to_child[] = {argv[0], (char *)(uintptr_t) "child", path.data, NULL};
  printf("A remembered kernel in a fresh process, medians of %zu processes\n", count);
  print_machine("cugen_open to the first launch, after the context");
  fflush(stdout);
  run_self(to_prepare, NULL, 0);
  run_self(to_child, samples[0], sizeof samples[0]); /* warms the file cache */
  for (size_t i = 0; i < count; i++) run_self(to_child, samples[i], sizeof samples[i]);
  report(samples, count);
  folder_remove(text_get(&folder));
  text_free(&folder);
  text_free(&path);
  return 0;
}
