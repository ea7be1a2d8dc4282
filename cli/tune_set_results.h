/* Several problems that are tuned together (tune_set.c), and what is shown of them: for people, and as JSON. */
#ifndef CLI_TUNE_SET_RESULTS_H
#define CLI_TUNE_SET_RESULTS_H

#include "problem_set.h"
#include "progress.h"

/* The kernels, of problems that differ. */
struct tuning {
  struct cli *cli;
  cugen_kernel **kernels;
  const struct problem_settings **problems; /* of each kernel */
  size_t count;
  cugen_tune_result *results;
  double *weights; /* of captured problems; NULL: they have none */
  double weight;   /* of all */
  struct spent {
    double all, data; /* seconds; of them while its data and what the reference gives were made */
  } * spent;          /* on each */
  double heard;       /* when progress was last heard of */
  struct progress progress;
  bool begun; /* something ran */
  bool headed;
  const cugen_portfolio *portfolios; /* that were learnt from them */
  size_t portfolio_count, top;
};

/* What is tuned where, once, before anything else. */
void tuning_print_head(struct tuning *tuning);
/* A row for each problem, or what was learnt from them; failures; how much was done. */
int tuning_print_results(struct tuning *tuning);
/* The portfolios alone, where nothing was run. */
int tuning_print_learnt(struct tuning *tuning);
/* To the error that says that some have no correct variant: how to see why. */
void tuning_append_reasons(const struct tuning *tuning);
/* The classes that no portfolio was learnt for. */
void tuning_remark_unlearnt(const struct tuning *tuning);

#endif
