/* Finds the set of records for a report, and the set's kernel; see findings.h. */
#include <stdlib.h>
#include <string.h>

#include "api/cache.h"
#include "api/kernel.h"
#include "api/records.h"
#include "base/key.h"
#include "findings.h"
#include "records.h"

/* ---- Which set of records ------------------------------------------------------------------- */

enum { MOST_SETTINGS = 64 };

static bool is_cpu_set(const cugen_cache_set *set) {
  return device_parse(set->device).kind == CUGEN_DEVICE_CPU;
}

static bool is_predicted_set(const cugen_cache_set *set) {
  return device_parse(set->device).predicted;
}

static bool is_better(const cugen_cache_set *a, const cugen_cache_set *b) {
  if (is_cpu_set(a) != is_cpu_set(b)) return !is_cpu_set(a);
  if (is_predicted_set(a) != is_predicted_set(b)) return !is_predicted_set(a);
  return a->measured_at > b->measured_at;
}

/* Returns true for a set of measurements, or of predictions made with the current figures of the
   model. */
static bool has_figures(const cugen_kernel *kernel, const cugen_cache_set *set) {
  const char *options;
  if (!is_predicted_set(set)) return true;
  api_kernel_key(kernel, NULL, &options);
  return strcmp(set->options, options) == 0;
}

/* The problem that CONFIG and --set name: the config's own, on the cpu device the check problem,
   with the given settings. */
struct wanted {
  char *gpu, *cpu, *gpu_short, *cpu_short; /* *_short: the text for readers */
  const char *measure;                     /* how the records must have been timed; NULL: in any
                                              way */
};

static void wanted_free(struct wanted *wanted) {
  free(wanted->gpu);
  free(wanted->cpu);
  free(wanted->gpu_short);
  free(wanted->cpu_short);
}

/* Finds the wanted problem. The caller frees *out even after an error. */
static int find_wanted(struct cli *cli, const struct findings *f, size_t settings,
                       struct wanted *out) {
  cugen_kernel *kernel;
  *out = (struct wanted){NULL, NULL, NULL, NULL, NULL};
  int status =
      cugen_kernel_open(f->listing, cli->operand, cli->settings, settings, &kernel, &cli->error);
  if (status) return cli_explain_list(cli), status;
  out->measure = api_kernel_measure(kernel);
  out->gpu = strdup(cugen_kernel_problem(kernel));
  out->gpu_short = strdup(api_kernel_problem_short(kernel));
  status = api_kernel_use_check(kernel, &cli->error);
  out->cpu = status ? NULL : strdup(cugen_kernel_problem(kernel));
  out->cpu_short = status ? NULL : strdup(api_kernel_problem_short(kernel));
  cugen_kernel_close(kernel);
  if (!status && (!out->gpu || !out->cpu || !out->gpu_short || !out->cpu_short))
    status = cli_no_memory(cli);
  return status;
}

/* Returns true for records that plans made while serving, and for comparisons with a baseline. */
static bool is_no_tuning(const cugen_cache_set *set) {
  return set->measure &&
         (strcmp(set->measure, "served") == 0 || strcmp(set->measure, "baseline") == 0);
}

static bool is_timed_so(const cugen_cache_set *set, const char *measure) {
  return !set->measure || !measure || strcmp(set->measure, measure) == 0;
}

static const char *wanted_of(const struct wanted *wanted, const cugen_cache_set *set) {
  return is_cpu_set(set) ? wanted->cpu : wanted->gpu;
}

/* Returns true if the problems have equal parameters in the same order, apart from parameters that
   the config has got since. Setting the parameters of `problem` then gives that problem. */
static bool is_reachable(const char *problem, const char *now) {
  struct setting theirs, mine;
  bool more = setting_next(&problem, &theirs);
  while (setting_next(&now, &mine))
    if (more && setting_same_name(&theirs, &mine)) more = setting_next(&problem, &theirs);
  return !more;
}

/* Returns true if `problem` equals `wanted`, or lacks only parameters that have their default
   values in `wanted`. */
static bool is_meant_problem(const char *problem, const char *wanted, const char *defaults) {
  struct setting theirs, mine;
  bool more = setting_next(&problem, &theirs);
  while (setting_next(&wanted, &mine))
    if (more && setting_equal(&theirs, &mine))
      more = setting_next(&problem, &theirs);
    else if (!settings_have(defaults, &mine))
      return false;
  return !more;
}

