/* Benchmark: times variants of many problems in turn, in one process, as an application launches
   them.

     bench_retime CONFIG SECONDS [NAME=VALUE...] <problems

   A line of stdin is a problem and its variants, with tabs between:
   "M=64 N=64 K=64<tab>tiled tile=16<tab>naive". A variant that is not valid for the problem is left
   out; "-" is the variant that a plan takes which remembers nothing. Each variant gets batches of a
   millisecond over buffers that together exceed the L2, in rounds whose order alternates, for
   SECONDS a problem and for three rounds at least. Prints a line of JSON for each variant: the
   settings of the problem, the variant, and the median, least and 80th percentile of its batches.
   Images come from $CUGEN_CACHE, where tuning left them; others are compiled. Results are not
   verified, because the tuner has done so. */
#include <math.h>

#include "api/choice.h"
#include "fake.h"

enum {
  MOST_VARIANTS = 128,
  MOST_SETS = 64,
  MOST_ROUNDS = 64,
  LEAST_ROUNDS = 3,
  MOST_SETTINGS = 64
};
static const double batch_seconds = 1e-3;

struct runner {
  const char *variant;
  bool untuned; /* the variant was not named: a plan chose it */
  cugen_plan *plan;
  cugen_call *calls[MOST_SETS];
  size_t next, repeats;
  double seconds[MOST_ROUNDS];
};

struct bench {
  cugen *lib, *bare;           /* bare: a library without a cache */
  const struct driver *driver; /* NULL: the cpu device */
  CUevent begin, end;
  cugen_kernel *kernel, *bare_kernel;
  struct runner runners[MOST_VARIANTS];
  size_t count, sets, rounds;
  void *buffers[MOST_SETS][KERNEL_MAX_ARGUMENTS];
};

/* ---- Buffers -------------------------------------------------------------------------------- */

/* Makes numbers between 0 and 2 in every float type, so that a product draws its usual power;
   each MiB is the same. */
static void *make_data(size_t bytes) {
  unsigned char *data = require_memory(malloc(bytes));
  const size_t drawn = bytes < 1 << 20 ? bytes : 1 << 20;
  uint64_t state = 1;
  for (size_t i = 0; i < drawn; i++) data[i] = (unsigned char)(0x30 + (random_next(&state) & 15));
  for (size_t at = drawn; at < bytes; at += drawn)
    memcpy(data + at, data, bytes - at < drawn ? bytes - at : drawn);
  return data;
}

static void *allocate(const struct bench *b, size_t bytes, const void *data) {
  CUdeviceptr memory = 0;
  void *host = NULL;
  if (b->driver) {
    check_driver(b->driver->mem_alloc(&memory, (bytes + 511) / 512 * 512), "cuMemAlloc");
    check_driver(b->driver->copy_to_device(memory, data, bytes, NULL), "cuMemcpyHtoDAsync");
    return (void *)(uintptr_t)memory; /* NOLINT(performance-no-int-to-ptr) */
  }
  if (posix_memalign(&host, 512, (bytes + 511) / 512 * 512)) exit(1);
  return memcpy(host, data, bytes);
}

static void release(const struct bench *b, void *memory) {
  if (b->driver && memory)
    check_driver(b->driver->mem_free((CUdeviceptr)(uintptr_t)memory), "cuMemFree");
  if (!b->driver) free(memory);
}

static bool is_buffer(const cugen_argument_info *info) {
  const bool kept = info->kind == CUGEN_ARGUMENT_SCALAR || info->kind == CUGEN_ARGUMENT_SCRATCH;
  return !info->absent && !kept && info->bytes > 0 && strcmp(info->access, "symbol") != 0;
}

/* Describes the argument of the first plan: all but scratch depends on the problem alone. */
static cugen_argument_info argument_of(const struct bench *b, size_t i) {
  cugen_argument_info info;
  cugen_error err;
  require(cugen_plan_argument(b->runners[0].plan, i, &info, &err), &err);
  return info;
}

/* Returns the number of buffer sets that exceed twice the L2. */
static size_t count_sets(const struct bench *b, size_t arguments) {
  const int64_t l2 = b->kernel->lookup.device.facts.l2_bytes;
  int64_t bytes = 1;
  for (size_t i = 0; i < arguments; i++) {
    const cugen_argument_info info = argument_of(b, i);
    if (is_buffer(&info)) bytes += info.bytes;
  }
  const int64_t wanted = (2 * l2 + bytes - 1) / bytes;
  return !b->driver || wanted < 1 ? 1 : wanted > MOST_SETS ? MOST_SETS : (size_t)wanted;
}

