/* Benchmark: the tuner's compile pool, of threads and of processes, against bare NVRTC, the same
   sources (variants of matmul as tuning picks them, at random over the whole space) on as many
   threads, in turn; compiles a second, medians over rounds. Needs no GPU. The first pool of each
   kind loads NVRTC, later ones find it loaded: they are told apart. bench_compile [THREADS
   [VARIANTS [ROUNDS [ARCH]]]] (default: one a core, 8 a thread, 3, sm_90a) */
#include <dlfcn.h>
#include <nvrtc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>

#include "common.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/nvrtc.h"
#include "runtime/devices.h"
#include "runtime/model/cubin.h"
#include "tune/compile_pool.h"

enum { MOST_ROUNDS = 99 };
static const double bar = 0.85, apart_bar = 0.95;

/* ---- Bare NVRTC ----------------------------------------------------------------------------- */

struct bare_nvrtc {
  nvrtcResult (*create)(nvrtcProgram *, const char *, const char *, int, const char *const *,
                        const char *const *);
  nvrtcResult (*add_name)(nvrtcProgram, const char *);
  nvrtcResult (*compile)(nvrtcProgram, int, const char *const *);
  nvrtcResult (*cubin_size)(nvrtcProgram, size_t *);
  nvrtcResult (*cubin)(nvrtcProgram, char *);
  nvrtcResult (*destroy)(nvrtcProgram *);
};

struct bench {
  struct bare_nvrtc nvrtc;
  cugen_kernel *kernel;
  const char *arch;
  struct kernel_spec *specs;
  size_t count;
  int threads;
  bool caches; /* NVRTC has a cache on disk, which is off as in cugen */
  atomic_size_t next;
};

static void load(struct bench *b) {
  static const struct toolkit_symbol symbols[] = {
      {"nvrtcCreateProgram", offsetof(struct bare_nvrtc, create), true},
      {"nvrtcAddNameExpression", offsetof(struct bare_nvrtc, add_name), true},
      {"nvrtcCompileProgram", offsetof(struct bare_nvrtc, compile), true},
      {"nvrtcGetCUBINSize", offsetof(struct bare_nvrtc, cubin_size), true},
      {"nvrtcGetCUBIN", offsetof(struct bare_nvrtc, cubin), true},
      {"nvrtcDestroyProgram", offsetof(struct bare_nvrtc, destroy), true}};
  const struct nvrtc *nvrtc; /* opened by cugen, which knows where the builtins are */
  cugen_error err;
  require(nvrtc_open(b->kernel->lookup.lib->toolkit, &nvrtc, &err), &err);
  b->caches = nvrtc_version(nvrtc) >= 12090;
  require(toolkit_load(text_get(&b->kernel->lookup.lib->toolkit->nvrtc), symbols,
                       sizeof symbols / sizeof *symbols, &b->nvrtc, &err),
          &err);
}

static void check(nvrtcResult result, const char *what) {
  if (!result) return;
  fprintf(stderr, "%s: NVRTC error %d\n", what, (int)result);
  exit(1);
}

static void compile_bare(const struct bench *b, const struct kernel_spec *spec) {
  struct text arch = {0}, include = {0};
  nvrtcProgram program;
  size_t bytes;
  text_addf(&arch, "--gpu-architecture=%s", b->arch);
  text_addf(&include, "--include-path=%s", text_get(&b->kernel->lookup.lib->toolkit->include));
  const char *const options[] = {text_get(&arch),      "--std=c++17",      "-default-device",
                                 "--ptxas-options=-v", text_get(&include), "--no-cache"};
  check(b->nvrtc.create(&program, spec->source, spec->variant, 0, NULL, NULL), "create");
  for (size_t i = 0; i < spec->launch_count; i++)
    check(b->nvrtc.add_name(program, spec->launches[i].entry), "add a name");
  check(b->nvrtc.compile(program, b->caches ? 6 : 5, options), "compile");
  check(b->nvrtc.cubin_size(program, &bytes), "size");
  char *cubin = require_memory(malloc(bytes));
  check(b->nvrtc.cubin(program, cubin), "cubin");
  check(b->nvrtc.destroy(&program), "destroy");
  free(cubin);
  text_free(&arch);
  text_free(&include);
}

