/* What is remembered of one kernel for one problem on one device, laid out for people: for `cugen report` and for the
   drawn roofline. Nothing is measured, and the device need not be here. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include "trace.h"

/* One implementation, in the config's order. */
struct implementation {
  char name[80];
  const cugen_record *best;          /* api_best_of of its own, if not of all; NULL: none came out right */
  size_t right, failed, unpredicted; /* of its variants */
  uint64_t valid;
};

struct failure {
  cugen_outcome outcome;
  size_t count;
  const cugen_record *example;
};

enum { OUTCOME_COUNT = CUGEN_OUTCOME_UNPREDICTED + 1 };

struct findings {
  cugen_kernel *kernel; /* cli's */
  const cugen_device_info *device;
  bool predicted; /* the times are the model's: nothing ran */
  bool now;       /* and they were made now, since nothing is remembered: they are few */
  cugen_ceilings ceilings;
  cugen_space_info space;
  const cugen_record **right; /* the best first */
  size_t right_count, failed_count, unpredicted_count, stale_count;
  size_t verified_count; /* of the right ones, which were predicted: they ran on the cpu device */
  struct implementation *implementations;
  size_t implementation_count;
  struct failure failures[OUTCOME_COUNT];
  int driver_version, nvrtc_version; /* of the latest record */
  int64_t measured_at;
  const cugen_cache_set *sets; /* all of this kernel on this device */
  size_t set_count;
  struct trace trace; /* when each was measured, and those that later ones replaced */
  cugen *listing;     /* what sets belong to */
};

/* Opens cli->lib and cli->kernel for the set of records that CONFIG, --set and --device mean: the config's own problem,
   on the cpu device its check problem, with what is set; what a GPU measured before what is predicted, that before the
   cpu device, the latest first. Of a described GPU of which nothing is remembered, or where no GPU is here and nothing at all is, a
   few predictions are made. Else an error when nothing is remembered, which names what is. */
int findings_open(struct cli *cli, struct findings *out);
void findings_close(struct findings *findings);

bool findings_on_cpu(const struct findings *findings);
/* Whether the set is measured or predicted as these are. */
bool findings_is_kin(const struct findings *findings, const cugen_cache_set *set);
/* The implementation's place; a variant's text begins with its name. */
size_t findings_implementation(const struct findings *findings, const char *variant);

/* ---- Rates and ceilings ---- */

/* FLOP/s where operations are declared, else bytes/s; 0: neither is. */
double findings_rate(const cugen_record *record);
/* The ceilings in use: measured, else the peak; 0: not known. That of arithmetic is the tensor cores' where they do
   what the kernel does. */
double findings_peak(const struct findings *findings);
double findings_bandwidth(const struct findings *findings);

/* ---- findings_find.c: findings_open's first step ---- */

/* Opens the listing, and cli->lib and cli->kernel for the set of records that is meant. */
int findings_find(struct cli *cli, struct findings *findings);

#endif
