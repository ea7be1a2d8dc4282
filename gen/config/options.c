/* Options of the compiler and folders of headers, read with the config and evaluated for each
   variant. See build.h and evaluate.h. */
#include <ctype.h>
#include <lua.h>
#include <stdlib.h>
#include <string.h>

#include "build.h"
#include "evaluate.h"
#include "gen/sources/source_text.h"
#include "names.h"

enum option_kind {
  OPTION_FLAG,   /* the flag is given or not */
  OPTION_SWITCH, /* the flag is given with =true or =false */
  OPTION_COUNT,  /* the flag has a number; with 0 the flag is left out */
  OPTION_NUMBER, /* the flag has a number, which may be 0 */
  OPTION_WORD    /* the flag has one of the words of the range */
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

enum { MOST_WORDS = 8, MOST_ITEMS = 64 };

static struct config_word read_option(struct build *build, const struct option *option) {
  const char *what = build_text(build, "option %s", option->name);
  if (option->kind != OPTION_WORD) return (struct config_word){.expr = read_expr(build, what)};
  /* in the arena, because the config keeps the word that is found */
  const char *words[MOST_WORDS] = {NULL};
  size_t count = 0;
  for (const char *at = option->range; *at; at += strspn(at, " ")) {
    words[count++] = build_copy(build, at, strcspn(at, " "));
    at += strcspn(at, " ");
  }
  return read_word(build, what, words);
}

/* Checks "NAME" or "NAME=value": the config must not have the name, and the value must be one
   line. */
static void check_define(struct build *build, const char *text) {
  const char *name = build_copy(build, text, strcspn(text, "="));
  if (!names_identifier(name) || strchr(text, '\n') || strchr(text, '\\'))
    build_fail(build, "define '%.80s' is no \"NAME\" or \"NAME=value\" on one line", text);
  const struct scope_name *known = scope_find(build, name);
  if (known)
    build_fail(build, "define '%s': the name is taken at %s, which templates know without it", name,
               build_line(build, known->line));
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
static void read_macros(struct build *build, int table, struct config_options *out) {
  struct config_macro *macros = build_array(build, MOST_ITEMS, sizeof *macros);
  out->macros = macros;
  for (const char *key = ""; out->macro_count < MOST_ITEMS && (key = next_key(build->L, key));) {
    struct config_macro *macro = &macros[out->macro_count++];
    macro->name = build_copy(build, key, strlen(key));
    check_define(build, macro->name);
    macro->expr =
        read_field_expr(build, table, macro->name, build_text(build, "define %s", macro->name));
  }
}

static void read_defines(struct build *build, struct config_options *out) {
  lua_State *L = build->L;
  const int table = lua_gettop(L);
  int length = lua_type(L, -1) == LUA_TTABLE ? (int)lua_rawlen(L, -1) : -1, keys = 0;
  if (length >= 0)
    for (lua_pushnil(L); lua_next(L, table); lua_pop(L, 1))
      keys += lua_type(L, -2) == LUA_TSTRING || lua_isinteger(L, -2) ? 1 : MOST_ITEMS + 1;
  if (length < 0 || keys < 1 || keys > MOST_ITEMS)
    build_fail(
        build,
        "option define is a list of 1 to %d macros: { \"FAST\", \"DEPTH=4\", WIDE = \"vec > 1\" }",
        MOST_ITEMS);
  struct config_spelling *defines = build_array(build, (size_t)length, sizeof *defines);
  out->defines = defines;
  read_macros(build, table, out);
  for (int i = 0; i < length; i++) {
    lua_rawgeti(L, table, i + 1);
    defines[out->define_count++] = read_spelling(build, "define");
    lua_pop(L, 1);
    check_define(build, defines[i].text);
  }
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

/* Flags that are refused, with the reason for the message. */
static const struct {
  const char *flags, *why;
} set_flags[] = {
    {"--gpu-architecture -arch",
     "cugen compiles for the device at hand, or for cugen_options.arch"},
    {"--ptxas-options -Xptxas", "cugen reads what ptxas prints; opt_level, register_usage_level, "
                                "load_cache, store_cache are options"},
    {"--define-macro -D", "say define = { \"NAME=value\" }"},
    {"--include-path -I", "say include_dirs { \"include\" }"},
    {"--pre-include", "write the #include into the template"},
    {"--relocatable-device-code -rdc --dlink-time-opt",
     "a kernel is loaded as it is compiled, without a linker"},
    {"--device-debug -G", "code for a debugger says nothing of a variant's time"},
    {"--device-as-default-execution-space -default-device", "cugen passes it always"},
    {"--pch --create-pch --use-pch", "cugen itself precompiles headers where that pays"},
    {"--extended-lambda", "NVRTC has no such flag: a lambda of a kernel is device code without "
                          "__device__, so leave that out"},
    {"--no-cache", "cugen switches NVRTC's cache off itself, and has its own"},
};

static bool same_flag(const char *known, const char *name) {
  const size_t length = strcspn(known, "=");
  return strncmp(known, name, length) == 0 && !name[length];
}

static void check_flag(struct build *build, const char *flag) {
  const size_t length = strcspn(flag, "="), free_count = sizeof free_flags / sizeof *free_flags;
  const char *name = build_copy(build, flag, length);
  for (const char *c = flag; *c; c++)
    if (*c <= ' ' || *c == 127 || *c == '\\')
      build_fail(
          build,
          "flag '%.80s' has a blank, a backslash or a character beyond printable ASCII in it",
          flag);
  for (size_t i = 0; i < free_count; i++) {
    const bool takes = strchr(free_flags[i], '=') != NULL;
    if (!same_flag(free_flags[i], name)) continue;
    if (takes == (flag[length] == '=' && flag[length + 1])) return;
    build_fail(build, "flag '%.80s' %s", flag,
               takes ? "takes a value: FLAG=value" : "takes no value");
  }
  for (int i = 0; i < COMPILE_OPTION_COUNT; i++)
    if (same_flag(options[i].flag, name) && strncmp(flag, "--ptxas", 7) != 0)
      build_fail(build, "flag '%.80s' has an option of its own: %s = ...", flag, options[i].name);
  for (size_t i = 0; i < sizeof set_flags / sizeof *set_flags; i++)
    if (names_listed(set_flags[i].flags, name))
      build_fail(build, "flag '%.80s' is refused: %s", flag, set_flags[i].why);
  const char *nearest = text_nearest(flag, free_flags, free_count);
  if (nearest) build_fail(build, "unknown flag '%.80s' (nearest '%s')", flag, nearest);
  build_fail(build, "unknown flag '%.80s'; flags are %s", flag,
             build_join(build, free_flags, free_count));
}

static const char *read_flags(struct build *build) {
  const lua_Integer length = list_length(build);
  const char *flags[MOST_ITEMS];
  struct text all = {0};
  if (length < 1 || length > MOST_ITEMS)
    build_fail(build, "option flags is a list of 1 to %d flags of NVRTC: { \"--device-int128\" }",
               MOST_ITEMS);
  for (lua_Integer i = 0; i < length; i++) {
    lua_rawgeti(build->L, -1, i + 1);
    flags[i] = read_string(build, "flag");
    lua_pop(build->L, 1);
    check_flag(build, flags[i]);
  }
  for (lua_Integer i = 0; i < length; i++) text_addf(&all, "%s%s", i ? " " : "", flags[i]);
  return build_take(build, &all);
}

static void options_read_options(struct build *build, const struct item *item, void *out) {
  enum { DEFINE = COMPILE_OPTION_COUNT, FLAGS, ALL };
  const char *names[ALL] = {[DEFINE] = "define", [FLAGS] = "flags"};
  struct config_options *read = build_array(build, 1, sizeof *read);
  const int table = lua_gettop(build->L);
  *(const struct config_options **)out = read;
  read->line = build->line;
  if (lua_type(build->L, table) != LUA_TTABLE)
    build_fail(build, "options stand in braces: %s", item->declaration->keyword->example);
  for (int i = 0; i < COMPILE_OPTION_COUNT; i++) names[i] = options[i].name;
  refuse_unknown_key(build, "option", "", names, ALL);
  for (int i = 0; i < ALL; i++) {
    if (!push_field(build, table, names[i])) continue;
    if (i == DEFINE)
      read_defines(build, read);
    else if (i == FLAGS)
      read->flags = read_flags(build);
    else
      read->values[i] = read_option(build, &options[i]);
    lua_pop(build->L, 1);
  }
}

/* Appends the folders to those of the struct config_compile. */
static void read_folders(struct build *build, const struct item *item, void *context) {
  struct config_compile *out = context;
  const lua_Integer length = list_length(build);
  if (length < 1 || length > MOST_ITEMS)
    build_fail(build, "include_dirs is a list of 1 to %d folders: %s", MOST_ITEMS,
               item->declaration->keyword->example);
  out->folders_line = build->line;
  for (lua_Integer i = 0; i < length; i++) {
    lua_rawgeti(build->L, -1, i + 1);
    const char *folder = read_string(build, "include_dirs");
    cugen_error why;
    if (sources_check_name("folder", folder, &why))
      build_fail(build, "include_dirs: %s", why.message);
    if (!sources_inside(folder))
      build_fail(build,
                 "include_dirs names '%.80s': a folder is named relative to the config or to "
                 "cugen_options.template_dir, without '..'",
                 folder);
    ((const char **)out->folders)[out->folder_count++] = folder;
    lua_pop(build->L, 1);
  }
}

void read_compile(struct build *build, const struct list *list, const struct config_compile *outer,
                  struct config_compile *out) {
  const struct config_options *own = NULL;
  const size_t more = outer ? outer->folder_count : 0;
  const char **folders = build_array(build, MOST_ITEMS + more, sizeof *folders);
  read_only(build, list, KEYWORD_options, options_read_options, (void *)&own);
  *out = (struct config_compile){.shared = outer ? outer->shared : own,
                                 .own = outer ? own : NULL,
                                 .folders = folders,
                                 .folders_line = build->line};
  read_only(build, list, KEYWORD_include_dirs, read_folders, out);
  out->own_folders = out->folder_count;
  for (size_t i = 0; i < more; i++) folders[out->folder_count++] = outer->folders[i];
}

/* ---- Evaluating ----------------------------------------------------------------------------- */

/* Appends the option's flag with its value, unless the value leaves the flag out. */
static int add_flag(const struct option *option, const struct config_options *set,
                    const struct value *slots, struct text *out, cugen_error *err) {
  const struct config_word *word = &set->values[option - options];
  struct value value = value_string(word->word);
  struct text text = {0};
  bool given = true;
  int64_t number = 0;
  int status = CUGEN_OK;
  switch (option->kind) {
  case OPTION_FLAG:
  case OPTION_SWITCH:
    status = expr_eval_bool(word->expr, slots, &given, err);
    if (option->kind == OPTION_FLAG) break;
    text_add(&text, given ? "true" : "false");
    given = true;
    break;
  case OPTION_COUNT:
  case OPTION_NUMBER:
    status = expr_eval_int(word->expr, slots, &number, err);
    if (status) break;
    given = number != 0 || option->kind == OPTION_NUMBER;
    text_addf(&text, "%lld", (long long)number);
    if (number < 0 || number > strtol(option->range, NULL, 10))
      status = config_fail(err, set->line, "option %s is %s: it must be 0 to %s", option->name,
                           text_get(&text), option->range);
    break;
  case OPTION_WORD:
    if (!word->word) status = expr_eval(word->expr, slots, &value, err);
    if (status) break;
    value_print(value, &text);
    if (value.type != VALUE_STRING || !names_listed(option->range, value.string))
      status = config_fail(err, set->line, "option %s is %s: it must be one of %s", option->name,
                           text_get(&text), option->range);
    break;
  }
  if (!status && given)
    text_addf(out, "%s%s%s", out->length ? " " : "", option->flag, text_get(&text));
  out->failed |= text.failed;
  text_free(&text);
  return status;
}

/* Returns the options { } that set the option: the implementation's, else the kernel's; NULL:
   neither. */
static const struct config_options *who_sets(const struct config_compile *compile, int option) {
  const struct config_options *both[] = {compile->own, compile->shared};
  for (int i = 0; i < 2; i++)
    if (both[i] && (both[i]->values[option].word || both[i]->values[option].expr)) return both[i];
  return NULL;
}

int config_flags(const struct config_compile *compile, bool reference, const struct value *slots,
                 struct text *out, cugen_error *err) {
  for (int i = 0; i < COMPILE_OPTION_COUNT; i++) {
    const struct config_options *set = who_sets(compile, i);
    if (!set || (reference && i != COMPILE_std)) continue;
    int status = add_flag(&options[i], set, slots, out, err);
    if (status && err && !err->line) config_prefix(err, set->line, "option %s", options[i].name);
    if (status) return status;
  }
  const struct config_options *both[] = {compile->shared, compile->own};
  for (int i = 0; i < 2; i++)
    if (both[i] && both[i]->flags) text_addf(out, "%s%s", out->length ? " " : "", both[i]->flags);
  return out->failed ? error_memory(err) : CUGEN_OK;
}

/* Adds a macro as a line in front of the source, so that compilers can report the place of an error
   in it. NDEBUG is also a flag, because headers that a compiler reads before the source ask for
   NDEBUG. Other macros are no flags, because they could break those headers. */
static void put_define(struct config_line line, const char *macro, struct text *lines,
                       struct text *flags) {
  const int length = (int)strcspn(macro, "=");
  const char *value = macro[length] ? macro + length + 1 : "1";
  source_add_line(lines, line.number, line.path);
  text_addf(lines, "#define %.*s %s\n", length, macro, value);
  if (length == 6 && memcmp(macro, "NDEBUG", 6) == 0 && !strpbrk(value, " \t"))
    text_addf(flags, "%s-D%.*s=%s", flags->length ? " " : "", length, macro, value);
}

static int add_define(struct config_line line, const struct config_spelling *define,
                      const struct value *slots, struct text *lines, struct text *flags,
                      cugen_error *err) {
  struct text text = {0};
  int status = config_spell(define, slots, &text, err);
  if (status)
    config_prefix(err, line, "define");
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
  if (status) return config_prefix(err, line, "define %s", macro->name), status;
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

void config_compile_reads(const struct config_compile *compile, bool *reads) {
  const struct config_options *both[] = {compile->shared, compile->own};
  for (int i = 0; i < 2; i++) {
    for (int o = 0; both[i] && o < COMPILE_OPTION_COUNT; o++)
      config_expr_reads(both[i]->values[o].expr, reads);
    for (size_t d = 0; both[i] && d < both[i]->define_count; d++)
      config_spelling_reads(&both[i]->defines[d], reads);
    for (size_t m = 0; both[i] && m < both[i]->macro_count; m++)
      config_expr_reads(both[i]->macros[m].expr, reads);
  }
}
