/* The combinations of one implementation and the rules that remove some of them, prepared for one
   problem and device. */
#ifndef GEN_SPACE_DOMAIN_H
#define GEN_SPACE_DOMAIN_H

#include "limits.h"
#include "space.h"

/* A rule that is tried on combinations, with problem and device bound. A rule is an expression, a
   limit of the device, or a list of allowed values of a tunable, which comes from a filter's
   pattern (without values nothing passes). A rule is tried at the deepest of its tunables. The
   results for the values of that tunable are kept until the second deepest tunable of the rule is
   given a new value. */
struct rule {
  size_t index;                                /* index into the domain's `listed` */
  int depth, hoist;                            /* depth: index of the deepest, that is the last
                                                  declared, of its tunables; hoist: of the second
                                                  deepest; -1: none */
  const struct expr *written;                  /* the expression with all its names, for messages;
                                                  NULL: the rule is not an expression */
  struct expr *bound[CONFIG_MAX_LAUNCHES + 1]; /* the expression, or the factors of the limit and
                                                  the number of steps of its launch */
  size_t bound_count;
  uint64_t cost;             /* steps of one trial, in the unit of walk.h */
  struct launch_limit limit; /* the limit; count 0: none */
  struct value *one_of;
  size_t one_of_count;
};

/* The tunables and rules of an implementation. A combination is identified by its rank: the index
   that it would have if all combinations were valid, with the last tunable varying fastest. */
struct domain {
  const struct config *config;
  const struct config_implementation *implementation;
  struct rule *rules; /* in the order in which they are tried: by depth, then as listed */
  struct space_rule
      *listed; /* the rules again, for messages, in the order in which they were added */
  size_t rule_count;
  struct value *slots; /* with device and problem set */
  size_t slot_count;
  uint64_t *strides; /* how much the rank grows when a tunable takes its next value */
  uint64_t cartesian;
  struct expr **parsed; /* the expressions of a filter */
  size_t parsed_count;
};

/* slots: device and problem are set. filter: NULL or as in space_open_within. After a failure
   nothing needs to be closed. */
int domain_open(const struct config *config, const struct config_implementation *implementation,
                const struct value *slots, const cugen_filter *filter, struct domain *out,
                cugen_error *err);
void domain_close(struct domain *domain);
/* Makes a copy of the domain without heuristics. The caller frees out->rules; everything else
   belongs to `domain`. */
int domain_without_heuristics(const struct domain *domain, struct domain *out, cugen_error *err);
/* Returns the index of the tunable's value in the rank's combination. */
size_t domain_value(const struct domain *domain, uint64_t rank, size_t tunable);

/* ---- rules.c -------------------------------------------------------------------------------- */

/* Adds the restrictions of the implementation, the limits of its launches and, if wanted, the
   heuristics that hold for the device. */
int domain_add_config(struct domain *domain, bool heuristics, cugen_error *err);
void space_rule_free(const struct space_rule *listed);
/* Adds a rule. The domain takes over the text, unless the text belongs to an expression of the
   config. */
int domain_add_rule(struct domain *domain, struct space_rule listed, struct rule **out,
                    cugen_error *err);
/* Binds one more expression of the rule that was added last. */
int rule_bind(const struct domain *domain, struct rule *rule, const struct expr *expr,
              cugen_error *err);
/* Sets *holds to whether the rule allows the values in the slots. Overwrites the two slots of a
   launch's steps, behind those of the tunables. */
int rule_try(const struct domain *domain, const struct rule *rule, struct value *slots,
             bool *holds);
bool rule_mentions(const struct domain *domain, const struct rule *rule, size_t tunable);

/* ---- filter.c ------------------------------------------------------------------------------- */

int domain_add_filter(struct domain *domain, const cugen_filter *filter, cugen_error *err);
/* Returns CUGEN_ERROR_USAGE if `implementation` or `variant` of the filter has a name that no
   implementation knows, or a pattern that matches nothing. */
int space_filter_check(const struct config *config, const cugen_filter *filter, cugen_error *err);
/* Adds "; did you mean \"tile\"?; there are: tile vec" to the error about a word that is none of
   the names. */
void space_add_known(cugen_error *err, const char *word, const char *const *names, size_t count);

#endif
