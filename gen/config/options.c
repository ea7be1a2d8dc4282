/* Options of the compiler and folders of headers. They are read with the config and evaluated for
   each variant. See build.h and config.h. */
#include <ctype.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "gen/sources/source_text.h"
#include "names.h"

enum option_kind {
  OPTION_FLAG,   /* the flag is given or not */
  OPTION_SWITCH, /* the flag is given with =true or =false */
  OPTION_COUNT,  /* the flag has a number; with 0 the flag is left out */
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

/* ---- Reading -------------------------------------------------------------------------------- */

enum { MOST_WORDS = 8, WORD_BYTES = 8, MOST_ITEMS = 64 };

/* Returns the option's words for read_word. They are in the arena, because the config keeps the
   word that is found. */
static const char *const *list_words(struct build *build, const struct option *option) {
  const char **words = arena_array(build->arena, MOST_WORDS, sizeof *words);
  size_t count = 0;
  for (const char *at = option->range; words && *at && count + 1 < MOST_WORDS;
       at += strspn(at, " ")) {
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

/* Returns the length of the list on top of the stack; -1: the table is not a list. */
static int list_length(struct build *build, int most) {
  lua_State *L = build->L;
  if (lua_type(L, -1) != LUA_TTABLE) return -1;
  int keys = 0, table = lua_gettop(L), length = (int)lua_rawlen(L, table);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) keys++;
  return keys == length && length >= 1 && length <= most ? length : -1;
}

/* Checks "NAME" or "NAME=value": the config must not have the name, and the value must be one
   line. */
static int check_define(struct build *build, struct config_line line, const char *text) {
  size_t length = strcspn(text, "=");
  char *name = arena_string(build->arena, text, length);
  if (!name) return build_memory(build);
  if (!names_identifier(name) || strchr(text, '\n') || strchr(text, '\\'))
    return build_fail(build, line, "define '%.80s' is no \"NAME\" or \"NAME=value\" on one line",
                      text);
  const struct scope_name *known = scope_find(build, name);
  if (!known) return CUGEN_OK;
  return build_fail(build, line,
                    "define '%s': the name is taken at %s, which templates know without it", name,
                    build_line(build, line, known->line));
}

/* Returns the smallest key above `last`, in the order of strcmp, of the table on top of the stack;
   NULL: there is none. */
static const char *next_key(lua_State *L, const char *last) {
  const char *least = NULL;
  const int table = lua_gettop(L);
  for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1)) {
    const char *key = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (key && strcmp(key, last) > 0 && (!least || strcmp(key, least) < 0)) least = key;
  }
  return least;
}

/* Reads NAME = "expression" pairs, sorted by name. */
static int read_macros(struct build *build, struct config_line line, struct config_options *out) {
  struct config_macro *macros = arena_array(build->arena, MOST_ITEMS, sizeof *macros);
  if (!macros) return build_memory(build);
  out->macros = macros;
  int status = CUGEN_OK;
  for (const char *key = "";
       !status && out->macro_count < MOST_ITEMS && (key = next_key(build->L, key));) {
    struct config_macro *macro = &macros[out->macro_count++];
    struct text what = {0};
    macro->name = arena_string(build->arena, key, strlen(key));
    if (!macro->name) return build_memory(build);
    text_addf(&what, "define %s", macro->name);
    status = check_define(build, line, macro->name);
    if (!status && push_field(build, lua_gettop(build->L), macro->name)) {
      status = read_expr(build, line, text_get(&what), &macro->expr);
      lua_pop(build->L, 1);
    }
    text_free(&what);
  }
  return status;
}

static int read_defines(struct build *build, struct config_line line, struct config_options *out) {
  int length = lua_type(build->L, -1) == LUA_TTABLE ? (int)lua_rawlen(build->L, -1) : -1, keys = 0;
  if (length >= 0)
    for (lua_pushnil(build->L); lua_next(build->L, -2); lua_pop(build->L, 1))
      keys +=
          lua_type(build->L, -2) == LUA_TSTRING || lua_isinteger(build->L, -2) ? 1 : MOST_ITEMS + 1;
  if (length < 0 || keys < 1 || keys > MOST_ITEMS)
    return build_fail(
        build, line,
        "option define is a list of 1 to %d macros: { \"FAST\", \"DEPTH=4\", WIDE = \"vec > 1\" }",
        MOST_ITEMS);
  struct config_spelling *defines = arena_array(build->arena, (size_t)length, sizeof *defines);
  if (!defines) return build_memory(build);
  out->defines = defines;
  const int named = read_macros(build, line, out);
  if (named) return named;
  int status = CUGEN_OK;
  for (int i = 0; i < length && !status; i++) {
    lua_rawgeti(build->L, -1, i + 1);
    status = read_spelling(build, line, "define", &defines[out->define_count++]);
    lua_pop(build->L, 1);
    if (!status) status = check_define(build, line, defines[i].text);
  }
  return status;
}

