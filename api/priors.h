/* Where tuning begins: variants that something says are good, gathered from all who say so. A search tries them first, and drops those of a source
   that results contradict (tune/search/search.c). */
#ifndef API_PRIORS_H
#define API_PRIORS_H

#include "lookup.h"
#include "tune/tuner.h"

/* Who says so, in the order in which they are asked; tune_priors counts by it. */
enum prior_source { PRIOR_SIZES, PRIOR_GPUS, PRIOR_SHIPPED, PRIOR_MODEL, PRIOR_CONFIG, PRIOR_SOURCES };

struct priors {
  const struct space *space;
  struct strategy_prior *all;
  size_t count, most;        /* most: for now */
  enum prior_source source;  /* of those that are taken */
  struct tune_priors kept;   /* for the tuner, once all are gathered */
  struct text gpus, shipped; /* their names */
  struct failures *failures; /* these are not taken; NULL: none is known */
};

/* beginning.c: of the look-up, whose space is open. To be freed whatever comes back. */
int priors_gather(struct lookup *lookup, struct cache *cache, struct priors *out, cugen_error *err);
void priors_free(struct priors *priors);
/* "5 that led for other sizes and 3 that led on NVIDIA A100", of those that were tried; nothing where none was. */
void priors_print(const struct priors *priors, struct text *out);

/* ---- For those who say so ---- */

/* A variant by its text. False: it is none that is searched here, or is there already. */
bool priors_add(struct priors *priors, const char *variant);
bool priors_add_index(struct priors *priors, uint64_t index);
bool priors_full(const struct priors *priors);
/* A visitor of cache_fastest; its context is a struct priors. Whether its source is still the one that was measured does not matter: it will be
   measured here. */
int priors_take(void *priors, struct cache_record *record, bool *stop, cugen_error *err);

/* selection.c: those that lead the remembered problems nearest to the look-up's own. Only sizes may differ, by however much. */
int api_near_leaders(struct lookup *lookup, struct cache *cache, struct priors *out, cugen_error *err);
/* selection.c: what the model would choose for this very problem, where that is remembered. */
int api_predicted_leaders(struct lookup *lookup, struct cache *cache, struct priors *out, cugen_error *err);
/* other_gpu.c: those that lead this problem on other GPUs, the nearest first. */
int api_other_gpu_leaders(struct lookup *lookup, struct priors *out, cugen_error *err);
/* shipped.c: those of the portfolio that ships, the rule's choice first. */
int portfolio_shipped_leaders(struct lookup *lookup, struct priors *out, cugen_error *err);

#endif
