/* Extremely randomised trees (Geurts, Ernst, Wehenkel: Extremely randomized trees, Machine Learning
   63, 2006). At each node some splits are drawn at random, each a column and a threshold between
   the column's least and greatest value; the split that separates the values best is taken. A tree
   grows until each leaf is one row. So a tree names the row that is nearest by the columns that
   matter there, and the mean of the trees is smooth although single trees are not. The spread of
   the trees measures the uncertainty.

   Growing a tree takes rows x log(rows). So a new result is inserted into all trees at once, by
   splitting at random the leaf where it falls (as Mondrian trees do; Lakshminarayanan, Roy, Teh:
   Mondrian forests, NIPS 2014), and trees are grown anew in turn. Leaves refer to rows rather than
   values, because a value may change later, such as that of a variant whose result is awaited.

   All decisions use additions, products and a seeded generator, so that all machines grow equal
   trees. */
#include "forest.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

enum { DRAWN = 8 /* splits drawn at each node */ };

struct node {
  float threshold; /* values up to the threshold go left */
  int32_t column;  /* -1: the node is a leaf */
  uint32_t next;   /* index of the left node, which precedes the right one; for a leaf, its row */
};

struct tree {
  struct node *nodes;
  size_t count, capacity;
};

struct forest {
  size_t columns, tree_count, turn; /* turn: number of the tree to grow next */
  uint64_t state;
  const float *x; /* only while a tree grows */
  const double *y;
  uint32_t *order;
  size_t order_capacity;
  struct tree trees[FOREST_MOST_TREES];
};

struct split {
  size_t column;
  float threshold;
  double sum; /* sum and number of the values on the left */
  size_t count;
};

struct forest *forest_open(size_t columns, size_t trees, uint64_t seed) {
  struct forest *f = calloc(1, sizeof *f);
  if (!f) return NULL;
  f->columns = columns;
  f->tree_count = trees;
  f->state = seed;
  return f;
}

void forest_close(struct forest *f) {
  if (!f) return;
  for (size_t i = 0; i < f->tree_count; i++) free(f->trees[i].nodes);
  free(f->order);
  free(f);
}

/* Returns a random number from low up to, but not including, high. */
static float draw_threshold(struct forest *f, float low, float high) {
  float share = (float)(random_next(&f->state) >> 40) / (float)(UINT64_C(1) << 24);
  float threshold = low + share * (high - low);
  return threshold < high ? threshold : low;
}

static bool forest_reserve(struct tree *t, size_t count) {
  if (count <= t->capacity) return true;
  struct node *nodes = realloc(t->nodes, (2 * count + 1) * sizeof *nodes);
  if (!nodes) return false;
  t->nodes = nodes;
  t->capacity = 2 * count;
  return true;
}

/* ---- Growing -------------------------------------------------------------------------------- */

/* Lists the columns in which the rows differ, and sets the range of each column. */
static size_t find_range(const struct forest *f, const uint32_t *rows, size_t count, float *low,
                         float *high, size_t *differ) {
  size_t found = 0;
  memcpy(low, f->x + rows[0] * f->columns, f->columns * sizeof *low);
  memcpy(high, low, f->columns * sizeof *high);
  for (size_t i = 1; i < count; i++) {
    const float *row = f->x + rows[i] * f->columns;
    for (size_t c = 0; c < f->columns; c++) {
      low[c] = row[c] < low[c] ? row[c] : low[c];
      high[c] = row[c] > high[c] ? row[c] : high[c];
    }
  }
  for (size_t c = 0; c < f->columns; c++)
    if (low[c] < high[c]) differ[found++] = c;
  return found;
}

/* Returns the part of the values' variance that the split explains, times a constant. */
static double separation(const struct split *split, double sum, size_t count) {
  double left = (double)split->count, right = (double)(count - split->count);
  double between = split->sum / left - (sum - split->sum) / right;
  return between * between * left * right;
}

static double forest_count_left(const struct forest *f, const uint32_t *rows, size_t count,
                                struct split *splits) {
  double sum = 0, sums[DRAWN] = {0};
  size_t counts[DRAWN] = {0};
  const float *const x = f->x;
  const size_t columns = f->columns;
  for (size_t i = 0; i < count; i++) {
    const float *row = x + rows[i] * columns;
    const double values[] = {0, f->y[rows[i]]};
    sum += values[1];
    for (size_t n = 0; n < DRAWN; n++) {
      const bool left = row[splits[n].column] <= splits[n].threshold;
      sums[n] += values[left];
      counts[n] += left;
    }
  }
  for (size_t n = 0; n < DRAWN; n++) splits[n].sum = sums[n], splits[n].count = counts[n];
  return sum;
}

