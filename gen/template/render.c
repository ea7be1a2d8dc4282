/* Rendering: runs a template in the sandbox, which gives the body of a source.

   Algorithm: a template is compiled, not interpreted. template.c turns a file into one Lua chunk.
   `//@` lines are copied; a run of ordinary lines becomes a call emit(number, expressions...),
   whose number selects a piece of text kept in C. The chunk has one line for each line of the file,
   so that Lua's own errors name the right line. The compiled chunk stays in the Lua registry, with
   the address of its template as the key. Rendering again only calls the chunk.

   Names are found lazily. Each rendering has a new environment, an empty table. Its __index is a
   second table, `known`, whose __index is the function render_find_known. The function searches in
   this order: `params`, the config's names (names.c), the config's formulas, the functions that
   templates share with expressions, the sandbox's globals, `device`. The answer is stored in
   `known`. A name of the config and a device fact are marked when they are read (name->asked,
   names->facts), because the source depends on them.

   Invariants:
   - A global variable that a template sets lives until the end of the rendering. A template cannot
     set a name of the config, because CUDA text would still see the config's value.
   - At the start of every piece that may carry a #line, the compiler assumes the right file and
     line: empty lines fill a short gap, else a #line is written (keep_step).
   - An error of Lua leaves C functions by longjmp, so a C function owns no memory when it raises an
     error; the memory that it needs is kept in struct renderer. render_give_up ends a rendering
     with renderer->error, which is then reported in place of Lua's message.
   - A file is parsed once, even if templates include it by different names. Names are relative to
     the file that mentions them.

   Source: the Lua 5.4 reference manual, 2.2 (environments), 2.4 (metatables), 4.2 (C closures), 4.3
   (the registry). */
#include "render.h"

#include <lauxlib.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "gen/config/formula_print.h"
#include "gen/sandbox/sandbox.h"
#include "gen/sources/source_text.h"
#include "template.h"

enum {
  DEEPEST_INCLUDE = 16,
  LARGEST_TEXT = 16 << 20,
  /* a gap of up to this many lines is filled with empty lines; a wider one gets a #line */
  WIDEST_GAP = 4
};

/* A template, and the name in the file `from` that led to it. Names that lead to the same file
   share the template, which the entry with `owner` frees. */
struct loaded {
  char *from, *name;
  struct template *template;
  bool owner;
};

struct renderer {
  const struct sources *sources;
  struct sandbox *sandbox;
  struct loaded *loaded;
  size_t loaded_count;
  /* the current rendering */
  const struct render_request *request;
  struct text *body;
  const struct template *current; /* the template that is running */
  int depth;
  /* the compiler takes the next line of the body for line `next_line` of `line_of`; NULL: nothing
     is written yet */
  const struct template *line_of;
  int next_line;
  bool parameters_used;
  struct text formula; /* text of a formula, kept here so that a Lua error does not leak it */
  bool failed;         /* `error` holds the reason, which takes precedence over Lua's message */
  cugen_error error;
};

/* The addresses of these variables are keys of the Lua registry. */
static const char environment_key, known_meta_key;

static struct renderer *renderer_of(lua_State *L) {
  return lua_touserdata(L, lua_upvalueindex(1));
}

/* Ends the rendering with renderer->error. */
static int render_give_up(lua_State *L, struct renderer *renderer) {
  renderer->failed = true;
  lua_pushnil(L);
  return lua_error(L);
}

/* ---- Loading -------------------------------------------------------------------------------- */

static struct loaded *find_loaded(struct renderer *renderer, const char *from, const char *name) {
  for (size_t i = 0; i < renderer->loaded_count; i++) {
    struct loaded *loaded = &renderer->loaded[i];
    if (strcmp(loaded->name, name) == 0 && strcmp(loaded->from, from) == 0) return loaded;
  }
  return NULL;
}

/* Reads and parses the file that the name in `from` means, or finds its template if another name
   led to the file before. */
