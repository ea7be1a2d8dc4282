/* Explores while serving; see explore.h. Exploring is the race of the leaders (race.c) with an
   application's launches as its rounds: in each round, every variant that may still be the fastest,
   including the current one, is timed once. So effects that change with time are equal for all, and
   a variant is out when the 99 % interval of the ratio of its time to the leader's lies above the
   margin of a tie. The exploration ends after at most RACE_ROUNDS rounds.

   Invariants:
   - explored <= share * launches, at every launch.
   - The current variant is replaced only when the race says that it is slower than the leader, or
     when it is dropped. A tie, or no decision, changes nothing. */
#include "explore.h"

#include <math.h>

#include "base/error.h"

void explore_begin(struct explore *e, size_t count, double share) {
  *e = (struct explore){.race = {.count = count}, .share = share, .settled = count < 2};
}

/* The order alternates from round to round, so that no runner always follows the same one. */
static size_t runner_at(const struct explore *e, size_t turn) {
  return e->round % 2 ? e->race.count - 1 - turn : turn;
}

static bool takes_part(const struct explore *e, size_t runner) {
  return e->race.runners[runner].state != RACE_SLOWER;
}

size_t explore_runner(const struct explore *e) {
  return runner_at(e, e->turn);
}

uint64_t explore_due(const struct explore *e) {
  if (explore_runner(e) == e->current) return 0;
  return (uint64_t)ceil((double)(e->explored + 1) / e->share) - 1;
}

void explore_launched(struct explore *e, size_t runner) {
  e->explored += runner != e->current;
}

static void explore_pass_over(struct explore *e) {
  while (e->turn < e->race.count && !takes_part(e, runner_at(e, e->turn))) e->turn++;
}

static size_t explore_count_left(const struct explore *e) {
  size_t left = 0;
  for (size_t i = 0; i < e->race.count; i++) left += takes_part(e, i);
  return left;
}

/* Passes over runners that are out. After a round: chooses the current runner, and decides whether
   the exploration goes on. */
static void explore_go_on(struct explore *e) {
  explore_pass_over(e);
  if (e->turn < e->race.count) return;
  const bool over = race_judge(&e->race, CUGEN_TIE);
  if (!takes_part(e, e->current)) e->current = e->race.leader;
  e->settled = over || explore_count_left(e) < 2;
  e->turn = 0;
  e->round++;
  explore_pass_over(e);
}

void explore_note(struct explore *e, size_t runner, double seconds) {
  race_note(&e->race, runner, seconds);
  e->turn++;
  explore_go_on(e);
}

void explore_drop(struct explore *e, size_t runner) {
  e->race.runners[runner].state = RACE_SLOWER;
  if (explore_count_left(e) > 1) {
    explore_go_on(e);
    return;
  }
  for (size_t i = 0; i < e->race.count; i++)
    if (takes_part(e, i)) e->current = i;
  e->settled = true;
}
