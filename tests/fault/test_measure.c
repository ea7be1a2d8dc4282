/* The ways of timing over a driver that counts calls: what is launched, in which order, and when
   the measurement ends. */
#include <math.h>

#include <cuda.h>

#include "find_fake.h"
#include "runtime/compile/toolkit.h"
#include "runtime/cuda/driver.h"
#include "runtime/devices.h"
#include "tests/testing.h"
#include "tune/worker/energy.h"
#include "tune/worker/measure.h"

enum { SETS = 3, LAUNCHES = 2 };

/* A kernel of two launches on three buffer sets. */
static struct scene {
  struct toolkit *toolkit;
  struct device *device;
  struct device_ops ops; /* operations with the test's own clock */
  struct plan *plan;
  struct call *calls[SETS];
  cugen_error err;
  double each;                            /* seconds of a launch */
  long launches, flushed, renewed, order; /* order: launches that did not follow a flush */
  long spans, run_in_span, renewed_sets[SETS];
  struct device_clock clock;
  double drift; /* factor by which a launch takes longer after each span */
} scene;

static void count_launch(const struct fake_launch *launch) {
  scene.launches++;
  scene.run_in_span++;
  scene.order += fake->filled == scene.flushed;
  if (scene.launches % LAUNCHES == 0) scene.flushed = fake->filled;
}

static int time_span(struct device *device, bool held, int (*run)(void *context, cugen_error *err),
                     void *context, double *seconds, cugen_error *err) {
  scene.run_in_span = 0;
  int status = run(context, err);
  *seconds = scene.each * (double)scene.run_in_span / LAUNCHES;
  scene.each *= scene.drift;
  scene.spans++;
  return status;
}

static void tell_clock(struct device *device, struct device_clock *out) {
  *out = scene.clock;
}

static int renew(void *context, size_t set, cugen_error *err) {
  assert_true(set < SETS);
  scene.renewed_sets[set]++;
  scene.renewed++;
  return CUGEN_OK;
}

FIXTURE(set_up) {
  static struct kernel_launch launches[LAUNCHES] = {
      {.entry = "work", .grid = {1, 1, 1}, .block = {32, 1, 1}},
      {.entry = "work", .grid = {2, 1, 1}, .block = {32, 1, 1}}};
  static struct kernel_spec spec = {.launches = launches, .launch_count = LAUNCHES};
  static char name[] = "work";
  static struct compiled compiled = {
      .image = (void *)"no cubin", .image_length = 8, .entry_count = 1, .entries = {name}};
  *fake = (struct fake_cuda){.version = 13000, .devices = 1, .run = count_launch};
  scene = (struct scene){.each = 1e-4, .drift = 1};
  assert_int_equal(toolkit_open(NULL, &scene.toolkit, NULL), CUGEN_OK);
  text_clear(&scene.toolkit->driver);
  text_addf(&scene.toolkit->driver, "%s/libcuda.so.1", getenv("CUGEN_TEST_FAKE_CUDA"));
  text_clear(&scene.toolkit->nvrtc);
  text_add(&scene.toolkit->nvrtc, "libnvrtc.so.13");
  const struct device_options options = {.toolkit = scene.toolkit};
  assert_int_equal(cuda_device_ops.open(&options, &scene.device, &scene.err), CUGEN_OK);
  assert_int_equal(plan_open(scene.device, &spec, &compiled, &scene.plan, &scene.err), CUGEN_OK);
  for (size_t i = 0; i < SETS; i++)
    assert_int_equal(call_bind(scene.plan, NULL, NULL, 0, &scene.calls[i], &scene.err), CUGEN_OK);
  scene.ops = cuda_device_ops;
  scene.ops.time = time_span;
  scene.ops.clock = tell_clock;
  scene.device->ops = &scene.ops;
  scene.device->description.facts.l2_bytes = 4096;
  return 0;
}

FIXTURE(tear_down) {
  scene.device->ops = &cuda_device_ops;
  for (size_t i = 0; i < SETS; i++) call_free(scene.calls[i]);
  plan_close(scene.plan);
  cuda_device_ops.close(scene.device);
  toolkit_close(scene.toolkit);
  assert_int_equal(fake->memory, 0);
  assert_int_equal(fake->graphs, 0);
  assert_int_equal(fake->images, 0);
  return 0;
}