static int load_file(struct renderer *renderer, const char *from, const char *name,
                     struct text *path, struct text *content, cugen_error *err) {
  struct template *template = NULL;
  int status =
      sources_template(renderer->sources, name, from, renderer->request->from, path, content, err);
  if (status) return status;
  if (path->failed || content->failed) return error_memory(err);
  for (size_t i = 0; i < renderer->loaded_count && !template; i++)
    if (strcmp(renderer->loaded[i].template->path, text_get(path)) == 0)
      template = renderer->loaded[i].template;
  const bool owner = !template;
  if (owner)
    status = template_parse(text_get(path), text_get(content), content->length, &template, err);
  if (status) return status;
  const struct loaded loaded = {strdup(from), strdup(name), template, owner};
  if (loaded.from && loaded.name && ARRAY_ADD(renderer->loaded, renderer->loaded_count, loaded))
    return CUGEN_OK;
  free(loaded.from);
  free(loaded.name);
  if (owner) template_free(template);
  return error_memory(err);
}

static int render_load(struct renderer *renderer, const char *from, const char *name,
                       const struct template **out, cugen_error *err) {
  struct loaded *loaded = find_loaded(renderer, from, name);
  if (!loaded) {
    struct text path = {0}, content = {0};
    int status = load_file(renderer, from, name, &path, &content, err);
    text_free(&path);
    text_free(&content);
    if (status) return status;
    loaded = find_loaded(renderer, from, name);
  }
  *out = loaded->template;
  return CUGEN_OK;
}

/* ---- Emitting ------------------------------------------------------------------------------- */

/* Makes the compiler assume the file and line of the piece, unless the piece begins inside a
   token. */
static void keep_step(struct renderer *renderer, const struct template *template,
                      const struct template_piece *piece) {
  bool same = template == renderer->line_of;
  int gap = piece->line - renderer->next_line;
  if ((same && gap == 0) || !piece->fresh) return;
  if (same && gap > 0 && gap <= WIDEST_GAP)
    text_add_n(renderer->body, "\n\n\n\n", (size_t)gap);
  else
    source_add_line(renderer->body, piece->line, template->path);
  renderer->line_of = template;
  renderer->next_line = piece->line;
}

static void add_integer(struct text *out, lua_Integer integer) {
  char digits[24], *at = digits + sizeof digits;
  lua_Unsigned left = integer < 0 ? 0u - (lua_Unsigned)integer : (lua_Unsigned)integer;
  do *--at = (char)('0' + left % 10);
  while (left /= 10);
  if (integer < 0) *--at = '-';
  text_add_n(out, at, (size_t)(digits + sizeof digits - at));
}

static void add_string(lua_State *L, struct renderer *renderer, int index) {
  size_t length;
  const char *string = lua_tolstring(L, index, &length);
  text_add_n(renderer->body, string, length);
  for (const char *at = string; (at = memchr(at, '\n', length - (size_t)(at - string))); at++)
    renderer->next_line++;
}

static int refuse_value(lua_State *L, struct renderer *renderer, const struct template *template,
                        const struct template_fragment *fragment, const char *what) {
  error_set_at(&renderer->error, CUGEN_ERROR_TEMPLATE, template->path, fragment->line,
               "${%.*s} gives %s where a number, string or boolean was expected",
               (int)fragment->expression_length, template->lua.data + fragment->expression, what);
  return render_give_up(L, renderer);
}

static void render_add_value(lua_State *L, struct renderer *renderer,
                             const struct template *template,
                             const struct template_fragment *fragment, int index) {
  switch (lua_type(L, index)) {
  case LUA_TNUMBER:
    if (lua_isinteger(L, index))
      add_integer(renderer->body, lua_tointeger(L, index));
    else if (!isfinite(lua_tonumber(L, index)))
      refuse_value(L, renderer, template, fragment, "not a finite number");
    else
      value_print(value_float(lua_tonumber(L, index)), renderer->body);
    break;
  case LUA_TBOOLEAN: text_add_char(renderer->body, lua_toboolean(L, index) ? '1' : '0'); break;
  case LUA_TSTRING: add_string(L, renderer, index); break;
  default:
    refuse_value(L, renderer, template, fragment, lua_typename(L, lua_type(L, index)));
    break;
  }
}

