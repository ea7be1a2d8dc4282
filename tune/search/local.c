/* Local search. Once SAMPLES variants have a result, the neighbours of the best LEADERS so far are
   tried, the best leader's first, and each leader's in a random order. Every RANDOM_EVERY-th
   variant, and all variants when no neighbour is left, come from the random order. So every variant
   is given once in the end. The search is hill climbing from several places at a time. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "search.h"

enum {
  SAMPLES = 16,     /* results before neighbours are tried */
  LEADERS = 16,     /* number of leaders whose neighbours are tried */
  RANDOM_EVERY = 8, /* so that better variants elsewhere are found */
};

/* One of the best variants so far, and its neighbours in the order in which they are tried. */
struct leader {
  uint64_t index;
  double cost;
  uint64_t *around; /* NULL: not computed yet */
  size_t count, at;
};

struct local {
  struct strategy strategy;
  struct leader leaders[LEADERS]; /* least cost first */
  size_t leader_count, reported, turn;
};

static struct strategy *local_open(const struct strategy_space *space) {
  return search_open(space, sizeof(struct local));
}

static void local_close(struct strategy *strategy) {
  struct local *s = (struct local *)strategy;
  for (size_t i = 0; s && i < s->leader_count; i++) free(s->leaders[i].around);
  search_close(strategy);
}

static void local_report(struct strategy *strategy, uint64_t index, double cost, double seconds) {
  struct local *s = (struct local *)strategy;
  size_t at = s->leader_count;
  (void)seconds;
  search_report(strategy, index, cost);
  s->reported++;
  while (at > 0 && cost < s->leaders[at - 1].cost) at--;
  if (!isfinite(cost) || at == LEADERS) return;
  if (s->leader_count == LEADERS) free(s->leaders[--s->leader_count].around);
  memmove(&s->leaders[at + 1], &s->leaders[at], (s->leader_count - at) * sizeof *s->leaders);
  s->leaders[at] = (struct leader){.index = index, .cost = cost};
  s->leader_count++;
}

static void local_shuffle(uint64_t *values, size_t count, uint64_t state) {
  for (size_t i = count; i > 1; i--) {
    size_t other = (size_t)(random_next(&state) % i);
    uint64_t kept = values[i - 1];
    values[i - 1] = values[other];
    values[other] = kept;
  }
}

/* Computes the neighbours of a leader; without memory the leader has none. */
static void look_around(struct local *s, struct leader *leader) {
  leader->around = malloc((s->strategy.space.max_neighbours + 1) * sizeof *leader->around);
  if (!leader->around) return;
  leader->count =
      s->strategy.space.neighbours(s->strategy.space.context, leader->index, leader->around);
  local_shuffle(leader->around, leader->count, s->strategy.space.seed + leader->index);
}

static bool near_next(struct local *s, uint64_t *index) {
  for (size_t i = 0; i < s->leader_count; i++) {
    struct leader *leader = &s->leaders[i];
    if (!leader->around) look_around(s, leader);
    while (leader->at < leader->count) {
      *index = leader->around[leader->at++];
      if (search_give(&s->strategy, *index)) return true;
    }
  }
  return false;
}

static bool local_next(struct strategy *strategy, uint64_t *index) {
  struct local *s = (struct local *)strategy;
  if (search_first(strategy, index)) return true;
  if (s->reported >= SAMPLES && ++s->turn % RANDOM_EVERY != 0 && near_next(s, index)) return true;
  return search_random(strategy, index);
}

const struct strategy_ops strategy_local = {
    .name = "local",
    .what = "every variant once, those near the best so far before a random order",
    .takes_firsts = true,
    .open = local_open,
    .close = local_close,
    .next = local_next,
    .report = local_report,
    .taken = search_taken,
};
