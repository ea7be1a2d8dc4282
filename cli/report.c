/* cugen report: what is remembered of a kernel as one page of HTML.

   cli/pages/report.html is the page, with {{marks}}. write_page copies it and calls, for each mark, the function in the table
   `marks` at the end of this file. Every function reads struct findings (findings.h), which is complete before the page
   begins; none measures anything or fails. Charts of convergence, the view of parameters and tables are in files of their own (report.h). Sections come in the order of a reader's questions: how fast, what bounds
   it, which implementation, whether more tuning would help, which parameter matters, the best variants, what failed, other problems,
   the machine.

   Invariants:
   - The file needs nothing else: styles and the picture are inside, there are no scripts and no addresses.
   - Text from configs, records and devices goes through page_put. What is printed with a format is a number, or
     made of cugen's own words.
   - Bars and effects are fractions of the best cost (cugen_record.cost, which the config's objective defines), so a page
     ranks as 'cugen tune' does.
   - Predicted times are called so in the title, the figures and the headings, since nothing ran.
   - Equal records give an equal page: its dates are those of the records. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "marks.h"
#include "plot.h"
#include "quantities.h"
#include "ranges.h"
#include "records.h"
#include "report.h"

/* ---- Head ---- */

static void write_style(const struct page *p, const char *name) {
  const struct cli_script *style = cli_page(name);
  if (style->path) fwrite(style->data, 1, style->length, p->out);
}

static void write_colours(const struct page *p) {
  write_style(p, "colours.css");
}

static void write_chart_style(const struct page *p) {
  write_style(p, "chart.css");
}

static void write_version(const struct page *p) {
  page_put(p, CUGEN_VERSION);
}

static void write_kernel(const struct page *p) {
  page_put(p, cugen_kernel_name(p->f->kernel));
}

/* A predicted variant ran on the cpu device and came out right: the one that a reader would take. */
static bool proved(const struct findings *f) {
  return f->right_count && f->right[0]->verified;
}

static void write_title(const struct page *p) {
  write_kernel(p);
  fputs(" on ", p->out);
  page_put(p, p->f->device->name);
  page_put(p,
           page_predicted(p, proved(p->f) ? ": predicted, not measured" : ": predicted, not measured, not proved"));
}

static void write_where(const struct page *p) {
  fputs("on ", p->out);
  page_put(p, p->f->device->name);
  page_put(p,
           page_predicted(p, proved(p->f) ? ": predicted, not measured" : ": predicted, not measured, not proved"));
  if (findings_on_cpu(p->f)) fputs(", the cpu device: times are the CPU\u2019s own, not a GPU\u2019s", p->out);
}

/* "M=4096 N=4096": a list of what was asked. */
static void write_problem(const struct page *p) {
  fputs("<ul class=\"values\">", p->out);
  for (const char *at = cugen_kernel_problem(p->f->kernel); *at;) {
    size_t length = strcspn(at, " ");
    fputs("<li><code>", p->out);
    plot_escape_n(at, length, p->out);
    fputs("</code></li>", p->out);
    at += length + (at[length] == ' ');
  }
  fputs("</ul>\n", p->out);
}

/* Whether a word is too long for one of the columns of figures. */
static bool is_long(const char *text) {
  enum { ROOM = 20 };
  size_t length = 0;
  for (; *text && length <= ROOM; text += length, text += strspn(text, " ")) length = strcspn(text, " ");
  return length > ROOM;
}

static void write_figure(const struct page *p, const char *name, const char *value, const char *more) {
  fprintf(p->out, "<div%s><dt>%s%s</dt><dd>", is_long(more) ? " class=\"long\"" : "", name,
          page_predicted(p, ", predicted"));
  page_put(p, value);
  if (*more) fputs("<small>", p->out), page_put(p, more), fputs("</small>", p->out);
  fputs("</dd></div>\n", p->out);
}

/* The first implementation that came out right: what the others are compared with. */
static const cugen_record *first_implementation(const struct findings *f) {
  for (size_t i = 0; i < f->implementation_count; i++)
    if (f->implementations[i].best) return f->implementations[i].best;
  return NULL;
}

