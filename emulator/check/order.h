/* The order in which findings, and skipped variants, are reported. */
#ifndef EMULATOR_CHECK_ORDER_H
#define EMULATOR_CHECK_ORDER_H

#include "check.h"

/* Sorts findings: kinds that are likely to cause others come first; then by file and line. */
void findings_sort(cugen_check_finding *findings, size_t count);
/* Adds the variants of `more` to the set. Both sets have `words` words. */
void variants_join(struct check_variants *set, const struct check_variants *more, size_t words);
/* Joins findings with one cause. The findings must be sorted, and each set of variants must have
   `words` words. Returns the number of findings left. */
size_t findings_join(cugen_check_finding *findings, size_t count, size_t words);
void finding_free(cugen_check_finding *finding);
void check_detail_free(struct check_detail *detail);
/* Sorts skips by the number of their first variant. */
void skips_sort(cugen_check_skip *skips, size_t count);

#endif
