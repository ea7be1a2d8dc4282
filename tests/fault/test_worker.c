/* A worker process that misbehaves at each stage of the protocol: it dies, hangs, stops in the
   middle of a message or says what makes no sense. The coordinator says so within its time, and
   the next worker is asked again. This program is its own worker, which does what FAKE_WORKER
   says. */

#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/system.h"
#include "runtime/wire.h"
#include "tests/testing.h"
#include "tune/worker/worker.h"

/* ---- The worker ----------------------------------------------------------------------------- */

enum { SOCKET = 3 };

static void die(void) {
  _exit(3);
}

static void be_killed(void) {
  raise(SIGKILL);
}

static void hang(void) {
  for (;;) pause();
}

static void say_noise(void) {
  char noise[256];
  memset(noise, 0xa5, sizeof noise);
  if (write(SOCKET, noise, sizeof noise) < 0) die();
  hang();
}

static void say_half_a_header(void) {
  if (write(SOCKET, "\4\0\0\0\0", 5) < 0) die();
  hang();
}

static void say(uint64_t type, uint64_t length, const char *payload, size_t given) {
  const uint64_t header[] = {type, length};
  if (write(SOCKET, header, sizeof header) < 0 || write(SOCKET, payload, given) < 0) die();
}

static void say_half_a_payload(void) {
  say(MESSAGE_DONE, 1000, "half", 4);
  hang();
}

static void say_half_and_die(void) {
  say(MESSAGE_DONE, 1000, "half", 4);
  die();
}

static void say_without_end(void) {
  say(MESSAGE_DONE, UINT64_MAX, "", 0);
  hang();
}

static void ask_back(void) {
  say(MESSAGE_VARIANT, 0, "", 0);
  hang();
}

static void say_unknown(void) {
  say(77, 0, "", 0);
  hang();
}

static void say_more(void) {
  say(77, 0, "", 0);
  kill(getppid(), SIGUSR1); /* the worker has misbehaved */
  hang();
}

static void say_no_error(void) { /* answers with an error whose status is success */
  char payload[24] = {0};
  payload[8] = 1;
  say(MESSAGE_ERROR, 17, payload, 17);
  hang();
}

static void say_cut_error(void) {
  say(MESSAGE_ERROR, 3, "abc", 3);
  hang();
}

/* answers like a good worker, which then waits for the next question */
static void say_error(void) {
  FREED(text) payload = {0};
  wire_put_error(&payload,
                 &(cugen_error){.status = CUGEN_ERROR_DEVICE, .message = "the device is gone"});
  wire_send(SOCKET, MESSAGE_ERROR, &payload, -1, NULL);
}

static void say_result(cugen_outcome outcome, double seconds) {
  struct worker_result result = {
      .outcome = outcome,
      .measurement = {
          .samples = 3, .seconds = seconds, .minimum = seconds, .p20 = seconds, .p80 = seconds}};
  FREED(text) payload = {0};
  wire_put_int(&payload, 0);
  wire_put(&payload, &result, sizeof result);
  wire_send(SOCKET, MESSAGE_DONE, &payload, -1, NULL);
}

static void say_who(const char *identity) {
  FREED(text) payload = {0};
  wire_put_string(&payload, identity);
  wire_send(SOCKET, MESSAGE_DONE, &payload, -1, NULL);
}

static void say_another(void) {
  say_who("cugen 9.9.9, protocol 1, layout 0123456789abcdef");
}

static void say_hello(void) {
  FREED(text) identity = {0};
  wire_identity(&identity);
  say_who(text_get(&identity));
}

static void say_done(void) {
  const struct text nothing = {0};
  wire_send(SOCKET, MESSAGE_DONE, &nothing, -1, NULL);
}

static void say_no_result(void) {
  say_done();
  hang();
}

static void say_no_time(void) {
  say_result(CUGEN_OUTCOME_OK, (double)NAN);
  hang();
}

static void say_no_outcome(void) {
  say_result((cugen_outcome)99, 1);
  hang();
}

/* The shared memory, as the coordinator sees it. */
static struct worker_shared *shared;

static void fill_report(void) {
  memset(&shared->report, 0xff, sizeof shared->report);
  say_result(CUGEN_OUTCOME_OK, 0.25);
}

