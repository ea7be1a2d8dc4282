/* cugen tune: finds the best variant on this device and remembers every result. */
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "print.h"
#include "progress.h"
#include "records.h"
#include "stop.h"

/* ---- Options ---- */

/* 90s, 5m: a time; 500: so many variants; none: until nothing is left. */
static int read_budget(struct cli *cli, cugen_tune_options *options) {
  const char *text = cli->values[OPTION_BUDGET];
  if (!text || options_read_seconds(text, true, &options->budget_seconds)) return CUGEN_OK;
  options->budget_seconds = -1;
  if (strcmp(text, "none") == 0) return CUGEN_OK;
  if (options_count(cli, OPTION_BUDGET, 1, &options->budget_count) == CUGEN_OK) return CUGEN_OK;
  return cli_fail(cli, CUGEN_ERROR_USAGE,
                  "--budget %s: a time (90s, 5m, 1h), a number of variants (500) or none is expected", text);
}

static int read_options(struct cli *cli, cugen_tune_options *options, size_t *top) {
  size_t seed = 1, threads = 0;
  int status = read_budget(cli, options);
  if (!status) status = options_count(cli, OPTION_SEED, 0, &seed);
  if (!status) status = options_count(cli, OPTION_THREADS, 1, &threads);
  if (!status) status = options_count(cli, OPTION_TOP, 0, top);
  if (!status) status = options_seconds(cli, OPTION_TIMEOUT, &options->variant_timeout);
  options->seed = seed;
  options->threads = threads < 4096 ? (int)threads : 4096;
  options->strategy = cli->values[OPTION_STRATEGY];
  options->implementation = cli->values[OPTION_IMPLEMENTATION];
  options->again = options_given(cli, OPTION_AGAIN);
  return status;
}

/* ---- Results as text ---- */

/* One tuning run, as the callback sees it. */
struct run {
  struct cli *cli;
  const cugen_space_info *space;
  const char *instead; /* why a model stands in for a GPU; NULL: none does */
  size_t remembered;   /* before */
  struct progress progress;
  bool headed;
};

/* Not before tuning has begun: a wrong option is refused without it. */
static void print_head(struct run *run) {
  struct cli *cli = run->cli;
  if (run->headed || options_given(cli, OPTION_JSON) || options_given(cli, OPTION_QUIET)) return;
  run->headed = true;
  if (run->instead)
    printf(
        "No GPU is here: predicted for %s. %s\n"
        "--device names another, 'cugen occupancy' lists them; --device cpu runs the variants on this processor.\n",
        cli->values[OPTION_DEVICE], run->instead);
  cli_print_head(cli);
  printf("%s of ", print_count(run->space->valid).text);
  printf("%s combinations valid, ", print_count(run->space->cartesian).text);
  printf("%s remembered\n", print_count(run->remembered).text);
  fflush(stdout);
  cli_remark_cache(cli);
}

static int on_progress(const cugen_progress *state, void *context) {
  struct run *run = context;
  print_head(run);
  progress_draw(&run->progress, state);
  return stop_asked();
}

static void print_numbers(const cugen_tune_result *result) {
  printf("\nTried %s", print_count(result->tried).text);
  if (result->failed) printf(" (%s failed)", print_count(result->failed).text);
  printf(", %s remembered before", print_count(result->remembered).text);
  printf(", %s left; ", print_count(result->left).text);
  printf("%s compiled", print_count(result->compiled).text);
  printf(" in %s", print_seconds(result->seconds).text);
  if (result->seconds > 0 && result->tried && result->measuring > 0)
    printf(", the device at work %s of it", print_percent(result->measuring / result->seconds).text);
  puts(".");
  if (result->leaders)
    printf("It began with %s that were the best for other sizes.\n", print_count(result->leaders).text);
}

/* Whether there is a cache and it can be written, and where. */
static bool is_remembered(struct cli *cli, const char **cache, int *length) {
  int warning;
  cli_where(cli, "warning", &warning);
  *cache = cli_where(cli, "cache", length);
  return !warning && (*length != 4 || strncmp(*cache, "none", 4) != 0);
}

