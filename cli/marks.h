/* The marks of implementations in pictures: a colour, and beyond the colours another shape. */
#ifndef CLI_MARKS_H
#define CLI_MARKS_H

#include "print.h"

/* Its classes in the style sheet: "c3", "c0 square". After twenty implementations they begin anew. */
struct shown marks_class(size_t implementation);

/* An element of SVG around x, y that reaches r to each side; kind: its class besides, "best". What stands in it, a title, goes between
   the two. */
void marks_open(FILE *out, const char *kind, size_t implementation, double x, double y, double r);
void marks_close(FILE *out, size_t implementation);

#endif
