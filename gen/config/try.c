/* Reads try { BM = 128 }: variants that are known to be good on some device, with which a search
   begins. See build.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

static int refuse_unknown(struct build *build, struct config_line line, int table,
                          const struct config_implementation *owner) {
  const char **names = arena_array(build->arena, owner->tunable_count + 1, sizeof *names);
  if (!names) return build_memory(build);
  for (size_t i = 0; i < owner->tunable_count; i++) names[i] = owner->tunables[i].name;
  const char *odd = unknown_key(build, table, names, owner->tunable_count);
  return odd ? refuse_name(build, line, odd, names, owner->tunable_count,
                           "try names '%s', which is no tunable of this implementation", odd)
             : CUGEN_OK;
}

/* Appends the value on top of the stack, as " BM=128". */
static int add_setting(struct build *build, struct config_line line,
                       const struct config_tunable *tunable, struct text *out) {
  struct value value;
  size_t i = 0;
  int status = read_value(build, line, "try", &value);
  if (status) return status;
  while (i < tunable->value_count && !value_equal(tunable->values[i], value)) i++;
  text_addf(out, " %s=", tunable->name);
  value_print(value, out);
  if (i < tunable->value_count) return CUGEN_OK;
  return build_fail(build, line, "try has%s, which is not in the list of tunable \"%s\" at %s",
                    strrchr(text_get(out), ' '), tunable->name,
                    build_line(build, line, tunable->line));
}

/* Reads the table on top of the stack, as "tiled BM=128 BN=64". */
static int read_try(struct build *build, struct config_line line,
                    const struct config_implementation *owner, struct text *out) {
  int table = lua_gettop(build->L), status = CUGEN_OK;
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, line, "try needs its values in braces: %s",
                      config_keywords[KEYWORD_try].example);
  status = refuse_unknown(build, line, table, owner);
  text_add(out, owner->name);
  for (size_t i = 0; i < owner->tunable_count && !status; i++) {
    if (!push_field(build, table, owner->tunables[i].name)) continue;
    status = add_setting(build, line, &owner->tunables[i], out);
    lua_pop(build->L, 1);
  }
  return status;
}

int read_tries(struct build *build, const struct list *list, struct config_implementation *out) {
  const char **tries = arena_array(build->arena, list_count(list, KEYWORD_try), sizeof *tries);
  int status = CUGEN_OK;
  if (!tries) return build_memory(build);
  out->tries = tries;
  for (size_t i = 0; i < list->count && !status; i++) {
    struct text text = {0};
    if (list->items[i].declaration->keyword->id != KEYWORD_try) continue;
    list_push(build, list, &list->items[i]);
    status = read_try(build, list->items[i].declaration->line, out, &text);
    lua_pop(build->L, 1);
    if (!status) tries[out->try_count] = arena_string(build->arena, text_get(&text), text.length);
    if (!status && !tries[out->try_count++]) status = build_memory(build);
    text_free(&text);
  }
  return status;
}

size_t config_tries(const struct config *config) {
  size_t count = 0;
  for (size_t i = 0; i < config->implementation_count; i++)
    count += config->implementations[i].try_count;
  return count;
}
