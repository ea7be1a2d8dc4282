/* The kernel_spec of an expansion: memory, strings, hashes, declared work, name; see
   expansion.h. */
#include "expansion.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/source_place.h"
#include "gen/config/evaluate.h"

int expansion_count_steps(struct expansion *x) {
  size_t launches = 0;
  if (x->reference || expansion_calls_library(x)) return CUGEN_OK;
  const struct config_implementation *implementation = x->variant->implementation;
  for (size_t i = 0; i < implementation->loop_count; i++) {
    const struct config_loop *loop = &implementation->loops[i];
    int64_t steps;
    int status = config_steps(&implementation->launches[loop->first], x->slots, &steps, x->err);
    if (status) return status;
    x->steps[i] = (size_t)steps;
    launches += (size_t)steps * loop->count;
  }
  const struct config_line line = implementation->launches->line;
  if (!launches) return config_fail(x->err, line, "all launches are left out: their steps are 0");
  if (launches > KERNEL_MAX_SEQUENCE)
    return config_fail(x->err, line, "the steps come to %zu launches: at most %d are possible",
                       launches, KERNEL_MAX_SEQUENCE);
  x->out->sequence = calloc(launches, sizeof *x->out->sequence);
  return x->out->sequence ? CUGEN_OK : error_memory(x->err);
}

static const struct config_line *expand_spec_line_of(const struct expansion *x, size_t argument) {
  return argument < x->argument_count
             ? &x->config->arguments[argument].line
             : &x->variant->implementation->own[argument - x->argument_count].line;
}

int expansion_allocate_spec(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  const size_t arguments = x->argument_count + x->own_count;
  spec->arguments = calloc(arguments + 1, sizeof *spec->arguments);
  /* room for the launch of a reference; otherwise the arrays grow */
  spec->launches = calloc(1, sizeof *spec->launches);
  if (!spec->arguments || !spec->launches) return error_memory(x->err);
  x->launch_room = 1;
  spec->argument_count = x->argument_count;
  spec->own_count = x->own_count;
  for (size_t i = 0; i < arguments; i++) {
    spec->arguments[i] = x->arguments[i];
    spec->arguments[i].name =
        (const char *)(uintptr_t)expansion_store_string(spec, x->arguments[i].name);
  }
  /* Successive arguments that are declared in one file share the stored name of the file. */
  for (size_t i = 0, last = 0; i < arguments; last = i++) {
    const struct config_line *const line = expand_spec_line_of(x, i);
    struct kernel_argument *const argument = &spec->arguments[i];
    const bool same = i > 0 && line->path == expand_spec_line_of(x, last)->path;
    argument->file = same ? spec->arguments[last].file
                          : (const char *)(uintptr_t)expansion_store_string(spec, line->path);
    argument->line = line->number;
  }
  return CUGEN_OK;
}

int expansion_finish_strings(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  if (spec->strings.failed) return error_memory(x->err);
  const char *base = text_get(&spec->strings);
  for (size_t i = 0; i < spec->argument_count + spec->own_count; i++) {
    spec->arguments[i].name = base + (uintptr_t)spec->arguments[i].name;
    spec->arguments[i].file = base + (uintptr_t)spec->arguments[i].file;
  }
  for (size_t i = 0; i < spec->launch_count; i++) {
    spec->launches[i].entry = base + (uintptr_t)spec->launches[i].entry;
    spec->launches[i].place = base + (uintptr_t)spec->launches[i].place;
  }
  return CUGEN_OK;
}

static void describe_launch(const struct kernel_spec *spec, const struct kernel_launch *launch,
                            struct text *out) {
  text_addf(out, "launch %s %u %u %u %u %u %u %" PRId64 "\n", launch->entry, launch->grid[0],
            launch->grid[1], launch->grid[2], launch->block[0], launch->block[1], launch->block[2],
            launch->shared_bytes);
  if (launch->has_carveout) text_addf(out, "carveout %d\n", launch->carveout);
  if (launch->overlap) text_add(out, "overlap\n");
  if (launch->cooperative) text_add(out, "cooperative\n");
  if (!launch->listed) return;
  text_add(out, "pass");
  for (size_t i = 0; i < launch->parameter_count; i++) {
    const struct kernel_parameter *parameter = &spec->parameters[launch->first_parameter + i];
    text_addf(out, " %s", spec->arguments[parameter->argument].name);
    if (parameter->value.type == VALUE_NIL) continue;
    text_add_char(out, '=');
    value_print(parameter->value, out);
  }
  text_add_char(out, '\n');
}