/* Appends the command that reports the set, with those settings of the set's problem that are not
   the defaults. */
static void append_set(struct cli *cli, const cugen_cache_set *set, const char *defaults,
                       const char *measure) {
  const char *settings[MOST_SETTINGS];
  struct cli meant = *cli;
  char *problem = strdup(set->problem);
  if (!problem) return;
  meant.settings = settings;
  meant.setting_count = 0;
  const size_t count = settings_cut(problem, settings, MOST_SETTINGS);
  for (size_t i = 0; i < count; i++) {
    const char *at = settings[i];
    struct setting setting;
    if (setting_next(&at, &setting) && !settings_have(defaults, &setting))
      settings[meant.setting_count++] = settings[i];
  }
  if (!is_timed_so(set, measure)) meant.values[OPTION_MEASURE] = set->measure;
  cli_append(cli, "\n  on %s there is: %s", set->device, hint(&meant, "report").text);
  free(problem);
}

/* Appends the sets that exist, as far as they fit in a few lines. */
static void append_others(struct cli *cli, const struct findings *f,
                          const struct wanted *defaults) {
  enum { LINES = 6 };
  size_t shown = 0, earlier = 0;
  for (size_t i = 0; i < f->set_count; i++) {
    const cugen_cache_set *set = &f->sets[i];
    const char *now = wanted_of(defaults, set);
    if (!set->records || is_no_tuning(set)) continue;
    if (!is_reachable(set->problem, now))
      earlier++;
    else if (shown++ < LINES)
      append_set(cli, set, now, defaults->measure);
  }
  if (earlier)
    cli_append(
        cli, "\n  %zu set%s of records %s of an earlier config, whose problem had other parameters",
        earlier, earlier == 1 ? "" : "s", earlier == 1 ? "is" : "are");
  if (shown > LINES) cli_append(cli, "\n  and %zu more", shown - LINES);
  if (shown && shown <= LINES && !earlier) return;
  struct cli meant = *cli;
  if (shown || earlier) {
    cli_append(cli, ": %s", hint(&meant, "cache ls").text);
    return;
  }
  meant.values[OPTION_DEVICE] = NULL;
  meant.operand = NULL;
  cli_append(cli, ", '%s' lists what is remembered", hint(&meant, "cache ls").text);
}

static int explain_nothing(struct cli *cli, const struct findings *f, const struct wanted *wanted) {
  struct wanted defaults;
  const char *device = cli->values[OPTION_DEVICE];
  const cugen_device_name named = device_parse(device);
  const bool cpu = named.kind == CUGEN_DEVICE_CPU;
  int status = find_wanted(cli, f, 0, &defaults);
  if (!status) {
    struct cli meant = *cli;
    /* 'cugen tune' takes ids, not the texts of devices or parts of them. */
    if (named.kind == CUGEN_DEVICE_NAMED || (cpu && *named.name))
      meant.values[OPTION_DEVICE] = NULL;
    cli_fail(cli, CUGEN_ERROR_USAGE, "nothing is remembered of %s for %s%s%s; '%s' measures it",
             cli->operand, cpu ? wanted->cpu_short : wanted->gpu_short, device ? " on " : "",
             device ? device : "", hint(&meant, "tune").text);
    append_others(cli, f, &defaults);
  }
  wanted_free(&defaults);
  return cli->error.status;
}

/* Sets *out to the best set of records for the wanted problem; NULL: there is none. */
static int find_set(struct cli *cli, struct findings *f, const cugen_cache_set **out) {
  cugen_cache_filter filter = {0};
  struct wanted wanted, defaults = {NULL, NULL, NULL, NULL, NULL};
  filter.config = cli->operand;
  filter.device = cli->values[OPTION_DEVICE];
  *out = NULL;
  int status = find_wanted(cli, f, cli->setting_count, &wanted);
  if (!status) status = find_wanted(cli, f, 0, &defaults);
  if (!status) status = api_cache_list(f->listing, &filter, &f->sets, &f->set_count, &cli->error);
  for (size_t i = 0; i < f->set_count && !status; i++) {
    const cugen_cache_set *set = &f->sets[i];
    bool meant = set->records && !is_no_tuning(set) && is_timed_so(set, wanted.measure) &&
                 is_meant_problem(set->problem, wanted_of(&wanted, set), wanted_of(&defaults, set));
    if (meant && (!*out || is_better(set, *out))) *out = set;
  }
  wanted_free(&wanted);
  wanted_free(&defaults);
  return status;
}

