/* The axes of pictures that are drawn with characters: their labels and ticks. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>

#include "print.h"

/* "10 GFLOP/s", "1.6 TB/s"; "20 us": at most three digits. */
struct shown plot_rate(double rate, bool flops);
struct shown plot_seconds(double seconds);

/* Ticks of a logarithmic axis, as their logarithms: whole decades; fine: 2 and 5 between them.
   The first from edge on. */
double plot_first_tick(double edge, bool fine);
void plot_next_tick(double *log, bool fine);
/* Those of an axis from low to high (logarithms), round values where it is short: the one of
   that index, from 0 on; infinite: there are no more. */
double plot_tick(double low, double high, int index);
#endif