static void open_buffers(struct bench *b, size_t arguments) {
  b->sets = count_sets(b, arguments);
  for (size_t i = 0; i < arguments; i++) {
    const cugen_argument_info info = argument_of(b, i);
    if (!is_buffer(&info)) continue;
    void *data = make_data((size_t)info.bytes);
    for (size_t set = 0; set < b->sets; set++)
      b->buffers[set][i] = allocate(b, (size_t)info.bytes, data);
    if (b->driver) check_driver(b->driver->context_sync(), "cuCtxSynchronize");
    free(data);
  }
}

static void close_buffers(struct bench *b) {
  for (size_t set = 0; set < b->sets; set++)
    for (size_t i = 0; i < KERNEL_MAX_ARGUMENTS; i++) release(b, b->buffers[set][i]);
  memset(b->buffers, 0, sizeof b->buffers);
}

/* ---- Plans ---------------------------------------------------------------------------------- */

/* Writes the variant as a choice that is pinned. */
static int write_choice(struct bench *b, const char *variant, struct text *out, cugen_error *err) {
  struct lookup *l = &b->kernel->lookup;
  struct kernel_spec spec = {0};
  uint64_t index;
  int status = lookup_space(l, err);
  if (!status) status = space_find_brief(l->space, variant, &index, err);
  if (!status) status = lookup_expander(l, err);
  if (status) return status;
  status = lookup_expand(l, index, &spec, err);
  if (!status) status = api_write_choice(l, &spec, out, err);
  kernel_spec_free(&spec);
  return status;
}

static void open_untuned(struct bench *b) {
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  struct runner *runner = &b->runners[b->count];
  cugen_error err;
  *runner = (struct runner){.untuned = true};
  require(cugen_plan_open(b->bare_kernel, &options, &runner->plan, &err), &err);
  runner->variant = cugen_plan_about(runner->plan)->variant;
  b->count++;
}

static void open_runner(struct bench *b, const char *variant) {
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  struct runner *runner = &b->runners[b->count];
  struct text choice = {0};
  cugen_error err;
  *runner = (struct runner){.variant = variant};
  int status = write_choice(b, variant, &choice, &err);
  options.choice = text_get(&choice), options.choice_size = strlen(text_get(&choice));
  if (!status) status = cugen_plan_open(b->kernel, &options, &runner->plan, &err);
  if (!status)
    b->count++;
  else if (status != CUGEN_ERROR_USAGE && status != CUGEN_ERROR_CONFIG)
    fprintf(stderr, "%s %s: %s\n", cugen_kernel_problem(b->kernel), variant, err.message);
  text_free(&choice);
}

/* Leaves out variants that cannot be bound because their scratch takes too much memory. */
static void bind_all(struct bench *b, size_t arguments) {
  size_t kept = 0;
  for (size_t i = 0; i < b->count; i++) {
    struct runner *runner = &b->runners[i];
    cugen_error err;
    int status = CUGEN_OK;
    for (size_t set = 0; set < b->sets && !status; set++)
      status = cugen_call_bind(runner->plan, b->buffers[set], arguments, &runner->calls[set], &err);
    if (!status) {
      b->runners[kept++] = *runner;
      continue;
    }
    fprintf(stderr, "%s %s: %s\n", cugen_kernel_problem(b->kernel), runner->variant, err.message);
    for (size_t set = 0; set < b->sets; set++) cugen_call_close(runner->calls[set]);
    cugen_plan_close(runner->plan);
  }
  b->count = kept;
}

static void close_runners(struct bench *b) {
  for (size_t i = 0; i < b->count; i++) {
    for (size_t set = 0; set < b->sets; set++) cugen_call_close(b->runners[i].calls[set]);
    cugen_plan_close(b->runners[i].plan);
  }
  b->count = 0;
}

/* ---- Timing --------------------------------------------------------------------------------- */

/* Returns the seconds of one launch, timed over so many. */
static double time_batch(const struct bench *b, struct runner *runner, size_t launches) {
  cugen_error err;
  float milliseconds = 0;
  const double begin = clock_seconds();
  if (b->driver) check_driver(b->driver->event_record(b->begin, NULL), "cuEventRecord");
  for (size_t i = 0; i < launches; i++, runner->next = (runner->next + 1) % b->sets)
    require(cugen_call_launch(runner->calls[runner->next], NULL, &err), &err);
  if (!b->driver) return (clock_seconds() - begin) / (double)launches;
  check_driver(b->driver->event_record(b->end, NULL), "cuEventRecord");
  check_driver(b->driver->context_sync(), "cuCtxSynchronize");
  check_driver(b->driver->event_elapsed(&milliseconds, b->begin, b->end), "cuEventElapsedTime");
  return (double)milliseconds * 1e-3 / (double)launches;
}

/* The first launch warms up, the second says how many make a batch. */
static void size_batches(struct bench *b) {
  for (size_t i = 0; i < b->count; i++) {
    struct runner *runner = &b->runners[i];
    time_batch(b, runner, 1);
    runner->repeats = (size_t)ceil(batch_seconds / fmax(time_batch(b, runner, 2), 1e-7));
  }
}

