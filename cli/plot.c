/* What pictures share; see plot.h. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Text ---- */

static const char *entity(char c) {
  switch (c) {
  case '&': return "&amp;";
  case '<': return "&lt;";
  case '>': return "&gt;";
  case '"': return "&quot;";
  case '\'': return "&#39;";
  default: return c == '\n' || c == '\t' ? " " : NULL;
  }
}

void plot_escape_n(const char *text, size_t length, FILE *out) {
  char *clean = print_clean(text, length);
  for (const char *at = clean ? clean : "?"; *at; at++) {
    const char *name = entity(*at);
    if (name)
      fputs(name, out);
    else
      fputc(*at, out);
  }
  free(clean);
}

void plot_escape(const char *text, FILE *out) {
  plot_escape_n(text, strlen(text), out);
}

/* ---- Axes ---- */

struct shown plot_rate(double rate, bool flops) {
  static const char *const prefixes[] = {"", "K", "M", "G", "T", "P"};
  struct shown shown;
  int i = 0;
  for (; rate >= 999.5 && i < 5; i++) rate /= 1000;
  snprintf(shown.text, sizeof shown.text, "%.3g %s%s/s", rate, prefixes[i], flops ? "FLOP" : "B");
  return shown;
}

struct shown plot_seconds(double seconds) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  int i = 0;
  for (; seconds < 0.9995 && i < 3; i++) seconds *= 1000;
  struct shown shown = print_number(seconds);
  size_t length = strlen(shown.text);
  snprintf(shown.text + length, sizeof shown.text - length, " %s", units[i]);
  return shown;
}

void plot_next_tick(double *log, bool fine) {
  double decade = floor(*log + 1e-9), rest = pow(10, *log - decade);
  *log = decade + (!fine ? 1 : log10(rest < 1.5 ? 2 : rest < 3 ? 5 : 10));
}

double plot_first_tick(double edge, bool fine) {
  double log = floor(edge);
  while (log < edge) plot_next_tick(&log, fine);
  return log;
}

double plot_step(double most, int steps) {
  double log = most > 0 ? log10(most / steps) : 0;
  return pow(10, plot_first_tick(log, true));
}

double plot_tick(double low, double high, int index) {
  const double decades = high - low, from = pow(10, low);
  if (decades > 0.6) {
    double log = plot_first_tick(low, decades < 2.2);
    while (index-- > 0) plot_next_tick(&log, decades < 2.2);
    return log <= high ? log : (double)INFINITY;
  }
  const double step = plot_step(pow(10, high) - from, 5), log = log10((ceil(from / step) + index) * step);
  return log <= high ? log : (double)INFINITY;
}

/* ---- SVG ---- */

void plot_line(FILE *out, const char *class, double x0, double y0, double x1, double y1) {
  fprintf(out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>\n", class, x0, y0, x1, y1);
}

void plot_text(FILE *out, const char *class, const char *anchor, double x, double y, const char *text) {
  fprintf(out, "<text class=\"%s\" text-anchor=\"%s\" x=\"%.1f\" y=\"%.1f\">", class, anchor, x, y);
  plot_escape(text, out);
  fputs("</text>\n", out);
}
