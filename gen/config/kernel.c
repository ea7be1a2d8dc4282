/* Reads the kernel declaration and the declarations directly in it. See build.h. */
#include <ctype.h>
#include <lua.h>
#include <string.h>

#include "build.h"

/* ---- Problems ------------------------------------------------------------------------------- */

static int check_types(struct build *build, const struct config_problem *problem,
                       const char *what) {
  for (size_t i = 1; i < problem->value_count; i++)
    if (problem->values[i].type != problem->values[0].type)
      return build_fail(build, problem->line, "%s mixes types of values", what);
  return CUGEN_OK;
}

static int read_problem_values(struct build *build, struct config_problem *out, const char *what) {
  out->listed = lua_type(build->L, -1) == LUA_TTABLE;
  if (out->listed) {
    int status = read_values(build, out->line, what, &out->values, &out->value_count);
    return status ? status : check_types(build, out, what);
  }
  struct value *value = arena_array(build->arena, 1, sizeof *value);
  if (!value) return build_memory(build);
  out->values = value;
  out->value_count = 1;
  return read_value(build, out->line, what, value);
}

static int read_problem(struct build *build, const struct item *item, int slot,
                        struct config_problem *out) {
  struct text what = {0};
  *out = (struct config_problem){.line = item->declaration->line, .check = {.type = VALUE_NIL}};
  out->name = arena_string(build->arena, item->name, strlen(item->name));
  if (!out->name) return build_memory(build);
  int status = scope_add(
      build, &(struct scope_name){
                 .name = out->name, .role = ROLE_PROBLEM, .line = out->line, .slot = slot});
  if (status) return status;
  text_addf(&what, "problem \"%s\"", out->name);
  status = read_problem_values(build, out, text_get(&what));
  text_free(&what);
  if (!status) scope_set_values(build, out->values, out->value_count, !out->listed);
  return status;
}

static int kernel_read_problems(struct build *build, const struct list *list) {
  struct config *config = build->config;
  size_t count = list_count(list, KEYWORD_problem);
  struct config_problem *problems = arena_array(build->arena, count, sizeof *problems);
  if (!problems) return build_memory(build);
  config->problems = problems;
  config->first_problem = DEVICE_FACT_COUNT;
  config->first_tunable = DEVICE_FACT_COUNT + (int)count;
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_problem) continue;
    list_push(build, list, &list->items[i]);
    int slot = config->first_problem + (int)config->problem_count;
    status = read_problem(build, &list->items[i], slot, &problems[config->problem_count++]);
    lua_pop(build->L, 1);
  }
  return status;
}

/* ---- check { ... } -------------------------------------------------------------------------- */

static int read_kernel_check(struct build *build, const struct list *list) {
  struct config *config = build->config;
  const struct value *values;
  int status = read_check(build, list, &values);
  /* the array belongs to the arena */
  for (size_t i = 0; i < config->problem_count && values && !status; i++)
    ((struct config_problem *)&config->problems[i])->check = values[i];
  return status;
}

/* ---- Parts shared by implementations -------------------------------------------------------- */

