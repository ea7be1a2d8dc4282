/* What the verdict of a prediction is held against. */
#ifndef API_VERDICT_H
#define API_VERDICT_H

#include "emulator/check/selection.h"
#include "lookup.h"

/* Selects the problems on which the variant is run for a verdict about the look-up's problem. */
struct check_options api_verdict_sizes(const struct lookup *lookup, const char *variant);
/* Changes the kernel's hashes to those of a verdict, which also depends on the kernels on all these
   problems and on the config's rules. spec: of lookup_expand. */
int api_hash_verdict(const struct lookup *lookup, struct kernel_spec *spec, cugen_error *err);

#endif
