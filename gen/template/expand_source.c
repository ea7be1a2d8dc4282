/* The source of an expansion: its names, options, entries and text; see expansion.h. */
#include "expansion.h"
#include "gen/config/evaluate.h"

#include <stdlib.h>
#include <string.h>

/* Returns how many derived names at the head of the list are common to all implementations and
   depend on no tunables but the shared ones. A reference can use these names. */
static size_t shared_derived(const struct expansion *x) {
  const struct config *config = x->config;
  const struct config_implementation *first = config->implementations;
  if (!first) return 0;
  size_t count = first->derived_count;
  for (size_t i = 1; i < config->implementation_count; i++) {
    const struct config_implementation *other = &config->implementations[i];
    size_t same = 0;
    while (same < count && same < other->derived_count &&
           other->derived[same].expr == first->derived[same].expr)
      same++;
    count = same;
  }
  for (size_t i = 0; i < count; i++) {
    size_t slots;
    const int *list = expr_slots(first->derived[i].expr, &slots);
    if (slots && (size_t)list[slots - 1] >= x->slot_count) return i;
  }
  return count;
}

int expansion_open_names(struct expansion *x) {
  const struct config_implementation *implementation =
      x->reference ? x->config->implementations : x->variant->implementation;
  const struct config_implementation *sharing = x->reference ? NULL : implementation;
  if (sharing && sharing->shared_count) {
    struct kernel_spec *spec = x->out;
    spec->shared = calloc(sharing->shared_count, sizeof *spec->shared);
    if (!spec->shared) return error_memory(x->err);
    spec->shared_count = sharing->shared_count;
    const int status = config_shared_arrays(sharing, x->slots, spec->shared, x->err);
    if (status) return status;
  }
  struct names_input in = {.config = x->config,
                           .tunables = expansion_tunables(x),
                           .tunable_count = expansion_tunable_count(x),
                           .derived = implementation ? implementation->derived : NULL,
                           .derived_count = x->reference     ? shared_derived(x)
                                            : implementation ? implementation->derived_count
                                                             : 0,
                           .slots = x->slots,
                           .slot_count = x->slot_count,
                           .own = implementation && x->own_count ? implementation->own : NULL,
                           .own_count = x->own_count,
                           .arguments = x->arguments,
                           .plain = x->plain,
                           .wide_index = x->wide_index,
                           .sharing = sharing,
                           .shared = x->out->shared};
  return names_open(&in, &x->names, x->err);
}

/* Appends text to a // comment: on one line, and without a backslash that would splice the next
   line. */
static void add_comment(struct text *out, const char *comment) {
  text_add(out, "// ");
  for (; *comment; comment++) {
    unsigned char c = (unsigned char)*comment;
    text_add_char(out, c < ' ' || c == '\\' || c == 127 ? '?' : *comment);
  }
  text_add_char(out, '\n');
}

int expansion_write_title(struct expansion *x) {
  struct text *title = &x->expander->title, *source = &x->expander->source;
  text_restart(title);
  text_restart(source);
  text_addf(title, "%s: %s", x->config->name, x->out->variant);
  add_comment(source, text_get(title));
  text_restart(title);
  problem_print(x->config, x->problem, title);
  if (title->length) add_comment(source, text_get(title));
  text_restart(title);
  if (*x->out->options) text_addf(title, "options: %s", x->out->options);
  if (title->length) add_comment(source, text_get(title));
  return title->failed || source->failed ? error_memory(x->err) : CUGEN_OK;
}

static const struct config_compile *compile_of(const struct expansion *x) {
  return x->reference ? &x->config->compile : &x->variant->implementation->compile;
}

int expansion_evaluate_options(struct expansion *x) {
  struct text flags = {0}, *defines = &x->expander->defines;
  text_restart(defines);
  int status = config_flags(compile_of(x), x->reference, x->slots, &flags, x->err);
  if (!status) status = config_defines(compile_of(x), x->slots, defines, &flags, x->err);
  if (!status && !flags.length) text_add(&flags, "");
  if (!status && !(x->out->options = text_take(&flags))) status = error_memory(x->err);
  text_free(&flags);
  return status;
}

/* Returns the entry of the kernel of that name, which is added if no launch has named the kernel
   yet. */
static int enter_kernel(struct expansion *x, const struct config_launch *launch,
                        const struct text *name, struct kernel_entry **out) {
  for (size_t i = 0; i < x->entry_count; i++) {
    *out = &x->entries[i];
    if (launch->entry.text ? !(*out)->only && strcmp(text_get(&(*out)->name), text_get(name)) == 0
                           : (*out)->only)
      return CUGEN_OK;
  }
  if (x->entry_count == KERNEL_MAX_ENTRIES)
    return config_fail(x->err, launch->line,
                       "entry \"%s\": the launches of a variant name at most %d kernels",
                       text_get(name), KERNEL_MAX_ENTRIES);
  *out = &x->entries[x->entry_count++];
  (*out)->line = launch->line;
  (*out)->only = !launch->entry.text;
  text_add_n(&(*out)->name, text_get(name), name->length);
  return (*out)->name.failed ? error_memory(x->err) : CUGEN_OK;
}

