/* A bench holds what the candidates of one run share: the expander, the compile pool, the workers,
   and the datasets that variants run on and are compared with. */
#ifndef TUNE_BENCH_H
#define TUNE_BENCH_H

#include "compile_pool.h"
#include "target.h"
#include "worker/worker_pool.h"

/* A kernel that makes or judges data, and its compile. */
struct bench_kernel {
  struct text name; /* for messages */
  struct kernel_spec spec;
  struct compile_job *build; /* NULL: there is no such kernel */
};

/* Where an image is kept for later runs. */
struct bench_images {
  struct cache *cache;          /* NULL: no cache */
  struct kept_images *with_ptx; /* used in place of the cache, unless NULL */
  const char *options;          /* as in cache_image_key */
};

struct bench {
  const struct tune_target *target;
  struct expander *expander;
  struct compile_pool *pool;
  struct worker_pool *workers; /* NULL if the run only predicts */
  size_t worker;               /* index of the worker that bench_run uses */
  /* The config's check problem, with this run's values for parameters that the config's `check`
     does not name, such as dtype. */
  struct problem check;
  uint64_t seed;
  struct bench_data *data; /* list of datasets, most recently requested first */
  /* The data kernels (data_kernels.h); build NULL: the host fills and compares. */
  struct bench_kernel kernels[DATA_PARTS];
  /* Limit in bytes of the shared memory of all datasets, beyond which old datasets are dropped. */
  size_t data_most;
  /* The model's reasons for refusing variants, as candidate.c found them. */
  struct unpredicted_reason {
    char *of, *placed; /* "IMPLEMENTATION: reason", and the reason with its source line */
    struct unpredicted_reason *next;
  } * unpredicted;
  cugen_error refused; /* error of the first compile that failed; CUGEN_OK: no compile failed */
  int64_t next_id;
  double data_timeout;
  struct bench_fault *faults; /* list of the datasets that cannot be made, with the reasons */
  /* Number of right measurements by enum measure_reached. */
  size_t reached[MEASURE_REACHED];
  bool (*interrupted)(void *context);
  void *context;
  double until; /* the deadline of bench_options; the workers read it, too */
};

struct bench_options {
  uint64_t seed;
  int threads;
  size_t variants; /* as in compile_pool_options */
  double timeout;  /* seconds for one compile */
  /* Deadline as in compile_pool_options. A dataset still being made at the deadline is given up
     with CUGEN_ERROR_INTERRUPTED. */
  double until;
  /* Seconds for computing the values of one argument in this process; a longer computation fails
     with CUGEN_ERROR_DEVICE. 0: no limit. */
  double data_timeout;
  bool (*interrupted)(void *context);
  void *context;
};

/* Requests the image of the spec: taken from `in` if it is there, otherwise compiled. The caller
   releases the job with compile_job_release. */
int bench_request_image(struct bench *bench, const struct bench_images *in,
                        const struct kernel_spec *spec, struct compile_job **out, cugen_error *err);
/* Stores the image of a finished job in `in`, unless the image is there already. */
int bench_keep_image(const struct bench *bench, const struct bench_images *in,
                     const struct kernel_spec *spec, struct compile_job *job, cugen_error *err);

int bench_open(const struct tune_target *target, const struct bench_options *options,
               struct bench *out, cugen_error *err);
void bench_close(struct bench *bench);

/* Gives the dataset for a spec. Calls with equal data_hash and `timed` share one dataset. The spec
   was expanded from problem and variant. *out lives at least until two other datasets have been
   requested or foreseen. If the call fails because of the data, bench_fault returns the reason from
   then on. */
int bench_dataset(struct bench *bench, const struct kernel_spec *spec,
                  const struct problem *problem, bool timed, const struct variant *variant,
                  const struct dataset_request **out, cugen_error *err);

/* Begins to compile the kernels that make the spec's dataset, unless their compiles have begun or
   bench_fault has a reason. bench_dataset reports errors. */
void bench_foresee(struct bench *bench, const struct kernel_spec *spec,
                   const struct problem *problem, bool timed, const struct variant *variant);

/* Like worker_run, on the worker numbered bench->worker. If the worker cannot make the data,
   bench_fault returns the reason from then on. */
int bench_run(struct bench *bench, const struct worker_job *job, struct worker_result *out,
              cugen_error *err);

/* Starts a job on the given worker (worker_pool.h). The job's data stays alive until bench_take. */
void bench_start(struct bench *bench, size_t worker, const struct worker_job *job);
/* Takes the result of a job that has ended. *failed becomes the dataset that the worker could not
   make, or NULL; such a failure is not remembered before bench_give_up_data. */
int bench_take(struct bench *bench, size_t worker, const struct worker_job *job,
               struct worker_result *out, const struct dataset_request **failed, cugen_error *err);
/* Remembers that no worker can make this dataset, with err as the reason. Returns the status of
   err, or CUGEN_ERROR_MEMORY. */
int bench_give_up_data(struct bench *bench, const struct dataset_request *failed, cugen_error *err);
/* Returns true if a worker is making the job's data for the first time, so that a second worker
   would compute the reference again. */
bool bench_awaits_data(struct bench *bench, const struct worker_job *job);

/* Returns the known reason why the spec's dataset cannot be made, such as a faulty list, generator
   or reference; NULL if no reason is known. */
const cugen_error *bench_fault(const struct bench *bench, const struct kernel_spec *spec,
                               bool timed);

/* Removes the deadline for making data. No worker may have a job during the call. */
void bench_lift_limit(struct bench *bench);

#endif
