/* Search strategies: rows in a table, each the same few functions over variant indices. All are seeded and
   repeatable, and none knows what a GPU is. */
#ifndef TUNE_STRATEGY_H
#define TUNE_STRATEGY_H

#include "gen/space.h"

struct strategy_span { /* the variants of one implementation */
  uint64_t first, count;
};

struct strategy;

struct strategy_ops {
  const char *name;
  const char *what; /* for --help and errors */
  /* spans are copied. */
  struct strategy *(*open)(const struct strategy_span *spans, size_t count, uint64_t seed);
  void (*close)(struct strategy *strategy);
  /* The next variant to try; false when there is none left. Never gives an index twice. */
  bool (*next)(struct strategy *strategy, uint64_t *index);
  /* What came of it: seconds, or infinity for a failure. */
  void (*report)(struct strategy *strategy, uint64_t index, double seconds);
};

/* NULL name: the default. CUGEN_ERROR_USAGE names those there are. */
int strategy_find(const char *name, const struct strategy_ops **out, cugen_error *err);

#endif
