/* The report's tables: the best variants, what failed, other problems; see report.h. */
#include <string.h>

#include "marks.h"
#include "option_names.h"
#include "plot.h"
#include "quantities.h"
#include "report.h"

/* A table that is wider than the window is scrolled in a box of its own, also by keys. */
static void open_table(const struct page *p, const char *heading, const char *note, const char *class,
                       const char *predicted) {
  fprintf(p->out, "<section>\n<h2>%s%s</h2>\n%s<div class=\"scroll\" tabindex=\"0\" role=\"region\" ", heading,
          predicted, note);
  fprintf(p->out, "aria-label=\"%s\">\n<table class=\"%s\">\n<thead><tr>", heading, class);
}

static void close_table(const struct page *p) {
  fputs("</table>\n</div>\n</section>\n", p->out);
}

/* ---- The best variants ---- */

static const struct column {
  const char *header;
  enum quantity quantity;
} columns[] = {
    {"time", QUANTITY_TIME},           {"energy", QUANTITY_ENERGY},        {"energy / time", QUANTITY_POWER},
    {"rate", QUANTITY_RATE},           {"roofline", QUANTITY_ROOFLINE},    {"requests", QUANTITY_REQUESTS},
    {"occupancy", QUANTITY_OCCUPANCY}, {"clusters", QUANTITY_CLUSTERS},    {"threads", QUANTITY_THREADS},
    {"registers", QUANTITY_REGISTERS}, {"static shared", QUANTITY_STATIC}, {"dynamic shared", QUANTITY_DYNAMIC},
    {"constant", QUANTITY_CONSTANT},   {"local", QUANTITY_LOCAL},          {"spills", QUANTITY_SPILLS},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

/* Rows of the table: the best, then the best of each implementation that is not among them. */
static bool is_row(const struct page *p, size_t i) {
  return i < p->top ||
         p->f->implementations[findings_implementation(p->f, p->f->right[i]->variant)].best == p->f->right[i];
}

static void choose_columns(const struct page *p, bool *chosen) {
  for (size_t i = 0; i < p->f->right_count; i++)
    for (size_t c = 0; is_row(p, i) && c < COLUMNS; c++)
      chosen[c] = chosen[c] || quantities[columns[c].quantity].has(p->f->right[i]);
}

/* What the compiler says, such as registers, is no prediction. */
static const char *header_of(const struct page *p, size_t column) {
  if (!p->f->predicted) return columns[column].header;
  switch (columns[column].quantity) {
  case QUANTITY_TIME: return "predicted time";
  case QUANTITY_RATE: return "predicted rate";
  case QUANTITY_ROOFLINE: return "predicted roofline";
  default: return columns[column].header;
  }
}

static void write_row(const struct page *p, const bool *chosen, size_t i) {
  const cugen_record *r = p->f->right[i];
  size_t count = 1;
  fprintf(p->out, "<tbody><tr><td class=\"n\">%s</td>", print_count(i + 1).text);
  for (size_t c = 0; c < COLUMNS; c++) {
    const struct quantity_row *row = &quantities[columns[c].quantity];
    if (!chosen[c]) continue;
    count++;
    fputs("<td class=\"n\">", p->out);
    page_put(p, row->has(r) ? row->show(r).text : "\u2013");
    fputs("</td>", p->out);
  }
  fprintf(p->out, "</tr><tr><td class=\"wide\" colspan=\"%zu\"><div><span class=\"key %s\"></span><code>", count,
          marks_class(findings_implementation(p->f, r->variant)).text);
  page_put(p, r->variant);
  fputs("</code></div></td></tr></tbody>\n", p->out);
}

#define TIE_NOTE(what)                                                                                               \
  "<p class=\"note\">A tie: of those within 0.5 % of the " what                                                      \
  ", the one that comes first in the config leads.</p>\n"

/* What leads is not the one of least cost. */
static bool is_tied(const struct findings *f) {
  for (size_t i = 1; i < f->right_count; i++)
    if (f->right[i]->cost < f->right[0]->cost) return true;
  return false;
}

void report_variants(const struct page *p) {
  bool chosen[COLUMNS] = {false};
  if (!p->f->right_count) return;
  choose_columns(p, chosen);
  const bool by_time = api_kernel_objective(p->f->kernel) == CUGEN_OBJECTIVE_TIME;
  const char *tie = page_by_rate(p) ? TIE_NOTE("highest rate") : by_time ? TIE_NOTE("fastest") : TIE_NOTE("best");
  open_table(p, "Best variants", is_tied(p->f) ? tie : "", "variants", page_predicted(p, ", predicted"));
  fputs("<th class=\"n\"></th>", p->out);
  for (size_t c = 0; c < COLUMNS; c++)
    if (chosen[c]) fprintf(p->out, "<th class=\"n\">%s</th>", header_of(p, c));
  fputs("</tr></thead>\n", p->out);
  for (size_t i = 0; i < p->f->right_count; i++)
    if (is_row(p, i)) write_row(p, chosen, i);
  close_table(p);
}

/* ---- Failures ---- */

static void write_failure(const struct page *p, const struct failure *failure) {
  fprintf(p->out, "<tr><td class=\"n\">%s</td><td>", print_count(failure->count).text);
  page_put(p, outcome_text((int)failure->outcome));
  fputs("</td><td class=\"wide\"><code>", p->out);
  page_put(p, failure->example->variant);
  fputs("</code>", p->out);
  if (*failure->example->reason) {
    fputs("<pre>", p->out);
    const struct message reason = message_own(failure->example->reason);
    for (const char *line = reason.text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
      plot_escape_n(line, strcspn(line, "\n"), p->out);
      fputc('\n', p->out);
    }
    fputs("</pre>", p->out);
  }
  fputs("</td></tr>\n", p->out);
}

static void write_failure_table(const struct page *p, const char *heading, size_t first, size_t end) {
  size_t count = 0;
  for (size_t i = first; i < end; i++) count += p->f->failures[i].count;
  if (!count) return;
  open_table(p, heading, "", "failures", "");
  fputs("<th class=\"n\">variants</th><th>how</th><th>such as</th></tr></thead>\n<tbody>\n", p->out);
  for (size_t i = first; i < end; i++)
    if (p->f->failures[i].count) write_failure(p, &p->f->failures[i]);
  fputs("</tbody>\n", p->out);
  close_table(p);
}

void report_failures(const struct page *p) {
  write_failure_table(p, "Failures", CUGEN_OUTCOME_OK, CUGEN_OUTCOME_UNPREDICTED);
  write_failure_table(p, "Without a prediction", CUGEN_OUTCOME_UNPREDICTED, OUTCOME_COUNT);
}

/* ---- Other problems ---- */

static void write_other(const struct page *p, const cugen_cache_set *set) {
  double rate = set->seconds > 0 ? (set->flops > 0 ? set->flops : set->bytes) / set->seconds : 0;
  fprintf(p->out, "<tr><td class=\"n\">%s</td>", *set->best ? print_seconds(set->seconds).text : "\u2013");
  fprintf(p->out, "<td class=\"n\">%s</td>",
          rate > 0 ? (set->flops > 0 ? print_flops(rate).text : print_bandwidth(rate).text) : "\u2013");
  fprintf(p->out, "<td class=\"n\">%s</td><td class=\"wide\"><code>", print_count(set->records).text);
  page_put(p, set->problem);
  fputs("</code></td></tr>\n", p->out);
}

static void open_others(const struct page *p) {
  open_table(p, "Other problems", "<p class=\"note\">Remembered of this kernel on this device.</p>\n", "others",
             page_predicted(p, ", predicted"));
  fputs("<th class=\"n\">best time</th><th class=\"n\">rate</th><th "
        "class=\"n\">variants</th><th>problem</th></tr></thead>\n"
        "<tbody>\n",
        p->out);
}

void report_others(const struct page *p) {
  const char *own = cugen_kernel_problem(p->f->kernel);
  bool begun = false;
  for (size_t i = 0; i < p->f->set_count; i++) {
    if (!p->f->sets[i].records || !findings_is_kin(p->f, &p->f->sets[i]) || strcmp(p->f->sets[i].problem, own) == 0)
      continue;
    if (!begun) open_others(p);
    begun = true;
    write_other(p, &p->f->sets[i]);
  }
  if (!begun) return;
  fputs("</tbody>\n", p->out);
  close_table(p);
}
