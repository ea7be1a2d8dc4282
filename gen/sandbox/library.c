/* The functions that the sandbox offers. Lua's own functions are used if they are harmless with any
   argument; functions that loop in C are charged first; pairs, sort and tostring, which depend on
   hashes, a random pivot and addresses, are rewritten. See sandbox.h. */
#include <lauxlib.h>
#include <lualib.h>

#include "limits.h"
#include "sandbox.h"

enum {
  LONGEST_RANGE = 1000000,
  LONGEST_NUMBER = 200, /* limit of Lua's own conversion (L_MAXLENNUM) */
  MOST_OFFERS = 8       /* of one library, for the initial size of its table */
};

/* ---- Lua's own functions, charged ----------------------------------------------------------- */

static int call_original(lua_State *L) {
  return lua_tocfunction(L, lua_upvalueindex(1))(L);
}

static void charge_range(lua_State *L, lua_Integer first, lua_Integer last) {
  if (first > last) return;
  lua_Unsigned length = (lua_Unsigned)last - (lua_Unsigned)first;
  if (length >= LONGEST_RANGE) luaL_error(L, "a range of more than a million elements");
  sandbox_charge(L, (size_t)length + 1);
}

static lua_Integer checked_length(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  return (lua_Integer)lua_rawlen(L, 1);
}

static int charged_concat(lua_State *L) {
  lua_Integer length = checked_length(L), first = luaL_optinteger(L, 3, 1);
  charge_range(L, first, luaL_optinteger(L, 4, length));
  return call_original(L);
}

static int charged_unpack(lua_State *L) {
  lua_Integer length = checked_length(L), first = luaL_optinteger(L, 2, 1);
  charge_range(L, first, luaL_optinteger(L, 3, length));
  return call_original(L);
}

/* Charges table.insert and table.remove: both move all elements behind the position; without a
   position they work at the end. */
static int charged_shift(lua_State *L, int position_argument) {
  lua_Integer length = checked_length(L);
  charge_range(L, position_argument ? luaL_optinteger(L, position_argument, length) : length,
               length);
  return call_original(L);
}

static int charged_insert(lua_State *L) {
  return charged_shift(L, lua_gettop(L) >= 3 ? 2 : 0);
}

static int charged_remove(lua_State *L) {
  return charged_shift(L, lua_gettop(L) >= 2 ? 2 : 0);
}

/* Refuses strings that are too long for a number, because converting them takes long. */
static int short_numbers(lua_State *L) {
  int count = lua_gettop(L);
  sandbox_charge(L, (size_t)count);
  for (int i = 1; i <= count; i++)
    if (lua_type(L, i) == LUA_TSTRING && lua_rawlen(L, i) > LONGEST_NUMBER)
      return luaL_argerror(L, i, "too long for a number");
  return call_original(L);
}

/* ---- Sorting: a stable merge sort ----------------------------------------------------------- */

/* Returns whether the value at index -2 belongs before the value at -1. */
typedef bool order(lua_State *L);

static void charge_comparison(lua_State *L) {
  bool strings = lua_type(L, -1) == LUA_TSTRING && lua_type(L, -2) == LUA_TSTRING;
  sandbox_charge(L, strings ? 8 + lua_rawlen(L, -1) / 16 : 8);
}

static bool order_values(lua_State *L) {
  return lua_compare(L, -2, -1, LUA_OPLT);
}

static bool order_by_function(lua_State *L) { /* the function to compare is the second argument of
                                                 sort */
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -3);
  lua_pushvalue(L, -3);
  lua_call(L, 2, 1);
  bool before = lua_toboolean(L, -1);
  lua_pop(L, 1);
  return before;
}

/* Ranks keys by type: numbers, then strings, then false and true. */
static int key_rank(lua_State *L, int index) {
  switch (lua_type(L, index)) {
  case LUA_TNUMBER: return 1;
  case LUA_TSTRING: return 2;
  case LUA_TBOOLEAN: return lua_toboolean(L, index) ? 4 : 3;
  default: return 0;
  }
}

static bool order_keys(lua_State *L) {
  int a = key_rank(L, -2), b = key_rank(L, -1);
  return a != b ? a < b : a <= 2 && order_values(L);
}

static bool element_before(lua_State *L, int table, lua_Integer a, lua_Integer b, order *before) {
  lua_rawgeti(L, table, a);
  lua_rawgeti(L, table, b);
  charge_comparison(L);
  bool result = before(L);
  lua_pop(L, 2);
  return result;
}

/* Merges the sorted from[low .. middle) and from[middle .. high) into to[low .. high). */
static void library_merge(lua_State *L, int from, int to, lua_Integer low, lua_Integer middle,
                          lua_Integer high, order *before) {
  lua_Integer left = low, right = middle;
  for (lua_Integer i = low; i < high; i++) {
    bool take_right =
        left == middle || (right < high && element_before(L, from, right, left, before));
    lua_rawgeti(L, from, take_right ? right++ : left++);
    lua_rawseti(L, to, i);
  }
}

static lua_Integer smaller(lua_Integer a, lua_Integer b) {
  return a < b ? a : b;
}

/* Sorts the elements 1 to count of the table on top of the stack. Leaves the sorted table on top of
   the stack, which may be a new table. */
