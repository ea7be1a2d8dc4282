/* Grows the rule; see tree.h.

   The method is CART (Breiman, Friedman, Olshen, Stone 1984) with another measure: a leaf costs
   what its problems cost with the one variant that serves them best (portfolio_cost), so that
   confusing two equally fast variants costs nothing. The split that gains most comes first,
   whichever leaf it divides. So a tree with fewer leaves is the beginning of one with more leaves.

   A leaf names a variant, or the variant of the least formula (formula.c). The cost of the least
   formula's variant is taken from formulas that were fitted without the problem.

   A leaf of few problems says little about other problems that fall into it: a variant that is best
   for two of them may be ten times slower for a third. So the choice also counts the problems
   around the leaf, with the weight of six problems: those of the parent, which in turn count those
   around them (shrinkage towards the parent's estimate: Quinlan's m-estimate; Agarwal and others
   2022, hierarchical shrinkage). */
#include "tree.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_DEPTH = 24 };

/* Number of problems that the surroundings of a leaf count for in its choice. */
static const double weight_of_prior = 6;

/* Cost limit of a problem: the cost of a variant that is 72 % slower. A variant that was not
   measured has this cost. */
static const double most_cost = 2;

/* A leaf while the tree grows. The leaf's problems are `count` entries of the grower's order, from
   `first` on. */
struct leaf {
  size_t node, first, count, depth;
  const double *prior; /* by choice: mean cost of the problems around this leaf */
  double cost;
  double gain; /* gain of the best split */
  size_t feature;
  double threshold;
};

struct ranked {
  double value;
  size_t problem;
};

struct grower {
  const struct portfolio_matrix *m;
  struct portfolio_tree *tree;
  size_t choices;
  double *costs;  /* [problem * choices + choice]: cost of the variant that serves */
  double *values; /* [problem * features + feature] */
  size_t *order;  /* the problems, ordered by leaf */
  struct ranked *ranked;
  double *before, *after; /* sums of costs by choice */
  /* [node * choices + choice]: mean cost of the problems below the node and around it. */
  double *priors;
  double *trial; /* like `priors`, for a leaf that look_ahead splits on trial */
  struct leaf *leaves;
  size_t leaf_count;
};

size_t portfolio_given(const struct portfolio_matrix *m, size_t problem, const size_t *chosen,
                       size_t count, size_t choice, const size_t *least) {
  if (choice < count && !isinf(portfolio_ratio(m, problem, chosen[choice]))) return choice;
  if (least) return least[problem];
  for (size_t i = 0; i < count; i++)
    if (!isinf(portfolio_ratio(m, problem, chosen[i]))) return i;
  return count;
}

/* ---- Splitting ------------------------------------------------------------------------------ */

static int tree_by_value(const void *a, const void *b) {
  const struct ranked *x = a, *y = b;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return (x->problem > y->problem) - (x->problem < y->problem);
}

/* Returns the choice with the least cost for the leaf's problems (sums) and, with weight_of_prior,
   for those around the leaf (prior). */
static size_t best_choice(const double *sums, const double *prior, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (sums[i] + weight_of_prior * prior[i] < sums[best] + weight_of_prior * prior[best] - 1e-12)
      best = i;
  return best;
}

static double least_sum(const double *sums, const double *prior, size_t count) {
  return sums[best_choice(sums, prior, count)];
}

static void sum_costs(const struct grower *g, const struct leaf *leaf, double *out) {
  for (size_t c = 0; c < g->choices; c++) out[c] = 0;
  for (size_t i = 0; i < leaf->count; i++)
    for (size_t c = 0; c < g->choices; c++)
      out[c] += g->costs[g->order[leaf->first + i] * g->choices + c];
}

