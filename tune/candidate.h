/* A candidate is a variant on its way through the tuner: expanded for the check problem and the real one, its images
   being compiled, its datasets known. A bench is what all candidates of one run share. */
#ifndef TUNE_CANDIDATE_H
#define TUNE_CANDIDATE_H

#include "builds.h"
#include "tuner.h"
#include "worker.h"

struct bench {
  const struct tune_target *target;
  struct expander *expander;
  struct builds *builds;
  struct worker *worker;
  struct problem check; /* the check problem, for this dtype and layout */
  uint64_t seed;
  struct bench_data *data; /* datasets seen so far */
  int64_t next_id;
};

struct candidate {
  uint64_t index;
  struct kernel_spec real, check;
  bool has_check; /* the check problem is another one and this variant is valid on it */
  struct build *real_build, *check_build;
  cugen_error refused; /* status set: it cannot be launched as the config describes it */
};

struct bench_options {
  uint64_t seed;
  int threads;
  double timeout; /* of one compile */
  bool (*interrupted)(void *context);
  void *context;
};

int bench_open(const struct tune_target *target, const struct bench_options *options, struct bench *out,
               cugen_error *err);
void bench_close(struct bench *bench);

/* The dataset for a spec, made, with its reference, when it is the first of its kind. problem is borrowed for as
   long as the bench lives, and so long lives *out. */
int bench_dataset(struct bench *bench, const struct kernel_spec *spec, const struct problem *problem, bool timed,
                  const struct variant *variant, const struct dataset_request **out, cugen_error *err);

/* Expands the variant; compiles nothing yet. */
int candidate_open(struct bench *bench, uint64_t index, struct candidate **out, cugen_error *err);
void candidate_close(struct bench *bench, struct candidate *candidate);
/* Starts its compiles, or takes its images from the cache. */
int candidate_build(struct bench *bench, struct candidate *candidate, cugen_error *err);
/* Keeps its image in the cache: for those that later runs are likely to launch. */
int candidate_keep_image(struct bench *bench, const struct candidate *candidate, cugen_error *err);
bool candidate_ready(struct bench *bench, const struct candidate *candidate);
/* Names what the device would run: image, launches, arguments. Equal ones share a measurement; it is empty for a
   candidate that cannot run. */
struct hash candidate_image(const struct candidate *candidate);

/* Runs a ready candidate and fills a record (caller frees). A failing variant is a record; an error means that the
   bench cannot go on. */
int candidate_run(struct bench *bench, struct candidate *candidate, bool verify,
                  const struct measure_options *measure, double timeout, struct cache_record *out, double *busy,
                  cugen_error *err);

#endif
