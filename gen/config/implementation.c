/* Reads tunables, derived names, restrictions and implementations. See build.h. */
#include <lua.h>
#include <string.h>

#include "base/capability.h"
#include "build.h"
#include "names.h"

/* ---- Tunables ------------------------------------------------------------------------------- */

static int read_tunable(struct build *build, const struct item *item, int slot,
                        struct config_tunable *out) {
  struct text what = {0};
  struct config_line line = item->declaration->line;
  *out = (struct config_tunable){.line = line};
  out->name = arena_string(build->arena, item->name, strlen(item->name));
  if (!out->name) return build_memory(build);
  int status = scope_add(
      build,
      &(struct scope_name){.name = out->name, .role = ROLE_TUNABLE, .line = line, .slot = slot});
  if (status) return status;
  text_addf(&what, "tunable \"%s\"", out->name);
  status = read_values(build, line, text_get(&what), &out->values, &out->value_count);
  for (size_t i = 0; i < out->value_count && !status; i++)
    if (out->values[i].type == VALUE_FLOAT)
      status = build_fail(build, line,
                          "%s has the value %g: tunables are whole numbers, booleans or strings",
                          text_get(&what), out->values[i].real);
  text_free(&what);
  if (!status) scope_set_values(build, out->values, out->value_count, false);
  return status;
}

int read_tunables(struct build *build, const struct list *list, int first_slot,
                  struct config_tunable *out) {
  int count = 0, status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_tunable) continue;
    const int top = lua_gettop(build->L);
    list_push(build, list, &list->items[i]);
    status = build_note(build, list->items[i].name, top,
                        read_tunable(build, &list->items[i], first_slot + count, &out[count]));
    lua_settop(build->L, top);
    count++;
  }
  return status;
}

/* ---- Derived names and restrictions --------------------------------------------------------- */

static int read_derived_name(struct build *build, const struct item *item,
                             struct config_derived *out) {
  struct text what = {0};
  struct config_line line = item->declaration->line;
  out->line = line;
  out->name = arena_string(build->arena, item->name, strlen(item->name));
  if (!out->name) return build_memory(build);
  text_addf(&what, "derive \"%s\"", out->name);
  const uint32_t facts = build->facts;
  int status = read_expr(build, line, text_get(&what), &out->expr);
  build->facts = facts; /* a derived name uses no facts until an expression mentions it */
  text_free(&what);
  return status ? status
                : scope_add(build, &(struct scope_name){.name = out->name,
                                                        .role = ROLE_DERIVED,
                                                        .line = line,
                                                        .slot = -1,
                                                        .expr = out->expr});
}

int read_derived(struct build *build, const struct list *list, struct config_derived *derived,
                 size_t *count) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_derive) continue;
    const int top = lua_gettop(build->L);
    list_push(build, list, &list->items[i]);
    status = build_note(build, list->items[i].name, top,
                        read_derived_name(build, &list->items[i], &derived[(*count)++]));
    lua_settop(build->L, top);
  }
  return status;
}

int read_restrictions(struct build *build, const struct list *list,
                      struct config_restriction *restrictions, size_t *count) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_where) continue;
    struct config_restriction *restriction = &restrictions[(*count)++];
    restriction->line = list->items[i].declaration->line;
    const int top = lua_gettop(build->L);
    list_push(build, list, &list->items[i]);
    status = build_note(build, NULL, top,
                        read_expr(build, restriction->line, "where", &restriction->expr));
    lua_settop(build->L, top);
  }
  return status;
}

/* ---- Requirements --------------------------------------------------------------------------- */

/* Requirements are checked before any tunable has a value, so they must not mention one. */
static int check_requirement(struct build *build, const struct config_requirement *requirement) {
  size_t count;
  const int *slots = expr_slots(requirement->expr, &count);
  if (count && slots[count - 1] >= build->config->first_tunable)
    return build_fail(
        build, requirement->line,
        "requires speaks of the device and the problem; a rule about tunables is a where");
  return CUGEN_OK;
}

static int read_requirements(struct build *build, const struct list *list,
                             struct config_requirement *out) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_requires) continue;
    out->line = list->items[i].declaration->line;
    list_push(build, list, &list->items[i]);
    status = read_expr(build, out->line, "requires", &out->expr);
    lua_pop(build->L, 1);
    if (!status) out->text = expr_text(out->expr);
    if (!status) status = check_requirement(build, out++);
  }
  return status;
}

