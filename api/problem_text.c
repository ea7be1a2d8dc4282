/* Parses the problem of a record, which is a text; see lookup.h. */
#include <stdlib.h>
#include <string.h>

#include "lookup.h"

/* Finds the first setting behind `at` of parameter `from` or a later one, and sets *found to the
   parameter. */
static char *problem_text_next_setting(const struct config *config, char *at, size_t from,
                                       size_t *found) {
  char *next = NULL;
  for (size_t i = from; i < config->problem_count; i++) {
    const char *name = config->problems[i].name;
    const size_t length = strlen(name);
    char *space = strchr(at, ' ');
    while (space && (strncmp(space + 1, name, length) != 0 || space[1 + length] != '='))
      space = strchr(space + 1, ' ');
    if (space && (!next || space < next)) next = space, *found = i;
  }
  return next;
}

/* Cuts "M=4 N=8" into "M=4" and "N=8"; returns their number. */
static size_t problem_text_cut(const struct config *config, char *text, const char **settings) {
  size_t count = 0, at = 0;
  while (*text && count < config->problem_count) {
    settings[count++] = text;
    char *next = problem_text_next_setting(config, text, at, &at);
    at++;
    if (!next) break;
    *next = '\0';
    text = next + 1;
  }
  return count;
}

/* Checks that the problem prints as this text, except for parameters with their defaults that the
   text leaves out. */
static int prints_as(const struct config *config, const struct problem *problem, const char *text,
                     bool *same, cugen_error *err) {
  struct text printed = {0}, settings = {0};
  uint64_t lacks;
  int status = api_print_problem(config, problem, &printed, &settings, err);
  const struct cache_key key = {.problem = text_get(&printed), .settings = text_get(&settings)};
  *same = !status && cache_lacks(&key, text, &lacks);
  text_free(&printed);
  text_free(&settings);
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
    int set =
        problem_set(config, settings, problem_text_cut(config, copy, settings), false, out, &why);
    if (set == CUGEN_OK) status = prints_as(config, out, text, known, err);
    if (set == CUGEN_OK && !*known) problem_free(out);
    if (set == CUGEN_ERROR_MEMORY) status = error_memory(err);
  }
  free(settings);
  free(copy);
  return status;
}