/* Flags of NVRTC that are passed on unchanged. A flag that ends with `=` takes a value. */
static const char *const free_flags[] = {"--device-int128",
                                         "--device-float128",
                                         "--builtin-initializer-list=",
                                         "--builtin-move-forward=",
                                         "--diag-error=",
                                         "--diag-suppress=",
                                         "--diag-warn=",
                                         "--disable-warnings",
                                         "--display-error-number",
                                         "--generate-line-info"};

/* Flags that are refused, because cugen sets them itself or because cugen would get no kernel or no
   figures with them. */
static const struct {
  const char *flag, *why;
} set_flags[] = {
    {"--gpu-architecture", "cugen compiles for the device at hand, or for cugen_options.arch"},
    {"-arch", "cugen compiles for the device at hand, or for cugen_options.arch"},
    {"--ptxas-options", "cugen reads what ptxas prints; opt_level, register_usage_level, "
                        "load_cache, store_cache are options"},
    {"-Xptxas", "cugen reads what ptxas prints; opt_level, register_usage_level, load_cache, "
                "store_cache are options"},
    {"--define-macro", "say define = { \"NAME=value\" }"},
    {"-D", "say define = { \"NAME=value\" }"},
    {"--include-path", "say include_dirs { \"include\" }"},
    {"-I", "say include_dirs { \"include\" }"},
    {"--pre-include", "write the #include into the template"},
    {"--relocatable-device-code", "a kernel is loaded as it is compiled, without a linker"},
    {"-rdc", "a kernel is loaded as it is compiled, without a linker"},
    {"--dlink-time-opt", "a kernel is loaded as it is compiled, without a linker"},
    {"--device-debug", "code for a debugger says nothing of a variant's time"},
    {"-G", "code for a debugger says nothing of a variant's time"},
    {"--device-as-default-execution-space", "cugen says so itself"},
    {"-default-device", "cugen says so itself"},
    {"--pch", "cugen keeps what is compiled itself"},
    {"--create-pch", "cugen keeps what is compiled itself"},
    {"--use-pch", "cugen keeps what is compiled itself"},
    {"--extended-lambda", "NVRTC has no such flag: a lambda of a kernel is device code without "
                          "__device__, so leave that out"},
    {"--no-cache", "cugen keeps what is compiled itself"},
};

static bool same_flag(const char *known, const char *flag, size_t length) {
  const size_t all = strcspn(known, "=");
  return all == length && memcmp(known, flag, length) == 0;
}

static int refuse_flag(struct build *build, struct config_line line, const char *flag,
                       size_t length) {
  const size_t free_count = sizeof free_flags / sizeof *free_flags;
  for (int i = 0; i < COMPILE_OPTION_COUNT; i++)
    if (same_flag(options[i].flag, flag, length) && strncmp(flag, "--ptxas", 7) != 0)
      return build_fail(build, line, "flag '%.80s' has an option of its own: %s = ...", flag,
                        options[i].name);
  for (size_t i = 0; i < sizeof set_flags / sizeof *set_flags; i++)
    if (same_flag(set_flags[i].flag, flag, length))
      return build_fail(build, line, "flag '%.80s' is refused: %s", flag, set_flags[i].why);
  struct text all = {0};
  const char *nearest = text_nearest(flag, free_flags, free_count);
  for (size_t i = 0; i < free_count; i++) text_addf(&all, "%s%s", i ? ", " : "", free_flags[i]);
  int status =
      nearest ? build_fail(build, line, "unknown flag '%.80s' (nearest '%s')", flag, nearest)
              : build_fail(build, line, "unknown flag '%.80s'; flags are %s", flag, text_get(&all));
  text_free(&all);
  return status;
}

static int check_flag(struct build *build, struct config_line line, const char *flag) {
  const size_t length = strcspn(flag, "=");
  for (const char *c = flag; *c; c++)
    if (*c <= ' ' || *c == 127 || *c == '\\')
      return build_fail(build, line,
                        "flag '%.80s' has a blank, a backslash or a character that is none in it",
                        flag);
  for (size_t i = 0; i < sizeof free_flags / sizeof *free_flags; i++) {
    const bool takes = strchr(free_flags[i], '=') != NULL;
    if (!same_flag(free_flags[i], flag, length)) continue;
    if (takes == (flag[length] == '=' && flag[length + 1])) return CUGEN_OK;
    return build_fail(build, line, "flag '%.80s' %s", flag,
                      takes ? "takes a value: FLAG=value" : "takes no value");
  }
  return refuse_flag(build, line, flag, length);
}

