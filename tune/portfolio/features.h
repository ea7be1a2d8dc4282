/* What the rule of a portfolio may ask of a problem's sizes. */
#ifndef TUNE_PORTFOLIO_FEATURES_H
#define TUNE_PORTFOLIO_FEATURES_H

#include "base/error.h"
#include "base/text.h"
#include "matrix.h"

enum portfolio_feature_kind {
  FEATURE_SIZE,      /* M */
  FEATURE_PRODUCT,   /* M * N */
  FEATURE_VOLUME,    /* of all sizes: M * N * K */
  FEATURE_TILES,     /* ceil_div(M, 128) * ceil_div(N, 128): with the number of multiprocessors, how many waves */
  FEATURE_RATIO,     /* M / N */
  FEATURE_MULTIPLES, /* the power of two that divides each of several sizes */
  FEATURE_MULTIPLE, /* the power of two that divides M, up to PORTFOLIO_MOST_POWER; where it decides what is a variant */
};

struct portfolio_feature {
  enum portfolio_feature_kind kind;
  size_t a, b;   /* sizes */
  uint64_t each; /* FEATURE_MULTIPLES: bits of sizes */
};

enum { PORTFOLIO_TILE = 128, PORTFOLIO_MOST_POWER = 7, PORTFOLIO_MOST_SIZES = 8 };

/* All that make sense of so many sizes; of more than PORTFOLIO_MOST_SIZES the first ones alone. NULL: no memory. */
struct portfolio_feature *portfolio_features(const struct portfolio_matrix *matrix, size_t *count);

double portfolio_feature_of(const struct portfolio_feature *feature, const int64_t *sizes, size_t count);

/* A round number from which the values up to `low` can be told from those from `high` on, by "at most"; NAN: there is none that an
   expression can have. */
double portfolio_threshold(const struct portfolio_feature *feature, double low, double high);

/* The condition that the feature is at most the threshold, as an expression of the config language: "M * N <= 4096". */
void portfolio_feature_print(const struct portfolio_feature *feature, const struct portfolio_matrix *matrix,
                             double threshold, struct text *out);

#endif
