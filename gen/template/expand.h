/* Template expansion: a .cu with `//@` Lua lines and ${} substitutions becomes the specialised source of one
   variant. docs/template.md describes the language. Deterministic: same input, same bytes. */
#ifndef GEN_TEMPLATE_EXPAND_H
#define GEN_TEMPLATE_EXPAND_H

#include "gen/space/space.h"

struct expander; /* caches parsed templates; one thread at a time */

/* sources is borrowed. */
int expander_open(const struct sources *sources, struct expander **out, cugen_error *err);
void expander_close(struct expander *expander);

/* The variant's kernel_spec: source, launches, arguments, hashes. Errors name the template's own line and the
   variant. The caller frees with kernel_spec_free. */
int expand_variant(struct expander *expander, const struct config *config, const struct problem *problem,
                   const struct device_facts *facts, const struct variant *variant, struct kernel_spec *out,
                   cugen_error *err);

/* The same, but no error names the variant: for who knows it, and compares errors. */
int expand_variant_unnamed(struct expander *expander, const struct config *config, const struct problem *problem,
                           const struct device_facts *facts, const struct variant *variant, struct kernel_spec *out,
                           cugen_error *err);

/* Whether all that stands behind a variant is there and expands: reference, verify kernel, and what the data of the inputs comes
   from. spec: what the variant expanded to. */
int expand_proofs(struct expander *expander, const struct config *config, const struct problem *problem,
                  const struct device_facts *facts, const struct variant *variant, const struct kernel_spec *spec,
                  cugen_error *err);

/* Whether that error is the variant's: its config, its template or a file of theirs. Others may expand all the same. */
bool expand_refuses(int status);

/* For each slot (see config.h) whether its value shaped the source that was expanded last: a problem that differs from
   that one elsewhere, and has an index_t of the same width, has the same source. Valid until the next expansion. */
const bool *expander_reads(const struct expander *expander, size_t *count);

/* The same, less coarse: the values of these slots and of these expressions (the config's) shaped it. Valid until the next expansion. */
struct expander_shape {
  const bool *reads;
  size_t count;
  const struct expr *const *values;
  size_t value_count;
};
struct expander_shape expander_shape(const struct expander *expander);

/* The reference's kernel_spec: one thread computes one element. Its arguments are the config's, with each output
   (not inout) in its wide dtype, packed and row-major. After them its parameters, also ${params}, end with two that
   are not among spec->arguments, `const long long *samples, long long sample_count`: thread t < sample_count computes
   the element with logical flat index samples[t] (t itself when samples is null) and stores it at [t]. The launch is
   (ceil(samples / 256), 256). sample_count: 0 for all elements of the largest output. variant supplies the shared
   tunables. */
int expand_reference(struct expander *expander, const struct config *config, const struct problem *problem,
                     const struct device_facts *facts, const struct variant *variant, int64_t sample_count,
                     struct kernel_spec *out, cugen_error *err);

/* The kernel that judges results (verify). Its parameters, also ${params}, are the config's arguments, all read only; then for
   each inout `const T *NAME_before`, what it was; then `double *error, long long count`: thread t < count checks element t of
   the largest output and stores how far it is off in error[t], in parts of what is allowed. Launched like a reference. */
int expand_verify(struct expander *expander, const struct config *config, const struct problem *problem,
                  const struct device_facts *facts, const struct variant *variant, struct kernel_spec *out,
                  cugen_error *err);

/* The kernel that makes the data of argument i (DATA_GENERATOR). It is written like a reference: of its parameters,
   ${params}, are the inputs declared before the argument and all scalars, then the argument itself, to be written, in its
   wide dtype, packed and row-major, and `long long sample_count`: thread t < sample_count stores element t. Constants are
   read by their address. */
int expand_generator(struct expander *expander, const struct config *config, const struct problem *problem,
                     const struct device_facts *facts, const struct variant *variant, size_t i,
                     struct kernel_spec *out, cugen_error *err);

#endif