/* flags = { "--device-int128" } */
static int read_flags(struct build *build, struct config_line line, struct config_options *out) {
  const int length = list_length(build, MOST_ITEMS);
  struct text all = {0};
  int status = CUGEN_OK;
  if (length < 0)
    return build_fail(build, line,
                      "option flags is a list of 1 to %d flags of NVRTC: { \"--device-int128\" }",
                      MOST_ITEMS);
  for (int i = 0; i < length && !status; i++) {
    const char *flag = NULL;
    lua_rawgeti(build->L, -1, i + 1);
    status = read_string(build, line, "flag", &flag);
    lua_pop(build->L, 1);
    if (!status) status = check_flag(build, line, flag);
    if (!status) text_addf(&all, "%s%s", i ? " " : "", flag);
  }
  out->flags = arena_string(build->arena, text_get(&all), all.length);
  if (!status && (all.failed || !out->flags)) status = build_memory(build);
  text_free(&all);
  return status;
}

static int refuse_option(struct build *build, struct config_line line, const char *odd,
                         const char *const *names, size_t count) {
  struct text all = {0};
  const char *nearest = text_nearest(odd, names, count);
  for (size_t i = 0; i < count; i++) text_addf(&all, "%s%s", i ? ", " : "", names[i]);
  int status = nearest ? build_fail(build, line, "unknown option '%s' (nearest '%s')", odd, nearest)
                       : build_fail(build, line, "%s%s%s; options are %s",
                                    *odd ? "unknown option '" : "an option without 'name ='", odd,
                                    *odd ? "'" : "", text_get(&all));
  text_free(&all);
  return status;
}

static int options_read_fields(struct build *build, int table, struct config_options *out) {
  enum { DEFINE = COMPILE_OPTION_COUNT, FLAGS, ALL };
  const char *names[ALL] = {[DEFINE] = "define", [FLAGS] = "flags"};
  for (int i = 0; i < COMPILE_OPTION_COUNT; i++) names[i] = options[i].name;
  const char *odd = unknown_key(build, table, names, ALL);
  if (odd) return refuse_option(build, out->line, odd, names, ALL);
  int status = CUGEN_OK;
  for (int i = 0; i < ALL && !status; i++) {
    if (!push_field(build, table, names[i])) continue;
    status = i == DEFINE  ? read_defines(build, out->line, out)
             : i == FLAGS ? read_flags(build, out->line, out)
                          : read_option(build, out->line, &options[i], &out->values[i]);
    lua_pop(build->L, 1);
  }
  return status;
}

static int options_read_options(struct build *build, const struct list *list,
                                const struct config_options **out) {
  const struct item *item = list_find(list, KEYWORD_options);
  if (!item) return CUGEN_OK;
  struct config_options *read = arena_array(build->arena, 1, sizeof *read);
  if (!read) return build_memory(build);
  *out = read;
  read->line = item->declaration->line;
  list_push(build, list, item);
  int status = lua_type(build->L, -1) == LUA_TTABLE
                   ? options_read_fields(build, lua_gettop(build->L), read)
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

static int read_folders(struct build *build, const struct list *list,
                        const struct config_compile *outer, struct config_compile *out) {
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
  int status = options_read_options(build, list, &own);
  out->shared = outer ? outer->shared : own;
  out->own = outer ? own : NULL;
  return status ? status : read_folders(build, list, outer, out);
}

/* ---- Evaluating ----------------------------------------------------------------------------- */

struct evaluation {
  const struct config *config;
  const struct option *option;
  struct config_line line;
  const struct value *slots;
  struct text *out;
  cugen_error *err;
};

static int options_fail(const struct evaluation *e, const char *value, const char *rule) {
  return error_set_at(e->err, CUGEN_ERROR_CONFIG, e->line.path, e->line.number,
                      "option %s is %s: it must be %s", e->option->name, value, rule);
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

static int options_add_number(const struct evaluation *e, const struct expr *expr) {
  int64_t number;
  struct text value = {0}, rule = {0};
  int status = expr_eval_int(expr, e->slots, &number, e->err);
  if (status || (number == 0 && e->option->kind == OPTION_COUNT)) return status;
  if (number < 0 || number > strtol(e->option->range, NULL, 10)) {
    text_addf(&value, "%lld", (long long)number);
    text_addf(&rule, "0 to %s", e->option->range);
    status = options_fail(e, text_get(&value), text_get(&rule));
  }
  begin_flag(e);
  text_addf(e->out, "%lld", (long long)number);
  text_free(&value);
  text_free(&rule);
  return status;
}

static bool options_is_listed(const char *words, const char *word) {
  size_t length = strlen(word);
  for (const char *at = words; (at = strstr(at, word)); at += length)
    if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length])) return length > 0;
  return false;
}

