/* Reads waive "uninitialised read" { at = "...", reason = "..." }: findings of cugen check that are
   intended. See build.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

/* Findings that a correct kernel can have. A race or an access out of bounds never is correct. */
static const cugen_finding_kind waivable[] = {CUGEN_FINDING_UNINITIALISED, CUGEN_FINDING_EXITED,
                                              CUGEN_FINDING_SAME_VALUE};
enum { WAIVABLE = sizeof waivable / sizeof *waivable };

static int waive_read_kind(struct build *build, const struct item *item,
                           struct config_waiver *out) {
  const char *names[WAIVABLE];
  for (int i = 0; i < WAIVABLE; i++) {
    names[i] = finding_name((int)waivable[i]);
    out->kind = waivable[i];
    if (strcmp(names[i], item->name) == 0) return CUGEN_OK;
  }
  return refuse_name(build, out->line, item->name, names, WAIVABLE,
                     "waive \"%.80s\": what can be waived is \"%s\", \"%s\" and \"%s\"", item->name,
                     names[0], names[1], names[2]);
}

/* Both `at` and `reason` are required and must not be empty. */
static int waive_read_field(struct build *build, struct config_line line, int table,
                            const char *name, const char **out) {
  struct text what = {0};
  if (!push_field(build, table, name))
    return build_fail(build, line, "waive has no %s: %s", name,
                      config_keywords[KEYWORD_waive].example);
  text_addf(&what, "%s of waive", name);
  int status = read_string(build, line, text_get(&what), out);
  text_free(&what);
  lua_pop(build->L, 1);
  if (!status && (*out)[strspn(*out, " \t\n")] == '\0')
    status = build_fail(build, line, "%s of waive is empty: %s", name,
                        config_keywords[KEYWORD_waive].example);
  return status;
}

static int read_waiver(struct build *build, const struct item *item, struct config_waiver *out) {
  static const char *const known[] = {"at", "reason"};
  const int table = lua_gettop(build->L);
  out->line = item->declaration->line;
  int status = waive_read_kind(build, item, out);
  if (status) return status;
  if (lua_type(build->L, table) != LUA_TTABLE)
    return build_fail(build, out->line, "waive needs its fields in braces: %s",
                      config_keywords[KEYWORD_waive].example);
  const char *odd = unknown_key(build, table, known, 2);
  if (odd) return refuse_name(build, out->line, odd, known, 2, "unknown field '%s' of waive", odd);
  status = waive_read_field(build, out->line, table, "at", &out->at);
  return status ? status : waive_read_field(build, out->line, table, "reason", &out->reason);
}

int read_waivers(struct build *build, const struct list *list) {
  struct config_waiver *waivers =
      arena_array(build->arena, list_count(list, KEYWORD_waive), sizeof *waivers);
  int status = CUGEN_OK;
  if (!waivers) return build_memory(build);
  build->config->waivers = waivers;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_waive) continue;
    list_push(build, list, &list->items[i]);
    status = read_waiver(build, &list->items[i], &waivers[build->config->waiver_count++]);
    lua_pop(build->L, 1);
  }
  return status;
}
