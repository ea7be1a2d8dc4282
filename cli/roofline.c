/* cugen roofline: the ceilings of a device. The ceilings are the rates of the best variants of two
   shipped configs, which are tuned and stored like any other kernel. */
#include <stdlib.h>
#include <string.h>

#include "api/explain.h"
#include "api/kernel.h"
#include "api/tuning.h"
#include "base/key.h"
#include "findings.h"
#include "plot.h"
#include "print.h"
#include "quantities.h"
#include "records.h"
#include "table.h"
#include "terminal.h"

static const char *const dtypes[] = {"f32", "f64", "f16", "bf16"};
enum { DTYPES = sizeof dtypes / sizeof *dtypes };

/* The operand types of tensor cores that are shown, if the device's tensor cores have them. */
static const char *const tensor_types[] = {"f64", "tf32", "f16", "bf16", "fp8"};
enum { TENSOR_TYPES = sizeof tensor_types / sizeof *tensor_types };

/* Most seconds for one ceiling. */
static const double longest = 20;

/* ---- Measuring ------------------------------------------------------------------------------ */

static int open_peak(struct cli *cli, const char *config, const char *dtype, cugen_kernel **out) {
  char setting[32];
  const char *settings[] = {setting};
  snprintf(setting, sizeof setting, "dtype=%s", dtype ? dtype : "");
  return cugen_kernel_open(cli->lib, config, settings, dtype != NULL, out, &cli->error);
}

static int roofline_measure(struct cli *cli, const char *config, const char *dtype,
                            const char *what) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  cugen_kernel *kernel;
  int status = open_peak(cli, config, dtype, &kernel);
  if (status) return status;
  options.strategy = "exhaustive";
  options.budget_seconds = longest;
  options.again = options_given(cli, OPTION_AGAIN);
  cli_remark(cli, "measuring %s", what);
  status = api_kernel_tune(kernel, &options, NULL, &cli->error);
  cugen_kernel_close(kernel);
  return status;
}

/* Measures the missing ceilings, or with --again all, on a GPU of this machine. */
static int measure_missing(struct cli *cli, const cugen_ceilings *known) {
  bool again = options_given(cli, OPTION_AGAIN);
  int status = CUGEN_OK;
  if (again || known[0].bandwidth <= 0)
    status = roofline_measure(cli, "peak_copy", NULL, "how fast device memory is copied");
  for (size_t i = 0; i < DTYPES && !status; i++) {
    char what[64];
    snprintf(what, sizeof what, "how fast %s is multiplied and added", dtypes[i]);
    if (again || known[i].flops <= 0) status = roofline_measure(cli, "peak_fma", dtypes[i], what);
  }
  return status;
}

/* ---- Printing ------------------------------------------------------------------------------- */

/* The row's first cell is added already. */
static void roofline_add_row(struct table *table, struct shown measured, struct shown peak,
                             double part) {
  table_cell(table, measured.text);
  table_cell(table, peak.text);
  table_cell(table, part > 0 ? print_percent(part).text : "-");
}

static int print_ceilings(struct cli *cli, const cugen_ceilings *all) {
  static const struct table_column columns[] = {{"", TABLE_WRAP, 0},
                                                {"measured", TABLE_RIGHT, 0},
                                                {"peak", TABLE_RIGHT, 0},
                                                {"part", TABLE_RIGHT, 0}};
  struct table table;
  table_open(&table, cli, columns, 4);
  const cugen_ceilings *first = &all[0];
  table_cell(&table, "device memory, copied");
  roofline_add_row(&table, print_bandwidth(first->bandwidth),
                   print_bandwidth(first->bandwidth_peak),
                   first->bandwidth_peak > 0 ? first->bandwidth / first->bandwidth_peak : 0);
  for (size_t i = 0; i < DTYPES; i++) {
    table_cellf(&table, "%s multiply-adds", dtypes[i]);
    roofline_add_row(&table, print_flops(all[i].flops), print_flops(all[i].flops_peak),
                     all[i].flops_peak > 0 ? all[i].flops / all[i].flops_peak : 0);
  }
  for (size_t i = 0; i < TENSOR_TYPES; i++) {
    double flops = api_kernel_tensor_flops(cli->kernel, tensor_types[i]);
    if (flops <= 0) continue;
    table_cellf(&table, "%s on tensor cores", tensor_types[i]);
    roofline_add_row(&table, print_flops(0), print_flops(flops), 0);
  }
  return table_close(&table, 0, stdout, &cli->error);
}

