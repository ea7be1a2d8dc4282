/* The axes of pictures that are drawn with characters: their labels and ticks. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>

#include "print.h"

/* Returns "10 GFLOP/s" or "1.6 TB/s" (plot_rate), "20 us" (plot_seconds). */
struct shown plot_rate(double rate, bool flops);
struct shown plot_seconds(double seconds);

/* The ticks (logarithms) of a logarithmic axis are at whole decades, with `fine` also at 2 and 5
   times each decade. plot_first_tick returns the first tick that is not below `edge`. */
double plot_first_tick(double edge, bool fine);
void plot_next_tick(double *log, bool fine);
/* Returns the tick with this index (from 0) of an axis from `low` to `high`, all as logarithms;
   infinity if there are no more. On a short axis the ticks are round values in equal steps. */
double plot_tick(double low, double high, int index);

/* Returns `rows` rows of `columns` blank cells, and below them the axis, which is one more row. The
   caller frees the cells; NULL: out of memory. */
char *plot_cells(int columns, int rows);

enum { PLOT_LABEL = 13 }; /* columns of the labels */
/* Prints the cells, each row behind its label. context: passed to label. */
void plot_print(const char *cells, int columns, int rows,
                struct shown (*label)(const void *context, int row), const void *context,
                FILE *out);

#endif
