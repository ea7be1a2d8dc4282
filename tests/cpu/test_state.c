/* Variants that leave something behind in their process, on the cpu device: in any order each
   gets the verdict that it gets alone, and the variants that only look find nothing. */
#include "opened.h"
#include "tests/testing.h"

enum { ROUNDS = 6 };

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

static struct built all;
static int wanted[BUILT_MOST];

static int known_of(const char *variant) {
  static const char name[] = "does=";
  const char *does = strstr(variant, name) + sizeof name - 1;
  for (size_t i = 0; i < sizeof known / sizeof *known; i++)
    if (strcmp(does, known[i].variant) == 0) return (int)known[i].outcome;
  return NOT_KNOWN;
}

FIXTURE(set_up) {
  built_open(&all, "tests/configs/state.lua");
  for (size_t i = 0; i < all.count; i++) wanted[i] = known_of(all.candidates[i]->real.variant);
  return 0;
}

FIXTURE(tear_down) {
  built_close(&all);
  return 0;
}

static void run(size_t number, const char *before) {
  static const struct measure_options measure = {.seconds = 0.01, .samples = 3};
  const char *variant = all.candidates[number]->real.variant;
  FREED(cache_record) record = {0};
  built_run(&all, number, &measure, 60, &record);
  /* A thread that outlives its kernel's code may end the process or not, which decides only
     about its own variant. */
  bool its_own = strstr(variant, "does=thread") != NULL;
  if (wanted[number] == NOT_KNOWN) wanted[number] = (int)record.outcome;
  if (!its_own && (int)record.outcome != wanted[number])
    fail_msg("%s after %s: outcome %d, not %d: %s", variant, before, (int)record.outcome,
             wanted[number], record.reason);
}

TEST(every_order_gives_one_verdict) {
  size_t order[BUILT_MOST];
  unsigned seed = 1;
  const char *before = "nothing";
  for (size_t i = 0; i < all.count; i++) order[i] = i;
  for (int round = 0; round < ROUNDS; round++) {
    shuffle(order, all.count, &seed);
    for (size_t i = 0; i < all.count; i++) {
      run(order[i], before);
      before = all.candidates[order[i]]->real.variant;
    }
  }
}

/* The variants that look run after each of the others. */
TEST(nothing_is_left_to_be_found) {
  size_t looks = 0;
  while (!strstr(all.candidates[looks]->real.variant, "looks")) looks++;
  for (size_t i = 0; i < all.count; i++) {
    run(i, "another");
    run(looks, all.candidates[i]->real.variant);
  }
}

ALL_TESTS_WITH(set_up, tear_down);