static void write_speedup(const struct page *p, const cugen_record *best, const cugen_record *first) {
  char value[32], more[160];
  size_t length = strcspn(first->variant, " ");
  if (first->cost <= 0 ||
      findings_implementation(p->f, best->variant) == findings_implementation(p->f, first->variant))
    return;
  snprintf(value, sizeof value, "%.2f\u00d7", first->cost / best->cost);
  snprintf(more, sizeof more, "the speed of the best %.*s", (int)length, first->variant);
  write_figure(p, "Gained", value, more);
}

static void write_rates(const struct page *p, const cugen_record *best) {
  char more[64];
  const char *unit = print_rate_unit(best->flops, best->bytes);
  if (unit) {
    bool flops = best->flops > 0;
    double rate = findings_rate(best);
    write_figure(p, "Rate", flops ? print_flops(rate).text : print_bandwidth(rate).text, "");
  }
  if (best->roofline <= 0) return;
  snprintf(more, sizeof more, "of %s", best->roofline_measured ? "what was measured" : "the peak");
  write_figure(p, "Roofline", print_percent(best->roofline).text, more);
}

static void write_figures(const struct page *p) {
  const struct findings *f = p->f;
  char more[96];
  fputs("<dl class=\"figures\">\n", p->out);
  if (f->right_count) {
    const cugen_record *best = f->right[0];
    char name[96];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(best->variant, " "), best->variant);
    write_figure(p, "Best", print_seconds(best->seconds).text, name);
    if (best->energy > 0) write_figure(p, "Energy", print_joules(best->energy).text, "a run");
    write_rates(p, best);
    write_speedup(p, best, first_implementation(f));
  }
  snprintf(more, sizeof more, "of %s", print_count(f->space.valid).text);
  if (f->failed_count)
    snprintf(more + strlen(more), sizeof more - strlen(more), "; %s failed", print_count(f->failed_count).text);
  write_figure(p, p->f->predicted ? "Variants" : "Variants tried", print_count(f->right_count + f->failed_count).text,
               more);
  fputs("</dl>\n", p->out);
}

/* ---- The roofline ---- */

static void write_bound(const struct page *p) {
  const cugen_record *r = p->f->right[0];
  double intensity = r->flops / r->bytes, ridge = findings_peak(p->f) / findings_bandwidth(p->f);
  fprintf(p->out, "This problem does %s operations for each byte that must move; ", print_number(intensity).text);
  fprintf(p->out, "the roof bends at %s. ", print_number(ridge).text);
  fputs(intensity < ridge ? "So device memory bounds it" : "So arithmetic bounds it", p->out);
  fprintf(p->out, ", at %s. ",
          print_flops(intensity < ridge ? intensity * findings_bandwidth(p->f) : findings_peak(p->f)).text);
}

/* What memory would allow the first implementation if it had to serve all of its requests. */
static void write_served(const struct page *p) {
  const cugen_record *first = first_implementation(p->f);
  double served = records_served(first, &p->f->ceilings);
  if (!(served > 0)) return;
  fputs(
      "Each variant lies at the operations for each byte that it requests of global memory; the upright line is the "
      "problem\u2019s own. What lies above the slope has caches to serve its requests. ",
      p->out);
  plot_escape_n(first->variant, strcspn(first->variant, " "), p->out);
  fprintf(p->out, " requests %s FLOP/B: ", print_number(quantity_requested(first)).text);
  fprintf(p->out, "at %s memory alone would allow ", print_bandwidth(findings_bandwidth(p->f)).text);
  fprintf(p->out, "%s, %s of the peak. ", plot_rate(served, true).text,
          print_percent(served / findings_peak(p->f)).text);
}

static void write_caption(const struct page *p) {
  const cugen_ceilings *c = &p->f->ceilings;
  bool flops = p->f->right[0]->flops > 0, measured = (flops && c->flops > 0) || c->bandwidth > 0;
  fputs("<figcaption>", p->out);
  page_put(p, page_predicted(p, "Predicted: no variant was timed. "));
  if (ranges_has_roof(p->f)) write_bound(p), write_served(p);
  if (findings_on_cpu(p->f))
    fputs("A processor ran these. Its ceilings are not a GPU\u2019s, so there is no roofline. ", p->out);
  else if (measured)
    fputs("Solid: what was measured on this device. Dashed: its peak at the highest clock. ", p->out);
  else if (c->bandwidth_peak > 0)
    fputs("Dashed: the peak at the highest clock; <code>cugen roofline</code> measures the device\u2019s own. ",
          p->out);
  fputs("Each dot is a variant, the large ones are the best of their implementations. ", p->out);
  if (!ranges_has_roof(p->f)) fputs("They are spread sideways to be told apart.", p->out);
  if (ranges_has_roof(p->f) && p->f->set_count > 1) fputs(" Rings: the best of other sizes.", p->out);
  fputs("</figcaption>\n", p->out);
}

