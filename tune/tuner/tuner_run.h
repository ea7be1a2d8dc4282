/* The state of one run of the tuner (see tuner.h), shared by its files: tuner_records.c has the
   known and the new records, opening.c decides what is tried first, leaders.c measures the best
   variants again, verdict.c decides the status of the run, and tuner.c has the loop above them
   all. */
#ifndef TUNE_TUNER_TUNER_RUN_H
#define TUNE_TUNER_TUNER_RUN_H

#include "proposals.h"
#include "tuner.h"

enum { TUNER_COUNTED = 4 };

/* The share of this run in a space that several tuners search together; see sharing.c. */
enum { TUNER_BATCH = 64 };
struct tuner_sharing {
  /* Owner of this run's claims. "": the cache keeps no claims, so that nothing is shared. */
  char owner[24];
  uint64_t seed; /* makes each tuner search in another order; 0 if nothing is shared */
  int64_t since; /* the position up to which news was read, as in cache_news */
  size_t tuners;
  double asked, renewed;
  struct tuner_waiting {
    uint64_t index;
    char *variant;
    struct hash hash;
    int recorded; /* how often the claim was refused because a record exists */
  } * waiting;    /* variants that other tuners have claimed */
  size_t count, capacity;
  /* The candidates to claim next; they are claimed together once there are batch_size of them. */
  struct candidate *batch[TUNER_BATCH];
  size_t batch_count, batch_size;
};

/* A candidate that a worker measures or has measured. */
struct tuner_turn {
  struct candidate *candidate; /* NULL: no candidate */
  struct cache_record record;
  struct hash image;
  double begin, end;
  bool shortened; /* the timeout was shortened by variant_timeout */
};

/* A worker and the candidate that it measures; see tuner_workers.c. */
enum { TUNER_CREDIT = 3 };
struct tuner_slot {
  struct tuner_turn turn; /* turn.candidate NULL: the worker is idle */
  struct worker_job job;
  bool lost; /* the device has failed, and the worker gets no more candidates */
  /* The last variant failed, and another worker is to try it; until then this worker gets no new
     candidates. */
  bool doubted;
  cugen_error why; /* why the device is lost or in doubt */
  bool no_data;    /* the worker is in doubt because it could not make the data */
  int credit;      /* number of further failures in a row that are believed */
  /* The variants whose failures were believed since the last variant that was right on this
     device. */
  uint64_t failed[TUNER_CREDIT];
  size_t failed_count;
};

struct tuner {
  struct tuner_run run;
  struct run_records records;
  struct proposals proposals;
  struct tuner_sharing sharing;
  /* Error that names the data still being made at the end of the budget; else CUGEN_OK. */
  cugen_error late;
  struct candidate **pending; /* expanded candidates that are being compiled, oldest first */
  size_t pending_count, pending_most;
  /* One slot for each worker; predictions have one slot without a worker. */
  struct tuner_slot *slots;
  size_t slot_count, lost_count;
  bool complete; /* the strategy is exhausted, and all its variants were measured */
  /* Candidates whose memory requests are still being counted, oldest first. */
  struct counted {
    struct candidate *candidate;
    size_t record;
  } counted[TUNER_COUNTED];
  size_t counted_count;
  size_t uncounted; /* number of coming candidates that are not counted */
  size_t given;     /* candidates taken from the strategy that had no record yet */
  double last_poll;
  char *last; /* variant text for the progress callback */
};

/* ---- tuner_queue.c -------------------------------------------------------------------------- */

/* Opens the queue of pending candidates and sets pending_most. Call tuner_close_queue even after an
   error. */
int tuner_open_queue(struct tuner *t, cugen_error *err);
void tuner_close_queue(struct tuner *t);
/* Compiles the candidate and queues it to be measured; takes over the candidate. */
int tuner_begin(struct tuner *t, struct candidate *c, cugen_error *err);
/* Returns the number of workers that measure a candidate. */
size_t tuner_busy(const struct tuner *t);
/* Returns the number of devices that are not lost. */
size_t tuner_devices_left(const struct tuner *t);
/* Returns true if the candidate failed on every device that is left. */
bool tuner_all_tried(const struct tuner *t, const struct candidate *c);
/* Removes from `pending` the candidate to be measured next on the slot's worker and returns it;
   NULL: none is compiled. slot NULL: returns only a candidate that needs no worker. */
