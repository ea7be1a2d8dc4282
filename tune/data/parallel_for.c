/* Work on data, shared among threads; see parallel_for.h. */
#include "parallel_for.h"

#include <pthread.h>
#include <stdbool.h>

#include "base/system.h"

enum { LEAST = 1 << 18 };

struct part {
  parallel_work *work;
  void *context;
  int number, status;
  int64_t first, last;
  cugen_error error;
  pthread_t thread;
  bool started;
};

static void *run_part(void *context) {
  struct part *p = context;
  p->status = p->work(p->context, p->number, p->first, p->last, &p->error);
  return NULL;
}

int parallel_for(int64_t units, int64_t size, parallel_work *work, void *context,
                 cugen_error *err) {
  struct part parts[PARALLEL_MOST];
  int64_t count = units * size / LEAST;
  if (count > cpu_count()) count = cpu_count();
  if (count > PARALLEL_MOST) count = PARALLEL_MOST;
  if (count > units) count = units;
  if (count < 1) count = 1;
  int status = CUGEN_OK;
  for (int i = 0; i < count; i++) {
    struct part *p = &parts[i];
    *p = (struct part){.work = work, .context = context, .number = i};
    p->first = i ? parts[i - 1].last : 0;
    p->last = units / count * (i + 1) + units % count * (i + 1) / count;
    p->started = i > 0 && pthread_create(&p->thread, NULL, run_part, p) == 0;
  }
  for (int i = 0; i < count; i++)
    if (!parts[i].started) run_part(&parts[i]);
  for (int i = 0; i < count; i++) {
    if (parts[i].started) pthread_join(parts[i].thread, NULL);
    if (!status && parts[i].status) status = error_copy(err, &parts[i].error);
  }
  return status;
}
