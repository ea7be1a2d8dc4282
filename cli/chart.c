/* Drawing the roofline (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009) with characters.

   The x axis is arithmetic intensity, FLOP per byte of global memory; the y axis is the rate,
   FLOP/s. Both are logarithmic. A kernel that moves a byte for every x FLOP attains at most
   min(peak, x * bandwidth): a slope up to the ridge, x = peak / bandwidth, and flat after it.
   Coordinates are kept as log10 (names log_x, log_y, struct ranges), so the slope is a straight
   line.

   A variant lies at the intensity of what it requests. Caches may serve requests, so a variant may
   lie above the slope. Without FLOP, bytes or a ceiling there is no slope (findings_has_roof), and
   each implementation has a lane. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "findings.h"
#include "plot.h"
#include "records.h"

/* ---- Positions ------------------------------------------------------------------------------ */

/* The logarithms at the edges of both axes. */
struct ranges {
  bool roof;
  double x0, x1, y0, y1;
};

static void include(double value, double *least, double *most) {
  if (!(value > 0)) return;
  if (*least <= 0 || value < *least) *least = value;
  if (value > *most) *most = value;
}

static double own_intensity(const struct findings *f) {
  return f->right[0]->flops / f->right[0]->bytes;
}

/* Returns log10 of a variant's intensity, by the bytes that it requests if they are known. */
static double log_intensity(const cugen_record *r) {
  return log10(r->flops / (r->requested > 0 ? r->requested : r->bytes));
}

static void find_x(const struct findings *f, struct ranges *out) {
  double least = 0, most = 0;
  if (!out->roof) return;
  for (size_t i = 0; i < f->right_count; i++)
    include(pow(10, log_intensity(f->right[i])), &least, &most);
  include(own_intensity(f), &least, &most);
  include(records_peak(&f->ceilings) / records_bandwidth(&f->ceilings), &least, &most);
  for (size_t i = 0; i < f->set_count; i++)
    if (findings_takes_other(f, &f->sets[i]))
      include(f->sets[i].flops / f->sets[i].bytes, &least, &most);
  out->x0 = log10(least / 6);
  out->x1 = log10(most * 4);
}

static struct ranges find_ranges(const struct findings *f) {
  struct ranges r = {.roof = findings_has_roof(f)};
  double least = 0, most = 0;
  for (size_t i = 0; i < f->right_count; i++) include(findings_rate(f->right[i]), &least, &most);
  if (f->right_count) {
    const bool flops = f->right[0]->flops > 0;
    include(flops ? records_peak(&f->ceilings) : records_bandwidth(&f->ceilings), &least, &most);
    include(flops ? f->ceilings.flops_peak : f->ceilings.bandwidth_peak, &least, &most);
  }
  for (size_t i = 0; r.roof && i < f->set_count; i++)
    if (findings_takes_other(f, &f->sets[i]))
      include(f->sets[i].flops / f->sets[i].seconds, &least, &most);
  if (least <= 0) least = most = 1;
  find_x(f, &r);
  r.y0 = log10(least) - 0.15;
  r.y1 = log10(most) + 0.2;
  if (r.y1 - r.y0 < 0.6) r.y0 = r.y1 - 0.6;
  return r;
}

/* Returns the logarithm of the rate that the roof allows at log_x. */
static double attainable(const struct ranges *r, double log_x, double peak, double bandwidth) {
  double slope = log_x + log10(bandwidth);
  return r->roof && slope < log10(peak) ? slope : log10(peak);
}

/* ---- Drawing -------------------------------------------------------------------------------- */

/* The marks of the implementations, in the config's order; those beyond the last mark share '+'.
   'o' marks an implementation's best variant, and is therefore not among them. */
static const char marks[] = "123456789abcdefghijklmnpqrstuvwxyz";

static char mark_of(size_t implementation) {
  return implementation < sizeof marks - 1 ? marks[implementation] : '+';
}

struct canvas {
  const struct findings *f;
  struct ranges range;
  char *cells; /* rows of columns, and the axis below them */
  int columns, rows;
};

static void chart_put(struct canvas *c, double column, double row, char mark) {
  int x = (int)lround(column), y = (int)lround(row);
  if (x >= 0 && x < c->columns && y >= 0 && y < c->rows) c->cells[y * c->columns + x] = mark;
}

static double chart_row_of(const struct canvas *c, double log_y) {
  return (c->range.y1 - log_y) / (c->range.y1 - c->range.y0) * (c->rows - 1);
}

static void put_roof(struct canvas *c, double peak, double bandwidth) {
  if (!(peak > 0)) return;
  for (int x = 0; x < c->columns; x++) {
    double log_x = c->range.x0 + (c->range.x1 - c->range.x0) * x / (c->columns - 1);
    double y = attainable(&c->range, log_x, peak, bandwidth > 0 ? bandwidth : 1);
    chart_put(c, x, chart_row_of(c, y), y < log10(peak) - 1e-9 ? '/' : '-');
  }
}

static double chart_column_at(const struct canvas *c, double log_x) {
  return (log_x - c->range.x0) / (c->range.x1 - c->range.x0) * (c->columns - 1);
}

/* Returns the column of a record: in a roofline that of its intensity, otherwise the middle of its
   implementation's lane. */
