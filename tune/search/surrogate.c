/* Search by a model of the results so far (model.h), which learns as they arrive. The next variant
   is the candidate of the highest score. Candidates are RANDOM random variants, the neighbours of
   the best LEADERS, and children of two of the best; then the neighbours of the best candidate, and
   so on for up to CLIMB steps (SMAC's local search on the score). So the work for a choice does not
   depend on the size of the space. Every ELSEWHERE-th variant, and more while nothing better is
   found, is the one of RANDOM random variants of which the model knows least, because a model can
   be wrong.

   Until the model has learnt enough, each variant is the one, out of many random ones, that is
   farthest from the variants before it, so that they are spread over the space (best-candidate
   sampling; Mitchell, Spectrally optimal sampling for distribution ray tracing, SIGGRAPH 1991). The
   distance is Euclidean, so that extremes come first. With the sum of differences as the distance
   and 34 results awaited, the mean score of eight recorded spaces was lower by 0.05. */
#include <math.h>
#include <stdlib.h>

#include "model.h"
#include "population.h"
#include "search.h"

enum {
  LEADERS = 3,
  CHILDREN = 40,
  MUTATION = 16, /* one in so many positions mutates */
  RANDOM = 80,
  CLIMB = 4,
  /* Candidates for a choice before there is a model. With many variants, as when most fail, there
     are fewer candidates: a choice computes about SPREAD_DISTANCES distances at most. */
  SPREAD = 1000,
  SPREAD_LEAST = 12,
  SPREAD_DISTANCES = 64000,
  AROUND = 96, /* most neighbours of a variant that are looked at; of more, AROUND are drawn */
  ELSEWHERE = 16,
  /* After so many results without a better one, a fourth of the variants are chosen elsewhere. */
  PATIENCE = 16
};

struct surrogate {
  struct strategy strategy;
  struct model *model; /* NULL: the space has no axes */
  struct population population;
  uint64_t *around;
  uint64_t state;
  size_t turn;
};

struct candidate {
  uint64_t index;
  double score;
  bool elsewhere; /* the score is how unknown the variant is */
};

static void surrogate_close(struct strategy *strategy) {
  struct surrogate *s = (struct surrogate *)strategy;
  if (!s) return;
  model_close(s->model);
  free(s->around);
  search_close(strategy);
}

static struct strategy *surrogate_open(const struct strategy_space *space) {
  struct surrogate *s = (struct surrogate *)search_open(space, sizeof *s);
  if (!s) return NULL;
  s->state = space->seed ^ UINT64_C(0x5bd1e995);
  s->around = calloc(space->max_neighbours + 1, sizeof *s->around);
  if (space->axis_count) s->model = model_open(space, space->seed);
  if (s->around && (s->model || !space->axis_count)) return &s->strategy;
  surrogate_close(&s->strategy);
  return NULL;
}

static void surrogate_report(struct strategy *strategy, uint64_t index, double cost,
                             double seconds) {
  struct surrogate *s = (struct surrogate *)strategy;
  search_report(strategy, index, cost);
  population_add(&s->population, index, cost);
  if (s->model) model_learn(s->model, index, cost, seconds);
}

/* ---- Candidates ----------------------------------------------------------------------------- */

static void surrogate_consider(struct surrogate *s, uint64_t index, struct candidate *best) {
  if (!search_is_new(&s->strategy, index)) return;
  double score = model_score(s->model, index, s->turn, best->elsewhere, best->score);
  if (score > best->score) best->index = index, best->score = score;
}

static void consider_around(struct surrogate *s, uint64_t index, struct candidate *best) {
  size_t count = s->strategy.space.neighbours(s->strategy.space.context, index, s->around);
  for (size_t i = 0; i < count && i < AROUND; i++) {
    size_t at = count > AROUND ? (size_t)population_draw(&s->state, count) : i;
    surrogate_consider(s, s->around[at], best);
  }
}

static void consider_children(struct surrogate *s, struct candidate *best) {
  const struct population *p = &s->population;
  uint64_t child;
  for (int i = 0; i < CHILDREN && p->count; i++) {
    uint64_t mother = p->members[population_draw(&s->state, p->count)].index;
    uint64_t father = p->members[population_draw(&s->state, p->count)].index;
    if (population_cross(&s->strategy.space, mother, father, MUTATION, &s->state, &child))
      surrogate_consider(s, child, best);
  }
}

static void climb(struct surrogate *s, struct candidate *best) {
  bool higher = isfinite(best->score);
  for (int step = 0; step < CLIMB && higher; step++) {
    uint64_t from = best->index;
    consider_around(s, from, best);
    higher = best->index != from;
  }
}

static bool model_next(struct surrogate *s, bool elsewhere, uint64_t *index) {
  struct candidate best = {0, -INFINITY, elsewhere};
  for (int i = 0; i < RANDOM; i++)
    surrogate_consider(
        s, search_variant(&s->strategy, population_draw(&s->state, s->strategy.total)), &best);
  if (!elsewhere) {
    for (size_t i = 0; i < LEADERS && i < s->population.count; i++)
      consider_around(s, s->population.members[i].index, &best);
    consider_children(s, &best);
    climb(s, &best);
  }
  *index = best.index;
  return isfinite(best.score) && search_give(&s->strategy, best.index);
}

static bool spread_next(struct surrogate *s, uint64_t *index) {
  const size_t affordable = SPREAD_DISTANCES / (model_rows(s->model) + 1);
  const size_t candidates = affordable > SPREAD         ? SPREAD
                            : affordable < SPREAD_LEAST ? SPREAD_LEAST
                                                        : affordable;
  double most = -1;
  for (size_t i = 0; i < candidates && s->strategy.total; i++) {
    uint64_t one = search_variant(&s->strategy, population_draw(&s->state, s->strategy.total));
    double distance = search_is_new(&s->strategy, one) ? model_distance(s->model, one) : -1;
    if (distance > most) most = distance, *index = one;
  }
  return most >= 0 && search_give(&s->strategy, *index);
}

/* Returns true if the next variant should be the one that the model knows least about. A model that
   is wrong about the rest of the space stays around its best. So the longer nothing better was
   found, the more variants are chosen elsewhere, up to half of them. */
static bool look_elsewhere(struct surrogate *s) {
  const uint64_t idle = model_idle(s->model);
  return ++s->turn % ELSEWHERE == 0 || population_draw(&s->state, 2 * (idle + PATIENCE)) < idle;
}

static bool surrogate_next(struct strategy *strategy, uint64_t *index) {
  struct surrogate *s = (struct surrogate *)strategy;
  bool found = search_first(strategy, index);
  if (!found && s->model)
    found = model_ready(s->model) ? model_next(s, look_elsewhere(s), index) : spread_next(s, index);
  if (!found) found = search_random(strategy, index);
  if (found && s->model) model_expect(s->model, *index);
  return found;
}

static void surrogate_taken(struct strategy *strategy, uint64_t index) {
  struct surrogate *s = (struct surrogate *)strategy;
  if (search_give(strategy, index) && s->model) model_expect(s->model, index);
}

const struct strategy_ops strategy_surrogate = {
    .name = "surrogate",
    .what = "every variant once, first those that a model of the results so far promises most of",
    .takes_firsts = true,
    .open = surrogate_open,
    .close = surrogate_close,
    .next = surrogate_next,
    .report = surrogate_report,
    .taken = surrogate_taken,
};
