/* Declarations as Lua functions; see declarations.h. Everything here except the accessors at the
   end runs inside a sandbox_call, which adds the config's line to a Lua error. */
#include "declarations.h"

#include <lauxlib.h>

#include "base/text.h"

enum { VALUE_NAME = 1, VALUE_VALUE = 2 };

const struct keyword config_keywords[KEYWORD_COUNT] = {
#define X(name, naming, repeats, places, example)                                                  \
  {#name, KEYWORD_##name, naming, repeats, places, example},
    CONFIG_KEYWORDS(X)
#undef X
};

/* The addresses of these variables are keys of the Lua registry. */
static const char list_key, metatable_key;

static int declarations_refuse(lua_State *L, const struct keyword *keyword, const char *what) {
  return luaL_error(L, "%s %s: %s", keyword->name, what, keyword->example);
}

/* Pushes a new declaration, whose user value is the value at stack index 1, and appends it to the
   list of all declarations. */
static struct declaration *push_declaration(lua_State *L, const struct keyword *keyword,
                                            int user_value) {
  struct declaration *declaration = lua_newuserdatauv(L, sizeof *declaration, 2);
  *declaration = (struct declaration){.keyword = keyword, .line = includes_line(L)};
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

/* ---- Lists, and the declarations that includes add to them ---------------------------------- */

/* Returns the declaration at the index if it stands for an included file; else NULL. */
static struct declaration *group_at(lua_State *L, int index) {
  struct declaration *declaration = declarations_at(L, index);
  return declaration && declaration->keyword->id == KEYWORD_include ? declaration : NULL;
}

/* Appends the value on top of the stack to the list, and pops the value. */
static void declarations_append(lua_State *L, int list) {
  lua_rawseti(L, list, (lua_Integer)lua_rawlen(L, list) + 1);
}

/* Appends the declarations of the group on top of the stack to the list, and pops the group. */
static void append_group(lua_State *L, int list) {
  declarations_at(L, -1)->nested = true;
  declarations_push_value(L, -1);
  const lua_Integer count = (lua_Integer)lua_rawlen(L, -1);
  sandbox_charge(L, (size_t)count);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, -1, i);
    declarations_append(L, list);
  }
  lua_pop(L, 2);
}

static bool has_group(lua_State *L, int list) {
  bool found = false;
  sandbox_charge(L, lua_rawlen(L, list));
  for (lua_Integer i = (lua_Integer)lua_rawlen(L, list); i > 0 && !found; i--) {
    lua_rawgeti(L, list, i);
    found = group_at(L, -1);
    lua_pop(L, 1);
  }
  return found;
}

/* Replaces the list at the index by a new table in which the declarations of each include stand in
   its place. A list without includes stays as it is. */
static void declarations_splice(lua_State *L, int index) {
  if (lua_type(L, index) != LUA_TTABLE || !has_group(L, index)) return;
  const lua_Integer count = (lua_Integer)lua_rawlen(L, index);
  lua_newtable(L);
  const int list = lua_gettop(L);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, index, i);
    if (group_at(L, -1))
      append_group(L, list);
    else
      declarations_append(L, list);
  }
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    sandbox_charge(L, 1);
    if (lua_isinteger(L, -2)) continue;
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, list);
  }
  lua_replace(L, index);
}

static bool holds_list(const struct keyword *keyword) {
  return keyword->id == KEYWORD_kernel || keyword->id == KEYWORD_implementation ||
         keyword->id == KEYWORD_launch || keyword->id == KEYWORD_loop;
}

size_t declarations_count(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key);
  const size_t count = lua_rawlen(L, -1);
  lua_pop(L, 1);
  return count;
}

/* Marks the declarations in the value of the declaration on top of the stack as nested. */
static void mark_nested(lua_State *L) {
  declarations_push_value(L, -1);
  if (lua_type(L, -1) == LUA_TTABLE)
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
      sandbox_charge(L, 1);
      if (declarations_at(L, -1)) declarations_at(L, -1)->nested = true;
    }
  lua_pop(L, 1);
}

void declarations_group(lua_State *L, size_t before) {
  lua_settop(L, 0);
  lua_newtable(L); /* at index 1, where push_declaration expects the value */
  lua_rawgetp(L, LUA_REGISTRYINDEX, &list_key);
  const lua_Integer last = (lua_Integer)lua_rawlen(L, 2);
  for (lua_Integer i = (lua_Integer)before + 1; i <= last; i++) {
    lua_rawgeti(L, 2, i);
    mark_nested(L);
    lua_pop(L, 1);
  }
  for (lua_Integer i = (lua_Integer)before + 1; i <= last; i++) {
    lua_rawgeti(L, 2, i);
    if (declarations_at(L, -1)->nested)
      lua_pop(L, 1);
    else if (group_at(L, -1))
      append_group(L, 1);
    else
      declarations_append(L, 1);
  }
  struct declaration *group = push_declaration(L, &config_keywords[KEYWORD_include], VALUE_VALUE);
  group->valued = group->complete = group->attached =
      true; /* the group itself counts as attached; its declarations are checked instead */
}

