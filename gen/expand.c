/* From a variant to its kernel_spec: slots and arguments evaluated, the template rendered, prologue and includes put
   around it, launches evaluated, hashes taken. See expand.h. */
#include "expand.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "assemble.h"
#include "data_files.h"
#include "headers.h"
#include "limits.h"
#include "render.h"
#include "source_text.h"

enum { REFERENCE_THREADS = 256 };

/* Of a reference or its like: its source alone, and with its launch and the scalars that it is passed. Empty: there is none. */
struct proof {
  struct hash source, kernel;
};

enum { PROOFS_KEPT = 32 };

/* Which kernel behind a variant: these, or the generator of an argument by its number. */
enum { PROOF_REFERENCE = -1, PROOF_VERIFY = -2 };

struct expander {
  /* The last references expanded, by what shapes them: a tuner goes to and fro between problems and shared tunables. */
  struct kept_proof {
    struct text key;
    struct proof proof;
  } proofs[PROOFS_KEPT];
  size_t next_proof;
  const struct sources *sources;
  struct data_files data_files;
  struct renderer *renderer;
  struct headers *headers;
  struct text rendered, body, defines, source, normal, parameters, title; /* kept for their memory */
  bool *reads;                                                            /* of the last expansion, one a slot */
  size_t read_count;
};

/* One expansion under way. */
struct expansion {
  struct expander *expander;
  const struct config *config;
  const struct problem *problem;
  const struct device_facts *facts;
  const struct variant *variant; /* NULL in a reference without shared tunables */
  bool reference;                /* or a generator or verify kernel */
  bool verifies;
  int generates;                         /* the argument whose data it makes; -1: none */
  int64_t samples;                       /* of a reference */
  struct proof proof, judge;             /* of the reference and the verify kernel behind a variant */
  struct proof check_proof, check_judge; /* the same for the check problem */
  struct value *slots;
  size_t slot_count;
  struct kernel_argument arguments[KERNEL_MAX_ARGUMENTS];
  size_t argument_count;
  bool plain[KERNEL_MAX_ARGUMENTS];
  bool changed[KERNEL_MAX_ARGUMENTS]; /* of a verify kernel: it gets what this was, too */
  bool wide_index;
  bool parameters_used;              /* ${params} */
  size_t steps[KERNEL_MAX_ENTRIES];  /* of each launch of the config */
  const char *template_name, *entry; /* entry: of a reference */
  int template_line;
  struct names names;
  struct text entries[KERNEL_MAX_ENTRIES]; /* one a launch of the config, "" for the only kernel */
  size_t entry_count;
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
  x->slots = calloc(x->slot_count + 2, sizeof *x->slots); /* those of a launch's steps behind the others */
  if (!x->slots) return error_memory(x->err);
  config_slots(x->config, x->problem, x->facts, x->slots);
  if (tunable_count(x)) memcpy(x->slots + first, x->variant->values, tunable_count(x) * sizeof *x->slots);
  return CUGEN_OK;
}

static bool is_buffer(const struct kernel_argument *argument) {
  return argument->kind != CUGEN_ARGUMENT_SCALAR;
}

static struct proof find_proof(struct expander *expander, const struct config *config, const struct problem *problem,
                               const struct device_facts *facts, const struct variant *variant, int which);

/* Of what an input's data depends on where it is no fill: a record holds for the data that it was proved with. */
static int hash_data(struct expansion *x) {
  struct text text = {0};
  for (size_t i = 0; i < x->argument_count; i++) {
    const struct config_data *data = &x->config->arguments[i].data;
    struct hash content = {0};
    if (!x->arguments[i].data) continue;
    if (data->kind == DATA_FILE)
      content = data_file_hash(&x->expander->data_files, x->expander->sources, data->file, x->config->path);
    if (data->kind == DATA_GENERATOR)
      content = find_proof(x->expander, x->config, x->problem, x->facts, x->variant, (int)i).kernel;
    text_clear(&text);
    config_data_describe(x->config, i, x->slots, x->arguments, content, &text);
    x->arguments[i].data_hash = hash_bytes(text_get(&text), text.length);
  }
  int status = text.failed ? error_memory(x->err) : CUGEN_OK;
  text_free(&text);
  return status;
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
  argument->overwrite = false;
  argument->access = argument->kind == CUGEN_ARGUMENT_CONSTANT ? ACCESS_CONSTANT : ACCESS_GLOBAL;
}

