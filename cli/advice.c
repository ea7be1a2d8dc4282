/* Predicts what the commands that a message advises would do: on which device, and whether they
   measure or predict. */
#include "cli.h"

bool cli_is_predicted(const struct cli *cli, const char *model) {
  struct cli other = *cli;
  cugen_choice choice = {0};
  other.values[OPTION_DEVICE] = model;
  other.lib = NULL, other.kernel = NULL;
  int status = cli_open_kernel(&other);
  if (!status) status = api_kernel_choose(other.kernel, 0, &choice, &other.error);
  bool predicted = !status && choice.predicted;
  cugen_kernel_close(other.kernel);
  cugen_close(other.lib);
  return predicted;
}

bool cli_only_predicts(const struct cli *cli) {
  return cli->values[OPTION_ARCH] && cli_on_cpu(cli);
}

struct cli cli_here(const struct cli *cli) {
  struct cli meant = *cli;
  if (cli_fell_back(cli)) meant.values[OPTION_DEVICE] = "cpu";
  return meant;
}

struct cli cli_to_tune(const struct cli *cli) {
  struct cli meant = cli_here(cli);
  if (cli_only_predicts(cli)) {
    meant.values[OPTION_DEVICE] = cli_fallback_model(cli);
    meant.values[OPTION_ARCH] = NULL;
  }
  return meant;
}

/* Tries on a second kernel handle, because cli->kernel is in use. */
enum cli_tuning cli_tuning(const struct cli *cli) {
  cugen_kernel *kernel = NULL;
  cugen_error ignored;
  if (cli_only_predicts(cli)) return CLI_PREDICTS;
  if (cli_device(cli) != CUGEN_DEVICE_MODEL && cli_device(cli) != CUGEN_DEVICE_NAMED)
    return CLI_MEASURES;
  int status = cugen_kernel_open(cli->lib, cli->operand, cli->settings, cli->setting_count, &kernel,
                                 &ignored);
  if (!status) status = api_kernel_use_predictions(kernel, &ignored);
  cugen_kernel_close(kernel);
  return status ? CLI_REFUSES : CLI_PREDICTS;
}
