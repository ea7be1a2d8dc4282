/* Runs the files that a config includes; see include_files.h. Everything here runs inside a
   sandbox_call. */
#include "include_files.h"

#include <lauxlib.h>
#include <string.h>

#include "base/sizes.h"
#include "declarations.h"

/* ---- Errors --------------------------------------------------------------------------------- */

/* Ends the run of the config with includes->error. */
static int include_give_up(lua_State *L, struct includes *includes) {
  includes->failed = true;
  lua_pushnil(L);
  return lua_error(L);
}

/* Adds the line of the include to includes->error, unless the error is a lack of memory. */
static void include_place_error(lua_State *L, struct includes *includes) {
  const struct config_line line = includes_line(L);
  if (includes->error.status == CUGEN_ERROR_MEMORY) return;
  includes->error.status = CUGEN_ERROR_CONFIG;
  config_prefix(&includes->error, line, "include");
}

static bool include_is_open(const struct includes *includes, const struct included_file *file) {
  for (int i = 0; i <= includes->depth; i++)
    if (includes->open[i] == file) return true;
  return false;
}

/* Refuses a cycle with "a.lua includes b.lua includes a.lua". */
static int refuse_cycle(lua_State *L, struct includes *includes, const struct included_file *file) {
  struct text chain = {0};
  int i = 0;
  while (includes->open[i] != file) i++;
  for (; i <= includes->depth && includes->open[i]; i++)
    text_addf(&chain, "%s includes ", includes->open[i]->path);
  error_set(&includes->error, CUGEN_ERROR_CONFIG, "a file cannot include itself: %s%s",
            text_get(&chain), file->path);
  text_free(&chain);
  include_place_error(L, includes);
  return include_give_up(L, includes);
}

/* Explains Lua's message for a comma behind a statement, which does not mention the comma. */
static void explain_comma(cugen_error *err) {
  if (strstr(err->message, "near ','"))
    error_append(err, "; no comma stands between the declarations of an included file");
}

/* ---- Files ---------------------------------------------------------------------------------- */

/* Finds the file and reads its text into *content. Returns NULL with includes->error set on
   failure. */
static struct included_file *include_find_wanted(struct includes *includes,
                                                 const struct include_wanted *wanted,
                                                 struct text *content) {
  struct text path = {0};
  struct included_file *file = NULL;
  bool shipped;
  int status =
      sources_include(includes->sources, wanted, &path, content, &shipped, &includes->error);
  includes->bytes += content->length;
  if (!status && includes->bytes > SIZE_CONFIG)
    error_set(&includes->error, CUGEN_ERROR_CONFIG,
              "the files that a config includes are larger than %d MiB together",
              (int)(SIZE_CONFIG >> 20));
  else if (!status && !(file = includes_add(includes, text_get(&path), shipped)))
    error_memory(&includes->error);
  text_free(&path);
  return file;
}

/* Pushes the chunk of the file, whose environment is on top of the stack. */
static int include_load(lua_State *L, struct includes *includes, const struct included_file *file,
                        const struct text *content) {
  int status = sandbox_load(includes->sandbox, file->path, text_get(content), content->length,
                            lua_gettop(L), CUGEN_ERROR_CONFIG, &includes->error);
  if (status) explain_comma(&includes->error);
  return status;
}

/* Pushes the chunk of the file that is named at stack index 1. Nothing in this function raises a
   Lua error while it holds memory. */
static struct included_file *push_file(lua_State *L, struct includes *includes) {
  const char *from = includes_line(L).path;
  const struct include_wanted wanted = {lua_tostring(L, 1), from, includes->files[0].path,
                                        includes_find(includes, from)->shipped};
  struct text content = {0};
  sandbox_push_environment(L);
  struct included_file *file = include_find_wanted(includes, &wanted, &content);
  if (!file) include_place_error(L, includes);
  bool failed =
      !file || (!include_is_open(includes, file) && include_load(L, includes, file, &content));
  text_free(&content);
  if (failed) include_give_up(L, includes);
  if (include_is_open(includes, file)) refuse_cycle(L, includes, file);
  return file;
}

static int include_run(lua_State *L) {
  struct includes *includes = includes_of(L);
  if (lua_gettop(L) != 1 || lua_type(L, 1) != LUA_TSTRING ||
      strlen(lua_tostring(L, 1)) != lua_rawlen(L, 1))
    return luaL_error(L, "include takes the name of a file: %s",
                      config_keywords[KEYWORD_include].example);
  if (includes->depth >= DEEPEST_INCLUDE)
    return luaL_error(L, "includes are nested more than %d deep", DEEPEST_INCLUDE);
  if (++includes->calls > MOST_INCLUDES)
    return luaL_error(L, "there are more than %d includes", MOST_INCLUDES);
  const size_t before = declarations_count(L);
  struct included_file *file = push_file(L, includes);
  includes->open[++includes->depth] = file;
  lua_call(L, 0, 0);
  includes->depth--;
  declarations_group(L, before);
  return 1;
}

int include_open(lua_State *L) {
  lua_pushcfunction(L, include_run);
  lua_setglobal(L, config_keywords[KEYWORD_include].name);
  return 0;
}
