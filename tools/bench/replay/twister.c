/* MT19937; see twister.h. */
#include "twister.h"

enum { AHEAD = 397 };

void twister_seed(struct twister *twister, uint32_t seed) {
  for (uint32_t i = 0; i < TWISTER_WORDS; i++) {
    twister->words[i] = seed;
    seed = 1812433253u * (seed ^ (seed >> 30)) + i + 1;
  }
  twister->at = TWISTER_WORDS;
}

static void renew(uint32_t *words) {
  for (unsigned i = 0; i < TWISTER_WORDS; i++) {
    const uint32_t mixed =
        (words[i] & 0x80000000u) | (words[(i + 1) % TWISTER_WORDS] & 0x7fffffffu);
    words[i] = words[(i + AHEAD) % TWISTER_WORDS] ^ (mixed >> 1) ^ (mixed & 1 ? 0x9908b0dfu : 0);
  }
}

static uint32_t next(struct twister *twister) {
  if (twister->at == TWISTER_WORDS) renew(twister->words), twister->at = 0;
  uint32_t x = twister->words[twister->at++];
  x ^= x >> 11;
  x ^= (x << 7) & 0x9d2c5680u;
  x ^= (x << 15) & 0xefc60000u;
  return x ^ (x >> 18);
}

/* Draws as many bits as `most` has, until they are at most `most`. Draws none if most is 0. */
uint32_t twister_below(struct twister *twister, uint32_t most) {
  uint32_t mask = most, drawn;
  for (unsigned shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
  if (!most) return 0;
  while ((drawn = next(twister) & mask) > most) continue;
  return drawn;
}
