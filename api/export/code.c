/* Prints one variant as C: the problems for which it is right, and its grid, parameters and buffers
   as expressions over the sizes. An expression without a form in C is pinned: the sizes in the
   expression become conditions, and the value becomes a number. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/element_conversion.h"
#include "export.h"
#include "gen/config/evaluate.h"
#include "runtime/plan.h"

struct coder {
  const struct lookup *lookup;
  const struct config *config;
  const struct config_implementation *implementation;
  const struct kernel_spec *spec;
  struct value *slots; /* values of the slots for the variant at its problem */
  bool *known;         /* for each slot: printed as a number; false only for sizes that are not
                          pinned, and for the steps of a loop of C */
  struct expander_shape shape;
  size_t slot_count;
  int step_slot;    /* slot of a loop's step, followed by that of the number of steps */
  struct text name; /* the name that code_slot_name returned last */
  cugen_error *err;
};

/* Returns the index of the problem's parameter in a slot; problem_count if the slot has none. */
static size_t problem_of(const struct config *config, int slot) {
  size_t at =
      slot < config->first_problem ? config->problem_count : (size_t)(slot - config->first_problem);
  return at < config->problem_count ? at : config->problem_count;
}

void export_quote(const char *string, struct text *out) {
  text_add_char(out, '"');
  for (; *string; string++) {
    unsigned char c = (unsigned char)*string;
    if (c == '"' || c == '\\' || c == '?' || c < ' ' || c > '~')
      text_addf(out, "\\%03o", (unsigned)c);
    else
      text_add_char(out, *string);
  }
  text_add_char(out, '"');
}

/* ---- Expressions ---------------------------------------------------------------------------- */

static const char *code_slot_name(void *context, int slot) {
  struct coder *c = context;
  if (slot == c->step_slot) return "step";
  if (slot == c->step_slot + 1) return "steps";
  size_t problem = problem_of(c->config, slot);
  text_clear(&c->name);
  text_addf(&c->name, "p->%s",
            problem < c->config->problem_count ? c->config->problems[problem].name : "?");
  return text_get(&c->name);
}

/* From now on the sizes that the expression reads are printed as numbers. */
static void code_pin(struct coder *c, const struct expr *expr) {
  size_t count = 0;
  const int *slots = expr ? expr_slots(expr, &count) : NULL;
  for (size_t i = 0; i < count; i++) c->known[slots[i]] = true;
}

void export_value(struct value value, struct text *out) {
  if (value.type == VALUE_STRING)
    export_quote(value.string, out);
  else if (value.type == VALUE_BOOL)
    text_add(out, value.boolean ? "1" : "0");
  else if (value.type == VALUE_INT && value.integer == INT64_MIN)
    text_add(out, "(-9223372036854775807LL - 1)");
  else
    value_print(value, out);
  if (value.type == VALUE_INT && value.integer != INT64_MIN &&
      (value.integer > INT32_MAX || value.integer < -INT32_MAX))
    text_add(out, "LL");
}

/* Appends the expression with the known slots bound; *constant becomes the value of a constant,
   otherwise VALUE_NIL. */
static int code_put_bound(struct coder *c, const struct expr *expr, struct text *out,
                          enum expr_kind *kind, struct value *constant) {
  struct expr *bound;
  constant->type = VALUE_NIL;
  int status = expr_bind(expr, c->slots, c->known, c->slot_count, &bound, c->err);
  if (status) return status;
  if (expr_constant(bound, constant)) {
    *kind = constant->type == VALUE_BOOL    ? EXPR_BOOLEAN
            : constant->type == VALUE_FLOAT ? EXPR_REAL
                                            : EXPR_WHOLE;
    export_value(*constant, out);
  } else {
    status = expr_print_checked(bound, code_slot_name, c, out, kind, c->err);
  }
  expr_free(bound);
  return status;
}

/* Like code_put_bound, for an expression of the wanted kind (with `any`: of any kind), which is
   pinned if necessary. */