/* Finds the best threshold of one feature, if it gains more than the leaf's best split so far. */
static void try_feature(struct grower *g, struct leaf *leaf, const double *prior, size_t feature) {
  const size_t features = g->tree->feature_count;
  for (size_t i = 0; i < leaf->count; i++) {
    const size_t problem = g->order[leaf->first + i];
    g->ranked[i] = (struct ranked){g->values[problem * features + feature], problem};
  }
  qsort(g->ranked, leaf->count, sizeof *g->ranked, tree_by_value);
  sum_costs(g, leaf, g->after);
  for (size_t c = 0; c < g->choices; c++) g->before[c] = 0;
  for (size_t i = 0; i + 1 < leaf->count; i++) {
    for (size_t c = 0; c < g->choices; c++) {
      const double cost = g->costs[g->ranked[i].problem * g->choices + c];
      g->before[c] += cost, g->after[c] -= cost;
    }
    if (g->ranked[i].value == g->ranked[i + 1].value) continue;
    const double gain = leaf->cost - least_sum(g->before, prior, g->choices) -
                        least_sum(g->after, prior, g->choices);
    if (gain <= leaf->gain + 1e-9) continue;
    const double threshold = portfolio_threshold(&g->tree->features[feature], g->ranked[i].value,
                                                 g->ranked[i + 1].value);
    if (isnan(threshold)) continue;
    leaf->gain = gain;
    leaf->feature = feature;
    leaf->threshold = threshold;
  }
}

/* Computes by choice the mean cost of the problems in and around the leaf. Each cost counts at most
   as PORTFOLIO_FAR_OFF. */
static void average_near(const struct grower *g, const struct leaf *leaf, double *out) {
  for (size_t c = 0; c < g->choices; c++) {
    out[c] = weight_of_prior * leaf->prior[c];
    for (size_t i = 0; i < leaf->count; i++)
      out[c] += fmin(g->costs[g->order[leaf->first + i] * g->choices + c], PORTFOLIO_FAR_OFF);
    out[c] /= (double)leaf->count + weight_of_prior;
  }
}

/* Computes the leaf's cost and its best split, and returns its choice. inner: receives the prior
   for the parts of the leaf. */
static size_t measure_leaf(struct grower *g, struct leaf *leaf, double *inner) {
  sum_costs(g, leaf, g->after);
  const size_t choice = best_choice(g->after, leaf->prior, g->choices);
  average_near(g, leaf, inner);
  leaf->cost = g->after[choice];
  leaf->gain = 0;
  for (size_t f = 0; f < g->tree->feature_count && leaf->depth < MOST_DEPTH; f++)
    try_feature(g, leaf, inner, f);
  return choice;
}

/* Moves the leaf's problems whose feature is at most the leaf's threshold to the front, and returns
   their number. */
static size_t tree_part(struct grower *g, const struct leaf *leaf) {
  size_t low = 0;
  for (size_t i = 0; i < leaf->count; i++) {
    const size_t problem = g->order[leaf->first + i];
    if (g->values[problem * g->tree->feature_count + leaf->feature] > leaf->threshold) continue;
    /* Moves the entries in between up, so that each part keeps its order. */
    memmove(&g->order[leaf->first + low + 1], &g->order[leaf->first + low],
            (i - low) * sizeof *g->order);
    g->order[leaf->first + low++] = problem;
  }
  return low;
}

/* Returns the prior for the leaves into which the node is split. */
static double *inner_of(const struct grower *g, size_t node) {
  return &g->priors[node * g->choices];
}

/* Divisors of a size decide which variants are valid, and splitting by them often gains nothing
   until the parts are split again. So a split by divisors is credited with half of what the splits
   of its parts gain. */
static void look_ahead(struct grower *g, struct leaf *leaf, size_t feature, double threshold) {
  struct leaf split = *leaf;
  split.feature = feature, split.threshold = threshold;
  const size_t low_count = tree_part(g, &split);
  if (low_count == 0 || low_count == leaf->count) return;
  const double *prior = inner_of(g, leaf->node);
  struct leaf low = {
      .first = leaf->first, .count = low_count, .depth = leaf->depth + 1, .prior = prior};
  struct leaf high = {.first = leaf->first + low_count,
                      .count = leaf->count - low_count,
                      .depth = leaf->depth + 1,
                      .prior = prior};
  measure_leaf(g, &low, g->trial);
  measure_leaf(g, &high, g->trial);
  split.gain = leaf->cost - low.cost - high.cost + 0.5 * (low.gain + high.gain);
  if (split.gain > leaf->gain + 1e-9) *leaf = split;
}

