/* A worker is a process that owns one device, so that a variant that hangs, traps or overwrites
   memory harms no other process. The coordinator (the tuning process) starts a worker, asks it, and
   replaces it after its death. On request, a thread of this process serves in place of a worker
   process. */
#ifndef TUNE_WORKER_WORKER_H
#define TUNE_WORKER_WORKER_H

#include <stdatomic.h>

#include "isolate.h"
#include "measure.h"
#include "runtime/compile/toolkit.h"
#include "tune/data/dataset.h"

struct worker;

/* Memory shared with the worker process. A kernel of the cpu device can overwrite it with
   anything. */
struct worker_shared {
  struct fault fault; /* the fault that the process reports as it dies */
  /* The generator, reference or verify kernel that runs, or ran when the process died; "": none. */
  char doing[DATASET_DOING_BYTES];
  /* The variant ran on the check problem, which differs from the problem that is timed. */
  bool on_check;
  struct isolate_output output; /* what the kernels printed */
  struct watch_report report;
};

struct worker_options {
  const char *program; /* program, started as `program worker`; NULL: none was found */
  const char *places;  /* the places where the program was looked for, for messages */
  const char *device;  /* id such as "cuda:0" */
  struct toolkit_options toolkit;
  bool in_process;    /* run as a thread of this process */
  void *cuda_context; /* for in_process: the thread's CUDA context; NULL: the primary context */
  /* Called repeatedly while waiting; if it returns true, the wait ends with CUGEN_ERROR_INTERRUPTED
     and the worker is ended. */
  bool (*interrupted)(void *context);
  void *context;
  /* Deadline on clock_seconds for making data, after which a wait ends as if interrupted. The
     deadline is read when the data is asked for, so that the caller can change it. NULL or 0:
     none. */
  const double *until;
};

/* Opens a worker without starting its process; the first question starts it. Strings are
   borrowed. */
int worker_open(const struct worker_options *options, struct worker **out, cugen_error *err);
/* Starts the worker's process, unless it is a thread; the process opens the device in the
   background. A failure is reported when the worker is first needed. */
void worker_begin(struct worker *worker);

/* Starts the worker's process and asks it to list the GPUs of this machine. Call it before any
   other question. */
void worker_ask_gpus(struct worker *worker);
/* Waits for the list and returns the number of descriptions in *out, which the caller frees. The
   process stays, and opens its device sooner because CUDA has started. 0: the list is not known,
   and the caller has to look for GPUs itself. */
int worker_take_gpus(struct worker *worker, struct device_description **out);
/* Sets the options of a worker that so far only listed the GPUs. The program and the toolkit must
   be those of worker_open. */
void worker_go_on(struct worker *worker, const struct worker_options *options);
void worker_close(struct worker *worker);

/* The job of one variant: verified on `check` (may be NULL) and on `real`, then timed. The worker
   makes the datasets when they are first needed, and again after a crash. */
struct worker_job {
  const struct dataset_request *check, *real;
  const struct kernel_spec *check_spec, *real_spec;
  const struct compiled *check_compiled, *real_compiled;
  bool verify; /* false: the variant is known to be right and is only timed */
  /* The real image is compiled to report its accesses and faults (watch_report): it runs on `real`
     without being timed, and is compared unless it only counts. worker_report has the findings,
     also if the process died. */
  bool watched;
  /* If watched: as in watch_report; with WATCH_TRAFFIC nothing is compared. */
  enum watch_mode mode;
  uint32_t count_blocks; /* if watched: as in watch_report; above 0 nothing is compared */
  uint32_t processes;    /* if watched: as in watch_report */
  struct measure_options measure;
  /* Seconds for the variant's runs; a watched job may take longer. Making each dataset may take as
     long again for a watched job, and ten times as long for others. */
  double timeout;
};

struct worker_result {
  cugen_outcome outcome;
  cugen_cause cause;        /* cause of a failure, if known */
  char reason[1024];        /* "" if the outcome is OK */
  bool on_check;            /* the failure is on the check problem rather than on the real one */
  double error;             /* largest error, in units of the tolerance */
  bool has_outputs, varies; /* the outputs' bits are known; the bits differed between launches */
  uint64_t outputs;         /* dataset_outputs of the real problem */
  struct measurement measurement;
  /* Clusters of the heaviest launch that run at once; 0: no clusters, or the number is not
     known. */
  int active_clusters;
  double seconds; /* seconds that the variant kept the worker busy */
};

/* Describes where a worker runs; all zero: in a process of its own. */
struct worker_place {
  bool embedded;           /* in a thread of the application's process */
  void *context;           /* the CUDA context to use; NULL: the primary context */
  const atomic_bool *stop; /* NULL, or a flag that is set when the worker has to stop */
};

/* The body of cugen_worker_main: serves the coordinator over `socket` until the coordinator hangs
   up, and returns the exit code. */
int worker_serve(int socket, const struct worker_place *place);

/* Runs a job. A variant that fails is a result, not an error. An error means that the worker cannot
   work at all (no device, interrupted), unless *failed is set: then this dataset cannot be made,
   and the worker can go on with other datasets. */
int worker_run(struct worker *worker, const struct worker_job *job, struct worker_result *out,
               const struct dataset_request **failed, cugen_error *err);

/* Returns true while the worker makes data or computes a reference. Any thread may call this and
   worker_has_data, also while another thread waits for the worker. */
bool worker_makes_data(const struct worker *worker);
/* Returns true if the worker's running process has made the data. */
bool worker_has_data(const struct worker *worker, const struct dataset_request *data);

/* Appends what the kernels of the last job printed on the cpu device, in all launches or in the
   first, with control characters escaped; if text was dropped, also how many bytes there were. */
void worker_printed(const struct worker *worker, bool all, struct text *out);

/* Returns the report of the last watched job, valid until the next job or worker_close. */
const struct watch_report *worker_report(const struct worker *worker);

/* Returns CUGEN_ERROR_DEVICE if the last job left the worker unusable: a worker thread that does
   not end, or a broken context of this process. A worker process is replaced instead. */
int worker_usable(const struct worker *worker, cugen_error *err);

#endif
