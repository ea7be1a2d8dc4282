/* Tables of records; see records.h. A column that means nothing for any row is left out, for
   example the registers on the cpu device. If the table has to fit a terminal, variants are shown
   by the tunables that differ, and variants that tie with a variant above, of the same
   implementation, are only counted. */
#include "records.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/records.h"
#include "base/key.h"
#include "print.h"
#include "quantities.h"
#include "settings.h"
#include "table.h"

static const struct column {
  struct table_column column; /* the header of the rate is its unit */
  enum quantity quantity;
} columns[] = {
    {{"time", TABLE_RIGHT, 0}, QUANTITY_MEASURED},
    {{"predicted", TABLE_RIGHT, 0}, QUANTITY_PREDICTED},
    {{"energy", TABLE_RIGHT, 0}, QUANTITY_ENERGY},
    {{"energy / time", TABLE_RIGHT | TABLE_FOLD, 11}, QUANTITY_POWER},
    {{"verified", TABLE_FOLD, 0}, QUANTITY_VERIFIED},
    {{"bound by", TABLE_FOLD, 2}, QUANTITY_BOUND},
    {{"", TABLE_RIGHT, 0}, QUANTITY_RATE_ALONE},
    {{"roofline", TABLE_RIGHT, 1}, QUANTITY_ROOFLINE},
    {{"occupancy", TABLE_FOLD, 3}, QUANTITY_OCCUPANCY},
    {{"clusters", TABLE_RIGHT | TABLE_FOLD, 6}, QUANTITY_CLUSTERS},
    {{"registers", TABLE_RIGHT | TABLE_FOLD, 4}, QUANTITY_REGISTERS},
    {{"shared", TABLE_RIGHT | TABLE_FOLD, 5}, QUANTITY_SHARED},
    {{"of it dynamic", TABLE_RIGHT | TABLE_FOLD, 8}, QUANTITY_DYNAMIC_PART},
    {{"dynamic shared", TABLE_RIGHT | TABLE_FOLD, 8}, QUANTITY_DYNAMIC_ALONE},
    {{"constant", TABLE_RIGHT | TABLE_FOLD, 10}, QUANTITY_CONSTANT},
    {{"local", TABLE_RIGHT | TABLE_FOLD, 9}, QUANTITY_LOCAL},
    {{"spills", TABLE_RIGHT | TABLE_FOLD, 7}, QUANTITY_SPILLS},
};
enum { RATE = 6, ROOFLINE = 7, COLUMNS = sizeof columns / sizeof *columns };

/* Returns the column at a place: the rate comes first if variants are ranked by it. */
static size_t records_column_at(size_t place, bool rate_first) {
  if (!rate_first || place > RATE) return place;
  return place ? place - 1 : RATE;
}

/* Gets record i; right records come first. Returns false at the end, and at the first record that
   failed or lacks the wanted outputs. */
static bool next_right(const struct cli *cli, size_t i, cugen_record *out) {
  size_t count;
  const cugen_record *all = api_records(cli->kernel, &count);
  if (i >= count) return false;
  *out = all[i];
  if (api_kernel_objective(cli->kernel) == OBJECTIVE_BYTES)
    out->flops = 0; /* show the rate by which variants are ranked */
  return out->outcome == CUGEN_OUTCOME_OK &&
         (!cli->outputs.known || outputs_equal(&out->outputs, &cli->outputs));
}

/* ---- Ties ----------------------------------------------------------------------------------- */

/* The right records as the table shows them: some rows stand for further records of their
   implementation that tie. */
struct ranking {
  struct place {
    size_t row;    /* index of the record in whose row this record is shown: itself, or a record
                      above */
    size_t merged; /* number of other records in this row */
  } * places;
  size_t count;
  bool tied; /* the first record does not have the least cost */
};

enum { LEAST_MERGED = 2 }; /* the line about a single merged record would be as long as its row */

/* The records that tie with the fastest of them, with one row for each implementation. */
struct group {
  double least;
  size_t count;
  size_t rows[32];
};

/* Returns the group's row of the record's implementation; the record itself if there is none. */
static size_t records_find_row(const cugen_record *all, struct group *group, size_t i) {
  for (size_t k = 0; k < group->count; k++)
    if (variant_same_implementation(all[i].variant, all[group->rows[k]].variant))
      return group->rows[k];
  if (group->count < sizeof group->rows / sizeof *group->rows) group->rows[group->count++] = i;
  return i;
}