/* ---- Heuristics ----------------------------------------------------------------------------- */

static int read_heuristics(struct build *build, const struct list *list,
                           struct config_heuristic *out) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++) {
    const struct item *item = &list->items[i];
    struct arch arch;
    if (item->declaration->keyword->id != KEYWORD_heuristic) continue;
    out->line = item->declaration->line;
    if (!arch_parse(item->name, &arch))
      return build_fail(build, out->line,
                        "heuristic: '%.80s' is no architecture; it is written: %s", item->name,
                        config_keywords[KEYWORD_heuristic].example);
    out->capability = arch.capability;
    list_push(build, list, item);
    status = read_expr(build, out->line, "heuristic", &out->expr);
    lua_pop(build->L, 1);
    out++;
  }
  return status;
}

/* ---- Launches ------------------------------------------------------------------------------- */

/* Reads the part of a launch on top of the stack. */
static int implementation_read_part(struct build *build, enum keyword_id id,
                                    struct config_line line, struct config_launch *out) {
  int count;
  switch (id) {
  case KEYWORD_grid: return read_exprs(build, line, "grid", 3, out->grid, &count);
  case KEYWORD_block: return read_exprs(build, line, "block", 3, out->block, &count);
  case KEYWORD_shared: return read_expr(build, line, "shared", &out->shared);
  case KEYWORD_carveout: return read_expr(build, line, "carveout", &out->carveout);
  case KEYWORD_overlap: return read_expr(build, line, "overlap", &out->overlap);
  case KEYWORD_cooperative: return read_expr(build, line, "cooperative", &out->cooperative);
  case KEYWORD_steps: return read_steps(build, line, out);
  case KEYWORD_pass: return read_pass(build, line, out);
  default: return read_spelling(build, line, "entry", &out->entry);
  }
}

/* The steps come first, because the other parts may depend on them. */
static const enum keyword_id launch_parts[] = {
    KEYWORD_steps,    KEYWORD_entry,   KEYWORD_grid,        KEYWORD_block, KEYWORD_shared,
    KEYWORD_carveout, KEYWORD_overlap, KEYWORD_cooperative, KEYWORD_pass};
enum { LAUNCH_PARTS = sizeof launch_parts / sizeof *launch_parts };

/* Finds a part in either form: launch { grid = { ... } } or launch { grid { ... } }. */
static int read_either(struct build *build, const struct list *list, const char *owner,
                       enum keyword_id id, struct config_launch *out) {
  const struct item *item = list_find(list, id);
  const char *name = config_keywords[id].name;
  bool field = push_field(build, list->table, name);
  if (!item && !field) return CUGEN_OK;
  if (!field) list_push(build, list, item);
  int status =
      item && field
          ? build_fail(build, list->line, "%s has %s twice", owner, name)
          : implementation_read_part(build, id, item ? item->declaration->line : list->line, out);
  lua_pop(build->L, 1);
  return status;
}

static void take_slots(const struct build *build,
                       const struct config_implementation *implementation,
                       struct config_launch *out) {
  out->step_slot = build->config->first_tunable + (int)implementation->tunable_count;
  out->steps_slot = out->step_slot + 1;
}

/* Reads the parts of a launch. The names that its steps define end with the launch. */
static int implementation_read_parts(struct build *build, const struct list *list,
                                     struct config_implementation *implementation,
                                     struct config_launch *out) {
  size_t names = build->name_count;
  int status = CUGEN_OK;
  take_slots(build, implementation, out);
  const int top = lua_gettop(build->L);
  for (int i = 0; i < LAUNCH_PARTS && !status; i++)
    status = build_note(build, NULL, top, read_either(build, list, "launch", launch_parts[i], out));
  scope_end(build, names);
  if (!status && list->place == PLACE_LAUNCH)
    status = read_shared_arrays(build, list, (int)(out - implementation->launches), implementation);
  return status;
}

