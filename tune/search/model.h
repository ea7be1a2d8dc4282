/* What results say about variants that were not tried yet: see model.c. */
#ifndef TUNE_SEARCH_MODEL_H
#define TUNE_SEARCH_MODEL_H

#include "strategy.h"

struct model;

/* NULL: no memory. The space has axes. */
struct model *model_open(const struct strategy_space *space, uint64_t seed);
void model_close(struct model *model);
/* A variant whose result is awaited. */
void model_expect(struct model *model, uint64_t index);
/* As a strategy's report; the variant need not be an expected one. */
void model_learn(struct model *model, uint64_t index, double cost, double seconds);
/* How many variants it knows or expects. */
size_t model_rows(const struct model *model);
/* Enough was learnt for scores. */
bool model_ready(const struct model *model);
/* How many results came since the last one that was clearly better than all before it. Those that were under way then do not count, nor as many
   again: they were chosen without knowing it. */
size_t model_idle(const struct model *model);
/* How much a variant promises: the higher, the better. turn: that of the choice. From turn to turn the same model goes more by what
   it knows, or more by what it does not. */
double model_score(const struct model *model, uint64_t index, size_t turn);
/* How far a variant is from the nearest that the model knows or expects, by the model's numbers: the square of it. Infinity: there
   is none. */
double model_distance(const struct model *model, uint64_t index);

#endif
