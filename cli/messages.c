/* What a command says besides its result: its failure, remarks, and the object of --json. */
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "option_names.h"
#include "print.h"

int cli_fail(struct cli *cli, int status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(cli->error.message, sizeof cli->error.message, format, args);
  va_end(args);
  cli->error.file[0] = '\0';
  cli->error.line = 0;
  return cli->error.status = status;
}

int cli_place(struct cli *cli, const char *file, size_t line) {
  if (line > INT_MAX || strlen(file) >= sizeof cli->error.file) return cli->error.status;
  memcpy(cli->error.file, file, strlen(file) + 1);
  cli->error.line = (int)line;
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

void cli_remark_unused(const struct cli *cli) {
  enum { MOST_TOLD = 8 };
  cugen_unused_tunable unused[MOST_TOLD];
  size_t count;
  cugen_error ignored;
  if (cugen_kernel_unused(cli->kernel, unused, MOST_TOLD, &count, &ignored)) return;
  for (size_t i = 0; i < count && i < MOST_TOLD; i++) {
    const char *nearest = unused[i].nearest, *name = unused[i].name;
    if (unused[i].why == CUGEN_UNUSED_DEFINED)
      cli_remark(cli,
                 "%s:%d: the template asks only whether the tunable \"%s\" is defined, and it is for each of its %zu "
                 "values: ask its value (#if %s), or give it the values false and true, of which false is not defined",
                 unused[i].file, unused[i].line, name, unused[i].values, name);
    else if (unused[i].why == CUGEN_UNUSED_MISSPELT)
      cli_remark(cli, "%s:%d: the template does not mention the tunable \"%s\" (nearest in the template '%s')",
                 unused[i].file, unused[i].line, name, nearest);
    else
      cli_remark(cli, "%s:%d: nothing uses the tunable \"%s\": its %zu values make the same kernel%s%s%s",
                 unused[i].file, unused[i].line, name, unused[i].values,
                 *nearest ? " (nearest in the template '" : "", nearest, *nearest ? "')" : "");
  }
}

void cli_remark_refused(struct cli *cli, const char *variant) {
  cugen_error why;
  if (cli->values[OPTION_QUIET]) return;
  if (cugen_kernel_accepts(cli->kernel, variant, &why) != CUGEN_ERROR_COMPILE) return;
  char *first = strchr(why.message, '\n'); /* behind "NVRTC refused the source:" the first diagnostic is enough */
  if (first) first[1 + strcspn(first + 1, "\n")] = '\0';
  cli_remark(cli, "'%s' is right on the cpu device, and does not compile for a GPU: %s", variant, why.message);
}

void cli_remark_all_refused(struct cli *cli) {
  cugen_implementation_info one;
  cugen_space_info space;
  cugen_error ignored;
  if (!cli_on_cpu(cli) || cugen_kernel_space(cli->kernel, &space, &ignored)) return;
  for (size_t i = 0; cugen_kernel_implementation(cli->kernel, i, &one, &ignored) == CUGEN_OK; i++) {
    const size_t length = strlen(one.name);
    cugen_record record;
    for (size_t r = 0; cugen_kernel_record(cli->kernel, r, &record, &ignored) == CUGEN_OK; r++) {
      if (record.outcome != CUGEN_OUTCOME_OK || strncmp(record.variant, one.name, length) != 0) continue;
      if (record.variant[length] && record.variant[length] != ' ') continue;
      char *variant = strdup(record.variant); /* the record's lives until the next look-up */
      if (variant) cli_remark_refused(cli, variant);
      free(variant);
      break;
    }
  }
}

int cli_print_json(struct cli *cli, json_t *object) {
  if (cli->answers && json_array_append_new(cli->answers, object))
    return cli_fail(cli, CUGEN_ERROR_MEMORY, "out of memory");
  if (cli->answers) return CUGEN_OK;
  cli->answered = true;
  return json_print(object, stdout, &cli->error);
}
