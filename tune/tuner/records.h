/* The records that a run works with: those from before the run and from other tuners, and its own.
   A record of this run is in the cache as soon as it is kept here, with two exceptions. A fault
   that all variants may share is held back until one variant shows that not all have it. A failure
   by CUGEN_CAUSE_UNSUPPORTED is not stored. */
#ifndef TUNE_TUNER_RECORDS_H
#define TUNE_TUNER_RECORDS_H

#include "run.h"

struct run_records {
  struct tuner_run *run;
  /* Records from before this run and from other tuners, sorted by variant. */
  struct cache_record *known;
  size_t known_count, known_capacity;
  /* The records of this run, and once the search has ended those of other tuners that are near the
     best. */
  struct cache_record *own;
  struct hash *images; /* candidate_image of each record in `own` */
  size_t count;
  size_t held; /* number of faulty records, the first ones of `own`, that are held back */
  /* A variant without a fault was seen, so that faults are those of single variants. */
  bool sound;
  cugen_error fault; /* error of the first record held back */
};

int run_records_load(struct run_records *r, cugen_error *err);
void run_records_free(struct run_records *r);

/* ---- What is known -------------------------------------------------------------------------- */

/* Adds a record of another tuner unless it is known already. If it is added, takes over its texts
   and sets *added to true. */
int run_records_learn(struct run_records *r, struct cache_record *record, bool *added,
                      cugen_error *err);
/* Returns a record that shows that the variant is wrong, or the known record of exactly this
   kernel. NULL: there is neither, or the record is of a timeout shorter than the present one, or
   certain outputs are asked for and the record does not say whether the kernel has them. */
const struct cache_record *run_records_find(const struct run_records *r,
                                            const struct kernel_spec *spec);
/* Returns the known record of this kernel if its time can be kept and only its outputs have to be
   compared; otherwise NULL. */
const struct cache_record *run_records_timed(const struct run_records *r,
                                             const struct kernel_spec *spec);
/* Opens a candidate for the variant of a record. *out becomes NULL if run_find does not find the
   variant, or if the record is a known one that run_records_find does not return. */
int run_records_open(const struct run_records *r, const struct cache_record *record,
                     struct candidate **out, cugen_error *err);
/* Like run_records_open, and begins to compile the candidate, so that several candidates compile
   side by side. The caller closes *out even after an error. */
int run_records_rebuild(const struct run_records *r, const struct cache_record *record,
                        struct candidate **out, cugen_error *err);

/* ---- Records of this run -------------------------------------------------------------------- */

/* Fills in what a new record of this kernel takes from a known one, and when in this run the record
   was made. */
void run_records_complete(const struct run_records *r, const struct kernel_spec *spec,
                          struct cache_record *record);
/* Stores the record of a new result of the candidate, or holds it back. Returns the fault if all
   variants have it, which ends the run without a record stored. */
int run_records_store(struct run_records *r, const struct candidate *c,
                      const struct cache_record *record, cugen_error *err);
/* Stores the records that were held back, because not all variants share their fault. */
int run_records_store_held(struct run_records *r, cugen_error *err);
/* Stores the record of a measurement that repeats an earlier one, and the candidate's image. */
int run_records_store_again(struct run_records *r, const struct cache_record *before,
                            struct cache_record *record, const struct candidate *c,
                            cugen_error *err);
/* Adds a record to `own` and takes over its texts. */
int run_records_keep(struct run_records *r, struct cache_record *record, struct hash image,
                     cugen_error *err);
bool run_records_has(const struct run_records *r, const char *variant);
/* Returns the record of this run that was measured with an equal image, or NULL. */
const struct cache_record *run_records_equal(const struct run_records *r, struct hash image);
/* After this, run_records_equal does not return the record of this variant any more. */
void run_records_forget(struct run_records *r, const char *variant);
/* Copies a record. The copy gets the variant and the hashes of spec; spec NULL: those of `from`. */
int run_records_copy(const struct cache_record *from, const struct kernel_spec *spec,
                     struct cache_record *out, cugen_error *err);

#endif
