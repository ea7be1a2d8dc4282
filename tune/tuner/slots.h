/* A slot for each worker: which candidate the worker measures, and whether its device is believed.

   Several equal devices have one worker each and share one search: an idle worker gets whatever
   variant is ready. A device can be broken, in which case its failures say nothing about the
   variants. Therefore a failure is believed only of a device that has worked: after a right result,
   or a failure that another device confirmed, the next three failures in a row are believed. Any
   other failure is doubted: the device rests, and another device tries the variant. If the variant
   is right there, the first device is lost. If it fails on a device that is believed, or on all
   devices, the failure is the variant's own. A device is also lost if its worker cannot open it, or
   cannot make data that another worker can make. The failures that were believed of a lost device
   since its credit was restored are then measured again elsewhere.

   Invariants:
   - The failure of a variant is stored only if it failed on a device that had worked, or on all
     devices that are left.
   - A lost device gets nothing more. The last device is never lost: its error ends the run, as in a
     run on one device. */
#ifndef TUNE_TUNER_SLOTS_H
#define TUNE_TUNER_SLOTS_H

#include "queue.h"

/* A candidate that a worker measures or has measured. */
struct turn {
  struct candidate *candidate; /* NULL: no candidate */
  struct cache_record record;
  struct hash image;
  double begin, end;
  bool shortened; /* the timeout is shorter than usual, because the budget ends */
};

enum { SLOT_CREDIT = 3 };
struct slot {
  struct turn turn; /* turn.candidate NULL: the worker is idle */
  struct worker_job job;
  bool lost; /* the device has failed, and the worker gets no more candidates */
  /* The last variant failed, and another worker is to try it; until then this worker gets no new
     candidates. */
  bool doubted;
  bool no_data;    /* the worker is in doubt because it could not make the data */
  cugen_error why; /* why the device is in doubt */
  int credit;      /* number of further failures in a row that are believed */
  /* The variants whose failures were believed since `credit` was last SLOT_CREDIT. */
  uint64_t failed[SLOT_CREDIT];
  size_t failed_count;
};

struct slots {
  struct tuner_run *run;
  struct run_records *records;
  struct queue *queue;
  struct slot *all; /* a slot for each worker; predictions have one slot without a worker */
  size_t count, lost;
};

int slots_open(struct slots *s, cugen_error *err);
/* Returns the number of workers that measure a candidate. */
size_t slots_busy(const struct slots *s);
/* Removes from the queue the candidate to be measured next on the slot's worker and returns it;
   NULL: there is none now. slot NULL: returns only a candidate that needs no worker. */
struct candidate *slots_take_ready(struct slots *s, const struct best *best,
                                   const struct slot *slot);
/* Lets devices continue that rested until this candidate's result was known. */
void slots_release(struct slots *s, const struct candidate *c);

/* Returns true if the error is the device's own and another device is left. */
bool slots_blame_device(const struct slots *s, const cugen_error *err);
/* Marks a device as lost, and queues the variants whose failures on it were believed. Another
   device must be left. */
int slots_lose(struct slots *s, struct slot *slot, const cugen_error *why, cugen_error *err);
/* Call this after a failure of the candidate on the slot's device. Returns true if another device
   is to try the candidate, which is then back in the queue. data: the worker could not make the
   data. */
bool slots_doubt(struct slots *s, struct slot *slot, struct candidate *c, bool data,
                 const char *why);
/* Applies a believed result to the trust in its device. The devices that were doubted because of
   this candidate are trusted again or lost. */
int slots_trust(struct slots *s, struct slot *slot, const struct candidate *c, bool right,
                bool data, cugen_error *err);

#endif
