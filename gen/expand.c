/* From a variant to its kernel_spec: slots and arguments evaluated, the template rendered, prologue and includes put
   around it, launches evaluated, hashes taken. See expand.h. */
#include "expand.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "render.h"
#include "source_text.h"

enum { REFERENCE_THREADS = 256 };

struct expander {
  /* The last references expanded, by what shapes them: a tuner goes to and fro between two problems. */
  struct proof {
    struct text key;
    struct hash hash;
  } proofs[4];
  size_t next_proof;
  struct renderer *renderer;
  struct text body, source, normal, parameters, title; /* kept for their memory */
  bool *reads;                                         /* of the last expansion, one a slot */
  size_t read_count;
};

/* One expansion under way. */
struct expansion {
  struct expander *expander;
  const struct config *config;
  const struct problem *problem;
  const struct device_facts *facts;
  const struct variant *variant; /* NULL in a reference without shared tunables */
  bool reference;
  int64_t samples;   /* of a reference */
  struct hash proof; /* of the reference that a variant is compared with */
  struct value *slots;
  size_t slot_count;
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  size_t argument_count;
  bool plain[KERNEL_MAX_ARGUMENTS];
  bool wide_index;
  const char *template_name;
  int template_line;
  struct names names;
  struct kernel_names kernels;
  struct kernel_spec *out;
  cugen_error *err;
};

/* ---- Slots and arguments ------------------------------------------------------------------------------------ */

static size_t tunable_count(const struct expansion *x) {
  return x->reference ? x->config->shared_tunable_count : x->variant->implementation->tunable_count;
}

static const struct config_tunable *tunables(const struct expansion *x) {
  return x->reference ? x->config->shared_tunables : x->variant->implementation->tunables;
}

static int fill_slots(struct expansion *x) {
  size_t first = (size_t)x->config->first_tunable;
  x->slot_count = first + tunable_count(x);
  x->slots = calloc(x->slot_count + 1, sizeof *x->slots);
  if (!x->slots) return error_memory(x->err);
  config_slots(x->config, x->problem, x->facts, x->slots);
  if (tunable_count(x)) memcpy(x->slots + first, x->variant->values, tunable_count(x) * sizeof *x->slots);
  return CUGEN_OK;
}

static bool is_buffer(const struct kernel_argument *argument) {
  return argument->kind != CUGEN_ARGUMENT_SCALAR;
}

/* In its wide dtype, packed and row-major. */
static void make_plain(struct kernel_argument *argument) {
  argument->dtype = dtype_find(argument->dtype->wide);
  argument->column_major = false;
  int64_t stride = 1;
  for (int i = argument->rank - 1; i >= 0; i--) {
    argument->stride[i] = stride;
    stride *= argument->shape[i]; /* no overflow: config_arguments bounds the extent at least as large */
  }
  argument->elements = stride;
}

/* A reference reads every input by its address and every constant as a symbol, so that all variants share one. */
static void make_direct(struct kernel_argument *argument) {
  argument->access = argument->kind == CUGEN_ARGUMENT_CONSTANT ? ACCESS_CONSTANT : ACCESS_GLOBAL;
}

static int fill_arguments(struct expansion *x) {
  int status = config_arguments(x->config, x->slots, x->arguments, x->err);
  if (status) return status;
  if (!x->reference) status = config_tensors(x->config, x->variant->implementation, x->slots, x->arguments, x->err);
  if (status) return status;
  x->argument_count = x->config->argument_count;
  x->wide_index = config_wide_index(x->config, x->arguments);
  for (size_t i = 0; i < x->argument_count; i++) {
    x->plain[i] = x->reference && x->arguments[i].kind == CUGEN_ARGUMENT_OUTPUT;
    if (x->plain[i]) make_plain(&x->arguments[i]);
    if (x->reference) make_direct(&x->arguments[i]);
  }
  return CUGEN_OK;
}

