/* Benchmark: `cugen gen` as a whole process, from start to exit, its output thrown away: median
   of many runs in a warm file cache, on the default device and on the cpu device, with caches of
   several sizes. bench_gen [PROGRAM [RUNS [RECORDS]]] (default: build/cugen, 50, in caches of up
   to 50,000 records) */
#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/kernel.h"
#include "common.h"

extern char **environ;

enum { MOST_RUNS = 1000, MOST_ARGUMENTS = 16 };
static const double bar_seconds = 0.030;

struct bench {
  const char *program, *folder;
  size_t runs, most_records;
};

static double run_once(const char *const *argv) {
  posix_spawn_file_actions_t actions;
  pid_t pid;
  int status = 0;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  double start = clock_seconds();
  if (posix_spawn(&pid, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ) ||
      waitpid(pid, &status, 0) != pid || status) {
    fprintf(stderr, "%s gen failed\n", argv[0]);
    exit(1);
  }
  double seconds = clock_seconds() - start;
  posix_spawn_file_actions_destroy(&actions);
  return seconds;
}

static void measure(const struct bench *b, const char *what, const char *cache,
                    const char *const *more) {
  const char *argv[MOST_ARGUMENTS] = {b->program, "gen", "matmul", "-q", "--cache", cache};
  double samples[MOST_RUNS];
  for (int i = 0; more[i]; i++) argv[6 + i] = more[i];
  for (int i = 0; i < 3; i++) run_once(argv);
  for (size_t i = 0; i < b->runs; i++) samples[i] = run_once(argv);
  double middle = median(samples, b->runs);
  printf("%-58s %8.2f %8.2f %8.2f   < 30  %s\n", what, 1e3 * middle, 1e3 * samples[0],
         1e3 * samples[b->runs * 4 / 5], verdict(middle, bar_seconds));
}

/* Makes a cache for the device with that many records of gen's problem. */
static void make_cache(const char *device, const char *path, size_t records) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  cugen *lib;
  cugen_kernel *kernel;
  options.device = device;
  options.cache = path;
  require(cugen_open(&options, &lib, &err), &err);
  require(cugen_kernel_open(lib, "matmul", NULL, 0, &kernel, &err), &err);
  if (!kernel->lookup.device.facts.is_gpu) require(api_kernel_use_check(kernel, &err), &err);
  fill_cache(kernel, records);
  cugen_kernel_close(kernel);
  cugen_close(lib);
}

static bool has_gpu(void) {
  cugen *lib;
  cugen_error err;
  cugen_device_info first;
  require(cugen_open(NULL, &lib, &err), &err);
  bool gpu = cugen_devices(lib, &first, 1, NULL) > 1;
  if (gpu) {
    printf("%s\n", first.name);
    print_version("driver for CUDA", first.driver_version);
  }
  cugen_close(lib);
  return gpu;
}

static void measure_device(const struct bench *b, const char *device) {
  static const size_t sizes[] = {10, 5000, 50000};
  struct text path = {0}, what = {0};
  const char *plain[] = {"-d", device, NULL}, *best[] = {"-d", device, "--best", NULL};
  text_addf(&what, "%s, no cache", device);
  measure(b, text_get(&what), "none", plain);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes && sizes[i] <= b->most_records; i++) {
    text_clear(&path);
    text_addf(&path, "%s/%s-%zu.db", b->folder, device, sizes[i]);
    make_cache(device, text_get(&path), sizes[i]);
    text_clear(&what);
    text_addf(&what, "%s, %zu records, the variant is the best of them", device, sizes[i]);
    measure(b, text_get(&what), text_get(&path), plain);
    text_clear(&what);
    text_addf(&what, "%s, %zu records, --best", device, sizes[i]);
    measure(b, text_get(&what), text_get(&path), best);
  }
  text_free(&path);
  text_free(&what);
}

int main(int argc, char **argv) {
  struct text folder = {0};
  cugen_error err;
  require(folder_temporary(&folder, &err), &err);
  struct bench b = {argc > 1 ? argv[1] : "build/cugen", text_get(&folder), 50, 50000};
  if (argc > 2) b.runs = strtoul(argv[2], NULL, 10);
  if (argc > 3) b.most_records = strtoul(argv[3], NULL, 10);
  if (b.runs < 1 || b.runs > MOST_RUNS) b.runs = 50;
  print_machine("cugen gen matmul as a whole process");
  bool gpu = has_gpu();
  printf("%-58s %8s %8s %8s %6s\n", "medians over processes", "ms", "least", "p80", "bar");
  measure_device(&b, "cpu");
  if (gpu) measure_device(&b, "cuda:0");
  folder_remove(text_get(&folder));
  text_free(&folder);
  return 0;
}
