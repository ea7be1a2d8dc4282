/* The tuner: asks a strategy for variants, has them compiled ahead of need, lets workers verify and
   time them, and stores each record as it comes. */
#ifndef TUNE_TUNER_TUNER_H
#define TUNE_TUNER_TUNER_H

#include "tune/target.h"

/* Returns the default budget in seconds for one problem. gpu: variants are measured on a GPU. */
double tune_default_budget(bool gpu);

/* Tunes the target, with the options and errors of api_kernel_tune. *result is filled in also on an
   error. */
int tune_run(const struct tune_target *target, const cugen_tune_options *options,
             cugen_tune_result *result, cugen_error *err);

#endif
