/* Reads tables that give values to problem parameters or tunables: check { M = 96 },
   problems { M = { 64, 256 }, N = 4096 } and try { BM = 128 } (docs/config.md). See build.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

static void check_braces(struct build *build, const struct item *item) {
  const struct keyword *keyword = item->declaration->keyword;
  if (lua_type(build->L, -1) != LUA_TTABLE)
    build_fail(build, "%s needs its values in braces: %s", keyword->name, keyword->example);
}

/* ---- check ---------------------------------------------------------------------------------- */

static void read_check_values(struct build *build, const struct item *item, void *out) {
  const struct config *config = build->config;
  const int table = lua_gettop(build->L);
  struct value *values = build_array(build, config->problem_count, sizeof *values);
  check_braces(build, item);
  refuse_unknown_problem(build, table, "check");
  for (size_t i = 0; i < config->problem_count; i++) {
    values[i] = (struct value){.type = VALUE_NIL};
    if (!push_field(build, table, config->problems[i].name)) continue;
    values[i] = read_value(build, "check");
    lua_pop(build->L, 1);
    check_problem_value(build, "check", &config->problems[i], values[i]);
  }
  *(const struct value **)out = values;
}

void read_check(struct build *build, const struct list *list, const struct value **out) {
  *out = NULL;
  read_only(build, list, KEYWORD_check, read_check_values, (void *)out);
}

/* ---- problems ------------------------------------------------------------------------------- */

static const char *print_values(struct build *build, const struct value *values, size_t count) {
  struct text text = {0};
  for (size_t i = 0; i < count; i++) {
    text_add(&text, i ? "," : "");
    value_print(values[i], &text);
  }
  return build_take(build, &text);
}

/* Reads the table on top of the stack as "M=64,256 N=4096". */
void read_problem_set(struct build *build, const struct item *item, void *out) {
  const struct config *config = build->config;
  const int table = lua_gettop(build->L);
  const char *text = "";
  check_braces(build, item);
  refuse_unknown_problem(build, table, "problems");
  for (const struct config_problem *p = config->problems;
       p < config->problems + config->problem_count; p++) {
    struct value value;
    const struct value *values = &value;
    size_t count = 1;
    if (!push_field(build, table, p->name)) continue;
    if (lua_type(build->L, -1) == LUA_TTABLE)
      read_values(build, "problems", &values, &count);
    else
      value = read_value(build, "problems");
    lua_pop(build->L, 1);
    for (size_t i = 0; i < count; i++) check_problem_value(build, "problems", p, values[i]);
    text = build_text(build, "%s%s%s=%s", text, *text ? " " : "", p->name,
                      print_values(build, values, count));
  }
  if (!*text)
    build_fail(build, "problems names no problem: %s", item->declaration->keyword->example);
  *(const char **)out = text;
}

/* ---- try ------------------------------------------------------------------------------------ */

/* Reads the table on top of the stack as "tiled BM=128 BN=64". */
void read_try(struct build *build, const struct item *item, void *out) {
  const struct config_implementation *owner = build->implementation;
  const int table = lua_gettop(build->L);
  const char *text = owner->name;
  check_braces(build, item);
  const char **names = build_array(build, owner->tunable_count, sizeof *names);
  for (size_t i = 0; i < owner->tunable_count; i++) names[i] = owner->tunables[i].name;
  const char *odd = unknown_key(build, table, names, owner->tunable_count);
  if (odd)
    build_fail_name(build, odd, names, owner->tunable_count,
                    "try names '%s', which is no tunable of this implementation", odd);
  for (const struct config_tunable *t = owner->tunables; t < owner->tunables + owner->tunable_count;
       t++) {
    size_t i = 0;
    if (!push_field(build, table, t->name)) continue;
    const struct value value = read_value(build, "try");
    const char *setting = build_text(build, " %s=%s", t->name, build_value(build, value));
    lua_pop(build->L, 1);
    while (i < t->value_count && !value_equal(t->values[i], value)) i++;
    if (i == t->value_count)
      build_fail(build, "try has%s, which is not in the list of tunable \"%s\" at %s", setting,
                 t->name, build_line(build, t->line));
    text = build_text(build, "%s%s", text, setting);
  }
  *(const char **)out = text;
}

size_t config_tries(const struct config *config) {
  size_t count = 0;
  for (size_t i = 0; i < config->implementation_count; i++)
    count += config->implementations[i].try_count;
  return count;
}
