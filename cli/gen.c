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

int command_gen(struct cli *cli) {
  const char *variant = cli->values[OPTION_VARIANT], *source, *name;
  bool best = options_given(cli, OPTION_BEST);
  if (variant && best)
    return cli_fail(cli, CUGEN_ERROR_USAGE, "--best and --variant name two different variants; give one of them");
  int status = cli_open_kernel(cli);
  /* What is remembered on the cpu device is of its check problem. */
  if (!status && best) status = cli_use_check_on_cpu(cli);
  if (!status) status = cugen_kernel_source(cli->kernel, best ? "best" : variant, &source, &name, &cli->error);
  if (status) return status;
  cli_remark(cli, "%s %s: %s", cugen_kernel_name(cli->kernel), cugen_kernel_problem(cli->kernel), name);
  return write_source(cli, source);
}
