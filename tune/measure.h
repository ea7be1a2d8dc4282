/* How long does it take? Batches sized to the clock's resolution, over buffer sets that rotate past the L2, as a
   median with its spread; in one of the ways of base/measure_way.h. */
#ifndef TUNE_MEASURE_H
#define TUNE_MEASURE_H

#include "base/measure_way.h"
#include "runtime/plan.h"

/* What MEASURE_SUSTAINED had reached when it began to count. */
enum measure_reached {
  MEASURE_NOT_LOADED,  /* another way, or the variant was dropped before */
  MEASURE_POWER_CAP,   /* the board was at its power limit, and times were steady */
  MEASURE_STEADY,      /* clocks, power and times were steady below it */
  MEASURE_NOT_SETTLED, /* none of it in the time that it had */
  MEASURE_REACHED
};

struct measurement {
  int samples;
  double seconds, minimum, p20, p80; /* of one run of the plan */
  struct device_clock clock;         /* just after the last batch */
  double energy, energy_resolution;  /* joules of one run, and what they are uncertain by; 0: not measured */
  bool dropped;                      /* slower than `best`: stopped as soon as that was clear */
  enum measure_reached reached;
};

/* Writes buffer set `set` as it was given, before each launch on it and outside of the time. */
struct measure_renewal {
  int (*run)(void *context, size_t set, cugen_error *err);
  void *context;
};

struct measure_options {
  double best;    /* seconds that would be as good as the best variant so far; 0: none */
  double seconds; /* to spend at most, about */
  int samples;    /* wanted */
  bool few;       /* three are enough of long launches that agree */
  double seen;    /* seconds that a run took when it was verified; 0: not known */
  double energy;  /* seconds to measure its energy for; 0: it is not asked for */
  enum measure_way way;
  double load; /* for MEASURE_SUSTAINED: seconds at most to reach a steady state; 0: measure_most_load */
};

/* Seconds of load that usually end in a steady state, and after which it is given up. */
extern const double measure_least_load, measure_most_load;

/* What of a variant's time limit may be spent on that. */
double measure_load_limit(double timeout);

/* CUGEN_ERROR_USAGE or _DEVICE when the device has no such way. Needs no open device. */
int measure_check(const struct device_ops *ops, const struct toolkit *toolkit, enum measure_way way,
                  cugen_error *err);

/* Whether more samples cannot change that it is slower than the best: least and most are the fastest and the slowest of so many. best 0:
   there is none. */
bool measure_is_beaten(int samples, double least, double most, double best);

/* calls: one for each buffer set, used in turn. renewal NULL: a launch may find what the one before it left. */
int measure_calls(struct device *device, struct call *const *calls, size_t count,
                  const struct measure_renewal *renewal, const struct measure_options *options,
                  struct measurement *out, cugen_error *err);

/* Sorts times[0 .. count), count at least 1, and fills in the first five of *out. */
void measure_summarise(double *times, int count, struct measurement *out);

#endif
