/* The share of this run in a space that several tuners search together.

   Each tuner claims a variant before compiling it. Variants that another tuner has claimed wait in
   a list here. Between two variants, this tuner reads the records that other tuners have stored
   since; the records end the waiting, and the strategy learns from them. When the strategy has
   nothing left, the waiting variants are claimed again and again, because the tuner that holds a
   claim may be dead, in which case the claim ends after 30 seconds. While other tuners hold all
   variants that this tuner asks for, it asks for more at a time.

   Tuners search in different random orders, and hold fewer variants ahead the fewer are left for
   each, so that all end at about the same time. Of those that end together one settles the leaders.
   A tuner that ends after that settles them again, because it may have found a better variant. */
#ifndef TUNE_TUNER_SHARING_H
#define TUNE_TUNER_SHARING_H

#include "slots.h"

enum { SHARING_BATCH = 64 };

struct sharing {
  struct tuner_run *run;
  struct run_records *records;
  struct proposals *proposals;
  struct queue *queue;
  const struct slots *slots;
  /* Owner of this run's claims. "": the cache keeps no claims, so that nothing is shared. */
  char owner[24];
  uint64_t seed;         /* makes each tuner search in another order; 0 if nothing is shared */
  int64_t since;         /* the position up to which news was read, as in cache_news */
  size_t tuners;         /* number of tuners that search the space now */
  double asked, renewed; /* clock_seconds of the last request for news and of the last renewal */
  struct sharing_waiting {
    uint64_t index;
    char *variant;
    struct hash hash;
    int recorded; /* how often the claim was refused because a record exists */
  } * waiting;    /* variants that other tuners have claimed */
  size_t count;
  /* The candidates to claim next; they are claimed together once there are batch_size of them. */
  struct candidate *batch[SHARING_BATCH];
  size_t batch_count, batch_size;
};

/* Opens the sharing. Call it before run_records_load, so that no record is missed in between. */
int sharing_open(struct sharing *s, cugen_error *err);
void sharing_close(struct sharing *s);
/* Returns how many more candidates may be queued. The number shrinks when few variants are left for
   each tuner. */
size_t sharing_room(const struct sharing *s);
/* Takes over the candidate, which begins at once if the space is not shared. Otherwise it joins the
   batch, and a full batch is claimed: a candidate begins if its claim is granted, and waits if
   another tuner holds the claim. */
int sharing_begin(struct sharing *s, struct candidate *c, cugen_error *err);
/* Renews the claims of candidates under way, if a renewal is due. */
void sharing_renew(struct sharing *s);
/* Reads the records that other tuners have stored, if it is time; once the strategy is exhausted,
   also claims the rest of the batch and the waiting variants. */
int sharing_update(struct sharing *s, cugen_error *err);
/* Returns true if this run settles the leaders, because no other tuner that shares the space holds
   the claim to do so, or because asking fails. */
bool sharing_leads(const struct sharing *s);
/* Adds other tuners' records that are near the best to this run's records, from which leaders are
   chosen. */
int sharing_gather_leaders(struct sharing *s, cugen_error *err);

#endif
