/* Times variants; see measure.h. A sample is the time between two events around a batch of
   launches, divided by their number. On a GPU, a batch takes at least a millisecond, because the
   events' clock counts in half microseconds. No launch begins until up to DEVICE_HELD of them are
   queued (device_ops.time), so that the launching thread's waits for a processor are not timed. The
   launches of a batch take turns on buffer sets that together exceed the L2 cache, within the
   limits of dataset_sets_wanted, so that a launch does not find its input there. The result is the
   median of the samples, with minimum and quantiles: other work on the GPU only makes samples
   longer, which would distort a mean.

   More samples are taken only if they can change which variant is the fastest. After each sample, a
   variant is dropped if its fastest sample is slower than the best variant by more than so few
   samples can err (measure_is_beaten). A long kernel that took more than twice the best variant's
   time when it was verified is not run again. A short kernel is first timed in a quarter of a
   batch, and once more before it is dropped.

   Where a kernel changes its arguments, a batch is cut into groups that use each set once; the sets
   are restored between groups, which is not timed.

   So far this is MEASURE_BURST. The other ways differ as follows. In a graph, a batch is captured
   once and replayed. Under sustained load, batches of a tenth of a second follow each other until
   clocks, power and times are steady, and the last of them are the samples. Cold, each launch has
   its own two events, and all caches are overwritten before it. */
#include "measure.h"

#include <math.h>

#include "base/array.h"
#include "base/system.h"

enum { MOST_SAMPLES = 64 };

/* Least seconds of a batch on a GPU, except in MEASURE_COLD. */
static const double shortest_batch = 1e-3;
/* A first look times this fraction of a batch. A kernel is dropped after MOST_LOOKS looks that
   agree. */
static const double look = 0.25;
enum { MOST_LOOKS = 2 };
/* Seconds of a verified run that cannot have been mostly waiting for the launch. A shorter verified
   run alone does not drop a variant. */
static const double doubtless = 10e-3;

/* After `samples` samples (0: only single runs, such as the verified one, which was cold), a
   variant is beaten if its fastest sample is slower than the best variant by more than the factor
   `ratio`. The fastest of few samples errs by some percent because of clocks and other work. */
static const struct {
  int samples;
  double ratio;
} limits[] = {{0, 2}, {1, 1.5}, {2, 1.3}, {3, 1.15}, {5, 1.05}};

/* From SPREAD_FROM samples on, the spread of the samples shows how much they err; for launches of
   more than long_launch seconds, which short disturbances hardly change, SPREAD_FROM_LONG samples
   suffice. A variant is then also beaten if it is slower than the best by `spreads` times the
   spread, and at least by least_margin, because clocks change from one variant to the next. */
enum { SPREAD_FROM = 3, SPREAD_FROM_LONG = 2 };
static const double spreads = 4, least_margin = 0.02, long_launch = 5e-3;

/* SETTLED_FROM samples of long launches that agree within the factor `settled` are enough. */
enum { SETTLED_FROM = 3 };
static const double settled = 1.005;

bool measure_is_beaten(int samples, double least, double most, double best) {
  size_t row = 0;
  while (row + 1 < sizeof limits / sizeof *limits && limits[row + 1].samples <= samples) row++;
  double ratio = limits[row].ratio;
  if (samples >= (least < long_launch ? SPREAD_FROM : SPREAD_FROM_LONG))
    ratio = fmin(ratio, 1 + fmax(least_margin, spreads * (most / least - 1)));
  return best > 0 && least > best * ratio;
}

/* Under load, LOAD_SAMPLES samples of load_sample seconds count. Times, clocks and power are steady
   when all these samples are within the factors steady_time, steady_clock and steady_power. */
enum { LOAD_SAMPLES = 5 };
static const double load_sample = 0.1, steady_time = 1.01, steady_clock = 1.01, steady_power = 1.03;
const double measure_least_load = 1, measure_most_load = 5;

/* Limits of a graph. A graph has at most MOST_NODES launches, because replaying a small graph often
   costs less than one large graph. A graph of few long launches takes turns on as many sets as make
   it last graph_seconds, or on all sets. */
enum { MOST_NODES = 1024 };
static const double graph_seconds = 0.01;

/* Most launches of a cold sample. Overwriting the caches before a launch takes longer than the
   launch. */
enum { COLD_LAUNCHES = 8 };

struct batch {
  struct device *device;
  struct call *const *calls;
  size_t count, next;
  double once;  /* approximate seconds of one launch */
  long repeats; /* launches in a sample */
  long group;   /* launches that are timed without a pause */
  const struct measure_renewal *renewal;
  bool held;           /* launches wait until all of their group are queued */
  struct graph *graph; /* the graph that is launched, or NULL */
  long nodes;          /* launches in the graph */
  struct memory flush; /* bytes 0: caches are not overwritten */
};

