/* Fuzz target: lines "NAME=VALUE" as the settings of a problem. Accepted settings print as
   settings with the same meaning. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "gen/config/problem.h"

enum { MOST = 8 };

static struct config *config;

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  static const char text[] =
      "kernel 'k' { problem 'M' (4), problem 'r' (0.5), problem 'b' (true), problem 'dtype' { "
      "'f32', 'f64' },"
      "  check { M = 3 }, output 'y' { dtype = 'dtype', shape = { 'M' }, tolerance = '1e-6' },"
      "  reference 'r.cu', implementation 'i' { template 't.cu', grid { '1' }, block { '32' } } }";
  require(config_parse("fuzz.lua", text, sizeof text - 1, &config, NULL) == CUGEN_OK);
  return 0;
}

static size_t split(char *text, const char *at, const char **out) {
  size_t count = 0;
  for (char *part; count < MOST && (part = strsep(&text, at));) out[count++] = part;
  return count;
}

/* No value of this config contains a blank. */
static void check(const struct problem *problem) {
  struct problem other;
  struct text text = {0}, again = {0};
  const char *settings[MOST];
  problem_print(config, problem, &text);
  require(!text.failed);
  char *copy = strdup(text_get(&text));
  require(copy && problem_set(config, settings, split(copy, " ", settings), false, &other, NULL) ==
                      CUGEN_OK);
  problem_print(config, &other, &again);
  require(strcmp(text_get(&text), text_get(&again)) == 0);
  problem_free(&other);
  require(problem_check(config, problem, &other, NULL) == CUGEN_OK);
  problem_free(&other);
  text_free(&text);
  text_free(&again);
  free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  const char *settings[MOST];
  char *text = strndup((const char *)data, size);
  require(text);
  size_t count = split(text, "\n", settings);
  struct problem problem;
  cugen_error err = {0};
  int status = problem_set(config, settings, count, false, &problem, &err);
  require(status == CUGEN_OK || (err.status == status && err.message[0]));
  if (!status) {
    check(&problem);
    problem_free(&problem);
  }
  free(text);
  return 0;
}
