/* Messages beside a command's result: failures, remarks, and the object of --json. */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli.h"
#include "print.h"
#include "serve.h"
#include "stop.h"

int cli_fail(struct cli *cli, int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(cli->error.message, sizeof cli->error.message, format, args);
  va_end(args);
  cli->error.file[0] = '\0';
  cli->error.line = 0;
  return cli->error.status = status;
}

int cli_no_memory(struct cli *cli) {
  return cli_fail(cli, CUGEN_ERROR_MEMORY, "out of memory");
}

int cli_place(struct cli *cli, const char *file, size_t line) {
  error_place(&cli->error, file, line < INT_MAX ? (int)line : 0);
  return cli->error.status;
}

void cli_append(struct cli *cli, const char *format, ...) {
  size_t length = strlen(cli->error.message);
  va_list args;
  va_start(args, format);
  vsnprintf(cli->error.message + length, sizeof cli->error.message - length, format, args);
  va_end(args);
}

void cli_remark(const struct cli *cli, const char *format, ...) {
  if (cli->values[OPTION_QUIET]) return;
  va_list args;
  va_start(args, format);
  char *text = NULL;
  if (vasprintf(&text, format, args) < 0) text = NULL;
  va_end(args);
  if (text) fprintf(stderr, "cugen: %s\n", message_own(text).text);
  free(text);
}

int cli_conclude(const struct cli *cli, int status, const char *remark) {
  if (status != CUGEN_ERROR_INTERRUPTED || !stop_asked()) return status;
  cli_remark(cli, "%s", remark);
  return stop_exit_code();
}

int cli_print_json(struct cli *cli, json_t *object) {
  if (cli->answers && json_array_append_new(cli->answers, object)) return cli_no_memory(cli);
  if (cli->answers) return CUGEN_OK;
  if (!cli->serve) {
    int status = json_print(object, stdout, &cli->error);
    cli->answered = !status;
    return status;
  }
  cli->answered = true;
  cli->serve->result = json_document(object);
  return cli->serve->result ? CUGEN_OK : cli_no_memory(cli);
}
