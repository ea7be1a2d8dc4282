/* An application that ships tuned kernels without cugen: `cugen export matmul` wrote matmul.h and
   matmul.c. The application multiplies matrices of a few sizes on a stream of its own, prints which
   variant each size got and why, and checks some elements of every result:
     main [M N K]...
   Exit code 77: there is no driver or no GPU, or the bundle has no code for the GPU. README.md
   beside this file says how to build the application. */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "matmul.h"

/* ---- The driver: an application with CUDA code of its own calls it directly ----------------- */

enum { NON_BLOCKING = 1 }; /* CU_STREAM_NON_BLOCKING */

static struct {
  int (*init)(unsigned);
  int (*retain)(void **context, int device);
  int (*release)(int device);
  int (*make_current)(void *context);
  int (*stream)(void **stream, unsigned flags);
  int (*end_stream)(void *stream);
  int (*wait)(void *stream);
  int (*alloc)(void **memory, size_t bytes);
  int (*free)(void *memory);
  int (*upload)(void *to, const void *from, size_t bytes, void *stream);
  int (*download)(void *to, const void *from, size_t bytes, void *stream);
} cu;

static const struct {
  const char *name;
  void *place;
} functions[] = {{"cuInit", &cu.init},
                 {"cuDevicePrimaryCtxRetain", &cu.retain},
                 {"cuDevicePrimaryCtxRelease_v2", &cu.release},
                 {"cuCtxSetCurrent", &cu.make_current},
                 {"cuStreamCreate", &cu.stream},
                 {"cuStreamDestroy_v2", &cu.end_stream},
                 {"cuStreamSynchronize", &cu.wait},
                 {"cuMemAlloc_v2", &cu.alloc},
                 {"cuMemFree_v2", &cu.free},
                 {"cuMemcpyHtoDAsync_v2", &cu.upload},
                 {"cuMemcpyDtoHAsync_v2", &cu.download}};

static void skip(const char *why) {
  printf("skipped: %s\n", why);
  exit(77);
}

static void check(int failed, const char *doing, const char *why) {
  if (!failed) return;
  fprintf(stderr, "%s: error %d %s\n", doing, failed, why);
  exit(1);
}

static void open_driver(void) {
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) skip("there is no CUDA driver (libcuda.so.1)");
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    void *address = dlsym(library, functions[i].name);
    if (!address) skip(functions[i].name);
    memcpy(functions[i].place, &address, sizeof address);
  }
  if (cu.init(0)) skip("the CUDA driver sees no GPU");
}

/* ---- Matrices ------------------------------------------------------------------------------- */

struct matrix {
  size_t count;
  float *host;
  void *device;
};

/* Makes a matrix of small multiples of 1/8, so that every product and sum is exact in f32. */
static struct matrix make(size_t count, void *stream) {
  struct matrix m = {count, malloc(count * sizeof(float)), NULL};
  if (!m.host) exit(1);
  for (size_t i = 0; i < count; i++) m.host[i] = (float)((i * 7 + i / 3) % 17) / 8 - 1;
  check(cu.alloc(&m.device, count * sizeof(float)), "allocate", "");
  check(cu.upload(m.device, m.host, count * sizeof(float), stream), "upload", "");
  return m;
}

static void end(struct matrix *m) {
  cu.free(m->device);
  free(m->host);
}

static size_t wrong_elements(const struct matrix m[3], size_t columns, size_t depth) {
  size_t wrong = 0;
  for (size_t at = 0; at < m[2].count; at += m[2].count / 1000 + 1) {
    double sum = 0;
    for (size_t k = 0; k < depth; k++)
      sum += (double)m[0].host[at / columns * depth + k] *
             (double)m[1].host[k * columns + at % columns];
    wrong += !(fabs(sum - (double)m[2].host[at]) <= 1e-6 * fabs(sum));
  }
  return wrong;
}

/* ---- One product ---------------------------------------------------------------------------- */

static void say(const long long sizes[3], const matmul_info *info, size_t wrong) {
  static const char *const how[] = {"the best measured", "the best of a near problem",
                                    "the default, never measured"};
  printf("%lld x %lld x %lld: %s\n  %s", sizes[0], sizes[1], sizes[2], info->variant,
         how[info->choice]);
  if (info->tuned_for) printf(" (%s, distance %.2g)", info->tuned_for, info->distance);
  printf(", for %s as %s; %zu wrong elements\n", info->device, info->arch, wrong);
}

static size_t multiply(matmul_library *library, const long long sizes[3], void *stream) {
  matmul_problem problem = MATMUL_PROBLEM_INIT;
  matmul_plan *plan;
  matmul_call *call;
  matmul_error error;
  size_t m = (size_t)sizes[0], n = (size_t)sizes[1], k = (size_t)sizes[2];
  problem.M = sizes[0], problem.N = sizes[1], problem.K = sizes[2];
  check(matmul_pick(library, &problem, &plan, &error), "pick", error.message);
  struct matrix matrices[3] = {make(m * k, stream), make(k * n, stream), make(m * n, stream)};
  void *arguments[MATMUL_ARGUMENTS] = {matrices[0].device, matrices[1].device, matrices[2].device};
  check(matmul_bind(plan, arguments, MATMUL_ARGUMENTS, &call, &error), "bind", error.message);
  check(matmul_launch(call, stream, &error), "launch", error.message);
  check(cu.download(matrices[2].host, matrices[2].device, m * n * sizeof(float), stream),
        "download", "");
  check(cu.wait(stream), "run", "");
  size_t wrong = wrong_elements(matrices, n, k);
  say(sizes, matmul_about(plan), wrong);
  matmul_release(call);
  matmul_drop(plan);
  for (int i = 0; i < 3; i++) end(&matrices[i]);
  return wrong;
}

int main(int argc, char **argv) {
  static const long long usual[] = {512, 512, 512, 700, 600, 500, 1001, 33, 65};
  long long sizes[3];
  matmul_library *library;
  matmul_error error;
  void *context, *stream;
  size_t wrong = 0;
  open_driver();
  check(cu.retain(&context, 0), "context", "");
  check(cu.make_current(context), "context", "");
  check(cu.stream(&stream, NON_BLOCKING), "stream", "");
  int status = matmul_open(context, &library, &error);
  if (status == MATMUL_ERROR_MISSING) skip(error.message);
  check(status, "open", error.message);
  int count = argc > 3 ? (argc - 1) / 3 : 3;
  for (int i = 0; i < count; i++) {
    for (int j = 0; j < 3; j++) sizes[j] = argc > 3 ? atoll(argv[1 + 3 * i + j]) : usual[3 * i + j];
    wrong += multiply(library, sizes, stream);
  }
  matmul_close(library);
  cu.end_stream(stream);
  cu.release(0);
  return wrong ? 1 : 0;
}
