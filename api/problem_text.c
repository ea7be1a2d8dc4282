/* Parses the text of a problem; see lookup.h. */
#include <stdlib.h>
#include <string.h>

#include "lookup.h"

/* Sets *same to whether the problem prints as this text, except for parameters with their defaults
   that the text leaves out. */
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

int api_parse_problem(const struct config *config, const char *text, struct problem *out,
                      cugen_error *err) {
  const size_t most = config->problem_count;
  char *copy = strdup(text);
  const char **settings = calloc(most + 1, sizeof *settings);
  const int status =
      copy && settings
          ? problem_set(config, settings, settings_cut(copy, settings, most), false, out, err)
          : error_memory(err);
  free(settings);
  free(copy);
  return status;
}

int api_read_problem(const struct config *config, const char *text, struct problem *out,
                     bool *known, cugen_error *err) {
  cugen_error why;
  *known = false;
  int status = api_parse_problem(config, text, out, &why);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  status = prints_as(config, out, text, known, err);
  if (!*known) problem_free(out);
  return status;
}
