/* A config read while memory runs out, at each allocation in turn: the status says so, nothing crashes, and
   everything taken is given back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "gen/config.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define SANITIZED
#endif
#endif

#ifdef SANITIZED /* they bring their own malloc */

int main(void) {
  print_message("skipped: sanitizers bring their own malloc\n");
  return 77;
}

#else

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);
void __libc_free(void *block);

/* The n-th allocation from now fails (< 0: none), and with it all others where `for_good` is set. */
static struct {
  long left;
  bool for_good, failed;
  long held; /* blocks not given back */
} memory = {.left = -1};

static bool may_allocate(void) {
  if (memory.left < 0) return true;
  if (memory.left > 0) {
    memory.left--;
    return true;
  }
  memory.failed = true;
  if (!memory.for_good) memory.left = -1;
  return false;
}

static void *held(void *block) {
  memory.held += block != NULL;
  return block;
}

void *malloc(size_t size) {
  return may_allocate() ? held(__libc_malloc(size)) : NULL;
}

void *calloc(size_t count, size_t size) {
  return may_allocate() ? held(__libc_calloc(count, size)) : NULL;
}

void *realloc(void *old, size_t size) {
  if (!may_allocate()) return NULL;
  return old ? __libc_realloc(old, size) : held(__libc_realloc(old, size));
}

void free(void *block) {
  memory.held -= block != NULL;
  __libc_free(block);
}

/* Everything that reads a config, evaluates it and closes it; the first status that is not CUGEN_OK. */
static int use_config(const struct text *content, cugen_error *err) {
  static const char *const settings[] = {"M=77", "dtype=f64"};
  struct config *config;
  struct problem problem, check;
  int status = config_parse("matmul.lua", text_get(content), content->length, &config, err);
  if (status) return status;
  status = problem_set(config, settings, 2, false, &problem, err);
  if (!status) {
    status = problem_check(config, &problem, &check, err);
    if (!status) problem_free(&check);
    if (!status) status = problem_bucket(config, &problem, &check, err);
    if (!status) problem_free(&check);
    problem_free(&problem);
  }
  config_close(config);
  return status;
}

static void fail_each(const struct text *content, bool for_good) {
  long failures = 0;
  for (long n = 0;; n++) {
    cugen_error err = {0};
    long before = memory.held;
    memory.failed = false;
    memory.for_good = for_good;
    memory.left = n;
    int status = use_config(content, &err);
    memory.left = -1;
    assert_int_equal(memory.held, before);
    if (status) assert_int_equal(status, CUGEN_ERROR_MEMORY);
    if (status) assert_non_null(strstr(err.message, "out of memory"));
    failures += status != CUGEN_OK;
    if (!memory.failed) break;
    /* One failure alone Lua may get over by collecting its garbage. */
    if (for_good) assert_int_equal(status, CUGEN_ERROR_MEMORY);
  }
  assert_true(failures > 100);
}

static void allocations_fail(void **state) {
  (void)state;
  struct text content = {0};
  assert_int_equal(file_read("configs/matmul.lua", &content, NULL), CUGEN_OK);
  static const char buckets[] = "policy \"buckets\" { M = { 64, 128 }, K = { 32 } },";
  char *nearest = strstr(content.data, "policy \"nearest\"");
  assert_non_null(nearest);
  struct text changed = {0};
  text_add_n(&changed, content.data, (size_t)(nearest - content.data));
  text_add(&changed, buckets);
  text_add(&changed, strchr(nearest, '\n'));
  fail_each(&changed, false);
  text_free(&changed);
  fail_each(&content, false);
  fail_each(&content, true);
  text_free(&content);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(allocations_fail)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}

#endif
