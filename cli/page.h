/* What all sections of cugen report's page use; see report.h. */
#ifndef CLI_PAGE_H
#define CLI_PAGE_H

#include "chart.h"
#include "findings.h"

/* One page being written. */
struct page {
  const struct findings *f;
  size_t top; /* rows in the table of the best */
  FILE *out;
};

/* Text that is not cugen's own. */
void page_put(const struct page *page, const char *text);
/* What stands behind the name of whatever a model says. */
const char *page_predicted(const struct page *page, const char *text);
bool page_by_rate(const struct page *page);

#endif