/* emit(piece, expressions...), the function that every chunk gets as its first argument. */
static int render_emit(lua_State *L) {
  struct renderer *renderer = renderer_of(L);
  const struct template *template = lua_touserdata(L, lua_upvalueindex(2));
  size_t number = (size_t)lua_tointeger(L, 1);
  if (number >= template->piece_count) return luaL_error(L, "__emit is not for templates to call");
  const struct template_piece *piece = &template->pieces[number];
  const struct template_fragment *fragment = &template->fragments[piece->first];
  if ((size_t)lua_gettop(L) != piece->expressions + 1)
    return luaL_error(L, "__emit is not for templates to call");
  keep_step(renderer, template, piece);
  for (size_t i = 0; i <= piece->expressions; i++, fragment++) {
    text_add_n(renderer->body, template->literal.data + fragment->at, fragment->length);
    if (i < piece->expressions) render_add_value(L, renderer, template, fragment, (int)i + 2);
  }
  renderer->next_line += piece->lines;
  if (renderer->body->length > LARGEST_TEXT)
    return luaL_error(L, "the expansion is larger than %d MiB", LARGEST_TEXT >> 20);
  return 0;
}

/* ---- Running -------------------------------------------------------------------------------- */

/* Rewords an error before a line of CUDA text, which Lua describes by the line's __emit call. */
static void hide_call(cugen_error *err) {
  char *near = strstr(err->message, " near '__emit'");
  if (!near) return;
  *near = '\0';
  error_append(err, " before this text");
}

/* Pushes the template's chunk, compiled if necessary. */
static void push_chunk(lua_State *L, struct renderer *renderer, const struct template *template) {
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, template) != LUA_TNIL) return;
  lua_pop(L, 1);
  if (sandbox_load(renderer->sandbox, template->path, text_get(&template->lua),
                   template->lua.length, 0, CUGEN_ERROR_TEMPLATE, &renderer->error)) {
    hide_call(&renderer->error);
    render_give_up(L, renderer);
  }
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, template);
}

static void render_run(lua_State *L, struct renderer *renderer, const struct template *template) {
  const struct template *before = renderer->current;
  luaL_checkstack(L, LUA_MINSTACK, NULL);
  push_chunk(L, renderer, template);
  lua_rawgetp(L, LUA_REGISTRYINDEX, &environment_key);
  lua_setupvalue(L, -2, 1);
  lua_pushlightuserdata(L, renderer);
  lua_pushlightuserdata(L, (void *)(uintptr_t) template);
  lua_pushcclosure(L, render_emit, 2);
  renderer->current = template;
  renderer->depth++;
  lua_call(L, 1, 0);
  renderer->depth--;
  renderer->current = before;
}

/* Returns whether the template has #pragma once and this rendering has met the template before.
   Adds the template to the list of those met, in the environment's metatable. */
static bool seen_before(lua_State *L, const struct template *template) {
  if (!template->once) return false;
  lua_rawgetp(L, LUA_REGISTRYINDEX, &environment_key);
  lua_getmetatable(L, -1);
  bool seen = lua_rawgetp(L, -1, template) != LUA_TNIL;
  lua_pushboolean(L, true);
  lua_rawsetp(L, -3, template);
  lua_pop(L, 3);
  return seen;
}

/* Returns the line of the template in which the running C function was called; 0: unknown. */
static int calling_line(lua_State *L) {
  lua_Debug frame;
  return lua_getstack(L, 1, &frame) && lua_getinfo(L, "l", &frame) ? frame.currentline : 0;
}

/* Returns whether the template's file could not be read. An error within the file already names a
   line. */
static bool not_found(const cugen_error *err) {
  return err->status != CUGEN_ERROR_TEMPLATE && err->status != CUGEN_ERROR_MEMORY;
}

