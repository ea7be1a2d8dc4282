/* Drawing the roofline (Williams, Waterman, Patterson: Roofline, CACM 52(4), 2009) as SVG; chart_text.c does so with characters.

   The x axis is arithmetic intensity, FLOP per byte of global memory; the y axis is the rate, FLOP/s. Both are logarithmic. A
   kernel that moves a byte for every x FLOP attains at most

       min(peak, x * bandwidth)

   which is a slope up to the ridge, x = peak / bandwidth, and flat after it. Coordinates are kept as log10 (names log_x, log_y,
   struct ranges), so the slope is a straight line: log_y = log_x + log10(bandwidth).

   1. ranges_find chooses the edges: all rates, the ceilings, the ridge, and other problems' best, with a margin.
   2. Roofs first: the device's peak, the measured one over it, the tensor cores' above both. Then dots, the best of each
      implementation, names, legend.
   3. svg_x and svg_y are the only places where logarithms become pixels; in chart_text.c column_at and row_of.

   A variant lies at the intensity of what it requests, which caches may serve: so it may lie above the slope. An upright line is the
   problem's own intensity, each byte moved once; there lie variants of which it is not known what they request. Colours tell
   implementations apart in SVG, numbers beside their best between characters. Without FLOP, bytes or a ceiling there is no roof (ranges_has_roof): then only rates
   are drawn, a lane for each implementation, and the x axis has no meaning. */
#include "chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "labels.h"
#include "marks.h"
#include "plot.h"
#include "ranges.h"
#include "records.h"

/* ---- SVG ---- */

struct svg {
  FILE *out;
  const struct findings *f;
  struct ranges range;
  double left, top, right, bottom; /* the plot's edges */
  struct labels labels;
};

static double svg_x(const struct svg *s, double log_x) {
  return s->left + (log_x - s->range.x0) / (s->range.x1 - s->range.x0) * (s->right - s->left);
}

static double svg_y(const struct svg *s, double log_y) {
  return s->bottom - (log_y - s->range.y0) / (s->range.y1 - s->range.y0) * (s->bottom - s->top);
}

static void draw_y_axis(const struct svg *s) {
  bool flops = s->f->right[0]->flops > 0, fine = s->range.y1 - s->range.y0 < 2.2;
  for (double log = plot_first_tick(s->range.y0, fine); log <= s->range.y1; plot_next_tick(&log, fine)) {
    plot_line(s->out, "grid", s->left, svg_y(s, log), s->right, svg_y(s, log));
    plot_text(s->out, "tick", "end", s->left - 8, svg_y(s, log) + 4, plot_rate(pow(10, log), flops).text);
  }
}

static void draw_x_axis(const struct svg *s) {
  bool fine = s->range.x1 - s->range.x0 < 2.2;
  for (double log = plot_first_tick(s->range.x0, fine); log <= s->range.x1; plot_next_tick(&log, fine)) {
    plot_line(s->out, "grid", svg_x(s, log), s->top, svg_x(s, log), s->bottom);
    plot_text(s->out, "tick", "middle", svg_x(s, log), s->bottom + 18, print_number(pow(10, log)).text);
  }
  plot_text(s->out, "tick", "end", s->right, s->bottom + 36, "FLOP per byte that is requested of global memory");
}

/* The slope, then the ceiling; flat without a roof. */
static void draw_roof(const struct svg *s, const char *class, double peak, double bandwidth) {
  const struct ranges *r = &s->range;
  if (!(peak > 0) || (r->roof && !(bandwidth > 0))) return;
  double ridge = r->roof ? fmax(log10(peak / bandwidth), r->x0) : r->x0,
         start = ranges_attainable(r, r->x0, peak, bandwidth);
  double begin = r->roof ? r->x0 : 0, end = r->roof ? r->x1 : 1;
  if (!r->roof) {
    plot_line(s->out, class, s->left, svg_y(s, log10(peak)), s->right, svg_y(s, log10(peak)));
    return;
  }
  if (start < r->y0) start = r->y0, begin = r->y0 - log10(bandwidth);
  fprintf(s->out, "<path class=\"%s\" d=\"M%.1f %.1f", class, svg_x(s, begin), svg_y(s, start));
  fprintf(s->out, "L%.1f %.1f", svg_x(s, ridge), svg_y(s, log10(peak)));
  fprintf(s->out, "L%.1f %.1f\"/>\n", svg_x(s, end), svg_y(s, log10(peak)));
}

/* Text along a line that rises by `angle` (in pixels, downwards is positive), around a point of it, `below` pixels beside. */
struct along {
  double x, y, angle, below, width;
};

