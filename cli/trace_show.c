/* cugen show CONFIG --trace: draws the best so far over the time spent tuning, with characters, and
   prints a row for each change of the best. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "findings.h"
#include "plot.h"
#include "table.h"
#include "terminal.h"
#include "trace.h"

/* ---- The edges ------------------------------------------------------------------------------ */

/* The edges of the picture: seconds spent, from 0 on, and decimal logarithms of the values. The
   slowest tenth of the values, and values 100 times slower than the best, may lie beyond the edge
   and are drawn on the edge. */
struct edges {
  double spent, low, high;
  bool beyond; /* some values are beyond the edge */
};

static int by_number(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Returns the logarithm of the record's value, negated for a rate, so that less is better. */
static double height_of(const cugen_kernel *kernel, const cugen_record *record) {
  const double log = log10(trace_value(kernel, record));
  return cli_ranks_by_rate(kernel) ? -log : log;
}

/* Finds the edges of a trace that has right records: from the best value to the one that nine
   tenths of all do not exceed, or to the worst that once was the best, within `least` and `most`,
   and a margin. Returns false if there is no memory. */
static bool find_edges(const cugen_kernel *kernel, const struct trace *t, struct edges *out) {
  static const double least = 0.08, most = 2; /* in decades */
  double *heights = calloc(t->right + 1, sizeof *heights);
  size_t count = 0;
  if (!heights) return false;
  for (size_t i = 0; i < t->count; i++)
    if (t->points[i].right) heights[count++] = height_of(kernel, t->points[i].record);
  qsort(heights, count, sizeof *heights, by_number);
  double low = heights[0], high = heights[(count - 1) * 9 / 10];
  for (size_t i = 0; i < t->count; i++)
    if (t->points[i].changed && t->points[i].best)
      high = fmax(high, height_of(kernel, t->points[i].best));
  high = fmin(fmax(high, low + least), low + most);
  const bool beyond = heights[count - 1] > high;
  free(heights);
  const double margin = 0.07 * (high - low);
  low -= margin;
  high += margin;
  *out = cli_ranks_by_rate(kernel) ? (struct edges){t->seconds, -high, -low, beyond}
                                   : (struct edges){t->seconds, low, high, beyond};
  return true;
}

/* ---- The picture ---------------------------------------------------------------------------- */

enum { ROWS = 15 };

struct canvas {
  const cugen_kernel *kernel;
  const struct trace *trace;
  struct edges edges;
  char *cells; /* ROWS rows of `columns` characters, and the axis below them */
  int columns;
};

static int trace_show_row_of(const struct canvas *c, double log) {
  long row = lround((c->edges.high - log) / (c->edges.high - c->edges.low) * (ROWS - 1));
  return row < 0 ? 0 : row > ROWS - 1 ? ROWS - 1 : (int)row;
}

static int row_of_record(const struct canvas *c, const cugen_record *record) {
  return trace_show_row_of(c, log10(trace_value(c->kernel, record)));
}

static int trace_show_column_of(const struct canvas *c, double spent) {
  return c->edges.spent > 0 ? (int)lround(spent / c->edges.spent * (c->columns - 1)) : 0;
}

static char *cell(struct canvas *c, int column, int row) {
  return &c->cells[row * c->columns + column];
}

/* Draws a horizontal line to the next change of the best, then a vertical line to the new best. */
static void draw_steps(struct canvas *c) {
  const cugen_record *best = NULL;
  int from = 0;
  for (size_t i = 0; i <= c->trace->count; i++) {
    const struct trace_point *point = i < c->trace->count ? &c->trace->points[i] : NULL;
    if (point && !point->changed) continue;
    int to = point ? trace_show_column_of(c, point->spent) : c->columns - 1;
    for (int x = from; best && x <= to; x++) *cell(c, x, row_of_record(c, best)) = '-';
    int step =
        point && point->best && best ? row_of_record(c, point->best) - row_of_record(c, best) : 0;
    for (int y = 0; y != step; y += step > 0 ? 1 : -1)
      *cell(c, to, row_of_record(c, best) + y) = y ? '|' : '+';
    best = point ? point->best : best;
    from = to;
  }
}

static void draw_points(struct canvas *c) {
  for (size_t i = 0; i < c->trace->count; i++) {
    const struct trace_point *point = &c->trace->points[i];
    int column = trace_show_column_of(c, point->spent);
    if (!point->right)
      *cell(c, column, ROWS) = 'x';
    else if (*cell(c, column, row_of_record(c, point->record)) == ' ')
      *cell(c, column, row_of_record(c, point->record)) = '.';
  }
  for (size_t i = 0; i < c->trace->count; i++) {
    const struct trace_point *point = &c->trace->points[i];
    if (point->changed && point->best)
      *cell(c, trace_show_column_of(c, point->spent), row_of_record(c, point->best)) = 'o';
  }
}

static struct shown trace_label(const cugen_kernel *kernel, double value) {
  return cli_ranks_by_rate(kernel)
             ? plot_rate(value, api_kernel_objective(kernel) == OBJECTIVE_FLOPS)
             : plot_seconds(value);
}

/* Returns the label of the round value that falls on a row; "" if none does. */
static struct shown trace_show_row_tick(const void *canvas, int row) {
  const struct canvas *c = canvas;
  double log;
  for (int i = 0; isfinite(log = plot_tick(c->edges.low, c->edges.high, i)); i++)
    if (trace_show_row_of(c, log) == row) return trace_label(c->kernel, pow(10, log));
  return (struct shown){""};
}

static int trace_show_print_plot(struct cli *cli, const struct trace *trace) {
  struct canvas c = {.kernel = cli->kernel, .trace = trace};
  c.columns = terminal_picture_width(cli->width, PLOT_LABEL + 4);
  c.cells = plot_cells(c.columns, ROWS);
  if (!c.cells || !find_edges(cli->kernel, trace, &c.edges)) {
    free(c.cells);
    return cli_no_memory(cli);
  }
  draw_steps(&c);
  draw_points(&c);
  plot_print(c.cells, c.columns, ROWS, trace_show_row_tick, &c, stdout);
  printf("%*s  0 s%*s\n", PLOT_LABEL, "", c.columns - 3, plot_seconds(c.edges.spent).text);
  if (c.edges.beyond)
    printf("The slowest lie on the %s edge.\n", cli_ranks_by_rate(cli->kernel) ? "lower" : "upper");
  free(c.cells);
  return CUGEN_OK;
}

/* ---- The steps ------------------------------------------------------------------------------ */

static int print_steps(struct cli *cli, const struct trace *trace) {
  const bool rate = cli_ranks_by_rate(cli->kernel);
  bool energy = false;
  for (size_t i = 0; i < trace->count; i++)
    energy |=
        trace->points[i].changed && trace->points[i].best && trace->points[i].best->energy > 0;
  const struct table_column variant = {"variant", TABLE_WRAP, 0};
  const struct table_column columns[] = {{"spent", TABLE_RIGHT, 0},
                                         {rate ? "best rate" : "best time", TABLE_RIGHT, 0},
                                         {"gained", TABLE_RIGHT, 0},
                                         energy ? (struct table_column){"energy", TABLE_RIGHT, 0}
                                                : variant,
                                         variant};
  struct table table;
  const cugen_record *before = NULL;
  table_open(&table, cli, columns, energy ? 5 : 4);
  for (size_t i = 0; i < trace->count; i++) {
    const struct trace_point *point = &trace->points[i];
    struct shown gained = {""};
    if (!point->changed || !point->best) continue;
    /* The best was measured again and is slower, or a tie was decided in another way. */
    if (before && before->cost < point->best->cost)
      gained = print_format(strcmp(before->variant, point->best->variant) == 0 ? "again" : "tie");
    else if (before)
      gained = print_format("%.2fx", before->cost / point->best->cost);
    table_cellf(&table, "%.1f s", point->spent);
    table_cell(&table, rate ? trace_label(cli->kernel, trace_value(cli->kernel, point->best)).text
                            : print_seconds(point->best->seconds).text);
    table_cell(&table, gained.text);
    if (energy)
      table_cell(&table, point->best->energy > 0 ? print_joules(point->best->energy).text : "-");
    table_cell(&table, point->best->variant);
    before = point->best;
  }
  return table_close(&table, 0, stdout, &cli->error);
}

/* ---- The whole trace ------------------------------------------------------------------------ */

static int print_trace(struct cli *cli, const struct findings *f) {
  const struct trace *t = &f->trace;
  const bool quiet = options_given(cli, OPTION_QUIET);
  if (!quiet) findings_print_heading(cli, f);
  if (t->right) {
    int status = trace_show_print_plot(cli, t);
    if (status) return status;
    puts("o a new best, . another variant, x one without a time");
    putchar('\n');
    status = print_steps(cli, t);
    if (status || quiet) return status;
    putchar('\n');
  }
  fputs(print_many(t->count, "record").text, stdout);
  if (t->count > t->right) printf(" (%s without a time)", print_count(t->count - t->right).text);
  printf(" in %s of tuning", plot_seconds(t->seconds).text);
  if (t->runs > 1) printf(", in %s runs one after the other", print_count(t->runs).text);
  puts(".");
  if (t->unknown)
    printf(
        "Of %s more it is not known when they were made: an earlier version of cugen made them.\n",
        print_count(t->unknown).text);
  return CUGEN_OK;
}

static int trace_show_print_json(struct cli *cli, const struct findings *f) {
  return cli_print_json(cli,
                        JSON_ADD(json_kernel(cli),
                                 {"objective", json_string(api_kernel_objective_text(cli->kernel))},
                                 {"measure", json_optional_string(api_kernel_measure(cli->kernel))},
                                 {"trace", trace_json(&f->trace)}));
}

/* Fails because there is no run to draw: the predictions were made now, or no record has a time. */
static int trace_show_refuse(struct cli *cli, const struct findings *f) {
  struct cli meant = *cli;
  meant.values[OPTION_DEVICE] = cugen_kernel_device(cli->kernel)->id;
  if (f->now)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "nothing is remembered of %s for this problem; '%s' makes a trace",
                    cli->operand, hint(&meant, "tune").text);
  return cli_fail(cli, CUGEN_ERROR_USAGE,
                  "it is not known when the %zu records of %s were made: no tuning run of this "
                  "version made them; '%s --again' measures them again",
                  f->trace.unknown, cli->operand, hint(&meant, "tune").text);
}

int trace_show(struct cli *cli) {
  struct findings findings;
  if (!cli->operand || cli->values[OPTION_VARIANT])
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--trace needs a CONFIG: cugen show CONFIG --trace");
  int status = findings_open(cli, &findings);
  if (status) return status;
  if (!findings.trace.count)
    status = trace_show_refuse(cli, &findings);
  else
    status = options_given(cli, OPTION_JSON) ? trace_show_print_json(cli, &findings)
                                             : print_trace(cli, &findings);
  findings_close(&findings);
  return status;
}
