/* The rule of a portfolio: a decision tree over features of the sizes. */
#ifndef TUNE_PORTFOLIO_TREE_H
#define TUNE_PORTFOLIO_TREE_H

#include "features.h"

struct portfolio_node {
  size_t feature;
  double threshold;
  /* The child node for values of at most the threshold, and the one for larger values; 0: this node
     is a leaf. */
  size_t low, high;
  /* The index of the chosen variant that this node gives as a leaf, or would give if it were cut to
     a leaf; the number of chosen variants stands for the variant of the least formula. */
  size_t choice;
};

struct portfolio_tree {
  struct portfolio_feature *features;
  size_t feature_count;
  /* The root, then the two children of each split, in the order of the splits. */
  struct portfolio_node *nodes;
  size_t count;
};

/* Returns the index in `chosen` of the variant that serves a problem when the rule says `choice`:
   `choice` if it is valid, otherwise least[problem], or without formulas (least NULL) the first
   valid one. Returns count if none is valid. */
size_t portfolio_given(const struct portfolio_matrix *matrix, size_t problem, const size_t *chosen,
                       size_t count, size_t choice, const size_t *least);

/* Grows a tree on the problems of rows (NULL: all), up to `leaves` leaves. A tree with fewer leaves
   is the same tree, cut after fewer splits. least: for each problem the valid chosen variant of the
   least formula, by formulas fitted without the problem; a leaf may then say just "least". NULL:
   there are no formulas. Call portfolio_tree_free even after an error. */
int portfolio_tree_grow(const struct portfolio_matrix *matrix, const bool *rows,
                        const size_t *chosen, size_t count, const size_t *least, size_t leaves,
                        struct portfolio_tree *out, cugen_error *err);
void portfolio_tree_free(struct portfolio_tree *tree);

size_t portfolio_tree_leaves(const struct portfolio_tree *tree);
/* Returns the choice for a problem when the tree is cut to `leaves` leaves. */
size_t portfolio_tree_says(const struct portfolio_tree *tree, size_t leaves,
                           const struct portfolio_matrix *matrix, size_t problem);
/* Sets used[choice] for each choice that the tree cut to `leaves` leaves can give; the number of
   chosen variants stands for "least". */
void portfolio_tree_choices(const struct portfolio_tree *tree, size_t leaves, bool *used);
/* Prints the tree cut to `leaves` leaves as "select(M * N <= 4096, 0, K <= 64, 2, least)". count:
   the number of chosen variants. */
void portfolio_tree_print(const struct portfolio_tree *tree, size_t leaves,
                          const struct portfolio_matrix *matrix, size_t count, struct text *out);

#endif