static int render_place_error(cugen_error *err, const char *path, int line) {
  error_prefix_at(err, path, line, NULL);
  return err->status = CUGEN_ERROR_TEMPLATE;
}

static int render_include(lua_State *L) {
  struct renderer *renderer = renderer_of(L);
  if (lua_type(L, 1) != LUA_TSTRING || lua_gettop(L) != 1)
    return luaL_error(L, "include takes the name of a template: include \"lib/name.cuh\"");
  if (renderer->depth >= DEEPEST_INCLUDE)
    return luaL_error(L, "includes are nested more than %d deep: does a template include itself?",
                      DEEPEST_INCLUDE);
  const struct template *template;
  cugen_error error = {0};
  if (render_load(renderer, renderer->current->path, lua_tostring(L, 1), &template, &error)) {
    renderer->error = error;
    if (not_found(&error))
      render_place_error(&renderer->error, renderer->current->path, calling_line(L));
    return render_give_up(L, renderer);
  }
  if (!seen_before(L, template)) render_run(L, renderer, template);
  return 0;
}

/* ---- The functions that templates share with expressions ------------------------------------ */

static lua_Integer positive_argument(lua_State *L, int index) {
  lua_Integer integer = luaL_checkinteger(L, index);
  luaL_argcheck(L, integer > 0, index, "a positive integer was expected");
  return integer;
}

static lua_Integer ceil_quotient(lua_State *L) {
  lua_Integer a = luaL_checkinteger(L, 1), b = positive_argument(L, 2);
  return a / b + (a % b > 0); /* C rounds towards zero */
}

static int lua_ceil_div(lua_State *L) {
  lua_pushinteger(L, ceil_quotient(L));
  return 1;
}

static int lua_round_up(lua_State *L) {
  lua_Integer result;
  if (__builtin_mul_overflow(ceil_quotient(L), lua_tointeger(L, 2), &result))
    return luaL_error(L, "round_up: the result is out of range");
  lua_pushinteger(L, result);
  return 1;
}

static int lua_is_pow2(lua_State *L) {
  lua_Integer n = luaL_checkinteger(L, 1);
  lua_pushboolean(L, n > 0 && (n & (n - 1)) == 0);
  return 1;
}

static int lua_log2(lua_State *L) {
  lua_Integer n = positive_argument(L, 1);
  luaL_argcheck(L, (n & (n - 1)) == 0, 1, "a power of two was expected");
  lua_pushinteger(L, __builtin_ctzll((unsigned long long)n));
  return 1;
}

static int lua_sizeof(lua_State *L) {
  const char *name = luaL_checkstring(L, 1);
  const struct dtype *dtype = dtype_find(name);
  if (dtype) {
    lua_pushinteger(L, dtype->bytes);
    return 1;
  }
  const char *nearest = text_nearest(name, dtype_names, DTYPE_COUNT);
  return luaL_error(L, "sizeof: '%s' is not a dtype%s%s%s", name, nearest ? ", nearest '" : "",
                    nearest ? nearest : "", nearest ? "'" : "");
}

static int lua_abs(lua_State *L) {
  if (lua_isinteger(L, 1)) {
    lua_Integer n = lua_tointeger(L, 1);
    luaL_argcheck(L, n != LUA_MININTEGER, 1, "out of range");
    lua_pushinteger(L, n < 0 ? -n : n);
  } else {
    lua_pushnumber(L, fabs(luaL_checknumber(L, 1)));
  }
  return 1;
}

/* Pushes the smallest argument if `least` is set, else the greatest. */
static int extreme(lua_State *L, bool least) {
  int count = lua_gettop(L), best = 1;
  for (int i = 1; i <= count || i == 1; i++) {
    luaL_checknumber(L, i);
    if (lua_compare(L, least ? i : best, least ? best : i, LUA_OPLT)) best = i;
  }
  lua_pushvalue(L, best);
  return 1;
}

static int lua_min(lua_State *L) {
  return extreme(L, true);
}

static int lua_max(lua_State *L) {
  return extreme(L, false);
}