/* What a generator does not get, as if it were none of this problem's. */
static void hide(struct kernel_argument *argument) {
  *argument = (struct kernel_argument){.name = argument->name,
                                       .kind = CUGEN_ARGUMENT_SCALAR,
                                       .dtype = argument->dtype,
                                       .absent = true,
                                       .compiled_in = true,
                                       .value = value_int(0)};
}

static bool has_data(const struct kernel_argument *argument) {
  return argument->kind == CUGEN_ARGUMENT_INPUT || argument->kind == CUGEN_ARGUMENT_INOUT ||
         argument->kind == CUGEN_ARGUMENT_CONSTANT;
}

/* A generator reads what stands before it, and writes its own argument alone. */
static void make_generator(struct expansion *x) {
  for (size_t i = 0; i < x->argument_count; i++) {
    struct kernel_argument *argument = &x->arguments[i];
    x->plain[i] = (int)i == x->generates;
    argument->access = ACCESS_GLOBAL;
    argument->overwrite = false;
    if (x->plain[i])
      make_plain(argument), argument->kind = CUGEN_ARGUMENT_OUTPUT;
    else if (argument->kind != CUGEN_ARGUMENT_SCALAR && ((int)i > x->generates || !has_data(argument)))
      hide(argument);
    else if (argument->kind == CUGEN_ARGUMENT_INOUT)
      argument->kind = CUGEN_ARGUMENT_INPUT;
  }
}

/* Elements of the largest output: what a reference computes when no samples are given. */
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

/* A verify kernel reads everything and writes nothing but its errors. */
static void make_verify(struct expansion *x) {
  x->samples = output_elements(x);
  for (size_t i = 0; i < x->argument_count; i++) {
    struct kernel_argument *argument = &x->arguments[i];
    x->changed[i] = argument->kind == CUGEN_ARGUMENT_INOUT && !argument->absent;
    make_direct(argument);
    if (is_buffer(argument) && argument->kind != CUGEN_ARGUMENT_CONSTANT) argument->kind = CUGEN_ARGUMENT_INPUT;
  }
}

static int fill_arguments(struct expansion *x) {
  int status = config_arguments(x->config, x->slots, x->arguments, x->err);
  if (status) return status;
  if (!x->reference) status = config_tensors(x->config, x->variant->implementation, x->slots, x->arguments, x->err);
  if (status) return status;
  x->argument_count = x->config->argument_count;
  x->wide_index = config_wide_index(x->config, x->arguments);
  if (x->generates >= 0) make_generator(x);
  if (x->verifies) make_verify(x);
  if (!x->reference) status = hash_data(x);
  if (status || x->generates >= 0 || x->verifies) return status;
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
    const char *qualifier = read && !argument->overwrite ? "const " : "";
    text_addf(out, "%s%s_t *__restrict__ %s", qualifier, argument->name, argument->name);
  } else {
    const char *type = argument->struct_bytes ? argument->struct_name : argument->dtype->c_name;
    text_addf(out, "%s %s", index ? "index_t" : type, argument->name);
  }
}

static void add_verify_parameters(const struct expansion *x, const char *comma, struct text *out) {
  text_add(out, comma);
  for (size_t i = 0; i < x->argument_count; i++) {
    const char *name = x->arguments[i].name;
    if (x->changed[i]) text_addf(out, "const %s_t *__restrict__ %s_before, ", name, name);
  }
  text_add(out, "double *__restrict__ error, long long count");
}

