/* Parses the problem of a record, which is a text; see lookup.h. */
#include <stdlib.h>
#include <string.h>

#include "lookup.h"

/* Checks that the problem prints as this text, except for parameters with their defaults that the
   text leaves out. */
static int prints_as(const struct config *config, const struct problem *problem, const char *text,
                     bool *same, cugen_error *err) {
  struct text printed = {0};
  uint64_t lacks;
  problem_print(config, problem, &printed);
  const struct cache_key key = {.problem = text_get(&printed),
                                .may_lack = problem_may_lack(config, problem)};
  *same = !printed.failed && cache_lacks(&key, text, &lacks);
  const int status = printed.failed ? error_memory(err) : CUGEN_OK;
  text_free(&printed);
  return status;
}

int api_read_problem(const struct config *config, const char *text, struct problem *out,
                     bool *known, cugen_error *err) {
  char *copy = strdup(text);
  const char **settings = calloc(config->problem_count + 1, sizeof *settings);
  int status = copy && settings ? CUGEN_OK : error_memory(err);
  *known = false;
  if (!status) {
    cugen_error why;
    int set = problem_set(config, settings, settings_cut(copy, settings, config->problem_count),
                          false, out, &why);
    if (set == CUGEN_OK) status = prints_as(config, out, text, known, err);
    if (set == CUGEN_OK && !*known) problem_free(out);
    if (set == CUGEN_ERROR_MEMORY) status = error_memory(err);
  }
  free(settings);
  free(copy);
  return status;
}
