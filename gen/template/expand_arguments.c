/* Slots, arguments and ${params} of an expansion; see expansion.h. */
#include "expansion.h"
#include "gen/config/evaluate.h"

#include <stdlib.h>
#include <string.h>

size_t expansion_tunable_count(const struct expansion *x) {
  return x->reference ? x->config->shared_tunable_count : x->variant->implementation->tunable_count;
}

const struct config_tunable *expansion_tunables(const struct expansion *x) {
  return x->reference ? x->config->shared_tunables : x->variant->implementation->tunables;
}

int expansion_fill_slots(struct expansion *x) {
  size_t first = (size_t)x->config->first_tunable;
  x->slot_count = first + expansion_tunable_count(x);
  /* the slots of a launch's steps lie behind those of the tunables */
  x->slots = calloc(x->slot_count + CONFIG_STEP_SLOTS, sizeof *x->slots);
  if (!x->slots) return error_memory(x->err);
  config_slots(x->config, x->problem, x->facts, x->slots);
  if (expansion_tunable_count(x))
    memcpy(x->slots + first, x->variant->values, expansion_tunable_count(x) * sizeof *x->slots);
  return CUGEN_OK;
}

bool expansion_is_buffer(const struct kernel_argument *argument) {
  return argument->kind != CUGEN_ARGUMENT_SCALAR;
}

/* Makes the argument packed and row-major, in its wide dtype. */
static void arguments_make_plain(struct kernel_argument *argument) {
  argument->dtype = argument->dtype->wide;
  strcpy(argument->layout, "row");
  argument->map = (struct layout_map){0};
  int64_t stride = 1;
  for (int i = argument->rank - 1; i >= 0; i--) {
    argument->stride[i] = stride;
    stride *= argument->shape[i]; /* cannot overflow: config_arguments has limited
                                     argument->elements, which is no smaller */
  }
  argument->elements = stride;
}

/* A reference reads every input by its address and every constant as a symbol. */
static void make_direct(struct kernel_argument *argument) {
  argument->overwrite = false;
  argument->access = argument->kind == CUGEN_ARGUMENT_CONSTANT ? ACCESS_CONSTANT : ACCESS_GLOBAL;
}

/* Hides an argument, as if the problem did not have it. */
static void hide(struct kernel_argument *argument) {
  *argument = (struct kernel_argument){.name = argument->name,
                                       .kind = CUGEN_ARGUMENT_SCALAR,
                                       .dtype = argument->dtype,
                                       .absent = true,
                                       .compiled_in = true,
                                       .value = value_int(0)};
}

/* A generator reads the inputs before its argument and writes only its argument. */
static void make_generator(struct expansion *x) {
  for (size_t i = 0; i < x->argument_count; i++) {
    struct kernel_argument *argument = &x->arguments[i];
    x->plain[i] = (int)i == x->generates;
    argument->access = ACCESS_GLOBAL;
    argument->overwrite = false;
    if (x->plain[i])
      arguments_make_plain(argument), argument->kind = CUGEN_ARGUMENT_OUTPUT;
    else if (argument->kind != CUGEN_ARGUMENT_SCALAR &&
             ((int)i > x->generates || !config_has_data(argument->kind)))
      hide(argument);
    else if (argument->kind == CUGEN_ARGUMENT_INOUT)
      argument->kind = CUGEN_ARGUMENT_INPUT;
  }
}

/* Returns the number of elements of the largest output, which a reference computes without
   samples. */
int64_t expansion_output_elements(const struct expansion *x) {
  int64_t most = 1;
  for (size_t i = 0; i < x->argument_count; i++) {
    const struct kernel_argument *argument = &x->arguments[i];
    int64_t elements = 1;
    if (!config_has_result(argument->kind)) continue;
    for (int d = 0; d < argument->rank; d++) elements *= argument->shape[d];
    if (elements > most) most = elements;
  }
  return most;
}

