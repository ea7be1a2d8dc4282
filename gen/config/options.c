/* How a kernel is compiled: options and the folders of its headers. Read with the config, evaluated for each variant. See
   build.h and config.h. */
#include <ctype.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "gen/sources/source_text.h"
#include "names.h"

enum option_kind {
  OPTION_FLAG,   /* there or not */
  OPTION_SWITCH, /* =true or =false */
  OPTION_COUNT,  /* a number; 0: not there */
  OPTION_NUMBER,
  OPTION_WORD
};

static const struct option {
  const char *name;
  enum option_kind kind;
  const char *flag, *range;
} options[COMPILE_OPTION_COUNT] = {
#define X(name, kind, flag, range) {#name, kind, flag, range},
    COMPILE_OPTIONS(X)
#undef X
};

/* ---- Reading ------------------------------------------------------------------------------------------------- */

enum { MOST_WORDS = 8, WORD_BYTES = 8, MOST_ITEMS = 64 };

/* The option's words, for read_word; in the arena, since a word that is found is kept. */
static const char *const *list_words(struct build *build, const struct option *option) {
  const char **words = arena_array(build->arena, MOST_WORDS, sizeof *words);
  size_t count = 0;
  for (const char *at = option->range; words && *at && count + 1 < MOST_WORDS; at += strspn(at, " ")) {
    words[count++] = arena_string(build->arena, at, strcspn(at, " "));
    if (!words[count - 1]) return NULL;
    at += strcspn(at, " ");
  }
  return words;
}

static int read_option(struct build *build, struct config_line line, const struct option *option,
                       struct config_word *out) {
  struct text what = {0};
  int status;
  text_addf(&what, "option %s", option->name);
  if (option->kind == OPTION_WORD) {
    const char *const *words = list_words(build, option);
    status = words ? read_word(build, line, text_get(&what), words, out) : build_memory(build);
  } else {
    status = read_expr(build, line, text_get(&what), &out->expr);
  }
  text_free(&what);
  return status;
}

/* The length of the table's list at the top of the stack; -1: it is none. */
static int list_length(struct build *build, int most) {
  lua_State *L = build->L;
  if (lua_type(L, -1) != LUA_TTABLE) return -1;
  int keys = 0, table = lua_gettop(L), length = (int)lua_rawlen(L, table);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) keys++;
  return keys == length && length >= 1 && length <= most ? length : -1;
}

/* "NAME" or "NAME=value": a name that the config has not, and one line. */
static int check_define(struct build *build, struct config_line line, const char *text) {
  size_t length = strcspn(text, "=");
  char *name = arena_string(build->arena, text, length);
  if (!name) return build_memory(build);
  if (!names_identifier(name) || strchr(text, '\n') || strchr(text, '\\'))
    return build_fail(build, line, "define '%.80s' is no \"NAME\" or \"NAME=value\" on one line", text);
  const struct scope_name *known = scope_find(build, name);
  if (!known) return CUGEN_OK;
  return build_fail(build, line, "define '%s': the name is taken at %s, which templates know without it", name,
                    build_line(build, line, known->line));
}

static int read_defines(struct build *build, struct config_line line, struct config_options *out) {
  int length = list_length(build, MOST_ITEMS);
  if (length < 0)
    return build_fail(build, line, "option define is a list of 1 to %d macros: { \"FAST\", \"DEPTH=4\" }",
                      MOST_ITEMS);
  struct config_spelling *defines = arena_array(build->arena, (size_t)length, sizeof *defines);
  if (!defines) return build_memory(build);
  out->defines = defines;
  int status = CUGEN_OK;
  for (int i = 0; i < length && !status; i++) {
    lua_rawgeti(build->L, -1, i + 1);
    status = read_spelling(build, line, "define", &defines[out->define_count++]);
    lua_pop(build->L, 1);
    if (!status) status = check_define(build, line, defines[i].text);
  }
  return status;
}

static int refuse_option(struct build *build, struct config_line line, const char *odd, const char *const *names,
                         size_t count) {
  struct text all = {0};
  const char *nearest = text_nearest(odd, names, count);
  for (size_t i = 0; i < count; i++) text_addf(&all, "%s%s", i ? ", " : "", names[i]);
  int status = nearest ? build_fail(build, line, "unknown option '%s' (nearest '%s')", odd, nearest)
                       : build_fail(build, line, "%s%s%s; options are %s",
                                    *odd ? "unknown option '" : "an option without 'name ='", odd, *odd ? "'" : "",
                                    text_get(&all));
  text_free(&all);
  return status;
}

