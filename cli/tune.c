/* cugen tune: finds the best variant on a device and stores every result. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/records.h"
#include "api/tuning.h"
#include "cli.h"
#include "print.h"
#include "progress.h"
#include "records.h"
#include "stop.h"
#include "trace.h"
#include "tune_devices.h"
#include "tune_set.h"

/* ---- Options -------------------------------------------------------------------------------- */

/* Returns true for --portfolio N --budget 0, which measures nothing. */
static bool only_learns(const struct cli *cli) {
  const char *budget = cli->values[OPTION_BUDGET];
  return options_given(cli, OPTION_PORTFOLIO) && budget &&
         (!strcmp(budget, "0") || !strcmp(budget, "0s"));
}

/* Reads --budget: 90s, 5m: a time; 500: a number of variants; none: no limit. */
static int read_budget(struct cli *cli, cugen_tune_options *options) {
  const char *text = cli->values[OPTION_BUDGET];
  if (!text || only_learns(cli) || options_read_seconds(text, true, &options->budget_seconds))
    return CUGEN_OK;
  options->budget_seconds = -1;
  if (strcmp(text, "none") == 0) return CUGEN_OK;
  if (options_count(cli, OPTION_BUDGET, 1, &options->budget_count) == CUGEN_OK) return CUGEN_OK;
  return cli_fail(
      cli, CUGEN_ERROR_USAGE,
      "--budget %s: a time (90s, 5m, 1h), a number of variants (500) or none is expected", text);
}

static int read_patience(struct cli *cli, cugen_tune_options *options) {
  const char *text = cli->values[OPTION_PATIENCE];
  size_t count = 0;
  if (text && strcmp(text, "none") == 0) {
    options->patience = -1;
    return CUGEN_OK;
  }
  int status = options_count(cli, OPTION_PATIENCE, 1, &count);
  options->patience = count < INT_MAX ? (int)count : INT_MAX;
  return status;
}

/* Reads --verify: 90s, 5m: a time; none: nothing is verified. */
static int tune_read_verify(struct cli *cli, cugen_tune_options *options) {
  const char *text = cli->values[OPTION_VERIFY];
  double seconds = -1;
  if (!text) return CUGEN_OK;
  if (strcmp(text, "none") != 0 && !options_read_seconds(text, false, &seconds))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--verify %s: a time (10s, 500ms, 2m) or none is expected", text);
  options->verify_seconds = seconds;
  return CUGEN_OK;
}

static int tune_read_options(struct cli *cli, cugen_tune_options *options, size_t *top) {
  size_t seed = 1, threads = 0;
  int status = read_budget(cli, options);
  if (!status) status = read_patience(cli, options);
  if (!status) status = tune_read_verify(cli, options);
  if (!status) status = options_count(cli, OPTION_SEED, 0, &seed);
  if (!status) status = options_count(cli, OPTION_THREADS, 1, &threads);
  if (!status) status = options_count(cli, OPTION_TOP, 0, top);
  if (!status) status = options_count(cli, OPTION_PORTFOLIO, 1, &options->portfolio);
  if (!status) status = options_seconds(cli, OPTION_TIMEOUT, &options->variant_timeout);
  if (!status) status = options_seconds(cli, OPTION_COMPILE_TIMEOUT, &options->compile_timeout);
  options->seed = seed;
  options->threads = threads < 4096 ? (int)threads : 4096;
  options->strategy = cli->values[OPTION_STRATEGY];
  options->bitwise = cli->values[OPTION_BITWISE];
  options->baseline = cli->values[OPTION_BASELINE];
  options->again = options_given(cli, OPTION_AGAIN);
  return status;
}

/* ---- Results as text ------------------------------------------------------------------------ */

/* The context of the progress callback of one tuning run. */
struct run {
  struct cli *cli;
  const cugen_space_info *space;
  size_t remembered; /* number of records before the run */
  struct progress progress;
  bool headed;
};

/* Remarks that large inputs are made, and how long that takes on a GPU, at about 1 GiB a second. */
static void remark_data(const struct cli *cli) {
  static const int64_t large = (int64_t)256 << 20;
  static const double bytes_a_second = 1 << 30;
  cugen_argument_info largest = {.name = NULL}, argument;
  int64_t all = 0;
  cugen_error ignored;
  for (size_t i = 0; i < cugen_kernel_arguments(cli->kernel); i++) {
    if (cugen_kernel_argument(cli->kernel, i, &argument, &ignored) || argument.absent ||
        !argument.data)
      continue;
    all += argument.bytes;
    if (!largest.name || argument.bytes > largest.bytes) largest = argument;
  }
  if (all < large || api_kernel_predicted(cli->kernel)) return;
  const double seconds = (double)all / bytes_a_second;
  const bool gpu = !cli_on_cpu(cli);
  cli_remark(cli, "first %s of inputs are made%s%s; '%s' has %s (%s)", print_bytes(all).text,
             gpu ? ", in about " : "", gpu ? print_seconds(seconds).text : "", largest.name,
             print_bytes(largest.bytes).text, largest.data);
}