static int read_shared(struct build *build, const struct list *list) {
  struct config *config = build->config;
  size_t count = list_count(list, KEYWORD_tunable);
  struct config_tunable *tunables = arena_array(build->arena, count, sizeof *tunables);
  build->derived =
      arena_array(build->arena, list_count(list, KEYWORD_derive), sizeof *build->derived);
  build->restrictions =
      arena_array(build->arena, list_count(list, KEYWORD_where), sizeof *build->restrictions);
  if (!tunables || !build->derived || !build->restrictions) return build_memory(build);
  config->shared_tunables = tunables;
  config->shared_tunable_count = count;
  int status = read_tunables(build, list, config->first_tunable, tunables);
  if (status) return status;
  status = read_derived(build, list, build->derived, &build->derived_count);
  return status ? status
                : read_restrictions(build, list, build->restrictions, &build->restriction_count);
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static int check_arguments(struct build *build, struct config_line line) {
  const struct config *config = build->config;
  for (size_t i = 0; i < config->argument_count; i++) {
    cugen_argument_kind kind = config->arguments[i].kind;
    if (kind == CUGEN_ARGUMENT_OUTPUT || kind == CUGEN_ARGUMENT_INOUT) return CUGEN_OK;
  }
  return build_fail(build, line, "kernel \"%s\" has no output: %s", config->name,
                    config_keywords[KEYWORD_output].example);
}

static int kernel_read_arguments(struct build *build, const struct list *list) {
  struct config *config = build->config;
  size_t count = 0;
  for (size_t i = 0; i < list->count; i++)
    count += is_argument(list->items[i].declaration->keyword->id);
  if (count > KERNEL_MAX_ARGUMENTS)
    return build_fail(build, list->line, "kernel \"%s\" has more than %d arguments", config->name,
                      KERNEL_MAX_ARGUMENTS);
  struct config_argument *arguments = arena_array(build->arena, count, sizeof *arguments);
  if (!arguments) return build_memory(build);
  config->arguments = arguments;
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    const int top = lua_gettop(build->L);
    if (is_argument(list->items[i].declaration->keyword->id))
      status = build_note(
          build, list->items[i].name, top,
          read_argument(build, list, &list->items[i], &arguments[config->argument_count++]));
  }
  if (!status) status = check_arguments(build, list->line);
  return status ? status : scope_check_generated(build);
}

/* ---- reference, verify, flops, bytes -------------------------------------------------------- */

/* Reads the "file.cu" or "file.cu:kernel" of a reference or verify kernel. */
static int read_judge(struct build *build, const struct list *list, const struct item *item,
                      const char **file, const char **entry) {
  const struct keyword *keyword = item->declaration->keyword;
  struct config_line line = item->declaration->line;
  const char *text;
  list_push(build, list, item);
  if (keyword->id == KEYWORD_reference && lua_type(build->L, -1) == LUA_TTABLE) {
    /* Expressions need the ranks of all arguments. */
    int status = build->noted.length ? CUGEN_OK : read_answers(build, line);
    lua_pop(build->L, 1);
    return status;
  }
  int status = read_string(build, line, keyword->name, &text);
  lua_pop(build->L, 1);
  if (status) return status;
  if (strcmp(text, "none") == 0)
    return keyword->id == KEYWORD_reference
               ? CUGEN_OK
               : build_fail(build, line, "verify \"none\" is no file: leave verify out");
  return read_kernel_file(build, line, keyword->name, text, file, entry);
}

bool config_has_results(const struct config *config) {
  return config->reference || config->answers;
}

bool config_proves(const struct config *config) {
  return config_has_results(config) || config->verify;
}

static int lacks_proof(struct build *build, struct config_line line) {
  return build_fail(build, line,
                    "kernel \"%s\" has no reference: %s computes the right result, %s judges where "
                    "many results are "
                    "right. With reference \"none\" no result is verified",
                    build->config->name, config_keywords[KEYWORD_reference].example,
                    config_keywords[KEYWORD_verify].example);
}

static int read_proof(struct build *build, const struct list *list) {
  struct config *config = build->config;
  const struct item *reference = list_find(list, KEYWORD_reference),
                    *verify = list_find(list, KEYWORD_verify);
  int status = CUGEN_OK;
  if (!reference && !verify) return lacks_proof(build, list->line);
  if (reference) {
    config->reference_line = reference->declaration->line;
    status = read_judge(build, list, reference, &config->reference, &config->reference_entry);
  }
  if (verify && !status) {
    config->verify_line = verify->declaration->line;
    status = read_judge(build, list, verify, &config->verify, &config->verify_entry);
  }
  return status;
}

static int read_work(struct build *build, const struct list *list, enum keyword_id id,
                     struct config_work *out) {
  const struct item *item = list_find(list, id);
  if (!item) return CUGEN_OK;
  out->line = item->declaration->line;
  list_push(build, list, item);
  int status = read_expr(build, out->line, config_keywords[id].name, &out->expr);
  lua_pop(build->L, 1);
  return status;
}

/* Checks that the work by which the objective ranks is declared. */
static int check_objective_work(const struct config *config, const struct objective *objective,
                                cugen_error *err) {
  const bool flops = objective->needs_flops && !config->flops.expr,
             bytes = objective->needs_bytes && !config->bytes.expr;
  if (!flops && !bytes) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_CONFIG, "objective \"%s\" needs the work that it ranks by: %s",
                   objective->text, config_keywords[flops ? KEYWORD_flops : KEYWORD_bytes].example);
}