static int write_parameters(struct expansion *x) {
  struct text *out = &x->expander->parameters;
  text_restart(out);
  for (size_t i = 0; i < x->config->argument_count; i++)
    add_parameter(out, &x->arguments[i], config_is_index(&x->config->arguments[i]));
  const char *comma = out->length ? ", " : "";
  if (x->generates >= 0)
    text_addf(out, "%slong long sample_count", comma);
  else if (x->verifies)
    add_verify_parameters(x, comma, out);
  else if (x->reference)
    text_addf(out, "%sconst long long *samples, long long sample_count", comma);
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
                           .derived_count = x->reference     ? shared_derived(x)
                                            : implementation ? implementation->derived_count
                                                             : 0,
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
  text_restart(title);
  if (*x->out->options) text_addf(title, "options: %s", x->out->options);
  if (title->length) add_comment(source, text_get(title));
  return title->failed || source->failed ? error_memory(x->err) : CUGEN_OK;
}

static const struct config_compile *compile_of(const struct expansion *x) {
  return x->reference ? &x->config->compile : &x->variant->implementation->compile;
}

static int evaluate_options(struct expansion *x) {
  struct text flags = {0}, *defines = &x->expander->defines;
  text_restart(defines);
  int status = config_flags(x->config, compile_of(x), x->reference, x->slots, &flags, x->err);
  if (!status) status = config_defines(x->config, compile_of(x), x->slots, defines, x->err);
  if (!status && !flags.length) text_add(&flags, "");
  if (!status && !(x->out->options = text_take(&flags))) status = error_memory(x->err);
  text_free(&flags);
  return status;
}

static int spell_entries(struct expansion *x) {
  const struct config_launch reference = {.entry = {.text = x->entry}, .line = x->template_line};
  const struct config_launch *launches = x->reference ? &reference : x->variant->implementation->launches;
  const size_t count = x->reference ? 1 : x->variant->implementation->launch_count;
  for (; x->entry_count < count; x->entry_count++) {
    const struct config_launch *launch = &launches[x->entry_count];
    if (!launch->entry.text) continue;
    int status = config_spell(&launch->entry, x->slots, &x->entries[x->entry_count], x->err);
    if (status) return error_prefix(x->err, "%s:%d: entry", x->config->path, launch->line), status;
  }
  return CUGEN_OK;
}

static int put_together(struct expansion *x) {
  struct assembly_entry entries[KERNEL_MAX_ENTRIES];
  const int line = x->template_line;
  for (size_t i = 0; i < x->entry_count; i++)
    entries[i] = (struct assembly_entry){text_get(&x->entries[i]), x->config->path,
                                         x->reference ? line : x->variant->implementation->launches[i].line};
  const struct assembly assembly = {.names = &x->names,
                                    .body = &x->expander->body,
                                    .defines = text_get(&x->expander->defines),
                                    .parameters_used = x->parameters_used,
                                    .entries = entries,
                                    .entry_count = x->entry_count};
  return assemble(&assembly, &x->expander->source, &x->kernels, x->err);
}

static int write_source(struct expansion *x) {
  struct expander *expander = x->expander;
  struct render_request request = {.template_name = x->template_name,
                                   .from = x->config->path,
                                   .from_line = x->template_line,
                                   .names = &x->names,
                                   .parameters = text_get(&expander->parameters)};
  const struct headers_request headers = {x->config->path, compile_of(x), &expander->rendered};
  text_restart(&expander->rendered);
  text_restart(&expander->body);
  int status = render(expander->renderer, &request, &expander->rendered, &x->parameters_used, x->err);
  if (!status) status = headers_inline(expander->headers, &headers, &expander->body, x->err);
  if (!status) status = write_title(x);
  return status ? status : put_together(x);
}

