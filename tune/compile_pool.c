/* Compile threads; see compile_pool.h. */
#include "compile_pool.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system.h"
#include "runtime/plan.h"

/* Limit in bytes of finished jobs that nobody holds, beyond which the oldest ones are freed. The
   jobs are kept because a later variant may differ only in its launch. */
static const size_t most_idle = (size_t)128 << 20;

struct compile_pool {
  struct compile_pool_options options;
  pthread_mutex_t mutex;
  pthread_cond_t work, done; /* work: a job to compile, or stop; done: an event has occurred */
  struct compile_job *all;
  bool stop;
  size_t begun, under_way, ended; /* stopped compiles do not count as ended */
  double seconds;                 /* total duration of the ended compiles */
  size_t events;
  pthread_t *threads;
  int thread_count;
};

static void compile_pool_job_free(struct compile_job *job) {
  for (size_t i = 0; i < job->entry_count; i++) free(job->entries[i]);
  compiled_free(&job->compiled);
  free(job->source);
  free(job->options);
  free(job->name);
  free(job);
}

/* Returns true if a compile of average duration would end before the deadline. The average is 0
   until a compile has ended. Called with the mutex held. */
static bool in_time(const struct compile_pool *b) {
  double expected = b->ended ? b->seconds / (double)b->ended : 0;
  return b->options.until <= 0 || clock_seconds() + expected <= b->options.until;
}

/* Precompiled headers pay off for a compiler process that has at least this many compiles to do. */
enum { WORTH = 4 };

/* Estimates whether a thread will carry out WORTH more compiles, from the variants left to try and
   the time left. Called with the mutex held. */
static enum compile_more more_to_come(const struct compile_pool *b) {
  const size_t left = b->options.variants > b->begun ? b->options.variants - b->begun : 0;
  if (!b->options.variants || !b->ended) return COMPILE_UNKNOWN;
  if (left < WORTH * (size_t)b->thread_count) return COMPILE_FEW;
  const double needed = WORTH * b->seconds / (double)b->ended;
  return b->options.until <= 0 || clock_seconds() + needed <= b->options.until ? COMPILE_MANY
                                                                               : COMPILE_FEW;
}

/* Returns the oldest job that has not begun, or, if a compile would end after the deadline, the
   oldest such job that is awaited. Called with the mutex held. */
static struct compile_job *next_work(struct compile_pool *b) {
  struct compile_job *found = NULL;
  bool any = in_time(b);
  for (struct compile_job *job = b->all; job; job = job->next)
    if (!job->taken && (any || job->awaited)) found = job;
  return found;
}

static bool compile_pool_is_stopped(void *context) {
  struct compile_pool *b = context;
  pthread_mutex_lock(&b->mutex);
  bool stop = b->stop;
  pthread_mutex_unlock(&b->mutex);
  return stop;
}

static struct compile_request request_for(struct compile_pool *b, const char *name,
                                          const char *source, const char *options,
                                          const char *const *entries, size_t count) {
  return (struct compile_request){.toolkit = b->options.toolkit,
                                  .compilers = b->options.compilers,
                                  .name = name,
                                  .source = source,
                                  .options = options,
                                  .arch = b->options.arch,
                                  .entries = entries,
                                  .entry_count = count,
                                  .timeout = b->options.timeout,
                                  .keep_ptx = b->options.keep_ptx,
                                  .stop = {compile_pool_is_stopped, b}};
}

static void compile_pool_compile(struct compile_pool *b, struct compile_job *job,
                                 enum compile_more more) {
  struct compile_request request = request_for(b, job->name, job->source, job->options,
                                               (const char *const *)job->entries, job->entry_count);
  request.more = more;
  double begin = clock_seconds();
  job->status = b->options.ops->compile(&request, &job->compiled, &job->error);
  job->seconds = clock_seconds() - begin;
}

/* Returns roughly the bytes of memory that a finished job takes. */
static size_t job_bytes(const struct compile_job *job) {
  const struct compiled *c = &job->compiled;
  return sizeof *job + strlen(job->source) + c->image_length + (c->ptx ? strlen(c->ptx) : 0);
}