static void print_tail(struct cli *cli, const cugen_tune_result *result, size_t right) {
  int length;
  const char *cache;
  bool remembered = is_remembered(cli, &cache, &length);
  print_numbers(result);
  if (!remembered) {
    puts("Nothing of this is remembered: there is no cache that can be written.");
    return;
  }
  printf("Remembered in %.*s.\n", length, cache);
  if (result->left) puts("The same command again goes on from here.");
  if (!right) return;
  if (cugen_kernel_predicted(cli->kernel)) {
    puts("These are predictions, kept apart from what is measured: docs/model.md says how good they are.");
    printf("The best as source: cugen gen %s", cli->operand);
    cli_print_same(cli, stdout);
    putchar('\n');
    return;
  }
  printf("Run the best: cugen run %s", cli->operand);
  cli_print_same(cli, stdout);
  putchar('\n');
}

/* A ranking of what nobody compared is by time alone. */
static void remark_unverified(struct cli *cli, size_t right) {
  cugen_record best;
  cugen_error ignored;
  if (!right || cugen_kernel_record(cli->kernel, 0, &best, &ignored) || best.verified || best.predicted) return;
  puts("Not verified (reference \"none\"): the variants ran, nothing says that their results are right.");
}

static int print_result(struct cli *cli, const cugen_tune_result *result, size_t top) {
  bool quiet = options_given(cli, OPTION_QUIET);
  size_t right = 0;
  if (!quiet && !result->tried && !result->left && !result->interrupted)
    printf("Nothing left to try: all %s variants are remembered.\n", print_count(result->valid).text);
  if (!quiet) putchar('\n');
  int status = records_print_best(cli, top, &right);
  if (!status) status = records_print_failures(cli, right > 0);
  if (!status) remark_unverified(cli, right);
  if (!status && !quiet) print_tail(cli, result, right);
  return status;
}

/* ---- Results as JSON ---- */

static json_t *result_json(const cugen_tune_result *result) {
  json_t *object = json_object();
  json_object_set_new(object, "valid", json_integer((json_int_t)result->valid));
  json_object_set_new(object, "remembered", json_integer((json_int_t)result->remembered));
  json_object_set_new(object, "tried", json_integer((json_int_t)result->tried));
  json_object_set_new(object, "failed", json_integer((json_int_t)result->failed));
  json_object_set_new(object, "leaders", json_integer((json_int_t)result->leaders));
  json_object_set_new(object, "left", json_integer((json_int_t)result->left));
  json_object_set_new(object, "compiled", json_integer((json_int_t)result->compiled));
  json_object_set_new(object, "seconds", json_number(result->seconds));
  json_object_set_new(object, "measuring", json_number(result->measuring));
  json_object_set_new(object, "interrupted", json_boolean(result->interrupted));
  return object;
}

static int print_json(struct cli *cli, const cugen_space_info *space, const cugen_tune_result *result) {
  json_t *object = json_object(), *records = json_array();
  json_object_set_new(object, "kernel", json_string(cugen_kernel_name(cli->kernel)));
  json_object_set_new(object, "problem", json_string(cugen_kernel_problem(cli->kernel)));
  json_object_set_new(object, "device", json_device(cugen_kernel_device(cli->kernel)));
  json_object_set_new(object, "fallback", json_optional_string(cugen_kernel_fallback(cli->kernel)));
  json_object_set_new(object, "check_problem", json_boolean(cli_is_check(cli)));
  json_object_set_new(object, "cartesian", json_integer((json_int_t)space->cartesian));
  json_object_set_new(object, "valid", json_integer((json_int_t)space->valid));
  json_object_set_new(object, "run", result_json(result));
  json_object_set_new(object, "records", records);
  for (size_t i = 0; i < cugen_kernel_records(cli->kernel); i++) {
    cugen_record record;
    int status = cugen_kernel_record(cli->kernel, i, &record, &cli->error);
    if (status) {
      json_decref(object);
      return status;
    }
    json_array_append_new(records, json_record(&record));
  }
  return cli_print_json(cli, object);
}

/* ---- The command ---- */