static int note_reads(struct expansion *x) {
  free(x->expander->reads);
  x->expander->reads = calloc(x->slot_count + 1, sizeof *x->expander->reads);
  x->expander->read_count = x->slot_count;
  if (!x->expander->reads) return error_memory(x->err);
  names_reads(&x->names, x->expander->reads);
  config_compile_reads(compile_of(x), x->expander->reads);
  for (size_t i = 0; i < x->entry_count && !x->reference; i++)
    config_spelling_reads(&x->variant->implementation->launches[i].entry, x->expander->reads);
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
static int named_kernel(const struct expansion *x, const struct config_launch *launch, const char *text) {
  const struct kernel_names *kernels = &x->kernels;
  struct source_token entry = plain_entry(text);
  bool found = kernels->count == 0 || kernels->count > KERNELS_LISTED;
  for (size_t i = 0; i < kernels->count && !found; i++)
    found = kernels->list[i].length == entry.length && memcmp(kernels->list[i].at, entry.at, entry.length) == 0;
  if (found) return CUGEN_OK;
  list_kernels(x, launch);
  return error_append(x->err, "; '%s' is none of them", text);
}

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

/* "matmul.cu:12", where the kernel's name stands; nothing of one that a macro makes. */
static void locate_kernel(const struct expansion *x, const char *name, struct text *out) {
  const struct text *body = &x->expander->body;
  struct source_token entry = plain_entry(name);
  for (size_t i = 0; i < x->kernels.count && i < KERNELS_LISTED; i++) {
    const struct kernel_name *kernel = &x->kernels.list[i];
    int line;
    if (kernel->length != entry.length || memcmp(kernel->at, entry.at, entry.length) != 0) continue;
    source_locate(text_get(body), (size_t)(kernel->at - text_get(body)), out, &line);
    text_addf(out, ":%d", line);
    return;
  }
}

static int store_place(struct expansion *x, const char *entry, struct kernel_launch *out) {
  struct text place = {0};
  locate_kernel(x, entry, &place);
  int status = place.failed ? error_memory(x->err) : CUGEN_OK;
  if (!status) out->place = (const char *)(uintptr_t)store(x->out, text_get(&place));
  text_free(&place);
  return status;
}

static int evaluate_launch(struct expansion *x, const struct config_launch *launch, struct text *entry,
                           struct kernel_launch *out) {
  int status = entry->length ? named_kernel(x, launch, text_get(entry)) : only_kernel(x, launch, entry);
  if (!status && entry->failed) status = error_memory(x->err);
  /* For now the offset; finish_strings makes it a pointer. */
  if (!status) out->entry = (const char *)(uintptr_t)store(x->out, text_get(entry));
  if (!status) status = store_place(x, text_get(entry), out);
  if (!status) status = evaluate_sizes(x, launch, out);
  if (!status) status = evaluate_shared(x, launch, &out->shared_bytes);
  if (!status) status = evaluate_carveout(x, launch, out);
  if (!status) status = evaluate_overlap(x, launch, out);
  return status;
}

/* Behind the lists of the launches before. */
static int evaluate_pass(struct expansion *x, const struct config_launch *launch, struct kernel_launch *out) {
  struct kernel_spec *spec = x->out;
  out->listed = launch->passed != NULL;
  out->first_parameter = spec->parameter_count;
  out->parameter_count = launch->passed_count;
  if (!out->listed) return CUGEN_OK;
  spec->parameter_count += launch->passed_count;
  return config_pass(x->config, launch, x->arguments, x->slots, spec->parameters + out->first_parameter, x->err);
}

/* Of the config's launch `at`. */
static int evaluate_step(struct expansion *x, size_t at, size_t step) {
  const struct config_launch *launch = &x->variant->implementation->launches[at];
  struct kernel_launch *out = &x->out->launches[x->out->launch_count];
  out->line = launch->line;
  x->slots[launch->step_slot] = value_int((int64_t)step);
  x->slots[launch->steps_slot] = value_int((int64_t)x->steps[at]);
  int status = evaluate_launch(x, launch, &x->entries[at], out);
  if (!status) status = evaluate_pass(x, launch, out);
  x->out->launch_count += !status;
  return status;
}

static int evaluate_launches(struct expansion *x) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < x->variant->implementation->launch_count; i++)
    for (size_t step = 0; step < x->steps[i] && !status; step++) status = evaluate_step(x, i, step);
  return status;
}