/* Makes the declaration for problem "M" or check { ... }. */
static int declarations_declare(lua_State *L) {
  const struct keyword *keyword = lua_touserdata(L, lua_upvalueindex(1));
  if (lua_gettop(L) != 1)
    return declarations_refuse(L, keyword, "takes one value, a list stands in braces");
  const bool plain = keyword->naming == PLAIN || keyword->naming == EITHER;
  if (!plain && lua_type(L, 1) != LUA_TSTRING)
    return declarations_refuse(L, keyword, "takes a name first");
  if (lua_isnil(L, 1)) return declarations_refuse(L, keyword, "has the value nil");
  if (holds_list(keyword)) declarations_splice(L, 1);
  struct declaration *declaration = push_declaration(L, keyword, plain ? VALUE_VALUE : VALUE_NAME);
  declaration->valued = plain;
  declaration->complete = keyword->naming != NAMED;
  return 1;
}

/* Makes the value of a declaration its name, because a list follows: shared "As" { ... }. */
static void take_as_name(lua_State *L, struct declaration *declaration) {
  if (declaration->keyword->naming != EITHER || lua_type(L, 2) != LUA_TTABLE) return;
  declarations_push_name(L, 1);
  const bool named = !lua_isnil(L, -1);
  declarations_push_value(L, 1);
  if (!named && lua_type(L, -1) == LUA_TSTRING) {
    lua_pushvalue(L, -1);
    lua_setiuservalue(L, 1, VALUE_NAME);
    declaration->valued = false;
  }
  lua_pop(L, 2);
}

/* Gives a declaration, such as problem "M", the value that follows it, such as (4096). */
static int declarations_complete(lua_State *L) {
  struct declaration *declaration = declarations_at(L, 1);
  const struct keyword *keyword = declaration->keyword;
  if (lua_gettop(L) == 2) take_as_name(L, declaration);
  if (declaration->valued)
    return declarations_refuse(
        L, keyword,
        "has its value already; is a comma missing, or the word in front of the next one?");
  if (lua_gettop(L) != 2)
    return declarations_refuse(L, keyword, "takes one value, a list stands in braces");
  if (lua_isnil(L, 2)) return declarations_refuse(L, keyword, "has the value nil");
  if (holds_list(keyword)) declarations_splice(L, 2);
  declaration->valued = declaration->complete = true;
  lua_setiuservalue(L, 1, VALUE_VALUE);
  return 1;
}

/* Reports the use of a global that does not exist. */
static int declarations_unknown_name(lua_State *L) {
  const char *names[KEYWORD_COUNT];
  if (lua_type(L, 2) != LUA_TSTRING)
    return luaL_error(L, "a name is a string, not a %s", luaL_typename(L, 2));
  const char *name = lua_tostring(L, 2);
  for (int i = 0; i < KEYWORD_COUNT; i++) names[i] = config_keywords[i].name;
  const char *nearest = text_nearest(name, names, KEYWORD_COUNT);
  if (nearest) return luaL_error(L, "unknown declaration '%s' (nearest '%s')", name, nearest);
  return luaL_error(L, "unknown name '%s'; sizes, tunables and words stand in quotes: \"%s\"", name,
                    name);
}

static void set_function_field(lua_State *L, const char *field, lua_CFunction function) {
  lua_pushcfunction(L, function);
  lua_setfield(L, -2, field);
}

int declarations_open(lua_State *L) {
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &list_key);
  lua_newtable(L);
  set_function_field(L, "__call", declarations_complete);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &metatable_key);
  lua_pushglobaltable(L);
  for (int i = 0; i < KEYWORD_COUNT; i++) {
    if (i == KEYWORD_include) continue;
    lua_pushlightuserdata(L, (void *)&config_keywords[i]);
    lua_pushcclosure(L, declarations_declare, 1);
    lua_setfield(L, -2, config_keywords[i].name);
  }
  lua_newtable(L);
  set_function_field(L, "__index", declarations_unknown_name);
  lua_setmetatable(L, -2);
  return 0;
}

/* Declarations are the only userdata that a config can hold. */
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
