/* The workers of one run, one for each device. Each worker has a thread that sends it a job and
   waits for the result. One thread, the coordinator, calls all functions: it gives a job to an idle
   worker, and takes the result when the job has ended. */
#ifndef TUNE_WORKER_WORKER_POOL_H
#define TUNE_WORKER_WORKER_POOL_H

#include "worker.h"

struct worker_pool;

struct worker_pool_options {
  /* Options of every worker; `device`, `interrupted` and `context` are not used. */
  struct worker_options worker;
  /* A worker that has listed the GPUs (worker_take_gpus), which becomes the first worker of the
     pool. NULL, or NULL there: no such worker. */
  struct worker *_Atomic *looked;
  const char *const *devices; /* ids such as "cuda:0"; borrowed */
  size_t count;
  void (*ended)(void *context); /* called by a worker's own thread when its job has ended */
  void *context;
};

int worker_pool_open(const struct worker_pool_options *options, struct worker_pool **out,
                     cugen_error *err);
void worker_pool_close(struct worker_pool *pool);
/* Returns worker i. While the worker has a job, only functions that any thread may call are allowed
   on it. */
struct worker *worker_pool_at(const struct worker_pool *pool, size_t i);
bool worker_pool_makes_data(const struct worker_pool *pool);
/* Returns true if the running process of any worker has the data. */
bool worker_pool_has_data(const struct worker_pool *pool, const struct dataset_request *data);

/* Starts a job on worker i. The job, and what it points at, must not change until the result is
   taken. */
void worker_pool_start(struct worker_pool *pool, size_t i, const struct worker_job *job);
/* Returns true if the worker's job has ended and its result was not taken yet. */
bool worker_pool_has_ended(struct worker_pool *pool, size_t i);
/* Takes the result of a job that has ended, as worker_run would give it. */
int worker_pool_take(struct worker_pool *pool, size_t i, struct worker_result *out,
                     const struct dataset_request **failed, cugen_error *err);
/* Ends every wait for a current or later job with CUGEN_ERROR_INTERRUPTED. */
void worker_pool_stop(struct worker_pool *pool);

#endif
