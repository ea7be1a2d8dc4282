/* Reads problems { M = { 64, 256 }, N = 4096 }: problems that are tuned together. See build.h. */
#include <lua.h>

#include "build.h"

static int sizes_check_value(struct build *build, struct config_line line,
                             const struct config_problem *problem, struct value value) {
  struct text text = {0};
  int status = CUGEN_OK;
  size_t i = 0;
  value_print(value, &text);
  while (i < problem->value_count && !value_equal(problem->values[i], value)) i++;
  if (value.type != problem->values[0].type)
    status = build_fail(
        build, line,
        "problems gives problem \"%s\" the value %s, which is of another type than its default",
        problem->name, text_get(&text));
  else if (problem->listed && i == problem->value_count)
    status = build_fail(
        build, line, "problems gives problem \"%s\" the value %s, which is not in its list at %s",
        problem->name, text_get(&text), build_line(build, line, problem->line));
  text_free(&text);
  return status;
}

/* Appends the value or list on top of the stack, as "64,256". */
static int sizes_add_values(struct build *build, struct config_line line,
                            const struct config_problem *problem, struct text *out) {
  struct value value;
  const struct value *values = &value;
  size_t count = 1;
  const bool listed = lua_type(build->L, -1) == LUA_TTABLE;
  int status = listed ? read_values(build, line, "problems", &values, &count)
                      : read_value(build, line, "problems", &value);
  for (size_t i = 0; i < count && !status; i++) {
    status = sizes_check_value(build, line, problem, values[i]);
    text_add(out, i ? "," : "");
    value_print(values[i], out);
  }
  return status;
}

/* Appends the table on top of the stack, as "M=64,256 N=4096". */
static int read_set(struct build *build, struct config_line line, struct text *out) {
  const struct config *config = build->config;
  const int table = lua_gettop(build->L);
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, line, "problems needs its values in braces: %s",
                      config_keywords[KEYWORD_problems].example);
  int status = refuse_unknown_problem(build, line, table, "problems");
  for (size_t i = 0; i < config->problem_count && !status; i++) {
    if (!push_field(build, table, config->problems[i].name)) continue;
    text_addf(out, "%s%s=", out->length ? " " : "", config->problems[i].name);
    status = sizes_add_values(build, line, &config->problems[i], out);
    lua_pop(build->L, 1);
  }
  if (!status && !out->length)
    return build_fail(build, line, "problems names no problem: %s",
                      config_keywords[KEYWORD_problems].example);
  return status;
}

int read_problem_sets(struct build *build, const struct list *list) {
  struct config *config = build->config;
  const char **sets = arena_array(build->arena, list_count(list, KEYWORD_problems), sizeof *sets);
  int status = sets ? CUGEN_OK : build_memory(build);
  config->problem_sets = sets;
  for (size_t i = 0; sets && i < list->count && !status; i++) {
    struct text text = {0};
    if (list->items[i].declaration->keyword->id != KEYWORD_problems) continue;
    list_push(build, list, &list->items[i]);
    status = read_set(build, list->items[i].declaration->line, &text);
    lua_pop(build->L, 1);
    if (!status)
      sets[config->problem_set_count] = arena_string(build->arena, text_get(&text), text.length);
    if (!status && !sets[config->problem_set_count++]) status = build_memory(build);
    text_free(&text);
  }
  return status;
}
