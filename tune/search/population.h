/* The best variants so far, and new variants made by crossing two of them. */
#ifndef TUNE_SEARCH_POPULATION_H
#define TUNE_SEARCH_POPULATION_H

#include "strategy.h"

enum { POPULATION_MOST = 20 };

struct population {
  struct member {
    uint64_t index;
    double cost;
  } members[POPULATION_MOST]; /* the best first */
  size_t count;
};

/* Adds a variant if it is among the best. A failure, whose cost is infinite, is ignored. */
void population_add(struct population *population, uint64_t index, double cost);
/* Returns a random number below `end`, which is above 0. */
uint64_t population_draw(uint64_t *state, uint64_t end);
/* Crosses two variants uniformly: each position is that of a parent drawn by lot or, one time in
   `mutation`, any position of the axis. Returns false if there is no variant at these positions.
   The space must have axes. */
bool population_cross(const struct strategy_space *space, uint64_t mother, uint64_t father,
                      uint64_t mutation, uint64_t *state, uint64_t *child);

#endif
