/* Gives every variant once, in the config's order. */
#include "search.h"

static struct strategy *exhaustive_open(const struct strategy_space *space) {
  return search_open(space, sizeof(struct strategy));
}

static bool exhaustive_next(struct strategy *s, uint64_t *index) {
  while (s->at < s->total) {
    *index = search_variant(s, s->at++);
    if (search_give(s, *index)) return true;
  }
  return false;
}

static void exhaustive_report(struct strategy *s, uint64_t index, double cost, double seconds) {
  (void)s, (void)index, (void)cost, (void)seconds;
}

const struct strategy_ops strategy_exhaustive = {
    .name = "exhaustive",
    .what = "every variant once, in the config's order",
    .takes_firsts = false,
    .open = exhaustive_open,
    .close = search_close,
    .next = exhaustive_next,
    .report = exhaustive_report,
    .taken = search_taken,
};