static int check_launch_fields(struct build *build, const struct list *list) {
  const char *names[LAUNCH_PARTS + 1];
  size_t known = 0;
  for (int i = 0; i < LAUNCH_PARTS; i++) names[known++] = config_keywords[launch_parts[i]].name;
  if (list->count) names[known++] = ""; /* for positions in the list */
  const char *odd = unknown_key(build, list->table, names, known);
  if (!odd) return CUGEN_OK;
  return refuse_name(
      build, list->line, odd, names, known,
      "launch has no '%s': it has grid, block, shared, carveout, overlap, cooperative, steps, "
      "pass and entry",
      odd);
}

static int implementation_check_launch(struct build *build, const char *owner,
                                       const struct config_launch *launch) {
  if (!launch->grid[0])
    return build_fail(build, launch->line, "%s has no grid: %s", owner,
                      config_keywords[KEYWORD_grid].example);
  if (!launch->block[0])
    return build_fail(build, launch->line, "%s has no block: %s", owner,
                      config_keywords[KEYWORD_block].example);
  return CUGEN_OK;
}

static int read_launch(struct build *build, const struct list *list, const struct item *item,
                       struct config_implementation *implementation, struct config_launch *out) {
  struct list parts;
  struct config_line line = out->line = item->declaration->line;
  list_push(build, list, item);
  int status = read_list(build, lua_gettop(build->L), PLACE_LAUNCH, "launch", line, &parts);
  if (!status) status = check_launch_fields(build, &parts);
  if (!status) status = implementation_read_parts(build, &parts, implementation, out);
  lua_pop(build->L, 1);
  return status ? status : implementation_check_launch(build, "launch", out);
}

/* ---- Loops ---------------------------------------------------------------------------------- */

/* The arrays belong to the arena; only readers of the config see them as constant. */
static struct config_launch *next_launch(struct build *build, struct config_line line,
                                         const char *owner, struct config_implementation *out) {
  if (out->launch_count < CONFIG_MAX_LAUNCHES)
    return (struct config_launch *)out->launches + out->launch_count++;
  build_fail(build, line, "%s has more than %d launches", owner, CONFIG_MAX_LAUNCHES);
  return NULL;
}

/* Adds a loop of the launches from `first` on, which were read last. */
static void add_loop(struct config_implementation *out, size_t first, struct config_line line) {
  struct config_launch *launches = (struct config_launch *)out->launches;
  struct config_loop *loop = (struct config_loop *)out->loops + out->loop_count++;
  *loop = (struct config_loop){.steps = launches[first].steps,
                               .line = line,
                               .first = first,
                               .count = out->launch_count - first};
  for (size_t i = first; i < out->launch_count; i++) {
    loop->stepped |= sees_step(&launches[i]);
    launches[i].inner = i > first;
  }
}

static int read_loop_parts(struct build *build, const struct list *list, const char *owner,
                           struct config_implementation *out) {
  static const char *const known[] = {"steps", ""};
  struct config_launch steps = {0};
  const size_t first = out->launch_count;
  const char *odd = unknown_key(build, list->table, known, 2);
  take_slots(build, out, &steps);
  int status =
      odd ? build_fail(build, list->line, "loop has no '%s': it has steps and launches", odd)
          : read_either(build, list, "loop", KEYWORD_steps, &steps);
  if (!status && !steps.steps)
    status = build_fail(build, list->line, "loop has no steps: steps \"tmax\"");
  for (size_t i = 0; i < list->count && !status; i++) {
    if (list->items[i].declaration->keyword->id != KEYWORD_launch) continue;
    struct config_launch *launch = next_launch(build, list->items[i].declaration->line, owner, out);
    if (!launch) return build->err->status;
    launch->steps = steps.steps;
    status = read_launch(build, list, &list->items[i], out, launch);
  }
  if (!status && out->launch_count == first)
    status = build_fail(build, list->line, "loop has no launch: %s",
                        config_keywords[KEYWORD_loop].example);
  if (!status) add_loop(out, first, list->line);
  return status;
}

/* The launches of a loop see the names that its steps define. */
static int read_loop(struct build *build, const struct list *list, const struct item *item,
                     const char *owner, struct config_implementation *out) {
  const size_t names = build->name_count;
  struct list parts;
  list_push(build, list, item);
  int status =
      read_list(build, lua_gettop(build->L), PLACE_LOOP, "loop", item->declaration->line, &parts);
  if (!status) status = read_loop_parts(build, &parts, owner, out);
  lua_pop(build->L, 1);
  scope_end(build, names);
  return status;
}