static int reference_launch(struct expansion *x) {
  struct config_launch launch = {.line = x->template_line};
  int64_t count = x->samples ? x->samples : output_elements(x);
  int64_t blocks = (count - 1) / REFERENCE_THREADS + 1;
  if (count < 0 || blocks > INT32_MAX)
    return launch_error(x, &launch,
                        x->verifies         ? "the verify kernel has too many elements for one launch"
                        : x->generates >= 0 ? "the generator has too many elements for one launch"
                                            : "the reference has too many elements for one launch: sample them");
  int status = evaluate_launch(x, &launch, &x->entries[0], &x->out->launches[0]);
  x->out->launches[0].grid[0] = (uint32_t)blocks;
  x->out->launches[0].block[0] = REFERENCE_THREADS;
  x->out->launch_count = 1;
  return status;
}

/* ---- The spec ----------------------------------------------------------------------------------------------- */

static int too_many(const struct expansion *x, size_t launches) {
  const struct config_launch *first = x->variant->implementation->launches;
  if (launches)
    return error_set(x->err, CUGEN_ERROR_CONFIG, "%s:%d: the steps come to %zu launches: at most %d are possible",
                     x->config->path, first->line, launches, KERNEL_MAX_LAUNCHES);
  return launch_error(x, first, "all launches are left out: their steps are 0");
}

/* How many launches there will be, and how many parameters they list. */
static int count_launches(struct expansion *x, size_t *launches, size_t *parameters) {
  *launches = x->reference, *parameters = 0;
  if (x->reference) return CUGEN_OK;
  const struct config_implementation *implementation = x->variant->implementation;
  for (size_t i = 0; i < implementation->launch_count; i++) {
    const struct config_launch *launch = &implementation->launches[i];
    int64_t steps;
    int status = config_steps(x->config, launch, x->slots, &steps, x->err);
    if (status) return status;
    x->steps[i] = (size_t)steps;
    *launches += (size_t)steps;
    *parameters += (size_t)steps * launch->passed_count;
  }
  return *launches && *launches <= KERNEL_MAX_LAUNCHES ? CUGEN_OK : too_many(x, *launches);
}

static int allocate_spec(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  size_t launches, parameters;
  int status = count_launches(x, &launches, &parameters);
  if (status) return status;
  spec->arguments = calloc(x->argument_count + 1, sizeof *spec->arguments);
  spec->launches = calloc(launches + 1, sizeof *spec->launches);
  spec->parameters = calloc(parameters + 1, sizeof *spec->parameters);
  if (!spec->arguments || !spec->launches || !spec->parameters) return error_memory(x->err);
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
  for (size_t i = 0; i < spec->launch_count; i++) {
    spec->launches[i].entry = base + (uintptr_t)spec->launches[i].entry;
    spec->launches[i].place = base + (uintptr_t)spec->launches[i].place;
  }
  return CUGEN_OK;
}

