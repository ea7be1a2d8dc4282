/* cugen report: what is remembered of a kernel as one page of HTML, which draws itself from its own
   JSON.

   cli/pages/report.html is the page: styles, and a script that makes every section and picture.
   This file writes the page with the JSON of struct findings (findings.h) in place of the mark
   {{run}}. The cells of the table of variants come from quantities.h.

   - The page needs nothing else: no other file and no address.
   - In the JSON each '<' is written as \u003c, so that no text of a config, a record or a device
     can end the script element. The page's script inserts texts as text nodes or attributes, and
     parses none as markup.
   - The page has no date of its own, only those of its records. */
#include "findings.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/cache.h"
#include "api/explain.h"
#include "api/kernel.h"
#include "quantities.h"
#include "records.h"

/* ---- Variants ------------------------------------------------------------------------------- */

/* Columns of the table of the best variants. */
static const struct column {
  const char *header;
  enum quantity quantity;
} columns[] = {
    {"time", QUANTITY_TIME},
    {"energy", QUANTITY_ENERGY},
    {"energy / time", QUANTITY_POWER},
    {"rate", QUANTITY_RATE},
    {"roofline", QUANTITY_ROOFLINE},
    {"requests", QUANTITY_REQUESTS},
    {"occupancy", QUANTITY_OCCUPANCY},
    {"clusters", QUANTITY_CLUSTERS},
    {"threads", QUANTITY_THREADS},
    {"registers", QUANTITY_REGISTERS},
    {"static shared", QUANTITY_STATIC},
    {"dynamic shared", QUANTITY_DYNAMIC},
    {"constant", QUANTITY_CONSTANT},
    {"local", QUANTITY_LOCAL},
    {"spills", QUANTITY_SPILLS},
};
enum { COLUMNS = sizeof columns / sizeof *columns };

static json_t *cells_json(const cugen_record *r) {
  json_t *cells = json_array();
  for (size_t c = 0; c < COLUMNS; c++) {
    const struct quantity_row *row = &quantities[columns[c].quantity];
    json_array_append_new(cells, row->has(r) ? json_text(row->show(r).text) : json_null());
  }
  return cells;
}

/* has_row: add the cells of a row of the table, which the first variants and the best ones have. */
static json_t *report_variant_json(const struct findings *f, const cugen_record *r, bool has_row) {
  return JSON_NEW(MEMBER(text, r, variant),
                  {"implementation", json_count(findings_implementation(f, r->variant))},
                  MEMBER(number, r, seconds), MEMBER(number, r, cost),
                  {"rate", json_number(findings_rate(r))}, MEMBER(known, r, roofline),
                  MEMBER(known, r, requested), MEMBER(known, r, energy),
                  MEMBER(boolean, r, verified), {"cells", has_row ? cells_json(r) : json_null()});
}

static json_t *right_json(const struct findings *f, size_t top) {
  json_t *all = json_array();
  for (size_t i = 0; i < f->right_count; i++) {
    const cugen_record *r = f->right[i];
    const bool best = f->implementations[findings_implementation(f, r->variant)].best == r;
    json_array_append_new(all, report_variant_json(f, r, i < top || best));
  }
  return all;
}

/* The member "at" is the place of the best variant among the right ones. */
static json_t *implementations_json(const struct findings *f) {
  json_t *all = json_array();
  for (size_t i = 0; i < f->implementation_count; i++) {
    const struct implementation *one = &f->implementations[i];
    size_t at = 0;
    while (one->best && f->right[at] != one->best) at++;
    json_array_append_new(
        all, JSON_NEW(MEMBER(text, one, name), {"best", json_boolean(one->best != NULL)},
                      {"at", json_count(at)}, MEMBER(count, one, right), MEMBER(count, one, failed),
                      MEMBER(count, one, unpredicted), MEMBER(count, one, valid)));
  }
  return all;
}

static json_t *failures_json(const struct findings *f) {
  json_t *all = json_array();
  for (size_t i = 0; i < OUTCOMES; i++) {
    const struct ending *failure = &f->failures[i];
    if (!failure->count) continue;
    json_array_append_new(
        all, JSON_NEW(MEMBER(count, failure, count), {"how", json_string(outcome_text((int)i))},
                      {"unpredicted", json_boolean(i == CUGEN_OUTCOME_UNPREDICTED)},
                      {"variant", json_text(failure->example->variant)},
                      {"reason", json_text(message_own(failure->example->reason).text)}));
  }
  return all;
}

