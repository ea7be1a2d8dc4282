/* Tuning on a GPU whose times are scripted, over the fake driver and the fake NVRTC: one lucky
   measurement wins nothing, the race says who is tied, and a budget is kept though every launch
   takes long. */

#include <cuda.h>
#include <dlfcn.h>
#include <stdatomic.h>

#include "api/records.h"
#include "api/tuning.h"
#include "base/system.h"
#include "fake_wild.h"
#include "find_fake.h"
#include "tests/opening.h"

/* The four variants of wild.lua for n = 1003, known by their launch. */
struct scripted {
  const char *variant;
  unsigned block, grid;
  float lucky, true_time; /* milliseconds: in the search, and afterwards */
  int asked;              /* how often the variant was timed */
};
static struct scripted *scripts, *last;
static atomic_long passed_us;
static long launch_us;
static int first_again; /* how many more times the first variant is lucky */

static const char *const variants[] = {"wild BLOCK_SIZE=128 ITEMS=1", "wild BLOCK_SIZE=128 ITEMS=4",
                                       "wild BLOCK_SIZE=256 ITEMS=1",
                                       "wild BLOCK_SIZE=256 ITEMS=4"};

/* Each variant's result is off by a fifth of the tolerance in one element. */
static void run_kernel(const struct fake_launch *launch) {
  static const float off = 1e-7f;
  char *out;
  fake_run_wild(launch);
  if (fake_is_reference(launch)) return;
  memcpy(&out, launch->parameters[0], sizeof out);
  memcpy(out, &off, sizeof off);
  for (int i = 0; i < 4; i++)
    if (scripts[i].block == launch->block[0] && scripts[i].grid == launch->grid[0])
      last = &scripts[i];
  atomic_fetch_add(&passed_us, launch_us);
}

/* The linker puts this in place of cugen's own clock (--wrap). Reading it takes a microsecond
   and a launch takes launch_us, so that a busy machine does not end a race early. */
double __wrap_clock_seconds(void);

double __wrap_clock_seconds(void) {
  return 1e-6 * (double)atomic_fetch_add(&passed_us, 1);
}

/* The search warms up with two runs and takes eleven samples; so does a round of the race. */
enum { SEARCH = 13, ROUND = 13 };

static float elapsed(void) {
  return last->asked++ < SEARCH + (last == scripts ? first_again : 0) ? last->lucky
                                                                      : last->true_time;
}

static cugen_kernel *open_kernel(struct scripted *script, cugen **lib) {
  const char *size = "n=1003";
  scripts = last = script;
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = run_kernel, .elapsed = elapsed};
  *lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none",
                      .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"));
  return kernel_of(*lib, "tests/configs/wild.lua", &size, 1);
}

static void tune(cugen_kernel *kernel, double budget, cugen_tune_result *result) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.budget_seconds = budget;
  options.strategy = "exhaustive";
  WORKS(api_kernel_tune(kernel, &options, result, &err));
}

static double remembered(cugen_kernel *kernel, const char *variant, size_t *place) {
  cugen_record record;
  for (*place = 0; *place < record_count(kernel); ++*place) {
    record = record_at(kernel, *place);
    if (strcmp(record.variant, variant) != 0) continue;
    assert_true(record.error > 0.2 && record.error < 0.22); /* a race does not verify again */
    return record.seconds * 1e3;
  }
  fail_msg("no record of %s", variant);
  return 0;
}

/* The first variant was lucky, the second and third are equal within 0.2 %, the last is far
   behind. */
TEST_WITH(test_race, find_fake, NULL) {
  struct scripted script[] = {{variants[0], 128, 8, 1.8f, 2.2f, 0},
                              {variants[1], 128, 2, 2.004f, 2.004f, 0},
                              {variants[2], 256, 4, 2.0f, 2.0f, 0},
                              {variants[3], 256, 1, 2.9f, 2.9f, 0}};
  cugen_tune_result result;
  CLOSED(cugen) *lib;
  CLOSED(cugen_kernel) *kernel = open_kernel(script, &lib);
  tune(kernel, -1, &result);
  size_t place;
  assert_int_equal(result.tried, 4);
  assert_true(remembered(kernel, variants[0], &place) > 2.19); /* the time of luck is replaced */
  remembered(kernel, variants[1], &place);
  assert_int_equal(place, 0); /* the first of the two in the config's order */
  assert_int_equal(result.tied, 1);
  assert_true(result.tied_within > 0.0015 && result.tied_within < 0.0025);
}

