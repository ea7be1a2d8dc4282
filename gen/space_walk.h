/* The inside of a space: restrictions prepared for one problem and device, and the walk over the combinations. */
#ifndef GEN_SPACE_WALK_H
#define GEN_SPACE_WALK_H

#include "space.h"

/* What a space may cost: 400 MB of rows, and some fifteen seconds of walking. */
enum { SPACE_MAX_ROWS = 50000000, SPACE_MAX_STEPS = 200000000 };

/* A restriction with problem and device bound. It is tried at its deepest tunable; what it gives for the values of
   that one is kept until another of its tunables changes, that is, until the second deepest is given a value. */
struct rule {
  const struct config_restriction *restriction;
  struct expr *bound;
  size_t index;     /* of the restriction in its implementation */
  int depth, hoist; /* deepest and second deepest tunable; -1: none */
};

/* An implementation's tunables and rules. A combination is known by its rank: the number it would have if all were
   valid, the last tunable fastest. */
struct domain {
  const struct config *config;
  const struct config_implementation *implementation;
  struct rule *rules; /* by depth, then as declared: the order in which they are tried */
  size_t rule_count;
  struct value *slots; /* device and problem are set */
  size_t slot_count;
  uint64_t *strides; /* what one step of a tunable adds to the rank */
  uint64_t cartesian;
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
};

/* slots: device and problem. On failure nothing is owed. */
int domain_open(const struct config *config, const struct config_implementation *implementation,
                const struct value *slots, struct domain *out, cugen_error *err);
void domain_close(struct domain *domain);
/* The index of a tunable's value in the combination with that rank. */
size_t domain_value(const struct domain *domain, uint64_t rank, size_t tunable);

/* Collects the valid combinations (rows may be NULL) and adds to removed[restriction] those that it was the first
   to rule out. fixed (may be NULL): for each tunable the index of its only allowed value, or -1. */
int domain_walk(const struct domain *domain, const int64_t *fixed, struct rows *rows, uint64_t *removed,
                cugen_error *err);

/* The first row at or after `from` with at least that rank; the count, if there is none. */
size_t rows_at_least(const struct rows *rows, size_t from, uint64_t rank);

#endif
