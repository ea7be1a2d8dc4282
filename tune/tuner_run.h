/* One run of the tuner, as its files pass it on: tuner_records.c has what was known and what is measured, opening.c
   says what is tried first, leaders.c measures the best again, verdict.c says how it ended, tuner.c is the loop above them all. See tuner.h. */
#ifndef TUNE_TUNER_RUN_H
#define TUNE_TUNER_RUN_H

#include "bench.h"
#include "candidate.h"
#include "search/axes.h"
#include "tuner.h"

/* Seconds: where the options say nothing. */
static const double tuner_gpu_budget = 60, tuner_cpu_budget = 30, tuner_variant_timeout = 10,
                    tuner_compile_timeout = 60;

enum { TUNER_COUNTED = 4 };

/* Whether all variants so far were refused with the same error. */
struct tuner_alike {
  char *diagnostic; /* of the first */
  size_t count;
  bool other;  /* one came further, or had another error */
  bool marked; /* wanted is filled */
  uint64_t seen[STRATEGY_MAX_AXES],
      wanted[STRATEGY_MAX_AXES]; /* values by axis: of those refused, of the whole space */
};

/* Several tuners on one space; see sharing.c. */
enum { TUNER_BATCH = 64 };
struct tuner_sharing {
  char owner[24]; /* of this run's claims; "": the cache keeps none, and nothing is shared */
  uint64_t seed;  /* so that no two walk in the same order; 0 where nothing is shared */
  int64_t since;  /* as of cache_news */
  size_t tuners;
  double asked, renewed;
  struct tuner_waiting {
    uint64_t index;
    char *variant;
    struct hash hash;
    int recorded; /* how often a claim was refused since there is a record */
  } * waiting;    /* variants that other tuners have claimed */
  size_t count, capacity;
  struct candidate *batch[TUNER_BATCH]; /* that are asked for at once, when there are batch_size of them */
  size_t batch_count, batch_size;
};

/* A variant that a worker measures, or has measured. */
struct tuner_turn {
  struct candidate *candidate; /* NULL: there is none */
  struct cache_record record;
  struct hash image;
  double begin, end;
  bool shortened; /* as of variant_timeout */
};

/* A worker, and what it measures; see tuner_workers.c. */
enum { TUNER_CREDIT = 3 };
struct tuner_slot {
  struct tuner_turn turn; /* without a candidate: it is idle */
  struct worker_job job;
  bool lost;       /* its device failed: it gets nothing more */
  bool doubted;    /* its last variant failed, and is another one's to try: it gets nothing new meanwhile */
  cugen_error why; /* for which reason */
  bool no_data;    /* it could not make the data */
  int credit;      /* how many failures in a row are believed */
  uint64_t failed[TUNER_CREDIT]; /* variants whose failure was believed since something came out right */
  size_t failed_count;
};

struct tuner {
  const struct tune_target *target;
  const cugen_tune_options *options;
  cugen_tune_result *result;
  struct bench bench;
  const struct strategy_ops *strategy_ops;
  struct axes *axes; /* of the space, for the strategy */
  struct strategy *strategy;
  struct cache_record *known; /* remembered before this run, by variant text */
  size_t known_count, known_capacity;
  struct tuner_sharing sharing;
  struct cache_record *records; /* made in this run, and the remembered right ones: what leaders are chosen from */
  struct hash *images;          /* of each of them: candidate_image */
  size_t record_count, record_capacity;
  size_t held;       /* of records, the first ones: all that came are faulty, and none is remembered yet */
  cugen_error fault; /* of the first of them */
  bool sound;        /* another variant came, or was remembered: faults are those of single variants */
  const struct cache_record *wrong; /* of predictions: the first variant met that is known to be wrong */
  cugen_error late;                 /* status set: the data that was still being made at the end of the budget */
  struct candidate **pending;       /* expanded and being compiled, oldest first */
  size_t pending_count, pending_most;
  struct tuner_slot *slots; /* one a worker; of predictions one, without */
  size_t slot_count, lost_count;
  struct fastest {
    double cost, seconds;
  } * fastest; /* of each implementation, in this run or remembered; cost INFINITY: nothing is known */
  struct tuner_alike alike;
  bool exhausted; /* the strategy has nothing left */
  bool complete;  /* and all that it gave was measured */
  bool interrupted;
  struct counted {
    struct candidate *candidate;
    size_t record;
  } counted[TUNER_COUNTED]; /* those whose requests are still being counted; the latest last */
  size_t counted_count;
  size_t uncounted; /* how many of the next ones are not counted */
  size_t given;     /* candidates taken from the strategy and not remembered */
  uint64_t skipped; /* remembered ones it passed over */
  double begin, budget, last_poll;
  int64_t began_at;                             /* begin, as cugen_record.run_began */
  char *best, *last;                            /* for progress */
  double best_seconds, best_cost, flops, bytes; /* of the best, as the search ranks it */
  cugen_stage stage;
};

