/* Reads tunables, derived names, restrictions and implementations. See build.h. */
#include <lua.h>
#include <string.h>

#include "base/capability.h"
#include "build.h"
#include "names.h"

/* ---- Tunables ------------------------------------------------------------------------------- */

void read_tunable(struct build *build, const struct item *item, void *context) {
  struct config_tunable *out = context;
  /* Tunables are added in the order of their slots. */
  int slot = build->config->first_tunable;
  for (size_t i = 0; i < build->name_count; i++) slot += build->names[i].role == ROLE_TUNABLE;
  *out = (struct config_tunable){.name = build_copy(build, item->name, strlen(item->name)),
                                 .line = build->line};
  scope_add(build, (struct scope_name){.name = out->name, .role = ROLE_TUNABLE, .slot = slot});
  const char *what = build_text(build, "tunable \"%s\"", out->name);
  read_values(build, what, &out->values, &out->value_count);
  for (size_t i = 0; i < out->value_count; i++)
    if (out->values[i].type == VALUE_FLOAT)
      build_fail(build, "%s has the value %g: tunables are whole numbers, booleans or strings",
                 what, out->values[i].real);
  scope_set_values(build, out->values, out->value_count, false);
}

/* ---- Derived names and rules ---------------------------------------------------------------- */

void read_derived(struct build *build, const struct item *item, void *context) {
  struct config_derived *out = context;
  const uint32_t facts = build->facts;
  *out = (struct config_derived){.name = build_copy(build, item->name, strlen(item->name)),
                                 .line = build->line};
  out->expr = read_expr(build, build_text(build, "derive \"%s\"", out->name));
  build->facts = facts; /* a derived name uses no facts until an expression mentions it */
  scope_add(build, (struct scope_name){
                       .name = out->name, .role = ROLE_DERIVED, .slot = -1, .expr = out->expr});
}

void read_restriction(struct build *build, const struct item *item, void *out) {
  (void)item;
  *(struct config_restriction *)out =
      (struct config_restriction){build->line, read_expr(build, "where")};
}

/* Requirements are checked before any tunable has a value, so they must not mention tunables. */
static void read_requirement(struct build *build, const struct item *item, void *context) {
  struct config_requirement *out = context;
  size_t count;
  (void)item;
  out->line = build->line;
  out->expr = read_expr(build, "requires");
  out->text = expr_text(out->expr);
  const int *slots = expr_slots(out->expr, &count);
  if (count && slots[count - 1] >= build->config->first_tunable)
    build_fail(build,
               "requires speaks of the device and the problem; a rule about tunables is a where");
}

static void read_heuristic(struct build *build, const struct item *item, void *context) {
  struct config_heuristic *out = context;
  struct arch arch;
  if (!arch_parse(item->name, &arch))
    build_fail(build, "heuristic: '%.80s' is no architecture; it is written: %s", item->name,
               item->declaration->keyword->example);
  *out = (struct config_heuristic){build->line, arch.capability, read_expr(build, "heuristic")};
}

/* ---- Launches ------------------------------------------------------------------------------- */

/* The steps come first, because the other parts may depend on them. */
static const enum keyword_id launch_parts[] = {
    KEYWORD_steps,    KEYWORD_entry,   KEYWORD_grid,        KEYWORD_block, KEYWORD_shared,
    KEYWORD_carveout, KEYWORD_overlap, KEYWORD_cooperative, KEYWORD_pass};
enum { LAUNCH_PARTS = sizeof launch_parts / sizeof *launch_parts };

/* A part of a launch, in either form: launch { grid = { ... } } or launch { grid { ... } }. */
struct launch_part {
  const struct list *list;
  const char *owner;
  enum keyword_id id;
  struct config_launch *out;
};

static void read_part(struct build *build, void *context) {
  const struct launch_part *part = context;
  struct config_launch *out = part->out;
  const struct item *item = list_find(part->list, part->id);
  const char *name = config_keywords[part->id].name;
  const struct config_line line = build->line;
  const bool field = push_field(build, part->list->table, name);
  if (!item && !field) return;
  if (item && field) build_fail(build, "%s has %s twice", part->owner, name);
  if (item) list_push(build, part->list, item);
  if (item) build->line = item->declaration->line;
  switch (part->id) {
  case KEYWORD_grid: read_exprs(build, name, 3, out->grid); break;
  case KEYWORD_block: read_exprs(build, name, 3, out->block); break;
  case KEYWORD_shared: out->shared = read_expr(build, name); break;
  case KEYWORD_carveout: out->carveout = read_expr(build, name); break;
  case KEYWORD_overlap: out->overlap = read_expr(build, name); break;
  case KEYWORD_cooperative: out->cooperative = read_expr(build, name); break;
  case KEYWORD_steps: read_steps(build, out); break;
  case KEYWORD_pass: read_pass(build, out); break;
  default: out->entry = read_spelling(build, name); break;
  }
  build->line = line;
  lua_pop(build->L, 1);
}

static void take_slots(const struct build *build, struct config_launch *out) {
  out->step_slot = build->config->first_tunable + (int)build->implementation->tunable_count;
  out->steps_slot = out->step_slot + 1;
}