/* What was not predicted cannot run either. */
static int fail_all(struct cli *cli, const cugen_tune_result *result) {
  bool predicted = cugen_kernel_predicted(cli->kernel);
  cli_fail(cli, CUGEN_ERROR_WRONG, "not one of %zu variants %s; 'cugen %s %s", result->tried,
           predicted ? "could be predicted" : "came out right", predicted ? "gen" : "run", cli->operand);
  if (predicted) cli_append_printed(cli, cli_print_same);
  cli_append(cli, predicted ? " --variant TEXT' prints the source of one" : " --variant TEXT' shows one in full");
  return cli->error.status;
}

/* Tunes; a stop by a signal and "not one came out right" still have results to print. */
static int tune(struct cli *cli, cugen_tune_options *options, const cugen_space_info *space, size_t top,
                const char *instead) {
  struct run run = {.cli = cli, .space = space, .instead = instead, .remembered = cugen_kernel_records(cli->kernel)};
  cugen_tune_result result = {0};
  bool json = options_given(cli, OPTION_JSON);
  progress_open(&run.progress, options_given(cli, OPTION_QUIET));
  options->progress = on_progress;
  options->context = &run;
  stop_catch();
  int status = cugen_kernel_tune(cli->kernel, options, &result, &cli->error);
  progress_close(&run.progress);
  if (status && status != CUGEN_ERROR_WRONG && status != CUGEN_ERROR_INTERRUPTED) return status;
  print_head(&run);
  cugen_error tuning = cli->error;
  int printed = json ? print_json(cli, space, &result) : print_result(cli, &result, top);
  if (printed) return printed;
  cli->error = tuning;
  return status == CUGEN_ERROR_WRONG && !json ? fail_all(cli, &result) : status;
}

/* Without a GPU and without a word about devices, a model stands in, if there is a compiler for it: *instead (to be freed)
   says why. */
static int stand_in(struct cli *cli, char **instead) {
  const char *why = cugen_kernel_fallback(cli->kernel);
  *instead = NULL;
  if (!why || cli->values[OPTION_ARCH] || !cugen_kernel_device(cli->kernel)->nvrtc_version) return CUGEN_OK;
  *instead = strdup(why);
  if (!*instead) return cli_fail(cli, CUGEN_ERROR_MEMORY, "out of memory");
  cugen_kernel_close(cli->kernel);
  cugen_close(cli->lib);
  cli->kernel = NULL;
  cli->lib = NULL;
  cli->values[OPTION_DEVICE] = CLI_USUAL_MODEL;
  return cli_open_kernel(cli);
}

static int refuse_arch(struct cli *cli) {
  const char *arch = cli->values[OPTION_ARCH], *model = cli_stand_in(cli);
  return cli_fail(
      cli, CUGEN_ERROR_USAGE,
      "the cpu device has no architecture '%s': --device %s in place of --arch predicts for a GPU that has "
      "it, without --arch the variants run on this processor (--device cpu)",
      arch, model);
}

static int use_device(struct cli *cli, char **instead) {
  int status = stand_in(cli, instead);
  if (status) return status;
  if (cli_only_predicts(cli)) return refuse_arch(cli);
  const char *id = cugen_kernel_device(cli->kernel)->id;
  bool here = strncmp(id, "cuda:", 5) == 0 || cli_on_cpu(cli);
  return here ? cli_use_check_on_cpu(cli) : cugen_kernel_use_predictions(cli->kernel, &cli->error);
}

int command_tune(struct cli *cli) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_space_info space;
  char *instead = NULL;
  size_t top = 10;
  int status = read_options(cli, &options, &top);
  if (!status) status = cli_open_kernel(cli);
  if (!status) status = use_device(cli, &instead);
  if (!status) status = cugen_kernel_space(cli->kernel, &space, &cli->error);
  if (!status) status = cli_load_records(cli);
  if (!status) status = tune(cli, &options, &space, top, instead);
  free(instead);
  if (status != CUGEN_ERROR_INTERRUPTED || !stop_asked()) return status;
  cli_remark(cli, "interrupted; everything %s is kept",
             cugen_kernel_predicted(cli->kernel) ? "predicted" : "measured");
  return stop_exit_code();
}
