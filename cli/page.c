/* What all sections of the report's page use; see page.h. */
#include "page.h"

#include "plot.h"

void page_put(const struct page *p, const char *text) {
  plot_escape(text, p->out);
}

const char *page_predicted(const struct page *p, const char *text) {
  return p->f->predicted ? text : "";
}

bool page_by_rate(const struct page *p) {
  return cli_ranks_by_rate(p->f->kernel);
}
