/* What there is where no GPU is: a described one that stands in, and what is predicted for it. */
#include <string.h>

#include "cli.h"

static bool has_arch(const struct cli *cli, const char *model, const char *arch) {
  const cugen_resources least = {1, 1, 0};
  cugen_occupancy got;
  cugen_error ignored;
  return cugen_device_occupancy(cli->lib, model, &least, &got, &ignored) == CUGEN_OK && strcmp(got.arch, arch) == 0;
}

const char *cli_stand_in(const struct cli *cli) {
  const char *arch = cli->values[OPTION_ARCH], *models[48], *found = "model:FILE";
  if (!arch) return CLI_USUAL_MODEL;
  size_t most = sizeof models / sizeof *models, count = cugen_models(cli->lib, models, most);
  for (size_t i = 0; i < count && i < most; i++)
    if (has_arch(cli, models[i], arch)) found = models[i];
  return found;
}

bool cli_is_predicted(const struct cli *cli, const char *model) {
  struct cli other = *cli;
  cugen_choice choice = {0};
  other.values[OPTION_DEVICE] = model;
  other.lib = NULL, other.kernel = NULL;
  int status = cli_open_kernel(&other);
  if (!status) status = cugen_kernel_choose(other.kernel, 0, &choice, &other.error);
  bool predicted = !status && choice.predicted;
  cugen_kernel_close(other.kernel);
  cugen_close(other.lib);
  return predicted;
}

bool cli_only_predicts(const struct cli *cli) {
  return cli->values[OPTION_ARCH] && cli_on_cpu(cli);
}

void cli_print_tune(const struct cli *cli, FILE *out) {
  struct cli meant = *cli;
  if (cli_fell_back(cli)) meant.values[OPTION_DEVICE] = "cpu";
  if (cli_only_predicts(cli)) {
    meant.values[OPTION_DEVICE] = cli_stand_in(cli);
    meant.values[OPTION_ARCH] = NULL;
  }
  fprintf(out, "cugen tune %s", cli->operand);
  cli_print_same(&meant, out);
}
