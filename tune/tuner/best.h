/* The best record so far, in this run or before it: of all variants and of each implementation, as
   the search ranks records. */
#ifndef TUNE_TUNER_BEST_H
#define TUNE_TUNER_BEST_H

#include "run.h"

struct best {
  char *variant; /* NULL: no variant was right yet */
  /* Figures of the record of `variant`. */
  double seconds, cost, flops, bytes;
  /* By implementation, and a last entry for variants that have none (run_implementation): cost and
     time of the best record; cost INFINITY: no record. */
  struct fastest {
    double cost, seconds;
  } * fastest;
  /* The cost that a variant has to beat by CUGEN_TIE to count as better, and how many variants had
     been tried when that cost was last beaten. */
  double beaten;
  size_t beaten_at;
  double *costs; /* of all variants that were right */
  size_t cost_count;
};

/* Call best_close even after an error. */
int best_open(struct best *best, const struct tuner_run *run, cugen_error *err);
void best_close(struct best *best);
/* Takes the record of a variant into account, whether this run or an earlier one made it. */
void best_note(struct best *best, const struct tuner_run *run, uint64_t index,
               const struct cache_record *record);
/* Returns true if run->patience variants in a row were no better than the best before them, which
   ends the run. */
bool best_is_settled(const struct best *best, const struct tuner_run *run);
/* Estimates by how much the least cost would still fall (0.02: by 2 %) if twice as many right
   variants were found. The estimate is how much the least cost of half of the right variants
   exceeds that of all, on average over all orders. NaN: not known. */
double best_gain(struct best *best);
/* Returns true if the variant's implementation is so much slower than the best that its variants
   wait until no others are left. */
bool best_lets_wait(const struct best *best, const struct tuner_run *run, uint64_t index);

#endif
