/* Tables of records; see records.h. A column that means nothing for any row is left out: on the cpu device there are
   no registers, no occupancy and no roofline. */
#include "records.h"

#include <string.h>

#include "print.h"

/* A column: its header ("%s": the unit of the rate), whether a record has it, and its cell. */
struct column {
  const char *header;
  bool (*has)(const cugen_record *record);
  void (*show)(const cugen_record *record, struct shown *out);
};

static bool has_time(const cugen_record *r) {
  return r->seconds > 0 && !r->predicted;
}

static bool has_prediction(const cugen_record *r) {
  return r->seconds > 0 && r->predicted;
}

static bool has_rate(const cugen_record *r) {
  return print_rate_unit(r->flops, r->bytes) != NULL;
}

static bool has_roofline(const cugen_record *r) {
  return r->roofline > 0;
}

static bool has_occupancy(const cugen_record *r) {
  return r->occupancy > 0;
}

static bool has_clusters(const cugen_record *r) {
  return r->cluster_blocks > 1;
}

static bool has_dynamic(const cugen_record *r) {
  return r->dynamic_shared_bytes > 0;
}

static bool has_local(const cugen_record *r) {
  return r->local_bytes > 0;
}

static bool has_constant(const cugen_record *r) {
  return r->constant_bytes > 0;
}

static bool has_resources(const cugen_record *r) {
  return r->registers > 0;
}

/* Dynamic bytes are a part of these: the cpu device knows them alone. */
static bool has_shared(const cugen_record *r) {
  return has_resources(r) || has_dynamic(r);
}

static void show_time(const cugen_record *r, struct shown *out) {
  *out = print_seconds(r->seconds);
}

static void show_bound(const cugen_record *r, struct shown *out) {
  snprintf(out->text, sizeof out->text, "%.47s", r->reason);
}

static void show_rate(const cugen_record *r, struct shown *out) {
  *out = print_rate(r->flops, r->bytes, r->seconds);
}

static void show_roofline(const cugen_record *r, struct shown *out) {
  *out = print_percent(r->roofline);
}

static void show_occupancy(const cugen_record *r, struct shown *out) {
  snprintf(out->text, sizeof out->text, "%.0f%% %s", 100 * r->occupancy, r->limiter);
}

static void show_clusters(const cugen_record *r, struct shown *out) {
  *out = print_clusters(r->cluster_blocks, r->active_clusters);
}

static void show_registers(const cugen_record *r, struct shown *out) {
  snprintf(out->text, sizeof out->text, "%d", r->registers);
}

static void show_shared(const cugen_record *r, struct shown *out) {
  *out = print_bytes(r->shared_bytes);
}

static void show_dynamic(const cugen_record *r, struct shown *out) {
  *out = print_bytes(r->dynamic_shared_bytes);
}

static void show_local(const cugen_record *r, struct shown *out) {
  *out = print_bytes(r->local_bytes);
}

static void show_constant(const cugen_record *r, struct shown *out) {
  *out = print_bytes(r->constant_bytes);
}

static void show_spills(const cugen_record *r, struct shown *out) {
  *out = print_bytes(r->spill_bytes);
}

static const struct column columns[] = {
    {">time", has_time, show_time},
    {">predicted", has_prediction, show_time},
    {"bound by", has_prediction, show_bound},
    {">%s", has_rate, show_rate},
    {">roofline", has_roofline, show_roofline},
    {"occupancy, limit", has_occupancy, show_occupancy},
    {">clusters", has_clusters, show_clusters},
    {">registers", has_resources, show_registers},
    {">shared", has_shared, show_shared},
    {">of it dynamic", has_dynamic, show_dynamic},
    {">constant", has_constant, show_constant},
    {">local", has_local, show_local},
    {">spills", has_resources, show_spills},
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
    for (size_t c = 0; c < COLUMNS; c++) chosen[c] = chosen[c] || columns[c].has(&record);
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
    struct shown shown = {0};
    if (chosen[c] && columns[c].has(record)) columns[c].show(record, &shown);
    if (chosen[c]) table_cell(table, shown.text);
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
