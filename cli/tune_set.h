/* cugen tune of several problems. */
#ifndef CLI_TUNE_SET_H
#define CLI_TUNE_SET_H

#include "api/learning.h"
#include "problem_set.h"
#include "progress.h"

/* Tunes the problems and prints a row for each or, with options->portfolio, learns portfolios and
   prints them with the `top` problems of the greatest losses. prepare: called for each problem with
   its kernel, just opened, as cli->kernel; afterwards cli->kernel is the first problem's. */
int tune_set(struct cli *cli, const struct problem_set *set, cugen_tune_options *options,
             size_t top, int (*prepare)(struct cli *cli));
/* Learns portfolios from stored records and measures nothing: for the problems of the set or, if
   the set is empty, for all problems that cli->kernel's settings admit. */
int tune_set_learn(struct cli *cli, const struct problem_set *set, size_t most, size_t top);

/* ---- tune_set_results.c: prints the results as text and as JSON ----------------------------- */

/* The problems, each with a kernel; no two problems are equal. */
struct tuning {
  struct cli *cli;
  cugen_kernel **kernels;
  const struct problem_settings **problems; /* settings of each kernel's problem */
  size_t count;
  cugen_tune_result *results;
  double *weights; /* weights of captured problems; NULL: no weights */
  double weight;   /* sum of the weights */
  struct spent {
    /* Seconds in all, and seconds of making the data and the reference's results. */
    double all, data;
  } * spent;    /* by problem */
  double heard; /* seconds of tuning at the last progress callback */
  struct progress progress;
  bool begun;
  bool headed;
  const cugen_portfolio *portfolios; /* portfolios that were learnt from the problems */
  size_t portfolio_count, top;
};

/* Prints what is tuned on which device: on the first call, and without --json and --quiet. */
void tuning_print_head(struct tuning *tuning);
/* Prints a row for each problem, or the portfolios learnt, then failures and counts. */
int tuning_print_results(struct tuning *tuning);
/* Prints the portfolios of a command that learnt without tuning. */
int tuning_print_learnt(struct tuning *tuning);
/* Appends to the error about problems without a correct variant how to see the reasons. */
void tuning_append_reasons(const struct tuning *tuning);
/* Remarks the classes of problems for which no portfolio was learnt. */
void tuning_remark_unlearnt(const struct tuning *tuning);

#endif
