/* cugen replay: strategies on recorded spaces. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "print.h"
#include "progress.h"
#include "stop.h"
#include "table.h"

enum {
  MOST_STRATEGIES = 32,
  MOST_DIGITS = 17,
  FEWEST_VARIANTS = 10 /* in a budget, lest chance decides its scores */
};

/* What came of a space. */
struct space_row {
  const char *path;
  uint64_t variants;
  double budget, scores[MOST_STRATEGIES];
  json_t *json;
};

struct replaying {
  struct cli *cli;
  cugen_replay_options options;
  const char *strategies[MOST_STRATEGIES];
  size_t strategy_count;
  const char *path;    /* of the space at hand, */
  cugen_replay *space; /* and itself */
  struct space_row *rows;
  size_t row_count;
  FILE *runs; /* NULL: they are not written */
  struct progress progress;
  size_t done; /* runs */
  double begin;
  int status;
};

/* ---- Options ---------------------------------------------------------------------------------------------------- */

static bool is_asked(const char *list, const char *name) {
  for (const char *at = list; *(at += strspn(at, ", "));) {
    const size_t length = strcspn(at, ", ");
    if (strlen(name) == length && strncmp(at, name, length) == 0) return true;
    at += length;
  }
  return false;
}

/* A word of the list that is no strategy; NULL: there is none. */
static const char *unknown_strategy(const char *list, char *word, size_t size) {
  for (const char *at = list; *(at += strspn(at, ", "));) {
    const size_t length = strcspn(at, ", ");
    const char *name;
    size_t i = 0;
    snprintf(word, size, "%.*s", (int)length, at);
    while ((name = cugen_strategy(i, NULL)) && strcmp(name, word) != 0) i++;
    if (!name) return word;
    at += length;
  }
  return NULL;
}

static int refuse_strategy(struct cli *cli, const char *word) {
  const char *names[MOST_STRATEGIES];
  size_t count = 0;
  while (count < MOST_STRATEGIES && (names[count] = cugen_strategy(count, NULL))) count++;
  const char *nearest = cugen_nearest(word, names, count);
  cli_fail(cli, CUGEN_ERROR_USAGE, "no strategy is called '%s'", word);
  if (nearest) cli_append(cli, " (nearest '%s')", nearest);
  for (size_t i = 0; i < count; i++) cli_append(cli, "%s '%s'", i ? "," : "; there are", names[i]);
  return CUGEN_ERROR_USAGE;
}

static int read_strategies(struct replaying *r) {
  const char *list = r->cli->values[OPTION_STRATEGIES], *name;
  char word[64];
  const bool all = !list || strcmp(list, "all") == 0;
  if (!all && unknown_strategy(list, word, sizeof word)) return refuse_strategy(r->cli, word);
  for (size_t i = 0; (name = cugen_strategy(i, NULL)) && r->strategy_count < MOST_STRATEGIES; i++)
    if (all || is_asked(list, name)) r->strategies[r->strategy_count++] = name;
  return CUGEN_OK;
}

/* As the tuner keeps ahead of its compile threads. */
static size_t usual_in_flight(size_t threads) {
  return threads ? 2 * threads + 1 : 0;
}

static int read_options(struct replaying *r) {
  cugen_replay_options *options = &r->options;
  struct cli *cli = r->cli;
  int status = read_strategies(r);
  options->runs = 50, options->seed = 1;
  if (!status) status = options_count(cli, OPTION_SEEDS, 1, &options->runs);
  if (!status) status = options_count(cli, OPTION_COMPILE_THREADS, 1, &options->threads);
  options->in_flight = usual_in_flight(options->threads);
  if (!status) status = options_count(cli, OPTION_IN_FLIGHT, 0, &options->in_flight);
  if (!status) status = options_seconds(cli, OPTION_COMPILE_TIME, &options->compile_seconds);
  if (!status) status = options_seconds(cli, OPTION_RUN_TIME, &options->run_seconds);
  if (!status) status = options_seconds(cli, OPTION_HORIZON, &options->budget_seconds);
  return status;
}

/* ---- The runs, a line each --------------------------------------------------------------------------------------- */

static json_t *tried_json(struct replaying *r, const cugen_replay_run *run) {
  json_t *tried = json_array();
  for (size_t i = 0; i < run->count; i++) {
    const char *variant = "";
    json_t *one = json_object();
    cugen_replay_variant(r->space, run->tried[i], &variant, NULL);
    json_object_set_new(one, "variant", json_text(variant));
    json_object_set_new(one, "at", json_real(run->at[i]));
    json_object_set_new(one, "seconds", json_number(run->seconds[i]));
    json_array_append_new(tried, one);
  }
  return tried;
}

