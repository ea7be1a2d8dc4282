/* Expansion of templates: a .cu file with `//@` Lua lines and ${} substitutions becomes the
   specialised source of one variant. docs/template.md describes the language. */
#ifndef GEN_TEMPLATE_EXPAND_H
#define GEN_TEMPLATE_EXPAND_H

#include "gen/space/space.h"

struct expander; /* Keeps parsed templates between expansions. Only one thread may use an expander
                    at a time. */

/* sources is borrowed. */
int expander_open(const struct sources *sources, struct expander **out, cugen_error *err);
void expander_close(struct expander *expander);

/* Makes the kernel_spec of a variant: source, launches, arguments, hashes. Errors in the template
   or config name the line and the variant. The caller frees the spec with kernel_spec_free. */
int expand_variant(struct expander *expander, const struct config *config,
                   const struct problem *problem, const struct device_facts *facts,
                   const struct variant *variant, struct kernel_spec *out, cugen_error *err);

/* Like expand_variant, but errors do not name the variant. */
int expand_variant_unnamed(struct expander *expander, const struct config *config,
                           const struct problem *problem, const struct device_facts *facts,
                           const struct variant *variant, struct kernel_spec *out,
                           cugen_error *err);

/* Sets *out to the first of the variant's requirements and restrictions that the problem does not
   satisfy; a condition that cannot be computed counts as such. NULL: it satisfies all. */
int expand_unmet(const struct config *config, const struct problem *problem,
                 const struct device_facts *facts, const struct variant *variant,
                 const struct expr **out, cugen_error *err);

/* Sets *out to kernel_spec_compared of the variant's kernel on the problem; empty: it does not
   satisfy the variant's conditions, the variant does not expand for it, or calls a library, which
   may take another kernel there. The expander keeps it. */
int expand_compared(struct expander *expander, const struct config *config,
                    const struct problem *problem, const struct device_facts *facts,
                    const struct variant *variant, struct kernel_compared *out, cugen_error *err);

/* Calls kernel_spec_add_check with the variant's kernel on the check problem. spec: the expansion
   of the variant for `problem`. */
int expand_add_check(struct expander *expander, const struct config *config,
                     const struct problem *problem, const struct device_facts *facts,
                     const struct variant *variant, struct kernel_spec *spec, cugen_error *err);

/* Checks that the other files of a variant exist and expand, such as the reference and the sources
   of data. spec: the expansion of the variant. */
int expand_proofs(struct expander *expander, const struct config *config,
                  const struct problem *problem, const struct device_facts *facts,
                  const struct variant *variant, const struct kernel_spec *spec, cugen_error *err);

/* Returns whether the status means an error in the config, the template or a file that they name,
   so that other variants may still expand. */
bool expand_refuses(int status);

/* Tells for each slot (see config.h) whether its value may have influenced the source that was
   expanded last. A problem that differs only in other slots, and has an index_t of equal width, has
   the same source. Valid until the next expansion. */
const bool *expander_reads(const struct expander *expander, size_t *count);

/* A finer form of expander_reads: the source depends only on the values of these slots and
   expressions, and on the width of index_t. Valid until the next expansion. */
struct expander_shape {
  const bool *reads;
  size_t count;
  const struct expr *const *values;
  size_t value_count;
};
struct expander_shape expander_shape(const struct expander *expander);

/* Makes the kernel_spec of the reference, in which one thread computes one element. The arguments
   are the config's, with each output (but not inout) in its wide dtype, packed and row-major. The
   parameters, also ${params}, have more at the end that are not in spec->arguments: for each inout
   `const T *NAME_before`, its contents before the run; then `const long long *samples, long long
   sample_count`. Thread t < sample_count computes the element with the logical flat index
   samples[t] (t itself if samples is null) and stores it at [t]. The launch has a thread for each
   sample, in blocks of 256. sample_count: 0 for all elements of the largest output. variant
   supplies the shared tunables. */
int expand_reference(struct expander *expander, const struct config *config,
                     const struct problem *problem, const struct device_facts *facts,
                     const struct variant *variant, int64_t sample_count, struct kernel_spec *out,
                     cugen_error *err);

/* Makes the kernel_spec of the verify kernel, which judges results. The parameters, also ${params},
   are the config's arguments, all read-only; then for each inout `const T *NAME_before`, its
   contents before the run; then `double *error, long long count`. Thread t < count checks element t
   of the largest output and stores its error, divided by the allowed error, in error[t]. The launch
   is like the reference's. */
int expand_verify(struct expander *expander, const struct config *config,
                  const struct problem *problem, const struct device_facts *facts,
                  const struct variant *variant, struct kernel_spec *out, cugen_error *err);

/* Makes the kernel_spec of the generator that computes the data of argument i (DATA_GENERATOR). The
   parameters, ${params}, are in the config's order the inputs, inouts and constants declared before
   the argument, all scalars, and the argument itself as an output, in its wide dtype, packed and
   row-major; then `long long sample_count`. Thread t < sample_count stores element t. Constants are
   read by their address. */
int expand_generator(struct expander *expander, const struct config *config,
                     const struct problem *problem, const struct device_facts *facts,
                     const struct variant *variant, size_t i, struct kernel_spec *out,
                     cugen_error *err);

#endif
