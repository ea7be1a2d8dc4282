/* The report's chart of convergence: the best so far over the time spent tuning, with every variant; see report.h.

   Values (times, or rates where the config ranks by them) are logarithmic, time spent is not. What lies beyond the upper edge
   is drawn on it: see trace_edges. */
#include <math.h>
#include <string.h>

#include "marks.h"
#include "plot.h"
#include "report.h"

struct picture {
  const struct findings *f;
  FILE *out;
  struct trace_edges edges;
  double left, top, right, bottom;
};

static double x_of(const struct picture *s, double spent) {
  return s->left + (s->edges.spent > 0 ? spent / s->edges.spent : 0) * (s->right - s->left);
}

static double y_of(const struct picture *s, double log) {
  double part = (log - s->edges.low) / (s->edges.high - s->edges.low);
  return s->bottom - fmin(fmax(part, 0), 1) * (s->bottom - s->top);
}

static double y_of_record(const struct picture *s, const cugen_record *record) {
  return y_of(s, log10(trace_value(s->f->kernel, record)));
}

/* ---- Axes ---- */

static void draw_values(const struct picture *s) {
  double log;
  for (int i = 0; isfinite(log = plot_tick(s->edges.low, s->edges.high, i)); i++) {
    plot_line(s->out, "grid", s->left, y_of(s, log), s->right, y_of(s, log));
    plot_text(s->out, "tick", "end", s->left - 8, y_of(s, log) + 4, trace_label(s->f->kernel, pow(10, log)).text);
  }
}

static void draw_spent(const struct picture *s) {
  double step = plot_step(s->edges.spent, s->right - s->left > 500 ? 10 : 4);
  plot_line(s->out, "axis", s->left, s->bottom, s->right, s->bottom);
  for (int i = 0; i * step <= s->edges.spent; i++) {
    const struct shown label = plot_seconds(i * step);
    const double x = x_of(s, i * step), half = (double)strlen(label.text) * plot_character_width / 2;
    plot_text(s->out, "tick", x + half > s->right ? "end" : "middle", x, s->bottom + 18, i ? label.text : "0");
  }
  plot_text(s->out, "tick", "end", s->right, s->bottom + 36, "time spent tuning");
}

static void draw_runs(const struct picture *s) {
  const struct trace *t = &s->f->trace;
  for (size_t i = 0; i + 1 < t->runs; i++)
    plot_line(s->out, "own", x_of(s, t->run_ends[i]), s->top, x_of(s, t->run_ends[i]), s->bottom);
}

/* ---- Records ---- */

static bool is_dot(const struct picture *s, const struct trace_point *point, size_t implementation) {
  const bool steps = point->changed && point->best == point->record; /* then draw_best draws it */
  return point->right && !steps && findings_implementation(s->f, point->record->variant) == implementation;
}

static void draw_implementation(const struct picture *s, size_t implementation) {
  fprintf(s->out, "<path class=\"dots %s\" d=\"", marks_class(implementation).text);
  for (size_t i = 0; i < s->f->trace.count; i++) {
    const struct trace_point *point = &s->f->trace.points[i];
    if (is_dot(s, point, implementation))
      fprintf(s->out, "M%.1f %.1fh0", x_of(s, point->spent), y_of_record(s, point->record));
  }
  fputs("\"/>\n", s->out);
}

static void draw_failures(const struct picture *s) {
  fputs("<path class=\"failed\" d=\"", s->out);
  for (size_t i = 0; i < s->f->trace.count; i++) {
    const struct trace_point *point = &s->f->trace.points[i];
    if (!point->right) fprintf(s->out, "M%.1f %.1fv-9", x_of(s, point->spent), s->bottom);
  }
  fputs("\"/>\n", s->out);
}