/* What it would cover, in pieces: boxes are upright. */
static double cost_along(const struct svg *s, const struct along *text, struct box *pieces, size_t count) {
  double cost = 0;
  for (size_t i = 0; i < count; i++) {
    const double at = text->width * ((double)i / (double)(count - 1) - 0.5);
    const double x = text->x + at * cos(text->angle) - (text->below - 4) * sin(text->angle),
                 y = text->y + at * sin(text->angle) + (text->below - 4) * cos(text->angle);
    pieces[i] = (struct box){x - 6, y - 6, x + 6, y + 6};
    cost += labels_cost(&s->labels, &pieces[i]);
  }
  return cost;
}

/* Along the slope, below it, or above where dots lie below. */
static void label_slope(struct svg *s, double peak, double bandwidth) {
  enum { PIECES = 8 };
  static const double parts[] = {0.5, 0.35, 0.65, 0.8, 0.2}, sides[] = {18, -8};
  const struct ranges *r = &s->range;
  const struct shown label = print_bandwidth(bandwidth);
  const double begin = fmax(r->y0 - log10(bandwidth), r->x0), end = log10(peak / bandwidth), up = log10(bandwidth);
  struct along best = {0};
  struct box pieces[PIECES];
  double least = INFINITY;
  for (size_t i = 0; i < 10; i++) {
    const double at = begin + (end - begin) * parts[i % 5];
    const struct along text = {svg_x(s, at), svg_y(s, at + up),
                               atan2(svg_y(s, at + 1 + up) - svg_y(s, at + up), svg_x(s, at + 1) - svg_x(s, at)),
                               sides[i / 5], plot_character_width * (double)strlen(label.text)};
    const double cost = cost_along(s, &text, pieces, PIECES);
    if (cost < least) least = cost, best = text;
  }
  cost_along(s, &best, pieces, PIECES);
  for (size_t i = 0; i < PIECES; i++) labels_take(&s->labels, &pieces[i]);
  fprintf(s->out,
          "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(%.1f %.1f) rotate(%.1f)\" "
          "dy=\"%.0f\">%s</text>\n",
          best.x, best.y, best.angle * 180 / acos(-1), best.below, label.text);
}

/* Beside a ceiling, at its right end: below it, or where dots lie there above, or further to the left. */
static void label_ceiling(struct svg *s, double peak, const char *what) {
  bool flops = s->f->right[0]->flops > 0;
  char label[96];
  snprintf(label, sizeof label, "%s%s%s%s", flops ? print_flops(peak).text : print_bandwidth(peak).text,
           flops ? " " : "", flops ? s->f->ceilings.dtype : "", what);
  const double width = plot_character_width * (double)strlen(label), y = svg_y(s, log10(peak));
  struct box best = {0, 0, 0, 0};
  double least = INFINITY;
  for (int i = 0; i < 8; i++) {
    const int steps = i / 2; /* to the left */
    const double right = s->right - 4 - (s->right - s->left - width) * steps / 4, middle = i % 2 ? y - 11 : y + 13;
    const struct box box = {right - width, middle - 7, right, middle + 7};
    const double cost = labels_cost(&s->labels, &box);
    if (cost < least) least = cost, best = box;
  }
  labels_take(&s->labels, &best);
  plot_text(s->out, "label", "end", best.x1, best.y1 - 3, label);
}

/* The ceiling of the tensor cores, above that of multiply-adds: both bound the same problem, on different units. */
static bool draw_tensor(struct svg *s, double multiply_adds) {
  double peak = findings_peak(s->f);
  if (!(s->f->right[0]->flops > 0) || !(peak > multiply_adds)) return false;
  draw_roof(s, "peak", peak, findings_bandwidth(s->f));
  label_ceiling(s, peak, ", tensor cores");
  return true;
}

static void draw_roofs(struct svg *s) {
  const cugen_ceilings *c = &s->f->ceilings;
  bool flops = s->f->right[0]->flops > 0;
  double bandwidth = findings_bandwidth(s->f), peak = flops ? records_multiply_adds(c) : bandwidth;
  double device_peak = flops ? c->flops_peak : c->bandwidth_peak;
  bool measured = flops ? c->flops > 0 : c->bandwidth > 0;
  draw_roof(s, "peak", device_peak, c->bandwidth_peak);
  if (!(peak > 0)) return;
  if (measured || (s->range.roof && c->bandwidth > 0)) draw_roof(s, "roof", peak, bandwidth);
  if (s->range.roof) label_slope(s, fmax(peak, flops ? findings_peak(s->f) : 0), bandwidth);
  label_ceiling(s, peak, draw_tensor(s, peak) ? ", without" : "");
}

/* How far a variant's dot reaches, and that of an implementation's best. */
static const double DOT = 3.5, BEST = 6;

/* The middle of an implementation's lane, and how far it reaches to each side. */
static double lane(const struct svg *s, size_t implementation, double *half) {
  double count, at = ranges_place_of(s->f, implementation, &count);
  *half = fmin(60, (s->right - s->left) / count / 2 * 0.7);
  return s->left + (s->right - s->left) * (at + 0.5) / count;
}