/* A variant that was not measured again cannot win: the second race has the variants that the
   first race's verdict left in front. After a race a variant costs the median of its rounds, so
   that a lucky first round does not end the races. */
TEST_WITH(test_second_race, find_fake, NULL) {
  for (int lucky = 0; lucky < 2; lucky++) {
    struct scripted script[] = {{variants[0], 128, 8, 1.8f, 2.3f, 0},
                                {variants[1], 128, 2, 1.81f, 2.4f, 0},
                                /* 11 % behind: not in the first race */
                                {variants[2], 256, 4, 2.0f, 2.2f, 0},
                                {variants[3], 256, 1, 2.9f, 2.9f, 0}};
    cugen_tune_result result;
    size_t place;
    CLOSED(cugen) *lib;
    first_again = lucky ? ROUND : 0;
    CLOSED(cugen_kernel) *kernel = open_kernel(script, &lib);
    tune(kernel, -1, &result);
    assert_true(remembered(kernel, variants[2], &place) > 2.19);
    assert_int_equal(place, 0);
    if (!lucky) assert_int_equal(result.tied, 0);
  }
  first_again = 0;
}

/* Each launch takes 60 ms, the search 2.3 s, and a race of two variants 3.5 s. A race that would
   exceed the budget by more than a second is left out. */
TEST_WITH(test_budget, find_fake, NULL) {
  static const struct {
    double budget;
    bool races;
  } rows[] = {{-1, true}, {20, true}, {8, true}, {5, false}, {3, false}};
  launch_us = 60000;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    struct scripted script[] = {{variants[0], 128, 8, 1.8f, 2.3f, 0},
                                {variants[1], 128, 2, 1.81f, 2.4f, 0},
                                {variants[2], 256, 4, 2.9f, 2.9f, 0},
                                {variants[3], 256, 1, 2.9f, 2.9f, 0}};
    cugen_tune_result result;
    CLOSED(cugen) *lib;
    CLOSED(cugen_kernel) *kernel = open_kernel(script, &lib);
    tune(kernel, rows[i].budget, &result);
    if ((result.seconds > 5) != rows[i].races) fail_msg("%g: %g s", rows[i].budget, result.seconds);
  }
  launch_us = 0;
}

/* ---- What a further run begins with ---------------------------------------------------------- */

static unsigned blocks_launched[64], blocks_last;
static size_t launched;

static void note_blocks(const struct fake_launch *launch) {
  const size_t most = sizeof blocks_launched / sizeof *blocks_launched;
  bool seen = false;
  blocks_last = launch->grid[0];
  for (size_t i = 0; i < launched; i++) seen |= blocks_launched[i] == blocks_last;
  if (!seen && launched < most) blocks_launched[launched++] = blocks_last;
}

static float fewer_blocks_take_longer(void) {
  return 30 - (float)blocks_last;
}

static void tune_count(cugen_kernel *kernel, const char *strategy, size_t count, bool again) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_tune_result result;
  options.flags = CUGEN_TUNE_IN_PROCESS;
  options.again = again;
  options.budget_count = count;
  options.strategy = strategy;
  launched = 0;
  WORKS(api_kernel_tune(kernel, &options, &result, &err));
  assert_int_equal(result.tried, count);
}

/* Of twelve remembered variants the eight fastest are measured first. In the order of names the
   first eight would be blocks=1, 10, 11, 12, 2, 3, 4 and 5. */
TEST_WITH(test_the_fastest_come_first, find_fake, NULL) {
  enum { REMEMBERED = 12, AGAIN = 8 };
  const char *size = "n=3000";
  *fake = (struct fake_cuda){
      .version = 13000, .devices = 1, .run = note_blocks, .elapsed = fewer_blocks_take_longer};
  CLOSED(cugen) *lib = OPEN_LIBRARY(.device = "cuda:0", .cache = "none",
                                    .toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT"));
  CLOSED(cugen_kernel) *kernel = kernel_of(lib, "tests/configs/sleeping.lua", &size, 1);
  tune_count(kernel, "exhaustive", REMEMBERED, false);
  for (unsigned i = 0; i < REMEMBERED; i++) assert_int_equal(blocks_launched[i], i + 1);
  tune_count(kernel, "local", AGAIN, true);
  for (size_t i = 0; i < AGAIN; i++) assert_true(blocks_launched[i] > REMEMBERED - AGAIN);
}
