/* An application with a CUDA context and a stream of its own launches cugen's matmul among its own work:
     embed_matmul [M N K]
   It prints which variant it got and why, and checks the result. Untuned, it gets the config's first variant;
   `cugen tune matmul --set M=... --set N=... --set K=...` before gives it the best. Exit code 77: no GPU here.

   The driver is opened by name so that this builds and starts where there is none; an application that links -lcuda
   calls the same functions directly. */
#include <cuda.h>
#include <cugen.h>
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- The driver ---------------------------------------------------------------------------------------------------- */

static struct {
  CUresult (*init)(unsigned);
  CUresult (*device)(CUdevice *, int);
  CUresult (*retain)(CUcontext *, CUdevice);
  CUresult (*release)(CUdevice);
  CUresult (*current)(CUcontext);
  CUresult (*stream)(CUstream *, unsigned);
  CUresult (*stream_end)(CUstream);
  CUresult (*wait)(CUstream);
  CUresult (*alloc)(CUdeviceptr *, size_t);
  CUresult (*free)(CUdeviceptr);
  CUresult (*upload)(CUdeviceptr, const void *, size_t, CUstream);
  CUresult (*download)(void *, CUdeviceptr, size_t, CUstream);
} cu;

static const struct {
  const char *name;
  void *place;
} functions[] = {{"cuInit", &cu.init},
                 {"cuDeviceGet", &cu.device},
                 {"cuDevicePrimaryCtxRetain", &cu.retain},
                 {"cuDevicePrimaryCtxRelease_v2", &cu.release},
                 {"cuCtxSetCurrent", &cu.current},
                 {"cuStreamCreate", &cu.stream},
                 {"cuStreamDestroy_v2", &cu.stream_end},
                 {"cuStreamSynchronize", &cu.wait},
                 {"cuMemAlloc_v2", &cu.alloc},
                 {"cuMemFree_v2", &cu.free},
                 {"cuMemcpyHtoDAsync_v2", &cu.upload},
                 {"cuMemcpyDtoHAsync_v2", &cu.download}};

/* NULL, or why there is nothing to run on. */
static const char *open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) return "there is no CUDA driver (libcuda.so.1)";
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    if (!(*(void **)functions[i].place = dlsym(library, functions[i].name))) return functions[i].name;
  return cu.init(0) ? "the CUDA driver sees no GPU" : NULL;
}

static void check(CUresult result, const char *doing) {
  if (result == CUDA_SUCCESS) return;
  fprintf(stderr, "%s: CUDA error %d\n", doing, (int)result);
  exit(1);
}

/* ---- The application's own matrices -------------------------------------------------------------------------------- */

struct matrix {
  size_t count;
  float *host;
  CUdeviceptr device;
};

static struct matrix make(size_t count, CUstream stream) {
  struct matrix m = {count, malloc(count * sizeof(float)), 0};
  if (!m.host) exit(1);
  for (size_t i = 0; i < count; i++) m.host[i] = (float)((i * 7 + i / 3) % 17) / 8 - 1;
  check(cu.alloc(&m.device, count * sizeof(float)), "allocate");
  check(cu.upload(m.device, m.host, count * sizeof(float), stream), "upload");
  return m;
}

static void end(struct matrix *m) {
  cu.free(m->device);
  free(m->host);
}

/* The largest error of some of C's elements, all of which are small multiples of 1/64: exact in f32. */
static double largest_error(const struct matrix *a, const struct matrix *b, const struct matrix *c, size_t columns,
                            size_t depth) {
  double worst = 0;
  for (size_t at = 0; at < c->count; at += c->count / 1000 + 1) {
    double sum = 0;
    for (size_t k = 0; k < depth; k++)
      sum += (double)a->host[at / columns * depth + k] * (double)b->host[k * columns + at % columns];
    worst = fmax(worst, fabs(sum - (double)c->host[at]));
  }
  return worst;
}

/* ---- The plan ------------------------------------------------------------------------------------------------------ */

static void print_provenance(const cugen_plan_info *info) {
  static const char *const how[] = {"the best remembered", "the best of a near problem",
                                    "the default, never measured"};
  printf("%s %s\n  variant   %s\n  chosen    %s\n", info->kernel, info->problem, info->variant, how[info->choice]);
  if (info->tuned_for) printf("  tuned for %s: %.4g ms\n", info->tuned_for, info->record.seconds * 1e3);
  printf("  source    %s, image %s\n", info->source_hash, info->image_from_cache ? "from the cache" : "compiled now");
}

/* The kernel for these sizes, loaded into the context that is current. */
static cugen_plan *open_plan(cugen *lib, const size_t sizes[3]) {
  char text[3][32];
  const char *settings[] = {text[0], text[1], text[2]};
  cugen_plan_options options = CUGEN_PLAN_OPTIONS_INIT;
  cugen_error error;
  cugen_kernel *kernel;
  cugen_plan *plan = NULL;
  for (int i = 0; i < 3; i++) snprintf(text[i], sizeof text[i], "%c=%zu", "MNK"[i], sizes[i]);
  options.distance = 1; /* what is best for sizes within a factor of two will do */
  int status = cugen_kernel_open(lib, "matmul", settings, 3, &kernel, &error);
  if (!status) status = cugen_plan_open(kernel, &options, &plan, &error);
  if (status) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  cugen_kernel_close(kernel);
  print_provenance(cugen_plan_about(plan));
  return plan;
}

/* C = A * B on the stream; the sizes, being scalars of the problem, are NULL. */
static void multiply(cugen_plan *plan, CUstream stream, struct matrix m[3]) {
  void *arguments[6] = {0};
  cugen_error error;
  cugen_call *call;
  for (int i = 0; i < 3; i++) arguments[i] = (void *)(uintptr_t)m[i].device;
  int status = cugen_call_bind(plan, arguments, 6, &call, &error);
  if (!status) status = cugen_call_launch(call, stream, &error); /* as often as wanted */
  if (status) {
    fprintf(stderr, "%s\n", error.message);
    exit(1);
  }
  check(cu.download(m[2].host, m[2].device, m[2].count * sizeof(float), stream), "download");
  check(cu.wait(stream), "run");
  cugen_call_close(call);
}

int main(int argc, char **argv) {
  size_t sizes[3] = {1000, 500, 300};
  for (int i = 0; i < 3 && argc == 4; i++) sizes[i] = strtoul(argv[i + 1], NULL, 10);
  const char *missing = open_driver();
  if (missing) {
    printf("skipped: %s\n", missing);
    return 77;
  }
  CUdevice device;
  CUcontext context;
  CUstream stream;
  cugen *lib;
  cugen_error error;
  check(cu.device(&device, 0), "device");
  check(cu.retain(&context, device), "context");
  check(cu.current(context), "context");
  check(cu.stream(&stream, CU_STREAM_NON_BLOCKING), "stream");
  if (cugen_open(NULL, &lib, &error)) return fprintf(stderr, "%s\n", error.message), 1;
  size_t m = sizes[0], n = sizes[1], k = sizes[2];
  struct matrix matrices[3] = {make(m * k, stream), make(k * n, stream), make(m * n, stream)};
  cugen_plan *plan = open_plan(lib, sizes);
  multiply(plan, stream, matrices);
  double worst = largest_error(&matrices[0], &matrices[1], &matrices[2], n, k);
  printf("  error     %g\n", worst);
  cugen_plan_close(plan);
  cugen_close(lib);
  for (int i = 0; i < 3; i++) end(&matrices[i]);
  cu.stream_end(stream);
  cu.release(device);
  return worst <= 1e-4 * (double)k ? 0 : 1;
}
