/* An implementation that is a library's kernel: library "cublasLt" { a = "A", ... }. See build.h
   and config.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

void library_check_parts(struct build *build, const struct list *list, const char *owner) {
  static const enum keyword_id allowed[] = {KEYWORD_include,   KEYWORD_library, KEYWORD_tunable,
                                            KEYWORD_derive,    KEYWORD_where,   KEYWORD_requires,
                                            KEYWORD_heuristic, KEYWORD_try,     KEYWORD_check};
  for (size_t i = 0; i < list->count; i++) {
    const struct declaration *part = list->items[i].declaration;
    size_t k = 0;
    while (k < sizeof allowed / sizeof *allowed && allowed[k] != part->keyword->id) k++;
    if (k == sizeof allowed / sizeof *allowed)
      build_fail_at(build, part->line, "%s calls a library, which has its own %s: leave it out",
                    owner, part->keyword->name);
  }
}

/* Reads the name of an argument. Returns the argument's number. */
static size_t read_named(struct build *build, const char *what, enum library_kind kind) {
  const struct config *config = build->config;
  const char *name = read_string(build, what), *names[KERNEL_MAX_ARGUMENTS];
  const struct config_argument *argument = config_find_argument(config, name);
  if (!argument)
    build_fail_name(build, name, names, argument_names(config, names),
                    "%s is '%.80s', which is no argument of this kernel", what, name);
  const bool scalar = argument->kind == CUGEN_ARGUMENT_SCALAR;
  if (scalar != (kind == LIBRARY_SCALAR))
    build_fail(build, "%s is '%s', which is %s: it takes %s", what, name,
               scalar ? "a scalar" : "a buffer", scalar ? "a buffer" : "a scalar");
  return (size_t)(argument - config->arguments);
}

static void read_field(struct build *build, int table, const struct library_field *field,
                       const char *what, struct config_library *out, size_t i) {
  out->fields[i].given = push_field(build, table, field->name);
  if (!out->fields[i].given && field->needed)
    build_fail(build, "%s has no %s: %s", what, field->name,
               config_keywords[KEYWORD_library].example);
  if (!out->fields[i].given) return;
  const char *own = build_text(build, "%s of %s", field->name, what);
  if (field->kind == LIBRARY_BUFFER || field->kind == LIBRARY_SCALAR)
    out->fields[i].argument = read_named(build, own, field->kind);
  else
    out->fields[i].expr = read_expr(build, own);
  lua_pop(build->L, 1);
}

void read_library(struct build *build, const struct item *item, void *out) {
  const enum library_id id = library_find(item->name);
  const char *names[LIBRARY_COUNT], *known[LIBRARY_MOST_FIELDS];
  for (int i = 0; i < LIBRARY_COUNT; i++) names[i] = libraries[i].name;
  if (id == LIBRARY_COUNT)
    build_fail_name(build, item->name, names, LIBRARY_COUNT,
                    "'%.80s' is no library that cugen can call: it can call %s", item->name,
                    build_join(build, names, LIBRARY_COUNT));
  const struct library *library = &libraries[id];
  const char *what = build_text(build, "library %s", library->name);
  const int table = lua_gettop(build->L);
  struct config_library *read = build_array(build, 1, sizeof *read);
  read->id = id;
  read->requirement = (struct config_requirement){.line = build->line, .text = what};
  ((struct config_implementation *)out)->library = read;
  for (size_t i = 0; i < library->field_count; i++) known[i] = library->fields[i].name;
  refuse_odd_table(build, "field", what, item->declaration->keyword->example, known,
                   library->field_count);
  for (size_t i = 0; i < library->field_count; i++)
    read_field(build, table, &library->fields[i], what, read, i);
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
