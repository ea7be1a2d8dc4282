/* cugen cache ls, show, rm, verify: lists, shows, deletes and checks records. */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "api/cache.h"
#include "api/kernel.h"
#include "api/learning.h"
#include "api/machine.h"
#include "api/records.h"
#include "base/key.h"
#include "base/text.h"
#include "clean.h"
#include "cli.h"
#include "portfolio.h"
#include "print.h"
#include "settings.h"
#include "table.h"

static json_t *path_json(struct cli *cli) {
  return json_string(api_where(cli->lib, API_PLACE_CACHE));
}

/* ---- ls ------------------------------------------------------------------------------------- */

/* Returns true if a table may leave out the setting where all sets of a kernel share it: the value
   is not a number, and the name is not dtype. */
static bool may_be_common(const struct setting *setting) {
  size_t length;
  const char *value = setting_value(setting, &length);
  const bool number = *value == '-' || (*value >= '0' && *value <= '9');
  return setting->name < setting->length && !number && !setting_is_named(setting->text, "dtype");
}

/* Returns those settings that may be common and that all sets of the first set's kernel share; the
   common settings are printed once, below the table. The caller frees the text; NULL: out of
   memory. */
static char *common_settings(const cugen_cache_set *sets, size_t count) {
  struct text own = {0};
  const char *problem = sets[0].problem;
  for (struct setting setting; setting_next(&problem, &setting);)
    if (may_be_common(&setting))
      text_addf(&own, "%s%.*s", own.length ? " " : "", (int)setting.length, setting.text);
  char *common = text_take(&own);
  for (size_t i = 1; i < count && common && *common && strcmp(sets[i].config, sets[0].config) == 0;
       i++) {
    char *fewer = settings_take(common, sets[i].problem, true);
    free(common);
    common = fewer;
  }
  return common;
}

/* Prints "matmul: all with layout_a=row pitched=false". */
static void print_common(const cugen_cache_set *sets, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (i && strcmp(sets[i - 1].config, sets[i].config) == 0) continue;
    char *common = common_settings(&sets[i], count - i);
    if (common && *common) printf("%s: all with %s\n", sets[i].config, common);
    free(common);
  }
}

static int print_sets(struct cli *cli, const cugen_cache_set *sets, size_t count) {
  static const struct table_column columns[] = {{"kernel", 0, 0},
                                                {"problem", TABLE_WRAP, 0},
                                                {"records", TABLE_RIGHT, 3},
                                                {"failed", TABLE_RIGHT | TABLE_FOLD, 4},
                                                {"best", TABLE_RIGHT, 0},
                                                {"variant", TABLE_WRAP, 6},
                                                {"last time", TABLE_FOLD, 5},
                                                {"options", TABLE_WRAP | TABLE_FOLD, 7},
                                                {"device", TABLE_WRAP | TABLE_FOLD, 0}};
  struct table table;
  char *common = NULL;
  table_open(&table, cli, columns, 9);
  for (size_t i = 0; i < count; i++) {
    const cugen_cache_set *set = &sets[i];
    table_cell(&table, set->config);
    if (i == 0 || strcmp(sets[i - 1].config, set->config) != 0) {
      free(common);
      common = common_settings(set, count - i);
    }
    char *rest = common ? settings_take(set->problem, common, false) : NULL;
    const char *problem = rest ? rest : set->problem;
    if (cli_way(set->measure)) /* not the usual way: "n=1003 (cold)" */
      table_cellf(&table, "%s%s(%s)", problem, *problem ? " " : "", set->measure);
    else
      table_cell(&table, problem);
    free(rest);
    table_cell(&table, print_count(set->records).text);
    table.style = set->failed ? STYLE_BAD : STYLE_PLAIN;
    table_cell(&table, print_count(set->failed).text);
    table.style = STYLE_PLAIN;
    table_cell(&table, *set->best ? print_seconds(set->seconds).text : "-");
    table_cell(&table, *set->best ? set->best : "-");
    table_cell(&table, print_moment(set->measured_at).text);
    table_cell(&table, set->options);
    table_cell(&table, set->device);
  }
  free(common);
  int status = table_close(&table, 0, stdout, &cli->error);
  if (!status) print_common(sets, count);
  return status;
}

