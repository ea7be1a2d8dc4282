/* Where labels of a picture stand: beside what they name, on no dot and on no other label as far as there is room. */
#ifndef CLI_LABELS_H
#define CLI_LABELS_H

#include <stddef.h>

struct box {
  double x0, y0, x1, y1;
};

/* What is in the picture: dots, then labels as they find their places. All zero but the edges: nothing is. */
struct labels {
  struct box edges;
  struct labels_dot {
    double x, y, r;
  } * dots;
  size_t dot_count, dot_capacity;
  struct box taken[64];
  size_t taken_count;
};

void labels_close(struct labels *labels);
/* Without memory the dot is not in the way of labels. */
void labels_add_dot(struct labels *labels, double x, double y, double r);
/* What a label there would cover: 0: nothing. A large dot and a label weigh more than a small dot, the edge more than all. */
double labels_cost(const struct labels *labels, const struct box *box);
void labels_take(struct labels *labels, const struct box *box);

/* A place for a label beside a dot, first those next to it. */
struct labels_place {
  struct box box;
  const char *anchor; /* of the text */
  double x, y;        /* where the anchor is */
  int far;            /* rings away: it needs a line to its dot */
};
/* Takes the best place for a text so wide beside the dot at x, y. */
struct labels_place labels_beside(struct labels *labels, double x, double y, double width);

#endif