int expansion_find_entry(struct expansion *x, const struct config_launch *launch,
                         struct kernel_entry **out) {
  struct text name = {0};
  int status =
      launch->entry.text ? config_spell(&launch->entry, x->slots, &name, x->err) : CUGEN_OK;
  if (status)
    config_prefix(x->err, launch->line, "entry");
  else
    status = enter_kernel(x, launch, &name, out);
  text_free(&name);
  return status;
}

void expansion_set_step(struct expansion *x, const struct config_launch *launch, size_t step,
                        size_t steps) {
  x->slots[launch->step_slot] = value_int((int64_t)step);
  x->slots[launch->steps_slot] = value_int((int64_t)steps);
}

/* Expands the text of a launch's entry. An entry that depends on the step is expanded for each
   step; any other entry is expanded once, even if the launch is not made at all. */
static int spell_entry(struct expansion *x, const struct config_launch *launch, size_t steps) {
  const size_t count = config_spelling_sees(&launch->entry, launch->step_slot) ? steps : 1;
  struct kernel_entry *ignored;
  int status = CUGEN_OK;
  for (size_t step = 0; step < count && !status; step++) {
    expansion_set_step(x, launch, step, steps);
    status = expansion_find_entry(x, launch, &ignored);
  }
  return status;
}

int expansion_spell_entries(struct expansion *x) {
  int status = CUGEN_OK;
  if (x->reference) {
    const struct config_launch reference = {.entry = {.text = x->entry}, .line = x->template_line};
    struct kernel_entry *ignored;
    return expansion_find_entry(x, &reference, &ignored);
  }
  const struct config_implementation *implementation = x->variant->implementation;
  for (size_t i = 0; i < implementation->loop_count; i++)
    for (size_t k = 0; k < implementation->loops[i].count && !status; k++)
      status = spell_entry(x, &implementation->launches[implementation->loops[i].first + k],
                           x->steps[i]);
  return status;
}

int expansion_write_source(struct expansion *x) {
  struct expander *expander = x->expander;
  struct render_request request = {.template_name = x->template_name,
                                   .from = x->config->path,
                                   .named_in = x->template_line.path,
                                   .named_at = x->template_line.number,
                                   .names = &x->names,
                                   .parameters = text_get(&expander->parameters)};
  text_restart(&expander->rendered);
  text_restart(&expander->body);
  int status =
      render(expander->renderer, &request, &expander->rendered, &x->parameters_used, x->err);
  if (!status)
    status = headers_inline(expander->headers, x->config->path, compile_of(x), &expander->rendered,
                            &expander->body, x->err);
  if (!status) status = expansion_write_title(x);
  if (status) return status;
  const struct assembly assembly = {.names = &x->names,
                                    .body = &expander->body,
                                    .defines = text_get(&expander->defines),
                                    .parameters_used = x->parameters_used,
                                    .entries = x->entries,
                                    .entry_count = x->entry_count};
  return assemble(&assembly, &expander->source, &x->kernels, x->err);
}

int expansion_fresh_reads(struct expansion *x, size_t values) {
  struct expander *expander = x->expander;
  const size_t room = x->slot_count + CONFIG_STEP_SLOTS + 1;
  free(expander->reads);
  free(expander->reads_beside);
  free(expander->values);
  expander->reads = calloc(room, sizeof *expander->reads);
  expander->reads_beside = calloc(room, sizeof *expander->reads_beside);
  expander->values = calloc(values + 1, sizeof *expander->values);
  expander->value_count = 0;
  expander->read_count = x->slot_count;
  return expander->reads && expander->reads_beside && expander->values ? CUGEN_OK
                                                                       : error_memory(x->err);
}

/* Fills expander->reads_beside and `values`, and then `reads`, which also has the slots of the
   expressions in `values`. */
int expansion_note_reads(struct expansion *x) {
  struct expander *expander = x->expander;
  const struct config_implementation *implementation =
      x->reference ? NULL : x->variant->implementation;
  const size_t tensors = implementation ? implementation->tensor_count : 0,
               launches = implementation ? implementation->launch_count : 0;
  struct names_values values;
  int status = expansion_fresh_reads(x, x->names.count + x->config->argument_count + tensors);
  if (status) return status;
  values = (struct names_values){.list = expander->values};
  names_reads(&x->names, expander->reads_beside, &values);
  for (size_t i = 0; i < tensors; i++) names_read_value(implementation->tensors[i].when, &values);
  config_compile_reads(compile_of(x), expander->reads_beside);
  for (size_t i = 0; i < launches; i++)
    config_entry_reads(&implementation->launches[i], expander->reads_beside);
  expander->value_count = values.count;
  memcpy(expander->reads, expander->reads_beside, x->slot_count * sizeof *expander->reads);
  for (size_t i = 0; i < values.count; i++) config_expr_reads(values.list[i], expander->reads);
  return CUGEN_OK;
}
