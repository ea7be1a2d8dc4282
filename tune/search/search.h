/* What strategies have in common: the variants that are asked for, counted through, which of them were given already, and one
   random order of them. A strategy's own struct begins with this one. Only tune/search includes it. */
#ifndef TUNE_SEARCH_SEARCH_H
#define TUNE_SEARCH_SEARCH_H

#include "strategy.h"

struct strategy {
  struct strategy_space space;
  struct strategy_span *spans; /* without empty ones */
  size_t span_count;
  uint64_t *firsts;                          /* what is given before all else, */
  size_t known_count, first_count, first_at; /* the first known_count before the priors */
  struct strategy_prior *priors;
  size_t prior_count, prior_at;
  bool rests; /* a prior was given last: the next one is another's choice */
  struct {
    size_t known;        /* results of its variants, */
    double best, others; /* the best of these, and of all other variants */
  } sources[STRATEGY_SOURCES];
  uint64_t total, at; /* at: position in the order of this strategy */
  unsigned half_bits; /* of the random order's domain, 2^(2 * half_bits) >= total */
  uint64_t *given;    /* a bit for each variant */
};

/* Zeroed memory of `bytes`, which begin with a struct strategy, filled in. NULL: no memory. */
struct strategy *search_open(const struct strategy_space *space, size_t bytes);
void search_close(struct strategy *s);

/* The n-th variant in the config's order. */
uint64_t search_variant(const struct strategy *s, uint64_t n);
/* True the first time; false also of what is in no span. */
bool search_give(struct strategy *s, uint64_t index);
/* As a strategy's taken. */
void search_taken(struct strategy *s, uint64_t index);
/* Whether search_give would be true. */
bool search_is_new(const struct strategy *s, uint64_t index);
/* What comes before a strategy's own choice: firsts, then priors and each implementation's first variant in turn. Between two priors the
   strategy chooses, where no implementation's first is left. False: it is the strategy's turn. Once for each variant. */
bool search_first(struct strategy *s, uint64_t *index);
/* As a strategy's report: by it priors are judged. */
void search_report(struct strategy *s, uint64_t index, double cost);
/* A random order, without what was given; false: none is left. */
bool search_random(struct strategy *s, uint64_t *index);

#endif
