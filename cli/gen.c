/* cugen gen: the specialised source of a variant. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

static int write_source(struct cli *cli, const char *source) {
  const char *path = cli->values[OPTION_OUTPUT];
  if (!path || strcmp(path, "-") == 0) {
    fputs(source, stdout);
    return CUGEN_OK;
  }
  FILE *file = fopen(path, "w");
  bool good = file && fputs(source, file) >= 0;
  int code = errno;
  if (file && fclose(file) != 0 && good) {
    good = false;
    code = errno;
  }
  return good ? CUGEN_OK : cli_fail(cli, CUGEN_ERROR_IO, "%s: cannot write: %s", path, strerror(code));
}

/* On the cpu device what is remembered is of the check problem: its best variant is the one to print, for the problem
   asked for. *variant lives with *check, which the caller closes. */
static int find_best_on_check(struct cli *cli, bool required, cugen_kernel **check, const char **variant) {
  const char *source;
  *check = NULL;
  if (!cli_on_cpu(cli)) return CUGEN_OK;
  int status = cugen_kernel_open(cli->lib, cli->operand, cli->settings, cli->setting_count, check, &cli->error);
  if (!status) status = cugen_kernel_use_check(*check, &cli->error);
  if (status) return status;
  status = cugen_kernel_source(*check, "best", &source, variant, &cli->error);
  if (status && status != CUGEN_ERROR_USAGE) return status; /* usage: nothing is remembered */
  return !status || !required
             ? CUGEN_OK
             : cli_fail(cli, CUGEN_ERROR_USAGE,
                        "nothing is remembered for %s %s on the cpu device; run 'cugen tune' first, or "
                        "name a variant ('cugen cache why %s' explains)",
                        cugen_kernel_name(*check), cugen_kernel_problem(*check), cli->operand);
}

int command_gen(struct cli *cli) {
  const char *variant = cli->values[OPTION_VARIANT], *source, *name;
  bool best = options_given(cli, OPTION_BEST);
  if (variant && best)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--best and --variant name two different variants; give one of them");
  cugen_kernel *check = NULL;
  int status = cli_open_kernel(cli);
  if (!status && !variant) status = find_best_on_check(cli, best, &check, &variant);
  if (!status)
    status = cugen_kernel_source(cli->kernel, best && !variant ? "best" : variant, &source, &name, &cli->error);
  cugen_kernel_close(check);
  if (status) return status;
  cli_remark(cli, "%s %s: %s", cugen_kernel_name(cli->kernel), cugen_kernel_problem(cli->kernel), name);
  return write_source(cli, source);
}