/* Reads the parts of a launch. The names that its steps define end with the launch. */
static void implementation_read_parts(struct build *build, const struct list *list,
                                      struct config_launch *out) {
  const size_t names = build->name_count;
  take_slots(build, out);
  for (int i = 0; i < LAUNCH_PARTS; i++)
    build_note(build, NULL, read_part, &(struct launch_part){list, "launch", launch_parts[i], out});
  scope_end(build, names);
  if (list->place == PLACE_LAUNCH)
    read_shared_arrays(build, list, (int)(out - build->implementation->launches));
}

static void check_launch_fields(struct build *build, const struct list *list) {
  const char *names[LAUNCH_PARTS + 1];
  size_t known = 0;
  for (int i = 0; i < LAUNCH_PARTS; i++) names[known++] = config_keywords[launch_parts[i]].name;
  if (list->count) names[known++] = ""; /* for positions in the list */
  const char *odd = unknown_key(build, list->table, names, known);
  if (odd)
    build_fail_name(build, odd, names, known,
                    "launch has no '%s': it has grid, block, shared, carveout, overlap, "
                    "cooperative, steps, pass and entry",
                    odd);
}

static void implementation_check_launch(struct build *build, const char *owner,
                                        const struct config_launch *launch) {
  const enum keyword_id lacks = !launch->grid[0] ? KEYWORD_grid : KEYWORD_block;
  if (!launch->grid[0] || !launch->block[0])
    build_fail_at(build, launch->line, "%s has no %s: %s", owner, config_keywords[lacks].name,
                  config_keywords[lacks].example);
}

