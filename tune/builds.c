/* Compile threads; see builds.h. */
#include "builds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/system.h"
#include "runtime/plan.h"

/* Finished builds that nobody holds are kept a while: the next variant may differ in its launch alone. */
enum { MOST_IDLE = 32 };

struct builds {
  struct builds_options options;
  pthread_mutex_t mutex;
  pthread_cond_t work, done; /* something to compile, or stop; something finished */
  struct build *all;
  bool stop;
  size_t under_way, ended; /* those that were stopped do not count */
  double seconds;          /* that those which ended took */
  pthread_t *threads;
  int thread_count;
};

static void build_free(struct build *build) {
  for (size_t i = 0; i < build->entry_count; i++) free(build->entries[i]);
  compiled_free(&build->compiled);
  free(build->source);
  free(build->options);
  free(build->name);
  free(build);
}

/* Whether a compile like the ones before it would end in time; until one has ended, any may try. Mutex held. */
static bool in_time(const struct builds *b) {
  double expected = b->ended ? b->seconds / (double)b->ended : 0;
  return b->options.until <= 0 || clock_seconds() + expected <= b->options.until;
}

/* The oldest waiting build: the list has the newest first. Called with the mutex held. */
static struct build *next_work(struct builds *b) {
  struct build *found = NULL;
  bool any = in_time(b);
  for (struct build *build = b->all; build; build = build->next)
    if (!build->taken && (any || build->awaited)) found = build;
  return found;
}

static bool is_stopped(void *context) {
  struct builds *b = context;
  pthread_mutex_lock(&b->mutex);
  bool stop = b->stop;
  pthread_mutex_unlock(&b->mutex);
  return stop;
}

static void compile(struct builds *b, struct build *build) {
  const struct compile_request request = {.toolkit = b->options.toolkit,
                                          .compilers = b->options.compilers,
                                          .name = build->name,
                                          .source = build->source,
                                          .options = build->options,
                                          .arch = b->options.arch,
                                          .entries = (const char *const *)build->entries,
                                          .entry_count = build->entry_count,
                                          .timeout = b->options.timeout,
                                          .keep_ptx = b->options.keep_ptx,
                                          .stop = {is_stopped, b}};
  double begin = clock_seconds();
  build->status = b->options.ops->compile(&request, &build->compiled, &build->error);
  build->seconds = clock_seconds() - begin;
}

static void *thread_main(void *context) {
  struct builds *b = context;
  pthread_mutex_lock(&b->mutex);
  while (!b->stop) {
    struct build *build = next_work(b);
    if (!build) {
      pthread_cond_wait(&b->work, &b->mutex);
      continue;
    }
    build->taken = true;
    b->under_way++;
    pthread_mutex_unlock(&b->mutex);
    compile(b, build);
    pthread_mutex_lock(&b->mutex);
    build->finished = true;
    b->under_way--;
    if (build->status != CUGEN_ERROR_INTERRUPTED) b->ended++, b->seconds += build->seconds;
    pthread_cond_broadcast(&b->done);
  }
  pthread_mutex_unlock(&b->mutex);
  return NULL;
}

int builds_open(const struct builds_options *options, struct builds **out, cugen_error *err) {
  *out = NULL;
  struct builds *b = calloc(1, sizeof *b);
  if (!b) return error_memory(err);
  b->options = *options;
  b->threads = calloc((size_t)options->threads, sizeof *b->threads);
  if (!b->threads) {
    free(b);
    return error_memory(err);
  }
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_mutex_init(&b->mutex, NULL);
  pthread_cond_init(&b->work, NULL);
  pthread_cond_init(&b->done, &monotonic);
  pthread_condattr_destroy(&monotonic);
  while (b->thread_count < options->threads &&
         pthread_create(&b->threads[b->thread_count], NULL, thread_main, b) == 0)
    b->thread_count++;
  if (b->thread_count == 0) {
    builds_close(b);
    return error_set(err, CUGEN_ERROR_MEMORY, "cannot start a compile thread");
  }
  *out = b;
  return CUGEN_OK;
}

void builds_stop(struct builds *b) {
  pthread_mutex_lock(&b->mutex);
  b->stop = true;
  pthread_cond_broadcast(&b->work);
  pthread_mutex_unlock(&b->mutex);
  for (int i = 0; i < b->thread_count; i++) pthread_join(b->threads[i], NULL);
  b->thread_count = 0;
}

void builds_close(struct builds *b) {
  if (!b) return;
  builds_stop(b);
  while (b->all) {
    struct build *next = b->all->next;
    build_free(b->all);
    b->all = next;
  }
  pthread_mutex_destroy(&b->mutex);
  pthread_cond_destroy(&b->work);
  pthread_cond_destroy(&b->done);
  free(b->threads);
  free(b);
}

