/* What a command says of a variant that it chose itself, as a plan would. */
#include "cli.h"
#include "print.h"

void cli_remark_choice(const struct cli *cli, const cugen_choice *choice) {
  if (choice->how == CUGEN_PLAN_EXACT || options_given(cli, OPTION_QUIET)) return;
  if (choice->how == CUGEN_PLAN_NEAR)
    fprintf(stderr, "cugen: not tuned for this problem: the best of %s (policy %s, distance %.2g); 'cugen tune %s",
            choice->tuned_for, cugen_kernel_policy(cli->kernel), choice->distance, cli->operand);
  else
    fprintf(stderr, "cugen: nothing is remembered for this problem: this is the %s; 'cugen tune %s",
            choice->predicted ? "model's choice, predicted" : "first valid variant", cli->operand);
  cli_print_same(cli, stderr);
  fprintf(stderr, "' finds %s, 'cugen cache why %s", choice->how == CUGEN_PLAN_NEAR ? "its own" : "the best",
          cli->operand);
  cli_print_same(cli, stderr);
  fputs("' says what was found\n", stderr);
}

json_t *json_choice(const cugen_choice *choice) {
  static const char *const names[] = {"exact", "near", "default"};
  if (!choice->variant) return json_null();
  json_t *object = json_object();
  json_object_set_new(object, "how", json_string(names[choice->how]));
  json_object_set_new(object, "tuned_for", json_optional_string(choice->tuned_for));
  json_object_set_new(object, "predicted", json_boolean(choice->predicted));
  json_object_set_new(object, "distance", json_number(choice->distance));
  return object;
}
