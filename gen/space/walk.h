/* The inside of a space, and the walk over the combinations of a domain. */
#ifndef GEN_SPACE_WALK_H
#define GEN_SPACE_WALK_H

#include "domain.h"

/* What a space may cost: 400 MB of rows, and some fifteen seconds of walking. A step is an operation of an expression, or what
   takes about as long; counted, not timed, so that every machine refuses the same spaces. */
enum { SPACE_MAX_ROWS = 50000000 };
#define SPACE_MAX_STEPS UINT64_C(4000000000)

/* The steps of walks that count together. A walk that has taken SPACE_DOUBT_STEPS estimates what is ahead, so that a hopeless
   one is refused at once; every SPACE_STOP_STEPS, milliseconds, it asks whether to stop. */
enum { SPACE_DOUBT_STEPS = 50000000, SPACE_STOP_STEPS = 1000000 };
struct effort {
  struct space_stop stop;
  uint64_t steps, most;
  uint64_t next; /* at so many steps a limit is looked at, or the stop asked */
};

/* Ranks in rising order. */
struct rows {
  uint64_t *ranks;
  size_t count, capacity, limit;
};

struct space {
  const struct config *config;
  struct space_implementation *implementations;
  struct domain *domains; /* one for each implementation, as are rows */
  struct rows *rows;
  size_t count;
  uint64_t valid, cartesian;
  size_t max_tunables;
  struct effort effort; /* of opening it */
};

/* Of a variant that only heuristics leave out; false: there is no number so large. */
bool space_left_out_index(const struct space *space, size_t implementation, uint64_t rank, uint64_t *index);

struct effort effort_begin(struct space_stop stop);

/* Collects the valid combinations (rows may be NULL) and adds to removed[rule] those that it was the first
   to rule out. fixed (may be NULL): for each tunable the index of its only allowed value, or -1. */
int domain_walk(const struct domain *domain, const int64_t *fixed, struct rows *rows, uint64_t *removed,
                struct effort *effort, cugen_error *err);

/* The first row at or after `from` with at least that rank; the count, if there is none. */
size_t rows_at_least(const struct rows *rows, size_t from, uint64_t rank);

#endif
