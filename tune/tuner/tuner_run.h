/* The state of one run of the tuner (see tuner.h), shared by its files: tuner_records.c has the
   known and the new records, opening.c decides what is tried first, leaders.c measures the best
   variants again, verdict.c decides the status of the run, and tuner.c has the loop above them
   all. */
#ifndef TUNE_TUNER_TUNER_RUN_H
#define TUNE_TUNER_TUNER_RUN_H

#include "tune/bench.h"
#include "tune/candidate.h"
#include "tune/search/axes.h"
#include "tuner.h"

/* Defaults in seconds, used if the options leave them out. */
static const double tuner_gpu_budget = 60, tuner_cpu_budget = 30, tuner_variant_timeout = 10,
                    tuner_compile_timeout = 60;

enum { TUNER_COUNTED = 4 };

/* Evidence that one error refuses all variants (alike.c). */
struct tuner_alike {
  char *diagnostic; /* diagnostic of the first refused variant */
  size_t count;
  bool other;  /* some variant was not refused, or was refused with another error */
  bool marked; /* `wanted` is filled in */
  /* The values that occurred, as bits by axis: among the refused variants, and in the whole
     space. */
  uint64_t seen[STRATEGY_MAX_AXES], wanted[STRATEGY_MAX_AXES];
};

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
  const struct tune_target *target;
  const cugen_tune_options *options;
  cugen_tune_result *result;
  struct bench bench;
  const struct strategy_ops *strategy_ops;
  struct axes *axes; /* axes of the space, for the strategy */
  struct strategy *strategy;
  /* Records from before this run and from other tuners, sorted by variant. */
  struct cache_record *known;
  size_t known_count, known_capacity;
  struct tuner_sharing sharing;
  /* The records of this run and the right ones among the remembered; leaders are chosen from
     them. */
  struct cache_record *records;
  struct hash *images; /* candidate_image of each record */
  size_t record_count, record_capacity;
  /* Number of records, from the first on, that are held back: all are faulty, and none is stored
     yet. */
  size_t held;
  cugen_error fault; /* error of the first record held back */
  /* A variant without a fault was seen, so that faults are those of single variants. */
  bool sound;
  /* For predictions: the first variant met that is known to be wrong. */
  const struct cache_record *wrong;
  /* Error that names the data still being made at the end of the budget; else CUGEN_OK. */
  cugen_error late;
  struct candidate **pending; /* expanded candidates that are being compiled, oldest first */
  size_t pending_count, pending_most;
  /* One slot for each worker; predictions have one slot without a worker. */
  struct tuner_slot *slots;
  size_t slot_count, lost_count;
  /* By implementation: cost and time of the best record of this run or before; cost INFINITY: no
     record. */
  struct fastest {
    double cost, seconds;
  } * fastest;
  struct tuner_alike alike;
  bool exhausted; /* the strategy has no further variants */
  bool complete;  /* the strategy is exhausted, and all its variants were measured */
  bool interrupted;
  /* Candidates whose memory requests are still being counted, oldest first. */
  struct counted {
    struct candidate *candidate;
    size_t record;
  } counted[TUNER_COUNTED];
  size_t counted_count;
  size_t uncounted; /* number of coming candidates that are not counted */
  size_t given;     /* candidates taken from the strategy that had no record yet */
  uint64_t skipped; /* variants of the strategy that had a record already */
  double begin, budget, last_poll;
  int64_t began_at;  /* `begin` in the unit of cugen_record.run_began */
  char *best, *last; /* variant texts for the progress callback */
  /* Figures of the best record, as the search ranks records. */
  double best_seconds, best_cost, flops, bytes;
  cugen_stage stage;
};

/* ---- tuner_records.c ------------------------------------------------------------------------ */

/* Returns the cost of a record by the config's objective; less is better. */
double tuner_cost(const struct tuner *t, const struct cache_record *record);
/* Returns true if the record is right and, if certain outputs are asked for, has them. */
bool tuner_is_wanted(const struct tuner *t, const struct cache_record *record);
/* Returns false if the objective needs an energy and the record has none. */
bool tuner_cost_is_known(const struct tuner *t, const struct cache_record *record);
/* Like tuner_cost, for the search, which measures no energies: if the objective needs them, all
   variants count as drawing the same power. */
