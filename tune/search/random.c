/* Gives every variant once: first those of search_first, then the others in a seeded random order,
   which does not depend on results. */
#include "search.h"

static struct strategy *random_open(const struct strategy_space *space) {
  return search_open(space, sizeof(struct strategy));
}

static bool random_next_variant(struct strategy *s, uint64_t *index) {
  return search_first(s, index) || search_random(s, index);
}

static void random_report(struct strategy *s, uint64_t index, double cost, double seconds) {
  (void)seconds;
  search_report(s, index, cost);
}

const struct strategy_ops strategy_random = {
    .name = "random",
    .what = "every variant once, in a seeded random order",
    .takes_firsts = true,
    .open = random_open,
    .close = search_close,
    .next = random_next_variant,
    .report = random_report,
    .taken = search_taken,
};
