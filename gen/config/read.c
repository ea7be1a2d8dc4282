/* Reads the objects that the Lua run left: lists of declarations, values, expressions. See
   build.h. */
#include <lua.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "names.h"

static const char *read_type_name(lua_State *L, int index) {
  return declarations_at(L, index) ? "declaration" : lua_typename(L, lua_type(L, index));
}

/* ---- Lists of declarations ------------------------------------------------------------------ */

static const char *const place_names[] = {
    [PLACE_FILE] = "the file itself",
    [PLACE_KERNEL] = "a kernel",
    [PLACE_IMPLEMENTATION] = "an implementation",
    [PLACE_LAUNCH] = "a launch",
    [PLACE_LOOP] = "a loop",
};

static const char *read_home_of(const struct keyword *keyword) {
  for (unsigned place = PLACE_LAUNCH; place; place /= 2)
    if (keyword->places & place) return place_names[place];
  return "another place";
}

/* Checks that the keys are 1 to the count, without holes and without name = value. In a launch or
   loop, fields are allowed as another way to write parts. */
static int check_keys(struct build *build, int table, const char *owner, struct config_line line,
                      enum place place) {
  size_t length = lua_rawlen(build->L, table), positional = 0;
  const char *odd = NULL;
  for (lua_pushnil(build->L); lua_next(build->L, table); lua_pop(build->L, 1)) {
    if (lua_isinteger(build->L, -2))
      positional++;
    else if (lua_type(build->L, -2) != LUA_TSTRING)
      odd = "?";
    else if (place != PLACE_LAUNCH && place != PLACE_LOOP)
      odd = lua_tostring(build->L, -2);
  }
  if (odd)
    return build_fail(
        build, line,
        "%s has a field '%s = ...': declarations are calls, such as problem \"M\" (4096)", owner,
        odd);
  if (positional > LARGEST_LIST)
    return build_fail(build, line, "%s has more than %d declarations", owner, LARGEST_LIST);
  if (positional != length) return build_fail(build, line, "%s has nil in its list", owner);
  return CUGEN_OK;
}

static const char *read_name_of(lua_State *L, int index) {
  declarations_push_name(L, index);
  const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : NULL;
  lua_pop(L, 1);
  return name;
}

static int check_item(struct build *build, const struct list *list, const char *owner,
                      int position) {
  struct declaration *declaration = declarations_at(build->L, -1);
  if (!declaration)
    return build_fail(
        build, list->line,
        "number %d in %s is a %s: declarations are calls, such as problem \"M\" (4096)", position,
        owner, read_type_name(build->L, -1));
  const struct keyword *keyword = declaration->keyword;
  if (!(keyword->places & list->place))
    return build_fail(build, declaration->line, "%s stands in %s, not in %s", keyword->name,
                      read_home_of(keyword), place_names[list->place]);
  if (!declaration->complete)
    return build_fail(build, declaration->line, "%s has a name but no value: %s", keyword->name,
                      keyword->example);
  const bool repeats =
      keyword->repeats || (keyword->naming == EITHER && read_name_of(build->L, -1));
  for (size_t i = 0; !repeats && i < list->count; i++)
    if (list->items[i].declaration->keyword == keyword &&
        (keyword->naming != EITHER || !list->items[i].name))
      return build_fail(build, declaration->line, "%s stands here twice: it is at %s already",
                        keyword->name,
                        build_line(build, declaration->line, list->items[i].declaration->line));
  return CUGEN_OK;
}

int read_list(struct build *build, int table, enum place place, const char *owner,
              struct config_line line, struct list *out) {
  lua_State *L = build->L;
  if (lua_type(L, table) != LUA_TTABLE)
    return build_fail(build, line, "%s needs a list of declarations in braces, not a %s", owner,
                      read_type_name(L, table));
  int status = check_keys(build, table, owner, line, place);
  if (status) return status;
  int length = (int)lua_rawlen(L, table);
  *out = (struct list){.table = table, .line = line, .place = place};
  out->items = arena_array(build->arena, (size_t)length, sizeof *out->items);
  if (!out->items) return build_memory(build);
  for (int i = 1; i <= length && !status; i++) {
    lua_rawgeti(L, table, i);
    status = check_item(build, out, owner, i);
    if (!status)
      out->items[out->count++] = (struct item){declarations_at(L, -1), read_name_of(L, -1), i};
    lua_pop(L, 1);
  }
  return status;
}

