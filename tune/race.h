/* Which of several kernels is the fastest. They are timed in turn, in rounds, and compared round by round, so that what changes
   with time (clocks, heat, other work) is the same for all of them. After each round a kernel is slower when the whole confidence
   interval of its time over the leader's lies above the margin of a tie, and tied when all of it lies below. Pure arithmetic. */
#ifndef TUNE_RACE_H
#define TUNE_RACE_H

#include <stdbool.h>
#include <stddef.h>

enum { RACE_MOST = 8, RACE_LEAST_ROUNDS = 3, RACE_ROUNDS = 24 };

enum race_state {
  RACE_OPEN,   /* not decided yet */
  RACE_TIED,   /* with the leader; the leader itself is */
  RACE_SLOWER, /* decided for good: it is timed no more */
};

struct race_runner {
  double times[RACE_ROUNDS]; /* one a round */
  int rounds;
  enum race_state state;
  double median; /* of its times, after race_judge */
  double behind; /* its time over the leader's, the geometric mean of the rounds; 1: as fast */
};

struct race {
  struct race_runner runners[RACE_MOST];
  size_t count;
  size_t leader; /* after race_judge: of those that are not slower the one with the least median */
};

/* Adds the runner's time of this round. */
void race_note(struct race *race, size_t runner, double seconds);

/* After a round: finds the leader and each state. True when no further round can change anything. `tie` is the margin as a
   factor, such as 1.005. */
bool race_judge(struct race *race, double tie);

#endif