/* Level from each step to the next, and to the end. */
static void draw_steps(const struct picture *s) {
  bool begun = false;
  fputs("<path class=\"steps\" d=\"", s->out);
  for (size_t i = 0; i < s->f->trace.count; i++) {
    const struct trace_point *point = &s->f->trace.points[i];
    if (!point->changed || !point->best) continue;
    fprintf(s->out, begun ? "H%.1fV%.1f" : "M%.1f %.1f", x_of(s, point->spent), y_of_record(s, point->best));
    begun = true;
  }
  fprintf(s->out, "H%.1f\"/>\n", s->right);
}

static void draw_best(const struct picture *s) {
  for (size_t i = 0; i < s->f->trace.count; i++) {
    const struct trace_point *point = &s->f->trace.points[i];
    if (!point->changed || !point->best) continue;
    size_t implementation = findings_implementation(s->f, point->best->variant);
    marks_open(s->out, "best", implementation, x_of(s, point->spent), y_of_record(s, point->best), 5.5);
    fprintf(s->out, "<title>after %s: ", plot_seconds(point->spent).text);
    plot_escape(point->best->variant, s->out);
    fprintf(s->out, ": %s</title>", print_seconds(point->best->seconds).text);
    marks_close(s->out, implementation);
  }
}

static void draw(const struct page *p, const struct trace_edges *edges, int width, int height) {
  struct picture s = {.f = p->f, .out = p->out, .edges = *edges, .left = 92, .top = 12};
  s.right = width - 16, s.bottom = height - 66;
  int whole = height + (int)chart_legend_height(p->f, s.left, s.right);
  fprintf(p->out,
          "<svg viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"The best so far over the "
          "time spent tuning\">\n",
          width, whole, width, whole);
  draw_values(&s);
  draw_spent(&s);
  draw_runs(&s);
  for (size_t i = 0; i < p->f->implementation_count; i++) draw_implementation(&s, i);
  draw_failures(&s);
  draw_steps(&s);
  draw_best(&s);
  chart_legend(p->f, s.left, s.right, height - 8, p->out);
  fputs("</svg>\n", p->out);
}

/* ---- In words ---- */

/* From when on the best was within a hundredth of what it is at the end. */
static double when_near(const struct trace *t) {
  const cugen_record *last = t->points[t->count - 1].best;
  size_t i = t->count;
  while (i > 0 && t->points[i - 1].best && t->points[i - 1].best->cost <= 1.01 * last->cost) i--;
  return t->points[i].spent;
}

static void write_caption(const struct page *p, const struct trace_edges *edges) {
  const struct trace *t = &p->f->trace;
  fprintf(p->out, "<figcaption>The line is the best so far, each dot a variant%s. ",
          t->right < t->count ? ", each tick on the axis one without a time" : "");
  fprintf(p->out, "Within 1 %% of the best after %s ", plot_seconds(when_near(t)).text);
  fprintf(p->out, "of %s. ", plot_seconds(t->seconds).text);
  if (edges->beyond) fprintf(p->out, "The slowest lie on the %s edge. ", page_by_rate(p) ? "lower" : "upper");
  if (t->runs > 1)
    fprintf(p->out, "%s runs stand one after the other, pauses left out; dotted lines part them. ",
            print_count(t->runs).text);
  if (t->unknown)
    fprintf(p->out, "Of %s more records it is not known when they were made. ", print_count(t->unknown).text);
  fputs("</figcaption>\n", p->out);
}

/* Without a right record, or where nothing says when they were made, there is nothing to draw. */
void report_convergence(const struct page *p) {
  struct trace_edges edges;
  if (!p->f->trace.right || !p->f->trace.points[p->f->trace.count - 1].best) return;
  if (!trace_edges(p->f->kernel, &p->f->trace, &edges)) return;
  fprintf(p->out, "<section>\n<h2>Convergence%s</h2>\n<figure>\n<div class=\"wide\">",
          page_predicted(p, ", predicted"));
  draw(p, &edges, 860, 400);
  fputs("</div>\n<div class=\"narrow\">", p->out);
  draw(p, &edges, 400, 360);
  fputs("</div>\n", p->out);
  write_caption(p, &edges);
  fputs("</figure>\n</section>\n", p->out);
}