static int measure_run_group(void *context, cugen_error *err) {
  struct batch *batch = context;
  int status = CUGEN_OK;
  for (long done = 0; batch->graph && done < batch->group && !status; done += batch->nodes)
    status = batch->device->ops->graph_launch(batch->device, batch->graph, err);
  for (long i = 0; !batch->graph && i < batch->group && !status; i++) {
    status = call_launch(batch->calls[batch->next], err);
    batch->next = (batch->next + 1) % batch->count;
  }
  return status;
}

/* Returns the most launches in a group: one if caches are overwritten before each launch; as many
   as use each set once if sets are restored; and no more than can be queued if launches are
   held. */
static long most_in_group(const struct batch *batch) {
  const long most = batch->flush.bytes ? 1 : batch->renewal ? (long)batch->count : batch->repeats;
  return batch->held && most > DEVICE_HELD ? DEVICE_HELD : most;
}

static int time_batch(struct batch *batch, double *seconds, cugen_error *err) {
  struct device *device = batch->device;
  const struct measure_renewal *renewal = batch->renewal;
  const long most = most_in_group(batch);
  int status = CUGEN_OK;
  *seconds = 0;
  for (long left = batch->repeats; left > 0 && !status; left -= batch->group) {
    double spent = 0;
    batch->group = left < most ? left : most;
    for (long i = 0; renewal && i < batch->group && !status; i++)
      status = renewal->run(renewal->context, (batch->next + (size_t)i) % batch->count, err);
    if (!status && batch->flush.bytes) status = device->ops->flush(device, &batch->flush, err);
    if (!status)
      status = device->ops->time(device, batch->held, measure_run_group, batch, &spent, err);
    *seconds += spent;
  }
  *seconds /= (double)batch->repeats;
  return status;
}

/* Interpolates linearly between order statistics. The result rises with q to the last bit, because
   claim.c refuses a measurement whose quantiles are out of order. */
static double quantile(const double *sorted, int count, double q) {
  const double at = q * (count - 1);
  const int low = (int)at;
  if (low + 1 >= count) return sorted[count - 1];
  const double rest = at - low, between = sorted[low] + rest * (sorted[low + 1] - sorted[low]);
  return fmin(between, sorted[low + 1]);
}

void measure_summarise(double *times, int count, struct measurement *out) {
  array_sort_doubles(times, (size_t)count);
  out->samples = count;
  out->minimum = times[0];
  out->p20 = quantile(times, count, 0.2);
  out->seconds = quantile(times, count, 0.5);
  out->p80 = quantile(times, count, 0.8);
}

/* Chooses the number of launches in a batch. The verified run has warmed up a long kernel, which is
   run once more only if `doubted`. A kernel that is short, or of unknown duration, runs twice,
   because the first run warms up. */
static int size_batch(struct batch *batch, double seen, bool doubted, cugen_error *err) {
  const int runs = seen < shortest_batch ? 2 : doubted ? 1 : 0;
  double once = seen > 0 ? seen : INFINITY;
  int status = CUGEN_OK;
  for (int i = 0; i < runs && !status; i++) {
    double seconds = 0;
    status = time_batch(batch, &seconds, err);
    once = fmin(once, seconds);
  }
  const bool coarse = batch->device->ops->capabilities & DEVICE_CONCURRENT && once < shortest_batch;
  batch->once = fmax(once, 1e-7);
  batch->repeats = coarse ? (long)ceil(shortest_batch / batch->once) : 1;
  return status;
}

struct sampling {
  const struct measure_options *options;
  double best; /* 0: nothing is dropped */
  double times[MOST_SAMPLES], least, most, spent;
  int taken, wanted;
  bool dropped;
  enum measure_reached reached;
};

/* Times a part of a batch, which also warms up. The look is repeated before a kernel is dropped,
   because a look is too long if the launching process waits for a processor. */
static int look_until_sure(struct batch *batch, struct sampling *s, cugen_error *err) {
  const long whole = batch->repeats;
  int status = CUGEN_OK;
  batch->repeats = (long)ceil(look * (double)whole);
  s->dropped = true;
  for (int looks = 0; looks < MOST_LOOKS && s->dropped && !status; looks++) {
    double seconds = 0;
    status = time_batch(batch, &seconds, err);
    s->least = fmin(s->least, seconds);
    s->dropped = !status && measure_is_beaten(1, s->least, s->least, s->best);
  }
  batch->repeats = whole;
  return status;
}

/* Adds a sample: one launch took `seconds`, timed over `repeats` launches. wall: seconds for the
   sample with what is not timed, such as flushing caches; 0: the same as the timed seconds. */
