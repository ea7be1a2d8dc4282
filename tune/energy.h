/* How many joules does it take? Launches back to back, between two steps of the board's energy counter. */
#ifndef TUNE_ENERGY_H
#define TUNE_ENERGY_H

#include "measure.h"

/* How long is long enough: the counters of GPUs move some ten times a second. */
static const double energy_window = 0.5;

/* Fills in out->energy and out->energy_resolution, of one run that takes out->seconds. calls and renewal as for measure_calls. The
   counter moves in steps of up to a tenth of a second, so that it takes somewhat longer than `seconds`. Both stay 0 where the
   device has no counter, or it does not move. A status is that of a launch. */
int energy_measure(struct device *device, struct call *const *calls, size_t count,
                   const struct measure_renewal *renewal, double seconds, struct measurement *out, cugen_error *err);

#endif
