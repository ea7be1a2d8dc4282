/* The best variants so far; see population.h. Uniform crossover: Syswerda, Uniform crossover in
   genetic algorithms, ICGA 1989. */
#include "population.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

void population_add(struct population *p, uint64_t index, double cost) {
  size_t at = p->count;
  while (at > 0 && cost < p->members[at - 1].cost) at--;
  if (!isfinite(cost) || at == POPULATION_MOST) return;
  size_t kept = p->count < POPULATION_MOST ? p->count++ : POPULATION_MOST - 1;
  memmove(&p->members[at + 1], &p->members[at], (kept - at) * sizeof *p->members);
  p->members[at] = (struct member){index, cost};
}

uint64_t population_draw(uint64_t *state, uint64_t end) {
  return random_next(state) % end;
}

bool population_cross(const struct strategy_space *space, uint64_t mother, uint64_t father,
                      uint64_t mutation, uint64_t *state, uint64_t *child) {
  uint16_t positions[STRATEGY_MAX_AXES], others[STRATEGY_MAX_AXES];
  space->locate(space->context, mother, positions);
  space->locate(space->context, father, others);
  for (size_t a = 0; a < space->axis_count; a++) {
    if (population_draw(state, 2)) positions[a] = others[a];
    if (!population_draw(state, mutation))
      positions[a] = (uint16_t)population_draw(state, space->axes[a].count);
  }
  return space->find(space->context, positions, child);
}
