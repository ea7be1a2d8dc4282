/* Chooses a model, and its predictions, if there is no GPU. */
#include <stdlib.h>
#include <string.h>

#include "api/explain.h"
#include "api/machine.h"
#include "api/source.h"
#include "cli.h"

static bool has_arch(const struct cli *cli, const char *model, const char *arch) {
  const cugen_resources least = {.registers = 1, .threads = 1};
  cugen_occupancy got;
  cugen_error ignored;
  return api_device_occupancy(cli->lib, model, &least, &got, &ignored) == CUGEN_OK &&
         strcmp(got.arch, arch) == 0;
}

const char *cli_fallback_model(const struct cli *cli) {
  const char *arch = cli->values[OPTION_ARCH], *models[48], *found = "model:FILE";
  if (!arch) return CLI_USUAL_MODEL;
  size_t most = sizeof models / sizeof *models, count = api_models(cli->lib, models, most);
  for (size_t i = 0; i < count && i < most; i++)
    if (has_arch(cli, models[i], arch)) found = models[i];
  return found;
}

/* Returns true if there is no GPU, no device was asked for, and NVRTC is there for predictions or
   no C++ compiler is there for the cpu device. */
static bool needs_fallback(const struct cli *cli) {
  cugen_device_info first;
  const char *device = getenv("CUGEN_DEVICE"); /* read as the library reads it */
  if (cli->values[OPTION_DEVICE] || cli->values[OPTION_DEVICES] || (device && *device))
    return false;
  return cugen_devices(cli->lib, &first, 1, NULL) &&
         device_parse(first.id).kind == CUGEN_DEVICE_CPU &&
         (first.nvrtc_version || !api_has_compiler(cli->lib));
}

static int fall_back(struct cli *cli) {
  const char *why, *model;
  model = cli_fallback_model(cli);
  if (strcmp(model, "model:FILE") == 0) return CUGEN_OK;
  cugen_devices(cli->lib, NULL, 0, &why);
  cli->fallback = strdup(message_own(why).text);
  char *name = strdup(model); /* copied, because the library that owns the text is closed */
  if (!cli->fallback || !name) {
    free(name);
    return cli_no_memory(cli);
  }
  cugen_close(cli->lib);
  cli->lib = NULL;
  cli->values[OPTION_DEVICE] = cli->model = name;
  return cli_open(cli);
}

int cli_fall_back(struct cli *cli) {
  return cli->command->own_fallback || !needs_fallback(cli) ? CUGEN_OK : fall_back(cli);
}

int cli_use_model(struct cli *cli, bool *used) {
  int status = needs_fallback(cli) ? fall_back(cli) : CUGEN_OK;
  *used = !status && cli->model;
  return status;
}
