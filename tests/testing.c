/* Runs the tests that a program lists; linked into each program of tests. */
#include "tests/testing.h"

enum { SKIPPED = 77 }; /* ctest's exit code for a test that was skipped */

static struct CMUnitTest tests[100]; /* cmocka passes over those without a name */
static size_t test_count;

/* Not const: clang puts the values of weak constants where they are used. */
__attribute__((weak)) struct tests_fixture all_tests = {NULL, NULL};
__attribute__((weak)) const char *tests_skipped = NULL;

void tests_add(struct CMUnitTest test) {
  tests[test_count++] = test;
}

int tests_run(void) {
  return cmocka_run_group_tests(tests, all_tests.before, all_tests.after);
}

/* The texts that formed() made, the latest first. */
static struct formed {
  struct formed *before;
  char text[];
} * formed_last;

static void forget_formed(void) {
  while (formed_last) {
    struct formed *before = formed_last->before;
    free(formed_last);
    formed_last = before;
  }
}

const char *formed(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(NULL, 0, format, arguments);
  va_end(arguments);
  struct formed *own = malloc(sizeof *own + (size_t)length + 1);
  assert_non_null(own);
  va_start(arguments, format);
  vsnprintf(own->text, (size_t)length + 1, format, arguments);
  va_end(arguments);
  if (!formed_last) atexit(forget_formed);
  own->before = formed_last;
  formed_last = own;
  return own->text;
}

/* `got` was returned, and `*kept` is the error's status; parts of its message follow. */
void tests_failed(int got, const int *kept, const char *message, int status, ...) {
  va_list parts;
  if (got != status || *kept != status)
    fail_msg("status %d (the error's: %d), not %d: %s", got, *kept, status, message);
  va_start(parts, status);
  for (const char *part; (part = va_arg(parts, const char *));)
    if (!strstr(message, part)) fail_msg("no '%s' in: %s", part, message);
  va_end(parts);
}

__attribute__((weak)) int main(void) {
  if (!tests_skipped) return tests_run();
  printf("skipped: %s\n", tests_skipped);
  return SKIPPED;
}