/* Where the best of an implementation lies. */
static double best_x(const struct svg *s, size_t implementation) {
  double half;
  return s->range.roof ? svg_x(s, ranges_log_intensity(s->f->implementations[implementation].best))
                       : lane(s, implementation, &half);
}

/* Spread evenly, and the same each time: multiples of the golden ratio, without their whole part. */
static double spread(size_t i) {
  double turns = (double)i * 0.6180339887498949;
  return 2 * (turns - floor(turns)) - 1;
}

/* At its intensity, or spread in its lane. */
static double dot_x(const struct svg *s, size_t i, double middle, double half) {
  return s->range.roof ? svg_x(s, ranges_log_intensity(s->f->right[i])) : middle + half * spread(i);
}

static double dot_y(const struct svg *s, const cugen_record *record) {
  return svg_y(s, log10(findings_rate(record)));
}

static void draw_dots(const struct svg *s, size_t implementation) {
  double half, middle = lane(s, implementation, &half);
  const cugen_record *best = s->f->implementations[implementation].best;
  if (!best) return;
  fprintf(s->out, "<path class=\"dots %s\" d=\"", marks_class(implementation).text);
  for (size_t i = 0; i < s->f->right_count; i++)
    if (s->f->right[i] != best && findings_implementation(s->f, s->f->right[i]->variant) == implementation)
      fprintf(s->out, "M%.1f %.1fh0", dot_x(s, i, middle, half), dot_y(s, s->f->right[i]));
  fputs("\"/>\n", s->out);
}

static void draw_best(const struct svg *s, size_t implementation) {
  const cugen_record *best = s->f->implementations[implementation].best;
  if (!best) return;
  marks_open(s->out, "best", implementation, best_x(s, implementation), dot_y(s, best), BEST);
  fputs("<title>", s->out);
  plot_escape(best->variant, s->out);
  fprintf(s->out, ": %s</title>", print_seconds(best->seconds).text);
  marks_close(s->out, implementation);
}

/* All dots, before anything is labelled. */
static void note_dots(struct svg *s) {
  for (size_t i = 0; i < s->f->right_count; i++) {
    double half, middle = lane(s, findings_implementation(s->f, s->f->right[i]->variant), &half);
    labels_add_dot(&s->labels, dot_x(s, i, middle, half), dot_y(s, s->f->right[i]), DOT);
  }
  for (size_t i = 0; i < s->f->implementation_count; i++) {
    const cugen_record *best = s->f->implementations[i].best;
    if (best) labels_add_dot(&s->labels, best_x(s, i), dot_y(s, best), BEST);
  }
}

/* From the dot's edge to the nearest point of the label. */
static void draw_lead(const struct svg *s, double x, double y, const struct box *to) {
  const double to_x = fmin(fmax(x, to->x0), to->x1), to_y = fmin(fmax(y, to->y0), to->y1),
               length = hypot(to_x - x, to_y - y), part = BEST / length;
  if (length > BEST) plot_line(s->out, "lead", x + (to_x - x) * part, y + (to_y - y) * part, to_x, to_y);
}

/* Under a roof the best may hide each other, so their names stand beside. In a narrow picture there is no room for them; the legend
   has all. */
enum { ROOM_FOR_NAMES = 600 };
static void draw_names(struct svg *s) {
  for (size_t i = 0; s->range.roof && i < s->f->implementation_count; i++) {
    const cugen_record *best = s->f->implementations[i].best;
    const char *name = s->f->implementations[i].name;
    if (!best) continue;
    const double x = best_x(s, i), y = dot_y(s, best);
    const struct labels_place place = labels_beside(&s->labels, x, y, plot_character_width * (double)strlen(name));
    if (place.far) draw_lead(s, x, y, &place.box);
    plot_text(s->out, "legend", place.anchor, place.x, place.y, name);
  }
}

/* Upright: the problem's own intensity. */
static void draw_own(const struct svg *s) {
  double x = ranges_has_own(s->f) && s->range.roof ? svg_x(s, log10(ranges_own_intensity(s->f))) : 0;
  if (x > 0) plot_line(s->out, "own", x, s->top, x, s->bottom);
}

static void draw_others(const struct svg *s) {
  for (size_t i = 0; s->range.roof && i < s->f->set_count; i++) {
    const cugen_cache_set *set = &s->f->sets[i];
    if (!ranges_takes_other(s->f, set)) continue;
    fprintf(s->out, "<circle class=\"other\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"><title>",
            svg_x(s, log10(set->flops / set->bytes)), svg_y(s, log10(set->flops / set->seconds)));
    plot_escape(set->problem, s->out);
    fprintf(s->out, ": %s</title></circle>\n", print_seconds(set->seconds).text);
  }
}

