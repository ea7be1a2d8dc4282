/* The inside of a space, and the walk over the combinations of a domain. */
#ifndef GEN_SPACE_WALK_H
#define GEN_SPACE_WALK_H

#include "domain.h"

/* Limits of a space: 400 MB of rows, and about fifteen seconds of walking. A step is an operation
   of an expression, or something of similar cost. */
enum { SPACE_MAX_ROWS = 50000000 };
#define SPACE_MAX_STEPS UINT64_C(4000000000)

/* After SPACE_DOUBT_STEPS a walk estimates all of its steps. Every SPACE_STOP_STEPS the walk asks
   whether to stop. */
enum { SPACE_DOUBT_STEPS = 50000000, SPACE_STOP_STEPS = 1000000 };
struct effort { /* The steps of walks that count against one limit. */
  struct space_stop stop;
  uint64_t steps, most;
  uint64_t next; /* number of steps at which a limit is checked or the stop is asked next */
};

/* Ranks in ascending order. */
struct rows {
  uint64_t *ranks;
  size_t count, capacity, limit;
};

struct space {
  const struct config *config;
  struct space_implementation *implementations;
  struct domain *domains; /* domains and rows have one entry for each implementation */
  struct rows *rows;
  size_t count;
  uint64_t valid, cartesian;
  size_t max_tunables;
  struct effort effort; /* the effort of opening the space */
};

/* Computes the index of a variant that only heuristics remove; returns false if the index would be
   too large. */
bool space_left_out_index(const struct space *space, size_t implementation, uint64_t rank,
                          uint64_t *index);

struct effort effort_begin(struct space_stop stop);

/* Collects the valid combinations in rows (may be NULL), and adds to removed[rule] the number of
   combinations that the rule was the first to remove. fixed (may be NULL): for each tunable the
   index of its only allowed value, or -1. */
int domain_walk(const struct domain *domain, const int64_t *fixed, struct rows *rows,
                uint64_t *removed, struct effort *effort, cugen_error *err);

/* Returns the first row at or after `from` whose rank is at least `rank`; the number of rows if
   there is none. */
size_t rows_at_least(const struct rows *rows, size_t from, uint64_t rank);

#endif