int config_set_objective(struct config *config, const char *text, cugen_error *err) {
  struct objective *objective;
  int status = objective_open(text, &objective, err);
  if (!status) status = check_objective_work(config, objective, err);
  if (status) {
    objective_close(objective);
    return status;
  }
  objective->prefer = objective_prefers(config->objective);
  objective_close(config->objective);
  config->objective = objective;
  return CUGEN_OK;
}

static int kernel_check_objective(struct build *build, struct config_line line, const char *word) {
  cugen_error why;
  build->config->objective_line = line;
  int status = config_set_objective(build->config, word, &why);
  if (status == CUGEN_ERROR_MEMORY) return build_memory(build);
  return status ? build_fail(build, line, "%s", why.message) : CUGEN_OK;
}

int config_prefer(struct config *config, enum preference preference, cugen_error *err) {
  int status = config->objective
                   ? CUGEN_OK
                   : objective_open(objective_names[OBJECTIVE_TIME], &config->objective, err);
  if (!status) config->objective->prefer = preference;
  return status;
}

/* Reads the objective; called after flops and bytes. */
static int read_objective(struct build *build, const struct list *list) {
  const struct item *item = list_find(list, KEYWORD_objective);
  const char *word;
  if (!item) return CUGEN_OK;
  list_push(build, list, item);
  int status = read_string(build, item->declaration->line, "objective", &word);
  if (!status) status = kernel_check_objective(build, item->declaration->line, word);
  lua_pop(build->L, 1);
  return status;
}

static int read_measure(struct build *build, const struct list *list) {
  const struct item *item = list_find(list, KEYWORD_measure);
  const char *word;
  if (!item) return CUGEN_OK;
  list_push(build, list, item);
  const struct config_line line = item->declaration->line;
  int status = read_string(build, line, "measure", &word);
  const enum measure_way way = status ? MEASURE_BURST : measure_way_find(word);
  if (way == MEASURE_WAYS)
    status = refuse_name(build, line, word, measure_way_names, MEASURE_WAYS,
                         "measure '%.80s' is none of %s, %s, %s, %s", word, measure_way_names[0],
                         measure_way_names[1], measure_way_names[2], measure_way_names[3]);
  if (!status) build->config->measure = way;
  lua_pop(build->L, 1);
  return status;
}

/* ---- Implementations ------------------------------------------------------------------------ */

static int check_same_name(struct build *build, const struct config_implementation *new) {
  const struct config *config = build->config;
  for (const struct config_implementation *old = config->implementations; old < new; old++)
    if (old->name && strcmp(old->name, new->name) == 0)
      return build_fail(build, new->line, "the name '%s' is taken by the implementation at %s",
                        new->name, build_line(build, new->line, old->line));
  return CUGEN_OK;
}

static int read_implementations(struct build *build, const struct list *list) {
  struct config *config = build->config;
  size_t count = list_count(list, KEYWORD_implementation);
  if (!count)
    return build_fail(build, list->line, "kernel \"%s\" has no implementation: %s", config->name,
                      config_keywords[KEYWORD_implementation].example);
  struct config_implementation *implementations =
      arena_array(build->arena, count, sizeof *implementations);
  if (!implementations) return build_memory(build);
  config->implementations = implementations;
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_implementation) continue;
    struct config_implementation *new = &implementations[config->implementation_count++];
    const int top = lua_gettop(build->L);
    status = read_implementation(build, list, &list->items[i], new);
    if (!status) status = check_same_name(build, new);
    status = build_note(build, NULL, top, status);
  }
  return status;
}

/* ---- The kernel ----------------------------------------------------------------------------- */