static double chart_column_of(const struct canvas *c, const cugen_record *record) {
  if (c->range.roof) return chart_column_at(c, log_intensity(record));
  const size_t own = findings_implementation(c->f, record->variant);
  double lane = 0, lanes = 0; /* implementations with right variants have a lane each */
  for (size_t i = 0; i < c->f->implementation_count; i++) {
    if (!c->f->implementations[i].best) continue;
    if (i < own) lane++;
    lanes++;
  }
  return (lane + 0.5) / lanes * c->columns;
}

/* In a roofline, draws a vertical line at the problem's own intensity, if some requests are
   known. */
static void chart_put_own(struct canvas *c) {
  bool known = false;
  for (size_t i = 0; i < c->f->right_count; i++) known = known || c->f->right[i]->requested > 0;
  for (int y = 0; y < c->rows && c->range.roof && known; y++)
    chart_put(c, chart_column_at(c, log10(own_intensity(c->f))), y, ':');
}

static bool is_free(const struct canvas *c, int x, int y) {
  if (x < 0 || x >= c->columns || y < 0 || y >= c->rows) return false;
  const char cell = c->cells[y * c->columns + x];
  return cell != 'o' && cell != '+' && !(cell && strchr(marks, cell));
}

/* Puts the mark on the first free place around the point (x, y), or else further to the right. Free
   places hold no mark and no 'o'. */
static void put_beside(struct canvas *c, int x, int y, char mark) {
  static const int places[][2] = {{2, 0}, {-2, 0},  {0, -1}, {0, 1}, {1, -1},
                                  {1, 1}, {-1, -1}, {-1, 1}, {1, 0}, {-1, 0}};
  for (size_t i = 0; i < sizeof places / sizeof *places; i++)
    if (is_free(c, x + places[i][0], y + places[i][1])) {
      chart_put(c, x + places[i][0], y + places[i][1], mark);
      return;
    }
  for (x += 3; x < c->columns && !is_free(c, x, y);) x++;
  chart_put(c, x, y, mark);
}

/* Draws a dot for each variant; in a roofline an 'o' over the dot of each implementation's best
   variant; and the implementations' marks: in a roofline beside their best variants, otherwise in
   their lanes. */
static void put_points(struct canvas *c) {
  for (size_t i = c->f->right_count; i-- > 0;)
    chart_put(c, chart_column_of(c, c->f->right[i]),
              chart_row_of(c, log10(findings_rate(c->f->right[i]))), '.');
  for (size_t i = 0; i < c->f->implementation_count && c->range.roof; i++) {
    const cugen_record *best = c->f->implementations[i].best;
    if (best)
      chart_put(c, chart_column_of(c, best), chart_row_of(c, log10(findings_rate(best))), 'o');
  }
  for (size_t i = 0; i < c->f->implementation_count; i++) {
    const cugen_record *best = c->f->implementations[i].best;
    if (!best) continue;
    const double column = chart_column_of(c, best),
                 row = chart_row_of(c, log10(findings_rate(best)));
    if (c->range.roof)
      put_beside(c, (int)lround(column), (int)lround(row), mark_of(i));
    else
      chart_put(c, column, row, mark_of(i));
  }
}

/* Returns a round rate that lies in the row; "" if there is none. */
static struct shown chart_row_tick(const void *canvas, int row) {
  const struct canvas *c = canvas;
  const bool flops = c->f->right[0]->flops > 0;
  bool fine = c->range.y1 - c->range.y0 < 2.2;
  for (double log = plot_first_tick(c->range.y0, fine); log <= c->range.y1;
       plot_next_tick(&log, fine))
    if ((int)lround(chart_row_of(c, log)) == row) return plot_rate(pow(10, log), flops);
  return (struct shown){""};
}

static void print_keys(const struct canvas *c, FILE *out) {
  const struct findings *f = c->f;
  if (c->range.roof)
    fprintf(out, "%13s  %s FLOP/B%*s FLOP/B\n", "", print_number(pow(10, c->range.x0)).text,
            c->columns - 22, print_number(pow(10, c->range.x1)).text);
  for (size_t i = 0; i < f->implementation_count; i++) {
    const cugen_record *best = f->implementations[i].best;
    if (!best) continue;
    fprintf(out, "  %c %s: %s%s", mark_of(i), f->implementations[i].name,
            print_seconds(best->seconds).text, f->predicted ? " predicted" : "");
    if (best->roofline > 0)
      fprintf(out, ", %s of the roofline", print_percent(best->roofline).text);
    fprintf(out, ", of %s\n", print_count(f->implementations[i].right).text);
  }
}

int chart_text(const struct findings *f, int columns, int rows, FILE *out) {
  struct canvas c = {.f = f, .columns = columns, .rows = rows};
  if (!f->right_count) return CUGEN_OK;
  c.cells = plot_cells(columns, rows);
  if (!c.cells) return CUGEN_ERROR_MEMORY;
  c.range = find_ranges(f);
  bool flops = f->right[0]->flops > 0;
  chart_put_own(&c);
  if (flops) put_roof(&c, records_multiply_adds(&f->ceilings), records_bandwidth(&f->ceilings));
  put_roof(&c, flops ? records_peak(&f->ceilings) : records_bandwidth(&f->ceilings),
           records_bandwidth(&f->ceilings));
  put_points(&c);
  plot_print(c.cells, columns, rows, chart_row_tick, &c, out);
  print_keys(&c, out);
  free(c.cells);
  return CUGEN_OK;
}