static int put_kind(struct coder *c, const struct expr *expr, enum expr_kind wanted, bool any,
                    struct text *out, struct value *constant, enum expr_kind *kind) {
  struct text text = {0};
  int status = code_put_bound(c, expr, &text, kind, constant);
  if (status == CUGEN_ERROR_CONFIG ||
      (!status && !any && *kind != wanted && constant->type == VALUE_NIL)) {
    text_clear(&text);
    code_pin(c, expr);
    status = code_put_bound(c, expr, &text, kind, constant);
  }
  if (!status) text_add(out, text_get(&text));
  text_free(&text);
  return status;
}

/* Appends a whole number; `otherwise` if there is no expression. */
static int put_whole(struct coder *c, const struct expr *expr, int64_t otherwise,
                     struct text *out) {
  struct value constant;
  enum expr_kind kind;
  int64_t value;
  struct text text = {0};
  if (!expr) {
    export_value(value_int(otherwise), out);
    return CUGEN_OK;
  }
  int status = put_kind(c, expr, EXPR_WHOLE, false, &text, &constant, &kind);
  if (!status && constant.type == VALUE_FLOAT) {
    text_clear(&text);
    status = expr_eval_int(expr, c->slots, &value, c->err);
    if (!status) export_value(value_int(value), &text);
  }
  if (!status) text_add(out, text_get(&text));
  text_free(&text);
  return status;
}

/* ---- Arguments that launches choose --------------------------------------------------------- */

/* Returns the number of the config's argument of that name; -1: there is none. */
static int64_t code_find_argument(void *context, const char *name) {
  const struct coder *c = context;
  for (size_t i = 0; i < c->config->argument_count; i++)
    if (strcmp(c->config->arguments[i].name, name) == 0) return (int64_t)i;
  return -1;
}

/* Appends the number of the argument whose name `expr` gives, or C that computes the number.
   otherwise: the number for the variant's own problem. It is appended if the name is constant; also
   if `expr` has no form in C, and then the sizes that it reads are pinned. */
static int put_name(struct coder *c, const struct expr *expr, size_t otherwise, struct text *out) {
  struct expr *bound = NULL, *numbers = NULL;
  enum expr_kind kind;
  struct text text = {0};
  int status = expr_bind(expr, c->slots, c->known, c->slot_count, &bound, c->err);
  const bool constant = !status && expr_constant(bound, NULL);
  if (!status && !constant)
    status = expr_number_words(bound, code_find_argument, c, &numbers, c->err);
  if (numbers && expr_print_checked(numbers, code_slot_name, c, &text, &kind, c->err) == CUGEN_OK &&
      kind == EXPR_WHOLE) {
    text_add(out, text_get(&text));
  } else if (!status) {
    if (!constant) code_pin(c, expr);
    text_addf(out, "%zu", otherwise);
  }
  expr_free(numbers);
  expr_free(bound);
  text_free(&text);
  return status;
}

/* ---- Conditions ----------------------------------------------------------------------------- */

static int put_condition(struct coder *c, const struct expr *expr, struct text *out) {
  struct text text = {0};
  struct value constant;
  enum expr_kind kind;
  int status = put_kind(c, expr, EXPR_BOOLEAN, false, &text, &constant, &kind);
  if (!status && (constant.type == VALUE_NIL || (constant.type == VALUE_BOOL && !constant.boolean)))
    text_addf(out, "(%s)\n", text_get(&text));
  text_free(&text);
  return status;
}

/* Appends a condition for a value that is part of the code, such as a width that follows from the
   divisors of a size: the code serves all sizes that give this value. */
static int put_class(struct coder *c, const struct expr *expr, struct text *out) {
  struct text text = {0};
  struct value constant, value;
  enum expr_kind kind;
  int status = put_kind(c, expr, EXPR_WHOLE, true, &text, &constant, &kind);
  if (!status && constant.type == VALUE_NIL) status = expr_eval(expr, c->slots, &value, c->err);
  if (!status && constant.type == VALUE_NIL && kind == EXPR_REAL) {
    code_pin(c, expr); /* C and cugen may compute a real value with different last bits */
  } else if (!status && constant.type == VALUE_NIL) {
    struct text line = {0};
    text_addf(&line, "(%s) == ", text_get(&text));
    export_value(value, &line);
    text_add_char(&line, '\n');
    if (!line.failed && !strstr(text_get(out), text_get(&line))) text_add(out, text_get(&line));
    out->failed |= line.failed;
    text_free(&line);
  }
  text_free(&text);
  return status;
}