/* Describes the aspects of the arguments that make another launch although the source is the
   same. */
static void describe_arguments(const struct kernel_spec *spec, struct text *out) {
  for (size_t i = 0; i < spec->argument_count; i++) {
    if (spec->arguments[i].absent) continue;
    kernel_argument_describe(&spec->arguments[i], ARGUMENT_PASSED, out);
    text_add_char(out, '\n');
  }
}

/* Adds the hash of the source for the check problem, if the template makes another source for
   it. */
static void add_check_source(const struct proof *proof, const struct proof *check,
                             struct text *normal) {
  if (strcmp(proof->source.hex, check->source.hex) != 0)
    text_addf(normal, " check %s", check->source.hex);
}

/* Describes everything against which results are verified. */
static void describe_proof(const struct expansion *x, struct text *normal) {
  if (x->reference) return;
  text_addf(normal, "%s", x->proof.source.hex);
  add_check_source(&x->proof, &x->check_proof, normal);
  if (x->config->reference_entry) text_addf(normal, ":%s", x->config->reference_entry);
  if (x->config->verify) text_addf(normal, "\nverify %s", x->judge.kernel.hex);
  add_check_source(&x->judge, &x->check_judge, normal);
  for (size_t i = 0; i < x->argument_count; i++) {
    if (x->arguments[i].absent) continue;
    text_add_char(normal, '\n');
    kernel_argument_describe(&x->arguments[i], ARGUMENT_PROOF, normal);
  }
  for (size_t i = 0; i < x->config->problem_count; i++) {
    text_add_char(normal, '\n');
    value_print(x->config->problems[i].check, normal);
  }
}

static struct hash hash_since(const struct text *text, size_t from) {
  return hash_bytes(text_get(text) + from, text->length - from);
}

/* Returns whether the text uses the name other than directly behind __restrict__. */
static bool says(const char *text, const char *name) {
  static const char parameter[] = "__restrict__ ";
  const size_t length = strlen(name), before = sizeof parameter - 1;
  const char *end = text + strlen(text);
  for (const char *at = text; (at = source_find_word(text, at, end, name, length)); at += length)
    if ((size_t)(at - text) < before || memcmp(at - before, parameter, before) != 0) return true;
  return false;
}

static bool has_list(const struct kernel_launch *launch) {
  return launch->listed && !launch->all;
}

/* Returns whether a launch passes the argument in a list of its own. */
static bool expand_spec_is_listed(const struct kernel_spec *spec, size_t argument) {
  for (size_t i = 0; i < spec->launch_count; i++) {
    const struct kernel_launch *launch = &spec->launches[i];
    for (size_t k = 0; has_list(launch) && k < launch->parameter_count; k++)
      if (spec->parameters[launch->first_parameter + k].argument == argument) return true;
  }
  return false;
}

/* Notes the scratch arguments that no kernel uses: no launch lists the argument, and either all
   launches have lists, or the source has ${params} and does not use the name. Without ${params} a
   kernel may call its parameters anything. */
static void note_unused(const struct expansion *x, const char *text) {
  struct kernel_spec *spec = x->out;
  bool nobody = true;
  for (size_t i = 0; i < spec->launch_count; i++) nobody &= has_list(&spec->launches[i]);
  for (size_t i = 0; i < x->argument_count; i++) {
    struct kernel_argument *argument = &spec->arguments[i];
    argument->unused = argument->kind == CUGEN_ARGUMENT_SCRATCH &&
                       argument->access == ACCESS_GLOBAL && !expand_spec_is_listed(spec, i) &&
                       (nobody || (x->parameters_used && !says(text, argument->name)));
  }
}

/* Returns the number of launches to describe: all launches of a call, or only the different ones of
   a long call. */
static size_t described_count(const struct kernel_spec *spec) {
  return kernel_spec_is_long(spec) ? spec->launch_count : kernel_spec_calls(spec);
}

static const struct kernel_launch *described(const struct kernel_spec *spec, size_t i) {
  return &spec->launches[kernel_spec_is_long(spec) ? i : kernel_spec_call(spec, i)];
}

/* Describes what makes another image of the same source: the options, and the launched instances of
   templates. */
static void describe_compile(const struct kernel_spec *spec, struct text *normal) {
  if (*spec->options) text_addf(normal, "options %s\n", spec->options);
  for (size_t i = 0; i < described_count(spec); i++)
    if (strchr(described(spec, i)->entry, '<'))
      text_addf(normal, "instance %s\n", described(spec, i)->entry);
}

