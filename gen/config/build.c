/* Reports errors in a config with their file and line. See build.h. */
#include "build.h"

#include <string.h>

int build_fail(struct build *build, struct config_line line, const char *format, ...) {
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  int status = text.failed ? error_memory(build->err)
                           : error_set_at(build->err, CUGEN_ERROR_CONFIG, line.path, line.number,
                                          "%s", text_get(&text));
  text_free(&text);
  return status;
}

const char *build_line(struct build *build, struct config_line from, struct config_line other) {
  struct text text = {0};
  text_addf(&text, "line %d", other.number);
  if (strcmp(from.path, other.path) != 0) text_addf(&text, " of %s", other.path);
  const char *copy = text.failed ? NULL : arena_string(build->arena, text_get(&text), text.length);
  text_free(&text);
  return copy ? copy : "another line";
}

int build_memory(struct build *build) {
  if (!arena_full(build->arena)) return error_memory(build->err);
  return error_set(build->err, CUGEN_ERROR_CONFIG,
                   "%s: the config is too large: its tables come to more than 64 MiB",
                   build->config->path);
}