/* A verify kernel reads all arguments and writes only its errors. */
static void make_verify(struct expansion *x) {
  x->samples = expansion_output_elements(x);
  for (size_t i = 0; i < x->argument_count; i++) {
    struct kernel_argument *argument = &x->arguments[i];
    make_direct(argument);
    if (expansion_is_buffer(argument) && argument->kind != CUGEN_ARGUMENT_CONSTANT)
      argument->kind = CUGEN_ARGUMENT_INPUT;
  }
}

int expansion_fill_arguments(struct expansion *x) {
  int status = config_arguments(x->config, x->slots, x->arguments, x->err);
  if (status) return status;
  if (!x->reference)
    status = config_tensors(x->variant->implementation, x->slots, x->arguments, x->err);
  if (!x->reference && !status)
    status = config_own(x->config, x->variant->implementation, x->slots, x->arguments, x->err);
  if (status) return status;
  x->argument_count = x->config->argument_count;
  x->own_count = x->reference ? 0 : x->variant->implementation->own_count;
  x->wide_index = config_wide_index(x->config, x->arguments);
  /* A reference gets the addresses of buffers instead of a struct that holds an address. */
  for (size_t i = 0; i < x->argument_count && x->reference; i++)
    if (x->arguments[i].access == ACCESS_FIELD) hide(&x->arguments[x->arguments[i].holder]);
  for (size_t i = 0; i < x->argument_count && x->reference && x->generates < 0; i++)
    x->changed[i] = x->arguments[i].kind == CUGEN_ARGUMENT_INOUT && !x->arguments[i].absent;
  if (x->generates >= 0) make_generator(x);
  if (x->verifies) make_verify(x);
  if (x->generates >= 0 || x->verifies) return CUGEN_OK;
  for (size_t i = 0; i < x->argument_count; i++) {
    x->plain[i] = x->reference && x->arguments[i].kind == CUGEN_ARGUMENT_OUTPUT;
    if (x->plain[i]) arguments_make_plain(&x->arguments[i]);
    if (x->reference) make_direct(&x->arguments[i]);
  }
  return CUGEN_OK;
}

/* ---- ${params} ------------------------------------------------------------------------------ */

static void arguments_add_parameter(struct text *out, const struct kernel_argument *argument,
                                    bool index) {
  if (!kernel_argument_passed(argument)) return;
  if (out->length) text_add(out, ", ");
  if (kernel_argument_textured(argument)) {
    text_addf(out, "cudaTextureObject_t %s", argument->name);
  } else if (argument->access == ACCESS_TENSOR) {
    text_addf(out, "const __grid_constant__ tensor_map %s", argument->name);
  } else if (expansion_is_buffer(argument)) {
    bool read = argument->kind == CUGEN_ARGUMENT_INPUT || argument->kind == CUGEN_ARGUMENT_CONSTANT;
    const char *qualifier = read && !argument->overwrite ? "const " : "";
    text_addf(out, "%s%s_t *__restrict__ %s", qualifier, argument->name, argument->name);
  } else {
    const char *type = argument->struct_bytes ? argument->struct_name : argument->dtype->cuda_name;
    text_addf(out, "%s %s", index ? "index_t" : type, argument->name);
  }
}

int expansion_write_parameters(struct expansion *x) {
  struct text *out = &x->expander->parameters;
  text_restart(out);
  for (size_t i = 0; i < x->config->argument_count; i++)
    arguments_add_parameter(out, &x->arguments[i], config_is_index(&x->config->arguments[i]));
  for (size_t i = 0; i < x->own_count; i++)
    arguments_add_parameter(out, &x->arguments[x->argument_count + i],
                            config_is_index(&x->variant->implementation->own[i]));
  /* A reference, a verify kernel and a generator get more than the config's arguments. */
  if (x->reference && out->length) text_add(out, ", ");
  for (size_t i = 0; i < x->argument_count; i++) {
    const char *name = x->arguments[i].name;
    if (x->changed[i]) text_addf(out, "const %s_t *__restrict__ %s_before, ", name, name);
  }
  if (x->generates >= 0)
    text_add(out, "long long sample_count");
  else if (x->verifies)
    text_add(out, "double *__restrict__ error, long long count");
  else if (x->reference)
    text_add(out, "const long long *samples, long long sample_count");
  return out->failed ? error_memory(x->err) : CUGEN_OK;
}