/* ---- ${params} ---------------------------------------------------------------------------------------------- */

static void add_parameter(struct text *out, const struct kernel_argument *argument, bool index) {
  if (!kernel_argument_passed(argument)) return;
  if (out->length) text_add(out, ", ");
  if (kernel_argument_textured(argument)) {
    text_addf(out, "cudaTextureObject_t %s", argument->name);
  } else if (argument->access == ACCESS_TENSOR) {
    text_addf(out, "const __grid_constant__ tensor_map %s", argument->name);
  } else if (is_buffer(argument)) {
    bool read = argument->kind == CUGEN_ARGUMENT_INPUT || argument->kind == CUGEN_ARGUMENT_CONSTANT;
    const char *qualifier = read ? "const " : "";
    text_addf(out, "%s%s_t *__restrict__ %s", qualifier, argument->name, argument->name);
  } else {
    text_addf(out, "%s %s", index ? "index_t" : argument->dtype->c_name, argument->name);
  }
}

static int write_parameters(struct expansion *x) {
  struct text *out = &x->expander->parameters;
  text_restart(out);
  for (size_t i = 0; i < x->config->argument_count; i++)
    add_parameter(out, &x->arguments[i], config_is_index(&x->config->arguments[i]));
  if (x->reference) text_addf(out, "%sconst long long *samples, long long sample_count", out->length ? ", " : "");
  return out->failed ? error_memory(x->err) : CUGEN_OK;
}

/* ---- Source ------------------------------------------------------------------------------------------------- */

/* Derived names that every implementation has, in the same place: those of all implementations. Only as far as
   nothing but shared tunables is needed. */
