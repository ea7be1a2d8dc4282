/* Chooses when to kill a process: at odd moments around the one at which it does what the test
   is about, wherever that moment lies on this machine and under its load. */
#ifndef TESTS_ODD_MOMENTS_H
#define TESTS_ODD_MOMENTS_H

#include <stdbool.h>
#include <unistd.h>

#include "base/hash.h"

struct moments {
  uint64_t seed, longest; /* microseconds */
};

static inline void moments_wait(struct moments *m) {
  usleep((useconds_t)(random_next(&m->seed) % m->longest));
}

/* done: the process had done its work before it was killed. The next process is then killed
   earlier, otherwise later. */
static inline void moments_learn(struct moments *m, bool done) {
  enum { MOST = 10000000 };
  m->longest = done ? m->longest / 2 + 1 : m->longest < MOST ? 2 * m->longest : MOST;
}

#endif