static void describe_list(const struct kernel_spec *spec, const struct kernel_launch *launch, struct text *out) {
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

static void describe_launch(const struct kernel_spec *spec, const struct kernel_launch *launch, struct text *out) {
  text_addf(out, "launch %s %u %u %u %u %u %u %" PRId64 "\n", launch->entry, launch->grid[0], launch->grid[1],
            launch->grid[2], launch->block[0], launch->block[1], launch->block[2], launch->shared_bytes);
  if (launch->has_carveout) text_addf(out, "carveout %d\n", launch->carveout);
  if (launch->overlap) text_add(out, "overlap\n");
  describe_list(spec, launch, out);
}

/* What of the arguments makes another launch though the source is the same. */
static void describe_arguments(const struct kernel_spec *spec, struct text *out) {
  for (size_t i = 0; i < spec->argument_count; i++) {
    if (spec->arguments[i].absent) continue;
    kernel_argument_describe(&spec->arguments[i], ARGUMENT_PASSED, out);
    text_add_char(out, '\n');
  }
}

/* A variant is judged on the check problem first, for which the template may say something else. */
static void add_check_source(const struct proof *proof, const struct proof *check, struct text *normal) {
  if (strcmp(proof->source.hex, check->source.hex) != 0) text_addf(normal, " check %s", check->source.hex);
}

/* What a result is held against: with another reference, tolerance or check problem it would have to be proved again. */
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

/* Whether a launch has it in a list of its own. */
static bool is_listed(const struct kernel_spec *spec, size_t argument) {
  for (size_t i = 0; i < spec->parameter_count; i++)
    if (spec->parameters[i].argument == argument) return true;
  return false;
}

/* Whether all launches have lists. */
static bool all_listed(const struct kernel_spec *spec) {
  for (size_t i = 0; i < spec->launch_count; i++)
    if (!spec->launches[i].listed) return false;
  return true;
}

/* Of the normalised source. A kernel that writes its parameters itself may call them anything. */
static void note_unused(const struct expansion *x, const char *text) {
  struct kernel_spec *spec = x->out;
  bool nobody = all_listed(spec);
  for (size_t i = 0; i < x->argument_count; i++) {
    struct kernel_argument *argument = &spec->arguments[i];
    argument->unused = argument->kind == CUGEN_ARGUMENT_SCRATCH && !is_listed(spec, i) &&
                       (nobody || (x->parameters_used && !says(text, argument->name)));
  }
}

/* What makes another image of the same source: which of a template's instances it has. */
static void describe_compile(const struct kernel_spec *spec, struct text *normal) {
  if (*spec->options) text_addf(normal, "options %s\n", spec->options);
  for (size_t i = 0; i < spec->launch_count; i++)
    if (strchr(spec->launches[i].entry, '<')) text_addf(normal, "instance %s\n", spec->launches[i].entry);
}

static int take_hashes(struct expansion *x) {
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
  for (size_t i = 0; i < spec->launch_count; i++) describe_launch(spec, &spec->launches[i], normal);
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

/* The buffers' contents follow from the arguments (and a seed), the reference's results from these and the reference, whose
   hash covers the scalars that it is passed. flops decides how many elements are computed. */
static int take_data_hashes(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  struct text *data = &x->expander->normal;
  if (x->reference) return CUGEN_OK;
  text_restart(data);
  for (size_t i = 0; i < spec->argument_count; i++) {
    text_addf(data, "\n%zu ", i);
    if (is_buffer(&spec->arguments[i])) kernel_argument_describe(&spec->arguments[i], ARGUMENT_CONTENTS, data);
  }
  if (!data->failed) spec->buffers_hash = hash_bytes(text_get(data), data->length);
  text_addf(data, "\n%s\n%.17g", x->proof.kernel.hex, spec->flops);
  if (x->config->verify) text_addf(data, "\nverify %s", x->judge.kernel.hex);
  if (data->failed) return error_memory(x->err);
  spec->data_hash = hash_bytes(text_get(data), data->length);
  return CUGEN_OK;
}

/* Without work there is no rate to rank by. */
static int check_work(const struct expansion *x) {
  const struct config *config = x->config;
  double work = objective_work(config->objective, x->out->flops, x->out->bytes);
  if (x->reference || (work > 0 && isfinite(work))) return CUGEN_OK;
  struct text text = {0};
  variant_print(x->variant, &text);
  const char *word = objective_names[config->objective];
  int status = error_set(x->err, CUGEN_ERROR_CONFIG,
                         "%s:%d: %s of %s is %g, and objective \"%s\" ranks by it: it has to be above 0",
                         config->path, config->objective_line, word, text_get(&text), work, word);
  text_free(&text);
  return status;
}

static int evaluate_work(struct expansion *x) {
  struct kernel_spec *spec = x->out;
  int status = CUGEN_OK;
  if (x->config->flops) status = expr_eval_float(x->config->flops, x->slots, &spec->flops, x->err);
  if (status) return error_prefix(x->err, "%s: flops", x->config->path), status;
  if (x->config->bytes) status = expr_eval_float(x->config->bytes, x->slots, &spec->bytes, x->err);
  if (status) return error_prefix(x->err, "%s: bytes", x->config->path), status;
  x->out->objective = x->config->objective;
  status = check_work(x);
  if (status) return status;
  const char *products; /* spoils no variant, but is wrong for all of them */
  return config_products(x->config, x->slots, &products, x->err);
}

static int name_variant(struct expansion *x) {
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
      fill_slots,    fill_arguments, write_parameters, open_names,    evaluate_options,
      spell_entries, write_source,   note_reads,       copy_source,   allocate_spec,
      launches,      finish_strings, take_hashes,      evaluate_work, take_data_hashes,
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
  for (size_t i = 0; i < KERNEL_MAX_ENTRIES; i++) text_free(&x->entries[i]);
  free(x->slots);
  if (status) kernel_spec_free(out);
  return status;
}

/* ---- The reference behind a variant ------------------------------------------------------------------------- */

/* All that a reference or its like sees: the config, facts, problem, shared tunables. */
static void proof_key(const struct config *config, const struct problem *problem, const struct device_facts *facts,
                      const struct variant *variant, int which, struct text *key) {
  text_addf(key, "%s %d\n", config->path, which);
  text_add_n(key, (const char *)facts, sizeof *facts);
  problem_print(config, problem, key);
  for (size_t i = 0; i < config->shared_tunable_count; i++) {
    text_addf(key, "\n%d ", (int)variant->values[i].type);
    value_print(variant->values[i], key);
  }
}

static const struct proof *kept_proof(const struct expander *expander, const struct text *key) {
  for (size_t i = 0; i < PROOFS_KEPT && !key->failed; i++) {
    const struct kept_proof *kept = &expander->proofs[i];
    if (kept->key.length == key->length && memcmp(text_get(&kept->key), text_get(key), key->length) == 0)
      return &kept->proof;
  }
  return NULL;
}

/* One output is asked for, so that no problem is too large. */
static int expand_proof(struct expander *expander, const struct config *config, const struct problem *problem,
                        const struct device_facts *facts, const struct variant *variant, int which,
                        struct kernel_spec *out, cugen_error *err) {
  switch (which) {
  case PROOF_REFERENCE: return expand_reference(expander, config, problem, facts, variant, 1, out, err);
  case PROOF_VERIFY: return expand_verify(expander, config, problem, facts, variant, out, err);
  default: return expand_generator(expander, config, problem, facts, variant, (size_t)which, out, err);
  }
}

static bool has_proof(const struct config *config, int which) {
  return which == PROOF_REFERENCE ? config->reference != NULL : which != PROOF_VERIFY || config->verify;
}

/* Of the reference, the verify kernel or an argument's generator. Empty when there is none, or none that expands: that is
   found out when it is needed. */
static struct proof find_proof(struct expander *expander, const struct config *config, const struct problem *problem,
                               const struct device_facts *facts, const struct variant *variant, int which) {
  struct proof proof = {0};
  struct text key = {0};
  if (!has_proof(config, which)) return proof;
  proof_key(config, problem, facts, variant, which, &key);
  const struct proof *kept = kept_proof(expander, &key);
  struct kernel_spec spec;
  cugen_error ignored;
  if (kept) proof = *kept;
  if (kept || expand_proof(expander, config, problem, facts, variant, which, &spec, &ignored)) {
    text_free(&key);
    return proof;
  }
  struct kept_proof *place = &expander->proofs[expander->next_proof++ % PROOFS_KEPT];
  text_free(&place->key);
  *place = (struct kept_proof){key, {spec.source_hash, spec.hash}};
  kernel_spec_free(&spec);
  return place->proof;
}

int expand_variant(struct expander *expander, const struct config *config, const struct problem *problem,
                   const struct device_facts *facts, const struct variant *variant, struct kernel_spec *out,
                   cugen_error *err) {
  struct problem check;
  *out = (struct kernel_spec){0};
  int status = problem_check(config, problem, &check, err);
  if (status) return status;
  struct expansion x = {.expander = expander,
                        .config = config,
                        .problem = problem,
                        .facts = facts,
                        .variant = variant,
                        .generates = -1,
                        .proof = find_proof(expander, config, problem, facts, variant, PROOF_REFERENCE),
                        .judge = find_proof(expander, config, problem, facts, variant, PROOF_VERIFY),
                        .check_proof = find_proof(expander, config, &check, facts, variant, PROOF_REFERENCE),
                        .check_judge = find_proof(expander, config, &check, facts, variant, PROOF_VERIFY),
                        .template_name = variant->implementation->template_name,
                        .template_line = variant->implementation->template_line,
                        .err = err};
  problem_free(&check);
  return expand(&x, out);
}

bool expand_refuses(int status) {
  return status == CUGEN_ERROR_CONFIG || status == CUGEN_ERROR_TEMPLATE || status == CUGEN_ERROR_MISSING;
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
                        .generates = -1,
                        .samples = sample_count,
                        .template_name = config->reference,
                        .template_line = config->reference_line,
                        .entry = config->reference_entry,
                        .err = err};
  return expand(&x, out);
}

int expand_verify(struct expander *expander, const struct config *config, const struct problem *problem,
                  const struct device_facts *facts, const struct variant *variant, struct kernel_spec *out,
                  cugen_error *err) {
  struct expansion x = {.expander = expander,
                        .config = config,
                        .problem = problem,
                        .facts = facts,
                        .variant = variant,
                        .reference = true,
                        .verifies = true,
                        .generates = -1,
                        .template_name = config->verify,
                        .template_line = config->verify_line,
                        .entry = config->verify_entry,
                        .err = err};
  return expand(&x, out);
}

int expand_generator(struct expander *expander, const struct config *config, const struct problem *problem,
                     const struct device_facts *facts, const struct variant *variant, size_t i,
                     struct kernel_spec *out, cugen_error *err) {
  const struct config_argument *argument = &config->arguments[i];
  struct expansion x = {.expander = expander,
                        .config = config,
                        .problem = problem,
                        .facts = facts,
                        .variant = variant,
                        .reference = true,
                        .generates = (int)i,
                        .template_name = argument->data.file,
                        .template_line = argument->line,
                        .entry = argument->data.generator,
                        .err = err};
  return expand(&x, out);
}

/* ---- The expander ------------------------------------------------------------------------------------------- */

int expander_open(const struct sources *sources, struct expander **out, cugen_error *err) {
  *out = NULL;
  struct expander *expander = calloc(1, sizeof *expander);
  if (!expander) return error_memory(err);
  expander->sources = sources;
  int status = renderer_open(sources, &expander->renderer, err);
  if (!status) status = headers_open(sources, &expander->headers, err);
  if (status)
    expander_close(expander);
  else
    *out = expander;
  return status;
}

void expander_close(struct expander *expander) {
  if (!expander) return;
  renderer_close(expander->renderer);
  data_files_close(&expander->data_files);
  for (size_t i = 0; i < PROOFS_KEPT; i++) text_free(&expander->proofs[i].key);
  free(expander->reads);
  headers_close(expander->headers);
  text_free(&expander->rendered);
  text_free(&expander->body);
  text_free(&expander->defines);
  text_free(&expander->source);
  text_free(&expander->normal);
  text_free(&expander->parameters);
  text_free(&expander->title);
  free(expander);
}