static int read_fields(struct build *build, int table, struct config_options *out) {
  const char *names[COMPILE_OPTION_COUNT + 1];
  for (int i = 0; i < COMPILE_OPTION_COUNT; i++) names[i] = options[i].name;
  names[COMPILE_OPTION_COUNT] = "define";
  const char *odd = unknown_key(build, table, names, COMPILE_OPTION_COUNT + 1);
  if (odd) return refuse_option(build, out->line, odd, names, COMPILE_OPTION_COUNT + 1);
  int status = CUGEN_OK;
  for (int i = 0; i <= COMPILE_OPTION_COUNT && !status; i++) {
    if (!push_field(build, table, names[i])) continue;
    status = i < COMPILE_OPTION_COUNT ? read_option(build, out->line, &options[i], &out->values[i])
                                      : read_defines(build, out->line, out);
    lua_pop(build->L, 1);
  }
  return status;
}

static int read_options(struct build *build, const struct list *list, const struct config_options **out) {
  const struct item *item = list_find(list, KEYWORD_options);
  if (!item) return CUGEN_OK;
  struct config_options *read = arena_array(build->arena, 1, sizeof *read);
  if (!read) return build_memory(build);
  *out = read;
  read->line = item->declaration->line;
  list_push(build, list, item);
  int status = lua_type(build->L, -1) == LUA_TTABLE ? read_fields(build, lua_gettop(build->L), read)
                                                    : build_fail(build, read->line, "options stand in braces: %s",
                                                                 config_keywords[KEYWORD_options].example);
  lua_pop(build->L, 1);
  return status;
}

static int read_folder(struct build *build, struct config_line line, const char **out) {
  cugen_error why;
  int status = read_string(build, line, "include_dirs", out);
  if (!status && sources_check_name("folder", *out, &why))
    return build_fail(build, line, "include_dirs: %s", why.message);
  if (status || sources_inside(*out)) return status;
  return build_fail(build, line,
                    "include_dirs names '%.80s': a folder is named relative to the config or to "
                    "cugen_options.template_dir, without '..'",
                    *out);
}

static int read_folders(struct build *build, const struct list *list, const struct config_compile *outer,
                        struct config_compile *out) {
  const struct item *item = list_find(list, KEYWORD_include_dirs);
  const size_t more = outer ? outer->folder_count : 0;
  const char **folders = arena_array(build->arena, MOST_ITEMS + more, sizeof *folders);
  if (!folders) return build_memory(build);
  out->folders = folders;
  const struct config_line line = item ? item->declaration->line : list->line;
  int status = CUGEN_OK;
  if (item) {
    list_push(build, list, item);
    int length = list_length(build, MOST_ITEMS);
    if (length < 0)
      status = build_fail(build, line, "include_dirs is a list of 1 to %d folders: %s", MOST_ITEMS,
                          config_keywords[KEYWORD_include_dirs].example);
    for (int i = 0; i < length && !status; i++) {
      lua_rawgeti(build->L, -1, i + 1);
      status = read_folder(build, line, &folders[out->folder_count++]);
      lua_pop(build->L, 1);
    }
    lua_pop(build->L, 1);
  }
  out->own_folders = out->folder_count;
  out->folders_line = line;
  for (size_t i = 0; i < more; i++) folders[out->folder_count++] = outer->folders[i];
  return status;
}

int read_compile(struct build *build, const struct list *list, const struct config_compile *outer,
                 struct config_compile *out) {
  const struct config_options *own = NULL;
  int status = read_options(build, list, &own);
  out->shared = outer ? outer->shared : own;
  out->own = outer ? own : NULL;
  return status ? status : read_folders(build, list, outer, out);
}

/* ---- Evaluating ---------------------------------------------------------------------------------------------- */

struct evaluation {
  const struct config *config;
  const struct option *option;
  struct config_line line;
  const struct value *slots;
  struct text *out;
  cugen_error *err;
};

static int fail(const struct evaluation *e, const char *value, const char *rule) {
  return error_set_at(e->err, CUGEN_ERROR_CONFIG, e->line.path, e->line.number, "option %s is %s: it must be %s",
                      e->option->name, value, rule);
}

static void begin_flag(const struct evaluation *e) {
  text_addf(e->out, "%s%s", e->out->length ? " " : "", e->option->flag);
}

static int add_switch(const struct evaluation *e, const struct expr *expr) {
  bool on;
  int status = expr_eval_bool(expr, e->slots, &on, e->err);
  if (status || (!on && e->option->kind == OPTION_FLAG)) return status;
  begin_flag(e);
  if (e->option->kind == OPTION_SWITCH) text_add(e->out, on ? "true" : "false");
  return CUGEN_OK;
}

