/* The names of a config: which names are allowed, and what expressions see. See build.h. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "build.h"
#include "names.h"

static const char *const role_names[] = {
    [ROLE_PROBLEM] = "problem",   [ROLE_TUNABLE] = "tunable", [ROLE_DERIVED] = "derive",
    [ROLE_ARGUMENT] = "argument", [ROLE_FORMULA] = "formula", [ROLE_SHARED] = "shared",
    [ROLE_LAUNCH] = "launch"};

const struct scope_name *scope_find(const struct build *build, const char *name) {
  for (size_t i = 0; i < build->name_count; i++)
    if (strcmp(build->names[i].name, name) == 0) return &build->names[i];
  return NULL;
}

/* ---- Adding --------------------------------------------------------------------------------- */

static void check_name(struct build *build, const struct scope_name *name) {
  if (!names_identifier(name->name))
    build_fail(
        build,
        "'%.80s' cannot be a name: names have letters, digits and _, no digit first, at most "
        "64 characters",
        name->name);
  const char *refused = names_refused(name->name, name->role != ROLE_ARGUMENT);
  if (refused)
    build_fail(build,
               "'%s' cannot be a name: %s; take another one, such as 'my_%s' (a kernel that "
               "declares its own parameters may use any names)",
               name->name, refused, name->name + strspn(name->name, "_"));
}

/* A scalar may share its name with the problem parameter or tunable that it passes: scalar "M" {}
   passes problem "M". */
static bool may_share(const struct scope_name *name, const struct scope_name *old) {
  return name->role == ROLE_ARGUMENT && old->role != ROLE_ARGUMENT && name->slot >= 0 &&
         old->slot == name->slot;
}

static void check_repeats(struct build *build, const struct scope_name *name) {
  for (size_t i = 0; i < build->name_count; i++) {
    struct scope_name *old = &build->names[i];
    if (strcmp(old->name, name->name) != 0) continue;
    if (!may_share(name, old))
      build_fail(build, "the name '%s' is taken by the %s at %s%s", name->name,
                 role_names[old->role], build_line(build, old->line),
                 name->role == ROLE_ARGUMENT && old->role == ROLE_TUNABLE
                     ? ": a scalar without a value passes it, one with a value needs another name"
                     : "");
    old->used = true;
  }
}

void scope_add(struct build *build, struct scope_name name) {
  name.line = build->line;
  check_name(build, &name);
  check_repeats(build, &name);
  /* Charged because each name is compared with all others. */
  if (!arena_charge(build->arena, 1024)) build_memory(build);
  if (!ARRAY_ADD(build->names, build->name_count, name)) build_memory(build);
}

void scope_note_used(const struct build *build, size_t first, struct config_tunable *tunables) {
  for (size_t i = first; i < build->name_count; i++)
    if (build->names[i].role == ROLE_TUNABLE)
      tunables[build->names[i].slot - build->config->first_tunable].used = build->names[i].used;
}

void scope_set_values(struct build *build, const struct value *values, size_t count, bool open) {
  struct scope_name *name = &build->names[build->name_count - 1];
  name->values = values;
  name->value_count = count;
  name->open = open;
}

void scope_end(struct build *build, size_t count) {
  build->name_count = count;
}

/* ---- Names that templates derive from arguments --------------------------------------------- */

/* What templates may append to the name of an argument (docs/template.md). */
static const char suffixes[] = "_t _stride0 _stride1 _stride2 _stride3 _pitch _layout";

void scope_check_generated(struct build *build) {
  const struct config *config = build->config;
  for (size_t n = 0; n < build->name_count; n++)
    for (size_t i = 0; i < config->argument_count; i++) {
      const struct scope_name *name = &build->names[n];
      const struct config_argument *argument = &config->arguments[i];
      const size_t length = strlen(argument->name);
      if (strncmp(name->name, argument->name, length) != 0 ||
          !names_listed(suffixes, name->name + length))
        continue;
      build->line = name->line;
      build_fail(build, "the name '%s' is taken: templates get it from the argument '%s' at %s",
                 name->name, argument->name, build_line(build, argument->line));
    }
}

/* ---- Expressions ---------------------------------------------------------------------------- */

_Static_assert(DEVICE_FACT_COUNT <= 32, "facts are bits of an uint32_t");

struct expr_symbol scope_symbol(void *context, const char *name) {
  static const struct value number = {.type = VALUE_INT};
  struct build *build = context;
  const struct scope_name *found = scope_find(build, name);
  if (found) build->names[found - build->names].used = true;
  if (found && found->expr) {
    size_t count;
    const int *slots = expr_slots(found->expr, &count);
    for (size_t i = 0; i < count && slots[i] < DEVICE_FACT_COUNT; i++)
      build->facts |= 1U << slots[i];
    return (struct expr_symbol){.kind = SYMBOL_EXPR, .expr = found->expr};
  }
  if (found && found->slot >= 0)
    return (struct expr_symbol){.kind = SYMBOL_SLOT,
                                .slot = found->slot,
                                .values = found->values,
                                .value_count = found->value_count,
                                .open = found->open};
  for (int i = 0; i < DEVICE_FACT_COUNT; i++) {
    if (strcmp(device_fact_names[i], name) != 0) continue;
    build->facts |= 1U << i;
    return (struct expr_symbol){
        .kind = SYMBOL_SLOT, .slot = i, .values = &number, .value_count = 1, .open = true};
  }
  return (struct expr_symbol){.kind = SYMBOL_UNKNOWN};
}

const char *const *scope_names(void *context, size_t *count) {
  const struct build *build = context;
  const size_t most = build->name_count + DEVICE_FACT_COUNT;
  const char **names = arena_array(build->arena, most, sizeof *names);
  *count = 0;
  for (size_t i = 0; i < build->name_count && names; i++)
    if (build->names[i].expr || build->names[i].slot >= 0) names[(*count)++] = build->names[i].name;
  for (int i = 0; i < DEVICE_FACT_COUNT && names; i++) names[(*count)++] = device_fact_names[i];
  return names;
}

int scope_parse(struct build *build, const char *source, struct expr **out) {
  struct expr_scope scope = {scope_symbol, scope_names, build};
  return expr_parse_with(source, &scope, &(struct expr_extras){.functions = build->functions}, out,
                         &build->error);
}
