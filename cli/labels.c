/* Placing labels, greedily: each takes the place that covers least, the nearest of several; see labels.h.

   After Christensen, Marks and Shieber: An Empirical Study of Algorithms for Point-Feature Label Placement, ACM Transactions on
   Graphics 14(3), 1995: eight places around a point, in an order of preference. Where dots crowd, all eight are covered: then
   places further away are tried, too. */
#include "labels.h"

#include <math.h>
#include <stdlib.h>

enum { ROW = 14, LARGE = 5, RINGS = 6 };

void labels_close(struct labels *labels) {
  free(labels->dots);
  labels->dots = NULL;
}

void labels_add_dot(struct labels *labels, double x, double y, double r) {
  if (labels->dot_count == labels->dot_capacity) {
    const size_t more = labels->dot_capacity ? 2 * labels->dot_capacity : 64;
    struct labels_dot *dots = realloc(labels->dots, more * sizeof *dots);
    if (!dots) return;
    labels->dots = dots;
    labels->dot_capacity = more;
  }
  labels->dots[labels->dot_count++] = (struct labels_dot){x, y, r};
}

static int covers_dot(const struct box *box, const struct labels_dot *dot) {
  const double x = fmin(fmax(dot->x, box->x0), box->x1), y = fmin(fmax(dot->y, box->y0), box->y1);
  return hypot(x - dot->x, y - dot->y) < dot->r + 1;
}

static int overlaps(const struct box *a, const struct box *b) {
  return a->x0 < b->x1 && b->x0 < a->x1 && a->y0 < b->y1 && b->y0 < a->y1;
}

double labels_cost(const struct labels *labels, const struct box *box) {
  enum { SMALL_DOT = 10, LARGE_DOT = 1000, LABEL = 1000, OUTSIDE = 100000 };
  const struct box *edges = &labels->edges;
  double cost = 0;
  if (box->x0 < edges->x0 || box->x1 > edges->x1 || box->y0 < edges->y0 || box->y1 > edges->y1) cost += OUTSIDE;
  for (size_t i = 0; i < labels->dot_count; i++)
    if (covers_dot(box, &labels->dots[i])) cost += labels->dots[i].r > LARGE ? LARGE_DOT : SMALL_DOT;
  for (size_t i = 0; i < labels->taken_count; i++)
    if (overlaps(box, &labels->taken[i])) cost += LABEL;
  return cost;
}

void labels_take(struct labels *labels, const struct box *box) {
  if (labels->taken_count < sizeof labels->taken / sizeof *labels->taken) labels->taken[labels->taken_count++] = *box;
}

/* The place that begins there (side 1), ends there (-1) or has its middle there (0); y is that of its middle. */
static struct labels_place place_at(double x, double y, double width, int side, int far) {
  static const char *const anchors[] = {"end", "middle", "start"};
  const double x0 = side > 0 ? x : side < 0 ? x - width : x - width / 2;
  return (struct labels_place){{x0, y - ROW / 2.0, x0 + width, y + ROW / 2.0}, anchors[side + 1], x, y + 4, far};
}

static void keep_better(const struct labels *labels, const struct labels_place *place, struct labels_place *best,
                        double *least) {
  const double cost = labels_cost(labels, &place->box) + 2 * place->far;
  if (cost >= *least) return;
  *least = cost;
  *best = *place;
}

struct labels_place labels_beside(struct labels *labels, double x, double y, double width) {
  static const struct {
    int dx, dy, side;
  } next[] = {{10, 0, 1},  {-10, 0, -1}, {6, -13, 1},   {6, 13, 1},
              {0, -16, 0}, {0, 16, 0},   {-6, -13, -1}, {-6, 13, -1}};
  struct labels_place best = {.far = 0};
  double least = INFINITY;
  for (size_t i = 0; i < sizeof next / sizeof *next; i++) {
    const struct labels_place place = place_at(x + next[i].dx, y + next[i].dy, width, next[i].side, 0);
    keep_better(labels, &place, &best, &least);
  }
  for (int ring = 1; ring <= RINGS; ring++)
    for (int side = 0; side < 4; side++) {
      const int right = side % 2 ? -1 : 1, below = side < 2 ? 1 : -1;
      const struct labels_place place =
          place_at(x + right * (8 + 6 * ring), y + below * (16 + ROW * ring), width, right, ring);
      keep_better(labels, &place, &best, &least);
    }
  labels_take(labels, &best.box);
  return best;
}