/* ---- Other problems ------------------------------------------------------------------------- */

static json_t *others_json(const struct findings *f) {
  json_t *all = json_array();
  for (size_t i = 0; i < f->set_count; i++) {
    const cugen_cache_set *set = &f->sets[i];
    if (!set->records || !findings_is_kin(f, set) ||
        strcmp(set->problem, cugen_kernel_problem(f->kernel)) == 0)
      continue;
    const double rate =
        set->seconds > 0 ? (set->flops > 0 ? set->flops : set->bytes) / set->seconds : 0;
    json_array_append_new(
        all,
        JSON_NEW(MEMBER(text, set, problem),
                 {"time", *set->best ? json_string(print_seconds(set->seconds).text) : json_null()},
                 {"rate", json_number(rate)}, {"flops", json_boolean(set->flops > 0)},
                 {"intensity", set->bytes > 0 ? json_number(set->flops / set->bytes) : json_null()},
                 {"alike", json_boolean(findings_takes_other(f, set))},
                 MEMBER(count, set, records)));
  }
  return all;
}

/* ---- Convergence ---------------------------------------------------------------------------- */

/* The member "best" is the best record so far, where it changed (otherwise null); "step" is true if
   this record became the best. */
static json_t *report_point_json(const struct findings *f, const struct trace_point *point) {
  json_t *best = json_null();
  const bool changed = point->changed && point->best;
  if (changed) {
    best = report_variant_json(f, point->best, false);
    json_object_set_new(best, "value", json_number(trace_value(f->kernel, point->best)));
  }
  return JSON_NEW(
      MEMBER(number, point, spent),
      {"implementation", json_count(findings_implementation(f, point->record->variant))},
      {"value", point->right ? json_number(trace_value(f->kernel, point->record)) : json_null()},
      {"step", json_boolean(changed && point->best == point->record)}, {"best", best});
}

static json_t *convergence_json(const struct findings *f) {
  json_t *points = json_array(), *ends = json_array();
  for (size_t i = 0; i < f->trace.count; i++)
    json_array_append_new(points, report_point_json(f, &f->trace.points[i]));
  for (size_t i = 0; i < f->trace.runs; i++)
    json_array_append_new(ends, json_number(f->trace.run_ends[i]));
  return JSON_NEW({"seconds", json_number(f->trace.seconds)},
                  {"unknown", json_count(f->trace.unknown)}, {"run_ends", ends},
                  {"points", points});
}

/* ---- The machine ---------------------------------------------------------------------------- */

static void report_add_fact(json_t *facts, const char *name, const char *value) {
  if (*value) json_array_append_new(facts, json_pack("[o, o]", json_text(name), json_text(value)));
}

static void add_ceiling(json_t *facts, const char *name, double measured, double peak,
                        struct shown (*print)(double)) {
  char text[160];
  const bool has = measured > 0, has_peak = peak > 0;
  if (!has && !has_peak) return;
  snprintf(text, sizeof text, "%s%s%s%s%s", has ? print(measured).text : "", has ? " measured" : "",
           has && has_peak ? ", " : "", has_peak ? print(peak).text : "", has_peak ? " peak" : "");
  report_add_fact(facts, name, text);
}

static void add_clocks(json_t *facts, const struct findings *f) {
  const cugen_record *best = f->right_count ? f->right[0] : NULL;
  char text[160];
  snprintf(text, sizeof text, "%d MHz at most", f->device->clock_khz / 1000);
  if (f->device->clock_khz) report_add_fact(facts, "SM clock", text);
  if (!best || !best->clock_mhz) return;
  int length = snprintf(text, sizeof text, "%d MHz", best->clock_mhz);
  if (best->power_watts)
    length += snprintf(text + length, sizeof text - (size_t)length, ", %d W", best->power_watts);
  snprintf(text + length, sizeof text - (size_t)length, "%s%s",
           *best->throttle ? ", held back by: " : "", best->throttle);
  report_add_fact(facts, "With the best variant", text);
}

