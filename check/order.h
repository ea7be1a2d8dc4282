/* The order in which findings are told. */
#ifndef CHECK_ORDER_H
#define CHECK_ORDER_H

#include "check.h"

/* What is likely to cause the others comes first; then by file and line. */
void findings_sort(struct check_finding *findings, size_t count);

#endif
