/* Which GPUs this machine has. The driver says it, once it is started, which takes 0.2 s and more. A program that is going to tune starts it in
   the worker alone: that lists the GPUs, and the first tuning goes on with it. Where it lists none this process looks for itself, and knows why. */
#include <stdlib.h>

#include "library.h"
#include "runtime/devices.h"
#include "tune/worker.h"

void cugen_expect_tuning(cugen *lib) {
  if (lib) lib->tunes = true;
}

/* Under the lock. */
static void list_gpus(cugen *lib) {
  const struct worker_options options = {.program = lib->worker, .toolkit = lib->toolkit_options};
  struct worker *worker;
  cugen_error ignored; /* it comes again when the worker is needed */
  lib->gpus_asked = true;
  if (!lib->worker || worker_open(&options, &worker, &ignored)) return;
  lib->gpu_count = worker_list_gpus(worker, &lib->gpus);
  if (lib->gpu_count)
    lib->looked = worker;
  else
    worker_close(worker);
}

/* How many are listed. */
static int listed(cugen *lib, const struct device_ops *ops) {
  if (!lib->tunes || ops != &cuda_device_ops) return 0;
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
