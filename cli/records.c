/* Tables of records; see records.h. A column that means nothing for any row is left out: on the cpu device there are
   no registers, no occupancy and no roofline. */
#include "records.h"

#include <string.h>

#include "print.h"
#include "quantities.h"

static const struct column {
  const char *header; /* "%s": the unit of the rate */
  enum quantity quantity;
} columns[] = {
    {">time", QUANTITY_MEASURED},
    {">predicted", QUANTITY_PREDICTED},
    {"verified", QUANTITY_VERIFIED},
    {"bound by", QUANTITY_BOUND},
    {">%s", QUANTITY_RATE_ALONE},
    {">roofline", QUANTITY_ROOFLINE},
    {"occupancy, limit", QUANTITY_OCCUPANCY},
    {">clusters", QUANTITY_CLUSTERS},
    {">registers", QUANTITY_REGISTERS},
    {">shared", QUANTITY_SHARED},
    {">of it dynamic", QUANTITY_DYNAMIC},
    {">constant", QUANTITY_CONSTANT},
    {">local", QUANTITY_LOCAL},
    {">spills", QUANTITY_SPILLS},
};
enum { RATE = 4, ROOFLINE = 5, COLUMNS = sizeof columns / sizeof *columns };

static bool by_rate(const struct cli *cli) {
  return cugen_kernel_objective(cli->kernel) != CUGEN_OBJECTIVE_TIME;
}

/* Which column stands there: what is ranked by comes first. */
static size_t column_at(size_t place, bool rate_first) {
  if (!rate_first || place > RATE) return place;
  return place ? place - 1 : RATE;
}

/* Fetches record i; the right ones come first. False at the first failed one or at the end. */
static bool next_right(struct cli *cli, size_t i, cugen_record *out, int *status) {
  if (i >= cugen_kernel_records(cli->kernel)) return false;
  *status = cugen_kernel_record(cli->kernel, i, out, &cli->error);
  if (cugen_kernel_objective(cli->kernel) == CUGEN_OBJECTIVE_BYTES)
    out->flops = 0; /* the rate shown is that of the ranking */
  return !*status && out->outcome == CUGEN_OUTCOME_OK;
}

/* Rank, the columns that apply, and the variant last, since it can be long. */
static size_t choose_columns(struct cli *cli, size_t top, bool *chosen, int *status) {
  cugen_record record;
  size_t count = 0;
  for (size_t i = 0; i < top && next_right(cli, i, &record, status); i++)
    for (size_t c = 0; c < COLUMNS; c++) chosen[c] = chosen[c] || quantities[columns[c].quantity].has(&record);
  for (size_t c = 0; c < COLUMNS; c++) count += chosen[c];
  return count + 2;
}

static void open_table(struct table *table, const bool *chosen, size_t count, bool rate_first,
                       const cugen_record *first) {
  const char *headers[COLUMNS + 2] = {">"};
  const char *unit = print_rate_unit(first->flops, first->bytes);
  char rate[16];
  snprintf(rate, sizeof rate, ">%s", unit ? unit : "");
  size_t at = 1;
  for (size_t i = 0; i < COLUMNS; i++) {
    size_t c = column_at(i, rate_first);
    if (chosen[c]) headers[at++] = c == RATE ? rate : columns[c].header;
  }
  headers[at] = "variant";
  table_open(table, headers, count);
}

