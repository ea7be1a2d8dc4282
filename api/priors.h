/* The variants with which tuning begins, because some source suggests them as good. A search tries
   these variants early (tune/search/search.c). */
#ifndef API_PRIORS_H
#define API_PRIORS_H

#include "lookup.h"
#include "tune/target.h"

/* The sources, in the order in which they are asked; tune_priors counts by source. */
enum prior_source {
  PRIOR_FOREIGN,
  PRIOR_SIZES,
  PRIOR_GPUS,
  PRIOR_SHIPPED,
  PRIOR_MODEL,
  PRIOR_CONFIG,
  PRIOR_SOURCES
};

struct priors {
  const struct space *space;
  struct strategy_prior *all;
  size_t count, most;        /* most: the limit for the source that is being asked */
  enum prior_source source;  /* the source of the variants that are being added */
  struct tune_priors kept;   /* passed to the tuner when all are gathered */
  struct text gpus, shipped; /* names of the devices that suggested variants */
  struct failures *failures; /* failed variants, which are not taken; NULL: none */
};

/* beginning.c: gathers the variants for the look-up, whose space must be open. Free *out also after
   a failure. */
int priors_gather(struct lookup *lookup, struct cache *cache, struct priors *out, cugen_error *err);
void priors_free(struct priors *priors);
/* Appends "5 that led for other sizes and 3 that led on NVIDIA A100", counting the suggestions that
   were tried; nothing if none was. */
void priors_print(const struct priors *priors, struct text *out);

/* ---- Functions for the sources -------------------------------------------------------------- */

/* Adds a variant by its text. Returns false if the space does not have the variant, it was added
   before, or no place is left. */
bool priors_add(struct priors *priors, const char *variant);
bool priors_add_index(struct priors *priors, uint64_t index);
bool priors_full(const struct priors *priors);
/* Adds the variant of a record; a visitor of cache_fastest whose context is a struct priors. A
   stale record serves, too, because tuning measures the variant anew. */
int priors_take(void *priors, struct cache_record *record, bool *stop, cugen_error *err);

/* selection.c: suggests the leaders of the remembered problems nearest to the look-up's own. Only
   sizes may differ, by any amount. */
int api_near_leaders(struct lookup *lookup, struct cache *cache, struct priors *out,
                     cugen_error *err);
/* selection.c: suggests what was imported from other autotuners for this problem, then for the
   problems nearest to it. */
int api_foreign_leaders(struct lookup *lookup, struct cache *cache, struct priors *out,
                        cugen_error *err);
/* selection.c: suggests the variants that remembered predictions rank first for this problem. */
int api_predicted_leaders(struct lookup *lookup, struct cache *cache, struct priors *out,
                          cugen_error *err);
/* other_gpu.c: suggests the leaders of this problem on other GPUs, the most similar first. */
int api_other_gpu_leaders(struct lookup *lookup, struct priors *out, cugen_error *err);
/* shipped.c: suggests the variants of the nearest shipped portfolio, in the order of
   portfolio_ask. */
int portfolio_shipped_leaders(struct lookup *lookup, struct priors *out, cugen_error *err);

#endif