/* Prints the head once. Called when tuning has begun, so that a refused option is reported without
   the head. */
static void print_head(struct run *run) {
  struct cli *cli = run->cli;
  if (run->headed || options_given(cli, OPTION_JSON) || options_given(cli, OPTION_QUIET)) return;
  run->headed = true;
  if (cli->fallback)
    printf("No GPU is here: predicted for %s. %s\n--device names another, 'cugen devices' lists "
           "them; --device cpu runs the variants on this processor.\n",
           cli->values[OPTION_DEVICE], cli->fallback);
  cli_print_head(cli);
  tune_devices_print_head(cli);
  printf("%s of ", print_count(run->space->valid).text);
  printf("%s combinations valid, ", print_count(run->space->cartesian).text);
  printf("%s remembered\n", print_count(run->remembered).text);
  fflush(stdout);
  cli_remark_cache(cli);
  cli_remark_unused(cli);
  remark_data(cli);
}

static int tune_on_progress(const cugen_progress *state, void *context) {
  struct run *run = context;
  if (!run->cli->group) print_head(run);
  tune_devices_say_lost(run->cli, &run->progress, state->lost);
  progress_draw(&run->progress, state);
  return stop_asked();
}

/* Prints the counts of the run. With --again no variant is "remembered before". */
static void tune_print_numbers(struct cli *cli, const cugen_tune_result *result) {
  print_tried(result);
  if (!options_given(cli, OPTION_AGAIN))
    printf(", %s remembered before", print_count(result->remembered).text);
  printf(", %s left; ", print_count(result->left).text);
  printf("%s compiled", print_count(result->compiled).text);
  printf(" in %s", print_seconds(result->seconds).text);
  if (result->seconds > 0 && result->tried && result->measuring > 0)
    printf(
        ", the device%s busy %s of it", cli_device_count(cli) > 1 ? "s" : "",
        print_percent(result->measuring / (result->seconds * (double)cli_device_count(cli))).text);
  puts(".");
  if (result->tied)
    printf("The %s ties with %s within %.1f %%.\n",
           api_kernel_objective(cli->kernel) == OBJECTIVE_TIME ? "fastest" : "best",
           result->tied == 1 ? "another" : print_count(result->tied).text,
           fmax(100 * result->tied_within, 0.1));
  if (result->energies) printf("Measured the energy of %s.\n", print_count(result->energies).text);
  if (result->power_capped + result->steady + result->unsettled) {
    printf("Under load %s reached the power limit, ", print_count(result->power_capped).text);
    printf("%s steady clocks below it, ", print_count(result->steady).text);
    printf("%s neither in time.\n", print_count(result->unsettled).text);
  }
  if (result->began) printf("It began with %s.\n", result->began);
  if (result->settled) {
    printf("It ended after %zu variants that brought nothing (--patience)", result->settled);
    if (isfinite(result->gain))
      printf("; as many variants again would gain about %.1f%%", 100 * result->gain);
    puts(".");
  }
}

/* Returns the command about the best variant. With a filter, it names the variant, because a
   look-up without the filter may find another. */
static struct hint hint_of_best(struct cli *cli, const char *command) {
  size_t count;
  const cugen_record *best = api_records(cli->kernel, &count);
  const bool filtered = cli_narrows(cli) || options_given(cli, OPTION_BITWISE);
  struct cli meant = *cli;
  if (filtered && count) meant.values[OPTION_VARIANT] = best->variant;
  return hint(&meant, command);
}

static void print_tail(struct cli *cli, const cugen_tune_result *result, size_t right) {
  tune_print_numbers(cli, result);
  if (!result->tried && !right) return; /* the command's error message says why */
  if (!cli_print_remembered(cli)) return;
  if (result->left && !result->alike) puts("Run the same command again to continue.");
  if (!right) return;
  if (api_kernel_predicted(cli->kernel)) {
    puts("These are predictions, stored apart from measurements; docs/model.md says how good they "
         "are.");
    printf("The best as source: %s\n", hint_of_best(cli, "gen").text);
  } else {
    printf("Run the best: %s\n", hint_of_best(cli, "run").text);
  }
}

/* Remarks how many right variants have other bits, or were not compared; the table leaves them out.
   equal: number of records with equal bits, which come first. */