static int read_single_launch(struct build *build, const struct list *list, const char *owner,
                              struct config_implementation *out) {
  struct config_launch *launch = next_launch(build, list->line, owner, out);
  const struct item *grid = list_find(list, KEYWORD_grid);
  launch->line = grid ? grid->declaration->line : list->line;
  int status = implementation_read_parts(build, list, out, launch);
  if (!status && !build->noted.length) status = implementation_check_launch(build, owner, launch);
  if (!status) add_loop(out, 0, launch->line);
  return status;
}

static int read_item(struct build *build, const struct list *list, const struct item *item,
                     const char *owner, struct config_implementation *out) {
  const enum keyword_id id = item->declaration->keyword->id;
  if (id == KEYWORD_loop) return read_loop(build, list, item, owner, out);
  if (id != KEYWORD_launch) return CUGEN_OK;
  struct config_launch *launch = next_launch(build, item->declaration->line, owner, out);
  if (!launch) return build->err->status;
  int status = read_launch(build, list, item, out, launch);
  if (!status) add_loop(out, out->launch_count - 1, launch->line);
  return status;
}

static int read_launches(struct build *build, const struct list *list, const char *owner,
                         struct config_implementation *out) {
  const size_t alone = list_count(list, KEYWORD_launch), loops = list_count(list, KEYWORD_loop);
  const size_t room = loops || alone > CONFIG_MAX_LAUNCHES ? CONFIG_MAX_LAUNCHES : alone + !alone;
  out->launches = arena_array(build->arena, room, sizeof *out->launches);
  out->loops = arena_array(build->arena, room, sizeof *out->loops);
  if (!out->launches || !out->loops) return build_memory(build);
  if (!alone && !loops) return read_single_launch(build, list, owner, out);
  for (int i = 0; i < LAUNCH_PARTS; i++) {
    const struct item *item = list_find(list, launch_parts[i]);
    if (item)
      return build_fail(build, item->declaration->line,
                        "%s stands beside launch { ... } or loop { ... }: put it into one of them",
                        item->declaration->keyword->name);
  }
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++)
    status = read_item(build, list, &list->items[i], owner, out);
  return status;
}

/* ---- An implementation's own scalars -------------------------------------------------------- */

static int read_own(struct build *build, const struct list *list, const char *owner,
                    struct config_implementation *out) {
  const size_t count = list_count(list, KEYWORD_scalar),
               most = KERNEL_MAX_ARGUMENTS - build->config->argument_count;
  if (count > most)
    return build_fail(build, list->line,
                      "%s has %zu scalars, and the kernel %zu arguments: at most %d are possible",
                      owner, count, build->config->argument_count, KERNEL_MAX_ARGUMENTS);
  struct config_argument *own = arena_array(build->arena, count, sizeof *own);
  if (!own) return build_memory(build);
  out->own = own;
  int status = CUGEN_OK;
  for (size_t i = 0; i < list->count && !status; i++)
    if (list->items[i].declaration->keyword->id == KEYWORD_scalar)
      status = read_own_scalar(build, list, &list->items[i], &own[out->own_count++]);
  return status;
}

/* ---- Implementations ------------------------------------------------------------------------ */

static int read_template(struct build *build, const struct list *list, const char *owner,
                         struct config_implementation *out) {
  const struct item *item = list_find(list, KEYWORD_template);
  if (!item)
    return build_fail(build, list->line, "%s has no template: %s", owner,
                      config_keywords[KEYWORD_template].example);
  out->template_line = item->declaration->line;
  list_push(build, list, item);
  int status = read_string(build, out->template_line, "template", &out->template_name);
  lua_pop(build->L, 1);
  return status;
}

