/* A regression forest over rows of numbers: see forest.c. */
#ifndef TUNE_SEARCH_FOREST_H
#define TUNE_SEARCH_FOREST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FOREST_MOST_TREES = 32, FOREST_MOST_COLUMNS = 128 };

struct forest;

/* NULL: no memory. columns: at most FOREST_MOST_COLUMNS. */
struct forest *forest_open(size_t columns, size_t trees, uint64_t seed);
void forest_close(struct forest *forest);
/* x: all rows, the columns of one side by side. Rows are known by their number from then on. False: no memory. */

/* Grows the next `trees` of its trees anew, from the first `known` of the rows that are listed (one at least), whose values are y.
   The others, up to `count`, are inserted then: their values decide nothing. */
bool forest_grow(struct forest *forest, const float *x, const double *y, const uint32_t *rows, size_t known,
                 size_t count, size_t trees);
/* Adds a row to every tree, whatever its value will be. */
bool forest_insert(struct forest *forest, const float *x, size_t row);
/* For each of `count` trees from the one numbered `from` on, the row beside which it puts this one; their prediction is the mean
   of the rows' values. After the last tree comes the first. */
void forest_nearest(const struct forest *forest, const float *row, size_t from, size_t count, uint32_t *nearest);

#endif
