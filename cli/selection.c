/* Remarks about a variant that a command chose itself, as a plan would. */
#include <string.h>

#include "cli.h"
#include "print.h"

/* Prints "'cugen tune CONFIG ...' finds the best, ", unless tuning is refused or would only repeat
   a prediction. */
static void advise_tuning(const struct cli *cli, bool near, bool predicted) {
  enum cli_tuning tuning = cli_tuning(cli);
  if (tuning == CLI_REFUSES || (predicted && tuning == CLI_PREDICTS)) return;
  const struct cli meant = cli_to_tune(cli);
  fprintf(stderr, "'%s' %s %s, ", hint(&meant, "tune").text,
          tuning == CLI_PREDICTS ? "predicts" : "finds", near ? "its own" : "the best");
}

size_t cli_failed(const struct cli *cli, const cugen_choice *choice) {
  bool none = choice->how == CUGEN_PLAN_DEFAULT && !choice->predicted && !choice->tuned_on &&
              !api_kernel_predicted(cli->kernel);
  size_t count = 0;
  if (none) api_records(cli->kernel, &count);
  return count;
}

/* Remarks that all `failed` variants with records failed, and what to do. */
static void remark_failed(const struct cli *cli, size_t failed) {
  const struct cli meant = cli_to_tune(cli), here = cli_here(cli);
  cugen_space_info space;
  cugen_error ignored;
  bool others = api_kernel_space(cli->kernel, &space, &ignored) == CUGEN_OK && space.valid > failed;
  cli_remark(cli,
             "all %zu variants remembered for this problem failed: using the first valid variant; "
             "'%s' says why each failed; %s'%s' %s",
             failed, hint(&here, "cache why").text, others ? "" : "when that is corrected, ",
             hint(&meant, "tune").text, others ? "tries the others" : "tries them again");
}

void cli_remark_choice(const struct cli *cli, const cugen_choice *choice, size_t failed) {
  if (choice->how == CUGEN_PLAN_EXACT || options_given(cli, OPTION_QUIET)) return;
  if (failed) {
    remark_failed(cli, failed);
    return;
  }
  if (choice->how == CUGEN_PLAN_NEAR)
    fprintf(stderr,
            "cugen: not tuned for this problem: the best of %s (policy %s, distance %.2g); ",
            choice->tuned_for, api_kernel_policy(cli->kernel), choice->distance);
  else if (choice->how == CUGEN_PLAN_PORTFOLIO)
    fputs("cugen: not tuned for this problem: what the portfolio has for such sizes; ", stderr);
  else if (choice->how == CUGEN_PLAN_OTHER_GPU)
    fprintf(stderr, "cugen: not tuned on this GPU: the best on %s, which is of the same %s; ",
            choice->tuned_on, choice->same_model ? "model" : "compute capability");
  else if (choice->tuned_on)
    fprintf(stderr, "cugen: not tuned for this problem: what ships for such sizes%s, %s %s; ",
            choice->other_class ? " with other layouts or flags" : "",
            choice->predicted ? "predicted for" : "measured on", choice->tuned_on);
  else
    fprintf(stderr, "cugen: nothing is %s for this problem: using the %s; ",
            choice->predicted ? "measured" : "remembered",
            choice->by_portfolio ? "choice of a portfolio of predictions, for other sizes"
            : choice->predicted  ? "model's choice, predicted"
            : choice->named      ? "config's first suggestion (tuned on another GPU)"
                                 : "first valid variant");
  advise_tuning(cli, choice->how != CUGEN_PLAN_DEFAULT, choice->predicted);
  const struct cli here = cli_here(cli);
  fprintf(stderr, "'%s' says what was found\n", hint(&here, "cache why").text);
}

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

json_t *json_choice(const cugen_choice *choice) {
  static const char *const names[] = {"exact",  "near",      "default",
                                      "pinned", "portfolio", "other_gpu"};
  if (!choice->variant) return json_null();
  return JSON_NEW({"how", json_string(names[choice->how])},
                  MEMBER(optional_string, choice, tuned_for),
                  MEMBER(optional_string, choice, tuned_on), MEMBER(boolean, choice, same_model),
                  MEMBER(boolean, choice, predicted), MEMBER(boolean, choice, other_class),
                  MEMBER(boolean, choice, named), MEMBER(number, choice, distance));
}