size_t list_count(const struct list *list, enum keyword_id id) {
  size_t count = 0;
  for (size_t i = 0; i < list->count; i++) count += list->items[i].declaration->keyword->id == id;
  return count;
}

const struct item *list_find(const struct list *list, enum keyword_id id) {
  for (size_t i = 0; i < list->count; i++) {
    const struct keyword *keyword = list->items[i].declaration->keyword;
    const bool other = keyword->naming == EITHER && list->items[i].name;
    if (keyword->id == id && !other) return &list->items[i];
  }
  return NULL;
}

void list_push(struct build *build, const struct list *list, const struct item *item) {
  lua_rawgeti(build->L, list->table, item->index);
  declarations_push_value(build->L, -1);
  lua_remove(build->L, -2);
}

/* ---- Fields --------------------------------------------------------------------------------- */

bool push_field(struct build *build, int table, const char *key) {
  lua_State *L = build->L;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING || strcmp(lua_tostring(L, -2), key) != 0) continue;
    lua_remove(L, -2);
    return true;
  }
  return false;
}

const char *unknown_key(struct build *build, int table, const char *const *known, size_t count) {
  lua_State *L = build->L;
  const char *first = NULL;
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : "";
    size_t i = 0;
    while (i < count && strcmp(known[i], key) != 0) i++;
    if (i == count && (!first || strcmp(key, first) < 0)) first = key;
  }
  return first;
}

int refuse_name(struct build *build, struct config_line line, const char *name,
                const char *const *names, size_t count, const char *format, ...) {
  const char *nearest = text_nearest(name, names, count);
  struct text message = {0};
  va_list values;
  va_start(values, format);
  text_vaddf(&message, format, values);
  va_end(values);
  int status = build_fail(build, line, "%s%s%s%s", text_get(&message), nearest ? " (nearest '" : "",
                          nearest ? nearest : "", nearest ? "')" : "");
  text_free(&message);
  return status;
}

