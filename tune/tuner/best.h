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
};

/* Call best_close even after an error. */
int best_open(struct best *best, const struct tuner_run *run, cugen_error *err);
void best_close(struct best *best);
void best_note(struct best *best, const struct tuner_run *run, uint64_t index,
               const struct cache_record *record);
/* Returns true if the variant's implementation is so much slower than the best that its variants
   wait until no others are left. */
bool best_lets_wait(const struct best *best, const struct tuner_run *run, uint64_t index);

#endif