static void put_equal(const char *name, struct value value, struct text *out) {
  if (value.type == VALUE_STRING) {
    text_addf(out, "word_is(p->%s, ", name);
    export_value(value, out);
    text_add(out, ")\n");
  } else if (value.type == VALUE_BOOL) {
    text_addf(out, "%sp->%s\n", value.boolean ? "" : "!", name);
  } else {
    text_addf(out, "p->%s == ", name);
    export_value(value, out);
    text_add_char(out, '\n');
  }
}

/* Appends the values that are not sizes, and the sizes that are pinned. */
static void put_fixed(const struct coder *c, struct export_code *out) {
  for (size_t i = 0; i < c->config->problem_count; i++) {
    int slot = c->config->first_problem + (int)i;
    bool size = config_is_size(c->config, i);
    const char *name = c->config->problems[i].name;
    if (!size || c->known[slot]) {
      put_equal(name, c->slots[slot], size ? &out->conditions : &out->class);
      text_addf(&out->fixed, "%s.%s = ", out->fixed.length ? ", " : "", name);
      export_value(c->slots[slot], &out->fixed);
    }
    out->pinned = out->pinned || (size && c->known[slot]);
    if (size) continue;
    text_add(&out->label, out->label.length ? " " : "");
    setting_print(name, c->slots[slot], &out->label);
  }
}

/* ---- Sizes ---------------------------------------------------------------------------------- */

/* Returns the launch of the spec that is made as call `at`. */
static const struct kernel_launch *planned_at(const struct coder *c, size_t at) {
  return &c->spec->launches[kernel_spec_call(c->spec, at)];
}

static int put_launch(struct coder *c, const struct config_launch *launch, size_t at,
                      struct text *out) {
  int status = CUGEN_OK;
  text_addf(out, "launch(s, %zu", plan_entry_index(c->spec, planned_at(c, at)->entry));
  for (int i = 0; i < 6 && !status; i++) {
    text_add(out, ", ");
    status = put_whole(c, i < 3 ? launch->grid[i] : launch->block[i - 3], 1, out);
  }
  text_add(out, ", ");
  if (!status) status = put_whole(c, launch->shared, 0, out);
  text_add(out, ");\n");
  if (!status && launch->carveout) {
    text_add(out, "carveout(s, ");
    status = put_whole(c, launch->carveout, -1, out);
    text_add(out, ");\n");
  }
  code_pin(c, launch->overlap);
  if (planned_at(c, at)->overlap) text_add(out, "overlap(s);\n");
  code_pin(c, launch->cooperative);
  if (planned_at(c, at)->cooperative) text_add(out, "cooperative(s);\n");
  return status;
}

static const struct config_tensor *tensor_of(const struct config *config,
                                             const struct config_implementation *implementation,
                                             const struct config_argument *argument) {
  for (size_t i = 0; i < implementation->tensor_count; i++)
    if (&config->arguments[implementation->tensors[i].argument] == argument)
      return &implementation->tensors[i];
  return NULL;
}

/* Appends the text of a tensor map, which follows the text of the map's buffer. If the box of the
   map comes from a declared shared array, the extents of the box are printed as numbers, because
   the extents of the array are numbers in the source. */
static int put_tensor(struct coder *c, const struct config_implementation *implementation,
                      const struct config_tensor *tensor, const struct kernel_argument *argument,
                      struct text *out) {
  text_addf(out, "tensor(s, %d, ", argument->swizzle);
  int status = put_whole(c, tensor->parts, 1, out);
  text_add(out, ", (const long long[]){");
  code_pin(c, tensor->shared_by);
  code_pin(c, tensor->swizzle);
  if (tensor->into) config_shared_reads(implementation, tensor->into->launch, c->known);
  for (int i = 0; i < argument->rank && !status; i++) {
    if (i) text_add(out, ", ");
    if (tensor->into)
      text_addf(out, "%d", argument->box[i]);
    else
      status = put_whole(c, tensor->box[i], 1, out);
  }
  text_add(out, "});\n");
  return status;
}

