/* The worker: a process of its own that owns one device, so that a variant that hangs, traps or scribbles takes nobody
   with it. The coordinator's side of it is here: start, ask, and replace it when it died. */
#ifndef TUNE_WORKER_H
#define TUNE_WORKER_H

#include "dataset.h"
#include "measure.h"

struct worker;

enum { WORKER_FAULT_BYTES = 4096 };

struct worker_options {
  const char *program; /* started as: program worker */
  const char *device;  /* "cuda:0" */
  struct toolkit_options toolkit;
  /* Polled while waiting; true: give up with CUGEN_ERROR_INTERRUPTED (the worker is ended). */
  bool (*interrupted)(void *context);
  void *context;
};

/* Strings are borrowed. The process starts with the first question. */
int worker_open(const struct worker_options *options, struct worker **out, cugen_error *err);
void worker_close(struct worker *worker);

/* One variant: verified on `check` (may be NULL) and on `real`, then timed. The datasets are made in the worker when
   first needed, and again after a crash. */
struct worker_job {
  const struct dataset_request *check, *real;
  const struct kernel_spec *check_spec, *real_spec;
  const struct compiled *check_compiled, *real_compiled;
  bool verify; /* false: it is known to be right; time it again */
  struct measure_options measure;
  double timeout; /* seconds for all of it */
};

struct worker_result {
  cugen_outcome outcome;
  char reason[1024]; /* "" when ok */
  double error;      /* largest, in units of the tolerance */
  struct measurement measurement;
  int active_blocks; /* the driver's answer for the first launch; 0: not applicable */
  double seconds;    /* the worker was busy with it */
};

/* What a fault text or a driver's error name says about the kernel. */
cugen_outcome worker_classify(const char *fault);

/* What cugen_worker_main does: serves the coordinator over `socket` until it hangs up; gives the exit code. */
int worker_serve(int socket);

/* A failing variant is a result, not an error. An error means that the worker cannot work at all (no device, the
   reference fails, interrupted). */
int worker_run(struct worker *worker, const struct worker_job *job, struct worker_result *out, cugen_error *err);

#endif
