/* The expansion of an implementation that is a library's kernel: its source is the text of the call
   (base/library.h), its launch passes the arguments of the call in the order of the fields; see
   expansion.h. */
#include "expansion.h"

#include <stdlib.h>
#include <string.h>

static const struct config_library *library_of(const struct expansion *x) {
  return x->reference ? NULL : x->variant->implementation->library;
}

bool expansion_calls_library(const struct expansion *x) {
  return library_of(x) != NULL;
}

/* Returns NULL if the field is not given or is no argument, or if its argument is absent from this
   problem. */
static const struct kernel_argument *field_argument(const struct expansion *x, size_t field) {
  const struct config_library *library = library_of(x);
  if (!library->fields[field].given || library->fields[field].expr) return NULL;
  const struct kernel_argument *argument = &x->arguments[library->fields[field].argument];
  return argument->absent ? NULL : argument;
}

static int library_fail(const struct expansion *x, const struct library_field *field,
                        const char *name, const char *why) {
  const struct config_library *library = library_of(x);
  return config_fail(x->err, library->requirement.line, "%s of %s: '%s' %s", field->name,
                     library->requirement.text, name, why);
}

/* Describes an argument of the call. A library takes buffers by their address, with strides and
   without tiles, and scalars by their value. */
static int fill_argument(const struct expansion *x, const struct library_field *field,
                         const struct kernel_argument *from, struct library_value *out) {
  if (from->kind == CUGEN_ARGUMENT_SCALAR ? from->compiled_in || from->struct_bytes
                                          : from->access != ACCESS_GLOBAL)
    return library_fail(x, field, from->name, "is not passed by its value or address");
  if (from->map.count)
    return library_fail(x, field, from->name, "is tiled or swizzled, which no library knows");
  *out = (struct library_value){.dtype = from->dtype, .rank = from->rank};
  for (int i = 0; i < from->rank; i++)
    out->shape[i] = from->shape[i], out->stride[i] = from->stride[i];
  out->columns = strncmp(from->layout, "col", 3) == 0 ||
                 (!from->layout[0] && from->rank == 2 && from->stride[1] != 1);
  return CUGEN_OK;
}

static int fill_value(const struct expansion *x, const struct library_field *field,
                      const struct expr *expr, struct library_value *out) {
  const struct config_library *library = library_of(x);
  struct value word = {0};
  int status = field->kind == LIBRARY_NUMBER ? expr_eval_int(expr, x->slots, &out->number, x->err)
                                             : expr_eval(expr, x->slots, &word, x->err);
  if (status) return config_prefix(x->err, library->requirement.line, "%s", field->name), status;
  if (field->kind == LIBRARY_NUMBER)
    return out->number >= 0 ? CUGEN_OK : library_fail(x, field, expr_text(expr), "is below 0");
  const int index = word.type == VALUE_STRING ? library_word(field, word.string) : -1;
  struct text why = {0};
  text_addf(&why, "is none of its words: %s", field->words);
  out->number = index;
  int refused = index < 0 ? library_fail(x, field, expr_text(expr), text_get(&why)) : CUGEN_OK;
  text_free(&why);
  return refused;
}

int expansion_write_call(struct expansion *x) {
  const struct config_library *from = library_of(x);
  const struct library *library = &libraries[from->id];
  struct library_call call = {.library = from->id, .build = x->facts->libraries[from->id]};
  int status = CUGEN_OK;
  for (size_t i = 0; i < library->field_count && !status; i++) {
    const struct library_field *field = &library->fields[i];
    const struct kernel_argument *argument = field_argument(x, i);
    call.values[i].number = field->usual;
    if (argument)
      status = fill_argument(x, field, argument, &call.values[i]);
    else if (from->fields[i].expr)
      status = fill_value(x, field, from->fields[i].expr, &call.values[i]);
    else if (field->needed)
      status = library_fail(x, field, x->config->arguments[from->fields[i].argument].name,
                            "is no argument of this problem");
  }
  if (!status) status = expansion_write_title(x);
  if (status) return status;
  library_call_print(&call, &x->expander->source);
  return x->expander->source.failed ? error_memory(x->err) : CUGEN_OK;
}

/* Everything counts as read, because shapes and strides stand in the source. */
int expansion_note_call_reads(struct expansion *x) {
  int status = expansion_fresh_reads(x, 0);
  if (status) return status;
  memset(x->expander->reads, true, x->slot_count);
  memset(x->expander->reads_beside, true, x->slot_count);
  return CUGEN_OK;
}

/* The launch has one block of one thread, because the library chooses its own sizes. */
int expansion_library_launch(struct expansion *x) {
  const struct config_library *library = library_of(x);
  struct kernel_spec *spec = x->out;
  struct kernel_launch *out = &spec->launches[spec->launch_count++];
  spec->parameters = calloc(LIBRARY_MOST_FIELDS, sizeof *spec->parameters);
  if (!spec->parameters) return error_memory(x->err);
  *out = (struct kernel_launch){.line = library->requirement.line.number,
                                .listed = true,
                                .grid = {1, 1, 1},
                                .block = {1, 1, 1}};
  out->entry = (const char *)(uintptr_t)expansion_store_string(spec, libraries[library->id].name);
  out->place = (const char *)(uintptr_t)expansion_store_string(spec, "");
  for (size_t i = 0; i < libraries[library->id].field_count; i++)
    if (field_argument(x, i))
      spec->parameters[out->parameter_count++] =
          (struct kernel_parameter){library->fields[i].argument, {.type = VALUE_NIL}};
  spec->parameter_count = out->parameter_count;
  return CUGEN_OK;
}
