/* 30 variants that do harm and 30 that are right, on the cpu device, each directly behind each
   other one: each right one is right, each time, and the others get the verdict that each gets
   alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "opened.h"

enum { VARIANTS = 60, ENDLESS = 5, ENDLESS_EVERY = 12, ANY = -1 };

/* By number in nasty.cu. ANY: what it does to itself may come out in more than one way. */
static const int verdicts[VARIANTS / 2] = {
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS, /* writes: before, behind and far behind a buffer */
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS,  /* anywhere; null */
    CUGEN_OUTCOME_TIMEOUT, /* an endless loop */
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP, /* descriptors; limits of them, of memory */
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP, /* of files; chdir; umask */
    CUGEN_OUTCOME_OK,
    ANY,
    CUGEN_OUTCOME_OK, /* signals held back; rounding; flush to zero */
    ANY,
    ANY,
    CUGEN_OUTCOME_TRAP, /* a thread; the heap; stack overflow */
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_TRAP, /* abort, exit, _exit */
    ANY,
    CUGEN_OUTCOME_TRAP,
    CUGEN_OUTCOME_OK, /* longjmp; SIGKILL; descriptors closed */
    CUGEN_OUTCOME_BOUNDS,
    CUGEN_OUTCOME_BOUNDS, /* an input unmapped, made unreadable */
    CUGEN_OUTCOME_WRONG,
    ANY,
    ANY, /* an input written; a timer; environment, locale */
    ANY, /* all that can be written near the buffers */
};

struct fixture {
  struct opened opened;
  struct bench bench;
  struct candidate *candidates[VARIANTS];
};

static void open_bench(struct fixture *f) {
  static const struct bench_options options = {.seed = 1, .threads = 2, .timeout = 600};
  cugen_error err = {0};
  opened_open(&f->opened, "tests/configs/nasty.lua", false);
  check(bench_open(&f->opened.target, &options, &f->bench, &err), &err);
}

static void build_all(struct fixture *f) {
  cugen_error err = {0};
  assert_int_equal(space_valid(f->opened.space), VARIANTS);
  for (size_t i = 0; i < VARIANTS; i++) {
    check(candidate_open(&f->bench, i, &f->candidates[i], &err), &err);
    check(candidate_build(&f->bench, f->candidates[i], &err), &err);
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
  struct cache_record record = {0};
  cugen_error err = {0};
  double busy;
  check(candidate_run(&f->bench, c, true, &measure, number == 2 * ENDLESS + 1 ? 0.2 : 60, &record,
                      &busy, &err),
        &err);
  if (wanted != ANY && (int)record.outcome != wanted)
    fail_msg("%s after %s: outcome %d, not %d: %s", c->real.variant, before, (int)record.outcome,
             wanted, record.reason);
  cache_record_free(&record);
}

/* Place by place a row of a Williams square: in all rows together each number comes directly
   behind each other one, once. */
static size_t number_at(size_t row, size_t place) {
  return (row + (place % 2 ? (place + 1) / 2 : VARIANTS - place / 2)) % VARIANTS;
}

static void the_right_are_right_behind_each_other_one(void **state) {
  struct fixture *f = *state;
  const char *before = "nothing";
  for (size_t row = 0; row < VARIANTS; row++) {
    for (size_t place = 0; place < VARIANTS; place++) {
      const size_t number = number_at(row, place);
      if (number == 2 * ENDLESS + 1 && row % ENDLESS_EVERY) continue; /* that takes its time */
      run(f, number, before);
      before = f->candidates[number]->real.variant;
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_right_are_right_behind_each_other_one)};
  return cmocka_run_group_tests(tests, open_fixture, close_fixture);
}
