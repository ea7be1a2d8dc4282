/* Reads waive "uninitialised read" { at = "...", reason = "..." }: findings of cugen check that are
   intended. See build.h. */
#include <lua.h>
#include <string.h>

#include "build.h"

/* Findings that a correct kernel can have. */
static const cugen_finding_kind waivable[] = {CUGEN_FINDING_UNINITIALISED, CUGEN_FINDING_EXITED,
                                              CUGEN_FINDING_SAME_VALUE};
enum { WAIVABLE = sizeof waivable / sizeof *waivable };

static cugen_finding_kind waive_read_kind(struct build *build, const char *name) {
  const char *names[WAIVABLE];
  for (int i = 0; i < WAIVABLE; i++) {
    names[i] = finding_name((int)waivable[i]);
    if (strcmp(names[i], name) == 0) return waivable[i];
  }
  build_fail_name(build, name, names, WAIVABLE,
                  "waive \"%.80s\": what can be waived is \"%s\", \"%s\" and \"%s\"", name,
                  names[0], names[1], names[2]);
}

/* Both `at` and `reason` are required and must not be empty. */
static const char *waive_read_field(struct build *build, int table, const char *name) {
  const char *example = config_keywords[KEYWORD_waive].example;
  if (!push_field(build, table, name)) build_fail(build, "waive has no %s: %s", name, example);
  const char *text = read_string(build, build_text(build, "%s of waive", name));
  lua_pop(build->L, 1);
  if (text[strspn(text, " \t\n")] == '\0')
    build_fail(build, "%s of waive is empty: %s", name, example);
  return text;
}

static void read_waiver(struct build *build, const struct item *item, void *context) {
  static const char *const known[] = {"at", "reason"};
  struct config_waiver *out = context;
  const int table = lua_gettop(build->L);
  *out = (struct config_waiver){.line = build->line, .kind = waive_read_kind(build, item->name)};
  refuse_odd_table(build, "field", "waive", item->declaration->keyword->example, known, 2);
  out->at = waive_read_field(build, table, "at");
  out->reason = waive_read_field(build, table, "reason");
}

void read_waivers(struct build *build, const struct list *list) {
  struct config_waiver *waivers =
      build_array(build, list_count(list, KEYWORD_waive), sizeof *waivers);
  build->config->waivers = waivers;
  read_items(build, list, KEYWORD_waive, read_waiver, waivers, sizeof *waivers,
             &build->config->waiver_count);
}
