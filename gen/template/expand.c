/* Expansion: from a variant of a config to its kernel_spec, the plain data that is compiled,
   launched and recorded.

   Algorithm: a table of steps (run_steps), each over one struct expansion:
   1. Values. The device's facts, the problem and the tunables fill one array of slots, which every
      expression of the config reads. From the slots follow the arguments (expand_arguments.c).
   2. Source. The template runs as a program that prints CUDA text (render.c), headers of the user's
      own are put in their place (headers.c), and the definitions of the names that the text
      mentions are put in front (assemble.c, names.c).
   3. Launches. Grid, block, shared memory, and the kernel of each launch, found by name in the
      source (expand_launches.c).
   4. Hashes, the keys of images and records (expand_spec.c).

   A reference, a verify kernel and a generator take the same steps with other arguments and one
   plain launch (`reference` in struct expansion is true for all three).

   Invariants:
   - Expansion is deterministic: equal input gives equal bytes, on every machine.
   - source_hash covers what a compiler sees: the source without comments, #line and spacing, the
     options, and which instances of C++ templates are launched. hash covers source_hash, and also
     the launches, the arguments and the proof (everything that results are compared with).
     expand_add_check adds the variant's kernel on the check problem to the proof, which takes a
     second expansion: only records and what is compared with them need it.
   - Therefore the reference, verify kernel and generators of a variant are expanded before the
     variant (expand_find_proof). This recursion is one level deep: only expand_one and
     expand_hash_data start it, and expand_hash_data returns at once for a reference, verify kernel
     or generator.
   - An expander keeps its text buffers between expansions, to save allocations, and the inner
     expansion uses the same buffers. The outer expansion writes to them only after
     expand_hash_data, the last step that can start another expansion.
   - The names and places of arguments and kernels lie in one text of the spec, which may move while
     it grows. Until expansion_finish_strings, pointers to them hold offsets in that text.

   docs/design.md says why kernels are compared by their hashes. */
#include "expansion.h"

#include <stdlib.h>
#include <string.h>

#include "base/launch.h"
#include "gen/config/evaluate.h"

/* ---- The other kernels of a variant: reference, verify kernel, generators ------------------- */

/* Numbers of a variant's reference and verify kernel. A number from 0 on means the generator of
   that argument. */
enum { PROOF_REFERENCE = -1, PROOF_VERIFY = -2 };

static const struct proof *kept_proof(const struct expander *expander, const struct text *key) {
  for (size_t i = 0; i < PROOFS_KEPT && !key->failed; i++) {
    const struct kept_proof *kept = &expander->proofs[i];
    if (kept->key.length == key->length &&
        memcmp(text_get(&kept->key), text_get(key), key->length) == 0)
      return &kept->proof;
  }
  return NULL;
}

/* Expands a reference, verify kernel or generator. A reference is expanded for a single output
   element, so that no problem is too large. */
static int expand_proof(const struct expansion *x, const struct problem *problem, int which,
                        struct kernel_spec *out, cugen_error *err) {
  if (which == PROOF_REFERENCE)
    return expand_reference(x->expander, x->config, problem, x->facts, x->variant, 1, out, err);
  if (which == PROOF_VERIFY)
    return expand_verify(x->expander, x->config, problem, x->facts, x->variant, out, err);
  return expand_generator(x->expander, x->config, problem, x->facts, x->variant, (size_t)which, out,
                          err);
}

static bool has_proof(const struct config *config, int which) {
  return which == PROOF_REFERENCE ? config->reference != NULL
                                  : which != PROOF_VERIFY || config->verify;
}

/* Returns the hashes of the reference, the verify kernel or an argument's generator. Empty hashes:
   there is no such kernel, or its expansion fails. */
static struct proof expand_find_proof(const struct expansion *x, const struct problem *problem,
                                      int which) {
  struct expander *expander = x->expander;
  struct proof proof = {0};
  struct text key = {0};
  if (!has_proof(x->config, which)) return proof;

  /* The key has all inputs: the config, the facts, the problem, the shared tunables. */
  text_addf(&key, "%s %d\n", x->config->path, which);
  text_add_n(&key, (const char *)x->facts, sizeof *x->facts);
  problem_print(x->config, problem, &key);
  for (size_t i = 0; i < x->config->shared_tunable_count; i++) {
    text_addf(&key, "\n%d ", (int)x->variant->values[i].type);
    value_print(x->variant->values[i], &key);
  }
  const struct proof *kept = kept_proof(expander, &key);
  struct kernel_spec spec;
  cugen_error ignored;
  if (kept) proof = *kept;
  if (kept || expand_proof(x, problem, which, &spec, &ignored)) {
    text_free(&key);
    return proof;
  }
  struct kept_proof *place = &expander->proofs[expander->next_proof++ % PROOFS_KEPT];
  text_free(&place->key);
  *place = (struct kept_proof){key, {spec.source_hash, spec.hash}};
  kernel_spec_free(&spec);
  return place->proof;
}