/* ---- The kernel of that set ----------------------------------------------------------------- */

static int open_kernel_of_set(struct cli *cli, const cugen_cache_set *set) {
  const char *settings[MOST_SETTINGS];
  cugen_options options = cli_library_options(cli);
  options.device = set->device;
  options.arch = is_cpu_set(set) || !*set->arch ? NULL : set->arch;
  options.measure = set->measure;
  char *problem = strdup(set->problem);
  if (!problem) return cli_no_memory(cli);
  int status = cugen_open(&options, &cli->lib, &cli->error);
  const size_t count = settings_cut(problem, settings, MOST_SETTINGS);
  if (!status)
    status = cugen_kernel_open(cli->lib, cli->operand, settings, count, &cli->kernel, &cli->error);
  if (!status) status = cli_filter(cli, options_given(cli, OPTION_EVERY));
  free(problem);
  return status;
}

/* Opens the library and the kernel of the set. Lists all sets of the kernel on the set's device,
   for any problem. */
static int open_set(struct cli *cli, struct findings *f, const cugen_cache_set *set) {
  int status = open_kernel_of_set(cli, set);
  if (status) return status;
  if (!has_figures(cli->kernel, set))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "the predictions of %s for %s come from a description that is unknown here; "
                    "name it: --device model:FILE",
                    cli->operand, cugen_kernel_device(cli->kernel)->name);
  cugen_cache_filter filter = {0};
  filter.config = cli->operand;
  char *device = strdup(set->device); /* copied, because the set is freed with the old list */
  if (!device) return cli_no_memory(cli);
  filter.device = device;
  status = api_cache_list(f->listing, &filter, &f->sets, &f->set_count, &cli->error);
  free(device);
  return status;
}

/* ---- The kernel on a model ------------------------------------------------------------------ */

static int open_model(struct cli *cli, struct findings *f) {
  const cugen_stored_record *all;
  size_t count = 0;
  int status = cli_open_kernel(cli);
  if (!status) status = cli_stored(cli, &all, &count);
  if (status) return status;
  /* The name without its prefix lists both the sets predicted for the model and the sets measured
     on the GPU itself. */
  const char *device;
  cugen_cache_filter filter = {0};
  api_kernel_key(cli->kernel, &device, NULL);
  filter.config = cli->operand;
  filter.device = device_parse(device).name;
  status = api_cache_list(f->listing, &filter, &f->sets, &f->set_count, &cli->error);
  if (status || count) return status;
  f->now = true;
  return cli_predict(cli);
}

/* ---- Choosing a set ------------------------------------------------------------------------- */

/* Opens the wanted set. If the kernel has no records at all and there is no GPU, makes
   predictions. */
static int open_any(struct cli *cli, struct findings *f) {
  const cugen_cache_set *set;
  struct wanted wanted;
  bool known = false, used = false;
  int status = find_set(cli, f, &set);
  if (status || set) return status ? status : open_set(cli, f, set);
  for (size_t i = 0; i < f->set_count; i++) known = known || f->sets[i].records;
  if (!known && !cli->values[OPTION_DEVICE]) status = cli_open(cli);
  if (!status && cli->lib) status = cli_use_model(cli, &used);
  if (status || used) return status ? status : open_model(cli, f);
  status = find_wanted(cli, f, cli->setting_count, &wanted);
  if (!status) status = explain_nothing(cli, f, &wanted);
  wanted_free(&wanted);
  return status;
}

/* ---- Comparing sets ------------------------------------------------------------------------- */

bool findings_is_kin(const struct findings *f, const cugen_cache_set *set) {
  return !is_no_tuning(set) && is_predicted_set(set) == f->predicted && has_figures(f->kernel, set);
}

int findings_find(struct cli *cli, struct findings *f) {
  cugen_options options = cli_library_options(cli);
  options.device = options.arch = NULL; /* here --device and --arch select records */
  int status = cugen_open(&options, &f->listing, &cli->error);
  if (status) return status;
  /* A model is identified by its figures; else --device is part of a device's name, or an id. */
  return device_parse(cli->values[OPTION_DEVICE]).kind == CUGEN_DEVICE_MODEL ? open_model(cli, f)
                                                                             : open_any(cli, f);
}