static json_t *roofline_ceilings_json(const void *item) {
  const cugen_ceilings *c = item;
  return JSON_NEW(MEMBER(string, c, dtype), {"flops_per_second", json_known(c->flops)},
                  {"flops_per_second_peak", json_known(c->flops_peak)},
                  {"tensor_flops_per_second_peak", json_known(c->tensor_flops_peak)},
                  {"flops_measured_at", json_known_integer(c->flops_at)},
                  {"bytes_per_second", json_known(c->bandwidth)},
                  {"bytes_per_second_peak", json_known(c->bandwidth_peak)},
                  {"bytes_measured_at", json_known_integer(c->bandwidth_at)});
}

static int roofline_print_json(struct cli *cli, const cugen_device_info *device,
                               const cugen_ceilings *all) {
  json_t *tensor = json_array();
  for (size_t i = 0; i < TENSOR_TYPES; i++) {
    json_t *entry = JSON_NEW({"type", json_string(tensor_types[i])},
                             {"tensor_flops_per_second_peak",
                              json_known(api_kernel_tensor_flops(cli->kernel, tensor_types[i]))});
    json_array_append_new(tensor, entry);
  }
  return cli_print_json(cli, JSON_NEW({"device", json_device(device)},
                                      {"ceilings", JSON_LIST(all, DTYPES, roofline_ceilings_json)},
                                      {"tensor_cores", tensor}));
}

/* ---- The command ---------------------------------------------------------------------------- */

static int roofline_look_up(struct cli *cli, cugen_ceilings *all) {
  int status = CUGEN_OK;
  for (size_t i = 0; i < DTYPES && !status; i++) {
    cugen_kernel_close(cli->kernel);
    cli->kernel = NULL;
    status = open_peak(cli, "peak_fma", dtypes[i], &cli->kernel);
    if (!status) status = api_kernel_ceilings(cli->kernel, &all[i], &cli->error);
  }
  return status;
}

static int print_all(struct cli *cli, const cugen_ceilings *all) {
  if (options_given(cli, OPTION_JSON))
    return roofline_print_json(cli, cugen_kernel_device(cli->kernel), all);
  cli_print_device(cli, stdout);
  putchar('\n');
  if (cli_on_cpu(cli)) {
    puts("No roofline: a processor's ceilings are not a GPU's, and none are used. 'cugen roofline "
         "--device model:H200' shows one.");
    return CUGEN_OK;
  }
  int status = print_ceilings(cli, all);
  if (status) return status;
  const cugen_device_info *device = cugen_kernel_device(cli->kernel);
  if (device->sm_count && device->clock_khz)
    printf("Peak: %d multiprocessors at %s MHz, their highest clock; a data sheet may count a "
           "lower one.\n",
           device->sm_count, print_count((uint64_t)device->clock_khz / 1000).text);
  for (size_t i = 0; i < DTYPES; i++) {
    const double flops = records_multiply_adds(&all[i]), bandwidth = records_bandwidth(&all[i]);
    if (flops > 0 && bandwidth > 0)
      printf("With less than %s FLOP/B memory bounds %s.\n", print_number(flops / bandwidth).text,
             dtypes[i]);
  }
  return CUGEN_OK;
}

/* ---- What variants request ------------------------------------------------------------------ */

/* Up to so many variants have a row each; of more, only the best of each implementation. */
enum { MOST_ROWS = 8 };

static int by_request(const void *a, const void *b) {
  const cugen_record *x = *(const cugen_record *const *)a, *y = *(const cugen_record *const *)b;
  double left = quantity_requested(x), right = quantity_requested(y);
  return (left > right) - (left < right);
}

static size_t choose_rows(const struct findings *f, const cugen_record **rows) {
  size_t count = 0;
  for (size_t i = 0; i < f->right_count; i++) {
    const cugen_record *r = f->right[i];
    bool best = f->implementations[findings_implementation(f, r->variant)].best == r;
    if ((best || f->right_count <= MOST_ROWS) && quantity_requested(r) > 0) rows[count++] = r;
  }
  qsort(rows, count, sizeof *rows, by_request);
  return count;
}

static void add_request(struct table *table, double intensity, double served, double peak,
                        struct shown rate, const char *what) {
  table_cellf(table, "%s FLOP/B", print_number(intensity).text);
  table_cell(table, plot_rate(served, true).text);
  if (served < 0.01 * peak)
    table_cellf(table, "%.2g%%", 100 * served / peak);
  else
    table_cell(table, print_percent(served / peak).text);
  table_cell(table, rate.text);
  table_cell(table, what);
}