/* Describes the data or the right result of argument i. */
static void expand_describe_data(struct expansion *x, const struct config_data *data, size_t i,
                                 struct text *out) {
  struct hash content = {0};
  if (data->kind == DATA_FILE)
    content =
        data_file_hash(&x->expander->data_files, x->expander->sources, data->file, x->config->path);
  if (data->kind == DATA_GENERATOR) content = expand_find_proof(x, x->problem, (int)i).kernel;
  config_data_describe(x->config, data, x->slots, x->arguments, content, out);
}

/* Hashes the sources of the inputs' data that are not fills, and of results that are not computed
   by a kernel. */
static int expand_hash_data(struct expansion *x) {
  if (x->reference) return CUGEN_OK;
  struct text text = {0};
  for (size_t i = 0; i < x->argument_count; i++) {
    if (!x->arguments[i].data) continue;
    text_clear(&text);
    expand_describe_data(x, &x->config->arguments[i].data, i, &text);
    x->arguments[i].data_hash = hash_bytes(text_get(&text), text.length);
  }
  text_clear(&text);
  for (size_t i = 0; i < x->config->argument_count && x->config->answers; i++)
    expand_describe_data(x, &x->config->answers[i], i, &text);
  if (x->config->answers)
    x->proof.source = x->proof.kernel = hash_bytes(text_get(&text), text.length);
  int status = text.failed ? error_memory(x->err) : CUGEN_OK;
  text_free(&text);
  return status;
}

/* ---- The steps, in order -------------------------------------------------------------------- */

static int launches(struct expansion *x) {
  if (expansion_calls_library(x)) return expansion_library_launch(x);
  return x->reference ? expansion_reference_launch(x) : expansion_evaluate_launches(x);
}

static int write_source(struct expansion *x) {
  int status = expansion_calls_library(x) ? expansion_write_call(x) : expansion_write_source(x);
  if (status) return status;
  x->out->source = strdup(text_get(&x->expander->source));
  return x->out->source ? CUGEN_OK : error_memory(x->err);
}

static int note_reads(struct expansion *x) {
  return expansion_calls_library(x) ? expansion_note_call_reads(x) : expansion_note_reads(x);
}

static int constants(struct expansion *x) {
  return launch_check_constants(x->facts, x->out, x->err);
}

static int run_steps(struct expansion *x) {
  static int (*const steps[])(struct expansion *) = {
      expansion_fill_slots,
      expansion_fill_arguments,
      expand_hash_data,
      expansion_write_parameters,
      expansion_open_names,
      expansion_evaluate_options,
      expansion_count_steps,
      expansion_spell_entries,
      write_source,
      note_reads,
      expansion_allocate_spec,
      launches,
      expansion_finish_strings,
      expansion_check_parameters,
      constants,
      expansion_take_hashes,
      expansion_evaluate_work,
      expansion_take_data_hashes,
  };
  for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
    int status = steps[i](x);
    if (status) return status;
  }
  return CUGEN_OK;
}

static int expand_expand(struct expansion *x, struct kernel_spec *out) {
  *out = (struct kernel_spec){0};
  x->out = out;
  int status = expansion_name_variant(x);
  if (!status) status = run_steps(x);
  if (status && status != CUGEN_ERROR_MEMORY && !x->unnamed)
    error_append(x->err, x->reference ? "\n  in the %s" : "\n  in variant '%s'",
                 out->variant ? out->variant : "");
  names_close(&x->names);
  for (size_t i = 0; i < KERNEL_MAX_ENTRIES; i++) text_free(&x->entries[i].name);
  free(x->slots);
  if (status) kernel_spec_free(out);
  return status;
}

static struct expansion expand_begin(struct expander *expander, const struct config *config,
                                     const struct problem *problem,
                                     const struct device_facts *facts,
                                     const struct variant *variant, cugen_error *err) {
  return (struct expansion){.expander = expander,
                            .config = config,
                            .problem = problem,
                            .facts = facts,
                            .variant = variant,
                            .generates = -1,
                            .err = err};
}