/* Finds the leaf's choice, its cost and its best split. */
static void judge_leaf(struct grower *g, struct leaf *leaf) {
  /* tree_make_room's caller frees the memory: NOLINTNEXTLINE(clang-analyzer-unix.Malloc) */
  g->tree->nodes[leaf->node].choice = measure_leaf(g, leaf, inner_of(g, leaf->node));
  for (size_t f = 0; f < g->tree->feature_count && leaf->depth < MOST_DEPTH; f++)
    for (int power = 0;
         g->tree->features[f].kind == FEATURE_MULTIPLES && power < PORTFOLIO_MOST_POWER; power++)
      look_ahead(g, leaf, f, power);
}

static void tree_split_leaf(struct grower *g, size_t at) {
  struct leaf *leaf = &g->leaves[at], *high = &g->leaves[g->leaf_count++];
  struct portfolio_tree *tree = g->tree;
  const size_t low_count = tree_part(g, leaf);
  tree->nodes[leaf->node].feature = leaf->feature;
  tree->nodes[leaf->node].threshold = leaf->threshold;
  tree->nodes[leaf->node].low = tree->count;
  tree->nodes[leaf->node].high = tree->count + 1;
  *high = (struct leaf){.node = tree->count + 1,
                        .first = leaf->first + low_count,
                        .count = leaf->count - low_count,
                        .depth = leaf->depth + 1,
                        .prior = inner_of(g, leaf->node)};
  *leaf = (struct leaf){.node = tree->count,
                        .first = leaf->first,
                        .count = low_count,
                        .depth = leaf->depth + 1,
                        .prior = high->prior};
  tree->count += 2;
  judge_leaf(g, leaf);
  judge_leaf(g, high);
}

/* ---- Growing -------------------------------------------------------------------------------- */

/* Computes the costs, and the values of the features. The last choice is the least formula, if
   there are formulas. */
static void tree_fill(struct grower *g, const size_t *chosen, size_t count, const size_t *least) {
  const struct portfolio_matrix *m = g->m;
  const size_t features = g->tree->feature_count;
  for (size_t p = 0; p < m->problems; p++) {
    for (size_t c = 0; c < g->choices; c++) {
      const size_t given = portfolio_given(m, p, chosen, count, c, least);
      const double ratio = given < count ? portfolio_ratio(m, p, chosen[given]) : (double)NAN;
      g->costs[p * g->choices + c] = fmin(portfolio_cost(ratio), most_cost);
    }
    for (size_t f = 0; f < features; f++)
      g->values[p * features + f] =
          portfolio_feature_of(&g->tree->features[f], &m->values[p * m->sizes], m->sizes);
  }
}

static bool tree_make_room(struct grower *g, size_t leaves) {
  const struct portfolio_matrix *m = g->m;
  g->tree->features = portfolio_features(m, &g->tree->feature_count);
  g->tree->nodes = calloc(2 * leaves, sizeof *g->tree->nodes);
  g->costs = calloc(m->problems * g->choices + 1, sizeof *g->costs);
  g->values = calloc(m->problems * g->tree->feature_count + 1, sizeof *g->values);
  g->order = calloc(m->problems + 1, sizeof *g->order);
  g->ranked = calloc(m->problems + 1, sizeof *g->ranked);
  g->before = calloc(g->choices + 1, sizeof *g->before);
  g->after = calloc(g->choices + 1, sizeof *g->after);
  g->leaves = calloc(leaves + 1, sizeof *g->leaves);
  g->priors = calloc(2 * leaves * g->choices + 1, sizeof *g->priors);
  g->trial = calloc(2 * g->choices + 1, sizeof *g->trial);
  return g->tree->features && g->tree->nodes && g->costs && g->values && g->order && g->ranked &&
         g->before && g->after && g->leaves && g->priors && g->trial;
}

static void tree_grow(struct grower *g, const bool *rows, size_t leaves) {
  size_t count = 0;
  for (size_t p = 0; p < g->m->problems; p++)
    if (!rows || rows[p]) g->order[count++] = p;
  /* Nothing is around the root, so that its prior is 0: the second half of `trial`, which nobody
     writes. */
  g->leaves[0] = (struct leaf){.count = count, .prior = g->trial + g->choices};
  g->leaf_count = g->tree->count = 1;
  judge_leaf(g, &g->leaves[0]);
  while (g->leaf_count < leaves) {
    size_t best = 0;
    for (size_t i = 1; i < g->leaf_count; i++)
      if (g->leaves[i].gain > g->leaves[best].gain) best = i;
    if (!(g->leaves[best].gain > 0)) break;
    tree_split_leaf(g, best);
  }
}