static bool is_row(const struct ranking *ranking, size_t i) {
  return ranking->places[i].row == i;
}

/* Shows records that were merged into a row as rows of their own if they are few, or if there is no
   width limit. */
static void unmerge(struct cli *cli, struct ranking *ranking) {
  for (size_t i = 0; i < ranking->count; i++) {
    const struct place *row = &ranking->places[ranking->places[i].row];
    if (!is_row(ranking, i) && (!cli->width || row->merged < LEAST_MERGED))
      ranking->places[i].row = i;
  }
  for (size_t i = 0; i < ranking->count; i++)
    if (!cli->width || ranking->places[i].merged < LEAST_MERGED) ranking->places[i].merged = 0;
}

static int records_rank(struct cli *cli, struct ranking *out) {
  cugen_record record;
  struct group group = {0};
  double first = 0;
  size_t count;
  const cugen_record *all = api_records(cli->kernel, &count);
  *out = (struct ranking){.places = calloc(count + 1, sizeof *out->places)};
  if (!out->places) return cli_no_memory(cli);
  for (size_t i = 0; next_right(cli, i, &record); i++) {
    if (i == 0 || record.cost > group.least * CUGEN_TIE)
      group = (struct group){.least = record.cost};
    /* Within a tie the first is not always the fastest. */
    group.least = fmin(group.least, record.cost);
    if (i == 0) first = record.cost;
    out->tied |= record.cost < first;
    const size_t row = records_find_row(all, &group, i);
    out->places[out->count++] = (struct place){.row = row};
    out->places[row].merged += row != i;
  }
  unmerge(cli, out);
  return CUGEN_OK;
}

/* Returns the index behind the last record that the first `top` rows show; 0 if `top` is 0. */
static size_t records_end_of(const struct ranking *ranking, size_t top) {
  size_t i = 0;
  for (size_t rows = 0; i < ranking->count && (rows < top || !is_row(ranking, i)); i++)
    rows += is_row(ranking, i);
  return top ? i : 0;
}

/* ---- The table ------------------------------------------------------------------------------ */

struct best {
  const struct ranking *ranking;
  struct table table;
  struct settings variants;
  bool chosen[COLUMNS], rate_first, narrow;
  char rate[16];
};

/* Chooses the columns that mean something for some row, and collects the variants of the rows. If
   the variants are shortened, also collects the tried variants, from which the only row of an
   implementation is distinguished. */
static int records_choose(struct cli *cli, struct best *best, size_t end) {
  cugen_record record;
  for (size_t i = 0; i < end && next_right(cli, i, &record); i++) {
    if (!is_row(best->ranking, i)) continue;
    const char *unit = print_rate_unit(record.flops, record.bytes);
    if (i == 0) snprintf(best->rate, sizeof best->rate, "%s", unit ? unit : "");
    for (size_t c = 0; c < COLUMNS; c++)
      best->chosen[c] |= quantities[columns[c].quantity].has(&record);
    if (!settings_add(&best->variants, record.variant)) return cli_no_memory(cli);
  }
  size_t tried;
  const cugen_record *all = api_records(cli->kernel, &tried);
  for (size_t i = 0; i < tried && best->narrow; i++)
    if (!settings_add_tried(&best->variants, all[i].variant)) return cli_no_memory(cli);
  return CUGEN_OK;
}

static void open_table(struct cli *cli, struct best *best) {
  struct table_column shown[COLUMNS + 2] = {{"", TABLE_RIGHT, 0}};
  size_t count = 1;
  for (size_t i = 0; i < COLUMNS; i++) {
    const size_t c = records_column_at(i, best->rate_first);
    if (best->chosen[c]) shown[count++] = columns[c].column;
    if (best->chosen[c] && c == RATE) shown[count - 1].header = best->rate;
  }
  shown[count++] = (struct table_column){"variant", TABLE_WRAP, 0};
  table_open(&best->table, cli, shown, count);
}

/* Returns the variant's text for the row; NULL: out of memory. A shortened text becomes "tiled..
   BM=64", because --variant would take it for another variant without the dots. */
static char *row_variant(const struct best *best, size_t row, const cugen_record *record) {
  char *dotted = NULL,
       *text = best->narrow ? settings_short(&best->variants, row) : strdup(record->variant);
  if (!text || strlen(text) >= strlen(record->variant)) return text;
  if (asprintf(&dotted, "%.*s..%s", VARIANT_IMPLEMENTATION(text), variant_parse(text).settings) < 0)
    dotted = NULL;
  free(text);
  return dotted;
}

