/* Lists the problems that have records; see portfolio.h. */
#include <stdlib.h>

#include "base/array.h"
#include "portfolio.h"

struct reading {
  const struct config *config;
  struct portfolio_problems *out;
};

/* Reads one problem. A problem that the config no longer has is skipped. */
static int read_one(void *context, const char *text, cugen_error *err) {
  struct reading *reading = context;
  struct portfolio_problems *out = reading->out;
  struct problem problem;
  bool known;
  int status = api_read_problem(reading->config, text, &problem, &known, err);
  if (status || !known) return status;
  if (!ARRAY_ROOM(out->all, out->count)) {
    problem_free(&problem);
    return error_memory(err);
  }
  out->all[out->count++] = problem;
  return CUGEN_OK;
}

int portfolio_problems_open(const struct lookup *l, struct portfolio_problems *out,
                            cugen_error *err) {
  const struct cache_key key = lookup_key(l);
  struct reading reading = {l->config, out};
  struct cache *cache;
  *out = (struct portfolio_problems){0};
  int status = api_cache_to_read(l->lib, &cache, err);
  return status ? status : cache_problems(cache, &key, read_one, &reading, err);
}

void portfolio_problems_free(struct portfolio_problems *problems) {
  for (size_t i = 0; i < problems->count; i++) problem_free(&problems->all[i]);
  free(problems->all);
  *problems = (struct portfolio_problems){0};
}
