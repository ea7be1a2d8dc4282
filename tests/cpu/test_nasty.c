/* 30 harmful and 30 right variants on the cpu device, each run directly after each other one. A
   right variant is right each time, and a harmful one gets the verdict that it gets alone. */

#include <stdlib.h>

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

struct fixture {
  struct opened opened;
  struct bench bench;
  struct candidate *candidates[VARIANTS];
};

static void open_bench(struct fixture *f) {
  static const struct bench_options options = {.seed = 1, .threads = 2, .timeout = 600};
  opened_open(&f->opened, "tests/configs/nasty.lua", false);
  WORKS(bench_open(&f->opened.target, &options, &f->bench, &err));
}

static void build_all(struct fixture *f) {
  assert_int_equal(space_valid(f->opened.space), VARIANTS);
  for (size_t i = 0; i < VARIANTS; i++) {
    WORKS(candidate_open(&f->bench, i, &f->candidates[i], &err));
    WORKS(candidate_build(&f->bench, f->candidates[i], &err));
  }
  for (size_t i = 0; i < VARIANTS; i++)
    while (!candidate_ready(&f->bench, f->candidates[i])) compile_pool_wait(f->bench.pool, 0.05);
}

static int open_fixture(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  *state = f;
  open_bench(f);
  build_all(f);
  return 0;
}

static int close_fixture(void **state) {
  struct fixture *f = *state;
  for (size_t i = 0; i < VARIANTS; i++) candidate_close(&f->bench, f->candidates[i]);
  bench_close(&f->bench);
  opened_close(&f->opened);
  free(f);
  return 0;
}

static void run(struct fixture *f, size_t number, const char *before) {
  static const struct measure_options measure = {.seconds = 0.001, .samples = 1};
  struct candidate *c = f->candidates[number];
  const int wanted = number % 2 ? verdicts[number / 2] : CUGEN_OUTCOME_OK;
  FREED(cache_record) record = {0};
  double busy;
  WORKS(candidate_run(&f->bench, c, true, &measure, number == 2 * ENDLESS + 1 ? 0.2 : 60, &record,
                      &busy, &err));
  if (wanted != ANY && (int)record.outcome != wanted)
    fail_msg("%s after %s: outcome %d, not %d: %s", c->real.variant, before, (int)record.outcome,
             wanted, record.reason);
}

/* Returns the number at a place of a row of a Williams square: in all rows together each number
   follows each other number directly, once. */
static size_t number_at(size_t row, size_t place) {
  return (row + (place % 2 ? (place + 1) / 2 : VARIANTS - place / 2)) % VARIANTS;
}

TEST(the_right_are_right_behind_each_other_one) {
  struct fixture *f = *state;
  const char *before = "nothing";
  for (size_t row = 0; row < VARIANTS; row++) {
    for (size_t place = 0; place < VARIANTS; place++) {
      const size_t number = number_at(row, place);
      /* because such a variant takes its time */
      if (number == 2 * ENDLESS + 1 && row % ENDLESS_EVERY) continue;
      run(f, number, before);
      before = f->candidates[number]->real.variant;
    }
  }
}

ALL_TESTS_WITH(open_fixture, close_fixture);
