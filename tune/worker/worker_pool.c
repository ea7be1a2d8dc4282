/* The workers of one run; see worker_pool.h. */
#include "worker_pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/error.h"

struct member {
  struct worker_pool *pool;
  struct worker *worker;
  pthread_t thread;
  bool has_thread;              /* `thread` was started */
  const struct worker_job *job; /* NULL: no job was given, or its result was taken */
  bool ended;
  int status; /* what worker_run returned, once `ended` is true */
  struct worker_result result;
  const struct dataset_request *failed;
  cugen_error error;
};

struct worker_pool {
  struct worker_pool_options options;
  struct member *members;
  pthread_mutex_t mutex; /* protects `job` and `ended` of all members, and `quit` */
  pthread_cond_t given;  /* signals a job or `quit` */
  bool quit;
  atomic_bool stop;
};

static bool worker_pool_is_stopped(void *context) {
  const struct worker_pool *pool = context;
  return pool->stop;
}

static void *worker_pool_thread_main(void *context) {
  struct member *m = context;
  struct worker_pool *pool = m->pool;
  pthread_mutex_lock(&pool->mutex);
  for (;;) {
    while (!pool->quit && (!m->job || m->ended)) pthread_cond_wait(&pool->given, &pool->mutex);
    if (pool->quit) break;
    pthread_mutex_unlock(&pool->mutex);
    m->status = worker_run(m->worker, m->job, &m->result, &m->failed, &m->error);
    pthread_mutex_lock(&pool->mutex);
    m->ended = true;
    pthread_mutex_unlock(&pool->mutex);
    pool->options.ended(pool->options.context);
    pthread_mutex_lock(&pool->mutex);
  }
  pthread_mutex_unlock(&pool->mutex);
  return NULL;
}

/* Opens a worker and starts its process here, before its thread: a process ends with the thread
   that started it. Processes that replace it are started by the worker's own thread. */
static int open_member(struct worker_pool *pool, size_t i, cugen_error *err) {
  struct member *m = &pool->members[i];
  struct worker_options options = pool->options.worker;
  options.device = pool->options.devices[i];
  options.interrupted = worker_pool_is_stopped;
  options.context = pool;
  m->pool = pool;
  if (i == 0 && pool->options.looked) m->worker = atomic_exchange(pool->options.looked, NULL);
  if (m->worker) worker_go_on(m->worker, &options);
  int status = m->worker ? CUGEN_OK : worker_open(&options, &m->worker, err);
  if (status) return status;
  worker_begin(m->worker);
  m->has_thread = pthread_create(&m->thread, NULL, worker_pool_thread_main, m) == 0;
  return m->has_thread
             ? CUGEN_OK
             : error_set(err, CUGEN_ERROR_MEMORY, "cannot start a thread for %s", options.device);
}

int worker_pool_open(const struct worker_pool_options *options, struct worker_pool **out,
                     cugen_error *err) {
  *out = NULL;
  struct worker_pool *pool = calloc(1, sizeof *pool);
  if (!pool) return error_memory(err);
  pool->options = *options;
  pthread_mutex_init(&pool->mutex, NULL);
  pthread_cond_init(&pool->given, NULL);
  pool->members = calloc(options->count, sizeof *pool->members);
  int status = pool->members ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < options->count && !status; i++) status = open_member(pool, i, err);
  if (status)
    worker_pool_close(pool);
  else
    *out = pool;
  return status;
}

void worker_pool_close(struct worker_pool *pool) {
  if (!pool) return;
  pool->stop = true;
  pthread_mutex_lock(&pool->mutex);
  pool->quit = true;
  pthread_cond_broadcast(&pool->given);
  pthread_mutex_unlock(&pool->mutex);
  for (size_t i = 0; pool->members && i < pool->options.count; i++)
    if (pool->members[i].has_thread) pthread_join(pool->members[i].thread, NULL);
  for (size_t i = 0; pool->members && i < pool->options.count; i++)
    worker_close(pool->members[i].worker);
  pthread_cond_destroy(&pool->given);
  pthread_mutex_destroy(&pool->mutex);
  free(pool->members);
  free(pool);
}

struct worker *worker_pool_at(const struct worker_pool *pool, size_t i) {
  return pool->members[i].worker;
}

bool worker_pool_makes_data(const struct worker_pool *pool) {
  bool makes = false;
  for (size_t i = 0; i < pool->options.count; i++)
    makes |= worker_makes_data(pool->members[i].worker);
  return makes;
}

bool worker_pool_has_data(const struct worker_pool *pool, const struct dataset_request *data) {
  bool has = false;
  for (size_t i = 0; i < pool->options.count; i++)
    has |= worker_has_data(pool->members[i].worker, data);
  return has;
}

void worker_pool_start(struct worker_pool *pool, size_t i, const struct worker_job *job) {
  struct member *m = &pool->members[i];
  pthread_mutex_lock(&pool->mutex);
  m->job = job;
  m->ended = false;
  pthread_cond_broadcast(&pool->given);
  pthread_mutex_unlock(&pool->mutex);
}

bool worker_pool_has_ended(struct worker_pool *pool, size_t i) {
  pthread_mutex_lock(&pool->mutex);
  const bool ended = pool->members[i].job && pool->members[i].ended;
  pthread_mutex_unlock(&pool->mutex);
  return ended;
}

int worker_pool_take(struct worker_pool *pool, size_t i, struct worker_result *out,
                     const struct dataset_request **failed, cugen_error *err) {
  struct member *m = &pool->members[i];
  pthread_mutex_lock(&pool->mutex);
  m->job = NULL;
  pthread_mutex_unlock(&pool->mutex);
  *out = m->result;
  *failed = m->failed;
  return m->status ? error_copy(err, &m->error) : CUGEN_OK;
}

void worker_pool_stop(struct worker_pool *pool) {
  pool->stop = true;
}