static int options_add_word(const struct evaluation *e, const struct config_word *word) {
  struct value value = value_string(word->word);
  struct text rule = {0}, text = {0};
  int status = word->word ? CUGEN_OK : expr_eval(word->expr, e->slots, &value, e->err);
  if (status) return status;
  if (value.type != VALUE_STRING || !options_is_listed(e->option->range, value.string)) {
    value_print(value, &text);
    text_addf(&rule, "one of %s", e->option->range);
    status = options_fail(e, text_get(&text), text_get(&rule));
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
    int status = options[i].kind == OPTION_WORD     ? options_add_word(&e, word)
                 : options[i].kind <= OPTION_SWITCH ? add_switch(&e, word->expr)
                                                    : options_add_number(&e, word->expr);
    if (status && err && !err->line)
      error_prefix_at(err, set->line.path, set->line.number, "option %s", options[i].name);
    if (status) return status;
  }
  const struct config_options *both[] = {compile->shared, compile->own};
  for (int i = 0; i < 2; i++)
    if (both[i] && both[i]->flags) text_addf(out, "%s%s", out->length ? " " : "", both[i]->flags);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

/* Returns whether the headers that a compiler reads before the source ask for the macro, so that a
   line in the source would be too late. This holds for some macros of NVRTC and of the cpu device.
   Other macros are not passed as flags, because -DT=float, say, would break the templates in those
   headers. */
static bool is_asked_early(const char *macro, int length) {
  static const char *const names[] = {"NDEBUG"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (strlen(names[i]) == (size_t)length && memcmp(names[i], macro, (size_t)length) == 0)
      return true;
  return false;
}

/* Adds a macro as a line in front of the source, so that compilers can report the place of an error
   in it; and as a flag if the macro must be known earlier. */
static void put_define(struct config_line line, const char *macro, struct text *lines,
                       struct text *flags) {
  const int length = (int)strcspn(macro, "=");
  const char *value = macro[length] ? macro + length + 1 : "1";
  source_add_line(lines, line.number, line.path);
  text_addf(lines, "#define %.*s %s\n", length, macro, value);
  if (is_asked_early(macro, length) && !strpbrk(value, " \t"))
    text_addf(flags, "%s-D%.*s=%s", flags->length ? " " : "", length, macro, value);
}

static int add_define(struct config_line line, const struct config_spelling *define,
                      const struct value *slots, struct text *lines, struct text *flags,
                      cugen_error *err) {
  struct text text = {0};
  int status = config_spell(define, slots, &text, err);
  if (status)
    error_prefix_at(err, line.path, line.number, "define");
  else
    put_define(line, text_get(&text), lines, flags);
  text_free(&text);
  return status;
}

static int add_macro(struct config_line line, const struct config_macro *macro,
                     const struct value *slots, struct text *lines, struct text *flags,
                     cugen_error *err) {
  struct text text = {0};
  struct value value;
  int status = expr_eval(macro->expr, slots, &value, err);
  if (status) return error_prefix_at(err, line.path, line.number, "define %s", macro->name), status;
  const struct dtype *dtype = value.type == VALUE_STRING ? dtype_find(value.string) : NULL;
  text_add(&text, macro->name);
  if (value.type != VALUE_BOOL) text_add_char(&text, '=');
  if (dtype)
    text_add(&text, dtype->cuda_name);
  else if (value.type != VALUE_BOOL)
    value_print_literal(value, &text);
  if (value.type != VALUE_BOOL || value.boolean) put_define(line, text_get(&text), lines, flags);
  text_free(&text);
  return CUGEN_OK;
}

int config_defines(const struct config_compile *compile, const struct value *slots,
                   struct text *lines, struct text *flags, cugen_error *err) {
  const struct config_options *both[] = {compile->shared, compile->own};
  int status = CUGEN_OK;
  for (int i = 0; i < 2 && !status; i++) {
    for (size_t d = 0; both[i] && d < both[i]->define_count && !status; d++)
      status = add_define(both[i]->line, &both[i]->defines[d], slots, lines, flags, err);
    for (size_t m = 0; both[i] && m < both[i]->macro_count && !status; m++)
      status = add_macro(both[i]->line, &both[i]->macros[m], slots, lines, flags, err);
  }
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
    for (int o = 0; both[i] && o < COMPILE_OPTION_COUNT; o++)
      add_reads(both[i]->values[o].expr, reads);
    for (size_t d = 0; both[i] && d < both[i]->define_count; d++)
      config_spelling_reads(&both[i]->defines[d], reads);
    for (size_t m = 0; both[i] && m < both[i]->macro_count; m++)
      add_reads(both[i]->macros[m].expr, reads);
  }
}