static void *compile_pool_thread_main(void *context) {
  struct compile_pool *b = context;
  pthread_mutex_lock(&b->mutex);
  while (!b->stop) {
    struct compile_job *job = next_work(b);
    if (!job) {
      pthread_cond_wait(&b->work, &b->mutex);
      continue;
    }
    job->taken = true;
    b->begun++;
    b->under_way++;
    enum compile_more more = more_to_come(b);
    pthread_mutex_unlock(&b->mutex);
    compile_pool_compile(b, job, more);
    pthread_mutex_lock(&b->mutex);
    job->finished = true;
    job->bytes = job_bytes(job);
    b->under_way--;
    b->events++;
    if (job->status != CUGEN_ERROR_INTERRUPTED) b->ended++, b->seconds += job->seconds;
    pthread_cond_broadcast(&b->done);
  }
  pthread_mutex_unlock(&b->mutex);
  return NULL;
}

int compile_pool_open(const struct compile_pool_options *options, struct compile_pool **out,
                      cugen_error *err) {
  *out = NULL;
  struct compile_pool *b = calloc(1, sizeof *b);
  if (!b) return error_memory(err);
  b->options = *options;
  b->threads = calloc((size_t)options->threads, sizeof *b->threads);
  if (!b->threads) {
    free(b);
    return error_memory(err);
  }
  pthread_mutex_init(&b->mutex, NULL);
  pthread_cond_init(&b->work, NULL);
  condition_open(&b->done);
  while (b->thread_count < options->threads &&
         pthread_create(&b->threads[b->thread_count], NULL, compile_pool_thread_main, b) == 0)
    b->thread_count++;
  if (b->thread_count == 0) {
    compile_pool_close(b);
    return error_set(err, CUGEN_ERROR_MEMORY, "cannot start a compile thread");
  }
  *out = b;
  return CUGEN_OK;
}

void compile_pool_stop(struct compile_pool *b) {
  pthread_mutex_lock(&b->mutex);
  b->stop = true;
  pthread_cond_broadcast(&b->work);
  pthread_mutex_unlock(&b->mutex);
  for (int i = 0; i < b->thread_count; i++) pthread_join(b->threads[i], NULL);
  b->thread_count = 0;
}

void compile_pool_close(struct compile_pool *b) {
  if (!b) return;
  compile_pool_stop(b);
  while (b->all) {
    struct compile_job *next = b->all->next;
    compile_pool_job_free(b->all);
    b->all = next;
  }
  pthread_mutex_destroy(&b->mutex);
  pthread_cond_destroy(&b->work);
  pthread_cond_destroy(&b->done);
  free(b->threads);
  free(b);
}

int compile_pool_with_lines(struct compile_pool *b, const struct kernel_spec *spec,
                            struct compiled *out, cugen_error *err) {
  const char *entries[KERNEL_MAX_ENTRIES];
  const size_t count = plan_entries(spec, entries);
  struct text options = {0};
  text_addf(&options, "--generate-line-info %s", spec->options ? spec->options : "");
  const struct compile_request request =
      request_for(b, spec->variant, spec->source, text_get(&options), entries, count);
  int status = options.failed ? error_memory(err) : b->options.ops->compile(&request, out, err);
  text_free(&options);
  return status;
}

static struct compile_job *job_new(const struct kernel_spec *spec) {
  const char *entries[KERNEL_MAX_ENTRIES];
  struct compile_job *job = calloc(1, sizeof *job);
  if (!job) return NULL;
  job->hash = spec->source_hash;
  job->references = 1;
  job->source = strdup(spec->source);
  job->options = strdup(spec->options ? spec->options : "");
  job->name = strdup(spec->variant);
  bool whole = job->source && job->options && job->name;
  size_t count = plan_entries(spec, entries);
  for (size_t i = 0; i < count && whole; i++) {
    whole = (job->entries[i] = strdup(entries[i])) != NULL;
    job->entry_count += whole;
  }
  if (whole) return job;
  compile_pool_job_free(job);
  return NULL;
}

/* Returns true if the job has the spec's source, and exactly the spec's entries in their order. */
static bool compile_pool_serves(const struct compile_job *job, const struct kernel_spec *spec) {
  const char *entries[KERNEL_MAX_ENTRIES];
  size_t count = plan_entries(spec, entries);
  if (strcmp(job->hash.hex, spec->source_hash.hex) != 0 || count != job->entry_count) return false;
  for (size_t i = 0; i < count; i++)
    if (strcmp(entries[i], job->entries[i]) != 0) return false;
  return true;
}

static void compile_pool_add(struct compile_pool *b, struct compile_job *job) {
  pthread_mutex_lock(&b->mutex);
  job->next = b->all;
  b->all = job;
  pthread_cond_signal(&b->work);
  pthread_mutex_unlock(&b->mutex);
}

