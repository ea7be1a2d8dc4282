/* Prints the results of problems that are tuned together; see tune_set.h. */
#include "tune_set.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/records.h"
#include "portfolio.h"
#include "print.h"
#include "records.h"
#include "settings.h"
#include "table.h"
#include "tune_devices.h"

/* ---- The best of each ----------------------------------------------------------------------- */

/* Gets the record that a plan would take for the problem, or the first record if a plan takes none.
   Returns false if there is no record or the record is not right. */
static bool results_find_best(const struct tuning *tuning, size_t problem, cugen_record *out) {
  cugen_kernel *kernel = tuning->kernels[problem];
  cugen_choice choice = {.variant = NULL};
  cugen_error ignored;
  /* With --bitwise, the first record is taken: variants with the wanted bits come first. */
  bool chosen = !tuning->results[problem].outputs.known &&
                api_kernel_choose(kernel, -1, &choice, &ignored) == CUGEN_OK &&
                (choice.how == CUGEN_PLAN_EXACT || choice.predicted);
  char *variant = chosen ? strdup(choice.variant) : NULL;
  size_t count, at = 0;
  const cugen_record *all = api_records(kernel, &count);
  while (variant && at < count && strcmp(all[at].variant, variant) != 0) at++;
  free(variant);
  if (count == 0) return false;
  *out = all[at < count ? at : 0];
  if (api_kernel_objective(kernel) == OBJECTIVE_BYTES) out->flops = 0;
  return out->outcome == CUGEN_OUTCOME_OK;
}

/* ---- Text ----------------------------------------------------------------------------------- */

/* Returns the settings that all problems share, to be freed; NULL: out of memory. */
static char *shared_values(const struct tuning *tuning) {
  const char *first = api_kernel_problem_short(tuning->kernels[0]);
  char *shared = settings_take(first, tuning->count > 1 ? first : "", true);
  for (size_t i = 1; i < tuning->count && shared; i++) {
    char *fewer = settings_take(shared, api_kernel_problem_short(tuning->kernels[i]), true);
    free(shared);
    shared = fewer;
  }
  return shared;
}

void tuning_print_head(struct tuning *tuning) {
  struct cli *cli = tuning->cli;
  if (tuning->headed || options_given(cli, OPTION_JSON) || options_given(cli, OPTION_QUIET)) return;
  tuning->headed = true;
  char *shared = shared_values(tuning);
  const char *why = cugen_kernel_fallback(cli->kernel);
  if (cli->fallback)
    printf("No GPU is here: predicted for %s. %s\n", cli->values[OPTION_DEVICE], cli->fallback);
  printf("%s%s%s, %s problem%s on ", cugen_kernel_name(cli->kernel), shared && *shared ? " " : "",
         shared ? shared : "", print_count(tuning->count).text, tuning->count > 1 ? "s" : "");
  cli_print_device(cli, stdout);
  puts(cli_on_cpu(cli)                     ? "; times are the CPU's own, not a GPU's"
       : api_kernel_predicted(cli->kernel) ? ": predicted, not measured"
                                           : "");
  if (why) printf("No CUDA GPU: %s\n", message_own(why).text);
  tune_devices_print_head(cli);
  cli_print_way(cli);
  fflush(stdout);
  free(shared);
  cli_remark_cache(cli);
}

/* Returns the unit of the rates' column; NULL: no best variant has a rate. */
static const char *rate_unit(const struct tuning *tuning) {
  for (size_t i = 0; i < tuning->count; i++) {
    cugen_record best;
    if (!results_find_best(tuning, i, &best)) continue;
    const char *unit = print_rate_unit(best.flops, best.bytes);
    if (unit) return unit;
  }
  return NULL;
}

/* Returns the problem's share of the total weight, 0 to 1. */
static double results_weight_of(const struct tuning *tuning, size_t i) {
  return tuning->weight > 0 ? tuning->weights[i] / tuning->weight : 0;
}

/* Returns true if no variant has a record, and making the data took more than half of the time. */
static bool waited(const struct tuning *tuning, size_t i) {
  const cugen_tune_result *result = &tuning->results[i];
  return !result->tried && !result->remembered && tuning->spent[i].data > tuning->spent[i].all / 2;
}

static void results_add_row(const struct tuning *tuning, struct table *table, size_t i,
                            const char *shared, bool rated) {
  cugen_record best;
  cugen_kernel *kernel = tuning->kernels[i];
  const cugen_tune_result *result = &tuning->results[i];
  const bool found = results_find_best(tuning, i, &best);
  char *own = settings_take(api_kernel_problem_short(kernel), shared, false);
  table_cell(table, own && *own ? own : api_kernel_problem_short(kernel));
  if (tuning->weights) table_cell(table, print_percent(results_weight_of(tuning, i)).text);
  table_cell(table, found ? print_seconds(best.seconds).text : "-");
  if (rated) table_cell(table, found ? print_rate(best.flops, best.bytes, best.seconds).text : "-");
  const cugen_baseline_result *b = &result->baseline;
  if (b->ratio > 0)
    table_cellf(table, "%.2f x", b->ratio);
  else if (options_given(tuning->cli, OPTION_BASELINE))
    table_cell(table, b->outcome ? outcome_text((int)b->outcome) : "-");
  table_cell(table, print_count(result->tried).text);
  table_cell(table, print_count(result->failed).text);
  table_cell(table, print_count(result->left).text);
  table_cell(table, found                                 ? best.variant
                    : result->tried || result->remembered ? "none came out right"
                    : waited(tuning, i) ? "none was tried: the reference took its time"
                                        : "none was tried");
  free(own);
}

