/* What pictures share: escaped text, the ticks of axes, lines and words of SVG. */
#ifndef CLI_PLOT_H
#define CLI_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "print.h"

/* Text as HTML and SVG have it: no markup, no bytes that are not UTF-8. */
void plot_escape(const char *text, FILE *out);
void plot_escape_n(const char *text, size_t length, FILE *out);

/* "10 GFLOP/s", "1.6 TB/s"; "20 us": at most three digits. */
struct shown plot_rate(double rate, bool flops);
struct shown plot_seconds(double seconds);

/* Ticks of a logarithmic axis, as their logarithms: whole decades; fine: 2 and 5 between them. The first from edge on. */
double plot_first_tick(double edge, bool fine);
void plot_next_tick(double *log, bool fine);
/* Those of an axis from low to high (logarithms), round values where it is short: the one of that index, from 0 on; infinite:
   there are no more. */
double plot_tick(double low, double high, int index);
/* 1, 2 or 5 times a power of ten: the distance of the ticks of a linear axis from 0 to most, at most so many steps. */
double plot_step(double most, int steps);

/* The width of a character, about, in the font of 12 pixels. */
static const double plot_character_width = 7.2;

/* From one point to another, and text at one, in pixels. anchor: "start", "middle", "end". */
void plot_line(FILE *out, const char *class, double x0, double y0, double x1, double y1);
void plot_text(FILE *out, const char *class, const char *anchor, double x, double y, const char *text);

#endif