/* Appends the layout of the last buffer, which is neither row nor col, with the numbers of the
   exported problem. */
static int put_word(struct coder *c, const struct config_argument *declared,
                    const struct kernel_argument *argument, struct text *out) {
  struct layout layout, tile;
  struct layout_map map = {0};
  int status = layout_read(argument->layout, argument->rank, &layout, c->err);
  const int levels = layout.tiles, rank = argument->rank;
  const long long block = 1LL << (argument->map.bits ? argument->map.bits + argument->map.base : 0);
  if (status) return status;
  if (!levels) {
    text_add(out, "in_order(s, ");
    status = put_whole(c, declared->shape[layout.order[0][rank - 1]], 1, out);
    text_addf(out, " + %lld, (const int[]){", (long long)layout.pad);
    for (int i = 0; i < rank; i++) text_addf(out, "%s%d", i ? ", " : "", layout.order[0][i]);
    text_add(out, "});\n");
    if (argument->map.count) text_addf(out, "swizzled(s, %lld);\n", block);
    return status;
  }
  tile = layout;
  tile.bits = tile.bytes = 0;
  status = layout_of_shape(&tile, layout.tile[0], argument->dtype->bytes, &map, c->err);
  text_add(out, "tiled(s, (const long long[]){");
  for (int i = 0; i < rank; i++)
    text_addf(out, "%s%lld", i ? ", " : "", (long long)layout.tile[0][i]);
  text_addf(out, "}, %lld, %lld);\n", (long long)map.size, block);
  return status;
}

static int put_layout(struct coder *c, const struct config_argument *declared,
                      const struct kernel_argument *argument, struct text *out) {
  int status = CUGEN_OK;
  if (*argument->layout && strcmp(argument->layout, "row") != 0 &&
      strcmp(argument->layout, "col") != 0)
    return put_word(c, declared, argument, out);
  if (!declared->strides[0]) return CUGEN_OK;
  text_add(out, "strided(s, (const long long[]){");
  for (int i = 0; i < declared->rank && !status; i++) {
    if (i) text_add(out, ", ");
    status = put_whole(c, declared->strides[i], 1, out);
  }
  text_add(out, "});\n");
  return status;
}

static int put_buffer(struct coder *c, const struct config_argument *declared,
                      const struct kernel_argument *argument, struct text *out) {
  if (argument->unused && argument->access != ACCESS_TENSOR)
    return text_addf(out,
                     "buffer(s, \"%s\", %d, MEMORY_DEVICE, ROWS, 1, 1, (const long long[]){1});\n",
                     argument->dtype->name, argument->dtype->bytes),
           CUGEN_OK;
  /* Registered memory is the caller's own, so a bundle allocates mapped memory in its place. */
  static const char *const memories[] = {"MEMORY_DEVICE", "MEMORY_PINNED", "MEMORY_MAPPED",
                                         "MEMORY_MANAGED", "MEMORY_MAPPED"};
  const bool columns = strcmp(argument->layout, "col") == 0;
  const struct expr *row = declared->shape[columns ? 0 : declared->rank - 1];
  code_pin(c, declared->layout.choice);
  for (size_t i = 0; i < declared->layout.word_count; i++)
    for (size_t k = 0; k < declared->layout.words[i].part_count; k++)
      code_pin(c, declared->layout.words[i].parts[k]);
  code_pin(c, declared->memory.expr);
  code_pin(c, declared->access.expr);
  code_pin(c, declared->overwrite);
  text_addf(out, "buffer(s, \"%s\", %d, %s, %s, ", argument->dtype->name, argument->dtype->bytes,
            memories[argument->memory], columns ? "COLUMNS" : "ROWS");
  int status = put_whole(c, declared->pitch ? declared->pitch : row, 1, out);
  text_addf(out, ", %d, (const long long[]){", declared->rank);
  for (int i = 0; i < declared->rank && !status; i++) {
    if (i) text_add(out, ", ");
    status = put_whole(c, declared->shape[i], 1, out);
  }
  text_add(out, "});\n");
  if (!status) status = put_layout(c, declared, argument, out);
  if (argument->overwrite) text_add(out, "overwrites(s);\n");
  if (declared->kind == CUGEN_ARGUMENT_CONSTANT && argument->access == ACCESS_GLOBAL)
    text_add(out, "by_address(s);\n");
  if (declared->kind != CUGEN_ARGUMENT_CONSTANT && argument->access == ACCESS_SYMBOL)
    text_add(out, "in_symbol(s);\n");
  if (argument->access == ACCESS_POINTER) text_add(out, "in_pointer(s);\n");
  if (argument->access == ACCESS_FIELD)
    text_addf(out, "in_field(s, %zu, %d);\n", argument->holder, argument->offset);
  return status;
}