static json_t *set_json(const void *item) {
  const cugen_cache_set *set = item;
  return JSON_NEW({"kernel", json_string(set->config)}, MEMBER(string, set, problem),
                  MEMBER(string, set, device), MEMBER(string, set, options),
                  MEMBER(optional_string, set, measure), MEMBER(count, set, records),
                  MEMBER(count, set, failed), MEMBER(count, set, history),
                  MEMBER(optional_string, set, best),
                  {"seconds", *set->best ? json_number(set->seconds) : json_null()},
                  MEMBER(integer, set, measured_at));
}

int command_cache_ls(struct cli *cli) {
  const cugen_cache_filter filter = cli_cache_filter(cli);
  const cugen_cache_set *sets = NULL;
  const cugen_portfolio *portfolios = NULL;
  size_t count = 0, portfolio_count = 0;
  int status = cli_open_cache(cli);
  if (!status) status = api_cache_list(cli->lib, &filter, &sets, &count, &cli->error);
  if (!status)
    status = api_cache_portfolios(cli->lib, &filter, &portfolios, &portfolio_count, &cli->error);
  if (status) return status;
  if (options_given(cli, OPTION_JSON))
    return cli_print_json(
        cli, JSON_NEW({"cache", path_json(cli)}, {"sets", JSON_LIST(sets, count, set_json)},
                      {"portfolios", JSON_LIST(portfolios, portfolio_count, portfolio_json)}));
  if (count) status = print_sets(cli, sets, count);
  if (count && portfolio_count && !status) putchar('\n');
  if (portfolio_count && !status) status = portfolio_print_list(cli, portfolios, portfolio_count);
  if (!count && !portfolio_count && !cli_remark_no_cache(cli))
    cli_remark(cli, "no record matches in %s", api_where(cli->lib, API_PLACE_CACHE));
  return status;
}

/* ---- show ----------------------------------------------------------------------------------- */

static const char *cache_state_of(const cugen_stored_record *stored) {
  return stored->superseded ? "replaced" : stored->current ? "current" : "stale";
}