static int records_add_rows(struct cli *cli, struct best *best, size_t end) {
  struct table *table = &best->table;
  cugen_record record;
  for (size_t i = 0, row = 0; i < end && next_right(cli, i, &record); i++) {
    if (!is_row(best->ranking, i)) continue;
    char *variant = row_variant(best, row++, &record);
    if (!variant) return cli_no_memory(cli);
    table->style = i == 0 ? STYLE_BEST : STYLE_PLAIN;
    table_cell(table, print_count(i + 1).text);
    for (size_t at = 0; at < COLUMNS; at++) {
      const size_t c = records_column_at(at, best->rate_first);
      const struct quantity_row *quantity = &quantities[columns[c].quantity];
      if (best->chosen[c])
        table_cell(table, quantity->has(&record) ? quantity->show(&record).text : "");
    }
    table_cell(table, variant);
    free(variant);
    table->style = STYLE_PLAIN;
    const size_t merged = best->ranking->places[i].merged;
    if (merged) table_line(table, print_format("%zu more within 0.5%%", merged).text);
    table->merged += merged;
  }
  return CUGEN_OK;
}

static int records_print_table(struct cli *cli, struct best *best, size_t end) {
  cugen_error ignored;
  int status = records_choose(cli, best, end);
  if (!status) {
    open_table(cli, best);
    status = records_add_rows(cli, best, end);
    const int closed = table_close(&best->table, 0, stdout, status ? &ignored : &cli->error);
    if (!status) status = closed;
  }
  if (!status && best->narrow) settings_print(&best->variants, stdout);
  settings_free(&best->variants);
  return status;
}

double records_multiply_adds(const cugen_ceilings *c) {
  return c->flops > 0 ? c->flops : c->flops_peak;
}

double records_peak(const cugen_ceilings *c) {
  double multiply_adds = records_multiply_adds(c);
  return c->tensor_flops_peak > multiply_adds ? c->tensor_flops_peak : multiply_adds;
}

double records_bandwidth(const cugen_ceilings *c) {
  return c->bandwidth > 0 ? c->bandwidth : c->bandwidth_peak;
}

double records_served(const cugen_record *r, const cugen_ceilings *c) {
  double served = quantity_requested(r) * records_bandwidth(c), peak = records_peak(c);
  return served < peak ? served : peak;
}

void records_print_roofline(const struct cli *cli, const cugen_record *r, const cugen_ceilings *c) {
  double intensity = r->bytes > 0 ? r->flops / r->bytes : 0;
  double peak = records_peak(c);
  double bandwidth = records_bandwidth(c);
  bool memory = r->bytes > 0 && (r->flops <= 0 || intensity * bandwidth < peak);
  printf("Roofline: %s", memory ? "device memory" : c->dtype);
  printf(" at %s", memory ? print_bandwidth(bandwidth).text : print_flops(peak).text);
  if (intensity > 0) printf(" (%s FLOP/B)", print_number(intensity).text);
  bool tensor = !memory && peak > records_multiply_adds(c);
  if (!r->roofline_measured && !r->predicted && !tensor) {
    struct cli meant = *cli; /* the device's ceilings do not depend on the kernel */
    meant.operand = NULL;
    meant.setting_count = meant.where_count = 0;
    meant.values[OPTION_PATTERN] = meant.values[OPTION_IMPLEMENTATION] = NULL;
    printf(", the device's peak; '%s' measures it.\n", hint(&meant, "roofline").text);
    return;
  }
  puts(r->roofline_measured ? ", measured here."
       : r->predicted ? tensor ? ", on tensor cores, by the description." : ", by the description."
                      : ", the peak of its tensor cores.");
}

const char *records_preference(const struct cli *cli) {
  const char *prefer = cli->values[OPTION_PREFER];
  return !prefer || strcmp(prefer, "simplest") == 0 ? "comes first in the config"
         : strcmp(prefer, "registers") == 0         ? "has the fewest registers"
                                                    : "takes the least energy";
}

