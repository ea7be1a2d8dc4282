/* The order of variants that strategies share; see search.h. */
#include "search.h"

#include <math.h>
#include <stdlib.h>

#include "base/hash.h"

/* ---- Positions: variants of all spans, numbered from 0 --------------------------------------- */

uint64_t search_variant(const struct strategy *s, uint64_t n) {
  size_t i = 0;
  while (n >= s->spans[i].count) n -= s->spans[i++].count;
  return s->spans[i].first + n;
}

/* Sets *n to the position of a variant; returns false if it is in no span. */
static bool search_position(const struct strategy *s, uint64_t index, uint64_t *n) {
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

bool search_is_new(const struct strategy *s, uint64_t index) {
  uint64_t n;
  return search_position(s, index, &n) && !(s->given[n / 64] >> n % 64 & 1);
}

bool search_give(struct strategy *s, uint64_t index) {
  uint64_t n;
  if (!search_position(s, index, &n) || s->given[n / 64] >> n % 64 & 1) return false;
  s->given[n / 64] |= UINT64_C(1) << n % 64;
  return true;
}

void search_taken(struct strategy *s, uint64_t index) {
  search_give(s, index);
}

/* The logarithm of the mantissa m is 2 artanh((m - 1) / (m + 1)), to 12 digits. */
double search_logarithm(double x) {
  int exponent;
  double m = frexp(x, &exponent);
  if (m < 0.70710678118654752) m *= 2, exponent--;
  double z = (m - 1) / (m + 1), z2 = z * z, sum = 0;
  for (int n = 15; n >= 1; n -= 2) sum = sum * z2 + 1.0 / n;
  return 2 * z * sum + exponent * 0.69314718055994531;
}

/* ---- Opening -------------------------------------------------------------------------------- */

void search_close(struct strategy *s) {
  if (!s) return;
  free(s->spans);
  free(s->firsts);
  free(s->priors);
  free(s->given);
  free(s);
}

/* The first variant of each implementation comes before a strategy's own choices, so that a large
   implementation cannot hide the small ones from a short budget. */
static void add_firsts(struct strategy *s) {
  for (size_t i = 0; i < STRATEGY_SOURCES; i++)
    s->sources[i].best = s->sources[i].others = (double)INFINITY;
  for (size_t i = 0; i < s->space.prior_count; i++)
    if (s->space.priors[i].source < STRATEGY_SOURCES)
      s->priors[s->prior_count++] = s->space.priors[i];
  for (size_t i = 0; i < s->space.first_count; i++)
    s->firsts[s->first_count++] = s->space.firsts[i];
  s->known_count = s->first_count;
  for (size_t i = 0; i < s->span_count; i++) s->firsts[s->first_count++] = s->spans[i].first;
}

struct strategy *search_open(const struct strategy_space *space, size_t bytes) {
  struct strategy *s = calloc(1, bytes);
  if (!s) return NULL;
  s->space = *space;
  s->spans = calloc(space->span_count + 1, sizeof *s->spans);
  s->firsts = calloc(space->first_count + space->span_count + 1, sizeof *s->firsts);
  s->priors = calloc(space->prior_count + 1, sizeof *s->priors);
  for (size_t i = 0; i < space->span_count && s->spans; i++) {
    if (space->spans[i].count) s->spans[s->span_count++] = space->spans[i];
    s->total += space->spans[i].count;
  }
  s->given = calloc(s->total / 64 + 1, sizeof *s->given);
  if (!s->spans || !s->firsts || !s->priors || !s->given) {
    search_close(s);
    return NULL;
  }
  add_firsts(s);
  while (s->half_bits < 32 && (UINT64_C(1) << (2 * s->half_bits)) < s->total) s->half_bits++;
  return s;
}

/* ---- A random order: a permutation computed, not stored ------------------------------------- */

/* A four-round Feistel network permutes 2^(2h) numbers (Luby and Rackoff, 1988); following it until
   it lands below total ("cycle walking", Black and Rogaway, 2002) permutes [0, total). */
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

bool search_random(struct strategy *s, uint64_t *index) {
  while (s->at < s->total) {
    *index = search_variant(s, permute(s, s->at++));
    if (search_give(s, *index)) return true;
  }
  return false;
}

/* ---- Priors ----

   A source of priors says that the variants that it names are the best ones. A source is
   contradicted when, after HEARD results of its own variants, a variant that the source does not
   name is better than all of these. The remaining priors of the source are then dropped. Variants
   that no source names have to be tried early, so that priors take turns with other choices. */

enum { HEARD = 2 };
/* A cost below this factor times a source's best contradicts the source: measurements of equal
   kernels differ by less. */
static const double clearly_better = 0.98;

void search_report(struct strategy *s, uint64_t index, double cost) {
  for (unsigned i = 0; i < STRATEGY_SOURCES && s->prior_count; i++) {
    bool own = false; /* the source names the variant */
    for (size_t k = 0; k < s->prior_count && !own; k++)
      own = s->priors[k].source == i && s->priors[k].index == index;
    double *best = own ? &s->sources[i].best : &s->sources[i].others;
    s->sources[i].known += own;
    *best = fmin(*best, cost);
  }
}

static bool prior_next(struct strategy *s, uint64_t *index) {
  while (s->prior_at < s->prior_count) {
    const struct strategy_prior *prior = &s->priors[s->prior_at++];
    const bool contradicted =
        s->sources[prior->source].known >= HEARD &&
        s->sources[prior->source].others < clearly_better * s->sources[prior->source].best;
    *index = prior->index;
    if (!contradicted && search_give(s, *index)) return true;
  }
  return false;
}

static bool listed_next(struct strategy *s, size_t end, uint64_t *index) {
  while (s->first_at < end) {
    *index = s->firsts[s->first_at++];
    if (search_give(s, *index)) return true;
  }
  return false;
}

bool search_first(struct strategy *s, uint64_t *index) {
  if (listed_next(s, s->known_count, index)) return true;
  s->rests = !s->rests && prior_next(s, index);
  return s->rests || listed_next(s, s->first_count, index);
}