static void write_run(struct replaying *r, const cugen_replay_run *run) {
  json_t *object = json_object();
  json_object_set_new(object, "file", json_text(r->path));
  json_object_set_new(object, "strategy", json_string(r->options.strategy));
  json_object_set_new(object, "seed", json_integer((json_int_t)run->seed));
  json_object_set_new(object, "tried", tried_json(r, run));
  json_dumpf(object, r->runs, JSON_COMPACT | JSON_REAL_PRECISION(MOST_DIGITS));
  fputc('\n', r->runs);
  json_decref(object);
}

static int on_run(const cugen_replay_run *run, void *context) {
  struct replaying *r = context;
  const cugen_progress shown = {.done = ++r->done,
                                .planned = r->cli->operand_count * r->strategy_count * r->options.runs,
                                .elapsed = progress_now() - r->begin,
                                .remaining = -1};
  if (r->runs) write_run(r, run);
  progress_draw(&r->progress, &shown);
  return stop_asked();
}

/* ---- A space ---------------------------------------------------------------------------------------------------- */

static json_t *result_json(const char *strategy, const cugen_replay_result *result) {
  json_t *object = json_object();
  json_object_set_new(object, "strategy", json_string(strategy));
  json_object_set_new(object, "score", json_number(result->score));
  json_object_set_new(object, "reached", json_number(result->reached));
  json_object_set_new(object, "tried", json_number(result->tried));
  return object;
}

static json_t *space_json(const char *path, const cugen_replay_info *info, const cugen_replay_result *result) {
  json_t *object = json_object();
  json_object_set_new(object, "file", json_text(path));
  json_object_set_new(object, "format", json_string(info->format));
  json_object_set_new(object, "kernel", json_optional_string(info->kernel));
  json_object_set_new(object, "device", json_optional_string(info->device));
  json_object_set_new(object, "tunables", json_integer((json_int_t)info->tunables));
  json_object_set_new(object, "variants", json_integer((json_int_t)info->variants));
  json_object_set_new(object, "failed", json_integer((json_int_t)info->failed));
  json_object_set_new(object, "best", json_text(info->best));
  json_object_set_new(object, "best_seconds", json_number(info->best_seconds));
  json_object_set_new(object, "budget_seconds", json_number(result->budget_seconds));
  json_object_set_new(object, "budget_variants", json_number(result->budget_variants));
  return object;
}

static void keep_results(struct replaying *r, const cugen_replay_info *info, const cugen_replay_result *results) {
  struct space_row *row = &r->rows[r->row_count++];
  json_t *scores = json_array();
  *row = (struct space_row){.path = r->path,
                            .variants = info->variants,
                            .budget = results->budget_seconds,
                            .json = space_json(r->path, info, results)};
  for (size_t i = 0; i < r->strategy_count; i++) {
    row->scores[i] = results[i].score;
    json_array_append_new(scores, result_json(r->strategies[i], &results[i]));
  }
  json_object_set_new(row->json, "strategies", scores);
}

static void warn_of_few(const struct replaying *r, const cugen_replay_result *result) {
  if (result->budget_variants >= FEWEST_VARIANTS) return;
  cli_remark(r->cli, "warning: %s: the budget is %.0f variants, too few for a score to mean much", r->path,
             result->budget_variants);
}

static int replay_space(struct replaying *r) {
  cugen_replay_info info;
  cugen_replay_result results[MOST_STRATEGIES] = {{0}};
  cugen_error *error = &r->cli->error;
  const char *prior = r->cli->values[OPTION_PRIOR];
  size_t firsts;
  int status = cugen_replay_open(r->path, cli_ask_stop, NULL, &r->space, error);
  if (!status && prior) status = cugen_replay_prior(r->space, prior, &firsts, error);
  if (!status) status = cugen_replay_describe(r->space, &info, error);
  for (size_t i = 0; i < r->strategy_count && !status; i++) {
    r->options.strategy = r->strategies[i];
    status = cugen_replay_score(r->space, &r->options, &results[i], error);
  }
  if (!status) keep_results(r, &info, results);
  if (!status) warn_of_few(r, results);
  cugen_replay_close(r->space);
  r->space = NULL;
  return status;
}

static void replay_all(struct replaying *r) {
  progress_open(&r->progress, options_given(r->cli, OPTION_QUIET));
  stop_catch();
  for (size_t i = 0; i < r->cli->operand_count && !r->status; i++) {
    r->path = r->cli->operands[i];
    r->status = replay_space(r);
  }
  progress_close(&r->progress);
}

static void replay_to(const void *context, FILE *out) {
  struct replaying *r = *(struct replaying *const *)context;
  r->runs = out;
  replay_all(r);
}