static struct measurement measure(struct measure_options options, bool renewed) {
  const struct measure_renewal renewal = {renew, NULL};
  struct measurement measured;
  if (!options.samples) options.samples = 4;
  if (options.seconds <= 0) options.seconds = 1;
  int status = measure_calls(scene.device, scene.calls, SETS, renewed ? &renewal : NULL, &options,
                             &measured, &scene.err);
  if (status) fail_msg("%s", scene.err.message);
  return measured;
}

static bool about(double a, double b) {
  return fabs(a - b) < 1e-3 * b;
}

/* ---- Samples that are enough ---------------------------------------------------------------- */

TEST_WITH(test_long_launches_settle, set_up, tear_down) {
  const struct measure_options options = {.samples = 11, .few = true}, all = {.samples = 11};
  /* seconds of a launch: a tenth of a millisecond */
  assert_int_equal(measure(options, false).samples, 11);
  scene.each = 10e-3;
  assert_int_equal(measure(all, false).samples, 11);
  assert_int_equal(measure(options, false).samples, 3);
  scene.drift = 1.003; /* three samples differ by 0.6 % */
  assert_int_equal(measure(options, false).samples, 11);
}

/* A sample takes a millisecond and has ten launches. */
TEST_WITH(test_time_ends_sampling, set_up, tear_down) {
  const struct measurement m =
      measure((struct measure_options){.samples = 11, .seconds = 4.5e-3}, false);
  assert_int_equal(m.samples, 5);
}

/* ---- What is said of the samples ------------------------------------------------------------ */

/* Each sample takes a tenth more than the one before, so the time is the sixth of eleven. */
TEST_WITH(test_quantiles, set_up, tear_down) {
  scene.drift = 1.1;
  const struct measurement m = measure((struct measure_options){.samples = 11}, false);
  assert_int_equal(m.samples, 11);
  assert_true(m.minimum < m.p20 && m.p20 < m.seconds && m.seconds < m.p80);
  assert_true(about(m.p20, m.minimum * pow(1.1, 2)));
  assert_true(about(m.seconds, m.minimum * pow(1.1, 5)));
  assert_true(about(m.p80, m.minimum * pow(1.1, 8)));
}

/* ---- In a graph ----------------------------------------------------------------------------- */

TEST_WITH(test_graph, set_up, tear_down) {
  struct measurement m = measure((struct measure_options){.way = MEASURE_GRAPH}, false);
  /* Ten rounds of two launches make a millisecond: they are captured once, and replayed to warm
     up and for each sample. */
  assert_int_equal(fake->captured, 10 * LAUNCHES);
  assert_int_equal(fake->replayed, (1 + 4) * 10 * LAUNCHES);
  /* two launches tell how long one takes */
  assert_int_equal(scene.launches, (2 + 5 * 10) * LAUNCHES);
  assert_int_equal(m.samples, 4);
  assert_true(about(m.seconds, 1e-4));
  assert_int_equal(m.reached, MEASURE_NOT_LOADED);
}

/* Sets that are restored are used once in a graph, and restored before each replay. */
TEST_WITH(test_graph_renews, set_up, tear_down) {
  struct measurement m =
      measure((struct measure_options){.way = MEASURE_GRAPH, .samples = 2}, true);
  assert_int_equal(fake->captured, SETS * LAUNCHES);
  /* 12: the next multiple of three sets */
  assert_int_equal(fake->replayed, (1 + 2) * 12 * LAUNCHES);
  assert_int_equal(scene.renewed, 2 + (1 + 2) * 12);
  /* two launches before it told how long one takes */
  assert_int_equal(scene.renewed_sets[0], 1 + (1 + 2) * 4);
  assert_int_equal(scene.renewed_sets[2], (1 + 2) * 4);
  assert_true(about(m.seconds, 1e-4));
}

/* The graph of a long kernel still goes through all sets, up to ten milliseconds. */
TEST_WITH(test_graph_of_long_launches, set_up, tear_down) {
  scene.each = 2e-3;
  measure((struct measure_options){.way = MEASURE_GRAPH, .seen = 2e-3, .samples = 1}, false);
  assert_int_equal(fake->captured, SETS * LAUNCHES);
  scene.each = 1;
  fake->captured = 0;
  measure((struct measure_options){.way = MEASURE_GRAPH, .seen = 1, .samples = 1}, false);
  assert_int_equal(fake->captured, LAUNCHES);
}

