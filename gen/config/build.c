/* Reports errors in a config with their file and line. See build.h. */
#include "build.h"

#include <lua.h>
#include <stdio.h>
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

/* Returns true if the error is only that a name is unknown whose declaration failed. */
static bool build_follows(const struct build *build) {
  char unknown[128];
  for (size_t i = 0; i < build->failed_count; i++) {
    snprintf(unknown, sizeof unknown, "unknown name \"%.100s\"", build->failed[i]);
    if (strstr(build->err->message, unknown)) return true;
  }
  return false;
}

int build_note(struct build *build, const char *name, int top, int status) {
  const size_t most = sizeof build->failed / sizeof *build->failed;
  if (status != CUGEN_ERROR_CONFIG || !build->err || build->failed_count == most) return status;
  lua_settop(build->L, top);
  if (!build_follows(build)) {
    if (!build->noted.length) build->first = *build->err;
    text_addf(&build->noted, "%s%s", build->noted.length ? "\n" : "", build->err->message);
  }
  build->failed[build->failed_count] = name ? arena_string(build->arena, name, strlen(name)) : "";
  if (!build->failed[build->failed_count++]) return build_memory(build);
  return build->noted.failed ? error_memory(build->err) : CUGEN_OK;
}

int build_report(struct build *build, int status) {
  if (build->noted.length && (!status || status == CUGEN_ERROR_CONFIG)) {
    if (status && !build_follows(build)) text_addf(&build->noted, "\n%s", build->err->message);
    *build->err = build->first;
    status = CUGEN_ERROR_CONFIG;
    snprintf(build->err->message, sizeof build->err->message, "%s", text_get(&build->noted));
  }
  text_free(&build->noted);
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
