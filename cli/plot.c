/* The axes of pictures; see plot.h. */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct shown plot_rate(double rate, bool flops) {
  static const char *const prefixes[] = {"", "K", "M", "G", "T", "P"};
  int i = 0;
  for (; rate >= 999.5 && i < 5; i++) rate /= 1000;
  return print_format("%.3g %s%s/s", rate, prefixes[i], flops ? "FLOP" : "B");
}

struct shown plot_seconds(double seconds) {
  static const char *const units[] = {"s", "ms", "us", "ns"};
  int i = 0;
  for (; seconds < 0.9995 && i < 3; i++) seconds *= 1000;
  return print_format("%.40s %s", print_number(seconds).text, units[i]);
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

/* Returns the distance of the ticks on a linear axis from 0 to `most`: 1, 2 or 5 times a power of
   ten, so that there are at most `steps`. */
static double step_to(double most, int steps) {
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
  const double step = step_to(pow(10, high) - from, 5),
               log = log10((ceil(from / step) + index) * step);
  return log <= high ? log : (double)INFINITY;
}

char *plot_cells(int columns, int rows) {
  const size_t blank = (size_t)columns * (size_t)rows;
  char *cells = malloc(blank + (size_t)columns);
  if (!cells) return NULL;
  memset(cells, ' ', blank);
  memset(cells + blank, '-', (size_t)columns);
  return cells;
}

void plot_print(const char *cells, int columns, int rows,
                struct shown (*label)(const void *context, int row), const void *context,
                FILE *out) {
  for (int y = 0; y < rows; y++, cells += columns) {
    int length = columns;
    while (length && cells[length - 1] == ' ') length--;
    fprintf(out, "%*s |%.*s\n", PLOT_LABEL, label(context, y).text, length, cells);
  }
  fprintf(out, "%*s +%.*s\n", PLOT_LABEL, "", columns, cells);
}
