/* NVRTC in processes of its own: a source that makes the compiler crash, end, hang or fill the memory fails alone; what
   is compiled before, after and beside it is what a compiler in this process gives. The stand-in does what a source asks for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "runtime/compilers.h"
#include "runtime/nvrtc.h"

enum { THREADS = 4, ROUNDS = 12 };

static const char right[] = "__global__ void add() {}";
static struct compilers *compilers;

static struct toolkit_options toolkit_options(void) {
  return (struct toolkit_options){.toolkit = getenv("CUGEN_TEST_FAKE_TOOLKIT")};
}

static struct compilers *open_compilers(const char *program) {
  struct compilers *out;
  const struct compilers_options options = {.program = program, .toolkit = toolkit_options()};
  assert_int_equal(compilers_open(&options, &out, NULL), CUGEN_OK);
  return out;
}

static int setup(void **state) {
  (void)state;
  compilers = open_compilers(getenv("CUGEN_WORKER"));
  return 0;
}

static int teardown(void **state) {
  (void)state;
  compilers_close(compilers);
  return 0;
}

static int compile_for(struct compilers *with, const char *source, double timeout, struct process_stop stop,
                       struct compiled *out, cugen_error *err) {
  static const char *const entries[] = {"add", "scale<4>"};
  const struct compile_request request = {.name = "a variant",
                                          .source = source,
                                          .arch = "sm_90a",
                                          .entries = entries,
                                          .entry_count = 2,
                                          .timeout = timeout,
                                          .stop = stop};
  return compilers_compile(with, &request, out, err);
}

static int compile(const char *source, cugen_error *err) {
  struct compiled compiled;
  int status = compile_for(compilers, source, 60, (struct process_stop){.asked = NULL}, &compiled, err);
  compiled_free(&compiled);
  return status;
}

static void expect_right(void) {
  cugen_error err;
  if (compile(right, &err)) fail_msg("a right source: %s", err.message);
}

static void expect_failure(const char *source, const char *words) {
  cugen_error err;
  expect_right();
  int status = compile(source, &err);
  if (status != CUGEN_ERROR_COMPILE) fail_msg("%s: status %d: %s", source, status, err.message);
  if (!strstr(err.message, words) || !strstr(err.message, "a variant"))
    fail_msg("%s: no '%s' in: %s", source, words, err.message);
  expect_right();
}

/* ---- Tests ---- */

static void as_in_this_process(void **state) {
  (void)state;
  static const char *const entries[] = {"add", "scale<4>"};
  const struct toolkit_options options = toolkit_options();
  struct toolkit *toolkit;
  const struct nvrtc *nvrtc;
  struct compiled here, there;
  assert_int_equal(toolkit_open(&options, &toolkit, NULL), CUGEN_OK);
  assert_int_equal(nvrtc_open(toolkit, &nvrtc, NULL), CUGEN_OK);
  const struct compile_request request = {.toolkit = toolkit,
                                          .name = "a variant",
                                          .source = right,
                                          .arch = "sm_90a",
                                          .entries = entries,
                                          .entry_count = 2};
  assert_int_equal(nvrtc_compile(nvrtc, &request, &here, NULL), CUGEN_OK);
  assert_int_equal(compilers_compile(compilers, &request, &there, NULL), CUGEN_OK);
  assert_int_equal(there.image_length, here.image_length);
  assert_memory_equal(there.image, here.image, here.image_length);
  assert_memory_equal(&there.image_hash, &here.image_hash, sizeof here.image_hash);
  assert_int_equal(there.entry_count, 2);
  for (size_t i = 0; i < 2; i++) {
    assert_string_equal(there.entries[i], here.entries[i]);
    assert_memory_equal(&there.resources[i], &here.resources[i], sizeof here.resources[i]);
    assert_memory_equal(&there.code[i], &here.code[i], sizeof here.code[i]);
  }
  assert_string_equal(there.log, here.log);
  compiled_free(&here);
  compiled_free(&there);
  toolkit_close(toolkit);
}

static void a_crash_is_one_failure(void **state) {
  (void)state;
  expect_failure("CRASH", "the compiler crashed: signal 11");
  expect_failure("EXIT", "the compiler crashed: exit code 0");
}

static void memory_has_an_end(void **state) {
  (void)state;
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  skip(); /* a sanitizer's own memory is beyond any limit */
#endif
  expect_failure("FILL", "the compiler crashed: signal 6");
}

static void a_hang_ends_in_time(void **state) {
  (void)state;
  struct compiled compiled;
  cugen_error err;
  double begin = clock_seconds();
  int status = compile_for(compilers, "HANG", 0.2, (struct process_stop){.asked = NULL}, &compiled, &err);
  assert_int_equal(status, CUGEN_ERROR_COMPILE);
  assert_non_null(strstr(err.message, "compiling was stopped after 0.2 s"));
  assert_true(clock_seconds() - begin < 60);
  expect_right();
}

static bool always(void *context) {
  (void)context;
  return true;
}

static void it_is_stopped_when_asked(void **state) {
  (void)state;
  struct compiled compiled;
  assert_int_equal(compile_for(compilers, "HANG", 0, (struct process_stop){.asked = always}, &compiled, NULL),
                   CUGEN_ERROR_INTERRUPTED);
  expect_right();
}

static void the_program_is_no_worker(void **state) {
  (void)state;
  static const char *const programs[] = {"/nonexistent/cugen-worker", "/bin/true"};
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
    struct compilers *with = open_compilers(programs[i]);
    struct compiled compiled;
    cugen_error err;
    int status = compile_for(with, right, 60, (struct process_stop){.asked = NULL}, &compiled, &err);
    assert_int_equal(status, CUGEN_ERROR_MISSING);
    assert_non_null(strstr(err.message, programs[i]));
    compilers_close(with);
  }
}

/* More compiles than one process serves, and every third a crash. */
static void *compile_many(void *context) {
  int *wrong = context;
  for (int i = 0; i < ROUNDS; i++) {
    cugen_error err;
    int status = compile(i % 3 == 1 ? "CRASH" : right, &err);
    *wrong += status != (i % 3 == 1 ? CUGEN_ERROR_COMPILE : CUGEN_OK);
  }
  return NULL;
}

static void from_many_threads(void **state) {
  (void)state;
  for (int round = 0; round < 2;
       round++) { /* the second time the first time's threads, and their processes, are gone */
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, compile_many, &wrong[i]), 0);
    for (int i = 0; i < THREADS; i++) {
      pthread_join(threads[i], NULL);
      assert_int_equal(wrong[i], 0);
    }
  }
}

static void a_process_is_renewed(void **state) {
  (void)state;
  for (int i = 0; i < 110; i++) expect_right();
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(as_in_this_process, setup, teardown),
      cmocka_unit_test_setup_teardown(a_crash_is_one_failure, setup, teardown),
      cmocka_unit_test_setup_teardown(memory_has_an_end, setup, teardown),
      cmocka_unit_test_setup_teardown(a_hang_ends_in_time, setup, teardown),
      cmocka_unit_test_setup_teardown(it_is_stopped_when_asked, setup, teardown),
      cmocka_unit_test(the_program_is_no_worker),
      cmocka_unit_test_setup_teardown(from_many_threads, setup, teardown),
      cmocka_unit_test_setup_teardown(a_process_is_renewed, setup, teardown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
