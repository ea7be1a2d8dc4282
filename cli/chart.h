/* The roofline with what was measured on it: as SVG, and drawn with characters. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include "findings.h"
#include "print.h"

/* A picture of width by height, and higher by what rows the legend needs beyond the first; alone: a file of its own, with its own colours; else it takes those of the page. */
void chart_svg(const struct findings *findings, int width, int height, bool alone, FILE *out);
/* In columns x rows characters. */
int chart_text(const struct findings *findings, int columns, int rows, FILE *out);

/* The implementations' colours and names, in rows between left and right; the first row's base is at y. The height that the
   rows after the first take. */
void chart_legend(const struct findings *findings, double left, double right, double y, FILE *out);
double chart_legend_height(const struct findings *findings, double left, double right);

#endif