static int add_number(const struct evaluation *e, const struct expr *expr) {
  int64_t number;
  struct text value = {0}, rule = {0};
  int status = expr_eval_int(expr, e->slots, &number, e->err);
  if (status || (number == 0 && e->option->kind == OPTION_COUNT)) return status;
  if (number < 0 || number > strtol(e->option->range, NULL, 10)) {
    text_addf(&value, "%lld", (long long)number);
    text_addf(&rule, "0 to %s", e->option->range);
    status = fail(e, text_get(&value), text_get(&rule));
  }
  begin_flag(e);
  text_addf(e->out, "%lld", (long long)number);
  text_free(&value);
  text_free(&rule);
  return status;
}

static bool is_listed(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return length > 0;
  return false;
}

static int add_word(const struct evaluation *e, const struct config_word *word) {
  struct value value = value_string(word->word);
  struct text rule = {0}, text = {0};
  int status = word->word ? CUGEN_OK : expr_eval(word->expr, e->slots, &value, e->err);
  if (status) return status;
  if (value.type != VALUE_STRING || !is_listed(e->option->range, value.string)) {
    value_print(value, &text);
    text_addf(&rule, "one of %s", e->option->range);
    status = fail(e, text_get(&text), text_get(&rule));
    text_free(&rule);
    text_free(&text);
    return status;
  }
  begin_flag(e);
  text_add(e->out, value.string);
  return CUGEN_OK;
}

static const struct config_options *who_sets(const struct config_compile *compile, int option) {
  const struct config_options *both[] = {compile->own, compile->shared};
  for (int i = 0; i < 2; i++)
    if (both[i] && (both[i]->values[option].word || both[i]->values[option].expr)) return both[i];
  return NULL;
}

int config_flags(const struct config *config, const struct config_compile *compile, bool reference,
                 const struct value *slots, struct text *out, cugen_error *err) {
  for (int i = 0; i < COMPILE_OPTION_COUNT; i++) {
    const struct config_options *set = who_sets(compile, i);
    if (!set || (reference && i != COMPILE_std)) continue;
    const struct config_word *word = &set->values[i];
    const struct evaluation e = {config, &options[i], set->line, slots, out, err};
    int status = options[i].kind == OPTION_WORD     ? add_word(&e, word)
                 : options[i].kind <= OPTION_SWITCH ? add_switch(&e, word->expr)
                                                    : add_number(&e, word->expr);
    if (status && err && strncmp(err->message, set->line.path, strlen(set->line.path)) != 0)
      error_prefix_at(err, set->line.path, set->line.number, "option %s", options[i].name);
    if (status) return status;
  }
  return out->failed ? error_memory(err) : CUGEN_OK;
}

static int add_define(struct config_line line, const struct config_spelling *define, const struct value *slots,
                      struct text *out, cugen_error *err) {
  struct text text = {0};
  int status = config_spell(define, slots, &text, err);
  if (status) {
    error_prefix_at(err, line.path, line.number, "define");
  } else {
    const char *value = strchr(text_get(&text), '=');
    const int length = (int)strcspn(text_get(&text), "=");
    source_add_line(out, line.number, line.path);
    text_addf(out, "#define %.*s %s\n", length, text_get(&text), value ? value + 1 : "1");
  }
  text_free(&text);
  return status;
}

int config_defines(const struct config_compile *compile, const struct value *slots, struct text *out,
                   cugen_error *err) {
  const struct config_options *both[] = {compile->shared, compile->own};
  int status = CUGEN_OK;
  for (int i = 0; i < 2 && !status; i++)
    for (size_t d = 0; both[i] && d < both[i]->define_count && !status; d++)
      status = add_define(both[i]->line, &both[i]->defines[d], slots, out, err);
  return status;
}

static void add_reads(const struct expr *expr, bool *reads) {
  size_t count = 0;
  const int *slots = expr ? expr_slots(expr, &count) : NULL;
  for (size_t i = 0; i < count; i++) reads[slots[i]] = true;
}

void config_compile_reads(const struct config_compile *compile, bool *reads) {
  const struct config_options *both[] = {compile->shared, compile->own};
  for (int i = 0; i < 2; i++) {
    for (int o = 0; both[i] && o < COMPILE_OPTION_COUNT; o++) add_reads(both[i]->values[o].expr, reads);
    for (size_t d = 0; both[i] && d < both[i]->define_count; d++) config_spelling_reads(&both[i]->defines[d], reads);
  }
}
