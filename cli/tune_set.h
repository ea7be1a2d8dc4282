/* cugen tune of several problems. */
#ifndef CLI_TUNE_SET_H
#define CLI_TUNE_SET_H

#include "problem_set.h"

/* Tunes the problems and prints a row for each or, with options->portfolio, learns portfolios and
   prints them with the `top` problems of the greatest losses. prepare: called for each problem with
   its kernel, just opened, as cli->kernel; afterwards cli->kernel is the first problem's. */
int tune_set(struct cli *cli, const struct problem_set *set, cugen_tune_options *options,
             size_t top, int (*prepare)(struct cli *cli));
/* Learns portfolios from stored records and measures nothing: for the problems of the set or, if
   the set is empty, for all problems that cli->kernel's settings admit. */
int tune_set_learn(struct cli *cli, const struct problem_set *set, size_t most, size_t top);

#endif
