/* The pool of compiles over a compiler made for this test: what is not begun any more when time is short, and what is stopped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <unistd.h>

#include "base/system.h"
#include "tune/builds.h"

static atomic_int begun, may_end;

/* Takes a twentieth of a second, or as long as it is not told to end. */
static int compile(const struct compile_request *request, struct compiled *out, cugen_error *err) {
  *out = (struct compiled){0};
  atomic_fetch_add(&begun, 1);
  for (int i = 0; i < 50 || !atomic_load(&may_end); i++) {
    if (request->stop.asked && request->stop.asked(request->stop.context))
      return error_set(err, CUGEN_ERROR_INTERRUPTED, "stopped");
    usleep(1000);
  }
  return CUGEN_OK;
}

static const struct device_ops ops = {.compile = compile};

static struct builds *open_builds(double seconds, int threads) {
  struct builds_options options = {.ops = &ops, .arch = "", .threads = threads};
  struct builds *builds;
  if (seconds > 0) options.until = clock_seconds() + seconds;
  atomic_store(&begun, 0);
  atomic_store(&may_end, 1);
  assert_int_equal(builds_open(&options, &builds, NULL), CUGEN_OK);
  return builds;
}

static struct build *request(struct builds *builds, char *name) {
  struct kernel_launch launch = {.entry = "k", .grid = {1, 1, 1}, .block = {1, 1, 1}};
  const struct kernel_spec spec = {
      .variant = name, .source = name, .source_hash = hash_bytes(name, 1), .launches = &launch, .launch_count = 1};
  struct build *build;
  assert_int_equal(builds_request(builds, &spec, &build, NULL), CUGEN_OK);
  return build;
}

static void what_would_end_too_late_is_not_begun(void **state) {
  (void)state;
  struct builds *builds = open_builds(3600, 1);
  struct build *a = request(builds, (char[]){"a"});
  builds_finish(builds, a);
  assert_true(a->seconds >= 0.05);
  assert_false(builds_over(builds));
  build_release(builds, a);
  builds_close(builds);

  builds = open_builds(0.04, 1); /* the first is begun if it comes in time, whatever it takes */
  a = request(builds, (char[]){"a"});
  builds_finish(builds, a); /* somebody needs it, in time or not */
  struct build *b = request(builds, (char[]){"b"});
  builds_wait(builds, 0.1);
  assert_false(build_begun(builds, b));
  assert_true(builds_over(builds));
  assert_int_equal(begun, 1);
  builds_finish(builds, b);
  assert_true(build_finished(builds, b));
  assert_int_equal(builds_count(builds), 2);
  build_release(builds, a);
  build_release(builds, b);
  builds_close(builds);
}

static void without_a_limit_nothing_is_over(void **state) {
  (void)state;
  struct builds *builds = open_builds(0, 2);
  struct build *a = request(builds, (char[]){"a"}), *b = request(builds, (char[]){"b"});
  builds_finish(builds, a);
  builds_finish(builds, b);
  assert_false(builds_over(builds));
  assert_int_equal(builds_count(builds), 2);
  build_release(builds, a);
  build_release(builds, b);
  builds_close(builds);
}

static void a_compile_under_way_is_told_to_stop(void **state) {
  (void)state;
  struct builds *builds = open_builds(0, 1);
  atomic_store(&may_end, 0); /* never by itself */
  struct build *a = request(builds, (char[]){"a"}), *b = request(builds, (char[]){"b"});
  while (!atomic_load(&begun)) usleep(1000);
  builds_stop(builds);
  assert_true(build_finished(builds, a));
  assert_int_equal(a->status, CUGEN_ERROR_INTERRUPTED);
  assert_false(build_begun(builds, b));
  assert_true(builds_over(builds));
  assert_int_equal(builds_count(builds), 0);
  build_release(builds, a);
  build_release(builds, b);
  builds_close(builds);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(what_would_end_too_late_is_not_begun),
                                     cmocka_unit_test(without_a_limit_nothing_is_over),
                                     cmocka_unit_test(a_compile_under_way_is_told_to_stop)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