static void tune_remark_bitwise(struct cli *cli, const cugen_tune_result *result, size_t equal) {
  size_t others = 0, unknown = 0, count;
  const cugen_record *all = api_records(cli->kernel, &count), *first = NULL;
  if (!result->outputs.known) return;
  for (size_t i = equal; i < count && all[i].outcome == CUGEN_OUTCOME_OK; i++) {
    const cugen_outputs *outputs = &all[i].outputs;
    const bool with_this_seed = outputs->known && outputs->seed == result->outputs.seed;
    if (!with_this_seed && !outputs->varies)
      unknown++;
    else if (others++ == 0)
      first = &all[i];
  }
  printf("\nThese give the same bits as '%s', with the data of seed %" PRIu64 ".\n",
         result->equal_to, result->outputs.seed);
  if (others)
    printf("%s right variant%s with other bits %s left out; the fastest of them takes %s: %s\n",
           print_count(others).text, others == 1 ? "" : "s", others == 1 ? "is" : "are",
           print_seconds(first->seconds).text, first->variant);
  if (unknown)
    printf(
        "%s right variant%s not compared with this seed's data yet: run the same command again.\n",
        print_count(unknown).text, unknown == 1 ? " was" : "s were");
}

/* Prints whether the best prediction is verified, or that the results of measured variants were not
   checked. */
static void print_verified(struct cli *cli, const cugen_tune_result *result, size_t right) {
  size_t count;
  const cugen_record *best = api_records(cli->kernel, &count);
  if (!right || !count) return;
  if (!best->predicted) {
    if (!best->verified)
      puts("Not verified (reference \"none\"): the variants ran, but their results were not "
           "checked.");
    return;
  }
  if (result->unverified) {
    printf("Not verified: %s.\n", result->unverified);
    return;
  }
  printf("The first is verified: on the cpu device, with %s%s",
         *best->verified_on ? best->verified_on : "the config's check problem",
         result->verified ? "" : ", by an earlier run");
  if (result->refuted)
    printf("; %s in front of it came out wrong", print_count(result->refuted).text);
  puts(".");
  if (result->unchecked) printf("Not checked: %s.\n", result->unchecked);
}

static int tune_print_result(struct cli *cli, const cugen_tune_result *result, size_t top) {
  bool quiet = options_given(cli, OPTION_QUIET);
  size_t right = 0;
  if (!quiet && !result->tried && !result->left && !result->interrupted)
    printf("Nothing left to try: all %s variants are remembered.\n",
           print_count(result->valid).text);
  if (!quiet) putchar('\n');
  int status = api_load_records(cli->kernel, &cli->error);
  if (!status) status = records_print_best(cli, top, &right);
  char *baseline = status ? NULL : records_baseline(cli, &result->baseline);
  if (baseline) printf("\n%s.\n", baseline);
  free(baseline);
  if (!status && !quiet) tune_remark_bitwise(cli, result, right);
  if (!status && api_kernel_needs_energy(cli->kernel)) status = records_print_front(cli);
  if (!status) records_print_failures(cli, right > 0);
  if (right) tune_devices_keep_best(cli);
  if (!status && result->not_run)
    printf("Not run: %s, which says nothing of %s, such as %s\n",
           print_count(result->unsupported).text, result->unsupported == 1 ? "it" : "them",
           result->not_run);
  if (!status) print_verified(cli, result, right);
  if (!status && !quiet) print_tail(cli, result, right);
  return status;
}

/* ---- Results as JSON ------------------------------------------------------------------------ */

static int tune_print_json(struct cli *cli, const cugen_space_info *space,
                           const cugen_tune_result *result) {
  size_t count;
  int status = api_load_records(cli->kernel, &cli->error);
  if (status) return status;
  const cugen_record *records = api_records(cli->kernel, &count);
  json_t *object = JSON_ADD(
      json_kernel(cli),
      {"fallback",
       json_optional_string(cli->fallback ? cli->fallback : cugen_kernel_fallback(cli->kernel))},
      {"check_problem", json_boolean(cli_is_check(cli))},
      {"objective", json_string(api_kernel_objective_text(cli->kernel))},
      {"measure", json_optional_string(api_kernel_measure(cli->kernel))},
      MEMBER(count, space, cartesian), MEMBER(count, space, valid),
      {"run", json_tune_result(result)}, {"records", JSON_LIST(records, count, json_record)});
  status = trace_into_json(cli, object);
  if (!status) return cli_print_json(cli, object);
  json_decref(object);
  return status;
}

/* ---- The command ---------------------------------------------------------------------------- */

/* Fails because no variant came out right or was predicted. */
static int fail_all(struct cli *cli, const cugen_tune_result *result) {
  bool predicted = api_kernel_predicted(cli->kernel);
  struct cli meant = *cli;
  const cugen_record *first = records_failed(cli);
  if (first) meant.values[OPTION_VARIANT] = first->variant;
  return cli_fail(cli, CUGEN_ERROR_WRONG, "not one of %zu variants %s; '%s' %s",
                  result->refuted ? result->refuted : result->tried,
                  predicted && !result->refuted ? "could be predicted" : "came out right",
                  hint(&meant, predicted ? "gen" : "run").text,
                  predicted ? "prints the source of the first" : "shows the first in full");
}

