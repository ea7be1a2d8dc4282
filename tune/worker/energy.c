/* Measures energy; see energy.h. A GPU's counter (NVML, since Volta) counts the whole board and
   moves in steps every 20 to 100 ms. A window of launches begins and ends at steps; the energy of a
   run is the rise of the counter divided by the number of runs. A step is seen at most one batch
   late, and this batch is the resolution. The counter is read while a batch runs, not between
   batches. Launches run for a while before the window, because the power follows the load with a
   delay.

   Where a kernel changes its arguments, its buffers are restored between launches. The energy of
   the restoring alone is measured in a second window and subtracted. */
#include "energy.h"

#include <math.h>

#include "base/system.h"

/* Least duration of a batch in seconds: short compared with the counter's steps, long compared with
   a launch. */
static const double batch_seconds = 0.01;
static const double warm_seconds = 0.1;
/* Seconds, in addition to the window's, after which a counter that has not moved is unusable. */
static const double patience = 2;

struct load {
  struct device *device;
  struct call *const *calls;
  size_t count, next;
  const struct measure_renewal *renewal;
  bool launches; /* false: buffers are restored and nothing is launched */
  bool mute;     /* the counter cannot be read, or does not move */
  long repeats;  /* runs in a batch */
};

static int run_batch(struct load *load, double *joules, cugen_error *err) {
  int status = CUGEN_OK;
  for (long i = 0; i < load->repeats && !status; i++) {
    const size_t set = load->next;
    load->next = (set + 1) % load->count;
    if (load->renewal) status = load->renewal->run(load->renewal->context, set, err);
    if (!status && load->launches) status = call_launch(load->calls[set], err);
  }
  if (!status) load->mute |= load->device->ops->energy(load->device, joules, NULL) != CUGEN_OK;
  return status ? status : load->device->ops->sync(load->device, err);
}

/* A step of the counter: its new value, when it was seen, and how many runs had ended before it. */
struct step {
  double joules, seconds, runs;
};

static int warm_up(struct load *load, double *joules, cugen_error *err) {
  const double begin = clock_seconds();
  int status = run_batch(load, joules, err);
  while (!status && !load->mute && clock_seconds() - begin < warm_seconds)
    status = run_batch(load, joules, err);
  return status;
}

static int measure_window(struct load *load, double seconds, struct step *first, struct step *last,
                          cugen_error *err) {
  double joules = 0, runs = 0;
  bool begun = false;
  int status = warm_up(load, &joules, err);
  *last = (struct step){joules, clock_seconds(), 0};
  while (!status && !load->mute) {
    status = run_batch(load, &joules, err);
    const double now = clock_seconds();
    const bool moved = joules > last->joules;
    load->mute |= !moved && now - last->seconds > patience + seconds;
    if (moved) *last = (struct step){joules, now, runs};
    if (moved && !begun) *first = *last, begun = true;
    if (moved && last->seconds - first->seconds >= seconds && last->runs > first->runs) break;
    runs += (double)load->repeats;
  }
  return status;
}

static int measure_load(struct load *load, double seconds, double *joules, double *resolution,
                        cugen_error *err) {
  struct step first = {0}, last = {0};
  int status = measure_window(load, seconds, &first, &last, err);
  *joules = *resolution = 0;
  if (status || load->mute) return status;
  const double runs = last.runs - first.runs, counter_unit = 1e-3;
  *joules = (last.joules - first.joules) / runs;
  *resolution = *joules * (double)load->repeats / runs + counter_unit / runs;
  return CUGEN_OK;
}

int energy_measure(struct device *device, struct call *const *calls, size_t count,
                   const struct measure_renewal *renewal, double seconds, struct measurement *out,
                   cugen_error *err) {
  struct load load = {.device = device,
                      .calls = calls,
                      .count = count,
                      .renewal = renewal,
                      .launches = true,
                      .repeats = (long)fmax(1, ceil(batch_seconds / fmax(out->seconds, 1e-6)))};
  double joules, resolution, of_renewal = 0, more = 0;
  out->energy = out->energy_resolution = 0;
  if (!device->ops->energy) return CUGEN_OK;
  int status = measure_load(&load, seconds, &joules, &resolution, err);
  load.launches = false;
  if (!status && renewal) status = measure_load(&load, seconds, &of_renewal, &more, err);
  if (status || load.mute) return status;
  out->energy = fmax(joules - of_renewal, 0);
  out->energy_resolution = resolution + more;
  return CUGEN_OK;
}
