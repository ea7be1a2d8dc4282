/* 30 harmful and 30 right variants on the cpu device, each run directly after each other one. A
   right variant is right each time, and a harmful one gets the verdict that it gets alone. */
#include "opened.h"
#include "tests/testing.h"

enum { VARIANTS = 60, ENDLESS = 5, ENDLESS_EVERY = 12, ANY = -1 };

/* Verdicts by number in nasty.cu. ANY: what the variant does to itself may end in more than one
   way. */
static const int verdicts[VARIANTS / 2] = {
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS, /* writes before, behind and far behind a buffer */
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS,  /* writes anywhere, and through a null pointer */
    CUGEN_OUTCOME_TIMEOUT, /* an endless loop */
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP, /* opens descriptors; changes limits of descriptors, of memory */
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP, /* changes limits of files; chdir; umask */
    CUGEN_OUTCOME_OK,
    ANY,
    CUGEN_OUTCOME_OK, /* blocks signals; changes rounding; flushes to zero */
    ANY,
    ANY,
    CUGEN_OUTCOME_TRAP, /* starts a thread; damages the heap; overflows the stack */
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP, /* abort, exit, _exit */
    ANY,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_OK, /* longjmp; SIGKILL; closes descriptors */
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS, /* unmaps an input, makes one unreadable */
    CUGEN_OUTCOME_WRONG,
    ANY,
    ANY, /* writes an input; sets a timer; changes environment, locale */
    ANY, /* writes all that it can write near the buffers */
};

static struct built all;

FIXTURE(set_up) {
  built_open(&all, "tests/configs/nasty.lua");
  assert_int_equal(all.count, VARIANTS);
  return 0;
}

FIXTURE(tear_down) {
  built_close(&all);
  return 0;
}

static void run(size_t number, const char *before) {
  static const struct measure_options measure = {.seconds = 0.001, .samples = 1};
  const int wanted = number % 2 ? verdicts[number / 2] : CUGEN_OUTCOME_OK;
  FREED(cache_record) record = {0};
  built_run(&all, number, &measure, number == 2 * ENDLESS + 1 ? 0.2 : 60, &record);
  if (wanted != ANY && (int)record.outcome != wanted)
    fail_msg("%s after %s: outcome %d, not %d: %s", all.candidates[number]->real.variant, before,
             (int)record.outcome, wanted, record.reason);
}

/* Returns the number at a place of a row of a Williams square: in all rows together each number
   follows each other number directly, once. */
static size_t number_at(size_t row, size_t place) {
  return (row + (place % 2 ? (place + 1) / 2 : VARIANTS - place / 2)) % VARIANTS;
}

TEST(the_right_are_right_behind_each_other_one) {
  const char *before = "nothing";
  for (size_t row = 0; row < VARIANTS; row++) {
    for (size_t place = 0; place < VARIANTS; place++) {
      const size_t number = number_at(row, place);
      /* because such a variant takes its time */
      if (number == 2 * ENDLESS + 1 && row % ENDLESS_EVERY) continue;
      run(number, before);
      before = all.candidates[number]->real.variant;
    }
  }
}

ALL_TESTS_WITH(set_up, tear_down);
