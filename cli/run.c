/* cugen run: verifies and times one variant. */
#include <string.h>

#include "api/explain.h"
#include "api/kernel.h"
#include "api/tuning.h"
#include "clean.h"
#include "launches.h"
#include "plot.h"
#include "print.h"
#include "progress.h"
#include "quantities.h"
#include "records.h"

/* Prints how much the loads and stores request, and the rate that memory would allow if it served
   all requests. */
static void run_print_requests(struct cli *cli, const cugen_record *r) {
  cugen_ceilings ceilings;
  cugen_error ignored;
  double requested = quantity_requested(r);
  if (!(requested > 0) || api_kernel_ceilings(cli->kernel, &ceilings, &ignored)) return;
  double served = records_served(r, &ceilings), peak = records_peak(&ceilings);
  printf("  requests    %s FLOP/B", print_number(requested).text);
  if (served > 0) {
    printf(": memory alone, at %s, would allow",
           print_bandwidth(records_bandwidth(&ceilings)).text);
    printf(" %s, %s of the peak of arithmetic", plot_rate(served, true).text,
           print_percent(served / peak).text);
  }
  putchar('\n');
}

static void run_print_times(struct cli *cli, const cugen_record *r) {
  const char *unit = print_rate_unit(r->flops, r->bytes);
  printf("  time        %s median of %d (min %s, p20 %s, p80 %s)\n", print_seconds(r->seconds).text,
         r->samples, print_seconds(r->seconds_min).text, print_seconds(r->seconds_p20).text,
         print_seconds(r->seconds_p80).text);
  if (unit) printf("  rate        %s %s\n", print_rate(r->flops, r->bytes, r->seconds).text, unit);
  if (r->flops > 0 && r->bytes > 0)
    printf("  intensity   %s FLOP/B\n", print_number(r->flops / r->bytes).text);
  run_print_requests(cli, r);
  if (r->roofline > 0)
    printf("  roofline    %s, %s\n", print_percent(r->roofline).text,
           r->roofline_measured ? "of the ceiling that was measured on this device"
                                : "of the ceiling by the device's description");
  if (r->clock_mhz > 0) {
    printf("  clock       %d MHz", r->clock_mhz);
    if (r->power_watts > 0) printf(", %d W", r->power_watts);
    printf("%s%s\n", *r->throttle ? ", held back by: " : "", r->throttle);
  }
}

static void print_resources(const cugen_record *r) {
  if (r->occupancy > 0)
    printf("  occupancy   %s%s%s\n", print_percent(r->occupancy).text,
           *r->limiter ? ", limited by " : "", r->limiter);
  if (r->cluster_blocks > 1)
    printf("  clusters    %s blocks at once\n",
           print_clusters(r->cluster_blocks, r->active_clusters).text);
  if (r->registers <= 0) return;
  printf("  registers   %d a thread, %d threads a block\n", r->registers, r->threads);
  printf("  shared      %s a block", print_bytes(r->shared_bytes).text);
  if (r->dynamic_shared_bytes)
    printf(", %s of it dynamic", print_bytes(r->dynamic_shared_bytes).text);
  putchar('\n');
  if (r->constant_bytes) printf("  constant    %s\n", print_bytes(r->constant_bytes).text);
  printf("  local       %s a thread", print_bytes(r->local_bytes).text);
  printf(", %s spilled\n", print_bytes(r->spill_bytes).text);
}

static void print_record(struct cli *cli, const cugen_record *r, const struct launches *launches) {
  if (!options_given(cli, OPTION_QUIET)) cli_print_head(cli);
  const char *right = r->verified ? "right" : "not verified (reference \"none\")";
  printf("%s: ", r->variant);
  clean_style(r->outcome == CUGEN_OUTCOME_OK ? STYLE_PLAIN : STYLE_BAD);
  fputs(r->outcome == CUGEN_OUTCOME_OK ? right : outcome_text((int)r->outcome), stdout);
  clean_style(STYLE_PLAIN);
  putchar('\n');
  if (r->outcome != CUGEN_OUTCOME_OK) return;
  if (r->verified) {
    const bool loose = r->error > 0 && r->error < 1e-8;
    printf("  error       %.2g of the tolerance at most%s\n", r->error,
           loose ? ", which is very loose: a wrong result may pass" : "");
  }
  run_print_times(cli, r);
  print_resources(r);
  launches_print(cli, launches, "  launch      ", stdout);
}