static int expand_one(struct expander *expander, const struct config *config,
                      const struct problem *problem, const struct device_facts *facts,
                      const struct variant *variant, bool unnamed, struct kernel_spec *out,
                      cugen_error *err) {
  struct problem check;
  *out = (struct kernel_spec){0};
  int status = problem_check(config, problem, &check, err);
  if (status) return status;
  struct expansion x = expand_begin(expander, config, problem, facts, variant, err);
  x.unnamed = unnamed;
  x.proof = expand_find_proof(&x, problem, PROOF_REFERENCE);
  x.judge = expand_find_proof(&x, problem, PROOF_VERIFY);
  x.check_proof = expand_find_proof(&x, &check, PROOF_REFERENCE);
  x.check_judge = expand_find_proof(&x, &check, PROOF_VERIFY);
  x.template_name = variant->implementation->template_name;
  x.template_line = variant->implementation->template_line;
  problem_free(&check);
  return expand_expand(&x, out);
}

int expand_variant(struct expander *expander, const struct config *config,
                   const struct problem *problem, const struct device_facts *facts,
                   const struct variant *variant, struct kernel_spec *out, cugen_error *err) {
  return expand_one(expander, config, problem, facts, variant, false, out, err);
}

int expand_variant_unnamed(struct expander *expander, const struct config *config,
                           const struct problem *problem, const struct device_facts *facts,
                           const struct variant *variant, struct kernel_spec *out,
                           cugen_error *err) {
  return expand_one(expander, config, problem, facts, variant, true, out, err);
}

/* ---- On the check problem ------------------------------------------------------------------- */

static bool is_met(const struct expr *expr, const struct value *slots) {
  cugen_error ignored;
  bool met;
  return !expr_eval_bool(expr, slots, &met, &ignored) && met;
}

int expand_unmet(const struct config *config, const struct problem *problem,
                 const struct device_facts *facts, const struct variant *variant,
                 const struct expr **out, cugen_error *err) {
  const struct config_implementation *impl = variant->implementation;
  struct value *slots = calloc(config_slot_count(config, impl) + 1, sizeof *slots);
  *out = NULL;
  if (!slots) return error_memory(err);
  config_slots(config, problem, facts, slots);
  memcpy(slots + config->first_tunable, variant->values, impl->tunable_count * sizeof *slots);
  for (size_t i = 0; i < impl->requirement_count && !*out; i++)
    if (!is_met(impl->requirements[i].expr, slots)) *out = impl->requirements[i].expr;
  for (size_t i = 0; i < impl->restriction_count && !*out; i++)
    if (!is_met(impl->restrictions[i].expr, slots)) *out = impl->restrictions[i].expr;
  free(slots);
  return CUGEN_OK;
}

/* *out becomes kernel_spec_compared of the variant's kernel on the problem; empty: it does not run
   there. */
static int hash_there(struct expander *expander, const struct config *config,
                      const struct problem *problem, const struct device_facts *facts,
                      const struct variant *variant, struct kernel_compared *out,
                      cugen_error *err) {
  struct kernel_spec spec;
  const struct expr *unmet;
  cugen_error ignored;
  *out = (struct kernel_compared){0};
  int status = expand_unmet(config, problem, facts, variant, &unmet, err);
  if (status || unmet) return status;
  status = expand_variant(expander, config, problem, facts, variant, &spec, &ignored);
  if (status) return status == CUGEN_ERROR_MEMORY ? error_memory(err) : CUGEN_OK;
  *out = kernel_spec_compared(&spec);
  kernel_spec_free(&spec);
  return CUGEN_OK;
}

int expand_compared(struct expander *expander, const struct config *config,
                    const struct problem *problem, const struct device_facts *facts,
                    const struct variant *variant, struct kernel_compared *out, cugen_error *err) {
  struct text inputs = {0};
  *out = (struct kernel_compared){0};
  if (variant->implementation->library) return CUGEN_OK;
  text_addf(&inputs, "%s\n", config->path);
  text_add_n(&inputs, (const char *)facts, sizeof *facts);
  problem_print(config, problem, &inputs);
  text_add_char(&inputs, '\n');
  variant_print(variant, &inputs);
  for (size_t i = 0; i < variant->implementation->tunable_count; i++)
    text_addf(&inputs, " %d", (int)variant->values[i].type);
  const struct hash key = hash_bytes(text_get(&inputs), inputs.length);
  const bool failed = inputs.failed;
  text_free(&inputs);
  if (failed) return error_memory(err);
  struct kept_check *kept = &expander->checks[hash_next(0, key.hex, sizeof key.hex) % CHECKS_KEPT];
  if (strcmp(kept->key.hex, key.hex) != 0) {
    const int status = hash_there(expander, config, problem, facts, variant, &kept->kernel, err);
    kept->key = status ? (struct hash){""} : key;
    if (status) return status;
  }
  *out = kept->kernel;
  return CUGEN_OK;
}

