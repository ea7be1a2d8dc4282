/* What is remembered of a kernel, as a table of the best and as failures counted by reason. */
#ifndef CLI_RECORDS_H
#define CLI_RECORDS_H

#include "cli.h"

/* The `top` best; *right (may be NULL) gets how many right ones there are. Nothing is printed when there are none. */
int records_print_best(struct cli *cli, size_t top, size_t *right);
/* FLOP/s that bound arithmetic: measured, else the peak, without tensor cores; and the highest there is. 0: not
   known. */
double records_multiply_adds(const cugen_ceilings *ceilings);
double records_peak(const cugen_ceilings *ceilings);
/* By --prefer, what of a tie is taken: "comes first in the config". */
const char *records_preference(const struct cli *cli);
/* What the record's roofline is, in a line. */
void records_print_roofline(const struct cli *cli, const cugen_record *record, const cugen_ceilings *ceilings);
/* What memory alone would allow: the rate at which it serves the variant's requests, at most the peak; 0: not known. */
double records_served(const cugen_record *record, const cugen_ceilings *ceilings);
/* Bytes/s of device memory: measured, else the peak; 0: not known. */
double records_bandwidth(const cugen_ceilings *ceilings);
/* One to look at where no variant is right: the first that records_print_failures names, or the first of all. */
bool records_failed(struct cli *cli, cugen_record *out);
/* That one, in two lines: "n=1000: wrong result, such as naive block=64", and its reason. Nothing when nothing failed. */
void records_print_failure(struct cli *cli, const char *problem);
/* Nothing when nothing failed; apart: with an empty line in front. */
int records_print_failures(struct cli *cli, bool apart);

/* What `cugen check` does for who has a variant that came out so: "names the line"; NULL: nothing. */
const char *records_check_help(int outcome);

#endif
