/* The inside of a space: restrictions prepared for one problem and device, and the walk over the combinations. */
#ifndef GEN_SPACE_WALK_H
#define GEN_SPACE_WALK_H

#include "limits.h"
#include "space.h"

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

/* What is tried on a combination, with problem and device bound: an expression; a limit of the device; or that a tunable has one
   of some values (a filter's pattern; with no tunable and no value nothing passes). It is tried at its deepest tunable; what
   it gives for the values of that one is kept until another of its tunables changes, that is, until the second deepest is
   given a value. */
struct rule {
  size_t index;                               /* of the domain's listed */
  int depth, hoist;                           /* deepest and second deepest tunable; -1: none */
  const struct expr *written;                 /* with all its names, for messages; NULL: no expression */
  struct expr *bound[KERNEL_MAX_ENTRIES + 1]; /* the expression, or the limit's factors and steps */
  size_t bound_count;
  uint64_t cost;             /* steps of one trial */
  struct launch_limit limit; /* count 0: none */
  struct value *one_of;
  size_t one_of_count;
};

/* An implementation's tunables and rules. A combination is known by its rank: the number it would have if all were
   valid, the last tunable fastest. */
struct domain {
  const struct config *config;
  const struct config_implementation *implementation;
  struct rule *rules; /* by depth, then as listed: the order in which they are tried */
  struct space_rule *listed;
  size_t rule_count, rule_capacity;
  struct value *slots; /* device and problem are set */
  size_t slot_count;
  uint64_t *strides; /* what one step of a tunable adds to the rank */
  uint64_t cartesian;
  struct expr **parsed; /* a filter's expressions */
  size_t parsed_count;
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

/* slots: device and problem. filter: NULL or as in space_open_within. On failure nothing is owed. */
int domain_open(const struct config *config, const struct config_implementation *implementation,
                const struct value *slots, const struct space_filter *filter, struct domain *out, cugen_error *err);
void domain_close(struct domain *domain);
/* The index of a tunable's value in the combination with that rank. */
size_t domain_value(const struct domain *domain, uint64_t rank, size_t tunable);

/* ---- space_rules.c ---- */

/* Fills rules and listed. */
int domain_open_rules(struct domain *domain, const struct space_filter *filter, cugen_error *err);
void domain_close_rules(struct domain *domain);
/* The text is taken over unless it is a restriction's. */
int domain_add_rule(struct domain *domain, struct space_rule listed, struct rule **out, cugen_error *err);
/* Binds one more expression of the last rule. */
int rule_bind(const struct domain *domain, struct rule *rule, const struct expr *expr, cugen_error *err);
/* Whether it allows what is in the slots; those of a launch's steps, two behind the others, are set by the way. */
int rule_try(const struct domain *domain, const struct rule *rule, struct value *slots, bool *holds);
bool rule_mentions(const struct domain *domain, const struct rule *rule, size_t tunable);

/* ---- space_filter.c ---- */

int domain_add_filter(struct domain *domain, const struct space_filter *filter, cugen_error *err);
/* What is wrong with the filter whatever the implementation: a name that there is nowhere, a pattern that means nothing. */
int space_filter_check(const struct config *config, const struct space_filter *filter, cugen_error *err);

/* ---- space_walk.c ---- */

struct effort effort_begin(struct space_stop stop);

/* Collects the valid combinations (rows may be NULL) and adds to removed[rule] those that it was the first
   to rule out. fixed (may be NULL): for each tunable the index of its only allowed value, or -1. */
int domain_walk(const struct domain *domain, const int64_t *fixed, struct rows *rows, uint64_t *removed,
                struct effort *effort, cugen_error *err);

/* The first row at or after `from` with at least that rank; the count, if there is none. */
size_t rows_at_least(const struct rows *rows, size_t from, uint64_t rank);

#endif
