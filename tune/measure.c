/* Timing; see measure.h. A sample is the time between two events around a batch of launches, divided by their number. A batch
   takes a millisecond at least: launching costs microseconds, and the events' clock counts in half microseconds. The launches of
   a batch take turns on buffer sets that exceed the L2 together, so that none finds its input there. The result is the median of
   the samples, with minimum and quantiles beside it: other work on the GPU only ever makes a sample longer, and a mean would
   keep that.

   More samples are taken only where they can change who is the fastest. After each one, a variant that is slower than the best by
   more than such few samples can err is dropped, by the fastest of them (measure_is_beaten). A long kernel that ran twice as long
   when it was verified is not run again, and a short one has its first look in a quarter of a batch.

   Where a kernel changes what it is given, a batch is cut into groups that use each set once; the sets are written anew between
   groups, outside of the time. */
#include "measure.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_SAMPLES = 64 };

/* A batch shorter than this drowns in launch overhead and in the event clock's half microsecond. */
static const double shortest_batch = 1e-3;
/* A first look at a kernel of which many launches make a batch. */
static const double look = 0.25;

/* After so many samples (0: what a verified run took, cold and once) a variant whose fastest is more times slower than the best so far
   is dropped. The fastest of few samples errs by some percent, as clocks and other work have it. */
static const struct {
  int samples;
  double ratio;
} limits[] = {{0, 2}, {1, 1.5}, {2, 1.3}, {3, 1.15}, {5, 1.05}};

/* From then on the samples tell themselves how much they err; but clocks change from one variant to the next. */
enum { SPREAD_FROM = 3 };
static const double spreads = 4, least_margin = 0.02;

bool measure_is_beaten(int samples, double least, double most, double best) {
  size_t row = 0;
  while (row + 1 < sizeof limits / sizeof *limits && limits[row + 1].samples <= samples) row++;
  double ratio = limits[row].ratio;
  if (samples >= SPREAD_FROM) ratio = fmin(ratio, 1 + fmax(least_margin, spreads * (most / least - 1)));
  return best > 0 && least > best * ratio;
}

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

/* A long run that was seen, when the variant was verified, warmed up as well; else one does, and a second tells how many make a
   batch. */
static int size_batch(struct device *device, struct batch *batch, double seen, cugen_error *err) {
  double once = seen;
  int status = CUGEN_OK;
  for (int i = 0; i < 2 && seen < shortest_batch && !status; i++) status = time_batch(device, batch, &once, err);
  const bool coarse = device->ops->capabilities & DEVICE_CONCURRENT && once < shortest_batch;
  batch->repeats = coarse ? (long)ceil(shortest_batch / fmax(once, 1e-7)) : 1;
  return status;
}

/* A part of a batch, which warms up for the others. */
static int look_first(struct device *device, struct batch *batch, double *seconds, cugen_error *err) {
  const long whole = batch->repeats;
  batch->repeats = (long)ceil(look * (double)whole);
  int status = time_batch(device, batch, seconds, err);
  batch->repeats = whole;
  return status;
}

struct sampling {
  const struct measure_options *options;
  double best; /* 0: nothing is dropped */
  double times[MOST_SAMPLES], least, most, spent;
  int taken, wanted;
  bool dropped;
};

static void take(struct sampling *s, double seconds, long repeats) {
  s->times[s->taken++] = seconds;
  s->spent += seconds * (double)repeats;
  s->least = fmin(s->least, seconds);
  s->most = fmax(s->most, seconds);
}

static int take_samples(struct device *device, struct batch *batch, struct sampling *s, cugen_error *err) {
  double seconds = 0;
  int status = CUGEN_OK;
  if (batch->repeats > 1 && !s->dropped) {
    status = look_first(device, batch, &seconds, err);
    s->dropped = !status && measure_is_beaten(1, seconds, seconds, s->best);
    if (s->dropped) take(s, seconds, batch->repeats);
  }
  while (!status && !s->dropped && s->taken < s->wanted && (s->taken == 0 || s->spent < s->options->seconds)) {
    status = time_batch(device, batch, &seconds, err);
    if (!status) take(s, seconds, batch->repeats);
    s->dropped = !status && measure_is_beaten(s->taken, s->least, s->most, s->best);
  }
  return status;
}

int measure_calls(struct device *device, struct call *const *calls, size_t count,
                  const struct measure_renewal *renewal, const struct measure_options *options,
                  struct measurement *out, cugen_error *err) {
  const bool steady = device->ops->capabilities & DEVICE_CONCURRENT; /* other work of a processor is in every time */
  const double seen = steady ? options->seen : 0;
  struct batch batch = {.calls = calls, .count = count, .repeats = 1, .renewal = renewal};
  struct sampling s = {.options = options,
                       .best = steady ? options->best : 0,
                       .least = (double)INFINITY,
                       .wanted = options->samples < MOST_SAMPLES ? options->samples : MOST_SAMPLES};
  *out = (struct measurement){0};
  s.dropped = seen >= shortest_batch && measure_is_beaten(0, seen, seen, s.best);
  const bool enough = seen > 0 && seen >= options->seconds; /* there is no time for another run */
  if (s.dropped || enough) take(&s, seen, 1);
  int status = s.taken ? CUGEN_OK : size_batch(device, &batch, seen, err);
  if (!status && !s.taken) status = take_samples(device, &batch, &s, err);
  if (status) return status;
  if (device->ops->clock) device->ops->clock(device, &out->clock);
  measure_summarise(s.times, s.taken, out);
  out->dropped = s.dropped;
  return CUGEN_OK;
}
