/* Search strategies, as rows of a table with a few functions over variant indices each. Equal seeds
   and equal reports give equal choices. No strategy depends on GPUs. */
#ifndef TUNE_SEARCH_STRATEGY_H
#define TUNE_SEARCH_STRATEGY_H

#include "gen/space/space.h"

struct strategy_span { /* The variants of one implementation. */
  uint64_t first, count;
};

/* A tunable, as strategies that learn from results see it. If there are several implementations,
   the implementation is an axis as well. */
struct strategy_axis {
  size_t count;
  const double *values; /* values in rising order; NULL: not all values are numbers */
};

enum {
  STRATEGY_MAX_AXES = 64,
  /* Stands in place of a position if the variant's implementation has no tunable of the axis. */
  STRATEGY_ABSENT = UINT16_MAX
};

/* A variant that some source, such as records of another size, says is good. */
struct strategy_prior {
  uint64_t index;
  unsigned source; /* number of the source, below STRATEGY_SOURCES */
};

enum { STRATEGY_SOURCES = 8 };

struct strategy_space {
  const struct strategy_span *spans;
  size_t span_count;
  uint64_t seed;
  /* Variants that come before all others, such as those remembered for exactly this problem. */
  const uint64_t *firsts;
  size_t first_count;
  /* Where to begin, unless results contradict their source: see search.c. */
  const struct strategy_prior *priors;
  size_t prior_count;
  /* Sets `out` to the variants that differ from `index` in one tunable, at most max_neighbours, and
     returns their number. */
  size_t (*neighbours)(const void *context, uint64_t index, uint64_t *out);
  size_t max_neighbours;
  /* A variant is a position on each axis. axis_count 0: variants are plain numbers. */
  const struct strategy_axis *axes; /* live as long as the strategy */
  size_t axis_count;
  void (*locate)(const void *context, uint64_t index, uint16_t *positions);
  /* Finds the variant at these positions; returns false if there is none. */
  bool (*find)(const void *context, const uint16_t *positions, uint64_t *index);
  const void *context; /* lives as long as the strategy */
};

struct strategy;

struct strategy_ops {
  const char *name;
  const char *what;  /* description for --help and errors */
  bool takes_firsts; /* the strategy begins with firsts and priors */
  /* Opens the strategy and copies spans, firsts and priors. Returns NULL if there is no memory. */
  struct strategy *(*open)(const struct strategy_space *space);
  void (*close)(struct strategy *strategy);
  /* Sets *index to the next variant to try and returns true; returns false if none is left. Never
     gives a variant twice. */
  bool (*next)(struct strategy *strategy, uint64_t *index);
  /* Reports the result of a variant: its cost, less is better, or infinity for a failure, and the
     seconds that compiling and measuring took; 0: not known. Other variants may have been given in
     the meantime. A failure may be followed by a second report, with the cost of the variant on
     another device, because the first device was broken. */
  void (*report)(struct strategy *strategy, uint64_t index, double cost, double seconds);
  /* Says that another strategy or tuner gave this variant: the strategy will not give it, but gets
     its result. */
  void (*taken)(struct strategy *strategy, uint64_t index);
};

/* Every strategy, the default first: strategy_NAME is defined in NAME.c. */
#define STRATEGIES(X) X(surrogate) X(portfolio) X(local) X(evolutionary) X(random) X(exhaustive)

#define X(name) extern const struct strategy_ops strategy_##name;
STRATEGIES(X)
#undef X

/* Returns the strategy of this number, the default first; NULL: there are no more. */
const struct strategy_ops *strategy_at(size_t index);
/* Finds a strategy by name; NULL: the default. CUGEN_ERROR_USAGE, with all names, if there is
   none. */
int strategy_find(const char *name, const struct strategy_ops **out, cugen_error *err);

/* Returns how many variants may be under way once `known` results are known, at most `most`. The
   first `busy` keep compilers and workers busy; further variants save waiting when times vary, but
   are chosen with fewer results. So there are few of them while little is known. */
size_t strategy_ahead(size_t busy, uint64_t known, size_t most);

#endif