static void roofline_add_variant(struct table *table, const struct findings *f,
                                 const cugen_record *r) {
  char name[96];
  bool alone = f->implementations[findings_implementation(f, r->variant)].right == 1;
  snprintf(name, sizeof name, "%.*s", VARIANT_IMPLEMENTATION(r->variant));
  add_request(table, quantity_requested(r), records_served(r, &f->ceilings),
              records_peak(&f->ceilings), plot_rate(findings_rate(r), true),
              alone || f->right_count > MOST_ROWS ? name : r->variant);
}

/* Prints the rate that memory would allow if it served all requests. */
static int roofline_print_requests(struct cli *cli, const struct findings *f) {
  const cugen_record **rows = calloc(f->right_count + 1, sizeof *rows), *best = f->right[0];
  if (!rows) return cli_no_memory(cli);
  size_t count = choose_rows(f, rows);
  const struct shown bandwidth = print_format(
                         "at %.40s", print_bandwidth(records_bandwidth(&f->ceilings)).text),
                     peak = print_format("of %.40s", print_flops(records_peak(&f->ceilings)).text);
  const struct table_column columns[] = {{"requests", TABLE_RIGHT, 0},
                                         {bandwidth.text, TABLE_RIGHT, 0},
                                         {peak.text, TABLE_RIGHT, 0},
                                         {f->predicted ? "predicted" : "attains", TABLE_RIGHT, 0},
                                         {"", TABLE_WRAP, 0}};
  struct table table;
  table_open(&table, cli, columns, sizeof columns / sizeof *columns);
  for (size_t i = 0; i < count; i++) roofline_add_variant(&table, f, rows[i]);
  double own = best->flops / best->bytes, served = own * records_bandwidth(&f->ceilings);
  add_request(&table, own,
              served < records_peak(&f->ceilings) ? served : records_peak(&f->ceilings),
              records_peak(&f->ceilings), (struct shown){"-"}, "the problem, each byte moved once");
  free(rows);
  putchar('\n');
  int status = table_close(&table, 0, stdout, &cli->error);
  if (!status) puts("A variant that is faster than its requests allow has caches to serve them.");
  return status;
}

static int roofline_print_plot(struct cli *cli, const struct findings *f) {
  const int width = terminal_picture_width(cli->width, 17);
  findings_print_heading(cli, f);
  int status = chart_text(f, width, 21, stdout);
  if (status) return cli_fail(cli, status, "out of memory");
  if (!findings_has_roof(f)) return CUGEN_OK;
  records_print_roofline(cli, f->right[0], &f->ceilings);
  for (size_t i = 0; i < f->right_count; i++)
    if (quantity_requested(f->right[i]) > 0) return roofline_print_requests(cli, f);
  return CUGEN_OK;
}

static int print_kernel_json(struct cli *cli, const struct findings *f) {
  json_t *records = json_array();
  for (size_t i = 0; i < f->right_count; i++)
    json_array_append_new(records, json_record(f->right[i]));
  return cli_print_json(cli,
                        JSON_ADD(json_kernel(cli),
                                 {"ceilings", JSON_LIST(&f->ceilings, 1, roofline_ceilings_json)},
                                 {"predicted_now", json_boolean(f->now)}, {"records", records}));
}

static int roofline_draw(struct cli *cli) {
  struct findings findings;
  const char *path = cli->values[OPTION_OUTPUT];
  const size_t length = path ? strlen(path) : 0;
  int status = findings_open(cli, &findings);
  if (status) return status;
  if (!findings.right_count)
    status = cli_fail(cli, CUGEN_ERROR_WRONG,
                      "every variant of %s failed: there is nothing to draw", cli->operand);
  else if (options_given(cli, OPTION_JSON))
    status = print_kernel_json(cli, &findings);
  else if (length > 4 && strcmp(path + length - 4, ".svg") == 0)
    status = cli_fail(
        cli, CUGEN_ERROR_USAGE,
        "%s: the roofline is written as a page, -o roofline.html, which can save it as SVG", path);
  else if (path)
    status = report_write_roofline(cli, &findings);
  else
    status = roofline_print_plot(cli, &findings);
  findings_close(&findings);
  return status;
}

int command_roofline(struct cli *cli) {
  if (cli->operand) return roofline_draw(cli);
  cugen_ceilings all[DTYPES];
  if (cli_narrows(cli) || options_given(cli, OPTION_EVERY))
    return cli_fail(
        cli, CUGEN_ERROR_USAGE,
        "--variant, --implementation, --where and --all need a CONFIG: cugen roofline CONFIG");
  int status = cli_open(cli);
  if (!status) status = roofline_look_up(cli, all);
  if (!status && cli_device(cli) == CUGEN_DEVICE_CUDA) {
    status = measure_missing(cli, all);
    if (!status) status = roofline_look_up(cli, all);
  }
  if (status) return status;
  cli_remark_cache(cli);
  return print_all(cli, all);
}
