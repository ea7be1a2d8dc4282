/* Makes predictions at once if the wanted records are not stored: of one variant of each
   implementation, its default, or of the first variants that the options name. The predictions are
   kept only in memory. */
#include <stdlib.h>
#include <string.h>

#include "api/kernel.h"
#include "api/tuning.h"
#include "cli.h"

enum { MOST_NAMED = 16 }; /* most predictions of variants that the options name */

/* Predicts at most `most` variants. Returns CUGEN_OK also if none could be predicted. */
static int predict_first(struct cli *cli, size_t most) {
  cugen_tune_options options = CUGEN_TUNE_OPTIONS_INIT;
  options.strategy = "exhaustive";
  options.budget_count = most;
  options.budget_seconds = -1;
  options.verify_seconds = -1;
  int status = api_kernel_tune(cli->kernel, &options, NULL, &cli->error);
  return status == CUGEN_ERROR_WRONG ? CUGEN_OK : status;
}

/* Predicts one variant; tunables that the text leaves out have their defaults. all: include
   variants that heuristics leave out. */
static int predict_one(struct cli *cli, const char *variant, bool all) {
  cugen_filter filter = {0};
  const char *source, *name;
  int status = cugen_kernel_source(cli->kernel, variant, &source, &name, &cli->error);
  if (status) return status;
  filter.variant = name;
  filter.all = all;
  status = api_kernel_filter(cli->kernel, &filter, &cli->error);
  return status ? status : predict_first(cli, 1);
}

static int predict_defaults(struct cli *cli) {
  const bool every = options_given(cli, OPTION_EVERY);
  cugen_space_info space;
  int status = api_kernel_space(cli->kernel, &space, &cli->error);
  for (size_t i = 0; !status && i < space.implementations; i++) {
    const cugen_implementation_info *info = &space.implementation[i];
    char name[128];
    if (info->unavailable || !info->valid) continue;
    snprintf(name, sizeof name, "%s", info->name);
    status = predict_one(cli, name, every);
    if (status == CUGEN_ERROR_CONFIG || status == CUGEN_ERROR_TEMPLATE ||
        status == CUGEN_ERROR_EMPTY)
      status = CUGEN_OK; /* no variant of the implementation expands */
    if (!status) status = cli_filter(cli, every);
    if (!status) status = api_kernel_space(cli->kernel, &space, &cli->error);
  }
  return status;
}

int cli_predict(struct cli *cli) {
  const char *variant = cli->values[OPTION_VARIANT], *cache = cli->values[OPTION_CACHE];
  const bool named = variant || cli_narrows(cli);
  /* The kernel is opened again, in a library whose cache is in memory. Hints still name the
     original cache. */
  cugen_kernel_close(cli->kernel);
  cugen_close(cli->lib);
  cli->kernel = NULL;
  cli->lib = NULL;
  cli->values[OPTION_CACHE] = "none";
  int status = cli_open_kernel(cli);
  cli->values[OPTION_CACHE] = cache;
  if (!status) status = api_kernel_use_predictions(cli->kernel, &cli->error);
  if (status) return status;
  cli_remark(cli, "nothing is remembered of %s for this problem on %s: predicting %s", cli->operand,
             cli->values[OPTION_DEVICE],
             named ? "what the options name" : "one variant of each implementation");
  if (variant) return predict_one(cli, variant, true);
  return named ? predict_first(cli, MOST_NAMED) : predict_defaults(cli);
}
