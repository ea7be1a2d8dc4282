/* Keeps the list of a config's files; see include_files.h. Everything here runs inside a
   sandbox_call. */
#include "include_files.h"

#include <string.h>

/* The address of this variable is a key of the Lua registry. */
static const char includes_key;

int includes_open(lua_State *L) {
  lua_rawsetp(L, LUA_REGISTRYINDEX, &includes_key);
  return 0;
}

struct includes *includes_of(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &includes_key);
  struct includes *includes = lua_touserdata(L, -1);
  lua_pop(L, 1);
  return includes;
}

struct included_file *includes_find(struct includes *includes, const char *path) {
  for (size_t i = 0; i < includes->count; i++)
    if (strcmp(includes->files[i].path, path) == 0) return &includes->files[i];
  return NULL;
}

struct included_file *includes_add(struct includes *includes, const char *path, bool shipped) {
  struct included_file *known = includes_find(includes, path);
  char *copy = known ? NULL : arena_string(includes->arena, path, strlen(path));
  if (known || !copy) return known;
  struct included_file *file = &includes->files[includes->count++];
  *file = (struct included_file){copy, shipped};
  return file;
}

/* Lua names chunks "@path". */
struct config_line includes_line(lua_State *L) {
  struct includes *includes = includes_of(L);
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame); level++) {
    if (!lua_getinfo(L, "Sl", &frame) || frame.currentline <= 0) continue;
    const struct included_file *file = includes_find(includes, frame.source + 1);
    return (struct config_line){file ? file->path : includes->files[0].path, frame.currentline};
  }
  return (struct config_line){includes->files[0].path, 0};
}
