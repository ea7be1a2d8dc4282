/* Problems on which a variant is tried in addition to a base problem (a check problem), because a
   wrong bound may show at some sizes only.
   sizes_plain derives problems from the base problem's sizes alone: whole tiles of 64 or a smaller
   power of two, an eighth of each size, and odd sizes that are not below the base problem's.
   sizes_around makes problems at the edges of a variant's own tiles. With a tile of t elements the
   edges are t, t - 1, t + 1, 2 t + 1 and 1: first all sizes are t, then the sizes are at different
   edges, until every size has been at every edge. Further problems take one value from the user's
   problem (the full-size problem, of which the base problem is a small version), one parameter
   after the other, because a kernel may be wrong for that value alone; the other sizes are tiles or
   small.
   The tile of a size is the part that the first block of a launch covers: the grid is evaluated for
   rising sizes until it grows. For a size for which no grid grows, such as the depth of a product,
   the whole numbers among the variant's values and the block's x are taken as tiles. */
#ifndef GEN_SPACE_SIZES_H
#define GEN_SPACE_SIZES_H

#include "space.h"

struct size_growth { /* How data and threads grow with one parameter. */
  bool known, changes;
  double most; /* the factor of their growth, if it is larger than a size can explain; else 0 */
  int64_t at;  /* the value of the parameter that gives this growth */
};

struct sizes {
  const struct config *config;
  const struct device_facts *facts;
  const struct problem *base;
  const struct config_implementation *owner; /* implementation whose check { } gives the base
                                                problem; NULL: the kernel's check gives it */
  bool *vary;                                /* for each parameter: whether it is a size */
  struct size_growth *growth;                /* for each parameter; all zero where the parameter
                                                cannot be a size */
  double most;                               /* sizes_around leaves out problems at the edges of
                                                tiles whose extent (bytes of all buffers plus
                                                threads of all launches) is larger */
  const struct problem *own;                 /* the user's problem, of which the base problem is a
                                                small version; NULL: unknown */
};

/* Finds the sizes of the problem. A size is a parameter without a list of values to which a check
   { } gives a whole number, which is above 3 in `base`, and on which data or threads of the
   variants tried depend with about its third power at most. fixed[i]: parameter i must not change;
   NULL: all may change. own: the user's problem, or NULL. space: the space of the base problem.
   config, facts, base, own and owner are borrowed until sizes_close. */
int sizes_open(const struct config *config, const struct device_facts *facts,
               const struct problem *base, const struct problem *own, const struct space *space,
               const struct config_implementation *owner, const bool *fixed, struct sizes *out,
               cugen_error *err);
void sizes_close(struct sizes *sizes);

struct size_list { /* problems: the value of parameter i of the j-th problem is values[j *
                      base->count + i] */
  struct value *values;
  size_t count;
};
/* The largest number of problems that each function makes; sizes_around may add one for each
   parameter. */
enum { SIZES_PLAIN = 3, SIZES_AROUND = 6 };

/* Make the problems. None equals the base problem, and all differ. If no parameter is a size,
   sizes_plain makes none, and sizes_around only those with a value of the user's problem. The first
   problem of sizes_plain has whole tiles. The caller must check that a variant is valid on the
   problems, and free out->values, also after a failure. */
int sizes_plain(const struct sizes *sizes, struct size_list *out, cugen_error *err);
int sizes_around(const struct sizes *sizes, const struct variant *variant, struct size_list *out,
                 cugen_error *err);

#endif
