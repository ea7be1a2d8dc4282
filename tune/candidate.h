/* A candidate is a variant on its way through the tuner: expanded for the check problem and the real one, its images
   being compiled, its datasets known. */
#ifndef TUNE_CANDIDATE_H
#define TUNE_CANDIDATE_H

#include "bench.h"
#include "counting.h"

struct candidate {
  uint64_t index;
  uint64_t tried_on; /* a bit for each worker on which it failed, and was not believed: another one is to try it */
  bool anew;         /* it failed on a device that was lost soon after: the strategy has heard of it */
  struct kernel_spec real, check;
  bool has_check; /* the check problem is another one and this variant is valid on it */
  struct compile_job *real_build, *check_build;
  struct compile_job *ptx_build; /* another of the real image, for its PTX */
  struct counting *counting;     /* of what the real image asks of memory; NULL: nobody counts */
  cugen_error refused;           /* status set: it cannot be launched as the config describes it, */
  bool unsupported; /* the cpu device alone cannot run it: nothing is known against it, and nothing remembered */
  bool
      faulty; /* or cannot be tried: its template does not expand, or its data cannot be made. Other variants may share that */
};

/* What a variant that is refused is known by, in place of its kernel's hash. */
struct hash candidate_refusal(const char *variant, const char *why);

/* Expands the variant; compiles nothing yet. */
int candidate_open(struct bench *bench, uint64_t index, struct candidate **out, cugen_error *err);
/* Whether nothing is known against its running; else it is refused, and faulty where its data cannot be made. */
bool candidate_has_data(struct bench *bench, struct candidate *candidate);
void candidate_close(struct bench *bench, struct candidate *candidate);
/* Starts its compiles, or takes its images from the cache. */
int candidate_build(struct bench *bench, struct candidate *candidate, cugen_error *err);
/* Keeps its image in the cache, unless it is from there: for later runs, and for variants that differ in their launch alone. */
int candidate_keep_image(struct bench *bench, const struct candidate *candidate, cugen_error *err);
bool candidate_ready(struct bench *bench, const struct candidate *candidate);
/* Its compiles begin as soon as a thread is free, however late it is. */
void candidate_hasten(struct bench *bench, struct candidate *candidate);
/* Returns when it is ready, however late. */
void candidate_finish(struct bench *bench, struct candidate *candidate);
/* What the compiles of a ready one took, one after the other. */
double candidate_compile_seconds(const struct candidate *candidate);
/* Names what the device would run and what decides whether it is right: images, launches, arguments, data, proof. Equal
   ones share a verdict and a measurement; it is empty for a candidate that cannot run. */
struct hash candidate_image(const struct candidate *candidate);

/* Begins to count what a ready one asks of memory. Not where its image came from the cache, which has no PTX. */
void candidate_count(struct bench *bench, struct candidate *candidate);
/* Begins to compile it anew for that. */
int candidate_want_ptx(struct bench *bench, struct candidate *candidate, cugen_error *err);
/* Waits for it so many seconds at most; false: it goes on. *requested becomes the bytes, where they were counted. */
bool candidate_counted(struct bench *bench, struct candidate *candidate, double patience, double *requested);

/* What a candidate needs next. */
enum candidate_way {
  CANDIDATE_RUNS,  /* it is being run */
  CANDIDATE_ENDED, /* its record is whole: it cannot run, or need not */
  CANDIDATE_WAITS  /* for its data, which another worker makes: to be begun again later; there is no record */
};
/* Whether a ready one has something to run. */
bool candidate_can_run(struct bench *bench, struct candidate *candidate);
/* Begins a ready candidate on that worker, and a record (caller frees). *job stays until its result is taken. */
int candidate_start(struct bench *bench, struct candidate *candidate, size_t worker, bool verify,
                    const struct measure_options *measure, double timeout, struct worker_job *job,
                    struct cache_record *out, enum candidate_way *way, cugen_error *err);
/* Takes the result of one that has ended, and completes its record. *failed as in bench_take. */
int candidate_take(struct bench *bench, struct candidate *candidate, size_t worker, const struct worker_job *job,
                   struct cache_record *out, double *busy, const struct dataset_request **failed, cugen_error *err);
/* The record of one whose data cannot be made, as bench_give_up_data has it. */
int candidate_refuse(struct bench *bench, struct candidate *candidate, struct cache_record *out, cugen_error *err);

/* Runs a ready candidate and fills a record (caller frees). A failing variant is a record; an error means that the
   bench cannot go on. */
int candidate_run(struct bench *bench, struct candidate *candidate, bool verify,
                  const struct measure_options *measure, double timeout, struct cache_record *out, double *busy,
                  cugen_error *err);

#endif
