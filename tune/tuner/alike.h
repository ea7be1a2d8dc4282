/* Evidence that one error refuses every variant, such as a misspelt name. */
#ifndef TUNE_TUNER_ALIKE_H
#define TUNE_TUNER_ALIKE_H

#include "run.h"
#include "tune/search/axes.h"

struct alike {
  char *diagnostic; /* diagnostic of the first refused variant */
  size_t count;     /* number of variants noted */
  bool other;       /* some variant was not refused, or was refused with another error */
  bool found;       /* alike_judge has returned true */
  bool marked;      /* `wanted` is filled in */
  /* The values that occurred, as bits by axis: among the refused variants, and among samples of the
     variants that the run may try. */
  uint64_t seen[STRATEGY_MAX_AXES], wanted[STRATEGY_MAX_AXES];
};

/* Notes the record of a variant, of this run or an earlier one. */
void alike_note(struct alike *alike, const struct axes *axes, uint64_t index,
                const struct cache_record *record);
/* Returns true if the run may end because one error refuses all variants. */
bool alike_judge(struct alike *alike, const struct tuner_run *run, const struct axes *axes);
/* Returns the number of variants that the error refused, with those noted since alike_judge
   returned true; 0: no error refuses all. */
size_t alike_count(const struct alike *alike);

#endif