static void print_ranking(const struct cli *cli, bool tied) {
  bool rate = cli_ranks_by_rate(cli->kernel);
  const enum objective_kind objective = api_kernel_objective(cli->kernel);
  const char *const text = api_kernel_objective_text(cli->kernel);
  const char *const unit = objective == OBJECTIVE_FLOPS ? "GFLOP/s" : rate ? "GB/s" : text;
  if (objective != OBJECTIVE_TIME && cli->values[OPTION_OBJECTIVE])
    printf("Ranked by %s, as --objective asks.\n", unit);
  else if (objective != OBJECTIVE_TIME)
    printf("Ranked by %s: the config has objective \"%s\".\n", unit, text);
  if (tied)
    printf("A tie: of those within 0.5%% of the %s, the one that %s leads.\n",
           rate                          ? "highest rate"
           : objective == OBJECTIVE_TIME ? "fastest"
                                         : "best",
           records_preference(cli));
}

static int print_best(struct cli *cli, const struct ranking *ranking, size_t top) {
  struct best best = {
      .ranking = ranking, .rate_first = cli_ranks_by_rate(cli->kernel), .narrow = cli->width > 0};
  const size_t end = records_end_of(ranking, top);
  if (!end) return CUGEN_OK;
  int status = records_print_table(cli, &best, end);
  if (!status) print_ranking(cli, ranking->tied);
  if (status || !best.chosen[ROOFLINE] || options_given(cli, OPTION_QUIET)) return status;
  cugen_ceilings ceilings;
  size_t count;
  status = api_kernel_ceilings(cli->kernel, &ceilings, &cli->error);
  if (!status) records_print_roofline(cli, api_records(cli->kernel, &count), &ceilings);
  return status;
}

int records_print_best(struct cli *cli, size_t top, size_t *right) {
  struct ranking ranking;
  int status = records_rank(cli, &ranking);
  if (right) *right = ranking.count;
  if (!status) status = print_best(cli, &ranking, top);
  free(ranking.places);
  return status;
}

/* ---- Time against energy -------------------------------------------------------------------- */

static int by_seconds(const void *a, const void *b) {
  const cugen_record *x = a, *y = b;
  return (x->seconds > y->seconds) - (x->seconds < y->seconds);
}

