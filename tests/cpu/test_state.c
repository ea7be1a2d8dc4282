/* Variants that leave something behind in their process, on the cpu device: in any order each
   gets the verdict that it gets alone, and the variants that only look find nothing. */

#include <stdlib.h>
#include <string.h>

#include "opened.h"
#include "tests/testing.h"

enum { ROUNDS = 6, MOST = 64 };

/* For the other variants, which harm themselves, the first verdict counts. */
static const struct {
  const char *variant;
  cugen_outcome outcome;
} known[] = {
    {"nothing", CUGEN_OUTCOME_OK},          {"looks", CUGEN_OUTCOME_OK},
    {"before", CUGEN_OUTCOME_BOUNDS},       {"after", CUGEN_OUTCOME_BOUNDS},
    {"far", CUGEN_OUTCOME_BOUNDS},          {"input", CUGEN_OUTCOME_WRONG},
    {"wrong", CUGEN_OUTCOME_WRONG},         {"trap", CUGEN_OUTCOME_TRAP},
    {"exits", CUGEN_OUTCOME_TRAP},          {"is_killed", CUGEN_OUTCOME_TRAP},
    {"before_later", CUGEN_OUTCOME_BOUNDS}, {"input_later", CUGEN_OUTCOME_WRONG},
};

enum { NOT_KNOWN = -1 };

struct fixture {
  struct opened opened;
  struct bench bench;
  struct candidate *candidates[MOST];
  int wanted[MOST];
  size_t count;
};

static void open_bench(struct fixture *f) {
  static const struct bench_options options = {.seed = 1, .threads = 2, .timeout = 600};
  opened_open(&f->opened, "tests/configs/state.lua", false);
  WORKS(bench_open(&f->opened.target, &options, &f->bench, &err));
}

static int wanted(const char *variant) {
  static const char name[] = "does=";
  const char *does = strstr(variant, name) + sizeof name - 1;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(does, known[i].variant) == 0) return (int)known[i].outcome;
  return NOT_KNOWN;
}

static void build_all(struct fixture *f) {
  f->count = (size_t)space_valid(f->opened.space);
  assert_in_range(f->count, 1, MOST);
  for (size_t i = 0; i < f->count; i++) {
    WORKS(candidate_open(&f->bench, i, &f->candidates[i], &err));
    WORKS(candidate_build(&f->bench, f->candidates[i], &err));
  }
  for (size_t i = 0; i < f->count; i++) f->wanted[i] = wanted(f->candidates[i]->real.variant);
  for (size_t i = 0; i < f->count; i++)
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
  for (size_t i = 0; i < f->count; i++) candidate_close(&f->bench, f->candidates[i]);
  bench_close(&f->bench);
  opened_close(&f->opened);
  free(f);
  return 0;
}

static void run(struct fixture *f, size_t number, const char *before) {
  static const struct measure_options measure = {.seconds = 0.01, .samples = 3};
  struct candidate *c = f->candidates[number];
  FREED(cache_record) record = {0};
  double busy;
  WORKS(candidate_run(&f->bench, c, true, &measure, 60, &record, &busy, &err));
  /* A thread that outlives its kernel's code may end the process or not, which decides only
     about its own variant. */
  bool its_own = strstr(c->real.variant, "does=thread") != NULL;
  if (f->wanted[number] == NOT_KNOWN) f->wanted[number] = (int)record.outcome;
  if (!its_own && (int)record.outcome != f->wanted[number])
    fail_msg("%s after %s: outcome %d, not %d: %s", c->real.variant, before, (int)record.outcome,
             f->wanted[number], record.reason);
}

TEST(every_order_gives_one_verdict) {
  struct fixture *f = *state;
  size_t order[MOST];
  unsigned seed = 1;
  const char *before = "nothing";
  for (size_t i = 0; i < f->count; i++) order[i] = i;
  for (int round = 0; round < ROUNDS; round++) {
    shuffle(order, f->count, &seed);
    for (size_t i = 0; i < f->count; i++) {
      run(f, order[i], before);
      before = f->candidates[order[i]]->real.variant;
    }
  }
}

/* The variants that look run after each of the others. */
TEST(nothing_is_left_to_be_found) {
  struct fixture *f = *state;
  size_t looks = 0;
  while (!strstr(f->candidates[looks]->real.variant, "looks")) looks++;
  for (size_t i = 0; i < f->count; i++) {
    run(f, i, "another");
    run(f, looks, f->candidates[i]->real.variant);
  }
}

ALL_TESTS_WITH(open_fixture, close_fixture);