static void *bare_thread(void *context) {
  struct bench *b = context;
  for (size_t i; (i = atomic_fetch_add(&b->next, 1)) < b->count;) compile_bare(b, &b->specs[i]);
  return NULL;
}

static double run_bare(struct bench *b) {
  pthread_t *threads = require_memory(calloc((size_t)b->threads, sizeof *threads));
  double start = clock_seconds();
  b->next = 0;
  for (int i = 0; i < b->threads; i++)
    if (pthread_create(&threads[i], NULL, bare_thread, b)) exit(1);
  for (int i = 0; i < b->threads; i++) pthread_join(threads[i], NULL);
  free(threads);
  return (double)b->count / (clock_seconds() - start);
}

/* ---- The tuner's pool ----------------------------------------------------------------------- */

static void wait_for(struct compile_pool *builds, const struct kernel_spec *spec,
                     struct compile_job *build) {
  while (!compile_job_finished(builds, build)) compile_pool_wait(builds, 0.05);
  if (build->status) fprintf(stderr, "%s: %s\n", spec->variant, build->error.message);
  if (build->status) exit(1);
  compile_job_release(builds, build);
}

/* Keeps as many requests under way as the tuner. compilers NULL: compiles on threads of this
   process. */
static double run_pool(struct bench *b, struct compilers *compilers) {
  const struct compile_pool_options options = {.ops = &cuda_device_ops,
                                               .toolkit = b->kernel->lookup.lib->toolkit,
                                               .compilers = compilers,
                                               .arch = b->arch,
                                               .timeout = 60,
                                               .threads = b->threads};
  struct compile_job **pending = require_memory(calloc(b->count, sizeof *pending));
  struct compile_pool *builds;
  cugen_error err;
  double start = clock_seconds();
  size_t ahead = 2 * (size_t)b->threads;
  require(compile_pool_open(&options, &builds, &err), &err);
  for (size_t i = 0; i < b->count + ahead; i++) {
    if (i < b->count) require(compile_pool_request(builds, &b->specs[i], &pending[i], &err), &err);
    if (i >= ahead) wait_for(builds, &b->specs[i - ahead], pending[i - ahead]);
  }
  double rate = (double)b->count / (clock_seconds() - start);
  compile_pool_close(builds);
  free(pending);
  return rate;
}

/* ---- Sources, and the program ----------------------------------------------------------------------------------- */

/* Returns whether the source is a new one, because the tuner compiles equal sources once. */
static bool is_new(const struct bench *b, const struct kernel_spec *spec) {
  for (size_t i = 0; i < b->count; i++)
    if (strcmp(b->specs[i].source_hash.hex, spec->source_hash.hex) == 0) return false;
  return true;
}

static double expand_all(struct bench *b, size_t count) {
  cugen_error err;
  uint64_t seed = 1;
  double start = clock_seconds();
  cugen_kernel *k = b->kernel;
  b->specs = require_memory(calloc(count, sizeof *b->specs));
  require(lookup_space(&k->lookup, &err), &err);
  require(lookup_expander(&k->lookup, &err), &err);
  while (b->count < count) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    const uint64_t index = (seed >> 33) % space_valid(k->lookup.space);
    struct kernel_spec *spec = &b->specs[b->count];
    require(lookup_expand(&k->lookup, index, spec, &err), &err);
    if (is_new(b, spec))
      b->count++;
    else
      kernel_spec_free(spec);
  }
  return clock_seconds() - start;
}

