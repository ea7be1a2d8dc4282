/* Local, random and exhaustive search; see strategy.h. */
#include "strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Of the local search; docs/tuning.md has what was measured. */
enum {
  SAMPLES = 16,     /* reported before it begins */
  LEADERS = 16,     /* whose neighbours it visits */
  RANDOM_EVERY = 8, /* so that a better place elsewhere is found */
};

/* One of the best so far, and the variants around it in the order they are visited. */
struct leader {
  uint64_t index;
  double cost;
  uint64_t *around; /* NULL: not asked for yet */
  size_t count, at;
};

struct strategy {
  struct strategy_space space;
  struct strategy_span *spans; /* without empty ones */
  size_t span_count;
  uint64_t *firsts;
  size_t first_count, first_at;
  uint64_t total, at;             /* position in the order of this strategy */
  unsigned half_bits;             /* of the random order's domain, 2^(2 * half_bits) >= total */
  uint64_t *given;                /* a bit for each variant */
  struct leader leaders[LEADERS]; /* the fastest first */
  size_t leader_count, reported, turn;
};

/* ---- Positions: variants of all spans, counted through ---- */

static uint64_t nth(const struct strategy *s, uint64_t n) {
  size_t i = 0;
  while (n >= s->spans[i].count) n -= s->spans[i++].count;
  return s->spans[i].first + n;
}

/* False: it is in no span. */
static bool position(const struct strategy *s, uint64_t index, uint64_t *n) {
  *n = 0;
  for (size_t i = 0; i < s->span_count; i++) {
    if (index >= s->spans[i].first && index - s->spans[i].first < s->spans[i].count) {
      *n += index - s->spans[i].first;
      return true;
    }
    *n += s->spans[i].count;
  }
  return false;
}

/* True the first time. */
static bool give(struct strategy *s, uint64_t index) {
  uint64_t n;
  if (!position(s, index, &n) || s->given[n / 64] >> n % 64 & 1) return false;
  s->given[n / 64] |= UINT64_C(1) << n % 64;
  return true;
}

/* ---- Opening ---- */

static void strategy_close(struct strategy *s) {
  if (!s) return;
  for (size_t i = 0; i < s->leader_count; i++) free(s->leaders[i].around);
  free(s->spans);
  free(s->firsts);
  free(s->given);
  free(s);
}

/* The default of each implementation comes before the rest, so that a large one cannot hide the small ones from a short
   budget. */
static void add_firsts(struct strategy *s) {
  for (size_t i = 0; i < s->space.first_count; i++) s->firsts[s->first_count++] = s->space.firsts[i];
  for (size_t i = 0; i < s->span_count; i++) s->firsts[s->first_count++] = s->spans[i].first;
}

static struct strategy *strategy_open(const struct strategy_space *space) {
  struct strategy *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->space = *space;
  s->spans = calloc(space->span_count + 1, sizeof *s->spans);
  s->firsts = calloc(space->first_count + space->span_count + 1, sizeof *s->firsts);
  for (size_t i = 0; i < space->span_count && s->spans; i++) {
    if (space->spans[i].count) s->spans[s->span_count++] = space->spans[i];
    s->total += space->spans[i].count;
  }
  s->given = calloc(s->total / 64 + 1, sizeof *s->given);
  if (!s->spans || !s->firsts || !s->given) {
    strategy_close(s);
    return NULL;
  }
  add_firsts(s);
  while (s->half_bits < 32 && (UINT64_C(1) << (2 * s->half_bits)) < s->total) s->half_bits++;
  return s;
}

static void ignore_report(struct strategy *s, uint64_t index, double cost) {
  (void)s, (void)index, (void)cost;
}

/* ---- Exhaustive ---- */

static bool exhaustive_next(struct strategy *s, uint64_t *index) {
  if (s->at >= s->total) return false;
  *index = nth(s, s->at++);
  return true;
}

/* ---- Random: a permutation computed, not stored ---- */

