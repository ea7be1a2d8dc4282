/* The best record so far, in this run or before it: of all variants and of each implementation, as
   the search ranks records. */
#ifndef TUNE_TUNER_BEST_H
#define TUNE_TUNER_BEST_H

#include "run.h"

struct best {
  char *variant; /* NULL: no variant was right yet */
  /* Figures of that variant's record. */
  double seconds, cost, flops, bytes;
  /* By implementation: cost and time of its best record; cost INFINITY: no record. */
  struct fastest {
    double cost, seconds;
  } * fastest;
  /* The cost that a variant has to beat by CUGEN_TIE to count as better, and how many variants had
     been tried when one last did. */
  double beaten;
  size_t beaten_at;
  double *costs; /* of all variants that were right */
  size_t cost_count;
};

/* Call best_close even after an error. */
int best_open(struct best *best, const struct tuner_run *run, cugen_error *err);
void best_close(struct best *best);
/* record: of a variant of this run, or of one before it. */
void best_note(struct best *best, const struct tuner_run *run, uint64_t index,
               const struct cache_record *record);
/* Returns true if so many variants in a row were no better than the best before them that the run
   ends. */
bool best_is_settled(const struct best *best, const struct tuner_run *run);
/* Estimates the gain of as many variants again, 0.02 for 2 % (NaN where too few are known): what
   the second half of those that are known gained over the first, on average over all orders. */
double best_gain(struct best *best);
/* Returns true if the variant's implementation is so much slower than the best that its variants
   wait until no others are left. */
bool best_lets_wait(const struct best *best, const struct tuner_run *run, uint64_t index);

#endif
