/* A Gaussian process over rows of numbers, which predicts the cost of a row, its price (a second
   number) and whether its result is right; see gauss.c. */
#ifndef TUNE_SEARCH_GAUSS_H
#define TUNE_SEARCH_GAUSS_H

#include <stddef.h>
#include <stdint.h>

enum { GAUSS_MOST = 160 /* most rows */, GAUSS_MOST_COLUMNS = 128 };

struct gauss;

struct gauss_guess { /* What is predicted of a row. */
  double cost, price;
  double right;     /* probability of a right result; may lie outside of 0 to 1 */
  double roughness; /* variance of the cost that rows do not share */
  double variance;  /* variance of the part that rows share; an upper bound before gauss_refine */
  const struct member *member;
  double covariances[GAUSS_MOST];
};

/* Opens a process of no rows; columns: at most GAUSS_MOST_COLUMNS. Returns NULL if there is no
   memory. */
struct gauss *gauss_open(size_t columns, uint64_t seed);
void gauss_close(struct gauss *gauss);
/* Learns the listed rows of x anew, at most GAUSS_MOST. x holds all rows, with the columns of a row
   side by side. The first `right` rows (at least two) have a cost, the first `known` have a price;
   rows from `right` up to `known` have failed. Rows from `known` up to `count` are awaited, and
   only lower the variance near them. */
void gauss_learn(struct gauss *gauss, const float *x, const double *cost, const double *price,
                 const uint32_t *rows, size_t right, size_t known, size_t count);
/* Adds an awaited row, unless there are GAUSS_MOST rows. */
void gauss_expect(struct gauss *gauss, const float *row);
/* Predicts the result of a row. turn: number of the choice, by which predictions vary. */
void gauss_predict(const struct gauss *gauss, const float *row, size_t turn,
                   struct gauss_guess *out);
/* Computes the exact variance of a prediction, which takes much longer than gauss_predict. */
void gauss_refine(const struct gauss *gauss, struct gauss_guess *guess);

#endif
