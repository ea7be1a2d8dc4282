/* cugen tune of several problems: one budget, one progress bar, and one table with a row for each
   problem, which tune_set_results.c prints. */
#include "tune_set.h"

#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/learning.h"
#include "api/tuning.h"
#include "stop.h"
#include "tune_devices.h"

/* ---- Opening -------------------------------------------------------------------------------- */

/* Remarks that a captured problem is left out because the config does not serve it. */
static int leave_out(const struct cli *cli, const struct problem_settings *problem) {
  int length;
  const char *line = error_essence(cli->error.message, &length);
  cli_remark(cli, "%sleft out: %.*s", problem->where, length, line);
  return CUGEN_OK;
}

/* Puts the place in the file of problems in front of the message. An error in the config itself
   keeps its own place. */
static int tune_set_fail_at(struct cli *cli, const struct problem_settings *problem) {
  cugen_error why = cli->error;
  int status = cli_fail(cli, why.status, "%s%s", problem->where, why.message);
  if (why.line) return cli_place(cli, why.file, (size_t)why.line);
  return problem->file ? cli_place(cli, problem->file, problem->line) : status;
}

/* Keeps the kernel of a problem, or closes it if an equal problem has a kernel. Adds the weight. */
static void tune_set_keep(struct tuning *tuning, cugen_kernel *kernel,
                          const struct problem_settings *problem) {
  const char *text = cugen_kernel_problem(kernel);
  size_t at = 0;
  while (at < tuning->count && strcmp(cugen_kernel_problem(tuning->kernels[at]), text) != 0) at++;
  if (at < tuning->count) {
    cugen_kernel_close(kernel);
  } else {
    tuning->problems[at] = problem;
    tuning->kernels[tuning->count++] = kernel;
  }
  tuning->weight += problem->weight;
  if (tuning->weights) tuning->weights[at] += problem->weight;
}

static int open_one(struct tuning *tuning, const struct problem_settings *problem,
                    int (*prepare)(struct cli *cli)) {
  struct cli *cli = tuning->cli;
  cugen_kernel *kernel = NULL;
  int status = cugen_kernel_open(cli->lib, cli->operand, (const char *const *)problem->settings,
                                 problem->count, &kernel, &cli->error);
  if (status == CUGEN_ERROR_USAGE && tuning->weights) return leave_out(cli, problem);
  if (status) return tune_set_fail_at(cli, problem);
  cli->kernel = kernel;
  status = cli_filter(cli, options_given(cli, OPTION_EVERY));
  if (!status) status = prepare(cli);
  if (status)
    cugen_kernel_close(kernel);
  else
    tune_set_keep(tuning, kernel, problem);
  cli->kernel = tuning->count ? tuning->kernels[0] : NULL;
  return status;
}

static int tune_set_open_all(struct tuning *tuning, const struct problem_set *set,
                             int (*prepare)(struct cli *cli)) {
  struct cli *cli = tuning->cli;
  int status = CUGEN_OK;
  cugen_kernel_close(cli->kernel);
  cli->kernel = NULL;
  if (!cli->lib) status = cli_open(cli);
  if (!status) status = cli_fall_back(cli);
  tuning->kernels = calloc(set->count, sizeof(cugen_kernel *));
  tuning->problems = calloc(set->count, sizeof *tuning->problems);
  tuning->results = calloc(set->count, sizeof *tuning->results);
  tuning->spent = calloc(set->count, sizeof *tuning->spent);
  if (set->captured) tuning->weights = calloc(set->count, sizeof *tuning->weights);
  const bool got = tuning->kernels && tuning->problems && tuning->results && tuning->spent;
  if (!status && (!got || (set->captured && !tuning->weights))) status = cli_no_memory(cli);
  for (size_t i = 0; tuning->kernels && tuning->problems && i < set->count && !status; i++)
    status = open_one(tuning, &set->problems[i], prepare);
  if (!status && !tuning->count)
    status = cli_fail(cli, CUGEN_ERROR_USAGE, "%s has none of the problems in %s", cli->operand,
                      cli->values[OPTION_FROM]);
  return status;
}