int refuse_unknown_problem(struct build *build, struct config_line line, int table,
                           const char *who) {
  const struct config *config = build->config;
  const char **names = arena_array(build->arena, config->problem_count, sizeof *names);
  if (!names) return build_memory(build);
  for (size_t i = 0; i < config->problem_count; i++) names[i] = config->problems[i].name;
  const char *odd = unknown_key(build, table, names, config->problem_count);
  return odd ? refuse_name(build, line, odd, names, config->problem_count,
                           "%s names '%s', which is no problem of this kernel", who, odd)
             : CUGEN_OK;
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Returns the string on top of the stack, or NULL if it is not a string or contains a NUL. */
static const char *plain_string(lua_State *L) {
  if (lua_type(L, -1) != LUA_TSTRING) return NULL;
  const char *string = lua_tostring(L, -1);
  return strlen(string) == lua_rawlen(L, -1) ? string : NULL;
}

int read_string(struct build *build, struct config_line line, const char *what, const char **out) {
  const char *string = plain_string(build->L);
  if (!string || !*string)
    return build_fail(build, line, "%s must be a string in quotes, not %s", what,
                      string ? "empty" : read_type_name(build->L, -1));
  *out = arena_string(build->arena, string, strlen(string));
  return *out ? CUGEN_OK : build_memory(build);
}

int read_kernel_file(struct build *build, struct config_line line, const char *what,
                     const char *text, const char **file, const char **entry) {
  const char *colon = strrchr(text, ':');
  size_t length = colon ? (size_t)(colon - text) : strlen(text);
  if (length == 0 || (colon && !colon[1]))
    return build_fail(build, line, "%s '%s' is no \"file.cu\" or \"file.cu:kernel\"", what, text);
  *file = arena_string(build->arena, text, length);
  *entry = colon ? colon + 1 : NULL;
  return *file ? CUGEN_OK : build_memory(build);
}

static int read_word_value(struct build *build, struct config_line line, const char *what,
                           struct value *out) {
  const char *string = plain_string(build->L);
  const char *refused = string ? names_refused_word(string) : "it has a NUL byte in it";
  if (refused)
    return build_fail(build, line, "%s cannot be the string '%.80s': %s", what,
                      lua_tostring(build->L, -1), refused);
  *out = value_string(arena_string(build->arena, string, strlen(string)));
  return out->string ? CUGEN_OK : build_memory(build);
}

int read_value(struct build *build, struct config_line line, const char *what, struct value *out) {
  lua_State *L = build->L;
  switch (lua_type(L, -1)) {
  case LUA_TBOOLEAN: *out = value_bool(lua_toboolean(L, -1)); return CUGEN_OK;
  case LUA_TSTRING: return read_word_value(build, line, what, out);
  case LUA_TNUMBER:
    *out =
        lua_isinteger(L, -1) ? value_int(lua_tointeger(L, -1)) : value_float(lua_tonumber(L, -1));
    if (out->type == VALUE_INT || isfinite(out->real)) return CUGEN_OK;
    return build_fail(build, line, "%s has a value that is no finite number", what);
  default:
    return build_fail(build, line,
                      "%s has a value of type %s: values are numbers, booleans and strings", what,
                      read_type_name(L, -1));
  }
}

/* ---- Expressions ---------------------------------------------------------------------------- */

/* Appends the text of the expression on top of the stack. Returns false if the value is not an
   expression. */
static bool expression_text(lua_State *L, struct text *out) {
  switch (lua_type(L, -1)) {
  case LUA_TSTRING: text_add(out, plain_string(L) ? lua_tostring(L, -1) : "\\0"); return true;
  case LUA_TBOOLEAN: text_add(out, lua_toboolean(L, -1) ? "true" : "false"); return true;
  case LUA_TNUMBER:
    if (lua_isinteger(L, -1))
      text_addf(out, "%lld", (long long)lua_tointeger(L, -1));
    else
      value_print(value_float(lua_tonumber(L, -1)), out);
    return true;
  default: return false;
  }
}

int read_expr_text(struct build *build, struct config_line line, const char *what,
                   const char *source, const struct expr **out) {
  struct expr *expr;
  int status = scope_parse(build, source, &expr);
  if (status) {
    error_prefix_at(build->err, line.path, line.number, "%s", what);
    return status;
  }
  if (!arena_keep(build->arena, expr) || !arena_charge(build->arena, 16 * strlen(source)))
    return build_memory(build);
  *out = expr;
  return CUGEN_OK;
}

int read_expr(struct build *build, struct config_line line, const char *what,
              const struct expr **out) {
  struct text source = {0};
  int status;
  if (!expression_text(build->L, &source))
    status = build_fail(
        build, line,
        "%s is a %s: an expression is a string such as \"ceil_div(N, tile)\" or a number", what,
        read_type_name(build->L, -1));
  else if (source.length > LONGEST_EXPRESSION)
    status =
        build_fail(build, line, "%s is longer than %d characters; derive gives its parts names",
                   what, LONGEST_EXPRESSION);
  else if (source.failed)
    status = error_memory(build->err);
  else
    status = read_expr_text(build, line, what, text_get(&source), out);
  text_free(&source);
  return status;
}

int read_exprs(struct build *build, struct config_line line, const char *what, int most,
               const struct expr **out, int *count) {
  lua_State *L = build->L;
  int table = lua_gettop(L),
      length = lua_type(L, table) == LUA_TTABLE ? (int)lua_rawlen(L, table) : 0, keys = 0;
  if (length)
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) keys++;
  if (length < 1 || length > most || keys != length)
    return build_fail(build, line, "%s is a list of %s%d expressions in braces: { \"M\", \"N\" }",
                      what, most > 1 ? "1 to " : "", most);
  for (int i = 0; i < length; i++) {
    lua_rawgeti(L, table, i + 1);
    int status = read_expr(build, line, what, &out[i]);
    lua_pop(L, 1);
    if (status) return status;
  }
  *count = length;
  return CUGEN_OK;
}

/* ---- Words ---------------------------------------------------------------------------------- */

static size_t count_words(const char *const *words) {
  size_t count = 0;
  while (words[count]) count++;
  return count;
}

