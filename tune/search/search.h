/* The common part of all strategies: the variants to search, numbered from 0, the variants already
   given, and one random order of all. The struct of each strategy begins with a struct strategy. */
#ifndef TUNE_SEARCH_SEARCH_H
#define TUNE_SEARCH_SEARCH_H

#include "strategy.h"

struct strategy {
  struct strategy_space space;
  struct strategy_span *spans; /* spans of implementations that have variants */
  size_t span_count;
  /* The variants given before the strategy's own choices: those of space.firsts, then the first
     variant of each implementation. */
  uint64_t *firsts;
  /* The first known_count of `firsts` come before the priors; first_at: next position in
     `firsts`. */
  size_t known_count, first_count, first_at;
  struct strategy_prior *priors;
  size_t prior_count, prior_at;
  /* The last variant given was a prior, so that the next one is no prior. */
  bool rests;
  struct {
    size_t known;        /* number of results of the source's own variants */
    double best, others; /* least cost of the source's own variants, and of all other variants */
  } sources[STRATEGY_SOURCES];
  uint64_t total, at; /* number of variants; at: next position in the order */
  unsigned half_bits; /* the random order is a permutation of 2^(2 * half_bits) >= total numbers */
  uint64_t *given;    /* a bit for each variant that was given */
};

/* Allocates `bytes` of zeroed memory, which begin with a struct strategy, and initialises that
   struct. Returns NULL if there is no memory. */
struct strategy *search_open(const struct strategy_space *space, size_t bytes);
void search_close(struct strategy *s);

/* Returns the n-th variant in the config's order. */
uint64_t search_variant(const struct strategy *s, uint64_t n);
/* Marks a variant as given. Returns false if it was given before or is in no span. */
bool search_give(struct strategy *s, uint64_t index);
/* The `taken` function of a strategy. */
void search_taken(struct strategy *s, uint64_t index);
/* Returns true if search_give would return true. */
bool search_is_new(const struct strategy *s, uint64_t index);
/* Gives the variants that come before a strategy's own choices, each once: those of space.firsts,
   then priors and each implementation's first variant in turn. Once all implementations had their
   first variant, priors alternate with the strategy's own choices. Returns false when the strategy
   has to choose. */
bool search_first(struct strategy *s, uint64_t *index);
/* Notes the cost, to judge the sources of priors. The `report` of a strategy that uses search_first
   calls this. */
void search_report(struct strategy *s, uint64_t index, double cost);
/* Gives the next variant in the random order that was not given yet; false: none is left. */
bool search_random(struct strategy *s, uint64_t *index);

/* Returns the natural logarithm of x > 0. The last digit of a C library's log() may differ between
   machines and change a choice. */
double search_logarithm(double x);

#endif
