/* cmocka, and tests that list themselves: TEST(name) { ... } is a test of its program, TEST_WITH
   names what runs before and after it. They run in the order of the file:
   int main(void) { return cmocka_run_group_tests(tests, NULL, NULL); } */
#ifndef TESTS_TESTING_H
#define TESTS_TESTING_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct CMUnitTest tests[100]; /* cmocka passes over those without a name */
static size_t test_count;

#define TEST_WITH(name, setup, teardown)                                                           \
  static void name(void **state);                                                                  \
  __attribute__((constructor)) static void list_##name(void) {                                     \
    tests[test_count++] = (struct CMUnitTest){#name, name, setup, teardown, NULL};                 \
  }                                                                                                \
  static void name(__attribute__((unused)) void **state)
#define TEST(name) TEST_WITH(name, NULL, NULL)
#endif