/* Refuses a single unknown name, which is more likely a misspelt word than an expression. */
static int unknown_word(struct build *build, struct config_line line, const char *what,
                        const char *word, const char *const *known) {
  struct text list = {0};
  for (size_t i = 0; known[i]; i++) text_addf(&list, "%s%s", i ? ", " : "", known[i]);
  const bool of_dtypes = known[0] && strcmp(known[0], dtype_names[0]) == 0;
  const char *nearest = of_dtypes ? dtype_meant(word) : NULL;
  if (!nearest) nearest = text_nearest(word, known, count_words(known));
  if (!nearest) nearest = scope_nearest(build, word);
  int status = build_fail(
      build, line, "%s is '%.80s', which is neither one of %s nor a name with such a value%s%s%s",
      what, word, text_get(&list), nearest ? " (nearest '" : "", nearest ? nearest : "",
      nearest ? "')" : "");
  text_free(&list);
  return status;
}

int read_word(struct build *build, struct config_line line, const char *what,
              const char *const *known, struct config_word *out) {
  const char *word = plain_string(build->L);
  if (!word)
    return build_fail(build, line, "%s must be a string in quotes, not %s", what,
                      read_type_name(build->L, -1));
  for (size_t i = 0; known[i]; i++) {
    if (strcmp(word, known[i]) != 0) continue;
    out->word = known[i];
    return CUGEN_OK;
  }
  const struct scope_name *name = scope_find(build, word);
  if (names_identifier(word) && (!name || name->role == ROLE_ARGUMENT))
    return unknown_word(build, line, what, word, known);
  return read_expr(build, line, what, &out->expr);
}

/* ---- Lists of values for problems and tunables ---------------------------------------------- */

static int compare_values(const void *left, const void *right) {
  const struct value *a = left, *b = right;
  if (a->type != b->type) return a->type < b->type ? -1 : 1;
  switch (a->type) {
  case VALUE_BOOL: return a->boolean - b->boolean;
  case VALUE_INT: return (a->integer > b->integer) - (a->integer < b->integer);
  case VALUE_FLOAT: return (a->real > b->real) - (a->real < b->real);
  case VALUE_STRING: return strcmp(a->string, b->string);
  case VALUE_NIL: break;
  }
  return 0;
}

static int refuse_double(struct build *build, struct config_line line, const char *what,
                         struct value value) {
  struct text text = {0};
  value_print(value, &text);
  int status = build_fail(build, line, "%s has the value %s twice", what, text_get(&text));
  text_free(&text);
  return status;
}

static int check_doubles(struct build *build, struct config_line line, const char *what,
                         const struct value *values, size_t count) {
  struct value *sorted = malloc(count * sizeof *sorted);
  if (!sorted) return error_memory(build->err);
  memcpy(sorted, values, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_values);
  int status = CUGEN_OK;
  for (size_t i = 1; i < count && !status; i++)
    if (compare_values(&sorted[i - 1], &sorted[i]) == 0)
      status = refuse_double(build, line, what, sorted[i]);
  free(sorted);
  return status;
}

int read_values(struct build *build, struct config_line line, const char *what,
                const struct value **out, size_t *count) {
  lua_State *L = build->L;
  if (lua_type(L, -1) != LUA_TTABLE)
    return build_fail(build, line, "%s needs its values in braces: { 16, 32 }", what);
  int table = lua_gettop(L), keys = 0;
  size_t length = lua_rawlen(L, table);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) keys++;
  if (keys == 0) return build_fail(build, line, "%s has an empty list of values", what);
  if ((size_t)keys != length)
    return build_fail(build, line, "%s has nil or a field in its list of values", what);
  if (length > MOST_VALUES)
    return build_fail(build, line, "%s has more than %d values", what, MOST_VALUES);
  struct value *values = arena_array(build->arena, length, sizeof *values);
  if (!values || !arena_charge(build->arena, 64 * length)) return build_memory(build);
  for (size_t i = 0; i < length; i++) {
    lua_rawgeti(L, table, (lua_Integer)i + 1);
    int status = read_value(build, line, what, &values[i]);
    lua_pop(L, 1);
    if (status) return status;
  }
  *out = values;
  *count = length;
  return check_doubles(build, line, what, values, length);
}