static void measure_take(struct sampling *s, double seconds, long repeats, double wall) {
  s->times[s->taken++] = seconds;
  s->spent += fmax(seconds * (double)repeats, wall);
  s->least = fmin(s->least, seconds);
  s->most = fmax(s->most, seconds);
}

static bool has_settled(const struct sampling *s) {
  return s->options->few && s->taken >= SETTLED_FROM && s->least >= long_launch &&
         s->most <= s->least * settled;
}

static int measure_take_samples(struct batch *batch, struct sampling *s, cugen_error *err) {
  int status = CUGEN_OK;
  while (!status && !s->dropped && !has_settled(s) && s->taken < s->wanted &&
         (s->taken == 0 || s->spent < s->options->seconds)) {
    double seconds = 0, begin = clock_seconds();
    status = time_batch(batch, &seconds, err);
    if (!status)
      measure_take(s, seconds, batch->repeats, batch->flush.bytes ? clock_seconds() - begin : 0);
    s->dropped = !status && measure_is_beaten(s->taken, s->least, s->most, s->best);
  }
  return status;
}

/* ---- The ways ------------------------------------------------------------------------------- */

static int sample_burst(struct batch *batch, struct sampling *s, cugen_error *err) {
  int status = CUGEN_OK;
  if (batch->repeats > 1)
    status = look_until_sure(batch, s, err);
  else
    s->dropped = measure_is_beaten(0, batch->once, batch->once, s->best);
  if (!status && s->dropped) measure_take(s, fmin(s->least, batch->once), batch->repeats, 0);
  return status ? status : measure_take_samples(batch, s, err);
}

/* Sizes the graph: each buffer set once if sets are restored; otherwise at most MOST_NODES
   launches: a whole batch or, if that is more, as many as last graph_seconds, at most one for each
   set. */
static void size_graph(struct batch *batch) {
  const long sets = (long)fmin((double)batch->count, ceil(graph_seconds / batch->once));
  long nodes = batch->repeats > sets ? batch->repeats : sets;
  if (nodes > MOST_NODES) nodes = MOST_NODES;
  if (batch->renewal) nodes = (long)batch->count;
  batch->repeats = (batch->repeats + nodes - 1) / nodes * nodes;
  batch->nodes = batch->group = nodes;
}

/* The first replay is no sample, because it uploads the graph to the device. */
static int sample_graph(struct batch *batch, struct sampling *s, cugen_error *err) {
  const struct device_ops *ops = batch->device->ops;
  struct graph *graph = NULL;
  double ignored;
  size_graph(batch);
  batch->next = 0;
  int status = ops->graph_make(batch->device, measure_run_group, batch, &graph, err);
  if (status) {
    error_prefix(err, "as a CUDA graph");
    if (err && !err->cause) err->cause = CUGEN_CAUSE_RESOURCES; /* no launch took place */
    return status;
  }
  batch->graph = graph;
  batch->next = 0;
  status = time_batch(batch, &ignored, err);
  if (!status) status = measure_take_samples(batch, s, err);
  ops->graph_free(batch->device, graph);
  return status;
}

static int sample_cold(struct batch *batch, struct sampling *s, cugen_error *err) {
  const struct device_ops *ops = batch->device->ops;
  if (batch->repeats > COLD_LAUNCHES) batch->repeats = COLD_LAUNCHES;
  int status = ops->alloc(batch->device, MEMORY_DEVICE, 2 * ops->cache_bytes(batch->device), false,
                          &batch->flush, err);
  if (status) return error_prefix(err, "to flush the caches");
  status = measure_take_samples(batch, s, err);
  ops->free(batch->device, &batch->flush);
  return status;
}

/* The last samples under load, as a ring. */
struct load {
  double times[LOAD_SAMPLES];
  struct device_clock clocks[LOAD_SAMPLES];
  int taken; /* number of samples taken, also of overwritten ones */
};

static bool is_within(double least, double most, double factor) {
  return most <= least * factor;
}

/* A figure that is not known (0) counts as steady. */
static enum measure_reached judge_load(const struct load *load) {
  double fast = load->times[0], slow = fast;
  int low = load->clocks[0].sm_mhz, high = low, watts = load->clocks[0].power_watts,
      most_watts = watts;
  bool capped = true;
  if (load->taken < LOAD_SAMPLES) return MEASURE_NOT_SETTLED;
  for (int i = 0; i < LOAD_SAMPLES; i++) {
    const struct device_clock *clock = &load->clocks[i];
    fast = fmin(fast, load->times[i]), slow = fmax(slow, load->times[i]);
    if (clock->sm_mhz < low) low = clock->sm_mhz;
    if (clock->sm_mhz > high) high = clock->sm_mhz;
    if (clock->power_watts < watts) watts = clock->power_watts;
    if (clock->power_watts > most_watts) most_watts = clock->power_watts;
    capped = capped && clock->at_power_cap;
  }
  if (!is_within(fast, slow, steady_time)) return MEASURE_NOT_SETTLED;
  if (capped) return MEASURE_POWER_CAP; /* at the power limit, the clock moves up and down */
  return is_within(low, high, steady_clock) && is_within(watts, most_watts, steady_power)
             ? MEASURE_STEADY
             : MEASURE_NOT_SETTLED;
}