/* Adds a launch. The cast is allowed, because the array of launches belongs to the arena. */
static struct config_launch *next_launch(struct build *build) {
  struct config_implementation *out = build->implementation;
  if (out->launch_count == CONFIG_MAX_LAUNCHES)
    build_fail(build, "implementation \"%s\" has more than %d launches", out->name,
               CONFIG_MAX_LAUNCHES);
  return (struct config_launch *)out->launches + out->launch_count++;
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

/* Reads a launch. steps: a struct expr, the steps of the loop in which the launch stands; NULL: the
   launch stands in no loop. */
static void read_launch(struct build *build, const struct item *item, void *steps) {
  struct config_launch *launch = next_launch(build);
  (void)item;
  launch->steps = steps;
  launch->line = build->line;
  const struct list parts = read_list(build, PLACE_LAUNCH, "launch");
  check_launch_fields(build, &parts);
  implementation_read_parts(build, &parts, launch);
  implementation_check_launch(build, "launch", launch);
}

/* The launches of a loop see the names that its steps define. */
static void read_loop(struct build *build, const struct item *item, void *context) {
  static const char *const known[] = {"steps", ""};
  struct config_implementation *out = build->implementation;
  const size_t names = build->name_count, first = out->launch_count;
  const struct list parts = read_list(build, PLACE_LOOP, "loop");
  const char *odd = unknown_key(build, parts.table, known, 2);
  struct config_launch steps = {0};
  (void)context;
  if (odd) build_fail(build, "loop has no '%s': it has steps and launches", odd);
  take_slots(build, &steps);
  read_part(build, &(struct launch_part){&parts, "loop", KEYWORD_steps, &steps});
  if (!steps.steps) build_fail(build, "loop has no steps: steps \"tmax\"");
  read_items(build, &parts, KEYWORD_launch, read_launch, (void *)(uintptr_t)steps.steps, 0, NULL);
  if (out->launch_count == first)
    build_fail(build, "loop has no launch: %s", item->declaration->keyword->example);
  add_loop(out, first, build->line);
  scope_end(build, names);
}

static void read_launches(struct build *build, const struct list *list, const char *owner) {
  struct config_implementation *out = build->implementation;
  const size_t alone = list_count(list, KEYWORD_launch), loops = list_count(list, KEYWORD_loop);
  const size_t room = loops || alone > CONFIG_MAX_LAUNCHES ? CONFIG_MAX_LAUNCHES : alone + !alone;
  out->launches = build_array(build, room, sizeof *out->launches);
  out->loops = build_array(build, room, sizeof *out->loops);
  if (!alone && !loops) {
    struct config_launch *launch = next_launch(build);
    const struct item *grid = list_find(list, KEYWORD_grid);
    launch->line = grid ? grid->declaration->line : build->line;
    implementation_read_parts(build, list, launch);
    if (!build->noted.length) implementation_check_launch(build, owner, launch);
    add_loop(out, 0, launch->line);
    return;
  }
  for (int i = 0; i < LAUNCH_PARTS; i++) {
    const struct item *item = list_find(list, launch_parts[i]);
    if (item)
      build_fail_at(build, item->declaration->line,
                    "%s stands beside launch { ... } or loop { ... }: put it into one of them",
                    item->declaration->keyword->name);
  }
  for (const struct item *item = list->items; item < list->items + list->count; item++) {
    const enum keyword_id id = item->declaration->keyword->id;
    if (id == KEYWORD_loop) read_item(build, list, item, read_loop, NULL);
    if (id != KEYWORD_launch) continue;
    read_item(build, list, item, read_launch, NULL);
    add_loop(out, out->launch_count - 1, item->declaration->line);
  }
}

/* ---- Implementations ------------------------------------------------------------------------ */

static void read_own(struct build *build, const struct list *list) {
  struct config_implementation *out = build->implementation;
  const size_t count = list_count(list, KEYWORD_scalar), arguments = build->config->argument_count;
  if (count > KERNEL_MAX_ARGUMENTS - arguments)
    build_fail(
        build,
        "implementation \"%s\" has %zu scalars, and the kernel %zu arguments: at most %d are "
        "possible",
        out->name, count, arguments, KERNEL_MAX_ARGUMENTS);
  READ_ARRAY(build, list, KEYWORD_scalar, read_own_scalar, out->own, out->own_count);
}

static void read_template(struct build *build, const struct item *item, void *context) {
  struct config_implementation *out = context;
  (void)item;
  out->template_line = build->line;
  out->template_name = read_string(build, "template");
}

/* Allocates an array of the shared elements and `more` of the implementation's own. */
static void *allocate_part(struct build *build, const void *shared, size_t count, size_t more,
                           size_t size) {
  char *array = build_array(build, count + more, size);
  if (count) memcpy(array, shared, count * size);
  return array;
}

/* Reads the parts of an implementation. The arrays of tunables, derived names and restrictions
   begin with those that all implementations share. Restrictions and heuristics are read last,
   because they may mention shared arrays. */
static void read_parts_of(struct build *build, const struct list *list, const char *owner) {
  const struct config *config = build->config;
  struct config_implementation *out = build->implementation;
  const size_t shared = config->shared_tunable_count;
  const bool calls = list_find(list, KEYWORD_library) != NULL;
  if (calls) library_check_parts(build, list, owner);
  if (!calls && !list_find(list, KEYWORD_template))
    build_fail(build, "%s has no template: %s", owner, config_keywords[KEYWORD_template].example);
  if (!calls) read_only(build, list, KEYWORD_template, read_template, out);
  out->tunable_count = shared + list_count(list, KEYWORD_tunable);
  struct config_tunable *tunables = allocate_part(build, config->shared_tunables, shared,
                                                  out->tunable_count - shared, sizeof *tunables);
  struct config_derived *derived = allocate_part(build, build->derived, build->derived_count,
                                                 list_count(list, KEYWORD_derive), sizeof *derived);
  struct config_restriction *restrictions =
      allocate_part(build, build->restrictions, build->restriction_count,
                    list_count(list, KEYWORD_where), sizeof *restrictions);
  out->tunables = tunables;
  out->derived = derived;
  out->derived_count = build->derived_count;
  out->restrictions = restrictions;
  out->restriction_count = build->restriction_count;
  note_items(build, list, KEYWORD_tunable, read_tunable, tunables + shared, sizeof *tunables, NULL);
  note_items(build, list, KEYWORD_derive, read_derived, derived + out->derived_count,
             sizeof *derived, &out->derived_count);
  READ_ARRAY(build, list, KEYWORD_requires, read_requirement, out->requirements,
             out->requirement_count);
  read_check(build, list, &out->check);
  READ_ARRAY(build, list, KEYWORD_try, read_try, out->tries, out->try_count);
  read_shared_arrays(build, list, -1);
  read_compile(build, list, &config->compile, &out->compile);
  read_own(build, list);
  if (calls)
    read_only(build, list, KEYWORD_library, read_library, out);
  else
    read_launches(build, list, owner);
  READ_ARRAY(build, list, KEYWORD_tensor, read_tensor, out->tensors, out->tensor_count);
  read_shared_bytes(build);
  note_items(build, list, KEYWORD_where, read_restriction, restrictions + out->restriction_count,
             sizeof *restrictions, &out->restriction_count);
  READ_ARRAY(build, list, KEYWORD_heuristic, read_heuristic, out->heuristics, out->heuristic_count);
  scope_check_generated(build);
}

void read_implementation(struct build *build, const struct item *item, void *context) {
  struct config_implementation *out = context;
  const size_t shared_names = build->name_count;
  const struct config_line line = out->line = build->line;
  build->facts = 0;
  build->implementation = out;
  build->declaring = NULL;
  build->declaring_layout = false;
  if (!names_identifier(item->name))
    build_fail(build, "'%.80s' cannot name an implementation: letters, digits and _ can",
               item->name);
  out->name = build_copy(build, item->name, strlen(item->name));
  const char *owner = build_text(build, "implementation \"%s\"", out->name);
  const struct list list = read_list(build, PLACE_IMPLEMENTATION, owner);
  read_parts_of(build, &list, owner);
  build->line = line;
  scope_note_used(build, shared_names, (struct config_tunable *)out->tunables);
  out->facts = build->facts;
  for (const struct config_implementation *old = build->config->implementations; old < out; old++)
    if (old->name && strcmp(old->name, out->name) == 0)
      build_fail(build, "the name '%s' is taken by the implementation at %s", out->name,
                 build_line(build, old->line));
}