static void close_all(struct tuning *tuning) {
  for (size_t i = 1; i < tuning->count; i++) cugen_kernel_close(tuning->kernels[i]);
  free(tuning->kernels);
  free(tuning->problems);
  free(tuning->results);
  free(tuning->spent);
  free(tuning->weights);
}

/* ---- Progress ------------------------------------------------------------------------------- */

static int tune_set_on_progress(const cugen_progress *state, void *context) {
  struct tuning *tuning = context;
  struct spent *spent = &tuning->spent[state->problem_index];
  const double seconds = state->elapsed - tuning->heard;
  tuning->begun = true;
  tuning->heard = state->elapsed;
  spent->all += seconds;
  if (state->stage == CUGEN_STAGE_DATA) spent->data += seconds;
  if (!tuning->cli->group) tuning_print_head(tuning);
  tune_devices_say_lost(tuning->cli, &tuning->progress, state->lost);
  progress_draw(&tuning->progress, state);
  return stop_asked();
}

/* ---- What is refused ------------------------------------------------------------------------ */

/* Fails if no variant serves the problem: no variant is valid, or an argument cannot have its size.
   Without a filter, cli_filter closes the problem's space, which saves memory. */
static int check_problem(struct tuning *tuning, size_t i) {
  struct cli *cli = tuning->cli;
  cugen_kernel *kernel = tuning->kernels[i];
  cugen_argument_info ignored;
  if (!cugen_kernel_arguments(kernel)) return CUGEN_OK;
  int status = cugen_kernel_argument(kernel, 0, &ignored, &cli->error);
  if (status) return status;
  cli->kernel = kernel;
  status = cli_filter(cli, options_given(cli, OPTION_EVERY));
  cli->kernel = tuning->kernels[0];
  return status;
}

/* Names the problem that api_kernels_tune refused, with its place in front. */
static int name_refused(struct tuning *tuning, size_t i) {
  struct cli *cli = tuning->cli;
  const cugen_kernel *kernel = tuning->kernels[i];
  const cugen_error why = cli->error;
  cli_fail(cli, why.status, "%s %s: %s", cugen_kernel_name(kernel),
           api_kernel_problem_short(kernel), why.message);
  if (why.line) cli_place(cli, why.file, (size_t)why.line);
  return tune_set_fail_at(cli, tuning->problems[i]);
}

static void remove_problem(struct tuning *tuning, size_t i) {
  const size_t after = --tuning->count - i;
  cugen_kernel_close(tuning->kernels[i]);
  tuning->weight -= tuning->weights[i];
  memmove(&tuning->kernels[i], &tuning->kernels[i + 1], after * sizeof(cugen_kernel *));
  memmove(&tuning->problems[i], &tuning->problems[i + 1], after * sizeof *tuning->problems);
  memmove(&tuning->weights[i], &tuning->weights[i + 1], after * sizeof *tuning->weights);
  tuning->cli->kernel = tuning->count ? tuning->kernels[0] : NULL;
}

/* Leaves out the captured problems from i on that no variant serves, and sets *left if there are
   any. Fails if no problem remains. */
static int leave_out_unserved(struct tuning *tuning, size_t i, bool *left) {
  struct cli *cli = tuning->cli;
  while (i < tuning->count) {
    const int status = check_problem(tuning, i);
    if (status == CUGEN_ERROR_MEMORY) return status;
    if (!status) {
      i++;
      continue;
    }
    leave_out(cli, tuning->problems[i]);
    remove_problem(tuning, i);
    *left = true;
  }
  return tuning->count
             ? CUGEN_OK
             : cli_fail(cli, CUGEN_ERROR_EMPTY, "%s has no variant for any of the problems in %s",
                        cli->operand, cli->values[OPTION_FROM]);
}

/* After a refused tuning, names the problem at fault with its place, or leaves out captured
   problems at fault and sets *again, because the other problems may be tuned. */
static int find_refused(struct tuning *tuning, int refused, bool *again) {
  struct cli *cli = tuning->cli;
  const cugen_error refusal = cli->error;
  size_t i = 0;
  int status = CUGEN_OK;
  while (i < tuning->count && tuning->results[i].valid) i++; /* earlier problems have variants */
  if (tuning->weights)
    status = leave_out_unserved(tuning, i, again);
  else if (i < tuning->count && check_problem(tuning, i))
    return name_refused(tuning, i);
  if (status || *again) return status;
  cli->error = refusal;
  return refused;
}

