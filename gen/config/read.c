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
static void check_keys(struct build *build, int table, const char *owner, enum place place) {
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
    build_fail(build,
               "%s has a field '%s = ...': declarations are calls, such as problem \"M\" (4096)",
               owner, odd);
  if (positional > LARGEST_LIST)
    build_fail(build, "%s has more than %d declarations", owner, LARGEST_LIST);
  if (positional != length) build_fail(build, "%s has nil in its list", owner);
}

/* Checks the declaration on top of the stack, and returns its item. */
static struct item check_item(struct build *build, const struct list *list, const char *owner,
                              int position) {
  lua_State *L = build->L;
  struct item item = {.declaration = declarations_at(L, -1), .index = position};
  if (!item.declaration)
    build_fail(build,
               "number %d in %s is a %s: declarations are calls, such as problem \"M\" (4096)",
               position, owner, read_type_name(L, -1));
  declarations_push_name(L, -1);
  if (lua_type(L, -1) == LUA_TSTRING) item.name = lua_tostring(L, -1);
  lua_pop(L, 1);
  const struct keyword *keyword = item.declaration->keyword;
  build->line = item.declaration->line;
  if (!(keyword->places & list->place))
    build_fail(build, "%s stands in %s, not in %s", keyword->name, read_home_of(keyword),
               place_names[list->place]);
  if (!item.declaration->complete)
    build_fail(build, "%s has a name but no value: %s", keyword->name, keyword->example);
  const bool repeats = keyword->repeats || (keyword->naming == EITHER && item.name);
  for (size_t i = 0; !repeats && i < list->count; i++)
    if (list->items[i].declaration->keyword == keyword &&
        (keyword->naming != EITHER || !list->items[i].name))
      build_fail(build, "%s stands here twice: it is at %s already", keyword->name,
                 build_line(build, list->items[i].declaration->line));
  return item;
}

