/* cugen tune of several problems. */
#ifndef CLI_TUNE_SET_H
#define CLI_TUNE_SET_H

#include "problem_set.h"

/* Tunes them and prints a row for each. prepare: what is done with cli->kernel once it is open. cli->kernel is the first of them then. */
int tune_set(struct cli *cli, const struct problem_set *set, cugen_tune_options *options,
             int (*prepare)(struct cli *cli));

#endif