static void write_roofline(const struct page *p) {
  if (!p->f->right_count || findings_rate(p->f->right[0]) <= 0) return;
  fprintf(p->out, "<section>\n<h2>%s%s</h2>\n<figure>\n<div class=\"wide\">",
          ranges_has_roof(p->f) ? "Roofline" : "Rates", page_predicted(p, ", predicted"));
  chart_svg(p->f, 860, 480, false, p->out);
  fputs("</div>\n<div class=\"narrow\">", p->out);
  chart_svg(p->f, 400, 420, false, p->out);
  fputs("</div>\n", p->out);
  write_caption(p);
  fputs("</figure>\n</section>\n", p->out);
}

/* ---- Implementations ---- */

static void write_gain(const struct page *p, const char *over, double factor) {
  fprintf(p->out, "<span>%.2f\u00d7 ", factor);
  page_put(p, over);
  fputs("</span>", p->out);
}

static void write_what(const struct page *p, size_t i, const struct implementation *before,
                       const struct implementation *first) {
  const struct implementation *implementation = &p->f->implementations[i];
  double rate = findings_rate(implementation->best);
  fprintf(p->out, "<span><strong>%s</strong></span>", print_seconds(implementation->best->seconds).text);
  if (rate > 0)
    fprintf(p->out, "<span>%s</span>",
            implementation->best->flops > 0 ? print_flops(rate).text : print_bandwidth(rate).text);
  if (quantity_requested(implementation->best) > 0)
    fprintf(p->out, "<span>requests %s FLOP/B</span>", print_number(quantity_requested(implementation->best)).text);
  if (implementation->best->roofline > 0)
    fprintf(p->out, "<span>%s of the roofline</span>", print_percent(implementation->best->roofline).text);
  if (before) write_gain(p, before->name, before->best->cost / implementation->best->cost);
  if (first && first != before) write_gain(p, first->name, first->best->cost / implementation->best->cost);
  fprintf(p->out, "<span class=\"note\">best of %s</span>", print_count(implementation->right).text);
}

static void write_implementation(const struct page *p, size_t i, const struct implementation *before,
                                 const struct implementation *first) {
  const struct implementation *implementation = &p->f->implementations[i];
  fputs("<li><b>", p->out);
  page_put(p, implementation->name);
  fputs("</b>", p->out);
  if (!implementation->best) {
    fprintf(p->out, "<span class=\"note\">%s</span></li>\n",
            implementation->failed        ? "all that were tried failed"
            : implementation->unpredicted ? "none has a prediction"
                                          : "not tried");
    return;
  }
  fprintf(p->out, "<span class=\"bar\"><i class=\"%s\" style=\"width:%.1f%%\"></i></span><span class=\"what\">",
          marks_class(i).text,
          fmin(100 * p->f->right[0]->cost / implementation->best->cost, 100)); /* within a tie it may be faster */
  write_what(p, i, before, first);
  fputs("</span><code>", p->out);
  page_put(p, implementation->best->variant);
  fputs("</code></li>\n", p->out);
}

/* Whatever the parameters, this problem on this device has none of it. */
static bool is_empty(const struct implementation *implementation) {
  return !implementation->best && !implementation->failed && !implementation->unpredicted && !implementation->valid;
}

static void write_empty(const struct page *p) {
  const char *before = "<p class=\"note\">Without a valid variant for this problem on this device: ";
  for (size_t i = 0; i < p->f->implementation_count; i++) {
    if (!is_empty(&p->f->implementations[i])) continue;
    fputs(before, p->out);
    page_put(p, p->f->implementations[i].name);
    before = ", ";
  }
  if (*before == ',') fputs(".</p>\n", p->out);
}

