/* Reads the kernel declaration and the declarations directly in it. See build.h. */
#include <ctype.h>
#include <lua.h>
#include <string.h>

#include "build.h"

/* ---- Problems ------------------------------------------------------------------------------- */

static void read_problem(struct build *build, const struct item *item, void *context) {
  struct config_problem *out = context;
  const char *what = build_text(build, "problem \"%s\"", item->name);
  const int slot =
      build->config->first_problem + (int)(out - (struct config_problem *)build->config->problems);
  *out = (struct config_problem){.name = build_copy(build, item->name, strlen(item->name)),
                                 .line = build->line,
                                 .check = {.type = VALUE_NIL}};
  scope_add(build, (struct scope_name){.name = out->name, .role = ROLE_PROBLEM, .slot = slot});
  out->listed = lua_type(build->L, -1) == LUA_TTABLE;
  if (out->listed) {
    read_values(build, what, &out->values, &out->value_count);
    for (size_t i = 1; i < out->value_count; i++)
      if (out->values[i].type != out->values[0].type)
        build_fail(build, "%s mixes types of values", what);
  } else {
    struct value *value = build_array(build, 1, sizeof *value);
    *value = read_value(build, what);
    out->values = value;
    out->value_count = 1;
  }
  scope_set_values(build, out->values, out->value_count, !out->listed);
}

static void kernel_read_problems(struct build *build, const struct list *list) {
  struct config *config = build->config;
  const size_t count = list_count(list, KEYWORD_problem);
  const struct value *values;
  config->first_problem = DEVICE_FACT_COUNT;
  config->first_tunable = DEVICE_FACT_COUNT + (int)count;
  READ_ARRAY(build, list, KEYWORD_problem, read_problem, config->problems, config->problem_count);
  read_check(build, list, &values);
  /* only readers of the config see the array as constant */
  for (size_t i = 0; i < count && values; i++)
    ((struct config_problem *)config->problems)[i].check = values[i];
}

/* ---- Findings that are intended: waive { at = "...", reason = "..." } ----------------------- */

/* Findings that a correct kernel can have. */
static const cugen_finding_kind waivable[] = {CUGEN_FINDING_UNINITIALISED, CUGEN_FINDING_EXITED,
                                              CUGEN_FINDING_SAME_VALUE};
enum { WAIVABLE = sizeof waivable / sizeof *waivable };

/* Both `at` and `reason` are required and must not be empty. */
static const char *waive_read_field(struct build *build, int table, const char *name) {
  const char *example = config_keywords[KEYWORD_waive].example;
  if (!push_field(build, table, name)) build_fail(build, "waive has no %s: %s", name, example);
  const char *text = read_string(build, build_text(build, "%s of waive", name));
  lua_pop(build->L, 1);
  if (text[strspn(text, " \t\n")] == '\0')
    build_fail(build, "%s of waive is empty: %s", name, example);
  return text;
}

static void read_waiver(struct build *build, const struct item *item, void *context) {
  static const char *const known[] = {"at", "reason"};
  struct config_waiver *out = context;
  const char *names[WAIVABLE];
  const int table = lua_gettop(build->L);
  int kind = WAIVABLE;
  for (int i = 0; i < WAIVABLE; i++) {
    names[i] = finding_name((int)waivable[i]);
    if (strcmp(names[i], item->name) == 0) kind = i;
  }
  if (kind == WAIVABLE)
    build_fail_name(build, item->name, names, WAIVABLE,
                    "waive \"%.80s\": what can be waived is \"%s\", \"%s\" and \"%s\"", item->name,
                    names[0], names[1], names[2]);
  *out = (struct config_waiver){.line = build->line, .kind = waivable[kind]};
  refuse_odd_table(build, "field", "waive", item->declaration->keyword->example, known, 2);
  out->at = waive_read_field(build, table, "at");
  out->reason = waive_read_field(build, table, "reason");
}

