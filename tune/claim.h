/* What a process in the jail claims of the variant that it ran (tune/confine.h). Any kernel of the cpu device can write what it likes where
   its process says how the run ended. So that place is small and has no pointers. It is copied once the process is gone, and the copy is
   judged by the function that judges records on their way into the cache. */
#ifndef TUNE_CLAIM_H
#define TUNE_CLAIM_H

#include "runtime/store/record.h"
#include "worker.h"

/* As it lies in shared memory: no bool and no enum, of which some values are no values. Clocks, energies and clusters are not known on the
   cpu device, how long the process took is measured outside of it. */
struct claim {
  int32_t outcome, cause, samples;
  uint32_t dropped, has_outputs, varies; /* 0: no */
  uint64_t outputs;
  double error, seconds, minimum, p20, p80;
  char reason[sizeof((struct worker_result *)0)->reason];
};

/* In the process: what its result is shrunk to. */
void claim_make(const struct worker_result *result, struct claim *out);
/* Outside of it: the claim as a result, whose reason ends. What it says may still be impossible. */
void claim_read(const struct claim *claim, struct worker_result *out);

/* What a process says as it dies: a cause that a kernel of the cpu device can have, or CUGEN_CAUSE_NONE. */
cugen_cause claim_cause(cugen_cause cause);

/* What is known of a run without asking it. */
struct claim_bounds {
  bool on_gpu;    /* a device may be lost, and its driver may end a kernel */
  bool timed;     /* a right variant has a time */
  double seconds; /* its process took; infinite: not known */
};
/* Whether a result can be true; why not, else. */
bool claim_is_possible(const struct worker_result *result, const struct claim_bounds *bounds, char *why, size_t size);
/* In place of a result that cannot be true: a failure of that variant, which says why. */
void claim_refuse(const char *why, struct worker_result *out);

/* What a result says of a record: its error, bits, times and energy. */
void claim_record(const struct worker_result *result, uint64_t seed, struct cache_record *out);

/* Of a process that ran a kernel of the config's own: how its step ended. */
struct claim_error {
  int32_t status, cause;
  char message[sizeof((cugen_error *)0)->message];
};
void claim_make_error(int status, const cugen_error *why, struct claim_error *out);
/* The status that it ended with. One that no such step can end with is CUGEN_ERROR_DEVICE, and says so. */
int claim_read_error(const struct claim_error *claim, cugen_error *err);

#endif