/* Tunes the kernel and prints the results, also if a signal stopped tuning or no variant came out
   right. */
static int tune_open_kernel(struct cli *cli, cugen_tune_options *options,
                            const cugen_space_info *space, size_t top) {
  struct run run = {.cli = cli, .space = space};
  api_records(cli->kernel, &run.remembered);
  cugen_tune_result result = {0};
  bool json = options_given(cli, OPTION_JSON);
  tune_devices_open_progress(cli, &run.progress);
  options->progress = tune_on_progress;
  options->context = &run;
  int status = api_kernel_tune(cli->kernel, options, &result, &cli->error);
  progress_close(&run.progress);
  tune_devices_say_lost(cli, &run.progress, result.lost);
  if (status && status != CUGEN_ERROR_WRONG && status != CUGEN_ERROR_INTERRUPTED) return status;
  tune_devices_take_turn(cli);
  print_head(&run);
  cli->outputs = result.outputs;
  if (!status) cli_remark_all_refused(cli);
  cugen_error tuning = cli->error;
  int printed = json ? tune_print_json(cli, space, &result) : tune_print_result(cli, &result, top);
  if (printed) return printed;
  cli->error = tuning;
  if (result.alike) cli_append(cli, "; --budget none tries all");
  return status == CUGEN_ERROR_WRONG && result.tried && !result.alike && !json
             ? fail_all(cli, &result)
             : status;
}

static int use_device(struct cli *cli) {
  if (cli_only_predicts(cli))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "the cpu device has no architecture '%s'. To predict for a GPU that has it: "
                    "--device %s. To run on this processor, leave out --arch (--device cpu)",
                    cli->values[OPTION_ARCH], cli_fallback_model(cli));
  bool here = cli_device(cli) == CUGEN_DEVICE_CUDA || cli_on_cpu(cli);
  return here ? cli_use_check_on_cpu(cli) : api_kernel_use_predictions(cli->kernel, &cli->error);
}

static int tune_one(struct cli *cli, cugen_tune_options *options, size_t top) {
  cugen_space_info space;
  int status = use_device(cli);
  if (!status) status = api_kernel_space(cli->kernel, &space, &cli->error);
  if (!status) status = api_load_records(cli->kernel, &cli->error);
  return status ? status : tune_open_kernel(cli, options, &space, top);
}

/* Opens the config, then reads its captured problems: each line of a capture names its kernel. */
static int read_captured(struct cli *cli, struct problem_set *out) {
  if (options_given(cli, OPTION_PROBLEM_FILE))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--from and --problems both name the problems: give one of them");
  for (size_t i = 0; i < cli->setting_count; i++)
    if (strchr(cli->settings[i], ','))
      return cli_fail(cli, CUGEN_ERROR_USAGE,
                      "--set %s: --from names the problems, and takes no list beside them",
                      cli->settings[i]);
  const int status = cli_open_kernel(cli);
  return status ? status : capture_read(cli, out);
}

/* Tunes the problems of --from, of --set and --problems, or of the config, or else a single
   problem. With --portfolio N --budget 0, only learns. */
static int tune_problems(struct cli *cli, cugen_tune_options *options, size_t top) {
  struct problem_set set = {0};
  int status =
      options_given(cli, OPTION_FROM) ? read_captured(cli, &set) : problem_set_read(cli, &set);
  if (!status && !set.count) status = cli_open_kernel(cli);
  if (!status && !set.count && !cli->setting_count && !only_learns(cli))
    status = problem_set_of_config(cli, &set);
  if (!status && !set.count && options->portfolio && !only_learns(cli))
    status = problem_set_add(cli, &set, "", "");
  if (!status && only_learns(cli)) status = api_check_tune_options(options, &cli->error);
  if (!status && only_learns(cli))
    status = tune_set_learn(cli, &set, options->portfolio, top);
  else if (!status)
    status =
        set.count ? tune_set(cli, &set, options, top, use_device) : tune_one(cli, options, top);
  problem_set_free(&set);
  return status;
}

int command_tune(struct cli *cli) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  size_t top = 10;
  int status = tune_read_options(cli, &options, &top);
  if (!status) status = tune_devices(cli, &options, top, tune_problems);
  /* If the cache was busy, the error message says which results are not stored. */
  if (status == CUGEN_ERROR_INTERRUPTED && cli->error.cause == CUGEN_CAUSE_BUSY) return status;
  return cli_conclude(cli, status, "interrupted; what was found is kept");
}
