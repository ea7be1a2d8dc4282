/* A portfolio of strategies: several strategies search one space and hear of every result, and the
   strategy whose variants have paid best mostly gives the next one. A result pays by its rank among
   the best POPULATION_MOST so far: 1 for a new best, and 1 / POPULATION_MOST less for each of them
   that is not worse; a failure pays nothing. The worth of a strategy is the square of the mean of
   what its results paid, with older results counting less. A strategy is chosen with a probability
   proportional to its worth or, one time in LEAST, by lot. (Probability matching with a floor, as
   in adaptive operator selection: Thierens, An adaptive pursuit strategy for allocating operator
   probabilities, GECCO 2005.) Before SAMPLES results, the surrogate gives all variants, and results
   pay nothing. */
#include <math.h>
#include <stdlib.h>

#include "base/hash.h"
#include "population.h"
#include "search.h"

static const struct strategy_ops *const arms[] = {&strategy_surrogate, &strategy_local,
                                                  &strategy_evolutionary};
enum { ARMS = sizeof arms / sizeof *arms, PENDING = 256, SAMPLES = 16, LEAST = 16 };
static const double memory = 0.95; /* weight that a result keeps when the next one arrives */

struct portfolio {
  struct strategy strategy;
  struct strategy *arms[ARMS];
  /* Sums of payments and of results, with older ones counting less. */
  double paid[ARMS], heard[ARMS];
  struct population population;
  /* The strategy that gave each variant in flight; the oldest entry is overwritten. */
  struct {
    uint64_t index;
    size_t arm;
  } pending[PENDING];
  size_t given, reported;
  uint64_t state;
};

static void portfolio_close(struct strategy *strategy) {
  struct portfolio *s = (struct portfolio *)strategy;
  for (size_t i = 0; s && i < ARMS; i++)
    if (s->arms[i]) arms[i]->close(s->arms[i]);
  search_close(strategy);
}

static struct strategy *portfolio_open(const struct strategy_space *space) {
  struct portfolio *s = (struct portfolio *)search_open(space, sizeof *s);
  bool opened = s;
  for (size_t i = 0; i < ARMS && opened; i++) {
    s->arms[i] = arms[i]->open(space);
    opened = s->arms[i];
  }
  if (!opened) {
    portfolio_close(&s->strategy);
    return NULL;
  }
  s->state = space->seed + 7;
  return &s->strategy;
}

/* ---- Worth of the strategies ---------------------------------------------------------------- */

static void portfolio_report(struct strategy *strategy, uint64_t index, double cost,
                             double seconds) {
  struct portfolio *s = (struct portfolio *)strategy;
  size_t better = 0, arm = ARMS;
  while (better < s->population.count && s->population.members[better].cost <= cost) better++;
  for (size_t i = 0; i < PENDING && i < s->given; i++)
    if (s->pending[i].index == index) arm = s->pending[i].arm;
  if (arm < ARMS) {
    s->heard[arm] = memory * s->heard[arm] + 1;
    s->paid[arm] *= memory;
    if (s->reported >= SAMPLES && isfinite(cost))
      s->paid[arm] += (double)(POPULATION_MOST - better) / POPULATION_MOST;
  }
  s->reported++;
  population_add(&s->population, index, cost);
  for (size_t i = 0; i < ARMS; i++) arms[i]->report(s->arms[i], index, cost, seconds);
}

static double worth(const struct portfolio *s, size_t arm) {
  double mean = (s->paid[arm] + 1) / (s->heard[arm] + 1);
  return mean * mean;
}

static size_t search_portfolio_choose(struct portfolio *s) {
  double total = 0;
  size_t arm = 0;
  if (!population_draw(&s->state, LEAST)) return (size_t)population_draw(&s->state, ARMS);
  for (size_t i = 0; i < ARMS; i++) total += worth(s, i);
  double left = total * ((double)(random_next(&s->state) >> 11) / (double)(UINT64_C(1) << 53));
  while (arm + 1 < ARMS && left >= worth(s, arm)) left -= worth(s, arm++);
  return arm;
}

/* ---- Giving --------------------------------------------------------------------------------- */

static bool portfolio_next(struct strategy *strategy, uint64_t *index) {
  struct portfolio *s = (struct portfolio *)strategy;
  size_t arm = s->reported < SAMPLES ? 0 : search_portfolio_choose(s);
  while (arms[arm]->next(s->arms[arm], index)) {
    if (!search_give(strategy, *index)) continue;
    for (size_t i = 0; i < ARMS; i++)
      if (i != arm) arms[i]->taken(s->arms[i], *index);
    s->pending[s->given % PENDING].index = *index;
    s->pending[s->given++ % PENDING].arm = arm;
    return true;
  }
  return false;
}

static void portfolio_taken(struct strategy *strategy, uint64_t index) {
  struct portfolio *s = (struct portfolio *)strategy;
  if (!search_give(strategy, index)) return;
  for (size_t i = 0; i < ARMS; i++) arms[i]->taken(s->arms[i], index);
}

const struct strategy_ops strategy_portfolio = {
    .name = "portfolio",
    .what = "every variant once, by whichever of surrogate, local and evolutionary pays best",
    .takes_firsts = true,
    .open = portfolio_open,
    .close = portfolio_close,
    .next = portfolio_next,
    .report = portfolio_report,
    .taken = portfolio_taken,
};
