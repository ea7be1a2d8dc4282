/* Search strategies: rows in a table, each the same few functions over variant indices. All are seeded and
   repeatable, and none knows what a GPU is. */
#ifndef TUNE_SEARCH_STRATEGY_H
#define TUNE_SEARCH_STRATEGY_H

#include "gen/space/space.h"

struct strategy_span { /* the variants of one implementation */
  uint64_t first, count;
};

/* A tunable, as strategies that learn from results see it. Where there are several implementations, they are an axis too. */
struct strategy_axis {
  size_t count;         /* of its values */
  const double *values; /* rising; NULL: words, without an order */
};

enum {
  STRATEGY_MAX_AXES = 64,
  STRATEGY_ABSENT = UINT16_MAX /* in place of a position: the variant's implementation has no such tunable */
};

/* A variant that something says is good: records of another size or another GPU, the model, the config. */
struct strategy_prior {
  uint64_t index;
  unsigned source; /* who says so, below STRATEGY_SOURCES */
};

enum { STRATEGY_SOURCES = 8 };

/* What is searched. */
struct strategy_space {
  const struct strategy_span *spans;
  size_t span_count;
  uint64_t seed;
  const uint64_t *firsts; /* remembered of this very problem: they come before all else */
  size_t first_count;
  const struct strategy_prior *priors; /* where to begin, as long as results do not contradict it: see search.c */
  size_t prior_count;
  /* Fills out with the variants that differ from this one in one tunable, at most max_neighbours. */
  size_t (*neighbours)(const void *context, uint64_t index, uint64_t *out);
  size_t max_neighbours;
  /* A variant is a position on each axis. No axes (0): it is a number and no more. */
  const struct strategy_axis *axes; /* live as long as the strategy */
  size_t axis_count;
  void (*locate)(const void *context, uint64_t index, uint16_t *positions);
  /* The variant at these positions; false: there is none. */
  bool (*find)(const void *context, const uint16_t *positions, uint64_t *index);
  const void *context; /* lives as long as the strategy */
};

struct strategy;

struct strategy_ops {
  const char *name;
  const char *what; /* for --help and errors */
  bool takes_firsts;
  /* spans, firsts and priors are copied. NULL: no memory. */
  struct strategy *(*open)(const struct strategy_space *space);
  void (*close)(struct strategy *strategy);
  /* The next variant to try; false when there is none left. Never gives an index twice. */
  bool (*next)(struct strategy *strategy, uint64_t *index);
  /* What came of it: its cost (cache_record_cost), or infinity for a failure; and the seconds that it took to find out: compile and
     measurement. 0: not known. Others may have been given meanwhile. */
  void (*report)(struct strategy *strategy, uint64_t index, double cost, double seconds);
  /* Another strategy gave it: this one will not, but hears of it. */
  void (*taken)(struct strategy *strategy, uint64_t index);
};

extern const struct strategy_ops strategy_surrogate, strategy_portfolio, strategy_local, strategy_evolutionary,
    strategy_random, strategy_exhaustive;

/* By number, the default first; NULL: there are no more. */
const struct strategy_ops *strategy_at(size_t index);
/* NULL name: the default. CUGEN_ERROR_USAGE names those there are. */
int strategy_find(const char *name, const struct strategy_ops **out, cugen_error *err);

#endif
