/* Search strategies: rows in a table, each the same few functions over variant indices. All are seeded and
   repeatable, and none knows what a GPU is. */
#ifndef TUNE_SEARCH_STRATEGY_H
#define TUNE_SEARCH_STRATEGY_H

#include "gen/space/space.h"

struct strategy_span { /* the variants of one implementation */
  uint64_t first, count;
};

/* What is searched. */
struct strategy_space {
  const struct strategy_span *spans;
  size_t span_count;
  uint64_t seed;
  const uint64_t *firsts; /* remembered elsewhere: where to begin */
  size_t first_count;
  /* Fills out with the variants that differ from this one in one tunable, at most max_neighbours. */
  size_t (*neighbours)(const void *context, uint64_t index, uint64_t *out);
  size_t max_neighbours;
  const void *context; /* lives as long as the strategy */
};

struct strategy;

struct strategy_ops {
  const char *name;
  const char *what; /* for --help and errors */
  bool takes_firsts;
  /* spans and firsts are copied. NULL: no memory. */
  struct strategy *(*open)(const struct strategy_space *space);
  void (*close)(struct strategy *strategy);
  /* The next variant to try; false when there is none left. Never gives an index twice. */
  bool (*next)(struct strategy *strategy, uint64_t *index);
  /* What came of it: its cost (cache_record_cost), or infinity for a failure. Others may have been given meanwhile. */
  void (*report)(struct strategy *strategy, uint64_t index, double cost);
};

extern const struct strategy_ops strategy_local, strategy_random, strategy_exhaustive;

/* By number, the default first; NULL: there are no more. */
const struct strategy_ops *strategy_at(size_t index);
/* NULL name: the default. CUGEN_ERROR_USAGE names those there are. */
int strategy_find(const char *name, const struct strategy_ops **out, cugen_error *err);

#endif