static const struct {
  const char *name;
  void (*misbehave)(void);
} habits[] = {
    {"fill_report", fill_report},
    {"die", die},
    {"be_killed", be_killed},
    {"hang", hang},
    {"say_noise", say_noise},
    {"say_half_a_header", say_half_a_header},
    {"say_half_a_payload", say_half_a_payload},
    {"say_half_and_die", say_half_and_die},
    {"say_without_end", say_without_end},
    {"ask_back", ask_back},
    {"say_unknown", say_unknown},
    {"say_more", say_more},
    {"say_no_error", say_no_error},
    {"say_cut_error", say_cut_error},
    {"say_error", say_error},
    {"say_another", say_another},
    {"say_no_result", say_no_result},
    {"say_no_time", say_no_time},
    {"say_no_outcome", say_no_outcome},
};

static void misbehave(const char *habit) {
  for (size_t i = 0; i < sizeof habits / sizeof *habits; i++)
    if (strcmp(habit, habits[i].name) == 0) habits[i].misbehave();
}

/* FAKE_WORKER="STAGE HABIT": the message at which the worker misbehaves, and how; -1: after the
   answer of a variant, -2: after that of a dataset. */
static int serve(void) {
  const char *wish = getenv("FAKE_WORKER");
  char *habit;
  long stage = strtol(wish ? wish : "99", &habit, 10);
  struct text message = {0};
  if (*habit) habit++;
  for (;;) {
    enum message_type type;
    int fd;
    if (wire_receive(SOCKET, -1, &type, &message, &fd, NULL)) return 0;
    if (type == MESSAGE_OPEN)
      shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (stage == (long)type) {
      misbehave(habit);
      stage = 99;
      continue;
    }
    if (type == MESSAGE_VARIANT)
      say_result(CUGEN_OUTCOME_OK, 0.25);
    else if (type == MESSAGE_HELLO)
      say_hello();
    else
      say_done();
    if (stage == -1 && type == MESSAGE_VARIANT) misbehave(habit);
    if (stage == -2 && type == MESSAGE_DATASET) hang(); /* and read no more */
  }
}

/* ---- The coordinator ------------------------------------------------------------------------ */

static struct text self;
static struct worker *worker;
static size_t image_bytes = 100;
static double limit = 60; /* timeout of a variant in seconds; shorter for one that hangs */
static bool watched;

FIXTURE(open_worker) {
  text_clear(&self);
  if (path_self(&self, NULL)) return -1;
  const struct worker_options options = {.device = "cpu", .program = text_get(&self)};
  return worker_open(&options, &worker, NULL);
}

FIXTURE(close_worker) {
  worker_close(worker);
  text_free(&self);
  return 0;
}

static int run(struct worker_result *result, cugen_error *err) {
  char name[] = "v", log[] = "";
  struct kernel_launch launch = {.entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};
  struct kernel_spec spec = {.variant = name, .launches = &launch, .launch_count = 1};
  struct compiled compiled = {.image = calloc(1, image_bytes),
                              .image_length = image_bytes,
                              .entry_count = 1,
                              .entries = {name},
                              .log = log};
  assert_non_null(compiled.image);
  int results = memfd_create("results", MFD_CLOEXEC);
  struct dataset_request data = {.id = 1, .spec = &spec, .timed = true, .shared = results};
  struct worker_job job = {.real = &data,
                           .real_spec = &spec,
                           .real_compiled = &compiled,
                           .timeout = limit,
                           .watched = watched};
  memset(err, 0, sizeof *err);
  const struct dataset_request *failed;
  int status = worker_run(worker, &job, result, &failed, err);
  close(results);
  free(compiled.image);
  return status;
}

static double run_wishing(const char *wish, struct worker_result *result, int *status,
                          cugen_error *err) {
  double begin = clock_seconds();
  worker_close(worker); /* the next worker reads the setting */
  assert_int_equal(open_worker(NULL), 0);
  setenv("FAKE_WORKER", wish, 1);
  if (strstr(wish, "hang") || strcmp(wish, "-2") == 0) limit = 0.3;
  *status = run(result, err);
  limit = 60;
  unsetenv("FAKE_WORKER");
  return clock_seconds() - begin;
}