int compile_pool_request(struct compile_pool *b, const struct kernel_spec *spec,
                         struct compile_job **out, cugen_error *err) {
  *out = NULL;
  pthread_mutex_lock(&b->mutex);
  for (struct compile_job *job = b->all; job && !*out; job = job->next)
    if (compile_pool_serves(job, spec)) *out = job;
  if (*out) (*out)->references++;
  pthread_mutex_unlock(&b->mutex);
  return *out ? CUGEN_OK : compile_pool_request_anew(b, spec, out, err);
}

int compile_pool_request_anew(struct compile_pool *b, const struct kernel_spec *spec,
                              struct compile_job **out, cugen_error *err) {
  struct compile_job *job = job_new(spec);
  if (!job) return error_memory(err);
  compile_pool_add(b, job);
  *out = job;
  return CUGEN_OK;
}

int compile_pool_adopt(struct compile_pool *b, const struct kernel_spec *spec,
                       struct compiled *compiled, struct compile_job **out, cugen_error *err) {
  *out = NULL;
  struct compile_job *job = job_new(spec);
  if (!job) {
    compiled_free(compiled);
    return error_memory(err);
  }
  job->compiled = *compiled;
  *compiled = (struct compiled){0};
  job->taken = job->finished = job->kept = true;
  job->bytes = job_bytes(job);
  compile_pool_add(b, job);
  *out = job;
  return CUGEN_OK;
}

/* Frees the oldest idle jobs beyond the limit, and waiting jobs that nobody holds any more. Called
   with the mutex held. */
static void tidy(struct compile_pool *b) {
  size_t idle = 0;
  for (struct compile_job **at = &b->all; *at;) {
    struct compile_job *job = *at;
    if (job->references == 0 && job->finished) idle += job->bytes;
    bool droppable = job->references == 0 && (job->finished ? idle > most_idle : !job->taken);
    if (droppable) {
      *at = job->next;
      compile_pool_job_free(job);
    } else {
      at = &job->next;
    }
  }
}

void compile_job_release(struct compile_pool *b, struct compile_job *job) {
  if (!job) return;
  pthread_mutex_lock(&b->mutex);
  job->references--;
  tidy(b);
  pthread_mutex_unlock(&b->mutex);
}

bool compile_job_finished(struct compile_pool *b, const struct compile_job *job) {
  pthread_mutex_lock(&b->mutex);
  bool finished = job->finished;
  pthread_mutex_unlock(&b->mutex);
  return finished;
}

bool compile_pool_over(struct compile_pool *b) {
  pthread_mutex_lock(&b->mutex);
  bool over = !b->under_way && (b->stop || !in_time(b));
  pthread_mutex_unlock(&b->mutex);
  return over;
}

void compile_pool_finish(struct compile_pool *b, struct compile_job *job) {
  pthread_mutex_lock(&b->mutex);
  job->awaited = true;
  pthread_cond_broadcast(&b->work);
  while (!job->finished && !b->stop) pthread_cond_wait(&b->done, &b->mutex);
  pthread_mutex_unlock(&b->mutex);
}

bool compile_pool_await(struct compile_pool *b, struct compile_job *job, double seconds) {
  const struct timespec until = clock_after(seconds);
  pthread_mutex_lock(&b->mutex);
  job->awaited = true;
  pthread_cond_broadcast(&b->work);
  while (!job->finished && !b->stop && pthread_cond_timedwait(&b->done, &b->mutex, &until) == 0)
    continue;
  bool finished = job->finished;
  pthread_mutex_unlock(&b->mutex);
  return finished;
}

void compile_pool_wait(struct compile_pool *b, double seconds) {
  compile_pool_wait_beyond(b, compile_pool_events(b), seconds);
}

size_t compile_pool_events(struct compile_pool *b) {
  pthread_mutex_lock(&b->mutex);
  size_t events = b->events;
  pthread_mutex_unlock(&b->mutex);
  return events;
}

void compile_pool_note(struct compile_pool *b) {
  pthread_mutex_lock(&b->mutex);
  b->events++;
  pthread_cond_broadcast(&b->done);
  pthread_mutex_unlock(&b->mutex);
}

void compile_pool_wait_beyond(struct compile_pool *b, size_t events, double seconds) {
  const struct timespec until = clock_after(seconds);
  pthread_mutex_lock(&b->mutex);
  while (b->events == events && pthread_cond_timedwait(&b->done, &b->mutex, &until) == 0) continue;
  pthread_mutex_unlock(&b->mutex);
}

size_t compile_pool_count(struct compile_pool *b) {
  pthread_mutex_lock(&b->mutex);
  size_t count = b->ended;
  pthread_mutex_unlock(&b->mutex);
  return count;
}
