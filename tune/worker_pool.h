/* The workers of one run, one a device. Each has a thread of its own that asks it and waits for the answer. So all devices are busy at once, and
   while they are, the coordinator chooses what comes next.

   All functions are called by one thread, the coordinator. It gives a job to a worker that has none, and takes the result when that has ended. */
#ifndef TUNE_WORKER_POOL_H
#define TUNE_WORKER_POOL_H

#include "worker.h"

struct worker_pool;

struct worker_pool_options {
  struct worker_options
      worker; /* of each, but for the device and `interrupted`, in place of which there is worker_pool_stop */
  struct worker *_Atomic *
      looked; /* where one may be that listed the GPUs (worker_take_gpus): the first one, taken from there; NULL: nowhere */
  const char *const *devices; /* "cuda:0"; borrowed */
  size_t count;
  void (*ended)(void *context); /* called by a worker's own thread when its job has ended */
  void *context;
};

int worker_pool_open(const struct worker_pool_options *options, struct worker_pool **out, cugen_error *err);
void worker_pool_close(struct worker_pool *pool);
/* For what any thread may ask, and of a worker without a job for all else. */
struct worker *worker_pool_at(const struct worker_pool *pool, size_t i);
bool worker_pool_makes_data(const struct worker_pool *pool);
/* Whether any of them has made that data. */
bool worker_pool_has_data(const struct worker_pool *pool, const struct dataset_request *data);

/* The job, and what it points at, stays as it is until the result is taken. */
void worker_pool_start(struct worker_pool *pool, size_t i, const struct worker_job *job);
/* Whether its job has ended, and the result is still to be taken. */
bool worker_pool_has_ended(struct worker_pool *pool, size_t i);
/* Of a job that has ended, as from worker_run. */
int worker_pool_take(struct worker_pool *pool, size_t i, struct worker_result *out,
                     const struct dataset_request **failed, cugen_error *err);
/* Whatever is under way ends with CUGEN_ERROR_INTERRUPTED, and so does what begins later. */
void worker_pool_stop(struct worker_pool *pool);
void worker_pool_lift_limit(struct worker_pool *pool);

#endif