static void put_bits(const struct kernel_argument *argument, const unsigned char *bytes,
                     struct text *out) {
  uint64_t value = 0;
  memcpy(&value, bytes, (size_t)argument->dtype->bytes);
  text_addf(out, "bits(s, \"%s\", %d, %d, 0x%" PRIx64 "u); /* ", argument->dtype->name,
            argument->dtype->bytes, !argument->compiled_in, value);
  value_print(argument->value, out);
  text_add(out, " */\n");
}

/* Appends the value as an expression; nothing if it is a constant. */
static int put_value(struct coder *c, const struct config_argument *declared, struct text *out,
                     enum expr_kind *kind) {
  struct value constant = {.type = VALUE_NIL};
  *kind = EXPR_WHOLE;
  if (declared->value) {
    int status = put_kind(c, declared->value, EXPR_WHOLE, true, out, &constant, kind);
    if (constant.type != VALUE_NIL) text_clear(out);
    return status;
  }
  for (size_t i = 0; i < c->config->problem_count; i++)
    if (strcmp(c->config->problems[i].name, declared->name) == 0 &&
        !c->known[c->config->first_problem + (int)i])
      text_addf(out, "p->%s", declared->name);
  return CUGEN_OK;
}

/* Returns the function that takes a value of this type at run time; NULL: there is none, so the
   value must be a constant. */
static const char *scalar_function(const struct dtype *dtype, bool index, enum expr_kind kind) {
  if (index) return kind == EXPR_REAL ? NULL : "offset";
  if (dtype->floating) return dtype->bytes >= 4 ? "real" : NULL;
  return kind == EXPR_REAL ? NULL : "whole";
}

static int put_scalar(struct coder *c, const struct config_argument *declared,
                      const struct kernel_argument *argument, struct text *out) {
  struct text value = {0};
  enum expr_kind kind;
  unsigned char bytes[8] = {0};
  code_pin(c, declared->compiled);
  int status = put_value(c, declared, &value, &kind);
  const char *function = scalar_function(argument->dtype, config_is_index(declared), kind);
  if (!status && value.length && function) {
    bool cast = strcmp(function, "real") == 0 && kind != EXPR_REAL;
    text_addf(out, "%s(s, \"%s\", %d, %d, %s%s%s);\n", function, argument->dtype->name,
              argument->dtype->bytes, !argument->compiled_in, cast ? "(double)(" : "",
              text_get(&value), cast ? ")" : "");
  } else if (!status) {
    code_pin(c, declared->value);
    for (size_t i = 0; !declared->value && i < c->config->problem_count; i++)
      if (strcmp(c->config->problems[i].name, declared->name) == 0)
        c->known[c->config->first_problem + (int)i] = true;
    element_pack(argument->dtype, argument->value, bytes);
    put_bits(argument, bytes, out);
  }
  text_free(&value);
  return status;
}