int portfolio_tree_grow(const struct portfolio_matrix *m, const bool *rows, const size_t *chosen,
                        size_t count, const size_t *least, size_t leaves,
                        struct portfolio_tree *out, cugen_error *err) {
  *out = (struct portfolio_tree){0};
  struct grower g = {.m = m, .tree = out, .choices = count + (least != NULL)};
  const bool good = tree_make_room(&g, leaves + 1);
  if (good) {
    tree_fill(&g, chosen, count, least);
    tree_grow(&g, rows, leaves);
  }
  void *arrays[] = {g.costs, g.values, g.order,  g.ranked, g.before,
                    g.after, g.leaves, g.priors, g.trial};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  return good ? CUGEN_OK : error_memory(err);
}

void portfolio_tree_free(struct portfolio_tree *tree) {
  free(tree->features);
  free(tree->nodes);
  *tree = (struct portfolio_tree){0};
}

/* ---- What it says --------------------------------------------------------------------------- */

size_t portfolio_tree_leaves(const struct portfolio_tree *tree) {
  return tree->count / 2 + 1;
}

/* Nodes come in pairs in the order of the splits. A tree with fewer leaves lacks the last pairs. */
static bool is_leaf(const struct portfolio_tree *tree, size_t leaves, size_t node) {
  return !tree->nodes[node].low || tree->nodes[node].low >= 2 * leaves - 1;
}

size_t portfolio_tree_says(const struct portfolio_tree *tree, size_t leaves,
                           const struct portfolio_matrix *m, size_t problem) {
  size_t at = 0;
  while (!is_leaf(tree, leaves, at)) {
    const struct portfolio_node *node = &tree->nodes[at];
    const double value = portfolio_feature_of(&tree->features[node->feature],
                                              &m->values[problem * m->sizes], m->sizes);
    at = value <= node->threshold ? node->low : node->high;
  }
  return tree->nodes[at].choice;
}

void portfolio_tree_choices(const struct portfolio_tree *tree, size_t leaves, bool *used) {
  /* The first 2 * leaves - 1 nodes are the tree of that many leaves. */
  for (size_t node = 0; node < tree->count && node < 2 * leaves - 1; node++)
    if (is_leaf(tree, leaves, node)) used[tree->nodes[node].choice] = true;
}

/* Returns the only choice below the node, or SIZE_MAX if there are several. */
static size_t only_choice(const struct portfolio_tree *tree, size_t leaves, size_t node) {
  if (is_leaf(tree, leaves, node)) return tree->nodes[node].choice;
  const size_t low = only_choice(tree, leaves, tree->nodes[node].low);
  return low == only_choice(tree, leaves, tree->nodes[node].high) ? low : SIZE_MAX;
}

static void print_choice(size_t choice, size_t count, struct text *out) {
  if (choice < count)
    text_addf(out, "%zu", choice);
  else
    text_add(out, "least");
}

/* Prints a node. The side above the threshold continues the same select. */
static void print_below(const struct portfolio_tree *tree, size_t leaves,
                        const struct portfolio_matrix *m, size_t at, size_t count,
                        struct text *out) {
  size_t only = only_choice(tree, leaves, at);
  if (only != SIZE_MAX) {
    print_choice(only, count, out);
    return;
  }
  text_add(out, "select(");
  for (; only == SIZE_MAX; only = only_choice(tree, leaves, at)) {
    const struct portfolio_node *node = &tree->nodes[at];
    portfolio_feature_print(&tree->features[node->feature], m, node->threshold, out);
    text_add(out, ", ");
    print_below(tree, leaves, m, node->low, count, out);
    text_add(out, ", ");
    at = node->high;
  }
  print_choice(only, count, out);
  text_add_char(out, ')');
}

void portfolio_tree_print(const struct portfolio_tree *tree, size_t leaves,
                          const struct portfolio_matrix *m, size_t count, struct text *out) {
  print_below(tree, leaves, m, 0, count, out);
}