static void report_add_device(json_t *facts, const struct findings *f) {
  const cugen_device_info *d = f->device;
  const char *way = cli_way(api_kernel_measure(f->kernel));
  char count[32] = "";
  if (d->sm_count) snprintf(count, sizeof count, "%d", d->sm_count);
  report_add_fact(facts, "Device", d->name);
  if (way) report_add_fact(facts, "Times measured", way);
  if (findings_on_cpu(f)) return;
  report_add_fact(facts, "Architecture", d->arch);
  report_add_fact(facts, "Multiprocessors", count);
  report_add_fact(facts, "Memory", d->memory_bytes ? print_bytes(d->memory_bytes).text : "");
  report_add_fact(facts, "L2 cache", d->l2_bytes ? print_bytes(d->l2_bytes).text : "");
  report_add_fact(facts, "Shared memory a block",
                  d->shared_bytes_per_block ? print_bytes(d->shared_bytes_per_block).text : "");
}

static json_t *machine_json(const struct findings *f) {
  const cugen_ceilings *c = &f->ceilings;
  json_t *facts = json_array();
  char name[48];
  report_add_device(facts, f);
  add_clocks(facts, f);
  add_ceiling(facts, "Device memory, copied", c->bandwidth, c->bandwidth_peak, print_bandwidth);
  snprintf(name, sizeof name, "%s multiply-adds", c->dtype);
  add_ceiling(facts, name, c->flops, c->flops_peak, print_flops);
  snprintf(name, sizeof name, "%s on tensor cores", c->dtype);
  add_ceiling(facts, name, 0, c->tensor_flops_peak, print_flops);
  report_add_fact(facts, "Driver", f->driver_version ? print_version(f->driver_version).text : "");
  if (!findings_on_cpu(f) && f->nvrtc_version)
    report_add_fact(facts, "NVRTC", print_version(f->nvrtc_version).text);
  report_add_fact(facts, f->predicted ? "Predicted" : "Measured",
                  f->measured_at ? print_moment(f->measured_at).text : "");
  return facts;
}

/* The members "flops" and "bandwidth" are measured, "flops_peak" and "bandwidth_peak" theoretical;
   "peak" and "memory" are the ceilings in use (records_peak, records_bandwidth). */
static json_t *report_ceilings_json(const struct findings *f) {
  const cugen_ceilings *c = &f->ceilings;
  return json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "flops", c->flops, "flops_peak",
                   c->flops_peak, "bandwidth", c->bandwidth, "bandwidth_peak", c->bandwidth_peak,
                   "multiply_adds", records_multiply_adds(c), "peak", records_peak(&f->ceilings),
                   "memory", records_bandwidth(&f->ceilings));
}

/* ---- What was proved ------------------------------------------------------------------------ */

static json_t *footer_json(const struct findings *f) {
  const size_t right = f->verified_count, wrong = f->failures[CUGEN_OUTCOME_WRONG].count +
                                                  f->failures[CUGEN_OUTCOME_BOUNDS].count +
                                                  f->failures[CUGEN_OUTCOME_TRAP].count;
  char text[1024], proved[160] = "", stale[96] = "";
  snprintf(proved, sizeof proved, "%s%s%s%s%s", right ? print_count(right).text : "",
           right ? " came out right" : "", right && wrong ? " and " : "",
           wrong ? print_count(wrong).text : "", wrong ? " came out wrong" : "");
  if (f->stale_count)
    snprintf(stale, sizeof stale, " %s records of earlier sources are left out.",
             print_count(f->stale_count).text);
  snprintf(
      text, sizeof text, "Written by cugen " CUGEN_VERSION " from what it remembers. %s%s%s%s%s",
      !f->predicted ? (f->right_count && !f->right[0]->verified
                           ? "Not verified (reference \"none\"): the variants ran, but their "
                             "results were not checked; times are medians."
                           : "Every variant timed here was first proved right, by the "
                             "config\u2019s reference or its verify kernel; times are medians.")
      : *proved ? "Times are predicted by a model: none was measured. On the cpu device, with the "
                  "config\u2019s check problem, "
                : "Times are predicted by a model: no variant ran here, none was measured or "
                  "proved right.",
      f->predicted ? proved : "", f->predicted && *proved ? "; no other variant ran." : "",
      f->now ? " Nothing was remembered: these few variants were predicted for this page, "
               "\u2018cugen tune\u2019 goes through all."
             : "",
      stale);
  return json_string(text);
}