/* Appends a struct. The struct's buffers say in which field their addresses are. */
static int put_struct(struct coder *c, const struct config_argument *declared,
                      const struct kernel_argument *argument, struct text *out) {
  static const unsigned char zero[8] = {0};
  int status = CUGEN_OK;
  text_addf(out, "structure(s, %d);\n", argument->struct_bytes);
  for (int i = 0; i < declared->field_count && !status; i++) {
    const struct config_field *field = &declared->fields[i];
    const struct config_argument as_scalar = {.value = field->value};
    struct kernel_argument number = {.dtype = field->dtype, .value = value_int(0)};
    if (!field->dtype) continue;
    text_addf(out, "field(s, %d);\n", field->offset);
    if (field->value) {
      status = expr_eval(field->value, c->slots, &number.value, c->err);
      if (!status) status = put_scalar(c, &as_scalar, &number, out);
    } else if (c->spec->arguments[field->buffer].absent) {
      put_bits(&number, zero, out);
    } else {
      text_addf(out, "pitch(s, \"%s\", %d, %zu);\n", field->dtype->name, field->dtype->bytes,
                field->buffer);
    }
  }
  return status;
}

/* ---- Loops ---------------------------------------------------------------------------------- */

/* Appends a parameter of a launch; a value of the launch's own becomes one more scalar. parameter:
   as the config lists it; NULL: the launch has no list. */
static int put_parameter(struct coder *c, const struct config_parameter *parameter,
                         const struct kernel_parameter *planned, struct text *out) {
  const size_t shared = c->config->argument_count, i = planned->argument;
  int status = CUGEN_OK;
  if (planned->value.type != VALUE_NIL) {
    struct config_argument declared =
        i < shared ? c->config->arguments[i] : c->implementation->own[i - shared];
    struct kernel_argument argument = c->spec->arguments[i];
    /* pinned, because the expression gives the name of an argument, and with it the type of the
       value */
    if (parameter && parameter->expr) code_pin(c, parameter->expr);
    if (parameter && parameter->value) declared.value = parameter->value;
    declared.compiled = NULL;
    argument.value = planned->value;
    status = put_scalar(c, &declared, &argument, out);
    text_add(out, "pass_own(s);\n");
    return status;
  }
  text_add(out, "pass(s, ");
  if (parameter && parameter->expr)
    status = put_name(c, parameter->expr, i, out);
  else
    text_addf(out, "%zu", i);
  text_add(out, ");\n");
  return status;
}

static int put_pass(struct coder *c, const struct config_launch *launch, size_t at,
                    struct text *out) {
  const struct kernel_launch *planned = planned_at(c, at);
  const size_t count = planned->listed ? planned->parameter_count : 0;
  int status = CUGEN_OK;
  for (size_t i = 0; i < count && !status; i++)
    status = put_parameter(c, launch->passed ? &launch->passed[i] : NULL,
                           &c->spec->parameters[planned->first_parameter + i], out);
  if (planned->listed && !count) text_add(out, "pass_nothing(s);\n");
  return status;
}

/* The loop of the config that is being printed. */
struct looping {
  const struct config_loop *loop;
  size_t first;   /* number of the loop's first call */
  int64_t rounds; /* rounds for the current problem */
};

static int put_round(struct coder *c, const struct looping *l, int64_t step, struct text *out) {
  int status = CUGEN_OK;
  c->slots[c->step_slot] = value_int(step);
  c->slots[c->step_slot + 1] = value_int(l->rounds);
  for (size_t i = 0; i < l->loop->count && !status; i++) {
    const struct config_launch *launch = &c->implementation->launches[l->loop->first + i];
    const size_t at = l->first + (size_t)step * l->loop->count + i;
    status = put_launch(c, launch, at, out);
    if (!status) status = put_pass(c, launch, at, out);
  }
  return status;
}

/* Prints the first round in a loop of C, or with repeat() if no launch uses the step. *done false:
   a part of the round has no form in C; nothing is printed, and `known` is restored. */