/* ---- tuner_records.c ---- */

/* What the config's objective makes of it: less is better. */
double tuner_cost(const struct tuner *t, const struct cache_record *record);
/* It is right and, where certain outputs are asked for, has them. */
bool tuner_is_wanted(const struct tuner *t, const struct cache_record *record);
/* False: it has no energy, and the objective needs it. */
bool tuner_cost_is_known(const struct tuner *t, const struct cache_record *record);
/* The same for the search, which knows no energies: where the objective needs them, as if all drew the same power. */
double tuner_search_cost(const struct tuner *t, const struct cache_record *record);
/* Fills known, sorted by variant. */
int tuner_load_known(struct tuner *t, cugen_error *err);
/* Adds one that another tuner has made meanwhile, and then has what it holds. *added: it is not there yet. */
int tuner_add_known(struct tuner *t, struct cache_record *record, bool *added, cugen_error *err);
/* What is remembered of this very kernel; NULL: nothing. */
const struct cache_record *tuner_find_current(const struct tuner *t, const struct kernel_spec *spec);
/* The same, unless it is not known whether it has the outputs that are asked for. */
const struct cache_record *tuner_find_known(const struct tuner *t, const struct kernel_spec *spec);
/* A candidate for the variant of a record of this run or of what is remembered; NULL: it is not asked for, or remembered of another source. */
int tuner_open_again(struct tuner *t, const struct cache_record *record, struct candidate **out, cugen_error *err);
/* What is remembered of its time, where nobody knows yet whether it has the outputs that are asked for; NULL: nothing. */
const struct cache_record *tuner_find_timed(const struct tuner *t, const struct kernel_spec *spec);
/* Such times in place of those of a run that only compared. */
void tuner_keep_times(const struct cache_record *timed, struct cache_record *record);
/* Notes when in this run the record was made. */
void tuner_stamp(const struct tuner *t, struct cache_record *record);
/* Takes over what *record holds. */
int tuner_keep_record(struct tuner *t, struct cache_record *record, struct hash image, cugen_error *err);
bool tuner_has_record(const struct tuner *t, const char *variant);
/* What this run measured under another name answers for this one: parameters that the compiler saw through (an unused
   padding, a bound that does not bind) give equal images. NULL: nothing does. */
const struct cache_record *tuner_find_equal(const struct tuner *t, struct hash image);
/* The energy of an earlier measurement of this kernel, into one that has none. */
void tuner_keep_energy(const struct cache_record *from, struct cache_record *to);
/* The same result, as the spec's own. */
int tuner_copy_record(const struct cache_record *from, const struct kernel_spec *spec, struct cache_record *out,
                      cugen_error *err);
void tuner_free_records(struct tuner *t);

/* ---- tuner_queue.c ---- */

/* pending_most is set. To be closed whatever comes back. */
int tuner_open_queue(struct tuner *t, cugen_error *err);
void tuner_close_queue(struct tuner *t);
void tuner_note_fastest(struct tuner *t, uint64_t index, const struct cache_record *record);
/* Workers that measure something. */
size_t tuner_busy(const struct tuner *t);
/* Those whose device has not failed. */
size_t tuner_devices_left(const struct tuner *t);
/* Whether there is no other device that could try this one. */
bool tuner_all_tried(const struct tuner *t, const struct candidate *c);
/* The candidate to be measured next on that worker, no longer among those pending; NULL: it is still being compiled. slot NULL: one that
   needs no worker. */
struct candidate *tuner_take_ready(struct tuner *t, const struct tuner_slot *slot);

/* ---- tuner_workers.c ---- */