static int print_front(struct cli *cli, const cugen_record *records, size_t count) {
  static const struct table_column front_columns[] = {{"time", TABLE_RIGHT, 0},
                                                      {"energy", TABLE_RIGHT, 0},
                                                      {"energy / time", TABLE_RIGHT, 0},
                                                      {"variant", TABLE_WRAP, 0}};
  static const enum quantity shown[] = {QUANTITY_TIME, QUANTITY_ENERGY, QUANTITY_POWER};
  struct table table;
  puts("\nNo other variant beats these in both time and energy:");
  table_open(&table, cli, front_columns, sizeof front_columns / sizeof *front_columns);
  for (size_t i = 0; i < count; i++) {
    for (size_t c = 0; c < sizeof shown / sizeof *shown; c++)
      table_cell(&table, quantities[shown[c]].show(&records[i]).text);
    table_cell(&table, records[i].variant);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

int records_print_front(struct cli *cli) {
  size_t all, count = 0;
  const cugen_record *records = api_records(cli->kernel, &all);
  cugen_record *front = calloc(all + 1, sizeof *front);
  if (!front) return cli_no_memory(cli);
  for (size_t i = 0; i < all; i++)
    if (records[i].non_dominated) front[count++] = records[i];
  qsort(front, count, sizeof *front, by_seconds);
  int status = count ? print_front(cli, front, count) : CUGEN_OK;
  free(front);
  return status;
}

/* ---- The user's own function ---------------------------------------------------------------- */

char *records_baseline(const struct cli *cli, const cugen_baseline_result *b) {
  const bool by_time = api_kernel_objective(cli->kernel) == OBJECTIVE_TIME;
  char *line = NULL;
  int length = 0;
  if (b->function && b->ratio > 0)
    length = asprintf(&line, "%.2f x your baseline %s%s%s: %s against %s, timed in turn", b->ratio,
                      b->function, by_time ? "" : " by ",
                      by_time ? "" : api_kernel_objective_text(cli->kernel),
                      print_seconds(b->best_seconds).text, print_seconds(b->seconds).text);
  else if (b->function && b->reason)
    length = asprintf(&line, "Your baseline %s is not compared: %s%s%s", b->function,
                      b->outcome ? outcome_text((int)b->outcome) : "", b->outcome ? ": " : "",
                      b->reason);
  return length < 0 ? NULL : line;
}

/* ---- Failures ------------------------------------------------------------------------------- */

/* Prints the line of a reason that says what is wrong. If the line ends in a colon, because a list
   of candidates follows, also prints the operand types of the user's line. */
static void print_reason(const char *reason) {
  static const char mark[] = "operand types are: ";
  int length;
  const char *line = error_essence(reason, &length);
  const char *types = length && line[length - 1] == ':' ? strstr(line, mark) : NULL,
             *next = strstr(line + length, "error: ");
  if (types && next && next < types) types = NULL; /* the list belongs to another error */
  if (types) types += sizeof mark - 1;
  printf("    %.*s%s%.*s\n", length, line, types ? " " : "", types ? (int)strcspn(types, "\n") : 0,
         types ? types : "");
}

const char *records_check_help(const struct cli *cli, const cugen_record *record,
                               struct hint *command) {
  struct cli meant = *cli;
  meant.values[OPTION_DEVICE] = NULL;
  meant.values[OPTION_VARIANT] = record->variant;
  *command = hint(&meant, "check");
  switch (record->outcome) {
  case CUGEN_OUTCOME_WRONG:
  case CUGEN_OUTCOME_BOUNDS: return "looks for races and bad accesses";
  case CUGEN_OUTCOME_TRAP: return "names the line";
  default: return NULL;
  }
}

/* The example of each outcome is the variant that comes first in the config. */
static void count_endings(const struct cli *cli, struct ending out[OUTCOMES]) {
  size_t count;
  const cugen_record *all = api_records(cli->kernel, &count);
  for (size_t i = 0; i < count; i++) {
    if ((size_t)all[i].outcome >= OUTCOMES) continue;
    struct ending *ending = &out[all[i].outcome];
    if (ending->count++ == 0 || all[i].order < ending->example->order) ending->example = &all[i];
  }
}

const cugen_record *records_failed(const struct cli *cli) {
  struct ending endings[OUTCOMES] = {{0}};
  size_t outcome = CUGEN_OUTCOME_COMPILE, count;
  count_endings(cli, endings);
  while (outcome < OUTCOMES && !endings[outcome].count) outcome++;
  if (outcome < OUTCOMES) return endings[outcome].example;
  const cugen_record *all = api_records(cli->kernel, &count);
  return count ? all : NULL;
}

void records_print_failure(const struct cli *cli, const char *problem) {
  const cugen_record *record = records_failed(cli);
  if (!record || record->outcome == CUGEN_OUTCOME_OK) return;
  printf("%s: %s, such as %s\n", problem, outcome_text((int)record->outcome), record->variant);
  if (*record->reason) print_reason(message_own(record->reason).text);
}

static void print_ending(struct cli *cli, const struct ending *ending, const char *before) {
  const cugen_record *record = ending->example;
  if (!record) return;
  printf("%s, such as %s\n", before, record->variant);
  if (*record->reason) print_reason(message_own(record->reason).text);
  struct hint check;
  const char *help = records_check_help(cli, record, &check);
  if (help && !options_given(cli, OPTION_QUIET)) printf("    '%s' %s\n", check.text, help);
}

/* Variants that the model cannot predict are no failures and are printed apart. */
void records_print_failures(struct cli *cli, bool apart) {
  struct ending endings[OUTCOMES] = {{0}};
  char before[96];
  size_t failed = 0;
  count_endings(cli, endings);
  for (size_t i = CUGEN_OUTCOME_COMPILE; i < CUGEN_OUTCOME_UNPREDICTED; i++)
    failed += endings[i].count;
  if (failed) {
    if (apart) putchar('\n');
    clean_style(STYLE_BAD);
    printf("Failed variants: %s", print_count(failed).text);
    clean_style(STYLE_PLAIN);
    putchar('\n');
  }
  for (size_t i = CUGEN_OUTCOME_COMPILE; i < CUGEN_OUTCOME_UNPREDICTED; i++) {
    snprintf(before, sizeof before, "  %s %s", print_count(endings[i].count).text,
             outcome_text((int)i));
    print_ending(cli, &endings[i], before);
  }
  snprintf(before, sizeof before, "%sNo prediction: %s", apart || failed ? "\n" : "",
           print_count(endings[CUGEN_OUTCOME_UNPREDICTED].count).text);
  print_ending(cli, &endings[CUGEN_OUTCOME_UNPREDICTED], before);
}
