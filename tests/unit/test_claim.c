/* What a jailed process claims: a possible result is accepted as it is, and an impossible one
   only as a failure. */

#include <limits.h>
#include <math.h>

#include "tests/testing.h"
#include "tune/worker/claim.h"

static const struct claim_bounds bounds = {.timed = true, .seconds = 1};

static struct claim right(void) {
  return (struct claim){.samples = 5,
                        .has_outputs = 1,
                        .outputs = 77,
                        .error = 0.5,
                        .minimum = 1e-3,
                        .p20 = 2e-3,
                        .seconds = 3e-3,
                        .p80 = 4e-3};
}

static bool can_be(const struct claim *claim, struct worker_result *result, char why[160]) {
  why[0] = '\0';
  claim_read(claim, result);
  return claim_is_possible(result, &bounds, why, 160);
}

TEST(what_can_be_is_taken) {
  struct worker_result made = {.outcome = CUGEN_OUTCOME_WRONG,
                               .cause = CUGEN_CAUSE_INPUT,
                               .reason = "why"},
                       result;
  struct claim claim = right();
  char why[160];
  assert_true(can_be(&claim, &result, why));
  assert_true(result.measurement.seconds == 3e-3 && result.measurement.p80 == 4e-3 &&
              result.outputs == 77);
  claim_make(&made, &claim);
  assert_true(can_be(&claim, &result, why));
  assert_int_equal(result.outcome, CUGEN_OUTCOME_WRONG);
  assert_int_equal(result.cause, CUGEN_CAUSE_INPUT);
  assert_string_equal(result.reason, "why");
}

/* Any bits there count as true or false. */
TEST(truth_has_two_values) {
  struct claim claim = right();
  struct worker_result result;
  char why[160];
  claim.dropped = claim.varies = claim.has_outputs = 0x80000000;
  assert_true(can_be(&claim, &result, why));
  assert_true(result.measurement.dropped && result.varies && result.has_outputs);
}

TEST(times_that_cannot_be) {
  static const double times[] = {-1, 1e-9, 1e9, (double)NAN, (double)INFINITY, -(double)INFINITY,
                                 0};
  struct worker_result result;
  char why[160];
  for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
    struct claim median = right(), least = right(), p20 = right(), p80 = right(), error = right();
    median.seconds = times[i], least.minimum = times[i], p20.p20 = times[i], p80.p80 = times[i];
    error.error = times[i];
    assert_false(can_be(&median, &result, why));
    if (times[i] == 0 || times[i] == 1e-9) continue; /* a smallest time and an error may be this */
    assert_false(can_be(&least, &result, why));
    assert_false(can_be(&p20, &result, why));
    if (times[i] != 1e9) assert_false(can_be(&p80, &result, why));
    if (times[i] != 1e9) assert_false(can_be(&error, &result, why));
  }
  struct claim p20 = right(), p80 = right(), fast = right();
  p20.p20 = 1e-4;
  assert_false(can_be(&p20, &result, why));
  p80.p80 = 2.5e-3;
  assert_false(can_be(&p80, &result, why));
  assert_string_equal(why, "its times are in no order");
  fast.minimum = fast.p20 = fast.seconds = fast.p80 = 9.9e-9;
  assert_false(can_be(&fast, &result, why));
  fast.minimum = fast.p20 = fast.seconds = fast.p80 = 1e-8;
  assert_true(can_be(&fast, &result, why));
}

/* The process ran for a second, and half of the samples took at least the median. */
TEST(times_are_within_the_process) {
  struct claim claim = right();
  struct worker_result result;
  char why[160];
  claim.samples = 661;
  assert_true(can_be(&claim, &result, why));
  claim.samples = 667;
  assert_false(can_be(&claim, &result, why));
  assert_string_equal(why, "its times are longer than its process ran");
  claim.samples = INT_MAX;
  assert_false(can_be(&claim, &result, why));
  claim.samples = 0;
  assert_false(can_be(&claim, &result, why));
  claim.samples = -7;
  assert_false(can_be(&claim, &result, why));
}

