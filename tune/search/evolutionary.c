/* A genetic algorithm in a steady state (Whitley: The GENITOR algorithm, ICGA 1989; as in Kernel
   Tuner and other tuners). Once SAMPLES variants have a result, and two are right, further variants
   are children of two of the best POPULATION_MOST so far. A parent is chosen by tournament: the
   better of two drawn. A better result replaces the worst member as soon as it arrives, so that no
   generation waits for variants in flight. Children that are invalid or were given before are drawn
   anew; if CHILDREN draws give no child, as in a nearly exhausted space, the variant comes from the
   random order. */
#include <stdlib.h>

#include "population.h"
#include "search.h"

enum {
  SAMPLES = 16,  /* results before the first child */
  CHILDREN = 64, /* most children drawn for one variant */
  MUTATION = 10  /* one in so many positions mutates */
};

struct evolutionary {
  struct strategy strategy;
  struct population population;
  size_t reported;
  uint64_t state;
};

static struct strategy *evolutionary_open(const struct strategy_space *space) {
  struct evolutionary *s = (struct evolutionary *)search_open(space, sizeof *s);
  if (s) s->state = ~space->seed;
  return (struct strategy *)s;
}

static void evolutionary_report(struct strategy *strategy, uint64_t index, double cost,
                                double seconds) {
  struct evolutionary *s = (struct evolutionary *)strategy;
  (void)seconds;
  search_report(strategy, index, cost);
  s->reported++;
  population_add(&s->population, index, cost);
}

static uint64_t choose_parent(struct evolutionary *s) {
  size_t one = (size_t)population_draw(&s->state, s->population.count);
  size_t other = (size_t)population_draw(&s->state, s->population.count);
  return s->population.members[one < other ? one : other].index;
}

static bool evolutionary_next(struct strategy *strategy, uint64_t *index) {
  struct evolutionary *s = (struct evolutionary *)strategy;
  if (search_first(strategy, index)) return true;
  const bool breeds =
      s->reported >= SAMPLES && s->population.count > 1 && strategy->space.axis_count;
  for (int n = 0; n < CHILDREN && breeds; n++) {
    uint64_t mother = choose_parent(s), father = choose_parent(s);
    if (population_cross(&strategy->space, mother, father, MUTATION, &s->state, index) &&
        search_give(strategy, *index))
      return true;
  }
  return search_random(strategy, index);
}

const struct strategy_ops strategy_evolutionary = {
    .name = "evolutionary",
    .what = "every variant once, children of two of the best so far before a random order",
    .takes_firsts = true,
    .open = evolutionary_open,
    .close = search_close,
    .next = evolutionary_next,
    .report = evolutionary_report,
    .taken = search_taken,
};