int expand_add_check(struct expander *expander, const struct config *config,
                     const struct problem *problem, const struct device_facts *facts,
                     const struct variant *variant, struct kernel_spec *spec, cugen_error *err) {
  struct problem check;
  struct kernel_compared there;
  int status = problem_check(config, problem, &check, err);
  if (!status) status = expand_compared(expander, config, &check, facts, variant, &there, err);
  if (!status) status = kernel_spec_add_check(spec, &there, 1, err);
  problem_free(&check);
  return status;
}

bool expand_refuses(int status) {
  return status == CUGEN_ERROR_CONFIG || status == CUGEN_ERROR_TEMPLATE ||
         status == CUGEN_ERROR_MISSING;
}

struct expander_shape expander_shape(const struct expander *expander) {
  return (struct expander_shape){expander->reads_beside, expander->read_count, expander->values,
                                 expander->value_count};
}

const bool *expander_reads(const struct expander *expander, size_t *count) {
  *count = expander->read_count;
  return expander->reads;
}

int expand_reference(struct expander *expander, const struct config *config,
                     const struct problem *problem, const struct device_facts *facts,
                     const struct variant *variant, int64_t sample_count, struct kernel_spec *out,
                     cugen_error *err) {
  *out = (struct kernel_spec){0};
  if (!config->reference)
    return error_set(err, CUGEN_ERROR_CONFIG, "%s: kernel '%s' declares no reference", config->path,
                     config->name);
  struct expansion x = expand_begin(expander, config, problem, facts, variant, err);
  x.reference = true;
  x.samples = sample_count;
  x.template_name = config->reference;
  x.template_line = config->reference_line;
  x.entry = config->reference_entry;
  return expand_expand(&x, out);
}

int expand_verify(struct expander *expander, const struct config *config,
                  const struct problem *problem, const struct device_facts *facts,
                  const struct variant *variant, struct kernel_spec *out, cugen_error *err) {
  struct expansion x = expand_begin(expander, config, problem, facts, variant, err);
  x.reference = x.verifies = true;
  x.template_name = config->verify;
  x.template_line = config->verify_line;
  x.entry = config->verify_entry;
  return expand_expand(&x, out);
}

int expand_generator(struct expander *expander, const struct config *config,
                     const struct problem *problem, const struct device_facts *facts,
                     const struct variant *variant, size_t i, struct kernel_spec *out,
                     cugen_error *err) {
  const struct config_argument *argument = &config->arguments[i];
  struct expansion x = expand_begin(expander, config, problem, facts, variant, err);
  x.reference = true;
  x.generates = (int)i;
  x.template_name = argument->data.file;
  x.template_line = argument->line;
  x.entry = argument->data.generator;
  return expand_expand(&x, out);
}

/* ---- Checks that the other files exist ------------------------------------------------------ */

/* Fails if a data file has no hash and cannot be opened. The file is opened again to get the
   error. */
static int find_data_file(const struct expansion *x, const char *file, struct config_line line,
                          const char *name) {
  struct source_data data;
  const struct sources *sources = x->expander->sources;
  if (data_file_hash(&x->expander->data_files, sources, file, x->config->path).hex[0])
    return CUGEN_OK;
  int status = sources_data_open(sources, file, x->config->path, NULL, &data, x->err);
  sources_data_close(&data);
  if (status) config_prefix(x->err, line, "data of '%s'", name);
  return status;
}

int expand_proofs(struct expander *expander, const struct config *config,
                  const struct problem *problem, const struct device_facts *facts,
                  const struct variant *variant, const struct kernel_spec *spec, cugen_error *err) {
  const struct expansion x = expand_begin(expander, config, problem, facts, variant, err);
  int status = CUGEN_OK;
  for (int which = PROOF_VERIFY; which < (int)spec->argument_count && !status; which++) {
    const struct config_argument *argument = which < 0 ? NULL : &config->arguments[which];
    struct kernel_spec proof = {0};
    if (argument && spec->arguments[which].data == DATA_FILE)
      status = find_data_file(&x, argument->data.file, argument->line, argument->name);
    else if (argument ? spec->arguments[which].data == DATA_GENERATOR : has_proof(config, which))
      status = expand_proof(&x, problem, which, &proof, err);
    kernel_spec_free(&proof);
    if (argument && config->answers && config->answers[which].kind == DATA_FILE && !status)
      status =
          find_data_file(&x, config->answers[which].file, config->reference_line, argument->name);
  }
  return status;
}

/* ---- The expander --------------------------------------------------------------------------- */

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
  free(expander->reads_beside);
  free(expander->values);
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