static void describe_launches(const struct kernel_spec *spec, struct text *normal) {
  for (size_t i = 0; i < described_count(spec); i++)
    describe_launch(spec, described(spec, i), normal);
  if (kernel_spec_is_long(spec))
    text_addf(normal, "sequence %s\n",
              hash_bytes(spec->sequence, spec->sequence_count * sizeof *spec->sequence).hex);
}

int expansion_take_hashes(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  struct text *normal = &x->expander->normal;
  text_restart(normal);
  source_normalise(text_get(&x->expander->source), x->expander->source.length, normal);
  if (normal->failed) return error_memory(x->err);
  note_unused(x, text_get(normal));
  describe_compile(spec, normal);
  spec->source_hash = hash_bytes(text_get(normal), normal->length);
  text_add_char(normal, '\0');
  size_t launches = normal->length;
  describe_launches(spec, normal);
  spec->launches_hash = hash_since(normal, launches);
  size_t arguments = normal->length;
  describe_arguments(spec, normal);
  spec->arguments_hash = hash_since(normal, arguments);
  size_t proof = normal->length;
  describe_proof(x, normal);
  spec->proof_hash = hash_since(normal, proof);
  if (normal->failed) return error_memory(x->err);
  spec->hash = hash_since(normal, 0);
  if (x->reference) return CUGEN_OK;
  spec->proof = strdup(text_get(normal) + proof);
  spec->proof_lines = x->config->problem_count;
  return spec->proof ? CUGEN_OK : error_memory(x->err);
}

/* Computes the hashes of the data. The contents of the buffers follow from the arguments (and a
   seed). The results of the reference follow from the contents and the reference, whose hash covers
   its scalars. flops is included, because it decides how many elements are computed. */
int expansion_take_data_hashes(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  struct text *data = &x->expander->normal;
  if (x->reference) return CUGEN_OK;
  text_restart(data);
  for (size_t i = 0; i < spec->argument_count; i++) {
    text_addf(data, "\n%zu ", i);
    if (expansion_is_buffer(&spec->arguments[i]))
      kernel_argument_describe(&spec->arguments[i], ARGUMENT_CONTENTS, data);
  }
  if (!data->failed) spec->buffers_hash = hash_bytes(text_get(data), data->length);
  text_addf(data, "\n%s\n%.17g", x->proof.kernel.hex, spec->flops);
  if (x->config->verify) text_addf(data, "\nverify %s", x->judge.kernel.hex);
  if (data->failed) return error_memory(x->err);
  spec->data_hash = hash_bytes(text_get(data), data->length);
  return CUGEN_OK;
}

/* An objective that ranks by a rate needs the declared work. */
static int check_work(const struct expansion *x) {
  const struct config *config = x->config;
  const struct objective *objective = config->objective;
  const bool flops = objective && objective->needs_flops &&
                     !(x->out->flops > 0 && isfinite(x->out->flops)),
             bytes = objective && objective->needs_bytes &&
                     !(x->out->bytes > 0 && isfinite(x->out->bytes));
  if (x->reference || !(flops || bytes)) return CUGEN_OK;
  struct text text = {0};
  variant_print(x->variant, &text);
  const char *word = flops ? "flops" : "bytes";
  const double work = flops ? x->out->flops : x->out->bytes;
  int status = config_fail(x->err, config->objective_line,
                           "%s of %s is %g, and objective \"%s\" ranks by it: it has to be above 0",
                           word, text_get(&text), work, objective->text);
  text_free(&text);
  return status;
}

static int evaluate_work(const struct expansion *x, const struct config_work *work,
                         const char *word, double *out) {
  int status = work->expr ? expr_eval_float(work->expr, x->slots, out, x->err) : CUGEN_OK;
  if (status) config_prefix(x->err, work->line, "%s", word);
  return status;
}

int expansion_evaluate_work(struct expansion *x) {
  int status = evaluate_work(x, &x->config->flops, "flops", &x->out->flops);
  if (!status) status = evaluate_work(x, &x->config->bytes, "bytes", &x->out->bytes);
  if (!status) status = check_work(x);
  if (status) return status;
  const char *products; /* evaluated only to report an error in the expression */
  return config_products(x->config, x->slots, &products, x->err);
}

int expansion_name_variant(struct expansion *x) {
  struct text text = {0};
  if (x->generates >= 0)
    text_addf(&text, "generator of %s", x->config->arguments[x->generates].name);
  else if (x->reference)
    text_add(&text, x->verifies ? "verify kernel" : "reference");
  else
    variant_print(x->variant, &text);
  x->out->variant = text_take(&text);
  return x->out->variant ? CUGEN_OK : error_memory(x->err);
}
