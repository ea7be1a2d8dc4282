/* What the verdict of a prediction is held against: the sizes on which the prediction is verified,
   the kernels on them, and the rules by which the config has these sizes. */
#include <stdlib.h>
#include <string.h>

#include "verdict.h"

/* ---- The sizes ------------------------------------------------------------------------------ */

struct check_options api_verdict_sizes(const struct lookup *l, const char *variant) {
  return (struct check_options){.wanted = {.variant = variant, .seed = 1}, .whole = l->problem};
}

/* *out becomes the kernel that the variant of this number is on the problem. */
static int kernel_at(const struct lookup *l, const struct check_problem *at, uint64_t index,
                     struct kernel_compared *out, cugen_error *err) {
  struct value *values = calloc(space_max_tunables(at->space) + 1, sizeof *values);
  struct variant variant;
  if (!values) return error_memory(err);
  space_variant(at->space, index, &variant, values);
  const int status = expand_compared(l->opened->expander, l->config, &at->problem, &l->device.facts,
                                     &variant, out, err);
  free(values);
  return status;
}

/* Adds the variant's kernels on these problems to what the kernel's results are held against. */
static int add_kernels(const struct lookup *l, const struct check_list *list,
                       struct kernel_spec *spec, cugen_error *err) {
  struct kernel_compared *there = calloc(list->run_count + 1, sizeof *there);
  int status = there ? CUGEN_OK : error_memory(err);
  for (size_t i = 0; i < list->run_count && !status; i++)
    status =
        kernel_at(l, &list->problems[list->runs[i].problem], list->runs[i].index, &there[i], err);
  if (!status) status = kernel_spec_add_check(spec, there, list->run_count, err);
  free(there);
  return status;
}

/* Where no problem can be selected, the variant is checked on none. */
static int add_sizes(const struct lookup *l, struct kernel_spec *spec, cugen_error *err) {
  const struct check_options options = api_verdict_sizes(l, spec->variant);
  struct tune_target target = lookup_target(l);
  struct check_list list = {0};
  struct problem check;
  cugen_error ignored;
  int status = problem_check(l->config, l->problem, &check, err);
  target.problem = &check;
  if (!status && check_select(&target, &options, &list, &ignored) == CUGEN_ERROR_MEMORY)
    status = error_memory(err);
  if (!status) status = add_kernels(l, &list, spec, err);
  check_list_free(&list);
  problem_free(&check);
  return status;
}

/* ---- The hashes ----------------------------------------------------------------------------- */

static void verdict_add_values(const struct value *values, size_t count, struct text *out) {
  for (size_t i = 0; i < count; i++) text_add_char(out, ' '), value_print(values[i], out);
  text_add_char(out, '\n');
}

/* Changes the hashes of a proof and of a whole kernel to those of a verdict under the rules. */
static void hash_under(const struct text *rules, struct hash *proof, struct hash *whole) {
  const struct hash before = *proof;
  const struct hash_piece pieces[] = {{text_get(rules), rules->length},
                                      {before.hex, strlen(before.hex)},
                                      {whole->hex, strlen(whole->hex)}};
  *proof = hash_pieces(pieces, 2);
  *whole = hash_pieces(pieces, 3);
}

/* A verdict of a prediction is about the sizes on which the prediction was verified. The config's
   rules decide these sizes, so the hashes of a verdict cover the rules, and the kernels on them. */
int api_hash_verdict(const struct lookup *l, struct kernel_spec *spec, cugen_error *err) {
  const struct config *config = l->config;
  struct text text = {0};
  int status = add_sizes(l, spec, err);
  if (status) return status;
  struct hash plain_proof = kernel_spec_proof_without(spec, 0, true);
  for (size_t i = 0; i < config->problem_count; i++)
    verdict_add_values(config->problems[i].values,
                       config->problems[i].listed ? config->problems[i].value_count : 0, &text);
  for (size_t i = 0; i < config->implementation_count; i++) {
    const struct config_implementation *own = &config->implementations[i];
    for (size_t k = 0; k < own->requirement_count; k++)
      text_addf(&text, "%s\n", expr_text(own->requirements[k].expr));
    for (size_t k = 0; k < own->restriction_count; k++)
      text_addf(&text, "%s\n", expr_text(own->restrictions[k].expr));
    if (own->check) verdict_add_values(own->check, config->problem_count, &text);
  }
  hash_under(&text, &spec->proof_hash, &spec->hash);
  if (spec->proof_check) hash_under(&text, &plain_proof, &spec->plain_hash);
  const bool failed = text.failed;
  text_free(&text);
  return failed ? error_memory(err) : CUGEN_OK;
}