struct list read_list(struct build *build, enum place place, const char *owner) {
  lua_State *L = build->L;
  const struct config_line line = build->line;
  struct list list = {.table = lua_gettop(L), .place = place};
  if (lua_type(L, list.table) != LUA_TTABLE)
    build_fail(build, "%s needs a list of declarations in braces, not a %s", owner,
               read_type_name(L, list.table));
  check_keys(build, list.table, owner, place);
  const int length = (int)lua_rawlen(L, list.table);
  list.items = build_array(build, (size_t)length, sizeof *list.items);
  for (int i = 1; i <= length; i++) {
    lua_rawgeti(L, list.table, i);
    list.items[list.count] = check_item(build, &list, owner, i);
    list.count++;
    lua_pop(L, 1);
    build->line = line;
  }
  return list;
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

void read_item(struct build *build, const struct list *list, const struct item *item,
               item_reader *read, void *out) {
  const struct config_line line = build->line;
  const int top = lua_gettop(build->L);
  list_push(build, list, item);
  build->line = item->declaration->line;
  read(build, item, out);
  build->line = line;
  lua_settop(build->L, top);
}

struct noted_item {
  const struct list *list;
  const struct item *item;
  item_reader *read;
  void *out;
};

static void read_noted_item(struct build *build, void *context) {
  const struct noted_item *noted = context;
  read_item(build, noted->list, noted->item, noted->read, noted->out);
}

void note_item(struct build *build, const struct list *list, const struct item *item,
               item_reader *read, void *out) {
  build_note(build, item->name, read_noted_item, &(struct noted_item){list, item, read, out});
}

void read_only(struct build *build, const struct list *list, enum keyword_id id, item_reader *read,
               void *out) {
  const struct item *item = list_find(list, id);
  if (item) read_item(build, list, item, read, out);
}

static void each_item(struct build *build, const struct list *list, enum keyword_id id,
                      void (*take)(struct build *build, const struct list *list,
                                   const struct item *item, item_reader *read, void *out),
                      item_reader *read, char *array, size_t size, size_t *count) {
  for (size_t i = 0; i < list->count; i++) {
    if (list->items[i].declaration->keyword->id != id) continue;
    if (count) ++*count;
    take(build, list, &list->items[i], read, array);
    array += size;
  }
}

void read_items(struct build *build, const struct list *list, enum keyword_id id, item_reader *read,
                void *array, size_t size, size_t *count) {
  each_item(build, list, id, read_item, read, array, size, count);
}

void note_items(struct build *build, const struct list *list, enum keyword_id id, item_reader *read,
                void *array, size_t size, size_t *count) {
  each_item(build, list, id, note_item, read, array, size, count);
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

bool has_field(struct build *build, int table, const char *key) {
  if (!push_field(build, table, key)) return false;
  lua_pop(build->L, 1);
  return true;
}

const struct expr *read_field_expr(struct build *build, int table, const char *key,
                                   const char *what) {
  if (!push_field(build, table, key)) return NULL;
  const struct expr *expr = read_expr(build, what);
  lua_pop(build->L, 1);
  return expr;
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

void refuse_unknown_key(struct build *build, const char *noun, const char *owner,
                        const char *const *known, size_t count) {
  const char *odd = unknown_key(build, lua_gettop(build->L), known, count);
  const char *nearest = odd ? text_nearest(odd, known, count) : NULL;
  const char *of = *owner ? " of " : "";
  if (nearest)
    build_fail(build, "unknown %s '%s'%s%s (nearest '%s')", noun, odd, of, owner, nearest);
  if (odd && !*odd)
    build_fail(build, "a value without 'name ='%s%s; %ss are %s", of, owner, noun,
               build_join(build, known, count));
  if (odd)
    build_fail(build, "unknown %s '%s'%s%s; %ss are %s", noun, odd, of, owner, noun,
               build_join(build, known, count));
}

void refuse_odd_table(struct build *build, const char *noun, const char *owner, const char *example,
                      const char *const *known, size_t count) {
  if (lua_type(build->L, -1) != LUA_TTABLE)
    build_fail(build, "%s needs its %ss in braces: %s", owner, noun, example);
  refuse_unknown_key(build, noun, owner, known, count);
}

void read_attributes(struct build *build, const struct attribute *rows, size_t count,
                     const char *owner, void *object) {
  const int table = lua_gettop(build->L);
  for (const struct attribute *row = rows; row < rows + count; row++) {
    if (!push_field(build, table, row->name)) continue;
    const char *what = build_text(build, "%s of %s", row->name, owner);
    char *const to = (char *)object + row->offset;
    if (row->read) {
      row->read(build, object, what);
    } else if (row->words) {
      const char **known = build_array(build, row->word_count + 1, sizeof *known);
      memcpy(known, row->words, row->word_count * sizeof *known);
      *(struct config_word *)to = read_word(build, what, known);
    } else {
      *(const struct expr **)to = read_expr(build, what);
    }
    lua_pop(build->L, 1);
  }
}

/* ---- Values --------------------------------------------------------------------------------- */

/* Returns the string on top of the stack, or NULL if it is not a string or contains a NUL. */
static const char *plain_string(lua_State *L) {
  if (lua_type(L, -1) != LUA_TSTRING) return NULL;
  const char *string = lua_tostring(L, -1);
  return strlen(string) == lua_rawlen(L, -1) ? string : NULL;
}

lua_Integer list_length(struct build *build) {
  lua_State *L = build->L;
  lua_Integer keys = 0, length = 0;
  if (lua_type(L, -1) != LUA_TTABLE) return -1;
  length = (lua_Integer)lua_rawlen(L, -1);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) keys++;
  return keys == length ? length : -1;
}

const char *read_string(struct build *build, const char *what) {
  const char *string = plain_string(build->L);
  if (!string || !*string)
    build_fail(build, "%s must be a string in quotes, not %s", what,
               string ? "empty" : read_type_name(build->L, -1));
  return build_copy(build, string, strlen(string));
}

void read_kernel_file(struct build *build, const char *what, const char *text, const char **file,
                      const char **entry) {
  const char *colon = strrchr(text, ':');
  size_t length = colon ? (size_t)(colon - text) : strlen(text);
  if (length == 0 || (colon && !colon[1]))
    build_fail(build, "%s '%s' is no \"file.cu\" or \"file.cu:kernel\"", what, text);
  *file = build_copy(build, text, length);
  *entry = colon ? colon + 1 : NULL;
}

static struct value read_word_value(struct build *build, const char *what) {
  const char *string = plain_string(build->L);
  const char *refused = string ? names_refused_word(string) : "it has a NUL byte in it";
  if (refused)
    build_fail(build, "%s cannot be the string '%.80s': %s", what, lua_tostring(build->L, -1),
               refused);
  return value_string(build_copy(build, string, strlen(string)));
}

struct value read_value(struct build *build, const char *what) {
  lua_State *L = build->L;
  switch (lua_type(L, -1)) {
  case LUA_TBOOLEAN: return value_bool(lua_toboolean(L, -1));
  case LUA_TSTRING: return read_word_value(build, what);
  case LUA_TNUMBER:
    if (lua_isinteger(L, -1)) return value_int(lua_tointeger(L, -1));
    if (isfinite(lua_tonumber(L, -1))) return value_float(lua_tonumber(L, -1));
    build_fail(build, "%s has a value that is no finite number", what);
  default:
    build_fail(build, "%s has a value of type %s: values are numbers, booleans and strings", what,
               read_type_name(L, -1));
  }
}

void refuse_unknown_problem(struct build *build, int table, const char *who) {
  const struct config *config = build->config;
  const char **names = build_array(build, config->problem_count, sizeof *names);
  for (size_t i = 0; i < config->problem_count; i++) names[i] = config->problems[i].name;
  const char *odd = unknown_key(build, table, names, config->problem_count);
  if (odd)
    build_fail_name(build, odd, names, config->problem_count,
                    "%s names '%s', which is no problem of this kernel", who, odd);
}

void check_problem_value(struct build *build, const char *who, const struct config_problem *problem,
                         struct value value) {
  size_t i = 0;
  while (i < problem->value_count && !value_equal(problem->values[i], value)) i++;
  if (value.type != problem->values[0].type)
    build_fail(build,
               "%s gives problem \"%s\" the value %s, which is of another type than its default",
               who, problem->name, build_value(build, value));
  if (problem->listed && i == problem->value_count)
    build_fail(build, "%s gives problem \"%s\" the value %s, which is not in its list at %s", who,
               problem->name, build_value(build, value), build_line(build, problem->line));
}

/* ---- Expressions ---------------------------------------------------------------------------- */

const struct expr *keep_expr(struct build *build, struct expr *expr, const char *source) {
  if (!arena_keep(build->arena, expr) || !arena_charge(build->arena, 16 * strlen(source)))
    build_memory(build);
  return expr;
}

const struct expr *read_expr(struct build *build, const char *what) {
  lua_State *L = build->L;
  struct text text = {0};
  struct expr *expr;
  switch (lua_type(L, -1)) {
  case LUA_TSTRING: text_add(&text, plain_string(L) ? lua_tostring(L, -1) : "\\0"); break;
  case LUA_TBOOLEAN: text_add(&text, lua_toboolean(L, -1) ? "true" : "false"); break;
  case LUA_TNUMBER:
    if (lua_isinteger(L, -1))
      text_addf(&text, "%lld", (long long)lua_tointeger(L, -1));
    else
      value_print(value_float(lua_tonumber(L, -1)), &text);
    break;
  default:
    build_fail(build,
               "%s is a %s: an expression is a string such as \"ceil_div(N, tile)\" or a number",
               what, read_type_name(L, -1));
  }
  const char *source = build_take(build, &text);
  if (strlen(source) > LONGEST_EXPRESSION)
    build_fail(build, "%s is longer than %d characters; derive gives its parts names", what,
               LONGEST_EXPRESSION);
  build_check(build, scope_parse(build, source, &expr), what);
  return keep_expr(build, expr, source);
}

const struct expr *read_expr_of(struct build *build, const char *what,
                                const struct expr_scope *scope, const struct expr_extras *extras) {
  const char *source = read_string(build, what);
  struct expr *expr;
  if (strlen(source) > LONGEST_EXPRESSION)
    build_fail(build, "%s is longer than %d characters", what, LONGEST_EXPRESSION);
  build_check(build, expr_parse_with(source, scope, extras, &expr, &build->error), what);
  return keep_expr(build, expr, source);
}

int read_exprs(struct build *build, const char *what, int most, const struct expr **out) {
  const int table = lua_gettop(build->L);
  const lua_Integer length = list_length(build);
  if (length < 1 || length > most)
    build_fail(build, "%s is a list of %s%d expressions in braces: { \"M\", \"N\" }", what,
               most > 1 ? "1 to " : "", most);
  for (int i = 0; i < (int)length; i++) {
    lua_rawgeti(build->L, table, i + 1);
    out[i] = read_expr(build, what);
    lua_pop(build->L, 1);
  }
  return (int)length;
}

/* ---- Words ---------------------------------------------------------------------------------- */

/* Refuses a single unknown name, probably a misspelt word. */
static _Noreturn void unknown_word(struct build *build, const char *what, const char *word,
                                   const char *const *known) {
  size_t count = 0;
  while (known[count]) count++;
  const char *choices = build_join(build, known, count);
  const bool of_dtypes = count && strcmp(known[0], dtype_names[0]) == 0;
  const char *nearest = of_dtypes ? dtype_meant(word) : NULL;
  if (!nearest) nearest = text_nearest(word, known, count);
  if (!nearest) {
    const char *const *names = scope_names(build, &count);
    nearest = text_nearest(word, names, count);
  }
  build_fail(build, "%s is '%.80s', which is neither one of %s nor a name with such a value%s%s%s",
             what, word, choices, nearest ? " (nearest '" : "", nearest ? nearest : "",
             nearest ? "')" : "");
}

struct config_word read_word(struct build *build, const char *what, const char *const *known) {
  const char *word = plain_string(build->L);
  if (!word)
    build_fail(build, "%s must be a string in quotes, not %s", what, read_type_name(build->L, -1));
  for (size_t i = 0; known[i]; i++)
    if (strcmp(word, known[i]) == 0) return (struct config_word){.word = known[i]};
  const struct scope_name *name = scope_find(build, word);
  if (names_identifier(word) && (!name || name->role == ROLE_ARGUMENT))
    unknown_word(build, what, word, known);
  return (struct config_word){.expr = read_expr(build, what)};
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

static void check_doubles(struct build *build, const char *what, const struct value *values,
                          size_t count) {
  struct value *sorted = build_array(build, count, sizeof *sorted);
  memcpy(sorted, values, count * sizeof *sorted);
  qsort(sorted, count, sizeof *sorted, compare_values);
  for (size_t i = 1; i < count; i++)
    if (compare_values(&sorted[i - 1], &sorted[i]) == 0)
      build_fail(build, "%s has the value %s twice", what, build_value(build, sorted[i]));
}

void read_values(struct build *build, const char *what, const struct value **out, size_t *count) {
  lua_State *L = build->L;
  if (lua_type(L, -1) != LUA_TTABLE)
    build_fail(build, "%s needs its values in braces: { 16, 32 }", what);
  const int table = lua_gettop(L);
  const lua_Integer length = list_length(build);
  if (length == 0) build_fail(build, "%s has an empty list of values", what);
  if (length < 0) build_fail(build, "%s has nil or a field in its list of values", what);
  if (length > MOST_VALUES) build_fail(build, "%s has more than %d values", what, MOST_VALUES);
  struct value *values = build_array(build, (size_t)length, sizeof *values);
  if (!arena_charge(build->arena, 64 * (size_t)length)) build_memory(build);
  for (lua_Integer i = 0; i < length; i++) {
    lua_rawgeti(L, table, i + 1);
    values[i] = read_value(build, what);
    lua_pop(L, 1);
  }
  *out = values;
  *count = (size_t)length;
  check_doubles(build, what, values, (size_t)length);
}
