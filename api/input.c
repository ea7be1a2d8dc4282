/* Input for programs: base/input.h behind a handle. */
#include "base/input.h"

#include <stdlib.h>
#include <string.h>

#include "input.h"
#include "library.h"

enum { USUAL_LINE = 1 << 20 };

struct cugen_input {
  struct input input;
  char *path;
  cugen_stop_callback stop;
  void *context;
  struct text rest;
};

static bool input_is_stopped(void *context) {
  const cugen_input *input = context;
  return input->stop(input->context) != 0;
}

void api_input_close(cugen_input *input) {
  if (!input) return;
  input_close(&input->input);
  text_free(&input->rest);
  free(input->path);
  free(input);
}

static int input_open_copy(cugen_input *input, const char *path, const cugen_input_options *options,
                           cugen_error *error) {
  input->path = strdup(path);
  input->stop = options->stop;
  input->context = options->context;
  const struct input_limits limits = {.most = options->most,
                                      .most_line =
                                          options->most_line ? options->most_line : USUAL_LINE,
                                      .stop = {options->stop ? input_is_stopped : NULL, input}};
  return input->path ? input_open(&input->input, input->path, &limits, error) : error_memory(error);
}

int api_input_open(const char *path, const cugen_input_options *options, cugen_input **out,
                   cugen_error *error) {
  static const cugen_input_options defaults = {0};
  if (API_NEEDS(error, "path, out", path, out)) return CUGEN_ERROR_USAGE;
  *out = NULL;
  if (!options) options = &defaults;
  cugen_input *input = calloc(1, sizeof *input);
  if (!input) return error_memory(error);
  const int status = input_open_copy(input, path, options, error);
  if (status) return api_input_close(input), status;
  *out = input;
  return CUGEN_OK;
}

int api_input_line(cugen_input *input, const char **line, size_t *length, int *whole,
                   cugen_error *error) {
  if (API_NEEDS(error, "input, line, length, whole", input, line, length, whole))
    return CUGEN_ERROR_USAGE;
  *length = 0;
  const int status = input_line(&input->input, line, length, error);
  if (status || !*line) return status;
  *whole = !input_line_is_open(&input->input);
  if (*length <= input->input.limits.most_line) return CUGEN_OK;
  *line = NULL;
  return error_set(error, CUGEN_ERROR_IO, "%s has a line of more than %zu bytes", input->input.name,
                   input->input.limits.most_line);
}

int api_input_rest(cugen_input *input, const char **text, size_t *length, cugen_error *error) {
  if (API_NEEDS(error, "input, text, length", input, text, length)) return CUGEN_ERROR_USAGE;
  text_clear(&input->rest);
  const int status = input_rest(&input->input, &input->rest, error);
  *text = status ? NULL : text_get(&input->rest);
  *length = status ? 0 : input->rest.length;
  return status;
}