/* Returns false if all rows are equal. */
static bool choose_split(struct forest *f, const uint32_t *rows, size_t count, struct split *out) {
  float low[FOREST_MOST_COLUMNS], high[FOREST_MOST_COLUMNS];
  size_t differ[FOREST_MOST_COLUMNS],
      found = count > 1 ? find_range(f, rows, count, low, high, differ) : 0;
  struct split splits[DRAWN] = {0};
  double best = -1;
  if (!found) return false;
  for (size_t n = 0; n < DRAWN; n++) {
    splits[n].column = differ[random_next(&f->state) % found];
    splits[n].threshold = draw_threshold(f, low[splits[n].column], high[splits[n].column]);
    if (count == 2) break; /* two rows are separated by any split */
  }
  *out = splits[0];
  if (count == 2) return true;
  const double sum = forest_count_left(f, rows, count, splits);
  for (size_t n = 0; n < DRAWN; n++) {
    double separated = separation(&splits[n], sum, count);
    if (separated > best) best = separated, *out = splits[n];
  }
  return true;
}

static void search_forest_grow(struct forest *f, struct tree *t, size_t at, uint32_t *rows,
                               size_t count) {
  struct split split;
  if (!choose_split(f, rows, count, &split)) {
    t->nodes[at] = (struct node){.column = -1, .next = rows[0]};
    return;
  }
  size_t left = 0, next = t->count;
  for (size_t i = 0; i < count; i++) {
    uint32_t row = rows[i];
    if (f->x[row * f->columns + split.column] > split.threshold) continue;
    rows[i] = rows[left];
    rows[left++] = row;
  }
  t->count += 2;
  t->nodes[at] = (struct node){split.threshold, (int32_t)split.column, (uint32_t)next};
  search_forest_grow(f, t, next, rows, left);
  search_forest_grow(f, t, next + 1, rows + left, count - left);
}

/* ---- Inserting, and growing anew ------------------------------------------------------------ */

static struct node *find_leaf(const struct tree *t, const float *row) {
  struct node *at = t->nodes;
  while (at->column >= 0) at = &t->nodes[at->next + (row[at->column] > at->threshold)];
  return at;
}

static float distance(float a, float b) {
  return a < b ? b - a : a - b;
}

/* Draws a column with a probability proportional to the difference of a and b in it. Returns false
   if a and b are equal. */
static bool draw_column(struct forest *f, const float *a, const float *b, size_t *column) {
  float total = 0;
  for (size_t c = 0; c < f->columns; c++) total += distance(a[c], b[c]);
  float left = draw_threshold(f, 0, total);
  bool found = false;
  for (size_t c = 0; c < f->columns && !(found && left < 0); c++) {
    if (a[c] < b[c] || b[c] < a[c]) *column = c, found = true;
    left -= distance(a[c], b[c]);
  }
  return found;
}

static void forest_split_leaf(struct forest *f, struct tree *t, const float *x, uint32_t row) {
  const float *added = x + row * f->columns;
  struct node *leaf = find_leaf(t, added);
  const uint32_t old = leaf->next;
  const float *there = x + old * f->columns;
  size_t column, next = t->count;
  if (!draw_column(f, there, added, &column)) return;
  bool before = added[column] < there[column];
  float threshold = before ? draw_threshold(f, added[column], there[column])
                           : draw_threshold(f, there[column], added[column]);
  t->count += 2;
  *leaf = (struct node){threshold, (int32_t)column, (uint32_t)next};
  t->nodes[next] = (struct node){.column = -1, .next = before ? row : old};
  t->nodes[next + 1] = (struct node){.column = -1, .next = before ? old : row};
}

static bool grow_tree(struct forest *f, struct tree *t, const uint32_t *rows, size_t known,
                      size_t count) {
  if (!forest_reserve(t, 2 * count)) return false;
  memcpy(f->order, rows, known * sizeof *rows);
  t->count = 1;
  search_forest_grow(f, t, 0, f->order, known);
  for (size_t i = known; i < count; i++) forest_split_leaf(f, t, f->x, rows[i]);
  return true;
}

bool forest_grow(struct forest *f, const float *x, const double *y, const uint32_t *rows,
                 size_t known, size_t count, size_t trees) {
  if (known > f->order_capacity) {
    uint32_t *order = realloc(f->order, 2 * known * sizeof *order);
    if (!order) return false;
    f->order = order;
    f->order_capacity = 2 * known;
  }
  f->x = x;
  f->y = y;
  bool grown = true;
  for (size_t n = 0; n < trees && grown; n++)
    grown = grow_tree(f, &f->trees[f->turn++ % f->tree_count], rows, known, count);
  return grown;
}

bool forest_insert(struct forest *f, const float *x, size_t row) {
  for (size_t i = 0; i < f->tree_count; i++) {
    if (!f->trees[i].count) continue;
    if (!forest_reserve(&f->trees[i], f->trees[i].count + 2)) return false;
    forest_split_leaf(f, &f->trees[i], x, (uint32_t)row);
  }
  return true;
}

void forest_nearest(const struct forest *f, const float *row, size_t from, size_t count,
                    uint32_t *nearest) {
  for (size_t i = 0; i < count; i++)
    nearest[i] = find_leaf(&f->trees[(from + i) % f->tree_count], row)->next;
}
