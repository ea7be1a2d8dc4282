/* Ranks of an MPI job that launch the same variant, whatever is remembered on their machines.
   Rank 0 tunes and chooses. Its choice, a few lines of text, is broadcast; the other ranks open it
   and compile the variant themselves. So equal inputs give equal results, bit for bit, on GPUs of
   one architecture:
     mpirun -np 4 ranks [SIZE [VARIANTS]]
   The ranks of a machine take its GPUs in turn, or the cpu device if it has none, or the device
   that CUGEN_DEVICE names. */
#include <cugen.h>
#include <mpi.h>

#include "../device.h"

struct job {
  int rank, ranks, local; /* local: number of the rank among those of this machine */
  size_t size;
  cugen *lib;
  cugen_kernel *kernel;
};

static void check(int status, const cugen_error *error) {
  if (status == CUGEN_OK) return;
  fprintf(stderr, "%s\n", error->message);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

/* ---- Where a rank works --------------------------------------------------------------------- */

static void find_rank(struct job *job) {
  MPI_Comm machine;
  MPI_Comm_rank(MPI_COMM_WORLD, &job->rank);
  MPI_Comm_size(MPI_COMM_WORLD, &job->ranks);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &job->local);
  MPI_Comm_free(&machine);
}

/* Names the device, such as "cuda:2"; "": the default device. */
static void name_device(int local, char *out, size_t size) {
  cugen *lib;
  cugen_error error;
  const char *why, *named = getenv("CUGEN_DEVICE");
  check(cugen_open(NULL, &lib, &error), &error);
  cugen_devices(lib, NULL, 0, &why);
  /* the last device is the cpu device */
  const size_t all = cugen_devices(lib, NULL, 0, NULL), gpus = why ? 0 : all - 1;
  *out = '\0';
  if (gpus && !(named && *named)) snprintf(out, size, "cuda:%d", local % (int)gpus);
  cugen_close(lib);
}

static void open_kernel(struct job *job) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error error;
  char device[32], text[3][32];
  const char *settings[] = {text[0], text[1], text[2]};
  name_device(job->local, device, sizeof device);
  options.device = *device ? device : NULL;
  /* other ranks open rank 0's choice and need no records */
  options.cache = job->rank ? "none" : NULL;
  for (int i = 0; i < 3; i++) snprintf(text[i], sizeof text[i], "%c=%zu", "MNK"[i], job -> size);
  check(cugen_open(&options, &job->lib, &error), &error);
  check(cugen_kernel_open(job->lib, "matmul", settings, 3, &job->kernel, &error), &error);
}

/* ---- One choice for all --------------------------------------------------------------------- */

static void tune(struct job *job, size_t variants) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  const char *result; /* JSON */
  cugen_error error;
  options.budget_count = variants;
  check(cugen_kernel_tune(job->kernel, &options, &result, &error), &error);
  printf("rank 0 tuned: %.60s...\n", result);
}

