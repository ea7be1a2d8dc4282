/* Finds the fastest of several kernels. The kernels are timed in turn, in rounds, and compared
   round by round, so that effects that change with time (clocks, heat, other work) are equal for
   all. After each round, from RACE_LEAST_ROUNDS on, a kernel is slower if the confidence interval
   of the ratio of its time to the leader's lies entirely above the margin of a tie, and tied if it
   lies entirely below. */
#ifndef TUNE_TUNER_RACE_H
#define TUNE_TUNER_RACE_H

#include <stdbool.h>
#include <stddef.h>

enum { RACE_MOST = 8, RACE_LEAST_ROUNDS = 3, RACE_ROUNDS = 24 };

enum race_state {
  RACE_OPEN,   /* no decision yet */
  RACE_TIED,   /* tied with the leader; also the state of the leader itself */
  RACE_SLOWER, /* slower, which is final: the runner is not timed any more */
};

struct race_runner {
  double times[RACE_ROUNDS]; /* one time for each round */
  int rounds;
  enum race_state state;
  double median; /* median of the times, set by race_judge */
  /* Geometric mean over the rounds of the ratio to the leader's time; 1: equally fast. */
  double behind;
};

struct race {
  struct race_runner runners[RACE_MOST];
  size_t count;
  /* Set by race_judge: the runner of least median among those that are not slower; `count`:
     none. */
  size_t leader;
};

void race_note(struct race *race, size_t runner, double seconds);

/* Ends a round: finds the leader and, from round RACE_LEAST_ROUNDS on, the state of each runner.
   Returns true once each runner but the leader is slower or tied, or after RACE_ROUNDS rounds;
   false if all runners are slower. `tie` is the margin as a factor, such as 1.005. */
bool race_judge(struct race *race, double tie);

#endif
