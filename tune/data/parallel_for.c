/* Work on data, shared among threads; see parallel_for.h. */
#include "parallel_for.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/system.h"

enum { LEAST = 1 << 18 };

struct job {
  void (*run)(void *part);
  void *part;
};

int parallel_count(int64_t elements) {
  int64_t count = elements / LEAST;
  if (count > cpu_count()) count = cpu_count();
  if (count > PARALLEL_MOST) count = PARALLEL_MOST;
  return count > 1 ? (int)count : 1;
}

int64_t parallel_begin(int64_t all, int part, int count) {
  return all / count * part + all % count * part / count;
}

static void *parallel_for_thread_main(void *context) {
  const struct job *job = context;
  job->run(job->part);
  return NULL;
}

void parallel_for(void (*run)(void *part), void *parts, size_t size, int count) {
  struct job jobs[PARALLEL_MOST];
  pthread_t threads[PARALLEL_MOST];
  bool started[PARALLEL_MOST] = {false};
  for (int i = 0; i < count; i++) {
    jobs[i] = (struct job){run, (char *)parts + (size_t)i * size};
    started[i] =
        i > 0 && pthread_create(&threads[i], NULL, parallel_for_thread_main, &jobs[i]) == 0;
  }
  for (int i = 0; i < count; i++)
    if (!started[i]) run(jobs[i].part);
  for (int i = 0; i < count; i++)
    if (started[i]) pthread_join(threads[i], NULL);
}