enum { MARGIN = 16, TITLE_ROW = 16 };

/* The end of a row that begins at text: of the last word that has room, or of the first, which has none. */
static const char *row_end(const struct svg *s, const char *text) {
  const size_t room = (size_t)((s->right - MARGIN) / plot_character_width);
  const char *end = text + strcspn(text, " ");
  while (*end) {
    size_t word = strcspn(end + 1, " ");
    if ((size_t)(end - text) + 1 + word > room) break;
    end += 1 + word;
  }
  return end;
}

/* Draws the text in as many rows as it needs, where y is not 0; gives the height that the rows after the first take. */
static double draw_rows(const struct svg *s, double y, const char *text) {
  double below = -TITLE_ROW;
  do {
    const char *end = row_end(s, text);
    below += TITLE_ROW;
    if (y > 0) {
      fprintf(s->out, "<text class=\"legend\" text-anchor=\"start\" x=\"%d\" y=\"%.1f\">", MARGIN, y + below);
      plot_escape_n(text, (size_t)(end - text), s->out);
      fputs("</text>\n", s->out);
    }
    text = end + (*end == ' ');
  } while (*text);
  return below;
}

/* A file of its own says what it shows. */
static void draw_title(const struct svg *s) {
  static const char *const sheets[] = {"colours.css", "chart.css"};
  fputs("<style>svg{font:12px system-ui,sans-serif}\n", s->out);
  for (size_t i = 0; i < 2; i++) fwrite(cli_page(sheets[i])->data, 1, cli_page(sheets[i])->length, s->out);
  fputs("</style>\n", s->out);
  fputs("<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n", s->out);
  char title[256];
  snprintf(title, sizeof title, "%s on %s%s", cugen_kernel_name(s->f->kernel), s->f->device->name,
           s->f->predicted ? ": predicted, not measured" : "");
  plot_text(s->out, "title", "start", MARGIN, 24, title);
  draw_rows(s, 42, cugen_kernel_problem(s->f->kernel));
}

/* ---- The legend ---- */

enum { LEGEND_ROW = 20 };

/* Where the next name stands; between the edges. */
struct legend {
  double left, right, x, y, width;
};

/* Where the name before it ended, or in the next row. */
static bool place_key(const struct findings *f, size_t implementation, struct legend *legend) {
  if (!f->implementations[implementation].best) return false;
  legend->x += legend->width;
  legend->width = 30 + plot_character_width * (double)strlen(f->implementations[implementation].name);
  if (legend->x > legend->left && legend->x + legend->width > legend->right)
    legend->x = legend->left, legend->y += LEGEND_ROW;
  return true;
}

double chart_legend_height(const struct findings *f, double left, double right) {
  struct legend legend = {.left = left, .right = right, .x = left};
  for (size_t i = 0; i < f->implementation_count; i++) place_key(f, i, &legend);
  return legend.y;
}

void chart_legend(const struct findings *f, double left, double right, double y, FILE *out) {
  struct legend legend = {.left = left, .right = right, .x = left, .y = y};
  for (size_t i = 0; i < f->implementation_count; i++) {
    if (!place_key(f, i, &legend)) continue;
    marks_open(out, "key", i, legend.x + 5, legend.y - 4, 5);
    marks_close(out, i);
    plot_text(out, "legend", "start", legend.x + 15, legend.y, f->implementations[i].name);
  }
}

void chart_svg(const struct findings *f, int width, int height, bool alone, FILE *out) {
  struct svg s = {.out = out, .f = f, .left = 92, .top = alone ? 58 : 10, .right = width - 12};
  double rows = alone ? draw_rows(&s, 0, cugen_kernel_problem(f->kernel)) : 0;
  s.top += rows;
  height += (int)rows;
  s.bottom = height - 66;
  int whole = height + (int)chart_legend_height(f, s.left, s.right);
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\" height=\"%d\" role=\"img\" "
          "aria-label=\"%s of every %s variant\">\n",
          width, whole, width, whole, ranges_has_roof(f) ? "Roofline" : "Rates",
          f->predicted ? "predicted" : "measured");
  if (alone) draw_title(&s);
  if (f->right_count) {
    s.range = ranges_find(f);
    draw_y_axis(&s);
    if (s.range.roof) draw_x_axis(&s);
    s.labels.edges = (struct box){s.left, s.top - 8, s.right, s.bottom};
    note_dots(&s);
    draw_roofs(&s);
    draw_own(&s);
    draw_others(&s);
    for (size_t i = 0; i < f->implementation_count; i++) draw_dots(&s, i);
    for (size_t i = 0; i < f->implementation_count; i++) draw_best(&s, i);
    if (width >= ROOM_FOR_NAMES) draw_names(&s);
    chart_legend(f, s.left, s.right, height - 8, out);
  }
  labels_close(&s.labels);
  fputs("</svg>\n", out);
}