static int print_stored(struct cli *cli, const cugen_stored_record *all, size_t count) {
  const bool predicted = api_kernel_predicted(cli->kernel);
  bool energies = false;
  for (size_t i = 0; i < count; i++) energies = energies || all[i].record.energy > 0;
  /* Without energies the first column is skipped, and the time takes its place. */
  const size_t skipped = energies ? 0 : 1;
  const struct table_column columns[] = {{"energy", TABLE_RIGHT, 0},
                                         {predicted ? "predicted" : "time", TABLE_RIGHT, 0},
                                         {"state", 0, 0},
                                         {predicted ? "made" : "measured", TABLE_FOLD, 1},
                                         {"driver", TABLE_RIGHT | TABLE_FOLD, 2},
                                         {"NVRTC", TABLE_RIGHT | TABLE_FOLD, 3},
                                         {"variant", TABLE_WRAP, 0}};
  struct table table;
  table_open(&table, cli, columns + skipped, sizeof columns / sizeof *columns - skipped);
  for (size_t i = 0; i < count; i++) {
    const cugen_record *record = &all[i].record;
    const bool right = record->outcome == CUGEN_OUTCOME_OK;
    if (!skipped) table_cell(&table, record->energy > 0 ? print_joules(record->energy).text : "-");
    table_cell(&table,
               right ? print_seconds(record->seconds).text : outcome_text((int)record->outcome));
    table_cell(&table, cache_state_of(&all[i]));
    table_cell(&table, print_moment(all[i].measured_at).text);
    table_cell(&table, print_version(all[i].driver_version).text);
    table_cell(&table, print_version(all[i].nvrtc_version).text);
    table_cell(&table, record->variant);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

static json_t *stored_record_json(const void *item) {
  const cugen_stored_record *stored = item;
  return JSON_ADD(json_record(&stored->record), {"state", json_string(cache_state_of(stored))},
                  MEMBER(integer, stored, driver_version), MEMBER(integer, stored, nvrtc_version));
}

int command_cache_show(struct cli *cli) {
  const cugen_stored_record *all;
  const cugen_portfolio *portfolios; /* those that a plan may use for the kernel's problem */
  size_t count, portfolio_count = 0, stale = 0;
  int status = cli_open_kernel(cli);
  if (!status) status = cli_use_check_on_cpu(cli);
  if (!status) status = cli_stored(cli, &all, &count);
  if (status) return status;
  if (options_given(cli, OPTION_JSON)) {
    status = api_kernel_portfolios(cli->kernel, &portfolios, &portfolio_count, &cli->error);
    if (status) return status;
    return cli_print_json(
        cli, JSON_ADD(json_kernel(cli),
                      {"objective", json_string(api_kernel_objective_text(cli->kernel))},
                      {"measure", json_optional_string(api_kernel_measure(cli->kernel))},
                      {"records", JSON_LIST(all, count, stored_record_json)},
                      {"portfolios", JSON_LIST(portfolios, portfolio_count, portfolio_json)}));
  }
  if (!options_given(cli, OPTION_QUIET)) cli_print_head(cli);
  for (size_t i = 0; i < count; i++) stale += !all[i].current && !all[i].superseded;
  if (count) status = print_stored(cli, all, count);
  if (!status)
    status = api_kernel_portfolios(cli->kernel, &portfolios, &portfolio_count, &cli->error);
  for (size_t i = 0; i < portfolio_count && !status; i++) {
    putchar('\n');
    status = portfolio_print(cli, &portfolios[i]);
  }
  if (status || (!count && cli_remark_no_cache(cli))) return status;
  if (!count || stale)
    cli_remark(cli, "%s; '%s' says why",
               count ? "stale records are not used: the kernel has changed since"
                     : "nothing is remembered for this problem and device",
               hint(cli, "cache why").text);
  return status;
}

/* ---- rm ------------------------------------------------------------------------------------- */

static json_t *counts_json(struct cli *cli, const cugen_cache_counts *counts, const char *flag,
                           bool value) {
  return JSON_NEW({"cache", path_json(cli)}, {flag, json_boolean(value)},
                  MEMBER(count, counts, sets), MEMBER(count, counts, records),
                  MEMBER(count, counts, history), MEMBER(count, counts, images),
                  MEMBER(integer, counts, image_bytes), MEMBER(count, counts, portfolios));
}

/* Prints "12 records, 3 in history, 2 compiled kernels (1.2 MiB)". */
static void print_counts(const cugen_cache_counts *counts) {
  fputs(print_many(counts->records, "record").text, stdout);
  if (counts->history) printf(", %s in history", print_count(counts->history).text);
  if (counts->portfolios) printf(", %s", print_many(counts->portfolios, "portfolio").text);
  if (counts->images)
    printf(", %s (%s)", print_many(counts->images, "compiled kernel").text,
           print_bytes(counts->image_bytes).text);
}

/* Asks the user. Returns true if the answer begins with y or Y. */
static bool agreed(void) {
  char answer[16];
  printf("Remove them? [y/N] ");
  clean_prompt();
  return fgets(answer, sizeof answer, stdin) && (*answer == 'y' || *answer == 'Y');
}

static int check_meaning(struct cli *cli) {
  static const enum cli_option narrow[] = {OPTION_PROBLEM, OPTION_DEVICE, OPTION_MEASURE,
                                           OPTION_OLDER_THAN, OPTION_FAILED};
  bool narrowed = cli->operand != NULL;
  for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
    narrowed = narrowed || options_given(cli, narrow[i]);
  if (narrowed && options_given(cli, OPTION_ALL))
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--all removes everything: leave out the other options");
  if (narrowed || options_given(cli, OPTION_ALL)) return CUGEN_OK;
  return cli_fail(cli, CUGEN_ERROR_USAGE,
                  "say what to remove: a CONFIG, --problem, --device, --measure, --older-than, "
                  "--failed, or --all");
}

/* Remarks that records of other files' kernels of this name are kept, because each config file has
   its own records. */
static void remark_others(struct cli *cli, const cugen_cache_filter *filter) {
  const cugen_cache_set *sets;
  size_t count;
  cugen_error ignored;
  if (!filter->config || filter->before || filter->failed || options_given(cli, OPTION_JSON))
    return;
  if (api_cache_list(cli->lib, filter, &sets, &count, &ignored) || !count) return;
  if (strcmp(sets[0].config, filter->config) != 0)
    cli_remark(cli,
               "other config files have a kernel '%s': their records stay; 'cugen cache rm %s' "
               "removes all",
               sets[0].config, sets[0].config);
}

static int remove_records(struct cli *cli, const cugen_cache_filter *filter,
                          const cugen_cache_counts *planned) {
  cugen_cache_counts counts;
  bool yes = options_given(cli, OPTION_YES), json = options_given(cli, OPTION_JSON),
       terminal = isatty(STDIN_FILENO);
  if (!yes && !json) {
    printf("This would remove ");
    print_counts(planned);
    printf(" from %s.\n", api_where(cli->lib, API_PLACE_CACHE));
  }
  if (!yes && (json || !terminal))
    return cli_fail(cli, CUGEN_ERROR_USAGE, "nothing was removed: --yes goes ahead without asking");
  if (!yes && !agreed()) return puts("Nothing was removed."), CUGEN_OK;
  int status = api_cache_remove(cli->lib, filter, 1, &counts, &cli->error);
  if (status || json)
    return status ? status : cli_print_json(cli, counts_json(cli, &counts, "removed", true));
  if (options_given(cli, OPTION_QUIET)) return CUGEN_OK;
  printf("Removed ");
  print_counts(&counts);
  puts(".");
  fflush(stdout);
  remark_others(cli, filter);
  return CUGEN_OK;
}

int command_cache_rm(struct cli *cli) {
  cugen_cache_filter filter = cli_cache_filter(cli);
  cugen_cache_counts counts;
  double age = 0;
  int status = check_meaning(cli);
  if (!status) status = options_seconds(cli, OPTION_OLDER_THAN, &age);
  if (age > 0) filter.before = (int64_t)time(NULL) - (int64_t)age;
  if (!status) status = cli_open_cache(cli);
  if (!status) status = api_cache_remove(cli->lib, &filter, 0, &counts, &cli->error);
  if (status) return status;
  if (counts.records || counts.history || counts.images || counts.portfolios)
    return remove_records(cli, &filter, &counts);
  if (options_given(cli, OPTION_JSON))
    return cli_print_json(cli, counts_json(cli, &counts, "removed", false));
  const bool no_cache = cli_remark_no_cache(cli);
  if (!options_given(cli, OPTION_QUIET)) puts("Nothing of that is remembered.");
  fflush(stdout);
  if (!no_cache) remark_others(cli, &filter);
  return CUGEN_OK;
}

/* ---- verify --------------------------------------------------------------------------------- */

int command_cache_verify(struct cli *cli) {
  cugen_cache_counts counts;
  int status = cli_open_cache(cli);
  if (!status) status = api_cache_verify(cli->lib, &counts, NULL, &cli->error);
  if (status) return status;
  cli_remark_cache(cli);
  if (options_given(cli, OPTION_JSON)) {
    json_t *object = counts_json(cli, &counts, "good", true);
    json_object_set_new(object, "foreign_images", json_integer((json_int_t)counts.foreign_images));
    return cli_print_json(cli, object);
  }
  if (options_given(cli, OPTION_QUIET)) return CUGEN_OK;
  printf("%s: ", api_where(cli->lib, API_PLACE_CACHE));
  print_counts(&counts);
  puts(": nothing is wrong.");
  const size_t foreign = counts.foreign_images;
  if (foreign)
    printf("%s compiled kernel%s not sealed with a key that is used here (another home or user?): "
           "%s compiled anew when needed.\n",
           print_count(foreign).text, foreign == 1 ? " is" : "s are",
           foreign == 1 ? "it is" : "they are");
  return CUGEN_OK;
}
