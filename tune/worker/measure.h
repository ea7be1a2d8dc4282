/* Times a variant in batches sized to the clock's resolution. The launches of a batch take turns on
   buffer sets, and the result is a median with its spread. base/measure_way.h lists the ways of
   timing. */
#ifndef TUNE_WORKER_MEASURE_H
#define TUNE_WORKER_MEASURE_H

#include "base/measure_way.h"
#include "runtime/plan.h"

/* The state in which MEASURE_SUSTAINED ended. */
enum measure_reached {
  MEASURE_NOT_LOADED,  /* another way of timing, or the variant was dropped */
  MEASURE_POWER_CAP,   /* the board was at its power limit, and the times were steady */
  MEASURE_STEADY,      /* clocks, power and times were steady below the power limit */
  MEASURE_NOT_SETTLED, /* no steady state was reached within the time limit */
  MEASURE_REACHED
};

struct measurement {
  int samples;
  double seconds, minimum, p20, p80; /* seconds of one run of the plan */
  struct device_clock clock;         /* clock of the device just after the last batch */
  double energy, energy_resolution;  /* joules of one run, and their uncertainty; 0: not measured */
  /* The measurement stopped early because the variant is slower than measure_options.best. */
  bool dropped;
  enum measure_reached reached;
};

/* A function that restores the original contents of buffer set `set`. The function is called before
   each launch on the set and is not timed. */
struct measure_renewal {
  int (*run)(void *context, size_t set, cugen_error *err);
  void *context;
};

struct measure_options {
  /* Seconds of a run that would be as good as the best variant so far; 0: no best variant yet. */
  double best;
  /* Approximate limit of the measuring time, and most samples; unused for MEASURE_SUSTAINED. */
  double seconds;
  int samples;
  bool few;      /* three samples are enough if launches are long and the samples agree */
  double seen;   /* seconds of the run that was verified; 0: not known */
  double energy; /* seconds to spend on measuring the energy; 0: the energy is not measured */
  enum measure_way way;
  double load; /* for MEASURE_SUSTAINED: most seconds of load; 0: measure_most_load */
};

/* For MEASURE_SUSTAINED: least seconds of load, if `load` is not less; default of `load`. */
extern const double measure_least_load, measure_most_load;

/* Returns the part of a variant's timeout that may be spent on reaching a steady state. */
double measure_load_limit(double timeout);

/* Checks that the device, which need not be open, can time in this way. CUGEN_ERROR_USAGE: the way
   is only for GPUs, and the device is none. CUGEN_ERROR_DEVICE: the driver lacks CUDA graphs. */
int measure_check(const struct device_ops *ops, const struct toolkit *toolkit, enum measure_way way,
                  cugen_error *err);

/* Returns true if a variant is so much slower than the best that more samples will hardly change
   that. least and most are the fastest and the slowest of `samples` samples. best 0: there is no
   best variant. */
bool measure_is_beaten(int samples, double least, double most, double best);

/* Times one plan. calls: the plan bound to each of `count` buffer sets, which take turns. renewal
   NULL: a launch may find the buffers as the launch before it left them. */
int measure_calls(struct device *device, struct call *const *calls, size_t count,
                  const struct measure_renewal *renewal, const struct measure_options *options,
                  struct measurement *out, cugen_error *err);

/* Sorts times[0 .. count), count at least 1, and sets the first five fields of *out. */
void measure_summarise(double *times, int count, struct measurement *out);

#endif
