/* Counts requested bytes on a thread; see counting.h. */
#include "counting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/system.h"
#include "runtime/model/model.h"

struct counting {
  const struct device_description *device;
  const struct kernel_spec *spec;
  const struct compiled *compiled;
  double requested;
  atomic_bool stop;
  pthread_t thread;
};

static void *counting_count(void *context) {
  struct counting *c = context;
  c->requested = model_requested(c->device, c->spec, c->compiled, &c->stop);
  return NULL;
}

struct counting *counting_begin(const struct device_description *device,
                                const struct kernel_spec *spec, const struct compiled *compiled) {
  struct counting *c = compiled->ptx ? calloc(1, sizeof *c) : NULL;
  if (!c) return NULL;
  c->device = device;
  c->spec = spec;
  c->compiled = compiled;
  atomic_init(&c->stop, false);
  if (pthread_create(&c->thread, NULL, counting_count, c) == 0) return c;
  free(c);
  return NULL;
}

bool counting_wait(struct counting *c, double patience, double *requested) {
  if (!thread_join_within(c->thread, patience)) return false;
  *requested = c->requested;
  free(c);
  return true;
}

void counting_stop(struct counting *c) {
  if (!c) return;
  atomic_store(&c->stop, true);
  pthread_join(c->thread, NULL);
  free(c);
}
