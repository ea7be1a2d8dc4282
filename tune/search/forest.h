/* A regression forest over rows of numbers: see forest.c. */
#ifndef TUNE_SEARCH_FOREST_H
#define TUNE_SEARCH_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FOREST_MOST_TREES = 32, FOREST_MOST_COLUMNS = 128 };

struct forest;

/* Opens a forest; columns: at most FOREST_MOST_COLUMNS. Returns NULL if there is no memory. */
struct forest *forest_open(size_t columns, size_t trees, uint64_t seed);
void forest_close(struct forest *forest);
/* x holds all rows, with the columns of a row side by side; rows are referred to by their number.
   The functions return false if there is no memory. */

/* Grows the forest's next `trees` trees anew from the first `known` of the listed rows (at least
   one), whose values are y. The remaining rows, up to `count`, are inserted afterwards, so that
   their values do not influence the splits. */
bool forest_grow(struct forest *forest, const float *x, const double *y, const uint32_t *rows,
                 size_t known, size_t count, size_t trees);
/* Inserts a row into every tree; the value of the row may become known later. */
bool forest_insert(struct forest *forest, const float *x, size_t row);
/* For each of `count` trees, beginning with tree `from`, sets `nearest` to the row whose leaf the
   given row falls into. The prediction is the mean of those rows' values. Tree numbers wrap
   around. */
void forest_nearest(const struct forest *forest, const float *row, size_t from, size_t count,
                    uint32_t *nearest);

#endif
