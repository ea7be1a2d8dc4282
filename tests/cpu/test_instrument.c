/* Watched runs: blocks spread over processes give the findings and counts of one process, and a
   few blocks of a large problem stand for all of them. */
#include "emulator/check/instrument.h"
#include "opened.h"
#include "tests/testing.h"

struct fixture {
  struct opened opened;
  struct instrument *instrument;
};

static void open_instrument(struct fixture *f, const char *config, double timeout) {
  const struct instrument_options options = {.seed = 1, .timeout = timeout};
  *f = (struct fixture){0};
  opened_open(&f->opened, config, true);
  WORKS(instrument_open(&f->opened.target, &options, &f->instrument, &err));
}

static void close_instrument(struct fixture *f) {
  instrument_close(f->instrument);
  opened_close(&f->opened);
}

static void run(struct fixture *f, const char *text, int processes, struct instrument_result *out) {
  struct value values[32];
  struct variant variant;
  uint64_t index = 0;
  WORKS(space_find(f->opened.space, text, &index, &err));
  space_variant(f->opened.space, index, &variant, values);
  const struct instrument_request request = {processes, true};
  WORKS(instrument_run(f->instrument, &f->opened.problem, &variant, &request, out, &err));
}

static const struct watch_counter *counter(const struct watch_report *report, size_t launch,
                                           const char *array, bool write) {
  const struct launch_counters *l = &report->launches[launch];
  for (size_t i = 0; i < l->count; i++)
    if (strcmp(l->counters[i].array, array) == 0 && l->counters[i].write == write)
      return &l->counters[i];
  fail_msg("%s is not counted in launch %zu", array, launch);
  return NULL;
}

enum { READS = 5 * 300 + 1 }; /* READS: reads of `line` by a warp of spread.cu */

/* ---- Blocks in several processes ------------------------------------------------------------ */

/* finding -1: there is none. spread: the first launch is spread over processes. The second
   launch is short, but a busy machine may make it long enough to be spread. */
static const struct {
  const char *how;
  int finding;
  bool spread;
} cases[] = {
    {"spread how=apart", -1, true},
    {"spread how=reads", CUGEN_FINDING_BLOCK_RACE, false},
    {"spread how=writes", CUGEN_FINDING_BLOCK_RACE, false},
    {"spread how=half", CUGEN_FINDING_BLOCK_RACE, false},
    {"spread how=resets", CUGEN_FINDING_BLOCK_RACE, false},
    {"spread how=adds", -1, false},      /* the work of the processes is dropped, */
    {"spread how=each_adds", -1, false}, /* and here none is begun */
};

TEST(test_processes) {
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct instrument_result r;
    run(f, cases[i].how, 4, &r);
    const bool clean = cases[i].finding < 0;
    const bool spread = cases[i].spread ? r.report->spread > 0 : r.report->spread < 2;
    if (r.report->finding_count != !clean || !spread || (clean && r.outcome))
      fail_msg("%s: %u findings, %u launches spread, outcome %d: %s", cases[i].how,
               r.report->finding_count, r.report->spread, (int)r.outcome, r.reason);
    if (!clean) assert_int_equal(r.report->findings[0].kind, cases[i].finding);
    if (!clean) assert_int_equal(r.report->findings[0].here.block[0], 511);
  }
}

TEST(test_hang) {
  struct fixture f;
  struct instrument_result r;
  open_instrument(&f, "tests/configs/spread.lua", 6);
  run(&f, "spread how=ends_not", 2, &r);
  assert_int_equal(r.report->finding_count, 1);
  assert_int_equal(r.report->findings[0].kind, CUGEN_FINDING_HANG);
  close_instrument(&f);
}

TEST(test_same_counts) {
  struct fixture *f = *state;
  struct instrument_result r;
  run(f, "spread how=apart", 1, &r);
  assert_int_equal(r.report->spread, 0);
  const struct watch_counter line = *counter(r.report, 0, "line", false),
                             z = *counter(r.report, 0, "z", true);
  const double barriers = r.report->launches[0].barriers;
  run(f, "spread how=apart", 3, &r);
  assert_true(r.report->spread > 0);
  assert_memory_equal(counter(r.report, 0, "line", false), &line, sizeof line);
  assert_memory_equal(counter(r.report, 0, "z", true), &z, sizeof z);
  assert_true(r.report->launches[0].barriers == barriers && barriers == 512);
  assert_true(line.requests == 512 * 2 * READS && z.requests == 512 * 2 && z.needed == 512 * 2 * 4);
}

/* ---- Counting ------------------------------------------------------------------------------- */

/* Some of 512 blocks are counted, and the figures stand for all blocks. */
TEST(test_some_blocks) {
  struct fixture *f = *state;
  struct instrument_result r;
  run(f, "spread how=apart", 1, &r);
  const struct launch_counters *l = &r.report->launches[0];
  assert_int_equal(r.outcome, CUGEN_OUTCOME_OK);
  assert_true(l->counted > 0 && l->counted <= WATCH_COUNTED_BLOCKS);
  assert_true(l->blocks == 512 && l->barriers == 512);
  assert_true(counter(r.report, 0, "line", false)->requests == 512 * 2 * READS);
  assert_true(counter(r.report, 1, "z", false)->requests == 512 * 2);
}

static int set_up(void **state) {
  static struct fixture fixture;
  open_instrument(&fixture, "tests/configs/spread.lua", 60);
  *state = &fixture;
  return 0;
}

static int tear_down(void **state) {
  close_instrument(*state);
  return 0;
}

ALL_TESTS_WITH(set_up, tear_down);