static void write_implementations(const struct page *p) {
  const struct implementation *before = NULL, *first = NULL;
  if (!p->f->right_count) return;
  fprintf(p->out,
          "<section>\n<h2>Implementations%s</h2>\n<p class=\"note\">The best of each implementation, in the "
          "config\u2019s order; "
          "longer is %s.</p>\n<ol class=\"implementations\">\n",
          page_predicted(p, ", predicted"), page_by_rate(p) ? "a higher rate" : "faster");
  for (size_t i = 0; i < p->f->implementation_count; i++) {
    if (is_empty(&p->f->implementations[i])) continue;
    write_implementation(p, i, before, first);
    if (!p->f->implementations[i].best) continue;
    before = &p->f->implementations[i];
    if (!first) first = before;
  }
  fputs("</ol>\n", p->out);
  write_empty(p);
  fputs("</section>\n", p->out);
}

/* ---- The machine ---- */

static void write_fact(const struct page *p, const char *name, const char *value) {
  if (!*value) return;
  fprintf(p->out, "<dt>%s</dt><dd>", name);
  page_put(p, value);
  fputs("</dd>\n", p->out);
}

static void write_ceiling(const struct page *p, const char *name, double measured, double peak,
                          struct shown (*print)(double)) {
  char text[160];
  const bool has = measured > 0, has_peak = peak > 0;
  if (!has && !has_peak) return;
  snprintf(text, sizeof text, "%s%s%s%s%s", has ? print(measured).text : "", has ? " measured" : "",
           has && has_peak ? ", " : "", has_peak ? print(peak).text : "", has_peak ? " peak" : "");
  write_fact(p, name, text);
}

static void write_clocks(const struct page *p) {
  const cugen_record *best = p->f->right_count ? p->f->right[0] : NULL;
  char text[160];
  snprintf(text, sizeof text, "%d MHz at most", p->f->device->clock_khz / 1000);
  if (p->f->device->clock_khz) write_fact(p, "SM clock", text);
  if (!best || !best->clock_mhz) return;
  int length = snprintf(text, sizeof text, "%d MHz", best->clock_mhz);
  if (best->power_watts) length += snprintf(text + length, sizeof text - (size_t)length, ", %d W", best->power_watts);
  snprintf(text + length, sizeof text - (size_t)length, "%s%s", *best->throttle ? ", held back by: " : "",
           best->throttle);
  write_fact(p, "With the best variant", text);
}

static void write_device(const struct page *p) {
  const cugen_device_info *d = p->f->device;
  char count[32] = "";
  if (d->sm_count && !findings_on_cpu(p->f)) snprintf(count, sizeof count, "%d", d->sm_count);
  write_fact(p, "Device", d->name);
  const char *way = cli_way(api_kernel_measure(p->f->kernel));
  if (way) write_fact(p, "Times measured", way);
  if (!findings_on_cpu(p->f)) write_fact(p, "Architecture", d->arch);
  write_fact(p, "Multiprocessors", count);
  if (findings_on_cpu(p->f)) return;
  write_fact(p, "Memory", d->memory_bytes ? print_bytes(d->memory_bytes).text : "");
  write_fact(p, "L2 cache", d->l2_bytes ? print_bytes(d->l2_bytes).text : "");
  write_fact(p, "Shared memory a block",
             d->shared_bytes_per_block ? print_bytes(d->shared_bytes_per_block).text : "");
}

static void write_machine(const struct page *p) {
  const struct findings *f = p->f;
  const cugen_ceilings *c = &f->ceilings;
  char name[48];
  fputs("<section>\n<h2>Machine</h2>\n<dl class=\"machine\">\n", p->out);
  write_device(p);
  write_clocks(p);
  write_ceiling(p, "Device memory, copied", c->bandwidth, c->bandwidth_peak, print_bandwidth);
  snprintf(name, sizeof name, "%s multiply-adds", c->dtype);
  write_ceiling(p, name, c->flops, c->flops_peak, print_flops);
  snprintf(name, sizeof name, "%s on tensor cores", c->dtype);
  write_ceiling(p, name, 0, c->tensor_flops_peak, print_flops);
  write_fact(p, "Driver", f->driver_version ? print_version(f->driver_version).text : "");
  if (!findings_on_cpu(f) && f->nvrtc_version) write_fact(p, "NVRTC", print_version(f->nvrtc_version).text);
  write_fact(p, f->predicted ? "Predicted" : "Measured", f->measured_at ? print_moment(f->measured_at).text : "");
  fputs("</dl>\n</section>\n", p->out);
}