/* ---- Parts shared by implementations -------------------------------------------------------- */

static void read_shared(struct build *build, const struct list *list) {
  struct config *config = build->config;
  const size_t count = list_count(list, KEYWORD_tunable);
  struct config_tunable *tunables = build_array(build, count, sizeof *tunables);
  build->derived = build_array(build, list_count(list, KEYWORD_derive), sizeof *build->derived);
  build->restrictions =
      build_array(build, list_count(list, KEYWORD_where), sizeof *build->restrictions);
  config->shared_tunables = tunables;
  config->shared_tunable_count = count;
  note_items(build, list, KEYWORD_tunable, read_tunable, tunables, sizeof *tunables, NULL);
  note_items(build, list, KEYWORD_derive, read_derived, build->derived, sizeof *build->derived,
             &build->derived_count);
  note_items(build, list, KEYWORD_where, read_restriction, build->restrictions,
             sizeof *build->restrictions, &build->restriction_count);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static void check_arguments(struct build *build) {
  const struct config *config = build->config;
  for (size_t i = 0; i < config->argument_count; i++)
    if (config_has_result(config->arguments[i].kind)) return;
  build_fail(build, "kernel \"%s\" has no output: %s", config->name,
             config_keywords[KEYWORD_output].example);
}

static void kernel_read_arguments(struct build *build, const struct list *list) {
  struct config *config = build->config;
  size_t count = 0;
  for (size_t i = 0; i < list->count; i++)
    count += is_argument(list->items[i].declaration->keyword->id);
  if (count > KERNEL_MAX_ARGUMENTS)
    build_fail(build, "kernel \"%s\" has more than %d arguments: pass several scalars as a struct",
               config->name, KERNEL_MAX_ARGUMENTS);
  struct config_argument *arguments = build_array(build, count, sizeof *arguments);
  config->arguments = arguments;
  for (size_t i = 0; i < list->count; i++)
    if (is_argument(list->items[i].declaration->keyword->id))
      note_item(build, list, &list->items[i], read_argument, &arguments[config->argument_count++]);
  check_arguments(build);
  scope_check_generated(build);
}

/* ---- reference, verify, flops, bytes -------------------------------------------------------- */

/* Reads a reference (a file, results or "none") or the file of a verify kernel, and the line. */
static void read_judge(struct build *build, const struct item *item, void *out) {
  struct config *config = out;
  const struct keyword *keyword = item->declaration->keyword;
  const bool verify = keyword->id == KEYWORD_verify;
  *(verify ? &config->verify_line : &config->reference_line) = build->line;
  if (!verify && lua_type(build->L, -1) == LUA_TTABLE) {
    /* Expressions need the ranks of all arguments, which are not known after an error. */
    if (!build->noted.length) read_answers(build);
    return;
  }
  const char *text = read_string(build, keyword->name);
  const bool none = strcmp(text, "none") == 0;
  if (none && verify) build_fail(build, "verify \"none\" is no file: leave verify out");
  if (!none)
    read_kernel_file(build, keyword->name, text, verify ? &config->verify : &config->reference,
                     verify ? &config->verify_entry : &config->reference_entry);
}

bool config_has_results(const struct config *config) {
  return config->reference || config->answers;
}

bool config_proves(const struct config *config) {
  return config_has_results(config) || config->verify;
}

static void read_proof(struct build *build, void *list) {
  if (!list_find(list, KEYWORD_reference) && !list_find(list, KEYWORD_verify))
    build_fail(build,
               "kernel \"%s\" has no reference: %s computes the right result, %s judges where many "
               "results are right. With reference \"none\" no result is verified",
               build->config->name, config_keywords[KEYWORD_reference].example,
               config_keywords[KEYWORD_verify].example);
  read_only(build, list, KEYWORD_reference, read_judge, build->config);
  read_only(build, list, KEYWORD_verify, read_judge, build->config);
}

static void read_work(struct build *build, const struct item *item, void *out) {
  *(struct config_work *)out = (struct config_work){
      .line = build->line, .expr = read_expr(build, item->declaration->keyword->name)};
}

int config_set_objective(struct config *config, const char *text, cugen_error *err) {
  struct objective *objective;
  int status = objective_open(text, &objective, err);
  if (status) return status;
  const bool flops = objective->needs_flops && !config->flops.expr,
             bytes = objective->needs_bytes && !config->bytes.expr;
  if (flops || bytes) {
    status =
        error_set(err, CUGEN_ERROR_CONFIG, "objective \"%s\" needs the work that it ranks by: %s",
                  objective->text, config_keywords[flops ? KEYWORD_flops : KEYWORD_bytes].example);
    objective_close(objective);
    return status;
  }
  objective->prefer = objective_prefers(config->objective);
  objective_close(config->objective);
  config->objective = objective;
  return CUGEN_OK;
}

int config_prefer(struct config *config, enum preference preference, cugen_error *err) {
  int status = config->objective
                   ? CUGEN_OK
                   : objective_open(objective_names[OBJECTIVE_TIME], &config->objective, err);
  if (!status) config->objective->prefer = preference;
  return status;
}

/* Reads the objective, for which flops and bytes must have been read. */
static void read_objective(struct build *build, const struct item *item, void *config) {
  const char *text = read_string(build, item->declaration->keyword->name);
  cugen_error why;
  build->config->objective_line = build->line;
  const int status = config_set_objective(config, text, &why);
  if (status == CUGEN_ERROR_MEMORY) build_memory(build);
  if (status) build_fail(build, "%s", why.message);
}

static void read_measure(struct build *build, const struct item *item, void *out) {
  const char *word = read_string(build, item->declaration->keyword->name);
  const enum measure_way way = measure_way_find(word);
  if (way == MEASURE_WAYS)
    build_fail_name(build, word, measure_way_names, MEASURE_WAYS,
                    "measure '%.80s' is none of %s, %s, %s, %s", word, measure_way_names[0],
                    measure_way_names[1], measure_way_names[2], measure_way_names[3]);
  *(enum measure_way *)out = way;
}

/* ---- Implementations ------------------------------------------------------------------------ */

static void read_implementations(struct build *build, const struct list *list) {
  struct config *config = build->config;
  const size_t count = list_count(list, KEYWORD_implementation), names = build->name_count;
  const uint32_t facts = build->facts;
  if (!count)
    build_fail(build, "kernel \"%s\" has no implementation: %s", config->name,
               config_keywords[KEYWORD_implementation].example);
  struct config_implementation *out = build_array(build, count, sizeof *out);
  config->implementations = out;
  for (const struct item *item = list->items; item < list->items + list->count; item++) {
    if (item->declaration->keyword->id != KEYWORD_implementation) continue;
    note_item(build, list, item, read_implementation, &out[config->implementation_count++]);
    scope_end(build, names);
    build->facts = facts;
  }
}

/* ---- The kernel ----------------------------------------------------------------------------- */

static void kernel_read_body(struct build *build) {
  struct config *config = build->config;
  struct list list =
      read_list(build, PLACE_KERNEL, build_text(build, "kernel \"%s\"", config->name));
  kernel_read_problems(build, &list);
  READ_ARRAY(build, &list, KEYWORD_waive, read_waiver, config->waivers, config->waiver_count);
  read_only(build, &list, KEYWORD_policy, read_policy, NULL);
  READ_ARRAY(build, &list, KEYWORD_problems, read_problem_set, config->problem_sets,
             config->problem_set_count);
  read_shared(build, &list);
  kernel_read_arguments(build, &list);
  READ_ARRAY(build, &list, KEYWORD_formula, read_formula, config->formulas, config->formula_count);
  read_compile(build, &list, NULL, &config->compile);
  build_note(build, NULL, read_proof, &list);
  note_items(build, &list, KEYWORD_flops, read_work, &config->flops, 0, NULL);
  note_items(build, &list, KEYWORD_bytes, read_work, &config->bytes, 0, NULL);
  note_items(build, &list, KEYWORD_products, read_work, &config->products, 0, NULL);
  read_only(build, &list, KEYWORD_objective, read_objective, config);
  read_only(build, &list, KEYWORD_measure, read_measure, &config->measure);
  read_implementations(build, &list);
  /* only readers of the config see the array as constant */
  scope_note_used(build, 0, (struct config_tunable *)config->shared_tunables);
  config->facts = build->facts;
}

/* Kernel names appear in file names and on command lines, so their characters are restricted. */
static void read_kernel_name(struct build *build, const char *name) {
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c >= 128 || (!isalnum((unsigned char)*c) && !strchr("_-.", *c)) ||
        c - name >= 64)
      build_fail(build,
                 "'%.80s' cannot name a kernel: letters, digits, '_', '-' and '.' can, 64 at most",
                 name);
  if (!isalnum((unsigned char)*name))
    build_fail(build, "'%s' cannot name a kernel: it begins with a letter or a digit", name);
  build->config->name = build_copy(build, name, strlen(name));
}