double measure_load_limit(double timeout) {
  return timeout > 0 ? fmin(measure_most_load, 0.4 * timeout) : measure_most_load;
}

/* A variant is dropped as soon as it is beaten, even before the device throttles, because it only
   becomes slower afterwards. */
static int sample_sustained(struct batch *batch, struct sampling *s, cugen_error *err) {
  const struct device_ops *ops = batch->device->ops;
  const double most = s->options->load > 0 ? s->options->load : measure_most_load,
               least = fmin(most, measure_least_load);
  struct load load = {.taken = 0};
  double spent = 0;
  batch->repeats = (long)ceil(load_sample / batch->once);
  do {
    const int at = load.taken % LOAD_SAMPLES;
    const double begin = clock_seconds();
    int status = time_batch(batch, &load.times[at], err);
    if (status) return status;
    load.taken++;
    load.clocks[at] = (struct device_clock){0};
    if (ops->clock) ops->clock(batch->device, &load.clocks[at]);
    spent += fmax(load.times[at] * (double)batch->repeats, clock_seconds() - begin);
    s->least = fmin(s->least, load.times[at]);
    s->dropped = measure_is_beaten(1, s->least, s->least, s->best);
    s->reached = s->dropped ? MEASURE_NOT_LOADED : judge_load(&load);
  } while (!s->dropped && spent < most && (spent < least || s->reached == MEASURE_NOT_SETTLED));
  for (int i = 0; i < load.taken && i < LOAD_SAMPLES; i++)
    measure_take(s, load.times[i], batch->repeats, 0);
  return CUGEN_OK;
}

static int (*const sample_ways[MEASURE_WAYS])(struct batch *batch, struct sampling *s,
                                              cugen_error *err) = {
    [MEASURE_BURST] = sample_burst,
    [MEASURE_GRAPH] = sample_graph,
    [MEASURE_SUSTAINED] = sample_sustained,
    [MEASURE_COLD] = sample_cold};

int measure_check(const struct device_ops *ops, const struct toolkit *toolkit, enum measure_way way,
                  cugen_error *err) {
  const bool gpu = ops->capabilities & DEVICE_EXECUTES_ON_GPU;
  if (way == MEASURE_GRAPH && gpu) return ops->graphs(toolkit, err);
  if (gpu || way == MEASURE_BURST || way == MEASURE_COLD) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_USAGE,
                   "measure \"%s\" is of a GPU: the %s device has no %s. There are \"burst\" and "
                   "\"cold\" (cugen_options.measure)",
                   measure_way_names[way], ops->kind,
                   way == MEASURE_GRAPH ? "CUDA graphs"
                                        : "power limit under which clocks could settle");
}

int measure_calls(struct device *device, struct call *const *calls, size_t count,
                  const struct measure_renewal *renewal, const struct measure_options *options,
                  struct measurement *out, cugen_error *err) {
  /* False on the cpu device, where other work of the processor disturbs every time. */
  const bool steady = device->ops->capabilities & DEVICE_CONCURRENT;
  const double seen = steady ? options->seen : 0;
  struct batch batch = {.device = device,
                        .calls = calls,
                        .count = count,
                        .repeats = 1,
                        .renewal = renewal,
                        .held = options->way == MEASURE_BURST};
  struct sampling s = {.options = options,
                       .best = steady ? options->best : 0,
                       .least = (double)INFINITY,
                       .wanted = options->samples < MOST_SAMPLES ? options->samples : MOST_SAMPLES};
  *out = (struct measurement){0};
  const bool beaten = measure_is_beaten(0, seen, seen, s.best);
  s.dropped = beaten && seen >= doubtless;
  /* The verified run took all of the measuring time, so it is the only sample. */
  const bool enough = options->way == MEASURE_BURST && seen > 0 && seen >= options->seconds;
  if (s.dropped || enough) measure_take(&s, seen, 1, 0);
  int status = s.taken ? CUGEN_OK
                       : size_batch(&batch, seen, seen < doubtless && (beaten || s.best <= 0), err);
  if (!status && !s.taken) status = sample_ways[options->way](&batch, &s, err);
  if (status) return status;
  if (device->ops->clock) device->ops->clock(device, &out->clock);
  measure_summarise(s.times, s.taken, out);
  out->dropped = s.dropped;
  out->reached = s.reached;
  return CUGEN_OK;
}