static void merge_sort(lua_State *L, lua_Integer count, order *before) {
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  int from = lua_gettop(L), to = from + 1;
  lua_createtable(L, (int)count, 0);
  for (lua_Integer width = 1; width < count; width *= 2) {
    for (lua_Integer low = 1; low <= count; low += 2 * width)
      library_merge(L, from, to, low, smaller(low + width, count + 1),
                    smaller(low + 2 * width, count + 1), before);
    lua_insert(L, from); /* the merged table becomes the source of the next pass */
  }
  lua_pop(L, 1);
}

static int library_sort(lua_State *L) {
  lua_Integer count = checked_length(L);
  bool function = !lua_isnoneornil(L, 2);
  if (function) luaL_checktype(L, 2, LUA_TFUNCTION);
  charge_range(L, 1, count);
  lua_settop(L, 2);
  lua_createtable(L, (int)count, 0);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 1, i);
    lua_rawseti(L, 3, i);
  }
  merge_sort(L, count, function ? order_by_function : order_values);
  for (lua_Integer i = 1; i <= count; i++) {
    lua_rawgeti(L, 3, i);
    lua_seti(L, 1, i);
  }
  return 0;
}

/* ---- pairs: numbers, strings, booleans, each in ascending order ----------------------------- */

static int next_pair(lua_State *L) { /* upvalues: the keys, the number of keys done, the table */
  lua_Integer done = lua_tointeger(L, lua_upvalueindex(2));
  lua_settop(L, 0);
  for (;;) {
    lua_pushinteger(L, ++done);
    lua_copy(L, -1, lua_upvalueindex(2));
    lua_settop(L, 0);
    if (lua_rawgeti(L, lua_upvalueindex(1), done) == LUA_TNIL) return 1;
    lua_pushvalue(L, 1);
    if (lua_rawget(L, lua_upvalueindex(3)) != LUA_TNIL) return 2;
    sandbox_charge(L, 1);
  }
}

static int sorted_pairs(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_newtable(L);
  lua_Integer count = 0;
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    if (!key_rank(L, -2))
      luaL_error(L, "pairs cannot put keys of type %s in order", luaL_typename(L, -2));
    sandbox_charge(L, 4);
    lua_pushvalue(L, -2);
    lua_rawseti(L, 2, ++count);
  }
  merge_sort(L, count, order_keys);
  lua_pushinteger(L, 0);
  lua_pushvalue(L, 1);
  lua_pushcclosure(L, next_pair, 3);
  return 1;
}

/* ---- tostring: without addresses ------------------------------------------------------------ */

static int plain_tostring(lua_State *L) {
  int type = lua_type(L, 1);
  if (type != LUA_TNIL && type != LUA_TBOOLEAN && type != LUA_TNUMBER && type != LUA_TSTRING)
    return luaL_argerror(L, 1, "a number, string, boolean or nil was expected");
  luaL_tolstring(L, 1, NULL);
  return 1;
}

/* ---- The list of offers --------------------------------------------------------------------- */

struct offer {
  const char *name;
  lua_CFunction function; /* NULL: Lua's own function, unchanged */
};

static const struct offer base_offers[] = {
    {"assert", NULL},
    {"error", NULL},
    {"ipairs", NULL},
    {"pairs", sorted_pairs},
    {"select", NULL},
    {"type", NULL},
    {"tonumber", short_numbers},
    {"tostring", plain_tostring},
    {NULL, NULL},
};

static const struct offer math_offers[] = {
    {"abs", short_numbers},       {"ceil", short_numbers}, {"floor", short_numbers},
    {"fmod", short_numbers},      {"max", short_numbers},  {"min", short_numbers},
    {"tointeger", short_numbers}, {"type", short_numbers}, {NULL, NULL},
};

static const struct offer table_offers[] = {
    {"concat", charged_concat}, {"insert", charged_insert}, {"remove", charged_remove},
    {"sort", library_sort},     {"unpack", charged_unpack}, {NULL, NULL},
};

/* Adds the offers to the table on top of the stack; the library that they come from is below it. */
static void add_offers(lua_State *L, const struct offer *offers) {
  for (; offers->name; offers++) {
    lua_getfield(L, -2, offers->name);
    if (offers->function) lua_pushcclosure(L, offers->function, 1);
    lua_setfield(L, -2, offers->name);
  }
}

static int refuse_assignment(lua_State *L) {
  return luaL_error(L, "%s cannot be changed", lua_tostring(L, lua_upvalueindex(1)));
}

/* Makes a global table `name` from the functions of the library. The table is read-only, because
   one template would see the changes that another template makes. */
static void add_library(lua_State *L, int globals, lua_CFunction open, const char *name,
                        const struct offer *offers) {
  lua_pushcfunction(L, open);
  lua_call(L, 0, 1);
  lua_createtable(L, 0, MOST_OFFERS);
  add_offers(L, offers);
  lua_newtable(L);
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushstring(L, name);
  lua_pushcclosure(L, refuse_assignment, 1);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_setfield(L, globals, name);
  lua_settop(L, globals);
}

int sandbox_library_open(lua_State *L) {
  /* Sized for the two dozen names of luaopen_base, so that the table need not grow. */
  lua_createtable(L, 0, 32);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pushcfunction(L, luaopen_base);
  lua_call(L, 0, 1);
  lua_createtable(L, 0, 2 * MOST_OFFERS);
  int globals = lua_gettop(L);
  add_offers(L, base_offers);
  add_library(L, globals, luaopen_math, "math", math_offers);
  add_library(L, globals, luaopen_table, "table", table_offers);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_pop(L, 1);
  return 0;
}

void sandbox_push_environment(lua_State *L) {
  lua_newtable(L);
  lua_newtable(L);
  lua_pushglobaltable(L);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}
