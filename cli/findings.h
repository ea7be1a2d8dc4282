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

/* What one value of a tunable allowed. */
struct effect_value {
  char text[80];
  double best, median; /* cugen_record.cost */
  size_t count;
  double *times; /* rising */
  size_t order;  /* in which it was found */
};

/* A tunable of an implementation, with two values or more that were right. */
struct effect {
  size_t implementation, order;
  char name[80];
  struct effect_value *values; /* numbers in rising order, words in the order in which they were found */
  size_t value_count;
  double
      weight; /* the best with its worst value, over the best with its best one; of values that are known well, else 0 */
  bool few; /* fewer than two values are known well: see effects_known_well */
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
  struct effect *effects; /* by implementation, then by weight */
  size_t effect_count;
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

/* ---- effects.c ---- */

/* findings_open and findings_close call them. False: out of memory. */
/* So many variants were tried, and so many of them had the value, that what it allows is no accident; or all that there are. */
bool effects_known_well(const struct findings *findings, size_t implementation, const struct effect_value *value);
bool effects_add(struct findings *findings, size_t implementation, const cugen_record *record);
void effects_sum_up(struct findings *findings);
void effects_close(struct findings *findings);

#endif
