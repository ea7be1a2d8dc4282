/* The records of one kernel for one problem on one device, arranged for `cugen report` and for the
   drawn roofline. Nothing is measured, and the device need not be present. */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

#include "api/cache.h"
#include "api/explain.h"
#include "api/kernel.h"
#include "records.h"
#include "trace.h"

/* One implementation; implementations have the config's order. */
struct implementation {
  char name[80];
  /* The best of this implementation by api_best_of, or the best of all records if that is of this
     implementation; NULL: no variant was right. */
  const cugen_record *best;
  size_t right, failed, unpredicted; /* numbers of the implementation's variants */
  uint64_t valid;
};

struct findings {
  cugen_kernel *kernel; /* cli->kernel */
  const cugen_device_info *device;
  bool predicted; /* the times are predicted */
  /* The predictions were made now because no record was stored. */
  bool now;
  cugen_ceilings ceilings;
  cugen_space_info space;
  const cugen_record **right; /* best first */
  size_t right_count, failed_count, unpredicted_count, stale_count;
  /* Number of right records whose variants were verified. */
  size_t verified_count;
  struct implementation *implementations;
  size_t implementation_count;
  struct ending failures[OUTCOMES];  /* by outcome */
  int driver_version, nvrtc_version; /* versions of the latest record */
  int64_t measured_at;
  char *baseline;              /* line about the user's own function; NULL: none */
  const cugen_cache_set *sets; /* all sets of this kernel on this device; for a model also those
                                  measured on its GPU */
  size_t set_count;
  struct trace trace; /* history of the records, with those that later ones replaced */
  cugen *listing;     /* library that owns `sets` */
};

/* Opens cli->lib and cli->kernel for the set of records that CONFIG, --set and --device name. The
   problem is the config's own, or on the cpu device the check problem, with the given settings.
   Measurements of a GPU are preferred to predictions, and predictions to the cpu device; of several
   sets the latest is taken. For a model without records, or without a GPU and without any records,
   a few predictions are made. Otherwise fails if there is no such set, and names the sets that
   exist. */
int findings_open(struct cli *cli, struct findings *out);
void findings_close(struct findings *findings);

/* Prints the kernel, its problem and the device, and whether the times are measured or
   predicted. */
void findings_print_heading(struct cli *cli, const struct findings *findings);

bool findings_on_cpu(const struct findings *findings);
/* Returns true if the times of the set can be compared with the findings': the set was made by
   tuning, and both are measured, or both are predicted with the same figures of the model. */
bool findings_is_kin(const struct findings *findings, const cugen_cache_set *set);
/* Returns the index of the implementation with whose name the variant's text begins;
   implementation_count if there is none. */
size_t findings_implementation(const struct findings *findings, const char *variant);

/* ---- Rates and ceilings --------------------------------------------------------------------- */

/* Returns FLOP/s where operations are declared, else bytes/s; 0: neither is. */
double findings_rate(const cugen_record *record);
/* Returns true if a roofline can be drawn: operations, bytes and both ceilings are known. */
bool findings_has_roof(const struct findings *findings);
/* Returns true if the best of another problem is drawn as well: a problem of the same types, whose
   operations or bytes differ. */
bool findings_takes_other(const struct findings *findings, const cugen_cache_set *set);

/* ---- findings_find.c: findings_open's first step -------------------------------------------- */

/* Opens the listing, and cli->lib and cli->kernel for the set of records that findings_open
   describes. */
int findings_find(struct cli *cli, struct findings *findings);

/* ---- chart.c -------------------------------------------------------------------------------- */

/* Draws the roofline with the variants, `columns` characters wide and `rows` high. */
int chart_text(const struct findings *findings, int columns, int rows, FILE *out);

/* ---- report.c ------------------------------------------------------------------------------- */

/* Writes the page with only the roofline to the file that --output names. */
int report_write_roofline(struct cli *cli, const struct findings *findings);

/* ---- layout.c: the arrays in a report ------------------------------------------------------- */

/* Describes the variant's shared arrays, and its arguments that do not lie by rows, as JSON objects
   like those of `cugen layout --json`, each with a member "corner" in place of "offsets": for the
   first lines of the array and the first elements of each, the bank of shared memory, or the sector
   of global memory. */
int layout_pictures(struct cli *cli, const char *variant, json_t **out);

#endif
