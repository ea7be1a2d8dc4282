/* The features of a problem's sizes that the rule of a portfolio may compare with a threshold. */
#ifndef TUNE_PORTFOLIO_FEATURES_H
#define TUNE_PORTFOLIO_FEATURES_H

#include "base/error.h"
#include "base/text.h"
#include "matrix.h"

enum portfolio_feature_kind {
  FEATURE_SIZE,    /* M */
  FEATURE_PRODUCT, /* M * N */
  FEATURE_VOLUME,  /* the product of all sizes: M * N * K */
  /* ceil_div(M, 128) * ceil_div(N, 128); together with the number of multiprocessors, the number of
     waves. */
  FEATURE_TILES,
  FEATURE_RATIO,     /* M / N */
  FEATURE_MULTIPLES, /* the power of two that divides all of several sizes */
  /* The power of two that divides M, up to PORTFOLIO_MOST_POWER; for sizes that decide which
     variants are valid. */
  FEATURE_MULTIPLE,
};

struct portfolio_feature {
  enum portfolio_feature_kind kind;
  size_t a, b;   /* indices of sizes */
  uint64_t each; /* FEATURE_MULTIPLES: the sizes as bits */
};

enum { PORTFOLIO_TILE = 128, PORTFOLIO_MOST_POWER = 7, PORTFOLIO_MOST_SIZES = 8 };

/* Returns all features that make sense for the matrix's sizes; only the first PORTFOLIO_MOST_SIZES
   sizes are used. NULL: out of memory. */
struct portfolio_feature *portfolio_features(const struct portfolio_matrix *matrix, size_t *count);

double portfolio_feature_of(const struct portfolio_feature *feature, const int64_t *sizes,
                            size_t count);

/* Returns a round threshold that separates values up to `low` from values from `high` on, by "at
   most". NAN: no number that an expression can have separates them. */
double portfolio_threshold(const struct portfolio_feature *feature, double low, double high);

/* Prints the condition that the feature is at most the threshold, in the config language: "M * N <=
   4096". */
void portfolio_feature_print(const struct portfolio_feature *feature,
                             const struct portfolio_matrix *matrix, double threshold,
                             struct text *out);

#endif