struct candidate *tuner_take_ready(struct tuner *t, const struct tuner_slot *slot);

/* ---- tuner_workers.c ------------------------------------------------------------------------ */

int tuner_open_slots(struct tuner *t, cugen_error *err);
void tuner_close_slots(struct tuner *t);
/* Takes the results that are there and gives compiled candidates to idle workers. *advanced is set
   to true if there was anything to do. */
int tuner_advance(struct tuner *t, bool *advanced, cugen_error *err);
/* Takes the results that are there without beginning another candidate. */
int tuner_take_results(struct tuner *t, bool *advanced, cugen_error *err);
/* Called after an error of a measurement that ran alone. Returns true if the error is the device's
   own and another device is left to repeat the measurement. */
bool tuner_lose_device(struct tuner *t, const cugen_error *err);
/* ---- sharing.c ------------------------------------------------------------------------------ */

bool tuner_shares(const struct tuner *t);
/* Opens the sharing; called before tuner_load_known. */
int tuner_open_sharing(struct tuner *t, cugen_error *err);
void tuner_close_sharing(struct tuner *t);
/* Returns how many candidates may be pending. The number shrinks when few variants are left for
   each tuner. */
size_t tuner_most_ahead(const struct tuner *t);
/* Claims the candidate. It begins if the claim is granted, or waits until the other tuner has
   measured it. Takes over the candidate. */
int tuner_propose(struct tuner *t, struct candidate *c, cugen_error *err);
/* Renews the claims of all candidates under way, if a renewal is due. */
void tuner_renew_claims(struct tuner *t);
/* Reads the records that other tuners have stored, if it is time; once the strategy is exhausted,
   also claims variants that other tuners have abandoned. */
int tuner_share(struct tuner *t, cugen_error *err);
/* Sleeps a moment if this run only waits for other tuners. */
void tuner_rest(const struct tuner *t);
/* Returns true if this run settles the leaders. Exactly one of the tuners that share a space
   does. */
bool tuner_leads(struct tuner *t);
int tuner_gather_leaders(struct tuner *t, cugen_error *err);

/* ---- tuner_counting.c ----------------------------------------------------------------------- */

/* Begins to count the memory requests of a candidate that is about to run, on a thread of its
   own. */
void tuner_begin_count(struct tuner *t, struct candidate *c);
/* Puts the candidate's memory requests into its record if the count is known by now. */
void tuner_take_count(struct tuner *t, struct candidate *c, struct cache_record *record);
/* Closes the candidate of the last record. If it is still being counted, or is the best and has to
   be counted, it is closed later. */
int tuner_close_candidate(struct tuner *t, struct candidate *c, cugen_error *err);
/* Stores the counts that are complete by now. */
int tuner_keep_counts(struct tuner *t, cugen_error *err);
/* Waits a while for the remaining counts and stores those that complete. */
int tuner_settle_counts(struct tuner *t, cugen_error *err);
void tuner_drop_counts(struct tuner *t);

/* ---- tuner_energy.c ------------------------------------------------------------------------- */

/* If the objective needs energy: the share of the budget reserved for measuring energies, and the
   share of that for the race of the leaders. */
static const double tuner_energy_share = 0.5, tuner_energy_race = 0.15;
/* Measures the energy of the variants that can still win, if the objective needs energies. */
int tuner_measure_energies(struct tuner *t, cugen_error *err);

/* ---- leaders.c ------------------------------------------------------------------------------ */

/* Returns the seconds of the budget that are reserved for the race, or for verifying predictions;
   0: neither will take place. */
double tuner_race_share(const struct tuner *t);
/* Races the best few variants against one another, on GPUs. */
int tuner_settle_leaders(struct tuner *t, cugen_error *err);

/* ---- verdict.c ------------------------------------------------------------------------------ */

void tuner_count_remembered(struct tuner *t);
/* Returns the number of variants that this run did not meet. */
uint64_t tuner_count_left(const struct tuner *t);
/* Returns the status of the whole run. */
int tuner_verdict(struct tuner *t, cugen_error *err);

#endif
