/* Measures the energy of a run: the rise of the board's energy counter between two of its steps,
   divided by the number of runs in between. */
#ifndef TUNE_WORKER_ENERGY_H
#define TUNE_WORKER_ENERGY_H

#include "measure.h"

/* Seconds of launches that give a useful energy. */
static const double energy_window = 0.5;

/* Sets out->energy and out->energy_resolution for one run, which takes out->seconds. calls, count
   and renewal are as for measure_calls. The measurement takes somewhat longer than `seconds`, with
   a renewal twice as long. Both fields stay 0 if the device has no counter or the counter does not
   move. A failing launch gives the error. */
int energy_measure(struct device *device, struct call *const *calls, size_t count,
                   const struct measure_renewal *renewal, double seconds, struct measurement *out,
                   cugen_error *err);

#endif