/* ---- The result ------------------------------------------------------------------------------------------------- */

static double mean(const struct replaying *r, size_t strategy) {
  double sum = 0;
  for (size_t i = 0; i < r->row_count; i++) sum += r->rows[i].scores[strategy];
  return sum / (double)r->row_count;
}

static double lowest(const struct replaying *r, size_t strategy) {
  double least = (double)INFINITY;
  for (size_t i = 0; i < r->row_count; i++) least = fmin(least, r->rows[i].scores[strategy]);
  return least;
}

static void score_cell(struct table *table, double score) {
  char text[32];
  snprintf(text, sizeof text, "%.3f", score);
  table_cell(table, text);
}

/* The file's name without folders and ending. */
static void name_cell(struct table *table, const char *path) {
  const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
  char text[256];
  snprintf(text, sizeof text, "%.*s", (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name)), name);
  table_cell(table, text);
}

static void open_table(struct table *table, const struct replaying *r) {
  struct table_column columns[3 + MOST_STRATEGIES] = {
      {"space", 0, 0}, {"variants", TABLE_RIGHT, 2}, {"budget", TABLE_RIGHT, 1}};
  for (size_t i = 0; i < r->strategy_count; i++)
    columns[3 + i] = (struct table_column){r->strategies[i], TABLE_RIGHT, 0};
  table_open(table, r->cli, columns, 3 + r->strategy_count);
  table->split = true;
}

static void add_row(struct table *table, const struct replaying *r, const struct space_row *row) {
  name_cell(table, row->path);
  table_cell(table, print_count(row->variants).text);
  table_cell(table, print_clock(row->budget).text);
  for (size_t i = 0; i < r->strategy_count; i++) score_cell(table, row->scores[i]);
}

static void add_summary(struct table *table, const struct replaying *r, const char *name,
                        double (*of)(const struct replaying *r, size_t strategy)) {
  table_cell(table, name);
  table_cell(table, "");
  table_cell(table, "");
  for (size_t i = 0; i < r->strategy_count; i++) score_cell(table, of(r, i));
}

static int print_text(const struct replaying *r) {
  struct table table;
  open_table(&table, r);
  for (size_t i = 0; i < r->row_count; i++) add_row(&table, r, &r->rows[i]);
  if (r->row_count > 1) {
    add_summary(&table, r, "mean", mean);
    add_summary(&table, r, "lowest", lowest);
  }
  return table_close(&table, 0, stdout, &r->cli->error);
}

static int print_json(const struct replaying *r) {
  json_t *object = json_object(), *strategies = json_array(), *spaces = json_array();
  for (size_t i = 0; i < r->strategy_count; i++) {
    json_t *one = json_object();
    json_object_set_new(one, "strategy", json_string(r->strategies[i]));
    json_object_set_new(one, "mean", json_number(mean(r, i)));
    json_object_set_new(one, "lowest", json_number(lowest(r, i)));
    json_array_append_new(strategies, one);
  }
  for (size_t i = 0; i < r->row_count; i++) json_array_append(spaces, r->rows[i].json);
  json_object_set_new(object, "runs", json_integer((json_int_t)r->options.runs));
  json_object_set_new(object, "in_flight", json_integer((json_int_t)r->options.in_flight));
  json_object_set_new(object, "threads", json_integer((json_int_t)r->options.threads));
  json_object_set_new(object, "strategies", strategies);
  json_object_set_new(object, "spaces", spaces);
  return cli_print_json(r->cli, object);
}

/* With -o the runs are written while they are made. */
static int replay_and_print(struct replaying *r) {
  struct cli *cli = r->cli;
  int status = CUGEN_OK;
  if (options_given(cli, OPTION_OUTPUT))
    status = cli_write(cli, replay_to, &r);
  else
    replay_all(r);
  if (r->status == CUGEN_ERROR_INTERRUPTED && stop_asked()) {
    cli_remark(cli, "interrupted");
    return stop_exit_code();
  }
  if (status || r->status) return status ? status : r->status;
  return options_given(cli, OPTION_JSON) ? print_json(r) : print_text(r);
}

int command_replay(struct cli *cli) {
  struct replaying r = {.cli = cli, .options = CUGEN_REPLAY_OPTIONS_INIT, .begin = progress_now()};
  int status = read_options(&r);
  if (status) return status;
  r.options.run = on_run;
  r.options.context = &r;
  r.rows = calloc(cli->operand_count, sizeof *r.rows);
  status = r.rows ? replay_and_print(&r) : cli_fail(cli, CUGEN_ERROR_MEMORY, "out of memory");
  for (size_t i = 0; r.rows && i < r.row_count; i++) json_decref(r.rows[i].json);
  free(r.rows);
  return status;
}