static int run_print_json(struct cli *cli, const cugen_record *r, const struct launches *launches,
                          json_t *choice) {
  return cli_print_json(
      cli, JSON_ADD(json_kernel(cli),
                    {"fallback", json_optional_string(cugen_kernel_fallback(cli->kernel))},
                    {"check_problem", json_boolean(cli_is_check(cli))},
                    {"measure", json_optional_string(api_kernel_measure(cli->kernel))},
                    {"choice", json_incref(choice)},
                    {"printed", json_optional_string(api_kernel_printed(cli->kernel))},
                    {"record", json_record(r)}, {"launches", launches_json(launches)}));
}

/* Fails if the variant is not right; the status depends on the outcome. */
static int fail_outcome(struct cli *cli, const cugen_record *r) {
  const char *problem = api_kernel_problem_short(cli->kernel);
  static const int statuses[] = {CUGEN_OK,          CUGEN_ERROR_COMPILE, CUGEN_ERROR_DEVICE,
                                 CUGEN_ERROR_WRONG, CUGEN_ERROR_WRONG,   CUGEN_ERROR_DEVICE,
                                 CUGEN_ERROR_DEVICE};
  size_t outcome = (size_t)r->outcome;
  int status =
      outcome < sizeof statuses / sizeof *statuses ? statuses[outcome] : CUGEN_ERROR_INTERNAL;
  if (!status) return CUGEN_OK;
  cli_fail(cli, status, "%s%s%s: %s%s%s", r->variant, *problem ? " with " : "", problem,
           outcome_text((int)r->outcome), *r->reason ? ": " : "", r->reason);
  struct hint check;
  const char *help = records_check_help(cli, r, &check);
  if (help) cli_append(cli, "\n'%s' %s", check.text, help);
  return status;
}

static int run_on_progress(const cugen_progress *state, void *context) {
  progress_draw(context, state);
  return 0;
}

/* Runs the variant with a progress line, because a reference may take minutes. */
static int run_variant(struct cli *cli, const char *variant, double timeout, cugen_record *out) {
  struct progress progress;
  progress_open(&progress, options_given(cli, OPTION_QUIET));
  api_kernel_watch_run(cli->kernel, run_on_progress, &progress);
  int status = api_kernel_run(cli->kernel, variant, timeout, out, &cli->error);
  api_kernel_watch_run(cli->kernel, NULL, NULL);
  progress_close(&progress);
  return status;
}

int command_run(struct cli *cli) {
  double timeout = 0;
  cugen_record record;
  cugen_choice choice = {0};
  int status = options_seconds(cli, OPTION_TIMEOUT, &timeout);
  if (!status) status = cli_open_kernel(cli);
  if (!status) status = cli_use_check_on_cpu(cli);
  if (!status) cli_remark_unused(cli);
  if (!status && !cli->values[OPTION_VARIANT])
    status = api_kernel_choose(cli->kernel, 0, &choice, &cli->error);
  if (status) return status;
  json_t *chosen = json_choice(&choice);
  const char *variant = choice.variant ? choice.variant : cli->values[OPTION_VARIANT];
  const size_t failed = choice.variant ? cli_failed(cli, &choice) : 0;
  status = run_variant(cli, variant, timeout, &record);
  if (!status && choice.variant)
    cli_remark_choice(cli, &choice, failed); /* only now, so that an error comes without remarks */
  struct launches launches = {NULL, 0, NULL};
  if (!status && record.outcome == CUGEN_OUTCOME_OK)
    status = launches_find(cli, record.variant, &launches);
  if (!status && record.outcome == CUGEN_OUTCOME_OK) cli_remark_refused(cli, record.variant);
  if (!status && options_given(cli, OPTION_JSON))
    status = run_print_json(cli, &record, &launches, chosen);
  else if (!status) {
    print_record(cli, &record, &launches);
    print_printed(api_kernel_printed(cli->kernel),
                  record.outcome == CUGEN_OUTCOME_OK ? " in its first launch" : "");
  }
  json_decref(chosen);
  return status ? status : fail_outcome(cli, &record);
}