/* ---- The page ------------------------------------------------------------------------------- */

struct page {
  const struct findings *f;
  json_t *arrays; /* of the best variant (layout_pictures) */
  size_t top;
  bool roofline_only;
};

static json_t *run_json(const struct page *page) {
  const struct findings *f = page->f;
  const cugen_record *best = f->right_count ? f->right[0] : NULL;
  json_t *headers = json_array();
  for (size_t c = 0; c < COLUMNS; c++)
    json_array_append_new(headers, json_string(columns[c].header));
  return JSON_NEW(
      {"version", json_string(CUGEN_VERSION)}, {"kernel", json_text(cugen_kernel_name(f->kernel))},
      {"problem", json_text(cugen_kernel_problem(f->kernel))},
      {"device", json_text(f->device->name)}, {"only_roofline", json_boolean(page->roofline_only)},
      MEMBER(boolean, f, predicted), {"cpu", json_boolean(findings_on_cpu(f))},
      {"by_rate", json_boolean(cli_ranks_by_rate(f->kernel))},
      {"by_time", json_boolean(api_kernel_objective(f->kernel) == OBJECTIVE_TIME)},
      {"roof", json_boolean(findings_has_roof(f))}, {"dtype", json_string(f->ceilings.dtype)},
      {"flops", json_boolean(best && best->flops > 0)},
      {"operations", best ? json_number(best->flops) : json_null()},
      {"bytes", best ? json_number(best->bytes) : json_null()},
      {"roofline_measured", json_boolean(best && best->roofline_measured)},
      {"baseline", json_optional_string(f->baseline)}, {"valid", json_count(f->space.valid)},
      {"failed", json_count(f->failed_count)}, {"ceilings", report_ceilings_json(f)},
      {"implementations", implementations_json(f)}, {"columns", headers},
      {"right", right_json(f, page->top)}, {"failures", failures_json(f)},
      {"others", others_json(f)}, {"trace", convergence_json(f)},
      {"arrays", json_incref(page->arrays)}, {"machine", machine_json(f)},
      {"footer", footer_json(f)});
}

/* A callback of jansson's that writes '<', which JSON has only within strings, as an escape. */
static int write_escaped(const char *text, size_t length, void *out) {
  for (const char *end = text + length; text < end; text++)
    if (*text == '<' ? fputs("\\u003c", out) < 0 : fputc(*text, out) < 0) return -1;
  return 0;
}

static void write_page(const void *context, FILE *out) {
  static const char mark[] = "{{run}}";
  const char *page = cli_page("report.html")->data, *at = strstr(page, mark);
  json_t *run = run_json(context);
  fwrite(page, 1, (size_t)(at - page), out);
  json_dump_callback(run, write_escaped, out, JSON_COMPACT | JSON_REAL_PRECISION(9));
  fputs(at + strlen(mark), out);
  json_decref(run);
}

int report_write_roofline(struct cli *cli, const struct findings *f) {
  const struct page page = {.f = f, .roofline_only = true};
  return cli_write(cli, write_page, &page);
}

int command_report(struct cli *cli) {
  struct findings findings;
  struct page page = {.f = &findings, .top = 10};
  int status = options_count(cli, OPTION_TOP, 0, &page.top);
  if (!status && !cli->values[OPTION_OUTPUT] && isatty(STDOUT_FILENO))
    status = cli_fail(cli, CUGEN_ERROR_USAGE,
                      "a page of HTML is not for a terminal: name a file, -o report.html");
  if (!status) status = findings_open(cli, &findings);
  if (status) return status;
  if (findings.right_count) status = layout_pictures(cli, findings.right[0]->variant, &page.arrays);
  if (!status) status = cli_write(cli, write_page, &page);
  json_decref(page.arrays);
  if (!status && options_given(cli, OPTION_OUTPUT))
    cli_remark(cli, "%s: %s %s on %s, %s variant%s%s", cli->values[OPTION_OUTPUT],
               cugen_kernel_name(cli->kernel), cugen_kernel_problem(cli->kernel),
               findings.device->name,
               print_count(findings.right_count + findings.failed_count).text,
               findings.right_count + findings.failed_count == 1 ? "" : "s",
               findings.predicted ? ", predicted" : "");
  findings_close(&findings);
  return status;
}
