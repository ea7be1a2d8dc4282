/* Template expansion: a .cu with `//@` Lua lines and ${} substitutions becomes the specialised source of one
   variant. docs/template.md describes the language. Deterministic: same input, same bytes. */
#ifndef GEN_EXPAND_H
#define GEN_EXPAND_H

#include "space.h"

struct expander; /* caches parsed templates; one thread at a time */

/* sources is borrowed. */
int expander_open(const struct sources *sources, struct expander **out, cugen_error *err);
void expander_close(struct expander *expander);

/* The variant's kernel_spec: source, launches, arguments, hashes. Errors name the template's own line and the
   variant. The caller frees with kernel_spec_free. */
int expand_variant(struct expander *expander, const struct config *config, const struct problem *problem,
                   const struct device_facts *facts, const struct variant *variant, struct kernel_spec *out,
                   cugen_error *err);

/* For each slot (see config.h) whether its value shaped the source that was expanded last: a problem that differs from
   that one elsewhere, and has an index_t of the same width, has the same source. Valid until the next expansion. */
const bool *expander_reads(const struct expander *expander, size_t *count);

/* The reference's kernel_spec: one thread computes one element. Its arguments are the config's, with each output
   (not inout) in its wide dtype, packed and row-major. After them its parameters, also ${params}, end with two that
   are not among spec->arguments, `const long long *samples, long long sample_count`: thread t < sample_count computes
   the element with logical flat index samples[t] (t itself when samples is null) and stores it at [t]. The launch is
   (ceil(samples / 256), 256). sample_count: 0 for all elements of the largest output. variant supplies the shared
   tunables. */
int expand_reference(struct expander *expander, const struct config *config, const struct problem *problem,
                     const struct device_facts *facts, const struct variant *variant, int64_t sample_count,
                     struct kernel_spec *out, cugen_error *err);

#endif
