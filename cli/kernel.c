/* The kernel of a command: opens it and its device, loads its records, and prints the lines that
   name it. */
#include <string.h>

#include "api/kernel.h"
#include "api/records.h"
#include "cli.h"

int cli_filter(struct cli *cli, bool all) {
  cugen_filter filter = {0};
  filter.where = cli->wheres;
  filter.where_count = cli->where_count;
  filter.variant = cli->values[OPTION_PATTERN];
  filter.implementation = cli->values[OPTION_IMPLEMENTATION];
  filter.all = all;
  return api_kernel_filter(cli->kernel, all || cli_narrows(cli) ? &filter : NULL, &cli->error);
}

bool cli_narrows(const struct cli *cli) {
  return cli->where_count || cli->values[OPTION_PATTERN] || cli->values[OPTION_IMPLEMENTATION];
}

void cli_explain_list(struct cli *cli) {
  for (size_t i = 0; i < cli->setting_count; i++)
    if (strchr(cli->settings[i], ',')) {
      cli_append(cli, "; of all commands only 'cugen tune' takes a list");
      return;
    }
}

int cli_open_kernel(struct cli *cli) {
  int status = cli_open(cli);
  if (!status) status = cli_fall_back(cli);
  if (!status)
    status = cugen_kernel_open(cli->lib, cli->operand, cli->settings, cli->setting_count,
                               &cli->kernel, &cli->error);
  if (status == CUGEN_ERROR_USAGE) cli_explain_list(cli);
  return status ? status : cli_filter(cli, options_given(cli, OPTION_EVERY));
}

cugen_device_kind cli_device(const struct cli *cli) {
  return device_parse(cugen_kernel_device(cli->kernel)->id).kind;
}

bool cli_on_cpu(const struct cli *cli) {
  return cli_device(cli) == CUGEN_DEVICE_CPU;
}

bool cli_ranks_by_rate(const cugen_kernel *kernel) {
  const enum objective_kind objective = api_kernel_objective(kernel);
  return objective == OBJECTIVE_FLOPS || objective == OBJECTIVE_BYTES;
}

bool cli_is_check(const struct cli *cli) {
  return cli_on_cpu(cli) && !cli->setting_count && api_kernel_has_check(cli->kernel);
}

int cli_use_check_on_cpu(struct cli *cli) {
  return cli_on_cpu(cli) ? api_kernel_use_check(cli->kernel, &cli->error) : CUGEN_OK;
}

int cli_stored(struct cli *cli, const cugen_stored_record **all, size_t *count) {
  bool history = options_given(cli, OPTION_HISTORY);
  cugen_error ignored;
  int status = api_kernel_stored(cli->kernel, history, all, count, &cli->error);
  if (status || *count || api_kernel_use_predictions(cli->kernel, &ignored)) return status;
  return api_kernel_stored(cli->kernel, history, all, count, &cli->error);
}

void cli_print_device(const struct cli *cli, FILE *out) {
  const cugen_device_info *device = cugen_kernel_device(cli->kernel);
  fprintf(out, "%s (%s)", device->name, *device->id ? device->id : "not here");
}

/* The ways of timing in words, except for the usual way, "burst". */
static const char *const ways[][2] = {{"graph", "in a CUDA graph"},
                                      {"sustained", "under continuous load"},
                                      {"cold", "with cold caches"},
                                      {"served", "by a plan while it served"},
                                      {"baseline", "in turn with a baseline"}};

const char *cli_way(const char *measure) {
  for (size_t i = 0; measure && i < sizeof ways / sizeof *ways; i++)
    if (strcmp(measure, ways[i][0]) == 0) return ways[i][1];
  return NULL;
}

void cli_print_way(const struct cli *cli) {
  const char *measure = api_kernel_measure(cli->kernel);
  if (cli_way(measure))
    printf("Times are measured %s (measure \"%s\").\n", cli_way(measure), measure);
}

void cli_print_head(const struct cli *cli) {
  const char *why = cugen_kernel_fallback(cli->kernel);
  const cugen_device_info *device = cugen_kernel_device(cli->kernel);
  const bool check = api_kernel_has_check(cli->kernel);
  printf("%s %s on ", cugen_kernel_name(cli->kernel), api_kernel_problem_short(cli->kernel));
  if (cli_on_cpu(cli))
    printf("the cpu device (%s)%s%s; times are the CPU's own, not a GPU's\n", device->name,
           check ? ", with the config's check problem" : "",
           check && cli->setting_count ? " where --set says nothing else" : "");
  else
    printf("%s (%s)%s\n", device->name, *device->id ? device->id : "not here",
           api_kernel_predicted(cli->kernel)
               ? ": predicted, not measured; verified only where noted"
               : "");
  if (why) printf("No CUDA GPU: %s\n", message_own(why).text);
  cli_print_way(cli);
}

bool cli_fell_back(const struct cli *cli) {
  return cugen_kernel_fallback(cli->kernel) && !cli->values[OPTION_ARCH];
}
