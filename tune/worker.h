/* The worker: a process of its own that owns one device, so that a variant that hangs, traps or scribbles takes nobody
   with it. The coordinator's side of it is here: start, ask, and replace it when it died. On request a thread of this
   process takes its place. */
#ifndef TUNE_WORKER_H
#define TUNE_WORKER_H

#include <stdatomic.h>

#include "dataset.h"
#include "isolate.h"
#include "measure.h"
#include "runtime/compile/toolkit.h"

struct worker;

/* Shared with the process. Any kernel of the cpu device can write what it likes there. */
struct worker_shared {
  struct fault fault;              /* what the process says as it dies */
  char doing[DATASET_DOING_BYTES]; /* what ran then, where that was not the variant; "" */
  bool on_check; /* the variant ran on the check problem, which is another one than the one it is timed on */
  struct isolate_output output; /* what was printed */
  struct watch_report report;
};

struct worker_options {
  const char *program; /* started as: program worker; NULL: none was found, */
  const char *places;  /* in these places */
  const char *device;  /* "cuda:0" */
  struct toolkit_options toolkit;
  bool in_process;    /* a thread rather than a process */
  void *cuda_context; /* for the thread: as device_options.context */
  /* Polled while waiting; true: give up with CUGEN_ERROR_INTERRUPTED (the worker is ended). */
  bool (*interrupted)(void *context);
  void *context;
  double until; /* of clock_seconds: the same for data that is still being made then; 0: never */
};

/* Strings are borrowed. The process starts with the first question. */
int worker_open(const struct worker_options *options, struct worker **out, cugen_error *err);
/* Starts its process, which opens the device meanwhile: what fails is told when the worker is first needed. */
void worker_begin(struct worker *worker);

/* Starts its process, which lists the GPUs of this machine. Before anything else. */
void worker_ask_gpus(struct worker *worker);
/* Waits for the list: as many descriptions through *out, to be freed; 0: nothing is known, and whoever asks looks for himself. The
   process stays, and opens its device the sooner for it. */
int worker_take_gpus(struct worker *worker, struct device_description **out);
/* For one that did nothing else so far: the options that it goes on with. Its program and toolkit stay. */
void worker_go_on(struct worker *worker, const struct worker_options *options);
void worker_close(struct worker *worker);

/* One variant: verified on `check` (may be NULL) and on `real`, then timed. The datasets are made in the worker when
   first needed, and again after a crash. */
struct worker_job {
  const struct dataset_request *check, *real;
  const struct kernel_spec *check_spec, *real_spec;
  const struct compiled *check_compiled, *real_compiled;
  bool verify; /* false: it is known to be right; time it again */
  /* Its real image is a watched one: it runs once on `real`, is compared, and is not timed. What came to light is in
     worker_report, also when it died. */
  bool watched;
  enum watch_mode mode;  /* of a watched one: as in watch_report; with WATCH_TRAFFIC nothing is compared */
  uint32_t count_blocks; /* of a watched one: as in watch_report, and nothing is compared */
  uint32_t processes;    /* likewise */
  struct measure_options measure;
  double
      timeout; /* seconds for all of it; a watched one's data and reference may take as long, those of others ten times */
};

struct worker_result {
  cugen_outcome outcome;
  cugen_cause cause;        /* of a failure, where it has one */
  char reason[1024];        /* "" when ok */
  bool on_check;            /* it failed on the check problem, not on the one asked for */
  double error;             /* largest, in units of the tolerance */
  bool has_outputs, varies; /* whether the outputs' bits are known; they were others in another launch */
  uint64_t outputs;         /* dataset_outputs of the problem asked for */
  struct measurement measurement;
  int active_clusters; /* of the heaviest launch; 0: it has none, or that is not known */
  double seconds;      /* the worker was busy with it */
};

/* Where a worker lives; all zero: in a process of its own. */
struct worker_place {
  bool embedded;
  void *context;
  const atomic_bool *stop; /* NULL, or set when it is to give up what it does */
};

/* What cugen_worker_main does: serves the coordinator over `socket` until it hangs up; gives the exit code. */
int worker_serve(int socket, const struct worker_place *place);

/* A failing variant is a result, not an error. An error means that the worker cannot work at all (no device, interrupted), or, where *failed
   is set, that this data cannot be made: its generator or reference fails. Then it can go on with other data. */
int worker_run(struct worker *worker, const struct worker_job *job, struct worker_result *out,
               const struct dataset_request **failed, cugen_error *err);

/* Whether it makes data, or computes a reference, just now: for whoever is polled meanwhile. Of this and the next function any thread may
   ask, also of a worker that another thread runs. */
bool worker_makes_data(const struct worker *worker);
/* Whether it has made that data. */
bool worker_has_data(const struct worker *worker, const struct dataset_request *data);

/* From now on no data is too late. */
void worker_lift_limit(struct worker *worker);

/* What the kernels of the last job printed, all launches or the first, cleaned, and how much more there was; adds nothing where they printed nothing. */
void worker_printed(const struct worker *worker, bool all, struct text *out);

/* Of the last watched job. Lives as long as the worker; the next job replaces it. */
const struct watch_report *worker_report(const struct worker *worker);

/* CUGEN_ERROR_DEVICE when the last variant left nothing to go on with: a thread that does not end, or the context of
   this process broken. A worker process is replaced instead. */
int worker_usable(const struct worker *worker, cugen_error *err);

#endif
