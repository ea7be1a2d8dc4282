/* A candidate is a variant on its way through the tuner: its kernel for the real problem and, if it
   has one, its kernel for the check problem, with their compiles. */
#ifndef TUNE_CANDIDATE_H
#define TUNE_CANDIDATE_H

#include "bench.h"

struct candidate {
  uint64_t index;
  /* A bit for each worker on which the candidate has failed (slots.h). */
  uint64_t tried_on;
  struct kernel_spec real, check;
  bool has_check; /* the variant also runs on the check problem, so that `check` is set */
  struct compile_job *real_build, *check_build;
  /* A second compile of the real image, requested because cached images lack the PTX. */
  struct compile_job *ptx_build;
  /* The count under way of the bytes that the real image requests from memory; NULL: none. */
  struct counting *counting;
  /* Why it cannot be launched or tried, unless its compile failed; else CUGEN_OK. */
  cugen_error refused;
  /* The cause of the last run's failure. No record is stored for CUGEN_CAUSE_UNSUPPORTED, a feature
     that the cpu device lacks. */
  cugen_cause cause;
  /* The template does not expand, or the data cannot be made. Other variants may share this
     fault. */
  bool faulty;
};

/* Returns the hash under which a variant that does not expand is recorded: it has no kernel. */
struct hash candidate_refusal(const char *variant, const char *why);

/* Expands the variant of that index in the space; close with candidate_close. No compile is
   started. A variant that cannot be launched or tried gives a candidate with `refused` set. */
int candidate_open(struct bench *bench, uint64_t index, struct candidate **out, cugen_error *err);
/* Makes the user's function the kernel of an opened candidate, which keeps the arguments and data
   of its variant. The image needs no compile. Does nothing if the candidate is refused. */
int candidate_replace(struct bench *bench, struct candidate *candidate,
                      const struct tune_baseline *baseline, cugen_error *err);
/* Returns false if the candidate is refused. Refuses the candidate, and sets candidate->faulty, if
   a reason is known why its data cannot be made. */
bool candidate_has_data(struct bench *bench, struct candidate *candidate);
void candidate_close(struct bench *bench, struct candidate *candidate);
/* Starts the candidate's compiles, or takes its images from the cache. Does nothing if the
   candidate is refused. */
int candidate_build(struct bench *bench, struct candidate *candidate, cugen_error *err);
/* Stores the candidate's real image for later runs. Does nothing if the image needed no compile, or
   if the compile failed. */
int candidate_keep_image(struct bench *bench, const struct candidate *candidate, cugen_error *err);
/* Returns true if the compiles that candidate_build started have finished. */
bool candidate_ready(struct bench *bench, const struct candidate *candidate);
/* Lets the candidate's compiles begin as soon as a thread is free, even after the deadline of the
   compile pool. */
void candidate_hasten(struct bench *bench, struct candidate *candidate);
/* Waits until the candidate's compiles have finished or the compile pool is stopped, even after the
   pool's deadline. */
void candidate_finish(struct bench *bench, struct candidate *candidate);
/* Returns the sum of the seconds that the compiles of a ready candidate took. */
double candidate_compile_seconds(const struct candidate *candidate);
/* Hashes what the device would run and what decides whether the result is right: images, launches,
   arguments, data and proof. The hash is empty if an image is missing. */
struct hash candidate_image(const struct candidate *candidate);

/* Begins to count the bytes that a ready candidate requests from memory. Does nothing if the image
   has no PTX: images from the cache have none. */
void candidate_count(struct bench *bench, struct candidate *candidate);
/* Begins a second compile of the candidate if only that gives the PTX for counting. */
int candidate_want_ptx(struct bench *bench, struct candidate *candidate, cugen_error *err);
/* Waits at most `patience` seconds for the count. Returns false if the counting, or the compile for
   it, goes on. *requested becomes the number of bytes (0: not known) if a count has ended. */
bool candidate_counted(struct bench *bench, struct candidate *candidate, double patience,
                       double *requested);

/* The state of a candidate after candidate_start. */
enum candidate_way {
  CANDIDATE_RUNS,  /* the candidate is running */
  CANDIDATE_ENDED, /* the record is complete, because the candidate cannot run or need not */
  /* Another worker is making the data; there is no record, and the start is repeated later. */
  CANDIDATE_WAITS
};
/* Returns true if a ready candidate can be launched. False if the run only predicts, a compile
   failed, or the launches or the data have a fault, which becomes candidate->refused. */
bool candidate_can_run(struct bench *bench, struct candidate *candidate);
/* Starts a ready candidate on the given worker if it can run, and begins its record, which the
   caller frees unless *way is CANDIDATE_WAITS. *job stays in use until candidate_take. */
int candidate_start(struct bench *bench, struct candidate *candidate, size_t worker, bool verify,
                    const struct measure_options *measure, double timeout, struct worker_job *job,
                    struct cache_record *out, enum candidate_way *way, cugen_error *err);
/* Takes the result of a candidate whose job has ended, and completes its record. *failed as in
   bench_take. */
int candidate_take(struct bench *bench, struct candidate *candidate, size_t worker,
                   const struct worker_job *job, struct cache_record *out, double *busy,
                   const struct dataset_request **failed, cugen_error *err);
/* Completes the record of a candidate that is refused or whose data cannot be made
   (bench_give_up_data). Otherwise returns the status of err. */
int candidate_refuse(struct bench *bench, struct candidate *candidate, struct cache_record *out,
                     cugen_error *err);

/* Runs a ready candidate to its end and fills a record, which the caller frees. A variant that
   fails gives a record; an error means that the bench cannot go on. */
int candidate_run(struct bench *bench, struct candidate *candidate, bool verify,
                  const struct measure_options *measure, double timeout, struct cache_record *out,
                  double *busy, cugen_error *err);

#endif
