/* A claim is the result that a process in the jail (tune/worker/confine.h) reports about the
   variant that it ran. A kernel of the cpu device can overwrite any memory of its process,
   including the claim. Therefore the claim is small and has no pointers. The claim is copied after
   the process has ended, and the copy is judged by the same rules as records on their way into the
   cache. */
#ifndef TUNE_WORKER_CLAIM_H
#define TUNE_WORKER_CLAIM_H

#include "runtime/store/record.h"
#include "worker.h"

/* The claim as stored in shared memory. struct claim has no bool and no enum, because not every bit
   pattern is a valid bool or enum. */
struct claim {
  int32_t outcome, cause, samples;
  uint32_t dropped, has_outputs, varies; /* as booleans: 0 is false */
  uint64_t outputs;
  double error, seconds, minimum, p20, p80;
  char reason[sizeof((struct worker_result *)0)->reason];
};

/* In the jail: makes a claim of the result. */
void claim_make(const struct worker_result *result, struct claim *out);
/* In the parent: turns the claim into a result, with the reason terminated. The values are not
   checked; see claim_is_possible. */
void claim_read(const struct claim *claim, struct worker_result *out);

/* Returns the cause if a kernel of the cpu device can have it; otherwise CUGEN_CAUSE_NONE. */
cugen_cause claim_cause(cugen_cause cause);

/* What the parent knows about a run independently of the claim. */
struct claim_bounds {
  bool on_gpu;    /* a GPU can be lost, and its driver can end a kernel */
  bool timed;     /* the run was timed, so that a right variant has a time */
  double seconds; /* seconds that the run's process took; infinite: not known */
};
/* Returns true if the result can be true; otherwise false, with the contradiction in `why`. */
bool claim_is_possible(const struct worker_result *result, const struct claim_bounds *bounds,
                       char *why, size_t size);
/* Replaces a result that cannot be true by a failure of the variant with the reason `why`. */
void claim_refuse(const char *why, struct worker_result *out);

/* Copies the result, without its reason, into the record. */
void claim_record(const struct worker_result *result, uint64_t seed, struct cache_record *out);

/* The result of a step that ran one of the config's own kernels in a process of its own. */
struct claim_error {
  int32_t status, cause;
  char message[sizeof((cugen_error *)0)->message];
};
void claim_make_error(int status, const cugen_error *why, struct claim_error *out);
/* Returns the status with which the step ended. A status that such a step cannot end with becomes
   CUGEN_ERROR_DEVICE, and the message says so. */
int claim_read_error(const struct claim_error *claim, cugen_error *err);

#endif
