/* Chooses which variant each launch of an application takes, so that the application's own launches
   show which variant is the fastest. Alternatives get at most a given share of the launches. The
   current variant, which all other launches take, changes only if an alternative is shown to be
   faster. The caller launches and reads the clock. */
#ifndef TUNE_TUNER_EXPLORE_H
#define TUNE_TUNER_EXPLORE_H

#include <stdint.h>

#include "race.h"

struct explore {
  struct race race; /* runner 0 is the variant that the plan began with */
  double share;     /* largest share of launches that alternatives may get */
  size_t current;   /* runner that launches take unless they explore */
  size_t turn;      /* number of runners whose turn in this round is over */
  int round;
  uint64_t explored; /* number of launches that took an alternative */
  bool settled;      /* the exploration has ended */
};

/* Begins with `count` runners, 1 to RACE_MOST. */
void explore_begin(struct explore *explore, size_t count, double share);
/* Returns the runner that is timed next. Do not call this once `settled` is true. */
size_t explore_runner(const struct explore *explore);
/* Returns the number of the first launch, counted from 0, that may take explore_runner. The current
   runner may take any launch. */
uint64_t explore_due(const struct explore *explore);
/* Counts a launch of the runner, which may be the current one or an alternative. */
void explore_launched(struct explore *explore, size_t runner);
void explore_note(struct explore *explore, size_t runner, double seconds);
/* Removes a runner that cannot be launched. */
void explore_drop(struct explore *explore, size_t runner);

#endif
