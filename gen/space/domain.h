/* The combinations of one implementation, and the rules that rule some of them out, prepared for one problem and device. */
#ifndef GEN_SPACE_DOMAIN_H
#define GEN_SPACE_DOMAIN_H

#include "limits.h"
#include "space.h"

/* What is tried on a combination, with problem and device bound: an expression; a limit of the device; or that a tunable has one
   of some values (a filter's pattern; with no tunable and no value nothing passes). It is tried at its deepest tunable; what
   it gives for the values of that one is kept until another of its tunables changes, that is, until the second deepest is
   given a value. */
struct rule {
  size_t index;                                /* of the domain's listed */
  int depth, hoist;                            /* deepest and second deepest tunable; -1: none */
  const struct expr *written;                  /* with all its names, for messages; NULL: no expression */
  struct expr *bound[CONFIG_MAX_LAUNCHES + 1]; /* the expression, or the limit's factors and steps */
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

/* slots: device and problem. filter: NULL or as in space_open_within. On failure nothing is owed. */
int domain_open(const struct config *config, const struct config_implementation *implementation,
                const struct value *slots, const struct space_filter *filter, struct domain *out, cugen_error *err);
void domain_close(struct domain *domain);
/* The same domain but for heuristics. Its rules are to be freed, all else is the domain's. */
int domain_without_heuristics(const struct domain *domain, struct domain *out, cugen_error *err);
/* The index of a tunable's value in the combination with that rank. */
size_t domain_value(const struct domain *domain, uint64_t rank, size_t tunable);

/* ---- rules.c ---- */

/* What the config restricts, the limits of its launches, then its heuristics. */
int domain_add_config(struct domain *domain, bool heuristics, cugen_error *err);
void space_rule_free(const struct space_rule *listed);
/* The text is taken over unless it is an expression's of the config. */
int domain_add_rule(struct domain *domain, struct space_rule listed, struct rule **out, cugen_error *err);
/* Binds one more expression of the last rule. */
int rule_bind(const struct domain *domain, struct rule *rule, const struct expr *expr, cugen_error *err);
/* Whether it allows what is in the slots; those of a launch's steps, two behind the others, are set by the way. */
int rule_try(const struct domain *domain, const struct rule *rule, struct value *slots, bool *holds);
bool rule_mentions(const struct domain *domain, const struct rule *rule, size_t tunable);

/* ---- filter.c ---- */

int domain_add_filter(struct domain *domain, const struct space_filter *filter, cugen_error *err);
/* What is wrong with the filter whatever the implementation: a name that there is nowhere, a pattern that means nothing. */
int space_filter_check(const struct config *config, const struct space_filter *filter, cugen_error *err);

#endif
