/* The rule of a portfolio: a decision tree over features of the sizes, grown to serve well rather than to guess the best right. */
#ifndef TUNE_PORTFOLIO_TREE_H
#define TUNE_PORTFOLIO_TREE_H

#include "features.h"

struct portfolio_node {
  size_t feature;
  double threshold;
  size_t low, high; /* nodes: the feature is at most the threshold, or more; 0: this is a leaf */
  size_t choice;    /* of a leaf, or as if it were one: which of the chosen */
};

struct portfolio_tree {
  struct portfolio_feature *features;
  size_t feature_count;
  struct portfolio_node *nodes; /* the first is the root; in the order in which they were split */
  size_t count;
};

/* What is given where the rule says `choice`: that, or if it is no variant there the first of the chosen that is one. count: none is. */
size_t portfolio_given(const struct portfolio_matrix *matrix, size_t problem, const size_t *chosen, size_t count,
                       size_t choice);

/* Grows it on the problems of rows (NULL: all), up to so many leaves. With fewer it is the same, cut after fewer splits. To be
   freed whatever comes back. */
int portfolio_tree_grow(const struct portfolio_matrix *matrix, const bool *rows, const size_t *chosen, size_t count,
                        size_t leaves, struct portfolio_tree *out, cugen_error *err);
void portfolio_tree_free(struct portfolio_tree *tree);

/* How many leaves it has; what it says of the problem when it has `leaves` of them. */
size_t portfolio_tree_leaves(const struct portfolio_tree *tree);
size_t portfolio_tree_says(const struct portfolio_tree *tree, size_t leaves, const struct portfolio_matrix *matrix,
                           size_t problem);
/* Sets used[choice] for each that the tree of so many leaves gives. */
void portfolio_tree_choices(const struct portfolio_tree *tree, size_t leaves, bool *used);
/* "select(M * N <= 4096, 0, K <= 64, 2, 1)", of the tree of so many leaves. */
void portfolio_tree_print(const struct portfolio_tree *tree, size_t leaves, const struct portfolio_matrix *matrix,
                          struct text *out);

#endif
