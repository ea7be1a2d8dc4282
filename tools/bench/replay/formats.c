/* The files that other tuners write:

   - Kernel Tuner's cache: {"tune_params_keys": [...], "cache": {"16,1": {"block": 16, ...,
     "time": 3.8, "compile_time": 918.6, ...}}}, milliseconds; a variant that failed has a word
     in place of its time;
   - T4, what Kernel Tuner writes as a result and the community's methodology reads: {"results":
     [{"configuration": {...}, "times": {...}, "invalidity": "correct", "measurements": [{"name":
     "time", "value": 3.8}]}], "metadata": {"timeunit": "milliseconds"}};
   - KTT's results: {"Metadata": {"TimeUnit": "Microseconds"}, "Results": [{"Configuration":
     [{"Name": ..., "Value": ...}], "Status": "Ok", "ComputationResults": [{"Duration": ...}],
     "TotalDuration": ..., "TotalOverhead": ...}]}.

   What a variant took is added up in the methodology's order, and each part divided as it
   divides them, so that sums are equal to the last bit. */
#include "formats.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Kernel Tuner's number for "failed". */
static const double failed_cost = 1e20;

static const struct {
  const char *name;
  double per_second;
} units[] = {{"seconds", 1}, {"s", 1},    {"milliseconds", 1e3}, {"miliseconds", 1e3},
             {"ms", 1e3},    {"us", 1e6}, {"microseconds", 1e6}, {"nanoseconds", 1e9},
             {"ns", 1e9},    {NULL, 0}};

static int read_unit(struct recording *recording, const char *name, cugen_error *err) {
  size_t i = 0;
  while (units[i].name && strcasecmp(units[i].name, name) != 0) i++;
  recording->per_second = units[i].per_second;
  if (units[i].name) return CUGEN_OK;
  return error_set(err, CUGEN_ERROR_CACHE,
                   "%s: '%.50s' is no unit of time; there are seconds, milliseconds, microseconds "
                   "and nanoseconds",
                   recording->path, name);
}

static const char *text_member(const json_t *object, const char *name) {
  const char *text = json_string_value(json_object_get(object, name));
  return text ? text : "";
}

/* In seconds: of a number that is not negative, of a list the sum of such, else 0. */
static double duration(const json_t *value, double per_second) {
  double sum = 0;
  if (json_is_number(value) && json_number_value(value) >= 0)
    return json_number_value(value) / per_second;
  for (size_t i = 0; i < json_array_size(value); i++)
    sum += duration(json_array_get(value, i), per_second);
  return sum;
}

/* The sum of the members; the first is the compile's. */
static double durations(const json_t *object, const char *const *names, double per_second,
                        double *compile) {
  double sum = *compile = duration(json_object_get(object, *names), per_second);
  while (*++names) sum += duration(json_object_get(object, *names), per_second);
  return sum;
}

static double cost_of(const json_t *value) {
  const double cost = json_is_number(value) ? json_number_value(value) : (double)NAN;
  return cost > 0 && cost < failed_cost ? cost : (double)NAN;
}

static int refuse_more(const struct recording *recording, cugen_error *err) {
  return recording_refuse(recording, err, "it has a tunable that the first variant lacks");
}

/* ---- Kernel Tuner's cache ------------------------------------------------------------------- */

static int read_kernel_tuner_axes(struct recording *recording, const json_t *root,
                                  cugen_error *err) {
  const json_t *keys = json_object_get(root, "tune_params_keys"), *key;
  size_t i;
  int status = CUGEN_OK;
  if (!json_is_array(keys))
    return error_set(err, CUGEN_ERROR_CACHE, "%s: a Kernel Tuner cache without 'tune_params_keys'",
                     recording->path);
  json_array_foreach(keys, i, key) {
    if (!status)
      status =
          recording_add_axis(recording, json_is_string(key) ? json_string_value(key) : "", err);
  }
  return status;
}

static int read_kernel_tuner(struct recording *recording, const json_t *root, cugen_error *err) {
  static const char *const times[] = {"compile_time",  "benchmark_time",    "framework_time",
                                      "strategy_time", "verification_time", NULL};
  const json_t *values[RECORDED_MOST_AXES];
  json_t *cache = json_object_get(root, "cache"), *entry;
  const char *key;
  int status = read_kernel_tuner_axes(recording, root, err);
  recording->per_second = 1e3;
  recording->kernel = text_member(root, "kernel_name");
  recording->device = text_member(root, "device_name");
  json_object_foreach(cache, key, entry) {
    double compile, total = durations(entry, times, recording->per_second, &compile);
    for (size_t i = 0; i < recording->axis_count; i++)
      values[i] = json_object_get(entry, recording->axes[i].name);
    if (!status)
      status = recording_add(recording, values, cost_of(json_object_get(entry, "time")), compile,
                             total, err);
  }
  return status;
}

/* ---- T4 ------------------------------------------------------------------------------------- */

static int read_t4_axes(struct recording *recording, const json_t *results, cugen_error *err) {
  json_t *configuration = json_object_get(json_array_get(results, 0), "configuration"), *value;
  const char *name;
  int status = CUGEN_OK;
  json_object_foreach(configuration, name, value) {
    if (!status) status = recording_add_axis(recording, name, err);
  }
  return status;
}

