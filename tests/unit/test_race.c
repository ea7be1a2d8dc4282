/* Races between kernels with known true times: how often the verdict is wrong, how soon it
   comes, and what counts as a tie. */

#include <math.h>

#include "base/hash.h"
#include "tests/testing.h"
#include "tune/tuner/race.h"

enum { RACES = 2000 };
static const double tie = 1.005;

static double uniform(uint64_t *state) {
  return ((double)(random_next(state) >> 11) + 0.5) / (double)(UINT64_C(1) << 53);
}

/* Returns a normal number by the method of Box and Muller. */
static double normal(uint64_t *state) {
  double radius = sqrt(-2 * log(uniform(state)));
  return radius * cos(2 * acos(-1.0) * uniform(state));
}

/* Runs a race of kernels with these true times. Each time has noise of its own, and a drift that
   all times of its round share. Returns the number of rounds. */
static int run(const double *seconds, size_t count, double noise, uint64_t *state,
               struct race *out) {
  *out = (struct race){.count = count};
  for (int round = 1;; round++) {
    double drift = 1 + 0.05 * uniform(state);
    for (size_t i = 0; i < count; i++)
      if (out->runners[i].state != RACE_SLOWER)
        race_note(out, i, seconds[i] * drift * exp(noise * normal(state)));
    if (race_judge(out, tie)) return round;
    assert_true(round <= RACE_ROUNDS);
  }
}

/* How many of RACES races call runner 1 slower, tied, or leave it open. Runner 0 is the faster
   one. */
struct tally {
  int slower, tied, open, lost, rounds; /* lost: runner 0 was called slower */
};

static struct tally tally(double behind, double noise) {
  const double seconds[] = {1e-3, 1e-3 * behind};
  struct tally t = {0};
  uint64_t state = 7;
  for (int i = 0; i < RACES; i++) {
    struct race race;
    t.rounds += run(seconds, 2, noise, &state, &race);
    t.lost += race.runners[0].state == RACE_SLOWER;
    t.slower += race.runners[1].state == RACE_SLOWER;
    t.open += race.runners[1].state == RACE_OPEN || race.runners[0].state == RACE_OPEN;
  }
  t.tied = RACES - t.slower - t.open - t.lost;
  return t;
}

/* Equal kernels are called different in at most 5 % of the races, whatever the noise. */
TEST(test_equal) {
  for (double noise = 0.0005; noise < 0.03; noise *= 2) {
    struct tally t = tally(1, noise);
    if (t.slower + t.lost > RACES / 20)
      fail_msg("noise %g: %d and %d of %d", noise, t.slower, t.lost, RACES);
  }
}

/* A kernel that is slower by more than the margin is hardly ever called tied, and the faster one
   never loses. */
TEST(test_slower) {
  for (double noise = 0.0005; noise < 0.03; noise *= 2) {
    struct tally t = tally(1.02, noise);
    if (t.tied > RACES / 20 || t.lost)
      fail_msg("noise %g: %d tied, %d lost", noise, t.tied, t.lost);
  }
}

/* With a noise of 0.1 % verdicts come soon: after five rounds on average at most. */
TEST(test_soon) {
  struct tally far = tally(1.02, 0.001), same = tally(1, 0.001);
  assert_true(far.slower == RACES);
  assert_true(far.rounds <= 5 * RACES);
  assert_true(same.tied > RACES * 9 / 10);
  assert_true(same.rounds <= 5 * RACES);
}

/* A kernel that is slower by just the margin of a tie is left open in most races. */
TEST(test_open) {
  struct tally t = tally(tie, 0.01);
  assert_true(t.open > RACES * 8 / 10);
}

/* Eight kernels in one race: the leader is within the margin of the best, and those that are 3 %
   slower are out. */
TEST(test_many) {
  const double seconds[RACE_MOST] = {1.03, 1.001, 1.0, 1.03, 1.003, 1.03, 1.002, 1.03};
  uint64_t random = 11;
  int wrong = 0;
  for (int i = 0; i < RACES; i++) {
    struct race race;
    run(seconds, RACE_MOST, 0.002, &random, &race);
    wrong += seconds[race.leader] > tie;
    for (size_t k = 0; k < RACE_MOST; k++)
      wrong += seconds[k] > 1.02 && race.runners[k].state != RACE_SLOWER;
  }
  assert_true(wrong <= RACES / 100);
}

TEST(test_alone_and_none) {
  struct race none = {0}, alone = {.count = 1};
  assert_true(race_judge(&none, tie));
  race_note(&alone, 0, 1e-3);
  assert_false(race_judge(&alone, tie)); /* the minimum of rounds is not reached */
  race_note(&alone, 0, 3e-3);
  race_note(&alone, 0, 2e-3);
  assert_true(race_judge(&alone, tie));
  assert_int_equal(alone.leader, 0);
  assert_true(alone.runners[0].median == 2e-3);
}

/* The median of an even number of rounds lies between the middle two. */
TEST(test_even_median) {
  static const double seconds[] = {4e-3, 1e-3, 9e-3, 2e-3};
  struct race race = {.count = 1};
  for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) race_note(&race, 0, seconds[i]);
  race_judge(&race, tie);
  assert_true(fabs(race.runners[0].median - 3e-3) < 1e-12);
}

/* A round that was broken off: a kernel that did not run in it keeps its state, and no missing
   time is read. */
TEST(test_unfinished) {
  struct race race = {.count = 2};
  for (int i = 0; i < RACE_LEAST_ROUNDS; i++) race_note(&race, 0, 1e-3);
  for (int i = 0; i < RACE_LEAST_ROUNDS - 1; i++) race_note(&race, 1, 2e-3);
  assert_false(race_judge(&race, tie));
  assert_int_equal(race.leader, 0);
  assert_int_equal(race.runners[1].state, RACE_OPEN);
}
