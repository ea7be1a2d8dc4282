/* Prints the records of a kernel: a table of the best, and failures counted by reason. */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include "api/explain.h"
#include "cli.h"

enum { OUTCOMES = CUGEN_OUTCOME_UNPREDICTED + 1 };

/* The number of records of one outcome, and one of these records; NULL: there is none. */
struct ending {
  size_t count;
  const cugen_record *example;
};

/* Prints a table of the `top` best of the right records that have cli->outputs, if known. *right
   (may be NULL) becomes the number of all these records. Prints nothing if there is none. */
int records_print_best(struct cli *cli, size_t top, size_t *right);
/* Prints the records with `non_dominated`, the fastest first; nothing if no energy is known. */
int records_print_front(struct cli *cli);
/* Return FLOP/s; 0: not known. records_multiply_adds: what bounds arithmetic without tensor cores,
   measured or else the peak. records_peak: the highest ceiling, that of tensor cores included. */
double records_multiply_adds(const cugen_ceilings *ceilings);
double records_peak(const cugen_ceilings *ceilings);
/* Returns how a tie is decided by --prefer: "comes first in the config". */
const char *records_preference(const struct cli *cli);
/* Prints a line about the record's place in the roofline. */
void records_print_roofline(const struct cli *cli, const cugen_record *record,
                            const cugen_ceilings *ceilings);
/* Returns the rate that memory alone would allow for the variant's requests, at most the peak; 0:
   not known. */
double records_served(const cugen_record *record, const cugen_ceilings *ceilings);
/* Returns the bytes/s of device memory, measured or else the peak; 0: not known. */
double records_bandwidth(const cugen_ceilings *ceilings);
/* Returns the failed record to show if no variant is right: the first one that
   records_print_failures names, or else the first of all records; NULL: there is none. */
const cugen_record *records_failed(const struct cli *cli);
/* Prints the record of records_failed in two lines: "n=1000: wrong result, such as naive block=64",
   and its reason. Prints nothing if nothing failed. */
void records_print_failure(const struct cli *cli, const char *problem);
/* Prints the failed variants by outcome; nothing if none failed. apart: with an empty line in
   front. */
void records_print_failures(struct cli *cli, bool apart);

/* Returns the line about the user's own function, without a line end, which the caller frees; NULL:
   there is nothing to say. */
char *records_baseline(const struct cli *cli, const cugen_baseline_result *baseline);

/* Returns what `cugen check` does for a variant with this outcome, "names the line", and sets
   *command to that command, without --device; NULL: a check explains nothing. */
const char *records_check_help(const struct cli *cli, const cugen_record *record,
                               struct hint *command);

#endif
