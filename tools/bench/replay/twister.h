/* The Mersenne Twister (Matsumoto and Nishimura, ACM Transactions on Modeling and Computer
   Simulation 8, 1998), and numbers below a bound as NumPy's RandomState draws them: a score is
   what the methodology's package computes after numpy.random.seed. For all else there is
   random_next of base/hash.h. */
#ifndef REPLAY_TWISTER_H
#define REPLAY_TWISTER_H

#include <stdint.h>

enum { TWISTER_WORDS = 624 };

struct twister {
  uint32_t words[TWISTER_WORDS];
  unsigned at;
};

void twister_seed(struct twister *twister, uint32_t seed);
/* Returns a number from 0 to most. */
uint32_t twister_below(struct twister *twister, uint32_t most);

#endif