/* A variant that cannot be captured fails and leaves nothing behind. */
TEST_WITH(test_graph_fails, set_up, tear_down) {
  static const char *const calls[] = {"cuStreamBeginCapture_v2", "cuStreamEndCapture",
                                      "cuGraphInstantiateWithFlags", "cuGraphLaunch"};
  const struct measure_options options = {.way = MEASURE_GRAPH, .samples = 1, .seconds = 1};
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
    struct measurement measured;
    fake->fail_only = calls[i];
    fake->fail_with = CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
    fake->calls = 0;
    fake->fail_at = 1;
    assert_int_equal(
        measure_calls(scene.device, scene.calls, SETS, NULL, &options, &measured, &scene.err),
        CUGEN_ERROR_DEVICE);
    assert_non_null(strstr(scene.err.message, calls[i]));
    assert_int_equal(fake->graphs, 0);
    if (i < 3) assert_int_equal(scene.err.cause, CUGEN_CAUSE_RESOURCES);
  }
  fake->fail_at = 0;
  measure(options, false); /* the stream is usable again */
}

TEST_WITH(test_no_graphs, set_up, tear_down) {
  assert_int_equal(measure_check(&cuda_device_ops, scene.toolkit, MEASURE_GRAPH, &scene.err),
                   CUGEN_OK);
  const struct driver *driver;
  assert_int_equal(driver_open(scene.toolkit, &driver, &scene.err), CUGEN_OK);
  struct driver *changed = (struct driver *)(uintptr_t)driver;
  CUresult (*const had)(CUgraphExec, CUstream) = driver->graph_launch;
  changed->graph_launch = NULL;
  assert_int_equal(measure_check(&cuda_device_ops, scene.toolkit, MEASURE_GRAPH, &scene.err),
                   CUGEN_ERROR_DEVICE);
  assert_non_null(strstr(scene.err.message, "no graphs"));
  assert_int_equal(measure_check(&cuda_device_ops, scene.toolkit, MEASURE_COLD, &scene.err),
                   CUGEN_OK);
  changed->graph_launch = had;
  for (int way = 0; way < MEASURE_WAYS; way++) {
    const bool gpu_only = way == MEASURE_GRAPH || way == MEASURE_SUSTAINED;
    assert_int_equal(
        measure_check(&cpu_device_ops, scene.toolkit, (enum measure_way)way, &scene.err),
        gpu_only ? CUGEN_ERROR_USAGE : CUGEN_OK);
  }
}

/* ---- Cold ----------------------------------------------------------------------------------- */

TEST_WITH(test_cold, set_up, tear_down) {
  struct measurement m =
      measure((struct measure_options){.way = MEASURE_COLD, .samples = 2}, false);
  /* Two launches tell how long one takes; then a sample has eight, each behind a flush of twice
     the L2 and timed alone. */
  assert_int_equal(scene.launches, (2 + 2 * 8) * LAUNCHES);
  assert_int_equal(scene.spans, 2 + 2 * 8);
  assert_int_equal(fake->filled, 2 * 8 * 2 * 4096);
  assert_int_equal(scene.order, (2 + 2 * 8) * LAUNCHES - 2 * 8 * LAUNCHES);
  assert_int_equal(m.samples, 2);
  assert_true(about(m.seconds, 1e-4));
}

/* A set is restored before the caches are flushed, not afterwards. */
TEST_WITH(test_cold_renews, set_up, tear_down) {
  measure((struct measure_options){.way = MEASURE_COLD, .samples = 2}, true);
  assert_int_equal(scene.renewed, 2 + 2 * 8);
  assert_int_equal(scene.order, 2 * LAUNCHES);
}

/* ---- Under load ----------------------------------------------------------------------------- */