static int results_print_table(const struct tuning *tuning) {
  const char *unit = rate_unit(tuning);
  const struct table_column columns[] = {
      {"problem", 0, 0},
      {tuning->weights ? "weight" : "", TABLE_RIGHT, 5},
      {"time", TABLE_RIGHT, 0},
      {unit ? unit : "", TABLE_RIGHT, 1},
      {options_given(tuning->cli, OPTION_BASELINE) ? "baseline" : "", TABLE_RIGHT, 0},
      {"tried", TABLE_RIGHT, 2},
      {"failed", TABLE_RIGHT | TABLE_FOLD, 3},
      {"left", TABLE_RIGHT, 4},
      {"best variant", TABLE_WRAP, 0}};
  struct table_column shown[sizeof columns / sizeof *columns];
  size_t count = 0;
  for (size_t c = 0; c < sizeof columns / sizeof *columns; c++)
    if (*columns[c].header) shown[count++] = columns[c];
  struct table table;
  char *shared = shared_values(tuning);
  if (!shared) return cli_no_memory(tuning->cli);
  table_open(&table, tuning->cli, shown, count);
  for (size_t i = 0; i < tuning->count; i++)
    results_add_row(tuning, &table, i, shared, unit != NULL);
  free(shared);
  return table_close(&table, 0, stdout, &tuning->cli->error);
}

/* Prints failures of the first few problems that have tried variants but no right one. */
static void print_failures(const struct tuning *tuning) {
  enum { MOST = 3 };
  struct cli one = *tuning->cli;
  cugen_record best;
  for (size_t i = 0, printed = 0; i < tuning->count && printed < MOST; i++) {
    if (results_find_best(tuning, i, &best) ||
        !(tuning->results[i].tried || tuning->results[i].remembered))
      continue;
    if (printed++ == 0) putchar('\n');
    one.kernel = tuning->kernels[i];
    records_print_failure(&one, api_kernel_problem_short(one.kernel));
  }
}

/* Appends the command that shows a failure of the first problem without a right variant. */
static void append_failure(const struct tuning *tuning) {
  struct cli *cli = tuning->cli, one = *cli;
  cugen_record record;
  size_t i = 0;
  while (i < tuning->count && results_find_best(tuning, i, &record)) i++;
  if (i == tuning->count || api_kernel_predicted(tuning->kernels[i])) return;
  one.kernel = tuning->kernels[i];
  one.settings = (const char **)tuning->problems[i]->settings;
  one.setting_count = tuning->problems[i]->count;
  const cugen_record *failed = records_failed(&one);
  if (!failed) return;
  one.values[OPTION_VARIANT] = failed->variant;
  cli_append(cli, "; '%s' shows one of its failures in full", hint(&one, "run").text);
}

void tuning_append_reasons(const struct tuning *tuning) {
  size_t count = 0;
  append_failure(tuning);
  for (size_t i = 0; i < tuning->count; i++) count += waited(tuning, i);
  if (count)
    cli_append(tuning->cli,
               "; of %zu the reference took all the time: give a longer budget, or correct it if "
               "it never ends",
               count);
}

static void results_remark_bitwise(const struct tuning *tuning) {
  size_t i = 0;
  while (i < tuning->count && !tuning->results[i].outputs.known) i++;
  if (i == tuning->count) return;
  printf("\nEach gives the same bits as '%s' on its problem, with the data of seed %" PRIu64 ".\n",
         tuning->cli->values[OPTION_BITWISE], tuning->results[i].outputs.seed);
}

/* Prints how to use a portfolio. A bundle has only GPU kernels. */
static void print_next(const struct cli *cli) {
  struct cli meant = *cli;
  if (api_kernel_predicted(cli->kernel)) {
    puts(
        "Plans on such a GPU take it where nothing was measured; docs/embedding.md has the order.");
    return;
  }
  printf("Plans take the portfolio %s.", api_kernel_takes_portfolio(cli->kernel)
                                             ? "by the config's policy"
                                             : "with CUGEN_PLAN_BY_PORTFOLIO");
  if (!cli_on_cpu(cli)) {
    meant.setting_count = 0; /* the settings are lists of sizes, or sizes of other classes */
    printf(" As C: %s --portfolio -o FOLDER", hint(&meant, "export").text);
  }
  putchar('\n');
}

/* Prints where the results are stored, and what to do next. */
static void print_kept(const struct tuning *tuning, bool more) {
  if (!cli_print_remembered(tuning->cli)) return;
  if (more) puts("Run the same command again to continue.");
  if (tuning->portfolio_count) print_next(tuning->cli);
}

