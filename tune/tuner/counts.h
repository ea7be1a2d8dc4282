/* Counts what variants request from memory while they are measured. Counting can take more than a
   second of a processor, so that a count begins with the variant's measurement and goes on while
   the next variants are measured. If too many counts run at once, the oldest one that is not of the
   best variant is given up, and the next variants are not counted. The run waits for the best
   variant's count for a second at the end. A count that is not known is 0. */
#ifndef TUNE_TUNER_COUNTS_H
#define TUNE_TUNER_COUNTS_H

#include "best.h"
#include "records.h"

enum { COUNTS_MOST = 4 };

struct counts {
  struct tuner_run *run;
  struct run_records *records;
  const struct best *best;
  /* Candidates whose memory requests are still being counted, oldest first. */
  struct counted {
    struct candidate *candidate;
    size_t record; /* index into the records of this run */
  } all[COUNTS_MOST];
  size_t count;
  size_t left_out; /* number of coming candidates that are not counted */
};

/* Begins to count the memory requests of a candidate that is about to run, on a thread of its own,
   unless the candidate is one of the `left_out`. */
void counts_begin(struct counts *n, struct candidate *c);
/* Takes over and closes the candidate of the last record. A candidate that is still being counted,
   or that is the best and has to be counted, is closed later. */
int counts_close_candidate(struct counts *n, struct candidate *c, cugen_error *err);
/* Stores the counts that are complete by now. wait: waits up to a second for the remaining ones. */
int counts_store(struct counts *n, bool wait, cugen_error *err);
void counts_drop(struct counts *n);

#endif
