/* An application with a CUDA context and a stream of its own launches cugen's matmul among its own
   work, prints which variant it got and why, and checks the result:
     embed_matmul [M N K]
   An untuned problem gets the best variant of a near problem, or the default variant; after
   `cugen tune matmul --set M=... --set N=... --set K=...` the problem gets its own best. The program
   runs on the first GPU; without a GPU, or with CUGEN_DEVICE=cpu, on the cpu device. cugen's build
   makes build/examples/embed_matmul; by hand: cc embed_matmul.c -lcugen -lm -ldl */
#include <cugen.h>
#include <math.h>

#include "device.h"

static void check(int status, const cugen_error *error) {
  if (status == CUGEN_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

/* ---- The application's own matrices --------------------------------------------------------- */

struct matrix {
  size_t count;
  float *host;
  void *device;
};

static struct matrix make(const struct device *d, size_t count, CUstream stream) {
  struct matrix m = {count, malloc(count * sizeof(float)), device_alloc(d, count * sizeof(float))};
  if (!m.host) exit(1);
  for (size_t i = 0; i < count; i++) m.host[i] = (float)((i * 7 + i / 3) % 17) / 8 - 1;
  device_upload(d, m.device, m.host, count * sizeof(float), stream);
  return m;
}

/* Returns the largest error of some of C's elements. Elements are small multiples of 1/64, which
   f32 holds exactly. */
static double largest_error(const struct matrix *a, const struct matrix *b, const struct matrix *c,
                            size_t columns, size_t depth) {
  double worst = 0;
  for (size_t at = 0; at < c->count; at += c->count / 1000 + 1) {
    double sum = 0;
    for (size_t k = 0; k < depth; k++)
      sum +=
          (double)a->host[at / columns * depth + k] * (double)b->host[k * columns + at % columns];
    worst = fmax(worst, fabs(sum - (double)c->host[at]));
  }
  return worst;
}

/* ---- The plan ------------------------------------------------------------------------------- */

static cugen_kernel *open_kernel(cugen *lib, const size_t sizes[3]) {
  char text[3][32];
  const char *settings[] = {text[0], text[1], text[2]};
  cugen_error error;
  cugen_kernel *kernel;
  for (int i = 0; i < 3; i++) snprintf(text[i], sizeof text[i], "%c=%zu", "MNK"[i], sizes[i]);
  check(cugen_kernel_open(lib, "matmul", settings, 3, &kernel, &error), &error);
  return kernel;
}

static void print_provenance(const cugen_plan_info *info, const cugen_device_info *device) {
  static const char *const how[] = {[CUGEN_PLAN_EXACT] = "the best remembered",
                                    [CUGEN_PLAN_NEAR] = "the best of a near problem",
                                    [CUGEN_PLAN_DEFAULT] = "the default, never measured",
                                    [CUGEN_PLAN_PINNED] = "pinned",
                                    [CUGEN_PLAN_PORTFOLIO] = "the portfolio's for such sizes",
                                    [CUGEN_PLAN_OTHER_GPU] = "the best of another GPU"};
  printf("%s %s on %s\n", info->kernel, info->problem, device->name);
  printf("  variant   %s\n  chosen    %s\n", info->variant, how[info->choice]);
  if (info->tuned_for) printf("  tuned for %s: %.4g ms\n", info->tuned_for, info->seconds * 1e3);
  printf("  source    %s, image %s\n", info->source_hash,
         info->image_from_cache ? "from the cache" : "compiled now");
}

/* Opens a plan in the current context. */
static cugen_plan *open_plan(cugen_kernel *kernel) {
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  cugen_error error;
  cugen_plan *plan;
  options.distance = 1; /* the best variant for sizes within a factor of two will do */
  check(cugen_plan_open(kernel, &options, &plan, &error), &error);
  print_provenance(cugen_plan_about(plan), cugen_kernel_device(kernel));
  return plan;
}

/* Computes C = A * B on the stream. The three sizes are NULL arguments, because the plan's problem
   has them. */
static void multiply(const struct device *d, cugen_plan *plan, CUstream stream,
                     struct matrix m[3]) {
  void *arguments[6] = {m[0].device, m[1].device, m[2].device};
  cugen_error error;
  cugen_call *call;
  check(cugen_call_bind(plan, arguments, 6, &call, &error), &error);
  check(cugen_call_launch(call, stream, &error), &error); /* could be repeated */
  device_download(d, m[2].host, m[2].device, m[2].count * sizeof(float), stream);
  device_wait(d, stream);
  cugen_call_close(call);
}

int main(int argc, char **argv) {
  size_t sizes[3] = {1000, 500, 300};
  for (int i = 0; i < 3 && argc == 4; i++) sizes[i] = strtoul(argv[i + 1], NULL, 10);
  size_t m = sizes[0], n = sizes[1], k = sizes[2];
  cugen *lib;
  cugen_error error;
  check(cugen_open(NULL, &lib, &error), &error);
  cugen_kernel *kernel = open_kernel(lib, sizes);
  const struct device device = device_open(cugen_kernel_device(kernel)->id);
  CUstream stream = device_stream(&device);
  struct matrix matrices[3] = {make(&device, m * k, stream), make(&device, k * n, stream),
                               make(&device, m * n, stream)};
  cugen_plan *plan = open_plan(kernel);
  multiply(&device, plan, stream, matrices);
  double worst = largest_error(&matrices[0], &matrices[1], &matrices[2], n, k);
  printf("  error     %g\n", worst);
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  for (int i = 0; i < 3; i++) {
    device_free(&device, matrices[i].device);
    free(matrices[i].host);
  }
  device_end_stream(&device, stream);
  device_close(&device);
  return worst <= 1e-4 * (double)k ? 0 : 1;
}