static const json_t *t4_measurement(const json_t *result, const char *name) {
  const json_t *measurements = json_object_get(result, "measurements");
  for (size_t i = 0; i < json_array_size(measurements); i++) {
    const json_t *measurement = json_array_get(measurements, i);
    if (strcmp(text_member(measurement, "name"), name) == 0)
      return json_object_get(measurement, "value");
  }
  return NULL;
}

static int read_t4_result(struct recording *recording, const json_t *result, double per_second,
                          cugen_error *err) {
  static const char *const names[] = {"compilation",      "runtimes",   "framework",
                                      "search_algorithm", "validation", NULL};
  const json_t *values[RECORDED_MOST_AXES],
      *configuration = json_object_get(result, "configuration");
  const json_t *times = json_object_get(result, "times"), *time = t4_measurement(result, "time");
  double compile, total = durations(times, names, per_second, &compile);
  bool right = strcmp(text_member(result, "invalidity"), "correct") == 0;
  if (!json_is_object(configuration))
    return recording_refuse(recording, err, "it has no 'configuration'");
  if (!*text_member(result, "invalidity"))
    return recording_refuse(recording, err, "it has no 'invalidity'");
  if (right && !time)
    return recording_refuse(recording, err, "it is correct, and has no measurement called 'time'");
  for (size_t i = 0; i < recording->axis_count; i++)
    values[i] = json_object_get(configuration, recording->axes[i].name);
  if (json_object_size(configuration) > recording->axis_count) return refuse_more(recording, err);
  return recording_add(recording, values, right ? cost_of(time) : (double)NAN, compile, total, err);
}

static int read_t4(struct recording *recording, const json_t *root, cugen_error *err) {
  const json_t *metadata = json_object_get(root, "metadata"),
               *results = json_object_get(root, "results"), *result;
  const char *unit = text_member(metadata, "timeunit");
  size_t i;
  int status = read_unit(recording, *unit ? unit : "seconds", err);
  if (!status) status = read_t4_axes(recording, results, err);
  recording->kernel = text_member(metadata, "kernel_name");
  recording->device = text_member(metadata, "device_name");
  json_array_foreach(results, i, result) {
    if (!status) status = read_t4_result(recording, result, recording->per_second, err);
  }
  return status;
}

/* ---- KTT ------------------------------------------------------------------------------------ */

static const json_t *ktt_value(const json_t *configuration, const char *name) {
  for (size_t i = 0; i < json_array_size(configuration); i++) {
    const json_t *pair = json_array_get(configuration, i);
    if (strcmp(text_member(pair, "Name"), name) == 0) return json_object_get(pair, "Value");
  }
  return NULL;
}

static int read_ktt_axes(struct recording *recording, const json_t *results, cugen_error *err) {
  const json_t *configuration = json_object_get(json_array_get(results, 0), "Configuration"), *pair;
  size_t i;
  int status = CUGEN_OK;
  json_array_foreach(configuration, i, pair) {
    if (!status) status = recording_add_axis(recording, text_member(pair, "Name"), err);
  }
  return status;
}

/* Of several computations the mean, as the methodology imports them. */
static double ktt_cost(const json_t *result) {
  const json_t *computations = json_object_get(result, "ComputationResults");
  const size_t count = json_array_size(computations);
  double sum = 0;
  if (strcasecmp(text_member(result, "Status"), "Ok") != 0 || !count) return (double)NAN;
  for (size_t i = 0; i < count; i++)
    sum += json_number_value(json_object_get(json_array_get(computations, i), "Duration"));
  return sum > 0 ? sum / (double)count : (double)NAN;
}

static int read_ktt_result(struct recording *recording, const json_t *result, cugen_error *err) {
  static const char *const parts[] = {"SearcherOverhead", "ValidationOverhead",
                                      "DataMovementOverhead", NULL};
  const json_t *values[RECORDED_MOST_AXES],
      *configuration = json_object_get(result, "Configuration");
  const double per_second = recording->per_second;
  double run = duration(json_object_get(result, "TotalDuration"), per_second);
  double overhead = duration(json_object_get(result, "TotalOverhead"), per_second), first;
  double rest = durations(result, parts, per_second, &first);
  if (!json_is_array(configuration))
    return recording_refuse(recording, err, "it has no 'Configuration'");
  for (size_t i = 0; i < recording->axis_count; i++)
    values[i] = ktt_value(configuration, recording->axes[i].name);
  if (json_array_size(configuration) > recording->axis_count) return refuse_more(recording, err);
  return recording_add(recording, values, ktt_cost(result), fmax(0, overhead - rest),
                       run + overhead, err);
}

static int read_ktt(struct recording *recording, const json_t *root, cugen_error *err) {
  const json_t *metadata = json_object_get(root, "Metadata"),
               *results = json_object_get(root, "Results"), *result;
  size_t i;
  int status = read_unit(recording, text_member(metadata, "TimeUnit"), err);
  if (!status) status = read_ktt_axes(recording, results, err);
  recording->kernel = text_member(json_array_get(results, 0), "KernelName");
  recording->device = text_member(metadata, "Device");
  json_array_foreach(results, i, result) {
    if (!status) status = read_ktt_result(recording, result, err);
  }
  return status;
}

const struct recorded_format recorded_formats[] = {{"Kernel Tuner", "cache", read_kernel_tuner},
                                                   {"T4", "results", read_t4},
                                                   {"KTT", "Results", read_ktt},
                                                   {NULL, NULL, NULL}};
