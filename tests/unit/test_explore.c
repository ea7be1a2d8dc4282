/* The rule by which a plan explores: its cost, when it ends, and how often it errs. */

#include <math.h>

#include "base/hash.h"
#include "tests/testing.h"
#include "tune/tuner/explore.h"

/* Returns a log-normal time, as the race assumes it. */
static double noisy(double seconds, double spread, uint64_t *seed) {
  const double u = ((double)(random_next(seed) >> 11) + 1) * 0x1p-53,
               v = (double)(random_next(seed) >> 11) * 0x1p-53;
  return seconds * exp(spread * sqrt(-2 * log(u)) * cos(2 * 3.14159265358979 * v));
}

struct run {
  uint64_t launches, settled_at; /* settled_at 0: it did not settle */
  double seconds;
};

/* Serves an application of so many launches; the share is checked at each of them. */
static struct run serve(struct explore *e, const double *times, double spread, uint64_t launches,
                        uint64_t seed) {
  struct run run = {.launches = launches};
  for (uint64_t i = 0; i < launches; i++) {
    const bool timed = !e->settled && i >= explore_due(e);
    const size_t runner = timed ? explore_runner(e) : e->current;
    const double took = noisy(times[runner], spread, &seed);
    if (timed) explore_launched(e, runner), explore_note(e, runner, took);
    run.seconds += took;
    if (e->settled && !run.settled_at) run.settled_at = i + 1;
    if ((double)e->explored > e->share * (double)(i + 1))
      fail_msg("launch %llu", (unsigned long long)i);
  }
  return run;
}

TEST(it_settles_within_its_bound) {
  const double equal[RACE_MOST] = {1, 1, 1, 1, 1, 1, 1, 1};
  for (size_t count = 2; count <= RACE_MOST; count++) {
    struct explore e;
    explore_begin(&e, count, 0.5);
    const struct run run = serve(&e, equal, 0.3, 2000, count);
    assert_true(run.settled_at > 0);
    assert_true(e.explored <= RACE_ROUNDS * (count - 1));
  }
}

TEST(one_variant_is_settled) {
  struct explore e;
  explore_begin(&e, 1, 0.05);
  assert_true(e.settled);
}

TEST(the_fastest_is_found) {
  const double times[] = {10, 12, 9, 11};
  for (uint64_t seed = 1; seed <= 200; seed++) {
    struct explore e;
    explore_begin(&e, 4, 0.05);
    serve(&e, times, 0.03, 10000, seed);
    assert_int_equal(e.current, 2);
  }
}

/* With 2 % of noise and alternatives that are 1 % slower, a change of the variant is an error. */
TEST(it_seldom_errs) {
  const double times[] = {1, 1.01, 1.01, 1.01, 1.01, 1.01, 1.01, 1.01};
  int wrong = 0;
  for (uint64_t seed = 1; seed <= 1000; seed++) {
    struct explore e;
    explore_begin(&e, RACE_MOST, 0.05);
    serve(&e, times, 0.02, 10000, seed);
    wrong += e.current != 0;
  }
  assert_in_range(wrong, 0, 20);
}

TEST(what_is_dropped_takes_no_part) {
  const double times[] = {10, 5, 9};
  struct explore e;
  explore_begin(&e, 3, 0.5);
  explore_drop(&e, 1);
  serve(&e, times, 0.01, 1000, 3);
  assert_true(e.settled);
  assert_int_equal(e.current, 2);
  assert_int_equal(e.race.runners[1].rounds, 0);
  explore_begin(&e, 2, 0.5);
  explore_drop(&e, 1);
  assert_true(e.settled);
  assert_int_equal(e.current, 0);
}

TEST(the_last_one_left_is_taken) {
  struct explore e;
  explore_begin(&e, 2, 0.5);
  explore_drop(&e, 0);
  assert_true(e.settled);
  assert_int_equal(e.current, 1);
  explore_begin(&e, 3, 0.5);
  explore_drop(&e, 0);
  explore_drop(&e, 2);
  assert_true(e.settled);
  assert_int_equal(e.current, 1);
}