/* Marks the declaration on top of the stack and those within it as attached, `levels` levels in
   all. */
static void kernel_attach(struct build *build, int levels) {
  lua_State *L = build->L;
  struct declaration *declaration = declarations_at(L, -1);
  if (!declaration || declaration->attached || levels == 0) return;
  declaration->attached = true;
  declarations_push_value(L, -1);
  if (lua_type(L, -1) == LUA_TTABLE)
    for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) kernel_attach(build, levels - 1);
  lua_pop(L, 1);
}

/* Refuses a declaration that lacks its value or stands outside of the kernel, for example after a
   brace that was closed too early. all: stack index of the list of all declarations. */
static void check_attached(struct build *build, int all) {
  lua_State *L = build->L;
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, all); i++) {
    lua_rawgeti(L, all, i);
    const struct declaration *declaration = declarations_at(L, -1);
    const struct keyword *keyword = declaration->keyword;
    if (!declaration->complete)
      build_fail_at(build, declaration->line, "%s has a name but no value: %s", keyword->name,
                    keyword->example);
    if (!declaration->attached)
      build_fail_at(build, declaration->line, "%s stands outside of the kernel's braces",
                    keyword->name);
    lua_pop(L, 1);
  }
}

/* Pushes the kernel's declaration from the list of all declarations, and sets build->line. */
static void kernel_find_kernel(struct build *build, int all) {
  lua_State *L = build->L;
  const struct declaration *found = NULL;
  lua_pushnil(L);
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, all); i++) {
    lua_rawgeti(L, all, i);
    const struct declaration *declaration = declarations_at(L, -1);
    if (declaration->keyword->id != KEYWORD_kernel) {
      lua_pop(L, 1);
      continue;
    }
    build->line = declaration->line;
    if (found)
      build_fail(build, "a second kernel: one file describes one, and the first is at %s",
                 build_line(build, found->line));
    found = declaration;
    lua_replace(L, -2);
  }
  if (!found)
    build_fail_at(build, (struct config_line){build->config->path, 1}, "no kernel is declared: %s",
                  config_keywords[KEYWORD_kernel].example);
}

void read_kernel(struct build *build, void *context) {
  lua_State *L = build->L;
  (void)context;
  if (!lua_checkstack(L, 64)) build_memory(build);
  declarations_push(L);
  const int all = lua_gettop(L), kernel = all + 1;
  kernel_find_kernel(build, all);
  kernel_attach(build, 5); /* the levels: kernel, implementation, loop, launch, grid */
  check_attached(build, all);
  declarations_push_name(L, kernel);
  read_kernel_name(build, lua_tostring(L, -1));
  declarations_push_value(L, kernel);
  kernel_read_body(build);
}
