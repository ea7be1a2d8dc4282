/* Which GPUs this machine has. The driver says it, once it is started, which takes 0.2 s and more. A program that is going to tune starts it in
   the worker alone: that lists the GPUs, and the first tuning goes on with it. Meanwhile compilers start, too. Where it lists none this process looks for itself, and knows why. */
#include <stdlib.h>

#include "base/system.h"
#include "library.h"
#include "runtime/cuda/compilers.h"
#include "runtime/devices.h"
#include "tune/worker.h"

/* More are started when they are needed: a first result waits for some ten compiles. */
enum { MOST_PREPARED = 16 };

void api_expect_tuning(cugen *lib, int threads) {
  if (!lib) return;
  if (threads <= 0) threads = cpu_count();
  lib->prepared = threads < MOST_PREPARED ? threads : MOST_PREPARED;
}

/* A machine without the driver is spared all processes. */
static bool has_driver(const cugen *lib) {
  cugen_error ignored;
  return toolkit_load(text_get(&lib->toolkit->driver), NULL, 0, NULL, &ignored) == CUGEN_OK;
}

/* Compilers load NVRTC while CUDA starts. Under the lock. */
static void list_gpus(cugen *lib) {
  const struct worker_options options = {.program = lib->worker, .toolkit = lib->toolkit_options};
  struct worker *worker;
  cugen_error ignored; /* it comes again when the worker is needed */
  lib->gpus_asked = true;
  if (!lib->worker || !has_driver(lib) || worker_open(&options, &worker, &ignored)) return;
  worker_ask_gpus(worker);
  compilers_prepare(lib->compilers, lib->prepared);
  lib->gpu_count = worker_take_gpus(worker, &lib->gpus);
  if (lib->gpu_count)
    lib->looked = worker;
  else
    worker_close(worker);
}

/* How many are listed. */
static int listed(cugen *lib, const struct device_ops *ops) {
  if (!lib->prepared || ops != &cuda_device_ops) return 0;
  pthread_mutex_lock(&lib->lock);
  if (!lib->gpus_asked) list_gpus(lib);
  pthread_mutex_unlock(&lib->lock);
  return lib->gpu_count;
}

int api_count_devices(cugen *lib, const struct device_ops *ops, cugen_error *err) {
  const int count = listed(lib, ops);
  return count ? count : ops->count(lib->toolkit, err);
}

int api_describe_device(cugen *lib, const struct device_ops *ops, int ordinal, struct device_description *out,
                        cugen_error *err) {
  if (ordinal < 0 || ordinal >= listed(lib, ops)) return ops->describe(lib->toolkit, ordinal, out, err);
  *out = lib->gpus[ordinal];
  return CUGEN_OK;
}