static const struct function {
  const char *name;
  lua_CFunction function;
} functions[] = {
    {"include", render_include},
    {"ceil_div", lua_ceil_div},
    {"round_up", lua_round_up},
    {"is_pow2", lua_is_pow2},
    {"log2", lua_log2},
    {"sizeof", lua_sizeof},
    {"abs", lua_abs},
    {"min", lua_min},
    {"max", lua_max},
};

enum { FUNCTION_COUNT = sizeof functions / sizeof *functions };

static bool push_function(lua_State *L, struct renderer *renderer, const char *name) {
  for (size_t i = 0; i < FUNCTION_COUNT; i++) {
    if (strcmp(functions[i].name, name) != 0) continue;
    lua_pushlightuserdata(L, renderer);
    lua_pushcclosure(L, functions[i].function, 1);
    return true;
  }
  return false;
}

/* ---- Formulas ------------------------------------------------------------------------------- */

/* Marks the names of the known slots on whose values the formula's text depends. */
static void note_slots(const struct names *names, const struct config_formula *formula) {
  size_t count;
  const int *slots = expr_slots(formula->expr, &count);
  for (size_t i = 0; i < count && slots[i] < (int)names->in.slot_count; i++)
    for (size_t n = 0; names->known[slots[i]] && n < names->count; n++)
      if (names->list[n].kind == NAME_SLOT && names->list[n].index == slots[i])
        names->list[n].asked = true;
}

/* Calls a formula: combine("sum", "x"). */
static int call_formula(lua_State *L) {
  struct renderer *renderer = renderer_of(L);
  const struct names *names = renderer->request->names;
  const struct config_formula *formula = lua_touserdata(L, lua_upvalueindex(2));
  const char *arguments[FORMULA_MOST];
  size_t count = (size_t)lua_gettop(L);
  text_restart(&renderer->formula);
  if (count != formula->parameter_count) {
    formula_arity(formula, count, &renderer->formula);
    return luaL_error(L, "%s", text_get(&renderer->formula));
  }
  for (size_t i = 0; i < count; i++) arguments[i] = luaL_checkstring(L, (int)i + 1);
  note_slots(names, formula);
  if (formula_print(names->in.config, formula, names->in.slots, names->known, names->in.slot_count,
                    arguments, &renderer->formula, &renderer->error)) {
    config_prefix(&renderer->error, formula->line, "formula \"%s\"", formula->name);
    return render_give_up(L, renderer);
  }
  lua_pushlstring(L, text_get(&renderer->formula), renderer->formula.length);
  return 1;
}

static bool push_formula(lua_State *L, struct renderer *renderer, const char *name) {
  const struct config *config = renderer->request->names->in.config;
  for (size_t i = 0; i < config->formula_count; i++) {
    if (strcmp(config->formulas[i].name, name) != 0) continue;
    lua_pushlightuserdata(L, renderer);
    lua_pushlightuserdata(L, (void *)(uintptr_t)&config->formulas[i]);
    lua_pushcclosure(L, call_formula, 2);
    return true;
  }
  return false;
}

/* ---- Names ---------------------------------------------------------------------------------- */

/* The names among which the one nearest to an unknown name is searched, as a suggestion. */
struct candidates {
  const char *names[512];
  size_t count;
};

static void add_candidate(struct candidates *candidates, const char *name) {
  if (candidates->count < sizeof candidates->names / sizeof *candidates->names)
    candidates->names[candidates->count++] = name;
}

static int render_unknown(lua_State *L, const char *name, const struct candidates *candidates) {
  const char *nearest = text_nearest(name, candidates->names, candidates->count);
  if (nearest) return luaL_error(L, "%s: unknown, nearest '%s'", name, nearest);
  return luaL_error(L, "%s: unknown: neither in the config nor set in a //@ line before", name);
}

/* __index of `device`, which is an empty table, so that each read of a fact is seen here. The facts
   are the first slots. */
