/* Declarations as Lua functions; see config_declarations.h. Everything here but the accessors at the end runs inside
   a sandbox_call, where a Lua error carries the line. */
#include "config_declarations.h"

#include <lauxlib.h>

#include "base/text.h"

enum { VALUE_NAME = 1, VALUE_VALUE = 2 };

const struct keyword config_keywords[KEYWORD_COUNT] = {
#define X(name, naming, repeats, places, example) {#name, KEYWORD_##name, naming, repeats, places, example},
    CONFIG_KEYWORDS(X)
#undef X
};

/* Keys of the registry: their addresses. */
static const char list_key, metatable_key;

static int refuse(lua_State *L, const struct keyword *keyword, const char *what) {
  return luaL_error(L, "%s %s: %s", keyword->name, what, keyword->example);
}

static int calling_line(lua_State *L) {
  lua_Debug frame;
  for (int level = 1; lua_getstack(L, level, &frame); level++)
    if (lua_getinfo(L, "l", &frame) && frame.currentline > 0) return frame.currentline;
  return 0;
}

/* A new declaration with the value at index 1 as that user value; also noted in the list of all. */
static struct declaration *push_declaration(lua_State *L, const struct keyword *keyword, int user_value) {
  struct declaration *declaration = lua_newuserdatauv(L, sizeof *declaration, 2);
  *declaration = (struct declaration){.keyword = keyword, .line = calling_line(L)};
  lua_rawgetp(L, LUA_REGISTRYINDEX, &metatable_key);
  lua_setmetatable(L, -2);
  lua_pushvalue(L, 1);
  lua_setiuservalue(L, -2, user_value);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key);
  lua_pushvalue(L, -2);
  lua_rawseti(L, -2, (lua_Integer)lua_rawlen(L, -2) + 1);
  lua_pop(L, 1);
  return declaration;
}

/* problem "M", check { ... } */
static int declare(lua_State *L) {
  const struct keyword *keyword = lua_touserdata(L, lua_upvalueindex(1));
  if (lua_gettop(L) != 1) return refuse(L, keyword, "takes one value, a list stands in braces");
  if (keyword->naming != PLAIN && lua_type(L, 1) != LUA_TSTRING) return refuse(L, keyword, "takes a name first");
  if (lua_isnil(L, 1)) return refuse(L, keyword, "has the value nil");
  struct declaration *declaration = push_declaration(L, keyword, keyword->naming == PLAIN ? VALUE_VALUE : VALUE_NAME);
  declaration->valued = keyword->naming == PLAIN;
  declaration->complete = keyword->naming != NAMED;
  return 1;
}

/* The (4096) behind problem "M". */
static int complete(lua_State *L) {
  struct declaration *declaration = declarations_at(L, 1);
  const struct keyword *keyword = declaration->keyword;
  if (declaration->valued) return refuse(L, keyword, "has its value already; is a comma missing?");
  if (lua_gettop(L) != 2) return refuse(L, keyword, "takes one value, a list stands in braces");
  if (lua_isnil(L, 2)) return refuse(L, keyword, "has the value nil");
  declaration->valued = declaration->complete = true;
  lua_setiuservalue(L, 1, VALUE_VALUE);
  return 1;
}

/* Reading a global that is not there. */
static int unknown_name(lua_State *L) {
  const char *names[KEYWORD_COUNT];
  if (lua_type(L, 2) != LUA_TSTRING) return luaL_error(L, "a name is a string, not a %s", luaL_typename(L, 2));
  const char *name = lua_tostring(L, 2);
  for (int i = 0; i < KEYWORD_COUNT; i++) names[i] = config_keywords[i].name;
  const char *nearest = text_nearest(name, names, KEYWORD_COUNT);
  if (nearest) return luaL_error(L, "unknown declaration '%s' (nearest '%s')", name, nearest);
  return luaL_error(L, "unknown name '%s'; sizes, tunables and words stand in quotes: \"%s\"", name, name);
}

static void set_function_field(lua_State *L, const char *field, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, field);
}

int declarations_open(lua_State *L) {
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &list_key);
  lua_newtable(L);
  set_function_field(L, "__call", complete);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
  lua_pushglobaltable(L);
  for (int i = 0; i < KEYWORD_COUNT; i++) {
    lua_pushlightuserdata(L, (void *)&config_keywords[i]);
    lua_pushcclosure(L, declare, 1);
    lua_setfield(L, -2, config_keywords[i].name);
  }
  lua_newtable(L);
  set_function_field(L, "__index", unknown_name);
  lua_setmetatable(L, -2);
  return 0;
}

/* The only userdata a config can hold. */
struct declaration *declarations_at(lua_State *L, int index) {
  return lua_type(L, index) == LUA_TUSERDATA ? lua_touserdata(L, index) : NULL;
}

void declarations_push(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key);
}

void declarations_push_name(lua_State *L, int index) {
  lua_getiuservalue(L, index, VALUE_NAME);
}

void declarations_push_value(lua_State *L, int index) {
  lua_getiuservalue(L, index, VALUE_VALUE);
}
