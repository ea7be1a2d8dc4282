/* The rule of a portfolio: a decision tree over features of the sizes, grown to serve well rather than to guess the best right. */
#ifndef TUNE_PORTFOLIO_TREE_H
#define TUNE_PORTFOLIO_TREE_H

#include "features.h"

struct portfolio_node {
  size_t feature;
  double threshold;
  size_t low, high; /* nodes: the feature is at most the threshold, or more; 0: this is a leaf */
  size_t choice; /* of a leaf, or as if it were one: which of the chosen; their count: the one of the least formula */
};

struct portfolio_tree {
  struct portfolio_feature *features;
  size_t feature_count;
  struct portfolio_node *nodes; /* the first is the root; in the order in which they were split */
  size_t count;
};

/* What is given where the rule says `choice`: that, or where it is none or no variant there, what least names for the problem. least NULL: the
   first of the chosen that is one. count: none is. */
size_t portfolio_given(const struct portfolio_matrix *matrix, size_t problem, const size_t *chosen, size_t count,
                       size_t choice, const size_t *least);

/* Grows it on the problems of rows (NULL: all), up to so many leaves. With fewer it is the same, cut after fewer splits. least: for each
   problem the one of the chosen whose formula is least and that is a variant, as told without that problem; a leaf may then say just
   that. NULL: there are no formulas. To be freed whatever comes back. */
int portfolio_tree_grow(const struct portfolio_matrix *matrix, const bool *rows, const size_t *chosen, size_t count,
                        const size_t *least, size_t leaves, struct portfolio_tree *out, cugen_error *err);
void portfolio_tree_free(struct portfolio_tree *tree);

/* How many leaves it has; what it says of the problem when it has `leaves` of them. */
size_t portfolio_tree_leaves(const struct portfolio_tree *tree);
size_t portfolio_tree_says(const struct portfolio_tree *tree, size_t leaves, const struct portfolio_matrix *matrix,
                           size_t problem);
/* Sets used[choice] for each that the tree of so many leaves gives, with a place for "least", too. */
void portfolio_tree_choices(const struct portfolio_tree *tree, size_t leaves, bool *used);
/* "select(M * N <= 4096, 0, K <= 64, 2, least)", of the tree of so many leaves, where count is of the chosen. */
void portfolio_tree_print(const struct portfolio_tree *tree, size_t leaves, const struct portfolio_matrix *matrix,
                          size_t count, struct text *out);

#endif