static int tune_kernels(struct tuning *tuning, const cugen_tune_options *options) {
  int status;
  bool again;
  do {
    again = false;
    memset(tuning->results, 0, tuning->count * sizeof *tuning->results);
    status = api_kernels_tune(tuning->kernels, tuning->count, options, tuning->results,
                              &tuning->cli->error);
    if (status && status != CUGEN_ERROR_WRONG && status != CUGEN_ERROR_INTERRUPTED &&
        !tuning->begun)
      status = find_refused(tuning, status, &again);
  } while (again);
  return status;
}

/* ---- The run -------------------------------------------------------------------------------- */

static int learn_portfolios(struct tuning *tuning, size_t most, bool remembered) {
  cugen_learn_options options = {0};
  options.most = most;
  options.remembered = remembered;
  int status = api_kernels_learn(tuning->kernels, tuning->count, &options, &tuning->portfolios,
                                 &tuning->portfolio_count, &tuning->cli->error);
  if (!status) tuning_remark_unlearnt(tuning);
  return status;
}

/* Tunes. Results from before a failure are stored. They are also printed if tuning was interrupted
   or found no right variant, or if learning portfolios failed. */
static int tune_set_run(struct tuning *tuning, cugen_tune_options *options) {
  struct cli *cli = tuning->cli;
  tune_devices_open_progress(cli, &tuning->progress);
  options->progress = tune_set_on_progress;
  options->context = tuning;
  options->weights = tuning->weights;
  int status = tune_kernels(tuning, options);
  progress_close(&tuning->progress);
  if (status && status != CUGEN_ERROR_WRONG && status != CUGEN_ERROR_INTERRUPTED) return status;
  cugen_error tuned = cli->error;
  int learnt = options->portfolio && status != CUGEN_ERROR_INTERRUPTED
                   ? learn_portfolios(tuning, options->portfolio, false)
                   : CUGEN_OK;
  if (learnt && !status) status = learnt, tuned = cli->error;
  int printed = tuning_print_results(tuning);
  if (printed) return printed;
  cli->error = tuned;
  if (status == CUGEN_ERROR_WRONG) tuning_append_reasons(tuning);
  return status;
}

int tune_set(struct cli *cli, const struct problem_set *set, cugen_tune_options *options,
             size_t top, int (*prepare)(struct cli *cli)) {
  struct tuning tuning = {.cli = cli, .top = top};
  int status = tune_set_open_all(&tuning, set, prepare);
  if (!status) status = tune_set_run(&tuning, options);
  close_all(&tuning);
  return status;
}

/* ---- Without a run -------------------------------------------------------------------------- */

/* Learns from predictions, for a described GPU without measurements. If that fails, the error stays
   the one that learning from measurements gave. */
static int learn_predicted(struct tuning *tuning, size_t most, bool remembered) {
  struct cli *cli = tuning->cli;
  const cugen_error why = cli->error;
  int status = CUGEN_OK;
  for (size_t i = 0; i < tuning->count && !status; i++)
    status = api_kernel_use_predictions(tuning->kernels[i], &cli->error);
  if (!status) status = learn_portfolios(tuning, most, remembered);
  if (!status) return CUGEN_OK;
  cli->error = why;
  return why.status;
}

int tune_set_learn(struct cli *cli, const struct problem_set *set, size_t most, size_t top) {
  struct tuning tuning = {.cli = cli, .top = top};
  bool left;
  int status = set->count ? tune_set_open_all(&tuning, set, cli_use_check_on_cpu) : CUGEN_OK;
  if (!status && tuning.weights) status = leave_out_unserved(&tuning, 0, &left);
  if (!set->count) tuning.kernels = &cli->kernel, tuning.count = 1;
  if (!status) status = learn_portfolios(&tuning, most, !set->count);
  if (status == CUGEN_ERROR_USAGE && cli_device(cli) == CUGEN_DEVICE_MODEL)
    status = learn_predicted(&tuning, most, !set->count);
  if (!status) status = tuning_print_learnt(&tuning);
  if (set->count) close_all(&tuning);
  return status;
}
