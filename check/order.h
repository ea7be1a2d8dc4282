/* The order in which findings, and what was not checked, are told. */
#ifndef CHECK_ORDER_H
#define CHECK_ORDER_H

#include "check.h"

/* What is likely to cause the others comes first; then by file and line. */
void findings_sort(struct check_finding *findings, size_t count);
/* As the variants stand in the list. */
void skips_sort(struct check_skip *skips, size_t count);

#endif