TEST(outcomes_and_causes) {
  struct worker_result result;
  char why[160];
  for (int outcome = -2; outcome <= 100; outcome++)
    for (int cause = -2; cause <= 100; cause++) {
      struct claim claim = right();
      const bool failed = outcome == CUGEN_OUTCOME_LAUNCH || outcome == CUGEN_OUTCOME_WRONG ||
                          outcome == CUGEN_OUTCOME_BOUNDS || outcome == CUGEN_OUTCOME_TRAP;
      const bool known = (cause >= 0 && cause <= CUGEN_CAUSE_RESOURCES) ||
                         cause == CUGEN_CAUSE_GRID_SYNC || cause == CUGEN_CAUSE_UNSUPPORTED;
      claim.outcome = outcome, claim.cause = cause;
      if (outcome) strcpy(claim.reason, "why");
      assert_int_equal(can_be(&claim, &result, why), outcome == 0 ? cause == 0 : failed && known);
      claim_read(&claim, &result);
      const struct claim_bounds gpu = {.on_gpu = true, .timed = true, .seconds = 1};
      if (outcome == CUGEN_OUTCOME_TRAP && cause == CUGEN_CAUSE_DEVICE_LOST)
        assert_true(claim_is_possible(&result, &gpu, why, sizeof why));
      assert_int_equal(claim_cause((cugen_cause)cause), known ? cause : CUGEN_CAUSE_NONE);
    }
}

TEST(texts_end) {
  struct claim claim = right();
  struct worker_result result;
  char why[160];
  claim.outcome = CUGEN_OUTCOME_TRAP;
  memset(claim.reason, 'x', sizeof claim.reason);
  assert_true(can_be(&claim, &result, why)); /* the reason was cut */
  assert_int_equal(strlen(result.reason), sizeof result.reason - 1);
  result.reason[sizeof result.reason - 1] = 'x'; /* as it may arrive from the process */
  assert_false(claim_is_possible(&result, &bounds, why, sizeof why));
  struct claim talks = right();
  strcpy(talks.reason, "why");
  assert_false(can_be(&talks, &result, why));
  claim_refuse("why", &result);
  assert_int_equal(result.outcome, CUGEN_OUTCOME_TRAP);
  assert_string_equal(result.reason, "its process returned a result that cannot be true: why");
  assert_true(claim_is_possible(&result, &bounds, why, sizeof why));
}

/* An interruption, a defect or a lost device would end more than a step. */
TEST(errors_are_a_steps) {
  for (int status = -100; status <= 100; status++) {
    const struct claim_error claim = {.status = status, .message = "why"};
    cugen_error err = {0};
    const int got = claim_read_error(&claim, &err);
    if (status == CUGEN_OK)
      assert_int_equal(got, CUGEN_OK);
    else if (status == CUGEN_ERROR_INTERRUPTED || status == CUGEN_ERROR_INTERNAL || status > 0 ||
             status < CUGEN_ERROR_INTERRUPTED)
      assert_true(got == CUGEN_ERROR_DEVICE && strstr(err.message, "cannot be true"));
    else
      assert_true(got == status || strstr(err.message, "cannot be true"));
  }
  struct claim_error lost = {.status = CUGEN_ERROR_DEVICE, .cause = CUGEN_CAUSE_DEVICE_LOST};
  cugen_error err = {0};
  assert_int_equal(claim_read_error(&lost, &err), CUGEN_ERROR_DEVICE);
  assert_int_equal(err.cause, CUGEN_CAUSE_NONE);
  struct claim_error endless = {.status = CUGEN_ERROR_WRONG, .cause = CUGEN_CAUSE_BOUNDS};
  memset(endless.message, 'x', sizeof endless.message);
  assert_int_equal(claim_read_error(&endless, &err), CUGEN_ERROR_WRONG);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
}