/* A four-round Feistel network permutes 2^(2h) numbers (Luby and Rackoff, 1988); following it until it lands below
   total ("cycle walking", Black and Rogaway, 2002) permutes [0, total). */
static uint64_t permute(const struct strategy *s, uint64_t n) {
  uint64_t mask = (UINT64_C(1) << s->half_bits) - 1;
  do {
    uint64_t left = n >> s->half_bits, right = n & mask;
    for (unsigned round = 0; round < 4; round++) {
      uint64_t state = s->space.seed * 4 + round + (right << 20);
      uint64_t mixed = left ^ (random_next(&state) & mask);
      left = right;
      right = mixed;
    }
    n = left << s->half_bits | right;
  } while (n >= s->total);
  return n;
}

static bool random_order_next(struct strategy *s, uint64_t *index) {
  while (s->first_at < s->first_count) {
    *index = s->firsts[s->first_at++];
    if (give(s, *index)) return true;
  }
  while (s->at < s->total) {
    *index = nth(s, permute(s, s->at++));
    if (give(s, *index)) return true;
  }
  return false;
}

/* ---- Local: around the best so far ---- */

static void local_report(struct strategy *s, uint64_t index, double cost) {
  size_t at = s->leader_count;
  s->reported++;
  while (at > 0 && cost < s->leaders[at - 1].cost) at--;
  if (!isfinite(cost) || at == LEADERS) return;
  if (s->leader_count == LEADERS) free(s->leaders[--s->leader_count].around);
  memmove(&s->leaders[at + 1], &s->leaders[at], (s->leader_count - at) * sizeof *s->leaders);
  s->leaders[at] = (struct leader){.index = index, .cost = cost};
  s->leader_count++;
}

static void shuffle(uint64_t *values, size_t count, uint64_t state) {
  for (size_t i = count; i > 1; i--) {
    size_t other = (size_t)(random_next(&state) % i);
    uint64_t kept = values[i - 1];
    values[i - 1] = values[other];
    values[other] = kept;
  }
}

/* Without memory for them there are none. */
static void look_around(struct strategy *s, struct leader *leader) {
  leader->around = malloc((s->space.max_neighbours + 1) * sizeof *leader->around);
  if (!leader->around) return;
  leader->count = s->space.neighbours(s->space.context, leader->index, leader->around);
  shuffle(leader->around, leader->count, s->space.seed + leader->index);
}

static bool near_next(struct strategy *s, uint64_t *index) {
  for (size_t i = 0; i < s->leader_count; i++) {
    struct leader *leader = &s->leaders[i];
    if (!leader->around) look_around(s, leader);
    while (leader->at < leader->count) {
      *index = leader->around[leader->at++];
      if (give(s, *index)) return true;
    }
  }
  return false;
}

static bool local_next(struct strategy *s, uint64_t *index) {
  bool begun = s->first_at == s->first_count && s->reported >= SAMPLES;
  if (begun && ++s->turn % RANDOM_EVERY != 0 && near_next(s, index)) return true;
  return random_order_next(s, index);
}

static const struct strategy_ops table[] = {
    {"local", "every variant once, those near the best so far before a random order", true, strategy_open,
     strategy_close, local_next, local_report},
    {"random", "every variant once, in a seeded random order", true, strategy_open, strategy_close, random_order_next,
     ignore_report},
    {"exhaustive", "every variant once, in the config's order", false, strategy_open, strategy_close, exhaustive_next,
     ignore_report},
};

int strategy_find(const char *name, const struct strategy_ops **out, cugen_error *err) {
  enum { COUNT = sizeof table / sizeof *table };
  *out = NULL;
  if (!name) name = table[0].name;
  for (size_t i = 0; i < COUNT; i++)
    if (strcmp(table[i].name, name) == 0) *out = &table[i];
  if (*out) return CUGEN_OK;
  error_set(err, CUGEN_ERROR_USAGE, "no strategy is called '%s'; there are", name);
  for (size_t i = 0; i < COUNT; i++) error_append(err, "%s '%s'", i ? "," : "", table[i].name);
  return CUGEN_ERROR_USAGE;
}