double tuner_search_cost(const struct tuner *t, const struct cache_record *record);
/* Loads t->known from the cache and sorts it by variant. */
int tuner_load_known(struct tuner *t, cugen_error *err);
/* Adds a record of another tuner to t->known, which takes over its texts. *added is set to true
   unless the record was there. */
int tuner_add_known(struct tuner *t, struct cache_record *record, bool *added, cugen_error *err);
/* Returns the known record of exactly this kernel, or NULL. */
const struct cache_record *tuner_find_current(const struct tuner *t,
                                              const struct kernel_spec *spec);
/* Like tuner_find_current, but returns NULL if certain outputs are asked for and the record does
   not say whether the kernel has them. */
const struct cache_record *tuner_find_known(const struct tuner *t, const struct kernel_spec *spec);
/* Opens a candidate for the variant of a record. *out becomes NULL if the variant is not asked for,
   or if a known record is of another source. */
int tuner_open_again(struct tuner *t, const struct cache_record *record, struct candidate **out,
                     cugen_error *err);
/* Returns the known record of this kernel if its time can be kept and only its outputs have to be
   compared; otherwise NULL. */
const struct cache_record *tuner_find_timed(const struct tuner *t, const struct kernel_spec *spec);
/* Copies the times of a record from tuner_find_timed into a record of a run that only compared
   outputs. */
void tuner_keep_times(const struct cache_record *timed, struct cache_record *record);
/* Sets when in this run the record was made. */
void tuner_stamp(const struct tuner *t, struct cache_record *record);
/* Adds a record of this run and takes over its texts. */
int tuner_keep_record(struct tuner *t, struct cache_record *record, struct hash image,
                      cugen_error *err);
bool tuner_has_record(const struct tuner *t, const char *variant);
/* Returns the record of this run that was measured with an equal image, or NULL. Parameters that do
   not change the compiled code (an unused padding, a bound that does not bind) give equal
   images. */
const struct cache_record *tuner_find_equal(const struct tuner *t, struct hash image);
/* Copies the energy of an earlier measurement of the same kernel into a record that has none. */
void tuner_keep_energy(const struct cache_record *from, struct cache_record *to);
/* Copies a record under the variant and the hashes of spec. */
int tuner_copy_record(const struct cache_record *from, const struct kernel_spec *spec,
                      struct cache_record *out, cugen_error *err);
void tuner_free_records(struct tuner *t);

/* ---- tuner_queue.c -------------------------------------------------------------------------- */

/* Opens the queue of pending candidates and sets pending_most. Call tuner_close_queue even after an
   error. */
int tuner_open_queue(struct tuner *t, cugen_error *err);
void tuner_close_queue(struct tuner *t);
void tuner_note_fastest(struct tuner *t, uint64_t index, const struct cache_record *record);
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
/* Stores the records that were held back, because not all variants share their fault. */
int tuner_give_held(struct tuner *t, cugen_error *err);

/* ---- tuner_best.c --------------------------------------------------------------------------- */

void tuner_note_best(struct tuner *t, const struct cache_record *record);
void tuner_tell_strategy(struct tuner *t, uint64_t index, const struct cache_record *record);
/* Uses the record of a variant that this run would otherwise have measured: a remembered record or
   another tuner's. */
void tuner_meet_known(struct tuner *t, uint64_t index, const struct cache_record *record);
/* Compiles the candidate and queues it to be measured; takes over the candidate. */
int tuner_begin(struct tuner *t, struct candidate *c, cugen_error *err);

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

/* ---- alike.c -------------------------------------------------------------------------------- */

/* Notes how a variant ended in this run, or in an earlier run by its record. */
void tuner_note_end(struct tuner *t, uint64_t index, const struct cache_record *record);
/* Returns true if the run may end because one error refuses all variants; sets result->alike
   then. */
bool tuner_is_alike(struct tuner *t);

/* ---- opening.c ------------------------------------------------------------------------------ */

/* Returns true if the options ask for this implementation; tuner_wants_index: for the
   implementation of this variant. */
bool tuner_wants(const struct tuner *t, const struct space_implementation *one);
bool tuner_wants_index(const struct tuner *t, uint64_t index);
/* Opens the strategy over the variants that are asked for. CUGEN_ERROR_EMPTY, with the reason, if
   there is nothing to try. */
int tuner_open_strategy(struct tuner *t, cugen_error *err);

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
