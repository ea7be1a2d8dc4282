/* Reads check { M = 96 } of a kernel or implementation: the problem on which it is checked. See
   build.h. */
#include <lua.h>

#include "build.h"

static int refuse_unlisted(struct build *build, struct config_line line,
                           const struct config_problem *problem, struct value value) {
  struct text text = {0};
  value_print(value, &text);
  int status = CUGEN_OK;
  if (value.type != problem->values[0].type)
    status = build_fail(
        build, line,
        "check gives problem \"%s\" the value %s, which is of another type than its default",
        problem->name, text_get(&text));
  size_t i = 0;
  while (i < problem->value_count && !value_equal(problem->values[i], value)) i++;
  if (!status && problem->listed && i == problem->value_count)
    status = build_fail(build, line,
                        "check gives problem \"%s\" the value %s, which is not in its list at %s",
                        problem->name, text_get(&text), build_line(build, line, problem->line));
  text_free(&text);
  return status;
}

static int read_check_values(struct build *build, struct config_line line, int table,
                             struct value *out) {
  const struct config *config = build->config;
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, line, "check needs its values in braces: %s",
                      config_keywords[KEYWORD_check].example);
  int status = refuse_unknown_problem(build, line, table, "check");
  for (size_t i = 0; i < config->problem_count && !status; i++) {
    out[i] = (struct value){.type = VALUE_NIL};
    if (!push_field(build, table, config->problems[i].name)) continue;
    status = read_value(build, line, "check", &out[i]);
    lua_pop(build->L, 1);
    if (!status) status = refuse_unlisted(build, line, &config->problems[i], out[i]);
  }
  return status;
}

int read_check(struct build *build, const struct list *list, const struct value **out) {
  const struct item *item = list_find(list, KEYWORD_check);
  *out = NULL;
  if (!item) return CUGEN_OK;
  struct value *values = arena_array(build->arena, build->config->problem_count, sizeof *values);
  if (!values) return build_memory(build);
  list_push(build, list, item);
  int status = read_check_values(build, item->declaration->line, lua_gettop(build->L), values);
  lua_pop(build->L, 1);
  *out = values;
  return status;
}
