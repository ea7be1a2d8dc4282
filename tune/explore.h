/* Which variant a launch of an application takes, so that its own launches tell which is the fastest. The alternatives get at most a
   stated share of them, and the choice that all other launches take changes only where an alternative is shown to be faster. Pure
   arithmetic: who launches and who looks at the clock is for others to know. */
#ifndef TUNE_EXPLORE_H
#define TUNE_EXPLORE_H

#include <stdint.h>

#include "race.h"

struct explore {
  struct race race; /* runner 0: the variant that the plan began with */
  double share;     /* of launches that alternatives get at most */
  size_t current;   /* what all other launches take */
  size_t turn;      /* of this round: how many runners had their turn */
  int round;
  uint64_t explored; /* launches of others than the current one */
  bool settled;      /* nothing is explored any more */
};

/* count: runners, 1 to RACE_MOST. */
void explore_begin(struct explore *explore, size_t count, double share);
/* The runner that is timed next. Not once it is settled. */
size_t explore_runner(const struct explore *explore);
/* From which launch on, counted from 0, it may be: the current one at any. */
uint64_t explore_due(const struct explore *explore);
/* That it was launched, instead of the current one where it is another. */
void explore_launched(struct explore *explore, size_t runner);
/* What the launch of the runner took. */
void explore_note(struct explore *explore, size_t runner, double seconds);
/* It cannot be launched, and takes no more part. */
void explore_drop(struct explore *explore, size_t runner);

#endif