static int kernel_read_body(struct build *build, int table, struct config_line line) {
  struct list list;
  struct text owner = {0};
  text_addf(&owner, "kernel \"%s\"", build->config->name);
  int status = read_list(build, table, PLACE_KERNEL, text_get(&owner), line, &list);
  text_free(&owner);
  if (!status) status = kernel_read_problems(build, &list);
  if (!status) status = read_kernel_check(build, &list);
  if (!status) status = read_waivers(build, &list);
  if (!status) status = read_policy(build, &list);
  if (!status) status = read_problem_sets(build, &list);
  if (!status) status = read_shared(build, &list);
  if (!status) status = kernel_read_arguments(build, &list);
  if (!status) status = read_formulas(build, &list);
  if (!status) status = read_compile(build, &list, NULL, &build->config->compile);
  const int top = lua_gettop(build->L);
  if (!status) status = build_note(build, NULL, top, read_proof(build, &list));
  if (!status)
    status =
        build_note(build, NULL, top, read_work(build, &list, KEYWORD_flops, &build->config->flops));
  if (!status)
    status =
        build_note(build, NULL, top, read_work(build, &list, KEYWORD_bytes, &build->config->bytes));
  if (!status)
    status = build_note(build, NULL, top,
                        read_work(build, &list, KEYWORD_products, &build->config->products));
  if (!status) status = read_objective(build, &list);
  if (!status) status = read_measure(build, &list);
  if (!status) status = read_implementations(build, &list);
  /* the array belongs to the arena */
  if (!status) scope_note_used(build, 0, (struct config_tunable *)build->config->shared_tunables);
  build->config->facts = build->facts;
  return status;
}

/* Kernel names appear in file names, on command lines and in the cache, so their characters are
   restricted. */
static int read_kernel_name(struct build *build, const char *name, struct config_line line) {
  for (const char *c = name; *c; c++)
    if ((unsigned char)*c >= 128 || (!isalnum((unsigned char)*c) && !strchr("_-.", *c)) ||
        c - name >= 64)
      return build_fail(
          build, line,
          "'%.80s' cannot name a kernel: letters, digits, '_', '-' and '.' can, 64 at most", name);
  if (!isalnum((unsigned char)*name))
    return build_fail(build, line, "'%s' cannot name a kernel: no letter first", name);
  build->config->name = arena_string(build->arena, name, strlen(name));
  return build->config->name ? CUGEN_OK : build_memory(build);
}

/* Marks the declarations in the declaration on top of the stack as attached, down to the parts of a
   launch. */
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

/* Refuses a declaration that stands in no list: a brace was closed too early. */
static int check_attached(struct build *build, int all) {
  lua_State *L = build->L;
  int status = CUGEN_OK;
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, all) && !status; i++) {
    lua_rawgeti(L, all, i);
    const struct declaration *declaration = declarations_at(L, -1);
    if (!declaration->complete)
      status = build_fail(build, declaration->line, "%s has a name but no value: %s",
                          declaration->keyword->name, declaration->keyword->example);
    else if (!declaration->attached)
      status = build_fail(build, declaration->line, "%s stands outside of the kernel's braces",
                          declaration->keyword->name);
    lua_pop(L, 1);
  }
  return status;
}

/* Pushes the kernel's declaration from the list of all declarations. */
static int kernel_find_kernel(struct build *build, int all) {
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
    if (found)
      return build_fail(build, declaration->line,
                        "a second kernel: one file describes one, and the first is at %s",
                        build_line(build, declaration->line, found->line));
    found = declaration;
    lua_replace(L, -2);
  }
  if (found) return CUGEN_OK;
  return build_fail(build, (struct config_line){build->config->path, 1},
                    "no kernel is declared: %s", config_keywords[KEYWORD_kernel].example);
}

int read_kernel(struct build *build) {
  lua_State *L = build->L;
  if (!lua_checkstack(L, 64)) return error_memory(build->err);
  declarations_push(L);
  int all = lua_gettop(L), status = kernel_find_kernel(build, all);
  if (!status) {
    const int kernel = lua_gettop(L);
    const struct config_line line = declarations_at(L, kernel)->line;
    kernel_attach(build, 5); /* the levels: kernel, implementation, loop, launch, grid */
    status = check_attached(build, all);
    declarations_push_name(L, kernel);
    if (!status) status = read_kernel_name(build, lua_tostring(L, -1), line);
    declarations_push_value(L, kernel);
    if (!status) status = kernel_read_body(build, lua_gettop(L), line);
  }
  lua_settop(L, all - 1);
  return status;
}
