/* The host side of smooth.cu: launches the plan's variant for n a hundred times, to and fro between
   two buffers, and checks the first result:
     smooth smooth.lua [n]
   The program runs on the first GPU; without a GPU, or with CUGEN_DEVICE=cpu, on the cpu device.
   README.md beside this file has the commands to run before. */
#include <cugen.h>
#include <math.h>

#include "../device.h"

enum { STEPS = 100 };
static const float centre = 0.6f; /* passed at launch, in place of the config's value */

static void check(int status, const cugen_error *error) {
  if (status == CUGEN_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

static cugen_kernel *open_kernel(cugen *lib, const char *config, int n) {
  char text[32];
  const char *setting = text;
  cugen_error error;
  cugen_kernel *kernel;
  snprintf(text, sizeof text, "n=%d", n);
  check(cugen_kernel_open(lib, config, &setting, 1, &kernel, &error), &error);
  return kernel;
}

static cugen_call *bind(cugen_plan *plan, void *to, void *from) {
  void *arguments[] = {to, from, (void *)(size_t)&centre, NULL};
  cugen_error error;
  cugen_call *call;
  check(cugen_call_bind(plan, arguments, 4, &call, &error), &error);
  return call;
}

static double largest_error(const float *in, const float *out, int n) {
  double worst = 0;
  for (int i = 0; i < n; i++) {
    double left = (double)in[i > 0 ? i - 1 : 0], right = (double)in[i + 1 < n ? i + 1 : i];
    double want = (double)centre * (double)in[i] + (1.0 - (double)centre) / 2.0 * (left + right);
    worst = fmax(worst, fabs(want - (double)out[i]));
  }
  return worst;
}

/* Launches alternately from a to b and from b to a. *out gets the result of the first launch. */
static void run(const struct device *d, cugen_plan *plan, const float *in, float *out,
                size_t bytes) {
  CUstream stream = device_stream(d);
  void *a = device_alloc(d, bytes), *b = device_alloc(d, bytes);
  cugen_call *calls[] = {bind(plan, b, a), bind(plan, a, b)};
  cugen_error error;
  device_upload(d, a, in, bytes, stream);
  for (int step = 0; step < STEPS; step++) {
    check(cugen_call_launch(calls[step % 2], stream, &error), &error);
    if (step == 0) device_download(d, out, b, bytes, stream);
  }
  device_wait(d, stream);
  cugen_call_close(calls[0]);
  cugen_call_close(calls[1]);
  device_free(d, a);
  device_free(d, b);
  device_end_stream(d, stream);
}

int main(int argc, char **argv) {
  static const char *const how[] = {[CUGEN_PLAN_EXACT] = "the best remembered",
                                    [CUGEN_PLAN_NEAR] = "the best of a near problem",
                                    [CUGEN_PLAN_DEFAULT] = "the default, never measured",
                                    [CUGEN_PLAN_PINNED] = "pinned",
                                    [CUGEN_PLAN_PORTFOLIO] = "the portfolio's for such sizes",
                                    [CUGEN_PLAN_OTHER_GPU] = "the best of another GPU"};
  int n = argc > 2 ? atoi(argv[2]) : 100000;
  size_t bytes = (size_t)n * sizeof(float);
  cugen *lib;
  cugen_plan *plan;
  cugen_error error;
  if (argc < 2 || n < 1) return fprintf(stderr, "smooth smooth.lua [n]\n"), 2;
  float *in = malloc(bytes), *out = malloc(bytes);
  if (!in || !out) exit(1);
  for (int i = 0; i < n; i++) in[i] = (float)(i * 37 % 101) / 101;
  check(cugen_open(NULL, &lib, &error), &error);
  cugen_kernel *kernel = open_kernel(lib, argv[1], n);
  const struct device device = device_open(cugen_kernel_device(kernel)->id);
  check(cugen_plan_open(kernel, NULL, &plan, &error), &error);
  run(&device, plan, in, out, bytes);
  double worst = largest_error(in, out, n);
  const cugen_plan_info *info = cugen_plan_about(plan);
  printf("%s %s on %s: %s (%s), error %g\n", info->kernel, info->problem,
         cugen_kernel_device(kernel)->name, info->variant, how[info->choice], worst);
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  device_close(&device);
  free(in);
  free(out);
  return worst < 1e-6 ? 0 : 1;
}
