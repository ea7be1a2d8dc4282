/* Predicts the results of variants that were not tried yet from the results so far: see model.c. */
#ifndef TUNE_SEARCH_MODEL_H
#define TUNE_SEARCH_MODEL_H

#include "strategy.h"

struct model;

/* Opens a model over a space that has axes. Returns NULL if there is no memory. */
struct model *model_open(const struct strategy_space *space, uint64_t seed);
void model_close(struct model *model);
/* Announces a variant whose result is awaited. */
void model_expect(struct model *model, uint64_t index);
/* Adds a result, like a strategy's report. The variant need not have been announced. A right result
   replaces a failure of the variant; any other second result is ignored. */
void model_learn(struct model *model, uint64_t index, double cost, double seconds);
/* Returns the number of variants that the model knows or expects. */
size_t model_rows(const struct model *model);
/* Returns true if the model has learnt enough results for scores. */
bool model_ready(const struct model *model);
/* Returns how many results came since the last result that was clearly better than all before it,
   less twice the number of results awaited now, at least 0. */
size_t model_idle(const struct model *model);
/* Returns how promising a variant is; higher is better. turn: number of the choice, by which
   predictions vary. elsewhere: the score is how little is known of the variant, for the time that
   it takes, rather than how much better it may be. -INFINITY: the score cannot exceed `least`. */
double model_score(const struct model *model, uint64_t index, size_t turn, bool elsewhere,
                   double least);
/* Returns the squared distance of a variant from the nearest variant that the model knows or
   expects, in the model's columns. Infinity: there is none. */
double model_distance(const struct model *model, uint64_t index);

#endif