static void results_print_numbers(const struct tuning *tuning) {
  cugen_tune_result all = {0};
  for (size_t i = 0; i < tuning->count; i++) {
    const cugen_tune_result *one = &tuning->results[i];
    all.tried += one->tried, all.failed += one->failed, all.refuted += one->refuted,
        all.unpredicted += one->unpredicted, all.unsupported += one->unsupported;
    all.compiled += one->compiled, all.seconds += one->seconds, all.remembered += one->remembered,
        all.left += one->left;
  }
  print_tried(&all);
  if (!options_given(tuning->cli, OPTION_AGAIN))
    printf(", %s remembered before", print_count(all.remembered).text);
  printf("; %s compiled in %s.\n", print_count(all.compiled).text, print_seconds(all.seconds).text);
  if (all.tried || all.remembered || tuning->portfolio_count)
    print_kept(tuning, all.left > 0 && all.tried > 0);
}

/* ---- Classes without a portfolio ------------------------------------------------------------ */

void tuning_remark_unlearnt(const struct tuning *tuning) {
  const struct cli *cli = tuning->cli;
  const char *reason;
  if (options_given(cli, OPTION_QUIET) && options_given(cli, OPTION_JSON)) return;
  /* Printed also with --quiet, because the user asked for a portfolio. */
  for (size_t i = 0; (reason = api_kernel_unlearnt(tuning->kernels[0], i)); i++)
    fprintf(stderr, "cugen: no portfolio of %s\n", reason);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static json_t *results_problem_json(const struct tuning *tuning, size_t i) {
  cugen_record best;
  cugen_kernel *kernel = tuning->kernels[i];
  json_t *object = JSON_NEW({"problem", json_string(cugen_kernel_problem(kernel))});
  if (tuning->weights)
    json_object_set_new(object, "weight", json_real(results_weight_of(tuning, i)));
  return JSON_ADD(object, {"run", json_tune_result(&tuning->results[i])},
                  {"best", results_find_best(tuning, i, &best) ? json_record(&best) : json_null()});
}

static void results_add_portfolios(const struct tuning *tuning, json_t *object) {
  json_t *skipped = json_array();
  const char *reason;
  for (size_t i = 0; (reason = api_kernel_unlearnt(tuning->kernels[0], i)); i++)
    json_array_append_new(skipped, json_string(reason));
  JSON_ADD(object,
           {"portfolios", JSON_LIST(tuning->portfolios, tuning->portfolio_count, portfolio_json)},
           {"skipped", skipped});
}

static int results_print_json(const struct tuning *tuning) {
  struct cli *cli = tuning->cli;
  json_t *problems = json_array();
  for (size_t i = 0; i < tuning->count; i++)
    json_array_append_new(problems, results_problem_json(tuning, i));
  json_t *object = JSON_NEW(
      {"kernel", json_string(cugen_kernel_name(cli->kernel))},
      {"device", json_device(cugen_kernel_device(cli->kernel))},
      {"fallback",
       json_optional_string(cli->fallback ? cli->fallback : cugen_kernel_fallback(cli->kernel))},
      {"objective", json_string(api_kernel_objective_text(cli->kernel))},
      {"measure", json_optional_string(api_kernel_measure(cli->kernel))}, {"problems", problems});
  if (options_given(cli, OPTION_PORTFOLIO)) results_add_portfolios(tuning, object);
  return cli_print_json(cli, object);
}

/* ---- A portfolio ---------------------------------------------------------------------------- */

static int results_print_portfolios(const struct tuning *tuning) {
  struct cli *cli = tuning->cli;
  int status = CUGEN_OK;
  for (size_t i = 0; i < tuning->portfolio_count && !status; i++) {
    const cugen_portfolio *p = &tuning->portfolios[i];
    if (i) putchar('\n');
    status = portfolio_print_problems(cli, p, tuning->top);
    putchar('\n');
    if (!status) status = portfolio_print(cli, p);
  }
  return status;
}

/* ---- All results ---------------------------------------------------------------------------- */

int tuning_print_results(struct tuning *tuning) {
  const bool quiet = options_given(tuning->cli, OPTION_QUIET);
  tune_devices_take_turn(tuning->cli);
  tuning_print_head(tuning);
  if (options_given(tuning->cli, OPTION_JSON)) return results_print_json(tuning);
  if (!quiet) putchar('\n');
  int status =
      tuning->portfolio_count ? results_print_portfolios(tuning) : results_print_table(tuning);
  if (!status && !quiet) results_remark_bitwise(tuning);
  if (!status && !quiet) print_failures(tuning);
  if (!status && !quiet) results_print_numbers(tuning);
  return status;
}

int tuning_print_learnt(struct tuning *tuning) {
  struct cli *cli = tuning->cli;
  tune_devices_take_turn(cli);
  if (!options_given(cli, OPTION_JSON)) {
    int status = results_print_portfolios(tuning);
    if (!status && !options_given(cli, OPTION_QUIET)) putchar('\n'), print_kept(tuning, false);
    return status;
  }
  json_t *object = JSON_NEW({"kernel", json_string(cugen_kernel_name(cli->kernel))});
  results_add_portfolios(tuning, object);
  return cli_print_json(cli, object);
}
