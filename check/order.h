/* The order in which findings, and what was not checked, are told. */
#ifndef CHECK_ORDER_H
#define CHECK_ORDER_H

#include "check.h"

/* What is likely to cause the others comes first; then by file and line. */
void findings_sort(struct check_finding *findings, size_t count);
/* Makes one finding of those with one cause, such as a barrier that is missing between writes to an array and reads of it on several
   lines. They are sorted. words: of each set of variants. Returns how many are left. */
size_t findings_join(struct check_finding *findings, size_t count, size_t words);
void finding_free(struct check_finding *finding);
/* As the variants stand in the list. */
void skips_sort(struct check_skip *skips, size_t count);

#endif