/* Asks the same question again, which now gets its answer. */
static void expect_recovery(void) {
  struct worker_result result;
  cugen_error err;
  if (run(&result, &err)) fail_msg("afterwards: %s", err.message);
  assert_int_equal(result.outcome, CUGEN_OUTCOME_OK);
  assert_true(result.measurement.seconds == 0.25);
}

/* Expects that the coordinator waited for no more than its patience, on a machine that may be
   busy. */
static void expect_soon(const char *wish, double took) {
  if (took > WIRE_PATIENCE + 40) fail_msg("%s took %g s", wish, took);
}

/* Expects an error with which tuning cannot continue. */
static void expect_error(const char *wish, const char *words) {
  struct worker_result result;
  cugen_error err;
  int status;
  double took = run_wishing(wish, &result, &status, &err);
  if (status != CUGEN_ERROR_DEVICE) fail_msg("%s: status %d: %s", wish, status, err.message);
  if (!strstr(err.message, words)) fail_msg("%s: no '%s' in: %s", wish, words, err.message);
  expect_soon(wish, took);
  expect_recovery();
}

/* Expects that the started program is refused as a worker of another build, with its identity
   and the way out. */
static void expect_stranger(const char *wish, const char *words) {
  struct worker_result result;
  cugen_error err;
  int status;
  double took = run_wishing(wish, &result, &status, &err);
  if (status != CUGEN_ERROR_MISSING) fail_msg("%s: status %d: %s", wish, status, err.message);
  if (!strstr(err.message, words) || !strstr(err.message, text_get(&self)) ||
      !strstr(err.message, "CUGEN_TUNE_IN_PROCESS"))
    fail_msg("%s: no '%s' in: %s", wish, words, err.message);
  expect_soon(wish, took);
  expect_recovery();
}

/* Expects a failure of the variant. */
static void expect_outcome(const char *wish, cugen_outcome outcome, const char *words) {
  struct worker_result result;
  cugen_error err;
  int status;
  double took = run_wishing(wish, &result, &status, &err);
  if (status) fail_msg("%s: %s", wish, err.message);
  if (result.outcome != outcome || !strstr(result.reason, words))
    fail_msg("%s: %s: %s", wish, outcome_text((int)result.outcome), result.reason);
  expect_soon(wish, took);
  expect_recovery();
}

TEST_WITH(before_the_device, open_worker, close_worker) {
  FREED(text) identity = {0};
  wire_identity(&identity);
  expect_stranger("5 say_another", "it is of 'cugen 9.9.9, protocol 1, layout 0123456789abcdef'");
  expect_stranger("5 say_another", text_get(&identity));
  expect_stranger("5 die", "does not answer as the worker of this cugen");
  expect_stranger("5 die", "(exit code 3)");
  expect_stranger("5 be_killed", "signal 9");
  expect_stranger("5 say_noise", "does not answer as the worker");
  expect_stranger("5 say_no_result", "it is of ''"); /* it answered, without an identity */
  expect_stranger("5 say_error", "does not answer as the worker");
}

TEST(no_program) {
  const struct worker_options options = {.device = "cpu", .places = "/here, /there"};
  struct worker *none;
  FAILS(worker_open(&options, &none, &err), CUGEN_ERROR_MISSING, "looked at /here, /there\n",
        "CUGEN_TUNE_IN_PROCESS");
  assert_null(none);
}

TEST_WITH(before_the_variant, open_worker, close_worker) {
  /* 0: opening the device, 1: the dataset */
  expect_error("0 die", "the worker process died during opening the device (exit code 3)");
  expect_error("0 be_killed", "died during opening the device (signal 9");
  expect_error("0 say_noise", "no longer made sense during opening the device");
  expect_error("0 say_half_and_die", "died during opening the device");
  expect_error("0 say_without_end", "no longer made sense during opening");
  expect_error("0 ask_back", "no longer made sense");
  expect_error("0 say_no_error", "no longer made sense");
  expect_error("0 say_error", "the device is gone");
  expect_error("1 die", "died during making the data and the reference");
  expect_error("1 hang", "did not finish making the data");
  expect_error("1 say_unknown", "no longer made sense during making the data");
  expect_error("1 say_cut_error", "no longer made sense during making the data");
  expect_error("1 say_error", "the device is gone");
}

