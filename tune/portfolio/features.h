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
  /* ceil_div(M, 128) * ceil_div(N, 128), which grows with the number of waves. */
  FEATURE_TILES,
  FEATURE_RATIO, /* M / N */
  /* The exponent of the largest power of two that divides each size of `each`, up to
     PORTFOLIO_MOST_POWER. */
  FEATURE_MULTIPLES,
};

struct portfolio_feature {
  enum portfolio_feature_kind kind;
  size_t a, b;   /* indices of sizes */
  uint64_t each; /* FEATURE_MULTIPLES: the sizes, as bits by index */
};

enum {
  PORTFOLIO_TILE = 128,     /* tile size of FEATURE_TILES */
  PORTFOLIO_MOST_POWER = 7, /* a larger exponent counts as this one */
  PORTFOLIO_MOST_SIZES = 8
};

/* Returns the features of the first PORTFOLIO_MOST_SIZES sizes that differ between problems, to be
   freed by the caller. NULL: out of memory. */
struct portfolio_feature *portfolio_features(const struct portfolio_matrix *matrix, size_t *count);

/* Returns a round number that is at least `low` and less than `high`, so that "at most the
   threshold" is true of values up to `low` and false of values from `high` on. NAN: there is no
   number that a rule can use. */
double portfolio_threshold(const struct portfolio_feature *feature, double low, double high);

double portfolio_feature_of(const struct portfolio_feature *feature, const int64_t *sizes,
                            size_t count);

/* Prints the condition that the feature is at most the threshold, in the config language, such as
   "M * N <= 4096". */
void portfolio_feature_print(const struct portfolio_feature *feature,
                             const struct portfolio_matrix *matrix, double threshold,
                             struct text *out);

/* Prints the condition that a size of `each` (sizes as bits by index) is no multiple of `of`, such
   as "M % 8 ~= 0 or N % 8 ~= 0". */
void portfolio_print_multiples(uint64_t each, int of, const struct portfolio_matrix *matrix,
                               struct text *out);

#endif
