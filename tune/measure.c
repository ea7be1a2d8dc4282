/* Timing; see measure.h. A sample is the time between two events around a batch of launches, divided by their number. A batch
   takes a millisecond at least: launching costs microseconds, and the events' clock counts in half microseconds. The launches of
   a batch take turns on buffer sets that exceed the L2 together, so that none finds its input there. The result is the median of
   the samples, with minimum and quantiles beside it: other work on the GPU only ever makes a sample longer, and a mean would
   keep that.

   A variant that is clearly slower than the best is dropped after DROP_AFTER samples, by the fastest of them. Where a kernel
   changes what it is given, a batch is cut into groups that use each set once; the sets are written anew between groups, outside
   of the time. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SAMPLES = 64, DROP_AFTER = 3 };

/* A batch shorter than this drowns in launch overhead and in the event clock's half microsecond. */
static const double shortest_batch = 1e-3;
/* A variant whose fastest of the first samples is this much slower than the best so far is not looked at longer. */
static const double drop_ratio = 1.3;

struct batch {
  struct call *const *calls;
  size_t count, next;
  long repeats; /* launches that make a sample */
  long group;   /* of these, launches that are timed without a pause */
  const struct measure_renewal *renewal;
};

static int run_group(void *context, cugen_error *err) {
  struct batch *batch = context;
  for (long i = 0; i < batch->group; i++) {
    int status = call_launch(batch->calls[batch->next], err);
    if (status) return status;
    batch->next = (batch->next + 1) % batch->count;
  }
  return CUGEN_OK;
}

/* The sets that the next group is launched on. */
static int renew_group(const struct batch *batch, cugen_error *err) {
  int status = CUGEN_OK;
  for (long i = 0; batch->renewal && i < batch->group && !status; i++)
    status = batch->renewal->run(batch->renewal->context, (batch->next + (size_t)i) % batch->count, err);
  return status;
}

/* In one group, or, where sets are renewed, in groups that use each set once. */
static int time_batch(struct device *device, struct batch *batch, double *seconds, cugen_error *err) {
  const long most = batch->renewal ? (long)batch->count : batch->repeats;
  int status = CUGEN_OK;
  *seconds = 0;
  for (long left = batch->repeats; left > 0 && !status; left -= batch->group) {
    double spent = 0;
    batch->group = left < most ? left : most;
    status = renew_group(batch, err);
    if (!status) status = device->ops->time(device, run_group, batch, &spent, err);
    *seconds += spent;
  }
  *seconds /= (double)batch->repeats;
  return status;
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Linear interpolation between order statistics. */
static double quantile(const double *sorted, int count, double q) {
  double at = q * (count - 1);
  int low = (int)at;
  double rest = at - low;
  return low + 1 < count ? sorted[low] * (1 - rest) + sorted[low + 1] * rest : sorted[low];
}

void measure_summarise(double *times, int count, struct measurement *out) {
  qsort(times, (size_t)count, sizeof *times, by_size);
  out->samples = count;
  out->minimum = times[0];
  out->p20 = quantile(times, count, 0.2);
  out->seconds = quantile(times, count, 0.5);
  out->p80 = quantile(times, count, 0.8);
}

/* One run warms up; a second tells how many make a batch. */
static int size_batch(struct device *device, struct batch *batch, cugen_error *err) {
  double once = 0;
  int status = time_batch(device, batch, &once, err);
  if (!status) status = time_batch(device, batch, &once, err);
  if (status) return status;
  bool coarse = device->ops->capabilities & DEVICE_CONCURRENT && once < shortest_batch;
  batch->repeats = coarse ? (long)ceil(shortest_batch / fmax(once, 1e-7)) : 1;
  if (batch->repeats > 1) status = time_batch(device, batch, &once, err);
  return status;
}

int measure_calls(struct device *device, struct call *const *calls, size_t count,
                  const struct measure_renewal *renewal, const struct measure_options *options,
                  struct measurement *out, cugen_error *err) {
  struct batch batch = {.calls = calls, .count = count, .repeats = 1, .renewal = renewal};
  double times[MOST_SAMPLES], spent = 0, least = (double)INFINITY;
  int wanted = options->samples < MOST_SAMPLES ? options->samples : MOST_SAMPLES, taken = 0;
  *out = (struct measurement){0};
  int status = size_batch(device, &batch, err);
  while (!status && taken < wanted && (taken == 0 || spent < options->seconds)) {
    status = time_batch(device, &batch, &times[taken], err);
    if (status) break;
    spent += times[taken] * (double)batch.repeats;
    least = fmin(least, times[taken]);
    if (++taken == DROP_AFTER && options->best > 0 && least > options->best * drop_ratio) {
      out->dropped = true;
      break;
    }
  }
  if (status) return status;
  if (device->ops->clock) device->ops->clock(device, &out->clock);
  measure_summarise(times, taken, out);
  return CUGEN_OK;
}