static int put_counted(struct coder *c, const struct looping *l, const char *steps, bool *done,
                       struct text *out) {
  struct text round = {0};
  bool *const known = malloc(c->slot_count * sizeof *known);
  if (!known) return error_memory(c->err);
  memcpy(known, c->known, c->slot_count * sizeof *known);
  c->known[c->step_slot] = c->known[c->step_slot + 1] = false;
  int status = put_round(c, l, 0, &round);
  *done = !status && !c->known[c->step_slot] && !c->known[c->step_slot + 1];
  if (!*done) memcpy(c->known, known, c->slot_count * sizeof *known);
  c->known[c->step_slot] = c->known[c->step_slot + 1] = true;
  if (*done && l->loop->stepped)
    text_addf(out,
              "for (long long step = 0, steps = %s; step < steps && !s->failed; step++) "
              "{\n(void)step, (void)steps;\n%s}\n",
              steps, text_get(&round));
  else if (*done)
    text_addf(out, "{\nconst long long steps = %s;\n(void)steps;\n%srepeat(s, %zu, steps);\n}\n",
              steps, text_get(&round), l->loop->count);
  out->failed |= round.failed;
  text_free(&round);
  free(known);
  return status;
}

/* Prints one round after another; the code then serves only sizes with this number of rounds. */
static int put_unrolled(struct coder *c, const struct looping *l, const char *steps,
                        struct export_code *code) {
  enum { MOST = 4096 };
  int status = CUGEN_OK;
  if (l->rounds > MOST)
    return error_set_at(c->err, CUGEN_ERROR_CONFIG, l->loop->line.path, l->loop->line.number,
                        "%" PRId64
                        " rounds of a loop whose launches have no form in C, such as an entry that "
                        "sees the step, are written one by one: at most %d are exported",
                        l->rounds, MOST);
  text_addf(&code->conditions, "(%s) == %" PRId64 "\n", steps, l->rounds);
  code->rounds = l->rounds;
  for (int64_t step = 0; step < l->rounds && !status; step++)
    status = put_round(c, l, step, &code->sizes);
  return status;
}

/* Prints a loop. *first: the number of the loop's first call; becomes the number of the next loop's
   first call. */
static int put_loop(struct coder *c, const struct config_loop *loop, size_t *first,
                    struct export_code *code) {
  struct looping l = {loop, *first, 1};
  struct text steps = {0};
  const struct config_launch *launches = &c->implementation->launches[loop->first];
  bool done = false, sees = false; /* sees: an entry depends on the step */
  for (size_t i = 0; i < loop->count; i++)
    sees |= config_spelling_sees(&launches[i].entry, c->step_slot);
  int status = config_steps(launches, c->slots, &l.rounds, c->err);
  if (!status && !loop->steps) status = put_round(c, &l, 0, &code->sizes), done = true;
  if (!status && !done) status = put_whole(c, loop->steps, 1, &steps);
  if (!status && !done && l.rounds && !sees)
    status = put_counted(c, &l, text_get(&steps), &done, &code->sizes);
  if (!status && !done) status = put_unrolled(c, &l, text_get(&steps), code);
  *first += (size_t)l.rounds * loop->count;
  code->sizes.failed |= steps.failed;
  text_free(&steps);
  return status;
}

static int code_put_arguments(struct coder *c, const struct config_implementation *implementation,
                              struct text *out) {
  static const unsigned char zero[8] = {0};
  int status = CUGEN_OK;
  for (size_t i = 0; i < c->config->argument_count && !status; i++) {
    const struct config_argument *declared = &c->config->arguments[i];
    const struct config_tensor *tensor = tensor_of(c->config, implementation, declared);
    const struct kernel_argument *argument = &c->spec->arguments[i];
    code_pin(c, declared->dtype.expr);
    if (argument->absent)
      put_bits(argument, zero, out);
    else if (declared->kind != CUGEN_ARGUMENT_SCALAR)
      status = put_buffer(c, declared, argument, out);
    else if (argument->struct_bytes)
      status = put_struct(c, declared, argument, out);
    else
      status = put_scalar(c, declared, argument, out);
    if (!status && argument->access == ACCESS_TENSOR)
      status = put_tensor(c, implementation, tensor, argument, out);
  }
  return status;
}