/* Of predictions, what ran on the cpu device. */
static size_t count_refuted(const struct findings *f) {
  return f->failures[CUGEN_OUTCOME_WRONG].count + f->failures[CUGEN_OUTCOME_BOUNDS].count +
         f->failures[CUGEN_OUTCOME_TRAP].count;
}

static void write_proof_of_predictions(const struct page *p) {
  const size_t right = p->f->verified_count, wrong = count_refuted(p->f);
  fputs("Times are predicted by a model: ", p->out);
  if (!right && !wrong) {
    fputs("no variant ran here, none was measured or proved right.", p->out);
    return;
  }
  fputs("none was measured. On the cpu device, with the config\u2019s check problem, ", p->out);
  if (right) fprintf(p->out, "%s came out right", print_count(right).text);
  if (right && wrong) fputs(" and ", p->out);
  if (wrong) fprintf(p->out, "%s came out wrong", print_count(wrong).text);
  fputs("; no other variant ran.", p->out);
}

static const char *proof(const struct findings *f) {
  if (f->right_count && !f->right[0]->verified)
    return "Not verified (reference \"none\"): the variants ran, but their results were not checked; times are "
           "medians.";
  return "Every variant timed here was first proved right, by the config\u2019s reference or its verify kernel; "
         "times are medians.";
}

static void write_footer(const struct page *p) {
  fprintf(p->out, "Written by cugen %s from what it remembers. ", CUGEN_VERSION);
  if (p->f->predicted)
    write_proof_of_predictions(p);
  else
    fputs(proof(p->f), p->out);
  if (p->f->now)
    fputs(" Nothing was remembered: these few variants were predicted for this page, \u2018cugen tune\u2019 goes "
          "through all.",
          p->out);
  if (p->f->stale_count)
    fprintf(p->out, " %s records of earlier sources are left out.", print_count(p->f->stale_count).text);
}

/* ---- The page ---- */

static const struct {
  const char *mark;
  void (*write)(const struct page *page);
} marks[] = {
    {"version", write_version},
    {"title", write_title},
    {"colours", write_colours},
    {"chart", write_chart_style},
    {"kernel", write_kernel},
    {"where", write_where},
    {"problem", write_problem},
    {"figures", write_figures},
    {"roofline", write_roofline},
    {"implementations", write_implementations},
    {"convergence", report_convergence},
    {"effects", report_effects},
    {"table", report_variants},
    {"failures", report_failures},
    {"others", report_others},
    {"machine", write_machine},
    {"footer", write_footer},
};

static void write_mark(const struct page *p, const char *name, size_t length) {
  for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
    if (strlen(marks[i].mark) == length && memcmp(marks[i].mark, name, length) == 0) marks[i].write(p);
}

static void write_page(const void *context, FILE *out) {
  struct page page = *(const struct page *)context;
  page.out = out;
  for (const char *at = cli_page("report.html")->data, *mark; *at; at = mark + 2) {
    mark = strstr(at, "{{");
    if (!mark) mark = at + strlen(at);
    fwrite(at, 1, (size_t)(mark - at), out);
    if (!*mark) return;
    at = mark + 2;
    mark = strstr(at, "}}");
    write_mark(&page, at, (size_t)(mark - at));
  }
}

int command_report(struct cli *cli) {
  struct findings findings;
  struct page page = {.f = &findings, .top = 10};
  int status = options_count(cli, OPTION_TOP, 0, &page.top);
  if (!status && !cli->values[OPTION_OUTPUT] && isatty(STDOUT_FILENO))
    status = cli_fail(cli, CUGEN_ERROR_USAGE, "a page of HTML is not for a terminal: name a file, -o report.html");
  if (!status) status = findings_open(cli, &findings);
  if (status) return status;
  status = cli_write(cli, write_page, &page);
  if (!status && options_given(cli, OPTION_OUTPUT))
    cli_remark(cli, "%s: %s %s on %s, %s variant%s%s", cli->values[OPTION_OUTPUT], cugen_kernel_name(cli->kernel),
               cugen_kernel_problem(cli->kernel), findings.device->name,
               print_count(findings.right_count + findings.failed_count).text,
               findings.right_count + findings.failed_count == 1 ? "" : "s", page_predicted(&page, ", predicted"));
  findings_close(&findings);
  return status;
}