static struct build *build_new(const struct kernel_spec *spec) {
  const char *entries[KERNEL_MAX_ENTRIES];
  struct build *build = calloc(1, sizeof *build);
  if (!build) return NULL;
  build->hash = spec->source_hash;
  build->references = 1;
  build->source = strdup(spec->source);
  build->options = strdup(spec->options ? spec->options : "");
  build->name = strdup(spec->variant);
  bool whole = build->source && build->options && build->name;
  size_t count = plan_entries(spec, entries);
  for (size_t i = 0; i < count && whole; i++) {
    whole = (build->entries[i] = strdup(entries[i])) != NULL;
    build->entry_count += whole;
  }
  if (whole) return build;
  build_free(build);
  return NULL;
}

/* Same source, and every entry this spec launches, in its order. */
static bool serves(const struct build *build, const struct kernel_spec *spec) {
  const char *entries[KERNEL_MAX_ENTRIES];
  size_t count = plan_entries(spec, entries);
  if (strcmp(build->hash.hex, spec->source_hash.hex) != 0 || count != build->entry_count) return false;
  for (size_t i = 0; i < count; i++)
    if (strcmp(entries[i], build->entries[i]) != 0) return false;
  return true;
}

static struct build *join_equal(struct builds *b, const struct kernel_spec *spec) {
  struct build *found = NULL;
  pthread_mutex_lock(&b->mutex);
  for (struct build *build = b->all; build && !found; build = build->next)
    if (serves(build, spec)) found = build;
  if (found) found->references++;
  pthread_mutex_unlock(&b->mutex);
  return found;
}

static void add(struct builds *b, struct build *build) {
  pthread_mutex_lock(&b->mutex);
  build->next = b->all;
  b->all = build;
  pthread_cond_signal(&b->work);
  pthread_mutex_unlock(&b->mutex);
}

int builds_request(struct builds *b, const struct kernel_spec *spec, struct build **out, cugen_error *err) {
  *out = join_equal(b, spec);
  if (*out) return CUGEN_OK;
  struct build *build = build_new(spec);
  if (!build) return error_memory(err);
  add(b, build);
  *out = build;
  return CUGEN_OK;
}

int builds_adopt(struct builds *b, const struct kernel_spec *spec, struct compiled *compiled, struct build **out,
                 cugen_error *err) {
  *out = NULL;
  struct build *build = build_new(spec);
  if (!build) {
    compiled_free(compiled);
    return error_memory(err);
  }
  build->compiled = *compiled;
  *compiled = (struct compiled){0};
  build->taken = build->finished = true;
  add(b, build);
  *out = build;
  return CUGEN_OK;
}

/* Frees the oldest idle builds beyond the limit, and those nobody waits for any more. Mutex held. */
static void tidy(struct builds *b) {
  int idle = 0;
  for (struct build **at = &b->all; *at;) {
    struct build *build = *at;
    bool droppable = build->references == 0 && (build->finished ? ++idle > MOST_IDLE : !build->taken);
    if (droppable) {
      *at = build->next;
      build_free(build);
    } else {
      at = &build->next;
    }
  }
}

void build_release(struct builds *b, struct build *build) {
  if (!build) return;
  pthread_mutex_lock(&b->mutex);
  build->references--;
  tidy(b);
  pthread_mutex_unlock(&b->mutex);
}

bool build_finished(struct builds *b, const struct build *build) {
  pthread_mutex_lock(&b->mutex);
  bool finished = build->finished;
  pthread_mutex_unlock(&b->mutex);
  return finished;
}

bool build_begun(struct builds *b, const struct build *build) {
  pthread_mutex_lock(&b->mutex);
  bool begun = build->taken;
  pthread_mutex_unlock(&b->mutex);
  return begun;
}

bool builds_over(struct builds *b) {
  pthread_mutex_lock(&b->mutex);
  bool over = !b->under_way && (b->stop || !in_time(b));
  pthread_mutex_unlock(&b->mutex);
  return over;
}

void builds_finish(struct builds *b, struct build *build) {
  pthread_mutex_lock(&b->mutex);
  build->awaited = true;
  pthread_cond_broadcast(&b->work);
  while (!build->finished && !b->stop) pthread_cond_wait(&b->done, &b->mutex);
  pthread_mutex_unlock(&b->mutex);
}

static struct timespec time_after(double seconds) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  long whole = (long)seconds;
  until.tv_sec += whole;
  until.tv_nsec += (long)((seconds - (double)whole) * 1e9);
  if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
  return until;
}

bool builds_await(struct builds *b, struct build *build, double seconds) {
  const struct timespec until = time_after(seconds);
  pthread_mutex_lock(&b->mutex);
  build->awaited = true;
  pthread_cond_broadcast(&b->work);
  while (!build->finished && !b->stop && pthread_cond_timedwait(&b->done, &b->mutex, &until) == 0) continue;
  bool finished = build->finished;
  pthread_mutex_unlock(&b->mutex);
  return finished;
}

void builds_wait(struct builds *b, double seconds) {
  const struct timespec until = time_after(seconds);
  pthread_mutex_lock(&b->mutex);
  pthread_cond_timedwait(&b->done, &b->mutex, &until);
  pthread_mutex_unlock(&b->mutex);
}

size_t builds_count(struct builds *b) {
  pthread_mutex_lock(&b->mutex);
  size_t count = b->ended;
  pthread_mutex_unlock(&b->mutex);
  return count;
}
