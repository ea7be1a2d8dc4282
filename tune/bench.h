/* A bench is what all candidates of one run share: the expander, the compile pool, the workers, and the data that variants
   run on and are compared with. */
#ifndef TUNE_BENCH_H
#define TUNE_BENCH_H

#include "compile_pool.h"
#include "tuner.h"
#include "unpredicted.h"
#include "worker_pool.h"

struct bench {
  const struct tune_target *target;
  struct expander *expander;
  struct compile_pool *pool;
  struct worker_pool *workers; /* NULL: nothing runs */
  size_t worker;               /* of several the one for what runs alone: bench_run */
  struct problem check;        /* the check problem, for this dtype and layout */
  uint64_t seed;
  struct bench_data *data;                     /* datasets, the one asked for last first */
  struct kernel_spec kernel_specs[DATA_PARTS]; /* of the data kernels, */
  struct compile_job *kernels[DATA_PARTS];     /* and their images; NULL: the host does it */
  size_t data_most; /* results beyond so many bytes are given up, and computed again when they are needed */
  struct unpredicted unpredicted;
  cugen_error refused; /* the first compile that was refused; status CUGEN_OK: none was */
  int64_t next_id;
  double data_timeout;
  struct bench_fault *faults;      /* data that cannot be made */
  size_t reached[MEASURE_REACHED]; /* measurements, by what they had reached under load */
  bool (*interrupted)(void *context);
  void *context;
  double until;
};

struct bench_options {
  uint64_t seed;
  int threads;
  size_t variants; /* as in compile_pool_options */
  double timeout;  /* of one compile */
  double until;    /* as in compile_pool_options; data that is being made then is given up: CUGEN_ERROR_INTERRUPTED */
  double data_timeout; /* of the values that this process computes, CUGEN_ERROR_DEVICE beyond it; 0: none */
  bool (*interrupted)(void *context);
  void *context;
};

int bench_open(const struct tune_target *target, const struct bench_options *options, struct bench *out,
               cugen_error *err);
void bench_close(struct bench *bench);

/* The dataset for a spec: that of its data_hash, made, with its reference and verify kernel, when it is the first of its kind. problem and
   variant are those that the spec was expanded of. *out lives until two others were asked for. When it cannot be made, that is
   remembered: bench_fault. */
int bench_dataset(struct bench *bench, const struct kernel_spec *spec, const struct problem *problem, bool timed,
                  const struct variant *variant, const struct dataset_request **out, cugen_error *err);

/* Begins to compile what will make that dataset, if nothing has begun yet: to be called as soon as a variant is going to be built. */
void bench_foresee(struct bench *bench, const struct kernel_spec *spec, const struct problem *problem, bool timed,
                   const struct variant *variant);

/* As worker_run, of one worker. Data that it cannot make is remembered: bench_fault. */
int bench_run(struct bench *bench, const struct worker_job *job, struct worker_result *out, cugen_error *err);

/* The same side by side, of several workers; see worker_pool.h. The job's data stays meanwhile. */
void bench_start(struct bench *bench, size_t worker, const struct worker_job *job);
/* Of a job that has ended. *failed: data that this worker could not make. That is not remembered yet. */
int bench_take(struct bench *bench, size_t worker, const struct worker_job *job, struct worker_result *out,
               const struct dataset_request **failed, cugen_error *err);
/* Remembers that nobody can make this data, for the reason in err. Gives that, or that there is no memory for it. */
int bench_give_up_data(struct bench *bench, const struct dataset_request *failed, cugen_error *err);
/* Whether a worker is just making the job's data for the first time: others are to wait, so that the reference is computed once. */
bool bench_awaits_data(struct bench *bench, const struct worker_job *job);

/* Why there is no data for the spec, as far as that was found out; NULL: nothing is known against it. It is the fault of what makes the
   data (a list, a file, a generator, the reference, the verify kernel), and so of all variants on that data. */
const cugen_error *bench_fault(const struct bench *bench, const struct kernel_spec *spec, bool timed);

/* From now on no data is too late. */
void bench_lift_limit(struct bench *bench);

#endif
