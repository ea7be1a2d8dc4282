/* cugen gen: prints the specialised source of a variant. */
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/source.h"
#include "cli.h"
#include "launches.h"
#include "print.h"

static void write_source(const void *source, FILE *out) {
  fputs(source, out);
}

/* Appends how to get a best variant: by the command that tunes, by taking what is predicted, or by
   one after the other. */
static void append_remedy(struct cli *cli) {
  const char *model = cli_fallback_model(cli);
  const bool measures = !cli_only_predicts(cli),
             predicted = (!measures || cli_fell_back(cli)) && cli_is_predicted(cli, model);
  if (measures || !predicted) {
    const struct cli meant = cli_to_tune(cli);
    cli_append(cli, "run '%s' first%s", hint(&meant, "tune").text, measures ? "" : " and ");
  }
  if (measures && !predicted) return;
  cli_append(cli, "%stake what is predicted (--device %s without --best)", measures ? ", " : "",
             model);
}

static int refuse_best(struct cli *cli, const cugen_kernel *kernel, bool predicted) {
  const char *device = cli_on_cpu(cli) ? "the cpu device" : cugen_kernel_device(kernel)->name;
  cli_fail(cli, CUGEN_ERROR_USAGE, "nothing is %s for %s %s on %s; ",
           predicted ? "measured" : "remembered", cugen_kernel_name(kernel),
           api_kernel_problem_short(kernel), device);
  const char *between = ", or ";
  if (predicted)
    cli_append(cli, "leave out --best for the model's choice, predicted");
  else if (cli_device(cli) != CUGEN_DEVICE_MODEL)
    append_remedy(cli);
  else if (cli_tuning(cli) != CLI_REFUSES) /* tuning predicts, and --best takes no predictions */
    cli_append(cli, "run '%s' and leave out --best for what it predicts", hint(cli, "tune").text);
  else
    between = "";
  const struct cli here = cli_here(cli);
  cli_append(cli, "%sname a variant ('%s' explains)", between, hint(&here, "cache why").text);
  return cli->error.status;
}

/* Chooses the variant; on the cpu device the best of the check problem, if records have one. The
   caller closes *check, to which the choice's strings may belong. */
static int gen_choose(struct cli *cli, bool best, cugen_kernel **check, cugen_choice *choice) {
  double distance = best ? -1 : 0;
  int status = CUGEN_OK;
  if (cli_on_cpu(cli))
    status = cugen_kernel_open(cli->lib, cli->operand, cli->settings, cli->setting_count, check,
                               &cli->error);
  if (!status && *check) status = api_kernel_use_check(*check, &cli->error);
  cugen_kernel *kernel = *check ? *check : cli->kernel;
  if (!status) status = api_kernel_choose(kernel, distance, choice, &cli->error);
  if (!status && best && choice->how == CUGEN_PLAN_DEFAULT)
    return refuse_best(cli, kernel, choice->predicted);
  if (!status && *check && choice->how == CUGEN_PLAN_DEFAULT)
    status = api_kernel_choose(cli->kernel, distance, choice, &cli->error);
  return status;
}

/* Remarks the variant and writes the source. With --json, the object goes to stdout, and only a
   file of --output receives the source alone. */
static int gen_print_result(struct cli *cli, const struct launches *launches, const char *source,
                            json_t *choice) {
  const char *path = cli->values[OPTION_OUTPUT];
  const bool json = options_given(cli, OPTION_JSON);
  char text[160];
  const char *line = launches_line(launches, text, sizeof text);
  cli_remark(cli, "%s %s: %s%s%s", cugen_kernel_name(cli->kernel),
             cugen_kernel_problem(cli->kernel), launches->variant, line ? "; " : "",
             line ? line : "");
  if (!line && !options_given(cli, OPTION_QUIET)) launches_print(cli, launches, "", stderr);
  int status = CUGEN_OK;
  if (!json || (path && strcmp(path, "-") != 0)) status = cli_write(cli, write_source, source);
  if (status || !json) return status;
  return cli_print_json(cli,
                        JSON_ADD(json_kernel(cli), {"choice", json_incref(choice)},
                                 MEMBER(string, launches, variant), {"source", json_text(source)},
                                 {"launches", launches_json(launches)}));
}

int command_gen(struct cli *cli) {
  const char *variant = cli->values[OPTION_VARIANT], *source, *ptx = NULL;
  bool best = options_given(cli, OPTION_BEST), wants_ptx = options_given(cli, OPTION_PTX);
  if (variant && best)
    return cli_fail(cli, CUGEN_ERROR_USAGE,
                    "--best and --variant name two different variants; give one of them");
  if (wants_ptx && options_given(cli, OPTION_JSON))
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--ptx prints text; leave out --json");
  cugen_kernel *check = NULL;
  cugen_choice choice = {.variant = variant};
  int status = cli_open_kernel(cli);
  /* This must be called before gen_choose, because api_kernel_ptx passes over a choice that does
     not compile. */
  if (!status && wants_ptx && !variant && !best)
    status = api_kernel_ptx(cli->kernel, NULL, &ptx, &cli->error);
  if (!status && !variant) status = gen_choose(cli, best, &check, &choice);
  json_t *chosen = status || variant ? json_null() : json_choice(&choice);
  struct launches launches;
  if (!status) status = launches_find(cli, choice.variant, &launches);
  if (!status)
    status =
        cugen_kernel_source(cli->kernel, choice.variant, &source, &launches.variant, &cli->error);
  if (!status && wants_ptx && !ptx)
    status = api_kernel_ptx(cli->kernel, choice.variant, &ptx, &cli->error);
  if (ptx) source = ptx;
  /* Remarks follow only now, so that an error comes without remarks. */
  if (!status && check && choice.how == CUGEN_PLAN_EXACT)
    cli_remark(cli, "on the cpu device this is the best of the check problem, %s",
               choice.tuned_for);
  if (!status && !variant) cli_remark_choice(cli, &choice, cli_failed(cli, &choice));
  cugen_kernel_close(check);
  if (!status) status = gen_print_result(cli, &launches, source, chosen);
  json_decref(chosen);
  return status;
}
