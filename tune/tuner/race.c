/* The race of the leaders; see race.h. The ratio of two kernels' times in one round is taken as
   log-normal, so that the interval is Student's for the mean of its logarithm. The interval is
   tested after every round, and each test may err. Hence each test uses 99 %, which leaves 95 % for
   a whole race of 24 rounds (tests/unit/test_race.c counts how often a race errs). */
#include "race.h"

#include <math.h>
#include <string.h>

#include "base/array.h"

/* Student's t, two-sided 99 %, by degrees of freedom from 2 on. Source: NIST/SEMATECH e-Handbook of
   Statistical Methods, 1.3.6.7.2. */
static const double quantiles[RACE_ROUNDS - 2] = {
    9.925, 5.841, 4.604, 4.032, 3.707, 3.499, 3.355, 3.250, 3.169, 3.106, 3.055,
    3.012, 2.977, 2.947, 2.921, 2.898, 2.878, 2.861, 2.845, 2.831, 2.819, 2.807};

void race_note(struct race *race, size_t runner, double seconds) {
  struct race_runner *r = &race->runners[runner];
  if (r->rounds < RACE_ROUNDS) r->times[r->rounds++] = seconds;
}

static double median(const struct race_runner *r) {
  double sorted[RACE_ROUNDS];
  memcpy(sorted, r->times, (size_t)r->rounds * sizeof *sorted);
  array_sort_doubles(sorted, (size_t)r->rounds);
  return (sorted[(r->rounds - 1) / 2] + sorted[r->rounds / 2]) / 2;
}

/* Judges a runner by the mean of the logarithm of the ratio of its time to the leader's, and by the
   interval of that mean. The leader ran in each of the runner's rounds. */
static void judge_runner(struct race_runner *r, const struct race_runner *leader, double margin) {
  if (r->state == RACE_SLOWER || r->rounds < leader->rounds) return;
  double sum = 0, squares = 0;
  for (int i = 0; i < r->rounds; i++) sum += log(r->times[i] / leader->times[i]);
  const double mean = sum / r->rounds;
  for (int i = 0; i < r->rounds; i++) {
    const double off = log(r->times[i] / leader->times[i]) - mean;
    squares += off * off;
  }
  const double half =
      quantiles[r->rounds - RACE_LEAST_ROUNDS] * sqrt(squares / (r->rounds - 1) / r->rounds);
  r->behind = exp(mean);
  r->state = mean - half > margin ? RACE_SLOWER : mean + half < margin ? RACE_TIED : RACE_OPEN;
}

bool race_judge(struct race *race, double tie) {
  bool over = true;
  race->leader = race->count;
  for (size_t i = 0; i < race->count; i++) {
    struct race_runner *r = &race->runners[i];
    if (r->rounds) r->median = median(r);
    if (r->state != RACE_SLOWER &&
        (race->leader == race->count || r->median < race->runners[race->leader].median))
      race->leader = i;
  }
  if (race->leader == race->count || race->runners[race->leader].rounds < RACE_LEAST_ROUNDS)
    return !race->count;
  struct race_runner *leader = &race->runners[race->leader];
  for (size_t i = 0; i < race->count; i++) {
    struct race_runner *r = &race->runners[i];
    if (r == leader) continue;
    judge_runner(r, leader, log(tie));
    over &= r->state != RACE_OPEN;
  }
  leader->state = RACE_TIED;
  leader->behind = 1;
  return over || leader->rounds == RACE_ROUNDS;
}
