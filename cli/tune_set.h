/* cugen tune of several problems. */
#ifndef CLI_TUNE_SET_H
#define CLI_TUNE_SET_H

#include "problem_set.h"

/* Tunes the problems and prints a row for each. prepare: called with cli->kernel once it is open;
   cli->kernel is then the first problem's. With options->portfolio, learns a portfolio and prints
   it with the `top` problems of the greatest losses. */
int tune_set(struct cli *cli, const struct problem_set *set, cugen_tune_options *options,
             size_t top, int (*prepare)(struct cli *cli));
/* Learns a portfolio from stored records and measures nothing: for the problems of the set, or for
   all problems that cli->kernel's settings admit if the set is empty. */
int tune_set_learn(struct cli *cli, const struct problem_set *set, size_t most, size_t top);

#endif