static double thread_seconds(int who) {
  struct rusage use;
  getrusage(who, &use);
  return (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
         1e-6 * (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec);
}

static int number(int argc, char **argv, int at, int otherwise) {
  return argc > at && atoi(argv[at]) > 0 ? atoi(argv[at]) : otherwise;
}

/* Prints the memory of this process's children in kilobytes: of each one alone (RSS), and with
   its share of common pages (PSS). */
static void print_children(void) {
  struct text list = {0}, rollup = {0};
  long rss = 0, pss = 0, count = 0;
  cugen_error ignored;
  if (file_read("/proc/thread-self/children", &list, &ignored)) text_clear(&list);
  char *at = list.data, *end = at;
  for (long pid; at && (pid = strtol(at, &end, 10)) > 0 && end > at; at = end) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%ld/smaps_rollup", pid);
    text_clear(&rollup);
    if (file_read(path, &rollup, &ignored)) continue;
    const char *rss_line = strstr(text_get(&rollup), "\nRss:"),
               *pss_line = strstr(text_get(&rollup), "\nPss:");
    if (!rss_line || !pss_line) continue;
    rss += strtol(rss_line + 5, NULL, 10);
    pss += strtol(pss_line + 5, NULL, 10);
    count++;
  }
  if (count)
    printf("%ld idle compilers: %ld MB each (RSS), %ld MB together (PSS)\n", count,
           rss / count / 1024, pss / 1024);
  text_free(&list);
  text_free(&rollup);
}

/* Prints the rates of the first pool of each kind, which loads NVRTC, and of the later ones. */
static void print_rates(const char *which, double *bare, double *pool, double *apart,
                        size_t count) {
  double alone = median(bare, count), pooled = median(pool, count),
         processes = median(apart, count);
  printf("%s: bare NVRTC %.2f/s; the tuner's pool on threads %.2f/s = %.3f of it, bar >= %.2f %s; "
         "on processes %.2f/s = "
         "%.3f of threads, bar >= %.2f %s\n",
         which, alone, pooled, pooled / alone, bar, pooled / alone >= bar ? "met" : "MISSED",
         processes, processes / pooled, apart_bar,
         processes / pooled >= apart_bar ? "met" : "MISSED");
}

static void measure(struct bench *b, int rounds) {
  double bare[MOST_ROUNDS], pool[MOST_ROUNDS], apart[MOST_ROUNDS], own = 0, all = 0;
  for (int i = 0; i < rounds; i++) { /* the two go first in turn */
    if (i % 2) bare[i] = run_bare(b), apart[i] = run_pool(b, b->kernel->lookup.lib->compilers);
    double before = thread_seconds(RUSAGE_THREAD), whole = thread_seconds(RUSAGE_SELF);
    pool[i] = run_pool(b, NULL);
    own += thread_seconds(RUSAGE_THREAD) - before;
    all += thread_seconds(RUSAGE_SELF) - whole;
    if (i % 2 == 0) apart[i] = run_pool(b, b->kernel->lookup.lib->compilers), bare[i] = run_bare(b);
    printf("round %d: bare NVRTC %.2f/s, pool of threads %.2f/s, of processes %.2f/s\n", i + 1,
           bare[i], pool[i], apart[i]);
    fflush(stdout);
  }
  print_children();
  print_rates("the first pool", bare, pool, apart, 1);
  if (rounds > 1) print_rates("later pools", bare + 1, pool + 1, apart + 1, (size_t)rounds - 1);
  printf("the coordinating thread used %.2f%% of the pool's processor time\n", 100 * own / all);
}

int main(int argc, char **argv) {
  static const char *const settings[] = {"M=480", "N=320", "K=640"};
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  cugen *lib;
  struct bench b = {.threads = number(argc, argv, 1, cpu_count()),
                    .arch = argc > 4 ? argv[4] : "sm_90a"};
  int count = number(argc, argv, 2, 8 * b.threads), rounds = number(argc, argv, 3, 3);
  if (rounds > MOST_ROUNDS) rounds = MOST_ROUNDS;
  options.device = "cpu";
  options.cache = "none";
  options.arch = b.arch;
  require(cugen_open(&options, &lib, &err), &err);
  require(cugen_kernel_open(lib, "matmul", settings, 3, &b.kernel, &err), &err);
  print_machine("Compiling variants of matmul");
  print_version("NVRTC", b.kernel->device_info.nvrtc_version);
  double seconds = expand_all(&b, (size_t)count);
  printf("%d sources for %s, expanded in %.1f ms\n", count, b.arch, 1e3 * seconds);
  load(&b);
  measure(&b, rounds);
  for (size_t i = 0; i < b.count; i++) kernel_spec_free(&b.specs[i]);
  free(b.specs);
  cugen_kernel_close(b.kernel);
  cugen_close(lib);
  return 0;
}