static int read_fact(lua_State *L) {
  const struct names *names = lua_touserdata(L, lua_upvalueindex(1));
  struct candidates candidates = {.count = 0};
  const size_t prefix = strlen("device.");
  const char *fact = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : "";
  for (int i = 0; i < DEVICE_FACT_COUNT; i++) {
    if (strcmp(device_fact_names[i] + prefix, fact) != 0) continue;
    names->facts[i] = true;
    lua_pushinteger(L, names->in.slots[i].integer);
    return 1;
  }
  for (int i = 0; i < DEVICE_FACT_COUNT; i++)
    add_candidate(&candidates, device_fact_names[i] + prefix);
  return render_unknown(L, luaL_tolstring(L, 2, NULL), &candidates);
}

static void push_device(lua_State *L, const struct names *names) {
  lua_createtable(L, 0, 0);
  lua_createtable(L, 0, 1);
  lua_pushlightuserdata(L, (void *)(uintptr_t)names);
  lua_pushcclosure(L, read_fact, 1);
  lua_setfield(L, -2, "__index");
  lua_setmetatable(L, -2);
}

static bool render_push_name(lua_State *L, struct renderer *renderer, const char *text,
                             size_t length) {
  const struct names *names = renderer->request->names;
  struct name *name = names_find(names, text, length);
  struct value value;
  if (!name) return false;
  name->asked = true;
  cugen_error error = {0};
  if (names_value(names, name, &value, &error)) luaL_error(L, "%s", error.message);
  switch (value.type) {
  case VALUE_NIL:
    luaL_error(L, "%s has no value in a //@ line or ${}: only CUDA text can use it", text);
    break;
  case VALUE_BOOL: lua_pushboolean(L, value.boolean); break;
  case VALUE_INT: lua_pushinteger(L, value.integer); break;
  case VALUE_FLOAT: lua_pushnumber(L, value.real); break;
  case VALUE_STRING: lua_pushstring(L, value.string); break;
  }
  return true;
}

static bool push_global(lua_State *L, const char *name) {
  lua_pushglobaltable(L);
  lua_pushstring(L, name);
  bool found = lua_rawget(L, -2) != LUA_TNIL;
  if (found)
    lua_remove(L, -2);
  else
    lua_pop(L, 2);
  return found;
}

static bool push_known(lua_State *L, struct renderer *renderer, const char *name, size_t length) {
  if (render_push_name(L, renderer, name, length)) return true;
  if (push_formula(L, renderer, name)) return true;
  if (push_function(L, renderer, name) || push_global(L, name)) return true;
  if (strcmp(name, "device") == 0) return push_device(L, renderer->request->names), true;
  return false;
}

static int render_unknown_name(lua_State *L, struct renderer *renderer, const char *name) {
  struct candidates candidates = {.count = 0};
  const struct names *names = renderer->request->names;
  for (size_t i = 0; i < names->count; i++) add_candidate(&candidates, names->list[i].text);
  const struct config *config = names->in.config;
  for (size_t i = 0; i < config->formula_count; i++)
    add_candidate(&candidates, config->formulas[i].name);
  for (size_t i = 0; i < FUNCTION_COUNT; i++) add_candidate(&candidates, functions[i].name);
  add_candidate(&candidates, "params");
  add_candidate(&candidates, "device");
  lua_pushglobaltable(L);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1))
    add_candidate(&candidates, lua_tostring(L, -2));
  return render_unknown(L, name, &candidates);
}

/* __index of `known`, the table behind the environment. */
static int render_find_known(lua_State *L) {
  struct renderer *renderer = renderer_of(L);
  size_t length;
  if (lua_type(L, 2) != LUA_TSTRING) return luaL_error(L, "a name was expected");
  const char *name = lua_tolstring(L, 2, &length);
  if (strcmp(name, "params") == 0) {
    renderer->parameters_used = true;
    lua_pushstring(L, renderer->request->parameters);
  } else if (!push_known(L, renderer, name, length)) {
    return render_unknown_name(L, renderer, name);
  }
  lua_pushvalue(L, 2);
  lua_pushvalue(L, -2);
  lua_rawset(L, 1);
  return 1;
}

