/* Reports errors in a config with their file and line, and allocates for its readers. See
   build.h. */
#include "build.h"

#include <lua.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Giving up ------------------------------------------------------------------------------ */

static _Noreturn void build_give_up(struct build *build) {
  longjmp(*build->guard, 1);
}

/* Calls read(build, context). Returns CUGEN_OK if `read` returns. If `read` fails, returns the
   status of build->error, and Lua's stack and build->line are as before the call. */
static int build_try(struct build *build, build_reader *read, void *context) {
  jmp_buf guard, *const outer = build->guard;
  const struct config_line line = build->line;
  const int top = lua_gettop(build->L);
  bool failed = true;
  build->guard = &guard;
  if (setjmp(guard) == 0) {
    read(build, context);
    failed = false;
  }
  build->guard = outer;
  if (!failed) return CUGEN_OK;
  build->line = line;
  lua_settop(build->L, top);
  return build->error.status;
}

static void set_error(struct build *build, struct config_line line, const char *format,
                      va_list args, const char *nearest) {
  struct text text = {0};
  text_vaddf(&text, format, args);
  if (nearest) text_addf(&text, " (nearest '%s')", nearest);
  if (text.failed)
    error_memory(&build->error);
  else
    config_fail(&build->error, line, "%s", text_get(&text));
  text_free(&text);
}

void build_fail(struct build *build, const char *format, ...) {
  va_list args;
  va_start(args, format);
  set_error(build, build->line, format, args, NULL);
  va_end(args);
  build_give_up(build);
}

void build_fail_at(struct build *build, struct config_line line, const char *format, ...) {
  va_list args;
  va_start(args, format);
  set_error(build, line, format, args, NULL);
  va_end(args);
  build_give_up(build);
}

void build_fail_name(struct build *build, const char *name, const char *const *names, size_t count,
                     const char *format, ...) {
  va_list args;
  va_start(args, format);
  set_error(build, build->line, format, args, text_nearest(name, names, count));
  va_end(args);
  build_give_up(build);
}

void build_memory(struct build *build) {
  if (arena_full(build->arena))
    error_set(&build->error, CUGEN_ERROR_CONFIG,
              "%s: the config is too large: its tables come to more than 64 MiB",
              build->config->path);
  else
    error_memory(&build->error);
  build_give_up(build);
}

void build_check(struct build *build, int status, const char *what) {
  if (!status) return;
  config_prefix(&build->error, build->line, "%s", what);
  build_give_up(build);
}

/* ---- Several errors ------------------------------------------------------------------------- */

/* Returns whether build->error only reports an unknown name whose declaration failed before. */
static bool build_follows(const struct build *build) {
  char unknown[128];
  for (size_t i = 0; i < build->failed_count; i++) {
    snprintf(unknown, sizeof unknown, "unknown name \"%.100s\"", build->failed[i]);
    if (strstr(build->error.message, unknown)) return true;
  }
  return false;
}

void build_note(struct build *build, const char *name, build_reader *read, void *context) {
  const size_t most = sizeof build->failed / sizeof *build->failed;
  const int status = build_try(build, read, context);
  if (!status) return;
  if (status != CUGEN_ERROR_CONFIG || build->failed_count == most) build_give_up(build);
  if (!build_follows(build)) {
    if (!build->noted.length) build->first = build->error;
    text_addf(&build->noted, "%s%s", build->noted.length ? "\n" : "", build->error.message);
  }
  build->failed[build->failed_count++] = name ? build_copy(build, name, strlen(name)) : "";
  if (build->noted.failed) build_memory(build);
}

int build_run(struct build *build, build_reader *read, cugen_error *err) {
  int status = build_try(build, read, NULL);
  if (build->noted.length && (!status || status == CUGEN_ERROR_CONFIG)) {
    if (status && !build_follows(build)) text_addf(&build->noted, "\n%s", build->error.message);
    build->error = build->first;
    status = CUGEN_ERROR_CONFIG;
    snprintf(build->error.message, sizeof build->error.message, "%s", text_get(&build->noted));
  }
  text_free(&build->noted);
  free(build->names);
  return status ? error_copy(err, &build->error) : CUGEN_OK;
}

const char *build_line(struct build *build, struct config_line other) {
  return strcmp(build->line.path, other.path) == 0
             ? build_text(build, "line %d", other.number)
             : build_text(build, "line %d of %s", other.number, other.path);
}

/* ---- Memory --------------------------------------------------------------------------------- */

void *build_array(struct build *build, size_t count, size_t size) {
  void *array = arena_array(build->arena, count, size);
  if (!array) build_memory(build);
  return array;
}

char *build_copy(struct build *build, const char *string, size_t length) {
  char *copy = arena_string(build->arena, string, length);
  if (!copy) build_memory(build);
  return copy;
}

const char *build_take(struct build *build, struct text *text) {
  char *copy = text->failed ? NULL : arena_string(build->arena, text_get(text), text->length);
  text_free(text);
  if (!copy) build_memory(build);
  return copy;
}

const char *build_text(struct build *build, const char *format, ...) {
  struct text text = {0};
  va_list args;
  va_start(args, format);
  text_vaddf(&text, format, args);
  va_end(args);
  return build_take(build, &text);
}

const char *build_join(struct build *build, const char *const *words, size_t count) {
  struct text text = {0};
  for (size_t i = 0; i < count; i++) text_addf(&text, "%s%s", i ? ", " : "", words[i]);
  return build_take(build, &text);
}

const char *build_value(struct build *build, struct value value) {
  struct text text = {0};
  value_print(value, &text);
  return build_take(build, &text);
}
