/* cmocka, what nearly every test uses of the C library, and tests that list themselves:
   TEST(name) { ... } is a test of its program, TEST_WITH names what runs before and after it,
   ALL_TESTS_WITH what runs before the first and after the last. They run in the order of the
   file. main() is in testing.c, unless the program has one, which calls tests_run(). FREED(type)
   and CLOSED(type) declare variables that are freed where their scope ends. */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What stands in for a part of cugen takes all that the part's interface has. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

void tests_add(struct CMUnitTest test);
int tests_run(void);

#define TEST_WITH(name, before, after)                                                             \
  static void name(void **state);                                                                  \
  __attribute__((constructor)) static void list_##name(void) {                                     \
    tests_add((struct CMUnitTest){#name, name, before, after, NULL});                              \
  }                                                                                                \
  static void name(void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* A function that runs before or after tests. */
#define FIXTURE(name) static int name(void **state)

/* What runs before the first test and after the last; set by ALL_TESTS_WITH(before, after); */
struct tests_fixture {
  CMFixtureFunction before, after;
};
extern struct tests_fixture all_tests;
#define ALL_TESTS_WITH(...) struct tests_fixture all_tests = {__VA_ARGS__}

/* Why the program cannot run here; set by SKIP_ALL_TESTS(reason); */
extern const char *tests_skipped;
#define SKIP_ALL_TESTS(reason) const char *tests_skipped = reason

/* Calls of cugen, which are given &err: WORKS(call) fails the test with the error's message unless
   the call returns CUGEN_OK. FAILS(call, status, parts...) expects the status, and a message with
   all of the parts; FAILS_WITH(call, status, message) the whole message. */
#define WORKS(call)                                                                                \
  do {                                                                                             \
    cugen_error err = {0};                                                                         \
    if (call) fail_msg("%s", err.message);                                                         \
  } while (0)
#define FAILS(call, ...)                                                                           \
  do {                                                                                             \
    cugen_error err = {0};                                                                         \
    tests_failed(call, &err.status, err.message, __VA_ARGS__, NULL);                               \
  } while (0)
#define FAILS_WITH(call, want, whole)                                                              \
  do {                                                                                             \
    cugen_error err = {0};                                                                         \
    tests_failed(call, &err.status, err.message, want, NULL);                                      \
    assert_string_equal(err.message, whole);                                                       \
  } while (0)
void tests_failed(int got, const int *kept, const char *message, int status, ...);

/* Returns printed text, which is valid until the program ends. Not for threads. */
const char *formed(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* FREED(text) name = {0}; calls text_free(&name), and CLOSED(config) *name; config_close(name),
   where the scope ends. CLOSABLE says by which function a type is closed. */
#define FREED(type)  __attribute__((cleanup(type##_free))) struct type
#define CLOSED(type) __attribute__((cleanup(type##_closed))) struct type
#define CLOSABLE(type, close)                                                                      \
  static inline void type##_closed(struct type *const *closed) {                                   \
    close(*closed);                                                                                \
  }                                                                                                \
  struct type
#define CLOSABLE_EVERYWHERE(type, close)                                                           \
  struct type;                                                                                     \
  void close(struct type *closed);                                                                 \
  CLOSABLE(type, close)
CLOSABLE_EVERYWHERE(cugen, cugen_close);
CLOSABLE_EVERYWHERE(cugen_kernel, cugen_kernel_close);
CLOSABLE_EVERYWHERE(cugen_plan, cugen_plan_close);
CLOSABLE_EVERYWHERE(cugen_call, cugen_call_close);
CLOSABLE_EVERYWHERE(cache, cache_close);
CLOSABLE_EVERYWHERE(config, config_close);
CLOSABLE_EVERYWHERE(expr, expr_free);
CLOSABLE_EVERYWHERE(sandbox, sandbox_close);
CLOSABLE_EVERYWHERE(space, space_close);
CLOSABLE_EVERYWHERE(template, template_free);
CLOSABLE_EVERYWHERE(toolkit, toolkit_close);
#endif
