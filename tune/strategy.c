/* Exhaustive and seeded random search; see strategy.h. */
#include "strategy.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

struct strategy {
  struct strategy_span *spans;
  size_t span_count;
  uint64_t total, at; /* position in the order of this strategy */
  uint64_t seed;
  unsigned half_bits; /* of the random order's domain, 2^(2 * half_bits) >= total */
  size_t firsts;      /* spans whose first pick was given */
};

static struct strategy *strategy_open(const struct strategy_span *spans, size_t count, uint64_t seed) {
  struct strategy *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->spans = calloc(count + 1, sizeof *s->spans);
  if (!s->spans) {
    free(s);
    return NULL;
  }
  for (size_t i = 0; i < count; i++) {
    if (spans[i].count) s->spans[s->span_count++] = spans[i];
    s->total += spans[i].count;
  }
  s->seed = seed;
  while (s->half_bits < 32 && (UINT64_C(1) << (2 * s->half_bits)) < s->total) s->half_bits++;
  return s;
}

static void strategy_close(struct strategy *s) {
  if (!s) return;
  free(s->spans);
  free(s);
}

static void ignore_report(struct strategy *s, uint64_t index, double seconds) {
  (void)s, (void)index, (void)seconds;
}

/* The n-th variant of all spans together. */
static uint64_t nth(const struct strategy *s, uint64_t n) {
  size_t i = 0;
  while (n >= s->spans[i].count) n -= s->spans[i++].count;
  return s->spans[i].first + n;
}

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
      uint64_t state = s->seed * 4 + round + (right << 20);
      uint64_t mixed = left ^ (random_next(&state) & mask);
      left = right;
      right = mixed;
    }
    n = left << s->half_bits | right;
  } while (n >= s->total);
  return n;
}

/* One of each implementation comes first, so that a large one cannot hide the small ones from a short budget. */
static uint64_t first_of(const struct strategy *s, size_t span) {
  uint64_t state = s->seed + span;
  return s->spans[span].first + random_next(&state) % s->spans[span].count;
}

static bool was_first(const struct strategy *s, uint64_t index) {
  for (size_t i = 0; i < s->span_count; i++)
    if (first_of(s, i) == index) return true;
  return false;
}

static bool random_order_next(struct strategy *s, uint64_t *index) {
  if (s->firsts < s->span_count) {
    *index = first_of(s, s->firsts++);
    return true;
  }
  while (s->at < s->total) {
    *index = nth(s, permute(s, s->at++));
    if (!was_first(s, *index)) return true;
  }
  return false;
}

static const struct strategy_ops table[] = {
    {"random", "every variant once, in a seeded random order", strategy_open, strategy_close, random_order_next,
     ignore_report},
    {"exhaustive", "every variant once, in the config's order", strategy_open, strategy_close, exhaustive_next,
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
