/* Each portfolio that ships is found for its classes on the GPU that it was measured on, and serves the problems at which its variants were
   measured: its body is read, its rule and times are expressions over the config's sizes, and one of its variants is the problem's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/api.h"
#include "api/portfolio.h"
#include "gen/sources/sources.h"

enum { MOST_SETTINGS = 32 };

static void check(int status, const cugen_error *err, const char *what) {
  if (status) fail_msg("%s: %s", what, err->message);
}

static cugen_kernel *open_kernel(cugen *lib, const char *path, const char *name, char *words) {
  const char *settings[MOST_SETTINGS];
  cugen_kernel *kernel;
  cugen_error err;
  size_t count = 0;
  char *next = NULL;
  for (char *word = strtok_r(words, " ", &next); word && count < MOST_SETTINGS; word = strtok_r(NULL, " ", &next))
    settings[count++] = word;
  check(cugen_kernel_open(lib, name, settings, count, &kernel, &err), &err, path);
  return kernel;
}

static void is_found(cugen *lib, const char *path, const char *name, char *class) {
  cugen_kernel *kernel = open_kernel(lib, path, name, class);
  struct portfolio_shipped shipped;
  cugen_error err;
  bool found;
  check(portfolio_find_shipped(&kernel->lookup, &shipped, &found, &err), &err, path);
  if (!found) fail_msg("%s is not found for its class %s", path, class);
  portfolio_shipped_free(&shipped);
  cugen_kernel_close(kernel);
}

static void serves(cugen *lib, const char *path, const char *name, char *problem) {
  cugen_kernel *kernel = open_kernel(lib, path, name, problem);
  struct portfolio_answer answer;
  struct text device = {0};
  struct failures *failures;
  cugen_error err;
  bool found;
  check(failures_open(&kernel->lookup, &failures, &err), &err, path);
  check(portfolio_serve_shipped(&kernel->lookup, failures, &answer, &device, &found, &err), &err, path);
  if (!found) fail_msg("%s does not serve the problem %s ... of one of its variants", path, problem);
  kernel_spec_free(&answer.spec);
  text_free(&device);
  failures_close(failures);
  cugen_kernel_close(kernel);
}

/* What stands behind the word at the beginning of a line, in out. Where the next line begins; NULL: there is none. */
static const char *find_line(const char *at, const char *word, char *out, size_t size) {
  const size_t begin = strlen(word);
  for (; at && *at; at = strchr(at, '\n') + 1) {
    if (strncmp(at, word, begin) != 0) continue;
    snprintf(out, size, "%.*s", (int)strcspn(at + begin, "\n"), at + begin);
    return strchr(at, '\n') + 1;
  }
  return NULL;
}

static void all_that_ship_serve(void **state) {
  cugen_options options = CUGEN_OPTIONS_INIT;
  cugen_error err;
  cugen *lib;
  size_t files = 0;
  (void)state;
  options.device = "model:H200";
  options.cache = "none";
  check(cugen_open(&options, &lib, &err), &err, "cugen_open");
  for (const struct embedded_file *file = embedded_files; file->path; file++) {
    char kernel[64], words[1024];
    if (strncmp(file->path, "portfolios/", 11) != 0) continue;
    assert_non_null(find_line(file->data, "kernel ", kernel, sizeof kernel));
    const char *at = file->data;
    while ((at = find_line(at, "class ", words, sizeof words))) is_found(lib, file->path, kernel, words);
    at = file->data;
    while ((at = find_line(at, "at ", words, sizeof words))) serves(lib, file->path, kernel, words);
    files++;
  }
  assert_true(files > 10);
  cugen_close(lib);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(all_that_ship_serve)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