static cugen_plan *open_first(struct job *job) {
  cugen_plan *plan;
  cugen_error error;
  const void *bytes;
  size_t size;
  check(cugen_plan_open(job->kernel, NULL, &plan, &error), &error);
  check(cugen_plan_save(plan, &bytes, &size, &error), &error);
  unsigned long long length = size;
  void *copy = malloc(size);
  if (!copy) MPI_Abort(MPI_COMM_WORLD, 1);
  memcpy(copy, bytes, size); /* MPI needs writable memory */
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  MPI_Bcast(copy, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
  free(copy);
  return plan;
}

static cugen_plan *open_same(struct job *job) {
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  cugen_plan *plan;
  cugen_error error;
  unsigned long long length;
  MPI_Bcast(&length, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
  void *bytes = malloc((size_t)length);
  if (!bytes) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Bcast(bytes, (int)length, MPI_BYTE, 0, MPI_COMM_WORLD);
  options.choice = bytes;
  options.choice_size = (size_t)length;
  check(cugen_plan_open(job->kernel, &options, &plan, &error), &error);
  free(bytes);
  return plan;
}

/* ---- The product, and whether all have the same --------------------------------------------- */

/* Sums of these values are rounded, so another order of additions changes the bits. */
static float value(size_t i) {
  return (float)((i * 7 + i / 3) % 17) / 7 - 1;
}

static void *upload(const struct device *d, float *host, size_t count, CUstream stream) {
  void *memory = device_alloc(d, count * sizeof *host);
  for (size_t i = 0; i < count; i++) host[i] = value(i);
  device_upload(d, memory, host, count * sizeof *host, stream);
  device_wait(d, stream);
  return memory;
}

static void multiply(const struct job *job, cugen_plan *plan, float *out) {
  const struct device d = device_open(cugen_kernel_device(job->kernel)->id);
  const size_t count = job->size * job->size;
  CUstream stream = device_stream(&d);
  cugen_error error;
  cugen_call *call;
  void *arguments[6] = {upload(&d, out, count, stream), upload(&d, out, count, stream),
                        device_alloc(&d, count * sizeof *out)};
  check(cugen_call_bind(plan, arguments, 6, &call, &error), &error);
  check(cugen_call_launch(call, stream, &error), &error);
  device_download(&d, out, arguments[2], count * sizeof *out, stream);
  device_wait(&d, stream);
  cugen_call_close(call);
  for (int i = 0; i < 3; i++) device_free(&d, arguments[i]);
  device_end_stream(&d, stream);
  device_close(&d);
}

/* Returns the largest error of some 500 elements, which lie evenly in the matrix, in units of the
   rounding error that a sum of n terms may have. */
static double largest_error(const float *c, size_t n) {
  double worst = 0;
  for (size_t at = 0; at < n * n; at += n * n / 500 + 1) {
    double sum = 0, terms = 0;
    for (size_t k = 0; k < n; k++) {
      const double term = (double)value(at / n * n + k) * (double)value(k * n + at % n);
      sum += term, terms += term < 0 ? -term : term;
    }
    const double error = (sum > (double)c[at] ? sum - (double)c[at] : (double)c[at] - sum) /
                         (terms * (double)n * 6e-8);
    worst = error > worst ? error : worst;
  }
  return worst;
}

/* Returns how many ranks have other bits than rank 0. */
static int count_different(const struct job *job, const float *own) {
  const size_t count = job->size * job->size;
  float *first = malloc(count * sizeof *first);
  if (!first) MPI_Abort(MPI_COMM_WORLD, 1);
  memcpy(first, own, count * sizeof *first);
  MPI_Bcast(first, (int)count, MPI_FLOAT, 0, MPI_COMM_WORLD);
  int differs = memcmp(first, own, count * sizeof *first) != 0, all = 0;
  MPI_Allreduce(&differs, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  free(first);
  return all;
}

static int run(struct job *job, size_t variants) {
  float *product = malloc(job->size * job->size * sizeof *product);
  if (!product) MPI_Abort(MPI_COMM_WORLD, 1);
  open_kernel(job);
  if (job->rank == 0) tune(job, variants);
  cugen_plan *plan = job->rank ? open_same(job) : open_first(job);
  printf("rank %d on %s: %s\n", job->rank, cugen_kernel_device(job->kernel)->id,
         cugen_plan_about(plan)->variant);
  fflush(stdout);
  multiply(job, plan, product);
  const double error = largest_error(product, job->size);
  const int different = count_different(job, product), wrong = !(error < 1);
  if (job->rank == 0)
    printf("%d ranks: %s\n", job->ranks, different ? "results differ" : "the same bits everywhere");
  free(product);
  cugen_plan_close(plan);
  cugen_kernel_close(job->kernel);
  cugen_close(job->lib);
  return different || wrong;
}

int main(int argc, char **argv) {
  struct job job = {0};
  MPI_Init(&argc, &argv);
  job.size = argc > 1 ? strtoul(argv[1], NULL, 10) : 96;
  if (job.size < 1 || job.size > 8192) job.size = 96;
  find_rank(&job);
  const int bad = run(&job, argc > 2 ? strtoul(argv[2], NULL, 10) : 10);
  MPI_Finalize();
  return bad;
}
