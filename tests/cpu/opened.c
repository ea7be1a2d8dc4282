#include "opened.h"
#include "runtime/compile/toolkit.h"
#include "runtime/devices.h"
#include "tests/testing.h"

void check(int status, const cugen_error *err) {
  if (status) fail_msg("%s", err->message);
}

void opened_open(struct opened *o, const char *config, bool check_problem) {
  static const struct toolkit_options places;
  o->sources.files = o->files;
  WORKS(toolkit_open(&places, &o->toolkit, &err));
  WORKS(cpu_device_ops.describe(o->toolkit, 0, &o->device, &err));
  WORKS(config_open(&o->sources, config, &o->config, &err));
  WORKS(problem_set(o->config, NULL, 0, check_problem, &o->problem, &err));
  WORKS(space_open(o->config, &o->problem, &o->device.facts, &o->space, &err));
  WORKS(cache_open("none", &o->cache, NULL, &err));
  o->target = (struct tune_target){.config = o->config,
                                   .problem = &o->problem,
                                   .space = o->space,
                                   .sources = &o->sources,
                                   .ops = &cpu_device_ops,
                                   .device = &o->device,
                                   .arch = "cpu",
                                   .cache = o->cache,
                                   .key.options = "",
                                   .toolkit = o->toolkit,
                                   .worker = getenv("CUGEN_WORKER"),
                                   .problem_is_check = check_problem};
}

void opened_close(struct opened *o) {
  cache_close(o->cache);
  space_close(o->space);
  problem_free(&o->problem);
  config_close(o->config);
  toolkit_close(o->toolkit);
  sources_forget(o->files);
}

void built_open(struct built *b, const char *config) {
  static const struct bench_options options = {.seed = 1, .threads = 2, .timeout = 600};
  opened_open(&b->opened, config, false);
  WORKS(bench_open(&b->opened.target, &options, &b->bench, &err));
  b->count = (size_t)space_valid(b->opened.space);
  assert_in_range(b->count, 1, BUILT_MOST);
  for (size_t i = 0; i < b->count; i++) {
    WORKS(candidate_open(&b->bench, i, &b->candidates[i], &err));
    WORKS(candidate_build(&b->bench, b->candidates[i], &err));
  }
  for (size_t i = 0; i < b->count; i++)
    while (!candidate_ready(&b->bench, b->candidates[i])) compile_pool_wait(b->bench.pool, 0.05);
}

void built_close(struct built *b) {
  for (size_t i = 0; i < b->count; i++) candidate_close(&b->bench, b->candidates[i]);
  bench_close(&b->bench);
  opened_close(&b->opened);
}

void built_run(struct built *b, size_t number, const struct measure_options *measure,
               double timeout, struct cache_record *record) {
  double busy;
  WORKS(
      candidate_run(&b->bench, b->candidates[number], true, measure, timeout, record, &busy, &err));
}

void shuffle(size_t *order, size_t count, unsigned *seed) {
  for (size_t i = count; i > 1; i--) {
    *seed = *seed * 1103515245 + 12345; /* the generator of the C standard's example of rand() */
    const size_t other = (*seed >> 16) % i, was = order[i - 1];
    order[i - 1] = order[other];
    order[other] = was;
  }
}
