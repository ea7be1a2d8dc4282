/* An implementation that is a library's kernel: library "cublasLt" { a = "A", ... }. Its fields are
   rows of base/library.h. See build.h and config.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

int library_check_parts(struct build *build, const struct list *list, const char *owner) {
  static const enum keyword_id allowed[] = {KEYWORD_include,   KEYWORD_library, KEYWORD_tunable,
                                            KEYWORD_derive,    KEYWORD_where,   KEYWORD_requires,
                                            KEYWORD_heuristic, KEYWORD_try,     KEYWORD_check};
  for (size_t i = 0; i < list->count; i++) {
    const struct keyword *keyword = list->items[i].declaration->keyword;
    size_t k = 0;
    while (k < sizeof allowed / sizeof *allowed && allowed[k] != keyword->id) k++;
    if (k == sizeof allowed / sizeof *allowed)
      return build_fail(build, list->items[i].declaration->line,
                        "%s calls a library, which has its own %s: leave it out", owner,
                        keyword->name);
  }
  return CUGEN_OK;
}

/* Reads the name of an argument. */
static int read_named(struct build *build, struct config_line line, const char *what,
                      enum library_kind kind, size_t *out) {
  const struct config *config = build->config;
  const char *name, *names[KERNEL_MAX_ARGUMENTS];
  int status = read_string(build, line, what, &name);
  if (status) return status;
  for (*out = 0; *out < config->argument_count; ++*out) {
    const bool scalar = config->arguments[*out].kind == CUGEN_ARGUMENT_SCALAR;
    names[*out] = config->arguments[*out].name;
    if (strcmp(names[*out], name) != 0) continue;
    return scalar == (kind == LIBRARY_SCALAR)
               ? CUGEN_OK
               : build_fail(build, line, "%s is '%s', which is %s: it takes %s", what, name,
                            scalar ? "a scalar" : "a buffer", scalar ? "a buffer" : "a scalar");
  }
  return refuse_name(build, line, name, names, config->argument_count,
                     "%s is '%.80s', which is no argument of this kernel", what, name);
}

static int read_field(struct build *build, int table, const struct library_field *field,
                      const char *what, struct config_library *out, size_t i) {
  const struct config_line line = out->requirement.line;
  struct text own = {0};
  out->fields[i].given = push_field(build, table, field->name);
  if (!out->fields[i].given)
    return field->needed ? build_fail(build, line, "%s has no %s: %s", what, field->name,
                                      config_keywords[KEYWORD_library].example)
                         : CUGEN_OK;
  text_addf(&own, "%s of %s", field->name, what);
  int status = field->kind == LIBRARY_BUFFER || field->kind == LIBRARY_SCALAR
                   ? read_named(build, line, text_get(&own), field->kind, &out->fields[i].argument)
                   : read_expr(build, line, text_get(&own), &out->fields[i].expr);
  text_free(&own);
  lua_pop(build->L, 1);
  return status;
}

static int library_read_fields(struct build *build, int table, const char *what,
                               struct config_library *out) {
  const struct library *library = &libraries[out->id];
  const char *known[LIBRARY_MOST_FIELDS];
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, out->requirement.line, "%s needs its fields in braces: %s", what,
                      config_keywords[KEYWORD_library].example);
  for (size_t i = 0; i < library->field_count; i++) known[i] = library->fields[i].name;
  const char *odd = unknown_key(build, table, known, library->field_count);
  if (odd)
    return refuse_name(build, out->requirement.line, odd, known, library->field_count,
                       "%s has no field '%s'", what, odd);
  int status = CUGEN_OK;
  for (size_t i = 0; i < library->field_count && !status; i++)
    status = read_field(build, table, &library->fields[i], what, out, i);
  return status;
}

static int unknown_library(struct build *build, struct config_line line, const char *name) {
  const char *names[LIBRARY_COUNT];
  struct text known = {0};
  for (int i = 0; i < LIBRARY_COUNT; i++) {
    names[i] = libraries[i].name;
    text_addf(&known, "%s%s", i ? ", " : "", names[i]);
  }
  int status = refuse_name(build, line, name, names, LIBRARY_COUNT,
                           "'%.80s' is no library that cugen can call: it can call %s", name,
                           text_get(&known));
  text_free(&known);
  return status;
}

int read_library(struct build *build, const struct list *list, struct config_implementation *out) {
  const struct item *item = list_find(list, KEYWORD_library);
  const struct config_line line = item->declaration->line;
  const enum library_id id = library_find(item->name);
  if (id == LIBRARY_COUNT) return unknown_library(build, line, item->name);
  struct config_library *library = arena_array(build->arena, 1, sizeof *library);
  struct text what = {0};
  text_addf(&what, "library %s", libraries[id].name);
  const char *text = arena_string(build->arena, text_get(&what), what.length);
  if (!library || !text) {
    text_free(&what);
    return build_memory(build);
  }
  library->id = id;
  library->requirement = (struct config_requirement){.line = line, .text = text};
  out->library = library;
  list_push(build, list, item);
  int status = library_read_fields(build, lua_gettop(build->L), text, library);
  lua_pop(build->L, 1);
  text_free(&what);
  return status;
}

bool config_calls_library(const struct config *config, const char *variant) {
  const size_t length = strcspn(variant, " ");
  for (size_t i = 0; i < config->implementation_count; i++) {
    const char *name = config->implementations[i].name;
    if (strlen(name) == length && memcmp(name, variant, length) == 0)
      return config->implementations[i].library != NULL;
  }
  return false;
}
