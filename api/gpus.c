/* Lists the GPUs of this machine. Only a started driver can list GPUs, and starting takes a while.
   After api_expect_tuning a worker starts the driver and lists the GPUs, and the first tuning or
   run goes on with this worker. If the worker lists no GPU, this process asks the driver itself, to
   learn the reason. */
#include <stdlib.h>

#include "base/system.h"
#include "library.h"
#include "machine.h"
#include "runtime/cuda/compilers.h"
#include "runtime/devices.h"
#include "tune/worker/worker.h"

/* limit of the compilers that start in advance */
enum { MOST_PREPARED = 16 };

void api_expect_tuning(cugen *lib, int threads) {
  if (!lib) return;
  if (threads <= 0) threads = cpu_count();
  lib->prepared = threads < MOST_PREPARED ? threads : MOST_PREPARED;
}

/* Lists the GPUs in a worker, while compilers load NVRTC. The caller holds the lock. */
static void gpus_list_gpus(cugen *lib) {
  const struct worker_options options = {.program = lib->worker, .toolkit = lib->toolkit_options};
  struct worker *worker;
  cugen_error ignored; /* the error appears again when the worker is needed */
  lib->gpus_asked = true;
  /* Without a driver no process need be started. */
  if (!lib->worker || toolkit_load(text_get(&lib->toolkit->driver), NULL, 0, NULL, &ignored) ||
      worker_open(&options, &worker, &ignored))
    return;
  worker_ask_gpus(worker);
  compilers_prepare(lib->compilers, lib->prepared);
  lib->gpu_count = worker_take_gpus(worker, &lib->gpus);
  if (lib->gpu_count)
    lib->looked = worker;
  else
    worker_close(worker);
}

/* Returns the number of GPUs that the worker lists; 0: this process has to ask the driver. */
static int listed(cugen *lib, const struct device_ops *ops) {
  if (!lib->prepared || ops != &cuda_device_ops) return 0;
  pthread_mutex_lock(&lib->lock);
  if (!lib->gpus_asked) gpus_list_gpus(lib);
  pthread_mutex_unlock(&lib->lock);
  return lib->gpu_count;
}

int api_count_devices(cugen *lib, const struct device_ops *ops, cugen_error *err) {
  const int count = listed(lib, ops);
  return count ? count : ops->count(lib->toolkit, err);
}

int api_describe_device(cugen *lib, const struct device_ops *ops, int ordinal,
                        struct device_description *out, cugen_error *err) {
  const bool known = ordinal >= 0 && ordinal < listed(lib, ops);
  int status = known ? CUGEN_OK : ops->describe(lib->toolkit, ordinal, out, err);
  if (known) *out = lib->gpus[ordinal];
  if (status || ops != &cuda_device_ops) return status;
  out->facts.lack = lib->no_library ? LIBRARY_LEFT_OUT : LIBRARY_NOT_INSTALLED;
  for (int i = 0; i < LIBRARY_COUNT && !lib->no_library; i++)
    out->facts.libraries[i] = lib->toolkit->kernels[i].build;
  return status;
}