static bool is_config_name(const struct renderer *renderer, const char *name, size_t length) {
  const struct config *config = renderer->request->names->in.config;
  for (size_t i = 0; i < config->formula_count; i++)
    if (strcmp(config->formulas[i].name, name) == 0) return true;
  return names_find(renderer->request->names, name, length) != NULL;
}

/* __newindex of the environment: makes a new global, and refuses a name of the config, whose value
   CUDA text would still see. */
static int assign(lua_State *L) {
  struct renderer *renderer = renderer_of(L);
  size_t length;
  const char *name = lua_tolstring(L, 2, &length);
  if (name && is_config_name(renderer, name, length))
    return luaL_error(
        L,
        "%s comes from the config and cannot be changed: `local %s = ...` makes a name of its own",
        name, name);
  lua_rawset(L, 1);
  return 0;
}

/* ---- The environment ------------------------------------------------------------------------ */

static void set_function(lua_State *L, struct renderer *renderer, const char *field,
                         lua_CFunction function) {
  lua_pushlightuserdata(L, renderer);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, field);
}

static void make_environment(lua_State *L, struct renderer *renderer) {
  lua_newtable(L);
  lua_createtable(L, 0, 2);
  lua_createtable(L, 0, 16);
  if (lua_rawgetp(L, LUA_REGISTRYINDEX, &known_meta_key) == LUA_TNIL) {
    lua_pop(L, 1);
    lua_createtable(L, 0, 1);
    set_function(L, renderer, "__index", render_find_known);
    lua_pushvalue(L, -1);
    lua_rawsetp(L, LUA_REGISTRYINDEX, &known_meta_key);
  }
  lua_setmetatable(L, -2);
  lua_setfield(L, -2, "__index");
  set_function(L, renderer, "__newindex", assign);
  lua_setmetatable(L, -2);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &environment_key);
}

static int render_protected(lua_State *L) {
  struct renderer *renderer = lua_touserdata(L, 1);
  make_environment(L, renderer);
  seen_before(L, renderer->current);
  render_run(L, renderer, renderer->current);
  return 0;
}

/* ---- Rendering ------------------------------------------------------------------------------ */

int render(struct renderer *renderer, const struct render_request *request, struct text *body,
           bool *parameters_used, cugen_error *err) {
  renderer->request = request;
  int status =
      render_load(renderer, request->from, request->template_name, &renderer->current, err);
  if (status && not_found(err))
    return render_place_error(err, request->named_in, request->named_at);
  if (status) return status;
  renderer->body = body;
  renderer->line_of = NULL;
  renderer->depth = 0;
  renderer->parameters_used = renderer->failed = false;
  lua_State *L = sandbox_state(renderer->sandbox);
  lua_pushcfunction(L, render_protected);
  lua_pushlightuserdata(L, renderer);
  status = sandbox_call(renderer->sandbox, 1, 0, CUGEN_ERROR_TEMPLATE, err);
  if (status && renderer->failed) status = error_copy(err, &renderer->error);
  if (!status && body->failed) status = error_memory(err);
  *parameters_used = renderer->parameters_used;
  return status;
}

int renderer_open(const struct sources *sources, struct renderer **out, cugen_error *err) {
  *out = NULL;
  struct renderer *renderer = calloc(1, sizeof *renderer);
  if (!renderer) return error_memory(err);
  renderer->sources = sources;
  int status = sandbox_open(0, 0, &renderer->sandbox, err);
  if (status)
    renderer_close(renderer);
  else
    *out = renderer;
  return status;
}

void renderer_close(struct renderer *renderer) {
  if (!renderer) return;
  sandbox_close(renderer->sandbox);
  for (size_t i = 0; i < renderer->loaded_count; i++) {
    struct loaded *loaded = &renderer->loaded[i];
    if (loaded->owner) template_free(loaded->template);
    free(loaded->from);
    free(loaded->name);
  }
  free(renderer->loaded);
  text_free(&renderer->formula);
  free(renderer);
}