TEST_WITH(test_sustained, set_up, tear_down) {
  static const struct {
    struct device_clock clock;
    double drift, load;
    enum measure_reached reached;
    long samples_of_load; /* samples of a tenth of a second each */
  } cases[] = {
      /* a second, although everything was steady before */
      {{.sm_mhz = 1900, .power_watts = 400}, 1, 0, MEASURE_STEADY, 10},
      {{.sm_mhz = 1500, .power_watts = 700, .at_power_cap = true}, 1, 0, MEASURE_POWER_CAP, 10},
      /* clocks are not known, so the times alone decide */
      {{.sm_mhz = 0}, 1, 0, MEASURE_STEADY, 10},
      /* slower and slower: given up after five seconds */
      {{.sm_mhz = 1900}, 1.05, 0, MEASURE_NOT_SETTLED, 0},
      {{.sm_mhz = 1900}, 1, 0.5, MEASURE_STEADY, 5}, /* the limit of the time */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    scene.clock = cases[i].clock;
    scene.drift = cases[i].drift;
    scene.each = 1e-4;
    scene.spans = scene.launches = 0;
    struct measurement m =
        measure((struct measure_options){.way = MEASURE_SUSTAINED, .load = cases[i].load}, false);
    if (m.reached != cases[i].reached) fail_msg("case %zu: reached %d", i, (int)m.reached);
    assert_int_equal(m.samples, 5);
    if (!cases[i].samples_of_load) continue;
    assert_true(labs(scene.spans - 2 - cases[i].samples_of_load) <= 1);
    assert_true(labs(scene.launches / LAUNCHES - 2 - 1000 * cases[i].samples_of_load) <= 1000);
    assert_true(about(m.seconds, 1e-4));
  }
}

/* Clocks that still change are not a steady state, even if the times are steady. */
static void tell_falling_clock(struct device *device, struct device_clock *out) {
  scene.clock.sm_mhz = scene.clock.sm_mhz * 98 / 100;
  tell_clock(device, out);
}

TEST_WITH(test_sustained_waits_for_clocks, set_up, tear_down) {
  scene.ops.clock = tell_falling_clock;
  scene.clock.sm_mhz = 100000;
  struct measurement m =
      measure((struct measure_options){.way = MEASURE_SUSTAINED, .load = 2}, false);
  assert_int_equal(m.reached, MEASURE_NOT_SETTLED);
  assert_true(scene.spans >= 2 + 20);
}

/* A variant that is slower before it throttles is not loaded any further. */
TEST_WITH(test_sustained_drops, set_up, tear_down) {
  struct measurement m =
      measure((struct measure_options){.way = MEASURE_SUSTAINED, .best = 5e-5}, false);
  assert_true(m.dropped);
  assert_int_equal(m.reached, MEASURE_NOT_LOADED);
  assert_int_equal(scene.spans, 2 + 1);
}

/* A load that was below the power limit in one of its samples is not settled at the limit. */
static void tell_gap_in_cap(struct device *device, struct device_clock *out) {
  scene.clock.sm_mhz = scene.clock.sm_mhz * 98 / 100;
  tell_clock(device, out);
  out->at_power_cap = scene.spans % 5 != 0;
}

TEST_WITH(test_sustained_at_the_cap_throughout, set_up, tear_down) {
  scene.ops.clock = tell_gap_in_cap;
  scene.clock.sm_mhz = 100000;
  const struct measurement m =
      measure((struct measure_options){.way = MEASURE_SUSTAINED, .load = 2}, false);
  assert_int_equal(m.reached, MEASURE_NOT_SETTLED);
  assert_true(scene.spans >= 2 + 20);
}

TEST_WITH(test_load_fits_the_timeout, set_up, tear_down) {
  assert_true(measure_load_limit(0) == measure_most_load);
  assert_true(measure_load_limit(100) == measure_most_load);
  assert_true(about(measure_load_limit(5), 2)); /* verifying and loading take time, too */
}

/* ---- Energy --------------------------------------------------------------------------------- */

/* A launch takes half a joule, restoring a set a quarter of a joule. */
static int tell_energy(struct device *device, double *joules, cugen_error *err) {
  *joules = 0.5 * (double)scene.launches + 0.25 * (double)scene.renewed;
  return CUGEN_OK;
}

TEST_WITH(test_energy_without_renewing, set_up, tear_down) {
  const struct measure_renewal renewal = {renew, NULL};
  struct measurement m = {.seconds = 1e-3};
  scene.ops.energy = tell_energy;
  assert_int_equal(energy_measure(scene.device, scene.calls, SETS, &renewal, 1e-3, &m, &scene.err),
                   CUGEN_OK);
  assert_true(about(m.energy, 0.5 * LAUNCHES));
}

ALL_TESTS_WITH(find_fake, NULL);
