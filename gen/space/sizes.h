/* Problems on which a variant is tried beside a base problem (a check problem), since a wrong
   bound shows at some sizes alone.

   sizes_plain makes some of the base problem's sizes alone: whole tiles of 64 or a smaller power
   of two, less than one, and odd ones above the base problem's. sizes_around makes some at the
   edges of a variant's own tiles: with a tile of t elements t, t - 1, t + 1, 2 t + 1 and 1,
   first all sizes at t, then each size at another edge, so that every size has every edge once.
   Behind them each parameter in turn has the value of the problem that is meant, while the other
   sizes are a tile or less, since a kernel may be wrong with that value alone.

   A tile of a size is what a launch's grid covers by its first block: the grid is evaluated for
   rising sizes until it grows. A size that no grid depends on, such as the depth of a product,
   has the variant's whole numbers and the block for tiles. */
#ifndef GEN_SPACE_SIZES_H
#define GEN_SPACE_SIZES_H

#include "space.h"

struct size_growth { /* of data and threads, as one parameter takes its other values */
  bool known, changes;
  double most; /* times what they were, where that is more than any size explains; else 0 */
  int64_t at;  /* the parameter's value then */
};

struct sizes {
  const struct config *config;
  const struct device_facts *facts;
  const struct problem *base;
  const struct config_implementation *owner; /* whose check { } made the base problem; NULL: the kernel's */
  bool *vary;                                /* by parameter: it is a size */
  struct size_growth *growth; /* by parameter, of those that a check { } gives a whole number above 3 */
  double most;                /* data and threads of the largest problem around a tile */
  const struct problem *own;  /* the problem that is meant, of which the base is a small one; NULL: unknown */
};

/* A size is a parameter that a check { } gives a whole number above 3, and that data or threads
   depend on, no faster than with its third power. fixed[i]: parameter i stays as it is; NULL:
   none does. own: NULL, or the problem that is meant. All but fixed and vary is borrowed; space is
   the base problem's. */
int sizes_open(const struct config *config, const struct device_facts *facts, const struct problem *base,
               const struct problem *own, const struct space *space, const struct config_implementation *owner,
               const bool *fixed, struct sizes *out, cugen_error *err);
void sizes_close(struct sizes *sizes);

struct size_list { /* problems: the j-th has values[j * base->count + i] for parameter i */
  struct value *values;
  size_t count;
};
/* The most that each makes; sizes_around may add one for each parameter. */
enum { SIZES_PLAIN = 3, SIZES_AROUND = 6 };

/* None is the base problem, and all differ; without any size there are none. The first of
   sizes_plain is the one of whole tiles. Whether a variant is valid on them its caller has to
   see. out->values is to be freed. */
int sizes_plain(const struct sizes *sizes, struct size_list *out, cugen_error *err);
int sizes_around(const struct sizes *sizes, const struct variant *variant, struct size_list *out, cugen_error *err);

#endif
