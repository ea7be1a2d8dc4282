/* From a variant to its kernel_spec: slots and arguments evaluated, the template rendered, prologue and includes put
   around it, launches evaluated, hashes taken. See expand.h. */
#include "expansion.h"

#include <stdlib.h>
#include <string.h>

/* ---- The steps, in order ------------------------------------------------------------------------------------ */

static int launches(struct expansion *x) {
  return x->reference ? expansion_reference_launch(x) : expansion_evaluate_launches(x);
}

static int run_steps(struct expansion *x) {
  static int (*const steps[])(struct expansion *) = {
      expansion_fill_slots,
      expansion_fill_arguments,
      expansion_write_parameters,
      expansion_open_names,
      expansion_evaluate_options,
      expansion_spell_entries,
      expansion_write_source,
      expansion_note_reads,
      expansion_copy_source,
      expansion_allocate_spec,
      launches,
      expansion_finish_strings,
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

static int expand(struct expansion *x, struct kernel_spec *out) {
  *out = (struct kernel_spec){0};
  x->out = out;
  int status = expansion_name_variant(x);
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
struct proof expansion_find_proof(struct expander *expander, const struct config *config,
                                  const struct problem *problem, const struct device_facts *facts,
                                  const struct variant *variant, int which) {
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
                        .proof = expansion_find_proof(expander, config, problem, facts, variant, PROOF_REFERENCE),
                        .judge = expansion_find_proof(expander, config, problem, facts, variant, PROOF_VERIFY),
                        .check_proof =
                            expansion_find_proof(expander, config, &check, facts, variant, PROOF_REFERENCE),
                        .check_judge = expansion_find_proof(expander, config, &check, facts, variant, PROOF_VERIFY),
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
