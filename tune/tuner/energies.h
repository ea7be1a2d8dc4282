/* Measures the energies of the variants that can still be the best, after the search. */
#ifndef TUNE_TUNER_ENERGIES_H
#define TUNE_TUNER_ENERGIES_H

#include "records.h"

/* If the objective needs energy: the share of the budget reserved for measuring energies, and the
   share of the budget reserved for the race of the leaders, which is a part of the first share. */
static const double energies_share = 0.5, energies_race = 0.15;

/* Does nothing if the objective needs no energies. */
int energies_measure(struct run_records *r, cugen_error *err);

#endif
