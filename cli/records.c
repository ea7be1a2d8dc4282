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
    {">time", QUANTITY_MEASURED},     {">predicted", QUANTITY_PREDICTED},
    {"bound by", QUANTITY_BOUND},     {">%s", QUANTITY_RATE_ALONE},
    {">roofline", QUANTITY_ROOFLINE}, {"occupancy, limit", QUANTITY_OCCUPANCY},
    {">clusters", QUANTITY_CLUSTERS}, {">registers", QUANTITY_REGISTERS},
    {">shared", QUANTITY_SHARED},     {">of it dynamic", QUANTITY_DYNAMIC},
    {">constant", QUANTITY_CONSTANT}, {">local", QUANTITY_LOCAL},
    {">spills", QUANTITY_SPILLS},
};
enum { ROOFLINE = 4, COLUMNS = sizeof columns / sizeof *columns };

/* Fetches record i; the right ones come first. False at the first failed one or at the end. */
static bool next_right(struct cli *cli, size_t i, cugen_record *out, int *status) {
  if (i >= cugen_kernel_records(cli->kernel)) return false;
  *status = cugen_kernel_record(cli->kernel, i, out, &cli->error);
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

static void open_table(struct table *table, const bool *chosen, size_t count, const cugen_record *first) {
  const char *headers[COLUMNS + 2] = {">"};
  const char *unit = print_rate_unit(first->flops, first->bytes);
  char rate[16];
  snprintf(rate, sizeof rate, ">%s", unit ? unit : "");
  size_t at = 1;
  for (size_t c = 0; c < COLUMNS; c++)
    if (chosen[c]) headers[at++] = strcmp(columns[c].header, ">%s") == 0 ? rate : columns[c].header;
  headers[at] = "variant";
  table_open(table, headers, count);
}

static void add_row(struct table *table, const bool *chosen, size_t rank, const cugen_record *record) {
  table_cell(table, print_count(rank).text);
  for (size_t c = 0; c < COLUMNS; c++) {
    const struct quantity_row *row = &quantities[columns[c].quantity];
    if (chosen[c]) table_cell(table, row->has(record) ? row->show(record).text : "");
  }
  table_cell(table, record->variant);
}

double records_multiply_adds(const cugen_ceilings *c) {
  return c->flops > 0 ? c->flops : c->flops_sheet;
}

double records_peak(const cugen_ceilings *c) {
  double multiply_adds = records_multiply_adds(c);
  return c->tensor_flops_sheet > multiply_adds ? c->tensor_flops_sheet : multiply_adds;
}

void records_print_roofline(const cugen_record *r, const cugen_ceilings *c) {
  double intensity = r->bytes > 0 ? r->flops / r->bytes : 0;
  double peak = records_peak(c);
  double bandwidth = c->bandwidth > 0 ? c->bandwidth : c->bandwidth_sheet;
  bool memory = r->bytes > 0 && (r->flops <= 0 || intensity * bandwidth < peak);
  printf("Roofline: %s", memory ? "device memory" : c->dtype);
  printf(" at %s", memory ? print_bandwidth(bandwidth).text : print_flops(peak).text);
  if (intensity > 0) printf(" (%s FLOP/B)", print_number(intensity).text);
  bool tensor = !memory && peak > records_multiply_adds(c);
  puts(r->roofline_measured ? ", measured here."
       : r->predicted       ? tensor ? ", on tensor cores, by the description." : ", by the description."
       : tensor             ? ", on tensor cores, by the data sheet."
                            : ", by the data sheet; 'cugen roofline' measures it.");
}

static int print_ceiling(struct cli *cli) {
  cugen_ceilings ceilings;
  cugen_record record;
  int status = cugen_kernel_record(cli->kernel, 0, &record, &cli->error);
  if (!status) status = cugen_kernel_ceilings(cli->kernel, &ceilings, &cli->error);
  if (!status) records_print_roofline(&record, &ceilings);
  return status;
}

int records_print_best(struct cli *cli, size_t top, size_t *right) {
  bool chosen[COLUMNS] = {false};
  int status = CUGEN_OK;
  cugen_record record;
  size_t count = choose_columns(cli, top, chosen, &status), i = 0;
  double leader = 0;
  bool tied = false; /* what leads is not the fastest */
  struct table table = {0};
  for (; next_right(cli, i, &record, &status); i++) {
    if (i == 0 && top) open_table(&table, chosen, count, &record);
    if (i < top) add_row(&table, chosen, i + 1, &record);
    if (i == 0) leader = record.seconds;
    tied |= i < top && record.seconds < leader;
  }
  if (right) *right = i;
  if (!table.count) return status;
  cugen_error ignored;
  int closed = table_close(&table, 0, stdout, status ? &ignored : &cli->error);
  if (!status && tied)
    puts("A tie: of those within 0.5% of the fastest, the one that comes first in the config leads.");
  if (!status) status = closed;
  return status || !chosen[ROOFLINE] || options_given(cli, OPTION_QUIET) ? status : print_ceiling(cli);
}

/* ---- Failures ---- */

enum { OUTCOMES = CUGEN_OUTCOME_TIMEOUT + 1 };

/* The line of a reason that says most: a compiler's log opens with who refused, its first error is what matters. */
static void print_reason(const char *reason) {
  const char *line = strstr(reason, "error: ");
  while (line && line > reason && line[-1] != '\n') line--;
  if (!line) line = reason;
  printf("    %.*s\n", (int)strcspn(line, "\n"), line);
}

int records_print_failures(struct cli *cli, bool apart) {
  size_t counts[OUTCOMES] = {0}, examples[OUTCOMES] = {0}, failed = 0;
  cugen_record record;
  for (size_t i = 0; i < cugen_kernel_records(cli->kernel); i++) {
    int status = cugen_kernel_record(cli->kernel, i, &record, &cli->error);
    if (status) return status;
    size_t outcome = (size_t)record.outcome;
    if (outcome == CUGEN_OUTCOME_OK || outcome >= OUTCOMES) continue;
    if (counts[outcome]++ == 0) examples[outcome] = i;
    failed++;
  }
  if (!failed) return CUGEN_OK;
  printf("%sFailed variants: %s\n", apart ? "\n" : "", print_count(failed).text);
  for (int outcome = 1; outcome < OUTCOMES; outcome++) {
    if (!counts[outcome]) continue;
    int status = cugen_kernel_record(cli->kernel, examples[outcome], &record, &cli->error);
    if (status) return status;
    printf("  %s %s, such as %s\n", print_count(counts[outcome]).text, cugen_outcome_text(outcome), record.variant);
    if (*record.reason) print_reason(record.reason);
  }
  return CUGEN_OK;
}