int tuner_open_slots(struct tuner *t, cugen_error *err);
void tuner_close_slots(struct tuner *t);
/* Takes the results that are there, and gives idle workers what is ready. *advanced: there was something. */
int tuner_advance(struct tuner *t, bool *advanced, cugen_error *err);
/* The first half of that. */
int tuner_take_results(struct tuner *t, bool *advanced, cugen_error *err);
/* After an error of what ran alone: whether it is that device's, and another one is there to do it. */
bool tuner_lose_device(struct tuner *t, const cugen_error *err);
/* Remembers what was held back: it is not wrong with all variants. */
int tuner_give_held(struct tuner *t, cugen_error *err);

/* ---- tuner_best.c ---- */

void tuner_note_best(struct tuner *t, const struct cache_record *record);
void tuner_tell_strategy(struct tuner *t, uint64_t index, const struct cache_record *record);
/* A remembered variant that this run met, or heard of from another tuner, and would otherwise have measured. */
void tuner_meet_known(struct tuner *t, uint64_t index, const struct cache_record *record);
/* Has it compiled, and then measured; takes it over. */
int tuner_begin(struct tuner *t, struct candidate *c, cugen_error *err);

/* ---- sharing.c ---- */

bool tuner_shares(const struct tuner *t);
/* Before what is known is loaded. */
int tuner_open_sharing(struct tuner *t, cugen_error *err);
void tuner_close_sharing(struct tuner *t);
/* How many variants may be under way: fewer when few are left for each. */
size_t tuner_most_ahead(const struct tuner *t);
/* A candidate that is to be claimed first. It is begun, or waits until another tuner has measured it; this takes it over. */
int tuner_propose(struct tuner *t, struct candidate *c, cugen_error *err);
/* Of what is under way, when it is time. */
void tuner_renew_claims(struct tuner *t);
/* Takes what other tuners have found, and at the end what they have left, when it is time. */
int tuner_share(struct tuner *t, cugen_error *err);
/* A pause, where there is nothing to do but to wait for others. */
void tuner_rest(const struct tuner *t);
/* Whether this run settles the leaders: one of all does. */
bool tuner_leads(struct tuner *t);
int tuner_gather_leaders(struct tuner *t, cugen_error *err);

/* ---- tuner_counting.c ---- */

/* Of a candidate that is about to run, on a thread of its own. */
void tuner_begin_count(struct tuner *t, struct candidate *c);
/* What a candidate that has run asks of memory, into its record, if that is known by now. */
void tuner_take_count(struct tuner *t, struct candidate *c, struct cache_record *record);
/* Closes the candidate of the last record; if it is still being counted, or is the best and yet to be, later. */
int tuner_close_candidate(struct tuner *t, struct candidate *c, cugen_error *err);
/* Remembers what is counted by now. */
int tuner_keep_counts(struct tuner *t, cugen_error *err);
/* Waits a while for what is not, and remembers what came of it. */
int tuner_settle_counts(struct tuner *t, cugen_error *err);
void tuner_drop_counts(struct tuner *t);

/* ---- alike.c ---- */

/* Notes how a variant ended, in this run or in one that is remembered. */
void tuner_note_end(struct tuner *t, uint64_t index, const struct cache_record *record);
/* Whether the run may end because one error refuses all variants; sets the result's alike. */
bool tuner_is_alike(struct tuner *t);

/* ---- opening.c ---- */

/* Whether the options ask for this implementation; for that of this variant. */
bool tuner_wants(const struct tuner *t, const struct space_implementation *one);
bool tuner_wants_index(const struct tuner *t, uint64_t index);
/* The strategy over what is asked for. CUGEN_ERROR_EMPTY: there is nothing to try, and the reason. */
int tuner_open_strategy(struct tuner *t, cugen_error *err);

/* ---- tuner_energy.c ---- */

/* Of a budget, where the objective needs energy: what is kept for measuring it, and of that for the race. */
static const double tuner_energy_share = 0.5, tuner_energy_race = 0.15;
/* Measures the energy of those that can win, if the objective needs it. */
int tuner_measure_energies(struct tuner *t, cugen_error *err);

/* ---- leaders.c ---- */

/* The seconds of the budget that are kept for it, or for verifying predictions; 0: there will be none. */
double tuner_race_share(const struct tuner *t);
/* Races the best few against one another; for a GPU. */
int tuner_settle_leaders(struct tuner *t, cugen_error *err);

/* ---- verdict.c ---- */

void tuner_count_remembered(struct tuner *t);
/* How many variants this run did not meet. */
uint64_t tuner_count_left(const struct tuner *t);
/* The status of the whole run. */
int tuner_verdict(struct tuner *t, cugen_error *err);

#endif