TEST_WITH(under_the_variant, open_worker, close_worker) {
  expect_outcome("2 die", CUGEN_OUTCOME_TRAP, "exit code 3 while running the variant");
  expect_outcome("2 be_killed", CUGEN_OUTCOME_TRAP, "signal 9 (Killed) while running the variant");
  expect_outcome("2 hang", CUGEN_OUTCOME_TIMEOUT, "did not end within 0.3 s");
  expect_outcome("2 say_half_and_die", CUGEN_OUTCOME_TRAP, "exit code 3 while running the variant");
  static const char *const nonsense[] = {"2 say_noise",    "2 say_without_end", "2 ask_back",
                                         "2 say_unknown",  "2 say_no_error",    "2 say_cut_error",
                                         "2 say_no_result"};
  for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
    expect_outcome(nonsense[i], CUGEN_OUTCOME_TRAP, "no longer made sense");
  static const char *const impossible[] = {"2 say_no_time", "2 say_no_outcome"};
  for (size_t i = 0; i < sizeof impossible / sizeof *impossible; i++)
    expect_outcome(impossible[i], CUGEN_OUTCOME_TRAP,
                   "its process returned a result that cannot be true");
  expect_error("2 say_error", "the device is gone");
}

/* A report that a kernel has overwritten is never read past its ends. */
TEST_WITH(over_the_report, open_worker, close_worker) {
  struct worker_result result;
  cugen_error err;
  int status;
  watched = true;
  run_wishing("2 fill_report", &result, &status, &err);
  watched = false;
  assert_int_equal(status, CUGEN_OK);
  const struct watch_report *report = worker_report(worker);
  assert_int_equal(report->finding_count, WATCH_MOST_FINDINGS);
  assert_int_equal(report->launch_count, WATCH_MOST_LAUNCHES + 1);
  for (size_t i = 0; i < WATCH_MOST_FINDINGS; i++) {
    assert_int_equal(report->findings[i].kind, CUGEN_FINDING_TRAP);
    assert_int_equal(strnlen(report->findings[i].text, WATCH_TEXT), WATCH_TEXT - 1);
    assert_int_equal(strnlen(report->findings[i].array, WATCH_NAME), WATCH_NAME - 1);
  }
  for (size_t i = 0; i <= WATCH_MOST_LAUNCHES; i++) {
    assert_int_equal(report->launches[i].count, WATCH_MOST_COUNTERS);
    for (size_t k = 0; k < WATCH_MOST_COUNTERS; k++)
      assert_int_equal(strnlen(report->launches[i].counters[k].array, WATCH_NAME), WATCH_NAME - 1);
  }
}

/* A message that stops half-way, and one that nobody receives. */
TEST_WITH(in_the_middle, open_worker, close_worker) {
  expect_error("0 say_half_a_header", "no longer made sense during opening the device");
  expect_outcome("2 say_half_a_payload", CUGEN_OUTCOME_TRAP, "no longer made sense");
}

TEST_WITH(an_image_that_nobody_reads, open_worker, close_worker) {
  image_bytes = 4 << 20;
  expect_outcome("-2", CUGEN_OUTCOME_TIMEOUT, "did not end");
}

/* Waits until the worker has ended, or has written more. */
static void wait_for_misbehaviour(bool dies) {
  siginfo_t info;
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGUSR1);
  assert_true((dies ? waitid(P_ALL, 0, &info, WEXITED | WNOWAIT) == 0
                    : sigwaitinfo(&told, NULL) == SIGUSR1));
}

/* Between two variants neither is to blame. */
TEST_WITH(idle, open_worker, close_worker) {
  static const char *const wishes[] = {"-1 be_killed", "-1 die", "-1 say_more"};
  sigset_t told;
  sigemptyset(&told);
  sigaddset(&told, SIGUSR1);
  sigprocmask(SIG_BLOCK, &told, NULL);
  for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
    struct worker_result result;
    cugen_error err;
    int status;
    run_wishing(wishes[i], &result, &status, &err);
    assert_int_equal(status, CUGEN_OK);
    wait_for_misbehaviour(i < 2);
    expect_recovery();
  }
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "worker") == 0) return serve();
  return tests_run();
}
