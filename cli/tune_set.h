/* cugen tune of several problems. */
#ifndef CLI_TUNE_SET_H
#define CLI_TUNE_SET_H

#include "problem_set.h"

/* Tunes them and prints a row for each. prepare: what is done with cli->kernel once it is open. cli->kernel is the first of them then.
   With options->portfolio it learns a portfolio from them, and prints that with the `top` problems that lose most. */
int tune_set(struct cli *cli, const struct problem_set *set, cugen_tune_options *options, size_t top,
             int (*prepare)(struct cli *cli));
/* Learns one from what is remembered and measures nothing: of the set, or of all problems that cli->kernel's settings admit if it is
   empty. */
int tune_set_learn(struct cli *cli, const struct problem_set *set, size_t most, size_t top);

#endif