static void time_all(struct bench *b, double seconds) {
  const double end = clock_seconds() + seconds;
  size_batches(b);
  for (b->rounds = 0;
       b->rounds < MOST_ROUNDS && (b->rounds < LEAST_ROUNDS || clock_seconds() < end); b->rounds++)
    for (size_t i = 0; i < b->count; i++) {
      struct runner *runner = &b->runners[b->rounds % 2 ? b->count - 1 - i : i];
      runner->seconds[b->rounds] = time_batch(b, runner, runner->repeats);
    }
}

static void print_all(struct bench *b, const char *settings) {
  for (size_t i = 0; i < b->count; i++) {
    double *seconds = b->runners[i].seconds;
    const double middle = median(seconds, b->rounds);
    printf("{\"problem\": \"%s\", \"variant\": \"%s\", \"untuned\": %s, \"seconds\": %.4g, "
           "\"least\": %.4g, \"p80\": "
           "%.4g, "
           "\"rounds\": %zu}\n",
           settings, b->runners[i].variant, b->runners[i].untuned ? "true" : "false", middle,
           seconds[0], quantile(seconds, b->rounds, 0.8), b->rounds);
  }
  fflush(stdout);
}

/* ---- A problem ------------------------------------------------------------------------------ */

static void open_kernel(struct bench *b, const char *config, char **words, size_t count,
                        char *settings) {
  const char *all[MOST_SETTINGS];
  size_t at = 0;
  cugen_error err;
  char *next = NULL;
  for (size_t i = 0; i < count && at < MOST_SETTINGS; i++) all[at++] = words[i];
  for (char *word = strtok_r(settings, " ", &next); word && at < MOST_SETTINGS;
       word = strtok_r(NULL, " ", &next))
    all[at++] = word;
  require(cugen_kernel_open(b->lib, config, all, at, &b->kernel, &err), &err);
  require(cugen_kernel_open(b->bare, config, all, at, &b->bare_kernel, &err), &err);
}

static void run_problem(struct bench *b, char *line, double seconds, char **words, int count) {
  char *next = NULL, *settings = strtok_r(line, "\t", &next), *copy = strdup(settings);
  open_kernel(b, words[0], words + 1, (size_t)(count - 1), require_memory(copy));
  for (char *variant = strtok_r(NULL, "\t", &next); variant && b->count < MOST_VARIANTS;
       variant = strtok_r(NULL, "\t", &next))
    if (strcmp(variant, "-") == 0)
      open_untuned(b);
    else
      open_runner(b, variant);
  if (b->count) {
    const size_t arguments = cugen_plan_about(b->runners[0].plan)->arguments;
    open_buffers(b, arguments);
    bind_all(b, arguments);
    time_all(b, seconds);
    print_all(b, settings);
    close_runners(b);
    close_buffers(b);
  }
  cugen_kernel_close(b->kernel);
  cugen_kernel_close(b->bare_kernel);
  free(copy);
}

static void open_driver(struct bench *b, char **words, int count) {
  CUcontext context;
  cugen_error err;
  cugen_kernel *kernel;
  require(cugen_kernel_open(b->lib, words[0], (const char *const *)(words + 1), (size_t)(count - 1),
                            &kernel, &err),
          &err);
  const bool is_gpu = kernel->lookup.device.facts.is_gpu;
  cugen_kernel_close(kernel);
  if (!is_gpu) return;
  require(driver_open(b->lib->toolkit, &b->driver, &err), &err);
  check_driver(b->driver->context_retain(&context, 0), "cuDevicePrimaryCtxRetain");
  check_driver(b->driver->context_push(context), "cuCtxPushCurrent");
  check_driver(b->driver->event_create(&b->begin, 0), "cuEventCreate");
  check_driver(b->driver->event_create(&b->end, 0), "cuEventCreate");
}

int main(int argc, char **argv) {
  static struct bench b;
  static char line[1 << 17];
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  if (argc < 3) {
    fprintf(stderr, "usage: %s CONFIG SECONDS [NAME=VALUE...] <problems\n", argv[0]);
    return 2;
  }
  const double seconds = atof(argv[2]);
  argv[2] = argv[1];
  options.device = getenv("CUGEN_DEVICE");
  require(cugen_open(&options, &b.lib, &err), &err);
  options.cache = "none";
  require(cugen_open(&options, &b.bare, &err), &err);
  open_driver(&b, argv + 2, argc - 2);
  while (fgets(line, sizeof line, stdin)) {
    line[strcspn(line, "\n")] = '\0';
    if (*line) run_problem(&b, line, seconds, argv + 2, argc - 2);
  }
  cugen_close(b.lib);
  cugen_close(b.bare);
  return 0;
}