static void add_row(struct table *table, const bool *chosen, bool rate_first, size_t rank,
                    const cugen_record *record) {
  table_cell(table, print_count(rank).text);
  for (size_t i = 0; i < COLUMNS; i++) {
    size_t c = column_at(i, rate_first);
    const struct quantity_row *row = &quantities[columns[c].quantity];
    if (chosen[c]) table_cell(table, row->has(record) ? row->show(record).text : "");
  }
  table_cell(table, record->variant);
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

static void print_measuring(const struct cli *cli) {
  struct cli meant = *cli; /* of the device, whatever the kernel */
  meant.operand = NULL;
  meant.setting_count = meant.where_count = 0;
  meant.values[OPTION_PATTERN] = meant.values[OPTION_IMPLEMENTATION] = NULL;
  fputs(", the device's peak; '", stdout);
  hint_print(&meant, "roofline", stdout);
  puts("' measures it.");
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
  if (!r->roofline_measured && !r->predicted && !tensor)
    print_measuring(cli);
  else
    puts(r->roofline_measured ? ", measured here."
         : r->predicted       ? tensor ? ", on tensor cores, by the description." : ", by the description."
                              : ", the peak of its tensor cores.");
}

static int print_ceiling(struct cli *cli) {
  cugen_ceilings ceilings;
  cugen_record record;
  int status = cugen_kernel_record(cli->kernel, 0, &record, &cli->error);
  if (!status) status = cugen_kernel_ceilings(cli->kernel, &ceilings, &cli->error);
  if (!status) records_print_roofline(cli, &record, &ceilings);
  return status;
}

static void print_ranking(const struct cli *cli, bool tied) {
  bool rate = by_rate(cli);
  const cugen_objective objective = cugen_kernel_objective(cli->kernel);
  if (rate)
    printf("Ranked by %s: the config has objective \"%s\".\n",
           objective == CUGEN_OBJECTIVE_FLOPS ? "GFLOP/s" : "GB/s", cugen_objective_name((int)objective));
  if (tied)
    printf("A tie: of those within 0.5%% of the %s, the one that comes first in the config leads.\n",
           rate ? "highest rate" : "fastest");
}

int records_print_best(struct cli *cli, size_t top, size_t *right) {
  bool chosen[COLUMNS] = {false};
  int status = CUGEN_OK;
  cugen_record record;
  size_t count = choose_columns(cli, top, chosen, &status), i = 0;
  double leader = 0;
  bool tied = false, rate_first = by_rate(cli); /* tied: what leads is not the best */
  struct table table = {0};
  for (; next_right(cli, i, &record, &status); i++) {
    if (i == 0 && top) open_table(&table, chosen, count, rate_first, &record);
    if (i < top) add_row(&table, chosen, rate_first, i + 1, &record);
    if (i == 0) leader = record.cost;
    tied |= i < top && record.cost < leader;
  }
  if (right) *right = i;
  if (!table.count) return status;
  cugen_error ignored;
  int closed = table_close(&table, 0, stdout, status ? &ignored : &cli->error);
  if (!status) print_ranking(cli, tied);
  if (!status) status = closed;
  return status || !chosen[ROOFLINE] || options_given(cli, OPTION_QUIET) ? status : print_ceiling(cli);
}

/* ---- Failures ---- */

enum { OUTCOMES = CUGEN_OUTCOME_UNPREDICTED + 1 };

/* The line of a reason that says most: a compiler's log opens with who refused, its first error is what matters; without
   one, the first line that is no heading. */
static void print_reason(const char *reason) {
  const char *line = strstr(reason, "error: "), *end;
  while (line && line > reason && line[-1] != '\n') line--;
  if (!line) line = reason;
  while (end = line + strcspn(line, "\n"), end > line && end[-1] == ':' && *end) line = end + 1;
  printf("    %.*s\n", (int)strcspn(line, "\n"), line);
}

struct endings {
  size_t counts[OUTCOMES], examples[OUTCOMES]; /* by outcome; the first of each */
};

static int count_endings(struct cli *cli, struct endings *out) {
  cugen_record record;
  for (size_t i = 0; i < cugen_kernel_records(cli->kernel); i++) {
    int status = cugen_kernel_record(cli->kernel, i, &record, &cli->error);
    if (status) return status;
    size_t outcome = (size_t)record.outcome;
    if (outcome < OUTCOMES && out->counts[outcome]++ == 0) out->examples[outcome] = i;
  }
  return CUGEN_OK;
}

bool records_failed(struct cli *cli, cugen_record *out) {
  struct endings endings = {0};
  cugen_error ignored;
  size_t outcome = CUGEN_OUTCOME_COMPILE;
  if (count_endings(cli, &endings)) return false;
  while (outcome < OUTCOMES && !endings.counts[outcome]) outcome++;
  size_t index = outcome < OUTCOMES ? endings.examples[outcome] : 0;
  return cugen_kernel_record(cli->kernel, index, out, &ignored) == CUGEN_OK;
}

static int print_ending(struct cli *cli, const struct endings *endings, size_t outcome, const char *before) {
  cugen_record record;
  if (!endings->counts[outcome]) return CUGEN_OK;
  int status = cugen_kernel_record(cli->kernel, endings->examples[outcome], &record, &cli->error);
  if (status) return status;
  printf("%s, such as %s\n", before, record.variant);
  if (*record.reason) print_reason(record.reason);
  return CUGEN_OK;
}

/* What the model has no time for is no failure: it stands apart. */
int records_print_failures(struct cli *cli, bool apart) {
  struct endings endings = {0};
  char before[96];
  size_t failed = 0;
  int status = count_endings(cli, &endings);
  for (size_t i = CUGEN_OUTCOME_COMPILE; i < CUGEN_OUTCOME_UNPREDICTED; i++) failed += endings.counts[i];
  if (!status && failed) printf("%sFailed variants: %s\n", apart ? "\n" : "", print_count(failed).text);
  for (size_t i = CUGEN_OUTCOME_COMPILE; i < CUGEN_OUTCOME_UNPREDICTED && !status; i++) {
    snprintf(before, sizeof before, "  %s %s", print_count(endings.counts[i]).text, cugen_outcome_text((int)i));
    status = print_ending(cli, &endings, i, before);
  }
  snprintf(before, sizeof before, "%sNo prediction: %s", apart || failed ? "\n" : "",
           print_count(endings.counts[CUGEN_OUTCOME_UNPREDICTED]).text);
  return status ? status : print_ending(cli, &endings, CUGEN_OUTCOME_UNPREDICTED, before);
}
