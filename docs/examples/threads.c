/* Several threads share one plan: each binds a call with its own data and launches it on its own
   stream:
     threads [THREADS [LAUNCHES]]
   A plan may be used by several threads at once, a call by one at a time. On a GPU launching takes
   no lock; on the cpu device (no GPU, or CUGEN_DEVICE=cpu) the launches of a plan take turns.
   cugen's build makes build/examples/threads; by hand:
   cc threads.c -lcugen -lpthread -ldl */
#include <cugen.h>
#include <pthread.h>

#include "device.h"

enum { M = 65, N = 44, K = 31, MOST_THREADS = 64 };

struct work {
  pthread_t thread;
  const struct device *device;
  cugen_plan *plan;
  int number, launches;
  float a[M * K], b[K * N], c[M * N];
  int wrong;
};

static void check(int status, const cugen_error *error) {
  if (status == CUGEN_OK) return;
  fprintf(stderr, "%s\n", error->message);
  exit(1);
}

/* Fills a and b with small integers, so that sums are exact. */
static void fill(struct work *w) {
  for (int i = 0; i < M * K; i++) w->a[i] = (float)((i + w->number) % 7 - 3);
  for (int i = 0; i < K * N; i++) w->b[i] = (float)((i * w->number) % 5 - 2);
}

static int count_wrong(const struct work *w) {
  int wrong = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float sum = 0;
      for (int k = 0; k < K; k++) sum += w->a[i * K + k] * w->b[k * N + j];
      wrong += sum != w->c[i * N + j];
    }
  return wrong;
}

static void *run(void *context) {
  struct work *w = context;
  const struct device *d = w->device;
  cugen_error error;
  cugen_call *call;
  device_enter(d);
  CUstream stream = device_stream(d);
  void *a = device_alloc(d, sizeof w->a), *b = device_alloc(d, sizeof w->b),
       *c = device_alloc(d, sizeof w->c);
  void *arguments[6] = {a, b, c};
  fill(w);
  device_upload(d, a, w->a, sizeof w->a, stream);
  device_upload(d, b, w->b, sizeof w->b, stream);
  check(cugen_call_bind(w->plan, arguments, 6, &call, &error), &error);
  for (int i = 0; i < w->launches; i++) check(cugen_call_launch(call, stream, &error), &error);
  device_download(d, w->c, c, sizeof w->c, stream);
  device_wait(d, stream);
  w->wrong = count_wrong(w);
  cugen_call_close(call);
  device_free(d, a);
  device_free(d, b);
  device_free(d, c);
  device_end_stream(d, stream);
  return NULL;
}

static int run_all(const struct device *d, cugen_plan *plan, int threads, int launches) {
  struct work *work = calloc((size_t)threads, sizeof *work);
  int wrong = 0;
  if (!work) return 1;
  for (int i = 0; i < threads; i++) {
    work[i].device = d, work[i].plan = plan, work[i].number = i, work[i].launches = launches;
    if (pthread_create(&work[i].thread, NULL, run, &work[i])) exit(1);
  }
  for (int i = 0; i < threads; i++) {
    pthread_join(work[i].thread, NULL);
    wrong += work[i].wrong;
  }
  free(work);
  return wrong;
}

int main(int argc, char **argv) {
  static const char *const sizes[] = {"M=65", "N=44", "K=31"};
  int threads = argc > 1 ? atoi(argv[1]) : 8, launches = argc > 2 ? atoi(argv[2]) : 10;
  cugen *lib;
  cugen_kernel *kernel;
  cugen_plan *plan;
  cugen_error error;
  if (threads < 1 || threads > MOST_THREADS)
    return fprintf(stderr, "1 to %d threads\n", MOST_THREADS), 1;
  check(cugen_open(NULL, &lib, &error), &error);
  check(cugen_kernel_open(lib, "matmul", sizes, 3, &kernel, &error), &error);
  const struct device device = device_open(cugen_kernel_device(kernel)->id);
  check(cugen_plan_open(kernel, NULL, &plan, &error), &error);
  int wrong = run_all(&device, plan, threads, launches);
  printf("%d threads, %d launches each of %s on %s: %d wrong elements\n", threads, launches,
         cugen_plan_about(plan)->variant, cugen_kernel_device(kernel)->name, wrong);
  cugen_plan_close(plan);
  cugen_kernel_close(kernel);
  cugen_close(lib);
  device_close(&device);
  return wrong ? 1 : 0;
}