static size_t shared_derived(const struct expansion *x) {
  const struct config *config = x->config;
  const struct config_implementation *first = config->implementations;
  if (!first) return 0;
  size_t count = first->derived_count;
  for (size_t i = 1; i < config->implementation_count; i++) {
    const struct config_implementation *other = &config->implementations[i];
    size_t same = 0;
    while (same < count && same < other->derived_count && other->derived[same].line == first->derived[same].line &&
           strcmp(other->derived[same].name, first->derived[same].name) == 0)
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

static int open_names(struct expansion *x) {
  const struct config_implementation *implementation =
      x->reference ? x->config->implementations : x->variant->implementation;
  struct names_input in = {.config = x->config,
                           .tunables = tunables(x),
                           .tunable_count = tunable_count(x),
                           .derived = implementation ? implementation->derived : NULL,
                           .derived_count = x->reference ? shared_derived(x) : implementation->derived_count,
                           .slots = x->slots,
                           .slot_count = x->slot_count,
                           .arguments = x->arguments,
                           .plain = x->plain,
                           .wide_index = x->wide_index};
  return names_open(&in, &x->names, x->err);
}

/* Into a // comment: one line, not spliced to the next. */
static void add_comment(struct text *out, const char *comment) {
  text_add(out, "// ");
  for (; *comment; comment++) {
    unsigned char c = (unsigned char)*comment;
    text_add_char(out, c < ' ' || c == '\\' || c == 127 ? '?' : *comment);
  }
  text_add_char(out, '\n');
}

static int write_title(struct expansion *x) {
  struct text *title = &x->expander->title, *source = &x->expander->source;
  text_restart(title);
  text_restart(source);
  text_addf(title, "%s: %s", x->config->name, x->out->variant);
  add_comment(source, text_get(title));
  text_restart(title);
  problem_print(x->config, x->problem, title);
  if (title->length) add_comment(source, text_get(title));
  return title->failed || source->failed ? error_memory(x->err) : CUGEN_OK;
}

static int write_source(struct expansion *x) {
  struct expander *expander = x->expander;
  struct render_request request = {.template_name = x->template_name,
                                   .from = x->config->path,
                                   .from_line = x->template_line,
                                   .names = &x->names,
                                   .parameters = text_get(&expander->parameters)};
  bool parameters_used;
  text_restart(&expander->body);
  int status = render(expander->renderer, &request, &expander->body, &parameters_used, x->err);
  if (!status) status = write_title(x);
  if (!status) status = assemble(&x->names, &expander->body, parameters_used, &expander->source, &x->kernels, x->err);
  return status;
}

static int note_reads(struct expansion *x) {
  free(x->expander->reads);
  x->expander->reads = calloc(x->slot_count + 1, sizeof *x->expander->reads);
  x->expander->read_count = x->slot_count;
  if (!x->expander->reads) return error_memory(x->err);
  names_reads(&x->names, x->expander->reads);
  return CUGEN_OK;
}

/* ---- Launches ----------------------------------------------------------------------------------------------- */

static int launch_error(const struct expansion *x, const struct config_launch *launch, const char *what) {
  return error_set(x->err, CUGEN_ERROR_CONFIG, "%s:%d: %s", x->config->path, launch->line, what);
}

static int list_kernels(const struct expansion *x, const struct config_launch *launch) {
  struct text what = {0};
  const struct kernel_names *kernels = &x->kernels;
  text_addf(&what, "template '%s' has ", x->template_name);
  if (kernels->count == 0)
    text_add(&what, "no __global__ function to launch");
  else
    text_addf(&what, "%zu __global__ functions (", kernels->count);
  for (size_t i = 0; i < kernels->count && i < KERNELS_LISTED; i++)
    text_addf(&what, "%s%.*s", i ? ", " : "", (int)kernels->list[i].length, kernels->list[i].at);
  if (kernels->count)
    text_addf(&what, "): say which one with %s", x->reference ? "\"file.cu:name\"" : "entry \"name\"");
  int status = what.failed ? error_memory(x->err) : launch_error(x, launch, text_get(&what));
  text_free(&what);
  return status;
}

static int only_kernel(const struct expansion *x, const struct config_launch *launch, struct text *out) {
  const struct kernel_name *kernel = &x->kernels.list[0];
  if (x->kernels.count != 1) return list_kernels(x, launch);
  if (kernel->templated)
    return error_set(x->err, CUGEN_ERROR_CONFIG,
                     "%s:%d: '%.*s' in template '%s' is a C++ template: say which one is launched with %s%.*s<...>\"",
                     x->config->path, launch->line, (int)kernel->length, kernel->at, x->template_name,
                     x->reference ? "\"file.cu:" : "entry \"", (int)kernel->length, kernel->at);
  text_add_n(out, kernel->at, kernel->length);
  return CUGEN_OK;
}

/* The last name of "scope::name<arguments>". */
static struct source_token plain_entry(const char *entry) {
  size_t length = strcspn(entry, "<"), start = length;
  while (start > 0 && entry[start - 1] != ':') start--;
  return (struct source_token){SOURCE_WORD, entry + start, length - start};
}

/* Kernels made by macros are not seen, so that an expansion without any is trusted. */
static int named_kernel(const struct expansion *x, const struct config_launch *launch, struct text *out) {
  const struct kernel_names *kernels = &x->kernels;
  struct source_token entry = plain_entry(launch->entry);
  bool found = kernels->count == 0 || kernels->count > KERNELS_LISTED;
  for (size_t i = 0; i < kernels->count && !found; i++)
    found = kernels->list[i].length == entry.length && memcmp(kernels->list[i].at, entry.at, entry.length) == 0;
  if (!found) {
    list_kernels(x, launch);
    return error_append(x->err, "; '%s' is none of them", launch->entry);
  }
  text_add(out, launch->entry);
  return CUGEN_OK;
}

struct dimension_limit {
  const char *name;
  int64_t most;
};

static int evaluate_dimension(struct expansion *x, const struct config_launch *launch, const struct expr *expr,
                              const struct dimension_limit *limit, uint32_t *out) {
  int64_t value = 1;
  int status = expr ? expr_eval_int(expr, x->slots, &value, x->err) : CUGEN_OK;
  if (status) return error_prefix(x->err, "%s:%d: %s", x->config->path, launch->line, limit->name), status;
  if (value < 1 || value > limit->most)
    return error_set(x->err, CUGEN_ERROR_CONFIG, "%s:%d: %s is %" PRId64 " (from \"%s\"): it must be 1 to %" PRId64,
                     x->config->path, launch->line, limit->name, value, expr ? expr_text(expr) : "", limit->most);
  *out = (uint32_t)value;
  return CUGEN_OK;
}

/* CUDA C++ Programming Guide, table of technical specifications: grid 2^31 - 1, 65535, 65535; block 1024, 1024, 64. */
static const struct dimension_limit grid_limits[3] = {{"grid x", INT32_MAX}, {"grid y", 65535}, {"grid z", 65535}};
static const struct dimension_limit block_limits[3] = {{"block x", 1024}, {"block y", 1024}, {"block z", 64}};

static int evaluate_sizes(struct expansion *x, const struct config_launch *launch, struct kernel_launch *out) {
  int status = CUGEN_OK;
  for (int i = 0; i < 3 && !status; i++)
    status = evaluate_dimension(x, launch, launch->grid[i], &grid_limits[i], &out->grid[i]);
  for (int i = 0; i < 3 && !status; i++)
    status = evaluate_dimension(x, launch, launch->block[i], &block_limits[i], &out->block[i]);
  if (status) return status;
  int64_t threads = (int64_t)out->block[0] * out->block[1] * out->block[2], most = x->facts->max_threads_per_block;
  if (most > 0 && threads > most)
    return error_set(x->err, CUGEN_ERROR_CONFIG,
                     "%s:%d: a block of %" PRId64 " threads (%u x %u x %u): the device takes at most %" PRId64,
                     x->config->path, launch->line, threads, out->block[0], out->block[1], out->block[2], most);
  return CUGEN_OK;
}

static int evaluate_shared(struct expansion *x, const struct config_launch *launch, int64_t *out) {
  *out = 0;
  int status = launch->shared ? expr_eval_int(launch->shared, x->slots, out, x->err) : CUGEN_OK;
  if (status) return error_prefix(x->err, "%s:%d: shared", x->config->path, launch->line), status;
  if (*out < 0 || *out > INT32_MAX)
    return error_set(x->err, CUGEN_ERROR_CONFIG, "%s:%d: shared is %" PRId64 " bytes: it must be 0 to 2^31 - 1",
                     x->config->path, launch->line, *out);
  return CUGEN_OK;
}

/* CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT belongs to the kernel, so that its launches must agree. */
static int check_carveouts(const struct expansion *x, const struct config_launch *launch,
                           const struct kernel_launch *out) {
  const struct kernel_launch *first = x->out->launches;
  for (size_t i = 0; i < x->out->launch_count; i++) {
    const char *entry = text_get(&x->out->strings) + (uintptr_t)first[i].entry;
    if (strcmp(entry, text_get(&x->out->strings) + (uintptr_t)out->entry) != 0) continue;
    if (first[i].has_carveout != out->has_carveout || first[i].carveout != out->carveout)
      return error_set(x->err, CUGEN_ERROR_CONFIG, "%s:%d: launches of kernel '%s' have different carveouts",
                       x->config->path, launch->line, entry);
  }
  return CUGEN_OK;
}

static int evaluate_carveout(struct expansion *x, const struct config_launch *launch, struct kernel_launch *out) {
  int64_t percent = -1;
  int status = launch->carveout ? expr_eval_int(launch->carveout, x->slots, &percent, x->err) : CUGEN_OK;
  if (status) return error_prefix(x->err, "%s:%d: carveout", x->config->path, launch->line), status;
  if (percent < -1 || percent > 100)
    return error_set(x->err, CUGEN_ERROR_CONFIG,
                     "%s:%d: carveout is %" PRId64 ": it must be 0 to 100 percent, or -1 for the driver's choice",
                     x->config->path, launch->line, percent);
  out->has_carveout = percent >= 0;
  out->carveout = percent < 0 ? 0 : (int)percent;
  return x->out->strings.failed ? CUGEN_OK : check_carveouts(x, launch, out);
}

/* Programmatic dependent launch: only a kernel that waits by itself for what it reads and overwrites may begin early. */
static int evaluate_overlap(struct expansion *x, const struct config_launch *launch, struct kernel_launch *out) {
  int status = launch->overlap ? expr_eval_bool(launch->overlap, x->slots, &out->overlap, x->err) : CUGEN_OK;
  if (status) return error_prefix(x->err, "%s:%d: overlap", x->config->path, launch->line), status;
  if (!out->overlap || strstr(text_get(&x->expander->source), "griddepcontrol.wait")) return CUGEN_OK;
  return launch_error(x, launch, "overlap: the kernel does not wait for the launch before it (griddepcontrol.wait)");
}

/* Adds a string to the spec's store and gives its place; pointers are set when the store no longer moves. */
static size_t store(struct kernel_spec *spec, const char *string) {
  size_t at = spec->strings.length;
  text_add_n(&spec->strings, string, strlen(string) + 1);
  return at;
}

static int evaluate_launch(struct expansion *x, const struct config_launch *launch, struct kernel_launch *out) {
  struct text entry = {0};
  int status = launch->entry ? named_kernel(x, launch, &entry) : only_kernel(x, launch, &entry);
  if (!status && entry.failed) status = error_memory(x->err);
  /* For now the offset; finish_strings makes it a pointer. */
  if (!status) out->entry = (const char *)(uintptr_t)store(x->out, text_get(&entry));
  text_free(&entry);
  if (!status) status = evaluate_sizes(x, launch, out);
  if (!status) status = evaluate_shared(x, launch, &out->shared_bytes);
  if (!status) status = evaluate_carveout(x, launch, out);
  if (!status) status = evaluate_overlap(x, launch, out);
  return status;
}

static int evaluate_launches(struct expansion *x) {
  const struct config_implementation *implementation = x->variant->implementation;
  for (size_t i = 0; i < implementation->launch_count; i++) {
    int status = evaluate_launch(x, &implementation->launches[i], &x->out->launches[i]);
    if (status) return status;
    x->out->launch_count++;
  }
  return CUGEN_OK;
}

/* What a reference computes when no samples are given: all elements of the largest output. */
static int64_t output_elements(const struct expansion *x) {
  int64_t most = 1;
  for (size_t i = 0; i < x->argument_count; i++) {
    const struct kernel_argument *argument = &x->arguments[i];
    int64_t elements = 1;
    if (argument->kind != CUGEN_ARGUMENT_OUTPUT && argument->kind != CUGEN_ARGUMENT_INOUT) continue;
    for (int d = 0; d < argument->rank; d++) elements *= argument->shape[d];
    if (elements > most) most = elements;
  }
  return most;
}

static int reference_launch(struct expansion *x) {
  struct config_launch launch = {.entry = x->config->reference_entry, .line = x->config->reference_line};
  int64_t count = x->samples ? x->samples : output_elements(x);
  int64_t blocks = (count - 1) / REFERENCE_THREADS + 1;
  if (count < 0 || blocks > INT32_MAX)
    return launch_error(x, &launch, "the reference has too many elements for one launch: sample them");
  int status = evaluate_launch(x, &launch, &x->out->launches[0]);
  x->out->launches[0].grid[0] = (uint32_t)blocks;
  x->out->launches[0].block[0] = REFERENCE_THREADS;
  x->out->launch_count = 1;
  return status;
}

/* ---- The spec ----------------------------------------------------------------------------------------------- */

static int allocate_spec(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  size_t launches = x->reference ? 1 : x->variant->implementation->launch_count;
  spec->arguments = calloc(x->argument_count + 1, sizeof *spec->arguments);
  spec->launches = calloc(launches + 1, sizeof *spec->launches);
  if (!spec->arguments || !spec->launches) return error_memory(x->err);
  spec->argument_count = x->argument_count;
  for (size_t i = 0; i < x->argument_count; i++) {
    spec->arguments[i] = x->arguments[i];
    spec->arguments[i].name = (const char *)(uintptr_t)store(spec, x->arguments[i].name);
  }
  return CUGEN_OK;
}

static int finish_strings(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  if (spec->strings.failed) return error_memory(x->err);
  const char *base = text_get(&spec->strings);
  for (size_t i = 0; i < spec->argument_count; i++)
    spec->arguments[i].name = base + (uintptr_t)spec->arguments[i].name;
  for (size_t i = 0; i < spec->launch_count; i++) spec->launches[i].entry = base + (uintptr_t)spec->launches[i].entry;
  return CUGEN_OK;
}

static void describe_launch(const struct kernel_launch *launch, struct text *out) {
  text_addf(out, "launch %s %u %u %u %u %u %u %" PRId64 "\n", launch->entry, launch->grid[0], launch->grid[1],
            launch->grid[2], launch->block[0], launch->block[1], launch->block[2], launch->shared_bytes);
  if (launch->has_carveout) text_addf(out, "carveout %d\n", launch->carveout);
  if (launch->overlap) text_add(out, "overlap\n");
}

static void describe_tensor(const struct kernel_argument *argument, struct text *out) {
  text_addf(out, " tensor %d", argument->swizzle);
  if (argument->parts > 1) text_addf(out, " parts %" PRId64, argument->parts);
  for (int i = 0; i < argument->rank; i++) text_addf(out, " %" PRId64 " %d", argument->shape[i], argument->box[i]);
}

/* What of an argument makes another launch though the source is the same. */
static void describe_argument(const struct kernel_argument *argument, struct text *out) {
  if (argument->absent) return;
  text_addf(out, "argument %d %s %s %" PRId64, (int)argument->kind, argument->dtype->name,
            memory_kind_names[argument->memory], argument->elements);
  for (int i = 0; i < argument->rank; i++) text_addf(out, " %" PRId64, argument->stride[i]);
  if (argument->kind == CUGEN_ARGUMENT_SCALAR) text_add_char(out, ' '), value_print(argument->value, out);
  if (kernel_argument_textured(argument))
    text_addf(out, " %s %s", access_kind_names[argument->access], address_kind_names[argument->address]);
  if (argument->access == ACCESS_TENSOR) describe_tensor(argument, out);
  text_add_char(out, '\n');
}

/* What a result is held against: with another reference, tolerance or check problem it would have to be proved again. */
static void describe_proof(const struct expansion *x, struct text *normal) {
  if (x->reference) return;
  text_addf(normal, "%s", x->proof.hex);
  for (size_t i = 0; i < x->argument_count; i++) {
    if (x->arguments[i].absent) continue;
    text_addf(normal, "\n%d %.17g", (int)x->arguments[i].fill, x->arguments[i].tolerance);
    if (x->arguments[i].norm > 0) text_addf(normal, " %.17g", x->arguments[i].norm);
  }
  for (size_t i = 0; i < x->config->problem_count; i++) {
    text_add_char(normal, '\n');
    value_print(x->config->problems[i].check, normal);
  }
}

/* Of what was added since `from`. */
static struct hash hash_since(const struct text *text, size_t from) {
  return hash_bytes(text_get(text) + from, text->length - from);
}

static bool is_name_character(char c) {
  return isalnum((unsigned char)c) || c == '_';
}

/* Whether the text says the name other than as a parameter's: behind its __restrict__. */
static bool says(const char *text, const char *name) {
  static const char parameter[] = "__restrict__ ";
  size_t length = strlen(name), before = sizeof parameter - 1;
  for (const char *at = text; (at = strstr(at, name)) != NULL; at += length) {
    if ((at > text && is_name_character(at[-1])) || is_name_character(at[length])) continue;
    if ((size_t)(at - text) < before || memcmp(at - before, parameter, before) != 0) return true;
  }
  return false;
}

/* Of the normalised source. */
static void note_unused(const struct expansion *x, const char *text) {
  for (size_t i = 0; i < x->argument_count; i++) {
    struct kernel_argument *argument = &x->out->arguments[i];
    argument->unused = argument->kind == CUGEN_ARGUMENT_SCRATCH && !says(text, argument->name);
  }
}

static int take_hashes(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  struct text *normal = &x->expander->normal;
  text_restart(normal);
  source_normalise(text_get(&x->expander->source), x->expander->source.length, normal);
  if (normal->failed) return error_memory(x->err);
  note_unused(x, text_get(normal));
  spec->source_hash = hash_bytes(text_get(normal), normal->length);
  text_add_char(normal, '\0');
  size_t launches = normal->length;
  for (size_t i = 0; i < spec->launch_count; i++) describe_launch(&spec->launches[i], normal);
  spec->launches_hash = hash_since(normal, launches);
  size_t arguments = normal->length;
  for (size_t i = 0; i < spec->argument_count; i++) describe_argument(&spec->arguments[i], normal);
  spec->arguments_hash = hash_since(normal, arguments);
  size_t proof = normal->length;
  describe_proof(x, normal);
  spec->proof_hash = hash_since(normal, proof);
  if (normal->failed) return error_memory(x->err);
  spec->hash = hash_since(normal, 0);
  return CUGEN_OK;
}

static int evaluate_work(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  int status = CUGEN_OK;
  if (x->config->flops) status = expr_eval_float(x->config->flops, x->slots, &spec->flops, x->err);
  if (status) return error_prefix(x->err, "%s: flops", x->config->path), status;
  if (x->config->bytes) status = expr_eval_float(x->config->bytes, x->slots, &spec->bytes, x->err);
  if (status) return error_prefix(x->err, "%s: bytes", x->config->path), status;
  const char *products; /* spoils no variant, but is wrong for all of them */
  return config_products(x->config, x->slots, &products, x->err);
}

static int name_variant(struct expansion *x) {
  struct text text = {0};
  if (x->reference)
    text_add(&text, "reference");
  else
    variant_print(x->variant, &text);
  x->out->variant = text_take(&text);
  return x->out->variant ? CUGEN_OK : error_memory(x->err);
}

static int copy_source(struct expansion *x) {
  struct text text = {0};
  text_add_n(&text, text_get(&x->expander->source), x->expander->source.length);
  x->out->source = text_take(&text);
  return x->out->source ? CUGEN_OK : error_memory(x->err);
}

/* ---- The steps, in order ------------------------------------------------------------------------------------ */

static int launches(struct expansion *x) {
  return x->reference ? reference_launch(x) : evaluate_launches(x);
}

static int run_steps(struct expansion *x) {
  static int (*const steps[])(struct expansion *) = {
      fill_slots,  fill_arguments, write_parameters, open_names,     write_source, note_reads,
      copy_source, allocate_spec,  launches,         finish_strings, take_hashes,  evaluate_work,
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    int status = steps[i](x);
    if (status) return status;
  }
  return CUGEN_OK;
}

static int expand(struct expansion *x, struct kernel_spec *out) {
  *out = (struct kernel_spec){0};
  x->out = out;
  int status = name_variant(x);
  if (!status) status = run_steps(x);
  if (status && status != CUGEN_ERROR_MEMORY)
    error_append(x->err, x->reference ? "\n  in the %s" : "\n  in variant '%s'", out->variant ? out->variant : "");
  names_close(&x->names);
  free(x->slots);
  if (status) kernel_spec_free(out);
  return status;
}

/* ---- The reference behind a variant ------------------------------------------------------------------------- */

static void proof_key(const struct config *config, const struct problem *problem, const struct variant *variant,
                      struct text *key) {
  text_addf(key, "%s\n", config->path);
  problem_print(config, problem, key);
  for (size_t i = 0; i < config->shared_tunable_count; i++) {
    text_add_char(key, '\n');
    value_print(variant->values[i], key);
  }
}

/* The hash of the reference's source; empty when there is none, or none that expands: that is found out when it is
   needed. One output is asked for, so that no problem is too large. */
static struct hash find_proof(struct expander *expander, const struct config *config, const struct problem *problem,
                              const struct device_facts *facts, const struct variant *variant) {
  struct hash none = {0};
  struct text key = {0};
  if (!config->reference) return none;
  proof_key(config, problem, variant, &key);
  for (size_t i = 0; i < sizeof expander->proofs / sizeof *expander->proofs; i++)
    if (!key.failed && expander->proofs[i].key.length &&
        strcmp(text_get(&expander->proofs[i].key), text_get(&key)) == 0) {
      text_free(&key);
      return expander->proofs[i].hash;
    }
  struct kernel_spec spec;
  cugen_error ignored;
  if (expand_reference(expander, config, problem, facts, variant, 1, &spec, &ignored)) {
    text_free(&key);
    return none;
  }
  struct proof *place =
      &expander->proofs[expander->next_proof++ % (sizeof expander->proofs / sizeof *expander->proofs)];
  text_free(&place->key);
  *place = (struct proof){key, spec.source_hash};
  kernel_spec_free(&spec);
  return place->hash;
}

int expand_variant(struct expander *expander, const struct config *config, const struct problem *problem,
                   const struct device_facts *facts, const struct variant *variant, struct kernel_spec *out,
                   cugen_error *err) {
  struct expansion x = {.expander = expander,
                        .config = config,
                        .problem = problem,
                        .facts = facts,
                        .variant = variant,
                        .proof = find_proof(expander, config, problem, facts, variant),
                        .template_name = variant->implementation->template_name,
                        .template_line = variant->implementation->template_line,
                        .err = err};
  return expand(&x, out);
}

const bool *expander_reads(const struct expander *expander, size_t *count) {
  *count = expander->read_count;
  return expander->reads;
}

int expand_reference(struct expander *expander, const struct config *config, const struct problem *problem,
                     const struct device_facts *facts, const struct variant *variant, int64_t sample_count,
                     struct kernel_spec *out, cugen_error *err) {
  *out = (struct kernel_spec){0};
  if (!config->reference)
    return error_set(err, CUGEN_ERROR_CONFIG, "%s: kernel '%s' declares no reference", config->path, config->name);
  struct expansion x = {.expander = expander,
                        .config = config,
                        .problem = problem,
                        .facts = facts,
                        .variant = variant,
                        .reference = true,
                        .samples = sample_count,
                        .template_name = config->reference,
                        .template_line = config->reference_line,
                        .err = err};
  return expand(&x, out);
}

/* ---- The expander ------------------------------------------------------------------------------------------- */

int expander_open(const struct sources *sources, struct expander **out, cugen_error *err) {
  *out = NULL;
  struct expander *expander = calloc(1, sizeof *expander);
  if (!expander) return error_memory(err);
  int status = renderer_open(sources, &expander->renderer, err);
  if (status)
    expander_close(expander);
  else
    *out = expander;
  return status;
}

void expander_close(struct expander *expander) {
  if (!expander) return;
  renderer_close(expander->renderer);
  for (size_t i = 0; i < sizeof expander->proofs / sizeof *expander->proofs; i++) text_free(&expander->proofs[i].key);
  free(expander->reads);
  text_free(&expander->body);
  text_free(&expander->source);
  text_free(&expander->normal);
  text_free(&expander->parameters);
  text_free(&expander->title);
  free(expander);
}
