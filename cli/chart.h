/* The roofline with a kernel's variants, drawn with characters. */
#ifndef CLI_CHART_H
#define CLI_CHART_H

#include "findings.h"

/* Draws the picture, which is `columns` characters wide and `rows` high. */
int chart_text(const struct findings *findings, int columns, int rows, FILE *out);

#endif