/* ---- A variant ------------------------------------------------------------------------------ */

/* Returns the place of the variant among all combinations of its implementation, with the last
   tunable varying fastest. */
static uint64_t order_of(const struct variant *variant) {
  uint64_t order = 0;
  for (size_t i = 0; i < variant->implementation->tunable_count; i++) {
    const struct config_tunable *tunable = &variant->implementation->tunables[i];
    size_t at = 0;
    while (at + 1 < tunable->value_count && !value_equal(tunable->values[at], variant->values[i]))
      at++;
    order = order * tunable->value_count + at;
  }
  return order;
}

static int fill_slots(struct coder *c, const struct variant *variant) {
  const struct lookup *l = c->lookup;
  size_t first = (size_t)c->config->first_tunable,
         tunables = variant->implementation->tunable_count;
  c->shape = expander_shape(l->opened->expander);
  c->step_slot = (int)(first + tunables);
  c->slot_count = first + tunables + CONFIG_STEP_SLOTS;
  c->slots = calloc(c->slot_count + 1, sizeof *c->slots);
  c->known = calloc(c->slot_count + 1, sizeof *c->known);
  if (!c->slots || !c->known) return error_memory(c->err);
  config_slots(c->config, l->problem, &l->device.facts, c->slots);
  if (tunables) memcpy(c->slots + first, variant->values, tunables * sizeof *c->slots);
  for (size_t i = 0; i < c->slot_count; i++) {
    size_t problem = problem_of(c->config, (int)i);
    bool size = problem < c->config->problem_count && config_is_size(c->config, problem);
    c->known[i] = !size || (i < c->shape.count && c->shape.reads[i]);
  }
  return CUGEN_OK;
}

static int fill_code(struct coder *c, const struct variant *variant, struct export_code *out) {
  size_t first = 0;
  int status = fill_slots(c, variant);
  /* values on which the code depends: names that the template reads, which arguments exist, and
     which have tensor maps */
  for (size_t i = 0; i < c->shape.value_count && !status; i++)
    status = put_class(c, c->shape.values[i], &out->conditions);
  if (!status) status = code_put_arguments(c, variant->implementation, &out->sizes);
  for (size_t i = 0; i < variant->implementation->loop_count && !status; i++)
    status = put_loop(c, &variant->implementation->loops[i], &first, out);
  const struct config_implementation *implementation = variant->implementation;
  for (size_t i = 0; i < implementation->requirement_count && !status; i++)
    status = put_condition(c, implementation->requirements[i].expr, &out->conditions);
  for (size_t i = 0; i < implementation->restriction_count && !status; i++)
    status = put_condition(c, implementation->restrictions[i].expr, &out->conditions);
  if (status) return status;
  put_fixed(c, out);
  out->variant = strdup(c->spec->variant);
  out->wide = config_wide_index(c->config, c->spec->arguments);
  out->implementation = (size_t)(variant->implementation - c->config->implementations);
  out->order = order_of(variant);
  bool failed = out->sizes.failed || out->conditions.failed || out->class.failed ||
                out->label.failed || out->fixed.failed || !out->variant;
  return failed ? error_memory(c->err) : CUGEN_OK;
}

int export_code(const struct lookup *lookup, uint64_t index, const struct kernel_spec *spec,
                struct export_code *out, cugen_error *err) {
  const struct variant variant = lookup_variant(lookup, index);
  struct coder c = {.lookup = lookup,
                    .config = lookup->config,
                    .implementation = variant.implementation,
                    .spec = spec,
                    .err = err};
  *out = (struct export_code){0};
  int status = fill_code(&c, &variant, out);
  free(c.slots);
  free(c.known);
  text_free(&c.name);
  if (status) export_code_free(out);
  return status;
}

void export_code_free(struct export_code *code) {
  free(code->variant);
  text_free(&code->conditions);
  text_free(&code->class);
  text_free(&code->label);
  text_free(&code->fixed);
  text_free(&code->sizes);
  for (size_t i = 0; i < code->kernel_count; i++) free(code->kernels[i]);
  *code = (struct export_code){0};
}