/* Allocates the arrays of an implementation, with the shared parts at their beginning. */
static int allocate_parts(struct build *build, const struct list *list,
                          struct config_implementation *out) {
  const struct config *config = build->config;
  size_t tunables = config->shared_tunable_count + list_count(list, KEYWORD_tunable);
  size_t derived = build->derived_count + list_count(list, KEYWORD_derive);
  size_t restrictions = build->restriction_count + list_count(list, KEYWORD_where);
  struct config_tunable *t = arena_array(build->arena, tunables, sizeof *t);
  struct config_derived *d = arena_array(build->arena, derived, sizeof *d);
  struct config_restriction *r = arena_array(build->arena, restrictions, sizeof *r);
  struct config_requirement *q =
      arena_array(build->arena, list_count(list, KEYWORD_requires), sizeof *q);
  struct config_heuristic *h =
      arena_array(build->arena, list_count(list, KEYWORD_heuristic), sizeof *h);
  if (!t || !d || !r || !q || !h) return build_memory(build);
  if (config->shared_tunable_count)
    memcpy(t, config->shared_tunables, config->shared_tunable_count * sizeof *t);
  if (build->derived_count) memcpy(d, build->derived, build->derived_count * sizeof *d);
  if (build->restriction_count)
    memcpy(r, build->restrictions, build->restriction_count * sizeof *r);
  out->tunables = t;
  out->tunable_count = tunables;
  out->derived = d;
  out->derived_count = build->derived_count;
  out->restrictions = r;
  out->restriction_count = build->restriction_count;
  out->heuristics = h;
  out->heuristic_count = list_count(list, KEYWORD_heuristic);
  out->requirements = q;
  out->requirement_count = list_count(list, KEYWORD_requires);
  return CUGEN_OK;
}

/* The arrays belong to the arena; only readers of the config see them as constant. Rules are read
   last, because they may ask about shared arrays. */
static int read_parts_of(struct build *build, const struct list *list, const char *owner,
                         struct config_implementation *out) {
  const struct config *config = build->config;
  size_t shared = config->shared_tunable_count;
  const bool calls = list_find(list, KEYWORD_library) != NULL;
  int status =
      calls ? library_check_parts(build, list, owner) : read_template(build, list, owner, out);
  if (!status) status = allocate_parts(build, list, out);
  if (!status)
    status = read_tunables(build, list, config->first_tunable + (int)shared,
                           (struct config_tunable *)out->tunables + shared);
  if (!status)
    status = read_derived(build, list, (struct config_derived *)out->derived, &out->derived_count);
  if (!status)
    status = read_requirements(build, list, (struct config_requirement *)out->requirements);
  if (!status) status = read_check(build, list, &out->check);
  if (!status) status = read_tries(build, list, out);
  if (!status) status = read_shared_arrays(build, list, -1, out);
  if (!status) status = read_compile(build, list, &config->compile, &out->compile);
  if (!status) status = read_own(build, list, owner, out);
  if (!status)
    status = calls ? read_library(build, list, out) : read_launches(build, list, owner, out);
  if (!status) status = read_tensors(build, list, out);
  if (!status) status = read_shared_bytes(build, out);
  if (!status)
    status = read_restrictions(build, list, (struct config_restriction *)out->restrictions,
                               &out->restriction_count);
  if (!status) status = read_heuristics(build, list, (struct config_heuristic *)out->heuristics);
  return status ? status : scope_check_generated(build);
}

int read_implementation(struct build *build, const struct list *kernel, const struct item *item,
                        struct config_implementation *out) {
  struct list list;
  struct text owner = {0};
  size_t shared_names = build->name_count;
  const uint32_t shared_facts = build->facts;
  build->facts = 0;
  build->implementation = out;
  out->line = item->declaration->line;
  if (!names_identifier(item->name))
    return build_fail(build, out->line,
                      "'%.80s' cannot name an implementation: letters, digits and _ can",
                      item->name);
  out->name = arena_string(build->arena, item->name, strlen(item->name));
  if (!out->name) return build_memory(build);
  text_addf(&owner, "implementation \"%s\"", out->name);
  list_push(build, kernel, item);
  int status = read_list(build, lua_gettop(build->L), PLACE_IMPLEMENTATION, text_get(&owner),
                         out->line, &list);
  if (!status) status = read_parts_of(build, &list, text_get(&owner), out);
  lua_pop(build->L, 1);
  /* the array belongs to the arena */
  if (!status) scope_note_used(build, shared_names, (struct config_tunable *)out->tunables);
  scope_end(build, shared_names);
  out->facts = build->facts;
  build->facts = shared_facts;
  text_free(&owner);
  return status;
}
