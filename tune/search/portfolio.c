/* A portfolio: several strategies search the same space, hear of every result, and the next variant is given by the one that has
   paid best. What a result pays is by how much it beats the median of the best so far (in ranks: 1 for a new best, 0 for none of
   the best POPULATION_MOST), and a strategy's worth is the mean of what its last results paid, old ones counting less and less. A
   strategy is chosen as often as its worth is of all their worths, and none less than one time in LEAST: so each is heard of,
   and one that begins to pay is noticed (probability matching with a floor, as in adaptive operator selection: Thierens, An
   adaptive pursuit strategy for allocating operator probabilities, GECCO 2005). */
#include <stdlib.h>

#include "base/hash.h"
#include "population.h"
#include "search.h"

static const struct strategy_ops *const arms[] = {&strategy_surrogate, &strategy_local, &strategy_evolutionary};
enum { ARMS = sizeof arms / sizeof *arms, PENDING = 256, SAMPLES = 16, LEAST = 16 };
static const double memory = 0.95; /* of a result, when the next comes */

struct portfolio {
  struct strategy strategy;
  struct strategy *arms[ARMS];
  double paid[ARMS], heard[ARMS]; /* sums that fade */
  struct population population;
  struct {
    uint64_t index;
    size_t arm;
  } pending[PENDING]; /* who gave it; the oldest is forgotten */
  size_t given, reported;
  uint64_t state;
};

static void portfolio_close(struct strategy *strategy) {
  struct portfolio *s = (struct portfolio *)strategy;
  for (size_t i = 0; s && i < ARMS; i++)
    if (s->arms[i]) arms[i]->close(s->arms[i]);
  search_close(strategy);
}

/* The first variants are the same whatever the strategy: the portfolio gives them. */
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

/* ---- Who is worth what ---- */

static void portfolio_report(struct strategy *strategy, uint64_t index, double cost, double seconds) {
  struct portfolio *s = (struct portfolio *)strategy;
  size_t better = 0, arm = ARMS;
  while (better < s->population.count && s->population.members[better].cost <= cost) better++;
  for (size_t i = 0; i < PENDING && i < s->given; i++)
    if (s->pending[i].index == index) arm = s->pending[i].arm;
  if (arm < ARMS) {
    s->heard[arm] = memory * s->heard[arm] + 1;
    s->paid[arm] *= memory;
    if (s->reported >= SAMPLES) s->paid[arm] += (double)(POPULATION_MOST - better) / POPULATION_MOST;
  }
  s->reported++;
  population_add(&s->population, index, cost);
  for (size_t i = 0; i < ARMS; i++) arms[i]->report(s->arms[i], index, cost, seconds);
}

static double worth(const struct portfolio *s, size_t arm) {
  double mean = (s->paid[arm] + 1) / (s->heard[arm] + 1);
  return mean * mean;
}

static size_t choose(struct portfolio *s) {
  double total = 0;
  size_t arm = 0;
  if (!population_draw(&s->state, LEAST)) return (size_t)population_draw(&s->state, ARMS);
  for (size_t i = 0; i < ARMS; i++) total += worth(s, i);
  double left = total * ((double)(random_next(&s->state) >> 11) / (double)(UINT64_C(1) << 53));
  while (arm + 1 < ARMS && left >= worth(s, arm)) left -= worth(s, arm++);
  return arm;
}

/* ---- Giving ---- */

static bool portfolio_next(struct strategy *strategy, uint64_t *index) {
  struct portfolio *s = (struct portfolio *)strategy;
  size_t arm = s->reported < SAMPLES ? 0 : choose(s);
  while (arms[arm]->next(s->arms[arm], index)) {
    if (!search_give(strategy, *index)) continue; /* another one gave it */
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
